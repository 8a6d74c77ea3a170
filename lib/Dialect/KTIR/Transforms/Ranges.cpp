//===- Ranges.cpp - What index values of a kernel may be -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "Ranges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ktdp;

/// \p a op \p b by \p apply, which is monotone in both and says whether it overflows.
template <typename Apply>
static MaybeInterval combine(MaybeInterval a, MaybeInterval b, Apply apply) {
  if (!a || !b)
    return std::nullopt;
  int64_t corners[4];
  if (apply(a->low, b->low, corners[0]) || apply(a->low, b->high, corners[1]) ||
      apply(a->high, b->low, corners[2]) || apply(a->high, b->high, corners[3]))
    return std::nullopt;
  return Interval{*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

MaybeInterval mlir::ktdp::add(MaybeInterval a, MaybeInterval b) {
  return combine(a, b,
                 [](int64_t x, int64_t y, int64_t &sum) { return llvm::AddOverflow(x, y, sum); });
}

static MaybeInterval subtract(MaybeInterval a, MaybeInterval b) {
  return combine(a, b,
                 [](int64_t x, int64_t y, int64_t &sum) { return llvm::SubOverflow(x, y, sum); });
}

static MaybeInterval multiply(MaybeInterval a, MaybeInterval b) {
  return combine(a, b,
                 [](int64_t x, int64_t y, int64_t &sum) { return llvm::MulOverflow(x, y, sum); });
}

static MaybeInterval divide(MaybeInterval a, MaybeInterval b, int64_t (*apply)(int64_t, int64_t)) {
  if (!a || !b || !b->isPoint() || b->low <= 0)
    return std::nullopt;
  return Interval{apply(a->low, b->low), apply(a->high, b->low)};
}

static MaybeInterval remainder(MaybeInterval a, MaybeInterval b) {
  if (!a || !b || !b->isPoint() || b->low <= 0)
    return std::nullopt;
  int64_t divisor = b->low;
  if (llvm::divideFloorSigned(a->low, divisor) == llvm::divideFloorSigned(a->high, divisor))
    return Interval{llvm::mod(a->low, divisor), llvm::mod(a->high, divisor)};
  return Interval{0, divisor - 1};
}

/// The truth of a comparison, where the ranges decide it.
static MaybeInterval compare(arith::CmpIPredicate predicate, MaybeInterval a, MaybeInterval b) {
  using P = arith::CmpIPredicate;
  if (!a || !b)
    return std::nullopt;
  bool isUnsigned =
      predicate == P::ult || predicate == P::ule || predicate == P::ugt || predicate == P::uge;
  // Signed and unsigned agree on what is not negative.
  if (isUnsigned && (a->low < 0 || b->low < 0))
    return std::nullopt;
  auto decide = [](bool always, bool never) -> MaybeInterval {
    if (!always && !never)
      return std::nullopt;
    return Interval{always, always};
  };
  switch (predicate) {
  case P::eq:
    return decide(a->isPoint() && b->isPoint() && a->low == b->low,
                  a->high < b->low || b->high < a->low);
  case P::ne:
    return decide(a->high < b->low || b->high < a->low,
                  a->isPoint() && b->isPoint() && a->low == b->low);
  case P::slt:
  case P::ult:
    return decide(a->high < b->low, a->low >= b->high);
  case P::sle:
  case P::ule:
    return decide(a->high <= b->low, a->low > b->high);
  case P::sgt:
  case P::ugt:
    return decide(a->low > b->high, a->high <= b->low);
  case P::sge:
  case P::uge:
    return decide(a->low >= b->high, a->high < b->low);
  }
  return std::nullopt;
}

MaybeInterval Ranges::get(Value value) const {
  auto it = known.find(value);
  if (it != known.end())
    return it->second;
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)) || constant.getSignificantBits() > 64)
    return std::nullopt;
  // Truth is 1 here, whatever the sign of its bit.
  int64_t number = constant.getBitWidth() == 1 ? constant.getZExtValue() : constant.getSExtValue();
  return Interval{number, number};
}

std::optional<int64_t> Ranges::getPoint(Value value) const {
  MaybeInterval range = get(value);
  return range && range->isPoint() ? std::optional(range->low) : std::nullopt;
}

void Ranges::set(Value value, MaybeInterval range) {
  if (range)
    known[value] = *range;
  else
    known.erase(value);
}

/// The result of \p op, nothing where it is unknown or may not fit.
static MaybeInterval getResult(Operation &op, const Ranges &ranges) {
  Type type = op.getResult(0).getType();
  if (!type.isIntOrIndex())
    return std::nullopt;
  MaybeInterval a = ranges.get(op.getOperand(0));
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op))
    return a;
  if (isa<arith::IndexCastUIOp, arith::ExtUIOp>(op))
    return a && a->low >= 0 ? a : std::nullopt;
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    MaybeInterval x = ranges.get(select.getTrueValue()), y = ranges.get(select.getFalseValue());
    if (a && a->isPoint())
      return a->low ? x : y;
    return x && y ? MaybeInterval(Interval{std::min(x->low, y->low), std::max(x->high, y->high)})
                  : std::nullopt;
  }
  if (op.getNumOperands() != 2)
    return std::nullopt;
  MaybeInterval b = ranges.get(op.getOperand(1));
  if (isa<arith::AddIOp>(op))
    return add(a, b);
  if (isa<arith::SubIOp>(op))
    return subtract(a, b);
  if (isa<arith::MulIOp>(op))
    return multiply(a, b);
  if (auto comparison = dyn_cast<arith::CmpIOp>(op))
    return compare(comparison.getPredicate(), a, b);
  if (isa<arith::FloorDivSIOp>(op))
    return divide(a, b, llvm::divideFloorSigned);
  if (isa<arith::CeilDivSIOp>(op))
    return divide(a, b, llvm::divideCeilSigned);
  auto choose = [&](auto pick) -> MaybeInterval {
    return a && b ? MaybeInterval(Interval{pick(a->low, b->low), pick(a->high, b->high)})
                  : std::nullopt;
  };
  auto least = [](int64_t x, int64_t y) { return std::min(x, y); };
  auto most = [](int64_t x, int64_t y) { return std::max(x, y); };
  if (isa<arith::MinSIOp>(op))
    return choose(least);
  if (isa<arith::MaxSIOp>(op))
    return choose(most);
  bool isTruth = type.isInteger(1);
  if (isTruth && isa<arith::AndIOp>(op))
    return choose(least);
  if (isTruth && isa<arith::OrIOp>(op))
    return choose(most);
  // The rest agree with signed arithmetic where nothing is negative.
  if (!a || a->low < 0 || !b || b->low < 0)
    return std::nullopt;
  if (isa<arith::MinUIOp>(op))
    return choose(least);
  if (isa<arith::MaxUIOp>(op))
    return choose(most);
  if (isa<arith::DivUIOp, arith::DivSIOp>(op))
    return divide(a, b, llvm::divideFloorSigned);
  if (isa<arith::CeilDivUIOp>(op))
    return divide(a, b, llvm::divideCeilSigned);
  if (isa<arith::RemUIOp, arith::RemSIOp>(op))
    return remainder(a, b);
  return std::nullopt;
}

void Ranges::compute(Operation &op) {
  if (op.getNumResults() != 1 || op.getNumOperands() == 0)
    return;
  MaybeInterval range = getResult(op, *this);
  // What does not fit in the type wraps around.
  auto type = dyn_cast<IntegerType>(op.getResult(0).getType());
  if (range && type && type.getWidth() > 1 && type.getWidth() < 64 &&
      (!llvm::isIntN(type.getWidth(), range->low) || !llvm::isIntN(type.getWidth(), range->high)))
    range = std::nullopt;
  set(op.getResult(0), range);
}

MaybeInterval Ranges::evaluate(AffineExpr expr, ArrayRef<MaybeInterval> dims) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Interval{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() < dims.size() ? dims[dim.getPosition()] : std::nullopt;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  MaybeInterval a = evaluate(binary.getLHS(), dims), b = evaluate(binary.getRHS(), dims);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return add(a, b);
  case AffineExprKind::Mul:
    return multiply(a, b);
  case AffineExprKind::Mod:
    return remainder(a, b);
  case AffineExprKind::FloorDiv:
    return divide(a, b, llvm::divideFloorSigned);
  case AffineExprKind::CeilDiv:
    return divide(a, b, llvm::divideCeilSigned);
  default:
    return std::nullopt;
  }
}

MaybeInterval Ranges::evaluate(AffineExpr expr, ValueRange dims) const {
  SmallVector<MaybeInterval> ranges;
  for (Value dim : dims)
    ranges.push_back(get(dim));
  return evaluate(expr, ranges);
}
