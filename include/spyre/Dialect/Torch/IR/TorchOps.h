//===- TorchOps.h - Looking into torch operations -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of the dialect are not classes: a conversion matches on the name
// (`ConversionPattern("torch.aten.mm", …)`, or a table keyed on
// `op->getName().getStringRef()`) and reads operands with the helpers below. All of
// them answer "not that" instead of asserting, whatever the operation is.
//
// Attributes of the operations with a form of their own:
//   constant.int/float/bool/str/device/number, [v]tensor.literal   value
//   operator                                                        name (the custom op's)
//   symbolic_int                                      symbol_name, min_val, max_val
//   bind_symbolic_shape                                             shape_expressions
//   runtime.assert                                                  message
//   global_slot[.get|.set]         sym_name, sym_visibility, typeBound; slot
//   initialize.global_slots                                         slotSymNames
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_TORCH_IR_TORCHOPS_H
#define SPYRE_DIALECT_TORCH_IR_TORCHOPS_H

#include "spyre/Dialect/Torch/IR/TorchDialect.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace mlir::torch_reader {

/// Names of the operations that every conversion looks for.
namespace names {
inline constexpr llvm::StringLiteral constantInt = "torch.constant.int";
inline constexpr llvm::StringLiteral constantFloat = "torch.constant.float";
inline constexpr llvm::StringLiteral constantBool = "torch.constant.bool";
inline constexpr llvm::StringLiteral constantStr = "torch.constant.str";
inline constexpr llvm::StringLiteral constantNone = "torch.constant.none";
inline constexpr llvm::StringLiteral constantDevice = "torch.constant.device";
inline constexpr llvm::StringLiteral constantNumber = "torch.constant.number";
inline constexpr llvm::StringLiteral valueTensorLiteral = "torch.vtensor.literal";
inline constexpr llvm::StringLiteral tensorLiteral = "torch.tensor.literal";
inline constexpr llvm::StringLiteral listConstruct = "torch.prim.ListConstruct";
inline constexpr llvm::StringLiteral tupleConstruct = "torch.prim.TupleConstruct";
inline constexpr llvm::StringLiteral dictConstruct = "torch.prim.DictConstruct";
inline constexpr llvm::StringLiteral listUnpack = "torch.prim.ListUnpack";
inline constexpr llvm::StringLiteral primIf = "torch.prim.If";
inline constexpr llvm::StringLiteral primLoop = "torch.prim.Loop";
inline constexpr llvm::StringLiteral loopCondition = "torch.prim.Loop.condition";
inline constexpr llvm::StringLiteral customOperator = "torch.operator";
inline constexpr llvm::StringLiteral symbolicInt = "torch.symbolic_int";
inline constexpr llvm::StringLiteral bindSymbolicShape = "torch.bind_symbolic_shape";
inline constexpr llvm::StringLiteral assertTensorMetadata = "torch.aten._assert_tensor_metadata";
inline constexpr llvm::StringLiteral runtimeAssert = "torch.runtime.assert";
inline constexpr llvm::StringLiteral copyToValueTensor = "torch.copy.to_vtensor";
inline constexpr llvm::StringLiteral copyToTensor = "torch.copy.to_tensor";
inline constexpr llvm::StringLiteral overwriteTensor = "torch.overwrite.tensor.contents";
inline constexpr llvm::StringLiteral globalSlot = "torch.global_slot";
inline constexpr llvm::StringLiteral globalSlotGet = "torch.global_slot.get";
inline constexpr llvm::StringLiteral globalSlotSet = "torch.global_slot.set";
inline constexpr llvm::StringLiteral moduleInitializer = "torch.global_slot.module_initializer";
inline constexpr llvm::StringLiteral initializeGlobalSlots = "torch.initialize.global_slots";
inline constexpr llvm::StringLiteral derefine = "torch.derefine";
inline constexpr llvm::StringLiteral staticInfoCast = "torch.tensor_static_info_cast";
} // namespace names

/// \p op is the operation of that full name.
bool isOp(Operation *op, llvm::StringRef fullName);
/// The operation that defines \p value, if it has that full name; else null.
Operation *getDefiningOp(Value value, llvm::StringRef fullName);

/// The value of a constant of that kind; nothing if \p value is not one.
/// getConstantNumber takes int, float, bool and number constants.
std::optional<int64_t> getConstantInt(Value value);
std::optional<double> getConstantFloat(Value value);
std::optional<bool> getConstantBool(Value value);
std::optional<double> getConstantNumber(Value value);
std::optional<llvm::StringRef> getConstantString(Value value);
std::optional<llvm::StringRef> getConstantDevice(Value value);
bool isNone(Value value);

/// The elements of a list that is built in place; nothing if it comes from elsewhere.
std::optional<OperandRange> getListElements(Value value);
/// The elements of a list of constants.
std::optional<llvm::SmallVector<int64_t>> getIntList(Value value);
std::optional<llvm::SmallVector<double>> getFloatList(Value value);

/// The elements of a tensor literal; null if \p value is not one.
ElementsAttr getTensorLiteral(Value value);

/// `!torch.vtensor` or `!torch.tensor`.
bool isTensor(Type type);
/// Sizes (unknown ones: ShapedType::kDynamic); nothing without a rank or not a tensor.
std::optional<llvm::ArrayRef<int64_t>> getTensorShape(Type type);
/// As written: integers with their sign, `i1` for bool; null if unknown.
Type getTensorElementType(Type type);

/// Result \p number of \p op has no use. An operation whose further results are
/// unused is its value form (`max.dim` without its indices is `amax`).
bool isResultUnused(Operation *op, unsigned number);
/// All results from number \p from on are unused.
bool areResultsUnusedFrom(Operation *op, unsigned from);

/// The name without `torch.`; for `torch.operator`, the custom operation's name.
llvm::StringRef getShortName(Operation *op);
/// PyTorch's name ("aten.max.dim"): that, without the `torch.` of custom operations.
llvm::StringRef getOperatorName(Operation *op);

/// A list, tuple or option that is put together for what reads it.
bool isPacking(Operation *op);

} // namespace mlir::torch_reader

#endif // SPYRE_DIALECT_TORCH_IR_TORCHOPS_H
