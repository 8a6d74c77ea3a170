//===- EmitTest.cpp - The emission's own rules and refusals ---------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the reference cases do not show: splits in sticks, kept unit dims,
// trivial contractions, strides of loops in LX, and every refusal with its
// message. Start addresses are checked against the layout, element by element.
//
//===----------------------------------------------------------------------===//

#include "spyre/SuperDSC/Emit.h"

#include <gtest/gtest.h>

#include <chrono>

using namespace spyre;
using namespace spyre::sdsc;
using namespace spyre::layout;

namespace {

using Shape = std::vector<int64_t>;

EmitOperand makeOperand(TensorLayout layout, IndexMap access, int64_t address) {
  EmitOperand operand;
  operand.layout = std::move(layout);
  operand.access = std::move(access);
  operand.addressInBytes = address;
  return operand;
}

/// A pointwise operation on whole tensors.
EmitOp makePointwise(const std::string &name, const Shape &shape, const Shape &splits,
                     unsigned numInputs, DataFormat format = DataFormat::SEN169_FP16) {
  EmitOp op;
  op.opFunc = name;
  for (size_t i = 0; i < shape.size(); ++i)
    op.dims.push_back({shape[i], splits[i], false});
  for (unsigned i = 0; i <= numInputs; ++i)
    op.operands.push_back(
        makeOperand(getDefaultLayout(shape, format), makeIdentity(shape), int64_t(i) << 34));
  return op;
}

EmitOp makeMatmul(const Shape &mnk, const Shape &splits) {
  EmitOp op;
  op.opFunc = "batchmatmul";
  op.isReduction = true;
  for (size_t i = 0; i < 3; ++i)
    op.dims.push_back({mnk[i], splits[i], false});
  auto add = [&](unsigned a, unsigned b) {
    op.operands.push_back(makeOperand(getDefaultLayout({mnk[a], mnk[b]}, DataFormat::SEN169_FP16),
                                      {mnk, {makeInput(a), makeInput(b)}},
                                      int64_t(op.operands.size()) << 34));
  };
  add(0, 2);
  add(2, 1);
  add(0, 1);
  return op;
}

EmittedOp emit(const EmitOp &op) {
  auto answer = emitDescriptor(op, 0);
  if (auto *error = std::get_if<EmitError>(&answer)) {
    ADD_FAILURE() << error->message;
    return {};
  }
  return std::get<EmittedOp>(answer);
}

std::string getError(const EmitOp &op, int operand) {
  auto answer = emitDescriptor(op, 0);
  auto *error = std::get_if<EmitError>(&answer);
  if (!error)
    return "no error";
  EXPECT_EQ(error->operand, operand);
  return error->message;
}

TEST(Emit, SplitOfAnUnalignedStickDimIsKept) {
  // 130 elements are three sticks; gcd(3, 130) is 1.
  EmittedOp emitted = emit(makePointwise("exp", {130}, {3}, 1));
  ASSERT_EQ(emitted.descriptor.dims.size(), 1u);
  EXPECT_EQ(emitted.descriptor.dims[0].numSlices, 3);
  EXPECT_EQ(emitted.descriptor.dims[0].size, 192);
  EXPECT_EQ(emitted.descriptor.tensors[0].startAddress, (Shape{0, 128, 256}));
}

TEST(Emit, ContractionOfOneElementIsAProduct) {
  EmitOp op = makeMatmul({64, 128, 1}, {4, 1, 1});
  op.operands[0].layout = getSparseLayout({64, 1}, DataFormat::SEN169_FP16);
  EmittedOp emitted = emit(op);
  EXPECT_EQ(emitted.descriptor.opFunc, "mul");
  EXPECT_EQ(emitted.descriptor.executionUnit, "sfp");
  EXPECT_EQ(emitted.descriptor.dims.size(), 2u);
}

TEST(Emit, CoresOfOneContractionAreNeighbours) {
  EmittedOp emitted = emit(makeMatmul({128, 128, 128}, {2, 2, 2}));
  EXPECT_EQ(emitted.descriptor.coreOrder, (std::vector<unsigned>{2, 0, 1}));
  EXPECT_EQ(emitted.descriptor.coreToSlice[1], (Shape{0, 0, 1}));
  EmitOp op = makeMatmul({128, 128, 128}, {2, 2, 2});
  op.kFastCoreOrder = false;
  EXPECT_EQ(emit(op).descriptor.coreToSlice[1], (Shape{1, 0, 0}));
}

TEST(Emit, KeptUnitDim) {
  // x [1,128,512], outermost dim first in memory, times y [512,256].
  EmitOp op;
  op.opFunc = "batchmatmul";
  op.isReduction = true;
  Shape extents{1, 128, 256, 512};
  op.dims = {{1, 1, true}, {128, 8, false}, {256, 4, false}, {512, 1, false}};
  TensorLayout x = getDefaultLayout({1, 128, 512}, DataFormat::SEN169_FP16);
  x.dimOrder = {1, 0, 2};
  TensorLayout out = getDefaultLayout({1, 128, 256}, DataFormat::SEN169_FP16);
  out.dimOrder = {1, 0, 2};
  op.operands = {makeOperand(x, {extents, {makeInput(0), makeInput(1), makeInput(3)}}, 0),
                 makeOperand(getDefaultLayout({512, 256}, DataFormat::SEN169_FP16),
                             {extents, {makeInput(3), makeInput(2)}}, 0),
                 makeOperand(out, {extents, {makeInput(0), makeInput(1), makeInput(2)}}, 0)};
  EmittedOp emitted = emit(op);
  ASSERT_EQ(emitted.descriptor.dims.size(), 4u);
  EXPECT_EQ(emitted.descriptor.dims[0].name, "x");
  EXPECT_EQ(emitted.descriptor.layouts[0].dimOrder, (std::vector<std::string>{"mb", "in", "x"}));
  // Without the mark it vanishes.
  op.dims[0].keepUnit = false;
  EXPECT_EQ(emit(op).descriptor.dims.size(), 3u);
}

TEST(Emit, KeptUnitDimInTheStick) {
  // x [64,128] times y [128,1]: the generated dim is padded to a stick.
  EmitOp op = makeMatmul({64, 1, 128}, {1, 1, 1});
  op.dims[1].keepUnit = true;
  EmittedOp emitted = emit(op);
  ASSERT_EQ(emitted.descriptor.dims.size(), 3u);
  EXPECT_EQ(emitted.descriptor.dims[1].name, "out");
  EXPECT_EQ(emitted.descriptor.dims[1].size, 64);
  EXPECT_EQ(emitted.descriptor.layouts[1].stickDims, (std::vector<std::string>{"out"}));
  EXPECT_EQ(emitted.descriptor.layouts[1].dimOrder, (std::vector<std::string>{"in", "out"}));
}

TEST(Emit, LoopStrides) {
  // 512 rows of [1024,256]: device [4,1024,64].
  EmitOp op = makePointwise("exp", {512, 256}, {2, 1}, 1);
  op.numLoops = 1;
  Shape extents{512, 256, 2};
  IndexMap tile{extents, {{{{0, 1, 0, 1}, {2, 1, 0, 512}}, 0}, makeInput(1)}};
  for (EmitOperand &operand : op.operands) {
    operand.layout.shape = {1024, 256};
    operand.access = tile;
  }
  EmittedOp emitted = emit(op);
  EXPECT_EQ(emitted.loopStrideInBytes, (std::vector<Shape>{{65536}, {65536}}));
  EXPECT_EQ(emitted.descriptor.tensors[0].backGap[0].second, (Shape{512}));
  EXPECT_EQ(emitted.descriptor.tensors[0].startAddress, (Shape{0, 256 * 128}));
  // The second iteration of the unrolled loop.
  op.iteration = {1};
  emitted = emit(op);
  EXPECT_EQ(emitted.descriptor.tensors[0].startAddress, (Shape{65536, 65536 + 256 * 128}));
}

TEST(Emit, LoopStridesInLXFollowTheCoresSlices) {
  // [4,512,256] in LX, 512 rows on 8 cores, a loop over the leading dim: a core
  // holds 64 rows, the leading dim is innermost in memory.
  EmitOp op = makePointwise("exp", {512, 256}, {8, 1}, 1);
  op.numLoops = 1;
  Shape extents{512, 256, 4};
  for (EmitOperand &operand : op.operands) {
    operand.layout = getDefaultLayout({4, 512, 256}, DataFormat::SEN169_FP16);
    operand.layout.dimOrder = {1, 0, 2}; // device [4, 4, 512, 64]
    operand.access = {extents, {makeInput(2), makeInput(0), makeInput(1)}};
    operand.space = spyre::PlacementKind::LX;
  }
  EmittedOp emitted = emit(op);
  // One step is 4 sticks a row, 64 rows a core.
  EXPECT_EQ(emitted.loopStrideInBytes, (std::vector<Shape>{{4 * 64 * 128}, {4 * 64 * 128}}));
  op.operands[0].space = spyre::PlacementKind::HBM;
  emitted = emit(op);
  EXPECT_EQ(emitted.loopStrideInBytes, (std::vector<Shape>{{4 * 512 * 128}, {4 * 64 * 128}}));
}

TEST(Emit, MaskOfAReducedPaddedStick) {
  EmitOp op;
  op.opFunc = "mean";
  op.constants = {{"scaling_factor", 0.01}};
  op.isReduction = true;
  op.dims = {{64, 8, false}, {100, 1, false}};
  Shape extents{64, 100};
  op.operands = {
      makeOperand(getDefaultLayout({64, 100}, DataFormat::SEN169_FP16), makeIdentity(extents), 0),
      makeOperand(getSparseLayout({64}, DataFormat::SEN169_FP16), {extents, {makeInput(0)}}, 0)};
  EmittedOp emitted = emit(op);
  ASSERT_EQ(emitted.descriptor.masks.size(), 1u);
  EXPECT_EQ(emitted.descriptor.masks[0].firstInvalid, 100);
  EXPECT_EQ(emitted.descriptor.masks[0].count, 28);
  EXPECT_EQ(emitted.descriptor.maskConstant, 1);
  EXPECT_EQ(emitted.descriptor.constants[1].name, "samv-maskvalue");
  op.constants.clear();
  EXPECT_EQ(getError(op, -1), "'mean' takes the constants (scaling_factor) in this order");
}

TEST(Emit, CopiesOfIntegersRunAsFloats) {
  EmittedOp emitted = emit(makePointwise("identity", {64, 64}, {1, 1}, 1, DataFormat::IEEE_INT32));
  EXPECT_EQ(emitted.descriptor.format, DataFormat::IEEE_FP32);
  EXPECT_EQ(emitted.descriptor.tensors[0].format, DataFormat::IEEE_FP32);
}

TEST(Emit, Refusals) {
  EXPECT_EQ(getError(makePointwise("expo", {64}, {1}, 1), -1),
            "the OpFunc table has no operation called 'expo'");
  EXPECT_EQ(getError(makePointwise("conv2d", {64}, {1}, 1), -1),
            "the operation 'conv2d' is known by name only; its meaning is not public");
  EXPECT_EQ(getError(makePointwise("add", {64}, {1}, 1), -1), "'add' takes 2 inputs, not 1");
  EXPECT_EQ(getError(makePointwise("exp", {67, 64}, {2, 1}, 1), -1),
            "iteration dim 0 (extent 67) cannot be split in 2 equal slices");
  EXPECT_EQ(
      getError(makePointwise("exp", {2, 2, 2, 2, 2, 2, 2, 2, 64}, {1, 1, 1, 1, 1, 1, 1, 1, 1}, 1),
               -1),
      "the operation needs 9 dims, which is not supported: SuperDSC has names for 8");

  // A slice that starts inside a stick, and one that stays inside of it.
  EmitOp op = makePointwise("exp", {64, 64}, {1, 1}, 1);
  op.operands[0].layout.shape = {64, 128};
  op.operands[0].access.results[1] = makeInput(1, 1, 32);
  EXPECT_EQ(getError(op, 0),
            "dim 1 is accessed at d1 + 32, which starts or splits inside a stick of 64 elements");
  op = makePointwise("exp", {64, 32}, {1, 1}, 1);
  op.operands[0].layout.shape = {64, 128};
  op.operands[0].access.results[1] = makeInput(1, 1, 32);
  EXPECT_EQ(
      getError(op, 0),
      "the stick is accessed at d1 + 32: a slice must start on a stick and have no gaps in it");
  // Out of bounds.
  op = makePointwise("exp", {64, 64}, {1, 1}, 1);
  op.operands[1].access.results[0] = makeInput(0, 1, 1);
  EXPECT_EQ(getError(op, 1), "dim 0 is accessed from 1 to 64, its extent in memory is 64");
  // A diagonal.
  op = makePointwise("exp", {64, 64}, {1, 1}, 1);
  op.operands[0].layout.shape = {64, 64, 64};
  op.operands[0].layout.dimOrder = {0, 1, 2};
  op.operands[0].access.results = {makeInput(0), makeInput(0), makeInput(1)};
  EXPECT_EQ(getError(op, 0), "two dims of the operand are accessed by one loop dim (a diagonal)");
  // Not a layout.
  op = makePointwise("exp", {64, 64}, {1, 1}, 1);
  op.operands[0].layout.dimOrder = {0, 0};
  EXPECT_EQ(getError(op, 0), "the layout is not valid: the dim order names dim 0 twice");
  // The second operand of an 8-bit contraction.
  op = makeMatmul({64, 128, 128}, {1, 1, 1});
  op.opFunc = "batchmatmulfp8";
  EXPECT_EQ(getError(op, 1), "the second operand of 'batchmatmulfp8' needs a stick of two dims, "
                             "[reduction 2, generated 64]");
  // Half a stick a core: the output is cut where the input is not.
  op = makePointwise("exp", {64, 96}, {1, 3}, 1);
  EXPECT_EQ(getError(op, -1), "iteration dim 1 (extent 96) cannot be split in 3 equal slices");
}

TEST(Emit, HundredsInMilliseconds) {
  EmitOp op = makeMatmul({512, 4096, 4096}, {4, 8, 1});
  auto start = std::chrono::steady_clock::now();
  size_t cores = 0;
  for (int i = 0; i < 500; ++i)
    cores += std::get<EmittedOp>(emitDescriptor(op, i)).descriptor.coreToSlice.size();
  auto elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(cores, 16000u);
  // About 10 ms; generous, since the machine may be busy.
  EXPECT_LT(std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count(), 1000);
  std::cout << std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count() / 500
            << " us a descriptor\n";
}

} // namespace
