//===- Quantization.cpp - Integers that stand for floats ------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantization by a scale and a zero point, of a whole tensor or of each channel.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include <algorithm>
#include <cmath>

namespace spyre::host {

namespace {
/// How elements become integers and back.
struct Steps {
  std::vector<double> scales;
  std::vector<double> zeroPoints;
  double least, most;
  int64_t inner; ///< element i has scale i / inner % scales

  size_t getChannel(int64_t i) const { return static_cast<size_t>(i / inner) % scales.size(); }
};

/// Positions of the arguments; \p axis only by channel.
struct Positions {
  size_t scale, zeroPoint, axis, least, most;
};
} // namespace

static constexpr size_t kNone = 99;

static std::optional<Steps> getSteps(Call &call, const Array &source, Positions at) {
  Array scales = call.getValue(at.scale);
  Array zeroPoints = call.isGiven(at.zeroPoint) ? call.getValue(at.zeroPoint)
                                                : makeArray(HostType::Int64, scales.shape);
  Steps steps;
  steps.least = call.getNumber(at.least);
  steps.most = call.getNumber(at.most);
  bool isByChannel = at.axis != kNone;
  size_t axis = isByChannel ? call.getDim(at.axis, source.shape.size()) : 0;
  int64_t channels = isByChannel && !source.shape.empty() ? source.shape[axis] : 1;
  if (call.isOk() && (scales.getNumElements() != channels ||
                      zeroPoints.getNumElements() != channels || channels < 1))
    call.refuse("needs a scale and a zero point " +
                std::string(isByChannel ? "a channel" : "each of one number"));
  if (call.isOk() && (source.isComplex() || std::isnan(steps.least) || std::isnan(steps.most)))
    call.refuse("is defined for real numbers and a range");
  if (!call.expectShape(source.shape))
    return std::nullopt;
  steps.inner = isByChannel && !source.shape.empty()
                    ? getProduct(source.shape, axis + 1, source.shape.size())
                    : std::max<int64_t>(source.getNumElements(), 1);
  for (int64_t c = 0; c < channels; ++c) {
    steps.scales.push_back(scales.getNumber(c));
    steps.zeroPoints.push_back(zeroPoints.getNumber(c));
  }
  return steps;
}

/// The integer for \p x in f32, ties to even.
static double quantize(const Steps &steps, double x, size_t channel) {
  float inverse = 1.0f / static_cast<float>(steps.scales[channel]);
  double value = std::nearbyint(static_cast<float>(x) * inverse) + steps.zeroPoints[channel];
  return std::fmin(std::fmax(value, steps.least), steps.most);
}

static double dequantize(const Steps &steps, double integer, size_t channel) {
  return static_cast<float>(integer - steps.zeroPoints[channel]) *
         static_cast<float>(steps.scales[channel]);
}

/// \p function of the steps, an element and its channel.
template <typename F> static Function convert(Positions at, F function) {
  return [=](Call &call) {
    const Array &source = call.getArray(0);
    std::optional<Steps> steps = getSteps(call, source, at);
    for (int64_t i = 0, n = steps ? source.getNumElements() : 0; i < n; ++i)
      call.result.set(i, function(*steps, source.getNumber(i), steps->getChannel(i)));
    return steps.has_value();
  };
}

/// Quantized and back; the second result tells what was in range.
static Function fake(Positions at) {
  return [at](Call &call) {
    const Array &source = call.getArray(0);
    std::optional<Steps> steps = getSteps(call, source, at);
    if (!steps || !call.expectResults(2) ||
        (call.results.size() > 1 && !call.expectShape(source.shape, 1)))
      return false;
    for (int64_t i = 0, n = source.getNumElements(); i < n; ++i) {
      size_t channel = steps->getChannel(i);
      double x = source.getNumber(i);
      call.result.set(i, dequantize(*steps, quantize(*steps, x, channel), channel));
      if (call.results.size() > 1) {
        float inverse = 1.0f / static_cast<float>(steps->scales[channel]);
        double whole = std::nearbyint(static_cast<float>(x) * inverse) + steps->zeroPoints[channel];
        call.results[1].set(i, int64_t(whole >= steps->least && whole <= steps->most));
      }
    }
    return true;
  };
}

void addQuantization(Table &table) {
  Positions whole{1, 2, kNone, 3, 4}, byChannel{1, 2, 3, 4, 5};
  addAll(table,
         {"quantized_decomposed.quantize_per_tensor",
          "quantized_decomposed.quantize_per_tensor.tensor",
          "quantized_decomposed.quantize_per_tensor.tensor2"},
         convert(whole, quantize));
  addAll(table,
         {"quantized_decomposed.dequantize_per_tensor",
          "quantized_decomposed.dequantize_per_tensor.tensor",
          "quantized_decomposed.dequantize_per_tensor.tensor2"},
         convert(whole, dequantize));
  table["quantized_decomposed.quantize_per_channel"] = convert(byChannel, quantize);
  table["quantized_decomposed.dequantize_per_channel"] = convert(byChannel, dequantize);
  addAll(table,
         {"aten.fake_quantize_per_tensor_affine",
          "aten.fake_quantize_per_tensor_affine.tensor_qparams",
          "aten.fake_quantize_per_tensor_affine_cachemask"},
         fake(whole));
  addAll(
      table,
      {"aten.fake_quantize_per_channel_affine", "aten.fake_quantize_per_channel_affine_cachemask"},
      fake(byChannel));
}

} // namespace spyre::host
