//===- MachineTest.cpp - The machine without MLIR ---------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formats, sets, nests and memories against plain loops and brute force.
//
//===----------------------------------------------------------------------===//

#include "spyre/KTIRExecutor/Machine/Machine.h"
#include "spyre/KTIRExecutor/Machine/Loops.h"
#include "spyre/KTIRExecutor/Machine/Memory.h"
#include "spyre/KTIRExecutor/Machine/Program.h"
#include "spyre/Numerics/DL16.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace spyre;
using namespace spyre::ktir;

namespace {
constexpr Element kDL16{ElementKind::DL16, 16}, kHalf{ElementKind::IEEE16, 16},
    kBF16{ElementKind::BF16, 16}, kInt8{ElementKind::Int, 8};

Expression input(int64_t number, int64_t numInputs) {
  Expression result;
  result.steps = {{Expression::Code::Input, number}};
  result.linear.emplace();
  result.linear->coefficients.assign(numInputs, 0);
  result.linear->coefficients[number] = 1;
  return result;
}

/// sum of factors times inputs, plus a constant.
Expression linear(std::vector<int64_t> factors, int64_t constant) {
  Expression result;
  result.steps = {{Expression::Code::Constant, constant}};
  for (size_t i = 0; i < factors.size(); ++i) {
    result.steps.push_back({Expression::Code::Input, static_cast<int64_t>(i)});
    result.steps.push_back({Expression::Code::Constant, factors[i]});
    result.steps.push_back({Expression::Code::Multiply});
    result.steps.push_back({Expression::Code::Add});
  }
  result.linear = Linear{std::move(factors), constant};
  return result;
}

Map select(std::vector<int64_t> dims, int64_t numDims) {
  Map map;
  map.numInputs = numDims;
  for (int64_t dim : dims)
    map.results.push_back(input(dim, numDims));
  return map;
}

/// 0 <= d[i] < sizes[i].
Set box(Shape sizes) {
  Set set;
  set.numDims = sizes.size();
  set.isBox = true;
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::vector<int64_t> up(sizes.size(), 0), down(sizes.size(), 0);
    up[d] = 1;
    down[d] = -1;
    set.constraints.push_back({linear(up, 0), false});
    set.constraints.push_back({linear(down, sizes[d] - 1), false});
  }
  return set;
}

std::shared_ptr<Tensor> makeRandom(Shape shape, unsigned seed) {
  auto tensor = std::make_shared<Tensor>(kF32, std::move(shape));
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> number(-2, 2);
  for (float &value : tensor->floats)
    value = number(random);
  return tensor;
}

LaneStep step(LaneOp op, uint16_t a, uint16_t b, uint16_t result, bool isUnrounded = false) {
  LaneStep made{};
  made.op = op;
  made.a = a;
  made.b = made.c = b;
  made.result = result;
  made.type = kF32;
  made.isUnrounded = isUnrounded;
  return made;
}

/// out + a * b.
LoopNest makeProduct(std::vector<bool> isReduction, Map a, Map b, Map out) {
  LoopNest nest;
  nest.isReduction = std::move(isReduction);
  nest.numInputs = 2;
  nest.maps = {std::move(a), std::move(b), std::move(out)};
  nest.body.numRegisters = 5;
  nest.body.arguments = {0, 1, 2};
  nest.body.argumentTypes = {kF32, kF32, kF32};
  nest.body.steps = {step(LaneOp::MulF, 0, 1, 3, true), step(LaneOp::AddF, 2, 3, 4, true)};
  nest.body.yielded = {4};
  nest.body.yieldedTypes = {kF32};
  nest.factors[0] = 0;
  nest.factors[1] = 1;
  return nest;
}
} // namespace

TEST(KtirFormats, HalfIsRoundedAsTheProcessorDoes) {
  for (uint32_t bits = 0; bits < 0xffffffffu - 9973; bits += 9973) {
    float value = std::bit_cast<float>(bits);
    if (std::isnan(value))
      continue;
    float rounded = value;
    roundTo(kHalf, &rounded, 1);
    // _Float16 is the compiler's own half.
    ASSERT_EQ(rounded, static_cast<float>(static_cast<_Float16>(value))) << value;
  }
}

TEST(KtirFormats, BytesAndBack) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    uint8_t bytes[2] = {static_cast<uint8_t>(code), static_cast<uint8_t>(code >> 8)}, again[2];
    for (Element element : {kHalf, kBF16, kDL16}) {
      float value;
      decode(element, bytes, &value, 1);
      if (std::isnan(value) || (element == kDL16 && std::isinf(value)) ||
          (element == kDL16 && value == 0))
        continue;
      encode(element, &value, again, 1);
      ASSERT_TRUE(std::equal(bytes, bytes + 2, again)) << code;
    }
    float value;
    decode(kDL16, bytes, &value, 1);
    ASSERT_EQ(value, decodeDL16(static_cast<uint16_t>(code)));
  }
  int64_t numbers[] = {-128, -1, 0, 127}, back[4];
  uint8_t bytes[4];
  encode(kInt8, numbers, bytes, 4);
  decode(kInt8, bytes, back, 4);
  EXPECT_TRUE(std::equal(numbers, numbers + 4, back));
  EXPECT_EQ(wrapTo(kInt8, 130), -126);
  EXPECT_EQ(wrapTo(kBool, 3), 1);
}

TEST(KtirSets, BoundsOfATriangle) {
  // d1 >= 0, d0 - d1 >= 0, s0 - d0 >= 0
  Set set;
  set.numDims = 2;
  set.numSymbols = 1;
  set.constraints = {{linear({0, 1, 0}, 0), false},
                     {linear({1, -1, 0}, 0), false},
                     {linear({-1, 0, 1}, 0), false}};
  auto bounds = set.getBounds(std::vector<int64_t>{7});
  ASSERT_TRUE(bounds);
  EXPECT_EQ((*bounds)[0].lower, 0);
  EXPECT_EQ((*bounds)[0].upper, 7);
  EXPECT_EQ((*bounds)[1].upper, 7);
  int64_t count = 0;
  EXPECT_EQ(forEachRun(set, {7}, select({0, 1}, 2),
                       [&](const Shape &, int64_t, int64_t length) { count += length; }),
            "");
  EXPECT_EQ(count, 36);
  set.constraints.pop_back();
  EXPECT_FALSE(set.getBounds(std::vector<int64_t>{7}));
  EXPECT_EQ(forEachRun(set, {7}, select({0, 1}, 2), [](const Shape &, int64_t, int64_t) {}),
            "a set has no bounds");
}

TEST(KtirSets, PointsComeSortedByTheOrder) {
  Shape sizes{3, 4, 2};
  std::vector<int64_t> dims{0, 1, 2};
  do {
    std::vector<std::pair<Shape, Shape>> expected; // key, point
    for (int64_t a = 0; a < 3; ++a)
      for (int64_t b = 0; b < 4; ++b)
        for (int64_t c = 0; c < 2; ++c) {
          Shape point{a, b, c};
          expected.push_back({{point[dims[0]], point[dims[1]], point[dims[2]]}, point});
        }
    std::sort(expected.begin(), expected.end());
    for (bool isBox : {true, false}) {
      Set set = box(sizes);
      set.isBox = isBox;
      size_t at = 0;
      forEachRun(set, {}, select(dims, 3), [&](const Shape &point, int64_t dim, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          Shape moved = point;
          if (dim >= 0)
            moved[dim] += i;
          ASSERT_LT(at, expected.size());
          EXPECT_EQ(moved, expected[at++].second);
        }
      });
      EXPECT_EQ(at, expected.size());
    }
  } while (std::next_permutation(dims.begin(), dims.end()));
}

TEST(KtirSets, AnOrderThatIsNoPermutation) {
  // Sorted by d1 - d0.
  Map order;
  order.numInputs = 2;
  order.results = {linear({-1, 1}, 0)};
  std::vector<Shape> points;
  forEachRun(box({2, 2}), {}, order,
             [&](const Shape &point, int64_t, int64_t) { points.push_back(point); });
  EXPECT_EQ(points, (std::vector<Shape>{{1, 0}, {0, 0}, {1, 1}, {0, 1}}));
}

TEST(KtirLoops, ProductsInAllLayouts) {
  constexpr int64_t kM = 5, kN = 37, kK = 70;
  auto a = makeRandom({kM, kK}, 1), b = makeRandom({kK, kN}, 2), bt = makeRandom({kN, kK}, 3);
  for (bool isTransposed : {false, true})
    for (bool asContraction : {false, true})
      for (std::vector<int64_t> order :
           {std::vector<int64_t>{0, 1, 2}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}) {
        // order[i] is the place of m, n, k among the loops.
        std::vector<bool> isReduction(3, false);
        isReduction[order[2]] = true;
        LoopNest nest = makeProduct(isReduction, select({order[0], order[2]}, 3),
                                    isTransposed ? select({order[1], order[2]}, 3)
                                                 : select({order[2], order[1]}, 3),
                                    select({order[0], order[1]}, 3));
        nest.isContraction = asContraction;
        Datum da = Datum::of(a), db = Datum::of(isTransposed ? bt : b);
        Tensor out(kF32, {kM, kN});
        std::fill(out.floats.begin(), out.floats.end(), 0.5f);
        ASSERT_EQ(runLoops(nest, {&da, &db}, {&out}, {}, true), "");
        for (int64_t m = 0; m < kM; ++m)
          for (int64_t n = 0; n < kN; ++n) {
            float sum = 0.5f;
            for (int64_t k = 0; k < kK; ++k)
              sum += a->floats[m * kK + k] *
                     (isTransposed ? bt->floats[n * kK + k] : b->floats[k * kN + n]);
            // The order of terms is fixed, so the numbers are the same.
            ASSERT_EQ(out.floats[m * kN + n], sum) << m << " " << n;
          }
      }
}

TEST(KtirLoops, SumsOfOneAccumulator) {
  auto x = makeRandom({3, 1000}, 4);
  LoopNest nest;
  nest.isReduction = {true, true};
  nest.numInputs = 1;
  nest.maps = {select({0, 1}, 2), select({}, 2)};
  nest.body.numRegisters = 4;
  nest.body.arguments = {0, 1};
  nest.body.argumentTypes = {kF32, kHalf};
  nest.body.steps = {step(LaneOp::MulF, 0, 0, 2), step(LaneOp::AddF, 1, 2, 3, true)};
  nest.body.steps[1].type = kHalf;
  nest.body.yielded = {3};
  nest.body.yieldedTypes = {kHalf};
  Datum dx = Datum::of(x);
  Tensor out(kHalf, {});
  out.floats[0] = 1;
  ASSERT_EQ(runLoops(nest, {&dx}, {&out}, {}, true), "");
  float sum = 1;
  for (float value : x->floats)
    sum += value * value;
  roundTo(kHalf, &sum, 1); // once, at the end
  EXPECT_EQ(out.floats[0], sum);
}

TEST(KtirLoops, WindowsAndDivisions) {
  // out[i] += x[2 i + k] * w[k floordiv 2]
  auto x = makeRandom({22}, 5), w = makeRandom({2}, 6);
  Map window;
  window.numInputs = 2;
  window.results = {linear({2, 1}, 0)};
  Map halves;
  halves.numInputs = 2;
  Expression half;
  half.steps = {
      {Expression::Code::Input, 1}, {Expression::Code::Constant, 2}, {Expression::Code::FloorDiv}};
  halves.results = {half};
  LoopNest nest = makeProduct({false, true}, window, halves, select({0}, 2));
  // Nothing says how long the window is.
  Tensor out(kF32, {10});
  std::fill(out.floats.begin(), out.floats.end(), 0.0f);
  Datum dx = Datum::of(x), dw = Datum::of(w);
  EXPECT_EQ(runLoops(nest, {&dx, &dw}, {&out}, {}, true),
            "no operand says how many places dim 1 of the loops has");
  // A third operand does.
  nest.numInputs = 3;
  nest.maps.insert(nest.maps.begin() + 2, select({1}, 2));
  nest.body.arguments = {0, 1, 5, 2};
  nest.body.argumentTypes.push_back(kF32);
  nest.body.numRegisters = 6;
  auto lengths = makeRandom({4}, 7);
  Datum dl = Datum::of(lengths);
  ASSERT_EQ(runLoops(nest, {&dx, &dw, &dl}, {&out}, {}, true), "");
  for (int64_t i = 0; i < 10; ++i) {
    float sum = 0;
    for (int64_t k = 0; k < 4; ++k)
      sum += x->floats[2 * i + k] * w->floats[k / 2];
    EXPECT_EQ(out.floats[i], sum);
  }
  Tensor large(kF32, {11});
  EXPECT_EQ(runLoops(nest, {&dx, &dw, &dl}, {&large}, {}, true),
            "operand 0 of shape [22] is accessed at 0..23 of dim 0");
}

TEST(KtirMemory, WritesAndRaces) {
  Memory memory(256);
  EXPECT_EQ(memory.findUnwritten(0, 256), -1);
  memory.markNothingWritten();
  memory.markWritten(16, 32);
  EXPECT_EQ(memory.findUnwritten(16, 32), -1);
  EXPECT_EQ(memory.findUnwritten(20, 40), 48);

  RaceDetector races;
  RaceDetector::Clocks zero{0, 0, 0};
  EXPECT_EQ(races.access(0, zero, 0, 64, /*writes=*/true), -1);
  EXPECT_EQ(races.access(0, zero, 0, 64, /*writes=*/false), -1);
  EXPECT_EQ(races.access(1, zero, 60, 8, /*writes=*/false), 0);
  // Tile 1 knows that tile 0 has produced since.
  EXPECT_EQ(races.access(1, {1, 0, 0}, 0, 64, /*writes=*/false), -1);
  EXPECT_EQ(races.access(2, {1, 0, 0}, 0, 64, /*writes=*/false), -1);
  // Two readers; who writes has to come after both.
  EXPECT_EQ(races.access(0, {1, 1, 0}, 0, 64, /*writes=*/true), 2);
  EXPECT_EQ(races.access(0, {1, 1, 1}, 0, 64, /*writes=*/true), -1);
}

TEST(KtirMemory, RunsOfAView) {
  View view;
  view.element = kHalf;
  view.sizes = {4, 8};
  View::Part part;
  part.sizes = view.sizes;
  part.strides = {8, 1};
  part.origin = part.setOffset = {0, 0};
  part.set = box({4, 8});
  part.box = {{0, 3}, {0, 7}};
  part.address = 100;
  view.parts.push_back(part);
  AccessTile whole;
  RunBuilder builder(view, whole);
  for (int64_t row = 0; row < 4; ++row)
    builder.add({row, 0}, {0, 1}, 8);
  // Rows that continue in each other are one run.
  ASSERT_EQ(whole.runs.size(), 1u);
  EXPECT_EQ(whole.runs[0].address, 100);
  EXPECT_EQ(whole.runs[0].count, 32);
  AccessTile column;
  RunBuilder columns(view, column);
  for (int64_t row = 0; row < 5; ++row)
    columns.add({row, 3}, {0, 0}, 1);
  ASSERT_EQ(column.runs.size(), 2u);
  EXPECT_EQ(column.runs[0].stride, 16);
  EXPECT_EQ(column.runs[0].count, 4);
  EXPECT_EQ(column.runs[1].space, kNoSpace);
  EXPECT_EQ(column.outOfBounds, "coordinates [4, 3] are outside of the view of sizes [4, 8]");
}

TEST(KtirMachine, ThreadsGiveTheSame) {
  // Each tile writes its number; in threads and in turn.
  Program program;
  program.name = "kernel";
  program.grid = {64};
  program.numSlots = 6;
  auto add = [&](Opcode opcode, std::vector<int32_t> operands,
                 std::vector<int32_t> results) -> Instruction & {
    Instruction instruction;
    instruction.opcode = opcode;
    instruction.operands = std::move(operands);
    instruction.results = std::move(results);
    instruction.where = "here";
    instruction.name = "operation";
    program.instructions.push_back(std::move(instruction));
    return program.instructions.back();
  };
  add(Opcode::Constant, {}, {0}).constant = Datum::of(int64_t(0));
  add(Opcode::TileId, {}, {1}).flags = {false};
  Instruction &view = add(Opcode::MemoryView, {0}, {2});
  view.element = kIndex;
  view.shapes = {{64}, {1}};
  view.set = box({64});
  view.numbers = {1, kGlobalSpace};
  Instruction &access = add(Opcode::DirectTile, {2, 1}, {3});
  access.maps = {select({0}, 1), select({0}, 1)};
  access.set = box({1});
  access.shape = {1};
  access.numbers = {1};
  access.flags = {false};
  Instruction &splat = add(Opcode::FromElements, {1}, {4});
  splat.element = kIndex;
  splat.shape = {1};
  add(Opcode::Store, {4, 3}, {});
  add(Opcode::Return, {}, {});
  for (unsigned threads : {1u, 3u})
    for (bool isReversed : {false, true}) {
      Memory memory(64 * 8);
      MachineOptions options;
      options.threads = threads;
      options.isReversed = isReversed;
      MachineStats stats;
      ASSERT_EQ(runProgram(program, memory, {}, options, &stats), "");
      std::vector<int64_t> numbers(64);
      decode(kIndex, memory.bytes.data(), numbers.data(), 64);
      for (int64_t i = 0; i < 64; ++i)
        EXPECT_EQ(numbers[i], i);
      EXPECT_EQ(stats.writtenInBytes, 64 * 8);
      EXPECT_EQ(stats.writtenInSticks, 64);
    }
  // The tile with the lowest number of those that fail speaks.
  Memory small(32 * 8);
  MachineOptions options;
  EXPECT_EQ(runProgram(program, small, {}, options),
            "here: operation: compute tile 32: bytes 256..263 are outside of device memory, "
            "which has 256");
}
