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

Value Arithmetic::select(Value condition, Term x, Term y) const {
  return build("where3", {condition, x, y}, element, {});
}

Value Arithmetic::clip(Value x, double low, double high) const {
  if (!isHalf(element)) // no f32 form
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
