//===- Convolution.cpp - Convolutions and windows -------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A convolution is a product of the weight with a matrix of what its windows cover, made for
// some of the result's places at a time. Windows are shared with pooling; see Windows.h.
//
//===----------------------------------------------------------------------===//

#include "Contractions.h"
#include "Windows.h"

#include <algorithm>

namespace spyre::host {

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

Windows::Windows(const Ints &input, const Ints &output, const WindowShape &shape, bool isTransposed)
    : strides(getStrides(input)), places(input.size()) {
  for (size_t d = 0; d < input.size(); ++d)
    for (int64_t o = 0; o < output[d]; ++o) {
      Ints &window = places[d].emplace_back();
      for (int64_t k = 0; k < shape.kernel[d]; ++k) {
        int64_t at = isTransposed ? o + shape.padding[d] - k * shape.dilation[d]
                                  : o * shape.stride[d] - shape.padding[d] + k * shape.dilation[d];
        bool isPlace = !isTransposed || at % shape.stride[d] == 0;
        at = isTransposed ? at / shape.stride[d] : at;
        window.push_back(isPlace && at >= 0 && at < input[d] ? at : kOutside);
      }
    }
}

Windows::Windows(const Ints &input, const Ints &output)
    : strides(getStrides(input)), places(input.size()) {
  for (size_t d = 0; d < input.size(); ++d)
    for (int64_t o = 0; o < output[d]; ++o) {
      Ints &window = places[d].emplace_back();
      int64_t end = ((o + 1) * input[d] + output[d] - 1) / output[d];
      for (int64_t at = o * input[d] / output[d]; at < end; ++at)
        window.push_back(at);
    }
}

void Windows::list(const Ints &at, Ints &offsets) const {
  offsets.assign(1, 0);
  Ints longer;
  for (size_t d = 0; d < places.size(); ++d) {
    longer.clear();
    for (int64_t offset : offsets)
      for (int64_t place : places[d][at[d]])
        longer.push_back(offset == kOutside || place == kOutside ? kOutside
                                                                 : offset + place * strides[d]);
    offsets.swap(longer);
  }
}

bool getWindowShape(Call &call, size_t rank, size_t kernel, size_t stride, size_t padding,
                    size_t dilation, WindowShape &shape) {
  if (kernel != kNoArgument)
    shape.kernel = call.getInts(kernel, rank, 1);
  bool hasStride = call.isGiven(stride) && !(call.isList(stride) && call.getInts(stride).empty());
  shape.stride = hasStride               ? call.getInts(stride, rank, 1)
                 : kernel != kNoArgument ? shape.kernel
                                         : Ints(rank, 1);
  shape.padding = call.getInts(padding, rank, 0);
  shape.dilation = call.getInts(dilation, rank, 1);
  if (!call.isOk())
    return false;
  constexpr int64_t kMost = int64_t(1) << 24;
  for (size_t d = 0; d < rank; ++d)
    if (shape.kernel[d] < 0 || shape.stride[d] < 1 || shape.padding[d] < 0 ||
        shape.dilation[d] < 1 || shape.kernel[d] > kMost || shape.stride[d] > kMost ||
        shape.padding[d] > kMost || shape.dilation[d] > kMost)
      return call.refuse("a kernel size, stride, padding or dilation is out of range");
  int64_t places = 1;
  for (int64_t extent : shape.kernel)
    if ((places *= std::max<int64_t>(extent, 1)) > kMost)
      return call.refuse("the kernel is too large");
  return true;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
struct Convolution {
  WindowShape window;
  Ints outputPadding;
  bool isTransposed = false;
  int64_t groups = 1;
};
} // namespace

/// Elements of the matrix of covered places that are made at a time.
static constexpr int64_t kMaxCovered = int64_t(1) << 22;

/// A transposed convolution's weight [in, out / groups, ...] as [out, in / groups, ...].
static Array turnWeight(const Array &weight, int64_t groups) {
  int64_t in = weight.shape[0] / groups, out = weight.shape[1];
  int64_t taps = getProduct(weight.shape, 2, weight.shape.size());
  Ints shape = weight.shape;
  shape[0] = out * groups;
  shape[1] = in;
  Array turned = makeArray(weight.dtype, shape);
  for (int64_t i = 0, n = weight.getNumElements(); i < n; ++i) {
    int64_t tap = i % taps, o = i / taps % out, channel = i / taps / out % in,
            group = i / taps / out / in;
    turned.copy(((group * out + o) * in + channel) * taps + tap, weight, i);
  }
  return turned;
}

/// Of dense operands in one wide type: \p x [batch, in, ...], \p weight [out, in / groups, ...].
template <typename T>
static void convolve(const Array &x, const Array &weight, Array &result, const Windows &windows,
                     int64_t groups) {
  size_t rank = x.shape.size();
  int64_t batches = x.shape[0], in = x.shape[1] / groups, out = weight.shape[0] / groups,
          taps = getProduct(weight.shape, 2, rank), inputs = getProduct(x.shape, 2, rank);
  Ints spatial(result.shape.begin() + 2, result.shape.end());
  int64_t outputs = getProduct(spatial, 0, spatial.size());
  int64_t chunk = std::clamp<int64_t>(kMaxCovered / std::max<int64_t>(in * taps, 1), 1,
                                      std::max<int64_t>(outputs, 1));
  Odometer at(spatial);
  std::vector<Ints> covered(chunk);
  std::vector<T> columns(in * taps * chunk), products(out * chunk);
  for (int64_t first = 0; first < outputs; first += chunk) {
    int64_t count = std::min(chunk, outputs - first);
    for (int64_t o = 0; o < count; ++o, at.advance())
      windows.list(at.get(), covered[o]);
    for (int64_t part = 0; part < batches * groups; ++part) {
      const T *from = getElements<T>(x).data() + part * in * inputs;
      for (int64_t row = 0; row < in * taps; ++row)
        for (int64_t o = 0; o < count; ++o) {
          int64_t offset = covered[o][row % taps];
          columns[row * count + o] =
              offset == Windows::kOutside ? T(0) : from[row / taps * inputs + offset];
        }
      std::fill(products.begin(), products.end(), T(0));
      multiplyMatrices<T>(getElements<T>(weight).data() + part % groups * out * in * taps,
                          columns.data(), products.data(), out, count, in * taps);
      for (int64_t i = 0; i < out * count; ++i)
        result.set((part * out + i / count) * outputs + first + i % count, products[i]);
    }
  }
}

static bool convolve(Call &call, const Array &input, const Array &weight, const Array *bias,
                     Convolution how) {
  size_t rank = weight.shape.size();
  int64_t groups = how.groups;
  Ints shape = input.shape;
  bool isBatched = shape.size() == rank;
  if (!isBatched)
    shape.insert(shape.begin(), 1);
  if (!call.isOk() || rank < 3 || shape.size() != rank)
    return call.refuse("needs an input and a weight of one rank, of at least 3");
  const Ints &window = how.window.kernel;
  int64_t outChannels = how.isTransposed ? weight.shape[1] * groups : weight.shape[0],
          inChannels = how.isTransposed ? weight.shape[0] : weight.shape[1] * groups;
  if (groups < 1 || groups > weight.shape[0] || weight.shape[0] % groups || shape[1] != inChannels)
    return call.refuse("a weight of shape " + toString(weight.shape) + " in " +
                       std::to_string(groups) + " groups does not fit an input of " +
                       toString(input.shape));
  if (bias && bias->shape != Ints{outChannels})
    return call.refuse("needs a bias a channel");
  Ints out = {shape[0], outChannels};
  for (size_t d = 0; d + 2 < rank; ++d) {
    int64_t covered = how.window.dilation[d] * (window[d] - 1), extent = shape[d + 2],
            stride = how.window.stride[d], padding = how.window.padding[d];
    int64_t size = how.isTransposed
                       ? (extent - 1) * stride - 2 * padding + covered + how.outputPadding[d] + 1
                       : extent + 2 * padding - covered - 1;
    if (size < 0 || window[d] < 1 || extent > kMaxStep)
      return call.refuse("the window does not fit the input");
    out.push_back(how.isTransposed ? size : size / stride + 1);
  }
  Ints expected = out;
  if (!isBatched)
    expected.erase(expected.begin());
  if (!call.expectShape(expected))
    return false;
  HostType wide = promote(getWideType(input), getWideType(weight));
  Array x = castTo(input, wide),
        w = castTo(how.isTransposed ? turnWeight(weight, groups) : weight, wide),
        sums = makeArray(wide, out);
  x.shape = shape;
  Windows windows(Ints(shape.begin() + 2, shape.end()), Ints(out.begin() + 2, out.end()),
                  how.window, how.isTransposed);
  visit(sums, [&](auto &values) {
    using T = std::decay_t<decltype(values.front())>;
    convolve<T>(x, w, sums, windows, groups);
    Array added = bias ? castTo(*bias, wide) : makeArray(wide, {outChannels});
    int64_t outputs = getProduct(out, 2, rank);
    for (int64_t i = 0, n = sums.getNumElements(); i < n; ++i)
      call.result.set(i, add(values[i], getElements<T>(added)[i / outputs % outChannels]));
  });
  return true;
}

namespace {
/// Positions of arguments.
struct Positions {
  size_t padding, dilation, outputPadding, groups;
};
} // namespace

/// \p isTransposed: by an argument if nothing.
static Function convolution(Positions at, std::optional<bool> isTransposed) {
  return [=](Call &call) {
    const Array &input = call.getArray(0), &weight = call.getArray(1);
    if (!call.isOk() || weight.shape.size() < 3)
      return call.refuse("needs a weight of rank 3 or more");
    size_t rank = weight.shape.size() - 2;
    Convolution how;
    how.window.kernel = Ints(weight.shape.begin() + 2, weight.shape.end());
    how.isTransposed = isTransposed ? *isTransposed : call.getBool(6, false);
    how.outputPadding = call.getInts(at.outputPadding, rank, 0);
    how.groups = call.getInt(at.groups, 1);
    std::string padding = call.getText(at.padding);
    if (!padding.empty() && padding != "valid")
      return call.refuse("'" + padding + "' padding is not supported");
    for (int64_t extent : how.outputPadding)
      if (extent < 0 || extent > kMaxStep)
        return call.refuse("an output padding is out of range");
    return getWindowShape(call, rank, kNoArgument, 3, padding.empty() ? at.padding : kNoArgument,
                          at.dilation, how.window) &&
           convolve(call, input, weight, call.getArrayOrNone(2), how);
  };
}

/// \p source with dim d of the result from dim order[d].
static Array permuted(const Array &source, const Ints &order) {
  Ints shape, strides, dense = getStrides(source.shape);
  for (int64_t dim : order) {
    shape.push_back(source.shape[dim]);
    strides.push_back(dense[dim]);
  }
  Array result = makeArray(source.dtype, shape);
  Odometer at(shape);
  for (int64_t i = 0, n = result.getNumElements(); i < n; ++i, at.advance())
    result.copy(i, source, getIndex(strides, at.get()));
  return result;
}

/// Time, batch, channels; the weight's dims are time, in, out.
static bool timeFirstConvolution(Call &call) {
  const Array &input = call.getArray(0), &weight = call.getArray(1), &bias = call.getArray(2);
  int64_t padding = call.getInt(3, 0);
  if (!call.isOk() || input.shape.size() != 3 || weight.shape.size() != 3 ||
      call.result.shape.size() != 3)
    return call.refuse("needs tensors of rank 3");
  std::vector<Argument> arguments = {permuted(input, {1, 2, 0}), permuted(weight, {2, 1, 0}), bias,
                                     Ints{1}, Ints{padding}};
  const Ints &shape = call.result.shape;
  auto product =
      evaluate("aten.conv1d", arguments, call.result.dtype, {shape[1], shape[2], shape[0]});
  if (auto *why = std::get_if<std::string>(&product))
    return call.refuse(*why);
  call.result = permuted(std::get<Array>(product), {2, 0, 1});
  return true;
}

//===----------------------------------------------------------------------===//
// Windows as columns
//===----------------------------------------------------------------------===//

/// Places of the windows over an image of \p extents, or nothing.
static std::optional<Ints> countWindows(Call &call, const Ints &extents, const WindowShape &shape) {
  Ints counts;
  for (size_t d = 0; d < extents.size(); ++d) {
    int64_t room =
        extents[d] + 2 * shape.padding[d] - shape.dilation[d] * (shape.kernel[d] - 1) - 1;
    if (room < 0 || extents[d] > kMaxStep || extents[d] < 0) {
      call.refuse("the window does not fit the input");
      return std::nullopt;
    }
    counts.push_back(room / shape.stride[d] + 1);
  }
  return counts;
}

/// im2col; \p isInverse: col2im, which adds up what covers one place.
static Function unfold(bool isInverse) {
  return [isInverse](Call &call) {
    const Array &source = call.getArray(0);
    size_t first = isInverse ? 2 : 1;
    WindowShape shape;
    if (!getWindowShape(call, 2, first, first + 3, first + 2, first + 1, shape))
      return false;
    // The image and its columns, with a batch.
    const Array &imageLike = isInverse ? call.result : source;
    Ints image = imageLike.shape;
    bool isBatched = image.size() == 4;
    if (!isBatched)
      image.insert(image.begin(), 1);
    if (image.size() != 4)
      return call.refuse("needs an image of rank 3 or 4");
    std::optional<Ints> counts = countWindows(call, {image[2], image[3]}, shape);
    if (!counts)
      return false;
    int64_t taps = shape.kernel[0] * shape.kernel[1], places = (*counts)[0] * (*counts)[1],
            inner = image[2] * image[3];
    Ints columns = {image[0], image[1] * taps, places};
    if (!isBatched)
      columns.erase(columns.begin());
    if (isInverse ? source.shape != columns : !call.expectShape(columns))
      return call.refuse("columns have the shape " + toString(columns));
    Windows windows({image[2], image[3]}, *counts, shape, false);
    Array sums = makeArray(getWideType(source), imageLike.shape);
    Odometer at(*counts);
    Ints covered;
    for (int64_t place = 0; place < places; ++place, at.advance()) {
      windows.list(at.get(), covered);
      for (int64_t channel = 0; channel < image[0] * image[1]; ++channel)
        for (int64_t tap = 0; tap < taps; ++tap) {
          int64_t column = (channel * taps + tap) * places + place;
          if (covered[tap] == Windows::kOutside)
            continue;
          int64_t pixel = channel * inner + covered[tap];
          if (!isInverse)
            call.result.copy(column, source, pixel);
          else if (sums.isInteger())
            sums.set(pixel, add(sums.integers[pixel], source.integers[column]));
          else
            sums.set(pixel, sums.getComplex(pixel) + source.getComplex(column));
        }
    }
    for (int64_t i = 0, n = sums.getNumElements(); isInverse && i < n; ++i)
      call.result.copy(i, sums, i);
    return true;
  };
}

void addConvolutions(Table &table) {
  addAll(table, {"aten.convolution", "aten._convolution"}, convolution({4, 5, 7, 8}, std::nullopt));
  addAll(table,
         {"aten.conv1d", "aten.conv2d", "aten.conv3d", "aten.conv1d.padding", "aten.conv2d.padding",
          "aten.conv3d.padding"},
         convolution({4, 5, kNoArgument, 6}, false));
  addAll(table,
         {"aten.conv_transpose1d", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input"},
         convolution({4, 7, 5, 6}, true));
  table["aten.conv_tbc"] = timeFirstConvolution;
  table["aten.im2col"] = unfold(false);
  table["aten.col2im"] = unfold(true);
}

} // namespace spyre::host
