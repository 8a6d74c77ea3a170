//===- EmitExecuteTest.cpp - Descriptors find every element ---------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks emitted descriptors the way a device does
// (docs/formats/superdsc-rules.md, section 9) over random views, layouts, splits and
// loops: at every point of the iteration space the operands must be read and written
// where their layouts put the elements that the access maps name.
//
//===----------------------------------------------------------------------===//

#include "../Layout/RandomViews.h"

#include "spyre/SuperDSC/Emit.h"
#include "spyre/SuperDSC/Verify.h"

#include <gtest/gtest.h>

#include <set>

using namespace spyre;
using namespace spyre::sdsc;
using namespace spyre::layout;
using test::Generator;
using test::Shape;

namespace {

/// Offset of element \p index (one number a dim of the descriptor) of a core's
/// slice from the core's start address.
int64_t getOffset(const Descriptor &descriptor, const Tensor &tensor, const Shape &index) {
  const LayoutClass *label = nullptr;
  for (const LayoutClass &candidate : descriptor.layouts)
    if (candidate.label == tensor.label)
      label = &candidate;
  int64_t unit = kStickInBytes, offset = 0;
  for (const std::string &name : tensor.dimOrder) {
    unsigned dim = *descriptor.findDim(name);
    size_t position = size_t(std::find(label->dimOrder.begin(), label->dimOrder.end(), name) -
                             label->dimOrder.begin());
    if (tensor.scale[position] != 1)
      continue;
    int64_t extent = tensor.component == spyre::MemorySpace::LX ? descriptor.dims[dim].coreSize
                                                                : descriptor.dims[dim].size;
    for (const auto &[gapName, gaps] : tensor.backGap)
      if (gapName == name)
        extent += gaps.front();
    if (name == label->stickDims.front()) {
      int64_t elements = label->stickSizes.front();
      offset += index[dim] / elements * unit + index[dim] % elements * tensor.wordLength;
      unit *= (extent + elements - 1) / elements;
    } else {
      offset += index[dim] * unit;
      unit *= extent;
    }
  }
  return offset;
}

/// All points of all cores as the operands' addresses.
std::set<Shape> execute(const Descriptor &descriptor) {
  std::set<Shape> points;
  Shape sizes;
  for (const Dim &dim : descriptor.dims)
    sizes.push_back(dim.coreSize);
  for (int64_t core = 0; core < descriptor.numCores; ++core)
    test::forEachPoint(sizes, [&](const Shape &index) {
      Shape addresses;
      for (const Tensor &tensor : descriptor.tensors)
        addresses.push_back(tensor.startAddress[size_t(core)] +
                            getOffset(descriptor, tensor, index));
      points.insert(std::move(addresses));
    });
  return points;
}

/// The same from the layouts and access maps alone.
std::set<Shape> enumerate(const EmitOp &op) {
  std::set<Shape> points;
  Shape extents;
  for (const EmitDim &dim : op.dims)
    extents.push_back(dim.extent);
  test::forEachPoint(extents, [&](Shape point) {
    point.insert(point.end(), op.iteration.begin(), op.iteration.end());
    point.resize(op.dims.size() + op.numLoops, 0);
    Shape addresses;
    for (const EmitOperand &operand : op.operands)
      addresses.push_back(
          operand.addressInBytes +
          layout::getDeviceOffset(operand.layout, layout::evaluate(operand.access, point)) *
              getWidthInBytes(operand.layout.format));
    points.insert(std::move(addresses));
  });
  return points;
}

struct Counts {
  int emitted = 0, refused = 0, divided = 0;
};

void check(const EmitOp &op, Counts &counts) {
  auto answer = emitDescriptor(op, 0);
  if (std::holds_alternative<EmitError>(answer)) {
    ++counts.refused;
    return;
  }
  ++counts.emitted;
  const Descriptor &descriptor = std::get<EmittedOp>(answer).descriptor;
  counts.divided += descriptor.numCores > 1;
  std::set<Shape> executed = execute(descriptor), expected = enumerate(op);
  // Padding adds points, it takes none away.
  ASSERT_TRUE(std::includes(executed.begin(), executed.end(), expected.begin(), expected.end()))
      << "executed " << executed.size() << " points, expected " << expected.size();
  int64_t unpadded = 1, padded = 1;
  for (const EmitDim &dim : op.dims)
    unpadded *= dim.extent;
  for (const Dim &dim : descriptor.dims)
    padded *= dim.size;
  if (padded == unpadded)
    ASSERT_EQ(executed, expected);
}

Shape getDivisors(int64_t value) {
  Shape divisors;
  for (int64_t d = 1; d <= value; ++d)
    if (value % d == 0)
      divisors.push_back(d);
  return divisors;
}

TEST(EmitExecute, RandomViewsAndSplits) {
  Generator generator(31);
  Counts counts;
  for (int round = 0; round < 1200; ++round) {
    // One input is a view, the other and the output are whole tensors; formats
    // are equal, so that whole dims have whole sticks.
    test::View view = generator.makeBase(generator.makeShape(3, 1000));
    for (int depth = 0; depth < 2; ++depth)
      if (auto next = generator.step(view))
        view = std::move(*next);
    EmitOp op;
    op.opFunc = "add";
    for (int64_t extent : view.shape)
      op.dims.push_back({extent, generator.pickOne(getDivisors(extent)), false});
    if (!op.dims.empty() && generator.flip(30)) {
      int64_t sticks = (op.dims.back().extent + 63) / 64;
      op.dims.back().split = generator.pickOne(getDivisors(sticks));
    }
    auto addOperand = [&](const Shape &shape, const IndexMap &access) {
      EmitOperand operand;
      operand.layout = generator.makeLayout(shape);
      operand.layout.format = DataFormat::SEN169_FP16;
      operand.layout.stick.clear();
      if (generator.flip(60))
        operand.layout.dimOrder = getDefaultLayout(shape, DataFormat::SEN169_FP16).dimOrder;
      operand.access = access;
      operand.addressInBytes = int64_t(op.operands.size()) << 34;
      op.operands.push_back(std::move(operand));
    };
    addOperand(view.base, view.map);
    addOperand(view.shape, makeIdentity(view.shape));
    addOperand(view.shape, makeIdentity(view.shape));
    ASSERT_NO_FATAL_FAILURE(check(op, counts)) << "round " << round;
  }
  EXPECT_GT(counts.emitted, 200);
  EXPECT_GT(counts.divided, 50);
  std::cout << counts.emitted << " emitted, " << counts.refused << " refused\n";
}

TEST(EmitExecute, LoopsOverTiles) {
  // An operation on tiles of larger tensors, at each iteration of its loops.
  Generator generator(32);
  Counts counts;
  for (int round = 0; round < 60; ++round) {
    Shape tile{generator.pick(1, 6), generator.pick(1, 4), 64 * generator.pick(1, 2)};
    Shape trips{generator.pick(1, 3), generator.pick(1, 3)};
    std::vector<unsigned> dims{unsigned(generator.pick(0, 2)), unsigned(generator.pick(0, 2))};
    EmitOp op;
    op.opFunc = "exp";
    op.numLoops = 2;
    Shape whole = tile, extents = tile;
    IndexMap access;
    for (unsigned d = 0; d < 3; ++d) {
      op.dims.push_back(
          {tile[d], generator.pickOne(getDivisors(d == 2 ? tile[d] / 64 : tile[d])), false});
      access.results.push_back(makeInput(d));
    }
    for (unsigned l = 0; l < 2; ++l) {
      access.results[dims[l]].digits.push_back({3 + l, 1, 0, whole[dims[l]]});
      whole[dims[l]] *= trips[l];
      extents.push_back(trips[l]);
    }
    access.extents = extents;
    for (int i = 0; i < 2; ++i) {
      EmitOperand operand;
      operand.layout = getDefaultLayout(whole, DataFormat::SEN169_FP16);
      std::shuffle(operand.layout.dimOrder.begin(), operand.layout.dimOrder.end() - 1,
                   generator.random);
      operand.access = access;
      operand.addressInBytes = int64_t(i) << 34;
      op.operands.push_back(std::move(operand));
    }
    // Kept loops: the first iteration plus the strides is any iteration.
    auto kept = emitDescriptor(op, 0);
    ASSERT_TRUE(std::holds_alternative<EmittedOp>(kept)) << std::get<EmitError>(kept).message;
    const EmittedOp &loop = std::get<EmittedOp>(kept);
    for (int64_t i = 0; i < trips[0]; ++i)
      for (int64_t j = 0; j < trips[1]; ++j) {
        op.iteration = {i, j};
        Descriptor descriptor = loop.descriptor;
        for (size_t t = 0; t < 2; ++t)
          for (int64_t &address : descriptor.tensors[t].startAddress)
            address += i * loop.loopStrideInBytes[t][0] + j * loop.loopStrideInBytes[t][1];
        std::set<Shape> expected = enumerate(op);
        ASSERT_EQ(execute(descriptor), expected) << "round " << round;
        ASSERT_NO_FATAL_FAILURE(check(op, counts)) << "round " << round;
      }
    op.iteration.clear();
  }
  EXPECT_EQ(counts.refused, 0);
}

TEST(EmitExecute, ContractionsAndReductions) {
  Generator generator(33);
  Counts counts;
  for (int round = 0; round < 60; ++round) {
    bool isMatmul = generator.flip();
    EmitOp op;
    op.opFunc = isMatmul ? "batchmatmul" : "sum";
    op.isReduction = true;
    Shape extents{generator.pick(1, 2), generator.pick(1, 3), 32 * generator.pick(1, 4),
                  32 * generator.pick(1, 4)};
    // Batch, M, N, K; a reduction has no N. K of the second operand is padded.
    int64_t sticksK = (extents[3] + 63) / 64, sticksN = (extents[2] + 63) / 64;
    if (!isMatmul)
      extents[2] = 1;
    op.dims = {{extents[0], generator.pickOne(getDivisors(extents[0])), false},
               {extents[1], generator.pickOne(getDivisors(extents[1])), false},
               {extents[2], isMatmul ? generator.pickOne(getDivisors(sticksN)) : 1, false},
               {extents[3], generator.pickOne(getDivisors(sticksK)), false}};
    auto addOperand = [&](std::vector<unsigned> dims, bool isSparse, int padded) {
      EmitOperand operand;
      Shape shape;
      operand.access.extents = extents;
      for (unsigned dim : dims) {
        shape.push_back(extents[dim]);
        operand.access.results.push_back(makeInput(dim));
      }
      operand.layout = isSparse ? getSparseLayout(shape, DataFormat::SEN169_FP16)
                                : getDefaultLayout(shape, DataFormat::SEN169_FP16);
      if (padded != -1) {
        operand.layout.paddedShape = shape;
        operand.layout.paddedShape[size_t(padded)] = sticksK * 64;
      }
      std::shuffle(operand.layout.dimOrder.begin(),
                   operand.layout.dimOrder.end() - (isSparse ? 2 : 1), generator.random);
      operand.addressInBytes = int64_t(op.operands.size()) << 34;
      op.operands.push_back(std::move(operand));
    };
    addOperand({0, 1, 3}, false, -1);
    if (isMatmul)
      addOperand({0, 3, 2}, false, 1);
    if (isMatmul)
      addOperand({0, 1, 2}, false, -1);
    else
      addOperand({0, 1}, true, -1);
    ASSERT_NO_FATAL_FAILURE(check(op, counts)) << "round " << round;
  }
  EXPECT_GT(counts.emitted, 50);
}

} // namespace
