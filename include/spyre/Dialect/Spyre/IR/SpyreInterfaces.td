//===- SpyreInterfaces.td - What passes see of an op ------*- tablegen -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one interface through which passes, verifiers and emitters see device
// operations. They know no operation by name.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_INTERFACES
#define SPYRE_INTERFACES

include "mlir/IR/OpBase.td"

def Spyre_DeviceOpInterface : OpInterface<"DeviceOpInterface"> {
  let cppNamespace = "::mlir::spyre";
  let description = [{
    An operation that the device executes as one descriptor. Iteration dims are
    numbered outer to inner; every access map goes from (iteration dims)[loop
    variables] to the operand's logical coordinates and is in bounds for every
    point. Dims that the result's map does not use are reduced.
  }];
  let methods = [
    StaticInterfaceMethod<"The name in the OpFunc table", "::llvm::StringRef", "getOpFuncName">,
    StaticInterfaceMethod<"The operation of the OpFunc table", "::spyre::OpFunc", "getOpFunc">,
    InterfaceMethod<"Inputs, in the table's order", "::mlir::OperandRange", "getInputs">,
    InterfaceMethod<"The buffer (L3) or initial tensor that is written, or null",
                    "::mlir::Value", "getOutput">,
    InterfaceMethod<"The result at tensor level, or null at L3", "::mlir::Value", "getResultTensor",
                    (ins), "", [{ return $_op.getResult(); }]>,
    InterfaceMethod<"Logical extents, outer to inner", "::llvm::ArrayRef<int64_t>", "getExtents">,
    InterfaceMethod<"Work slices a dim; empty: undivided", "::llvm::ArrayRef<int64_t>", "getSplits">,
    InterfaceMethod<"Set the work slices", "void", "setSplits",
                    (ins "::llvm::ArrayRef<int64_t>":$splits)>,
    InterfaceMethod<"Cores of one contraction are neighbours (docs/formats/superdsc-rules.md, e.3)",
                    "bool", "getKFast">,
    InterfaceMethod<"Values of the maps' symbols, outermost loop first", "::mlir::OperandRange",
                    "getLoopVariables">,
    InterfaceMethod<"One map an input, then the output's", "::mlir::ArrayAttr", "getMaps">,
    InterfaceMethod<"Constants of the operation, name to number", "::mlir::DictionaryAttr",
                    "getConstantsAttr">,
    InterfaceMethod<"Input that is a table, its dim that an index addresses, input that holds the "
                    "index; nothing: no gather",
                    "::std::optional<::llvm::ArrayRef<int64_t>>", "getGather">
  ];
  let extraSharedClassDeclaration = [{
    /// What the OpFunc table says of the operation.
    const ::spyre::OpFuncInfo &getInfo() { return ::spyre::getOpFuncInfo($_op.getOpFunc()); }
    ::mlir::AffineMap getMap(unsigned i) {
      return ::llvm::cast<::mlir::AffineMapAttr>($_op.getMaps()[i]).getValue();
    }
    ::mlir::AffineMap getInputMap(unsigned i) { return getMap(i); }
    ::mlir::AffineMap getOutputMap() { return getMap($_op.getInputs().size()); }
    /// What is written: the output buffer, or the result tensor.
    ::mlir::Value getDestination() {
      ::mlir::Value output = $_op.getOutput();
      ::mlir::Value result = $_op.getResultTensor();
      return result ? result : output;
    }
    unsigned getNumDims() { return $_op.getExtents().size(); }
    int64_t getNumSlices() {
      int64_t n = 1;
      for (int64_t s : $_op.getSplits())
        n *= s;
      return n;
    }
  }];
}

#endif // SPYRE_INTERFACES
