//===- Ordering.cpp - Elements by size ------------------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sorting, ranks and medians along one dim, and positions in sorted arrays. NaN is above
// all numbers; elements of one size stay in order.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include <algorithm>
#include <numeric>

namespace spyre::host {

/// Positions in a lane in ascending or descending order.
template <typename L> static Ints sortLane(const L &lane, bool isDescending) {
  Ints order(lane.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    auto x = lane[a], y = lane[b];
    if (isDescending ? isBelow(y, x) : isBelow(x, y))
      return true;
    return !(isDescending ? isBelow(x, y) : isBelow(y, x)) && a < b;
  });
  return order;
}

/// \p function of every lane along \p dim, the lanes and the lane's number.
template <typename F>
static bool forEachLane(Call &call, const Array &source, size_t dim, F function) {
  if (source.isComplex())
    return call.refuse("is not defined for complex numbers");
  Lanes lanes(source.shape, {static_cast<int64_t>(dim)});
  visit(source, [&](auto &values) {
    if constexpr (!isComplexNumber<std::decay_t<decltype(values.front())>>)
      for (int64_t i = 0; i < lanes.getCount() && call.isOk(); ++i)
        function(Lane(values, lanes, i), lanes, i);
  });
  return call.isOk();
}

/// The first \p count elements of every sorted lane into results that have them along the
/// same dim: values, positions, or positions only.
static bool giveSorted(Call &call, const Array &source, size_t dim, bool isDescending,
                       int64_t count, bool givesValues) {
  Ints shape = source.shape;
  if (!shape.empty())
    shape[dim] = count;
  if (!call.expectResults(givesValues ? 2 : 1))
    return false;
  for (size_t k = 0; k < call.results.size(); ++k)
    if (!call.expectShape(shape, k))
      return false;
  size_t positions = givesValues ? 1 : 0;
  Lanes into(shape, {static_cast<int64_t>(dim)});
  return forEachLane(call, source, dim, [&](auto lane, const Lanes &lanes, int64_t l) {
    Ints order = sortLane(lane, isDescending);
    for (int64_t i = 0; i < count; ++i) {
      int64_t place = into.bases[l] + into.offsets[i];
      if (givesValues)
        call.result.copy(place, source, lanes.bases[l] + lanes.offsets[order[i]]);
      if (call.results.size() > positions)
        call.results[positions].set(place, order[i]);
    }
  });
}

/// Positions of the arguments.
static Function sort(size_t dimArgument, size_t descending, bool givesValues) {
  return [=](Call &call) {
    const Array &source = call.getArray(0);
    size_t dim = call.getDim(dimArgument, source.shape.size(), -1);
    bool isDescending = call.getBool(descending, false);
    if (!call.isOk())
      return false;
    return giveSorted(call, source, dim, isDescending, source.shape.empty() ? 1 : source.shape[dim],
                      givesValues);
  };
}

static bool topk(Call &call) {
  const Array &source = call.getArray(0);
  int64_t count = call.getInt(1);
  size_t dim = call.getDim(2, source.shape.size(), -1);
  bool isLargest = call.getBool(3, true);
  if (!call.isOk())
    return false;
  if (count < 0 || count > (source.shape.empty() ? 1 : source.shape[dim]))
    return call.refuse("takes more elements than there are");
  if (source.shape.empty() && count == 0)
    return call.refuse("takes no element of a tensor of rank 0");
  return giveSorted(call, source, dim, isLargest, count, true);
}

/// One element of every sorted lane, and its position: the one that \p choose names in a
/// lane of a size; \p stopsAtNaN: a NaN if the lane has one.
template <typename F>
static bool giveRanked(Call &call, const Array &source, size_t dim, bool keepsDim, bool stopsAtNaN,
                       F choose) {
  Ints shape = source.shape;
  if (!shape.empty() && keepsDim)
    shape[dim] = 1;
  else if (!shape.empty())
    shape.erase(shape.begin() + static_cast<int64_t>(dim));
  for (size_t k = 0; k < call.results.size(); ++k)
    if (!call.expectShape(shape, k))
      return false;
  return forEachLane(call, source, dim, [&](auto lane, const Lanes &lanes, int64_t l) {
    if (lane.size() == 0) {
      call.refuse("has no element to choose from");
      return;
    }
    Ints order = sortLane(lane, false);
    int64_t chosen = order[choose(lane.size())];
    if (stopsAtNaN && isNaN(lane[order.back()]))
      chosen = *std::find_if(order.begin(), order.end(), [&](int64_t i) { return isNaN(lane[i]); });
    call.result.copy(l, source, lanes.bases[l] + lanes.offsets[chosen]);
    if (call.results.size() > 1)
      call.results[1].set(l, chosen);
  });
}

static bool kthValue(Call &call) {
  const Array &source = call.getArray(0);
  int64_t k = call.getInt(1);
  size_t dim = call.getDim(2, source.shape.size(), -1);
  if (!call.isOk() || !call.expectResults(2))
    return false;
  if (k < 1 || k > (source.shape.empty() ? 1 : source.shape[dim]))
    return call.refuse("there is no element number " + std::to_string(k));
  return giveRanked(call, source, dim, call.getBool(3, false), false,
                    [&](int64_t) { return k - 1; });
}

/// The lower one of the two in the middle.
static Function median(bool isFlat) {
  return [isFlat](Call &call) {
    const Array &source = call.getArray(0);
    Array flat = source;
    if (isFlat)
      flat.shape = {source.getNumElements()};
    size_t dim = isFlat ? 0 : call.getDim(1, source.shape.size());
    return call.isOk() && call.expectResults(isFlat ? 1 : 2) &&
           giveRanked(call, flat, dim, !isFlat && call.getBool(2, false), true,
                      [](int64_t size) { return (size - 1) / 2; });
  };
}

//===----------------------------------------------------------------------===//
// Positions in sorted arrays
//===----------------------------------------------------------------------===//

/// How many elements of a row of \p sorted are below each of \p values; \p isRight: or equal.
static bool search(Call &call, const Array &sorted, const Array &values, bool isRight) {
  if (!call.expectShape(values.shape))
    return false;
  bool isOneRow = sorted.shape.size() == 1;
  bool fits =
      isOneRow || (sorted.shape.size() == values.shape.size() && !values.shape.empty() &&
                   std::equal(sorted.shape.begin(), sorted.shape.end() - 1, values.shape.begin()));
  if (!fits || sorted.isComplex() || values.isComplex())
    return call.refuse("needs one sorted row, or one for each row of real values");
  bool areIntegers = sorted.isInteger() && values.isInteger();
  int64_t extent = sorted.shape.back(), columns = values.shape.empty() ? 1 : values.shape.back();
  auto find = [&](auto begin, auto value) {
    using T = decltype(value);
    auto end = begin + extent;
    return (isRight ? std::upper_bound(begin, end, value, isBelow<T>)
                    : std::lower_bound(begin, end, value, isBelow<T>)) -
           begin;
  };
  Array row = castTo(sorted, areIntegers ? HostType::Int64 : HostType::Float64);
  for (int64_t i = 0, n = values.getNumElements(); i < n; ++i) {
    int64_t first = isOneRow ? 0 : i / columns * extent;
    if (areIntegers)
      call.result.set(i, int64_t(find(row.integers.begin() + first, values.integers[i])));
    else
      call.result.set(i, int64_t(find(row.numbers.begin() + first, values.getNumber(i))));
  }
  return true;
}

static bool searchSorted(Call &call) {
  Array values = call.getValue(1);
  std::string side = call.getText(4);
  if (call.isGiven(5))
    return call.refuse("a sorter is not supported");
  const Array &sorted = call.getArray(0);
  if (call.isOk() && sorted.shape.empty())
    return call.refuse("needs a sorted row");
  return call.isOk() && search(call, sorted, values, call.getBool(3, false) || side == "right");
}

static bool bucketize(Call &call) {
  Array values = call.getValue(0);
  const Array &bounds = call.getArray(1);
  if (call.isOk() && bounds.shape.size() != 1)
    return call.refuse("needs bounds of one dim");
  return call.isOk() && search(call, bounds, values, call.getBool(3, false));
}

/// Each element of the first is, or is not, among those of the second.
static bool isIn(Call &call) {
  Array elements = call.getValue(0), tests = call.getValue(1);
  bool isInverted = call.getBool(3, false);
  if (!call.expectShape(elements.shape))
    return false;
  if (elements.isComplex() || tests.isComplex())
    return call.refuse("is not defined for complex numbers");
  HostType common = elements.isInteger() && tests.isInteger() ? HostType::Int64 : HostType::Float64;
  elements = castTo(elements, common);
  tests = castTo(tests, common);
  visit(tests, [&](auto &sorted) {
    using T = std::decay_t<decltype(sorted.front())>;
    if constexpr (!isComplexNumber<T>) {
      std::sort(sorted.begin(), sorted.end(), isBelow<T>);
      const std::vector<T> &values = getElements<T>(elements);
      for (size_t i = 0; i < values.size(); ++i) {
        bool found = !isNaN(values[i]) &&
                     std::binary_search(sorted.begin(), sorted.end(), values[i], isBelow<T>);
        call.result.set(static_cast<int64_t>(i), int64_t(found != isInverted));
      }
    }
  });
  return true;
}

void addOrdering(Table &table) {
  table["aten.sort"] = sort(1, 2, true);
  table["aten.sort.stable"] = sort(2, 3, true);
  table["aten.argsort"] = sort(1, 2, false);
  table["aten.argsort.stable"] = sort(2, 3, false);
  table["aten.topk"] = topk;
  table["aten.kthvalue"] = kthValue;
  table["aten.median"] = median(true);
  table["aten.median.dim"] = median(false);
  addAll(table, {"aten.searchsorted.Tensor", "aten.searchsorted.Scalar"}, searchSorted);
  addAll(table, {"aten.bucketize.Tensor", "aten.bucketize.Scalar"}, bucketize);
  addAll(table, {"aten.isin.Tensor_Tensor", "aten.isin.Tensor_Scalar", "aten.isin.Scalar_Tensor"},
         isIn);
}

} // namespace spyre::host
