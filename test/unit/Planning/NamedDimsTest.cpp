//===- NamedDimsTest.cpp - Dims of operations by names of data -------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names travel along accesses; slices that a division says by dims leave the others to the search.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/NamedDims.h"

#include <gtest/gtest.h>

using namespace spyre;
using namespace spyre::planning;

namespace {

/// Input \p input of \p extents as each of the coordinates.
layout::IndexMap makeMap(std::vector<int64_t> extents, const std::vector<unsigned> &inputs) {
  layout::IndexMap map{std::move(extents), {}};
  for (unsigned input : inputs)
    map.results.push_back(layout::makeInput(input));
  return map;
}

using Dims = std::vector<unsigned>;

TEST(NamedDimsTest, NamesTravelAlongAccesses) {
  DimNames names;
  // x [8, 64] is turned into t, and t summed over its second dim, which is x's first.
  const unsigned x = names.addValue({8, 64}), t = names.addValue({64, 8}), s = names.addValue({64});
  const unsigned turn = names.addOperation(2), sum = names.addOperation(2);
  names.addAccess(turn, x, makeMap({8, 64}, {0, 1}));
  names.addAccess(turn, t, makeMap({8, 64}, {1, 0}));
  names.addAccess(sum, t, makeMap({64, 8}, {0, 1}));
  names.addAccess(sum, s, makeMap({64, 8}, {0}));
  names.setName(x, 0, "rows");
  names.setName(x, 1, "columns");
  EXPECT_TRUE(names.isKnown("rows"));
  EXPECT_FALSE(names.isKnown("lines"));
  EXPECT_EQ(names.getDims(turn, "rows"), Dims{0});
  EXPECT_EQ(names.getDims(sum, "rows"), Dims{1});
  EXPECT_EQ(names.getDims(sum, "columns"), Dims{0});
  EXPECT_EQ(names.getDims(sum, "lines"), Dims{});
}

TEST(NamedDimsTest, TheOutermostOfSeveralIsTheDim) {
  DimNames names;
  // 32 = 4 heads of 8.
  const unsigned hidden = names.addValue({32}), heads = names.addValue({4, 8});
  const unsigned op = names.addOperation(2);
  layout::IndexMap joined{{4, 8}, {layout::add(layout::makeInput(0, 8), layout::makeInput(1))}};
  names.addAccess(op, hidden, joined);
  names.addAccess(op, heads, makeMap({4, 8}, {0, 1}));
  names.setName(hidden, 0, "hidden");
  names.setName(heads, 1, "width");
  EXPECT_EQ(names.getDims(op, "hidden"), Dims{0});
  EXPECT_EQ(names.getDims(op, "width"), Dims{1});
}

TEST(NamedDimsTest, PartsAreOtherDims) {
  DimNames names;
  const unsigned x = names.addValue({16}), y = names.addValue({8}), z = names.addValue({8});
  const unsigned op = names.addOperation(1);
  names.addAccess(op, x, makeMap({8}, {0})); // the first half
  names.addAccess(op, y, makeMap({8}, {0}));
  names.addAlias(y, z);
  names.setName(x, 0, "all");
  names.setName(z, 0, "half");
  EXPECT_EQ(names.getDims(op, "all"), Dims{});
  EXPECT_EQ(names.getDims(op, "half"), Dims{0});
}

/// A pointwise operation over rows and columns that lie in no stick.
DivisionProblem makeProblem() {
  DivisionProblem problem;
  problem.dims = {{.extent = 64}, {.extent = 32}};
  problem.maxCores = 32;
  return problem;
}

/// The splits, or the field and the message, as \p division has them.
std::string obeyed(const ScheduledDivision &division, bool isAmbiguous = false) {
  DimNames names;
  const unsigned x = names.addValue({64, 32});
  const unsigned op = names.addOperation(2);
  names.addAccess(op, x, makeMap({64, 32}, {0, 1}));
  if (isAmbiguous)
    names.addAccess(op, x, makeMap({64, 64}, {1, 0}));
  names.setName(x, 0, "rows");
  const unsigned other = names.addValue({5});
  names.setName(other, 0, "elsewhere");
  // Slices of columns are dear.
  auto cost = [](const DivisionProblem &, const Splits &splits) {
    return 1.0 / double(splits[0] * splits[1]) + double(splits[1]) / 1e6;
  };
  auto found = obey(division, "exp", makeProblem(), cost, [&]() -> DimNames & { return names; });
  if (auto *error = std::get_if<ScheduleError>(&found))
    return error->field + ": " + error->message;
  std::string text;
  for (int64_t split : std::get<Splits>(found))
    text += (text.empty() ? "" : " ") + std::to_string(split);
  return text;
}

ScheduledDivision byDim(std::map<std::string, int64_t> splits) {
  ScheduledDivision division;
  division.byDim = std::move(splits);
  return division;
}

TEST(NamedDimsTest, OthersAreSearched) {
  EXPECT_EQ(obeyed(byDim({{"rows", 4}})), "4 8");
  EXPECT_EQ(obeyed(byDim({{"1", 2}})), "16 2");
  EXPECT_EQ(obeyed(byDim({{"0", 2}, {"1", 1}})), "2 1");
  EXPECT_EQ(obeyed(byDim({{"0", 2}, {"rows", 2}, {"1", 1}})), "2 1");
  EXPECT_EQ(obeyed({0, "exp", {2, 4}}), "2 4");
}

TEST(NamedDimsTest, WhatIsInTheWayIsSaid) {
  EXPECT_EQ(obeyed({0, "mul", {2, 4}}), ".opfunc: operation 0 is exp");
  EXPECT_EQ(obeyed({0, "", {2}}), ".splits: the operation has 2 dims");
  EXPECT_EQ(obeyed(byDim({{"2", 2}})), ".splits.2: the operation has 2 dims");
  EXPECT_EQ(obeyed(byDim({{"lines", 2}})), ".splits.lines: no argument has a dim 'lines' in names");
  EXPECT_EQ(obeyed(byDim({{"elsewhere", 2}})),
            ".splits.elsewhere: the operation has no dim that is 'elsewhere'");
  EXPECT_EQ(obeyed(byDim({{"0", 2}, {"rows", 4}})), ".splits.rows: dim 0 has 2 slices already");
  EXPECT_NE(obeyed(byDim({{"rows", 3}})).find(".splits: dim 0"), std::string::npos);
  EXPECT_NE(obeyed(byDim({{"0", 64}})).find(".splits: "), std::string::npos);
  EXPECT_EQ(obeyed(byDim({{"rows", 2}}), /*isAmbiguous=*/true),
            ".splits.rows: dims 0 and 1 of the operation are both 'rows'");
}

} // namespace
