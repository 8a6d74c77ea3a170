//===- CountOnlyTest.cpp - Counting without computing -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes and the clock worked out by hand; the same checks of addresses as in a
// run; device memory that nobody could back.
//
//===----------------------------------------------------------------------===//

#include "Descriptors.h"

#include "gtest/gtest.h"

using namespace spyre;
using namespace spyre::runtime;
using namespace spyre::runtime::test;

namespace {

Emulator makeEmulator(bool countOnly) {
  EmulatorOptions options;
  options.countOnly = countOnly;
  options.numThreads = 1;
  options.timeline = true;
  return Emulator(*Device::lookup("spyre"), options);
}

int64_t allocate(Emulator &emulator, int64_t bytes) {
  return std::get<int64_t>(emulator.getMemory().allocate(bytes, "buffer"));
}

/// Rows of one stick, divided over four cores, plus one row for all.
sdsc::Descriptor makeAdd(int64_t rows, int64_t x, int64_t row, int64_t out) {
  auto slice = [=](int64_t base) {
    return [=](const std::vector<int64_t> &slices) { return base + slices[0] * rows / 4 * 128; };
  };
  return makeDescriptor(
      "add", {dim("mb", rows, 4), dim("out", 64)},
      {{{"mb", "out"}, "out", {1, 1}, MemorySpace::HBM, slice(x)},
       {{"mb", "out"}, "out", {-1, 1}, MemorySpace::HBM, [=](const auto &) { return row; }},
       {{"mb", "out"}, "out", {1, 1}, MemorySpace::HBM, slice(out)}});
}

std::optional<Error> execute(Emulator &emulator, const sdsc::Descriptor &descriptor) {
  return emulator.execute(descriptor, "add.json", [](int64_t) { return std::nullopt; });
}

TEST(CountOnlyTest, CountsWhatARunCounts) {
  for (bool countOnly : {false, true}) {
    Emulator emulator = makeEmulator(countOnly);
    int64_t x = allocate(emulator, 64 * 128), row = allocate(emulator, 128),
            out = allocate(emulator, 64 * 128);
    sdsc::Descriptor add = makeAdd(64, x, row, out);
    ASSERT_FALSE(execute(emulator, add));
    ASSERT_FALSE(execute(emulator, add));
    const Counters &counters = emulator.getCounters();
    EXPECT_EQ(counters.launches, 2);
    EXPECT_EQ(counters.readInBytes, 2 * (64 + 1) * 128); // the row once, not four times
    EXPECT_EQ(counters.writtenInBytes, 2 * 64 * 128);
    // An operation with a broadcast operand moves 118 bytes a ns.
    EXPECT_NEAR(counters.modelledInNs, 2 * (64 + 1 + 64) * 128 / 118.0, 1e-9);
    ASSERT_EQ(emulator.getTimeline().size(), 2u);
    const cost::TimelineEvent &second = emulator.getTimeline()[1];
    EXPECT_EQ(second.numCores, 4);
    EXPECT_NEAR(second.startInNs, (64 + 1 + 64) * 128 / 118.0, 1e-9);
    EXPECT_EQ(second.readInBytes, 65 * 128);
  }
}

TEST(CountOnlyTest, MemoryHasNoContent) {
  Emulator emulator = makeEmulator(true);
  int64_t rows = int64_t(1) << 20, bytes = int64_t(40) << 30;
  int64_t x = allocate(emulator, bytes), row = allocate(emulator, 128),
          out = allocate(emulator, bytes);
  EXPECT_FALSE(execute(emulator, makeAdd(rows, x, row, out)));
  int64_t start = 0;
  EXPECT_EQ(emulator.getMemory().find(x, start)->getData(), nullptr);
  // Its size still counts.
  EXPECT_TRUE(std::holds_alternative<Error>(emulator.getMemory().allocate(bytes * 2, "more")));
}

TEST(CountOnlyTest, AddressesAreChecked) {
  Emulator emulator = makeEmulator(true);
  int64_t x = allocate(emulator, 64 * 128), row = allocate(emulator, 128),
          out = allocate(emulator, 40 * 128);
  std::optional<Error> error = execute(emulator, makeAdd(64, x, row, out));
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("over the end of buffer"), std::string::npos) << error->message;
}

} // namespace
