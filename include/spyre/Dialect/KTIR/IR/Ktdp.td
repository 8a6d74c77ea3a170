//===- Ktdp.td - The ktdp dialect of KTIR ----------------------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What KTIR adds to upstream dialects. Here: compute tiles, views of memory, tiles of
// coordinates, loads and stores, launch-time numbers. The newer spelling is printed,
// older ones are read. What the texts leave open is decided in
// docs/developer/ktir.md, and the verifiers check it.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_KTIR_KTDP_TD
#define SPYRE_DIALECT_KTIR_KTDP_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "spyre/Dialect/KTIR/IR/KtdpInterTile.td"

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

def Ktdp_GetComputeTileIdOp : Ktdp_Op<"get_compute_tile_id", [Pure]> {
  let summary = "Coordinates of the compute tile in the grid";
  let description = [{
    Result d is the coordinate along grid dim d. There are as many results as the
    grid of the enclosing function has dims, one to three; last dims of size 1 may be
    left out.

    ```mlir
    func.func @f() attributes {grid = [4, 2]} {
      %xy:2 = ktdp.get_compute_tile_id : index, index
      return
    }
    ```
  }];
  let results = (outs Variadic<Index>:$coordinates);
  let assemblyFormat = "attr-dict `:` type($coordinates)";
  let hasVerifier = 1;
}

def Ktdp_ConstructMemoryViewOp : Ktdp_Op<"construct_memory_view",
                                         [Pure, AttrSizedOperandSegments]> {
  let summary = "Memory at an address, seen with sizes and strides";
  let description = [{
    Coordinate c lies at `offset + sum c[d] * strides[d]`; the offset's unit is the
    module's `ktdp.address_unit`, strides count elements. Nothing is allocated.
    `coordinate_set` says which coordinates the view owns, in the coordinates of the
    distributed view that it may be a part of; its symbols are the dynamic sizes, from
    left to right. Without it the view owns all places of its sizes. The memref type
    has the sizes as its shape and neither layout nor memory space: those are the
    operation's.

    ```mlir
    #rows = affine_set<(d0, d1)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
    func.func @f(%base: index, %n: index) {
      %v = ktdp.construct_memory_view %base, sizes: [%n, 64], strides: [64, 1]
          {coordinate_set = #rows, memory_space = #ktdp.memory_space<global>} : memref<?x64xf16>
      return
    }
    ```
  }];
  let arguments = (ins
    Index:$offset,
    Variadic<Index>:$sizes,
    Variadic<Index>:$strides,
    DenseI64ArrayAttr:$static_sizes,
    DenseI64ArrayAttr:$static_strides,
    OptionalAttr<IntegerSetAttr>:$coordinate_set,
    Ktdp_MemorySpaceAttr:$memory_space);
  let results = (outs AnyMemRef:$result);
  let builders = [
    OpBuilder<(ins "::mlir::MemRefType":$type, "::mlir::Value":$offset,
                   "::llvm::ArrayRef<int64_t>":$strides, "MemorySpaceKind":$space)>];
  let assemblyFormat = [{
    $offset `,` `sizes` `` `:` custom<DynamicIndexList>($sizes, $static_sizes)
    `,` `strides` `` `:` custom<DynamicIndexList>($strides, $static_strides)
    attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mlir::MemRefType getType() {
      return ::llvm::cast<::mlir::MemRefType>(getResult().getType());
    }
    /// The coordinate set, or the box of the sizes where there is none.
    ::mlir::IntegerSet getOwnedSet();
  }];
}

def Ktdp_ConstructDistributedMemoryViewOp
    : Ktdp_Op<"construct_distributed_memory_view", [Pure]> {
  let summary = "Several views as parts of one";
  let description = [{
    The result is indexed in global coordinates. A coordinate belongs to the part whose
    `coordinate_set` holds it; the part's own coordinate is the global one minus the
    least global coordinate of its set, dim by dim. Parts may lie in different spaces
    with different strides. Their sets do not overlap, and the result's shape is the
    box that they span (KTIR-7).

    ```mlir
    #top = affine_set<(d0, d1) : (d0 >= 0, -d0 + 31 >= 0, d1 >= 0, -d1 + 63 >= 0)>
    #bottom = affine_set<(d0, d1) : (d0 - 32 >= 0, -d0 + 63 >= 0, d1 >= 0, -d1 + 63 >= 0)>
    func.func @f(%x: index, %y: index) {
      %a = ktdp.construct_memory_view %x, sizes: [32, 64], strides: [64, 1]
          {coordinate_set = #top, memory_space = #ktdp.memory_space<ct_local, ct_id = 0>} : memref<32x64xf16>
      %b = ktdp.construct_memory_view %y, sizes: [32, 64], strides: [64, 1]
          {coordinate_set = #bottom, memory_space = #ktdp.memory_space<ct_local, ct_id = 1>} : memref<32x64xf16>
      %v = ktdp.construct_distributed_memory_view (%a, %b : memref<32x64xf16>, memref<32x64xf16>)
          : memref<64x64xf16>
      return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyMemRef>:$parts);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "`(` $parts `:` type($parts) `)` attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Ktdp_ConstructAccessTileOp : Ktdp_Op<"construct_access_tile",
                                         [Pure, AttrSizedOperandSegments]> {
  let summary = "The coordinates base + set, in a given order";
  let description = [{
    The subscripts give a base coordinate x; the tile is {x + p : p in
    `access_tile_set`}, its points ordered lexicographically by
    `access_tile_order(p)`, which is a permutation of the dims. The k-th element of
    the tile, row-major in its shape, is the k-th point: the shape is the set's box
    in that order, or has as many places as a set with gaps has points. Symbols of the set are bound by `symbols(...)`.

    ```mlir
    #box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 63 >= 0)>
    #same = affine_map<(d0, d1) -> (d0, d1)>
    func.func @f(%v: memref<32x64xf16>, %r: index, %i: index) {
      %t = ktdp.construct_access_tile %v[%r + %i * 4, 0] {access_tile_set = #box, access_tile_order = #same}
          : memref<32x64xf16> -> !ktdp.access_tile<2x64xindex>
      return
    }
    ```
  }];
  let arguments = (ins
    AnyTypeOf<[AnyMemRef, AnyRankedTensor]>:$base,
    Variadic<Index>:$indices,
    Variadic<Index>:$symbols,
    AffineMapAttr:$base_map,
    IntegerSetAttr:$access_tile_set,
    AffineMapAttr:$access_tile_order);
  let results = (outs Ktdp_AccessTileType:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$base, "::mlir::AffineMap":$baseMap,
                   "::mlir::ValueRange":$indices, "::llvm::ArrayRef<int64_t>":$shape)>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Ktdp_ConstructIndirectAccessTileOp
    : Ktdp_Op<"construct_indirect_access_tile",
              [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
               SingleBlockImplicitTerminator<"RegionTerminatorOp">]> {
  let summary = "Coordinates computed from variables and from index views";
  let description = [{
    For each point of `variables_space_set`, in the order of `variables_space_order`
    (as in `construct_access_tile`), there is one coordinate of the base: a subscript
    in parentheses is an expression in the variables and in values from outside, and
    `ind(%view[...])` is what an index view of integers holds at such expressions, as
    it stands there. The index views are read when the tile is constructed. Subscripts
    without parentheses, and index views without `ind`, as earlier texts write them,
    are read and printed with them.

    The maps of `per_dim_subscript_maps` go from the captured values, then the
    variables; `per_dim_subscript_kinds` says which of them address an index view.

    ```mlir
    #tokens = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 127 >= 0)>
    #same = affine_map<(d0, d1) -> (d0, d1)>
    func.func @f(%cache: memref<1024x8x128xf16>, %page: memref<4x8xi32>, %row: index, %head: index) {
      %t = ktdp.construct_indirect_access_tile intermediate_variables(%i, %d)
          %cache[ind(%page[%row, %i]), (%head), (%d)]
          {variables_space_set = #tokens, variables_space_order = #same}
          : memref<1024x8x128xf16>, memref<4x8xi32> -> !ktdp.access_tile<8x128xindex>
      return
    }
    ```
  }];
  let arguments = (ins
    AnyTypeOf<[AnyMemRef, AnyRankedTensor]>:$base,
    Variadic<AnyMemRef>:$index_views,
    Variadic<Index>:$captured,
    Variadic<Index>:$symbols,
    TypedArrayAttrBase<BoolAttr, "array of truth values">:$per_dim_subscript_kinds,
    AffineMapArrayAttr:$per_dim_subscript_maps,
    IntegerSetAttr:$variables_space_set,
    AffineMapAttr:$variables_space_order);
  let regions = (region SizedRegion<1>:$variables);
  let results = (outs Ktdp_AccessTileType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getNumVariables() { return getVariables().getNumArguments(); }
    bool isIndirect(unsigned dim) {
      return ::llvm::cast<::mlir::BoolAttr>(getPerDimSubscriptKinds()[dim]).getValue();
    }
    /// The map of the base's dim, from (captured values, variables).
    ::mlir::AffineMap getSubscript(unsigned dim) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getPerDimSubscriptMaps()[dim]).getValue();
    }
  }];
}

def Ktdp_RegionTerminatorOp
    : Ktdp_Op<"region_terminator", [Pure, Terminator, HasParent<"ConstructIndirectAccessTileOp">]> {
  let summary = "End of the hidden block of an indirect access tile";
  let description = [{
    Seen in the generic form only, as the custom one leaves the block out.

    ```mlir
    #four = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>
    func.func @f(%x: memref<64xf16>) {
      %t = "ktdp.construct_indirect_access_tile"(%x) <{
          operandSegmentSizes = array<i32: 1, 0, 0, 0>, per_dim_subscript_kinds = [false],
          per_dim_subscript_maps = [affine_map<(d0) -> (d0 * 2)>], variables_space_set = #four,
          variables_space_order = affine_map<(d0) -> (d0)>}> ({
      ^bb0(%i: index):
        "ktdp.region_terminator"() : () -> ()
      }) : (memref<64xf16>) -> !ktdp.access_tile<4xindex>
      return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Ktdp_LoadOp : Ktdp_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "The values at a tile's coordinates";
  let description = [{
    The result has the tile's shape, and the element type of the view.

    ```mlir
    func.func @f(%t: !ktdp.access_tile<2x64xindex>) -> tensor<2x64xf16> {
      %0 = ktdp.load %t : <2x64xindex> -> tensor<2x64xf16>
      return %0 : tensor<2x64xf16>
    }
    ```
  }];
  let arguments = (ins Ktdp_AccessTileType:$tile);
  let results = (outs AnyRankedTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$tile, "::mlir::Type":$elementType)>];
  let assemblyFormat = "$tile attr-dict `:` type($tile) `->` type($result)";
  let hasVerifier = 1;
}

def Ktdp_StoreOp : Ktdp_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Write values to a tile's coordinates";
  let description = [{
    The value has the tile's shape, and the element type of the view.

    ```mlir
    func.func @f(%x: tensor<2x64xf16>, %t: !ktdp.access_tile<2x64xindex>) {
      ktdp.store %x, %t : tensor<2x64xf16>, <2x64xindex>
      return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, Ktdp_AccessTileType:$tile);
  let assemblyFormat = "$value `,` $tile attr-dict `:` type($value) `,` type($tile)";
  let hasVerifier = 1;
}

def Ktdp_RuntimeArgExtractOp
    : Ktdp_Op<"runtime_arg_extract", [Pure, InferTypeOpAdaptor]> {
  let summary = "A launch-time number, or what is known of it";
  let description = [{
    `value` gives the number, in the type under the argument's; `granularity` and
    `upperbound` give an `index` and are only asked of arguments that have them.

    ```mlir
    func.func @f(%n: !ktdp.runtime_arg<i32, granularity=4>) {
      %value = ktdp.runtime_arg_extract value from %n : <i32, granularity=4> -> i32
      %step = ktdp.runtime_arg_extract granularity from %n : <i32, granularity=4> -> index
      return
    }
    ```
  }];
  let arguments = (ins Ktdp_ExtractKind:$kind, Ktdp_RuntimeArgType:$argument);
  let results = (outs AnyTypeOf<[Index, AnyInteger, AnyFloat]>:$result);
  let assemblyFormat = "$kind `from` $argument attr-dict `:` type($argument) `->` type($result)";
  let hasFolder = 1;
}

#endif // SPYRE_DIALECT_KTIR_KTDP_TD
