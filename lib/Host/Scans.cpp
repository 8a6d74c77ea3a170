//===- Scans.cpp - Elements from those before them ------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Running sums, products and extremes along one dim, in double or int64, each element
// rounded once.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include <cmath>

namespace spyre::host {

/// Calls \p step with the elements, a place among them, its position in its lane and a value
/// of their type that it may keep from one element of a lane to the next.
template <typename F> static bool scan(Call &call, const Array &source, F step) {
  size_t dim = call.getDim(1, source.shape.size());
  for (size_t k = 0; k < call.results.size(); ++k)
    if (!call.expectShape(source.shape, k))
      return false;
  Lanes lanes(source.shape, {static_cast<int64_t>(dim)});
  visit(source, [&](auto &values) {
    std::decay_t<decltype(values.front())> running{};
    for (int64_t lane = 0; lane < lanes.getCount(); ++lane)
      for (int64_t i = 0; i < lanes.getSize(); ++i)
        step(values, lanes.bases[lane] + lanes.offsets[i], i, running);
  });
  return true;
}

/// \p combine of the running value and an element, both cast to the result's type.
template <typename F> static Function accumulate(F combine) {
  return [combine](Call &call) {
    Array source = castTo(call.getArray(0), call.result.dtype);
    return scan(call, source, [&](auto &values, int64_t place, int64_t i, auto &running) {
      running = i == 0 ? values[place] : combine(running, values[place]);
      call.result.set(place, running);
    });
  };
}

/// The last of the largest, or of the smallest, so far; the first NaN stays.
static Function extreme(bool isLargest) {
  return [isLargest](Call &call) {
    const Array &source = call.getArray(0);
    if (!call.expectResults(2))
      return false;
    if (source.isComplex())
      return call.refuse("is not defined for complex numbers");
    int64_t best = 0, bestPosition = 0;
    return scan(call, source, [&](auto &values, int64_t place, int64_t i, auto &) {
      if constexpr (!isComplexNumber<std::decay_t<decltype(values.front())>>) {
        auto value = values[place];
        if (i == 0 || isNaN(value) ||
            (!isNaN(values[best]) && (isLargest ? value >= values[best] : value <= values[best]))) {
          best = place;
          bestPosition = i;
        }
        call.result.copy(place, source, best);
        if (call.results.size() > 1)
          call.results[1].set(place, bestPosition);
      }
    });
  };
}

static bool logCumSumExp(Call &call) {
  const Array &source = call.getArray(0);
  if (!source.isFloat())
    return call.refuse("is defined for floats");
  double running = 0;
  return scan(call, source, [&](auto &, int64_t place, int64_t i, auto &) {
    double value = source.numbers[place], largest = std::fmax(running, value);
    if (i == 0)
      running = value;
    else if (std::isnan(running) || std::isnan(value))
      running = NAN;
    else if (!(std::isinf(largest) && running == value))
      running = largest + std::log1p(std::exp(-std::fabs(running - value)));
    call.result.set(place, running);
  });
}

void addScans(Table &table) {
  table["aten.cumsum"] = accumulate([](auto total, auto value) { return add(total, value); });
  table["aten.cumprod"] = accumulate([](auto total, auto value) { return multiply(total, value); });
  table["aten.cummax"] = extreme(true);
  table["aten.cummin"] = extreme(false);
  table["aten.logcumsumexp"] = logCumSumExp;
}

} // namespace spyre::host
