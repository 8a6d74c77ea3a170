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

#include "Precision.h"
#include "spyre/Dialect/Spyre/IR/ConstantNumbers.h"
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

namespace {
using Ranges = ArrayRef<NumberRange>;

/// What an operation of a scalar body makes of ranges.
struct BodyRange {
  StringLiteral operation;
  NumberRange (*apply)(Ranges x);
};
} // namespace

static NumberRange keep(Ranges x) { return x[0]; }
static NumberRange choose(Ranges) { return {0, 1}; }
/// x times a number between 0 and 1 that falls for negative x: -0.3 at least.
static NumberRange gate(Ranges x) {
  return {std::max(-0.3, std::min(x[0].low, 0.0)), std::max(x[0].high, 0.0)};
}

static constexpr BodyRange kBodyRanges[] = {
    {"arith.extf", keep},
    {"arith.truncf", keep},
    {"arith.addf",
     [](Ranges x) { return NumberRange{x[0].low + x[1].low, x[0].high + x[1].high}; }},
    {"arith.subf",
     [](Ranges x) { return NumberRange{x[0].low - x[1].high, x[0].high - x[1].low}; }},
    {"arith.mulf", [](Ranges x) { return multiply(x[0], x[1]); }},
    {"arith.negf", [](Ranges x) { return NumberRange{-x[0].high, -x[0].low}; }},
    {"arith.maximumf",
     [](Ranges x) {
       return NumberRange{std::max(x[0].low, x[1].low), std::max(x[0].high, x[1].high)};
     }},
    {"arith.minimumf",
     [](Ranges x) {
       return NumberRange{std::min(x[0].low, x[1].low), std::min(x[0].high, x[1].high)};
     }},
    {"arith.select", [](Ranges x) { return hull(x[1], x[2]); }},
    {"arith.cmpf", choose},
    {"arith.uitofp", choose},
    {"math.absf",
     [](Ranges x) {
       return NumberRange{x[0].low > 0 ? x[0].low : std::max(0.0, -x[0].high), x[0].getLargest()};
     }},
    {"math.floor",
     [](Ranges x) { return NumberRange{std::floor(x[0].low), std::floor(x[0].high)}; }},
    {"math.log", [](Ranges x) { return rise(x[0], 0, [](double v) { return std::log(v); }); }},
    {"math.tanh", [](Ranges) { return NumberRange{-1, 1}; }},
    {"spyreop.exp",
     [](Ranges x) { return rise(x[0], -kInfinity, [](double v) { return std::exp(v); }); }},
    {"spyreop.sqrt", [](Ranges x) { return rise(x[0], 0, [](double v) { return std::sqrt(v); }); }},
    {"spyreop.rsqrt",
     [](Ranges x) {
       return NumberRange{1 / std::sqrt(std::max(x[0].high, 0.0)),
                          1 / std::sqrt(std::max(x[0].low, 0.0))};
     }},
    {"spyreop.reciprocal", [](Ranges x) { return invert(x[0]); }},
    {"spyreop.realdiv", [](Ranges x) { return multiply(x[0], invert(x[1])); }},
    {"spyreop.sigmoid", choose},
    {"spyreop.gelu", gate},
    {"spyreop.silu", gate},
    // At most log 2 above max(x, 0).
    {"spyreop.softplus", [](Ranges x) { return NumberRange{0, std::max(x[0].high, 0.0) + 1}; }},
};

/// One operation of a body.
static NumberRange apply(StringRef name, Ranges x) {
  const auto *known =
      llvm::find_if(kBodyRanges, [&](const BodyRange &row) { return row.operation == name; });
  return known == std::end(kBodyRanges) ? kAnything : known->apply(x);
}

/// True if input \p result of \p op reads, at each point, what a \p Reduction makes of all that
/// it reads by input \p reduced.
template <typename Reduction>
static bool readsReductionOf(DeviceOpInterface op, unsigned reduced, unsigned result) {
  Value value = skipViews(op.getInputs()[result]);
  Operation *reduction = value.getDefiningOp<Reduction>();
  return reduction && readsSame(op, reduced, cast<DeviceOpInterface>(reduction), 0) &&
         readsReduction(op, result, value, cast<DeviceOpInterface>(reduction));
}

/// True if \p a and \p b are one value, or made alike from one, a few operations back.
static bool computeSame(Value a, Value b, int depth = 6) {
  if (a == b)
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return x && y && depth > 0 &&
         OperationEquivalence::isEquivalentTo(
             x, y, [&](Value p, Value q) { return success(computeSame(p, q, depth - 1)); },
             /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

/// x times 1 / sqrt(c sum x^2 + epsilon) is at most 1 / sqrt(c): what a norm does. Nothing if
/// input \p scale of \p product is no such factor.
static std::optional<double> getNormBound(DeviceOpInterface product, unsigned scale) {
  Value value = skipViews(product.getInputs()[scale]);
  std::optional<InverseNorm> norm;
  if (Operation *root = value.getDefiningOp())
    norm = matchInverseNorm(root);
  if (!norm || norm->factor <= 0 || !readsReduction(product, scale, value, norm->reduction))
    return std::nullopt;
  // Exporters compute the centred value once for the variance and once for the result.
  Read read = getRead(product, 1 - scale), own = getRead(norm->square, 0);
  if (read.map != own.map || product.getExtents() != norm->square.getExtents() ||
      !computeSame(read.root, own.root))
    return std::nullopt;
  return 1 / std::sqrt(norm->factor);
}

/// What intervals do not see, as operands depend on each other: \p range, or a smaller one.
static NumberRange relate(DeviceOpInterface op, NumberRange range, ArrayRef<NumberRange> inputs) {
  if (isa<SubOp>(op) && readsReductionOf<MaxOp>(op, 0, 1))
    range.high = std::min(range.high, 0.0); // x - max x
  if (isa<RealdivOp>(op) && inputs[0].low >= 0 && readsReductionOf<SumOp>(op, 0, 1))
    return {0, 1}; // x / sum x
  if (isa<MulOp>(op))
    for (unsigned scale : {0, 1})
      if (std::optional<double> bound = getNormBound(op, scale))
        return {-*bound, *bound};
  return range;
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
  range = relate(op, range, inputs);
  if (Value init = op.getOutput())
    range = hull(range, get(init));
  return range;
}

/// True if the caller passes f16, whatever the device keeps it in.
static bool isArgumentOfF16(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto func =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  if (!func)
    return false;
  auto passed = func.getArgAttrOfType<TypeAttr>(argument.getArgNumber(), kHostTypeAttr);
  return (passed ? passed.getValue() : getElementType(value)).isF16();
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
    ElementsAttr elements = constant.getValue();
    if (!hasNumbers(elements) || elements.empty())
      return kAnything;
    auto number = [](const APFloat &x) { return x.convertToDouble(); };
    // An infinity stays one in every format.
    NumberRange range{kInfinity, -kInfinity};
    auto take = [&](const APFloat &x) {
      if (x.isFinite())
        range = hull(range, {number(x), number(x)});
      return false;
    };
    (void)anyOfNumbers(elements, take);
    return range.low <= range.high ? range : NumberRange{0, 0};
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
  else if (isArgumentOfF16(value))
    range = {-65504, 65504};
  // What a program calls f16 ends there; bf16 ends where DL16 does.
  if (element.isF16() || element.isBF16()) {
    double largest = element.isF16() ? 65504 : ::spyre::kDL16MaxFinite;
    range.low = std::max(range.low, -largest);
    range.high = std::min(range.high, largest);
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
