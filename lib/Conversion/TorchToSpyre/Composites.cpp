//===- Composites.cpp - Several device operations an element -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Activations, powers, roundings and the like: what the device has no single
// operation for. Source of the meanings: PyTorch's documentation of each operation.
//
// 16-bit results are to be right within a few u = 2^-10, the rounding of DL16. Each
// operation at DL16 adds one u; where a sum cancels, or a factor amplifies, the
// expression is computed in f32 and narrowed once ("in f32" below).
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

static Value buildSigmoid(const Arithmetic &m, Value x) { return m.unary("sigmoid", x); }

/// x * sigmoid(x). The device's own operation has no f32 form.
static Value buildSilu(Lowering &, const Arithmetic &m, Value x) {
  return isHalf(m.element) ? m.unary("silu", x) : m.mul(x, buildSigmoid(m, x));
}

// gelu's tanh approximation is x/2 (1 + tanh z), z = sqrt(2/pi) (x + 0.044715 x^3). Since
// (1 + tanh z)/2 = sigmoid(2 z) it is x * sigmoid(x (a + b x^2)), which neither cancels for
// negative x nor saturates early: an argument t with a relative error of 3 u moves the
// result by |x| |t| sigmoid'(t) 3 u < u. x^2 may overflow: the sigmoid is 0 or 1 then.
static Value buildGeluTanh(const Arithmetic &m, Value x) {
  const double a = 2 * std::sqrt(2 / std::numbers::pi), b = a * 0.044715;
  Value argument = m.mul(x, m.add(m.mul(m.mul(x, x), b), a));
  return m.mul(x, buildSigmoid(m, argument));
}

static Value buildGelu(Lowering &l, const Arithmetic &m, Value x) {
  StringRef form = l.isGiven(1) ? l.getString(1) : "none";
  if (form == "none")
    return m.unary("gelufwd", x);
  if (form == "tanh")
    return buildGeluTanh(m, x);
  (void)l.refuse("'" + form + "' is no form of gelu");
  return {};
}

// exp(x) - 1 = tanh(x/2) (exp(x) + 1): no cancellation near 0, -1 for -inf.
// f32 has no tanh; there the difference is exact to 2^-24, and below 1/4 the series up to
// x^6 is taken, within 1e-7 of it.
static Value buildExpm1(Lowering &, const Arithmetic &m, Value x) {
  Value exponential = m.unary("exp", x);
  if (!isHalf(m.element)) {
    Value series = m.add(m.mul(x, 1.0 / 6), 1.0);
    for (double divisor : {5.0, 4.0, 3.0, 2.0})
      series = m.add(m.mul(m.mul(x, series), 1.0 / divisor), 1.0);
    return m.select(buildExcess(m, x, 0.25), m.sub(exponential, 1.0), m.mul(x, series));
  }
  return m.mul(m.unary("tanh", m.mul(x, 0.5)), m.add(exponential, 1.0));
}

/// scale * (x where x > 0, else alpha * (exp(inputScale * x) - 1)).
static Value buildElu(Lowering &l, const Arithmetic &m, Value x, double alpha, double scale,
                      double inputScale) {
  Value low = m.minimum(x, 0.0);
  if (inputScale != 1.0)
    low = m.mul(low, inputScale);
  Value negative = buildExpm1(l, m, low);
  if (alpha * scale != 1.0)
    negative = m.mul(negative, alpha * scale);
  Value positive = m.unary("relufwd", x);
  if (scale != 1.0)
    positive = m.mul(positive, scale);
  return m.add(positive, negative);
}

static Value buildElu(Lowering &l, const Arithmetic &m, Value x) {
  std::optional<double> alpha = l.getNumberOr(1, 1.0), scale = l.getNumberOr(2, 1.0),
                        inputScale = l.getNumberOr(3, 1.0);
  if (!alpha || !scale || !inputScale)
    return {};
  return buildElu(l, m, x, *alpha, *scale, *inputScale);
}

static Value buildCelu(Lowering &l, const Arithmetic &m, Value x) {
  std::optional<double> alpha = l.getNumberOr(1, 1.0);
  if (alpha && *alpha == 0.0)
    (void)l.refuse("celu divides by its alpha, which is 0");
  return alpha && *alpha != 0.0 ? buildElu(l, m, x, *alpha, 1.0, 1.0 / *alpha) : Value();
}

static Value buildSelu(Lowering &l, const Arithmetic &m, Value x) {
  return buildElu(l, m, x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946,
                  1.0);
}

/// x where x > 0, else slope * x.
static Value buildLeakyRelu(Lowering &l, const Arithmetic &m, Value x) {
  std::optional<double> slope = l.getNumberOr(1, 0.01);
  if (!slope)
    return {};
  if (*slope >= 0.0) // slope * x lies on the other side of x beyond 0
    return m.apply(*slope <= 1.0 ? "maximum" : "minimum", {x, m.mul(x, *slope)});
  return m.add(m.unary("relufwd", x), m.mul(m.minimum(x, 0.0), *slope));
}

/// As leaky relu with a slope for all or for each channel (dim 1).
static Value buildPrelu(Lowering &l, const Arithmetic &m, Value x) {
  Value weight = l.isTensor(1) ? l.getAs(1, m.element) : Value();
  if (!weight) {
    (void)l.refuse("the weight must be a tensor");
    return {};
  }
  RankedTensorType type = getTensorType(x), weightType = getTensorType(weight);
  if (weightType.getNumElements() == 1) {
    weight = buildReshape(l.b, l.loc, weight, {});
  } else if (weightType.getRank() == 1 && type.getRank() > 1 &&
             weightType.getDimSize(0) == type.getDimSize(1)) {
    SmallVector<int64_t> shape(type.getRank() - 1, 1);
    shape[0] = type.getDimSize(1);
    weight = buildReshape(l.b, l.loc, weight, shape);
  } else if (weightType.getShape() != type.getShape()) { // already broadcast
    (void)l.refuse("the weight must have one element, or one for each channel");
    return {};
  }
  return m.add(m.unary("relufwd", x), m.mul(m.minimum(x, 0.0), weight));
}

static Value buildHardtanh(Lowering &l, const Arithmetic &m, Value x) {
  std::optional<double> low = l.getNumberOr(1, -1.0), high = l.getNumberOr(2, 1.0);
  return low && high ? m.clip(x, *low, *high) : Value();
}
static Value buildRelu6(Lowering &, const Arithmetic &m, Value x) { return m.clip(x, 0.0, 6.0); }

/// clip(x + 3, 0, 6) / 6.
static Value buildHardsigmoid(Lowering &, const Arithmetic &m, Value x) {
  return m.div(m.clip(m.add(x, 3.0), 0.0, 6.0), 6.0);
}
static Value buildHardswish(Lowering &l, const Arithmetic &m, Value x) {
  return m.mul(x, buildHardsigmoid(l, m, x));
}

static Value buildScaledSoftplus(Lowering &l, const Arithmetic &m, Value x) {
  std::optional<double> beta = l.getNumberOr(1, 1.0), threshold = l.getNumberOr(2, 20.0);
  if (beta && *beta == 0.0)
    (void)l.refuse("softplus divides by its beta, which is 0");
  return beta && threshold && *beta != 0.0 ? buildSoftplus(l, m, x, *beta, *threshold) : Value();
}

/// log(sigmoid(x)) = -softplus(-x). Nothing is gained by a threshold.
static Value buildLogSigmoid(Lowering &l, const Arithmetic &m, Value x) {
  return m.unary("neg", buildSoftplus(l, m, m.unary("neg", x), 1.0, 1e4));
}

static Value buildMish(Lowering &l, const Arithmetic &m, Value x) {
  return m.mul(x, m.unary("tanh", buildSoftplus(l, m, x, 1.0, 1e4)));
}

/// x <= bound.
static Value buildAtMost(Lowering &l, const Arithmetic &m, Value x, double bound) {
  return m.compare("lesserequal", x, buildBound(l, bound, roundDown(bound, m.element), m.element));
}

/// x where x > threshold, else value.
static Value buildThreshold(Lowering &l, const Arithmetic &m, Value x) {
  std::optional<double> threshold = l.getNumber(1),
                        value = threshold ? l.getNumber(2) : std::nullopt;
  if (!value)
    return {};
  return m.select(buildAtMost(l, m, x, *threshold), *value, x);
}

static Value buildSoftsign(Lowering &, const Arithmetic &m, Value x) {
  return m.div(x, m.add(m.unary("abs", x), 1.0));
}

/// x less what is clipped off.
static Value buildSoftshrink(Lowering &l, const Arithmetic &m, Value x) {
  std::optional<double> lambda = l.getNumberOr(1, 0.5);
  return lambda ? m.sub(x, m.clip(x, -*lambda, *lambda)) : Value();
}

static Value buildHardshrink(Lowering &l, const Arithmetic &m, Value x) {
  std::optional<double> lambda = l.getNumberOr(1, 0.5);
  if (!lambda)
    return {};
  return m.select(buildAtMost(l, m, m.unary("abs", x), *lambda), 0.0, x);
}

/// The first half along a dim times the sigmoid of the second.
static LogicalResult lowerGlu(Lowering &l) {
  Type type = l.getDeviceType();
  Value x = type ? l.getAs(0, type) : Value();
  std::optional<int64_t> dim = -1;
  if (x && l.isGiven(1))
    dim = l.getInt(1);
  if (!x || !dim)
    return failure();
  RankedTensorType xType = getTensorType(x);
  dim = l.normalizeDim(*dim, xType.getRank());
  if (!dim)
    return failure();
  if (xType.getDimSize(*dim) % 2)
    return l.refuse("halves a dim of " + Twine(xType.getDimSize(*dim)) + " elements");
  int64_t half = xType.getDimSize(*dim) / 2;
  SmallVector<int64_t> shape(xType.getShape());
  shape[*dim] = half;
  auto getHalf = [&](int64_t start) {
    SmallVector<AffineExpr> results;
    for (int64_t d = 0; d < xType.getRank(); ++d)
      results.push_back(l.b.getAffineDimExpr(d) + (d == *dim ? start : 0));
    return buildView(l.b, l.loc, x, AffineMap::get(xType.getRank(), 0, results, l.b.getContext()),
                     shape);
  };
  Arithmetic m(l, type);
  return l.replaceWith(m.mul(getHalf(0), buildSigmoid(m, getHalf(half))));
}

//===----------------------------------------------------------------------===//
// Powers, exponentials, logarithms
//===----------------------------------------------------------------------===//

/// Multiples of one half up to 16. Up to three factors cost at most 2 u at DL16; more
/// are multiplied in f32.
static LogicalResult lowerPow(Lowering &l) {
  constexpr double kLargest = 16.0;
  Type type = l.getComputeType();
  std::optional<double> exponent = type ? l.getNumber(1) : std::nullopt;
  Value x = exponent ? l.getAs(0, type) : Value();
  if (!x)
    return failure();
  Arithmetic here(l, type);
  if (*exponent == 0.0) {
    AffineMap none = AffineMap::get(l.getResultType().getRank(), 0, {}, l.b.getContext());
    return l.replaceWith(
        buildView(l.b, l.loc, here.constant(1.0), none, l.getResultType().getShape()));
  }
  if (*exponent == 1.0)
    return l.replaceWith(x);
  double size = std::abs(*exponent), whole = std::floor(size);
  if (!std::isfinite(size) || size > kLargest || (size != whole && size - whole != 0.5))
    return l.refuse(llvm::formatv("the device has no power of {0}", *exponent).str());
  bool isWide = size > 3.0 || (whole > 0 && size != whole) || *exponent < -1.0;
  Arithmetic m(l, isHalf(type) && isWide ? l.b.getF32Type() : type);
  x = m.widen(x);
  Value result;
  if (size == 0.5)
    result = m.unary(*exponent > 0 ? "sqrt" : "rsqrt", x);
  else {
    result = buildPower(m, x, static_cast<unsigned>(whole));
    if (size != whole)
      result = m.mul(result, m.unary("sqrt", x));
    if (*exponent < 0)
      result = m.unary("reciprocal", result);
  }
  return l.replaceWith(m.convert(result, type));
}

/// base^x = exp(x log base), the product in f32: its error is one of the result.
static LogicalResult lowerScalarPow(Lowering &l) {
  Type type = l.getDeviceType();
  std::optional<double> base = type ? l.getNumber(0) : std::nullopt;
  if (!base)
    return failure();
  if (!(*base > 0.0) || std::isinf(*base))
    return l.refuse(llvm::formatv("the device has no power of base {0}", *base).str());
  Value x = l.isTensor(1) ? l.getAs(1, type) : Value();
  if (!x)
    return l.refuse("the exponent must be a float tensor");
  Arithmetic m(l, l.b.getF32Type());
  return l.replaceWith(m.convert(m.unary("exp", m.mul(m.widen(x), std::log(*base))), type));
}

static Value buildExp2(Lowering &, const Arithmetic &m, Value x) {
  return m.unary("exp", m.mul(x, std::numbers::ln2));
}
static Value buildLog2(Lowering &, const Arithmetic &m, Value x) {
  return m.mul(m.unary("log", x), std::numbers::log2e);
}
static Value buildLog10(Lowering &, const Arithmetic &m, Value x) {
  return m.mul(m.unary("log", x), std::numbers::log10e);
}

static Value buildLogOfSum(Lowering &, const Arithmetic &m, Value x) { return buildLog1p(m, x); }

//===----------------------------------------------------------------------===//
// Sign, roundings
//===----------------------------------------------------------------------===//

/// 1 where x > 0 less 1 where x < 0; in f32, which has no comparisons, x pushed out of
/// the smallest normal numbers and clipped.
static Value buildSign(Lowering &, const Arithmetic &m, Value x) {
  if (isHalf(m.element))
    return m.sub(m.compare("greaterthan", x, 0.0), m.compare("lesserthan", x, 0.0));
  const double large = std::ldexp(1.0, 126);
  return m.clip(m.mul(m.mul(x, large), large), -1.0, 1.0);
}

static Value buildCeil(Lowering &, const Arithmetic &m, Value x) {
  return m.unary("neg", m.unary("floor", m.unary("neg", x)));
}
Value torch_lowering::buildTrunc(const Arithmetic &m, Value x) {
  return m.sub(m.unary("floor", m.unary("relufwd", x)),
               m.unary("floor", m.unary("relufwd", m.unary("neg", x))));
}
static Value buildTruncated(Lowering &, const Arithmetic &m, Value x) { return buildTrunc(m, x); }
static Value buildFrac(Lowering &, const Arithmetic &m, Value x) {
  return m.sub(x, buildTrunc(m, x));
}

// To the nearest integer, ties to even, by f32's own rounding: beside 3 2^22 the numbers
// are one apart. Larger 16-bit numbers are integers, and their sums with it exact.
static LogicalResult lowerRound(Lowering &l) {
  Type type = l.getDeviceType();
  Value x = type ? l.getAs(0, type) : Value();
  if (!x)
    return failure();
  if (!isHalf(type))
    return l.refuse("the device rounds 16-bit floats only");
  Arithmetic m(l, l.b.getF32Type());
  const double large = 3 * std::ldexp(1.0, 22);
  return l.replaceWith(m.convertInteger(m.sub(m.add(m.widen(x), large), large), type));
}

//===----------------------------------------------------------------------===//
// Several operands, in f32
//===----------------------------------------------------------------------===//

/// Operands \p i as f32 for a 16-bit or f32 result; null after refusing.
static SmallVector<Value> getWide(Lowering &l, Type type, ArrayRef<unsigned> operands) {
  SmallVector<Value> values;
  for (unsigned i : operands) {
    Value value = i < l.getNumOperands() ? l.getAs(i, type) : Value();
    if (!value) {
      (void)l.refuse("operand #" + Twine(i) + " is missing");
      return {};
    }
    values.push_back(buildConvert(l.b, l.loc, value, l.b.getF32Type()));
  }
  return values;
}

/// x + value * a * b, x + value * a / b.
template <bool divides> static LogicalResult lowerAddcmul(Lowering &l) {
  Type type = l.getDeviceType();
  std::optional<double> value = type ? l.getNumberOr(3, 1.0) : std::nullopt;
  SmallVector<Value> x = value ? getWide(l, type, {0, 1, 2}) : SmallVector<Value>();
  if (x.empty())
    return failure();
  Arithmetic m(l, l.b.getF32Type());
  Value product = divides ? m.div(x[1], x[2]) : m.mul(x[1], x[2]);
  if (*value != 1.0)
    product = m.mul(product, *value);
  return l.replaceWith(m.convert(m.add(x[0], product), type));
}

/// x + weight * (y - x).
static LogicalResult lowerLerp(Lowering &l) {
  Type type = l.getDeviceType();
  SmallVector<Value> x = type ? getWide(l, type, {0, 1}) : SmallVector<Value>();
  if (x.empty())
    return failure();
  Arithmetic m(l, l.b.getF32Type());
  Value difference = m.sub(x[1], x[0]);
  if (l.isTensor(2)) {
    SmallVector<Value> weight = getWide(l, type, {2});
    if (weight.empty())
      return failure();
    difference = m.mul(difference, weight[0]);
  } else {
    std::optional<double> weight = l.getNumber(2);
    if (!weight)
      return failure();
    difference = m.mul(difference, *weight);
  }
  return l.replaceWith(m.convert(m.add(x[0], difference), type));
}

namespace {
enum class Quotient { Floor, Trunc, Remainder, Fmod };
} // namespace

// Rounded quotients and what they leave. A quotient of 16-bit numbers that is no integer
// is further from one than f32 rounds, as long as it stays below 2^13.
template <Quotient kind> static LogicalResult lowerQuotient(Lowering &l) {
  Type type = l.getDeviceType();
  if (type && !isHalf(type))
    return l.refuse("a rounded quotient of f32 numbers is not exact on the device");
  SmallVector<Value> x = type ? getWide(l, type, {0, 1}) : SmallVector<Value>();
  if (x.empty())
    return failure();
  Arithmetic m(l, l.b.getF32Type());
  Value quotient = m.div(x[0], x[1]);
  bool floors = kind == Quotient::Floor || kind == Quotient::Remainder;
  quotient = floors ? m.unary("floor", quotient) : buildTrunc(m, quotient);
  if (kind == Quotient::Remainder || kind == Quotient::Fmod)
    return l.replaceWith(m.convert(m.sub(x[0], m.mul(quotient, x[1])), type));
  return l.replaceWith(m.convertInteger(quotient, type));
}

static LogicalResult lowerDivMode(Lowering &l) {
  if (!l.isGiven(2)) {
    Type type = l.getDeviceType();
    Value x = type ? l.getAs(0, type) : Value(), y = x ? l.getAs(1, type) : Value();
    return y ? l.replaceWith(Arithmetic(l, type).div(x, y)) : failure();
  }
  StringRef mode = l.getString(2);
  if (mode == "floor")
    return lowerQuotient<Quotient::Floor>(l);
  if (mode == "trunc")
    return lowerQuotient<Quotient::Trunc>(l);
  return l.refuse("'" + mode + "' is no rounding mode");
}

void torch_lowering::addComposites(HandlerTable &table) {
  struct Entry {
    const char *torch;
    Formula formula;
    bool isWide = false; ///< in f32
  };
  constexpr Entry kEntries[] = {
      {"torch.aten.silu", buildSilu},
      {"torch.aten.gelu", buildGelu},
      {"torch.aten.elu", buildElu},
      {"torch.aten.celu", buildCelu},
      {"torch.aten.selu", buildSelu},
      {"torch.aten.leaky_relu", buildLeakyRelu},
      {"torch.aten.prelu", buildPrelu},
      {"torch.aten._prelu_kernel", buildPrelu},
      {"torch.aten.hardtanh", buildHardtanh},
      {"torch.aten.relu6", buildRelu6},
      {"torch.aten.hardsigmoid", buildHardsigmoid},
      {"torch.aten.hardswish", buildHardswish},
      {"torch.aten.softplus", buildScaledSoftplus},
      {"torch.aten.log_sigmoid", buildLogSigmoid},
      {"torch.aten.log_sigmoid_forward", buildLogSigmoid},
      {"torch.aten.mish", buildMish},
      {"torch.aten.threshold", buildThreshold},
      {"torch.aten.softshrink", buildSoftshrink},
      {"torch.aten.hardshrink", buildHardshrink},
      {"torch.aten.expm1", buildExpm1},
      {"torch.aten.exp2", buildExp2, true},
      {"torch.aten.log2", buildLog2},
      {"torch.aten.log10", buildLog10},
      {"torch.aten.log1p", buildLogOfSum},
      {"torch.aten.sign", buildSign},
      {"torch.aten.sgn", buildSign},
      {"torch.aten.ceil", buildCeil},
      {"torch.aten.trunc", buildTruncated},
      {"torch.aten.fix", buildTruncated},
      {"torch.aten.frac", buildFrac},
      {"torch.aten.softsign", buildSoftsign},
  };
  for (const Entry &entry : kEntries)
    table[entry.torch] =
        onTensor(entry.isWide ? inF32(entry.formula) : atResultType(entry.formula));
  table["torch.aten.glu"] = onTensor(lowerGlu);
  table["torch.aten.round"] = onTensor(lowerRound);
  table["torch.aten.pow.Tensor_Scalar"] = onTensor(lowerPow);
  table["torch.aten.pow.Scalar"] = lowerScalarPow;
  table["torch.aten.addcmul"] = onTensor(lowerAddcmul<false>);
  table["torch.aten.addcdiv"] = onTensor(lowerAddcmul<true>);
  for (const char *name : {"torch.aten.lerp.Scalar", "torch.aten.lerp.Tensor"})
    table[name] = onTensor(lowerLerp);
  for (const char *name : {"torch.aten.div.Tensor_mode", "torch.aten.div.Scalar_mode"})
    table[name] = onTensor(lowerDivMode);
  for (const char *name : {"torch.aten.floor_divide", "torch.aten.floor_divide.Scalar"})
    table[name] = onTensor(lowerQuotient<Quotient::Floor>);
  for (const char *name : {"torch.aten.remainder.Tensor", "torch.aten.remainder.Scalar"})
    table[name] = onTensor(lowerQuotient<Quotient::Remainder>);
  for (const char *name : {"torch.aten.fmod.Tensor", "torch.aten.fmod.Scalar"})
    table[name] = onTensor(lowerQuotient<Quotient::Fmod>);
}
