//===- FoldScalars.cpp - Arithmetic on constant numbers -------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As Python computes: floor division and remainder follow the divisor's sign, `/` gives
// a float, a comparison a bool. The type that the text gives the result decides.
//
//===----------------------------------------------------------------------===//

#include "FoldScalars.h"

#include "spyre/Dialect/Torch/IR/TorchOps.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <cmath>
#include <variant>

using namespace mlir;
using namespace mlir::spyre;

namespace {
/// A Python number. The type is what matters: True + True is 2, 1 / 1 is 1.0.
using Number = std::variant<bool, int64_t, double>;

enum class Function {
  None,
  Add,
  Sub,
  Mul,
  Divide,
  FloorDivide,
  Remainder,
  Power,
  Negate,
  Absolute,
  Floor,
  Ceil,
  Round,
  Trunc,
  Sqrt,
  Min,
  Max,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  And,
  Or,
  Not,
  Convert,
};
} // namespace

static Function getFunction(Operation *op) {
  StringRef name = torch_reader::getShortName(op);
  if (!name.consume_front("aten.") && !name.consume_front("prim."))
    return Function::None;
  return llvm::StringSwitch<Function>(name.split('.').first)
      .Case("add", Function::Add)
      .Case("sub", Function::Sub)
      .Case("mul", Function::Mul)
      .Cases({"div", "truediv"}, Function::Divide)
      .Case("floordiv", Function::FloorDivide)
      .Case("remainder", Function::Remainder)
      .Case("pow", Function::Power)
      .Case("neg", Function::Negate)
      .Cases({"abs", "abs_int"}, Function::Absolute)
      .Case("floor", Function::Floor)
      .Case("ceil", Function::Ceil)
      .Case("round", Function::Round)
      .Case("trunc", Function::Trunc)
      .Case("sqrt", Function::Sqrt)
      .Cases({"min", "sym_min"}, Function::Min)
      .Cases({"max", "sym_max"}, Function::Max)
      .Case("eq", Function::Equal)
      .Case("ne", Function::NotEqual)
      .Case("lt", Function::Less)
      .Case("le", Function::LessEqual)
      .Case("gt", Function::Greater)
      .Case("ge", Function::GreaterEqual)
      .Cases({"__and__", "sym_and"}, Function::And)
      .Cases({"__or__", "sym_or"}, Function::Or)
      .Cases({"__not__", "sym_not"}, Function::Not)
      .Cases({"Int", "Float", "Bool", "item", "_local_scalar_dense", "sym_float"},
             Function::Convert)
      .Default(Function::None);
}

static double toDouble(const Number &number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}
/// Nothing for a float.
static std::optional<int64_t> toInt(const Number &number) {
  if (auto *value = std::get_if<int64_t>(&number))
    return *value;
  if (auto *value = std::get_if<bool>(&number))
    return *value;
  return std::nullopt;
}
static bool isTrue(const Number &number) { return toDouble(number) != 0; }

/// \p value as an int, if it is one exactly and int64 holds it.
static std::optional<Number> toIntOf(double value) {
  if (!(value >= -0x1p63 && value < 0x1p63))
    return std::nullopt;
  return Number(static_cast<int64_t>(value));
}

template <typename T> static std::optional<Number> wrap(std::optional<T> value) {
  return value ? std::optional(Number(*value)) : std::nullopt;
}

static std::optional<Number> getInteger(Function function, int64_t a, int64_t b) {
  switch (function) {
  case Function::Add:
    return wrap(llvm::checkedAdd(a, b));
  case Function::Sub:
    return wrap(llvm::checkedSub(a, b));
  case Function::Mul:
    return wrap(llvm::checkedMul(a, b));
  case Function::FloorDivide:
  case Function::Remainder: {
    if (b == 0 || (a == INT64_MIN && b == -1))
      return std::nullopt;
    int64_t quotient = a / b, rest = a % b;
    if (rest != 0 && (rest < 0) != (b < 0)) {
      --quotient;
      rest += b;
    }
    return Number(function == Function::FloorDivide ? quotient : rest);
  }
  case Function::Power: {
    if (b < 0 || b > 63)
      return std::nullopt;
    std::optional<int64_t> power = 1;
    for (int64_t i = 0; i < b && power; ++i)
      power = llvm::checkedMul(*power, a);
    return wrap(power);
  }
  default:
    return std::nullopt;
  }
}

static std::optional<Number> getFloat(Function function, double a, double b) {
  switch (function) {
  case Function::Add:
    return a + b;
  case Function::Sub:
    return a - b;
  case Function::Mul:
    return a * b;
  case Function::Divide:
    return b == 0 ? std::nullopt : std::optional(Number(a / b));
  case Function::FloorDivide:
    return b == 0 ? std::nullopt : std::optional(Number(std::floor(a / b)));
  case Function::Power:
    return std::pow(a, b);
  default:
    return std::nullopt;
  }
}

/// -1, 0, 1; nothing if a NaN is compared.
static std::optional<int> compare(const Number &a, const Number &b) {
  std::optional<int64_t> i = toInt(a), k = toInt(b);
  if (i && k)
    return (*i > *k) - (*i < *k);
  double x = toDouble(a), y = toDouble(b);
  if (std::isnan(x) || std::isnan(y))
    return std::nullopt;
  return (x > y) - (x < y);
}

static std::optional<Number> getBinary(Function function, const Number &a, const Number &b) {
  std::optional<int> order = compare(a, b);
  switch (function) {
  case Function::Equal:
    return Number(order == 0);
  case Function::NotEqual:
    return Number(order != 0);
  case Function::Less:
    return Number(order && *order < 0);
  case Function::LessEqual:
    return Number(order && *order <= 0);
  case Function::Greater:
    return Number(order && *order > 0);
  case Function::GreaterEqual:
    return Number(order && *order >= 0);
  case Function::And:
  case Function::Or:
    if (!std::holds_alternative<bool>(a) || !std::holds_alternative<bool>(b))
      return std::nullopt;
    return Number(function == Function::And ? isTrue(a) && isTrue(b) : isTrue(a) || isTrue(b));
  case Function::Min:
    return order ? std::optional(*order <= 0 ? a : b) : std::nullopt;
  case Function::Max:
    return order ? std::optional(*order >= 0 ? a : b) : std::nullopt;
  default:
    break;
  }
  std::optional<int64_t> i = toInt(a), k = toInt(b);
  return i && k && function != Function::Divide ? getInteger(function, *i, *k)
                                                : getFloat(function, toDouble(a), toDouble(b));
}

static std::optional<Number> getUnary(Function function, const Number &a) {
  std::optional<int64_t> i = toInt(a);
  double x = toDouble(a);
  switch (function) {
  case Function::Negate:
    return i ? wrap(llvm::checkedSub<int64_t>(0, *i)) : Number(-x);
  case Function::Absolute:
    return !i ? Number(std::abs(x)) : *i < 0 ? wrap(llvm::checkedSub<int64_t>(0, *i)) : Number(*i);
  case Function::Floor:
    return i ? Number(*i) : toIntOf(std::floor(x));
  case Function::Ceil:
    return i ? Number(*i) : toIntOf(std::ceil(x));
  case Function::Trunc:
    return i ? Number(*i) : toIntOf(std::trunc(x));
  case Function::Round:
    return i ? Number(*i) : toIntOf(std::nearbyint(x));
  case Function::Sqrt:
    return x < 0 ? std::nullopt : std::optional(Number(std::sqrt(x)));
  case Function::Not:
    return Number(!isTrue(a));
  case Function::Convert:
    return a;
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// From and to values
//===----------------------------------------------------------------------===//

/// A tensor of one element that holds a number of the program: what NumToTensor made, or
/// a literal.
static std::optional<Number> getElement(Value value);

static std::optional<Number> getNumber(Value value) {
  if (std::optional<bool> truth = torch_reader::getConstantBool(value))
    return Number(*truth);
  if (std::optional<int64_t> integer = torch_reader::getConstantInt(value))
    return Number(*integer);
  if (std::optional<double> number = torch_reader::getConstantFloat(value))
    return Number(*number);
  if (torch_reader::isTensor(value.getType()))
    return getElement(value);
  return std::nullopt;
}

static std::optional<Number> getElement(Value value) {
  Type element = torch_reader::getTensorElementType(value.getType());
  Operation *op = value.getDefiningOp();
  if (!element || !op)
    return std::nullopt;
  StringRef name = torch_reader::getShortName(op);
  if (name == "prim.NumToTensor.Scalar" || name == "aten.scalar_tensor") {
    std::optional<Number> number = getNumber(op->getOperand(0));
    // Only where nothing is rounded.
    bool isKept = number && ((element.isF64() && std::holds_alternative<double>(*number)) ||
                             (element.isInteger(64) && toInt(*number)));
    return isKept ? number : std::nullopt;
  }
  auto literal = dyn_cast_if_present<DenseElementsAttr>(torch_reader::getTensorLiteral(value));
  if (!literal || literal.getNumElements() != 1)
    return std::nullopt;
  if (auto type = dyn_cast<IntegerType>(literal.getElementType())) {
    APInt integer = *literal.value_begin<APInt>();
    if (type.getWidth() == 1)
      return Number(!integer.isZero());
    bool isUnsigned = isa<IntegerType>(element) && cast<IntegerType>(element).isUnsigned();
    if (isUnsigned && type.getWidth() >= 64)
      return std::nullopt;
    return Number(isUnsigned ? static_cast<int64_t>(integer.getZExtValue())
                             : integer.getSExtValue());
  }
  if (isa<FloatType>(literal.getElementType())) {
    APFloat number = *literal.value_begin<APFloat>();
    bool loses;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
    return Number(number.convertToDouble());
  }
  return std::nullopt;
}

static Value buildConstant(OpBuilder &builder, Location loc, Type type, StringRef name,
                           Attribute value) {
  OperationState state(loc, name);
  state.addAttribute("value", value);
  state.addTypes(type);
  return builder.create(state)->getResult(0);
}

Value torch_lowering::buildConstantInt(OpBuilder &builder, Location loc, int64_t value) {
  return buildConstant(builder, loc, torch_reader::IntType::get(builder.getContext()),
                       torch_reader::names::constantInt, builder.getI64IntegerAttr(value));
}

/// \p number as a constant of type \p type; null if it is none of that type.
static Value build(OpBuilder &builder, Location loc, Type type, const Number &number) {
  using namespace torch_reader::names;
  if (isa<torch_reader::IntType>(type)) {
    std::optional<int64_t> integer = toInt(number);
    if (!integer) // int() of a float
      if (std::optional<Number> cut = toIntOf(std::trunc(toDouble(number))))
        integer = std::get<int64_t>(*cut);
    return integer ? torch_lowering::buildConstantInt(builder, loc, *integer) : Value();
  }
  if (isa<torch_reader::FloatType>(type))
    return buildConstant(builder, loc, type, constantFloat,
                         builder.getF64FloatAttr(toDouble(number)));
  if (isa<torch_reader::BoolType>(type))
    return buildConstant(builder, loc, type, constantBool, builder.getBoolAttr(isTrue(number)));
  return {};
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static std::optional<Number> compute(Operation *op) {
  Function function = getFunction(op);
  if (function == Function::None)
    return std::nullopt;
  SmallVector<Number> numbers;
  SmallVector<Value> operands(op->getOperands());
  // min and max of a list.
  if (operands.size() == 1)
    if (std::optional<OperandRange> elements = torch_reader::getListElements(operands[0]))
      operands.assign(elements->begin(), elements->end());
  for (Value operand : operands) {
    std::optional<Number> number = getNumber(operand);
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.empty())
    return std::nullopt;
  if (function == Function::Min || function == Function::Max) {
    std::optional<Number> result = numbers.front();
    for (const Number &number : llvm::drop_begin(numbers))
      if (result)
        result = getBinary(function, *result, number);
    return result;
  }
  if (numbers.size() == 1)
    return getUnary(function, numbers[0]);
  // add.t and its like would come with lists, which are no numbers.
  return numbers.size() == 2 ? getBinary(function, numbers[0], numbers[1]) : std::nullopt;
}

/// Sizes, ranks and lengths: nothing if one that is asked for is not known.
static std::optional<int64_t> getSize(Operation *op) {
  StringRef name = torch_reader::getShortName(op);
  if (op->getNumOperands() == 0)
    return std::nullopt;
  if (name == "aten.len.t") {
    std::optional<OperandRange> elements = torch_reader::getListElements(op->getOperand(0));
    return elements ? std::optional<int64_t>(elements->size()) : std::nullopt;
  }
  std::optional<ArrayRef<int64_t>> sizes =
      torch_reader::getTensorShape(op->getOperand(0).getType());
  if (!sizes)
    return std::nullopt;
  auto rank = static_cast<int64_t>(sizes->size());
  if (name == "aten.dim")
    return rank;
  bool isSize = name == "aten.size.int" || name == "aten.sym_size.int";
  if (isSize && op->getNumOperands() == 2) {
    std::optional<int64_t> dim = torch_reader::getConstantInt(op->getOperand(1));
    if (!dim || *dim < -rank || *dim >= rank)
      return std::nullopt;
    int64_t size = (*sizes)[*dim < 0 ? *dim + rank : *dim];
    return size == ShapedType::kDynamic ? std::nullopt : std::optional(size);
  }
  bool isFirst = name == "aten.len.Tensor",
       isAll = name == "aten.numel" || name == "aten.sym_numel";
  if (llvm::is_contained(*sizes, ShapedType::kDynamic) || !(isFirst || isAll))
    return std::nullopt;
  if (isFirst)
    return rank > 0 ? std::optional(sizes->front()) : std::nullopt;
  std::optional<int64_t> count = 1;
  for (int64_t size : *sizes)
    count = count ? llvm::checkedMul(*count, size) : std::nullopt;
  return count;
}

static void replace(Operation *op, ValueRange values) {
  op->replaceAllUsesWith(values);
  op->erase();
}

bool torch_lowering::foldScalars(Operation *op, OpBuilder &builder) {
  StringRef name = torch_reader::getShortName(op);
  builder.setInsertionPoint(op);
  // Lists that are taken apart where they were made.
  if (torch_reader::isOp(op, torch_reader::names::listUnpack)) {
    std::optional<OperandRange> elements = torch_reader::getListElements(op->getOperand(0));
    if (!elements || elements->size() != op->getNumResults() ||
        !llvm::equal(elements->getTypes(), op->getResultTypes()))
      return false;
    replace(op, SmallVector<Value>(*elements));
    return true;
  }
  if (name == "aten.__getitem__.t" && op->getNumOperands() == 2) {
    std::optional<OperandRange> elements = torch_reader::getListElements(op->getOperand(0));
    std::optional<int64_t> index = torch_reader::getConstantInt(op->getOperand(1));
    if (!elements || !index)
      return false;
    auto size = static_cast<int64_t>(elements->size());
    int64_t at = *index < 0 ? *index + size : *index;
    if (at < 0 || at >= size || (*elements)[at].getType() != op->getResult(0).getType())
      return false;
    replace(op, Value((*elements)[at]));
    return true;
  }
  if (op->getNumResults() != 1)
    return false;
  if ((name == "aten.size" || name == "aten.sym_size") && op->getNumOperands() == 1) {
    std::optional<ArrayRef<int64_t>> sizes =
        torch_reader::getTensorShape(op->getOperand(0).getType());
    if (!sizes || llvm::is_contained(*sizes, ShapedType::kDynamic))
      return false;
    OperationState state(op->getLoc(), torch_reader::names::listConstruct);
    for (int64_t size : *sizes)
      state.addOperands(buildConstantInt(builder, op->getLoc(), size));
    state.addTypes(op->getResultTypes());
    replace(op, builder.create(state)->getResults());
    return true;
  }
  if (!isa<torch_reader::IntType, torch_reader::FloatType, torch_reader::BoolType>(
          op->getResult(0).getType()))
    return false;
  std::optional<Number> number;
  if (std::optional<int64_t> size = getSize(op))
    number = Number(*size);
  else
    number = compute(op);
  Value constant =
      number ? build(builder, op->getLoc(), op->getResult(0).getType(), *number) : Value();
  if (!constant)
    return false;
  replace(op, constant);
  return true;
}
