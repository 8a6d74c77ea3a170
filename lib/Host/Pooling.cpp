//===- Pooling.cpp - The largest or the mean of windows -------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pooling of one, two and three dims, with windows of a size or with as many windows as the
// result has places; see Windows.h.
//
//===----------------------------------------------------------------------===//

#include "Windows.h"

#include <algorithm>

namespace spyre::host {

/// Calls \p function for every window, channel after channel: with the channel's first
/// element, the window's offsets and coordinates, and the place in the result. The result
/// has the operand's leading dims.
template <typename F>
static void forEachWindow(const Ints &input, size_t rank, const Ints &output,
                          const Windows &windows, F function) {
  int64_t channels = getProduct(input, 0, input.size() - rank),
          inputs = getProduct(input, input.size() - rank, input.size()),
          outputs = getProduct(output, 0, rank);
  Odometer at(output);
  Ints offsets;
  for (int64_t place = 0; channels > 0 && place < outputs; ++place, at.advance()) {
    windows.list(at.get(), offsets);
    for (int64_t channel = 0; channel < channels; ++channel)
      function(channel * inputs, offsets, at.get(), channel * outputs + place);
  }
}

/// The operand's last \p rank dims; nothing, and a reason, if it has another rank than one
/// with channels and perhaps a batch.
static std::optional<Ints> getSpatial(Call &call, const Array &source, size_t rank) {
  size_t all = source.shape.size();
  if (call.isOk() && (source.isComplex() || (all != rank + 1 && all != rank + 2)))
    call.refuse("needs a real tensor of rank " + std::to_string(rank + 1) + " or " +
                std::to_string(rank + 2));
  if (!call.isOk())
    return std::nullopt;
  return Ints(source.shape.end() - static_cast<int64_t>(rank), source.shape.end());
}

static bool expectShapes(Call &call, const Array &source, const Ints &output) {
  Ints shape(source.shape.begin(), source.shape.end() - static_cast<int64_t>(output.size()));
  shape.insert(shape.end(), output.begin(), output.end());
  for (size_t k = 0; k < call.results.size(); ++k)
    if (!call.expectShape(shape, k))
      return false;
  return true;
}

/// As many places as windows fit; \p ceils: one more if it starts inside or in the padding
/// before.
static std::optional<Ints> countPlaces(Call &call, const Ints &input, const WindowShape &shape,
                                       bool ceils) {
  Ints output;
  for (size_t d = 0; d < input.size(); ++d) {
    int64_t stride = shape.stride[d], padding = shape.padding[d];
    int64_t room = input[d] + 2 * padding - shape.dilation[d] * (shape.kernel[d] - 1) - 1;
    if (shape.kernel[d] < 1 || padding > shape.kernel[d] / 2) {
      call.refuse("the padding is more than half of the kernel");
      return std::nullopt;
    }
    int64_t count = room < 0 && !ceils ? 0 : (room + (ceils ? stride - 1 : 0)) / stride + 1;
    if (ceils && (count - 1) * stride >= input[d] + padding)
      --count;
    if (count < 1 || input[d] < 1) {
      call.refuse("the window does not fit the input");
      return std::nullopt;
    }
    output.push_back(count);
  }
  return output;
}

//===----------------------------------------------------------------------===//
// The largest
//===----------------------------------------------------------------------===//

/// The first of the largest of each window, and its place in its channel; the last NaN wins.
static bool poolLargest(Call &call, const Array &source, const Ints &output,
                        const Windows &windows) {
  if (!expectShapes(call, source, output))
    return false;
  visit(source, [&](const auto &values) {
    if constexpr (!isComplexNumber<std::decay_t<decltype(values.front())>>)
      forEachWindow(source.shape, output.size(), output, windows,
                    [&](int64_t first, const Ints &offsets, const Ints &, int64_t place) {
                      int64_t best = Windows::kOutside;
                      for (int64_t offset : offsets)
                        if (offset != Windows::kOutside &&
                            (best == Windows::kOutside || isNaN(values[first + offset]) ||
                             values[first + offset] > values[first + best]))
                          best = offset;
                      if (best == Windows::kOutside) {
                        call.refuse("a window lies outside of the input");
                        return;
                      }
                      call.result.copy(place, source, first + best);
                      if (call.results.size() > 1)
                        call.results[1].set(place, best);
                    });
  });
  return call.isOk();
}

static Function maxPool(size_t rank, size_t results) {
  return [=](Call &call) {
    const Array &source = call.getArray(0);
    std::optional<Ints> input = getSpatial(call, source, rank);
    WindowShape shape;
    bool ceils = call.getBool(5, false);
    if (!input || !call.expectResults(results) || !getWindowShape(call, rank, 1, 2, 3, 4, shape))
      return false;
    std::optional<Ints> output = countPlaces(call, *input, shape, ceils);
    return output && expectShapes(call, source, *output) &&
           poolLargest(call, source, *output, Windows(*input, *output, shape, false));
  };
}

/// The result's extents in each dim; none keeps the operand's.
static std::optional<Ints> getAdaptiveOutput(Call &call, const Ints &input) {
  Ints output = call.getInts(1, input.size(), 1);
  for (int64_t extent : output)
    if (extent < 0 || extent > kMaxStep)
      call.refuse("an extent of the result is out of range");
  for (int64_t extent : input)
    if (extent == 0)
      call.refuse("the input is empty");
  return call.isOk() ? std::optional(output) : std::nullopt;
}

static Function adaptiveMaxPool(size_t rank) {
  return [=](Call &call) {
    const Array &source = call.getArray(0);
    std::optional<Ints> input = getSpatial(call, source, rank),
                        output = input ? getAdaptiveOutput(call, *input) : std::nullopt;
    return output && call.expectResults(2) && expectShapes(call, source, *output) &&
           poolLargest(call, source, *output, Windows(*input, *output));
  };
}

/// Each element of argument 0 is added where its index says in its channel of argument 1.
static Function maxPoolBackward(size_t rank) {
  return [rank](Call &call) {
    const Array &grad = call.getArray(0), &source = call.getArray(1), &index = call.getArray(7);
    std::optional<Ints> input = getSpatial(call, source, rank),
                        output = input ? getSpatial(call, grad, rank) : std::nullopt;
    if (!output || !call.expectShape(source.shape))
      return false;
    int64_t inputs = getProduct(*input, 0, rank), outputs = getProduct(*output, 0, rank);
    if (index.shape != grad.shape || !index.isInteger() || !grad.isFloat() ||
        getProduct(grad.shape, 0, grad.shape.size() - rank) !=
            getProduct(source.shape, 0, source.shape.size() - rank))
      return call.refuse("needs an index for every element, and the operand's channels");
    Array sums = makeArray(HostType::Float64, source.shape);
    for (int64_t i = 0, n = grad.getNumElements(); i < n; ++i) {
      int64_t place = index.integers[i];
      if (place < 0 || place >= inputs)
        return call.refuse("index " + std::to_string(place) +
                           " is out of bounds for a channel of " + std::to_string(inputs) +
                           " elements");
      sums.numbers[i / outputs * inputs + place] += grad.numbers[i];
    }
    for (int64_t i = 0, n = source.getNumElements(); i < n; ++i)
      call.result.copy(i, sums, i);
    return true;
  };
}

//===----------------------------------------------------------------------===//
// The mean
//===----------------------------------------------------------------------===//

/// \p getDivisor of a window's coordinates and of how many of its places are inside.
template <typename F>
static bool poolMean(Call &call, const Array &source, const Ints &output, const Windows &windows,
                     F getDivisor) {
  if (!expectShapes(call, source, output))
    return false;
  forEachWindow(source.shape, output.size(), output, windows,
                [&](int64_t first, const Ints &offsets, const Ints &at, int64_t place) {
                  double sum = 0;
                  int64_t count = 0;
                  for (int64_t offset : offsets)
                    if (offset != Windows::kOutside) {
                      sum += source.getNumber(first + offset);
                      ++count;
                    }
                  call.result.set(place, sum / static_cast<double>(getDivisor(at, count)));
                });
  return true;
}

static Function avgPool(size_t rank) {
  return [rank](Call &call) {
    const Array &source = call.getArray(0);
    std::optional<Ints> input = getSpatial(call, source, rank);
    WindowShape shape;
    bool ceils = call.getBool(4, false), countsPadding = call.getBool(5, true);
    int64_t divisor = call.getInt(6, 0);
    if (call.isOk() && call.isGiven(6) && divisor == 0)
      return call.refuse("divides by zero");
    if (!input || !getWindowShape(call, rank, 1, 2, 3, kNoArgument, shape))
      return false;
    std::optional<Ints> output = countPlaces(call, *input, shape, ceils);
    if (!output || !expectShapes(call, source, *output))
      return false;
    Windows windows(*input, *output, shape, false);
    return poolMean(call, source, *output, windows, [&](const Ints &at, int64_t count) {
      if (divisor != 0 || !countsPadding)
        return divisor != 0 ? divisor : count;
      // Of a window that sticks out, what lies in the padding counts.
      int64_t size = 1;
      for (size_t d = 0; d < rank; ++d) {
        int64_t begin = at[d] * shape.stride[d] - shape.padding[d];
        size *= std::min(begin + shape.kernel[d], (*input)[d] + shape.padding[d]) - begin;
      }
      return size;
    });
  };
}

static Function adaptiveAvgPool(size_t rank) {
  return [=](Call &call) {
    const Array &source = call.getArray(0);
    std::optional<Ints> input = getSpatial(call, source, rank),
                        output = input ? getAdaptiveOutput(call, *input) : std::nullopt;
    return output && expectShapes(call, source, *output) &&
           poolMean(call, source, *output, Windows(*input, *output),
                    [](const Ints &, int64_t count) { return count; });
  };
}

void addPooling(Table &table) {
  table["aten.max_pool1d"] = maxPool(1, 1);
  table["aten.max_pool2d"] = maxPool(2, 1);
  table["aten.max_pool3d"] = maxPool(3, 1);
  table["aten.max_pool1d_with_indices"] = maxPool(1, 2);
  table["aten.max_pool2d_with_indices"] = maxPool(2, 2);
  table["aten.max_pool3d_with_indices"] = maxPool(3, 2);
  table["aten.max_pool2d_with_indices_backward"] = maxPoolBackward(2);
  table["aten.max_pool3d_with_indices_backward"] = maxPoolBackward(3);
  table["aten.adaptive_max_pool1d"] = adaptiveMaxPool(1);
  table["aten.adaptive_max_pool2d"] = adaptiveMaxPool(2);
  table["aten.adaptive_max_pool3d"] = adaptiveMaxPool(3);
  table["aten.avg_pool1d"] = avgPool(1);
  table["aten.avg_pool2d"] = avgPool(2);
  table["aten.avg_pool3d"] = avgPool(3);
  table["aten.adaptive_avg_pool1d"] = adaptiveAvgPool(1);
  addAll(table, {"aten.adaptive_avg_pool2d", "aten._adaptive_avg_pool2d"}, adaptiveAvgPool(2));
  addAll(table, {"aten.adaptive_avg_pool3d", "aten._adaptive_avg_pool3d"}, adaptiveAvgPool(3));
}

} // namespace spyre::host
