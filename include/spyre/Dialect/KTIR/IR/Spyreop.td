//===- Spyreop.td - Intrinsics in kernels ----------------------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The spyreop dialect: what the device does to one element.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_KTIR_SPYREOP_TD
#define SPYRE_DIALECT_KTIR_SPYREOP_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Spyreop_Dialect : Dialect {
  let name = "spyreop";
  let cppNamespace = "::mlir::spyreop";
  let summary = "Intrinsics of the device in bodies of linalg";
  let description = [{
    Pure operations on scalars, meant for the body of a `linalg.generic`: one of them is
    what the device does to an element. All operands and results of an operation have
    one type, but for those on pairs. `!spyreop.df16` is the device's own 16-bit format;
    f16 stands for it where the module says `spyre.f16 = "dl16"`.

    ```mlir
    #same = affine_map<(d0, d1) -> (d0, d1)>
    func.func @exp(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
      %init = tensor.empty() : tensor<4x64xf16>
      %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<4x64xf16>) outs(%init : tensor<4x64xf16>) {
      ^bb0(%a: f16, %b: f16):
        %e = spyreop.exp %a : f16
        linalg.yield %e : f16
      } -> tensor<4x64xf16>
      return %y : tensor<4x64xf16>
    }
    ```
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Spyreop_Type<string name, string typeMnemonic>
    : TypeDef<Spyreop_Dialect, name, [VectorElementTypeInterface, MemRefElementTypeInterface]> {
  let mnemonic = typeMnemonic;
}

def Spyreop_DF16 : Spyreop_Type<"DF16", "df16"> {
  let summary = "The device's 16-bit float";
  let description = [{
    One bit of sign, six of exponent, nine of mantissa.

    ```mlir
    func.func private @f(tensor<64x!spyreop.df16>)
    ```
  }];
}

class Spyreop_Pair<string name, string typeMnemonic, string what>
    : Spyreop_Type<name, typeMnemonic> {
  let summary = "A pair of " # what # " in one value";
  let description = "A mean and a mean of squares, as `exx2_fused` gives them.\n\n" #
                    "```mlir\nfunc.func private @f(memref<4x!spyreop." # typeMnemonic #
                    ">)\n```";
}
def Spyreop_DF16Fused : Spyreop_Pair<"DF16Fused", "df16_fused", "df16 floats">;
def Spyreop_FP16Fused : Spyreop_Pair<"FP16Fused", "fp16_fused", "16-bit floats">;
def Spyreop_FP32Fused : Spyreop_Pair<"FP32Fused", "fp32_fused", "32-bit floats">;

def Spyreop_Float : AnyTypeOf<[F16, Spyreop_DF16, F32]>;
def Spyreop_Float16 : AnyTypeOf<[F16, Spyreop_DF16]>;
def Spyreop_AnyPair : AnyTypeOf<[Spyreop_DF16Fused, Spyreop_FP16Fused, Spyreop_FP32Fused]>;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Spyreop_Enum<string name, string what, list<I32EnumAttrCase> enumCases>
    : I32EnumAttr<name, what, enumCases> {
  let cppNamespace = "::mlir::spyreop";
  let genSpecializedAttr = 0;
}

def Spyreop_ComparePredicate : Spyreop_Enum<"ComparePredicate", "how two numbers are compared", [
    I32EnumAttrCase<"Equal", 0, "equal">, I32EnumAttrCase<"NotEqual", 1, "notequal">,
    I32EnumAttrCase<"GreaterThan", 2, "greaterthan">,
    I32EnumAttrCase<"GreaterEqual", 3, "greaterequal">,
    I32EnumAttrCase<"LesserThan", 4, "lesserthan">,
    I32EnumAttrCase<"LesserEqual", 5, "lesserequal">]>;
def Spyreop_ReductionKind : Spyreop_Enum<"ReductionKind", "how two numbers become one", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Sub", 1, "sub">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"Mul", 4, "mul">, I32EnumAttrCase<"AbsMax", 5, "abs_max">]>;
def Spyreop_ReductionScope : Spyreop_Enum<"ReductionScope", "which lanes become one", [
    I32EnumAttrCase<"InSlice", 0, "in_slice">, I32EnumAttrCase<"AcrossSlice", 1, "across_slice">]>;

class Spyreop_EnumAttr<EnumInfo info, string mnemonic, string where, string example>
    : EnumAttr<Spyreop_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
  let description = "An attribute of `" # where # "`.\n\n```mlir\n" #
                    "func.func private @f() attributes {a = #spyreop." # mnemonic # "<" # example #
                    ">}\n```";
}
def Spyreop_ComparePredicateAttr
    : Spyreop_EnumAttr<Spyreop_ComparePredicate, "compare_predicate", "compare", "lesserthan">;
def Spyreop_ReductionKindAttr
    : Spyreop_EnumAttr<Spyreop_ReductionKind, "reduction_kind", "slice_reduction", "abs_max">;
def Spyreop_ReductionScopeAttr
    : Spyreop_EnumAttr<Spyreop_ReductionScope, "reduction_scope", "slice_reduction", "in_slice">;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

class Spyreop_Op<string mnemonic, list<Trait> traits = []>
    : Op<Spyreop_Dialect, mnemonic, !listconcat([Pure], traits)>;

/// One number from one number of the same type.
class Spyreop_Unary<string mnemonic, string what, Type type = Spyreop_Float>
    : Spyreop_Op<mnemonic, [SameOperandsAndResultType]> {
  let summary = what;
  let description = "```mlir\nfunc.func @f(%x: f16) -> f16 {\n  %y = spyreop." # mnemonic #
                    " %x : f16\n  return %y : f16\n}\n```";
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Spyreop_ExpOp : Spyreop_Unary<"exp", "e to the x">;
def Spyreop_SqrtOp : Spyreop_Unary<"sqrt", "The square root">;
def Spyreop_RsqrtOp : Spyreop_Unary<"rsqrt", "1 by the square root">;
def Spyreop_ReciprocalOp : Spyreop_Unary<"reciprocal", "1 by x">;
def Spyreop_SigmoidOp : Spyreop_Unary<"sigmoid", "1 / (1 + exp(-x))">;
def Spyreop_SiluOp : Spyreop_Unary<"silu", "x * sigmoid(x)">;
def Spyreop_GeluOp : Spyreop_Unary<"gelu", "x times the normal distribution at x", Spyreop_Float16>;

def Spyreop_SoftplusOp : Spyreop_Op<"softplus", [SameOperandsAndResultType]> {
  let summary = "log(1 + exp(beta * x)) / beta";
  let description = [{
    Where `beta * x` is above the threshold, x itself. Beta is not 0.

    ```mlir
    func.func @f(%x: f16) -> f16 {
      %y = spyreop.softplus %x beta 1.0 threshold 20.0 : f16
      return %y : f16
    }
    ```
  }];
  let arguments = (ins Spyreop_Float16:$operand, F32Attr:$beta, F32Attr:$threshold);
  let results = (outs Spyreop_Float16:$result);
  let assemblyFormat = [{
    $operand `beta` $beta `threshold` $threshold attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Spyreop_RealDivOp : Spyreop_Op<"realdiv", [SameOperandsAndResultType]> {
  let summary = "The quotient";
  let description = [{
    ```mlir
    func.func @f(%x: f16, %y: f16) -> f16 {
      %q = spyreop.realdiv %x, %y : f16
      return %q : f16
    }
    ```
  }];
  let arguments = (ins Spyreop_Float:$lhs, Spyreop_Float:$rhs);
  let results = (outs Spyreop_Float:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Spyreop_CompareOp : Spyreop_Op<"compare", [SameOperandsAndResultType]> {
  let summary = "1 where the comparison holds, else 0";
  let description = [{
    ```mlir
    func.func @f(%x: f16, %y: f16) -> f16 {
      %m = spyreop.compare <greaterthan> %x, %y : f16
      return %m : f16
    }
    ```
  }];
  let arguments = (ins Spyreop_ComparePredicateAttr:$predicate, Spyreop_Float:$lhs,
                       Spyreop_Float:$rhs);
  let results = (outs Spyreop_Float:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($result)";
}

def Spyreop_SelectOp : Spyreop_Op<"select", [SameOperandsAndResultType]> {
  let summary = "The second number where the first is not 0, else the third";
  let description = [{
    ```mlir
    func.func @f(%m: f16, %x: f16, %y: f16) -> f16 {
      %r = spyreop.select %m, %x, %y : f16
      return %r : f16
    }
    ```
  }];
  let arguments = (ins Spyreop_Float:$condition, Spyreop_Float:$trueValue,
                       Spyreop_Float:$falseValue);
  let results = (outs Spyreop_Float:$result);
  let assemblyFormat = [{
    $condition `,` $trueValue `,` $falseValue attr-dict `:` type($result)
  }];
}

def Spyreop_ConstantOp : Spyreop_Op<"constant", [ConstantLike,
                                                 AllTypesMatch<["value", "result"]>]> {
  let summary = "A number of the device";
  let description = [{
    ```mlir
    func.func @f() -> f16 {
      %c = spyreop.constant 2.5 : f16
      return %c : f16
    }
    ```
  }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs AnyTypeOf<[F16, F32]>:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}

def Spyreop_Exx2Op : Spyreop_Op<"exx2", [SameOperandsAndResultType]> {
  let summary = "The mean and the mean of squares";
  let description = [{
    Of the elements that the surrounding reduction goes over.

    ```mlir
    func.func @f(%x: f16) -> (f16, f16) {
      %mean, %squares = spyreop.exx2 %x : f16
      return %mean, %squares : f16, f16
    }
    ```
  }];
  let arguments = (ins Spyreop_Float:$operand);
  let results = (outs Spyreop_Float:$mean, Spyreop_Float:$squares);
  let assemblyFormat = "$operand attr-dict `:` type($mean)";
}

def Spyreop_Exx2FusedOp
    : Spyreop_Op<"exx2_fused", [InferTypeOpAdaptor]> {
  let summary = "The mean and the mean of squares, in one value";
  let description = [{
    ```mlir
    func.func @f(%x: f16) -> !spyreop.fp16_fused {
      %pair = spyreop.exx2_fused %x : f16 -> !spyreop.fp16_fused
      return %pair : !spyreop.fp16_fused
    }
    ```
  }];
  let arguments = (ins Spyreop_Float:$operand);
  let results = (outs Spyreop_AnyPair:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

def Spyreop_LayerNormScaleOp : Spyreop_Op<"layernormscale", [SameOperandsAndResultType]> {
  let summary = "What a layer normalisation multiplies by";
  let description = [{
    The operands are the mean and the mean of squares that `exx2` gives.

    ```mlir
    func.func @f(%mean: f16, %squares: f16) -> f16 {
      %s = spyreop.layernormscale %mean squares %squares : f16
      return %s : f16
    }
    ```
  }];
  let arguments = (ins Spyreop_Float:$operand, Spyreop_Float:$squares);
  let results = (outs Spyreop_Float:$result);
  let assemblyFormat = "$operand `squares` $squares attr-dict `:` type($result)";
}

def Spyreop_LayerNormScaleFusedOp
    : Spyreop_Op<"layernormscale_fused", [InferTypeOpAdaptor]> {
  let summary = "What a layer normalisation multiplies by, from a pair";
  let description = [{
    ```mlir
    func.func @f(%pair: !spyreop.fp16_fused) -> f16 {
      %s = spyreop.layernormscale_fused %pair : !spyreop.fp16_fused -> f16
      return %s : f16
    }
    ```
  }];
  let arguments = (ins Spyreop_AnyPair:$operand);
  let results = (outs Spyreop_Float:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}

def Spyreop_LayerNormNormOp : Spyreop_Op<"layernormnorm", [SameOperandsAndResultType]> {
  let summary = "A layer normalisation of one element";
  let description = [{
    The operands are the element, the statistic of `exx2`, the scale of
    `layernormscale`, the weight and the bias.

    ```mlir
    func.func @f(%x: f16, %m: f16, %s: f16, %w: f16, %b: f16) -> f16 {
      %y = spyreop.layernormnorm %x squares %m scale %s weight %w bias %b : f16
      return %y : f16
    }
    ```
  }];
  let arguments = (ins Spyreop_Float:$operand, Spyreop_Float:$squares, Spyreop_Float:$scale,
                       Spyreop_Float:$weight, Spyreop_Float:$bias);
  let results = (outs Spyreop_Float:$result);
  let assemblyFormat = [{
    $operand `squares` $squares `scale` $scale `weight` $weight `bias` $bias attr-dict `:`
    type($result)
  }];
}

/// Two integers of one width.
class Spyreop_Integers<string mnemonic, string what, I type>
    : Spyreop_Op<mnemonic, [SameOperandsAndResultType]> {
  let summary = what;
  let description = "```mlir\nfunc.func @f(%x: i" # type.bitwidth # ", %y: i" # type.bitwidth #
                    ") {\n  %r = spyreop." # mnemonic # " %x, %y\n  return\n}\n```";
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict";
}
def Spyreop_AddI32Op : Spyreop_Integers<"addi32toi32", "The sum of two integers", I32>;
def Spyreop_MulI32Op : Spyreop_Integers<"muli32toi32", "The product of two integers", I32>;
def Spyreop_AddI64Op : Spyreop_Integers<"addi64toi64", "The sum of two integers", I64>;

def Spyreop_Idx32ToAddrOp : Spyreop_Op<"idx32toaddr", [SameOperandsAndResultType]> {
  let summary = "The address of an element: base + index * stride";
  let description = [{
    ```mlir
    func.func @f(%i: i32, %b: i32, %s: i32) -> i32 {
      %a = spyreop.idx32toaddr %i base %b stride %s
      return %a : i32
    }
    ```
  }];
  let arguments = (ins I32:$index, I32:$base, I32:$stride);
  let results = (outs I32:$result);
  let assemblyFormat = "$index `base` $base `stride` $stride attr-dict";
}

def Spyreop_SliceReductionOp : Spyreop_Op<"slice_reduction"> {
  let summary = "Lanes of a stick become one";
  let description = [{
    The only operation on tensors. Within each slice of a stick, or across its slices.

    ```mlir
    func.func @f(%x: tensor<64xf16>) -> tensor<64xf16> {
      %y = spyreop.slice_reduction %x {reduction_kind = #spyreop.reduction_kind<add>,
          reduction_scope = #spyreop.reduction_scope<in_slice>} : tensor<64xf16> -> tensor<64xf16>
      return %y : tensor<64xf16>
    }
    ```
  }];
  let arguments = (ins RankedTensorOf<[F16, Spyreop_DF16, F32]>:$operand,
                       Spyreop_ReductionKindAttr:$reduction_kind,
                       Spyreop_ReductionScopeAttr:$reduction_scope);
  let results = (outs RankedTensorOf<[F16, Spyreop_DF16, F32]>:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

#endif // SPYRE_DIALECT_KTIR_SPYREOP_TD
