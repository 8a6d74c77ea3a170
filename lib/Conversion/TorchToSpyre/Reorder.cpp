//===- Reorder.cpp - Flips, triangles, repeated elements ------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Movements that are no single view: built of views, joins and selections.
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

/// The largest divisor of \p n up to \p limit.
static int64_t getLargestFactor(int64_t n, int64_t limit) {
  for (int64_t factor = std::min(n, limit); factor > 1; --factor)
    if (n % factor == 0)
      return factor;
  return 1;
}

/// \p value backwards along \p dim. No stride is negative on the device: a dim of a * b
/// elements is turned as a dim of a and one of b, each part by part. Few large parts: each split is
/// one more dim of all operations around, and a descriptor has eight.
static Value buildFlip(Lowering &l, Value value, int64_t dim) {
  SmallVector<int64_t> shape(getTensorType(value).getShape());
  int64_t extent = shape[dim];
  if (extent < 2)
    return value;
  constexpr int64_t kMaxParts = 16;
  int64_t factor = getLargestFactor(extent, kMaxParts);
  if (factor == 1) {
    // A large prime: the last element, then the others, which are split where they lie in
    // a tensor of their own.
    Value last = buildSlice(l, value, dim, extent - 1, 1);
    Value others = buildConcat(l.b, l.loc, {buildSlice(l, value, dim, 0, extent - 1)}, dim);
    Value rest = buildFlip(l, others, dim);
    return buildConcat(l.b, l.loc, {last, rest}, dim);
  }
  SmallVector<int64_t> split(shape);
  split[dim] = extent / factor;
  split.insert(split.begin() + dim + 1, factor);
  Value apart = buildReshape(l.b, l.loc, value, split);
  SmallVector<Value> parts;
  for (int64_t i = factor; i-- > 0;)
    parts.push_back(buildSlice(l, apart, dim + 1, i, 1));
  Value turned = buildFlip(l, buildConcat(l.b, l.loc, parts, dim + 1), dim);
  return buildReshape(l.b, l.loc, turned, shape);
}

static LogicalResult lowerFlip(Lowering &l) {
  std::optional<SmallVector<int64_t>> dims = l.getInts(1);
  if (!dims)
    return failure();
  Value value = l.getTensor(0);
  for (int64_t given : *dims) {
    std::optional<int64_t> dim = l.normalizeDim(given, getTensorType(value).getRank());
    if (!dim)
      return failure();
    value = buildFlip(l, value, *dim);
  }
  return l.replaceWith(value);
}

/// copy(self, source): the source in self's shape and type.
static LogicalResult lowerCopyInto(Lowering &l) {
  if (!l.isTensor(1))
    return l.refuse("operand #1 is no tensor");
  RankedTensorType type = l.getResultType();
  Value source = l.getAs(1, type.getElementType());
  if (!source)
    return failure();
  ArrayRef<int64_t> from = getTensorType(source).getShape();
  if (from == type.getShape())
    return l.replaceWith(source);
  if (static_cast<int64_t>(from.size()) > type.getRank())
    return l.refuse("its source has more dims than its target");
  for (auto [i, extent] : llvm::enumerate(llvm::reverse(from)))
    if (extent != 1 && extent != type.getDimSize(type.getRank() - 1 - static_cast<int64_t>(i)))
      return l.refuse("its source does not broadcast to its target");
  return l.replaceWith(buildView(l.b, l.loc, source,
                                 getBroadcastMap(l.b.getContext(), from, type.getShape()),
                                 type.getShape()));
}

/// The last two dims exchanged.
static LogicalResult lowerMatrixTranspose(Lowering &l) {
  Value source = l.getTensor(0);
  RankedTensorType type = getTensorType(source);
  int64_t rank = type.getRank();
  if (rank < 2)
    return l.replaceWith(source);
  SmallVector<int64_t> shape(type.getShape());
  std::swap(shape[rank - 2], shape[rank - 1]);
  SmallVector<AffineExpr> results;
  for (int64_t d = 0; d < rank; ++d)
    results.push_back(l.b.getAffineDimExpr(d < rank - 2 ? d : 2 * rank - 3 - d));
  return l.replaceWith(
      buildView(l.b, l.loc, source, AffineMap::get(rank, 0, results, l.b.getContext()), shape));
}

Value torch_lowering::buildTriangleMask(Lowering &l, int64_t rows, int64_t columns,
                                        int64_t diagonal, bool isUpper) {
  auto type = RankedTensorType::get({rows, columns}, l.b.getI1Type());
  if (type.getNumElements() == 0)
    return ConstantOp::create(l.b, l.loc, type, DenseElementsAttr::get(type, ArrayRef<bool>()));
  SmallVector<int64_t> counts, ends;
  SmallVector<uint64_t> codes;
  for (int64_t row = 0; row < rows; ++row) {
    // Kept up to before there, or from there on.
    const int64_t edge = std::clamp<int64_t>(row + diagonal + (isUpper ? 0 : 1), 0, columns);
    counts.push_back(0);
    for (auto [end, kept] : {std::pair(edge, !isUpper), std::pair(columns, isUpper)}) {
      if (end == (counts.back() == 0 ? 0 : ends.back()))
        continue;
      ends.push_back(end);
      codes.push_back(kept);
      ++counts.back();
    }
  }
  return ConstantOp::create(l.b, l.loc, type, RunsAttr::getElements(type, counts, ends, codes));
}

/// Zeros on the other side of a diagonal.
static LogicalResult lowerTriangle(Lowering &l, bool isUpper) {
  Type type = l.getDeviceType();
  std::optional<int64_t> diagonal = type ? l.getInt(1) : std::nullopt;
  RankedTensorType shape = l.getResultType();
  if (!diagonal)
    return failure();
  if (shape.getRank() < 2)
    return l.refuse("it has no matrix");
  int64_t rows = shape.getDimSize(shape.getRank() - 2), columns = shape.getShape().back();
  Value mask = buildTriangleMask(l, rows, columns, *diagonal, isUpper);
  Arithmetic m(l, type);
  return l.replaceWith(m.select(mask, l.getTensor(0), 0.0));
}

/// Each element along a dim \c repeats times.
static LogicalResult lowerRepeatInterleave(Lowering &l) {
  std::optional<int64_t> repeats = l.getInt(1);
  if (!repeats)
    return failure();
  Value source = l.getTensor(0);
  if (!l.isGiven(2))
    source = buildReshape(l.b, l.loc, source, {getTensorType(source).getNumElements()});
  RankedTensorType type = getTensorType(source);
  std::optional<int64_t> given = l.isGiven(2) ? l.getInt(2) : std::optional<int64_t>(0);
  std::optional<int64_t> dim = given ? l.normalizeDim(*given, type.getRank()) : given;
  if (!dim)
    return failure();
  if (*repeats < 1)
    return l.refuse("it repeats nothing");
  SmallVector<int64_t> shape(type.getShape());
  shape[*dim] *= *repeats;
  SmallVector<AffineExpr> results;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    AffineExpr expr = l.b.getAffineDimExpr(d);
    results.push_back(d == *dim ? expr.floorDiv(*repeats) : expr);
  }
  return l.replaceWith(buildView(
      l.b, l.loc, source, AffineMap::get(type.getRank(), 0, results, l.b.getContext()), shape));
}

/// Elements start, start + step, ... of dim \p dim of \p base replaced by \p source: whole
/// steps are split off, the first of each is the source's.
static Value buildSteppedWrite(Lowering &l, Value base, Value source, int64_t dim, int64_t start,
                               int64_t step) {
  SmallVector<int64_t> shape(getTensorType(base).getShape());
  int64_t extent = shape[dim], count = getTensorType(source).getDimSize(dim),
          whole = std::min(count, (extent - start) / step), end = start + whole * step;
  SmallVector<Value> parts;
  if (start > 0)
    parts.push_back(buildSlice(l, base, dim, 0, start));
  if (whole > 0) {
    SmallVector<int64_t> apart(shape), column(shape);
    apart[dim] = column[dim] = whole;
    apart.insert(apart.begin() + dim + 1, step);
    column.insert(column.begin() + dim + 1, 1);
    Value old = buildReshape(
        l.b, l.loc, buildConcat(l.b, l.loc, {buildSlice(l, base, dim, start, whole * step)}, dim),
        apart);
    Value first = buildReshape(l.b, l.loc, buildSlice(l, source, dim, 0, whole), column);
    Value both =
        buildConcat(l.b, l.loc, {first, buildSlice(l, old, dim + 1, 1, step - 1)}, dim + 1);
    shape[dim] = whole * step;
    parts.push_back(buildReshape(l.b, l.loc, both, shape));
  }
  if (whole < count) { // the last step is cut off by the end
    parts.push_back(buildSlice(l, source, dim, whole, 1));
    ++end;
  }
  if (end < extent)
    parts.push_back(buildSlice(l, base, dim, end, extent - end));
  return buildConcat(l.b, l.loc, parts, dim);
}

LogicalResult torch_lowering::lowerSteppedScatter(Lowering &l, int64_t dim, int64_t start,
                                                  int64_t step) {
  return l.replaceWith(buildSteppedWrite(l, l.getTensor(0), l.getTensor(1), dim, start, step));
}

void torch_lowering::addReorder(HandlerTable &table) {
  table["torch.aten.flip"] = onTensor(lowerFlip);
  table["torch.aten.copy"] = onTensor(lowerCopyInto);
  table["torch.aten.mT"] = onTensor(lowerMatrixTranspose);
  table["torch.aten.tril"] = onTensor([](Lowering &l) { return lowerTriangle(l, false); });
  table["torch.aten.triu"] = onTensor([](Lowering &l) { return lowerTriangle(l, true); });
  table["torch.aten.repeat_interleave.self_int"] = onTensor(lowerRepeatInterleave);
}
