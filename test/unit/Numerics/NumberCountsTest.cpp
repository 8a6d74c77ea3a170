//===- NumberCountsTest.cpp - What the device cannot tell or hold -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every code of the 8-bit and 16-bit types, and the edges of float32, are classed by their
// values: NaN, infinity, and what the conversion to DL16 makes something else of than
// rounding would. Counts of arrays do not depend on where pieces begin and end.
//
//===----------------------------------------------------------------------===//

#include "spyre/Numerics/NumberCounts.h"

#include "spyre/Numerics/DL16.h"
#include "spyre/Numerics/FP8.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

using namespace spyre;

namespace {

constexpr double kLargestBFloat16 = 0x1.fep127;

/// The class of \p value by its value alone. inDL16: with a range.
NumberCounts classify(double value, bool inDL16) {
  NumberCounts counts;
  double magnitude = std::fabs(value);
  if (std::isnan(value)) {
    counts.nans = 1;
    counts.firstNaN = 0;
  } else if (std::isinf(value)) {
    counts.infinities = 1;
  } else if (inDL16 &&
             (magnitude == kLargestBFloat16 || magnitude == std::numeric_limits<float>::max())) {
    counts.largest = 1;
  } else if (inDL16 && magnitude != 0) {
    // More than a rounding away from what DL16 has for it.
    double kept = std::fabs(decodeDL16(encodeDL16Saturating(value)));
    bool isLost = std::fabs(kept - magnitude) > magnitude / 512;
    counts.tooSmall = isLost && magnitude < 1;
    counts.tooLarge = isLost && magnitude > 1;
    counts.firstOutOfRange = isLost ? 0 : -1;
  }
  return counts;
}

void expectEqual(const NumberCounts &is, const NumberCounts &wanted, const std::string &what) {
  EXPECT_EQ(is.nans, wanted.nans) << what;
  EXPECT_EQ(is.infinities, wanted.infinities) << what;
  EXPECT_EQ(is.tooSmall, wanted.tooSmall) << what;
  EXPECT_EQ(is.tooLarge, wanted.tooLarge) << what;
  EXPECT_EQ(is.largest, wanted.largest) << what;
  EXPECT_EQ(is.firstNaN, wanted.firstNaN) << what;
  EXPECT_EQ(is.firstOutOfRange, wanted.firstOutOfRange) << what;
}

template <typename Code>
void checkCodes(HostType type, DataFormat format, const SmallFloat &small, bool inDL16) {
  for (unsigned i = 0; i <= std::numeric_limits<Code>::max(); ++i) {
    Code code = static_cast<Code>(i);
    NumberCounts counts;
    countNumbers(type, format, &code, 0, 1, counts);
    expectEqual(counts, classify(decodeSmallFloat(small, code), inDL16),
                std::string(getHostTypeName(type)) + " code " + std::to_string(i));
  }
}

TEST(NumberCounts, EveryCode) {
  checkCodes<uint16_t>(HostType::Float16, DataFormat::SEN169_FP16, kBinary16, true);
  checkCodes<uint16_t>(HostType::Float16, DataFormat::IEEE_FP32, kBinary16, false);
  checkCodes<uint16_t>(HostType::BFloat16, DataFormat::SEN169_FP16, kBFloat16, true);
  checkCodes<uint16_t>(HostType::BFloat16, DataFormat::IEEE_FP32, kBFloat16, false);
  checkCodes<uint8_t>(HostType::Float8E4M3FN, DataFormat::SEN143_FP8, kE4M3FN, false);
  checkCodes<uint8_t>(HostType::Float8E5M2, DataFormat::SEN152_FP8, kE5M2, false);
  checkCodes<uint8_t>(HostType::Float8E5M2FNUZ, DataFormat::SEN152_FP8, kE5M2FNUZ, false);
}

TEST(NumberCounts, EdgesOfFloat32) {
  const float edges[] = {0,
                         0x1p-149f,
                         0x1p-127f,
                         1e-12f,
                         0x1p-32f,
                         0x1.fffffep-32f,
                         0x1p-31f,
                         0x1.008p-31f,
                         1,
                         8573157376.0f,
                         0x1.ff3ffep32f,
                         0x1p33f,
                         1e30f,
                         std::numeric_limits<float>::max(),
                         std::nextafter(std::numeric_limits<float>::max(), 0.0f),
                         float(kLargestBFloat16),
                         std::numeric_limits<float>::infinity(),
                         std::numeric_limits<float>::quiet_NaN()};
  for (float edge : edges)
    for (float value : {edge, -edge})
      for (DataFormat format : {DataFormat::SEN169_FP16, DataFormat::IEEE_FP32}) {
        NumberCounts counts;
        countNumbers(HostType::Float32, format, &value, 0, 1, counts);
        expectEqual(counts, classify(value, format == DataFormat::SEN169_FP16),
                    std::to_string(value));
      }
}

TEST(NumberCounts, IntegersHaveNothing) {
  const std::vector<uint8_t> ones(64, 0xff);
  NumberCounts counts;
  for (HostType type : {HostType::Int8, HostType::Int16, HostType::Int32, HostType::Int64,
                        HostType::UInt8, HostType::Bool})
    countNumbers(type, DataFormat::IEEE_INT32, ones.data(), 0, 8, counts);
  EXPECT_FALSE(counts.any());
}

TEST(NumberCounts, CodesOfTheDevice) {
  for (unsigned code = 0; code < 65536; ++code) {
    auto dl16 = static_cast<uint16_t>(code);
    NumberCounts counts;
    countDeviceNumbers(DataFormat::SEN169_FP16, &dl16, 1, counts);
    double value = std::fabs(decodeDL16(dl16));
    EXPECT_EQ(counts.infinities, std::isinf(value)) << code;
    EXPECT_EQ(counts.tooLarge, value == kDL16MaxFinite) << code;
    EXPECT_EQ(counts.nans + counts.tooSmall + counts.largest, 0) << code;
    // The same number, widened.
    float widened = decodeDL16(dl16);
    NumberCounts wide;
    countDeviceNumbers(DataFormat::IEEE_FP32, &widened, 1, wide);
    expectEqual(wide, counts, std::to_string(code));
  }
  float nan = std::numeric_limits<float>::quiet_NaN();
  NumberCounts counts;
  countDeviceNumbers(DataFormat::IEEE_FP32, &nan, 1, counts);
  EXPECT_EQ(counts.nans, 1);
}

TEST(NumberCounts, PiecesAddUp) {
  // Ones with something in a few places, on both sides of every boundary that a loop may have.
  std::vector<uint16_t> numbers(10001, 0x3f80);
  const int64_t nans[] = {0, 63, 64, 2047, 2048, 4096, 9999, 10000}, small[] = {1, 2049, 8191};
  for (int64_t place : nans)
    numbers[place] = 0x7fc0;
  for (int64_t place : small)
    numbers[place] = 0x0001;
  for (int64_t piece : {1, 7, 64, 2048, 5000, 20000}) {
    NumberCounts counts;
    for (int64_t begin = 0; begin < int64_t(numbers.size()); begin += piece)
      countNumbers(HostType::BFloat16, DataFormat::SEN169_FP16, numbers.data(), begin,
                   std::min<int64_t>(begin + piece, numbers.size()), counts);
    EXPECT_EQ(counts.nans, std::ssize(nans)) << piece;
    EXPECT_EQ(counts.tooSmall, std::ssize(small)) << piece;
    EXPECT_EQ(counts.firstNaN, 0) << piece;
    EXPECT_EQ(counts.firstOutOfRange, 1) << piece;
  }
  // All of it, and not aligned.
  std::vector<uint8_t> bytes(2 * 5000 + 1);
  for (size_t i = 1; i < bytes.size(); i += 2) {
    bytes[i] = 0x00;
    bytes[i + 1] = 0xfc;
  }
  NumberCounts counts;
  countNumbers(HostType::Float16, DataFormat::SEN169_FP16, bytes.data() + 1, 0, 5000, counts);
  EXPECT_EQ(counts.infinities, 5000);
}

} // namespace
