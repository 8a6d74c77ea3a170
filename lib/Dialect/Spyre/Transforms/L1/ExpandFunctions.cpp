//===- ExpandFunctions.cpp - Functions in f32 that the device has in 16 bits ===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Logarithm, tanh, gelu and softplus of f32 numbers by operations that have an f32 form.
// Each formula states how far it is from the function; what the f32 operations round comes
// on top, a few units in the last place (docs/developer/numerics.md, "Functions in f32").
//
//===----------------------------------------------------------------------===//

#include "Precision.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Numbers.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"

#include "mlir/IR/PatternMatch.h"

#include <limits>
#include <numbers>

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREEXPANDFUNCTIONS
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::OpFunc;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A value or a number.
struct Term {
  Term(Value value) : value(value) {}
  Term(double number) : number(number) {}
  Value value; ///< null: the number
  double number = 0;
};

/// Builds expressions on f32 tensors of one shape.
class Expression {
public:
  Expression(OpBuilder &b, Location loc, RankedTensorType type) : b(b), loc(loc), type(type) {}

  Value apply(OpFunc opFunc, ArrayRef<Term> terms) const {
    SmallVector<Value> inputs;
    for (const Term &term : terms)
      inputs.push_back(term.value ? term.value
                                  : buildScalar(b, loc, term.number, type.getElementType()));
    return buildPointwise(b, loc, opFunc, inputs, type);
  }
  Value add(Term x, Term y) const { return apply(OpFunc::Add, {x, y}); }
  Value sub(Term x, Term y) const { return apply(OpFunc::Sub, {x, y}); }
  Value mul(Term x, Term y) const { return apply(OpFunc::Mul, {x, y}); }
  Value div(Term x, Term y) const { return apply(OpFunc::Realdiv, {x, y}); }
  Value exp(Value x) const { return apply(OpFunc::Exp, {x}); }
  Value neg(Value x) const { return apply(OpFunc::Neg, {x}); }
  Value abs(Value x) const { return apply(OpFunc::Abs, {x}); }
  Value reciprocal(Value x) const { return apply(OpFunc::Reciprocal, {x}); }
  /// 1 or 0 in f32, a condition for select.
  Value isLess(Term x, Term y) const { return apply(OpFunc::Lesserthan, {x, y}); }
  Value isEqual(Term x, Term y) const { return apply(OpFunc::Equal, {x, y}); }
  Value select(Value condition, Term x, Term y) const {
    return apply(OpFunc::Where3, {condition, x, y});
  }
  /// c0 + c1 x + c2 x^2 + ...
  Value polynomial(Value x, ArrayRef<double> factors) const {
    Value sum = mul(x, factors.back());
    for (double factor : llvm::reverse(factors.drop_front().drop_back()))
      sum = mul(add(sum, factor), x);
    return add(sum, factors.front());
  }
  /// \p opFunc of \p x at 16 bits.
  Value atHalf(OpFunc opFunc, Value x) const {
    auto half = RankedTensorType::get(type.getShape(), b.getF16Type());
    Value narrow = buildPointwise(b, loc, OpFunc::Fp32todl16, {x}, half);
    return buildPointwise(b, loc, OpFunc::Dl16tofp32,
                          {buildPointwise(b, loc, opFunc, {narrow}, half)}, type);
  }

private:
  OpBuilder &b;
  Location loc;
  RankedTensorType type;
};

using Constants = DictionaryAttr;
using Expansion = Value (*)(const Expression &m, Value x, Constants constants);

struct ExpandFunctionsPass : mlir::spyre::impl::SpyreExpandFunctionsBase<ExpandFunctionsPass> {
  void runOnOperation() override;
};
} // namespace

/// log((1 + t) / (1 - t)) = 2 t (1 + t^2/3 + t^4/5 + ...) of |t| up to 1/3: within 2^-33 of it.
static Value buildLogOfRatio(const Expression &m, Value t) {
  Value square = m.mul(t, t);
  Value series = m.polynomial(
      square, {1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17});
  return m.mul(m.mul(t, 2.0), series);
}

// x = 2^e m with m from 3/4 to 3/2: log x = e log 2 + log m. Beside 2^23 x there is room for the
// first bit of x only, which gives 2^e, and 16 bits of its root's logarithm give the integer e.
static Value buildLog(const Expression &m, Value x, Constants) {
  constexpr double kFar = 0x1p60, kFactor = 0x1p100;
  Value isSmall = m.isLess(x, 1 / kFar), isLarge = m.isLess(kFar, x);
  Value near = m.mul(x, m.select(isSmall, kFactor, m.select(isLarge, 1 / kFactor, 1.0)));
  Value beyond = m.select(isSmall, -100.0, m.select(isLarge, 100.0, 0.0));
  Value large = m.mul(near, 0x1p23);
  Value power = m.sub(m.add(large, near), large);
  Value mantissa = m.mul(near, m.reciprocal(power));
  Value half = m.atHalf(OpFunc::Log, m.apply(OpFunc::Sqrt, {power})); // within 0.03 of it
  Value exponent = m.apply(OpFunc::Floor, {m.add(m.mul(half, 2 / std::numbers::ln2), 0.5)});
  exponent = m.add(exponent, beyond);
  Value t = m.div(m.sub(mantissa, 1.0), m.add(mantissa, 1.0));
  // The first part of log 2 has 9 bits: its product with e is exact.
  constexpr double kFirst = 355.0 / 512, kRest = std::numbers::ln2 - kFirst;
  Value result = m.add(buildLogOfRatio(m, t), m.mul(exponent, kRest));
  result = m.add(m.mul(exponent, kFirst), result);
  result = m.select(m.isEqual(x, 0.0), -kInfinity, result);
  return m.select(m.isEqual(x, kInfinity), kInfinity, result);
}

// 1 - 2 / (e^2|x| + 1) with the sign of x; below 0.4, where that cancels, the series up to x^13,
// within 2^-28 of it.
static Value buildTanh(const Expression &m, Value x, Constants) {
  Value size = m.abs(x);
  Value far = m.sub(1.0, m.div(2.0, m.add(m.exp(m.mul(size, 2.0)), 1.0)));
  far = m.select(m.isLess(x, 0.0), m.neg(far), far);
  Value series =
      m.mul(x, m.polynomial(m.mul(x, x), {1.0, -1.0 / 3, 2.0 / 15, -17.0 / 315, 62.0 / 2835,
                                          -1382.0 / 155925, 21844.0 / 6081075}));
  return m.select(m.isLess(size, 0.4), series, far);
}

// x P(x), P the normal distribution: of |x| = sqrt(2) z its upper tail is erfc(z) / 2, and erfc(z)
// e^(z^2) is t times a polynomial of t = 1 / (1 + z/2) within 2^-24 of it (a least-squares fit at
// Chebyshev's points). The square's exponent is rounded, which only small results notice.
static Value buildGelu(const Expression &m, Value x, Constants) {
  Value z = m.mul(m.abs(x), std::numbers::sqrt2 / 2);
  Value t = m.reciprocal(m.add(m.mul(z, 0.5), 1.0));
  Value scaled = m.polynomial(t, kScaledErfc);
  Value tail = m.mul(m.mul(m.mul(t, 0.5), scaled), m.exp(m.neg(m.mul(z, z))));
  return m.mul(x, m.select(m.isLess(x, 0.0), tail, m.sub(1.0, tail)));
}

// max(y, 0) + log(1 + e^-|y|), y = beta x; y beyond the threshold.
static Value buildSoftplus(const Expression &m, Value x, Constants constants) {
  auto number = [&](StringRef name) {
    return cast<FloatAttr>(constants.get(name)).getValueAsDouble();
  };
  double beta = number("softplusBeta");
  Value y = beta == 1.0 ? x : m.mul(x, beta);
  Value u = m.exp(m.neg(m.abs(y)));
  Value sum =
      m.add(m.apply(OpFunc::Maximum, {y, 0.0}), buildLogOfRatio(m, m.div(u, m.add(u, 2.0))));
  return m.select(m.isLess(number("softplusThresh"), y), y, sum);
}

static Expansion findExpansion(OpFunc opFunc) {
  switch (opFunc) {
  case OpFunc::Log:
    return buildLog;
  case OpFunc::Tanh:
    return buildTanh;
  case OpFunc::Gelufwd:
    return buildGelu;
  case OpFunc::Softplus:
    return buildSoftplus;
  default:
    return nullptr;
  }
}

bool mlir::spyre::isExpandedFunction(DeviceOpInterface op) {
  return op.getResultTensor() && !op.getOutput() && findExpansion(op.getOpFunc()) &&
         isF32(op.getInputs()[0]) && isF32(op.getResultTensor());
}

void ExpandFunctionsPass::runOnOperation() {
  if (getOperation().isExternal())
    return;
  SmallVector<DeviceOpInterface> functions;
  getOperation().walk([&](DeviceOpInterface op) {
    if (isExpandedFunction(op))
      functions.push_back(op);
  });
  IRRewriter rewriter(&getContext());
  for (DeviceOpInterface op : functions) {
    rewriter.setInsertionPoint(op);
    Location loc = op->getLoc();
    // What it reads, by its iteration dims, so that one map does for all of the formula.
    auto type = RankedTensorType::get(op.getExtents(), rewriter.getF32Type());
    Value x = buildView(rewriter, loc, op.getInputs()[0], op.getInputMap(0), op.getExtents());
    Value result =
        findExpansion(op.getOpFunc())(Expression(rewriter, loc, type), x, op.getConstantsAttr());
    // And written where it was.
    DeviceOpSpec spec = DeviceOpSpec::copy(result, op.getExtents(),
                                           rewriter.getMultiDimIdentityMap(op.getExtents().size()),
                                           op.getOutputMap());
    spec.resultType = op.getResultTensor().getType();
    bool isSame = op.getOutputMap().isIdentity() && spec.resultType == type;
    rewriter.replaceOp(op, isSame ? result : buildDeviceOp(rewriter, loc, spec).getResultTensor());
  }
}
