//===- Activations.cpp - Activation functions -----------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of one number and constants, element by element; see Elementwise.h. f16 and bf16
// are computed in f32 and rounded once.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

#include <cmath>
#include <numbers>

namespace spyre::host {

/// A number argument, or its default.
namespace {
struct Constant {
  size_t argument;
  double otherwise;
};
} // namespace

/// \p function of an element and of constants, in the element's type.
template <typename F, typename... C> static Function activation(F function, C... constants) {
  return [=](Call &call) {
    std::array<double, sizeof...(C)> values = {
        call.getNumber(constants.argument, constants.otherwise)...};
    return call.isOk() && map<Floats, 1>(call, {0}, [&](auto x) {
             return std::apply(
                 [&](auto... value) { return function(x, static_cast<decltype(x)>(value)...); },
                 values);
           });
  };
}

template <typename T> static T sigmoid(T x) { return 1 / (1 + std::exp(-x)); }
/// NaN stays.
template <typename T> static T limit(T x, T low, T high) {
  return x < low ? low : x > high ? high : x;
}
template <typename T> static T softplus(T x, T beta, T threshold) {
  return x * beta > threshold ? x : std::log1p(std::exp(x * beta)) / beta;
}
template <typename T> static T elu(T x, T alpha, T scale, T inputScale) {
  return x <= 0 ? std::expm1(x * inputScale) * alpha * scale : x * scale;
}

static bool gelu(Call &call) {
  std::string approximation = call.getText(1);
  if (approximation == "tanh")
    return map<Floats, 1>(call, {0}, [](auto x) {
      using T = decltype(x);
      constexpr T beta = std::numbers::sqrt2_v<T> * std::numbers::inv_sqrtpi_v<T>;
      return T(0.5) * x * (1 + std::tanh(beta * (x + T(0.044715) * x * x * x)));
    });
  if (!approximation.empty() && approximation != "none")
    return call.refuse("'" + approximation + "' is no approximation of gelu");
  return map<Floats, 1>(call, {0}, [](auto x) {
    using T = decltype(x);
    return x * T(0.5) * (1 + std::erf(x / std::numbers::sqrt2_v<T>));
  });
}

/// The first half of a dim times the sigmoid of the second.
static bool glu(Call &call) {
  const Array &x = call.getArray(0);
  size_t dim = call.getDim(1, x.shape.size(), -1);
  if (!call.isOk())
    return false;
  if (x.shape.empty() || x.shape[dim] % 2 != 0)
    return call.refuse("halves a dim of an odd extent");
  Ints shape = x.shape;
  shape[dim] /= 2;
  if (!call.expectShape(shape) || !x.isFloat())
    return call.refuse("is defined for floats");
  int64_t half = getProduct(shape, dim, shape.size());
  for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i) {
    int64_t at = i / half * 2 * half + i % half;
    call.result.set(i, x.numbers[at] * sigmoid(x.numbers[at + half]));
  }
  return true;
}

/// The weight belongs to dim 1, or to everything.
static bool prelu(Call &call) {
  const Array &x = call.getArray(0), &weight = call.getArray(1);
  if (!call.expectShape(x.shape))
    return false;
  int64_t channels = x.shape.size() > 1 ? x.shape[1] : 1, count = weight.getNumElements();
  int64_t inner = x.shape.size() > 1 ? getProduct(x.shape, 2, x.shape.size()) : 1;
  if (!x.isFloat() || !weight.isFloat() || (count != 1 && count != channels))
    return call.refuse("needs floats, and one weight or one a channel");
  for (int64_t i = 0, n = x.getNumElements(); i < n; ++i) {
    double factor = weight.numbers[count == 1 ? 0 : i / inner % channels];
    call.result.set(i, x.numbers[i] > 0 ? x.numbers[i] : x.numbers[i] * factor);
  }
  return true;
}

/// In inference the identity, and everything is kept.
static bool dropout(Call &call) {
  double probability = call.getNumber(1);
  if (call.getBool(2, true) && probability != 0)
    return call.refuse("draws random numbers in training");
  if (!call.expectShape(call.getArray(0).shape))
    return false;
  if (call.results.size() > 1) {
    if (!call.expectResults(2) || !call.expectShape(call.getArray(0).shape, 1))
      return false;
    for (int64_t i = 0, n = call.results[1].getNumElements(); i < n; ++i)
      call.results[1].set(i, int64_t(1));
  }
  return map<Integers | Floats | Complexes, 1>(call, {0}, [](auto x) { return x; });
}

/// In inference a slope in the middle; what was drawn is no part.
static bool randomLeaky(Call &call) {
  const Array &x = call.getArray(0);
  double slope = (call.getNumber(2, 0.125) + call.getNumber(3, 1.0 / 3)) / 2;
  if (call.getBool(4, false))
    return call.refuse("draws random numbers in training");
  if (!call.expectShape(x.shape))
    return false;
  if (call.results.size() > 1) {
    const Array &noise = call.getArray(1);
    if (!call.expectShape(noise.shape, 1))
      return false;
    for (int64_t i = 0, n = noise.getNumElements(); i < n; ++i)
      call.results[1].copy(i, noise, i);
  }
  return map<Floats, 1>(call, {0},
                        [&](auto y) { return y > 0 ? y : y * static_cast<decltype(y)>(slope); });
}

/// By what was drawn in training, else by the slope in the middle.
static bool randomLeakyBackward(Call &call) {
  bool trains = call.getBool(5, false);
  double lower = call.getNumber(3), upper = call.getNumber(4), slope = (lower + upper) / 2;
  if (!call.isOk())
    return false;
  if (trains && upper - lower > 1e-6)
    return map<Floats, 2>(call, {0, 2}, [](auto grad, auto noise) { return grad * noise; });
  return map<Floats, 2>(call, {0, 1}, [&](auto grad, auto x) {
    return x > 0 ? grad : grad * static_cast<decltype(x)>(slope);
  });
}

void addActivations(Table &table) {
  table["aten.gelu"] = gelu;
  table["aten.glu"] = glu;
  table["aten.prelu"] = prelu;
  table["aten.rrelu_with_noise_backward"] = randomLeakyBackward;
  table["aten.rrelu_with_noise_functional"] = randomLeaky;
  addAll(table, {"aten.dropout", "aten.native_dropout"}, dropout);
  table["aten._prelu_kernel"] = binary<Floats>([](auto x, auto w) { return x > 0 ? x : x * w; });
  table["aten.relu"] = unary<Integers | Floats>([](auto x) { return x < 0 ? decltype(x)(0) : x; });
  table["aten.relu6"] =
      unary<Integers | Floats>([](auto x) { return limit<decltype(x)>(x, 0, 6); });
  table["aten.silu"] = unary<Floats>([](auto x) { return x / (1 + std::exp(-x)); });
  table["aten.mish"] = unary<Floats>([](auto x) { return x * std::tanh(std::log1p(std::exp(x))); });
  table["aten.log_sigmoid"] =
      unary<Floats>([](auto x) { return (x < 0 ? x : 0) - std::log1p(std::exp(-std::fabs(x))); });
  table["aten.hardsigmoid"] =
      unary<Floats>([](auto x) { return limit<decltype(x)>(x + 3, 0, 6) / 6; });
  table["aten.hardswish"] =
      unary<Floats>([](auto x) { return x * limit<decltype(x)>(x + 3, 0, 6) / 6; });
  table["aten.hardtanh"] =
      activation([](auto x, auto low, auto high) { return limit(x, low, high); }, Constant{1, -1},
                 Constant{2, 1});
  table["aten.leaky_relu"] =
      activation([](auto x, auto slope) { return x > 0 ? x : x * slope; }, Constant{1, 0.01});
  table["aten.threshold"] =
      activation([](auto x, auto threshold, auto value) { return x <= threshold ? value : x; },
                 Constant{1, 0}, Constant{2, 0});
  table["aten.softplus"] =
      activation([](auto x, auto beta, auto threshold) { return softplus(x, beta, threshold); },
                 Constant{1, 1}, Constant{2, 20});
  table["aten.elu"] = activation([](auto x, auto alpha, auto scale,
                                    auto inputScale) { return elu(x, alpha, scale, inputScale); },
                                 Constant{1, 1}, Constant{2, 1}, Constant{3, 1});
  table["aten.celu"] = activation(
      [](auto x, auto alpha) { return elu<decltype(x)>(x, alpha, 1, 1 / alpha); }, Constant{1, 1});
  table["aten.selu"] = unary<Floats>([](auto x) {
    using T = decltype(x);
    return elu<T>(x, T(1.6732632423543772848170429916717), T(1.0507009873554804934193349852946), 1);
  });
  table["aten.softshrink"] = activation(
      [](auto x, auto by) {
        return x > by ? x - by : x < -by ? x + by : isNaN(x) ? x : x * 0;
      },
      Constant{1, 0.5});
  table["aten.hardshrink"] =
      activation([](auto x, auto by) { return x >= -by && x <= by ? x * 0 : x; }, Constant{1, 0.5});
}

} // namespace spyre::host
