//===- Binary.cpp - Functions of several numbers --------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums, products, quotients, powers, comparisons, logic, choices: element by element from
// two or three operands; see Elementwise.h.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spyre::host {

static constexpr unsigned kReal = Integers | Floats, kAny = Integers | Floats | Complexes;

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

/// A number argument that scales: exact for integers.
namespace {
struct Factor {
  Factor(Call &call, size_t i)
      : whole(call.at(i).getFloat() ? 0 : call.getInt(i, 1)), number(call.getNumber(i, 1)) {}
  template <typename T> T scale(T x) const {
    if constexpr (isInteger<T>)
      return multiply(x, whole);
    else
      return T(number) * x;
  }
  int64_t whole;
  double number;
};
} // namespace

/// \p x + sign * alpha * \p y.
static Function sum(int sign, size_t x, size_t y) {
  return [=](Call &call) {
    Factor alpha(call, 2);
    return call.isOk() && map<kAny, 2>(call, {x, y}, [&](auto a, auto b) {
             auto term = alpha.scale(b);
             if constexpr (isInteger<decltype(a)>)
               return wrap(sign > 0 ? bits(a) + bits(term) : bits(a) - bits(term));
             else
               return sign > 0 ? a + term : a - term;
           });
  };
}

/// self + value * tensor1 * tensor2, or its quotient.
static Function addProduct(bool divides) {
  return [=](Call &call) {
    Factor value(call, 3);
    return call.isOk() && map<kAny, 3>(call, {0, 1, 2}, [&](auto x, auto a, auto b) {
             if constexpr (isInteger<decltype(x)>)
               return add(x, value.scale(multiply(a, b)));
             else
               return divides ? x + value.scale(a) / b : x + value.scale(a) * b;
           });
  };
}

//===----------------------------------------------------------------------===//
// Quotients
//===----------------------------------------------------------------------===//

template <typename T> static std::optional<T> divideTruncated(T x, T y) {
  if constexpr (isInteger<T>) {
    if (y == 0)
      return std::nullopt;
    return y == -1 ? wrap(0 - bits(x)) : x / y;
  } else {
    return std::trunc(x / y);
  }
}

/// The rest of truncation: of \p x's sign.
template <typename T> static std::optional<T> getRest(T x, T y) {
  if constexpr (isInteger<T>) {
    if (y == 0)
      return std::nullopt;
    return y == -1 ? 0 : x % y;
  } else {
    return std::fmod(x, y);
  }
}

/// x - y * floor(x / y): of \p y's sign.
template <typename T> static std::optional<T> getRemainder(T x, T y) {
  std::optional<T> rest = getRest(x, y);
  return rest && *rest != 0 && (*rest < 0) != (y < 0) ? *rest + y : rest;
}

/// The quotient that belongs to the remainder: x = q y + r. For floats what PyTorch's
/// documentation of floor division promises, in the computed type.
template <typename T> static std::optional<T> divideFloored(T x, T y) {
  if constexpr (isInteger<T>) {
    std::optional<T> quotient = divideTruncated(x, y), rest = getRest(x, y);
    if (quotient && *rest != 0 && (x < 0) != (y < 0))
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

template <typename T> static std::optional<T> raise(T x, T y) {
  if constexpr (isInteger<T>) {
    if (y < 0) // PyTorch's tensors among themselves: only of 1 and -1 something is left
      return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    uint64_t power = 1, base = bits(x);
    for (uint64_t rest = bits(y); rest; rest >>= 1, base *= base)
      if (rest & 1)
        power *= base;
    return wrap(power);
  } else {
    return std::pow(x, y);
  }
}

static bool divideBy(Call &call) {
  return map<Floats | Complexes, 2>(call, {0, 1}, [](auto x, auto y) { return x / y; });
}

static bool divideRounded(Call &call) {
  std::string mode = call.getText(2);
  if (mode == "floor")
    return map<kReal, 2>(call, {0, 1}, [](auto x, auto y) { return divideFloored(x, y); });
  if (mode == "trunc")
    return map<kReal, 2>(call, {0, 1}, [](auto x, auto y) { return divideTruncated(x, y); });
  if (call.isGiven(2))
    return call.refuse("'" + mode + "' is no rounding mode");
  return divideBy(call);
}

static void addArithmetic(Table &table) {
  addAll(table,
         {"aten.add.Tensor", "aten.add.Scalar", "aten.add.int", "aten.add.float_int", "aten.add"},
         sum(1, 0, 1));
  addAll(table,
         {"aten.sub.Tensor", "aten.sub.Scalar", "aten.sub.int", "aten.sub.float", "aten.sub"},
         sum(-1, 0, 1));
  addAll(table, {"aten.rsub.Tensor", "aten.rsub.Scalar"}, sum(-1, 1, 0));
  addAll(table,
         {"aten.mul.Tensor", "aten.mul.Scalar", "aten.mul.int", "aten.mul.float",
          "aten.mul.float_int", "aten.mul.int_float", "aten.mul"},
         binary<kAny>([](auto x, auto y) { return multiply(x, y); }));
  addAll(table, {"aten.div.Tensor", "aten.div.Scalar"}, divideBy);
  addAll(table, {"aten.div.Tensor_mode", "aten.div.Scalar_mode"}, divideRounded);
  addAll(table,
         {"aten.floor_divide", "aten.floor_divide.Scalar", "aten.floordiv.int", "aten.floordiv"},
         binary<kReal>([](auto x, auto y) { return divideFloored(x, y); }));
  addAll(
      table,
      {"aten.remainder.Tensor", "aten.remainder.Scalar", "aten.remainder.Scalar_Tensor",
       "aten.remainder.int"},
      binary<kReal>([](auto x, auto y) { return getRemainder(x, y); }, NumberRounding::ToCommon));
  addAll(table, {"aten.fmod.Tensor", "aten.fmod.Scalar"},
         binary<kReal>([](auto x, auto y) { return getRest(x, y); }, NumberRounding::ToCommon));
  addAll(table, {"aten.pow.Tensor_Tensor", "aten.pow.Scalar"},
         binary<kAny>([](auto x, auto y) { return raise(x, y); }));
  table["aten.pow.Tensor_Scalar"] = [](Call &call) {
    // Refused by PyTorch for an integer that is a number.
    if (const int64_t *power = call.at(1).getInt(); power && *power < 0 && call.result.isInteger())
      return call.refuse("an integer is divided by zero, or raised to a negative power");
    return map<kAny, 2>(call, {0, 1}, [](auto x, auto y) { return raise(x, y); });
  };
  table["aten.addcmul"] = addProduct(false);
  table["aten.addcdiv"] = addProduct(true);
  addAll(table, {"aten.lerp.Scalar", "aten.lerp.Tensor"}, [](Call &call) {
    return map<Floats | Complexes, 3>(call, {0, 1, 2}, [](auto start, auto end, auto weight) {
      return std::abs(weight) < 0.5 ? start + weight * (end - start)
                                    : end - (end - start) * (decltype(start)(1) - weight);
    });
  });
}

//===----------------------------------------------------------------------===//
// Other functions of two numbers
//===----------------------------------------------------------------------===//

template <typename T> static T logAddExp(T x, T y, T (*exp)(T), T (*log1p)(T)) {
  if (std::isinf(x) && x == y)
    return x;
  return std::max(x, y) + log1p(exp(-std::fabs(x - y)));
}

template <typename T> static T multiplyByLog(T x, T y) {
  return isNaN(y) ? y : x == 0 ? T(0) : x * std::log(y);
}

static void addFunctions(Table &table) {
  table["aten.atan2"] = binary<Floats>([](auto y, auto x) { return std::atan2(y, x); });
  table["aten.hypot"] = binary<Floats>([](auto x, auto y) { return std::hypot(x, y); });
  addAll(table, {"aten.copysign.Tensor", "aten.copysign.Scalar"},
         binary<Floats>([](auto x, auto y) { return std::copysign(x, y); }));
  addAll(table, {"aten.xlogy.Tensor", "aten.xlogy.Scalar_Self", "aten.xlogy.Scalar_Other"},
         binary<Floats>([](auto x, auto y) { return multiplyByLog(x, y); }));
  table["aten.logaddexp"] = binary<Floats>([](auto x, auto y) {
    using T = decltype(x);
    return logAddExp<T>(x, y, std::exp, std::log1p);
  });
  table["aten.logaddexp2"] = binary<Floats>([](auto x, auto y) {
    using T = decltype(x);
    return logAddExp<T>(x, y, std::exp2, [](T z) { return std::log1p(z) / std::log(T(2)); });
  });
  table["aten.heaviside"] = binary<kReal>([](auto x, auto y) {
    return isNaN(x) ? x : x == 0 ? y : decltype(x)(x > 0);
  });
  table["aten.gcd"] = binary<Integers>([](auto x, auto y) { return std::gcd(x, y); });
  table["aten.lcm"] = binary<Integers>([](auto x, auto y) { return std::lcm(x, y); });
  table["aten.complex"] = binary<Floats>([](auto x, auto y) { return std::complex<double>(x, y); });
  table["aten.polar"] = binary<Floats>([](auto radius, auto angle) {
    return std::complex<double>(radius * std::cos(angle), radius * std::sin(angle));
  });
}

//===----------------------------------------------------------------------===//
// Comparisons and logic
//===----------------------------------------------------------------------===//

template <unsigned D, typename F> static Function compare(F function) {
  return binary<D>(function, NumberRounding::ToCommon);
}

/// Shifts by too much, or by less than nothing, leave what an endless shift leaves.
static int64_t shiftLeft(int64_t x, int64_t by) {
  return by < 0 || by >= 64 ? 0 : wrap(bits(x) << by);
}
static int64_t shiftRight(int64_t x, int64_t by) { return x >> (by < 0 || by >= 64 ? 63 : by); }

static bool isClose(Call &call) {
  double relative = call.getNumber(2, 1e-5), absolute = call.getNumber(3, 1e-8);
  bool equalsNaN = call.getBool(4, false);
  return call.isOk() && map<kAny, 2>(call, {0, 1}, [&](auto x, auto y) {
           if (x == y)
             return true;
           if constexpr (isInteger<decltype(x)>) {
             double distance = std::fabs(static_cast<double>(x) - static_cast<double>(y));
             return distance <= absolute + std::fabs(relative * static_cast<double>(y));
           } else {
             if (isNaN(x) || isNaN(y))
               return equalsNaN && isNaN(x) && isNaN(y);
             double distance = std::abs(x - y);
             return std::isfinite(distance) && distance <= absolute + relative * std::abs(y);
           }
         });
}

static void addComparisons(Table &table) {
  addAll(table,
         {"aten.eq.Tensor", "aten.eq.Scalar", "aten.eq.int", "aten.eq.float", "aten.eq.float_int",
          "aten.eq.int_float", "aten.eq.bool"},
         compare<kAny>([](auto x, auto y) { return x == y; }));
  addAll(table,
         {"aten.ne.Tensor", "aten.ne.Scalar", "aten.ne.int", "aten.ne.float", "aten.ne.float_int",
          "aten.ne.int_float", "aten.ne.bool"},
         compare<kAny>([](auto x, auto y) { return x != y; }));
  addAll(table,
         {"aten.lt.Tensor", "aten.lt.Scalar", "aten.lt.int", "aten.lt.float", "aten.lt.float_int",
          "aten.lt.int_float"},
         compare<kReal>([](auto x, auto y) { return x < y; }));
  addAll(table,
         {"aten.le.Tensor", "aten.le.Scalar", "aten.le.int", "aten.le.float", "aten.le.float_int",
          "aten.le.int_float"},
         compare<kReal>([](auto x, auto y) { return x <= y; }));
  addAll(table,
         {"aten.gt.Tensor", "aten.gt.Scalar", "aten.gt.int", "aten.gt.float", "aten.gt.float_int",
          "aten.gt.int_float"},
         compare<kReal>([](auto x, auto y) { return x > y; }));
  addAll(table,
         {"aten.ge.Tensor", "aten.ge.Scalar", "aten.ge.int", "aten.ge.float", "aten.ge.float_int",
          "aten.ge.int_float"},
         compare<kReal>([](auto x, auto y) { return x >= y; }));
  table["aten.logical_and"] =
      compare<kAny>([](auto x, auto y) { return x != decltype(x)(0) && y != decltype(x)(0); });
  table["aten.logical_or"] =
      compare<kAny>([](auto x, auto y) { return x != decltype(x)(0) || y != decltype(x)(0); });
  table["aten.logical_xor"] =
      compare<kAny>([](auto x, auto y) { return (x != decltype(x)(0)) != (y != decltype(x)(0)); });
  table["aten.isclose"] = isClose;
  addAll(table,
         {"aten.bitwise_and.Tensor", "aten.bitwise_and.Scalar", "aten.__and__.Tensor",
          "aten.__and__.bool"},
         binary<Integers>([](auto x, auto y) { return x & y; }));
  addAll(table,
         {"aten.bitwise_or.Tensor", "aten.bitwise_or.Scalar", "aten.__or__.Tensor",
          "aten.__or__.bool"},
         binary<Integers>([](auto x, auto y) { return x | y; }));
  addAll(table, {"aten.bitwise_xor.Tensor", "aten.bitwise_xor.Scalar", "aten.__xor__.Tensor"},
         binary<Integers>([](auto x, auto y) { return x ^ y; }));
  addAll(table,
         {"aten.bitwise_left_shift.Tensor", "aten.bitwise_left_shift.Tensor_Scalar",
          "aten.__lshift__.Tensor", "aten.__lshift__.Scalar"},
         binary<Integers>([](auto x, auto y) { return shiftLeft(x, y); }));
  addAll(table,
         {"aten.bitwise_right_shift.Tensor", "aten.bitwise_right_shift.Tensor_Scalar",
          "aten.__rshift__.Tensor", "aten.__rshift__.Scalar"},
         binary<Integers>([](auto x, auto y) { return shiftRight(x, y); }));
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// Argument \p whenTrue where argument \p condition holds, else argument \p whenFalse.
static Function select(size_t condition, size_t whenTrue, size_t whenFalse) {
  return [=](Call &call) {
    HostType common, truth;
    size_t choices[] = {whenTrue, whenFalse};
    auto sources = getOperands(call, choices, common, NumberRounding::ToComputed);
    auto mask = getOperands(call, std::span(&condition, 1), truth, NumberRounding::ToCommon);
    if (!sources || !mask)
      return false;
    Array holds = castTo(mask->front().array, HostType::Bool);
    Odometer at(call.result.shape);
    for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i, at.advance()) {
      bool isTrue = holds.integers[getIndex(mask->front().strides, at.get())] != 0;
      const Operand &from = (*sources)[isTrue ? 0 : 1];
      call.result.copy(i, from.array, getIndex(from.strides, at.get()));
    }
    return true;
  };
}

/// Arguments \p low and \p high bound argument 0; what is not given does not.
static bool clampTo(Call &call, std::optional<size_t> low, std::optional<size_t> high) {
  auto atLeast = [](auto x, auto bound) { return isNaN(x) || bound < x ? x : bound; };
  auto atMost = [](auto x, auto bound) { return isNaN(x) || x < bound ? x : bound; };
  low = low && call.isGiven(*low) ? low : std::nullopt;
  high = high && call.isGiven(*high) ? high : std::nullopt;
  constexpr NumberRounding rounding = NumberRounding::ToCommon;
  if (low && high)
    return map<kReal, 3>(
        call, {0, *low, *high},
        [&](auto x, auto least, auto most) {
          return isNaN(least) ? least : atMost(atLeast(x, least), most);
        },
        rounding);
  if (low)
    return map<kReal, 2>(call, {0, *low}, atLeast, rounding);
  if (high)
    return map<kReal, 2>(call, {0, *high}, atMost, rounding);
  return call.refuse("has no bound");
}

static void addChoices(Table &table) {
  addAll(
      table,
      {"aten.where.self", "aten.where.Scalar", "aten.where.ScalarSelf", "aten.where.ScalarOther"},
      select(0, 1, 2));
  addAll(table, {"aten.masked_fill.Scalar", "aten.masked_fill.Tensor"}, select(1, 2, 0));
  addAll(table, {"aten.clamp", "aten.clamp.Tensor", "aten.clip", "aten.clip.Tensor"},
         [](Call &call) { return clampTo(call, 1, 2); });
  addAll(table, {"aten.clamp_min", "aten.clamp_min.Tensor"},
         [](Call &call) { return clampTo(call, 1, std::nullopt); });
  addAll(table, {"aten.clamp_max", "aten.clamp_max.Tensor"},
         [](Call &call) { return clampTo(call, std::nullopt, 1); });
  table["aten.minimum"] = binary<kReal>([](auto x, auto y) { return isNaN(x) || x < y ? x : y; });
  table["aten.maximum"] = binary<kReal>([](auto x, auto y) { return isNaN(x) || x > y ? x : y; });
  table["aten.fmin"] = binary<kReal>([](auto x, auto y) { return isNaN(y) || x < y ? x : y; });
  table["aten.fmax"] = binary<kReal>([](auto x, auto y) { return isNaN(y) || x > y ? x : y; });
}

void addBinary(Table &table) {
  addArithmetic(table);
  addFunctions(table);
  addComparisons(table);
  addChoices(table);
}

} // namespace spyre::host
