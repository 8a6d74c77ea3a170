//===- IndexMapTest.cpp - The index algebra against enumeration -----------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every function of IndexMap.h against enumeration of all points, over random
// expressions and over chains of random views.
//
//===----------------------------------------------------------------------===//

#include "RandomViews.h"

#include <gtest/gtest.h>

#include <set>

using namespace spyre::layout;
using test::Generator;
using test::Shape;

namespace {

IndexExpr makeExpr(Generator &generator, const Shape &extents) {
  IndexExpr expr;
  expr.constant = generator.pick(-3, 10);
  static const Shape factors{1, 2, 3, 4, 8};
  for (int64_t i = generator.pick(0, 4); i > 0 && !extents.empty(); --i) {
    Digit digit;
    digit.input = unsigned(generator.pick(0, int64_t(extents.size()) - 1));
    digit.divisor = generator.pickOne(factors);
    digit.modulus = generator.flip() ? 0 : generator.pickOne(factors);
    digit.coefficient = generator.pick(-2, 8);
    expr.digits.push_back(digit);
  }
  return expr;
}

TEST(IndexMap, SimplifyKeepsValuesAndRanges) {
  Generator generator(1);
  int exact = 0, total = 0;
  for (int round = 0; round < 4000; ++round) {
    Shape extents = generator.makeShape(3, 600);
    IndexExpr expr = makeExpr(generator, extents);
    IndexExpr canonical = simplify(expr, extents);
    EXPECT_EQ(canonical, simplify(canonical, extents));
    std::optional<std::pair<int64_t, int64_t>> seen;
    int64_t step = 0, first = 0;
    test::forEachPoint(extents, [&](const Shape &point) {
      int64_t value = evaluate(expr, point);
      ASSERT_EQ(value, evaluate(canonical, point))
          << toString(expr) << " / " << toString(canonical);
      if (!seen)
        seen = {value, value}, first = value;
      seen = {std::min(seen->first, value), std::max(seen->second, value)};
      step = std::gcd(step, value - first);
    });
    auto range = getRange(expr, extents);
    EXPECT_LE(range.first, seen->first);
    EXPECT_GE(range.second, seen->second);
    exact += range == *seen;
    ++total;
    for (int64_t divisor : {1, 2, 3, 4})
      if (isDivisible(expr, extents, divisor)) {
        EXPECT_EQ(seen->first % divisor, 0);
        EXPECT_EQ(step % divisor, 0);
      }
    Interval region = getRegion({extents, {expr}}).front();
    EXPECT_LE(region.min, seen->first);
    EXPECT_GE(region.max, seen->second);
    if (region.step == 0)
      EXPECT_EQ(seen->first, seen->second);
    else
      EXPECT_EQ(step % region.step, 0);
  }
  // Factors 3 beside 2 break the chain; all others must be exact.
  EXPECT_GT(exact, total * 95 / 100);
}

TEST(IndexMap, CanonicalFormDecidesEquality) {
  // All divisors and moduli are powers of two: a chain.
  Generator generator(2);
  static const Shape powers{1, 2, 4, 8};
  auto make = [&](const Shape &extents) {
    IndexExpr expr;
    for (int64_t i = generator.pick(1, 3); i > 0; --i)
      expr.digits.push_back({unsigned(generator.pick(0, 1)), generator.pickOne(powers),
                             generator.flip() ? 0 : generator.pickOne(powers),
                             generator.pickOne(powers)});
    return simplify(expr, extents);
  };
  int equal = 0;
  for (int round = 0; round < 20000; ++round) {
    Shape extents{generator.pick(1, 9), generator.pick(1, 4)};
    IndexExpr a = make(extents), b = make(extents);
    bool same = true;
    test::forEachPoint(
        extents, [&](const Shape &point) { same &= evaluate(a, point) == evaluate(b, point); });
    if (same != (a == b)) {
      // A top digit with one non-zero value has no unique divisor; equality of
      // values must still be found by the difference.
      IndexExpr difference = simplify(add(a, multiply(b, -1)), extents);
      auto range = getRange(difference, extents);
      EXPECT_EQ(same, range == std::pair(int64_t(0), int64_t(0)))
          << toString(a) << " and " << toString(b);
    }
    equal += same;
  }
  EXPECT_GT(equal, 500);
}

TEST(IndexMap, DivideIsExactOrRefused) {
  Generator generator(3);
  int divided = 0, carries = 0;
  for (int round = 0; round < 6000; ++round) {
    Shape extents = generator.makeShape(3, 600);
    IndexExpr expr = makeExpr(generator, extents);
    int64_t divisor = generator.pick(1, 16);
    std::optional<DivMod> parts = divide(expr, extents, divisor);
    if (!parts) {
      ++carries;
      continue;
    }
    ++divided;
    test::forEachPoint(extents, [&](const Shape &point) {
      int64_t value = evaluate(expr, point);
      int64_t remainder = evaluate(parts->remainder, point);
      ASSERT_GE(remainder, 0);
      ASSERT_LT(remainder, divisor);
      ASSERT_EQ(value, evaluate(parts->quotient, point) * divisor + remainder);
    });
  }
  EXPECT_GT(divided, 1500);
  EXPECT_GT(carries, 500);
}

TEST(IndexMap, DivideFindsSticks) {
  // 256*x0 + x1 + 8192 in sticks of 64: no carry, so the constant comes out.
  std::optional<DivMod> parts = divide({{{0, 1, 0, 256}, {1, 1, 0, 1}}, 8192}, {4, 256}, 64);
  ASSERT_TRUE(parts);
  EXPECT_EQ(toString(parts->quotient), "4*d0 + (d1 floordiv 64) + 128");
  EXPECT_EQ(toString(parts->remainder), "(d1 mod 64)");
  // A slice that starts inside a stick and leaves it needs a carry.
  EXPECT_FALSE(divide(makeInput(0, 1, 32), {64}, 64));
  // One that stays inside does not.
  parts = divide(makeInput(0, 1, 32), {32}, 64);
  ASSERT_TRUE(parts);
  EXPECT_EQ(toString(parts->remainder), "d0 + 32");
}

TEST(IndexMap, ChainsOfViews) {
  Generator generator(4);
  int steps = 0, refused = 0;
  for (int round = 0; round < 2500; ++round) {
    test::View view = generator.makeBase(generator.makeShape(3, 1500));
    for (int depth = 0; depth < 4; ++depth) {
      std::optional<test::View> next = generator.step(view);
      ++steps;
      if (!next) {
        ++refused;
        continue;
      }
      view = std::move(*next);
      ASSERT_EQ(view.map.extents, view.shape);
      size_t i = 0;
      test::forEachPoint(view.shape, [&](const Shape &point) {
        ASSERT_EQ(test::flatten(evaluate(view.map, point), view.base), view.elements[i++]);
      });
      // The flat index leads back to the coordinates.
      IndexExpr flat = linearize(view.map, getRowMajorStrides(view.base));
      std::optional<IndexMap> back =
          delinearize(flat, view.shape, view.base, getRowMajorStrides(view.base));
      ASSERT_TRUE(back);
      test::forEachPoint(view.shape, [&](const Shape &point) {
        ASSERT_EQ(evaluate(*back, point), evaluate(view.map, point));
      });
    }
  }
  // Reshapes of sliced and of odd shapes are no sums of digits.
  EXPECT_LT(refused, steps / 4);
}

TEST(IndexMap, RegionsOfBoxes) {
  Generator generator(5);
  for (int round = 0; round < 2000; ++round) {
    test::View view = generator.makeBase(generator.makeShape(3, 800));
    for (int depth = 0; depth < 3; ++depth)
      if (std::optional<test::View> next = generator.step(view))
        view = std::move(*next);
    Shape offsets, sizes;
    for (int64_t size : view.shape) {
      offsets.push_back(generator.pick(0, size - 1));
      sizes.push_back(generator.pick(1, size - offsets.back()));
    }
    std::vector<Interval> region = getRegion(view.map, offsets, sizes);
    test::forEachPoint(sizes, [&](Shape point) {
      for (size_t d = 0; d < point.size(); ++d)
        point[d] += offsets[d];
      Shape coordinates = evaluate(view.map, point);
      for (size_t r = 0; r < coordinates.size(); ++r) {
        ASSERT_GE(coordinates[r], region[r].min);
        ASSERT_LE(coordinates[r], region[r].max);
        if (region[r].step != 0)
          ASSERT_EQ((coordinates[r] - region[r].min) % region[r].step, 0);
      }
    });
  }
}

TEST(IndexMap, InvertPermutationsAndReshapes) {
  Generator generator(6);
  int inverted = 0;
  for (int round = 0; round < 2000; ++round) {
    test::View view = generator.makeBase(generator.makeShape(3, 800));
    for (int depth = 0; depth < 3; ++depth)
      if (auto next = generator.flip() ? generator.permute(view) : generator.reshape(view))
        view = std::move(*next);
    std::optional<IndexMap> inverse = invert(view.map, view.base);
    if (!inverse)
      continue;
    ++inverted;
    test::forEachPoint(view.shape, [&](const Shape &point) {
      ASSERT_EQ(evaluate(*inverse, evaluate(view.map, point)), point);
    });
  }
  EXPECT_GT(inverted, 1500);
  // Not onto, not one to one, shifted.
  EXPECT_FALSE(invert({{4}, {makeInput(0, 2)}}, {8}));
  EXPECT_FALSE(invert({{4, 4}, {makeInput(0), makeInput(0)}}, {4, 4}));
  EXPECT_FALSE(invert({{4}, {makeInput(0, 1, 1)}}, {4}));
}

TEST(IndexMap, SplitInputs) {
  Generator generator(7);
  int split = 0;
  for (int round = 0; round < 2000; ++round) {
    test::View view = generator.makeBase(generator.makeShape(3, 800));
    for (int depth = 0; depth < 2; ++depth)
      if (auto next = generator.step(view))
        view = std::move(*next);
    if (view.shape.empty())
      continue;
    unsigned input = unsigned(generator.pick(0, int64_t(view.shape.size()) - 1));
    Shape divisors;
    for (int64_t d = 1; d <= view.shape[input]; ++d)
      if (view.shape[input] % d == 0)
        divisors.push_back(d);
    int64_t inner = generator.pickOne(divisors);
    std::optional<IndexMap> map = splitInput(view.map, input, {view.shape[input] / inner, inner});
    if (!map)
      continue;
    ++split;
    test::forEachPoint(map->extents, [&](const Shape &point) {
      Shape old = point;
      old[input] = point[input] * inner + point[input + 1];
      old.erase(old.begin() + input + 1);
      ASSERT_EQ(evaluate(*map, point), evaluate(view.map, old));
    });
  }
  EXPECT_GT(split, 1200);
}

TEST(IndexMap, DelinearizeRefusesWhatHasNoCoordinates) {
  // Out of bounds, overlapping strides, a hole.
  EXPECT_FALSE(delinearize(makeInput(0, 1, 1), {8}, {8}, {1}));
  EXPECT_FALSE(delinearize(makeInput(0), {8}, {2, 8}, {4, 1}));
  EXPECT_FALSE(delinearize(makeInput(0), {8}, {4}, {2}));
  // 4096*x0 + x1 + 8192 in [256,4096].
  auto map =
      delinearize({{{0, 1, 0, 4096}, {1, 1, 0, 1}}, 8192}, {64, 4096}, {256, 4096}, {4096, 1});
  ASSERT_TRUE(map);
  EXPECT_EQ(toString(*map), "(d0 + 2, d1)");
}

TEST(IndexMap, EmptyBoxes) {
  Shape extents{0, 4};
  IndexExpr expr = add(makeInput(0), makeInput(1));
  auto range = getRange(expr, extents);
  EXPECT_GT(range.first, range.second);
  EXPECT_TRUE(divide(expr, extents, 64));
  EXPECT_GT(getRegion({extents, {expr}}).front().min, getRegion({extents, {expr}}).front().max);
}

} // namespace
