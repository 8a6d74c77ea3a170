//===- Ktdp.td - The ktdp dialect of KTIR -----------------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What KTIR adds to upstream dialects: compute tiles (cores), views of memory,
// tiles of coordinates, loads and stores. First edition: the operations that the
// emission needs, in the newer spelling (memory spaces global and ct_local). What
// the texts leave open is decided in docs/developer/ktir.md, and the verifiers
// check it.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_KTIR_KTDP_TD
#define SPYRE_DIALECT_KTIR_KTDP_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Ktdp_Dialect : Dialect {
  let name = "ktdp";
  let cppNamespace = "::mlir::ktdp";
  let summary = "Kernel tiles: memory views, access tiles, loads and stores";
  let description = [{
    A kernel is one `func.func` that every compute tile (core) runs. Its attribute
    `grid = [x, y, z]` (one to three numbers) says how many there are. Arguments
    are base addresses of type `index`. Memory is seen through views, moved by
    tiles of coordinates, and computed on as tensor values by `linalg`, `arith`
    and `math`.

    Attributes of the module:

    - `ktdp.address_unit = "bytes" | "elements"`: what the address operand of a
      view counts. Strides count elements in either case. Absent: elements.
    - `spyre.f16 = "dl16" | "ieee"`: what the bits of an f16 in memory mean.

    A kernel with the attribute `ktdp.pool_bytes = N` takes as its first argument the
    base address of N bytes of device memory for intermediate values.

    ```mlir
    #all = affine_set<(d0, d1) : (d0 >= 0, -d0 + 31 >= 0, d1 >= 0, -d1 + 63 >= 0)>
    #box = affine_set<(d0, d1) : (d0 >= 0, -d0 + 7 >= 0, d1 >= 0, -d1 + 63 >= 0)>
    #same = affine_map<(d0, d1) -> (d0, d1)>
    module attributes {ktdp.address_unit = "bytes", spyre.f16 = "dl16"} {
      func.func @copy(%x: index, %o: index) attributes {grid = [4]} {
        %id = ktdp.get_compute_tile_id : index
        %vx = ktdp.construct_memory_view %x, sizes: [32, 64], strides: [64, 1]
            {coordinate_set = #all, memory_space = #ktdp.memory_space<global>} : memref<32x64xf16>
        %vo = ktdp.construct_memory_view %o, sizes: [32, 64], strides: [64, 1]
            {coordinate_set = #all, memory_space = #ktdp.memory_space<global>} : memref<32x64xf16>
        %tx = ktdp.construct_access_tile %vx[%id * 8, 0] {access_tile_set = #box, access_tile_order = #same}
            : memref<32x64xf16> -> !ktdp.access_tile<8x64xindex>
        %to = ktdp.construct_access_tile %vo[%id * 8, 0] {access_tile_set = #box, access_tile_order = #same}
            : memref<32x64xf16> -> !ktdp.access_tile<8x64xindex>
        %a = ktdp.load %tx : <8x64xindex> -> tensor<8x64xf16>
        ktdp.store %a, %to : tensor<8x64xf16>, <8x64xindex>
        return
      }
    }
    ```
  }];
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Ktdp_MemorySpaceKind : I32EnumAttr<"MemorySpaceKind", "who sees the memory", [
    I32EnumAttrCase<"Global", 0, "global">, I32EnumAttrCase<"CtLocal", 1, "ct_local">]> {
  let cppNamespace = "::mlir::ktdp";
  let genSpecializedAttr = 0;
}

def Ktdp_MemorySpaceAttr : AttrDef<Ktdp_Dialect, "MemorySpace"> {
  let mnemonic = "memory_space";
  let summary = "Memory that all compute tiles see, or one tile's own";
  let description = [{
    `#ktdp.memory_space<global>` is device memory, `<ct_local>` the LX of the tile
    that runs the operation, `<ct_local, ct_id = 7>` that of tile 7. The older
    spelling `#ktdp.spyre_memory_space<HBM>`, `<LX, core = 7>` is read and printed
    in the new one; its `L0` and `unspecified` have no counterpart and are refused.

    ```mlir
    #all = affine_set<(d0, d1) : (d0 >= 0, -d0 + 31 >= 0, d1 >= 0, -d1 + 63 >= 0)>
    func.func @f(%a: index) {
      %v = ktdp.construct_memory_view %a, sizes: [32, 64], strides: [64, 1]
          {coordinate_set = #all, memory_space = #ktdp.memory_space<ct_local, ct_id = 7>} : memref<32x64xf16>
      return
    }
    ```
  }];
  let parameters = (ins "MemorySpaceKind":$kind, DefaultValuedParameter<"int32_t", "-1">:$ctId);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Ktdp_AccessTileType : TypeDef<Ktdp_Dialect, "AccessTile"> {
  let mnemonic = "access_tile";
  let summary = "An ordered set of coordinates of a view";
  let description = [{
    The element type is always `index`: elements are coordinates. Sizes may be
    unknown, and the rank may be 0.

    ```mlir
    func.func private @f(!ktdp.access_tile<32x64xindex>, !ktdp.access_tile<?x64xindex>, !ktdp.access_tile<index>)
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let builders = [
    TypeBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape), [{
      return $_get($_ctxt, shape, ::mlir::IndexType::get($_ctxt));
    }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
  }];
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

class Ktdp_Op<string mnemonic, list<Trait> traits = []> : Op<Ktdp_Dialect, mnemonic, traits>;

def Ktdp_GetComputeTileIdOp : Ktdp_Op<"get_compute_tile_id", [Pure]> {
  let summary = "Coordinates of the compute tile in the grid";
  let description = [{
    Result d is the coordinate along grid dim d. There are as many results as the
    grid of the enclosing function has dims, one to three.

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
    `coordinate_set` says which coordinates the view owns; its symbols are the
    dynamic sizes, from left to right. The memref type has the sizes as its shape
    and neither layout nor memory space: those are the operation's.

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
    IntegerSetAttr:$coordinate_set,
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
  let extraClassDeclaration = [{
    ::mlir::MemRefType getType() {
      return ::llvm::cast<::mlir::MemRefType>(getResult().getType());
    }
  }];
}

def Ktdp_ConstructAccessTileOp : Ktdp_Op<"construct_access_tile",
                                         [Pure, AttrSizedOperandSegments]> {
  let summary = "The coordinates base + set, in a given order";
  let description = [{
    The subscripts give a base coordinate x; the tile is {x + p : p in
    `access_tile_set`}, its points ordered lexicographically by
    `access_tile_order(p)`, which is a permutation of the dims. The k-th element of
    the tile, row-major in its shape, is the k-th point: the shape is the set's box
    in that order. Symbols of the set are bound by `symbols(...)`.

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

#endif // SPYRE_DIALECT_KTIR_KTDP_TD
