//===- Pointwise.cpp - torch operations on every element -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables of operations that are one device operation an element, and the few
// that need more than a name. Source of the meanings: PyTorch's documentation of each
// operation; operands take the element type of the result (wrapped-number promotion
// has already decided it).
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "llvm/Support/FormatVariadic.h"

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
    {"torch.aten.sigmoid", "sigmoid"}, {"torch.aten.silu", "silu"},
    {"torch.aten.sqrt", "sqrt"},       {"torch.aten.tanh", "tanh"},
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

/// Comparisons: the result is bool, the operands share their promoted type.
constexpr Unary kCompare[] = {
    {"torch.aten.eq.Tensor", "equal"},        {"torch.aten.eq.Scalar", "equal"},
    {"torch.aten.ne.Tensor", "notequal"},     {"torch.aten.ne.Scalar", "notequal"},
    {"torch.aten.gt.Tensor", "greaterthan"},  {"torch.aten.gt.Scalar", "greaterthan"},
    {"torch.aten.ge.Tensor", "greaterequal"}, {"torch.aten.ge.Scalar", "greaterequal"},
    {"torch.aten.lt.Tensor", "lesserthan"},   {"torch.aten.lt.Scalar", "lesserthan"},
    {"torch.aten.le.Tensor", "lesserequal"},  {"torch.aten.le.Scalar", "lesserequal"},
};
} // namespace

static std::string typeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// The element type that the device computes \p l's result in, or null after
/// refusing. Which format an operation really has is decided with the islands.
static Type getComputeType(Lowering &l) {
  Type type = l.getResultType().getElementType();
  if (isHalf(type) || type.isF32())
    return type;
  (void)l.refuse("the device does not compute it in " + typeName(type));
  return {};
}

/// Operand \p i in \p type, or null after refusing.
static Value getOperandIn(Lowering &l, unsigned i, Type type) {
  if (i >= l.getNumOperands()) {
    (void)l.refuse("operand #" + Twine(i) + " is missing");
    return {};
  }
  return l.getAs(i, type);
}

static LogicalResult lowerUnary(Lowering &l, StringRef opFunc) {
  Type type = getComputeType(l);
  Value x = type ? getOperandIn(l, 0, type) : Value();
  if (!x)
    return failure();
  return l.replaceWith(buildPointwise(l.b, l.loc, opFunc, {x}, l.getResultType()));
}

static LogicalResult lowerBinary(Lowering &l, const Binary &entry) {
  Type type = getComputeType(l);
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

/// Type in which a comparison of operands 0 and 1 happens: a tensor with dims
/// outranks a 0-d tensor, which outranks a number; the wider float wins.
static Type getPromotedType(Lowering &l) {
  auto rankOf = [&](unsigned i) { return l.getTensorType(i).getRank() > 0 ? 2 : 1; };
  Type type;
  int best = 0;
  for (unsigned i = 0; i < 2; ++i) {
    if (!l.isTensor(i))
      continue;
    Type element = l.getTensorType(i).getElementType();
    if (!type || rankOf(i) > best) {
      type = element;
    } else if (rankOf(i) == best && element != type) {
      bool bothHalf = isHalf(element) && isHalf(type);
      bool wider = element.isF32() || (isa<FloatType>(element) && !isa<FloatType>(type));
      if (bothHalf)
        type = Float32Type::get(element.getContext());
      else if (wider)
        type = element;
    }
    best = std::max(best, rankOf(i));
  }
  if (type && (isHalf(type) || type.isF32()))
    return type;
  (void)l.refuse("the device does not compare in " + (type ? typeName(type) : "numbers"));
  return {};
}

static LogicalResult lowerCompare(Lowering &l, StringRef opFunc) {
  Type type = getPromotedType(l);
  if (!type)
    return failure();
  Value x = getOperandIn(l, 0, type);
  Value y = x ? getOperandIn(l, 1, type) : Value();
  if (!y)
    return failure();
  return l.replaceWith(buildPointwise(l.b, l.loc, opFunc, {x, y}, l.getResultType()));
}

static LogicalResult lowerWhere(Lowering &l) {
  Type type = getComputeType(l);
  if (!type)
    return failure();
  if (!l.isTensor(0) || !l.getTensorType(0).getElementType().isInteger(1))
    return l.refuse("the condition must be a bool tensor");
  Value x = getOperandIn(l, 1, type);
  Value y = x ? getOperandIn(l, 2, type) : Value();
  if (!y)
    return failure();
  return l.replaceWith(
      buildPointwise(l.b, l.loc, "where3", {l.getTensor(0), x, y}, l.getResultType()));
}

/// Powers that are products, roots or reciprocals; PyTorch computes them so too.
static LogicalResult lowerPow(Lowering &l) {
  Type type = getComputeType(l);
  std::optional<double> exponent = type ? l.getNumber(1) : std::nullopt;
  if (!exponent)
    return failure();
  Value x = getOperandIn(l, 0, type);
  if (!x)
    return failure();
  RankedTensorType resultType = l.getResultType();
  auto build = [&](StringRef opFunc, ValueRange inputs) {
    return buildPointwise(l.b, l.loc, opFunc, inputs, resultType);
  };
  if (*exponent == 1.0)
    return l.replaceWith(x);
  if (*exponent == 2.0)
    return l.replaceWith(build("mul", {x, x}));
  if (*exponent == 3.0)
    return l.replaceWith(build("mul", {build("mul", {x, x}), x}));
  if (*exponent == 0.5)
    return l.replaceWith(build("sqrt", {x}));
  if (*exponent == -0.5)
    return l.replaceWith(build("rsqrt", {x}));
  if (*exponent == -1.0)
    return l.replaceWith(build("reciprocal", {x}));
  return l.refuse(llvm::formatv("the device has no power of {0}", *exponent).str());
}

static LogicalResult lowerClamp(Lowering &l) {
  Type type = getComputeType(l);
  Value x = type ? getOperandIn(l, 0, type) : Value();
  if (!x)
    return failure();
  std::optional<double> low, high;
  for (auto [bound, i] : {std::pair(&low, 1u), std::pair(&high, 2u)}) {
    if (i >= l.getNumOperands() || l.isNone(i))
      continue;
    *bound = l.getNumber(i);
    if (!*bound)
      return failure();
  }
  RankedTensorType resultType = l.getResultType();
  if (low && high)
    return l.replaceWith(buildPointwise(l.b, l.loc, "clip", {x}, resultType,
                                        {l.b.getNamedAttr("clipMin", l.b.getF64FloatAttr(*low)),
                                         l.b.getNamedAttr("clipMax", l.b.getF64FloatAttr(*high))}));
  if (!low && !high)
    return l.replaceWith(x);
  Value bound = buildScalar(l.b, l.loc, low ? *low : *high, type);
  return l.replaceWith(
      buildPointwise(l.b, l.loc, low ? "maximum" : "minimum", {x, bound}, resultType));
}

static LogicalResult lowerGelu(Lowering &l) {
  if (l.getNumOperands() > 1 && l.getString(1) != "none")
    return l.refuse("the device computes gelu's erf form only, not the tanh approximation");
  return lowerUnary(l, "gelufwd");
}

void torch_lowering::addPointwise(HandlerTable &table) {
  for (const Unary &entry : kUnary)
    table[entry.torch] = [&entry](Lowering &l) { return lowerUnary(l, entry.opFunc); };
  for (const Binary &entry : kBinary)
    table[entry.torch] = [&entry](Lowering &l) { return lowerBinary(l, entry); };
  for (const Unary &entry : kCompare)
    table[entry.torch] = [&entry](Lowering &l) { return lowerCompare(l, entry.opFunc); };
  for (const char *name : {"torch.aten.where.self", "torch.aten.where.ScalarSelf",
                           "torch.aten.where.ScalarOther", "torch.aten.where.Scalar"})
    table[name] = lowerWhere;
  table["torch.aten.square"] = [](Lowering &l) {
    Type type = getComputeType(l);
    Value x = type ? getOperandIn(l, 0, type) : Value();
    if (!x)
      return failure();
    return l.replaceWith(buildPointwise(l.b, l.loc, "mul", {x, x}, l.getResultType()));
  };
  table["torch.aten.pow.Tensor_Scalar"] = lowerPow;
  table["torch.aten.clamp"] = lowerClamp;
  table["torch.aten.gelu"] = lowerGelu;
}
