//===- KtdpBase.td - Types and attributes of ktdp --------------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect itself, its attributes and its types.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_KTIR_KTDPBASE_TD
#define SPYRE_DIALECT_KTIR_KTDPBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

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
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
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

def Ktdp_ExtractKind : I32EnumAttr<"ExtractKind", "what is asked of a runtime argument", [
    I32EnumAttrCase<"Value", 0, "value">, I32EnumAttrCase<"Granularity", 1, "granularity">,
    I32EnumAttrCase<"Upperbound", 2, "upperbound">]> {
  let cppNamespace = "::mlir::ktdp";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Ktdp_AccessTileType : TypeDef<Ktdp_Dialect, "AccessTile", [ShapedTypeInterface]> {
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
    /// The methods of ShapedType.
    bool hasRank() const { return true; }
    AccessTileType cloneWith(::std::optional<::llvm::ArrayRef<int64_t>> shape,
                             ::mlir::Type elementType) const;
  }];
}

def Ktdp_RuntimeArgType : TypeDef<Ktdp_Dialect, "RuntimeArg"> {
  let mnemonic = "runtime_arg";
  let summary = "A number that is known when the kernel is launched";
  let description = [{
    Index, integer or float. `granularity` says what it is a multiple of, `upperbound`
    the largest value; both are positive and may be absent, and are read in either
    order. `ktdp.runtime_arg_extract` gives the number and the two facts.

    ```mlir
    func.func private @f(!ktdp.runtime_arg<index>, !ktdp.runtime_arg<i32, granularity=4, upperbound=1024>)
    ```
  }];
  let parameters = (ins "::mlir::Type":$underlyingType,
                        "::std::optional<int64_t>":$granularity,
                        "::std::optional<int64_t>":$upperbound);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Ktdp_TileFutureType : TypeDef<Ktdp_Dialect, "TileFuture"> {
  let mnemonic = "tile_future";
  let summary = "What the compute tiles of each group produce for others";
  let description = [{
    One tensor type a role, in parentheses, then the set of groups. A single role
    without parentheses, as earlier texts write it, is read and printed with them. A set
    with `>=` stands behind an alias: within a type's text MLIR takes the sign for the
    type's end (files that have it there are given the alias before they are read).

    ```mlir
    #groups = affine_set<(g) : (g >= 0, -g + 7 >= 0)>
    func.func private @f(
      !ktdp.tile_future<(tensor<1x64xf16>), groups = #groups>,
      !ktdp.tile_future<(tensor<4xf16>, tensor<4xi32>), groups = affine_set<(g) : (g == 0)>>)
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::RankedTensorType">:$partialTypes,
                        "::mlir::IntegerSetAttr":$groups);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

class Ktdp_Op<string mnemonic, list<Trait> traits = []> : Op<Ktdp_Dialect, mnemonic, traits>;

#endif // SPYRE_DIALECT_KTIR_KTDPBASE_TD
