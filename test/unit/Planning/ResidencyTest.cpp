//===- ResidencyTest.cpp - What may stay in the cores' scratchpads --------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every obstacle by itself, and random divisions against a device that is played through.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/Residency.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace spyre;
using namespace spyre::planning;
using layout::Access;
using layout::Spread;

namespace {

Access identity(std::vector<int64_t> extents) {
  return layout::makeAccess(layout::makeIdentity(std::move(extents)));
}

Spread spread(std::vector<int64_t> extents, std::vector<int64_t> slices, bool kFast = false) {
  std::vector<layout::SpreadDim> dims;
  for (size_t i = 0; i < extents.size(); ++i)
    dims.push_back({extents[i], slices[i], (extents[i] + slices[i] - 1) / slices[i]});
  return layout::makeSpread(std::move(dims), kFast);
}

/// Written and read as a whole.
ResidencyValue makeValue() {
  return {{8, 16}, false, false, false, false, {{identity({8, 16}), true}, {identity({8, 16})}}};
}

TEST(ResidencyTest, EveryObstacle) {
  EXPECT_FALSE(findObstacle(makeValue()));
  auto getObstacle = [](auto change) {
    ResidencyValue value = makeValue();
    change(value);
    std::optional<ResidencyObstacle> obstacle = findObstacle(value);
    EXPECT_TRUE(obstacle);
    EXPECT_FALSE(describe(*obstacle).empty());
    return obstacle->kind;
  };
  EXPECT_EQ(getObstacle([](ResidencyValue &v) { v.isShared = true; }), Obstacle::Shared);
  EXPECT_EQ(getObstacle([](ResidencyValue &v) { v.hasPaddedLayout = true; }),
            Obstacle::PaddedLayout);
  EXPECT_EQ(getObstacle([](ResidencyValue &v) { v.isReinterpreted = true; }),
            Obstacle::Reinterpreted);
  EXPECT_EQ(getObstacle([](ResidencyValue &v) { v.isWrittenInParts = true; }),
            Obstacle::WrittenInParts);
  EXPECT_EQ(getObstacle([](ResidencyValue &v) { v.uses.erase(v.uses.begin()); }),
            Obstacle::WrittenInParts);
  EXPECT_EQ(getObstacle([](ResidencyValue &v) { v.uses[1].needsDeviceMemory = true; }),
            Obstacle::DeviceMemoryOnly);
  EXPECT_EQ(getObstacle([](ResidencyValue &v) {
              v.uses[0].access = identity({4, 16});
              v.uses[0].access.map.results[0].digits[0].coefficient = 2;
            }),
            Obstacle::PartlyWritten);
  EXPECT_EQ(getObstacle([](ResidencyValue &v) {
              v.uses[1].access.map = {{4, 16, 2},
                                      {layout::add(layout::makeInput(0), layout::makeInput(2, 4)),
                                       layout::makeInput(1)}};
            }),
            Obstacle::Moves);
}

TEST(ResidencyTest, WhatIsWrittenAgainAsAWholeMayStay) {
  // A sum that goes on from tile to tile.
  ResidencyValue value = makeValue();
  value.uses.push_back({identity({8, 16}), true});
  EXPECT_FALSE(findObstacle(value));
  Spread rows = spread({8, 16}, {4, 1}), columns = spread({8, 16}, {1, 4});
  EXPECT_FALSE(findObstacleInSpreads(value, {&rows, &rows, &rows}, 4));
  EXPECT_EQ(findObstacleInSpreads(value, {&rows, &rows, &columns}, 4)->kind, Obstacle::OtherPart);
}

TEST(ResidencyTest, BoxesOfWhatNoCoreShares) {
  // Twelve columns and four zeros behind them, then read as a whole, and without the zeros.
  ResidencyValue value = makeValue();
  Access zeros = identity({8, 4});
  zeros.map.results[1].constant = 12;
  value.uses = {{identity({8, 12}), true}, {zeros, true}, {identity({8, 16})}, {identity({8, 12})}};
  EXPECT_FALSE(findObstacle(value));
  auto find = [&](std::vector<int64_t> slices) {
    std::vector<Spread> spreads;
    std::vector<const Spread *> pointers;
    for (const ResidencyUse &use : value.uses)
      spreads.push_back(spread(use.access.map.extents, slices));
    for (const Spread &each : spreads)
      pointers.push_back(&each);
    return findObstacleInSpreads(value, pointers, 4);
  };
  EXPECT_FALSE(find({4, 1}));
  EXPECT_FALSE(find({1, 1}));
  EXPECT_EQ(find({1, 4})->kind, Obstacle::PartlyWritten);
  // On one core more than the others.
  value.uses.pop_back();
  Spread rows = spread({8, 12}, {4, 1}), zeroRows = spread({8, 4}, {2, 1}),
         all = spread({8, 16}, {4, 1});
  EXPECT_EQ(findObstacleInSpreads(value, {&rows, &zeroRows, &all}, 4)->kind, Obstacle::OtherPart);
}

TEST(ResidencyTest, ALoopThatMovesNothingIsNoObstacle) {
  // A tile inside of a loop: the operations run again, on the same addresses.
  ResidencyValue value = makeValue();
  for (ResidencyUse &use : value.uses)
    use.access.map.extents.push_back(10);
  EXPECT_FALSE(findObstacle(value));
  Spread rows = spread({8, 16}, {8, 1});
  EXPECT_FALSE(findObstacleInSpreads(value, {&rows, &rows}, 32));
}

TEST(ResidencyTest, ARelayoutReadsWhatOthersHold) {
  ResidencyValue value = makeValue();
  Spread rows = spread({8, 16}, {8, 1}), columns = spread({8, 16}, {1, 4});
  std::optional<ResidencyObstacle> obstacle = findObstacleInSpreads(value, {&rows, &columns}, 32);
  ASSERT_TRUE(obstacle);
  EXPECT_EQ(obstacle->kind, Obstacle::OtherPart);
  value.uses[1].isFromAnyCore = true;
  EXPECT_FALSE(findObstacleInSpreads(value, {&rows, &columns}, 32));
  // Not of a value that is made of boxes.
  value.uses[0].access = identity({8, 12});
  rows = spread({8, 12}, {8, 1});
  EXPECT_TRUE(findObstacleInSpreads(value, {&rows, &columns}, 32));
}

TEST(ResidencyTest, PartialSumsAreNobodys) {
  // Summed over d2, which two cores share.
  ResidencyValue value = makeValue();
  value.uses[0].access =
      layout::makeAccess({{8, 16, 4}, {layout::makeInput(0), layout::makeInput(1)}});
  Spread whole = spread({8, 16, 4}, {8, 1, 1}), cut = spread({8, 16, 4}, {8, 1, 2}),
         rows = spread({8, 16}, {8, 1});
  EXPECT_FALSE(findObstacleInSpreads(value, {&whole, &rows}, 32));
  std::optional<ResidencyObstacle> obstacle = findObstacleInSpreads(value, {&cut, &rows}, 32);
  ASSERT_TRUE(obstacle);
  EXPECT_EQ(obstacle->kind, Obstacle::SummedByCores);
}

TEST(ResidencyTest, SomeOfTheSlices) {
  // Cores 0 and 1 read just what they have written, but the first half of the dim has two slices
  // where all of it has four: addresses follow from that.
  ResidencyValue value = makeValue();
  layout::IndexMap half = layout::makeIdentity({8, 8});
  value.uses[1].access = layout::makeAccess(half);
  Spread written = spread({8, 16}, {1, 4}), read = spread({8, 8}, {1, 2});
  std::optional<ResidencyObstacle> obstacle = findObstacleInSpreads(value, {&written, &read}, 4);
  ASSERT_TRUE(obstacle);
  EXPECT_EQ(obstacle->kind, Obstacle::OtherPart);
  // Of a dim that no core shares a part may be read.
  written = spread({8, 16}, {4, 1});
  read = spread({8, 8}, {4, 1});
  EXPECT_FALSE(findObstacleInSpreads(value, {&written, &read}, 4));
}

TEST(ResidencyTest, HeadsSideBySide) {
  // Two heads of four rows each run through one coordinate: cores may share the heads.
  ResidencyValue value = makeValue();
  value.uses[0].access = layout::makeAccess(
      {{2, 4, 16},
       {layout::add(layout::makeInput(0, 4), layout::makeInput(1)), layout::makeInput(2)}});
  EXPECT_FALSE(findObstacle(value));
  Spread heads = spread({2, 4, 16}, {2, 1, 1}), inner = spread({2, 4, 16}, {1, 2, 1}),
         rows = spread({8, 16}, {2, 1});
  EXPECT_FALSE(findObstacleInSpreads(value, {&heads, &rows}, 32));
  std::optional<ResidencyObstacle> obstacle = findObstacleInSpreads(value, {&inner, &rows}, 32);
  ASSERT_TRUE(obstacle);
  EXPECT_EQ(obstacle->kind, Obstacle::PartlyWritten);
  // And who reads.
  std::swap(value.uses[0].access, value.uses[1].access);
  EXPECT_FALSE(findObstacleInSpreads(value, {&rows, &heads}, 32));
  obstacle = findObstacleInSpreads(value, {&rows, &inner}, 32);
  ASSERT_TRUE(obstacle);
  EXPECT_EQ(obstacle->kind, Obstacle::OtherPart);
}

TEST(ResidencyTest, RandomSpreadsAgainstAPlayedDevice) {
  std::mt19937 random(7);
  int numResident = 0;
  for (int round = 0; round < 400; ++round) {
    auto pick = [&](int64_t n) { return int64_t(1) << (random() % n); };
    Spread written = spread({8, 16}, {pick(3), pick(3)}, random() % 2),
           read = random() % 3 ? spread({8, 16}, {pick(3), pick(3)}, random() % 2) : written;
    ResidencyValue value = makeValue();
    if (random() % 4 == 0)
      std::swap(value.uses[1].access.map.results[0], value.uses[1].access.map.results[1]);
    bool isTransposed = value.uses[1].access.map.results[0].digits[0].input == 1;
    if (isTransposed) {
      value.uses[1].access.map.extents = {16, 8};
      read = spread({16, 8}, {pick(3), pick(3)}, random() % 2);
    }
    // Each core's scratchpad: the elements, in the order in which it has its own part.
    auto getPart = [](const Access &access, const Spread &spread, int64_t core) {
      std::vector<std::vector<int64_t>> part;
      if (std::optional<layout::Region> points = spread.getPoints(core))
        for (int64_t x = points->begin[0]; x < points->end[0]; ++x)
          for (int64_t y = points->begin[1]; y < points->end[1]; ++y)
            part.push_back(layout::evaluate(access.map, {x, y}));
      std::sort(part.begin(), part.end());
      return part;
    };
    bool agrees = true;
    for (int64_t core = 0; core < read.numCores; ++core)
      agrees &=
          getPart(value.uses[1].access, read, core) == getPart(value.uses[0].access, written, core);
    EXPECT_EQ(!findObstacleInSpreads(value, {&written, &read}, 32), agrees);
    numResident += agrees;
  }
  EXPECT_GT(numResident, 50);
}

} // namespace
