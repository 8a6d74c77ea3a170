//===- WidenArguments.cpp - Widened arguments are exact -------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the pass's description.
//
//===----------------------------------------------------------------------===//

#include "ExactArguments.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREWIDENARGUMENTS
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;

/// True if \p map shows each point of \p shape itself; coordinates of unit dims may be 0.
static bool isIdentity(AffineMap map, ArrayRef<int64_t> shape) {
  if (map.getNumResults() != map.getNumDims() || map.getNumDims() != shape.size())
    return false;
  for (auto [i, expr] : llvm::enumerate(map.getResults()))
    if (expr != getAffineDimExpr(i, map.getContext()) && !(shape[i] == 1 && expr == 0))
      return false;
  return true;
}

namespace {
struct WidenArgumentsPass : mlir::spyre::impl::SpyreWidenArgumentsBase<WidenArgumentsPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    IRRewriter rewriter(&getContext());
    ExactArguments arguments(getOperation(), rewriter, /*widensConditions=*/true);
    SmallVector<Dl16tofp32Op> casts;
    getOperation().walk([&](Dl16tofp32Op op) { casts.push_back(op); });
    for (Dl16tofp32Op op : casts) {
      auto device = cast<DeviceOpInterface>(op.getOperation());
      Value source = device.getInputs()[0];
      // A cast of a part, or to another shape, is more than the value in f32.
      if (!device.getResultTensor() || !getElementType(source).isF16() ||
          getShape(source) != getShape(device.getResultTensor()) ||
          !isIdentity(device.getInputMap(0), getShape(source)) ||
          !isIdentity(device.getOutputMap(), getShape(source)) ||
          !arguments.isKnown(source, ExactArguments::Reach::Numbers) ||
          !ExactArguments::readsHost(source))
        continue;
      rewriter.replaceOp(op, arguments.getExact(source));
    }
    arguments.finish();
  }
};
} // namespace
