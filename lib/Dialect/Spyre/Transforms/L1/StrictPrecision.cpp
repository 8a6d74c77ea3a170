//===- StrictPrecision.cpp - 16-bit programs in f32 -----------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device's 16-bit format has one bit of fraction less than f16, and a smaller range than
// bf16. What a program writes in 16 bits becomes f32 here, from its arguments, which the copy
// widens, to its results, which the copy narrows.
//
//===----------------------------------------------------------------------===//

#include "ExactArguments.h"
#include "Precision.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYRESTRICTPRECISION
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;

namespace {
class ProgramWidener {
public:
  ProgramWidener(func::FuncOp func, RewriterBase &b) : func(func), b(b), f32(b.getF32Type()) {}
  void run();

private:
  void widenArgument(BlockArgument argument);
  void widen(Operation *op);
  void widenConstant(ConstantOp constant);
  void keep(Operation *op);
  void finish(func::ReturnOp op);

  func::FuncOp func;
  RewriterBase &b;
  Type f32;
};

struct StrictPrecisionPass : mlir::spyre::impl::SpyreStrictPrecisionBase<StrictPrecisionPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    IRRewriter rewriter(&getContext());
    ProgramWidener(getOperation(), rewriter).run();
  }
};
} // namespace

static bool isHalfTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isHalf(type.getElementType());
}

static RankedTensorType withElement(Value value, Type element) {
  return RankedTensorType::get(getTensorType(value).getShape(), element);
}

/// Formats that only some operations have, 8 bits: what reads or makes them stays as it is.
static bool hasOtherFloats(Operation *op) {
  auto isOther = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && isa<FloatType>(tensor.getElementType()) && !isHalf(tensor.getElementType()) &&
           !tensor.getElementType().isF32() && !tensor.getElementType().isF64();
  };
  return llvm::any_of(op->getOperandTypes(), isOther) ||
         llvm::any_of(op->getResultTypes(), isOther);
}

void ProgramWidener::widenArgument(BlockArgument argument) {
  Type element = getTensorType(argument).getElementType();
  if (func.getArgAttr(argument.getArgNumber(), kOnHostAttr)) {
    argument.setType(withElement(argument, f32));
    func.setArgAttr(argument.getArgNumber(), kHostTypeAttr, TypeAttr::get(element));
    return;
  }
  // Another function has made it, in 16 bits.
  b.setInsertionPointToStart(argument.getOwner());
  Value wide = buildConvert(b, argument.getLoc(), argument, f32);
  argument.replaceAllUsesExcept(wide, wide.getDefiningOp());
}

void ProgramWidener::widenConstant(ConstantOp constant) {
  b.setInsertionPoint(constant);
  if (std::optional<double> number = getScalarConstant(constant.getResult());
      number && getTensorType(constant.getResult()).getRank() == 0) {
    // As the program wrote it, not as 16 bits hold it.
    auto bound = constant->getAttrOfType<FloatAttr>(kBoundAttr);
    b.replaceOp(constant,
                buildScalar(b, constant.getLoc(), bound ? bound.getValueAsDouble() : *number, f32));
    return;
  }
  ElementsAttr elements = widenElements(constant.getValue());
  b.replaceOpWithNewOp<ConstantOp>(constant, elements.getType(), elements);
}

/// \p op goes on with 16-bit numbers, what is around it does not.
void ProgramWidener::keep(Operation *op) {
  for (OpOperand &operand : op->getOpOperands())
    if (isF32(operand.get())) {
      b.setInsertionPoint(op);
      operand.set(buildConvert(b, op->getLoc(), operand.get(), b.getF16Type()));
    }
  for (Value result : op->getResults())
    if (isHalfTensor(result)) {
      b.setInsertionPointAfter(op);
      Value wide = buildConvert(b, op->getLoc(), result, f32);
      result.replaceAllUsesExcept(wide, wide.getDefiningOp());
    }
}

void ProgramWidener::widen(Operation *op) {
  bool makesHalf = llvm::any_of(op->getResults(), isHalfTensor);
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    if (makesHalf)
      widenConstant(constant);
    return;
  }
  if (hasOtherFloats(op))
    return keep(op);
  if (makesHalf) {
    // In 16 bits truth values are numbers.
    for (OpOperand &operand : op->getOpOperands())
      if (getTensorType(operand.get()).getElementType().isInteger(1) &&
          !(isa<Where3Op>(op) && operand.getOperandNumber() == 0) && !isa<ConvertOp>(op)) {
        b.setInsertionPoint(op);
        operand.set(buildConvert(b, op->getLoc(), operand.get(), f32));
      }
    for (Value result : op->getResults())
      if (isHalfTensor(result))
        result.setType(withElement(result, f32));
  }
  if (auto convert = dyn_cast<ConvertOp>(op);
      convert && convert.getSource().getType() == convert.getResult().getType())
    b.replaceOp(op, convert.getSource());
}

void ProgramWidener::finish(func::ReturnOp op) {
  SmallVector<Type> types(func.getFunctionType().getResults());
  for (auto [i, type] : llvm::enumerate(types)) {
    Type element = cast<RankedTensorType>(type).getElementType();
    if (!isHalf(element))
      continue;
    if (func.getResultAttr(i, kOnHostAttr)) {
      func.setResultAttr(i, kHostTypeAttr, TypeAttr::get(element));
      type = op.getOperand(i).getType();
    } else {
      b.setInsertionPoint(op);
      op->setOperand(i, buildConvert(b, op.getLoc(), op.getOperand(i), element));
    }
  }
  func.setFunctionType(
      FunctionType::get(func.getContext(), func.getBody().front().getArgumentTypes(), types));
}

void ProgramWidener::run() {
  Block &block = func.getBody().front();
  SmallVector<Operation *> ops;
  bool hasF32 = false;
  for (Operation &op : block.without_terminator()) {
    ops.push_back(&op);
    hasF32 |= llvm::any_of(op.getResults(), isF32);
  }
  for (BlockArgument argument : block.getArguments())
    hasF32 |= isF32(argument);
  for (BlockArgument argument : block.getArguments())
    if (isHalfTensor(argument))
      widenArgument(argument);
  for (Operation *op : ops)
    widen(op);
  finish(cast<func::ReturnOp>(block.getTerminator()));
  // Two pieces have 20 bits, which is more than a program of 16-bit types asks for.
  if (!hasF32)
    func->setAttr(kPiecesAttr, b.getI64IntegerAttr(2));
}
