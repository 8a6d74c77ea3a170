//===- TimeTilingTest.cpp - Tiles of operations over time ------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/TimeTiling.h"

#include <gtest/gtest.h>

using namespace spyre;
using namespace spyre::planning;

namespace {

constexpr unsigned kUnit = ~0u; ///< the only element along a logical dim

/// A problem of f16 tensors, written down operation by operation.
struct Builder {
  TilingProblem problem;

  explicit Builder(int64_t scratchpadInBytes) {
    problem.numCores = 32;
    problem.scratchpadInBytes = scratchpadInBytes;
    problem.memoryInBytesPerNs = 150;
    problem.macsPerNs = 1140;
  }

  unsigned addValue(std::vector<int64_t> shape, bool isInternal) {
    TilingValue value;
    value.sizeInBytes = 2;
    for (int64_t size : shape)
      value.sizeInBytes *= size;
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
  TilingOp &addOp(std::vector<int64_t> extents, std::vector<Ref> refs, unsigned stickDim) {
    TilingOp op;
    for (const Ref &ref : refs) {
      TilingOperand operand{ref.value, {extents, {}}, &ref == &refs.back()};
      for (unsigned dim : ref.dims)
        operand.map.results.push_back(dim == kUnit ? layout::makeConstant(0)
                                                   : layout::makeInput(dim));
      op.operands.push_back(std::move(operand));
    }
    op.units.assign(extents.size(), 1);
    op.units[stickDim] = 64;
    problem.ops.push_back(std::move(op));
    return problem.ops.back();
  }

  /// x - max x of each row, exponential, its sum, quotient: [rows, columns].
  void addSoftmax(unsigned x, unsigned out, int64_t rows, int64_t columns) {
    unsigned m = addValue({rows, 1}, true), s = addValue({rows, columns}, true),
             e = addValue({rows, columns}, true), l = addValue({rows, 1}, true);
    std::vector<int64_t> extents{rows, columns};
    addOp(extents, {{x, {0, 1}}, {m, {0, kUnit}}}, 1);
    addOp(extents, {{x, {0, 1}}, {m, {0, kUnit}}, {s, {0, 1}}}, 1);
    addOp(extents, {{s, {0, 1}}, {e, {0, 1}}}, 1);
    addOp(extents, {{e, {0, 1}}, {l, {0, kUnit}}}, 1);
    addOp(extents, {{e, {0, 1}}, {l, {0, kUnit}}, {out, {0, 1}}}, 1);
  }
};

TEST(TimeTilingTest, RowsOfASoftmax) {
  Builder b(1 << 20);
  unsigned x = b.addValue({8192, 16384}, false), out = b.addValue({8192, 16384}, false);
  b.addSoftmax(x, out, 8192, 16384);
  std::vector<Nest> nests = findNests(b.problem);
  ASSERT_EQ(nests.size(), 1u);
  const Nest &nest = nests.front();
  EXPECT_EQ(nest.first, 0u);
  EXPECT_EQ(nest.last, 4u);
  ASSERT_EQ(nest.loops.size(), 1u);
  EXPECT_EQ(nest.loops[0].dims, std::vector<unsigned>(5, 0));
  EXPECT_EQ(nest.numCores, 32);
  // Three rows of 32 KiB a core at a time would be the most: x, x - max and the exponential.
  EXPECT_GE(nest.getNumTiles(), 8192 / 32 / 10);
  EXPECT_EQ(8192 % (nest.getNumTiles() * 32), 0);
  // x is loaded once; all between stays.
  ASSERT_EQ(nest.tiles.size(), 5u);
  EXPECT_TRUE(nest.tiles[0].isLoaded);
  EXPECT_NEAR(nest.tiledInNs, 2.0 * 8192 * 16384 * 2 / 150, 1);
}

TEST(TimeTilingTest, WhatFitsIsOnlyLoaded) {
  Builder b(1 << 20);
  unsigned x = b.addValue({512, 1024}, false), out = b.addValue({512, 1024}, false);
  b.addSoftmax(x, out, 512, 1024);
  std::vector<Nest> nests = findNests(b.problem);
  ASSERT_EQ(nests.size(), 1u);
  EXPECT_TRUE(nests[0].loops.empty());
  EXPECT_TRUE(nests[0].tiles[0].isLoaded);
}

TEST(TimeTilingTest, NothingToGain) {
  // One operation, and a pair whose value fits.
  Builder b(1 << 20);
  unsigned x = b.addValue({512, 1024}, false), y = b.addValue({512, 1024}, true),
           out = b.addValue({512, 1024}, false);
  b.addOp({512, 1024}, {{x, {0, 1}}, {y, {0, 1}}}, 1);
  b.addOp({512, 1024}, {{y, {0, 1}}, {out, {0, 1}}}, 1);
  EXPECT_TRUE(findNests(b.problem).empty());
}

TEST(TimeTilingTest, ColumnsThatAreReducedAreNoDim) {
  // The second operation reads the transposed value: no dim is the same in both.
  Builder b(1 << 16);
  unsigned x = b.addValue({4096, 4096}, false), y = b.addValue({4096, 4096}, true),
           out = b.addValue({4096, 64}, false);
  b.addOp({4096, 4096}, {{x, {0, 1}}, {y, {0, 1}}}, 1);
  // out[a, b] = sum over c of y[c, a] ...: y's rows are reduced, its columns are kept.
  b.addOp({4096, 64, 4096}, {{y, {2, 0}}, {x, {2, 1}}, {out, {0, 1}}}, 1);
  for (const Nest &nest : findNests(b.problem))
    if (nest.first == 0 && nest.last == 1)
      for (const NestLoop &loop : nest.loops)
        EXPECT_EQ(loop.dims, (std::vector<unsigned>{1, 0}));
}

TEST(TimeTilingTest, HeadsOfAttention) {
  // scores = q k, a softmax, times v: the scores of all heads do not fit, those of one do.
  const int64_t heads = 32, length = 2048, width = 128;
  Builder b(1 << 20);
  unsigned q = b.addValue({heads, length, width}, false),
           k = b.addValue({heads, width, length}, false),
           v = b.addValue({heads, length, width}, false),
           out = b.addValue({heads, length, width}, false),
           s = b.addValue({heads, length, length}, true),
           e = b.addValue({heads, length, length}, true);
  TilingOp &scores =
      b.addOp({heads, length, length, width}, {{q, {0, 1, 3}}, {k, {0, 3, 2}}, {s, {0, 1, 2}}}, 2);
  scores.macs = heads * length * length * width;
  b.addOp({heads, length, length}, {{s, {0, 1, 2}}, {e, {0, 1, 2}}}, 2);
  TilingOp &product = b.addOp({heads, length, width, length},
                              {{e, {0, 1, 3}}, {v, {0, 3, 2}}, {out, {0, 1, 2}}}, 2);
  product.macs = heads * length * length * width;
  product.units[3] = 64;
  std::vector<Nest> nests = findNests(b.problem);
  ASSERT_EQ(nests.size(), 1u);
  EXPECT_EQ(nests[0].last, 2u);
  EXPECT_EQ(nests[0].loops[0].dims, std::vector<unsigned>(3, 0));
  EXPECT_EQ(nests[0].tiles.size(), 2u);
  for (const std::optional<unsigned> &dim : nests[0].coreDims)
    EXPECT_EQ(dim, 1u); // rows
}

TEST(TimeTilingTest, HeadsAndRows) {
  // The scores of one head do not fit either.
  const int64_t heads = 8, length = 8192, width = 128;
  Builder b(1 << 20);
  unsigned q = b.addValue({heads, length, width}, false),
           k = b.addValue({heads, width, length}, false),
           v = b.addValue({heads, length, width}, false),
           out = b.addValue({heads, length, width}, false),
           s = b.addValue({heads, length, length}, true);
  b.addOp({heads, length, length, width}, {{q, {0, 1, 3}}, {k, {0, 3, 2}}, {s, {0, 1, 2}}}, 2);
  TilingOp &product = b.addOp({heads, length, width, length},
                              {{s, {0, 1, 3}}, {v, {0, 3, 2}}, {out, {0, 1, 2}}}, 2);
  product.units[3] = 64;
  std::vector<Nest> nests = findNests(b.problem);
  ASSERT_EQ(nests.size(), 1u);
  const Nest &nest = nests.front();
  // All heads, so that no tile reads keys again for its head, and as few tiles of rows as fit.
  ASSERT_EQ(nest.loops.size(), 2u);
  EXPECT_EQ(nest.loops[0].dims, std::vector<unsigned>(2, 0));
  EXPECT_EQ(nest.loops[0].numTrips, 8);
  EXPECT_EQ(nest.loops[1].dims, std::vector<unsigned>(2, 1));
  EXPECT_EQ(nest.loops[1].numTrips, 4);
  ASSERT_EQ(nest.tiles.size(), 1u);
  EXPECT_EQ(nest.tiles[0].dims, (std::vector<unsigned>{0, 1}));
}

TEST(TimeTilingTest, ValuesThatOthersRead) {
  // y is read by the next operation and leaves: a tile, and a copy of it.
  Builder b(1 << 20);
  unsigned x = b.addValue({65536, 4096}, false), y = b.addValue({65536, 4096}, false),
           z = b.addValue({65536, 4096}, false);
  b.addOp({65536, 4096}, {{x, {0, 1}}, {y, {0, 1}}}, 1);
  b.addOp({65536, 4096}, {{y, {0, 1}}, {z, {0, 1}}}, 1);
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
    b.addOp({rows, 5040}, {{x, {0, 1}}, {y, {0, 1}}}, 1);
    b.addOp({rows, 5040}, {{y, {0, 1}}, {x, {0, 1}}, {out, {0, 1}}}, 1);
    for (const Nest &nest : findNests(b.problem))
      for (const NestLoop &loop : nest.loops)
        EXPECT_LE(loop.numTrips, 1 << 16);
  }
}

TEST(TimeTilingTest, EmptyAndTiny) {
  Builder b(1 << 20);
  EXPECT_TRUE(findNests(b.problem).empty());
  unsigned x = b.addValue({1}, false), y = b.addValue({1}, false);
  b.addOp({1}, {{x, {kUnit}}, {y, {kUnit}}}, 0);
  EXPECT_TRUE(findNests(b.problem).empty());
}

} // namespace
