//===- WorkDivisionTest.cpp - Which core computes what --------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legal splits against the rules written out again, spans and regions against
// enumeration of points, the core order against the reference's tables.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/WorkDivision.h"
#include "spyre/Planning/DivisionCost.h"
#include "spyre/Support/JsonReader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

using namespace spyre;
using namespace spyre::planning;
using layout::IndexMap;

namespace {

/// Iteration dims \p dims of \p extents as logical coordinates, in a tensor with
/// the default layout.
DivisionOperand makeOperandOf(const std::vector<int64_t> &extents,
                              const std::vector<unsigned> &dims, bool isOutput,
                              DataFormat format = DataFormat::SEN169_FP16) {
  IndexMap access;
  access.extents = extents;
  std::vector<int64_t> shape;
  for (unsigned dim : dims) {
    access.results.push_back(layout::makeInput(dim));
    shape.push_back(extents[dim]);
  }
  auto operand =
      makeOperand(layout::makeAccess(access), layout::getDefaultLayout(shape, format), isOutput);
  EXPECT_TRUE(std::holds_alternative<DivisionOperand>(operand));
  return std::get<DivisionOperand>(operand);
}

DivisionProblem makePointwise(const std::vector<int64_t> &extents,
                              DataFormat format = DataFormat::SEN169_FP16) {
  DivisionProblem problem;
  problem.maxCores = 32;
  std::vector<unsigned> dims;
  for (size_t i = 0; i < extents.size(); ++i) {
    problem.dims.emplace_back().extent = extents[i];
    dims.push_back(i);
  }
  for (bool isOutput : {false, false, true})
    problem.operands.push_back(makeOperandOf(extents, dims, isOutput, format));
  setElementsPerStick(problem);
  return problem;
}

/// [batch,] M, N, K.
DivisionProblem makeMatmul(const std::vector<int64_t> &extents) {
  DivisionProblem problem;
  problem.kind = OperationKind::Matmul;
  problem.maxCores = 32;
  unsigned rank = extents.size(), m = rank - 3, n = rank - 2, k = rank - 1;
  for (int64_t extent : extents)
    problem.dims.emplace_back().extent = extent;
  problem.dims[k].isReduced = true;
  std::vector<unsigned> batch;
  for (unsigned i = 0; i < m; ++i)
    batch.push_back(i);
  auto with = [&](unsigned a, unsigned b) {
    std::vector<unsigned> dims = batch;
    dims.push_back(a);
    dims.push_back(b);
    return dims;
  };
  problem.operands = {makeOperandOf(extents, with(m, k), false),
                      makeOperandOf(extents, with(k, n), false),
                      makeOperandOf(extents, with(m, n), true)};
  setElementsPerStick(problem);
  setMatmulRoles(problem);
  return problem;
}

DivisionPlan solve(const DivisionProblem &problem, const DivisionOptions &options) {
  auto result = divide(problem, options);
  if (auto *error = std::get_if<DivisionError>(&result)) {
    ADD_FAILURE() << error->message;
    return {};
  }
  return std::get<DivisionPlan>(result);
}

Device getDevice() { return *Device::lookup("spyre"); }

TEST(WorkDivisionTest, CountsStickDimsInSticks) {
  // 130 elements are 3 sticks: they can be split by 3, not by 2 or 5.
  DivisionProblem problem = makePointwise({7, 130});
  EXPECT_EQ(problem.dims[0].elementsPerStick, 1);
  EXPECT_EQ(problem.dims[1].elementsPerStick, 64);
  EXPECT_TRUE(verify(problem, {7, 3}).empty());
  EXPECT_EQ(verify(problem, {1, 2}),
            std::vector<std::string>{"dim 1 of 3 sticks cannot be cut into 2 equal slices"});
  EXPECT_EQ(getSliceSize(problem.dims[1], 3), 64);
  EXPECT_EQ(getPointsPerCore(problem, {7, 3}), 64);

  // The operand with most elements in a stick decides.
  problem.operands[0] = makeOperandOf({7, 130}, {0, 1}, false, DataFormat::SEN143_FP8);
  setElementsPerStick(problem);
  EXPECT_EQ(problem.dims[1].elementsPerStick, 128);
  EXPECT_FALSE(verify(problem, {1, 3}).empty());
}

TEST(WorkDivisionTest, ReportsEveryViolation) {
  DivisionProblem problem = makeMatmul({64, 128, 256});
  problem.maxCores = 8;
  problem.dims[2].maySplit = false;
  EXPECT_EQ(verify(problem, {3, 2, 4}).size(), 3u); // 64 by 3, K must not, 24 cores
  problem.dims[2].maySplit = true;
  problem.dims[1].isReduced = true;
  EXPECT_EQ(verify(problem, {1, 2, 2}),
            std::vector<std::string>{"more than one reduced dim is split"});
  EXPECT_EQ(verify(problem, {1, 1}), std::vector<std::string>{"2 splits for 3 dims"});
}

TEST(WorkDivisionTest, SingleCoreAndPaddedRestickify) {
  DivisionProblem problem = makePointwise({8, 64});
  problem.kind = OperationKind::SingleCore;
  EXPECT_EQ(solve(problem, {}).splits, (Splits{1, 1}));
  EXPECT_FALSE(verify(problem, {8, 1}).empty());

  // 100 is padded to 128: that dim is not split, the other one may be.
  problem = makePointwise({8, 100});
  problem.kind = OperationKind::Restickify;
  EXPECT_EQ(solve(problem, {}).splits, (Splits{8, 1}));
  EXPECT_FALSE(verify(problem, {1, 2}).empty());
}

TEST(WorkDivisionTest, LegalSplitsAreThoseOfTheRules) {
  std::mt19937 random(7);
  auto pick = [&](std::vector<int64_t> v) { return v[random() % v.size()]; };
  for (int round = 0; round < 100; ++round) {
    DivisionProblem problem;
    int rank = 1 + random() % 3;
    std::vector<int64_t> extents;
    for (int i = 0; i < rank; ++i)
      extents.push_back(pick({1, 2, 3, 12, 30, 64, 67, 130, 200, 256}));
    problem =
        makePointwise(extents, random() % 2 ? DataFormat::IEEE_FP32 : DataFormat::SEN169_FP16);
    problem.maxCores = pick({1, 4, 7, 32});
    for (DivisionDim &dim : problem.dims)
      dim.isReduced = random() % 2;
    std::set<Splits> expected;
    Splits splits(rank, 1);
    std::function<void(int)> tryAll = [&](int i) {
      if (i == rank) {
        int64_t product = 1, reduced = 0;
        for (int d = 0; d < rank; ++d) {
          int64_t e = problem.dims[d].elementsPerStick;
          int64_t units = (extents[d] + e - 1) / e;
          if (units % splits[d] != 0)
            return;
          product *= splits[d];
          reduced += problem.dims[d].isReduced && splits[d] > 1;
        }
        if (product <= problem.maxCores && reduced <= 1)
          expected.insert(splits);
        return;
      }
      for (splits[i] = 1; splits[i] <= problem.maxCores; ++splits[i])
        tryAll(i + 1);
      splits[i] = 1;
    };
    tryAll(0);
    std::vector<Splits> found = enumerateSplits(problem);
    EXPECT_EQ(std::set<Splits>(found.begin(), found.end()), expected);
    EXPECT_EQ(found.size(), expected.size());

    // The exhaustive answer is the cheapest of them, the heuristic's is one of them.
    DivisionOptions options;
    EXPECT_TRUE(expected.count(solve(problem, options).splits));
    options.exhaustive = true;
    options.cost = [](const DivisionProblem &p, const Splits &s) {
      double cost = 0;
      for (size_t i = 0; i < s.size(); ++i)
        cost += double((s[i] * 37 + int64_t(i) * 11) % 17);
      return cost;
    };
    DivisionPlan plan = solve(problem, options);
    for (const Splits &s : expected)
      EXPECT_LE(plan.cost, options.cost(problem, s));
    // Not accepted: the next one.
    Splits first = plan.splits;
    options.accept = [&](const Splits &s) { return s != first; };
    if (expected.size() > 1)
      EXPECT_NE(solve(problem, options).splits, first);
    else
      EXPECT_TRUE(std::holds_alternative<DivisionError>(divide(problem, options)));
  }
}

TEST(WorkDivisionTest, KeepsTheSpanLimit) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> extents{int64_t(1 + random() % 40), int64_t(1 + random() % 300)};
    if (random() % 2)
      extents.insert(extents.begin(), 1 + random() % 12);
    DivisionProblem problem = makePointwise(extents);
    problem.spanLimitInBytes = 128 << (random() % 8);
    DivisionOptions options;
    options.exhaustive = random() % 2;
    options.cost = makeModelCost(getDevice());
    auto result = divide(problem, options);
    std::vector<Splits> legal = enumerateSplits(problem);
    if (auto *error = std::get_if<DivisionError>(&result)) {
      EXPECT_TRUE(legal.empty()) << error->message;
      continue;
    }
    Splits splits = std::get<DivisionPlan>(result).splits;
    // The distance from the first to the last byte of any core, by enumeration.
    std::vector<int64_t> first(getNumCores(splits), INT64_MAX), last(getNumCores(splits), -1);
    layout::TensorLayout tensor = layout::getDefaultLayout(extents, DataFormat::SEN169_FP16);
    for (int64_t core = 0; core < getNumCores(splits); ++core) {
      layout::Spread spread = makeSpread(problem.dims, splits, false);
      auto region = spread.getPoints(core);
      ASSERT_TRUE(region);
      std::vector<int64_t> point = region->begin;
      while (!region->isEmpty()) {
        int64_t byte = 2 * layout::getDeviceOffset(tensor, point);
        first[core] = std::min(first[core], byte);
        last[core] = std::max(last[core], byte + 2);
        size_t i = point.size();
        while (i-- > 0) {
          if (++point[i] < region->end[i])
            break;
          point[i] = region->begin[i];
        }
        if (i == size_t(-1))
          break;
      }
      EXPECT_LE(last[core] - first[core], problem.spanLimitInBytes);
    }
  }
}

TEST(WorkDivisionTest, SplitsTheOuterDimOfALargeTensor) {
  // 512 MiB: the outer device dim (columns in sticks) has to be split.
  DivisionProblem problem = makePointwise({65536, 4096});
  problem.spanLimitInBytes = int64_t(256) << 20;
  EXPECT_FALSE(verify(problem, {32, 1}).empty());
  EXPECT_EQ(solve(problem, {}).splits, (Splits{16, 2}));
}

TEST(WorkDivisionTest, CutsWhatHasPoorDivisors) {
  // 769 sticks of columns, which no number of cores divides; K is reduced and never cut.
  DivisionProblem problem = makeMatmul({1, 49155, 4096});
  problem.spanLimitInBytes = int64_t(256) << 20;
  EXPECT_TRUE(std::holds_alternative<DivisionError>(divide(problem, {})));
  std::vector<Cut> cuts = proposeCuts(problem);
  ASSERT_FALSE(cuts.empty());
  EXPECT_EQ(cuts.front(), (Cut{1, 49152}));
  for (const Cut &cut : cuts)
    EXPECT_EQ(cut.dim, 1u) << "one row and the reduced dim have no place to cut";
  // Rows are in no stick: any place will do. Most cores first, each place once.
  DivisionProblem rows = makePointwise({97, 64});
  EXPECT_EQ(proposeCuts(rows), (std::vector<Cut>{{0, 96}}));
  rows.dims[0].maySplit = false;
  EXPECT_TRUE(proposeCuts(rows).empty());
}

TEST(WorkDivisionTest, MatmulRolesAndKFast) {
  DivisionProblem problem = makeMatmul({2, 64, 128, 256});
  EXPECT_EQ(problem.dims[0].role, MatmulRole::Batch);
  EXPECT_EQ(problem.dims[1].role, MatmulRole::M);
  EXPECT_EQ(problem.dims[2].role, MatmulRole::N);
  EXPECT_EQ(problem.dims[3].role, MatmulRole::K);
  EXPECT_TRUE(wantsKFast(problem, {1, 2, 1, 4}));
  EXPECT_FALSE(wantsKFast(problem, {4, 2, 1, 1}));
  layout::Spread spread = makeSpread(problem.dims, {1, 2, 1, 4}, /*kFast=*/true);
  EXPECT_EQ(spread.numCores, 8);
  EXPECT_EQ(spread.getSlice(5, 1), 1);
  EXPECT_EQ(spread.getSlice(5, 3), 1);

  // Published: 4096-class GEMM m4 n8 k1.
  DivisionOptions options;
  options.cost = makePublishedCost(getDevice());
  EXPECT_EQ(solve(makeMatmul({512, 4096, 4096}), options).splits, (Splits{4, 8, 1}));
}

TEST(WorkDivisionTest, RejectsNonsense) {
  DivisionProblem problem = makePointwise({8, 64});
  problem.maxCores = 0;
  EXPECT_TRUE(std::holds_alternative<DivisionError>(divide(problem, {})));
  problem = makePointwise({8, 64});
  problem.dims[0].requiredSplit = 3;
  auto result = divide(problem, {});
  ASSERT_TRUE(std::holds_alternative<DivisionError>(result));
  EXPECT_EQ(std::get<DivisionError>(result).message,
            "no legal work division: dim 0 of 8 elements cannot be cut into 3 equal slices");
  problem.dims[0].requiredSplit = 4;
  EXPECT_EQ(solve(problem, {}).splits, (Splits{4, 1}));
}

TEST(WorkDivisionTest, CoreOrderOfTheReference) {
  const char *folder = std::getenv("SPYRE_TEST_DATA");
  std::ifstream file(std::string(folder ? folder : SPYRE_SOURCE_DIR "/test/data") +
                     "/planning/work_division.json");
  ASSERT_TRUE(file);
  std::ostringstream text;
  text << file.rdbuf();
  auto parsed = json::parse(text.str());
  ASSERT_TRUE(std::holds_alternative<json::Document>(parsed));
  for (const auto &entry : std::get<json::Document>(parsed)["core_to_slice"]) {
    Splits splits = entry["splits"].get<Splits>();
    bool kFast = entry["is_matmul"].get<bool>() && entry["k_fast"].get<bool>() &&
                 splits.size() >= 3 && splits.back() > 1;
    EXPECT_EQ(int64_t(entry["table"].size()), getNumCores(splits));
    std::vector<DivisionDim> dims(splits.size());
    for (size_t i = 0; i < splits.size(); ++i)
      dims[i].extent = splits[i];
    layout::Spread spread = makeSpread(dims, splits, kFast);
    for (const auto &[core, row] : entry["table"].items()) {
      for (size_t i = 0; i < splits.size(); ++i)
        EXPECT_EQ(spread.getSlice(std::stoll(core), i),
                  row[entry["iteration_space"][i][0].get<std::string>()].get<int64_t>());
    }
  }
}

} // namespace
