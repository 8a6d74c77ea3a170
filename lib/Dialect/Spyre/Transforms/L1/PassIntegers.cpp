//===- PassIntegers.cpp - Integers that are f32 numbers on the device -----===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device converts between integers and floats nowhere; the copies between it and the host
// do. An argument of integers that is read as f32 is copied in as f32, and a result whose f32
// numbers are integers is copied out as such.
//
//===----------------------------------------------------------------------===//

#include "ExactArguments.h"
#include "Precision.h"
#include "spyre/Dialect/Spyre/IR/Refusal.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREPASSINTEGERS
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;

static bool isInteger(Value value) {
  auto type = dyn_cast<IntegerType>(getElementType(value));
  return type && type.getWidth() > 1;
}

/// \p convert's f32 numbers as the results that its integers are.
static void passOut(func::FuncOp func, ConvertOp convert) {
  SmallVector<Type> types(func.getFunctionType().getResults());
  for (OpOperand &use : llvm::make_early_inc_range(convert.getResult().getUses())) {
    unsigned i = use.getOperandNumber();
    func.setResultAttr(i, kHostTypeAttr, TypeAttr::get(getElementType(convert.getResult())));
    use.set(convert.getSource());
    types[i] = convert.getSource().getType();
  }
  func.setFunctionType(
      FunctionType::get(func.getContext(), func.getFunctionType().getInputs(), types));
}

namespace {
struct PassIntegersPass : mlir::spyre::impl::SpyrePassIntegersBase<PassIntegersPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    SmallVector<ConvertOp> converts;
    func.walk([&](ConvertOp op) {
      if (isInteger(op.getSource()) != isInteger(op.getResult()))
        converts.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    ExactArguments arguments(func, rewriter, /*widensConditions=*/false);
    SmallVector<ConvertOp> refused;
    for (ConvertOp op : converts) {
      if (isInteger(op.getSource()) && isF32(op.getResult()) && isPassedByHost(op.getSource()))
        rewriter.replaceOp(op, arguments.getExact(op.getSource()));
      else if (isF32(op.getSource()) && isTakenByHost(op.getResult()))
        passOut(func, op);
      else
        refused.push_back(op);
    }
    arguments.finish();
    if (refused.empty())
      return;
    InFlightDiagnostic error = emitError(func.getLoc())
                               << "'" << func.getName()
                               << "' converts between integers and floats inside; not supported";
    for (ConvertOp op : refused)
      noteRefusal(error, op, RefusalRule::Precision,
                  "the device does not convert between these element types", "");
    signalPassFailure();
  }
};
} // namespace
