//===- FarPartsTest.cpp - Operations beyond the cores' reach ---------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/FarParts.h"

#include "spyre/Device/Device.h"
#include "spyre/Planning/DivisionCost.h"

#include <gtest/gtest.h>

#include <random>

using namespace spyre;
using namespace spyre::planning;

namespace {

constexpr int64_t kReach = 256 << 10;

/// An f16 operand whose logical dim i is dim dims[i] of the operation, and lies in memory as
/// \p order says.
DivisionOperand makeFarOperand(const std::vector<int64_t> &extents,
                               const std::vector<unsigned> &dims, std::vector<int> order,
                               bool isOutput, DataFormat format = DataFormat::SEN169_FP16) {
  layout::IndexMap map{extents, {}};
  std::vector<int64_t> shape;
  for (unsigned dim : dims) {
    map.results.push_back(layout::makeInput(dim));
    shape.push_back(extents[dim]);
  }
  layout::TensorLayout memory = layout::getDefaultLayout(shape, format);
  memory.dimOrder = std::move(order);
  return std::get<DivisionOperand>(makeOperand(layout::makeAccess(map), memory, isOutput));
}

DivisionProblem makeProblem(OperationKind kind, const std::vector<int64_t> &extents,
                            std::vector<DivisionOperand> operands) {
  DivisionProblem problem;
  problem.kind = kind;
  problem.maxCores = 4;
  problem.spanLimitInBytes = kReach;
  for (int64_t extent : extents)
    problem.dims.emplace_back().extent = extent;
  problem.operands = std::move(operands);
  setElementsPerStick(problem);
  return problem;
}

DivisionProblem makePointwise(const std::vector<int64_t> &extents) {
  return makeProblem(OperationKind::Pointwise, extents,
                     {makeFarOperand(extents, {0, 1}, {0, 1}, false),
                      makeFarOperand(extents, {0, 1}, {0, 1}, true)});
}

DivisionProblem makeRestickify(int64_t rows, int64_t columns) {
  const std::vector<int64_t> extents{rows, columns};
  return makeProblem(OperationKind::Restickify, extents,
                     {makeFarOperand(extents, {0, 1}, {0, 1}, false),
                      makeFarOperand(extents, {0, 1}, {1, 0}, true)});
}

std::optional<std::vector<FarPart>> solve(const DivisionProblem &problem) {
  return divideInParts(problem, makeModelCost(*Device::lookup("mock4"), CostClass::Pointwise));
}

/// Everything that is wrong with \p parts of \p problem: they are legal, and each point is in one.
void expectParts(const DivisionProblem &problem, const std::vector<FarPart> &parts) {
  double points = 0, all = 1;
  for (const DivisionDim &dim : problem.dims)
    all *= double(dim.extent);
  for (size_t i = 0; i < parts.size(); ++i) {
    const FarPart &part = parts[i];
    double size = 1;
    std::vector<int64_t> tile = part.extents;
    for (size_t d = 0; d < tile.size(); ++d) {
      EXPECT_GE(part.offsets[d], 0);
      EXPECT_LE(part.offsets[d] + part.extents[d], problem.dims[d].extent);
      EXPECT_EQ(part.offsets[d] % problem.dims[d].elementsPerStick, 0)
          << "parts begin with a stick";
      EXPECT_EQ(tile[d] % part.numTiles[d], 0);
      tile[d] /= part.numTiles[d];
      if (part.numTiles[d] > 1) {
        EXPECT_EQ(tile[d] % problem.dims[d].elementsPerStick, 0) << "tiles are of whole sticks";
      }
      if (problem.dims[d].isReduced) {
        EXPECT_EQ(tile[d], problem.dims[d].extent) << "what is reduced stays together";
      }
      size *= double(part.extents[d]);
    }
    points += size;
    EXPECT_EQ(verify(withExtents(problem, tile), part.splits), std::vector<std::string>());
    for (size_t j = 0; j < i; ++j) {
      bool areApart = false;
      for (size_t d = 0; d < tile.size(); ++d)
        areApart |= part.offsets[d] + part.extents[d] <= parts[j].offsets[d] ||
                    parts[j].offsets[d] + parts[j].extents[d] <= part.offsets[d];
      EXPECT_TRUE(areApart) << "no point is computed twice";
    }
  }
  EXPECT_EQ(points, all) << "every point is computed";
}

TEST(FarPartsTest, TilesBothDimsOfATurnedWeight) {
  // A core has one stick of either dim at once: any more is further away than it reaches.
  DivisionProblem problem = makeRestickify(4096, 14336);
  ASSERT_TRUE(std::holds_alternative<DivisionError>(divide(problem, {})));
  auto parts = solve(problem);
  ASSERT_TRUE(parts);
  expectParts(problem, *parts);
  ASSERT_EQ(parts->size(), 1u);
  EXPECT_EQ(getNumCores(parts->front().splits), 4);
  EXPECT_EQ(parts->front().getNumTiles(), 64 * 224 / 4);
}

TEST(FarPartsTest, CutsOffWhatDoesNotFillAStick) {
  DivisionProblem problem = makePointwise({1024, 1000});
  auto parts = solve(problem);
  ASSERT_TRUE(parts);
  expectParts(problem, *parts);
  ASSERT_EQ(parts->size(), 2u);
  EXPECT_EQ(parts->back().offsets, (std::vector<int64_t>{0, 960}));
  // Both dims of what is turned.
  problem = makeRestickify(1000, 1100);
  parts = solve(problem);
  ASSERT_TRUE(parts);
  expectParts(problem, *parts);
  EXPECT_GE(parts->size(), 4u);
}

TEST(FarPartsTest, CutsForTheSakeOfDivisors) {
  // 1031 sticks: one after the other, or 1024 of them and seven.
  DivisionProblem problem = makePointwise({512, 1031 * 64});
  auto parts = solve(problem);
  ASSERT_TRUE(parts);
  expectParts(problem, *parts);
  int64_t tiles = 0;
  for (const FarPart &part : *parts)
    tiles += part.getNumTiles();
  EXPECT_LT(tiles, 1031 / 8);
}

TEST(FarPartsTest, LeavesReducedDimsWhole) {
  const std::vector<int64_t> extents{16384, 1024};
  DivisionProblem problem = makeProblem(
      OperationKind::Reduction, extents,
      {makeFarOperand(extents, {0, 1}, {0, 1}, false), makeFarOperand(extents, {1}, {0}, true)});
  problem.dims[0].isReduced = true;
  // One stick of columns has 2 MiB: cores that share the rows do not reach them either.
  EXPECT_FALSE(solve(problem));
  EXPECT_FALSE(isWithinReach(problem, 0, 4096));
  EXPECT_TRUE(isWithinReach(problem, 0, 2048));
  // 1024 rows are within reach: columns are tiled.
  const std::vector<int64_t> fewer{1024, 4096};
  problem = makeProblem(
      OperationKind::Reduction, fewer,
      {makeFarOperand(fewer, {0, 1}, {0, 1}, false), makeFarOperand(fewer, {1}, {0}, true)});
  problem.dims[0].isReduced = true;
  EXPECT_TRUE(isWithinReach(problem, 0, 1024));
  auto parts = solve(problem);
  ASSERT_TRUE(parts);
  expectParts(problem, *parts);
}

TEST(FarPartsTest, KnowsWhatNoCutBringsWithinReach) {
  // A cast of one 16-bit stick writes two f32 sticks, here 1 MiB apart.
  const std::vector<int64_t> extents{8192, 64};
  DivisionProblem problem =
      makeProblem(OperationKind::Pointwise, extents,
                  {makeFarOperand(extents, {0, 1}, {0, 1}, false),
                   makeFarOperand(extents, {0, 1}, {0, 1}, true, DataFormat::IEEE_FP32)});
  EXPECT_LE(getLeastSpanInBytes(problem, problem.operands.front()), kReach);
  EXPECT_GT(getLeastSpanInBytes(problem, problem.operands.back()), kReach);
  EXPECT_FALSE(solve(problem));
  // One core's operation is not cut.
  problem = makePointwise({1024, 1000});
  problem.kind = OperationKind::SingleCore;
  EXPECT_FALSE(solve(problem));
}

TEST(FarPartsTest, CoversAnyShape) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int64_t> size(1, 2500);
  for (int i = 0; i < 40; ++i) {
    DivisionProblem problem = i % 2 ? makePointwise({size(random), size(random)})
                                    : makeRestickify(size(random), size(random));
    auto parts = solve(problem);
    ASSERT_TRUE(parts);
    expectParts(problem, *parts);
  }
}

} // namespace
