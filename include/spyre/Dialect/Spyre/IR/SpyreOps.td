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

class Spyre_DeviceOp<string mnemonic, string opFunc, string enumerator, string meaning>
    : Spyre_Op<mnemonic, [Spyre_DeviceOpInterface, AttrSizedOperandSegments,
                          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = meaning;
  let description = "Device operation `" # opFunc # [{` of the OpFunc table.

    `(d0 = 128 / 32, d1 = 256)` is the iteration space with its work slices, then
    come the operands with their access maps; `loops(%i)` binds `s0`, ... of the
    maps. At tensor level the op has a result (and `outs` only where it writes
    part of an existing tensor); at L3 it writes `outs`.

    `gather(1[0] by 0)` (L3 only): input 1 is a table whose dim 0 is addressed by the
    elements of input 0, an index tensor, which is no input of the operation itself.
    The table's map has 0 at that dim.
  }];
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
    def Spyre_#f.cppName#Op : Spyre_DeviceOp<f.mnemonic, f.opFuncName, f.cppName, f.meaning>;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

def Spyre_AllocOp : Spyre_Op<"alloc", []> {
  let summary = "A buffer that the compiler owns";
  let description = [{
    `spyre.alloc lx(2048)`, `pool(0)` and `hbm(4096)` give its place; without one it
    is still to be placed. An LX buffer carries which core holds which region.
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
    other extent, the order of the dims and every byte stay. For tensors with a
    layout and for buffers. Moves of 32-bit values are made of 16-bit moves with it.

    `spyre.reinterpret %x : tensor<8x32xf32, #l0> to tensor<8x64xf16, #l1>`
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
    transpose, reshape, slice and expand in one form. Costs nothing: it is folded
    into the access maps of its consumers, or becomes a copy where the device
    cannot read that way.
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
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Spyre_ConvertOp : Spyre_Op<"convert", [Pure]> {
  let summary = "The same values in another element type, rounded once";
  let description = [{
    A conversion as the program wrote it. The island analysis decides where it
    becomes a device cast and where it disappears (precision contract).
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
  let arguments = (ins AnyRankedTensor:$source, I64Attr:$dim);
  let assemblyFormat = "$source `along` $dim attr-dict `:` type($source) `->` type($result)";
}

def Spyre_LogSoftmaxOp : Spyre_CompositeOp<"log_softmax"> {
  let summary = "x - max x - log sum exp(x - max x) along one dim";
  let arguments = (ins AnyRankedTensor:$source, I64Attr:$dim);
  let assemblyFormat = "$source `along` $dim attr-dict `:` type($source) `->` type($result)";
}

def Spyre_RmsNormOp : Spyre_CompositeOp<"rms_norm"> {
  let summary = "x * rsqrt(mean x^2 + eps) * weight over the last dims";
  let arguments = (ins AnyRankedTensor:$source, Optional<AnyRankedTensor>:$weight,
                       I64Attr:$normalizedRank, F64Attr:$epsilon);
  let assemblyFormat = [{
    $source (`weight` `(` $weight^ `:` type($weight) `)`)? `over` $normalizedRank
    `epsilon` $epsilon attr-dict `:` type($source) `->` type($result)
  }];
}

def Spyre_LinearOp : Spyre_CompositeOp<"linear"> {
  let summary = "x times the transposed weight, plus a bias; accumulated wide, rounded once";
  let arguments = (ins AnyRankedTensor:$source, AnyRankedTensor:$weight,
                       Optional<AnyRankedTensor>:$bias);
  let assemblyFormat = [{
    $source `,` $weight (`bias` `(` $bias^ `:` type($bias) `)`)? attr-dict
    `:` type($source) `,` type($weight) `->` type($result)
  }];
}

def Spyre_MatmulOp : Spyre_CompositeOp<"matmul"> {
  let summary = "Matrix product over the last two dims with broadcast batch dims";
  let description = "Accumulated in f32 or wider and rounded once to the result type.";
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
}

def Spyre_ConcatOp : Spyre_CompositeOp<"concat"> {
  let summary = "Tensors one behind the other along one dim";
  let description = [{
    All of what joins tensors: concatenation, stacking, padding with a constant,
    writing a slice. spyre-fold-views turns it into writes at offsets of one
    tensor, by the operations that compute the parts where these have no other use.
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
    Stands between the calls of a program's functions, never inside one: the bundle
    before it ends, what it reads is copied out, what it makes is copied in again where
    a bundle reads it. `function` is the operation's name (`aten.max.dim`): a function
    of lib/Host's table, or PyTorch's own kernel where the caller brings it.

    `arguments` are the operation's operands in order: an i64, f64 or bool, a string,
    `unit` for none, a list of them; `0 : index` is input 0, a tensor or a number that
    the program computes. Result i is number `numbers[i]` of what the function returns,
    and where `items[i]` is not -1, that element of the returned list.

    ```mlir
    %values, %where = spyre.host_call "aten.max.dim"(%x)
        {arguments = [0 : index, 1, false], numbers = array<i64: 0, 1>,
         items = array<i64: -1, -1>, reason = "no device operation is known for it"}
        : (!torch.vtensor<[4,8],f32>) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],si64>)
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
