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
    The dialect reads every operation whose name starts with `torch.`, in the custom form
    of torch-mlir or in the generic form, and prints it in torch-mlir's form. Operations
    are not registered one by one. What an operation means is decided by the conversion
    out of this dialect.

    ```mlir
    func.func @main(%x: !torch.vtensor<[4,8],f16>, %y: !torch.vtensor<[8],f16>) -> !torch.vtensor<[4,8],f16> {
      %int1 = torch.constant.int 1
      %0 = torch.aten.add.Tensor %x, %y, %int1 : !torch.vtensor<[4,8],f16>, !torch.vtensor<[8],f16>, !torch.int -> !torch.vtensor<[4,8],f16>
      return %0 : !torch.vtensor<[4,8],f16>
    }
    ```
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

class Torch_Type<string cppName, string text, string meaning, string example = text>
    : TypeDef<Torch_Dialect, cppName> {
  let summary = meaning;
  let description = "It is written `!torch." # text # "`.\n\n```mlir\nfunc.func private @f(!torch." # example #
                    ")\n```\n";
  // The text is read and printed by hand: some keywords are no TableGen mnemonics.
  let typeName = "torch." # cppName;
}

class Torch_TensorType<string cppName, string text, string meaning> : Torch_Type<cppName, text, meaning> {
  let description = [{
    `<[2,?],f16>` is a tensor with sizes, `<*,f16>` one of unknown rank, `<[2],unk>` one of
    unknown element type; nothing stands behind the name if both are unknown. Integer
    element types keep their sign (`si64`, `ui8`); `i1` is bool.

    ```mlir
    func.func private @f(!torch.}] # text # [{<[2,?],f16>, !torch.}] # text # [{<*,f16>, !torch.}] # text # [{)
    ```
  }];
  let parameters = (ins
    "bool":$hasSizes,
    ArrayRefParameter<"int64_t">:$sizes,
    OptionalParameter<"::mlir::Type">:$dtype,
    OptionalParameter<"::mlir::Attribute">:$sparsity);
}
def Torch_ValueTensorType : Torch_TensorType<"ValueTensor", "vtensor", "A tensor that is a value">;
def Torch_NonValueTensorType : Torch_TensorType<"NonValueTensor", "tensor", "A tensor that may change in place">;

class Torch_ContainedType<string cppName, string text, string meaning, string example>
    : Torch_Type<cppName, text, meaning, example> {
  let parameters = (ins "::mlir::Type":$containedType);
}
def Torch_ListType : Torch_ContainedType<"List", "list<T>", "A list of elements of one type", "list<int>">;
def Torch_OptionalType : Torch_ContainedType<"Optional", "optional<T>", "A value or none", "optional<int>">;

class Torch_ContainedTypes<string cppName, string text, string meaning, string example>
    : Torch_Type<cppName, text, meaning, example> {
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$containedTypes);
}
def Torch_TupleType : Torch_ContainedTypes<"Tuple", "tuple<T, …>", "A tuple", "tuple<int, float>">;
def Torch_UnionType : Torch_ContainedTypes<"Union", "union<T, …>", "A value of one of several types", "union<int, float>">;

def Torch_DictType : Torch_Type<"Dict", "dict<K, V>", "A dictionary", "dict<str, int>"> {
  let parameters = (ins "::mlir::Type":$keyType, "::mlir::Type":$valueType);
}
def Torch_NnModuleType : Torch_Type<"NnModule", "nn.Module<\"class\">", "A module of a class",
                                      "nn.Module<\"__torch__.Net\">"> {
  let parameters = (ins StringRefParameter<>:$className);
}

// The types without parameters. Keep in step with TORCH_PLAIN_TYPES of TorchTypes.cpp.
def Torch_IntType : Torch_Type<"Int", "int", "An integer of the program">;
def Torch_FloatType : Torch_Type<"Float", "float", "A floating-point number of the program">;
def Torch_BoolType : Torch_Type<"Bool", "bool", "A truth value of the program">;
def Torch_NoneType : Torch_Type<"None", "none", "None">;
def Torch_StringType : Torch_Type<"String", "str", "A string">;
def Torch_DeviceType : Torch_Type<"Device", "Device", "A device's name">;
def Torch_NumberType : Torch_Type<"Number", "number", "An integer or a floating-point number">;
def Torch_AnyType : Torch_Type<"Any", "any", "A value of any type">;
def Torch_GeneratorType : Torch_Type<"Generator", "Generator", "A generator of random numbers">;
def Torch_LinearParamsType : Torch_Type<"LinearParams", "LinearParams", "Packed weights of a quantised layer">;
def Torch_QInt8Type : Torch_Type<"QInt8", "qint8", "A quantised element of 8 bits with sign">;
def Torch_QUInt8Type : Torch_Type<"QUInt8", "quint8", "A quantised element of 8 bits without sign">;
def Torch_QInt16Type : Torch_Type<"QInt16", "qint16", "A quantised element of 16 bits">;
def Torch_QInt32Type : Torch_Type<"QInt32", "qint32", "A quantised element of 32 bits">;

#endif // SPYRE_DIALECT_TORCH_IR_TORCH
