//===- Expressions.h - Arithmetic on L1 values -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowerings of several device operations read like the formula that they compute:
// operands broadcast as in PyTorch, numbers stand for 0-d constants.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_CONVERSION_TORCHTOSPYRE_EXPRESSIONS_H
#define SPYRE_LIB_CONVERSION_TORCHTOSPYRE_EXPRESSIONS_H

#include "Lowering.h"

namespace mlir::spyre::torch_lowering {

/// A value or a number.
class Term {
public:
  Term(Value value) : value(value) {}
  Term(double number) : number(number) {}
  Value value; ///< null: the number
  double number = 0;
};

/// Builds expressions in one element type.
class Arithmetic {
public:
  Arithmetic(Lowering &l, Type element) : element(element), b(l.b), loc(l.loc) {}

  const Type element;

  Value constant(double number) const { return buildScalar(b, loc, number, element); }
  /// \p value in the element type.
  Value widen(Value value) const { return buildConvert(b, loc, value, element); }
  Value convert(Value value, Type type) const { return buildConvert(b, loc, value, type); }
  /// Integers that were rounded from 16-bit numbers: \p type (16 bits) holds them.
  Value convertInteger(Value value, Type type) const;

  /// Device operation \p opFunc with the operands broadcast.
  Value apply(StringRef opFunc, ArrayRef<Term> terms,
              ArrayRef<NamedAttribute> constants = {}) const;
  Value add(Term x, Term y) const { return apply("add", {x, y}); }
  Value sub(Term x, Term y) const { return apply("sub", {x, y}); }
  Value mul(Term x, Term y) const { return apply("mul", {x, y}); }
  Value div(Term x, Term y) const { return apply("realdiv", {x, y}); }
  Value maximum(Term x, Term y) const { return apply("maximum", {x, y}); }
  Value minimum(Term x, Term y) const { return apply("minimum", {x, y}); }
  Value unary(StringRef opFunc, Value x) const { return apply(opFunc, {x}); }

  /// Bool results; 16-bit operands.
  Value compare(StringRef opFunc, Term x, Term y) const;
  /// \p x where \p condition (bool, or of the element type) is true, else \p y.
  Value select(Value condition, Term x, Term y) const;
  /// min(max(x, low), high), in the form that the element type has.
  Value clip(Value x, double low, double high) const;

private:
  Value build(StringRef opFunc, ArrayRef<Term> terms, Type resultElement,
              ArrayRef<NamedAttribute> constants) const;

  OpBuilder &b;
  Location loc;
};

/// Computes a value of the result's shape from operand 0; null after refusing.
using Formula = Value (*)(Lowering &l, const Arithmetic &m, Value x);
/// \p formula in the result's element type.
Handler atResultType(Formula formula);
/// \p formula in f32, narrowed once.
Handler inF32(Formula formula);

/// What |x| exceeds \p bound by, else 0: a condition for select in f32, which has no
/// comparisons.
Value buildExcess(const Arithmetic &m, Value x, double bound);
/// -1, 0 or 1, in f32; infinities and NaNs as what is clipped of them.
Value buildSignOf(const Arithmetic &m, Value x);
/// log(1 + x), and PyTorch's softplus, log(1 + exp(beta x)) / beta, by the device's.
Value buildLog1p(const Arithmetic &m, Value x);
Value buildSoftplus(Lowering &l, const Arithmetic &m, Value x, double beta, double threshold);

/// x without its fraction.
Value buildTrunc(const Arithmetic &m, Value x);

/// x^exponent for an exponent of at least 1, by squaring.
Value buildPower(const Arithmetic &m, Value x, unsigned exponent);

} // namespace mlir::spyre::torch_lowering

#endif // SPYRE_LIB_CONVERSION_TORCHTOSPYRE_EXPRESSIONS_H
