//===- Contractions.cpp - Matrix products and composites -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrix products in torch's several spellings, and the operations that stay whole
// until decomposition (linear, softmax, log_softmax, rms_norm), so that the precision
// rules see what they are.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include <cmath>

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

/// The element type of the result, if a float of the device; null after refusing.
static Type getComputeType(Lowering &l) {
  Type type = l.getResultType().getElementType();
  if (isHalf(type) || type.isF32())
    return type;
  (void)l.refuse("the device multiplies f16, bf16 and f32 only");
  return {};
}

/// lhs @ rhs, or null after refusing; \p shape is the product's.
static Value buildProduct(Lowering &l, Value lhs, Value rhs, ArrayRef<int64_t> shape) {
  RankedTensorType left = getTensorType(lhs), right = getTensorType(rhs);
  auto refuse = [&](const Twine &reason) {
    (void)l.refuse(reason);
    return Value();
  };
  if (left.getRank() < 1 || right.getRank() < 1)
    return refuse("a matrix product needs at least one dim");
  // Vectors are matrices of one row or column.
  SmallVector<int64_t> productShape(shape);
  if (left.getRank() == 1) {
    lhs = buildReshape(l.b, l.loc, lhs, {1, left.getDimSize(0)});
    productShape.insert(productShape.end() - (right.getRank() == 1 ? 0 : 1), 1);
  }
  if (right.getRank() == 1) {
    rhs = buildReshape(l.b, l.loc, rhs, {right.getDimSize(0), 1});
    productShape.push_back(1);
  }
  left = getTensorType(lhs);
  right = getTensorType(rhs);
  if (left.getShape().back() != right.getDimSize(right.getRank() - 2))
    return refuse("contracts " + Twine(left.getShape().back()) + " with " +
                  Twine(right.getDimSize(right.getRank() - 2)) + " elements");
  if (left.getShape().back() == 0)
    return refuse("a contraction of no elements has no device form");
  if (static_cast<int64_t>(productShape.size()) != std::max(left.getRank(), right.getRank()) ||
      productShape.back() != right.getShape().back() ||
      productShape[productShape.size() - 2] != left.getDimSize(left.getRank() - 2))
    return refuse("its result has the wrong shape");
  for (RankedTensorType operand : {left, right})
    for (int64_t i = 0; i + 2 < operand.getRank(); ++i) {
      int64_t extent = productShape[productShape.size() - operand.getRank() + i];
      if (operand.getDimSize(i) != 1 && operand.getDimSize(i) != extent)
        return refuse("its batch dims do not broadcast");
    }
  auto type = RankedTensorType::get(productShape, left.getElementType());
  Value product = MatmulOp::create(l.b, l.loc, type, lhs, rhs);
  return buildReshape(l.b, l.loc, product, shape);
}

static LogicalResult lowerMatmul(Lowering &l) {
  Type type = getComputeType(l);
  Value lhs = type ? l.getAs(0, type) : Value();
  Value rhs = lhs ? l.getAs(1, type) : Value();
  Value product = rhs ? buildProduct(l, lhs, rhs, l.getResultType().getShape()) : Value();
  return product ? l.replaceWith(product) : failure();
}

/// \p value with dims \p i and \p k exchanged.
static Value exchangeDims(Lowering &l, Value value, int64_t i, int64_t k) {
  RankedTensorType type = getTensorType(value);
  SmallVector<int64_t> shape(type.getShape());
  std::swap(shape[i], shape[k]);
  SmallVector<AffineExpr> dims;
  for (int64_t d = 0; d < type.getRank(); ++d)
    dims.push_back(l.b.getAffineDimExpr(d == i ? k : d == k ? i : d));
  return buildView(l.b, l.loc, value, AffineMap::get(type.getRank(), 0, dims, l.b.getContext()),
                   shape);
}

/// addbmm(input, a, b): the products of a batch are summed, one product with a longer K.
static Value buildBatchSum(Lowering &l, Value lhs, Value rhs) {
  RankedTensorType left = getTensorType(lhs), right = getTensorType(rhs);
  if (left.getRank() != 3 || right.getRank() != 3 || left.getDimSize(0) != right.getDimSize(0) ||
      left.getDimSize(2) != right.getDimSize(1)) {
    (void)l.refuse("needs operands [B, N, K] and [B, K, M]");
    return {};
  }
  int64_t depth = left.getDimSize(0) * left.getDimSize(2);
  lhs = buildReshape(l.b, l.loc, exchangeDims(l, lhs, 0, 1), {left.getDimSize(1), depth});
  rhs = buildReshape(l.b, l.loc, rhs, {depth, right.getDimSize(2)});
  return buildProduct(l, lhs, rhs, {left.getDimSize(1), right.getDimSize(2)});
}

/// beta * input + alpha * (a @ b): addmm, baddbmm, and addbmm, which sums over the batch.
static LogicalResult lowerAddmm(Lowering &l, bool sumsBatch) {
  Type type = getComputeType(l);
  Value input = type ? l.getAs(0, type) : Value();
  Value lhs = input ? l.getAs(1, type) : Value();
  Value rhs = lhs ? l.getAs(2, type) : Value();
  Value sum = !rhs        ? Value()
              : sumsBatch ? buildBatchSum(l, lhs, rhs)
                          : buildProduct(l, lhs, rhs, l.getResultType().getShape());
  if (!sum)
    return failure();
  std::optional<double> beta = 1.0, alpha = 1.0;
  if (l.getNumOperands() > 3)
    beta = l.getNumber(3);
  if (beta && l.getNumOperands() > 4)
    alpha = l.getNumber(4);
  if (!beta || !alpha)
    return failure();
  auto scale = [&](Value value, double factor) {
    if (factor == 1.0)
      return value;
    return buildPointwise(l.b, l.loc, "mul", {value, buildScalar(l.b, l.loc, factor, type)},
                          getTensorType(value));
  };
  sum = scale(sum, *alpha);
  if (*beta == 0.0) // PyTorch ignores the input then, NaNs included
    return l.replaceWith(sum);
  return l.replaceWith(
      buildPointwise(l.b, l.loc, "add", {sum, scale(input, *beta)}, l.getResultType()));
}

static LogicalResult lowerLinear(Lowering &l) {
  Type type = getComputeType(l);
  Value x = type ? l.getAs(0, type) : Value();
  Value weight = x ? l.getAs(1, type) : Value();
  if (!weight)
    return failure();
  Value bias;
  if (l.getNumOperands() > 2 && !l.isNone(2)) {
    bias = l.getAs(2, type);
    if (!bias)
      return failure();
  }
  RankedTensorType xType = getTensorType(x), wType = getTensorType(weight),
                   resultType = l.getResultType();
  if (xType.getRank() < 1 || wType.getRank() != 2 || resultType.getRank() != xType.getRank() ||
      xType.getShape().back() != wType.getDimSize(1) ||
      resultType.getShape().back() != wType.getDimSize(0) ||
      resultType.getShape().drop_back() != xType.getShape().drop_back() ||
      (bias && getTensorType(bias).getShape() != wType.getShape().take_front(1)))
    return l.refuse("needs x [..., K], weight [N, K], bias [N] and a result [..., N]");
  if (wType.getDimSize(1) == 0)
    return l.refuse("a contraction of no elements has no device form");
  return l.replaceWith(LinearOp::create(l.b, l.loc, resultType, x, weight, bias));
}

/// Whether \p x is made of f16 arguments by views, joins and pointwise operations alone.
static bool isMadeOfArguments(Value x) {
  SmallVector<Value> open = {x};
  llvm::SmallPtrSet<Value, 16> seen;
  bool reads = false;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    reads |= !op && getTensorType(value).getElementType().isF16();
    if (!op)
      continue;
    auto device = dyn_cast<DeviceOpInterface>(op);
    bool isPointwise = device && device.getOutputMap().isIdentity();
    if (!isPointwise && !isa<ViewOp, ConcatOp, ConstantOp>(op))
      return false;
    open.append(op->operand_begin(), op->operand_end());
  }
  return reads;
}

/// softmax.int(x, dim, dtype), _softmax(x, dim, half_to_float) and their logs.
template <typename OpTy> static LogicalResult lowerSoftmax(Lowering &l) {
  Type type = getComputeType(l);
  Value x = type ? l.getAs(0, type) : Value();
  std::optional<int64_t> dim = x ? l.getInt(1) : std::nullopt;
  if (!dim)
    return failure();
  RankedTensorType xType = getTensorType(x);
  if (xType.getShape() != l.getResultType().getShape())
    return l.refuse("changes the shape");
  if (xType.getRank() == 0) { // softmax of a number is 1, its logarithm 0
    bool isLog = std::is_same_v<OpTy, LogSoftmaxOp>;
    return l.replaceWith(buildScalar(l.b, l.loc, isLog ? 0.0 : 1.0, type));
  }
  dim = l.normalizeDim(*dim, xType.getRank());
  if (!dim)
    return failure();
  if (xType.getNumElements() == 0)
    return l.replaceWith(x);
  // x - max x of arguments is to be seen by what computes their differences exactly: the
  // last bit of an f16 number, which the device's format lacks, is a relative error of
  // 2^-10 |x| in its exponential.
  if (type.isF16() && isMadeOfArguments(x))
    return l.replaceWith(std::is_same_v<OpTy, LogSoftmaxOp> ? buildLogSoftmax(l.b, l.loc, x, *dim)
                                                            : buildSoftmax(l.b, l.loc, x, *dim));
  return l.replaceWith(OpTy::create(l.b, l.loc, l.getResultType(), x, *dim));
}

/// rms_norm(x, normalized_shape, weight, eps); without eps: that of f32.
static LogicalResult lowerRmsNorm(Lowering &l) {
  Type type = getComputeType(l);
  Value x = type ? l.getAs(0, type) : Value();
  std::optional<SmallVector<int64_t>> normalized = x ? l.getInts(1) : std::nullopt;
  if (!normalized)
    return failure();
  RankedTensorType xType = getTensorType(x);
  int64_t rank = normalized->size();
  if (xType.getShape() != l.getResultType().getShape() || rank < 1 || rank > xType.getRank() ||
      xType.getShape().take_back(rank) != ArrayRef<int64_t>(*normalized))
    return l.refuse("normalized_shape must be the operand's last dims");
  Value weight;
  if (l.getNumOperands() > 2 && !l.isNone(2)) {
    weight = l.getAs(2, type);
    if (!weight)
      return failure();
    if (getTensorType(weight).getShape() != ArrayRef<int64_t>(*normalized))
      return l.refuse("the weight must have the normalised dims");
  }
  // PyTorch computes norms of 16-bit numbers in f32, and takes that type's epsilon.
  constexpr double kEpsilonOfF32 = 0x1p-23;
  double epsilon = kEpsilonOfF32;
  if (l.getNumOperands() > 3 && !l.isNone(3)) {
    std::optional<double> given = l.getNumber(3);
    if (!given)
      return failure();
    epsilon = *given;
  }
  return l.replaceWith(RmsNormOp::create(l.b, l.loc, l.getResultType(), x, weight,
                                         l.b.getI64IntegerAttr(rank),
                                         l.b.getF64FloatAttr(epsilon)));
}

void torch_lowering::addContractions(HandlerTable &table) {
  for (const char *name : {"torch.aten.mm", "torch.aten.bmm", "torch.aten.matmul", "torch.aten.mv",
                           "torch.aten.dot", "torch.aten.vdot"})
    table[name] = onTensor(lowerMatmul);
  for (const char *name : {"torch.aten.addmm", "torch.aten.baddbmm"})
    table[name] = onTensor([](Lowering &l) { return lowerAddmm(l, /*sumsBatch=*/false); });
  table["torch.aten.addbmm"] =
      onTensor([](Lowering &l) { return lowerAddmm(l, /*sumsBatch=*/true); });
  table["torch.aten.linear"] = onTensor(lowerLinear);
  for (const char *name : {"torch.aten._softmax", "torch.aten.softmax.int"})
    table[name] = onTensor(lowerSoftmax<SoftmaxOp>);
  for (const char *name : {"torch.aten._log_softmax", "torch.aten.log_softmax.int"})
    table[name] = onTensor(lowerSoftmax<LogSoftmaxOp>);
  table["torch.aten.rms_norm"] = onTensor(lowerRmsNorm);
}
