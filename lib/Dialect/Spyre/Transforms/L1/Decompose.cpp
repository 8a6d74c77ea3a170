//===- Decompose.cpp - Composites to device operations -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function a composite. They compute in the composite's element type, which the
// precision pass has chosen.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREDECOMPOSE
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::OpFunc;

static Value decompose(OpBuilder &b, SoftmaxOp op) {
  return buildSoftmax(b, op.getLoc(), op.getSource(), op.getDim());
}

static Value decompose(OpBuilder &b, LogSoftmaxOp op) {
  return buildLogSoftmax(b, op.getLoc(), op.getSource(), op.getDim());
}

static Value decompose(OpBuilder &b, RmsNormOp op) {
  Location loc = op.getLoc();
  Value x = op.getSource();
  RankedTensorType narrow = getTensorType(x), type = narrow;
  SmallVector<int64_t> dims =
      llvm::to_vector(llvm::seq<int64_t>(type.getRank() - op.getNormalizedRank(), type.getRank()));
  // Where squares of 16-bit values leave DL16's range, at either end: in f32.
  bool isWide =
      isHalf(type.getElementType()) &&
      (type.getElementType().isBF16() || op.getEpsilon().convertToDouble() < 1.0 / (1 << 24));
  auto widen = [&](Value value) {
    RankedTensorType from = getTensorType(value);
    return buildPointwise(b, loc, OpFunc::Dl16tofp32, {value},
                          RankedTensorType::get(from.getShape(), b.getF32Type()));
  };
  if (isWide) {
    x = widen(x);
    type = getTensorType(x);
  }
  Value square = buildPointwise(b, loc, OpFunc::Mul, {x, x}, type);
  Value mean = buildReduction(b, loc, OpFunc::Mean, square, dims, /*keepDims=*/true);
  Value epsilon = buildScalar(b, loc, op.getEpsilon().convertToDouble(), type.getElementType());
  Value shifted = buildPointwise(b, loc, OpFunc::Add, {mean, epsilon}, getTensorType(mean));
  Value scale = buildPointwise(b, loc, OpFunc::Rsqrt, {shifted}, getTensorType(mean));
  Value result = buildPointwise(b, loc, OpFunc::Mul, {x, scale}, type);
  if (Value weight = op.getWeight())
    result = buildPointwise(b, loc, OpFunc::Mul, {result, isWide ? widen(weight) : weight}, type);
  return isWide ? buildPointwise(b, loc, OpFunc::Fp32todl16, {result}, narrow) : result;
}

static Value decompose(OpBuilder &b, MatmulOp op) {
  return buildMatmul(b, op.getLoc(), op.getLhs(), op.getRhs(), getTensorType(op.getResult()));
}

static Value decompose(OpBuilder &b, LinearOp op) {
  Location loc = op.getLoc();
  RankedTensorType type = getTensorType(op.getResult());
  Value x = op.getSource();
  RankedTensorType productType = type;
  if (type.getRank() == 1) {
    x = buildReshape(b, loc, x, {1, getTensorType(x).getDimSize(0)});
    productType = RankedTensorType::get({1, type.getDimSize(0)}, type.getElementType());
  }
  Value result = buildMatmul(b, loc, x, op.getWeight(), productType, /*transposedRhs=*/true);
  result = buildReshape(b, loc, result, type.getShape());
  if (Value bias = op.getBias())
    result = buildPointwise(b, loc, OpFunc::Add, {result, bias}, type);
  return result;
}

namespace {
struct DecomposePass : mlir::spyre::impl::SpyreDecomposeBase<DecomposePass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](Operation *op) {
      rewriter.setInsertionPoint(op);
      Value value = llvm::TypeSwitch<Operation *, Value>(op)
                        .Case<SoftmaxOp, LogSoftmaxOp, RmsNormOp, MatmulOp, LinearOp>(
                            [&](auto composite) { return decompose(rewriter, composite); })
                        .Default([](Operation *) { return Value(); });
      if (value)
        rewriter.replaceOp(op, value);
    });
  }
};
} // namespace
