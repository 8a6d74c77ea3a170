//===- ScheduleTest.cpp - Schedules as JSON --------------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is written is read back; every mistake is found in one reading, with its field.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/Schedule.h"

#include <gtest/gtest.h>

using namespace spyre::planning;

namespace {

std::vector<std::string> getMistakes(const std::string &text) {
  auto read = readSchedules(text);
  std::vector<std::string> mistakes;
  if (auto *errors = std::get_if<std::vector<ScheduleError>>(&read))
    for (const ScheduleError &error : *errors)
      mistakes.push_back(error.field + ": " + error.message);
  return mistakes;
}

/// A file with \p fields of function f.
std::string makeFile(const std::string &fields) {
  return R"({"version": 1, "functions": {"f": {)" + fields + "}}}";
}

TEST(ScheduleTest, IsReadAsItWasWritten) {
  Schedule schedule;
  schedule.kind = "carried";
  schedule.searchesLayouts = true;
  schedule.keepsDeviationsApart = true;
  schedule.names["in0"] = {"rows", "columns"};
  schedule.divisions.push_back({3, "mul", {4, 8, 1}});
  schedule.divisions.push_back({5, "", {}, {{"rows", 4}, {"1", 8}}});
  schedule.values.push_back({3, ScheduledSpace::LX});
  schedule.values.push_back({4, ScheduledSpace::LX, 4096});
  ScheduledNest nest;
  nest.first = 2;
  nest.last = 5;
  nest.loops = {{{2, 1, ""}, 16}, {{0, 0, "rows"}, 2}};
  nest.cores = {{{4, 0, ""}, 32}};
  nest.loadsFactors = true;
  nest.copies = false;
  nest.tiledInNs = 1500;
  nest.untiledInNs = 3000;
  ScheduledNest alone;
  alone.first = alone.last = 7;
  alone.isAlone = true;
  ScheduledNest scoped;
  scoped.scope = "layers.0";
  schedule.nests = {nest, alone, scoped};
  schedule.lost = {1, 4};
  const std::string text = writeSchedules({{"f", schedule}, {"g", {}}});
  auto read = readSchedules(text);
  ASSERT_TRUE(std::holds_alternative<Schedules>(read)) << getMistakes(text).front();
  EXPECT_EQ(writeSchedules(std::get<Schedules>(read)), text);
  const Schedule &same = std::get<Schedules>(read).at("f");
  EXPECT_TRUE(same.keepsDeviationsApart);
  EXPECT_FALSE(std::get<Schedules>(read).at("g").keepsDeviationsApart);
  ASSERT_EQ(same.nests->size(), 3u);
  EXPECT_EQ((*same.nests)[2].scope, "layers.0");
  EXPECT_EQ(same.divisions[1].byDim, schedule.divisions[1].byDim);
  EXPECT_EQ((*same.nests)[0].loops->back().dim.name, "rows");
  EXPECT_EQ((*same.nests)[0].loops->front().parts, 16);
  EXPECT_EQ((*same.nests)[0].tiledInNs, 1500);
  EXPECT_TRUE((*same.nests)[1].isAlone);
  ASSERT_EQ(same.values.size(), 2u);
  EXPECT_FALSE(same.values[0].address);
  EXPECT_EQ(same.values[1].address, 4096);
  EXPECT_FALSE(std::get<Schedules>(read).at("g").nests);
}

TEST(ScheduleTest, NoNestsAreNotTheSameAsNothingSaid) {
  auto read = readSchedules(makeFile(R"("nests": [])"));
  ASSERT_TRUE(std::holds_alternative<Schedules>(read));
  EXPECT_TRUE(std::get<Schedules>(read).at("f").nests);
}

TEST(ScheduleTest, MistakesHaveTheirFields) {
  EXPECT_EQ(getMistakes("nothing"), (std::vector<std::string>{": is not JSON"}));
  EXPECT_EQ(getMistakes("[]"), (std::vector<std::string>{"schedule: an object is wanted"}));
  EXPECT_EQ(getMistakes("{}"), (std::vector<std::string>{"schedule.version: is missing",
                                                         "schedule.functions: is missing"}));
  EXPECT_EQ(
      getMistakes(makeFile(R"("kind": "best", "values": [{"result_of": 1, "space": "sram"}])")),
      (std::vector<std::string>{"f.kind: known kinds are untiled, tiled, banded, carried, "
                                "banded-carried and carried-products",
                                "f.values[0].space: known spaces are lx and memory"}));
  EXPECT_EQ(
      getMistakes(makeFile(R"("nests": [{"first": 0, "last": 3}, {"first": 3, "last": 4}])")),
      (std::vector<std::string>{"f.nests[1].first: comes before the end of the nest before it"}));
  EXPECT_EQ(
      getMistakes(makeFile(R"("nests": [{"first": 0, "last": 3, "alone": true}])")),
      (std::vector<std::string>{"f.nests[0].alone: is for one operation without loops and cores"}));
  EXPECT_EQ(getMistakes(makeFile(R"("kind": "untiled", "nests": [{"first": 0, "last": 3}])")),
            (std::vector<std::string>{"f.nests: a plan of kind untiled has none"}));
  EXPECT_EQ(getMistakes(makeFile(R"("kind": "carried", "deviations": "beside")")),
            (std::vector<std::string>{"f.deviations: they are carried together or apart"}));
}

TEST(ScheduleTest, AScopeSaysWhichOperations) {
  EXPECT_EQ(getMistakes(makeFile(R"("nests": [{"scope": "a", "last": 3}, {"scope": ""}])")),
            (std::vector<std::string>{"f.nests[0].last: the scope says which operations",
                                      "f.nests[1].scope: a name is wanted"}));
  EXPECT_EQ(getMistakes(makeFile(R"("nests": [{"scope": 3}])")),
            (std::vector<std::string>{"f.nests[0].scope: a string is wanted"}));
  // Whether scopes follow each other is known with the operations.
  EXPECT_TRUE(
      getMistakes(makeFile(R"("nests": [{"scope": "b"}, {"first": 0, "last": 1}, {"scope": "a"}])"))
          .empty());
}

TEST(ScheduleTest, SplitsByDimAreCounts) {
  EXPECT_EQ(
      getMistakes(makeFile(
          R"("divisions": [{"operation": 1, "splits": {"rows": 0, "1": 4}},
                                 {"operation": 2, "splits": 4}, {"operation": 3, "splits": {}}])")),
      (std::vector<std::string>{"f.divisions[0].splits.rows: a whole number from 1 on is wanted",
                                "f.divisions[1].splits: an array is wanted",
                                "f.divisions[2].splits: says nothing of any dim"}));
}

TEST(ScheduleTest, AddressesAreOfTheScratchpad) {
  EXPECT_EQ(getMistakes(makeFile(
                R"("values": [{"result_of": 1, "space": "memory", "address": 128},
                        {"result_of": 2, "space": "lx", "address": -128}])")),
            (std::vector<std::string>{
                "f.values[0].address: is for results in LX; the compiler places those in memory",
                "f.values[1].address: a whole number from 0 on is wanted"}));
}

TEST(ScheduleTest, NothingIsSaidTwice) {
  EXPECT_EQ(
      getMistakes(makeFile(
          R"("values": [{"result_of": 1, "space": "lx"}, {"result_of": 1, "space": "memory"}])")),
      (std::vector<std::string>{
          "f.values[1].result_of: something is said of this result already"}));
  EXPECT_EQ(getMistakes(makeFile(R"("lost": [1])")),
            (std::vector<std::string>{"f.lost: is said of nests, and there are none"}));
}

TEST(ScheduleTest, NumbersAreBounded) {
  for (const char *number : {"-1", "1e3", "99999999999", "\"2\"", "null", "18446744073709551615"})
    EXPECT_EQ(
        getMistakes(makeFile(std::string(R"("nests": [{"first": )") + number + R"(, "last": 9}])")),
        (std::vector<std::string>{"f.nests[0].first: a whole number from 0 on is wanted"}))
        << number;
}

} // namespace
