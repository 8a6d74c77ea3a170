//===- Sdsc.td - The sdsc dialect ---------------------------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SuperDSC descriptors as operations. The fields and the numbered rules are in
// docs/formats/superdsc.md.
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
    shown; it appears as an attribute only where a file says something else. All fields
    and rules are in `docs/formats/superdsc.md`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

def Sdsc_AllocationType : TypeDef<Sdsc_Dialect, "Allocation"> {
  let mnemonic = "allocation";
  let summary = "An operand of a descriptor";
  let description = [{
    It has no parameters: what an operand is stands in its `sdsc.allocate`.

    ```mlir
    func.func private @f(!sdsc.allocation)
    ```
  }];
}

/// An enumeration of the MLIR-free libraries, by its names.
class Sdsc_Enum<string name, string attrMnemonic, string type, string text>
    : AttrDef<Sdsc_Dialect, name> {
  let mnemonic = attrMnemonic;
  let summary = text;
  let parameters = (ins type:$value);
  let assemblyFormat = "$value";
  let convertFromStorage = "$_self.getValue()";
  let returnType = type;
}

def Sdsc_ComponentAttr : Sdsc_Enum<"Component", "component", "::spyre::MemorySpace",
                                   "The memory of an operand"> {
  let description = [{
    It says whether an operand lies in device memory or in LX.

    ```mlir
    module attributes {sdsc.example = #sdsc<component hbm>} {}
    ```
  }];
}

def Sdsc_IndirectionAttr : Sdsc_Enum<"Indirection", "indirection", "::spyre::sdsc::Indirection",
                                     "The part of an operand in an indirect access"> {
  let description = [{
    It says whether an operand holds indices or is addressed by them.

    ```mlir
    module attributes {sdsc.example = #sdsc<indirection index>} {}
    ```
  }];
}

def Sdsc_FormatAttr : AttrDef<Sdsc_Dialect, "Format"> {
  let mnemonic = "format";
  let summary = "A data format of the device, by its name in the files";
  let description = [{
    In operations just the name is written. The names are those of `spyre::parseFormat`
    (lib/Numerics).

    ```mlir
    module attributes {sdsc.example = #sdsc.format<SEN169_FP16>} {}
    ```
  }];
  let parameters = (ins "::spyre::DataFormat":$value);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The bare name, as in operations.
    static ::mlir::ParseResult parseName(::mlir::AsmParser &parser, FormatAttr &format);
  }];
}

def Sdsc_DimAttr : AttrDef<Sdsc_Dialect, "Dim"> {
  let mnemonic = "dim";
  let summary = "An iteration dim: extent and number of work slices";
  let description = [{
    `<mb = 512 in 32>` is 512 elements, padding included, in 32 slices. `core 16` is shown
    if a slice is not extent / slices; `last 8` if the last stage's slice is another,
    `symbolic` if the extent is that of the largest run and the file says -1.

    ```mlir
    module attributes {sdsc.example = [#sdsc.dim<mb = 512 in 32>, #sdsc.dim<out = 1024 in 3 core 512 last 8>]} {}
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "int64_t":$size, "int64_t":$numSlices,
                        "int64_t":$coreSize, DefaultValuedParameter<"int64_t", "0">:$lastSize,
                        DefaultValuedParameter<"bool", "false">:$isSymbolic);
  let hasCustomAssemblyFormat = 1;
}

def Sdsc_SymbolsAttr : AttrDef<Sdsc_Dialect, "Symbols"> {
  let mnemonic = "symbols";
  let summary = "The symbol that stands for a dim's extent";
  let description = [{
    Each launch binds the (negative) symbol to a size.

    ```mlir
    module attributes {sdsc.example = #sdsc.symbols<"mb", [-1]>} {}
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$dim, ArrayRefParameter<"int64_t">:$symbols);
  let assemblyFormat = "`<` $dim `,` `[` $symbols `]` `>`";
}

def Sdsc_SymbolicAttr : AttrDef<Sdsc_Dialect, "Symbolic"> {
  let mnemonic = "symbolic";
  let summary = "Largest extent of a symbolic dim and what it is a multiple of";
  let description = [{
    Both numbers are those of one core's slice.

    ```mlir
    module attributes {sdsc.example = #sdsc.symbolic<"mb", max 512, granularity 64>} {}
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$dim, "int64_t":$maxSize, "int64_t":$granularity);
  let assemblyFormat = "`<` $dim `,` `max` $maxSize `,` `granularity` $granularity `>`";
}

def Sdsc_WindowAttr : AttrDef<Sdsc_Dialect, "Window"> {
  let mnemonic = "window";
  let summary = "A dim that a window slides along";
  let description = [{
    The dim's own size is the result's, `total` the input's with its padding (absent: not
    applicable); `pad` is -1 in a core's stage where the dim is split; `unneeded` are
    the three numbers that convolutions add.

    ```mlir
    module attributes {sdsc.example = #sdsc.window<"i", over "ki", pad [1, 1] total 34, stride 1, dilation 1>} {}
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$dim, "::mlir::StringAttr":$windowDim,
                        "int64_t":$padFront, "int64_t":$padBack,
                        OptionalParameter<"std::optional<int64_t>">:$totalSize,
                        "int64_t":$stride, "int64_t":$dilation,
                        OptionalArrayRefParameter<"int64_t">:$unneeded);
  let assemblyFormat = [{
    `<` $dim `,` `over` $windowDim `,` `pad` `[` $padFront `,` $padBack `]`
    (`total` $totalSize^)? `,` `stride` $stride `,` `dilation` $dilation
    (`unneeded` `[` $unneeded^ `]`)? `>`
  }];
}

def Sdsc_FoldPropertyAttr : AttrDef<Sdsc_Dialect, "FoldProperty"> {
  let mnemonic = "fold_property";
  let summary = "Factor and label of a fold";
  let description = [{
    A descriptor shows it where the fold is not the usual one.

    ```mlir
    module attributes {sdsc.example = #sdsc.fold_property<1, "corelet">} {}
    ```
  }];
  let parameters = (ins "int64_t":$factor, "::mlir::StringAttr":$label);
  let assemblyFormat = "`<` $factor `,` $label `>`";
}

def Sdsc_FoldAttr : AttrDef<Sdsc_Dialect, "Fold"> {
  let mnemonic = "fold";
  let summary = "A fold around the whole descriptor";
  let description = [{
    It has a label, a factor, alpha and beta: place f < factor contributes alpha * f + beta.

    ```mlir
    module attributes {sdsc.example = #sdsc.fold<"time", 2 * 4 + 1>} {}
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$label, "int64_t":$factor, "int64_t":$alpha,
                        "int64_t":$beta);
  let assemblyFormat = "`<` $label `,` $factor `*` $alpha `+` $beta `>`";
}

def Sdsc_LayoutAttr : AttrDef<Sdsc_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "A layout class: dims from the innermost outwards, stick dims and sizes";
  let description = [{
    The label is a name, not a role: inputs of pointwise operations are of class `OUTPUT`,
    too.

    ```mlir
    module attributes {sdsc.example = #sdsc.layout<OUTPUT, [mb, out], stick [out : 64]>} {}
    ```
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
    Each fold contributes alpha * f + beta, 0 <= f < factor. It is written as factor *
    alpha, then `+ beta` if that is not zero. `getAffineMap()` gives it as an affine map of
    the folds.

    ```mlir
    module attributes {sdsc.example = #sdsc.coordinate<mb, [core_fold : 32 * 16, corelet_fold : 1 * 0, row_fold : 1 * 0, elem_arr_0 : 16 * 1]>} {}
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$dim, "int64_t":$spatial, "int64_t":$temporal,
                        "int64_t":$elemArr, "::spyre::sdsc::PaddingKind":$padding,
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
  let description = [{
    Memory holds them, and the operation does not see them.

    ```mlir
    module attributes {sdsc.example = #sdsc.gap<"mb", [3]>} {}
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$dim, ArrayRefParameter<"int64_t">:$gaps);
  let hasCustomAssemblyFormat = 1;
}

class Sdsc_ArrayOf<string cppClass, string what>
    : TypedArrayAttrBase<Attr<CPred<"::llvm::isa<::mlir::" #
                                    !if(!eq(cppClass, "DenseI64ArrayAttr"), "", "sdsc::") #
                                    cppClass # ">($_self)">, what>, "array of " # what>;

class Sdsc_Op<string mnemonic, list<Trait> traits = []> : Op<Sdsc_Dialect, mnemonic, traits>;

def Sdsc_DescriptorOp : Sdsc_Op<"descriptor", [IsolatedFromAbove, SingleBlock, NoTerminator,
                                               Symbol]> {
  let summary = "One descriptor: a planned operation on all its cores";
  let description = [{
    Its body has the operands, constants and masks in order, and one `sdsc.compute`.

    ```mlir
    sdsc.descriptor @sdsc_0 index 0 dims [<mb = 512 in 4>, <out = 1024 in 1>]
        layouts [<OUTPUT, [mb, out], stick [out : 64]>] {
      %Tensor0 = sdsc.allocate "Tensor0" hbm "OUTPUT" [mb, out] scale [1, 1] SEN169_FP16 symbolic at [-1, -2, -3, -4]
      %Tensor1 = sdsc.allocate "Tensor1" lx "OUTPUT" [mb, out] scale [1, 1] SEN169_FP16 at [2048]
      sdsc.compute "sfp" "identity" SEN169_FP16 ins(%Tensor0) outs(%Tensor1)
    }
    ```

    Attributes are shown only where a file deviates from the rule:

    - `cores`: the number of cores, else the product of all slices
    - `core_order`: positions of dims, fastest first, else iteration order
    - `core_to_slice`: cores x dims, else from `core_order`
      (docs/formats/superdsc-rules.md, e.3)
    - `provenance`: the debug handle; `unknown_fields`: JSON pointer -> JSON text
    - `dim_symbols`: the symbol of each symbolic dim (`dimToSymbolMapping_`)
    - `windows`: the operation's padded windows (`paddingSizes_` of `N_`)
    - `steady_symbolic`, `steady_windows`, `last_symbolic`, `last_windows`: those of the
      stages `ss_` and `el_`
    - `target`, `operation_target`; `corelet_fold`, `num_corelets`, `core_ids`
    - `bundle_folds`, `bundle_fold_properties`, `bundle_fold_data`: `sdscFolds_`
    - `schedule`: per core its steps, four numbers each; `data_ops`: JSON texts
    - `spelling`: which of two spellings a file uses
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
    OptionalAttr<DictionaryAttr>:$unknown_fields,
    OptionalAttr<Sdsc_ArrayOf<"SymbolsAttr", "#sdsc.symbols">>:$dim_symbols,
    OptionalAttr<Sdsc_ArrayOf<"WindowAttr", "#sdsc.window">>:$windows,
    OptionalAttr<Sdsc_ArrayOf<"SymbolicAttr", "#sdsc.symbolic">>:$steady_symbolic,
    OptionalAttr<Sdsc_ArrayOf<"WindowAttr", "#sdsc.window">>:$steady_windows,
    OptionalAttr<Sdsc_ArrayOf<"SymbolicAttr", "#sdsc.symbolic">>:$last_symbolic,
    OptionalAttr<Sdsc_ArrayOf<"WindowAttr", "#sdsc.window">>:$last_windows,
    OptionalAttr<StrAttr>:$target,
    OptionalAttr<StrAttr>:$operation_target,
    OptionalAttr<Sdsc_FoldPropertyAttr>:$corelet_fold,
    OptionalAttr<I64Attr>:$num_corelets,
    OptionalAttr<DenseI64ArrayAttr>:$core_ids,
    OptionalAttr<Sdsc_ArrayOf<"FoldAttr", "#sdsc.fold">>:$bundle_folds,
    OptionalAttr<Sdsc_ArrayOf<"FoldPropertyAttr", "#sdsc.fold_property">>:$bundle_fold_properties,
    OptionalAttr<DictionaryAttr>:$bundle_fold_data,
    OptionalAttr<Sdsc_ArrayOf<"DenseI64ArrayAttr", "array<i64>">>:$schedule,
    OptionalAttr<StrArrayAttr>:$data_ops,
    OptionalAttr<StrArrayAttr>:$spelling);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Sdsc_AllocateOp : Sdsc_Op<"allocate", [
    HasParent<"DescriptorOp">, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "An operand: where it is, and in which layout";
  let description = [{
    In order: name, memory, layout class, own dim order (innermost first), scale of each dim
    of the class (1, -1 broadcast or reduced, -2 the same along the stick), format,
    start address of each core (bytes, or a negative symbol id; one number if all
    cores have the same).

    ```mlir
    sdsc.descriptor @sdsc_0 index 0 dims [<mb = 512 in 4>, <out = 1024 in 1>]
        layouts [<OUTPUT, [mb, out], stick [out : 64]>] {
      %Tensor0 = sdsc.allocate "Tensor0" hbm "OUTPUT" [mb, out] scale [1, 1] SEN169_FP16 symbolic at [-1, -2, -3, -4]
      %Tensor1 = sdsc.allocate "Tensor1" lx "OUTPUT" [mb, out] scale [1, 1] SEN169_FP16 at [2048]
      sdsc.compute "sfp" "identity" SEN169_FP16 ins(%Tensor0) outs(%Tensor1)
    }
    ```

    Attributes are shown only where needed: `word_length`
    (else the format's), `max_dim_sizes` (else -1 each; a number above 1 is the page
    size of a paged tensor), `indirection` (`index` or `value`) with `related`,
    `back_gap`, `coordinates` (else the standard folds), `slice_dims` and
    `core_to_slice` (an LX relayout's own division), `memories`, `allocation_name`
    (else "allocate-<name>_<memory>"), `address_corelets`.
  }];
  let arguments = (ins
    Sdsc_ComponentAttr:$component,
    StrAttr:$label,
    ArrayAttr:$dim_order,
    DenseI64ArrayAttr:$scale,
    Sdsc_FormatAttr:$format,
    DenseI64ArrayAttr:$start_address,
    UnitAttr:$symbolic,
    StrAttr:$name,
    OptionalAttr<I64Attr>:$word_length,
    OptionalAttr<DenseI64ArrayAttr>:$max_dim_sizes,
    OptionalAttr<Sdsc_IndirectionAttr>:$indirection,
    OptionalAttr<StrAttr>:$related,
    OptionalAttr<Sdsc_ArrayOf<"GapAttr", "#sdsc.gap">>:$back_gap,
    OptionalAttr<Sdsc_ArrayOf<"CoordinateAttr", "#sdsc.coordinate">>:$coordinates,
    OptionalAttr<ArrayAttr>:$slice_dims,
    OptionalAttr<DenseI64ArrayAttr>:$core_to_slice,
    OptionalAttr<ArrayAttr>:$memories,
    OptionalAttr<StrAttr>:$allocation_name,
    OptionalAttr<I64Attr>:$address_corelets);
  let results = (outs Sdsc_AllocationType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Sdsc_ConstantOp : Sdsc_Op<"constant", [HasParent<"DescriptorOp">]> {
  let summary = "A constant of the operation, as the bits that its file holds";
  let description = [{
    Constants are numbered in order. `corelets` is the factor of its corelet fold if that
    is not 1.

    ```mlir
    sdsc.descriptor @sdsc_0 index 0 dims [<mb = 512 in 4>, <out = 1024 in 1>]
        layouts [<OUTPUT, [mb, out], stick [out : 64]>] {
      %Tensor0 = sdsc.allocate "Tensor0" hbm "OUTPUT" [mb, out] scale [1, 1] SEN169_FP16 symbolic at [-1, -2, -3, -4]
      %Tensor1 = sdsc.allocate "Tensor1" lx "OUTPUT" [mb, out] scale [1, 1] SEN169_FP16 at [2048]
      sdsc.constant "eps" SEN169_FP16 0x2C11
      sdsc.compute "sfp" "layernormscale" SEN169_FP16 ins(%Tensor0) outs(%Tensor1)
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, Sdsc_FormatAttr:$format, I64Attr:$bits,
                       OptionalAttr<I64Attr>:$corelets);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Sdsc_MaskOp : Sdsc_Op<"mask", [HasParent<"DescriptorOp">]> {
  let summary = "Elements of the first input that read as the mask constant";
  let description = [{
    `from` is the first masked element, `count` how many there are.

    ```mlir
    sdsc.descriptor @sdsc_0 index 0 dims [<mb = 512 in 4>, <out = 1024 in 1>]
        layouts [<OUTPUT, [mb, out], stick [out : 64]>] {
      %Tensor0 = sdsc.allocate "Tensor0" hbm "OUTPUT" [mb, out] scale [1, 1] SEN169_FP16 symbolic at [-1, -2, -3, -4]
      %Tensor1 = sdsc.allocate "Tensor1" lx "OUTPUT" [mb, out] scale [1, -2] SEN169_FP16 at [2048]
      sdsc.constant "samv-maskvalue" SEN169_FP16 0
      sdsc.mask "out" from 1000 count 24
      sdsc.compute "sfp" "sum" SEN169_FP16 ins(%Tensor0, %Tensor1) outs(%Tensor1) mask 0
    }
    ```
  }];
  let arguments = (ins StrAttr:$dim, I64Attr:$first_invalid, I64Attr:$count);
  let assemblyFormat = "$dim `from` $first_invalid `count` $count attr-dict";
}

def Sdsc_ComputeOp : Sdsc_Op<"compute", [HasParent<"DescriptorOp">, AttrSizedOperandSegments]> {
  let summary = "The operation itself";
  let description = [{
    In order: execution unit, OpFunc, format, operands. Index tensors follow as
    `indices(...)`. `mask` is the number of the constant that masked elements read as.
    `fidelity` is "regular" if absent.

    ```mlir
    sdsc.descriptor @sdsc_0 index 0 dims [<mb = 512 in 4>, <out = 1024 in 1>]
        layouts [<OUTPUT, [mb, out], stick [out : 64]>] {
      %Tensor0 = sdsc.allocate "Tensor0" hbm "OUTPUT" [mb, out] scale [1, 1] SEN169_FP16 symbolic at [-1, -2, -3, -4]
      %Tensor1 = sdsc.allocate "Tensor1" lx "OUTPUT" [mb, out] scale [1, -2] SEN169_FP16 at [2048]
      sdsc.constant "samv-maskvalue" SEN169_FP16 0
      sdsc.mask "out" from 1000 count 24
      sdsc.compute "sfp" "sum" SEN169_FP16 ins(%Tensor0, %Tensor1) outs(%Tensor1) mask 0
    }
    ```
  }];
  let arguments = (ins
    StrAttr:$unit,
    StrAttr:$op_func,
    Sdsc_FormatAttr:$format,
    Variadic<Sdsc_AllocationType>:$inputs,
    Variadic<Sdsc_AllocationType>:$outputs,
    Variadic<Sdsc_AllocationType>:$indices,
    OptionalAttr<I64Attr>:$mask_constant,
    OptionalAttr<StrAttr>:$fidelity);
  let assemblyFormat = [{
    $unit $op_func custom<Format>($format) `ins` `(` $inputs `)` `outs` `(` $outputs `)`
    (`indices` `(` $indices^ `)`)? (`mask` $mask_constant^)? attr-dict
  }];
}

#endif // SPYRE_DIALECT_SUPERDSC_SDSC_TD
