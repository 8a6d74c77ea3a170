//===- Resampling.cpp - Images of another size ----------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nearest, linear and cubic interpolation of one to three dims, and sampling at the places
// of a grid. Every dim of a result's place is a weighted sum over a few places of the
// operand's dim.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include <algorithm>
#include <cmath>

namespace spyre::host {

namespace {
enum class Method { Nearest, NearestExact, Linear, Cubic };

/// A place of one dim of the operand, and how much it counts.
struct Tap {
  int64_t place;
  double weight;
};
} // namespace

/// Weights of the four places around a point that is \p t behind the second.
static std::array<double, 4> getCubicWeights(double t) {
  constexpr double a = -0.75;
  auto near = [&](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  auto far = [&](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

/// Places of a dim of \p input that place \p o of one of \p output is made of. PyTorch
/// computes the scale and the place in f32.
static std::vector<Tap> getTaps(Method method, int64_t o, int64_t input, int64_t output,
                                bool alignsCorners, double factor, bool isDouble) {
  double scale = factor > 0 ? 1 / factor : double(input) / double(output);
  auto round = [&](double value) { return isDouble ? value : double(float(value)); };
  if (method == Method::Nearest || method == Method::NearestExact) {
    float ratio = factor > 0 ? float(1 / factor) : float(input) / float(output);
    float at = method == Method::Nearest ? float(o) * ratio : (float(o) + 0.5f) * ratio;
    return {{std::min(static_cast<int64_t>(std::floor(at)), input - 1), 1}};
  }
  double at;
  if (alignsCorners)
    at = output > 1 ? round(round(double(input - 1) / double(output - 1)) * double(o)) : 0;
  else
    at = round(round(scale) * (double(o) + 0.5) - 0.5);
  if (method == Method::Linear) {
    at = std::max(at, 0.0);
    int64_t first = std::min(static_cast<int64_t>(at), input - 1),
            second = std::min(first + 1, input - 1);
    double rest = std::min(at - double(first), 1.0);
    return {{first, 1 - rest}, {second, rest}};
  }
  double floor = std::floor(at);
  std::array<double, 4> weights = getCubicWeights(at - floor);
  std::vector<Tap> taps;
  for (int64_t k = 0; k < 4; ++k)
    taps.push_back(
        {std::clamp<int64_t>(static_cast<int64_t>(floor) + k - 1, 0, input - 1), weights[k]});
  return taps;
}

namespace {
/// Positions of arguments; scale factors follow one another, or are in one list.
struct Upsampling {
  size_t alignsCorners, factors;
  bool factorsAreList;
};
} // namespace

static Function upsample(Method method, size_t rank, Upsampling at) {
  return [=](Call &call) {
    const Array &source = call.getArray(0);
    bool alignsCorners = call.getBool(at.alignsCorners, false);
    if (call.isOk() && (source.shape.size() != rank + 2 || source.isComplex()))
      return call.refuse("needs a real tensor of rank " + std::to_string(rank + 2));
    // PyTorch has kernels of its own for them, which round after every dim.
    bool isCopy = method == Method::Nearest || method == Method::NearestExact;
    if (!isCopy && !source.isFloat())
      return call.refuse("is defined for floats");
    std::vector<double> factors(rank, 0);
    if (at.factorsAreList && call.isGiven(at.factors))
      factors = call.getNumbers(at.factors);
    for (size_t d = 0; d < rank && !at.factorsAreList; ++d)
      factors[d] = call.getNumber(at.factors + d, 0);
    const Ints &shape = call.result.shape;
    if (!call.isOk() || factors.size() != rank || shape.size() != rank + 2)
      return call.refuse("needs a factor for every spatial dim");
    bool hasSize = call.isGiven(1);
    Ints size = hasSize ? call.getInts(1) : Ints(shape.begin() + 2, shape.end());
    Ints expected = {source.shape[0], source.shape[1]};
    for (size_t d = 0; d < rank; ++d)
      expected.push_back(hasSize && d < size.size()
                             ? size[d]
                             : static_cast<int64_t>(double(source.shape[d + 2]) *
                                                    std::clamp(factors[d], 0.0, 1e9)));
    if (!call.expectShape(expected))
      return false;
    for (size_t d = 0; d < rank; ++d)
      if (source.shape[d + 2] < 1)
        return call.refuse("the input is empty");
    bool isDouble = source.dtype == HostType::Float64;
    std::vector<std::vector<std::vector<Tap>>> taps(rank);
    for (size_t d = 0; d < rank; ++d)
      for (int64_t o = 0; o < shape[d + 2]; ++o)
        taps[d].push_back(getTaps(method, o, source.shape[d + 2], shape[d + 2], alignsCorners,
                                  factors[d], isDouble));
    Ints strides = getStrides(source.shape);
    Odometer walk(shape);
    std::vector<Tap> places, longer;
    for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i, walk.advance()) {
      places.assign(1, {walk.get()[0] * strides[0] + walk.get()[1] * strides[1], 1});
      for (size_t d = 0; d < rank; ++d) {
        longer.clear();
        for (const Tap &outer : places)
          for (const Tap &inner : taps[d][walk.get()[d + 2]])
            longer.push_back(
                {outer.place + inner.place * strides[d + 2], outer.weight * inner.weight});
        places.swap(longer);
      }
      if (isCopy) {
        call.result.copy(i, source, places.front().place);
        continue;
      }
      double sum = 0;
      for (const Tap &tap : places)
        sum += tap.weight * source.getNumber(tap.place);
      call.result.set(i, sum);
    }
    return true;
  };
}

/// Each element of argument 0 is added to what nearest neighbours made it of.
static Function nearestBackward(size_t rank) {
  return [rank](Call &call) {
    const Array &grad = call.getArray(0);
    Ints shape = call.getInts(2);
    if (!call.expectShape(shape))
      return false;
    if (grad.shape.size() != rank + 2 || shape.size() != rank + 2 || !grad.isFloat() ||
        grad.shape[0] != shape[0] || grad.shape[1] != shape[1])
      return call.refuse("needs floats, and an operand of the result's batch and channels");
    std::vector<Ints> places(rank);
    for (size_t d = 0; d < rank; ++d) {
      double factor = call.getNumber(3 + d, 0);
      for (int64_t o = 0; o < grad.shape[d + 2]; ++o) {
        int64_t place =
            getTaps(Method::Nearest, o, shape[d + 2], grad.shape[d + 2], false, factor, false)[0]
                .place;
        if (place < 0)
          return call.refuse("the result is empty");
        places[d].push_back(place);
      }
    }
    if (!call.isOk())
      return false;
    Array sums = makeArray(HostType::Float64, shape);
    Ints strides = getStrides(shape);
    Odometer at(grad.shape);
    for (int64_t i = 0, n = grad.getNumElements(); i < n; ++i, at.advance()) {
      int64_t place = at.get()[0] * strides[0] + at.get()[1] * strides[1];
      for (size_t d = 0; d < rank; ++d)
        place += places[d][at.get()[d + 2]] * strides[d + 2];
      sums.numbers[place] += grad.numbers[i];
    }
    for (int64_t i = 0, n = sums.getNumElements(); i < n; ++i)
      call.result.copy(i, sums, i);
    return true;
  };
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

/// Brings a place of a dim back between \p low and \p high by mirroring it there.
static double reflect(double at, double low, double high) {
  if (high <= low)
    return 0;
  double span = high - low, distance = std::fmod(std::fabs(at - low), 2 * span);
  return (distance > span ? 2 * span - distance : distance) + low;
}

/// Interpolation 0 (linear), 1 (nearest) or 2 (cubic), padding 0 (zeros), 1 (border) or
/// 2 (reflection).
static bool sampleGrid(Call &call) {
  const Array &source = call.getArray(0), &grid = call.getArray(1);
  int64_t method = call.getInt(2), padding = call.getInt(3);
  bool alignsCorners = call.getBool(4, false);
  if (!call.isOk() || source.shape.size() != 4 || grid.shape.size() != 4 || grid.shape[3] != 2 ||
      grid.shape[0] != source.shape[0] || !source.isFloat() || !grid.isFloat())
    return call.refuse("needs float images of rank 4 and a grid of pairs for each");
  if (method < 0 || method > 2 || padding < 0 || padding > 2)
    return call.refuse("there is no such interpolation or padding");
  int64_t channels = source.shape[1], extents[2] = {source.shape[2], source.shape[3]};
  if (!call.expectShape({source.shape[0], channels, grid.shape[1], grid.shape[2]}))
    return false;
  if (extents[0] < 1 || extents[1] < 1)
    return call.refuse("the input is empty");
  auto toPlace = [&](double x, int64_t extent) {
    return alignsCorners ? (x + 1) / 2 * double(extent - 1) : ((x + 1) * double(extent) - 1) / 2;
  };
  // Inside, or not to be read where zeros are around.
  auto bound = [&](double at, int64_t extent) {
    if (padding == 2)
      at = alignsCorners ? reflect(at, 0, double(extent - 1))
                         : reflect(at, -0.5, double(extent) - 0.5);
    if (padding != 0)
      at = std::fmin(std::fmax(at, 0), double(extent - 1));
    return std::isfinite(at) && std::fabs(at) < 0x1p31 ? at : -100.0;
  };
  int64_t points = grid.shape[1] * grid.shape[2];
  for (int64_t p = 0, n = grid.shape[0] * points; p < n; ++p) {
    std::vector<Tap> taps[2]; // by row and column
    for (size_t d = 0; d < 2; ++d) {
      double at = toPlace(grid.numbers[2 * p + (d == 0 ? 1 : 0)], extents[d]);
      if (method != 2)
        at = bound(at, extents[d]);
      if (!std::isfinite(at) || std::fabs(at) >= 0x1p31)
        at = -100;
      double floor = std::floor(at);
      auto first = static_cast<int64_t>(floor);
      if (method == 1) {
        taps[d] = {{static_cast<int64_t>(std::nearbyint(at)), 1}};
      } else if (method == 0) {
        taps[d] = {{first, 1 - (at - floor)}, {first + 1, at - floor}};
      } else {
        std::array<double, 4> weights = getCubicWeights(at - floor);
        for (int64_t k = 0; k < 4; ++k)
          taps[d].push_back(
              {static_cast<int64_t>(bound(double(first + k - 1), extents[d])), weights[k]});
      }
    }
    for (int64_t c = 0; c < channels; ++c) {
      int64_t image = (p / points * channels + c) * extents[0] * extents[1];
      double sum = 0;
      for (const Tap &row : taps[0])
        for (const Tap &column : taps[1])
          if (row.place >= 0 && row.place < extents[0] && column.place >= 0 &&
              column.place < extents[1])
            sum += row.weight * column.weight *
                   source.numbers[image + row.place * extents[1] + column.place];
      call.result.set((p / points * channels + c) * points + p % points, sum);
    }
  }
  return true;
}

void addResampling(Table &table) {
  struct Entry {
    const char *name;
    Method method;
    size_t rank;
  };
  constexpr size_t kNone = 99;
  for (const Entry &entry : {Entry{"aten.upsample_nearest1d", Method::Nearest, 1},
                             Entry{"aten.upsample_nearest2d", Method::Nearest, 2},
                             Entry{"aten.upsample_nearest3d", Method::Nearest, 3},
                             Entry{"aten._upsample_nearest_exact1d", Method::NearestExact, 1},
                             Entry{"aten._upsample_nearest_exact2d", Method::NearestExact, 2},
                             Entry{"aten._upsample_nearest_exact3d", Method::NearestExact, 3}})
    table[entry.name] = upsample(entry.method, entry.rank, {kNone, 2, false});
  for (const Entry &entry : {Entry{"aten.upsample_nearest1d.vec", Method::Nearest, 1},
                             Entry{"aten.upsample_nearest2d.vec", Method::Nearest, 2},
                             Entry{"aten.upsample_nearest3d.vec", Method::Nearest, 3}})
    table[entry.name] = upsample(entry.method, entry.rank, {kNone, 2, true});
  for (const Entry &entry : {Entry{"aten.upsample_linear1d", Method::Linear, 1},
                             Entry{"aten.upsample_bilinear2d", Method::Linear, 2},
                             Entry{"aten.upsample_trilinear3d", Method::Linear, 3},
                             Entry{"aten.upsample_bicubic2d", Method::Cubic, 2}})
    table[entry.name] = upsample(entry.method, entry.rank, {2, 3, false});
  for (const Entry &entry : {Entry{"aten.upsample_linear1d.vec", Method::Linear, 1},
                             Entry{"aten.upsample_bilinear2d.vec", Method::Linear, 2},
                             Entry{"aten.upsample_trilinear3d.vec", Method::Linear, 3},
                             Entry{"aten.upsample_bicubic2d.vec", Method::Cubic, 2}})
    table[entry.name] = upsample(entry.method, entry.rank, {2, 3, true});
  table["aten.upsample_nearest1d_backward"] = nearestBackward(1);
  table["aten.upsample_nearest2d_backward"] = nearestBackward(2);
  table["aten.upsample_nearest3d_backward"] = nearestBackward(3);
  table["aten.grid_sampler_2d"] = sampleGrid;
  table["aten.grid_sampler"] = sampleGrid;
}

} // namespace spyre::host
