//===- AccessTest.cpp - What is touched by which core at what time --------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Regions of cores and iterations, boxes and sets of boxes, each against enumeration.
//
//===----------------------------------------------------------------------===//

#include "spyre/Layout/Access.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

using namespace spyre::layout;

namespace {

using Point = std::vector<int64_t>;

/// Calls \p visit with every point of \p region.
template <typename Visit> void forEachPoint(const Region &region, Visit visit) {
  if (region.isEmpty())
    return;
  Point point = region.begin;
  while (true) {
    visit(point);
    size_t i = point.size();
    while (i > 0 && ++point[i - 1] == region.end[i - 1]) {
      point[i - 1] = region.begin[i - 1];
      --i;
    }
    if (i == 0)
      return;
  }
}

std::set<Point> getPoints(const Region &region) {
  std::set<Point> points;
  forEachPoint(region, [&](const Point &point) { points.insert(point); });
  return points;
}

/// The smallest box around \p points.
Region getBox(const std::set<Point> &points, size_t rank) {
  Region box{Point(rank, 0), Point(rank, 0)};
  for (const Point &point : points)
    for (size_t i = 0; i < rank; ++i) {
      box.begin[i] = point == *points.begin() ? point[i] : std::min(box.begin[i], point[i]);
      box.end[i] = point == *points.begin() ? point[i] + 1 : std::max(box.end[i], point[i] + 1);
    }
  return box;
}

Region makeRandomRegion(std::mt19937 &random, size_t rank) {
  Region region;
  for (size_t i = 0; i < rank; ++i) {
    region.begin.push_back(random() % 5);
    region.end.push_back(region.begin.back() + random() % 5);
  }
  return region;
}

TEST(RegionTest, SubtractionAgainstEnumeration) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    size_t rank = random() % 4;
    Region region = makeRandomRegion(random, rank), hole = makeRandomRegion(random, rank);
    std::set<Point> expected, found;
    forEachPoint(region, [&](const Point &point) {
      if (!getPoints(hole).count(point))
        expected.insert(point);
    });
    for (const Region &piece : subtract(region, hole)) {
      EXPECT_FALSE(piece.isEmpty());
      for (const Point &point : getPoints(piece))
        EXPECT_TRUE(found.insert(point).second) << "pieces overlap";
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(region.getSize(), int64_t(getPoints(region).size()));
    EXPECT_EQ(region.intersects(hole) && !region.isEmpty() && !hole.isEmpty(),
              expected.size() != getPoints(region).size());
  }
}

TEST(RegionTest, SetsAgainstEnumeration) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    size_t rank = 1 + random() % 3;
    RegionSet set;
    std::set<Point> points;
    for (unsigned i = 0; i < 1 + random() % 6; ++i) {
      Region region = makeRandomRegion(random, rank);
      set.add(region);
      points.merge(getPoints(region));
    }
    for (int probe = 0; probe < 5; ++probe) {
      Region region = makeRandomRegion(random, rank);
      std::set<Point> wanted = getPoints(region);
      EXPECT_EQ(set.contains(region),
                std::includes(points.begin(), points.end(), wanted.begin(), wanted.end()));
    }
  }
}

TEST(RegionTest, RowsThatFollowOneAnotherAreOneBox) {
  RegionSet set;
  for (int64_t row : {0, 2, 1, 3})
    set.add({{row, 0}, {row + 1, 64}});
  EXPECT_EQ(set.getBoxes(), (std::vector<Region>{{{0, 0}, {4, 64}}}));
}

TEST(AccessTest, RegionsAgainstEnumeration) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<SpreadDim> dims(2);
    for (SpreadDim &dim : dims) {
      dim.extent = 1 + random() % 20;
      dim.numSlices = 1 + random() % 4;
      dim.sliceSize = (dim.extent + dim.numSlices - 1) / dim.numSlices;
    }
    Spread spread = makeSpread(dims, random() % 2 == 0);
    // Transposed, moved by two loops; the second coordinate broadcast in one of three.
    Access access;
    access.numPoints = 2;
    access.map.extents = {dims[0].extent, dims[1].extent, 1 + int64_t(random() % 3),
                          1 + int64_t(random() % 3)};
    access.map.results = {add(makeInput(1, 1, 5), makeInput(3, dims[1].extent)),
                          add(makeInput(0), makeInput(2, 7))};
    if (random() % 3 == 0)
      access.map.results[1] = makeConstant(2);
    EXPECT_EQ(access.isMoving(),
              access.map.extents[3] > 1 ||
                  (access.map.extents[2] > 1 && !access.map.results[1].digits.empty()));
    EXPECT_TRUE(access.isDense());
    std::set<Point> computed;
    for (int64_t core = 0; core < 17; ++core) {
      std::optional<Region> points = spread.getPoints(core);
      ASSERT_EQ(points.has_value(), core < dims[0].numSlices * dims[1].numSlices);
      EXPECT_EQ(points.has_value(), access.getRegion(spread, core).has_value());
      if (!points)
        continue;
      for (const Point &point : getPoints(*points))
        EXPECT_TRUE(computed.insert(point).second) << "two cores compute one point";
      std::set<Point> always;
      forEachPoint({{0, 0}, access.getTripCounts()}, [&](const Point &time) {
        std::set<Point> touched;
        forEachPoint(*points, [&](const Point &point) {
          Point inputs = point;
          inputs.insert(inputs.end(), time.begin(), time.end());
          touched.insert(evaluate(access.map, inputs));
          EXPECT_EQ(evaluate(access.at(time), point), evaluate(access.map, inputs));
        });
        Region region = *access.getRegion(spread, core, time);
        EXPECT_EQ(region.isEmpty(), touched.empty());
        if (!touched.empty())
          EXPECT_EQ(region, getBox(touched, 2));
        always.merge(touched);
      });
      if (!always.empty())
        EXPECT_EQ(*access.getRegion(spread, core), getBox(always, 2));
    }
    EXPECT_EQ(int64_t(computed.size()), dims[0].extent * dims[1].extent);
  }
}

TEST(AccessTest, WhatIsDenseIsTouchedWithoutGaps) {
  std::mt19937 random(4);
  int numDense = 0;
  for (int round = 0; round < 3000; ++round) {
    Access access;
    access.numPoints = 2;
    access.map.extents = {1 + int64_t(random() % 6), 1 + int64_t(random() % 6)};
    for (unsigned i = 0; i < 1 + random() % 2; ++i) {
      IndexExpr expr;
      for (unsigned k = 0; k < random() % 3; ++k)
        expr =
            add(expr, {{{unsigned(random() % 2), int64_t(1 + random() % 3),
                         random() % 2 ? int64_t(2 + random() % 2) : 0, int64_t(1 + random() % 3)}},
                       0});
      access.map.results.push_back(simplify(expr, access.map.extents));
    }
    std::set<Point> touched;
    forEachPoint({{0, 0}, access.map.extents},
                 [&](const Point &point) { touched.insert(evaluate(access.map, point)); });
    Region region = access.getRegion();
    bool isFull = region.getSize() == int64_t(touched.size());
    if (access.isDense())
      EXPECT_TRUE(isFull) << toString(access.map) << " over " << access.map.extents[0] << "x"
                          << access.map.extents[1];
    numDense += access.isDense();
  }
  EXPECT_GT(numDense, 500);
}

TEST(AccessTest, WholeTensors) {
  Access rows = makeAccess(makeIdentity({4, 8}));
  EXPECT_TRUE(rows.isWhole({4, 8}));
  EXPECT_FALSE(rows.isWhole({4, 9}));
  Access diagonal = makeAccess({{4}, {makeInput(0), makeInput(0)}});
  EXPECT_FALSE(diagonal.isWhole({4, 4}));
  EXPECT_TRUE(makeAccess({{4}, {makeInput(0), makeConstant(0)}}).isWhole({4, 1}));
  EXPECT_FALSE(makeAccess({{4}, {makeInput(0), makeConstant(1)}}).isWhole({4, 2}));
  // Heads of four, one after the other; with a gap, twice over, too many.
  Access heads = makeAccess({{2, 4}, {add(makeInput(0, 4), makeInput(1))}});
  EXPECT_TRUE(heads.isWhole({8}));
  EXPECT_FALSE(heads.isWhole({9}));
  EXPECT_FALSE(makeAccess({{2, 3}, {add(makeInput(0, 4), makeInput(1))}}).isWhole({8}));
  EXPECT_FALSE(makeAccess({{2, 4}, {add(makeInput(0, 3), makeInput(1))}}).isWhole({7}));
  // Cores that share heads have boxes, those that share what is in each have not.
  EXPECT_TRUE(heads.areSlicesDense(makeSpread({{2, 2, 1}, {4, 1, 4}}, /*kFast=*/false)));
  EXPECT_FALSE(heads.areSlicesDense(makeSpread({{2, 1, 2}, {4, 2, 2}}, /*kFast=*/false)));
  EXPECT_TRUE(rows.areSlicesDense(makeSpread({{4, 2, 2}, {8, 2, 4}}, /*kFast=*/false)));
  // A tile that a loop moves is not the whole.
  Access tile;
  tile.numPoints = 1;
  tile.map = {{4, 2}, {add(makeInput(0), makeInput(1, 4))}};
  EXPECT_FALSE(tile.isWhole({8}));
  EXPECT_TRUE(tile.isMoving());
  EXPECT_EQ(tile.getRegion({1}), (Region{{4}, {8}}));
}

} // namespace
