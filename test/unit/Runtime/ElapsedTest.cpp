//===- ElapsedTest.cpp - The emulator on the clock --------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What descriptors become on the clock: transfers, addresses that forbid loads to
// run ahead, parts that a relayout sends over the ring. Times worked out by hand
// from the published rates.
//
//===----------------------------------------------------------------------===//

#include "Descriptors.h"

#include "gtest/gtest.h"

using namespace spyre;
using namespace spyre::runtime;
using namespace spyre::runtime::test;

namespace {

class ElapsedTest : public ::testing::Test {
protected:
  ElapsedTest() : emulator(*Device::lookup("spyre"), getOptions()) {}

  static EmulatorOptions getOptions() {
    EmulatorOptions options;
    options.countOnly = true;
    options.timeline = true;
    return options;
  }

  int64_t allocate(int64_t bytes) {
    return std::get<int64_t>(emulator.getMemory().allocate(bytes, "buffer"));
  }

  void execute(const sdsc::Descriptor &descriptor) {
    auto error = emulator.execute(descriptor, "x.json", [](int64_t) { return std::nullopt; });
    EXPECT_FALSE(error) << error->message;
  }

  Emulator emulator;
};

TestTensor tensor(std::vector<std::string> dims, const std::string &stick, int64_t address,
                  MemorySpace component = MemorySpace::HBM) {
  return {std::move(dims), stick, {1, 1}, component, [=](const auto &) { return address; }};
}

/// 64 x 64 x 4096 on one core: 64 rows fill the array, so it takes 64 * 64 * 4096
/// MACs / 1140, twice as long as its operands of 512 KiB need at 150 bytes a ns.
constexpr double kMatmulInNs = 64 * 64 * 4096 / 1140.0;

sdsc::Descriptor makeMatmul(int64_t x, int64_t y, int64_t out) {
  return makeDescriptor("batchmatmul", {dim("mb", 64), dim("out", 64), dim("in", 4096)},
                        {tensor({"mb", "in"}, "in", x), tensor({"in", "out"}, "out", y),
                         tensor({"mb", "out"}, "out", out)});
}

sdsc::Descriptor makeNeg(int64_t x, int64_t out) {
  return makeDescriptor("neg", {dim("mb", 64), dim("out", 64)},
                        {tensor({"mb", "out"}, "out", x), tensor({"mb", "out"}, "out", out)});
}

TEST_F(ElapsedTest, LoadsAreHiddenBehindAMatmulThatWritesElsewhere) {
  constexpr int64_t kTile = 64 * 128, kOperand = 64 * kTile;
  int64_t x = allocate(kOperand), y = allocate(kOperand), product = allocate(kTile),
          other = allocate(kTile), out = allocate(kTile);
  double neg = kTile * (2 / 150.0 + 0.00574);

  execute(makeMatmul(x, y, product));
  execute(makeNeg(other, out));
  const Counters &counters = emulator.getCounters();
  EXPECT_NEAR(counters.modelledInNs, kMatmulInNs + neg, 1e-6); // one after the other
  EXPECT_NEAR(counters.elapsedInNs, kMatmulInNs + neg / 2, 1e-6);
  ASSERT_EQ(emulator.getTimeline().size(), 2u);
  EXPECT_LT(emulator.getTimeline()[1].busy[0].startInNs, kMatmulInNs);

  // What reads the product waits for it.
  double before = counters.elapsedInNs;
  emulator.beginLaunch();
  execute(makeMatmul(x, y, product));
  execute(makeNeg(product, out));
  EXPECT_NEAR(counters.elapsedInNs - before, kMatmulInNs + neg, 1e-6);
}

TEST_F(ElapsedTest, TransfersTakeTimeAndAreNoKernelTime) {
  cost::TimelineEvent copy;
  copy.kind = cost::TimelineEvent::Transfer;
  copy.writtenInBytes = 1 << 20;
  emulator.addEvent(copy);
  double expected = (1 << 20) / (16 * 32.0 / 8 * 128 / 130); // PCIe gen5 x16
  EXPECT_NEAR(emulator.getCounters().transferInNs, expected, 1e-6);
  EXPECT_NEAR(emulator.getCounters().elapsedInNs, expected, 1e-6);
  EXPECT_EQ(emulator.getCounters().modelledInNs, 0);
  int64_t x = allocate(64 * 128);
  execute(makeNeg(x, x));
  EXPECT_NEAR(emulator.getTimeline()[1].startInNs, expected, 1e-6);
}

TEST_F(ElapsedTest, ARelayoutSendsWhatTheOthersHave) {
  // 32 x 256, eight rows a core, becomes one stick of columns a core.
  constexpr auto kLX = MemorySpace::LX;
  auto before =
      makeDescriptor("neg", {dim("mb", 32, 4), dim("out", 256)},
                     {tensor({"mb", "out"}, "out", 0, kLX), tensor({"mb", "out"}, "out", 0, kLX)});
  auto move = makeDescriptor(
      "shuffle", {dim("mb", 32), dim("out", 256, 4)},
      {tensor({"mb", "out"}, "out", 0, kLX), tensor({"mb", "out"}, "out", 8192, kLX)});
  move.tensors[0].coordinates = before.tensors[0].coordinates;
  for (int64_t core = 0; core < 4; ++core) {
    move.tensors[0].coreToSlice.push_back({{"mb", core}, {"out", 0}});
    move.tensors[1].coreToSlice.push_back({{"mb", 0}, {"out", core}});
  }
  execute(move);
  // From each core to each other 8 rows of a stick. Over the link from core 1 to
  // core 2 go 0 -> 2, 0 -> 3, 1 -> 2 and 1 -> 3, at 128 bytes a cycle of 1.5 GHz.
  double expected = 4 * 8 * 128 / 192.0;
  ASSERT_EQ(emulator.getTimeline().size(), 1u);
  EXPECT_NEAR(emulator.getTimeline()[0].estimate.relayoutInNs, expected, 1e-9);
  EXPECT_NEAR(emulator.getCounters().elapsedInNs, expected, 1e-9);
  EXPECT_NEAR(emulator.getCounters().modelledInNs, expected, 1e-9);
}

} // namespace
