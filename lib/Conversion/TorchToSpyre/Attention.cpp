//===- Attention.cpp - Scaled dot product attention -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// softmax(q k^T scale + mask) v, kept whole by an exporter without decompositions. The
// scale goes to q once (a power of two mostly: exact) instead of its root to q and k. A
// bool mask chooses between a score and -inf, exactly, at 16 bits. A float mask is added
// in f32: a large finite one would swallow the scores at DL16 (precision contract).
//
// A row without any allowed key is 0, as in PyTorch: the row's maximum is kept finite, so
// that all exponentials are 0, and their sum at least 1, which that of any other row is.
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

/// Softmax along the last dim of scores that may be -inf altogether.
static Value buildSafeSoftmax(Lowering &l, const Arithmetic &m, Value scores) {
  int64_t dim = getTensorType(scores).getRank() - 1;
  // The program's own lowest number.
  double lowest =
      -llvm::APFloat::getLargest(cast<FloatType>(m.element).getFloatSemantics()).convertToDouble();
  Value maximum = buildReduction(l.b, l.loc, "max", scores, {dim}, /*keepDims=*/true);
  Value exponentials = m.unary("exp", m.sub(scores, m.maximum(maximum, lowest)));
  Value sum = buildReduction(l.b, l.loc, "sum", exponentials, {dim}, /*keepDims=*/true);
  return m.div(exponentials, m.maximum(sum, 1.0));
}

// scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal, *, scale, enable_gqa).
static LogicalResult lowerAttention(Lowering &l) {
  Type type = l.getDeviceType();
  Value q = type ? l.getAs(0, type) : Value(), k = q ? l.getAs(1, type) : Value(),
        v = k ? l.getAs(2, type) : Value();
  if (!v)
    return failure();
  std::optional<double> dropout = l.getNumberOr(4, 0.0);
  std::optional<bool> causal = false, grouped = false;
  if (l.isGiven(5))
    causal = l.getBool(5);
  if (l.isGiven(7))
    grouped = l.getBool(7);
  if (!dropout || !causal || !grouped)
    return failure();
  if (*dropout != 0.0)
    return l.refuse("the device does not drop out");
  if (*causal && l.isGiven(3))
    return l.refuse("is causal and has a mask");
  RankedTensorType qType = getTensorType(q), kType = getTensorType(k), vType = getTensorType(v);
  int64_t rank = qType.getRank();
  if (rank < 2 || kType.getRank() != rank || vType.getRank() != rank)
    return l.refuse("query, key and value need the same number of dims");
  int64_t rows = qType.getDimSize(rank - 2), width = qType.getDimSize(rank - 1),
          columns = kType.getDimSize(rank - 2), valueWidth = vType.getDimSize(rank - 1);
  ArrayRef<int64_t> batch = qType.getShape().drop_back(2);
  SmallVector<int64_t> resultShape(batch);
  llvm::append_values(resultShape, rows, valueWidth);
  if (kType.getDimSize(rank - 1) != width || vType.getDimSize(rank - 2) != columns ||
      l.getResultType().getShape() != ArrayRef<int64_t>(resultShape))
    return l.refuse("query, key, value and result do not fit");
  if (columns == 0 || width == 0)
    return l.refuse("a contraction of no elements has no device form");
  std::optional<double> scale = l.getNumberOr(6, 1.0 / std::sqrt(static_cast<double>(width)));
  if (!scale)
    return failure();

  // Heads that share a key: one more batch dim, of extent 1 in key and value.
  SmallVector<int64_t> shared(batch);
  int64_t group = 1;
  if (*grouped && rank > 2) {
    int64_t heads = batch.back(), keyHeads = kType.getDimSize(rank - 3);
    if (keyHeads == 0 || heads % keyHeads)
      return l.refuse("key heads must divide query heads");
    group = heads / keyHeads;
    shared.back() = keyHeads;
  }
  for (RankedTensorType operand : {kType, vType})
    for (int64_t i = 0; i + 2 < rank; ++i)
      if (operand.getDimSize(i) != shared[i] && operand.getDimSize(i) != 1)
        return l.refuse("its batch dims do not broadcast");
  auto withGroup = [&](Value value, int64_t extent) {
    if (group == 1)
      return value;
    SmallVector<int64_t> shape(getTensorType(value).getShape());
    if (extent != 1)
      shape[rank - 3] /= extent;
    shape.insert(shape.begin() + rank - 2, extent);
    return buildReshape(l.b, l.loc, value, shape);
  };
  q = withGroup(q, group);
  k = withGroup(k, 1);
  v = withGroup(v, 1);
  int64_t inner = getTensorType(q).getRank();

  Arithmetic m(l, type);
  // The operation's own scores are f32: see spyre-centre-keys.
  if (isHalf(type) && columns > 1)
    k = buildCentred(l.b, l.loc, k, inner - 2);
  if (*scale != 1.0)
    q = m.mul(q, *scale);
  SmallVector<AffineExpr> swapped;
  SmallVector<int64_t> keyShape(getTensorType(k).getShape());
  std::swap(keyShape[inner - 2], keyShape[inner - 1]);
  for (int64_t d = 0; d < inner; ++d)
    swapped.push_back(l.b.getAffineDimExpr(d < inner - 2 ? d : 2 * inner - 3 - d));
  k = buildView(l.b, l.loc, k, AffineMap::get(inner, 0, swapped, l.b.getContext()), keyShape);
  SmallVector<int64_t> scoreShape(getTensorType(q).getShape());
  scoreShape.back() = columns;
  Value scores = MatmulOp::create(l.b, l.loc, RankedTensorType::get(scoreShape, type), q, k);

  Value mask;
  if (*causal)
    mask = buildTriangleMask(l, rows, columns, /*diagonal=*/0, /*isUpper=*/false);
  else if (l.isGiven(3))
    mask = l.isTensor(3) ? l.getTensor(3) : Value();
  Value probabilities;
  if (mask) {
    // It broadcasts to [batch, rows, columns], which has one dim more now.
    SmallVector<int64_t> full(batch);
    llvm::append_values(full, rows, columns);
    RankedTensorType maskType = getTensorType(mask);
    if (maskType.getRank() > rank)
      return l.refuse("the mask has more dims than the scores");
    for (int64_t i = 1; i <= maskType.getRank(); ++i)
      if (int64_t extent = maskType.getDimSize(maskType.getRank() - i);
          extent != 1 && extent != full[rank - i])
        return l.refuse("the mask does not broadcast to the scores");
    if (group != 1 && maskType.getRank() >= 3) {
      bool perHead = maskType.getDimSize(maskType.getRank() - 3) != 1;
      SmallVector<int64_t> shape(maskType.getShape());
      if (perHead)
        shape[shape.size() - 3] /= group;
      shape.insert(shape.end() - 2, perHead ? group : 1);
      mask = buildReshape(l.b, l.loc, mask, shape);
    }
    Type maskElement = maskType.getElementType();
    if (maskElement.isInteger(1)) {
      scores = m.select(mask, scores, -std::numeric_limits<double>::infinity());
      probabilities = buildSafeSoftmax(l, m, scores);
    } else if (isHalf(maskElement) || maskElement.isF32()) {
      Arithmetic wide(l, l.b.getF32Type());
      Value sum = wide.add(wide.widen(scores), wide.widen(mask));
      probabilities = wide.convert(buildSafeSoftmax(l, wide, sum), type);
    } else {
      return l.refuse("the mask must be of bools or floats");
    }
  } else {
    probabilities = SoftmaxOp::create(l.b, l.loc, scores.getType(), scores, inner - 1);
  }
  SmallVector<int64_t> productShape(scoreShape);
  productShape.back() = valueWidth;
  Value product =
      MatmulOp::create(l.b, l.loc, RankedTensorType::get(productShape, type), probabilities, v);
  return l.replaceWith(buildReshape(l.b, l.loc, product, resultShape));
}

void torch_lowering::addAttention(HandlerTable &table) {
  table["torch.aten.scaled_dot_product_attention"] = onTensor(lowerAttention);
}
