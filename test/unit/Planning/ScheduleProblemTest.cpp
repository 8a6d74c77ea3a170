//===- ScheduleProblemTest.cpp - Schedules of problems by themselves -------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is said is obeyed or has its reason; what was solved is solved to the same again. That the
// compiler comes to the same plans is test/Compiler/solve-schedule.test.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/ScheduleProblem.h"

#include <gtest/gtest.h>

#include <random>

using namespace spyre;
using namespace spyre::planning;

namespace {

Device getDevice(const char *name = "spyre") { return *Device::lookup(name); }

/// Values of one shape, and elementwise operations on them.
struct Elementwise {
  ScheduleProblem problem;
  std::vector<int64_t> shape;

  explicit Elementwise(std::vector<int64_t> shape) : shape(std::move(shape)) {}

  unsigned addValue(bool isResult = false) {
    const std::string name = "v" + std::to_string(problem.values.size());
    problem.values.push_back(
        {name, layout::getDefaultLayout(shape, DataFormat::SEN169_FP16), isResult});
    return static_cast<unsigned>(problem.values.size()) - 1;
  }
  void add(OpFunc opFunc, std::vector<unsigned> values) {
    ProblemOperation op{opFunc, shape, {}};
    for (unsigned value : values)
      op.operands.push_back({value, layout::makeIdentity(shape)});
    problem.operations.push_back(std::move(op));
  }
};

/// t = exp v0, u = neg t, result = t + u.
Elementwise makeThree(std::vector<int64_t> shape = {512, 128}) {
  Elementwise e(std::move(shape));
  const unsigned x = e.addValue(), t = e.addValue(), u = e.addValue(), out = e.addValue(true);
  e.add(OpFunc::Exp, {x, t});
  e.add(OpFunc::Neg, {t, u});
  e.add(OpFunc::Add, {t, u, out});
  return e;
}

std::vector<std::string> getErrors(const ScheduleProblem &problem, const Schedule &asked,
                                   const Device &device = getDevice()) {
  auto solved = solve(problem, asked, device);
  std::vector<std::string> texts;
  if (auto *errors = std::get_if<std::vector<ScheduleError>>(&solved))
    for (const ScheduleError &error : *errors)
      texts.push_back(error.field + ": " + error.message);
  return texts;
}

using Texts = std::vector<std::string>;

TEST(ScheduleProblemTest, WhatIsSolvedIsSolvedToTheSame) {
  for (const char *name : {"spyre", "mock4", "mock32"})
    for (int64_t rows : {1, 96, 512, 8192}) {
      const Device device = getDevice(name);
      const Elementwise e = makeThree({rows, 128});
      ASSERT_TRUE(check(e.problem).empty());
      auto solved = solve(e.problem, {}, device);
      ASSERT_EQ(solved.index(), 0u) << getErrors(e.problem, {}, device).front();
      const Schedule &schedule = std::get<Schedule>(solved);
      EXPECT_GT(schedule.timeInNs, 0);
      EXPECT_GT(schedule.boundInNs, 0);
      // What no core reaches all of is possible in tiles alone.
      EXPECT_TRUE(schedule.divisions.size() == 3 || !schedule.nests->empty());
      auto again = solve(e.problem, schedule, device);
      ASSERT_EQ(again.index(), 0u) << getErrors(e.problem, schedule, device).front();
      EXPECT_EQ(writeSchedules({{"f", std::get<Schedule>(again)}}),
                writeSchedules({{"f", schedule}}));
    }
}

TEST(ScheduleProblemTest, RandomChains) {
  std::mt19937 random(5);
  for (int i = 0; i < 40; ++i) {
    Elementwise e({int64_t(1) << (4 + random() % 8), 64 * int64_t(1 + random() % 4)});
    std::vector<unsigned> known{e.addValue(), e.addValue()};
    const int numOps = 1 + random() % 8;
    for (int op = 0; op < numOps; ++op) {
      const unsigned a = known[random() % known.size()], b = known[random() % known.size()];
      const unsigned result = e.addValue(op + 1 == numOps || random() % 4 == 0);
      if (random() % 2)
        e.add(OpFunc::Exp, {a, result});
      else
        e.add(OpFunc::Mul, {a, b, result});
      known.push_back(result);
    }
    ASSERT_TRUE(check(e.problem).empty()) << check(e.problem).front();
    const Device device = getDevice(i % 2 ? "mock32" : "spyre");
    auto solved = solve(e.problem, {}, device);
    ASSERT_EQ(solved.index(), 0u);
    // Without tiles nothing is faster.
    Schedule untiled;
    untiled.kind = "untiled";
    auto other = solve(e.problem, untiled, device);
    ASSERT_EQ(other.index(), 0u);
    EXPECT_LE(std::get<Schedule>(solved).timeInNs, std::get<Schedule>(other).timeInNs * 1.02) << i;
    EXPECT_TRUE(std::get<Schedule>(other).nests->empty());
    // Some of the nests, and what follows from them: all of it said again is the same.
    Schedule some;
    some.nests = std::get<Schedule>(solved).nests;
    for (size_t nest = some.nests->size(); nest-- > 0;)
      if (random() % 2)
        some.nests->erase(some.nests->begin() + static_cast<std::ptrdiff_t>(nest));
    auto fewer = solve(e.problem, some, device);
    ASSERT_EQ(fewer.index(), 0u) << getErrors(e.problem, some, device).front();
    auto again = solve(e.problem, std::get<Schedule>(fewer), device);
    ASSERT_EQ(again.index(), 0u);
    EXPECT_EQ(writeSchedules({{"f", std::get<Schedule>(again)}}),
              writeSchedules({{"f", std::get<Schedule>(fewer)}}));
  }
}

TEST(ScheduleProblemTest, WhatIsSaidIsObeyed) {
  const Elementwise e = makeThree();
  Schedule asked;
  asked.kind = "untiled";
  asked.names["v0"] = {"rows", "columns"};
  for (unsigned number : {0u, 1u, 2u})
    asked.divisions.push_back({number, "", {}, {{"rows", 8}, {"columns", 2}}});
  asked.values.push_back({0, ScheduledSpace::Memory});
  asked.values.push_back({1, ScheduledSpace::LX, 4096});
  auto solved = solve(e.problem, asked, getDevice());
  ASSERT_EQ(solved.index(), 0u) << getErrors(e.problem, asked).front();
  const Schedule &schedule = std::get<Schedule>(solved);
  for (const ScheduledDivision &division : schedule.divisions)
    EXPECT_EQ(division.splits, (Splits{8, 2}));
  ASSERT_EQ(schedule.values.size(), 2u);
  EXPECT_EQ(schedule.values[0].space, ScheduledSpace::Memory);
  EXPECT_EQ(schedule.values[1].address, 4096);
  // A result in memory costs time.
  auto best = solve(e.problem, {}, getDevice());
  EXPECT_GT(schedule.timeInNs, std::get<Schedule>(best).timeInNs);
}

TEST(ScheduleProblemTest, WhatIsInTheWayIsSaid) {
  const Elementwise e = makeThree();
  Schedule asked;
  asked.kind = "untiled";
  asked.divisions = {{0, "", {8, 1}}, {1, "", {16, 1}}, {2, "exp", {16, 1}}};
  asked.values = {{0, ScheduledSpace::LX}, {2, ScheduledSpace::LX}};
  EXPECT_EQ(getErrors(e.problem, asked),
            (Texts{"divisions[2].opfunc: operation 2 is add",
                   "values[1]: the result has to be in LX, and is one of the program, which lie in "
                   "device memory"}));
  asked.divisions.pop_back();
  asked.values.pop_back();
  EXPECT_EQ(getErrors(e.problem, asked),
            (Texts{"values[0]: the result has to be in LX: core 0 reads another part than it "
                   "writes"}));
  asked.divisions.clear();
  asked.values = {{0, ScheduledSpace::LX, 128}, {1, ScheduledSpace::LX, 256}};
  ASSERT_EQ(getErrors(e.problem, asked).size(), 1u);
  EXPECT_EQ(getErrors(e.problem, asked).front().rfind("values[1].address: 256 lies", 0), 0u);
  asked.values = {{0, ScheduledSpace::LX, 100}};
  EXPECT_EQ(getErrors(e.problem, asked),
            (Texts{"values[0].address: 100 is not a multiple of 128"}));
  asked.values = {{7, ScheduledSpace::LX}};
  EXPECT_EQ(getErrors(e.problem, asked), (Texts{"values[0].result_of: there are 3 operations"}));
  asked = {};
  asked.kind = "carried";
  EXPECT_EQ(getErrors(e.problem, asked),
            (Texts{"kind: a problem by itself is one form of a program: untiled or tiled"}));
  asked = {};
  ScheduledNest nest;
  nest.last = 2;
  asked.nests = {nest};
  asked.values = {{0, ScheduledSpace::LX, 128}};
  EXPECT_EQ(getErrors(e.problem, asked),
            (Texts{"values[0].address: operations of a nest use the result: whoever builds its "
                   "loops places tiles"}));
}

TEST(ScheduleProblemTest, MistakesOfProblems) {
  Elementwise e = makeThree();
  e.problem.operations[0].operands.pop_back();
  EXPECT_EQ(check(e.problem).front(), "operation 0, exp: it has 1 inputs");
  e = makeThree();
  std::swap(e.problem.operations[0], e.problem.operations[1]);
  EXPECT_EQ(check(e.problem), (Texts{"operation 1, exp: 'v1' is read before it is written"}));
  e = makeThree();
  e.problem.operations[2].operands.back().value = 2;
  EXPECT_EQ(check(e.problem), (Texts{"operation 2, add: 'v2' is written already"}));
  e = makeThree();
  e.problem.operations[1].operands[0].map.results[1].constant = 1;
  EXPECT_EQ(check(e.problem),
            (Texts{"operation 1, neg: coordinates 1 to 128 of dim 1 of 'v1', which has 128"}));
  e = makeThree();
  e.problem.operations[1].operands[0].map.results.pop_back();
  EXPECT_EQ(check(e.problem),
            (Texts{"operation 1, neg: 'v1' has 2 dims, and 1 coordinates are given"}));
  e = makeThree();
  e.problem.values[1].memory.dimOrder = {0};
  EXPECT_EQ(check(e.problem).size(), 1u);
  e = makeThree({int64_t(1) << 40, int64_t(1) << 40});
  EXPECT_EQ(check(e.problem).front(), "value 'v0' is too large");
}

} // namespace
