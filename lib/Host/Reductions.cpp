//===- Reductions.cpp - One element from many -----------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums, products, extremes, truth, moments and norms along some dims. Each lane of the
// operand becomes one element of each result; sums are made in double and rounded once.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include <algorithm>
#include <cmath>

namespace spyre::host {

namespace {
/// Positions of the arguments; what an operation has not is kNone, what is not given is
/// taken for none: all dims, and the dims are not kept.
constexpr size_t kNone = 99;
struct Where {
  size_t dims = kNone;
  size_t keepDims = kNone;
  bool emptyIsNone = false; ///< a list of no dims reduces nothing, else all
};
} // namespace

/// Fills all results: \p function, of a Lane of \p source's elements and the lane's number.
template <typename F> static bool reduce(Call &call, const Array &source, Where where, F function) {
  Ints dims = call.getDims(where.dims, source.shape.size());
  if (where.emptyIsNone && call.isList(where.dims) && call.at(where.dims).getList()->empty())
    dims.clear();
  bool keepsDims = call.getBool(where.keepDims, false);
  Ints shape;
  for (size_t d = 0; call.isOk() && d < source.shape.size(); ++d) {
    bool isReduced = std::count(dims.begin(), dims.end(), static_cast<int64_t>(d));
    if (!isReduced || keepsDims)
      shape.push_back(isReduced ? 1 : source.shape[d]);
  }
  for (size_t k = 0; k < call.results.size(); ++k)
    if (!call.expectShape(shape, k))
      return false;
  Lanes lanes(source.shape, dims);
  visit(source, [&](auto &values) {
    for (int64_t lane = 0; lane < lanes.getCount() && call.isOk(); ++lane)
      function(Lane(values, lanes, lane), lane);
  });
  return call.isOk();
}

template <typename L> using ElementOf = std::decay_t<decltype(std::declval<L>()[0])>;

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

template <typename L> static auto getSum(const L &lane) {
  ElementOf<L> sum = 0;
  for (int64_t i = 0; i < lane.size(); ++i)
    sum = add(sum, lane[i]);
  return sum;
}

/// Elements are cast to the result's type first.
static Function sum(Where where) {
  return [where](Call &call) {
    Array source = castTo(call.getArray(0), call.result.dtype);
    return reduce(call, source, where,
                  [&](auto lane, int64_t i) { call.result.set(i, getSum(lane)); });
  };
}

static Function nanSum(Where where) {
  return [where](Call &call) {
    Array source = castTo(call.getArray(0), call.result.dtype);
    for (double &number : source.numbers)
      number = std::isnan(number) ? 0 : number;
    return reduce(call, source, where,
                  [&](auto lane, int64_t i) { call.result.set(i, getSum(lane)); });
  };
}

static Function mean(Where where) {
  return [where](Call &call) {
    if (call.result.isInteger())
      return call.refuse("is defined for floats");
    Array source = castTo(call.getArray(0), call.result.dtype);
    return reduce(call, source, where, [&](auto lane, int64_t i) {
      call.result.set(i, getSum(lane) / static_cast<double>(lane.size()));
    });
  };
}

static Function product(Where where) {
  return [where](Call &call) {
    Array source = castTo(call.getArray(0), call.result.dtype);
    return reduce(call, source, where, [&](auto lane, int64_t i) {
      ElementOf<decltype(lane)> value = 1;
      for (int64_t k = 0; k < lane.size(); ++k)
        value = multiply(value, lane[k]);
      call.result.set(i, value);
    });
  };
}

//===----------------------------------------------------------------------===//
// Extremes
//===----------------------------------------------------------------------===//

/// The first of the largest, or of the smallest; a NaN is both.
template <typename L> static int64_t findExtreme(const L &lane, bool isLargest) {
  int64_t best = 0;
  for (int64_t i = 1; i < lane.size() && !isNaN(lane[best]); ++i)
    if (isNaN(lane[i]) || (isLargest ? lane[i] > lane[best] : lane[i] < lane[best]))
      best = i;
  return best;
}

namespace {
/// What goes into each result.
enum class Give { Value, Index, Smallest };
} // namespace

static Function extreme(bool isLargest, Where where, std::vector<Give> gives) {
  return [=](Call &call) {
    const Array &source = call.getArray(0);
    if (!call.expectResults(gives.size()))
      return false;
    if (source.isComplex())
      return call.refuse("is not defined for complex numbers");
    return reduce(call, source, where, [&](auto lane, int64_t i) {
      if constexpr (!isComplexNumber<ElementOf<decltype(lane)>>) {
        if (lane.size() == 0) {
          call.refuse("has no element to choose from");
          return;
        }
        for (size_t k = 0; k < call.results.size(); ++k) {
          int64_t place = findExtreme(lane, isLargest && gives[k] != Give::Smallest);
          if (gives[k] == Give::Index)
            call.results[k].set(i, place);
          else
            call.results[k].set(i, lane[place]);
        }
      }
    });
  };
}

//===----------------------------------------------------------------------===//
// Truth
//===----------------------------------------------------------------------===//

static Function countNonzero(Where where) {
  return [where](Call &call) {
    return reduce(call, call.getArray(0), where, [&](auto lane, int64_t i) {
      int64_t count = 0;
      for (int64_t k = 0; k < lane.size(); ++k)
        count += lane[k] != ElementOf<decltype(lane)>(0);
      call.result.set(i, count);
    });
  };
}

/// Some of them, or all of them are not zero.
static Function truth(bool wantsAll, Where where) {
  return [=](Call &call) {
    return reduce(call, call.getArray(0), where, [&](auto lane, int64_t i) {
      bool holds = wantsAll;
      for (int64_t k = 0; k < lane.size() && holds == wantsAll; ++k)
        holds = lane[k] != ElementOf<decltype(lane)>(0);
      call.result.set(i, int64_t(holds));
    });
  };
}

/// Both arrays have the same elements.
static bool isEqual(Call &call) {
  const Array &x = call.getArray(0), &y = call.getArray(1);
  bool equal = x.shape == y.shape;
  for (int64_t i = 0, n = x.getNumElements(); equal && i < n; ++i)
    equal = x.isInteger() && y.isInteger() ? x.integers[i] == y.integers[i]
                                           : x.getComplex(i) == y.getComplex(i);
  if (!call.expectShape({}))
    return false;
  call.result.set(0, int64_t(equal));
  return true;
}

//===----------------------------------------------------------------------===//
// Moments and norms
//===----------------------------------------------------------------------===//

namespace {
/// Variance, or its root, and the mean as a second result.
struct Moments {
  Where where;
  size_t unbiased = kNone;   ///< a bool
  size_t correction = kNone; ///< a number
  bool isRoot = false;
  bool givesMean = false;
};
} // namespace

static Function moments(Moments what) {
  return [what](Call &call) {
    const Array &source = call.getArray(0);
    double correction = call.getNumber(what.correction, call.getBool(what.unbiased, true) ? 1 : 0);
    if (!call.expectResults(what.givesMean ? 2 : 1))
      return false;
    if (source.isInteger())
      return call.refuse("is defined for floats");
    return reduce(call, source, what.where, [&](auto lane, int64_t i) {
      if constexpr (!isInteger<ElementOf<decltype(lane)>>) {
        auto n = static_cast<double>(lane.size());
        auto mean = getSum(lane) / n;
        double squares = 0;
        for (int64_t k = 0; k < lane.size(); ++k)
          squares += std::norm(lane[k] - mean);
        double variance = squares / std::max(n - correction, 0.0);
        call.result.set(i, what.isRoot ? std::sqrt(variance) : variance);
        if (call.results.size() > 1)
          call.results[1].set(i, mean);
      }
    });
  };
}

/// (sum |x|^p)^(1/p), and what that becomes at the ends: the largest, the smallest, how
/// many are not zero.
template <typename L> static double getNorm(const L &lane, double order) {
  bool isLargest = order == INFINITY, isSmallest = order == -INFINITY;
  double sum = isSmallest ? INFINITY : 0;
  for (int64_t i = 0; i < lane.size(); ++i) {
    double magnitude = static_cast<double>(std::abs(lane[i]));
    if (isLargest || isSmallest) {
      if (!std::isnan(sum) && (std::isnan(magnitude) || (magnitude > sum) == isLargest))
        sum = magnitude;
    } else {
      sum += order == 0   ? double(magnitude != 0)
             : order == 1 ? magnitude
             : order == 2 ? magnitude * magnitude
                          : std::pow(magnitude, order);
    }
  }
  if (isLargest || isSmallest || order == 0 || order == 1)
    return sum;
  return order == 2 ? std::sqrt(sum) : std::pow(sum, 1 / order);
}

static Function norm(size_t order, Where where) {
  return [=](Call &call) {
    Array source = call.getArray(0);
    double p = call.getNumber(order, 2);
    if (source.isInteger())
      return call.refuse("is defined for floats");
    return call.isOk() && reduce(call, source, where, [&](auto lane, int64_t i) {
             if (lane.size() == 0 && (p == INFINITY || p < 0))
               call.refuse("has no element to choose from");
             else
               call.result.set(i, getNorm(lane, p));
           });
  };
}

static Function logSumExp(Where where) {
  return [where](Call &call) {
    Array source = castTo(call.getArray(0), HostType::Float64);
    if (call.getArray(0).isComplex())
      return call.refuse("is not defined for complex numbers");
    return reduce(call, source, where, [&](auto lane, int64_t i) {
      if constexpr (std::is_same_v<ElementOf<decltype(lane)>, double>) {
        double largest = lane.size() ? lane[findExtreme(lane, true)] : -INFINITY;
        double shift = std::isinf(largest) ? 0 : largest, sum = 0;
        for (int64_t k = 0; k < lane.size(); ++k)
          sum += std::exp(lane[k] - shift);
        call.result.set(i, std::log(sum) + shift);
      }
    });
  };
}

static bool trace(Call &call) {
  const Array &matrix = call.getArray(0);
  if (call.isOk() && matrix.shape.size() != 2)
    return call.refuse("is no matrix");
  if (!call.expectShape({}))
    return false;
  Array total = castTo(makeArray(call.result.dtype, {}), matrix.isInteger()   ? HostType::Int64
                                                         : matrix.isComplex() ? HostType::Complex128
                                                                              : HostType::Float64);
  for (int64_t i = 0; i < std::min(matrix.shape[0], matrix.shape[1]); ++i) {
    int64_t at = i * (matrix.shape[1] + 1);
    if (matrix.isInteger())
      total.set(0, add(total.integers[0], matrix.integers[at]));
    else
      total.set(0, total.getComplex(0) + matrix.getComplex(at));
  }
  call.result.copy(0, total, 0);
  return true;
}

void addReductions(Table &table) {
  table["aten.sum"] = sum({});
  table["aten.sum.dim_IntList"] = sum({1, 2});
  table["prims.sum"] = sum({1});
  table["aten.nansum"] = nanSum({1, 2});
  table["aten.mean"] = mean({});
  table["aten.mean.dim"] = mean({1, 2});
  table["aten.prod"] = product({});
  table["aten.prod.dim_int"] = product({1, 2});
  for (bool isLargest : {true, false}) {
    table[isLargest ? "aten.amax" : "aten.amin"] = extreme(isLargest, {1, 2}, {Give::Value});
    table[isLargest ? "aten.max" : "aten.min"] = extreme(isLargest, {}, {Give::Value});
    table[isLargest ? "aten.max.dim" : "aten.min.dim"] =
        extreme(isLargest, {1, 2}, {Give::Value, Give::Index});
    table[isLargest ? "aten.argmax" : "aten.argmin"] = extreme(isLargest, {1, 2}, {Give::Index});
    table[isLargest ? "prims.amax" : "prims.amin"] = extreme(isLargest, {1}, {Give::Value});
  }
  table["aten.aminmax"] = extreme(true, {1, 2}, {Give::Smallest, Give::Value});
  for (bool wantsAll : {true, false}) {
    table[wantsAll ? "aten.all" : "aten.any"] = truth(wantsAll, {});
    table[wantsAll ? "aten.all.dim" : "aten.any.dim"] = truth(wantsAll, {1, 2});
    table[wantsAll ? "aten.all.dims" : "aten.any.dims"] = truth(wantsAll, {1, 2, true});
  }
  addAll(table, {"aten.count_nonzero", "aten.count_nonzero.dim_IntList"}, countNonzero({1}));
  table["aten.equal"] = isEqual;
  for (bool isRoot : {false, true}) {
    Moments all{{}, 1, kNone, isRoot, false}, alongDims{{1, 3}, 2, kNone, isRoot, false},
        corrected{{1, 3}, kNone, 2, isRoot, false};
    table[isRoot ? "aten.std" : "aten.var"] = moments(all);
    table[isRoot ? "aten.std.dim" : "aten.var.dim"] = moments(alongDims);
    table[isRoot ? "aten.std.correction" : "aten.var.correction"] = moments(corrected);
    all.givesMean = alongDims.givesMean = corrected.givesMean = true;
    table[isRoot ? "aten.std_mean" : "aten.var_mean"] = moments(all);
    table[isRoot ? "aten.std_mean.dim" : "aten.var_mean.dim"] = moments(alongDims);
    table[isRoot ? "aten.std_mean.correction" : "aten.var_mean.correction"] = moments(corrected);
  }
  table["prims.var"] = moments({{1}, kNone, 2, false, false});
  table["aten.linalg_vector_norm"] = norm(1, {2, 3});
  addAll(table, {"aten.norm.ScalarOpt_dim", "aten.norm.ScalarOpt_dim_dtype"}, norm(1, {2, 3}));
  addAll(table, {"aten.norm.Scalar", "aten.norm.ScalarOpt_dtype"}, norm(1, {}));
  table["aten.frobenius_norm.dim"] = norm(kNone, {1, 2});
  table["aten.logsumexp"] = logSumExp({1, 2});
  table["aten.trace"] = trace;
}

} // namespace spyre::host
