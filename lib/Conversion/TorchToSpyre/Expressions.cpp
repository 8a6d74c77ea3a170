//===- Expressions.cpp - Arithmetic on L1 values -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

#include "spyre/Numerics/DL16.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

Value Arithmetic::build(StringRef opFunc, ArrayRef<Term> terms, Type resultElement,
                        ArrayRef<NamedAttribute> constants) const {
  SmallVector<Value> inputs;
  SmallVector<int64_t> shape;
  for (const Term &term : terms) {
    Value value = term.value ? term.value : constant(term.number);
    inputs.push_back(value);
    ArrayRef<int64_t> own = getTensorType(value).getShape();
    if (own.size() > shape.size())
      shape.insert(shape.begin(), own.size() - shape.size(), 1);
    for (auto [i, extent] : llvm::enumerate(own)) {
      int64_t &mine = shape[shape.size() - own.size() + i];
      if (mine == 1) // what does not broadcast fails in the operation's verifier
        mine = extent;
    }
  }
  return buildPointwise(b, loc, opFunc, inputs, RankedTensorType::get(shape, resultElement),
                        constants);
}

Value Arithmetic::apply(StringRef opFunc, ArrayRef<Term> terms,
                        ArrayRef<NamedAttribute> constants) const {
  return build(opFunc, terms, element, constants);
}

Value Arithmetic::compare(StringRef opFunc, Term x, Term y) const {
  return build(opFunc, {x, y}, b.getI1Type(), {});
}

Value Arithmetic::convertInteger(Value value, Type type) const {
  Value narrow = convert(value, type);
  if (narrow != value)
    narrow.getDefiningOp()->setAttr(kLosslessAttr, b.getUnitAttr());
  return narrow;
}

Value Arithmetic::select(Value condition, Term x, Term y) const {
  return build("where3", {condition, x, y}, element, {});
}

Value Arithmetic::clip(Value x, double low, double high) const {
  // The device's clip has no f32 form, which a bound beyond DL16's range needs.
  bool isBeyond =
      element.isBF16() && !(::spyre::isInDL16Range(low) && ::spyre::isInDL16Range(high));
  if (!isHalf(element) || isBeyond)
    return minimum(maximum(x, low), high);
  return apply("clip", {x},
               {b.getNamedAttr("clipMin", b.getF64FloatAttr(low)),
                b.getNamedAttr("clipMax", b.getF64FloatAttr(high))});
}

Value torch_lowering::buildPower(const Arithmetic &m, Value x, unsigned exponent) {
  Value result;
  for (Value square = x;; square = m.mul(square, square)) {
    if (exponent & 1)
      result = result ? m.mul(result, square) : square;
    exponent >>= 1;
    if (!exponent)
      return result;
  }
}

Handler torch_lowering::atResultType(Formula formula) {
  return [formula](Lowering &l) {
    Type type = l.getDeviceType();
    Value x = type ? l.getAs(0, type) : Value();
    Value value = x ? formula(l, Arithmetic(l, type), x) : Value();
    return value ? l.replaceWith(value) : failure();
  };
}

Handler torch_lowering::inF32(Formula formula) {
  return [formula](Lowering &l) {
    Type type = l.getDeviceType(), f32 = l.b.getF32Type();
    Value x = type ? l.getAs(0, type) : Value();
    if (!x)
      return failure();
    Arithmetic m(l, f32);
    Value value = formula(l, m, m.widen(x));
    return value ? l.replaceWith(m.convert(value, type)) : failure();
  };
}

Value torch_lowering::buildExcess(const Arithmetic &m, Value x, double bound) {
  return m.maximum(m.sub(m.unary("abs", x), bound), 0.0);
}

Value torch_lowering::buildSignOf(const Arithmetic &m, Value x) {
  // Infinities have no quotient.
  Value clipped = m.clip(x, -8.0, 8.0);
  return m.select(x, m.div(clipped, m.unary("abs", clipped)), 0.0);
}

// log(1 + x) = x log(w) / (w - 1) for w = 1 + x as rounded (the quotient varies slowly, so
// the rounding of w does not matter), and x where w is 1. Where w is large it is x.
Value torch_lowering::buildLog1p(const Arithmetic &m, Value x) {
  Value w = m.add(x, 1.0);
  if (!isHalf(m.element))
    w = m.minimum(w, 0x1p100); // an infinity stays the factor's
  Value excess = m.sub(w, 1.0);
  Value result = m.mul(x, m.div(m.unary("log", w), excess));
  return m.select(excess, result, x);
}

// softplus(beta x) / beta: the device's own beta leaves out the division, and what it does
// above the threshold then is not public, so that it is left at 1. Beyond 20, log(1 + e^x)
// is x to more than f32's digits, and there is no need for e^x to be in anyone's range.
Value torch_lowering::buildSoftplus(Lowering &l, const Arithmetic &m, Value x, double beta,
                                    double threshold) {
  Value result =
      m.apply("softplus", {beta == 1.0 ? x : m.mul(x, beta)},
              {l.b.getNamedAttr("softplusBeta", l.b.getF64FloatAttr(1.0)),
               l.b.getNamedAttr("softplusThresh", l.b.getF64FloatAttr(std::min(threshold, 20.0)))});
  return beta == 1.0 ? result : m.div(result, beta);
}
