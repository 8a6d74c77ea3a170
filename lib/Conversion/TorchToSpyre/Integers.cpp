//===- Integers.cpp - Casts of integers, places of extremes ---------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers that the host passes or takes are f32 numbers on the device (spyre-pass-integers),
// where they are arguments that are read as floats, or results. f32 holds integers up to 2^24,
// and rounds larger ones as PyTorch's own casts do.
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

/// Types that the copies convert from and to f32.
static bool isPassedInteger(Type type) { return type.isInteger(64) || type.isInteger(32); }

LogicalResult torch_lowering::lowerIntegerCast(Lowering &l) {
  Type from = l.getTensorType(0).getElementType(), to = l.getResultType().getElementType();
  Arithmetic m(l, l.b.getF32Type());
  Value x = l.getTensor(0);
  if (isPassedInteger(from) && (isHalf(to) || to.isF32()) && isPassedByHost(x))
    return l.replaceWith(m.convert(m.widen(x), to));
  if (isPassedInteger(to) && (isHalf(from) || from.isF32() || from.isInteger(1)) &&
      isTakenByHost(l.op->getResult(0))) {
    x = m.widen(x);
    if (!from.isInteger(1))
      x = buildTrunc(m, x);
    return l.replaceWith(m.convert(x, to));
  }
  return l.refuse("the device does not convert between these element types");
}

/// Where the largest (or smallest) numbers of \p x along \p dim stand first; a NaN is larger and
/// smaller than all others. f32, with that dim of one; null after refusing.
static Value buildPlaces(Lowering &l, Value x, int64_t dim, bool isLargest) {
  RankedTensorType type = getTensorType(x);
  int64_t extent = type.getDimSize(dim);
  constexpr int64_t kMost = int64_t(1) << 24; // integers that f32 tells apart
  if (extent < 1 || extent > kMost) {
    (void)l.refuse("it looks for the place of one among " + Twine(extent) + " elements");
    return {};
  }
  Arithmetic m(l, l.b.getF32Type());
  Value wide = m.widen(x);
  Value best = buildReduction(l.b, l.loc, isLargest ? "max" : "min", wide, {dim}, true);
  SmallVector<int64_t> shape(type.getRank() - dim, 1);
  shape[0] = extent;
  SmallVector<float> numbers;
  for (int64_t i = 0; i < extent; ++i)
    numbers.push_back(static_cast<float>(i));
  auto constant = RankedTensorType::get(shape, l.b.getF32Type());
  Value places = ConstantOp::create(l.b, l.loc, constant,
                                    DenseElementsAttr::get(constant, ArrayRef<float>(numbers)));
  Value found = m.select(m.compare("equal", wide, best), places, static_cast<double>(extent - 1));
  found = m.select(m.compare("notequal", wide, wide), places, found);
  return buildReduction(l.b, l.loc, "min", found, {dim}, true);
}

/// The first operand, if it holds floats that the device compares; null after refusing.
static Value getFloats(Lowering &l) {
  Type element = l.getTensorType(0).getElementType();
  if (isHalf(element) || element.isF32())
    return l.getTensor(0);
  (void)l.refuse("the device looks for places among floats only");
  return {};
}

static Value asIntegers(Lowering &l, Value places, unsigned result) {
  places = buildReshape(l.b, l.loc, places, l.getResultType(result).getShape());
  return buildConvert(l.b, l.loc, places, l.getResultType(result).getElementType());
}

/// argmax(x, dim, keepdim); without a dim among all elements.
static LogicalResult lowerPlace(Lowering &l, bool isLargest) {
  Value x = getFloats(l);
  if (!x)
    return failure();
  if (!isTakenByHost(l.op->getResult(0)))
    return l.refuse("its indices are read inside of the program, and have no device form");
  std::optional<int64_t> dim = 0;
  if (!l.isGiven(1)) {
    x = buildReshape(l.b, l.loc, x, {getTensorType(x).getNumElements()});
  } else if ((dim = l.getInt(1))) {
    if (getTensorType(x).getRank() == 0)
      x = buildReshape(l.b, l.loc, x, {1});
    dim = l.normalizeDim(*dim, getTensorType(x).getRank());
  }
  Value places = dim ? buildPlaces(l, x, *dim, isLargest) : Value();
  return places ? l.replaceWith(asIntegers(l, places, 0)) : failure();
}

/// max.dim(x, dim, keepdim), whose second result is read.
LogicalResult torch_lowering::lowerExtremeWithPlace(Lowering &l, bool isLargest) {
  Value x = getFloats(l);
  std::optional<int64_t> dim = x ? l.getInt(1) : std::nullopt;
  if (!dim)
    return failure();
  if (!isTakenByHost(l.op->getResult(1)))
    return l.refuse("its indices are read inside of the program, and have no device form");
  if (getTensorType(x).getRank() == 0)
    x = buildReshape(l.b, l.loc, x, {1});
  dim = l.normalizeDim(*dim, getTensorType(x).getRank());
  Value places = dim ? buildPlaces(l, x, *dim, isLargest) : Value();
  if (!places)
    return failure();
  Value best = buildReduction(l.b, l.loc, isLargest ? "max" : "min", x, {*dim}, true);
  best = buildReshape(l.b, l.loc, best, l.getResultType().getShape());
  return l.replaceWith({best, asIntegers(l, places, 1)});
}

void torch_lowering::addIntegers(HandlerTable &table) {
  table["torch.aten.argmax"] = onTensor([](Lowering &l) { return lowerPlace(l, true); });
  table["torch.aten.argmin"] = onTensor([](Lowering &l) { return lowerPlace(l, false); });
}
