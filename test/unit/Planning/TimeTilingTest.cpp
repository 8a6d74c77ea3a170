//===- TimeTilingTest.cpp - Tiles of operations over time ------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/TimeTiling.h"

#include "spyre/Device/Device.h"
#include "spyre/Planning/DivisionCost.h"

#include <gtest/gtest.h>

#include <deque>

using namespace spyre;
using namespace spyre::planning;

namespace {

constexpr unsigned kUnit = ~0u; ///< the only element along a logical dim

/// A problem of f16 tensors, written down operation by operation.
struct Builder {
  TilingProblem problem;
  Device device = *Device::lookup("spyre");
  DivisionCost pointwise = makeModelCost(device, CostClass::Pointwise);
  std::deque<DivisionProblem> divisions;

  explicit Builder(int64_t scratchpadInBytes) {
    problem.numCores = device.getNumCores();
    problem.scratchpadInBytes = scratchpadInBytes;
    problem.spanLimitInBytes = device.getSpanLimitInBytes();
    problem.memoryInBytesPerNs = device.getRates().memoryInBytesPerNs;
    problem.macsPerNs = device.getRates().sustainedMacsPerNs;
  }

  static layout::TensorLayout getLayout(const std::vector<int64_t> &shape) {
    return layout::getDefaultLayout(shape, DataFormat::SEN169_FP16);
  }

  unsigned addValue(std::vector<int64_t> shape, bool isInternal) {
    TilingValue value;
    value.memory = getLayout(shape);
    value.sizeInBytes = layout::getSizeInBytes(value.memory);
    value.units.assign(shape.size(), 1);
    value.units.back() = 64;
    value.shape = std::move(shape);
    value.isInternal = isInternal;
    problem.values.push_back(std::move(value));
    return static_cast<unsigned>(problem.values.size() - 1);
  }

  struct Ref {
    unsigned value;
    std::vector<unsigned> dims; ///< of each coordinate, or kUnit
  };
  /// Divided untiled by the heuristic.
  TilingOp &addOp(std::vector<int64_t> extents, std::vector<Ref> refs) {
    TilingOp op;
    DivisionProblem division;
    division.maxCores = problem.numCores;
    division.spanLimitInBytes = device.getSpanLimitInBytes();
    std::vector<bool> isWritten(extents.size());
    for (unsigned dim : refs.back().dims)
      if (dim != kUnit)
        isWritten[dim] = true;
    bool reduces = false;
    for (size_t dim = 0; dim < extents.size(); ++dim) {
      division.dims.push_back({});
      division.dims.back().extent = extents[dim];
      division.dims.back().isReduced = !isWritten[dim];
      reduces |= !isWritten[dim];
    }
    for (const Ref &ref : refs) {
      TilingOperand operand{ref.value, {extents, {}}, &ref == &refs.back()};
      for (unsigned dim : ref.dims)
        operand.map.results.push_back(dim == kUnit ? layout::makeConstant(0)
                                                   : layout::makeInput(dim));
      division.operands.push_back(std::get<DivisionOperand>(
          makeOperand(layout::makeAccess(operand.map), getLayout(problem.values[ref.value].shape),
                      operand.isWrite)));
      op.operands.push_back(std::move(operand));
    }
    division.kind = !reduces           ? OperationKind::Pointwise
                    : refs.size() == 3 ? OperationKind::Matmul
                                       : OperationKind::Reduction;
    setElementsPerStick(division);
    if (division.kind == OperationKind::Matmul) {
      setMatmulRoles(division);
      op.macs = 1;
      for (int64_t extent : extents)
        op.macs *= extent;
    }
    for (const DivisionDim &dim : division.dims)
      op.units.push_back(dim.elementsPerStick);
    auto plan = divide(division, {});
    op.splits.assign(extents.size(), 1);
    if (auto *found = std::get_if<DivisionPlan>(&plan))
      op.splits = found->splits;
    divisions.push_back(std::move(division));
    op.division = &divisions.back();
    op.cost = &pointwise;
    problem.ops.push_back(std::move(op));
    return problem.ops.back();
  }

  /// x - max x of each row, exponential, its sum, quotient: [rows, columns].
  void addSoftmax(unsigned x, unsigned out, int64_t rows, int64_t columns) {
    unsigned m = addValue({rows, 1}, true), s = addValue({rows, columns}, true),
             e = addValue({rows, columns}, true), l = addValue({rows, 1}, true);
    std::vector<int64_t> extents{rows, columns};
    addOp(extents, {{x, {0, 1}}, {m, {0, kUnit}}});
    addOp(extents, {{x, {0, 1}}, {m, {0, kUnit}}, {s, {0, 1}}});
    addOp(extents, {{s, {0, 1}}, {e, {0, 1}}});
    addOp(extents, {{e, {0, 1}}, {l, {0, kUnit}}});
    addOp(extents, {{e, {0, 1}}, {l, {0, kUnit}}, {out, {0, 1}}});
  }
};

TEST(TimeTilingTest, RowsOfASoftmax) {
  Builder b(1 << 20);
  unsigned x = b.addValue({8192, 8192}, false), out = b.addValue({8192, 8192}, false);
  b.addSoftmax(x, out, 8192, 8192);
  std::vector<Nest> nests = findNests(b.problem);
  ASSERT_EQ(nests.size(), 1u);
  const Nest &nest = nests.front();
  EXPECT_EQ(nest.first, 0u);
  EXPECT_EQ(nest.last, 4u);
  ASSERT_EQ(nest.numTrips.size(), 1u);
  for (const NestOp &op : nest.ops) {
    EXPECT_EQ(op.dims, (std::vector<std::optional<unsigned>>{0}));
    EXPECT_EQ(op.splits, (Splits{32, 1}));
  }
  // Rows of 16 KiB: x, x - max and the exponential of three at a time.
  EXPECT_GE(nest.getNumTiles(), 8);
  EXPECT_EQ(8192 % (nest.getNumTiles() * 32), 0);
  // x is loaded once; all between stays.
  ASSERT_EQ(nest.tiles.size(), 5u);
  EXPECT_TRUE(nest.tiles[0].isLoaded);
  EXPECT_NEAR(nest.tiledInNs, 2.0 * 8192 * 8192 * 2 / 150, 0.05 * nest.tiledInNs);
}

TEST(TimeTilingTest, WhatFitsIsOnlyLoaded) {
  Builder b(1 << 20);
  unsigned x = b.addValue({512, 1024}, false), out = b.addValue({512, 1024}, false);
  b.addSoftmax(x, out, 512, 1024);
  std::vector<Nest> nests = findNests(b.problem);
  ASSERT_EQ(nests.size(), 1u);
  EXPECT_TRUE(nests[0].numTrips.empty());
  EXPECT_TRUE(nests[0].tiles[0].isLoaded);
}

TEST(TimeTilingTest, NothingToGain) {
  // One operation, and a pair whose value fits.
  Builder b(1 << 20);
  unsigned x = b.addValue({512, 1024}, false), y = b.addValue({512, 1024}, true),
           out = b.addValue({512, 1024}, false);
  b.addOp({512, 1024}, {{x, {0, 1}}, {y, {0, 1}}});
  b.addOp({512, 1024}, {{y, {0, 1}}, {out, {0, 1}}});
  b.problem.values[y].untiledPartInBytes = 512 * 1024 * 2 / 32;
  EXPECT_TRUE(findNests(b.problem).empty());
}

TEST(TimeTilingTest, ColumnsThatAreReducedAreNoDim) {
  // The second operation reads the transposed value: no dim is the same in both.
  Builder b(1 << 16);
  unsigned x = b.addValue({4096, 4096}, false), y = b.addValue({4096, 4096}, true),
           out = b.addValue({4096, 64}, false);
  b.addOp({4096, 4096}, {{x, {0, 1}}, {y, {0, 1}}});
  // out[a, b] = sum over c of y[c, a] ...: y's rows are reduced, its columns are kept.
  b.addOp({4096, 64, 4096}, {{y, {2, 0}}, {x, {2, 1}}, {out, {0, 1}}});
  for (const Nest &nest : findNests(b.problem))
    if (nest.first == 0 && nest.last == 1)
      for (const NestOp &op : nest.ops)
        for (std::optional<unsigned> dim : op.dims)
          EXPECT_EQ(dim, &op == &nest.ops[0] ? 1u : 0u);
}

/// A fill, and a sum of exponentials that goes on: part = sum exp(x); sum = sum + part; then its
/// inverse. \p rows rows share the fill.
static void addSum(Builder &b, int64_t rows, int64_t columns, std::optional<unsigned> carried) {
  unsigned x = b.addValue({rows, columns}, false), zero = b.addValue({1, 1}, false);
  unsigned e = b.addValue({rows, columns}, true), part = b.addValue({rows, 1}, true);
  unsigned f = b.addValue({rows, columns}, true);
  unsigned sum = b.addValue({rows, 1}, true), out = b.addValue({rows, 1}, false);
  b.addOp({rows}, {{zero, {kUnit, kUnit}}, {sum, {0, kUnit}}});
  b.addOp({rows, columns}, {{x, {0, 1}}, {e, {0, 1}}});
  b.addOp({rows, columns}, {{e, {0, 1}}, {f, {0, 1}}});
  b.addOp({rows, columns}, {{f, {0, 1}}, {part, {0, kUnit}}}).carried = carried;
  b.addOp({rows}, {{sum, {0, kUnit}}, {part, {0, kUnit}}, {sum, {0, kUnit}}}).carried = carried;
  b.addOp({rows}, {{sum, {0, kUnit}}, {out, {0, kUnit}}});
}

/// No loop cuts the columns that operation \p number sums up.
static void expectColumnsUncut(const Builder &b, unsigned number) {
  for (const Nest &nest : findNests(b.problem)) {
    if (nest.first > number || nest.last < number)
      continue;
    for (std::optional<unsigned> dim : nest.ops[number - nest.first].dims)
      EXPECT_NE(dim, 1u);
  }
}

TEST(TimeTilingTest, SumsThatGoOn) {
  // Rows of 2 MiB that no scratchpad holds.
  Builder b(1 << 20);
  addSum(b, 32, 1 << 20, 0);
  std::vector<Nest> nests = findNests(b.problem);
  ASSERT_EQ(nests.size(), 1u);
  const Nest &nest = nests.front();
  ASSERT_EQ(nest.numTrips.size(), 1u);
  EXPECT_GE(nest.numTrips[0], 4);
  // The fill before the loop, the sum's inverse behind it.
  ASSERT_EQ(nest.first, 0u);
  ASSERT_EQ(nest.last, 5u);
  EXPECT_EQ(nest.ops[0].depth, 0u);
  EXPECT_FALSE(nest.ops[0].isAfter);
  for (unsigned op = 1; op <= 4; ++op)
    EXPECT_EQ(nest.ops[op].depth, 1u);
  EXPECT_EQ(nest.ops[3].dims, (std::vector<std::optional<unsigned>>{1}));
  EXPECT_EQ(nest.ops[4].dims, (std::vector<std::optional<unsigned>>{std::nullopt}));
  EXPECT_EQ(nest.ops[5].depth, 0u);
  EXPECT_TRUE(nest.ops[5].isAfter);
}

TEST(TimeTilingTest, SumsOfAnotherDimGoOnNowhere) {
  // The group has a sum over columns that the loop does not cut: it would be added in each tile.
  Builder b(1 << 20);
  addSum(b, 32, 1 << 20, 0);
  unsigned y = b.addValue({32, 64}, false), part = b.addValue({32, 1}, true),
           sum = b.addValue({32, 1}, true), out = b.addValue({32, 1}, false);
  b.addOp({32, 64}, {{y, {0, 1}}, {part, {0, kUnit}}}).carried = 0;
  b.addOp({32}, {{sum, {0, kUnit}}, {part, {0, kUnit}}, {sum, {0, kUnit}}}).carried = 0;
  b.addOp({32}, {{sum, {0, kUnit}}, {out, {0, kUnit}}});
  expectColumnsUncut(b, 3);
}

TEST(TimeTilingTest, SumsThatDoNot) {
  // Nobody has said that the parts are added up.
  Builder b(1 << 20);
  addSum(b, 32, 1 << 20, std::nullopt);
  expectColumnsUncut(b, 3);
}

TEST(TimeTilingTest, KeysOfAHeadAreTurnedAndLoadedOnce) {
  // The keys turned, scores = q k, an exponential, times v: heads or rows come tile by tile.
  const int64_t heads = 32, length = 2048, width = 128;
  Builder b(7 << 18);
  unsigned q = b.addValue({heads, length, width}, false),
           k = b.addValue({heads, length, width}, false),
           v = b.addValue({heads, length, width}, false),
           out = b.addValue({heads, length, width}, false),
           turned = b.addValue({heads, width, length}, true),
           s = b.addValue({heads, length, length}, true),
           e = b.addValue({heads, length, length}, true);
  b.addOp({heads, width, length}, {{k, {0, 2, 1}}, {turned, {0, 1, 2}}});
  b.addOp({heads, length, length, width}, {{q, {0, 1, 3}}, {turned, {0, 3, 2}}, {s, {0, 1, 2}}});
  b.addOp({heads, length, length}, {{s, {0, 1, 2}}, {e, {0, 1, 2}}});
  b.addOp({heads, length, width, length}, {{e, {0, 1, 3}}, {v, {0, 3, 2}}, {out, {0, 1, 2}}});
  std::vector<Nest> nests = findNests(b.problem);
  ASSERT_EQ(nests.size(), 1u);
  const Nest &nest = nests.front();
  EXPECT_EQ(nest.first, 0u);
  EXPECT_EQ(nest.last, 3u);
  // Each loop that the turning stands in moves along the heads: no keys are turned again.
  const unsigned depth = nest.ops[0].depth;
  for (const std::optional<unsigned> &dim : nest.ops[0].dims)
    EXPECT_EQ(dim, 0u);
  for (const NestOp &op : nest.ops)
    EXPECT_EQ(getNumCores(op.splits) * (op.copied ? nest.shares[1] : 1), 32);
  auto find = [&](unsigned value) {
    return std::find_if(nest.tiles.begin(), nest.tiles.end(),
                        [&](const NestTile &tile) { return tile.value == value; });
  };
  // A loop over rows reads the values of a head again: then they are loaded before it.
  if (nest.numTrips.size() > depth) {
    ASSERT_NE(find(v), nest.tiles.end());
    EXPECT_TRUE(find(v)->isLoaded);
    EXPECT_EQ(find(v)->depth, depth);
  }
  ASSERT_NE(find(s), nest.tiles.end());
  EXPECT_EQ(find(s)->depth, nest.numTrips.size());
  // Nobody but the keys' turning takes time that products do not hide.
  EXPECT_LT(nest.tiledInNs, 0.5 * nest.untiledInNs);
}

/// Values that the first operation makes of \p x for each of eight heads, and scores of a head's
/// rows with them. The heads lie side by side in the columns of the values.
static unsigned addHeads(Builder &b, int64_t heads, int64_t length, int64_t width) {
  unsigned x = b.addValue({length, 4096}, false), w = b.addValue({4096, heads * width}, false),
           v = b.addValue({length, heads * width}, true),
           s = b.addValue({heads, length, length}, true),
           e = b.addValue({heads, length, length}, true),
           out = b.addValue({heads, length, width}, false),
           q = b.addValue({heads, length, width}, false),
           k = b.addValue({heads, width, length}, false);
  b.addOp({length, heads * width, 4096}, {{x, {0, 2}}, {w, {2, 1}}, {v, {0, 1}}});
  b.addOp({heads, length, length, width}, {{q, {0, 1, 3}}, {k, {0, 3, 2}}, {s, {0, 1, 2}}});
  b.addOp({heads, length, length}, {{s, {0, 1, 2}}, {e, {0, 1, 2}}});
  TilingOp &last =
      b.addOp({heads, length, width, length}, {{e, {0, 1, 3}}, {v, {3, 2}}, {out, {0, 1, 2}}});
  // v[key, head * width + column]
  last.operands[1].map.results[1] = layout::add(layout::makeInput(0, width), layout::makeInput(2));
  return v;
}

TEST(TimeTilingTest, ProductsOfSmallPartsStandApart) {
  // A head's values are too narrow for the cores: the product is done for all heads before the
  // loop over them, with a division of its own.
  const int64_t heads = 8, length = 2048, width = 128;
  Builder b(7 << 18);
  unsigned v = addHeads(b, heads, length, width);
  std::vector<Nest> nests = findNests(b.problem);
  ASSERT_FALSE(nests.empty());
  const Nest &nest = nests.front();
  ASSERT_EQ(nest.first, 0u);
  EXPECT_FALSE(nest.numTrips.empty());
  EXPECT_TRUE(nest.ops.front().isApart);
  EXPECT_EQ(nest.ops.front().depth, 0u);
  EXPECT_EQ(getNumCores(nest.ops.front().splits), 32);
  for (const NestTile &tile : nest.tiles)
    EXPECT_TRUE(tile.value != v || tile.isLoaded);
}

TEST(TimeTilingTest, KeysThatCoresShareAreInEach) {
  // Two heads only: sixteen slices of the rows turn and read the same keys.
  const int64_t heads = 2, rows = 128, keys = 64, width = 2048;
  Builder b(7 << 18);
  unsigned q = b.addValue({heads, rows, width}, false), k = b.addValue({heads, keys, width}, false),
           out = b.addValue({heads, rows, keys}, false),
           turned = b.addValue({heads, width, keys}, true),
           s = b.addValue({heads, rows, keys}, true);
  b.addOp({heads, width, keys}, {{k, {0, 2, 1}}, {turned, {0, 1, 2}}});
  b.addOp({heads, rows, keys, width}, {{q, {0, 1, 3}}, {turned, {0, 3, 2}}, {s, {0, 1, 2}}});
  b.addOp({heads, rows, keys}, {{s, {0, 1, 2}}, {out, {0, 1, 2}}});
  std::vector<Nest> nests = findNests(b.problem);
  ASSERT_EQ(nests.size(), 1u);
  const Nest &nest = nests.front();
  ASSERT_EQ(nest.ops.size(), 3u);
  // Nobody waits: all cores turn keys.
  int64_t copies = 1;
  for (size_t i = 0; i < nest.shares.size(); ++i)
    if (nest.ops[0].copied >> i & 1)
      copies *= nest.shares[i];
  EXPECT_GT(copies, 1);
  EXPECT_EQ(copies * getNumCores(nest.ops[0].splits), 32);
  auto tile = std::find_if(nest.tiles.begin(), nest.tiles.end(),
                           [&](const NestTile &each) { return each.value == turned; });
  ASSERT_NE(tile, nest.tiles.end());
  EXPECT_EQ(tile->copied, nest.ops[0].copied);
}

/// A sum of two values, then products of it with \p widths columns.
static std::vector<unsigned> addProjections(Builder &b, const DivisionCost &cost, int64_t rows,
                                            int64_t inner, std::vector<int64_t> widths) {
  unsigned x = b.addValue({rows, inner}, false), y = b.addValue({rows, inner}, false),
           sum = b.addValue({rows, inner}, true);
  b.problem.values[sum].mayStay = true;
  b.addOp({rows, inner}, {{x, {0, 1}}, {y, {0, 1}}, {sum, {0, 1}}});
  std::vector<unsigned> results;
  for (int64_t width : widths) {
    unsigned w = b.addValue({inner, width}, false);
    results.push_back(b.addValue({rows, width}, false));
    b.addOp({rows, width, inner}, {{sum, {0, 2}}, {w, {2, 1}}, {results.back(), {0, 1}}}).cost =
        &cost;
  }
  return results;
}

TEST(TimeTilingTest, ColumnsOfProductsAreSharedAlike) {
  Builder b(1 << 20);
  DivisionCost cost = makeModelCost(b.device, CostClass::Matmul);
  addProjections(b, cost, 512, 4096, {4096, 1024, 1024});
  std::vector<Nest> nests = findNests(b.problem);
  ASSERT_EQ(nests.size(), 1u);
  const Nest &nest = nests.front();
  EXPECT_EQ(nest.last, 3u);
  EXPECT_TRUE(nest.numTrips.empty());
  // Rows and columns of each, though no other operation has their columns; the sum is made by all
  // that share the columns, for themselves.
  ASSERT_EQ(nest.shares.size(), 2u);
  EXPECT_EQ(nest.shares[0] * nest.shares[1], 32);
  for (unsigned op = 1; op < 4; ++op)
    EXPECT_EQ(nest.ops[op].splits, (Splits{nest.shares[0], nest.shares[1], 1}));
  EXPECT_NE(nest.ops[0].copied, 0u);
  EXPECT_LT(nest.tiledInNs, nest.untiledInNs);
}

/// x U, its rows' operation on each element, and that times D: [rows, width] -> [rows, width].
static Builder makeNetwork(const DivisionCost &cost, int64_t rows, int64_t width, int64_t hidden) {
  Builder b(3 << 19);
  const unsigned x = b.addValue({rows, width}, false), u = b.addValue({width, hidden}, false),
                 p = b.addValue({rows, hidden}, true), a = b.addValue({rows, hidden}, true),
                 d = b.addValue({hidden, width}, false), o = b.addValue({rows, width}, false);
  b.addOp({rows, hidden, width}, {{x, {0, 2}}, {u, {2, 1}}, {p, {0, 1}}}).cost = &cost;
  b.addOp({rows, hidden}, {{p, {0, 1}}, {a, {0, 1}}});
  b.addOp({rows, width, hidden}, {{a, {0, 2}}, {d, {2, 1}}, {o, {0, 1}}}).cost = &cost;
  return b;
}

TEST(TimeTilingTest, WhatAProductReadsOfAnotherIsGathered) {
  DivisionCost cost = makeModelCost(*Device::lookup("spyre"), CostClass::Matmul);
  Builder b = makeNetwork(cost, 512, 512, 2048);
  auto getGathered = [&](const Nest &nest) -> const NestTile * {
    for (const NestTile &tile : nest.tiles)
      if (tile.isGathered)
        return &tile;
    return nullptr;
  };
  // The device, or the value, has to be of that kind.
  for (const Nest &nest : findNests(b.problem))
    EXPECT_EQ(getGathered(nest), nullptr);
  b.problem.gatherCost = makeGatherCost(b.device);
  for (const Nest &nest : findNests(b.problem))
    EXPECT_EQ(getGathered(nest), nullptr);
  for (TilingValue &value : b.problem.values)
    value.mayMove = value.isInternal;
  b.problem.multicastReaders = b.device.getMulticastReaders();
  std::vector<Nest> nests = findNests(b.problem);
  ASSERT_EQ(nests.size(), 1u);
  const Nest &nest = nests.front();
  const NestTile *tile = getGathered(nest);
  ASSERT_NE(tile, nullptr);
  // Rows and columns of both products are shared; each core has its rows whole then.
  EXPECT_EQ(tile->value, 3u);
  ASSERT_EQ(nest.shares.size(), 2u);
  EXPECT_LE(nest.shares[0], b.problem.multicastReaders);
  EXPECT_EQ(nest.ops[0].splits, (Splits{nest.shares[0], nest.shares[1], 1}));
  EXPECT_EQ(nest.ops[2].splits, nest.ops[0].splits);
  EXPECT_EQ(tile->copied, 2u);
  EXPECT_EQ(tile->splits, (std::vector<int64_t>{nest.shares[0], 1}));
  EXPECT_EQ(nest.ops[2].gathered, 1u);
  // What it is made of stays as a whole or has a tile of its own.
  EXPECT_TRUE(std::count(nest.wholes.begin(), nest.wholes.end(), 3u) == 1 ||
              std::count_if(nest.tiles.begin(), nest.tiles.end(), [](const NestTile &other) {
                return other.value == 3 && !other.isGathered;
              }) == 1);
  // A ring that takes longer than device memory is of no use.
  b.problem.gatherCost = [](const std::vector<int64_t> &, unsigned, double) { return 1e9; };
  for (const Nest &other : findNests(b.problem))
    EXPECT_EQ(getGathered(other), nullptr);
}

TEST(TimeTilingTest, GatheringTakesTheBusiestLink) {
  const GatherCost cost = makeGatherCost(*Device::lookup("spyre"));
  // Two neighbours exchange what they have: 192 bytes a ns.
  EXPECT_DOUBLE_EQ(cost({2}, 1, 1920), 10);
  // Eight cores apart: over each link goes what eight have.
  EXPECT_DOUBLE_EQ(cost({8, 2}, 2, 1920), 80);
  EXPECT_EQ(cost({8, 2}, 0, 1920), 0);
}

TEST(TimeTilingTest, HeadsAndRows) {
  // Neither the keys of a head nor its scores fit into one core.
  const int64_t heads = 8, length = 8192, width = 128;
  Builder b(1 << 20);
  unsigned q = b.addValue({heads, length, width}, false),
           k = b.addValue({heads, width, length}, false),
           v = b.addValue({heads, length, width}, false),
           out = b.addValue({heads, length, width}, false),
           s = b.addValue({heads, length, length}, true);
  b.addOp({heads, length, length, width}, {{q, {0, 1, 3}}, {k, {0, 3, 2}}, {s, {0, 1, 2}}});
  b.addOp({heads, length, width, length}, {{s, {0, 1, 3}}, {v, {0, 3, 2}}, {out, {0, 1, 2}}});
  std::vector<Nest> nests = findNests(b.problem);
  ASSERT_EQ(nests.size(), 1u);
  const Nest &nest = nests.front();
  auto scores = std::find_if(nest.tiles.begin(), nest.tiles.end(),
                             [&](const NestTile &tile) { return tile.value == s; });
  ASSERT_NE(scores, nest.tiles.end());
  int64_t parts = nest.getNumTiles();
  for (int64_t slices : scores->splits)
    parts *= slices;
  EXPECT_LE(heads * length * length * 2 / parts, 1 << 20);
}

TEST(TimeTilingTest, HeadsOfAHiddenDim) {
  // y = x w has heads side by side; the next operation takes them apart: cores share heads.
  const int64_t rows = 3, heads = 32, width = 64;
  Builder b(1 << 20);
  unsigned x = b.addValue({rows, heads * width}, false),
           y = b.addValue({rows, heads * width}, true),
           out = b.addValue({heads, rows, width}, false);
  b.addOp({rows, heads * width}, {{x, {0, 1}}, {y, {0, 1}}});
  TilingOp &apart = b.addOp({heads, rows, width}, {{out, {0, 1, 2}}, {out, {0, 1, 2}}});
  apart.operands[0].value = y;
  apart.operands[0].map.results = {layout::makeInput(1), {{{0, 1, 0, width}, {2, 1, 0, 1}}, 0}};
  std::vector<Nest> nests = findNests(b.problem);
  ASSERT_EQ(nests.size(), 1u);
  EXPECT_EQ(nests[0].ops[0].splits, (Splits{1, 32}));
  EXPECT_EQ(nests[0].ops[1].splits, (Splits{32, 1, 1}));
}

TEST(TimeTilingTest, APartOfADimIsNoDim) {
  // Four planes side by side in a dim of the first value become a dim of their own, along which
  // cores and loops do not find parts of the first.
  const int64_t rows = 40, groups = 3, planes = 64, width = 4096;
  Builder b(1 << 20);
  unsigned x = b.addValue({rows, groups * planes, width}, false),
           y = b.addValue({rows, groups * planes, width}, true),
           out = b.addValue({rows, groups, planes, width}, false);
  b.addOp({rows, groups * planes, width}, {{x, {0, 1, 2}}, {y, {0, 1, 2}}});
  TilingOp &apart =
      b.addOp({rows, groups, planes, width}, {{out, {0, 1, 2, 3}}, {out, {0, 1, 2, 3}}});
  apart.operands[0].value = y;
  apart.operands[0].map.results = {
      layout::makeInput(0), {{{1, 1, 0, planes}, {2, 1, 0, 1}}, 0}, layout::makeInput(3)};
  for (const Nest &nest : findNests(b.problem))
    for (const NestTile &tile : nest.tiles)
      for (const NestOp &op : nest.ops)
        if (tile.value == y && &op == &nest.ops.back())
          for (std::optional<unsigned> dim : op.dims)
            EXPECT_NE(dim, 2u);
}

TEST(TimeTilingTest, NothingIsOvertaken) {
  // The third operation does not depend on the rows, but writes what the first has read.
  Builder b(1 << 20);
  unsigned x = b.addValue({65536, 4096}, false), y = b.addValue({65536, 4096}, true),
           out = b.addValue({65536, 4096}, false), w = b.addValue({1, 4096}, false),
           c = b.addValue({1, 4096}, true);
  b.addOp({1, 4096}, {{w, {kUnit, 1}}, {c, {kUnit, 1}}});
  b.addOp({65536, 4096}, {{x, {0, 1}}, {c, {kUnit, 1}}, {y, {0, 1}}});
  b.addOp({1, 4096}, {{w, {kUnit, 1}}, {c, {kUnit, 1}}});
  b.addOp({65536, 4096}, {{y, {0, 1}}, {c, {kUnit, 1}}, {out, {0, 1}}});
  for (const Nest &nest : findNests(b.problem))
    for (unsigned i = 0; i < nest.ops.size(); ++i)
      for (unsigned j = i + 1; j < nest.ops.size(); ++j)
        if (nest.first + i == 1 && nest.first + j == 2)
          EXPECT_LE(nest.ops[i].depth, nest.ops[j].depth);
}

TEST(TimeTilingTest, ValuesThatOthersRead) {
  // y is read by the next operation and leaves: a tile, and a copy of it.
  Builder b(1 << 20);
  unsigned x = b.addValue({65536, 4096}, false), y = b.addValue({65536, 4096}, false),
           z = b.addValue({65536, 4096}, false);
  b.addOp({65536, 4096}, {{x, {0, 1}}, {y, {0, 1}}});
  b.addOp({65536, 4096}, {{y, {0, 1}}, {z, {0, 1}}});
  std::vector<Nest> nests = findNests(b.problem);
  ASSERT_EQ(nests.size(), 1u);
  ASSERT_EQ(nests[0].tiles.size(), 1u);
  EXPECT_EQ(nests[0].tiles[0].value, y);
  EXPECT_TRUE(nests[0].tiles[0].isStored);
  // Whoever stands in a loop takes no part.
  b.problem.ops[1].isFixed = true;
  EXPECT_TRUE(findNests(b.problem).empty());
}

TEST(TimeTilingTest, HugeAndPrime) {
  // Many divisors, none, and a size that is counted quickly.
  for (int64_t rows : {5040 * 64, 1000003, 1 << 30}) {
    Builder b(1 << 20);
    unsigned x = b.addValue({rows, 5040}, false), y = b.addValue({rows, 5040}, true),
             out = b.addValue({rows, 5040}, false);
    b.addOp({rows, 5040}, {{x, {0, 1}}, {y, {0, 1}}});
    b.addOp({rows, 5040}, {{y, {0, 1}}, {x, {0, 1}}, {out, {0, 1}}});
    for (const Nest &nest : findNests(b.problem))
      for (int64_t numTrips : nest.numTrips)
        EXPECT_LE(numTrips, 1 << 16);
  }
}

TEST(TimeTilingTest, EmptyAndTiny) {
  Builder b(1 << 20);
  EXPECT_TRUE(findNests(b.problem).empty());
  unsigned x = b.addValue({1}, false), y = b.addValue({1}, false);
  b.addOp({1}, {{x, {kUnit}}, {y, {kUnit}}});
  EXPECT_TRUE(findNests(b.problem).empty());
}

//===----------------------------------------------------------------------===//
// What a schedule says
//===----------------------------------------------------------------------===//

/// y = exp x, out = y + x of [8192, 128].
static Builder makeTwo() {
  Builder b(32 << 10);
  unsigned x = b.addValue({8192, 128}, false), y = b.addValue({8192, 128}, true),
           out = b.addValue({8192, 128}, false);
  b.addOp({8192, 128}, {{x, {0, 1}}, {y, {0, 1}}});
  b.addOp({8192, 128}, {{y, {0, 1}}, {x, {0, 1}}, {out, {0, 1}}});
  return b;
}

static ScheduledNest makePinned(unsigned first, unsigned last, std::vector<ScheduledCut> loops) {
  ScheduledNest nest;
  nest.first = first;
  nest.last = last;
  nest.loops = std::move(loops);
  return nest;
}

TEST(TimeTilingTest, NestsOfAScheduleAreMade) {
  Builder b = makeTwo();
  const NamedDims names{{"rows", {0, 0}}};
  for (ScheduledDim dim : {ScheduledDim{1, 0, ""}, ScheduledDim{0, 0, "rows"}}) {
    auto found = findNests(b.problem, {makePinned(0, 1, {{dim, 256}})}, names);
    ASSERT_EQ(found.index(), 0u) << std::get<1>(found).front().message;
    ASSERT_EQ(std::get<0>(found).size(), 1u);
    EXPECT_EQ(std::get<0>(found).front().numTrips, std::vector<int64_t>{256});
  }
  // What they make of it says the same again.
  std::vector<Nest> best = findNests(b.problem);
  ASSERT_EQ(best.size(), 1u);
  auto again = findNests(b.problem, {describe(best.front())}, {});
  ASSERT_EQ(again.index(), 0u);
  EXPECT_EQ(std::get<0>(again).front().numTrips, best.front().numTrips);
  EXPECT_EQ(std::get<0>(again).front().shares, best.front().shares);
  EXPECT_EQ(std::get<0>(again).front().tiledInNs, best.front().tiledInNs);
}

TEST(TimeTilingTest, NamesHoldForWhatIsMadeOfAnArgument) {
  // y is made of x; the nest has neither x nor its own names.
  Builder b(32 << 10);
  unsigned x = b.addValue({8192, 128}, false), y = b.addValue({8192, 128}, true),
           z = b.addValue({8192, 128}, true), out = b.addValue({8192, 128}, false);
  b.addOp({8192, 128}, {{x, {0, 1}}, {y, {0, 1}}});
  b.addOp({8192, 128}, {{y, {0, 1}}, {z, {0, 1}}});
  b.addOp({8192, 128}, {{z, {0, 1}}, {out, {0, 1}}});
  const unsigned other = b.addValue({16}, false);
  const NamedDims names{{"rows", {x, 0}}, {"elsewhere", {other, 0}}};
  auto found = findNests(b.problem, {makePinned(1, 2, {{{0, 0, "rows"}, 256}})}, names);
  ASSERT_EQ(found.index(), 0u) << std::get<1>(found).front().message;
  EXPECT_EQ(std::get<0>(found).front().numTrips, std::vector<int64_t>{256});
  found = findNests(b.problem, {makePinned(1, 2, {{{0, 0, "elsewhere"}, 256}})}, names);
  ASSERT_EQ(found.index(), 1u);
  EXPECT_EQ(std::get<1>(found).front().field, "nests[0].loops[0].dim");
  EXPECT_EQ(std::get<1>(found).front().message, "the operations have no dim that is 'elsewhere'");
}

TEST(TimeTilingTest, WhatAScheduleCannotHaveHasItsReason) {
  Builder b = makeTwo();
  auto getError = [&](ScheduledNest nest) {
    auto found = findNests(b.problem, {nest}, {});
    return found.index() == 0
               ? ""
               : std::get<1>(found).front().field + ": " + std::get<1>(found).front().message;
  };
  EXPECT_EQ(getError(makePinned(0, 2, {})), "nests[0].last: there are 2 operations");
  EXPECT_EQ(getError(makePinned(0, 1, {{{0, 2, ""}, 2}})),
            "nests[0].loops[0].dim: operation 0 has 2 dims");
  EXPECT_EQ(getError(makePinned(0, 0, {{{1, 0, ""}, 2}})),
            "nests[0].loops[0].dim: operation 1 is not one of the nest");
  EXPECT_EQ(getError(makePinned(0, 1, {{{0, 1, ""}, 3}})),
            "nests[0].loops[0].tiles: the dim can be cut into 2 tiles");
  ScheduledNest shared = makePinned(0, 1, {});
  shared.cores = {{{0, 0, ""}, 64}};
  EXPECT_EQ(getError(shared), "nests[0].cores: so many slices need 64 cores, of 32");
  shared.cores = {{{0, 0, ""}, 4}, {{1, 0, ""}, 4}};
  EXPECT_EQ(getError(shared), "nests[0].cores: both are along the same dim of the data");
}

TEST(TimeTilingTest, MoreTimeIsNotWorse) {
  for (double seconds : {0.0, 1e-9, 10.0}) {
    Builder b(7 << 18);
    addHeads(b, 8, 2048, 128);
    auto getSaved = [&] {
      double ns = 0;
      for (const Nest &nest : findNests(b.problem))
        ns += nest.untiledInNs - nest.tiledInNs;
      return ns;
    };
    const double usual = getSaved();
    b.problem.secondsInAddition = seconds;
    EXPECT_GE(getSaved(), usual * (1 - 1e-9)) << seconds;
  }
}

} // namespace
