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
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ktdp;

/// Beyond these, eliminating the unknowns of a set may take longer than anyone waits: each
/// one may square the number of constraints.
static constexpr unsigned kMaxUnknowns = 4, kMaxConstraints = 8;

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

static unsigned countDivisions(AffineExpr expr) {
  unsigned count = 0;
  expr.walk([&](AffineExpr e) {
    count += e.getKind() == AffineExprKind::Mod || e.getKind() == AffineExprKind::FloorDiv ||
             e.getKind() == AffineExprKind::CeilDiv;
  });
  return count;
}

namespace {
/// Constraints that have unknowns in common, and those unknowns: dims, then symbols.
struct Component {
  SmallVector<unsigned> inputs, constraints;
};
} // namespace

/// True if the constraint is a number alone that does not hold.
static bool isFalse(AffineExpr constraint, bool isEquality) {
  auto constant = dyn_cast<AffineConstantExpr>(constraint);
  return constant && (isEquality ? constant.getValue() != 0 : constant.getValue() < 0);
}

static SmallVector<Component> getComponents(IntegerSet set) {
  llvm::IntEqClasses classes(set.getNumInputs());
  SmallVector<SmallVector<unsigned>> inputsOf;
  for (AffineExpr constraint : set.getConstraints()) {
    SmallVector<unsigned> &inputs = inputsOf.emplace_back();
    constraint.walk([&](AffineExpr expr) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        inputs.push_back(dim.getPosition());
      else if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
        inputs.push_back(set.getNumDims() + symbol.getPosition());
    });
    for (unsigned input : inputs)
      classes.join(inputs.front(), input);
  }
  classes.compress();
  SmallVector<Component> components(classes.getNumClasses());
  for (unsigned input = 0; input < set.getNumInputs(); ++input)
    components[classes[input]].inputs.push_back(input);
  for (auto [i, inputs] : llvm::enumerate(inputsOf))
    if (!inputs.empty())
      components[classes[inputs.front()]].constraints.push_back(i);
  return components;
}

/// The bounds of a component whose constraints are on one dim; false for another one.
static bool getBoundsOfOneDim(IntegerSet set, const Component &component, DimBounds &bound) {
  for (unsigned i : component.constraints) {
    unsigned dim;
    int64_t factor, offset;
    if (!readDimConstraint(set.getConstraint(i), dim, factor, offset))
      return false;
    // factor * d >= -offset, where equality holds also the other way.
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

/// The bounds of any component by elimination of the other unknowns, if there are few.
static void getBoundsByElimination(IntegerSet set, const Component &component,
                                   MutableArrayRef<DimBounds> bounds) {
  using presburger::BoundType;
  MLIRContext *context = set.getContext();
  SmallVector<AffineExpr> dims(set.getNumDims(), getAffineConstantExpr(0, context));
  SmallVector<AffineExpr> symbols(set.getNumSymbols(), getAffineConstantExpr(0, context));
  for (auto [i, input] : llvm::enumerate(component.inputs))
    (input < set.getNumDims() ? dims[input] : symbols[input - set.getNumDims()]) =
        getAffineDimExpr(i, context);
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> isEquality;
  unsigned unknowns = component.inputs.size();
  for (unsigned i : component.constraints) {
    AffineExpr constraint = set.getConstraint(i);
    if (!isAffine(constraint))
      return;
    unknowns += countDivisions(constraint);
    constraints.push_back(constraint.replaceDimsAndSymbols(dims, symbols));
    isEquality.push_back(set.isEq(i));
  }
  if (unknowns > kMaxUnknowns || constraints.size() > kMaxConstraints)
    return;
  FlatLinearValueConstraints flat(
      IntegerSet::get(component.inputs.size(), 0, constraints, isEquality));
  bool isEmpty = flat.isEmpty();
  for (auto [i, input] : llvm::enumerate(component.inputs)) {
    if (input >= set.getNumDims())
      continue;
    if (isEmpty)
      bounds[input] = {0, -1};
    else
      bounds[input] = {flat.getConstantBound64(BoundType::LB, i),
                       flat.getConstantBound64(BoundType::UB, i)};
  }
}

SmallVector<DimBounds> mlir::ktdp::getBounds(IntegerSet set) {
  SmallVector<DimBounds> bounds(set.getNumDims());
  bool isEmpty = false;
  for (auto [i, constraint] : llvm::enumerate(set.getConstraints()))
    isEmpty |= isFalse(constraint, set.isEq(i));
  for (const Component &component : getComponents(set)) {
    if (component.inputs.front() >= set.getNumDims())
      continue;
    DimBounds &first = bounds[component.inputs.front()];
    if (component.inputs.size() > 1 || !getBoundsOfOneDim(set, component, first)) {
      first = {};
      getBoundsByElimination(set, component, bounds);
    }
    isEmpty |= first.lower && first.upper && *first.lower > *first.upper;
  }
  if (isEmpty)
    bounds.assign(bounds.size(), {0, -1});
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

std::optional<int64_t> mlir::ktdp::countPoints(IntegerSet set) {
  if (set.getNumSymbols())
    return std::nullopt;
  SmallVector<DimBounds> bounds = getBounds(set);
  SmallVector<int64_t> point;
  int64_t places = 1;
  for (const DimBounds &bound : bounds) {
    std::optional<int64_t> extent = bound.getExtent();
    if (!extent || llvm::MulOverflow(places, *extent, places) || places > kMaxTiles * 16)
      return std::nullopt;
    point.push_back(*bound.lower);
  }
  int64_t count = 0;
  for (int64_t i = 0; i < places; ++i) {
    count += contains(set, point);
    for (size_t dim = point.size(); dim-- > 0;) {
      if (++point[dim] <= *bounds[dim].upper)
        break;
      point[dim] = *bounds[dim].lower;
    }
  }
  return count;
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
