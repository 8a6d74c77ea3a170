//===- SpyreAttributes.td - Layouts, placement, division --*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributes of L2 and L3: where elements sit (#spyre.layout), where a buffer
// lives (#spyre.placement), which core holds what (#spyre.distribution). Their
// enumerations are those of the MLIR-free libraries.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_ATTRIBUTES
#define SPYRE_ATTRIBUTES

include "spyre/Dialect/Spyre/IR/SpyreDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"

class Spyre_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Spyre_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Spyre_LayoutAttr : Spyre_Attr<"Layout", "layout",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Where each element of a tensor sits in device memory";
  let description = [{
    A layout has the device sizes (row-major, outermost first), the logical dims outer
    to inner, of which the last lies in the stick, and the data format. A trailing -1
    in `order` means that no dim lies in the stick (one element a stick). Device sizes
    larger than the logical shape needs are padding. `stick [[0, 2], [1, 64]]` gives a
    two-dimensional stick, outermost first, as pairs of dim and elements. `arrangement`
    defaults to `standard`. The rules are those of `spyre::layout` (lib/Layout).

    The default layout of an f16 tensor 5x100x150, and one with the first dim in the stick:

    ```mlir
    func.func private @f(tensor<5x100x150xf16, #spyre.layout<[100, 3, 5, 64], order [0, 1, 2], SEN169_FP16>>)
    func.func private @g(tensor<192x128xf16, #spyre.layout<[3, 128, 64], order [1, 0], SEN169_FP16>>)
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$deviceSizes,
    ArrayRefParameter<"int64_t">:$dimOrder,
    "::spyre::DataFormat":$format,
    ArrayRefParameter<"int64_t">:$stick,
    DefaultValuedParameter<"::spyre::Arrangement", "::spyre::Arrangement::Standard">:$arrangement
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The MLIR-free form, for a tensor of logical shape `shape`.
    ::spyre::layout::TensorLayout getTensorLayout(::llvm::ArrayRef<int64_t> shape) const;
    /// The attribute for `layout`.
    static LayoutAttr get(::mlir::MLIRContext *context,
                          const ::spyre::layout::TensorLayout &layout,
                          ::spyre::Arrangement arrangement = ::spyre::Arrangement::Standard);
    /// The calling convention's layout of a tensor.
    static LayoutAttr getDefault(::mlir::MLIRContext *context, ::llvm::ArrayRef<int64_t> shape,
                                 ::spyre::DataFormat format);
    /// The same layout with its elements in the order `arrangement`.
    LayoutAttr withArrangement(::spyre::Arrangement arrangement) const;
    int64_t getSizeInBytes() const;
    bool isSparse() const { return !getDimOrder().empty() && getDimOrder().back() == -1; }
  }];
}

def Spyre_PlacementAttr : Spyre_Attr<"Placement", "placement"> {
  let summary = "The address of a buffer: lx(offset), pool(offset) or hbm(address), in bytes";
  let description = [{
    `lx` counts from the start of every core's scratchpad, `pool` from the start of the
    bundle's pool; `hbm` is an absolute address. `spyre.alloc` prints it without the
    attribute's name.

    ```mlir
    !h = !spyre.buffer<4x64xf16, #spyre.layout<[1, 4, 64], order [0, 1], SEN169_FP16>, hbm>
    func.func @f() {
      %0 = spyre.alloc pool(512) : !h
      %1 = "spyre.alloc"() <{placement = #spyre.placement<hbm, 4096>}> : () -> !h
      return
    }
    ```
  }];
  let parameters = (ins "::spyre::PlacementKind":$kind, "int64_t":$addressInBytes);
  let assemblyFormat = "`<` $kind `,` $addressInBytes `>`";
  let genVerifyDecl = 1;
}

def Spyre_RunsAttr : Spyre_Attr<"Runs", "runs", [ElementsAttrInterface]> {
  let summary = "The elements of a constant whose rows are a few runs of one number each";
  let description = [{
    Masks of attention: thousands of rows and columns, and few numbers to say about each row. `counts` are
    the runs of each row along the last dim (rows in order, all leading dims one), `ends` the columns that
    each run ends before, `codes` its bits, as the element's type has them. Elements are floats of up to 64
    bits or truth values.

    ```mlir
    func.func @f() -> tensor<2x4xf16> {
      // 0 and three times -inf; zeros.
      %0 = spyre.constant #spyre.runs<[2, 1], [1, 4, 4], [0, 64512, 0]> : tensor<2x4xf16> : tensor<2x4xf16>
      return %0 : tensor<2x4xf16>
    }
    ```
  }];
  let parameters = (ins
    AttributeSelfTypeParameter<"", "::mlir::RankedTensorType">:$type,
    ArrayRefParameter<"int64_t">:$counts,
    ArrayRefParameter<"int64_t">:$ends,
    ArrayRefParameter<"uint64_t">:$codes
  );
  let builders = [
    AttrBuilderWithInferredContext<(ins "::mlir::RankedTensorType":$type,
                                        "::llvm::ArrayRef<int64_t>":$counts,
                                        "::llvm::ArrayRef<int64_t>":$ends,
                                        "::llvm::ArrayRef<uint64_t>":$codes), [{
      return $_get(type.getContext(), type, counts, ends, codes);
    }]>
  ];
  let assemblyFormat = "`<` `[` $counts `]` `,` `[` $ends `]` `,` `[` $codes `]` `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Up to here arrays are as good, and more can be done with them.
    static constexpr int64_t kFewElements = 4096;
    /// The elements that runs say, as a dense array where there are few of them, or one number for
    /// all.
    static ::mlir::ElementsAttr getElements(::mlir::RankedTensorType type,
                                            ::llvm::ArrayRef<int64_t> counts,
                                            ::llvm::ArrayRef<int64_t> ends,
                                            ::llvm::ArrayRef<uint64_t> codes);
    /// Calls `visit` with each row's number, ends and codes.
    void forEachRow(::llvm::function_ref<void(int64_t, ::llvm::ArrayRef<int64_t>,
                                              ::llvm::ArrayRef<uint64_t>)> visit) const;
    /// The elements one behind the other, row-major, little endian; truth values in a byte each.
    ::llvm::SmallVector<char> getBytes() const;
  }];
}

def Spyre_DistributionAttr : Spyre_Attr<"Distribution", "distribution"> {
  let summary = "Which logical region of a buffer each core's LX holds";
  let description = [{
    Logical dim i is cut into `slices[i]` equal parts; core c < `cores` holds the
    parts that the map names. Two cores may hold the same region (replication).
    `spyre.alloc` prints it behind `holding`.

    ```mlir
    !l = !spyre.buffer<128x64xf16, #spyre.layout<[1, 128, 64], order [0, 1], SEN169_FP16>, lx>
    func.func @f() {
      %0 = spyre.alloc lx(0) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
      %1 = spyre.alloc lx(512) holding<cores 32, slices [8, 1], (c) -> (c floordiv 4, 0)> : !l
      return
    }
    ```
  }];
  let parameters = (ins "int64_t":$cores, OptionalArrayRefParameter<"int64_t">:$slices,
                        "::mlir::AffineMap":$map);
  let assemblyFormat = "`<` `cores` $cores `,` `slices` `[` (`]`) : ($slices^ `]`)? `,` $map `>`";
  let genVerifyDecl = 1;
}

#endif // SPYRE_ATTRIBUTES
