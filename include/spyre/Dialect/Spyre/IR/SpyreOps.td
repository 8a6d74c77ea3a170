//===- SpyreOps.td - Operations of the Spyre dialect ------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device operations (one a specified record of the OpFunc table, the same at all
// levels), views, composites that live until decomposition, and allocation.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_OPS
#define SPYRE_OPS

include "spyre/Dialect/Spyre/IR/SpyreTypes.td"
include "spyre/Dialect/Spyre/IR/SpyreInterfaces.td"
include "spyre/OpFunc/OpFuncs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Device operations
//===----------------------------------------------------------------------===//

/// The element type that programs use for a format.
class Spyre_ElementType<string format> {
  string type = !cond(!eq(format, "IEEE_FP32") : "f32", !eq(format, "SEN143_FP8") : "f8E4M3FN",
                      true : "f16");
}

/// A function with one operation of the record `f`, for the documentation.
class Spyre_DeviceExample<OpFunc f> {
  OpFuncForm form = !head(f.forms);
  list<string> names = ["x", "y", "z", "w", "b"];
  list<int> numbers = !range(f.numInputs);
  string input = Spyre_ElementType<!head(form.inputFormats)>.type;
  string output = !if(!and(f.jumps, !eq(f.category, "Broadcast")), "i1",
                      Spyre_ElementType<form.outputFormat>.type);
  string space = !cond(!eq(f.stickRule, "TopK") : "(d0 = 4, d1 = 128, d2 = 64)",
                       !eq(f.category, "Batchmatmul") : "(d0 = 32, d1 = 128, d2 = 256)",
                       !eq(f.opFuncName, "layernormscale") : "(d0 = 32)",
                       true : "(d0 = 32, d1 = 128)");
  // Map and type of input i, and of the result.
  list<string> maps = !cond(
      !eq(f.stickRule, "TopK") : ["d2, d1"],
      !eq(f.category, "Batchmatmul") : ["d0, d2", "d2, d1"],
      !eq(f.opFuncName, "layernormnorm") : ["d0, d1", "d0, 0", "d0, 0", "d1", "d1"],
      !eq(f.opFuncName, "layernormscale") : ["d0, 0"],
      true : !listsplat("d0, d1", f.numInputs));
  list<string> shapes = !cond(
      !eq(f.stickRule, "TopK") : ["64x128"],
      !eq(f.category, "Batchmatmul") : ["32x256", "256x128"],
      !eq(f.opFuncName, "layernormnorm") : ["32x128", "32x1", "32x1", "128", "128"],
      !eq(f.opFuncName, "layernormscale") : ["32x1"],
      true : !listsplat("32x128", f.numInputs));
  bit oneARow = !or(!eq(f.category, "Reduction"), !eq(f.opFuncName, "layernormscale"));
  string resultMap = !if(oneARow, "d0, 0", "d0, d1");
  string resultShape = !cond(!eq(f.stickRule, "TopK") : "4x128", oneARow : "32x1", true : "32x128");
  string constants = !if(!empty(f.constants), "",
      " constants {" # !interleave(!foreach(c, f.constants, c # " = 0.5 : f64"), ", ") # "}");
  string types = !interleave(!foreach(s, shapes, "tensor<" # s # "x" # input # ">"), ", ");
  string result = "tensor<" # resultShape # "x" # output # ">";
  string text = "```mlir\nfunc.func @f("
      # !interleave(!foreach(i, numbers, "%" # names[i] # ": tensor<" # shapes[i] # "x" # input # ">"), ", ")
      # ") -> " # result # " {\n  %0 = spyre." # f.mnemonic # " " # space # " ins("
      # !interleave(!foreach(i, numbers, "%" # names[i] # "[" # maps[i] # "]"), ", ")
      # ") -> [" # resultMap # "]" # constants # "\n    : " # types # " -> " # result
      # "\n  return %0 : " # result # "\n}\n```\n";
}

class Spyre_DeviceOp<string mnemonic, string opFunc, string enumerator, string meaning, string example>
    : Spyre_Op<mnemonic, [Spyre_DeviceOpInterface, AttrSizedOperandSegments,
                          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = meaning;
  let description = "This is device operation `" # opFunc # "` of the OpFunc table. Its result: " # meaning #
                    ".\n\n" # example;
  let arguments = (ins
    Variadic<Spyre_Value>:$inputs,
    Optional<Spyre_Value>:$output,
    Variadic<Index>:$loopVariables,
    DenseI64ArrayAttr:$extents,
    DefaultValuedOptionalAttr<DenseI64ArrayAttr, "{}">:$splits,
    UnitAttr:$kFast,
    AffineMapArrayAttr:$maps,
    OptionalAttr<DictionaryAttr>:$constants,
    OptionalAttr<DenseI64ArrayAttr>:$gather
  );
  let results = (outs Optional<AnyRankedTensor>:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static ::llvm::StringRef getOpFuncName() { return "}] # opFunc # [{"; }
    static ::spyre::OpFunc getOpFunc();
  }];
  let extraClassDefinition = [{
    ::spyre::OpFunc $cppClass::getOpFunc() { return ::spyre::OpFunc::}] # enumerator # [{; }
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser,
                                         ::mlir::OperationState &state) {
      return detail::parseDeviceOp(parser, state);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) {
      detail::printDeviceOp(printer, *this);
    }
    ::mlir::LogicalResult $cppClass::verify() { return detail::verifyDeviceOp(*this); }
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      detail::getDeviceOpEffects(*this, effects);
    }
  }];
}

// "sumnonstick" is how a descriptor spells "sum": no operation of its own.
foreach f = !instances<OpFunc>() in {
  if !and(f.specified, !eq(f.baseName, f.opFuncName)) then
    def Spyre_#f.cppName#Op : Spyre_DeviceOp<f.mnemonic, f.opFuncName, f.cppName, f.meaning,
                                         Spyre_DeviceExample<f>.text>;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

def Spyre_AllocOp : Spyre_Op<"alloc", []> {
  let summary = "A buffer that the compiler owns";
  let description = [{
    `lx(2048)`, `pool(0)` and `hbm(4096)` give its place; without one it is still to
    be placed. A buffer in LX says which core holds which region.

    ```mlir
    !h = !spyre.buffer<128x256xf16, #spyre.layout<[4, 128, 64], order [0, 1], SEN169_FP16>, hbm>
    !l = !spyre.buffer<128x256xf16, #spyre.layout<[4, 128, 64], order [0, 1], SEN169_FP16>, lx>
    func.func @f() {
      %0 = spyre.alloc lx(2048) holding<cores 32, slices [32, 1], (c) -> (c, 0)> : !l
      %1 = spyre.alloc pool(0) : !h
      %2 = spyre.alloc : !h
      return
    }
    ```
  }];
  let arguments = (ins OptionalAttr<Spyre_PlacementAttr>:$placement,
                       OptionalAttr<Spyre_DistributionAttr>:$distribution);
  let results = (outs Res<Spyre_BufferType, "", [MemAlloc]>:$buffer);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Spyre_ReinterpretOp : Spyre_Op<"reinterpret", [Pure]> {
  let summary = "The same memory as elements of another width";
  let description = [{
    One f32 element of the stick dim is two 16-bit elements, the low half first: every
    other extent, the order of the dims and every byte stay. It takes tensors with a
    layout and buffers. Moves of 32-bit values are made of 16-bit moves with it.

    ```mlir
    #wide = #spyre.layout<[1, 8, 32], order [0, 1], IEEE_FP32>
    #half = #spyre.layout<[1, 8, 64], order [0, 1], SEN169_FP16>
    func.func @f(%x: tensor<8x32xf32, #wide>) -> tensor<8x64xf16, #half> {
      %0 = spyre.reinterpret %x : tensor<8x32xf32, #wide> to tensor<8x64xf16, #half>
      return %0 : tensor<8x64xf16, #half>
    }
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, Spyre_BufferType]>:$source);
  let results = (outs AnyTypeOf<[AnyRankedTensor, Spyre_BufferType]>:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tensor level only
//===----------------------------------------------------------------------===//

def Spyre_ViewOp : Spyre_Op<"view", [Pure]> {
  let summary = "Another way to index a tensor";
  let description = [{
    Result element (d0, d1, ...) is the operand's element at the map's coordinates:
    transpose, reshape, slice and expand in one form. It costs nothing: it is folded
    into the access maps of its consumers, or becomes a copy where the device
    cannot read that way.

    ```mlir
    func.func @transpose(%x: tensor<4x8xf16>) -> tensor<8x4xf16> {
      %0 = spyre.view %x[d1, d0] : tensor<4x8xf16> -> tensor<8x4xf16>
      return %0 : tensor<8x4xf16>
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, AffineMapAttr:$map);
  let results = (outs AnyRankedTensor:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasFolder = 1;
}

// Not ConstantLike: the folder would merge constants whose numbers round to the same element
// (spyre.value has the exact one), and forget where in the program they stand.
def Spyre_ConstantOp : Spyre_Op<"constant", [Pure]> {
  let summary = "A tensor known at compile time";
  let description = [{
    The elements are in the type of the result. Where that has rounded the program's
    number, the attribute `spyre.value` keeps the number as it was written.

    ```mlir
    func.func @f() -> tensor<f16> {
      %0 = spyre.constant dense<0.5> : tensor<f16> : tensor<f16>
      return %0 : tensor<f16>
    }
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Spyre_ConvertOp : Spyre_Op<"convert", [Pure]> {
  let summary = "The same values in another element type, rounded once";
  let description = [{
    This is a conversion as the program wrote it. `spyre-resolve-precision` decides
    where it becomes a device cast and where it disappears.

    ```mlir
    func.func @f(%x: tensor<32x128xf16>) -> tensor<32x128xf32> {
      %0 = spyre.convert %x : tensor<32x128xf16> to tensor<32x128xf32>
      return %0 : tensor<32x128xf32>
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

class Spyre_CompositeOp<string mnemonic, list<Trait> traits = []>
    : Spyre_Op<mnemonic, [Pure] # traits> {
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
}

def Spyre_SoftmaxOp : Spyre_CompositeOp<"softmax"> {
  let summary = "exp(x - max x) / sum exp(x - max x) along one dim";
  let description = [{
    It lives until `spyre-decompose` makes device operations of it.

    ```mlir
    func.func @f(%x: tensor<32x256xf16>) -> tensor<32x256xf16> {
      %0 = spyre.softmax %x along 1 : tensor<32x256xf16> -> tensor<32x256xf16>
      return %0 : tensor<32x256xf16>
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, I64Attr:$dim);
  let assemblyFormat = "$source `along` $dim attr-dict `:` type($source) `->` type($result)";
}

def Spyre_LogSoftmaxOp : Spyre_CompositeOp<"log_softmax"> {
  let summary = "x - max x - log sum exp(x - max x) along one dim";
  let description = [{
    It lives until `spyre-decompose` makes device operations of it.

    ```mlir
    func.func @f(%x: tensor<32x256xf16>) -> tensor<32x256xf16> {
      %0 = spyre.log_softmax %x along 1 : tensor<32x256xf16> -> tensor<32x256xf16>
      return %0 : tensor<32x256xf16>
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, I64Attr:$dim);
  let assemblyFormat = "$source `along` $dim attr-dict `:` type($source) `->` type($result)";
}

def Spyre_RmsNormOp : Spyre_CompositeOp<"rms_norm"> {
  let summary = "x * rsqrt(mean x^2 + eps) * weight over the last dims";
  let description = [{
    `over 1` takes the mean over the last dim. The weight is optional.

    ```mlir
    func.func @f(%x: tensor<32x512xf16>, %g: tensor<512xf16>) -> tensor<32x512xf16> {
      %0 = spyre.rms_norm %x weight(%g : tensor<512xf16>) over 1 epsilon 1.0e-5 : tensor<32x512xf16> -> tensor<32x512xf16>
      return %0 : tensor<32x512xf16>
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, Optional<AnyRankedTensor>:$weight,
                       I64Attr:$normalizedRank, F64Attr:$epsilon);
  let assemblyFormat = [{
    $source (`weight` `(` $weight^ `:` type($weight) `)`)? `over` $normalizedRank
    `epsilon` $epsilon attr-dict `:` type($source) `->` type($result)
  }];
}

def Spyre_LinearOp : Spyre_CompositeOp<"linear"> {
  let summary = "x times the transposed weight, plus a bias; accumulated wide, rounded once";
  let description = [{
    The weight is read transposed, as PyTorch stores it. The bias is optional.

    ```mlir
    func.func @f(%x: tensor<32x64xf16>, %w: tensor<96x64xf16>, %b: tensor<96xf16>) -> tensor<32x96xf16> {
      %0 = spyre.linear %x, %w bias(%b : tensor<96xf16>) : tensor<32x64xf16>, tensor<96x64xf16> -> tensor<32x96xf16>
      return %0 : tensor<32x96xf16>
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, AnyRankedTensor:$weight,
                       Optional<AnyRankedTensor>:$bias);
  let assemblyFormat = [{
    $source `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)? attr-dict
    `:` type($source) `,` type($weight) `->` type($result)
  }];
}

def Spyre_MatmulOp : Spyre_CompositeOp<"matmul"> {
  let summary = "Matrix product over the last two dims with broadcast batch dims";
  let description = [{
    The sum is accumulated in f32 or wider and rounded once to the result's type.

    ```mlir
    func.func @f(%x: tensor<2x32x64xf16>, %y: tensor<64x96xf16>) -> tensor<2x32x96xf16> {
      %0 = spyre.matmul %x, %y : tensor<2x32x64xf16>, tensor<64x96xf16> -> tensor<2x32x96xf16>
      return %0 : tensor<2x32x96xf16>
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
}

def Spyre_ConcatOp : Spyre_CompositeOp<"concat"> {
  let summary = "Tensors one behind the other along one dim";
  let description = [{
    It stands for all that joins tensors: concatenation, stacking, padding with a
    constant, writing a slice. `spyre-fold-views` turns it into writes at offsets of one
    tensor, by the operations that compute the parts where these have no other use.

    ```mlir
    func.func @f(%x: tensor<8x32xf16>, %y: tensor<8x96xf16>) -> tensor<8x128xf16> {
      %0 = spyre.concat %x, %y along 1 : tensor<8x32xf16>, tensor<8x96xf16> -> tensor<8x128xf16>
      return %0 : tensor<8x128xf16>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$sources, I64Attr:$dim);
  let assemblyFormat = [{
    $sources `along` $dim attr-dict `:` type($sources) `->` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

def Spyre_HostCallOp : Spyre_Op<"host_call", []> {
  let summary = "An operation that the host computes";
  let description = [{
    It stands between the calls of a program's functions, never inside one: the bundle
    before it ends, what it reads is copied out, what it makes is copied in again where
    a bundle reads it. `function` is the operation's name (`aten.max.dim`): a function
    of lib/Host's table, or PyTorch's own kernel where the caller brings it.

    `arguments` are the operation's operands in order: an i64, f64 or bool, a string,
    `unit` for none, a list of them; `0 : index` is input 0, a tensor or a number that
    the program computes. Result i is number `numbers[i]` of what the function returns,
    and where `items[i]` is not -1, that element of the returned list.

    ```mlir
    func.func @main(%x: !torch.vtensor<[4,8],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>) {
      %values, %where = spyre.host_call "aten.max.dim"(%x)
          {arguments = [0 : index, 1, false], numbers = array<i64: 0, 1>,
           items = array<i64: -1, -1>, reason = "no device operation is known for it"}
          : (!torch.vtensor<[4,8],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>)
      return %values, %where : !torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>
    }
    ```
  }];
  let arguments = (ins StrAttr:$function, ArrayAttr:$arguments, DenseI64ArrayAttr:$numbers,
                       DenseI64ArrayAttr:$items, DefaultValuedOptionalAttr<StrAttr, "\"\"">:$reason,
                       Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $function `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

#endif // SPYRE_OPS
