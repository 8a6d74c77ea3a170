//===- RingTest.cpp - Time of what cores send each other --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages and relayouts of few bytes, worked out by hand: 128 bytes a cycle at 1.5 GHz are
// 192 bytes a ns.
//
//===----------------------------------------------------------------------===//

#include "spyre/CostModel/Ring.h"

#include <gtest/gtest.h>

using namespace spyre;
using namespace spyre::cost;

namespace {

const Device &device() {
  static const Device spyre = *Device::lookup("spyre");
  return spyre;
}

TEST(RingTest, NeighboursUseLinksOfTheirOwn) {
  std::vector<Message> messages;
  for (int64_t core = 0; core < 32; ++core)
    messages.push_back({core, {(core + 1) % 32}, 1920});
  EXPECT_DOUBLE_EQ(getRingInNs(device(), messages), 10);
  EXPECT_EQ(getRingInNs(device(), {}), 0);
  EXPECT_EQ(getRingInNs(device(), {{3, {3}, 1920}}), 0); // to itself
}

TEST(RingTest, MessagesTakeTheShorterWay) {
  // Both start at core 0 in different directions: 1 hop up, 1 hop down.
  EXPECT_DOUBLE_EQ(getRingInNs(device(), {{0, {1}, 192}, {0, {31}, 192}}), 1);
  // Both go over the link from 1 to 2.
  EXPECT_DOUBLE_EQ(getRingInNs(device(), {{0, {2}, 192}, {1, {2}, 192}}), 2);
  // Opposite directions of one link do not meet.
  EXPECT_DOUBLE_EQ(getRingInNs(device(), {{1, {2}, 192}, {2, {1}, 192}}), 1);
}

TEST(RingTest, AMulticastServesEightReaders) {
  EXPECT_DOUBLE_EQ(getRingInNs(device(), {{0, {1, 2, 3, 4, 5, 6, 7, 8}, 192}}), 1);
  EXPECT_DOUBLE_EQ(getRingInNs(device(), {{0, {1, 2, 3, 4, 5, 6, 7, 8, 9}, 192}}), 2);
}

TEST(RingTest, APartThatTheOthersWantIsSentOnce) {
  // Of four neighbours each has 192 bytes and wants all. Over the link from 2 to 3 goes what
  // the three before it have.
  const std::vector<Box> held{{{0, 96}}, {{96, 192}}, {{192, 288}}, {{288, 384}}};
  EXPECT_DOUBLE_EQ(getRelayoutInNs(device(), held, std::vector<Box>(4, {{0, 384}}), 2), 3);
  // What each has already nobody sends.
  EXPECT_EQ(getRelayoutInNs(device(), held, held, 2), 0);
}

TEST(RingTest, ACopyComesFromTheNearest) {
  // Cores 0 and 9 have the same; core 8 takes it from core 9, one link away.
  std::vector<Box> held{{{0, 192}}}, wanted(9, Box{{0, 0}});
  for (int64_t core = 1; core < 9; ++core)
    held.push_back({{192 * core, 192 * (core + 1)}});
  held.push_back({{0, 192}});
  wanted[8] = {{0, 192}};
  EXPECT_DOUBLE_EQ(getRelayoutInNs(device(), held, wanted, 1), 1);
}

TEST(RingTest, RowsBecomeColumns) {
  // Two cores exchange half of what they have: each direction of the link between them, once.
  EXPECT_DOUBLE_EQ(getRelayoutInNs(device(), {{{0, 2}, {0, 192}}, {{2, 4}, {0, 192}}},
                                   {{{0, 4}, {0, 96}}, {{0, 4}, {96, 192}}}, 1),
                   1);
}

} // namespace
