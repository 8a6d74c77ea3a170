//===- Unary.cpp - Functions of one number --------------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element by element from one operand; see Elementwise.h. Complex numbers where PyTorch has
// them.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

#include <cmath>
#include <numbers>

namespace spyre::host {

static constexpr unsigned kReal = Integers | Floats, kAny = Integers | Floats | Complexes,
                          kContinuous = Floats | Complexes;

/// Integers stay as they are.
template <typename F> static Function keepIntegers(F round) {
  return unary<kReal>([round](auto x) {
    if constexpr (isInteger<decltype(x)>)
      return x;
    else
      return round(x);
  });
}

/// The sign, of a complex number its direction.
template <typename T> static T getSign(T x) {
  if constexpr (isComplexNumber<T>)
    return x == T(0) ? T(0) : x / std::abs(x);
  else
    return x > 0 ? T(1) : x < 0 ? T(-1) : isInteger<T> ? T(0) : isNaN(x) ? T(0) : x;
}

template <typename T> static T sigmoid(T x) { return T(1) / (T(1) + std::exp(-x)); }

static void addSigns(Table &table) {
  addAll(table, {"aten.neg", "aten.neg.int", "aten.neg.float"}, unary<kAny>([](auto x) {
           if constexpr (isInteger<decltype(x)>)
             return wrap(0 - bits(x));
           else
             return -x;
         }));
  table["aten.abs"] = unary<kAny>([](auto x) {
    if constexpr (isInteger<decltype(x)>)
      return x < 0 ? wrap(0 - bits(x)) : x;
    else
      return std::abs(x);
  });
  addAll(table, {"aten.sign", "aten.sgn"}, unary<kAny>([](auto x) { return getSign(x); }));
  table["aten.signbit"] = unary<kReal>([](auto x) {
    if constexpr (isInteger<decltype(x)>)
      return x < 0;
    else
      return std::signbit(x);
  });
  addAll(table, {"aten.positive", "aten.real", "aten.resolve_conj", "aten.resolve_neg"},
         [](Call &call) { return map<kAny, 1>(call, {0}, [](auto x) { return x; }); });
  table["aten.imag"] = unary<Complexes>([](auto x) { return x.imag(); });
  addAll(table, {"aten.conj", "aten._conj", "aten.conj_physical", "aten._conj_physical"},
         unary<kAny>([](auto x) {
           if constexpr (isComplexNumber<decltype(x)>)
             return std::conj(x);
           else
             return x;
         }));
  table["aten.angle"] = unary<kContinuous>([](auto x) {
    if constexpr (isComplexNumber<decltype(x)>)
      return std::arg(x);
    else
      return x < 0 ? std::numbers::pi_v<decltype(x)> : isNaN(x) ? x : 0;
  });
}

static void addRounding(Table &table) {
  table["aten.floor"] = keepIntegers([](auto x) { return std::floor(x); });
  table["aten.ceil"] = keepIntegers([](auto x) { return std::ceil(x); });
  addAll(table, {"aten.trunc", "aten.fix"}, keepIntegers([](auto x) { return std::trunc(x); }));
  table["aten.round"] = keepIntegers([](auto x) { return std::nearbyint(x); });
  table["aten.round.decimals"] = [](Call &call) {
    double decimals = static_cast<double>(call.getInt(1, 0));
    return map<kReal, 1>(call, {0}, [&](auto x) {
      using T = decltype(x);
      if constexpr (isInteger<T>)
        return x;
      else {
        auto scale = static_cast<T>(std::pow(10.0, std::fabs(decimals)));
        return decimals < 0 ? std::nearbyint(x / scale) * scale : std::nearbyint(x * scale) / scale;
      }
    });
  };
  table["aten.frac"] = unary<Floats>([](auto x) { return x - std::trunc(x); });
  table["aten.isnan"] = unary<kAny>([](auto x) { return x != x; });
  table["aten.isfinite"] = unary<kAny>([](auto x) {
    if constexpr (isInteger<decltype(x)>)
      return true;
    else if constexpr (isComplexNumber<decltype(x)>)
      return std::isfinite(x.real()) && std::isfinite(x.imag());
    else
      return std::isfinite(x);
  });
  table["aten.isinf"] = unary<kAny>([](auto x) {
    if constexpr (isInteger<decltype(x)>)
      return false;
    else if constexpr (isComplexNumber<decltype(x)>)
      return std::isinf(x.real()) || std::isinf(x.imag());
    else
      return std::isinf(x);
  });
  table["aten.isposinf"] = unary<Floats>([](auto x) { return std::isinf(x) && x > 0; });
  table["aten.isneginf"] = unary<Floats>([](auto x) { return std::isinf(x) && x < 0; });
  table["aten.nan_to_num"] = [](Call &call) {
    double most = getLargest(call.result.dtype);
    double nan = call.getNumber(1, 0), high = call.getNumber(2, most),
           low = call.getNumber(3, -most);
    return call.isOk() && map<kReal, 1>(call, {0}, [&](auto x) {
             using T = decltype(x);
             if constexpr (isInteger<T>)
               return x;
             else
               return static_cast<double>(isNaN(x) ? nan : !std::isinf(x) ? x : x > 0 ? high : low);
           });
  };
}

static void addPowers(Table &table) {
  table["aten.square"] = unary<kAny>([](auto x) { return multiply(x, x); });
  table["aten.sqrt"] = unary<kContinuous>([](auto x) { return std::sqrt(x); });
  table["aten.rsqrt"] = unary<kContinuous>([](auto x) { return decltype(x)(1) / std::sqrt(x); });
  table["aten.reciprocal"] = unary<kContinuous>([](auto x) { return decltype(x)(1) / x; });
  table["aten.exp"] = unary<kContinuous>([](auto x) { return std::exp(x); });
  table["aten.exp2"] = unary<Floats>([](auto x) { return std::exp2(x); });
  table["aten.expm1"] = unary<Floats>([](auto x) { return std::expm1(x); });
  table["aten.log"] = unary<kContinuous>([](auto x) { return std::log(x); });
  table["aten.log2"] = unary<Floats>([](auto x) { return std::log2(x); });
  table["aten.log10"] = unary<kContinuous>([](auto x) { return std::log10(x); });
  table["aten.log1p"] = unary<Floats>([](auto x) { return std::log1p(x); });
  table["aten.sigmoid"] = unary<kContinuous>([](auto x) { return sigmoid(x); });
  table["aten.logit"] = [](Call &call) {
    bool clamps = call.isGiven(1);
    double eps = call.getNumber(1, 0);
    return call.isOk() && map<Floats, 1>(call, {0}, [&](auto x) {
             using T = decltype(x);
             T low = static_cast<T>(eps), high = static_cast<T>(1 - eps);
             T value = clamps ? (x < low ? low : x > high ? high : x) : x;
             return std::log(value / (1 - value));
           });
  };
}

static void addTrigonometry(Table &table) {
  table["aten.sin"] = unary<kContinuous>([](auto x) { return std::sin(x); });
  table["aten.cos"] = unary<kContinuous>([](auto x) { return std::cos(x); });
  table["aten.tan"] = unary<kContinuous>([](auto x) { return std::tan(x); });
  table["aten.sinh"] = unary<kContinuous>([](auto x) { return std::sinh(x); });
  table["aten.cosh"] = unary<kContinuous>([](auto x) { return std::cosh(x); });
  table["aten.tanh"] = unary<kContinuous>([](auto x) { return std::tanh(x); });
  table["aten.asin"] = unary<kContinuous>([](auto x) { return std::asin(x); });
  table["aten.acos"] = unary<kContinuous>([](auto x) { return std::acos(x); });
  table["aten.atan"] = unary<kContinuous>([](auto x) { return std::atan(x); });
  table["aten.asinh"] = unary<kContinuous>([](auto x) { return std::asinh(x); });
  table["aten.acosh"] = unary<kContinuous>([](auto x) { return std::acosh(x); });
  table["aten.atanh"] = unary<kContinuous>([](auto x) { return std::atanh(x); });
  table["aten.sinc"] = unary<Floats>([](auto x) {
    auto turned = std::numbers::pi_v<decltype(x)> * x;
    return x == 0 ? 1 : std::sin(turned) / turned;
  });
  table["aten.deg2rad"] =
      unary<Floats>([](auto x) { return x * (std::numbers::pi_v<decltype(x)> / 180); });
  table["aten.rad2deg"] =
      unary<Floats>([](auto x) { return x * (180 / std::numbers::pi_v<decltype(x)>); });
  table["aten.erf"] = unary<Floats>([](auto x) { return std::erf(x); });
  table["aten.erfc"] = unary<Floats>([](auto x) { return std::erfc(x); });
  table["aten.lgamma"] = unary<Floats>([](auto x) { return std::lgamma(x); });
}

void addUnary(Table &table) {
  addSigns(table);
  addRounding(table);
  addPowers(table);
  addTrigonometry(table);
  addAll(table, {"aten.logical_not", "aten.__not__"},
         unary<kAny>([](auto x) { return x == decltype(x)(0); }));
  table["aten.bitwise_not"] = [](Call &call) {
    bool isBool = call.result.dtype == HostType::Bool;
    return map<Integers, 1>(call, {0},
                            [=](auto x) { return isBool ? int64_t(x == 0) : ~int64_t(x); });
  };
}

} // namespace spyre::host
