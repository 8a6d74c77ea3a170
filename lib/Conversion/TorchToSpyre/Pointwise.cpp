//===- Pointwise.cpp - torch operations on every element -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables of operations that are one device operation an element. Source of the meanings:
// PyTorch's documentation of each operation; operands take the element type of the result
// (wrapped-number promotion has already decided it).
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

namespace {
/// One operand, one result: torch name and OpFunc.
struct Unary {
  const char *torch, *opFunc;
};
constexpr Unary kUnary[] = {
    {"torch.aten.abs", "abs"},         {"torch.aten.exp", "exp"},
    {"torch.aten.floor", "floor"},     {"torch.aten.log", "log"},
    {"torch.aten.neg", "neg"},         {"torch.aten.reciprocal", "reciprocal"},
    {"torch.aten.relu", "relufwd"},    {"torch.aten.rsqrt", "rsqrt"},
    {"torch.aten.sigmoid", "sigmoid"}, {"torch.aten.sqrt", "sqrt"},
    {"torch.aten.tanh", "tanh"},
};

/// Two operands, each a tensor or a number. With `alpha`, operand 2 scales the
/// second; `reversed` swaps them afterwards (rsub).
struct Binary {
  const char *torch, *opFunc;
  bool alpha = false, reversed = false;
};
constexpr Binary kBinary[] = {
    {"torch.aten.add.Tensor", "add", true},
    {"torch.aten.add.Scalar", "add", true},
    {"torch.aten.sub.Tensor", "sub", true},
    {"torch.aten.sub.Scalar", "sub", true},
    {"torch.aten.rsub.Scalar", "sub", true, true},
    {"torch.aten.rsub.Tensor", "sub", true, true},
    {"torch.aten.mul.Tensor", "mul"},
    {"torch.aten.mul.Scalar", "mul"},
    {"torch.aten.div.Tensor", "realdiv"},
    {"torch.aten.div.Scalar", "realdiv"},
    {"torch.aten.maximum", "maximum"},
    {"torch.aten.minimum", "minimum"},
};
} // namespace

/// Operand \p i in \p type, or null after refusing.
static Value getOperandIn(Lowering &l, unsigned i, Type type) {
  if (i >= l.getNumOperands()) {
    (void)l.refuse("operand #" + Twine(i) + " is missing");
    return {};
  }
  return l.getAs(i, type);
}

static LogicalResult lowerUnary(Lowering &l, StringRef opFunc) {
  Type type = l.getComputeType();
  Value x = type ? getOperandIn(l, 0, type) : Value();
  if (!x)
    return failure();
  return l.replaceWith(buildPointwise(l.b, l.loc, opFunc, {x}, l.getResultType()));
}

static LogicalResult lowerBinary(Lowering &l, const Binary &entry) {
  Type type = l.getComputeType();
  Value x = type ? getOperandIn(l, 0, type) : Value();
  if (!x)
    return failure();
  RankedTensorType resultType = l.getResultType();
  std::optional<double> alpha = 1.0;
  if (entry.alpha && l.getNumOperands() > 2)
    alpha = l.getNumber(2);
  if (!alpha)
    return failure();
  // What the exporter writes for a bias: a product with 1, exact in any format.
  std::optional<double> number;
  if (!l.isTensor(1)) {
    number = l.getNumber(1);
    if (!number)
      return failure();
  }
  StringRef opFunc = entry.opFunc;
  bool neutral = number == 1.0 && (opFunc == "mul" || opFunc == "realdiv");
  if (neutral && getTensorType(x) == resultType)
    return l.replaceWith(x);
  Value y;
  if (number) {
    // A scaled number stays a number.
    y = buildScalar(l.b, l.loc, entry.reversed ? *number : *number * *alpha, type);
  } else {
    y = getOperandIn(l, 1, type);
    if (!y)
      return failure();
  }
  auto scale = [&](Value value) {
    return buildPointwise(l.b, l.loc, "mul", {value, buildScalar(l.b, l.loc, *alpha, type)},
                          getTensorType(value));
  };
  if (*alpha != 1.0) {
    // add, sub: x +- alpha * y; rsub: y - alpha * x.
    if (entry.reversed)
      x = scale(x);
    else if (!number)
      y = scale(y);
  }
  if (entry.reversed)
    std::swap(x, y);
  return l.replaceWith(buildPointwise(l.b, l.loc, opFunc, {x, y}, resultType));
}

/// min(max(x, low), high) with bounds that are operands, each a number, a tensor or none.
static LogicalResult lowerClamp(Lowering &l, int lowOperand, int highOperand) {
  Type type = l.getDeviceType();
  Value x = type ? l.getAs(0, type) : Value();
  if (!x)
    return failure();
  Arithmetic m(l, type);
  std::optional<double> numbers[2];
  Value bounds[2];
  const int operands[2] = {lowOperand, highOperand};
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (operand < 0 || !l.isGiven(operand))
      continue;
    if (!l.isTensor(operand))
      numbers[i] = l.getNumber(operand);
    bounds[i] = l.getAs(operand, type);
    if (!bounds[i])
      return failure();
  }
  if (numbers[0] && numbers[1])
    return l.replaceWith(m.clip(x, *numbers[0], *numbers[1]));
  if (bounds[0])
    x = m.maximum(x, bounds[0]);
  if (bounds[1])
    x = m.minimum(x, bounds[1]);
  return l.replaceWith(x);
}

// The smaller (or larger) one of two numbers, and the number beside a NaN. In 16 bits a NaN
// is the largest number of all, and so beside the point; for fmax it would have to be the
// smallest. In f32, where a NaN wins, each operand gives way to the other one where it is a
// NaN, or the infinity that loses anyway: there its product with 0 is no 0.
static LogicalResult lowerFminmax(Lowering &l, bool isMin) {
  Type type = l.getDeviceType();
  if (type && isHalf(type) && !isMin)
    return l.refuse("asks for NaN, which the device does not tell from infinity");
  Value x = type ? getOperandIn(l, 0, type) : Value();
  Value y = x ? getOperandIn(l, 1, type) : Value();
  if (!y)
    return failure();
  Arithmetic m(l, type);
  StringRef opFunc = isMin ? "minimum" : "maximum", other = isMin ? "maximum" : "minimum";
  if (isHalf(type))
    return l.replaceWith(m.apply(opFunc, {x, y}));
  auto loses = [&](Value value) { return m.mul(m.apply(other, {value, 0.0}), 0.0); };
  return l.replaceWith(m.apply(opFunc, {m.select(loses(x), y, x), m.select(loses(y), x, y)}));
}

void torch_lowering::addPointwise(HandlerTable &table) {
  table["torch.aten.fmin"] = onTensor([](Lowering &l) { return lowerFminmax(l, true); });
  table["torch.aten.fmax"] = onTensor([](Lowering &l) { return lowerFminmax(l, false); });
  for (const Unary &entry : kUnary)
    table[entry.torch] = [&entry](Lowering &l) { return lowerUnary(l, entry.opFunc); };
  for (const Binary &entry : kBinary)
    table[entry.torch] = [&entry](Lowering &l) { return lowerBinary(l, entry); };
  table["torch.aten.square"] = [](Lowering &l) {
    Type type = l.getComputeType();
    Value x = type ? getOperandIn(l, 0, type) : Value();
    if (!x)
      return failure();
    return l.replaceWith(buildPointwise(l.b, l.loc, "mul", {x, x}, l.getResultType()));
  };
  for (const char *name : {"torch.aten.clamp", "torch.aten.clamp.Tensor", "torch.aten.clip",
                           "torch.aten.clamp_min", "torch.aten.clamp_min.Tensor"})
    table[name] = [](Lowering &l) { return lowerClamp(l, 1, 2); };
  for (const char *name : {"torch.aten.clamp_max", "torch.aten.clamp_max.Tensor"})
    table[name] = [](Lowering &l) { return lowerClamp(l, -1, 1); };
}
