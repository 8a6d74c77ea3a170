//===- IndexMap.cpp - Index expressions with known ranges -----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algebra of IndexMap.h. The common step is to cut an input into segments
// at every divisor and modulus that a digit mentions; if these form a
// divisibility chain, the expression is one coefficient a segment, and
// simplification, ranges and equality are exact.
//
//===----------------------------------------------------------------------===//

#include "spyre/Layout/IndexMap.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <tuple>

namespace spyre::layout {

namespace {

/// Rounded up; a sum of the two might not fit.
int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

int64_t floorDiv(int64_t a, int64_t b) {
  int64_t q = a / b;
  return (a % b != 0 && (a % b < 0) != (b < 0)) ? q - 1 : q;
}

/// The canonical order of digits.
bool isBefore(const Digit &a, const Digit &b) {
  return std::tuple(a.input, a.divisor, a.modulus, a.coefficient) <
         std::tuple(b.input, b.divisor, b.modulus, b.coefficient);
}

/// One input's part of an expression: coefficients of consecutive segments.
/// Segment i is ((x floordiv starts[i]) mod sizes[i]); the last one has no mod.
struct Segments {
  std::vector<int64_t> starts;
  std::vector<int64_t> sizes;
  std::vector<int64_t> coefficients;
};

/// Drops what has no effect on \p extent; false if the digit vanishes.
bool normalize(Digit &digit, int64_t extent) {
  if (digit.coefficient == 0 || digit.divisor >= extent || digit.modulus == 1)
    return false;
  if (digit.modulus >= ceilDiv(extent, digit.divisor))
    digit.modulus = 0;
  return true;
}

/// The segments of normalised digits of one input, or nothing if their
/// boundaries are no divisibility chain.
std::optional<Segments> makeSegments(const Digit *begin, const Digit *end, int64_t extent) {
  Segments segments;
  std::vector<int64_t> &starts = segments.starts;
  starts.push_back(1);
  for (const Digit *digit = begin; digit != end; ++digit) {
    starts.push_back(digit->divisor);
    if (digit->modulus != 0)
      starts.push_back(digit->divisor * digit->modulus);
  }
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  for (size_t i = 0; i < starts.size(); ++i) {
    if (i + 1 < starts.size() && starts[i + 1] % starts[i] != 0)
      return std::nullopt;
    segments.sizes.push_back(i + 1 < starts.size() ? starts[i + 1] / starts[i]
                                                   : ceilDiv(extent, starts[i]));
  }
  segments.coefficients.assign(starts.size(), 0);
  for (const Digit *digit = begin; digit != end; ++digit) {
    int64_t stop = digit->modulus == 0 ? 0 : digit->divisor * digit->modulus;
    for (size_t i = 0; i < starts.size(); ++i)
      if (starts[i] >= digit->divisor && (stop == 0 || starts[i] < stop))
        segments.coefficients[i] += digit->coefficient * (starts[i] / digit->divisor);
  }
  return segments;
}

/// Largest value of the segments' sum for 0 <= x < extent: either some leading
/// digits equal those of extent - 1 and the next is smaller, then the rest is
/// free, or all are equal.
int64_t getMaximum(const Segments &segments, int64_t extent, int64_t sign) {
  size_t count = segments.starts.size();
  std::vector<int64_t> freeBelow(count + 1, 0);
  for (size_t i = 0; i < count; ++i)
    freeBelow[i + 1] = freeBelow[i] + std::max<int64_t>(0, sign * segments.coefficients[i] *
                                                               (segments.sizes[i] - 1));
  std::optional<int64_t> best;
  int64_t tight = 0;
  for (size_t i = count; i-- > 0;) {
    int64_t digit = (extent - 1) / segments.starts[i] % segments.sizes[i];
    int64_t coefficient = sign * segments.coefficients[i];
    if (digit > 0) {
      int64_t value = tight + std::max<int64_t>(0, coefficient * (digit - 1)) + freeBelow[i];
      best = best ? std::max(*best, value) : value;
    }
    tight += coefficient * digit;
  }
  return best ? std::max(*best, tight) : tight;
}

/// Calls \p visit(input, begin, end) for each input's digits of \p sorted.
template <typename Visit> void forEachInput(const std::vector<Digit> &sorted, Visit visit) {
  for (size_t i = 0; i < sorted.size();) {
    size_t j = i;
    while (j < sorted.size() && sorted[j].input == sorted[i].input)
      ++j;
    visit(sorted[i].input, sorted.data() + i, sorted.data() + j);
    i = j;
  }
}

std::vector<Digit> getNormalized(const IndexExpr &expr, const std::vector<int64_t> &extents) {
  std::vector<Digit> digits;
  digits.reserve(expr.digits.size());
  for (Digit digit : expr.digits) {
    assert(digit.input < extents.size() && digit.divisor > 0 && digit.modulus >= 0);
    if (normalize(digit, extents[digit.input]))
      digits.push_back(digit);
  }
  std::sort(digits.begin(), digits.end(), isBefore);
  return digits;
}

/// True if \p expr is a sum of inputs, each by itself, in order: what simplify() leaves as it is.
bool isSumOfInputs(const IndexExpr &expr, const std::vector<int64_t> &extents) {
  for (size_t i = 0; i < expr.digits.size(); ++i) {
    const Digit &digit = expr.digits[i];
    if (digit.divisor != 1 || digit.modulus != 0 || digit.coefficient == 0 ||
        extents[digit.input] <= 1 || (i > 0 && expr.digits[i - 1].input >= digit.input))
      return false;
  }
  return true;
}

/// The map over \p map's inputs with each digit rewritten by \p rewrite, which
/// appends to the expression and returns false to give up.
template <typename Rewrite>
std::optional<IndexMap> rewriteDigits(const IndexMap &map, std::vector<int64_t> extents,
                                      Rewrite rewrite) {
  IndexMap answer;
  answer.extents = std::move(extents);
  for (const IndexExpr &expr : map.results) {
    IndexExpr result;
    result.constant = expr.constant;
    for (const Digit &digit : expr.digits)
      if (!rewrite(digit, result))
        return std::nullopt;
    answer.results.push_back(simplify(result, answer.extents));
  }
  return answer;
}

} // namespace

IndexExpr makeConstant(int64_t value) {
  IndexExpr expr;
  expr.constant = value;
  return expr;
}

IndexExpr makeInput(unsigned input, int64_t coefficient, int64_t constant) {
  IndexExpr expr;
  expr.digits.push_back({input, 1, 0, coefficient});
  expr.constant = constant;
  return expr;
}

IndexMap makeIdentity(std::vector<int64_t> extents) {
  IndexMap map;
  for (unsigned i = 0; i < extents.size(); ++i)
    map.results.push_back(makeInput(i));
  map.extents = std::move(extents);
  return map;
}

IndexExpr add(const IndexExpr &a, const IndexExpr &b) {
  IndexExpr sum = a;
  sum.digits.insert(sum.digits.end(), b.digits.begin(), b.digits.end());
  sum.constant += b.constant;
  return sum;
}

IndexExpr multiply(const IndexExpr &expr, int64_t factor) {
  IndexExpr product = expr;
  for (Digit &digit : product.digits)
    digit.coefficient *= factor;
  product.constant *= factor;
  return product;
}

int64_t getNumValues(const Digit &digit, const std::vector<int64_t> &extents) {
  int64_t values = ceilDiv(extents[digit.input], digit.divisor);
  return digit.modulus != 0 ? std::min(values, digit.modulus) : values;
}

IndexExpr simplify(const IndexExpr &expr, const std::vector<int64_t> &extents) {
  if (isSumOfInputs(expr, extents))
    return expr;
  IndexExpr result;
  result.constant = expr.constant;
  std::vector<Digit> digits = getNormalized(expr, extents);
  forEachInput(digits, [&](unsigned input, const Digit *begin, const Digit *end) {
    std::optional<Segments> segments = makeSegments(begin, end, extents[input]);
    if (!segments) {
      // No chain: only equal digits can be merged. What is left may be a chain.
      std::vector<Digit> merged;
      for (const Digit *digit = begin; digit != end; ++digit) {
        if (!merged.empty() && merged.back().divisor == digit->divisor &&
            merged.back().modulus == digit->modulus)
          merged.back().coefficient += digit->coefficient;
        else
          merged.push_back(*digit);
      }
      std::erase_if(merged, [](const Digit &digit) { return digit.coefficient == 0; });
      if (merged.size() != size_t(end - begin))
        merged = simplify({std::move(merged), 0}, extents).digits;
      result.digits.insert(result.digits.end(), merged.begin(), merged.end());
      return;
    }
    size_t count = segments->starts.size();
    for (size_t i = 0; i < count;) {
      if (segments->coefficients[i] == 0) {
        ++i;
        continue;
      }
      // Neighbours whose coefficients continue the digit belong to it.
      size_t j = i + 1;
      while (j < count &&
             segments->coefficients[j] == segments->coefficients[j - 1] * segments->sizes[j - 1])
        ++j;
      Digit digit{input, segments->starts[i], 0, segments->coefficients[i]};
      if (j < count)
        digit.modulus = segments->starts[j] / segments->starts[i];
      if (normalize(digit, extents[input]))
        result.digits.push_back(digit);
      i = j;
    }
  });
  return result;
}

IndexMap simplify(const IndexMap &map) {
  IndexMap result;
  result.extents = map.extents;
  for (const IndexExpr &expr : map.results)
    result.results.push_back(simplify(expr, map.extents));
  return result;
}

int64_t evaluate(const IndexExpr &expr, const std::vector<int64_t> &point) {
  int64_t value = expr.constant;
  for (const Digit &digit : expr.digits) {
    int64_t part = point[digit.input] / digit.divisor;
    if (digit.modulus != 0)
      part %= digit.modulus;
    value += digit.coefficient * part;
  }
  return value;
}

std::vector<int64_t> evaluate(const IndexMap &map, const std::vector<int64_t> &point) {
  std::vector<int64_t> values;
  values.reserve(map.results.size());
  for (const IndexExpr &expr : map.results)
    values.push_back(evaluate(expr, point));
  return values;
}

std::pair<int64_t, int64_t> getRange(const IndexExpr &expr, const std::vector<int64_t> &extents) {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end())
    return {0, -1};
  int64_t min = expr.constant, max = expr.constant;
  std::vector<Digit> digits = getNormalized(expr, extents);
  forEachInput(digits, [&](unsigned input, const Digit *begin, const Digit *end) {
    if (std::optional<Segments> segments = makeSegments(begin, end, extents[input])) {
      max += getMaximum(*segments, extents[input], 1);
      min -= getMaximum(*segments, extents[input], -1);
      return;
    }
    for (const Digit *digit = begin; digit != end; ++digit) {
      int64_t reach = digit->coefficient * (getNumValues(*digit, extents) - 1);
      (reach > 0 ? max : min) += reach;
    }
  });
  return {min, max};
}

bool isDivisible(const IndexExpr &expr, const std::vector<int64_t> &extents, int64_t divisor) {
  assert(divisor > 0);
  IndexExpr canonical = simplify(expr, extents);
  if (canonical.constant % divisor != 0)
    return false;
  for (const Digit &digit : canonical.digits)
    if (digit.coefficient % divisor != 0)
      return false;
  return true;
}

bool dependsOn(const IndexExpr &expr, unsigned input) {
  return std::any_of(expr.digits.begin(), expr.digits.end(),
                     [&](const Digit &digit) { return digit.input == input; });
}

std::vector<Digit> getDigitsByStep(const IndexExpr &expr) {
  std::vector<Digit> digits = expr.digits;
  std::sort(digits.begin(), digits.end(), [](const Digit &a, const Digit &b) {
    return std::abs(a.coefficient) < std::abs(b.coefficient);
  });
  return digits;
}

std::vector<Interval> getRegion(const IndexMap &map, const std::vector<int64_t> &offsets,
                                const std::vector<int64_t> &sizes) {
  std::vector<Interval> region;
  region.reserve(map.results.size());
  bool isEmpty = std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size <= 0; });
  for (const IndexExpr &expr : map.results) {
    if (isEmpty) {
      region.push_back({0, -1, 0});
      continue;
    }
    Interval interval{expr.constant, expr.constant, 0};
    // Planning asks for regions most often of all, so that a copy counts.
    IndexExpr simplified;
    const bool isSimple = isSumOfInputs(expr, map.extents);
    if (!isSimple)
      simplified = simplify(expr, map.extents);
    for (const Digit &digit : (isSimple ? expr : simplified).digits) {
      // Smallest and largest value of the digit on the interval of its input.
      int64_t first = offsets[digit.input] / digit.divisor;
      int64_t last = (offsets[digit.input] + sizes[digit.input] - 1) / digit.divisor;
      if (digit.modulus != 0) {
        bool wraps = last - first >= digit.modulus || first % digit.modulus > last % digit.modulus;
        first = wraps ? 0 : first % digit.modulus;
        last = wraps ? digit.modulus - 1 : last % digit.modulus;
      }
      int64_t low = digit.coefficient * first, high = digit.coefficient * last;
      interval.min += std::min(low, high);
      interval.max += std::max(low, high);
      if (first != last)
        interval.step = std::gcd(interval.step, digit.coefficient);
    }
    region.push_back(interval);
  }
  return region;
}

std::vector<Interval> getRegion(const IndexMap &map) {
  std::vector<Interval> region =
      getRegion(map, std::vector<int64_t>(map.extents.size(), 0), map.extents);
  for (size_t i = 0; i < region.size(); ++i)
    std::tie(region[i].min, region[i].max) = getRange(map.results[i], map.extents);
  return region;
}

std::optional<DivMod> divide(const IndexExpr &expr, const std::vector<int64_t> &extents,
                             int64_t divisor) {
  assert(divisor > 0);
  IndexExpr canonical = simplify(expr, extents);
  DivMod answer;
  for (const Digit &digit : canonical.digits) {
    int64_t coefficient = digit.coefficient;
    if (coefficient > 0 && coefficient < divisor && divisor % coefficient == 0) {
      // The digit may cross the boundary: cut it there.
      int64_t low = divisor / coefficient;
      if (getNumValues(digit, extents) > low) {
        if (digit.modulus % low != 0)
          return std::nullopt;
        answer.quotient.digits.push_back(
            {digit.input, digit.divisor * low, digit.modulus / low, 1});
        answer.remainder.digits.push_back({digit.input, digit.divisor, low, coefficient});
        continue;
      }
    }
    int64_t high = floorDiv(coefficient, divisor);
    if (high != 0)
      answer.quotient.digits.push_back({digit.input, digit.divisor, digit.modulus, high});
    if (coefficient - high * divisor != 0)
      answer.remainder.digits.push_back(
          {digit.input, digit.divisor, digit.modulus, coefficient - high * divisor});
  }
  answer.quotient.constant = floorDiv(canonical.constant, divisor);
  answer.remainder.constant = canonical.constant - answer.quotient.constant * divisor;
  auto [min, max] = getRange(answer.remainder, extents);
  if (min <= max) {
    int64_t window = floorDiv(min, divisor);
    if (floorDiv(max, divisor) != window)
      return std::nullopt;
    answer.quotient.constant += window;
    answer.remainder.constant -= window * divisor;
  }
  answer.quotient = simplify(answer.quotient, extents);
  answer.remainder = simplify(answer.remainder, extents);
  return answer;
}

std::optional<IndexMap> compose(const IndexMap &outer, const IndexMap &inner) {
  assert(outer.extents.size() == inner.results.size());
  return rewriteDigits(outer, inner.extents, [&](const Digit &digit, IndexExpr &result) {
    IndexExpr value = inner.results[digit.input];
    if (digit.divisor != 1) {
      std::optional<DivMod> parts = divide(value, inner.extents, digit.divisor);
      if (!parts)
        return false;
      value = std::move(parts->quotient);
    }
    if (digit.modulus != 0) {
      std::optional<DivMod> parts = divide(value, inner.extents, digit.modulus);
      if (!parts)
        return false;
      value = std::move(parts->remainder);
    }
    result = add(result, multiply(value, digit.coefficient));
    return true;
  });
}

std::optional<IndexMap> invert(const IndexMap &map, const std::vector<int64_t> &resultExtents) {
  if (map.results.size() != resultExtents.size())
    return std::nullopt;
  auto volume = [](const std::vector<int64_t> &extents) {
    return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
  };
  if (volume(map.extents) != volume(resultExtents))
    return std::nullopt;
  IndexMap inverse;
  inverse.extents = resultExtents;
  inverse.results.resize(map.extents.size());
  if (volume(resultExtents) == 0)
    return inverse;
  for (unsigned r = 0; r < map.results.size(); ++r) {
    IndexExpr expr = simplify(map.results[r], map.extents);
    if (expr.constant != 0)
      return std::nullopt;
    // A mixed radix number that fills the result's extent without holes.
    int64_t unit = 1;
    for (const Digit &digit : getDigitsByStep(expr)) {
      int64_t values = getNumValues(digit, map.extents);
      if (digit.coefficient != unit)
        return std::nullopt;
      inverse.results[digit.input].digits.push_back({r, unit, values, digit.divisor});
      unit *= values;
    }
    if (unit != resultExtents[r])
      return std::nullopt;
  }
  inverse = simplify(inverse);
  // Together the digits must give each input back, once.
  std::optional<IndexMap> roundTrip = compose(inverse, map);
  if (!roundTrip || *roundTrip != simplify(makeIdentity(map.extents)))
    return std::nullopt;
  return inverse;
}

std::optional<IndexMap> splitInput(const IndexMap &map, unsigned input,
                                   const std::vector<int64_t> &factors) {
  assert(input < map.extents.size() && !factors.empty());
  IndexMap outerToInner;
  for (unsigned i = 0; i < map.extents.size(); ++i) {
    if (i == input)
      outerToInner.extents.insert(outerToInner.extents.end(), factors.begin(), factors.end());
    else
      outerToInner.extents.push_back(map.extents[i]);
  }
  for (unsigned i = 0; i < map.extents.size(); ++i) {
    if (i != input) {
      outerToInner.results.push_back(makeInput(i < input ? i : i + unsigned(factors.size()) - 1));
      continue;
    }
    IndexExpr expr;
    int64_t unit = 1;
    for (size_t f = factors.size(); f-- > 0;) {
      expr.digits.push_back({input + unsigned(f), 1, 0, unit});
      unit *= factors[f];
    }
    if (unit != map.extents[input])
      return std::nullopt;
    outerToInner.results.push_back(expr);
  }
  return compose(map, outerToInner);
}

bool canSplitInputs(const IndexMap &map) {
  for (unsigned input = 0; input < map.extents.size(); ++input) {
    std::vector<int64_t> cuts;
    for (const IndexExpr &expr : map.results)
      for (const Digit &digit : expr.digits)
        if (digit.input == input)
          for (int64_t cut : {digit.divisor, digit.divisor * digit.modulus})
            if (cut > 1 && cut < map.extents[input])
              cuts.push_back(cut);
    std::sort(cuts.begin(), cuts.end());
    int64_t outer = map.extents[input];
    for (auto cut = cuts.rbegin(); cut != cuts.rend(); ++cut) {
      if (outer % *cut)
        return false;
      outer = *cut;
    }
  }
  return true;
}

IndexMap permuteInputs(const IndexMap &map, const std::vector<unsigned> &order) {
  assert(order.size() == map.extents.size());
  IndexMap result = map;
  std::vector<unsigned> newPosition(order.size());
  for (unsigned i = 0; i < order.size(); ++i) {
    newPosition[order[i]] = i;
    result.extents[i] = map.extents[order[i]];
  }
  for (IndexExpr &expr : result.results) {
    for (Digit &digit : expr.digits)
      digit.input = newPosition[digit.input];
    std::sort(expr.digits.begin(), expr.digits.end(), isBefore);
  }
  return result;
}

IndexMap permuteResults(const IndexMap &map, const std::vector<unsigned> &order) {
  IndexMap result;
  result.extents = map.extents;
  for (unsigned position : order)
    result.results.push_back(map.results[position]);
  return result;
}

IndexExpr linearize(const IndexMap &map, const std::vector<int64_t> &strides) {
  assert(strides.size() == map.results.size());
  IndexExpr flat;
  for (size_t i = 0; i < strides.size(); ++i)
    flat = add(flat, multiply(map.results[i], strides[i]));
  return simplify(flat, map.extents);
}

std::optional<IndexMap> delinearize(const IndexExpr &flat, const std::vector<int64_t> &extents,
                                    const std::vector<int64_t> &shape,
                                    const std::vector<int64_t> &strides) {
  assert(shape.size() == strides.size());
  IndexMap map;
  map.extents = extents;
  map.results.resize(shape.size());
  std::vector<unsigned> order;
  for (unsigned i = 0; i < shape.size(); ++i)
    if (shape[i] != 1)
      order.push_back(i);
  std::sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
    return strides[a] != strides[b] ? strides[a] > strides[b] : a < b;
  });
  IndexExpr rest = simplify(flat, extents);
  for (size_t i = 0; i < order.size(); ++i) {
    unsigned dim = order[i];
    // Dims that overlap in memory have no unique coordinates.
    if (strides[dim] <= 0 ||
        (i + 1 < order.size() && strides[dim] < strides[order[i + 1]] * shape[order[i + 1]]))
      return std::nullopt;
    std::optional<DivMod> parts = divide(rest, extents, strides[dim]);
    if (!parts)
      return std::nullopt;
    auto [min, max] = getRange(parts->quotient, extents);
    if (min <= max && (min < 0 || max >= shape[dim]))
      return std::nullopt;
    map.results[dim] = std::move(parts->quotient);
    rest = std::move(parts->remainder);
  }
  auto [min, max] = getRange(rest, extents);
  if (min <= max && (min != 0 || max != 0))
    return std::nullopt;
  return map;
}

std::vector<int64_t> getRowMajorStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::string toString(const IndexExpr &expr) {
  std::string text;
  for (const Digit &digit : expr.digits) {
    if (!text.empty())
      text += " + ";
    std::string part = "d" + std::to_string(digit.input);
    if (digit.divisor != 1)
      part = "(" + part + " floordiv " + std::to_string(digit.divisor) + ")";
    if (digit.modulus != 0)
      part = "(" + part + " mod " + std::to_string(digit.modulus) + ")";
    if (digit.coefficient != 1)
      part = std::to_string(digit.coefficient) + "*" + part;
    text += part;
  }
  if (text.empty())
    return std::to_string(expr.constant);
  if (expr.constant != 0)
    text += (expr.constant < 0 ? " - " : " + ") + std::to_string(std::abs(expr.constant));
  return text;
}

std::string toString(const IndexMap &map) {
  std::string text = "(";
  for (size_t i = 0; i < map.results.size(); ++i)
    text += (i == 0 ? "" : ", ") + toString(map.results[i]);
  return text + ")";
}

} // namespace spyre::layout
