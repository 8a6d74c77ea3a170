//===- Functions.cpp - Trigonometric, hyperbolic and error functions ------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that the device has no operation for, in f32 by series and polynomials of
// Abramowitz and Stegun's handbook (the numbers in the comments), narrowed once.
// 16-bit results are right within a u or two, f32 results within a few units of theirs.
//
// An f16 number that the device computes or passes on has one bit of fraction less than
// PyTorch's. Where a function magnifies that without a bound (beside a pole or a branch point,
// or as angles do) it is refused for f16, so that the host computes it, but for arguments, which
// arrive whole where f32 is computed of them; bf16 numbers always do.
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Numbers.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

/// x (1 + c1 x^2 (1 + c2 x^2 (1 + ...))), a series in nested form.
static Value buildOddSeries(const Arithmetic &m, Value x, ArrayRef<double> factors) {
  Value square = m.mul(x, x), sum;
  for (double factor : llvm::reverse(factors))
    sum = m.add(m.mul(sum ? m.mul(square, sum) : square, factor), 1.0);
  return m.mul(x, sum);
}

/// \p x is of f16, or was before conversions and views, and is not as the host has passed it.
static bool wasF16(Value x) {
  bool isF16 = false;
  while (true) {
    isF16 |= getTensorType(x).getElementType().isF16();
    Operation *op = x.getDefiningOp();
    if (!isa_and_nonnull<ConvertOp, ViewOp>(op))
      break;
    x = op->getOperand(0);
  }
  return isF16 && !isPassedByHost(x);
}

/// \p formula, unless operand 0 was of f16 and lost its last bit.
static Handler unlessF16(Formula formula) {
  return [formula](Lowering &l) {
    if (wasF16(l.getTensor(0)))
      return l.refuse("it magnifies the last bit of f16, which the device's format does not have");
    return inF32(formula)(l);
  };
}

/// A condition for select: x < 0.
static Value buildIsNegative(const Arithmetic &m, Value x) {
  return m.maximum(m.unary("neg", x), 0.0);
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

/// exp(x) / 2, which overflows later than exp(x).
static Value buildHalfExp(const Arithmetic &m, Value x) {
  Value root = m.unary("exp", m.mul(x, 0.5));
  return m.mul(m.mul(root, 0.5), root);
}

/// (exp(x) + exp(-x)) / 2.
static Value buildCosh(Lowering &, const Arithmetic &m, Value x) {
  return m.add(buildHalfExp(m, x), buildHalfExp(m, m.unary("neg", x)));
}

// (exp(x) - exp(-x)) / 2, and the series up to x^7 below 1/2, where that cancels: within
// 1e-8 of it.
static Value buildSinh(Lowering &, const Arithmetic &m, Value x) {
  Value difference = m.sub(buildHalfExp(m, x), buildHalfExp(m, m.unary("neg", x)));
  Value series = buildOddSeries(m, x, {1.0 / 6, 1.0 / 20, 1.0 / 42});
  return m.select(buildExcess(m, x, 0.5), difference, series);
}

// log(exp(x) + exp(y)) = max(x, y) + log(1 + exp(-|x - y|)), a softplus. Equal infinities are
// no distance apart.
static LogicalResult lowerLogaddexp(Lowering &l) {
  Type type = l.getDeviceType();
  Value x = type ? l.getAs(0, type) : Value(), y = x ? l.getAs(1, type) : Value();
  if (!y)
    return failure();
  Arithmetic m(l, type);
  Value distance = m.select(m.compare("equal", x, y), 0.0, m.unary("abs", m.sub(x, y)));
  Value more = buildSoftplus(l, m, m.unary("neg", distance), 1.0, 1e4);
  return l.replaceWith(m.add(m.maximum(x, y), more));
}

// log(a + sqrt(a^2 + 1)) of a = |x| as a log1p, whose argument does not cancel.
static Value buildAsinh(Lowering &, const Arithmetic &m, Value x) {
  Value size = m.unary("abs", x), finite = m.minimum(size, 0x1p40);
  Value square = m.mul(finite, finite);
  Value root = m.add(m.unary("sqrt", m.add(square, 1.0)), 1.0);
  return m.mul(buildSignOf(m, x), buildLog1p(m, m.add(size, m.div(square, root))));
}

/// log(1 + t + sqrt(t) sqrt(t + 2)), t = x - 1: no number below 1.
static Value buildAcosh(Lowering &, const Arithmetic &m, Value x) {
  Value t = m.sub(x, 1.0);
  Value product = m.mul(m.unary("sqrt", t), m.unary("sqrt", m.add(t, 2.0)));
  return buildLog1p(m, m.add(t, product));
}

/// log((1 + a) / (1 - a)) / 2 of a = |x|.
static Value buildAtanh(Lowering &, const Arithmetic &m, Value x) {
  Value size = m.unary("abs", x);
  Value ratio = m.div(m.mul(size, 2.0), m.sub(1.0, size));
  return m.mul(m.mul(buildSignOf(m, x), buildLog1p(m, ratio)), 0.5);
}

// log(x / (1 - x)): of the distance from 1/2, beside the nearer end.
static Value buildLogit(Lowering &l, const Arithmetic &m, Value x) {
  if (l.isGiven(1)) {
    std::optional<double> epsilon = l.getNumber(1);
    if (!epsilon)
      return {};
    if (*epsilon >= 0.0)
      x = m.clip(x, *epsilon, 1.0 - *epsilon);
  }
  Value other = m.sub(1.0, x), difference = m.sub(x, other);
  Value nearest = m.add(m.minimum(x, other), 0.0); // -0 becomes 0, whose quotient is positive
  Value ratio = m.div(m.unary("abs", difference), nearest);
  return m.mul(buildSignOf(m, difference), buildLog1p(m, ratio));
}

//===----------------------------------------------------------------------===//
// The error function
//===----------------------------------------------------------------------===//

/// 1 - erf(|x|), within 2^-22 of it: as far as f32 goes, and the exponent's rounding where it
/// is small.
static Value buildErfTail(const Arithmetic &m, Value x) {
  Value size = m.unary("abs", x);
  Value t = m.unary("reciprocal", m.add(m.mul(size, 0.5), 1.0));
  Value sum = m.mul(t, std::rbegin(kScaledErfc)[0]);
  for (double factor : llvm::reverse(ArrayRef(kScaledErfc).drop_back()))
    sum = m.mul(m.add(sum, factor), t);
  return m.mul(sum, m.unary("exp", m.unary("neg", m.mul(x, x))));
}

/// x carries its sign along; below 1/2, where the difference cancels, the series up to x^13.
static Value buildErf(Lowering &, const Arithmetic &m, Value x) {
  Value difference = m.mul(buildSignOf(m, x), m.sub(1.0, buildErfTail(m, x)));
  Value series =
      buildOddSeries(m, x, {-1.0 / 3, -3.0 / 10, -5.0 / 21, -7.0 / 36, -9.0 / 55, -11.0 / 78});
  series = m.mul(series, 2.0 * std::numbers::inv_sqrtpi);
  return m.select(buildExcess(m, x, 0.5), difference, series);
}

static Value buildErfc(Lowering &, const Arithmetic &m, Value x) {
  Value tail = buildErfTail(m, x);
  return m.select(buildIsNegative(m, x), m.sub(2.0, tail), tail);
}

//===----------------------------------------------------------------------===//
// Arcs
//===----------------------------------------------------------------------===//

/// atan of -1 to 1, 4.4.49: within 2e-8.
static Value buildSmallAtan(const Arithmetic &m, Value x) {
  Value square = m.mul(x, x), sum = m.mul(square, 0.0028662257);
  for (double a : {-0.0161657367, 0.0429096138, -0.0752896400, 0.1065626393, -0.1420889944,
                   0.1999355085, -0.3333314528})
    sum = m.mul(m.add(sum, a), square);
  return m.mul(x, m.add(sum, 1.0));
}

/// Beyond 1 it is pi/2 less the atan of the reciprocal; infinities have 0.
static Value buildAtan(const Arithmetic &m, Value x) {
  Value size = m.unary("abs", x);
  Value arc = buildSmallAtan(m, m.minimum(size, m.unary("reciprocal", size)));
  arc = m.select(buildExcess(m, x, 1.0), m.sub(std::numbers::pi / 2, arc), arc);
  return m.mul(buildSignOf(m, x), arc);
}
static Value buildAtan(Lowering &, const Arithmetic &m, Value x) { return buildAtan(m, x); }

/// 2 atan(x / (1 + sqrt(1 - x^2))).
static Value buildAsin(Lowering &, const Arithmetic &m, Value x) {
  Value root = m.unary("sqrt", m.mul(m.sub(1.0, x), m.add(x, 1.0)));
  return m.mul(buildSmallAtan(m, m.div(x, m.add(root, 1.0))), 2.0);
}

/// 2 atan(sqrt((1 - x) / (1 + x))); pi for -1, where that is no number.
static Value buildAcos(Lowering &, const Arithmetic &m, Value x) {
  Value sum = m.add(x, 1.0);
  Value arc = m.mul(buildAtan(m, m.unary("sqrt", m.div(m.sub(1.0, x), sum))), 2.0);
  return m.select(sum, arc, std::numbers::pi);
}

//===----------------------------------------------------------------------===//
// Sines
//===----------------------------------------------------------------------===//

/// \p x less the nearest multiple of pi/2, and which of the four quarters of a turn that is.
struct Angle {
  Value rest, quarter;
};
static constexpr double kMostQuarters = 0x1p16;
static Angle reduceAngle(const Arithmetic &m, Value x) {
  constexpr int kBits = 8, kParts = 6; // 16 bits of quarters times 8 bits: no part is rounded
  Value turns = m.unary("floor", m.add(m.mul(x, 2 / std::numbers::pi), 0.5));
  double left = std::numbers::pi / 2;
  for (int i = 0; i < kParts; ++i) {
    int exponent;
    std::frexp(left, &exponent);
    double part = std::ldexp(std::nearbyint(std::ldexp(left, kBits - exponent)), exponent - kBits);
    x = m.sub(x, m.mul(turns, part));
    left -= part;
  }
  Value whole = m.mul(m.unary("floor", m.mul(turns, 0.25)), 4.0);
  return {x, m.sub(turns, whole)};
}

/// The sine of \p x, or its cosine; of an angle that f32 has no digits of, NaN:
/// whoever runs the program notices.
static Value buildSine(const Arithmetic &m, Value x, bool isCosine) {
  Angle angle = reduceAngle(m, x);
  Value square = m.mul(angle.rest, angle.rest);
  // Up to pi/4 the series is within 2^-28 of the sine, and within 2^-33 of the cosine.
  Value sine = buildOddSeries(m, angle.rest, {-1.0 / 6, -1.0 / 20, -1.0 / 42, -1.0 / 72});
  Value cosine = m.mul(square, -1.0 / 90);
  for (double factor : {-1.0 / 56, -1.0 / 30, -1.0 / 12, -1.0 / 2})
    cosine = m.mul(m.mul(square, m.add(cosine, 1.0)), factor);
  cosine = m.add(cosine, 1.0);
  Value half = m.unary("floor", m.mul(angle.quarter, 0.5)); // 1 in the second half of the turn
  Value isOdd = m.sub(angle.quarter, m.mul(half, 2.0));
  Value even = isCosine ? cosine : sine, odd = isCosine ? m.unary("neg", sine) : cosine;
  Value value = m.select(isOdd, odd, even);
  value = m.select(half, m.unary("neg", value), value);
  Value excess = m.select(buildExcess(m, x, kMostQuarters), INFINITY, 0.0);
  return m.add(value, m.sub(excess, excess));
}
static Value buildSin(Lowering &, const Arithmetic &m, Value x) { return buildSine(m, x, false); }
static Value buildCos(Lowering &, const Arithmetic &m, Value x) { return buildSine(m, x, true); }

/// The quotient of both.
static Value buildTan(Lowering &, const Arithmetic &m, Value x) {
  return m.div(buildSine(m, x, false), buildSine(m, x, true));
}

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// sqrt(x^2 + y^2) of f16, whose squares f32 holds and whose results the device's format does.
static LogicalResult lowerHypot(Lowering &l) {
  Type type = l.getDeviceType();
  if (type && !type.isF16())
    return l.refuse("squares of large numbers overflow f32");
  Value x = type ? l.getAs(0, type) : Value(), y = x ? l.getAs(1, type) : Value();
  if (!y)
    return failure();
  Arithmetic m(l, l.b.getF32Type());
  x = m.widen(x);
  y = m.widen(y);
  return l.replaceWith(m.convert(m.unary("sqrt", m.add(m.mul(x, x), m.mul(y, y))), type));
}

void torch_lowering::addFunctions(HandlerTable &table) {
  struct Entry {
    const char *torch;
    Formula formula;
  };
  constexpr Entry kEntries[] = {
      {"torch.aten.cosh", buildCosh}, {"torch.aten.sinh", buildSinh},
      {"torch.aten.erf", buildErf},   {"torch.aten.asinh", buildAsinh},
      {"torch.aten.atan", buildAtan},
  };
  for (const Entry &entry : kEntries)
    table[entry.torch] = onTensor(inF32(entry.formula));
  constexpr Entry kSteep[] = {
      {"torch.aten.acosh", buildAcosh}, {"torch.aten.atanh", buildAtanh},
      {"torch.aten.logit", buildLogit}, {"torch.aten.erfc", buildErfc},
      {"torch.aten.asin", buildAsin},   {"torch.aten.acos", buildAcos},
      {"torch.aten.sin", buildSin},     {"torch.aten.cos", buildCos},
      {"torch.aten.tan", buildTan},
  };
  for (const Entry &entry : kSteep)
    table[entry.torch] = onTensor(unlessF16(entry.formula));
  table["torch.aten.hypot"] = onTensor(lowerHypot);
  table["torch.aten.logaddexp"] = onTensor(lowerLogaddexp);
}
