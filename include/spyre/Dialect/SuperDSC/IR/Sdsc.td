//===- Sdsc.td - The sdsc dialect ---------------------------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SuperDSC descriptors as operations. Source: SuperDSC reference, section 1;
// the rules are numbered in docs/developer/sdsc-rules.md.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SUPERDSC_SDSC_TD
#define SPYRE_DIALECT_SUPERDSC_SDSC_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Sdsc_Dialect : Dialect {
  let name = "sdsc";
  let cppNamespace = "::mlir::sdsc";
  let summary = "SuperDSC descriptors";
  let description = [{
    One `sdsc.descriptor` is one `sdsc_<i>.json`. What follows from other fields
    by the format's rules (core to slice, folds, size limits, memories) is not
    shown; it appears as an attribute only where a file says something else.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

def Sdsc_AllocationType : TypeDef<Sdsc_Dialect, "Allocation"> {
  let mnemonic = "allocation";
  let summary = "An operand of a descriptor";
}

def Sdsc_DimAttr : AttrDef<Sdsc_Dialect, "Dim"> {
  let mnemonic = "dim";
  let summary = "An iteration dim: extent and number of work slices";
  let description = [{
    `#sdsc.dim<mb = 512 in 32>`: 512 elements, padding included, in 32 slices of
    `coreSize` elements each (`core 16` is shown if it is not extent / slices).
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$size, "int64_t":$numSlices,
                        "int64_t":$coreSize);
  let hasCustomAssemblyFormat = 1;
}

def Sdsc_LayoutAttr : AttrDef<Sdsc_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "A layout class: dims from the innermost outwards, stick dims and sizes";
  let description = [{
    `#sdsc.layout<OUTPUT, [mb, out], stick [out : 64]>`
  }];
  let parameters = (ins "::mlir::StringAttr":$label,
                        ArrayRefParameter<"::mlir::StringAttr">:$dimOrder,
                        ArrayRefParameter<"::mlir::StringAttr">:$stickDims,
                        ArrayRefParameter<"int64_t">:$stickSizes);
  let hasCustomAssemblyFormat = 1;
}

def Sdsc_CoordinateAttr : AttrDef<Sdsc_Dialect, "Coordinate"> {
  let mnemonic = "coordinate";
  let summary = "How a dim of an operand is folded over cores, sticks and elements";
  let description = [{
    Each fold contributes alpha * f + beta, 0 <= f < factor:
    `#sdsc.coordinate<mb, [core_fold : 32 * 16, corelet_fold : 1 * 0, row_fold : 1 * 0,
    elem_arr_0 : 16 * 1]>` (factor * alpha, then `+ beta` if it is not zero). As an
    affine map of the folds: `getAffineMap()`.
  }];
  let parameters = (ins "::mlir::StringAttr":$dim, "int64_t":$spatial, "int64_t":$temporal,
                        "int64_t":$elemArr, "::mlir::StringAttr":$padding,
                        ArrayRefParameter<"::mlir::StringAttr">:$labels,
                        ArrayRefParameter<"int64_t">:$factors,
                        ArrayRefParameter<"int64_t">:$alphas,
                        ArrayRefParameter<"int64_t">:$betas);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// (f0, f1, ...) -> (alpha0 * f0 + alpha1 * f1 + ... + sum of betas).
    ::mlir::AffineMap getAffineMap() const;
  }];
}

def Sdsc_GapAttr : AttrDef<Sdsc_Dialect, "Gap"> {
  let mnemonic = "gap";
  let summary = "Elements after a dim's end: one number for all cores, or one a core";
  let parameters = (ins "::mlir::StringAttr":$dim, ArrayRefParameter<"int64_t">:$gaps);
  let hasCustomAssemblyFormat = 1;
}

class Sdsc_Op<string mnemonic, list<Trait> traits = []> : Op<Sdsc_Dialect, mnemonic, traits>;

def Sdsc_DescriptorOp : Sdsc_Op<"descriptor", [IsolatedFromAbove, SingleBlock, NoTerminator,
                                               Symbol]> {
  let summary = "One descriptor: a planned operation on all its cores";
  let description = [{
    ```mlir
    sdsc.descriptor @sdsc_0 index 0 dims [<mb = 512 in 32>, <out = 1024 in 1>]
        layouts [<OUTPUT, [mb, out], stick [out : 64]>] {
      %Tensor0 = sdsc.allocate "Tensor0" hbm "OUTPUT" [mb, out] scale [1, 1] "SEN169_FP16" symbolic at [-1, -2]
      %Tensor1 = sdsc.allocate "Tensor1" lx "OUTPUT" [mb, out] scale [1, 1] "SEN169_FP16" at [2048]
      sdsc.compute "sfp" "identity" "SEN169_FP16" ins(%Tensor0) outs(%Tensor1)
    }
    ```

    Attributes shown only where a file deviates from the rule:

    - `cores`: the number of cores, else the product of all slices
    - `core_order`: positions of dims, fastest first, else iteration order
    - `core_to_slice`: cores x dims, else by e.3 of the reference from `core_order`
    - `provenance`: the debug handle; `unknown_fields`: JSON pointer -> JSON text
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    I64Attr:$index,
    I64Attr:$cores,
    ArrayAttr:$dims,
    ArrayAttr:$layouts,
    OptionalAttr<DenseI64ArrayAttr>:$core_order,
    OptionalAttr<DenseI64ArrayAttr>:$core_to_slice,
    OptionalAttr<DictionaryAttr>:$provenance,
    OptionalAttr<DictionaryAttr>:$unknown_fields);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Sdsc_AllocateOp : Sdsc_Op<"allocate", [
    HasParent<"DescriptorOp">, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "An operand: where it is, and in which layout";
  let description = [{
    `sdsc.allocate "Tensor0" hbm "OUTPUT" [mb, out] scale [1, 1] "SEN169_FP16" symbolic at [-1, -2]`:
    name, memory, layout class, own dim order (innermost first), scale of each dim of
    the class (1, -1 broadcast or reduced, -2 the same along the stick), format,
    start address of each core (bytes, or a negative symbol id; one number if all
    cores have the same).

    Attributes shown only where needed: `word_length`
    (else the format's), `max_dim_sizes` (else -1 each), `indirection` ("index" or
    "value") with `related`, `back_gap`, `coordinates` (else the standard folds),
    `slice_dims` and `core_to_slice` (an LX relayout's own division), `memories`.
  }];
  let arguments = (ins
    StrAttr:$component,
    StrAttr:$label,
    ArrayAttr:$dim_order,
    DenseI64ArrayAttr:$scale,
    StrAttr:$format,
    DenseI64ArrayAttr:$start_address,
    UnitAttr:$symbolic,
    StrAttr:$name,
    OptionalAttr<I64Attr>:$word_length,
    OptionalAttr<DenseI64ArrayAttr>:$max_dim_sizes,
    OptionalAttr<StrAttr>:$indirection,
    OptionalAttr<StrAttr>:$related,
    OptionalAttr<ArrayAttr>:$back_gap,
    OptionalAttr<ArrayAttr>:$coordinates,
    OptionalAttr<ArrayAttr>:$slice_dims,
    OptionalAttr<DenseI64ArrayAttr>:$core_to_slice,
    OptionalAttr<ArrayAttr>:$memories);
  let results = (outs Sdsc_AllocationType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Sdsc_ConstantOp : Sdsc_Op<"constant", [HasParent<"DescriptorOp">]> {
  let summary = "A constant of the operation, as the bits that its file holds";
  let description = [{
    `sdsc.constant "eps" "SEN169_FP16" 0x2C11`. Numbered in order.
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$format, I64Attr:$bits);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Sdsc_MaskOp : Sdsc_Op<"mask", [HasParent<"DescriptorOp">]> {
  let summary = "Elements of the first input that read as the mask constant";
  let description = [{
    `sdsc.mask "out" from 100 count 28`
  }];
  let arguments = (ins StrAttr:$dim, I64Attr:$first_invalid, I64Attr:$count);
  let assemblyFormat = "$dim `from` $first_invalid `count` $count attr-dict";
}

def Sdsc_ComputeOp : Sdsc_Op<"compute", [HasParent<"DescriptorOp">, AttrSizedOperandSegments]> {
  let summary = "The operation itself";
  let description = [{
    `sdsc.compute "sfp" "add" "SEN169_FP16" ins(%Tensor0, %Tensor1) outs(%Tensor2)`.
    Index tensors follow as `indices(...)`. `mask_constant` is the number of the
    constant that masked elements read as. `fidelity` is "regular" if absent.
  }];
  let arguments = (ins
    StrAttr:$unit,
    StrAttr:$op_func,
    StrAttr:$format,
    Variadic<Sdsc_AllocationType>:$inputs,
    Variadic<Sdsc_AllocationType>:$outputs,
    Variadic<Sdsc_AllocationType>:$indices,
    OptionalAttr<I64Attr>:$mask_constant,
    OptionalAttr<StrAttr>:$fidelity);
  let assemblyFormat = [{
    $unit $op_func $format `ins` `(` $inputs `)` `outs` `(` $outputs `)`
    (`indices` `(` $indices^ `)`)? (`mask` $mask_constant^)? attr-dict
  }];
}

#endif // SPYRE_DIALECT_SUPERDSC_SDSC_TD
