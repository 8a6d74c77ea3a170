//===- Access.cpp - What is touched by which core at what time ------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Layout/Access.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace spyre::layout {

//===----------------------------------------------------------------------===//
// Space: cores
//===----------------------------------------------------------------------===//

std::optional<Region> Spread::getPoints(int64_t core) const {
  if (core < 0 || core >= numCores)
    return std::nullopt;
  Region points;
  points.begin.resize(dims.size());
  points.end.resize(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    points.begin[i] = std::min(getSlice(core, i) * dims[i].sliceSize, dims[i].extent);
    points.end[i] = std::min(points.begin[i] + dims[i].sliceSize, dims[i].extent);
  }
  return points;
}

std::vector<unsigned> getCoreOrder(size_t numDims, bool kFast) {
  std::vector<unsigned> order(numDims);
  std::iota(order.begin(), order.end(), 0);
  if (kFast && numDims > 1)
    std::rotate(order.begin(), order.end() - 1, order.end());
  return order;
}

Spread makeSpread(std::vector<SpreadDim> dims, bool kFast) {
  Spread spread;
  spread.dims = std::move(dims);
  for (const SpreadDim &dim : spread.dims)
    spread.numCores *= dim.numSlices;
  spread.slicesOfCore.resize(static_cast<size_t>(spread.numCores) * spread.dims.size());
  std::vector<unsigned> order = getCoreOrder(spread.dims.size(), kFast);
  for (int64_t core = 0; core < spread.numCores; ++core) {
    int64_t rest = core;
    for (unsigned dim : order) {
      spread.slicesOfCore[static_cast<size_t>(core) * spread.dims.size() + dim] =
          rest % spread.dims[dim].numSlices;
      rest /= spread.dims[dim].numSlices;
    }
  }
  return spread;
}

//===----------------------------------------------------------------------===//
// Space and time
//===----------------------------------------------------------------------===//

Access makeAccess(IndexMap map) {
  unsigned numPoints = static_cast<unsigned>(map.extents.size());
  return {std::move(map), numPoints};
}

std::vector<int64_t> Access::getTripCounts() const {
  return {map.extents.begin() + numPoints, map.extents.end()};
}

bool Access::isMoving() const {
  return std::any_of(map.results.begin(), map.results.end(), [&](const IndexExpr &expr) {
    return std::any_of(expr.digits.begin(), expr.digits.end(), [&](const Digit &digit) {
      return getAxis(digit.input) == Axis::Time && getNumValues(digit, map.extents) > 1;
    });
  });
}

IndexMap Access::at(const std::vector<int64_t> &time) const {
  assert(time.size() == getNumTimes() && "an iteration for every loop");
  IndexMap points = map;
  points.extents.resize(numPoints);
  for (IndexExpr &expr : points.results)
    std::erase_if(expr.digits, [&](const Digit &digit) {
      if (getAxis(digit.input) == Axis::Point)
        return false;
      int64_t value = time[digit.input - numPoints] / digit.divisor;
      expr.constant += digit.coefficient * (digit.modulus ? value % digit.modulus : value);
      return true;
    });
  return points;
}

/// What \p map touches over the box \p inputs.
static Region getRegionOver(const IndexMap &map, const Region &inputs) {
  Region region;
  region.begin.assign(map.results.size(), 0);
  region.end = region.begin;
  if (inputs.isEmpty())
    return region;
  std::vector<int64_t> sizes(inputs.begin.size());
  for (size_t i = 0; i < sizes.size(); ++i)
    sizes[i] = inputs.end[i] - inputs.begin[i];
  std::vector<Interval> intervals = layout::getRegion(map, inputs.begin, sizes);
  for (size_t i = 0; i < intervals.size(); ++i) {
    region.begin[i] = intervals[i].min;
    region.end[i] = intervals[i].max + 1;
  }
  // A tensor without dims has one element; a box without dims cannot be empty.
  return region;
}

std::optional<Region> Access::getRegion(const Spread &spread, int64_t core,
                                        const std::vector<int64_t> &time) const {
  assert(spread.dims.size() == numPoints && "spread of another operation");
  std::optional<Region> inputs = spread.getPoints(core);
  if (!inputs)
    return std::nullopt;
  for (int64_t iteration : time) {
    inputs->begin.push_back(iteration);
    inputs->end.push_back(iteration + 1);
  }
  return getRegionOver(map, *inputs);
}

std::optional<Region> Access::getRegion(const Spread &spread, int64_t core) const {
  assert(spread.dims.size() == numPoints && "spread of another operation");
  std::optional<Region> inputs = spread.getPoints(core);
  if (!inputs)
    return std::nullopt;
  for (int64_t trips : getTripCounts()) {
    inputs->begin.push_back(0);
    inputs->end.push_back(trips);
  }
  return getRegionOver(map, *inputs);
}

Region Access::getRegion(const std::vector<int64_t> &time) const {
  Region inputs{std::vector<int64_t>(numPoints, 0),
                {map.extents.begin(), map.extents.begin() + numPoints}};
  for (int64_t iteration : time) {
    inputs.begin.push_back(iteration);
    inputs.end.push_back(iteration + 1);
  }
  return getRegionOver(map, inputs);
}

Region Access::getRegion() const {
  return getRegionOver(map, {std::vector<int64_t>(map.extents.size(), 0), map.extents});
}

bool Access::isWhole(const std::vector<int64_t> &shape) const {
  return isBox(shape) && getRegion() == Region{std::vector<int64_t>(shape.size(), 0), shape};
}

bool Access::isBox(const std::vector<int64_t> &shape) const {
  if (map.results.size() != shape.size())
    return false;
  std::vector<bool> used(map.extents.size(), false);
  for (size_t i = 0; i < shape.size(); ++i) {
    const IndexExpr &expr = map.results[i];
    int64_t reach = 1;
    for (const Digit &digit : getDigitsByStep(expr)) {
      if (getAxis(digit.input) != Axis::Point || digit.divisor != 1 || digit.modulus != 0 ||
          digit.coefficient != reach || used[digit.input])
        return false;
      used[digit.input] = true;
      reach *= map.extents[digit.input];
    }
    if (expr.constant < 0 || expr.constant + reach > shape[i])
      return false;
  }
  return true;
}

bool Access::areSlicesDense(const Spread &spread) const {
  for (const IndexExpr &expr : map.results) {
    std::vector<Digit> digits = getDigitsByStep(expr);
    if (!digits.empty())
      digits.pop_back();
    for (const Digit &digit : digits)
      if (getAxis(digit.input) == Axis::Point && spread.dims[digit.input].numSlices > 1)
        return false;
  }
  return true;
}

bool Access::isDense() const {
  // Each result runs through all values of an interval, whatever the others do: its digits
  // are a mixed radix number without gaps, and no two digits anywhere count the same input's
  // same part.
  std::vector<std::vector<std::pair<int64_t, int64_t>>> used(map.extents.size());
  for (const IndexExpr &expr : map.results) {
    std::vector<std::pair<int64_t, int64_t>> steps; // coefficient, values
    for (const Digit &digit : expr.digits) {
      int64_t values = getNumValues(digit, map.extents);
      if (getAxis(digit.input) == Axis::Time || values <= 1 || digit.coefficient == 0)
        continue;
      int64_t end = digit.modulus ? digit.divisor * digit.modulus : map.extents[digit.input];
      for (auto [otherBegin, otherEnd] : used[digit.input])
        if (digit.divisor < otherEnd && otherBegin < end)
          return false;
      used[digit.input].emplace_back(digit.divisor, end);
      // A part that begins again in the middle of an input is counted unevenly, but counted.
      steps.emplace_back(std::abs(digit.coefficient), values);
    }
    std::sort(steps.begin(), steps.end());
    int64_t next = 1;
    for (auto [coefficient, values] : steps) {
      if (coefficient > next)
        return false;
      next = std::max(next, coefficient * (values - 1) + next);
    }
  }
  // Parts of one input that end unevenly (5 = 2 * 2 + 1: not all of 3 x 2) leave holes.
  for (unsigned input = 0; input < numPoints; ++input) {
    if (used[input].size() < 2)
      continue;
    int64_t outermost = 0;
    for (auto [begin, end] : used[input])
      outermost = std::max(outermost, begin);
    if (map.extents[input] % outermost)
      return false;
  }
  return true;
}

} // namespace spyre::layout
