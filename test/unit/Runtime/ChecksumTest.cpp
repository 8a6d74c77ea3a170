//===- ChecksumTest.cpp - Whether memory still holds what it held ---------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes of every byte, and the patterns that simple sums do not see.
//
//===----------------------------------------------------------------------===//

#include "spyre/Runtime/Checksum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

using namespace spyre::runtime;

namespace {

std::vector<uint8_t> makeBytes(size_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t i = 0; i < size; ++i)
    bytes[i] = uint8_t(i * 31 + i / 256);
  return bytes;
}

TEST(Checksum, SeesEachByte) {
  for (size_t size : {1, 7, 8, 63, 64, 65, 200}) {
    std::vector<uint8_t> bytes = makeBytes(size);
    std::set<uint64_t> sums = {getChecksum(bytes.data(), size)};
    for (uint8_t &byte : bytes)
      for (int bit = 0; bit < 8; ++bit) {
        byte ^= uint8_t(1 << bit);
        sums.insert(getChecksum(bytes.data(), size));
        byte ^= uint8_t(1 << bit);
      }
    EXPECT_EQ(sums.size(), 1 + 8 * size) << size;
  }
}

TEST(Checksum, SeesSignsAndExchanges) {
  std::vector<double> numbers(512, 1.5);
  uint64_t before = getChecksum(numbers.data(), 4096);
  for (double &number : numbers)
    number = -number;
  EXPECT_NE(getChecksum(numbers.data(), 4096), before);
  std::vector<uint8_t> bytes = makeBytes(4096);
  before = getChecksum(bytes.data(), 4096);
  std::swap_ranges(bytes.begin(), bytes.begin() + 64, bytes.begin() + 64);
  EXPECT_NE(getChecksum(bytes.data(), 4096), before);
}

TEST(Checksum, SizesDiffer) {
  std::vector<uint8_t> zeros(256);
  EXPECT_NE(getChecksum(zeros.data(), 64), getChecksum(zeros.data(), 128));
  EXPECT_NE(getChecksum(zeros.data(), 63), getChecksum(zeros.data(), 64));
}

TEST(ChecksumTable, NamesTheBlocksThatChanged) {
  std::vector<uint8_t> small = makeBytes(100), large = makeBytes(5 << 20), none;
  ChecksumTable table;
  table.set(2, large.data(), large.size());
  table.set(0, small.data(), small.size());
  table.set(3, none.data(), 0);
  EXPECT_TRUE(table.findChanged().empty());
  for (size_t place : {size_t(0), size_t(1) << 20, large.size() - 1}) {
    large[place] ^= 1;
    EXPECT_EQ(table.findChanged(), std::vector<size_t>{2}) << place;
    large[place] ^= 1;
  }
  small[99] ^= 1;
  large[12345] ^= 1;
  EXPECT_EQ(table.findChanged(), (std::vector<size_t>{0, 2}));
  table.set(2, large.data(), large.size());
  EXPECT_EQ(table.findChanged(), std::vector<size_t>{0});
}

TEST(ChecksumTable, SamplesSeeTheEnds) {
  std::vector<uint8_t> bytes = makeBytes(100003);
  ChecksumTable table(64);
  table.set(0, bytes.data(), bytes.size());
  for (size_t place : {size_t(0), bytes.size() - 1}) {
    bytes[place] ^= 1;
    EXPECT_EQ(table.findChanged().size(), 1u) << place;
    bytes[place] ^= 1;
  }
  bytes[100] ^= 1;
  EXPECT_TRUE(table.findChanged().empty());
  for (uint8_t &byte : bytes)
    byte = uint8_t(~byte);
  EXPECT_EQ(table.findChanged().size(), 1u);
}

} // namespace
