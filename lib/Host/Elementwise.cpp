//===- Elementwise.cpp - One element of the result from one of each -------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands are arrays, which broadcast, or numbers. Integers among themselves stay
// integers, but for what divides or takes roots.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include <algorithm>
#include <cfenv>
#include <cmath>

namespace spyre::host {

namespace {
/// An operand: an array or a number.
struct Operand {
  const Array *array = nullptr;
  double number = 0;
  int64_t integer = 0;
  bool isFloat = false;

  std::vector<int64_t> strides; ///< of the array, along the result's dims

  int64_t getIndex(const Odometer &at) const {
    return array ? spyre::host::getIndex(strides, at.get()) : 0;
  }
  double getNumber(int64_t i) const { return array ? array->getNumber(i) : number; }
  int64_t getInteger(int64_t i) const { return array ? array->getInteger(i) : integer; }
};
} // namespace

static bool isArray(Call &call, size_t i) {
  Call quiet(call);
  return quiet.getArray(i) != nullptr;
}

static std::optional<Operand> getOperand(Call &call, size_t i) {
  Operand operand;
  operand.isFloat = call.isFloat(i);
  if (isArray(call, i)) {
    operand.array = call.getArray(i);
    if (operand.array->shape.size() > call.result.shape.size()) {
      call.refuse("argument #" + std::to_string(i) + " has more dims than the result");
      return std::nullopt;
    }
    operand.strides = getBroadcastStrides(operand.array->shape, call.result.shape.size());
    return operand;
  }
  if (!operand.isFloat) {
    std::optional<int64_t> integer = call.getInt(i);
    if (!integer)
      return std::nullopt;
    operand.integer = *integer;
    operand.number = static_cast<double>(*integer);
    return operand;
  }
  std::optional<double> number = call.getNumber(i);
  if (!number)
    return std::nullopt;
  operand.number = *number;
  return operand;
}

static Function unary(double (*function)(double)) {
  return [function](Call &call) {
    std::optional<Operand> x = getOperand(call, 0);
    if (!x)
      return false;
    Odometer at(call.result.shape);
    for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i, at.advance())
      call.set(i, function(x->getNumber(x->getIndex(at))));
    return true;
  };
}

using OnNumbers = double (*)(double, double);
using OnIntegers = int64_t (*)(int64_t, int64_t);

/// \p left and \p right are positions; \p onIntegers may be null.
static bool combine(Call &call, size_t left, size_t right, OnNumbers onNumbers,
                    OnIntegers onIntegers) {
  std::optional<Operand> x = getOperand(call, left), y = x ? getOperand(call, right) : x;
  if (!y)
    return false;
  bool integers = onIntegers && !x->isFloat && !y->isFloat;
  Odometer at(call.result.shape);
  for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i, at.advance()) {
    int64_t a = x->getIndex(at), b = y->getIndex(at);
    if (integers)
      call.set(i, onIntegers(x->getInteger(a), y->getInteger(b)));
    else
      call.set(i, onNumbers(x->getNumber(a), y->getNumber(b)));
  }
  return true;
}

static void addBinary(Table &table, std::string_view tensor, std::string_view scalar,
                      OnNumbers onNumbers, OnIntegers onIntegers) {
  Function function = [=](Call &call) { return combine(call, 0, 1, onNumbers, onIntegers); };
  if (!tensor.empty())
    table[tensor] = function;
  if (!scalar.empty())
    table[scalar] = function;
}

/// x + sign * alpha * y.
static Function sum(double sign, bool reversed) {
  return [=](Call &call) {
    std::optional<Operand> x = getOperand(call, reversed ? 1 : 0),
                           y = x ? getOperand(call, reversed ? 0 : 1) : x;
    if (!y)
      return false;
    std::optional<double> alpha = call.getNumberOr(2, 1);
    if (!alpha)
      return false;
    bool integers = !x->isFloat && !y->isFloat && !call.isFloat(2);
    auto factor = static_cast<int64_t>(sign * *alpha);
    Odometer at(call.result.shape);
    for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i, at.advance()) {
      int64_t a = x->getIndex(at), b = y->getIndex(at);
      if (integers)
        call.set(i, static_cast<int64_t>(static_cast<uint64_t>(x->getInteger(a)) +
                                         static_cast<uint64_t>(factor) *
                                             static_cast<uint64_t>(y->getInteger(b))));
      else
        call.set(i, x->getNumber(a) + sign * *alpha * y->getNumber(b));
    }
    return true;
  };
}

static double floorMod(double x, double y) {
  double rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

static bool divideRounded(Call &call) {
  std::string mode = call.getText(2);
  if (mode == "floor")
    return combine(call, 0, 1, [](double x, double y) { return std::floor(x / y); }, nullptr);
  if (mode == "trunc")
    return combine(call, 0, 1, [](double x, double y) { return std::trunc(x / y); }, nullptr);
  return combine(call, 0, 1, [](double x, double y) { return x / y; }, nullptr);
}

/// Argument \p whenTrue where argument 0 holds, else argument \p whenFalse.
static Function select(size_t condition, size_t whenTrue, size_t whenFalse) {
  return [=](Call &call) {
    std::optional<Operand> c = getOperand(call, condition), x = c ? getOperand(call, whenTrue) : c,
                           y = x ? getOperand(call, whenFalse) : x;
    if (!y)
      return false;
    Odometer at(call.result.shape);
    for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i, at.advance()) {
      const Operand &from = c->getNumber(c->getIndex(at)) != 0 ? *x : *y;
      int64_t index = from.getIndex(at);
      if (from.isFloat)
        call.set(i, from.getNumber(index));
      else
        call.set(i, from.getInteger(index));
    }
    return true;
  };
}

static bool clamp(Call &call) {
  const Array *x = call.getArray(0);
  if (!x)
    return false;
  std::optional<double> low = call.getNumberOr(1, -INFINITY), high = call.getNumberOr(2, INFINITY);
  if (!low || !high)
    return false;
  for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i) {
    double value = x->getNumber(i);
    call.set(i, std::isnan(value) ? value : std::min(std::max(value, *low), *high));
  }
  return true;
}

static void addUnary(Table &table) {
  table["aten.neg"] = unary([](double x) { return -x; });
  table["aten.abs"] = unary([](double x) { return std::fabs(x); });
  table["aten.exp"] = unary([](double x) { return std::exp(x); });
  table["aten.log"] = unary([](double x) { return std::log(x); });
  table["aten.sqrt"] = unary([](double x) { return std::sqrt(x); });
  table["aten.rsqrt"] = unary([](double x) { return 1 / std::sqrt(x); });
  table["aten.reciprocal"] = unary([](double x) { return 1 / x; });
  table["aten.sin"] = unary([](double x) { return std::sin(x); });
  table["aten.cos"] = unary([](double x) { return std::cos(x); });
  table["aten.tanh"] = unary([](double x) { return std::tanh(x); });
  table["aten.sigmoid"] = unary([](double x) { return 1 / (1 + std::exp(-x)); });
  table["aten.relu"] = unary([](double x) { return x > 0 || std::isnan(x) ? x : 0; });
  table["aten.square"] = unary([](double x) { return x * x; });
  table["aten.floor"] = unary([](double x) { return std::floor(x); });
  table["aten.ceil"] = unary([](double x) { return std::ceil(x); });
  table["aten.trunc"] = unary([](double x) { return std::trunc(x); });
  table["aten.round"] = unary([](double x) { return std::nearbyint(x); });
  table["aten.sign"] = unary([](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; });
  table["aten.isnan"] = unary([](double x) { return std::isnan(x) ? 1.0 : 0.0; });
  table["aten.isinf"] = unary([](double x) { return std::isinf(x) ? 1.0 : 0.0; });
  table["aten.logical_not"] = unary([](double x) { return x == 0 ? 1.0 : 0.0; });
  table["aten.bitwise_not"] = [](Call &call) {
    const Array *x = call.getArray(0);
    if (!x)
      return false;
    bool isBool = x->dtype == HostType::Bool;
    for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i)
      call.set(i, isBool ? int64_t(x->getInteger(i) == 0) : ~x->getInteger(i));
    return true;
  };
}

void addElementwise(Table &table) {
  addUnary(table);
  for (const char *name : {"aten.add.Tensor", "aten.add.Scalar"})
    table[name] = sum(1, false);
  for (const char *name : {"aten.sub.Tensor", "aten.sub.Scalar"})
    table[name] = sum(-1, false);
  table["aten.rsub.Scalar"] = sum(-1, true);
  addBinary(
      table, "aten.mul.Tensor", "aten.mul.Scalar", [](double x, double y) { return x * y; },
      [](int64_t x, int64_t y) {
        return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
      });
  addBinary(
      table, "aten.div.Tensor", "aten.div.Scalar", [](double x, double y) { return x / y; },
      nullptr);
  addBinary(
      table, "aten.floor_divide", "aten.floor_divide.Scalar",
      [](double x, double y) { return std::floor(x / y); }, nullptr);
  table["aten.div.Tensor_mode"] = divideRounded;
  table["aten.div.Scalar_mode"] = divideRounded;
  addBinary(table, "aten.remainder.Tensor", "aten.remainder.Scalar", floorMod, nullptr);
  addBinary(
      table, "aten.pow.Tensor_Tensor", "aten.pow.Tensor_Scalar",
      [](double x, double y) { return std::pow(x, y); }, nullptr);
  addBinary(
      table, "aten.pow.Scalar", "", [](double x, double y) { return std::pow(x, y); }, nullptr);
  addBinary(
      table, "aten.minimum", "", [](double x, double y) { return std::isnan(x) || x < y ? x : y; },
      [](int64_t x, int64_t y) { return std::min(x, y); });
  addBinary(
      table, "aten.maximum", "", [](double x, double y) { return std::isnan(x) || x > y ? x : y; },
      [](int64_t x, int64_t y) { return std::max(x, y); });
#define SPYRE_COMPARE(NAME, OPERATOR)                                                              \
  addBinary(                                                                                       \
      table, "aten." NAME ".Tensor", "aten." NAME ".Scalar",                                       \
      [](double x, double y) { return x OPERATOR y ? 1.0 : 0.0; },                                 \
      [](int64_t x, int64_t y) { return int64_t(x OPERATOR y); })
  SPYRE_COMPARE("eq", ==);
  SPYRE_COMPARE("ne", !=);
  SPYRE_COMPARE("lt", <);
  SPYRE_COMPARE("le", <=);
  SPYRE_COMPARE("gt", >);
  SPYRE_COMPARE("ge", >=);
#undef SPYRE_COMPARE
  addBinary(
      table, "aten.logical_and", "",
      [](double x, double y) { return x != 0 && y != 0 ? 1.0 : 0.0; }, nullptr);
  addBinary(
      table, "aten.logical_or", "", [](double x, double y) { return x != 0 || y != 0 ? 1.0 : 0.0; },
      nullptr);
  addBinary(
      table, "aten.logical_xor", "",
      [](double x, double y) { return (x != 0) != (y != 0) ? 1.0 : 0.0; }, nullptr);
  // Only integers and bools come here.
  addBinary(
      table, "aten.bitwise_and.Tensor", "aten.bitwise_and.Scalar",
      [](double x, double y) { return x != 0 && y != 0 ? 1.0 : 0.0; },
      [](int64_t x, int64_t y) { return x & y; });
  addBinary(
      table, "aten.bitwise_or.Tensor", "aten.bitwise_or.Scalar",
      [](double x, double y) { return x != 0 || y != 0 ? 1.0 : 0.0; },
      [](int64_t x, int64_t y) { return x | y; });
  addBinary(
      table, "aten.bitwise_xor.Tensor", "aten.bitwise_xor.Scalar",
      [](double x, double y) { return (x != 0) != (y != 0) ? 1.0 : 0.0; },
      [](int64_t x, int64_t y) { return x ^ y; });
  for (const char *name :
       {"aten.where.self", "aten.where.Scalar", "aten.where.ScalarSelf", "aten.where.ScalarOther"})
    table[name] = select(0, 1, 2);
  for (const char *name : {"aten.masked_fill.Scalar", "aten.masked_fill.Tensor"})
    table[name] = select(1, 2, 0);
  table["aten.clamp"] = clamp;
  table["aten.clamp_min"] = clamp;
  table["aten.clamp_max"] = [](Call &call) {
    return combine(
        call, 0, 1, [](double x, double y) { return std::isnan(x) || x < y ? x : y; },
        [](int64_t x, int64_t y) { return std::min(x, y); });
  };
}

} // namespace spyre::host
