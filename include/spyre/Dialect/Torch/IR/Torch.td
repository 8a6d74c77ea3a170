//===- Torch.td - The reader's torch dialect and its types -*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dialect that reads the text of torch-mlir's torch dialect without depending on
// torch-mlir. Operations are not registered one by one: any `torch.…` operation is
// read and printed by the hooks of the dialect (see TorchAssembly.cpp), so a new
// operation of PyTorch needs no change here. Types are real types.
// Source of the forms: what torch-mlir's FX importer prints; docs/developer/torch-reader.md.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_TORCH_IR_TORCH
#define SPYRE_DIALECT_TORCH_IR_TORCH

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

def Torch_Dialect : Dialect {
  let name = "torch";
  let cppNamespace = "::mlir::torch_reader";
  let summary = "Reader of torch-mlir's textual IR";
  let description = [{
    Reads every operation whose name starts with `torch.`, in the custom form of
    torch-mlir or in the generic form, and prints it in torch-mlir's form. What an
    operation means is decided by the conversion out of this dialect.
  }];
  let useDefaultTypePrinterParser = 0;
  let extraClassDeclaration = [{
    ::mlir::Type parseType(::mlir::DialectAsmParser &parser) const override;
    void printType(::mlir::Type type, ::mlir::DialectAsmPrinter &printer) const override;
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef opName) const override;
    ::llvm::unique_function<void(::mlir::Operation *, ::mlir::OpAsmPrinter &)>
    getOperationPrinter(::mlir::Operation *op) const override;
    void registerTypes();
  }];
}

class Torch_Type<string cppName, string text> : TypeDef<Torch_Dialect, cppName> {
  let summary = "!torch." # text;
  // The text is read and printed by hand: some keywords are no TableGen mnemonics.
  let typeName = "torch." # cppName;
}

class Torch_TensorType<string cppName, string text> : Torch_Type<cppName, text> {
  let description = [{
    `<[2,?],f16>` with sizes, `<*,f16>` of unknown rank, `<[2],unk>` of unknown
    element type, without `<>` if both are unknown. Integer element types keep their
    sign (`si64`, `ui8`); `i1` is bool. An unknown size is ShapedType::kDynamic.
  }];
  let parameters = (ins
    "bool":$hasSizes,
    ArrayRefParameter<"int64_t">:$sizes,
    OptionalParameter<"::mlir::Type">:$dtype,
    OptionalParameter<"::mlir::Attribute">:$sparsity);
}
def Torch_ValueTensorType : Torch_TensorType<"ValueTensor", "vtensor">;
def Torch_NonValueTensorType : Torch_TensorType<"NonValueTensor", "tensor">;

class Torch_ContainedType<string cppName, string text> : Torch_Type<cppName, text> {
  let parameters = (ins "::mlir::Type":$containedType);
}
def Torch_ListType : Torch_ContainedType<"List", "list<T>">;
def Torch_OptionalType : Torch_ContainedType<"Optional", "optional<T>">;

class Torch_ContainedTypes<string cppName, string text> : Torch_Type<cppName, text> {
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$containedTypes);
}
def Torch_TupleType : Torch_ContainedTypes<"Tuple", "tuple<T, …>">;
def Torch_UnionType : Torch_ContainedTypes<"Union", "union<T, …>">;

def Torch_DictType : Torch_Type<"Dict", "dict<K, V>"> {
  let parameters = (ins "::mlir::Type":$keyType, "::mlir::Type":$valueType);
}
def Torch_NnModuleType : Torch_Type<"NnModule", "nn.Module<\"class\">"> {
  let parameters = (ins StringRefParameter<>:$className);
}

// The types without parameters. Keep in step with TORCH_PLAIN_TYPES of TorchTypes.cpp.
def Torch_IntType : Torch_Type<"Int", "int">;
def Torch_FloatType : Torch_Type<"Float", "float">;
def Torch_BoolType : Torch_Type<"Bool", "bool">;
def Torch_NoneType : Torch_Type<"None", "none">;
def Torch_StringType : Torch_Type<"String", "str">;
def Torch_DeviceType : Torch_Type<"Device", "Device">;
def Torch_NumberType : Torch_Type<"Number", "number">;
def Torch_AnyType : Torch_Type<"Any", "any">;
def Torch_GeneratorType : Torch_Type<"Generator", "Generator">;
def Torch_LinearParamsType : Torch_Type<"LinearParams", "LinearParams">;
def Torch_QInt8Type : Torch_Type<"QInt8", "qint8">;
def Torch_QUInt8Type : Torch_Type<"QUInt8", "quint8">;
def Torch_QInt16Type : Torch_Type<"QInt16", "qint16">;
def Torch_QInt32Type : Torch_Type<"QInt32", "qint32">;

#endif // SPYRE_DIALECT_TORCH_IR_TORCH
