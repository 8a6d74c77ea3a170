//===- Norms.cpp - Lanes brought to one scale -----------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Softmax and the normalizations: each lane is shifted and scaled by what it holds, in
// double, and every element is rounded once.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spyre::host {

/// The operand in double; null, and a reason, unless it is of floats.
static std::optional<Array> getFloats(Call &call, size_t i) {
  const Array &array = call.getArray(i);
  if (call.isOk() && !array.isFloat())
    call.refuse("is defined for floats");
  return call.isOk() ? std::optional(array) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

namespace {
enum class Softmax { Plain, Log, Safe };
} // namespace

static Function softmax(Softmax kind) {
  return [kind](Call &call) {
    // Cast to the result's type first.
    Array source = castTo(call.getArray(0), call.result.dtype);
    size_t dim = call.getDim(1, source.shape.size());
    if (!source.isFloat())
      return call.refuse("is defined for floats");
    if (!call.expectShape(source.shape))
      return false;
    Lanes lanes(source.shape, {static_cast<int64_t>(dim)});
    for (int64_t l = 0; l < lanes.getCount(); ++l) {
      Lane lane(source.numbers, lanes, l);
      double largest = -INFINITY, sum = 0;
      for (int64_t i = 0; i < lane.size(); ++i)
        largest = std::isnan(lane[i]) || lane[i] > largest ? lane[i] : largest;
      for (int64_t i = 0; i < lane.size(); ++i)
        sum += std::exp(lane[i] - largest);
      for (int64_t i = 0; i < lane.size(); ++i) {
        double shifted = lane[i] - largest, value = std::exp(shifted) / sum;
        if (kind == Softmax::Log)
          value = shifted - std::log(sum);
        else if (kind == Softmax::Safe && largest == -INFINITY)
          value = 0;
        call.result.set(lanes.bases[l] + lanes.offsets[i], value);
      }
    }
    return true;
  };
}

//===----------------------------------------------------------------------===//
// Normalizations
//===----------------------------------------------------------------------===//

namespace {
/// How lanes are scaled, and where weights and biases are for an element.
struct Normalization {
  const Array *weight = nullptr, *bias = nullptr;
  /// Element i has weight i / inner % count.
  int64_t inner = 1, count = 1;
  double epsilon = 0;
  bool isCentered = true; ///< else by the root of the mean square
  Ints momentsShape;      ///< of results 1 (mean, if it is centered) and 2
};
} // namespace

static bool checkParameters(Call &call, const Normalization &how) {
  for (const Array *parameter : {how.weight, how.bias})
    if (parameter && (!parameter->isFloat() || parameter->getNumElements() != how.count))
      return call.refuse("needs weights and biases of " + std::to_string(how.count) + " floats");
  return call.isOk();
}

/// Element \p i of \p x, with this mean and reciprocal deviation.
static double normalizeElement(const Normalization &how, double x, double mean, double scale,
                               int64_t i) {
  int64_t channel = i / how.inner % how.count;
  double value = (x - mean) * scale;
  value *= how.weight ? how.weight->numbers[channel] : 1;
  return value + (how.bias ? how.bias->numbers[channel] : 0);
}

/// Scales every lane by its own moments, which become results 1 and 2 if these are there.
static bool normalize(Call &call, const Array &x, const Lanes &lanes, const Normalization &how) {
  if (!call.expectShape(x.shape) || !checkParameters(call, how))
    return false;
  for (size_t k = 1; k < call.results.size(); ++k)
    if (!call.expectShape(how.momentsShape, k))
      return false;
  for (int64_t l = 0; l < lanes.getCount(); ++l) {
    Lane lane(x.numbers, lanes, l);
    auto n = static_cast<double>(lane.size());
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < lane.size(); ++i)
      sum += lane[i];
    double mean = how.isCentered ? sum / n : 0;
    for (int64_t i = 0; i < lane.size(); ++i)
      squares += (lane[i] - mean) * (lane[i] - mean);
    double scale = 1 / std::sqrt(squares / n + how.epsilon);
    for (int64_t i = 0; i < lane.size(); ++i) {
      int64_t place = lanes.bases[l] + lanes.offsets[i];
      call.result.set(place, normalizeElement(how, lane[i], mean, scale, place));
    }
    size_t next = 1;
    if (how.isCentered && call.results.size() > next)
      call.results[next++].set(l, mean);
    if (call.results.size() > next)
      call.results[next].set(l, scale);
  }
  return true;
}

/// Dims from \p first to before \p end.
static Ints listDims(size_t first, size_t end) {
  Ints dims(end - first);
  std::iota(dims.begin(), dims.end(), static_cast<int64_t>(first));
  return dims;
}

/// Over the last dims, which argument 1 tells the extents of.
static Function layerNorm(bool isCentered, size_t results) {
  return [=](Call &call) {
    std::optional<Array> x = getFloats(call, 0);
    Ints normalized = call.getInts(1);
    Normalization how;
    how.isCentered = isCentered;
    how.weight = call.getArrayOrNone(2);
    how.bias = isCentered ? call.getArrayOrNone(3) : nullptr;
    double least = call.result.dtype == HostType::Float64 ? 0x1p-52 : 0x1p-23;
    how.epsilon = isCentered ? call.getNumber(4, 1e-5) : call.getNumber(3, least);
    if (!x || !call.isOk() || !call.expectResults(results))
      return false;
    size_t rank = x->shape.size();
    if (normalized.empty() || normalized.size() > rank ||
        !std::equal(normalized.rbegin(), normalized.rend(), x->shape.rbegin()))
      return call.refuse("normalizes dims " + toString(normalized) +
                         ", which are not the last of " + toString(x->shape));
    how.count = getProduct(normalized, 0, normalized.size());
    how.momentsShape.assign(x->shape.begin(),
                            x->shape.end() - static_cast<int64_t>(normalized.size()));
    how.momentsShape.resize(rank, 1);
    return normalize(call, *x, Lanes(x->shape, listDims(rank - normalized.size(), rank)), how);
  };
}

/// Over some of the channels and all that is behind them.
static bool normalizeGroups(Call &call, const Array &x, int64_t groups, Normalization how) {
  if (x.shape.size() < 2 || groups < 1 || x.shape[1] % groups != 0)
    return call.refuse("needs channels that the groups divide");
  how.count = x.shape[1];
  how.inner = getProduct(x.shape, 2, x.shape.size());
  how.momentsShape = {x.shape[0], groups};
  Lanes lanes({x.shape[0] * groups, x.shape[1] / groups * how.inner}, {1});
  return normalize(call, x, lanes, how);
}

static bool nativeGroupNorm(Call &call) {
  std::optional<Array> x = getFloats(call, 0);
  Normalization how;
  how.weight = call.getArrayOrNone(1);
  how.bias = call.getArrayOrNone(2);
  int64_t groups = call.getInt(6);
  how.epsilon = call.getNumber(7);
  return x && call.isOk() && call.expectResults(3) && normalizeGroups(call, *x, groups, how);
}

static bool groupNorm(Call &call) {
  std::optional<Array> x = getFloats(call, 0);
  int64_t groups = call.getInt(1);
  Normalization how;
  how.weight = call.getArrayOrNone(2);
  how.bias = call.getArrayOrNone(3);
  how.epsilon = call.getNumber(4, 1e-5);
  return x && call.isOk() && call.expectResults(1) && normalizeGroups(call, *x, groups, how);
}

namespace {
/// Positions of a batch normalization's arguments: weight and bias are 1 and 2.
struct BatchNorm {
  size_t mean, variance, training, epsilon;
  bool alwaysTrains = false;
};
} // namespace

/// Over everything but the channels; in inference with moments that are given.
static Function batchNorm(BatchNorm at) {
  return [at](Call &call) {
    std::optional<Array> x = getFloats(call, 0);
    Normalization how;
    how.weight = call.getArrayOrNone(1);
    how.bias = call.getArrayOrNone(2);
    bool trains = at.alwaysTrains || call.getBool(at.training, false);
    how.epsilon = call.getNumber(at.epsilon);
    if (!x || !call.isOk())
      return false;
    if (x->shape.size() < 2)
      return call.refuse("needs a tensor with channels");
    if (!call.expectResults(3))
      return false;
    how.count = x->shape[1];
    how.inner = getProduct(x->shape, 2, x->shape.size());
    how.momentsShape = {how.count};
    if (trains) {
      Ints dims = listDims(0, x->shape.size());
      dims.erase(dims.begin() + 1);
      return normalize(call, *x, Lanes(x->shape, dims), how);
    }
    std::optional<Array> mean = getFloats(call, at.mean), variance = getFloats(call, at.variance);
    Normalization given;
    given.weight = mean ? &*mean : nullptr;
    given.bias = variance ? &*variance : nullptr;
    given.count = how.count;
    if (!call.expectShape(x->shape) || !checkParameters(call, how) || !checkParameters(call, given))
      return false;
    for (int64_t i = 0, n = x->getNumElements(); i < n; ++i) {
      int64_t channel = i / how.inner % how.count;
      double scale = 1 / std::sqrt(variance->numbers[channel] + how.epsilon);
      call.result.set(i, normalizeElement(how, x->numbers[i], mean->numbers[channel], scale, i));
    }
    // Of no use in inference, and empty.
    for (size_t k = 1; k < call.results.size(); ++k)
      if (!call.expectShape({0}, k))
        return false;
    return true;
  };
}

void addNorms(Table &table) {
  addAll(table, {"aten._softmax", "aten.softmax.int"}, softmax(Softmax::Plain));
  addAll(table, {"aten._log_softmax", "aten.log_softmax.int"}, softmax(Softmax::Log));
  table["aten._safe_softmax"] = softmax(Softmax::Safe);
  table["aten.native_layer_norm"] = layerNorm(true, 3);
  table["aten.layer_norm"] = layerNorm(true, 1);
  table["aten.rms_norm"] = layerNorm(false, 1);
  table["aten._fused_rms_norm"] = layerNorm(false, 2);
  table["aten.native_group_norm"] = nativeGroupNorm;
  table["aten.group_norm"] = groupNorm;
  addAll(table, {"aten.native_batch_norm", "aten._native_batch_norm_legit", "aten.batch_norm"},
         batchNorm({3, 4, 5, 7}));
  table["aten._native_batch_norm_legit_no_training"] = batchNorm({3, 4, 99, 6});
  table["aten._native_batch_norm_legit.no_stats"] = batchNorm({99, 99, 3, 5, true});
}

} // namespace spyre::host
