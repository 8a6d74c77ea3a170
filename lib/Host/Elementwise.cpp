//===- Elementwise.cpp - One element of the result from one of each -------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands are arrays, which broadcast, or numbers. As in PyTorch, integers among
// themselves stay integers but for what divides or takes roots; an integer array beside a
// float number becomes f32; f16 and bf16 are computed in f32, and a number beside them is
// rounded to f32, in comparisons and remainders to their own type.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace spyre::host {

namespace {
/// An operand: an array or a number.
struct Operand {
  const Array *array = nullptr;
  std::vector<int64_t> strides; ///< of the array, along the result's dims
  double number = 0;
  int64_t integer = 0;
  bool isFloat = false;

  int64_t getIndex(const Odometer &at) const {
    return array ? spyre::host::getIndex(strides, at.get()) : 0;
  }
  double getNumber(int64_t i) const { return array ? array->getNumber(i) : number; }
  int64_t getInteger(int64_t i) const { return array ? array->getInteger(i) : integer; }
};
} // namespace

static std::optional<Operand> getOperand(Call &call, size_t i) {
  Operand operand;
  operand.isFloat = call.isFloat(i);
  Call quiet(call);
  if (const Array *array = quiet.getArray(i)) {
    operand.array = array;
    if (array->shape.size() > call.result.shape.size()) {
      call.refuse("argument #" + std::to_string(i) + " has more dims than the result");
      return std::nullopt;
    }
    operand.strides = getBroadcastStrides(array->shape, call.result.shape.size());
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

/// The float type that \p x and \p y are brought to: the widest of the float arrays, else
/// f32 (double if both are numbers).
static HostType getCommonFloat(const Operand &x, const Operand &y) {
  HostType common = HostType::Float32;
  bool any = false;
  for (const Operand *operand : {&x, &y}) {
    if (!operand->array || !operand->array->isFloat())
      continue;
    HostType own = operand->array->dtype;
    if (any && own != common) // f16 with bf16, or with a wider one
      common = own == HostType::Float64 || common == HostType::Float64 ? HostType::Float64
                                                                       : HostType::Float32;
    else
      common = own;
    any = true;
  }
  return common;
}

/// How a number beside arrays is rounded.
enum class NumberRounding { ToComputed, ToCommon };

/// \p function of two numbers of type T, for T = float, double and, where \p Integers, int64_t.
template <bool Integers, typename F>
static bool combine(Call &call, size_t left, size_t right, F function,
                    NumberRounding rounding = NumberRounding::ToComputed) {
  std::optional<Operand> x = getOperand(call, left), y = x ? getOperand(call, right) : x;
  if (!y)
    return false;
  Odometer at(call.result.shape);
  int64_t n = call.result.getNumElements();
  if constexpr (Integers) {
    if (!x->isFloat && !y->isFloat) {
      for (int64_t i = 0; i < n; ++i, at.advance()) {
        std::optional<int64_t> value =
            function(x->getInteger(x->getIndex(at)), y->getInteger(y->getIndex(at)));
        if (!value)
          return call.refuse("an integer is divided by zero, or raised to a negative power");
        call.set(i, *value);
      }
      return true;
    }
  }
  HostType common = getCommonFloat(*x, *y);
  for (Operand *operand : {&*x, &*y})
    if (!operand->array && rounding == NumberRounding::ToCommon)
      operand->number = roundTo(common, operand->number);
  for (int64_t i = 0; i < n; ++i, at.advance()) {
    double a = x->getNumber(x->getIndex(at)), b = y->getNumber(y->getIndex(at));
    if (common == HostType::Float64)
      call.set(i, static_cast<double>(function(a, b)));
    else
      call.set(i, static_cast<double>(function(static_cast<float>(a), static_cast<float>(b))));
  }
  return true;
}

/// \p function of one number, for float and double and, where \p Integers, int64_t.
template <bool Integers, typename F> static Function unary(F function) {
  return [function](Call &call) {
    std::optional<Operand> x = getOperand(call, 0);
    if (!x)
      return false;
    Odometer at(call.result.shape);
    bool isDouble = x->array && x->array->dtype == HostType::Float64;
    for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i, at.advance()) {
      int64_t index = x->getIndex(at);
      if constexpr (Integers) {
        if (!x->isFloat) {
          call.set(i, static_cast<int64_t>(function(x->getInteger(index))));
          continue;
        }
      }
      double value = x->getNumber(index);
      call.set(i, isDouble ? static_cast<double>(function(value))
                           : static_cast<double>(function(static_cast<float>(value))));
    }
    return true;
  };
}

template <typename T> static constexpr bool isInteger = std::is_same_v<T, int64_t>;

// Integers wrap.
static int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }
static uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

/// x + sign * alpha * y.
static Function sum(int sign, bool reversed) {
  return [=](Call &call) {
    std::optional<double> alpha = call.getNumberOr(2, 1);
    if (!alpha)
      return false;
    std::optional<int64_t> whole;
    if (!call.isFloat(2))
      whole = call.getIntOr(2, 1);
    return combine<true>(call, reversed ? 1 : 0, reversed ? 0 : 1, [&](auto x, auto y) {
      using T = decltype(x);
      if constexpr (isInteger<T>) {
        uint64_t factor = bits(whole ? *whole : static_cast<int64_t>(*alpha));
        uint64_t term = factor * bits(y);
        return std::optional<int64_t>(wrap(sign > 0 ? bits(x) + term : bits(x) - term));
      } else {
        T term = static_cast<T>(*alpha) * y;
        return sign > 0 ? x + term : x - term;
      }
    });
  };
}

static bool multiply(Call &call) {
  return combine<true>(call, 0, 1, [](auto x, auto y) {
    if constexpr (isInteger<decltype(x)>)
      return std::optional<int64_t>(wrap(bits(x) * bits(y)));
    else
      return x * y;
  });
}

static bool divide(Call &call) {
  return combine<false>(call, 0, 1, [](auto x, auto y) { return x / y; });
}

//===----------------------------------------------------------------------===//
// Rounded quotients
//===----------------------------------------------------------------------===//

/// x - y * floor(x / y); nothing for integers modulo zero.
template <typename T> static auto getRemainder(T x, T y) {
  if constexpr (isInteger<T>) {
    if (y == 0)
      return std::optional<int64_t>();
    int64_t rest = y == -1 ? 0 : x % y;
    return std::optional<int64_t>(rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest);
  } else {
    T rest = std::fmod(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
  }
}

template <typename T> static auto divideTruncated(T x, T y) {
  if constexpr (isInteger<T>) {
    if (y == 0)
      return std::optional<int64_t>();
    return std::optional<int64_t>(y == -1 ? wrap(0 - bits(x)) : x / y);
  } else {
    return std::trunc(x / y);
  }
}

/// The quotient that belongs to the remainder: x = q y + r. For floats what PyTorch's
/// documentation of floor division promises, in the computed type.
template <typename T> static auto divideFloored(T x, T y) {
  if constexpr (isInteger<T>) {
    std::optional<int64_t> quotient = divideTruncated(x, y);
    if (quotient && y != -1 && x % y != 0 && (x < 0) != (y < 0))
      --*quotient;
    return quotient;
  } else {
    if (y == 0)
      return x / y;
    T rest = std::fmod(x, y), quotient = (x - rest) / y;
    if (rest != 0 && (rest < 0) != (y < 0))
      quotient -= 1;
    if (quotient == 0)
      return std::copysign(T(0), x / y);
    T whole = std::floor(quotient);
    return quotient - whole > T(0.5) ? whole + 1 : whole;
  }
}

static bool divideRounded(Call &call) {
  std::string mode = call.getText(2);
  if (mode == "floor")
    return combine<true>(call, 0, 1, [](auto x, auto y) { return divideFloored(x, y); });
  if (mode == "trunc")
    return combine<true>(call, 0, 1, [](auto x, auto y) { return divideTruncated(x, y); });
  return divide(call);
}

static bool raise(Call &call) {
  return combine<true>(call, 0, 1, [](auto x, auto y) {
    using T = decltype(x);
    if constexpr (isInteger<T>) {
      if (y < 0)
        return std::optional<int64_t>();
      uint64_t power = 1, base = bits(x);
      for (uint64_t rest = bits(y); rest; rest >>= 1, base *= base)
        if (rest & 1)
          power *= base;
      return std::optional<int64_t>(wrap(power));
    } else {
      return std::pow(x, y);
    }
  });
}

//===----------------------------------------------------------------------===//
// Comparisons, logic, choices
//===----------------------------------------------------------------------===//

template <typename F> static Function compare(F function) {
  return [function](Call &call) {
    return combine<true>(
        call, 0, 1,
        [&](auto x, auto y) {
          using T = decltype(x);
          if constexpr (isInteger<T>)
            return std::optional<int64_t>(function(x, y));
          else
            return function(x, y) ? T(1) : T(0);
        },
        NumberRounding::ToCommon);
  };
}

/// \p onIntegers of the bits; bools have one.
template <typename F> static Function bitwise(F onIntegers) {
  return [onIntegers](Call &call) {
    if (call.isFloat(0) || call.isFloat(1))
      return call.refuse("floats have no bits");
    return combine<true>(call, 0, 1, [&](auto x, auto y) {
      using T = decltype(x);
      if constexpr (isInteger<T>)
        return std::optional<int64_t>(onIntegers(x, y));
      else
        return T(0);
    });
  };
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

/// Arguments \p low and \p high bound argument 0; what is not given does not.
static bool clampTo(Call &call, std::optional<size_t> low, std::optional<size_t> high) {
  const Array *x = call.getArray(0);
  if (!x)
    return false;
  bool hasLow = low && call.isGiven(*low), hasHigh = high && call.isGiven(*high);
  bool integers =
      !x->isFloat() && !(hasLow && call.isFloat(*low)) && !(hasHigh && call.isFloat(*high));
  int64_t n = call.result.getNumElements();
  if (integers) {
    std::optional<int64_t> least = hasLow ? call.getInt(*low) : INT64_MIN,
                           most = hasHigh ? call.getInt(*high) : INT64_MAX;
    if (!least || !most)
      return false;
    for (int64_t i = 0; i < n; ++i)
      call.set(i, std::min(std::max(x->getInteger(i), *least), *most));
    return true;
  }
  std::optional<double> least = hasLow ? call.getNumber(*low) : -INFINITY,
                        most = hasHigh ? call.getNumber(*high) : INFINITY;
  if (!least || !most)
    return false;
  for (int64_t i = 0; i < n; ++i) {
    double value = x->getNumber(i);
    call.set(i, std::isnan(value) ? value : std::min(std::max(value, *least), *most));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static void addUnary(Table &table) {
  table["aten.neg"] = unary<true>([](auto x) {
    if constexpr (isInteger<decltype(x)>)
      return wrap(0 - bits(x));
    else
      return -x;
  });
  table["aten.abs"] = unary<true>([](auto x) {
    if constexpr (isInteger<decltype(x)>)
      return x < 0 ? wrap(0 - bits(x)) : x;
    else
      return std::fabs(x);
  });
  table["aten.square"] = unary<true>([](auto x) {
    if constexpr (isInteger<decltype(x)>)
      return wrap(bits(x) * bits(x));
    else
      return x * x;
  });
  table["aten.relu"] = unary<true>([](auto x) {
    using T = decltype(x);
    return x > 0 || x != x ? x : T(0);
  });
  table["aten.sign"] = unary<true>([](auto x) {
    using T = decltype(x);
    return x > 0 ? T(1) : x < 0 ? T(-1) : x;
  });
  table["aten.exp"] = unary<false>([](auto x) { return std::exp(x); });
  table["aten.log"] = unary<false>([](auto x) { return std::log(x); });
  table["aten.sqrt"] = unary<false>([](auto x) { return std::sqrt(x); });
  table["aten.rsqrt"] = unary<false>([](auto x) { return 1 / std::sqrt(x); });
  table["aten.reciprocal"] = unary<false>([](auto x) { return 1 / x; });
  table["aten.sin"] = unary<false>([](auto x) { return std::sin(x); });
  table["aten.cos"] = unary<false>([](auto x) { return std::cos(x); });
  table["aten.tanh"] = unary<false>([](auto x) { return std::tanh(x); });
  table["aten.sigmoid"] = unary<false>([](auto x) { return 1 / (1 + std::exp(-x)); });
  auto keepIntegers = [](auto round) {
    return unary<true>([round](auto x) {
      if constexpr (isInteger<decltype(x)>)
        return x;
      else
        return round(x);
    });
  };
  table["aten.floor"] = keepIntegers([](auto x) { return std::floor(x); });
  table["aten.ceil"] = keepIntegers([](auto x) { return std::ceil(x); });
  table["aten.trunc"] = keepIntegers([](auto x) { return std::trunc(x); });
  table["aten.round"] = keepIntegers([](auto x) { return std::nearbyint(x); });
  table["aten.isnan"] = unary<false>([](auto x) { return std::isnan(x) ? 1 : 0; });
  table["aten.isinf"] = unary<false>([](auto x) { return std::isinf(x) ? 1 : 0; });
  table["aten.logical_not"] = unary<true>([](auto x) { return x == 0 ? 1 : 0; });
  table["aten.bitwise_not"] = [](Call &call) {
    const Array *x = call.getArray(0);
    if (!x || x->isFloat())
      return call.refuse("floats have no bits");
    bool isBool = x->dtype == HostType::Bool;
    for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i)
      call.set(i, isBool ? int64_t(x->getInteger(i) == 0) : ~x->getInteger(i));
    return true;
  };
}

static void addBoth(Table &table, std::string_view tensor, std::string_view scalar,
                    const Function &function) {
  table[tensor] = function;
  table[scalar] = function;
}

void addElementwise(Table &table) {
  addUnary(table);
  addBoth(table, "aten.add.Tensor", "aten.add.Scalar", sum(1, false));
  addBoth(table, "aten.sub.Tensor", "aten.sub.Scalar", sum(-1, false));
  table["aten.rsub.Scalar"] = sum(-1, true);
  addBoth(table, "aten.mul.Tensor", "aten.mul.Scalar", multiply);
  addBoth(table, "aten.div.Tensor", "aten.div.Scalar", divide);
  addBoth(table, "aten.div.Tensor_mode", "aten.div.Scalar_mode", divideRounded);
  addBoth(table, "aten.floor_divide", "aten.floor_divide.Scalar", [](Call &call) {
    return combine<true>(call, 0, 1, [](auto x, auto y) { return divideFloored(x, y); });
  });
  addBoth(table, "aten.remainder.Tensor", "aten.remainder.Scalar", [](Call &call) {
    return combine<true>(
        call, 0, 1, [](auto x, auto y) { return getRemainder(x, y); }, NumberRounding::ToCommon);
  });
  addBoth(table, "aten.pow.Tensor_Tensor", "aten.pow.Tensor_Scalar", raise);
  table["aten.pow.Scalar"] = raise;
  table["aten.minimum"] = [](Call &call) {
    return combine<true>(call, 0, 1, [](auto x, auto y) {
      if constexpr (isInteger<decltype(x)>)
        return std::optional<int64_t>(std::min(x, y));
      else
        return std::isnan(x) || x < y ? x : y;
    });
  };
  table["aten.maximum"] = [](Call &call) {
    return combine<true>(call, 0, 1, [](auto x, auto y) {
      if constexpr (isInteger<decltype(x)>)
        return std::optional<int64_t>(std::max(x, y));
      else
        return std::isnan(x) || x > y ? x : y;
    });
  };
  addBoth(table, "aten.eq.Tensor", "aten.eq.Scalar",
          compare([](auto x, auto y) { return x == y; }));
  addBoth(table, "aten.ne.Tensor", "aten.ne.Scalar",
          compare([](auto x, auto y) { return x != y; }));
  addBoth(table, "aten.lt.Tensor", "aten.lt.Scalar", compare([](auto x, auto y) { return x < y; }));
  addBoth(table, "aten.le.Tensor", "aten.le.Scalar",
          compare([](auto x, auto y) { return x <= y; }));
  addBoth(table, "aten.gt.Tensor", "aten.gt.Scalar", compare([](auto x, auto y) { return x > y; }));
  addBoth(table, "aten.ge.Tensor", "aten.ge.Scalar",
          compare([](auto x, auto y) { return x >= y; }));
  table["aten.logical_and"] = compare([](auto x, auto y) { return x != 0 && y != 0; });
  table["aten.logical_or"] = compare([](auto x, auto y) { return x != 0 || y != 0; });
  table["aten.logical_xor"] = compare([](auto x, auto y) { return (x != 0) != (y != 0); });
  addBoth(table, "aten.bitwise_and.Tensor", "aten.bitwise_and.Scalar",
          bitwise([](int64_t x, int64_t y) { return x & y; }));
  addBoth(table, "aten.bitwise_or.Tensor", "aten.bitwise_or.Scalar",
          bitwise([](int64_t x, int64_t y) { return x | y; }));
  addBoth(table, "aten.bitwise_xor.Tensor", "aten.bitwise_xor.Scalar",
          bitwise([](int64_t x, int64_t y) { return x ^ y; }));
  for (const char *name :
       {"aten.where.self", "aten.where.Scalar", "aten.where.ScalarSelf", "aten.where.ScalarOther"})
    table[name] = select(0, 1, 2);
  for (const char *name : {"aten.masked_fill.Scalar", "aten.masked_fill.Tensor"})
    table[name] = select(1, 2, 0);
  table["aten.clamp"] = [](Call &call) { return clampTo(call, 1, 2); };
  table["aten.clamp_min"] = [](Call &call) { return clampTo(call, 1, std::nullopt); };
  table["aten.clamp_max"] = [](Call &call) { return clampTo(call, std::nullopt, 1); };
}

} // namespace spyre::host
