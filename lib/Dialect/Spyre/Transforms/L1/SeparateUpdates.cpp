//===- SeparateUpdates.cpp - A tensor for each update ---------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A join is written part by part, each operation into what the one before has made. Joins that
// begin alike have become one up to where they part (common subexpressions); as each overwrites
// what it is given, the second one needs the beginning again.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYRESEPARATEUPDATES
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;

/// Gives \p op a tensor to update that nobody else uses, made as the one that it has is.
static void separate(DeviceOpInterface op, RewriterBase &rewriter) {
  for (OpOperand &operand : op->getOpOperands()) {
    Value updated = operand.get();
    if (updated != op.getOutput() || updated.hasOneUse() || !updated.getDefiningOp())
      continue;
    rewriter.setInsertionPoint(op);
    Operation *clone = rewriter.clone(*updated.getDefiningOp());
    operand.set(clone->getResult(cast<OpResult>(updated).getResultNumber()));
    if (auto before = dyn_cast<DeviceOpInterface>(clone); before && before.getOutput())
      separate(before, rewriter);
  }
}

namespace {
struct SeparateUpdatesPass : mlir::spyre::impl::SpyreSeparateUpdatesBase<SeparateUpdatesPass> {
  void runOnOperation() override {
    SmallVector<DeviceOpInterface> updates;
    getOperation().walk([&](DeviceOpInterface op) {
      if (op.getOutput() && op.getResultTensor())
        updates.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (DeviceOpInterface op : updates)
      separate(op, rewriter);
  }
};
} // namespace
