//===- PrecisionRules.cpp - Where DL16 loses nothing -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs arrive with 16-bit values widened to f32, computed and narrowed. Each rule
// here recognises such a computation by its structure, and states why DL16 (9 mantissa
// bits, unit roundoff u = 2^-10, range 2^-31 .. 2^33) serves: the result is to be
// rounded to 16 bits anyway, so an error of a few u relative to the result's size is
// what the program itself asks for. Never at DL16: variance, mean-centring, partial
// sums, large additive masks (precision contract).
//
//===----------------------------------------------------------------------===//

#include "Precision.h"
#include "spyre/Numerics/DL16.h"

#include <cmath>

using namespace mlir;
using namespace mlir::spyre;

using OpSet = llvm::SmallPtrSet<Operation *, 8>;

static bool isMatrixProduct(Operation *op) { return isa<MatmulOp, LinearOp, BatchmatmulOp>(op); }

// Rule "widened-matmul": operands are 16-bit values; a bias that is one may follow.
// Products of 16-bit values are summed in f32 by the device just as by the program and
// rounded once, error u |xw|. The bias is added to the rounded sum: one more rounding,
// u |xw + b|. Both are the size of the final rounding to 16 bits unless x w and b
// cancel, where the program's own inputs already carry an error of u |xw|.
static bool matchWidenedMatmul(F32Region &region, Operation *op) {
  if (!isMatrixProduct(op) || !region.hasExactOperands(op))
    return false;
  SmallVector<Operation *> set{op};
  for (Operation *user : getUsersThroughViews(op->getResult(0)))
    if (isa<AddOp>(user) && isF32(user->getResult(0)) &&
        llvm::all_of(user->getOperands(), [&](Value operand) {
          return skipViews(operand) == op->getResult(0) || region.isExact(operand);
        }))
      set.push_back(user);
  return region.markClosed(set, "widened-matmul") || region.markClosed({op}, "widened-matmul");
}

// Rule "softmax": e = exp(x - max x), e / sum e, of a 16-bit x. The maximum is exact.
// x - max x is rounded once: an error of u |x - max x| in the exponent is a relative
// error of the exponential of u |t| at t = x - max x <= 0, and e^t |t| <= 1/e: at most
// 0.37 u of the largest exponential, which is 1. exp, sum (accumulated in f32) and div
// round once each. In all at most 4 u of the largest probability. The logarithm:
// x - max x and log sum e are each rounded once, sum e lies in [1, n].
static bool matchSoftmax(F32Region &region, Operation *op) {
  if (isa<SoftmaxOp, LogSoftmaxOp>(op))
    return region.hasExactOperands(op) && region.markClosed({op}, "softmax");
  if (!isa<ExpOp>(op) || !isF32(op->getOperand(0)))
    return false;
  Operation *shift = getDefining<SubOp>(op->getOperand(0));
  Operation *maximum = shift ? getDefining<MaxOp>(shift->getOperand(1)) : nullptr;
  if (!maximum || !region.isExact(shift->getOperand(0)))
    return false;
  auto shiftOp = cast<DeviceOpInterface>(shift), maximumOp = cast<DeviceOpInterface>(maximum);
  if (!readsSame(shiftOp, 0, maximumOp, 0) ||
      !readsReduction(shiftOp, 1, maximum->getResult(0), maximumOp))
    return false;
  OpSet set;
  SmallVector<Operation *> order;
  auto add = [&](Operation *member) {
    if (set.insert(member).second)
      order.push_back(member);
  };
  add(maximum);
  add(shift);
  add(op);
  for (Operation *sum : getUsersThroughViews(op->getResult(0))) {
    auto sumOp = dyn_cast<DeviceOpInterface>(sum);
    if (!sumOp || !isa<SumOp>(sum))
      continue;
    add(sum);
    for (Operation *user : getUsersThroughViews(sum->getResult(0))) {
      auto quotient = dyn_cast<DeviceOpInterface>(user);
      if (quotient && isa<RealdivOp>(user) && readsSame(quotient, 0, sumOp, 0) &&
          readsReduction(quotient, 1, sum->getResult(0), sumOp))
        add(user);
      if (!isa<LogOp>(user))
        continue;
      add(user);
      for (Operation *candidate : getUsersThroughViews(user->getResult(0))) {
        auto difference = dyn_cast<DeviceOpInterface>(candidate);
        if (difference && isa<SubOp>(candidate) &&
            skipViews(candidate->getOperand(0)) == shift->getResult(0) &&
            readsReduction(difference, 1, user->getResult(0), sumOp))
          add(candidate);
      }
    }
  }
  return region.markClosed(order, "softmax");
}

std::optional<InverseNorm> mlir::spyre::matchInverseNorm(Operation *root) {
  if (!isa<RsqrtOp>(root))
    return std::nullopt;
  InverseNorm norm;
  Value value = root->getOperand(0);
  norm.shifted = getDefining<AddOp>(value);
  if (norm.shifted) {
    unsigned number = getScalarConstant(skipViews(norm.shifted->getOperand(0))) ? 0 : 1;
    std::optional<double> epsilon = getScalarConstant(skipViews(norm.shifted->getOperand(number)));
    if (!epsilon || *epsilon < 0)
      return std::nullopt;
    norm.epsilon = *epsilon;
    value = norm.shifted->getOperand(1 - number);
  }
  if (Operation *scaled = getDefining<MulOp>(value))
    if (std::optional<double> number = getScalarConstant(skipViews(scaled->getOperand(1)))) {
      norm.scaled = scaled;
      norm.factor = *number;
      value = scaled->getOperand(0);
    }
  norm.reduction = dyn_cast_or_null<DeviceOpInterface>(skipViews(value).getDefiningOp());
  if (!norm.reduction || !isa<SumOp, MeanOp>(norm.reduction))
    return std::nullopt;
  norm.square =
      dyn_cast_or_null<DeviceOpInterface>(getDefining<MulOp>(norm.reduction.getInputs()[0]));
  if (!norm.square || !readsSame(norm.square, 0, norm.square, 1))
    return std::nullopt;
  // A mean's own factor.
  if (DictionaryAttr constants = norm.reduction.getConstantsAttr())
    for (NamedAttribute constant : constants)
      if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
        norm.factor *= number.getValueAsDouble();
  return norm;
}

// Rule "rms-norm": x * rsqrt(mean x^2 + eps) of a 16-bit x. Squares are not negative, so
// nothing cancels: mean x^2 has a relative error of at most 2 u (square, mean), eps adds
// one u, rsqrt halves what came before and adds one u, the product adds one: 3.5 u of
// the result. Squares of f16 values stay below 2^33 (those of bf16 values do not); squares
// below 2^-31 vanish beside eps, hence eps >= 2^-24.
static bool matchRmsNorm(F32Region &region, Operation *op) {
  constexpr double kSmallestEpsilon = 1.0 / (1 << 24);
  if (region.getHalfType(op).isBF16())
    return false;
  if (auto composite = dyn_cast<RmsNormOp>(op))
    return composite.getEpsilon().convertToDouble() >= kSmallestEpsilon &&
           region.hasExactOperands(op) && region.markClosed({op}, "rms-norm");
  if (!isa<RsqrtOp>(op) || !isF32(op->getOperand(0)))
    return false;
  std::optional<InverseNorm> norm = matchInverseNorm(op);
  if (!norm || !norm->shifted || norm->scaled || norm->epsilon < kSmallestEpsilon ||
      !region.isExact(skipViews(norm->square->getOperand(0))))
    return false;
  // The sum of one element is its mean; an exporter's division by 1 has gone.
  DeviceOpInterface squareOp = norm->square, meanOp = norm->reduction;
  bool isMean = isa<MeanOp>(meanOp) || getTensorType(meanOp->getOperand(0)).getNumElements() ==
                                           getTensorType(meanOp->getResult(0)).getNumElements();
  if (!isMean)
    return false;
  SmallVector<Operation *> set{squareOp, meanOp, norm->shifted, op};
  for (Operation *user : getUsersThroughViews(op->getResult(0))) {
    auto product = dyn_cast<DeviceOpInterface>(user);
    if (!product || !isa<MulOp>(user))
      continue;
    unsigned scale = skipViews(user->getOperand(0)) == op->getResult(0) ? 0 : 1;
    if (readsSame(product, 1 - scale, squareOp, 0) &&
        readsReduction(product, scale, op->getResult(0), meanOp))
      set.push_back(user);
  }
  return region.markClosed(set, "rms-norm");
}

// Rule "single-operation": all operands are 16-bit values and the result is narrowed.
// f32 computes exactly enough that narrowing rounds once; DL16 rounds once.
// A factor or divisor may be a constant that DL16 rounds: a relative error of u, in range.
static bool matchSingleOperation(F32Region &region, Operation *op) {
  if (!isa<DeviceOpInterface>(op))
    return false;
  bool scales = isa<MulOp, RealdivOp>(op);
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) {
                        std::optional<double> number = getScalarConstant(skipViews(operand));
                        return region.isExact(operand) ||
                               (scales && number && ::spyre::isInDL16Range(*number));
                      }) &&
         region.markClosed({op}, "single-operation");
}

// Rule "one-operand-chain": one-operand operations one after another, from a 16-bit
// value to a narrowing. Each one rounds once, u, and passes on the error of its operand
// with the factor |x f'(x) / f(x)| (errorFactor in the OpFunc table): 1 for neg, abs, relu (which
// round nothing themselves), 1/2 for sqrt and rsqrt, 1 for reciprocal, at most 1 for tanh. That
// factor has no bound for exp, log and sigmoid (of a negative x: its relative error grows with
// |x|), so they come first, or after operations that are exact. A chain ends where its error would
// exceed 4 u: 5 u is what a result rounded to 16 bits may be off by.
static bool matchChain(F32Region &region, Operation *op) {
  constexpr double kLargestError = 4; // in u
  struct Step {
    double factor;   ///< of the operand's error
    double rounding; ///< of its own
  };
  auto findStep = [&](Operation *candidate) -> std::optional<Step> {
    auto device = dyn_cast<DeviceOpInterface>(candidate);
    if (!device || candidate->getNumOperands() != 1 || !isF32(candidate->getOperand(0)) ||
        !device.getInfo().errorFactor)
      return std::nullopt;
    return Step{*device.getInfo().errorFactor, device.getInfo().keepsNumbers ? 0.0 : 1.0};
  };
  std::optional<Step> first = findStep(op);
  if (!first || !region.hasExactOperands(op))
    return false;
  double error = first->rounding;
  SmallVector<Operation *> set{op};
  for (Operation *last = op;;) {
    SmallVector<Operation *> users = getUsersThroughViews(last->getResult(0));
    std::optional<Step> next = users.size() == 1 ? findStep(users[0]) : std::nullopt;
    if (!next || (std::isinf(next->factor) && error > 0))
      break;
    error = (error > 0 ? error * next->factor : 0) + next->rounding;
    if (error > kLargestError)
      break;
    last = users[0];
    set.push_back(last);
  }
  return region.markClosed(set, "one-operand-chain");
}

// Rule "movement": 16-bit values joined to one tensor. Nothing is computed; readers that
// want f32 widen the tensor instead of its parts.
static bool matchMovement(F32Region &region, Operation *op) {
  if (!isa<ConcatOp>(op) || !region.hasExactOperands(op))
    return false;
  region.setHalf(op, "movement");
  return true;
}

void mlir::spyre::applyPrecisionRules(F32Region &region, bool fastProducts) {
  constexpr bool (*rules[])(F32Region &, Operation *) = {matchMovement, matchWidenedMatmul,
                                                         matchSoftmax,  matchRmsNorm,
                                                         matchChain,    matchSingleOperation};
  if (fastProducts)
    for (Operation *op : region.getOps())
      if (isMatrixProduct(op) && F32Region::hasHalfForm(op))
        region.setHalf(op, "fast");
  for (bool changed = true; changed;) {
    changed = false;
    for (auto rule : rules)
      for (Operation *op : region.getOps())
        if (!region.isHalf(op))
          changed |= rule(region, op);
    // The device's own products have 16-bit factors: operands are rounded once, sums accumulate
    // in f32. So they are where no f32 of the program's is touched. Their results are 16-bit
    // values for the rules.
    if (!changed)
      for (Operation *op : region.getOps())
        if (!region.isHalf(op) && !region.isVisible(op) && isMatrixProduct(op) &&
            F32Region::hasHalfForm(op)) {
          region.setHalf(op, "no-f32-form");
          changed = true;
          break;
        }
  }
}
