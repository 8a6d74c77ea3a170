//===- ClockTest.cpp - What overlaps and what does not ----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rule of Clock.cpp on operations of round times, worked out by hand; random
// runs against what holds for every schedule.
//
//===----------------------------------------------------------------------===//

#include "spyre/CostModel/Clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

using namespace spyre;
using namespace spyre::cost;

namespace {

const Device &device() {
  static const Device spyre = *Device::lookup("spyre");
  return spyre;
}

/// Loads and stores take a ns a byte, so their times are chosen freely.
Activity makeActivity(double compute, int64_t loads, int64_t stores, double ring = 0) {
  Activity activity;
  activity.estimate.computeInNs = compute;
  activity.estimate.memoryInNs = double(loads + stores);
  activity.estimate.readInBytes = loads;
  activity.estimate.writtenInBytes = stores;
  activity.estimate.ringInNs = ring;
  activity.estimate.totalInNs = std::max(compute, double(loads + stores)) + ring;
  activity.numCores = 32;
  return activity;
}

Activity at(Activity activity, Range read, Range write) {
  activity.reads = {read};
  activity.writes = {write};
  return activity;
}

TEST(ClockTest, OneOperationTakesItsEstimate) {
  Clock clock(device());
  Scheduled result = clock.execute(makeActivity(500, 100, 50, 20));
  EXPECT_EQ(result.startInNs, 0);
  EXPECT_EQ(result.durationInNs, 520); // compute covers the memory, the ring comes on top
  EXPECT_EQ(result.busy, (std::vector<Busy>{{Resource::Memory, 0, 100},
                                            {Resource::ReduceRing, 450, 470},
                                            {Resource::Memory, 470, 520}}));
  EXPECT_EQ(clock.getNowInNs(), 520);
}

TEST(ClockTest, LoadsRunAheadWhileTheOperationBeforeComputes) {
  Clock clock(device());
  clock.execute(at(makeActivity(500, 100, 50), {0, 1000}, {1000, 2000}));
  // The memory is idle from 100 to 450: all of the loads fit.
  Scheduled next = clock.execute(at(makeActivity(0, 200, 60), {5000, 6000}, {6000, 7000}));
  EXPECT_EQ(next.startInNs, 500);
  EXPECT_EQ(next.durationInNs, 60);
  EXPECT_EQ(next.busy,
            (std::vector<Busy>{{Resource::Memory, 100, 300}, {Resource::Memory, 500, 560}}));
}

TEST(ClockTest, OnlyWhatFitsIntoTheIdleTimeRunsAhead) {
  Clock clock(device());
  clock.execute(at(makeActivity(500, 100, 50), {0, 1000}, {1000, 2000}));
  Scheduled next = clock.execute(at(makeActivity(0, 400, 0), {5000, 6000}, {6000, 7000}));
  EXPECT_EQ(next.durationInNs, 50); // 350 of 400 ran ahead
  EXPECT_EQ(next.busy,
            (std::vector<Busy>{{Resource::Memory, 100, 450}, {Resource::Memory, 500, 550}}));
}

TEST(ClockTest, WhatTheOperationBeforeWritesIsNotReadAhead) {
  Clock clock(device());
  clock.execute(at(makeActivity(500, 100, 50), {0, 1000}, {1000, 2000}));
  Scheduled next = clock.execute(at(makeActivity(0, 200, 60), {1999, 3000}, {6000, 7000}));
  EXPECT_EQ(next.startInNs, 500);
  EXPECT_EQ(next.durationInNs, 260);
  // Ranges that only touch are no dependence.
  Clock other(device());
  other.execute(at(makeActivity(500, 100, 50), {0, 1000}, {1000, 2000}));
  EXPECT_EQ(other.execute(at(makeActivity(0, 200, 60), {2000, 3000}, {0, 1000})).durationInNs, 60);
}

TEST(ClockTest, OperationsBoundByMemoryDoNotOverlap) {
  Clock clock(device());
  double sum = 0;
  for (int i = 0; i < 5; ++i) {
    Activity activity = at(makeActivity(50, 200, 100), {i * 100, i * 100 + 100}, {9000, 9100});
    sum += clock.execute(activity).durationInNs;
  }
  EXPECT_EQ(sum, 1500);
  EXPECT_EQ(clock.getNowInNs(), 1500);
}

TEST(ClockTest, LoadsRunOneOperationAheadOnly) {
  Clock clock(device());
  clock.execute(at(makeActivity(10000, 0, 0), {0, 1}, {0, 1}));
  clock.execute(at(makeActivity(100, 0, 0), {2, 3}, {2, 3}));
  // The first left 10000 ns idle, but the second lies between.
  Scheduled third = clock.execute(at(makeActivity(0, 400, 0), {4, 5}, {4, 5}));
  EXPECT_EQ(third.startInNs, 10100);
  EXPECT_EQ(third.durationInNs, 300);
}

TEST(ClockTest, HalfOfTheFreeScratchpadLimitsLoadsAhead) {
  Clock clock(device());
  int64_t free = 100;
  Activity first = at(makeActivity(1e6, 0, 0), {0, 1}, {0, 1});
  first.scratchpadInBytes = device().getUsableLXInBytes() - free;
  clock.execute(first);
  // Two cores: 100 bytes of 400.
  Activity second = at(makeActivity(0, 400, 0), {2, 3}, {2, 3});
  second.numCores = 2;
  EXPECT_EQ(clock.execute(second).durationInNs, 300);
  // A new launch has all of LX, but also waits for the end of the one before.
  clock.beginLaunch();
  EXPECT_EQ(clock.execute(second).durationInNs, 400);
}

TEST(ClockTest, ARelayoutHasTheDataRingToItself) {
  Clock clock(device());
  Activity shuffle = makeActivity(0, 0, 0);
  shuffle.estimate.relayoutInNs = shuffle.estimate.totalInNs = 700;
  Scheduled result = clock.execute(shuffle);
  EXPECT_EQ(result.durationInNs, 700);
  EXPECT_EQ(result.busy, (std::vector<Busy>{{Resource::DataRing, 0, 700}}));
  EXPECT_EQ(clock.execute(at(makeActivity(0, 200, 0), {0, 1}, {1, 2})).durationInNs, 200);
}

TEST(ClockTest, TransfersTakeTheHostLink) {
  Clock clock(device());
  // PCIe gen5 x16: 16 lanes of 32 Gbit/s, 128 of 130 bits.
  double rate = 16 * 32e9 / 8 * 128 / 130 / 1e9;
  Scheduled copy = clock.transfer(1 << 20);
  EXPECT_NEAR(copy.durationInNs, (1 << 20) / rate, 1e-9);
  ASSERT_EQ(copy.busy.size(), 2u);
  EXPECT_EQ(copy.busy[0].resource, Resource::HostLink);
  EXPECT_EQ(copy.busy[1].resource, Resource::Memory);
  // Nothing runs ahead of it.
  double before = clock.getNowInNs();
  EXPECT_EQ(clock.execute(at(makeActivity(0, 200, 0), {0, 1}, {1, 2})).startInNs, before);
  EXPECT_EQ(clock.transfer(0).durationInNs, 0);
}

TEST(ClockTest, SchedulesOfRandomRuns) {
  std::mt19937 random(7);
  auto pick = [&](int64_t limit) { return int64_t(random() % uint64_t(limit)); };
  std::vector<Activity> activities;
  for (int i = 0; i < 2000; ++i) {
    int64_t read = pick(50), write = pick(50);
    Activity activity = at(makeActivity(double(pick(3)) * double(pick(1000)), pick(800), pick(400),
                                        double(pick(2) * pick(100))),
                           {read, read + 5}, {write, write + 5});
    activity.estimate.relayoutInNs = double((pick(10) == 0) * pick(300));
    activity.estimate.totalInNs += activity.estimate.relayoutInNs;
    activity.scratchpadInBytes = pick(device().getUsableLXInBytes());
    activities.push_back(activity);
  }
  auto schedule = [&] {
    std::vector<Scheduled> results;
    Clock clock(device());
    for (size_t i = 0; i < activities.size(); ++i) {
      if (i % 100 == 0)
        clock.beginLaunch();
      results.push_back(clock.execute(activities[i]));
    }
    return results;
  };
  std::vector<Scheduled> results = schedule(), again = schedule();
  double end = 0;
  std::map<Resource, std::vector<Busy>> rows;
  for (size_t i = 0; i < results.size(); ++i) {
    const Scheduled &result = results[i];
    EXPECT_EQ(result.busy, again[i].busy);
    EXPECT_EQ(result.startInNs, again[i].startInNs);
    // Without gaps, never longer than alone and never shorter than its compute.
    EXPECT_EQ(result.startInNs, end);
    end = result.getEndInNs();
    double alone = activities[i].estimate.totalInNs;
    EXPECT_LE(result.durationInNs, alone + 1e-6);
    EXPECT_GE(result.durationInNs, activities[i].estimate.computeInNs - 1e-6);
    double held = 0;
    for (const Busy &busy : result.busy) {
      rows[busy.resource].push_back(busy);
      if (busy.resource == Resource::Memory)
        held += busy.endInNs - busy.startInNs;
    }
    EXPECT_NEAR(held, activities[i].estimate.memoryInNs, 1e-6);
  }
  for (auto &[resource, row] : rows) {
    std::sort(row.begin(), row.end(),
              [](const Busy &a, const Busy &b) { return a.startInNs < b.startInNs; });
    for (size_t i = 1; i < row.size(); ++i)
      EXPECT_GE(row[i].startInNs, row[i - 1].endInNs - 1e-6) << getResourceName(resource);
  }
}

} // namespace
