//===- NumberRange.cpp - How large the numbers of a program may be -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "NumberRange.h"

#include "spyre/Numerics/DL16.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::ScalarNode;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr NumberRange kAnything{-kInfinity, kInfinity};

static NumberRange hull(NumberRange a, NumberRange b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

/// 0 times infinity is 0 here: the infinity stands for all finite numbers.
static double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

static NumberRange multiply(NumberRange a, NumberRange b) {
  double corners[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                      times(a.high, b.high)};
  return {*llvm::min_element(corners), *llvm::max_element(corners)};
}

/// 1 / x.
static NumberRange invert(NumberRange x) {
  if (x.low <= 0 && x.high >= 0)
    return kAnything;
  return {1 / x.high, 1 / x.low};
}

/// A function that rises, defined from \p least on.
static NumberRange rise(NumberRange x, double least, double (*function)(double)) {
  return {function(std::max(x.low, least)), function(std::max(x.high, least))};
}

/// One operation of a body.
static NumberRange apply(StringRef name, ArrayRef<NumberRange> x) {
  enum Kind {
    Unknown,
    Same,
    Abs,
    Neg,
    Add,
    Sub,
    Mul,
    Max,
    Min,
    Select,
    Truth,
    Tanh,
    Floor,
    Log,
    Exp,
    Sqrt,
    Rsqrt,
    Reciprocal,
    Divide,
    Sigmoid,
    Gate,
    Softplus
  };
  auto kind = llvm::StringSwitch<Kind>(name)
                  .Cases({"arith.extf", "arith.truncf"}, Same)
                  .Case("math.absf", Abs)
                  .Case("arith.negf", Neg)
                  .Case("arith.addf", Add)
                  .Case("arith.subf", Sub)
                  .Case("arith.mulf", Mul)
                  .Case("arith.maximumf", Max)
                  .Case("arith.minimumf", Min)
                  .Case("arith.select", Select)
                  .Cases({"arith.cmpf", "arith.uitofp"}, Truth)
                  .Case("math.tanh", Tanh)
                  .Case("math.floor", Floor)
                  .Case("math.log", Log)
                  .Case("spyreop.exp", Exp)
                  .Case("spyreop.sqrt", Sqrt)
                  .Case("spyreop.rsqrt", Rsqrt)
                  .Case("spyreop.reciprocal", Reciprocal)
                  .Case("spyreop.realdiv", Divide)
                  .Case("spyreop.sigmoid", Sigmoid)
                  .Cases({"spyreop.gelu", "spyreop.silu"}, Gate)
                  .Case("spyreop.softplus", Softplus)
                  .Default(Unknown);
  switch (kind) {
  case Same:
    return x[0];
  case Abs:
    return {x[0].low > 0 ? x[0].low : std::max(0.0, -x[0].high), x[0].getLargest()};
  case Neg:
    return {-x[0].high, -x[0].low};
  case Add:
    return {x[0].low + x[1].low, x[0].high + x[1].high};
  case Sub:
    return {x[0].low - x[1].high, x[0].high - x[1].low};
  case Mul:
    return multiply(x[0], x[1]);
  case Max:
    return {std::max(x[0].low, x[1].low), std::max(x[0].high, x[1].high)};
  case Min:
    return {std::min(x[0].low, x[1].low), std::min(x[0].high, x[1].high)};
  case Select:
    return hull(x[1], x[2]);
  case Truth:
  case Sigmoid:
    return {0, 1};
  case Tanh:
    return {-1, 1};
  case Floor:
    return {std::floor(x[0].low), std::floor(x[0].high)};
  case Log:
    return rise(x[0], 0, [](double v) { return std::log(v); });
  case Exp:
    return rise(x[0], -kInfinity, [](double v) { return std::exp(v); });
  case Sqrt:
    return rise(x[0], 0, [](double v) { return std::sqrt(v); });
  case Rsqrt:
    return {1 / std::sqrt(std::max(x[0].high, 0.0)), 1 / std::sqrt(std::max(x[0].low, 0.0))};
  case Reciprocal:
    return invert(x[0]);
  case Divide:
    return multiply(x[0], invert(x[1]));
  case Gate: // -0.3 at least
    return {std::max(-0.3, std::min(x[0].low, 0.0)), std::max(x[0].high, 0.0)};
  case Softplus: // at most log 2 above max(x, 0)
    return {0, std::max(x[0].high, 0.0) + 1};
  case Unknown:
    break;
  }
  return kAnything;
}

NumberRange NumberRanges::computeDeviceOp(DeviceOpInterface op) {
  const ::spyre::OpFuncInfo &info = op.getInfo();
  if (info.category == ::spyre::OpCategory::Normalisation ||
      info.category == ::spyre::OpCategory::Scan)
    return kAnything;
  DictionaryAttr constants = op.getConstantsAttr();
  SmallVector<NumberRange> inputs, values;
  for (Value input : op.getInputs())
    inputs.push_back(get(input));
  // How many numbers are combined to one at most.
  int64_t results = 1, points = ShapedType::getNumElements(op.getExtents());
  for (auto [extent, expr] : llvm::enumerate(op.getExtents()))
    if (op.getOutputMap().isFunctionOfDim(extent))
      results *= expr;
  double count = results ? static_cast<double>(points / results) : 0;
  auto combine = [&](NumberRange x) -> NumberRange {
    if (info.combiner != ::spyre::Combiner::Add)
      return x;
    return hull({0, 0}, {times(count, x.low), times(count, x.high)});
  };
  bool isContraction = info.category == ::spyre::OpCategory::Batchmatmul;
  if (info.category == ::spyre::OpCategory::Reduction)
    inputs[0] = combine(inputs[0]);
  for (const ScalarNode &node : info.body) {
    StringRef name(node.name.data(), node.name.size());
    switch (node.kind) {
    case ScalarNode::Kind::Input:
      values.push_back(inputs[node.input]);
      break;
    case ScalarNode::Kind::Number:
      values.push_back({node.number, node.number});
      break;
    case ScalarNode::Kind::Parameter: {
      auto number = constants ? constants.getAs<FloatAttr>(name) : FloatAttr();
      values.push_back(number ? NumberRange{number.getValueAsDouble(), number.getValueAsDouble()}
                              : kAnything);
      break;
    }
    case ScalarNode::Kind::Operation: {
      // A square is not negative.
      if (name == "arith.mulf" && node.operands[0] == node.operands[1]) {
        NumberRange x = apply("math.absf", values[node.operands[0]]);
        values.push_back(multiply(x, x));
        break;
      }
      SmallVector<NumberRange> operands;
      for (uint8_t operand : node.operands)
        operands.push_back(values[operand]);
      values.push_back(apply(name, operands));
      break;
    }
    }
  }
  NumberRange range = values.empty() ? kAnything : values.back();
  // x * x with one map is a square, too.
  if (op.getInputs().size() == 2 && op.getInputs()[0] == op.getInputs()[1] &&
      op.getInputMap(0) == op.getInputMap(1) && info.scaleLaw == ::spyre::ScaleLaw::Each)
    range.low = std::max(range.low, 0.0);
  if (isContraction)
    range = combine(range);
  if (Value init = op.getOutput())
    range = hull(range, get(init));
  return range;
}

NumberRange NumberRanges::compute(Value value) {
  Type element = getElementType(value);
  if (element.isInteger(1))
    return {0, 1};
  Operation *op = value.getDefiningOp();
  if (auto view = dyn_cast_or_null<ViewOp>(op))
    return get(view.getSource());
  if (auto convert = dyn_cast_or_null<ConvertOp>(op))
    return get(convert.getSource());
  if (auto constant = dyn_cast_or_null<ConstantOp>(op)) {
    auto elements = dyn_cast<DenseFPElementsAttr>(constant.getValue());
    if (!elements || elements.empty())
      return kAnything;
    auto number = [](const APFloat &x) { return x.convertToDouble(); };
    if (elements.isSplat()) {
      double x = number(elements.getSplatValue<APFloat>());
      return {x, x};
    }
    NumberRange range{kInfinity, -kInfinity};
    for (const APFloat &x : elements.getValues<APFloat>())
      range = hull(range, {number(x), number(x)});
    return range;
  }
  if (auto join = dyn_cast_or_null<ConcatOp>(op)) {
    NumberRange range{kInfinity, -kInfinity};
    for (Value source : join.getSources())
      range = hull(range, get(source));
    return range;
  }
  if (isa_and_present<SoftmaxOp>(op))
    return {0, 1};
  NumberRange range = kAnything;
  if (isa_and_present<MatmulOp, LinearOp>(op)) {
    auto count = static_cast<double>(getShape(op->getOperand(0)).back());
    range = multiply(get(op->getOperand(0)), get(op->getOperand(1)));
    range = hull({0, 0}, {times(count, range.low), times(count, range.high)});
    if (op->getNumOperands() > 2)
      range = apply("arith.addf", {range, get(op->getOperand(2))});
  }
  if (auto device = dyn_cast_or_null<DeviceOpInterface>(op))
    range = computeDeviceOp(device);
  else if (!op && element.isF16())
    range = {-65504, 65504};
  // 16-bit numbers are DL16 on the device.
  if (element.isF16() || element.isBF16()) {
    range.low = std::max(range.low, -::spyre::kDL16MaxFinite);
    range.high = std::min(range.high, ::spyre::kDL16MaxFinite);
  }
  return range;
}

NumberRange NumberRanges::get(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  NumberRange range = compute(value);
  if (std::isnan(range.low) || std::isnan(range.high))
    range = kAnything;
  return known[value] = range;
}
