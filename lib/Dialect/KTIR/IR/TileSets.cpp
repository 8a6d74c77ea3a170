//===- TileSets.cpp - Sets of tiles and of coordinates -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/KTIR/IR/TileSets.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ktdp;

/// Beyond these, eliminating the unknowns of a set may take longer than anyone waits.
static constexpr unsigned kMaxUnknowns = 12, kMaxConstraints = 40;

IntegerSet mlir::ktdp::getBoxSet(ArrayRef<int64_t> sizes, MLIRContext *context) {
  // A set of no dims has no constraint; the class wants one.
  if (sizes.empty())
    return IntegerSet::get(0, 0, {getAffineConstantExpr(0, context)}, {true});
  SmallVector<AffineExpr> constraints;
  unsigned numSymbols = 0;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    AffineExpr dim = getAffineDimExpr(i, context);
    constraints.push_back(dim);
    constraints.push_back(ShapedType::isDynamic(size)
                              ? -dim + getAffineSymbolExpr(numSymbols++, context) - 1
                              : -dim + (size - 1));
  }
  SmallVector<bool> isEquality(constraints.size(), false);
  return IntegerSet::get(sizes.size(), numSymbols, constraints, isEquality);
}

std::optional<int64_t> DimBounds::getExtent() const {
  int64_t distance, extent;
  if (!lower || !upper || llvm::SubOverflow(*upper, *lower, distance) ||
      llvm::AddOverflow(distance, int64_t(1), extent))
    return std::nullopt;
  return extent;
}

/// Reads a constraint `a * d + b`, a not 0, on one dim. False for any other.
static bool readDimConstraint(AffineExpr expr, unsigned &dim, int64_t &factor, int64_t &offset) {
  offset = 0;
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (sum && sum.getKind() == AffineExprKind::Add) {
    auto constant = dyn_cast<AffineConstantExpr>(sum.getRHS());
    if (!constant)
      return false;
    offset = constant.getValue();
    expr = sum.getLHS();
  }
  factor = 1;
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  if (product && product.getKind() == AffineExprKind::Mul) {
    auto constant = dyn_cast<AffineConstantExpr>(product.getRHS());
    if (!constant || constant.getValue() == 0)
      return false;
    factor = constant.getValue();
    expr = product.getLHS();
  }
  auto position = dyn_cast<AffineDimExpr>(expr);
  if (!position)
    return false;
  dim = position.getPosition();
  // The least number has no negative.
  return offset != std::numeric_limits<int64_t>::min() &&
         factor != std::numeric_limits<int64_t>::min();
}

/// The bounds of a set whose constraints are on one dim each; false for another set.
static bool getSeparateBounds(IntegerSet set, SmallVectorImpl<DimBounds> &bounds) {
  for (auto [i, constraint] : llvm::enumerate(set.getConstraints())) {
    unsigned dim;
    int64_t factor, offset;
    if (!readDimConstraint(constraint, dim, factor, offset))
      return false;
    // factor * d >= -offset, where equality holds also the other way.
    DimBounds &bound = bounds[dim];
    auto raise = [&](int64_t value) {
      bound.lower = bound.lower ? std::max(*bound.lower, value) : value;
    };
    auto lower = [&](int64_t value) {
      bound.upper = bound.upper ? std::min(*bound.upper, value) : value;
    };
    if (factor > 0 || set.isEq(i))
      raise(factor > 0 ? llvm::divideCeilSigned(-offset, factor)
                       : llvm::divideCeilSigned(offset, -factor));
    if (factor < 0 || set.isEq(i))
      lower(factor < 0 ? llvm::divideFloorSigned(offset, -factor)
                       : llvm::divideFloorSigned(-offset, factor));
  }
  return true;
}

static unsigned countDivisions(AffineExpr expr) {
  unsigned count = 0;
  expr.walk([&](AffineExpr e) {
    count += e.getKind() == AffineExprKind::Mod || e.getKind() == AffineExprKind::FloorDiv ||
             e.getKind() == AffineExprKind::CeilDiv;
  });
  return count;
}

SmallVector<DimBounds> mlir::ktdp::getBounds(IntegerSet set) {
  using presburger::BoundType;
  SmallVector<DimBounds> bounds(set.getNumDims());
  auto setEmpty = [&] { bounds.assign(bounds.size(), {0, -1}); };
  if (getSeparateBounds(set, bounds)) {
    if (llvm::any_of(bounds, [](const DimBounds &bound) {
          return bound.lower && bound.upper && *bound.lower > *bound.upper;
        }))
      setEmpty();
    return bounds;
  }
  bounds.assign(set.getNumDims(), {});
  unsigned unknowns = set.getNumInputs();
  for (AffineExpr constraint : set.getConstraints())
    unknowns += countDivisions(constraint);
  if (!isAffine(set) || unknowns > kMaxUnknowns || set.getNumConstraints() > kMaxConstraints)
    return bounds;
  FlatLinearValueConstraints constraints(set);
  if (constraints.isEmpty()) {
    setEmpty();
    return bounds;
  }
  for (auto [i, bound] : llvm::enumerate(bounds)) {
    bound.lower = constraints.getConstantBound64(BoundType::LB, i);
    bound.upper = constraints.getConstantBound64(BoundType::UB, i);
  }
  return bounds;
}

bool mlir::ktdp::isBox(IntegerSet set) {
  return llvm::all_of(set.getConstraints(), [&](AffineExpr expr) {
    unsigned dims = 0;
    for (unsigned dim = 0; dim < set.getNumDims(); ++dim)
      dims += expr.isFunctionOfDim(dim);
    return dims <= 1 && countDivisions(expr) == 0;
  });
}

bool mlir::ktdp::isAffine(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return true;
  if (!isAffine(binary.getLHS()) || !isAffine(binary.getRHS()))
    return false;
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return true;
  case AffineExprKind::Mul:
    return constant || isa<AffineConstantExpr>(binary.getLHS());
  default:
    return constant && constant.getValue() > 0;
  }
}

bool mlir::ktdp::isAffine(AffineMap map) {
  return llvm::all_of(map.getResults(), [](AffineExpr expr) { return isAffine(expr); });
}

bool mlir::ktdp::isAffine(IntegerSet set) {
  return llvm::all_of(set.getConstraints(), [](AffineExpr expr) { return isAffine(expr); });
}

std::optional<int64_t> mlir::ktdp::evaluate(AffineExpr expr, ArrayRef<int64_t> dims,
                                            ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() < dims.size() ? std::optional(dims[dim.getPosition()]) : std::nullopt;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbol.getPosition() < symbols.size() ? std::optional(symbols[symbol.getPosition()])
                                                 : std::nullopt;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> a = evaluate(binary.getLHS(), dims, symbols);
  std::optional<int64_t> b = evaluate(binary.getRHS(), dims, symbols);
  int64_t result;
  if (!a || !b)
    return std::nullopt;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return llvm::AddOverflow(*a, *b, result) ? std::nullopt : std::optional(result);
  case AffineExprKind::Mul:
    return llvm::MulOverflow(*a, *b, result) ? std::nullopt : std::optional(result);
  default:
    break;
  }
  if (*b <= 0)
    return std::nullopt;
  switch (binary.getKind()) {
  case AffineExprKind::Mod:
    return llvm::mod(*a, *b);
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(*a, *b);
  default:
    return llvm::divideCeilSigned(*a, *b);
  }
}

bool mlir::ktdp::contains(IntegerSet set, ArrayRef<int64_t> point, ArrayRef<int64_t> symbols) {
  for (auto [i, constraint] : llvm::enumerate(set.getConstraints())) {
    std::optional<int64_t> value = evaluate(constraint, point, symbols);
    if (!value || (set.isEq(i) ? *value != 0 : *value < 0))
      return false;
  }
  return true;
}

IntegerSet mlir::ktdp::bindSymbols(IntegerSet set, ArrayRef<int64_t> symbols) {
  MLIRContext *context = set.getContext();
  SmallVector<AffineExpr> dims, values;
  for (unsigned i = 0; i < set.getNumDims(); ++i)
    dims.push_back(getAffineDimExpr(i, context));
  unsigned bound = std::min<size_t>(symbols.size(), set.getNumSymbols());
  for (int64_t symbol : symbols.take_front(bound))
    values.push_back(getAffineConstantExpr(symbol, context));
  for (unsigned i = bound; i < set.getNumSymbols(); ++i)
    values.push_back(getAffineSymbolExpr(i - bound, context));
  return set.replaceDimsAndSymbols(dims, values, set.getNumDims(), set.getNumSymbols() - bound);
}

SmallVector<int64_t> mlir::ktdp::getTiles(IntegerSet set, ArrayRef<int64_t> symbols,
                                          int64_t numTiles) {
  SmallVector<int64_t> tiles;
  for (int64_t tile = 0; tile < numTiles; ++tile)
    if (contains(set, tile, symbols))
      tiles.push_back(tile);
  return tiles;
}

std::optional<SmallVector<int64_t>> mlir::ktdp::getGroups(IntegerSet groups) {
  if (groups.getNumDims() != 1 || groups.getNumSymbols())
    return std::nullopt;
  DimBounds bounds = getBounds(groups).front();
  std::optional<int64_t> extent = bounds.getExtent();
  if (!extent || *extent > kMaxTiles)
    return std::nullopt;
  SmallVector<int64_t> result;
  for (int64_t group = *bounds.lower; group <= *bounds.upper; ++group)
    if (contains(groups, group))
      result.push_back(group);
  return result;
}
