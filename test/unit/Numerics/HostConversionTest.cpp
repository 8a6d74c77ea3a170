//===- HostConversionTest.cpp - Elements between host and device *- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Strided runs, round trips, and integers that do not fit.
//
//===----------------------------------------------------------------------===//

#include "spyre/Numerics/HostConversion.h"
#include "spyre/Numerics/DL16.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

using namespace spyre;

TEST(HostConversionTest, EveryMappedTypeConverts) {
  for (int i = 0; i <= static_cast<int>(HostType::Complex128); ++i) {
    auto type = static_cast<HostType>(i);
    if (auto format = getDeviceFormat(type))
      EXPECT_TRUE(canConvert(type, *format)) << getHostTypeName(type);
  }
  EXPECT_FALSE(canConvert(HostType::Float64, DataFormat::IEEE_FP32));
  EXPECT_FALSE(canConvert(HostType::Int8, DataFormat::SENINT4));
}

TEST(HostConversionTest, Int64OutOfRangeNamesTheElement) {
  std::vector<int64_t> host(600, 7);
  std::vector<int32_t> device(600, -1);
  host[400] = 3000000000;
  host[500] = -3000000000;
  auto error =
      convertToDevice(HostType::Int64, host.data(), 1, DataFormat::IEEE_INT32, device.data(), 600);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->element, 400);
  EXPECT_EQ(error->reason,
            "3000000000 is outside the range of IEEE_INT32 (-2147483648..2147483647)");
  EXPECT_EQ(device[399], 7);
  EXPECT_EQ(device[400], -1);
  // Every second element: the bad one is the 200th of the run.
  error =
      convertToDevice(HostType::Int64, host.data(), 2, DataFormat::IEEE_INT32, device.data(), 300);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->element, 200);

  host[400] = std::numeric_limits<int32_t>::max();
  host[500] = std::numeric_limits<int32_t>::min();
  EXPECT_FALSE(
      convertToDevice(HostType::Int64, host.data(), 1, DataFormat::IEEE_INT32, device.data(), 600));
  std::vector<int64_t> back(600);
  EXPECT_FALSE(
      convertToHost(DataFormat::IEEE_INT32, device.data(), HostType::Int64, back.data(), 1, 600));
  EXPECT_EQ(back, host);
}

TEST(HostConversionTest, IntegersAsFloats) {
  // As a cast of the language: to the nearest float, and without the fraction.
  std::vector<int64_t> host = {0, -7, (1 << 24) + 1, std::numeric_limits<int64_t>::max()};
  std::vector<float> device(4);
  ASSERT_FALSE(
      convertToDevice(HostType::Int64, host.data(), 1, DataFormat::IEEE_FP32, device.data(), 4));
  EXPECT_EQ(device, (std::vector<float>{0, -7, 16777216, 0x1p63f}));
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> numbers = {2.75f, -2.75f, -0.0f, 0x1p31f, -0x1p31f, infinity, -infinity, NAN};
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  std::vector<int32_t> back(numbers.size());
  ASSERT_FALSE(convertToHost(DataFormat::IEEE_FP32, numbers.data(), HostType::Int32, back.data(), 1,
                             int64_t(back.size())));
  EXPECT_EQ(back, (std::vector<int32_t>{2, -2, 0, kLeast, kLeast, kLeast, kLeast, kLeast}));
}

TEST(HostConversionTest, UnsignedRanges) {
  int64_t negative = -1;
  uint32_t device = 0;
  auto error = convertToDevice(HostType::Int64, &negative, 1, DataFormat::SENUINT32, &device, 1);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->reason, "-1 is outside the range of SENUINT32 (0..4294967295)");
  device = 256;
  uint8_t host = 9;
  error = convertToHost(DataFormat::SENUINT32, &device, HostType::UInt8, &host, 1, 1);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->reason, "256 is outside the range of uint8 (0..255)");
  EXPECT_EQ(host, 9);
}

TEST(HostConversionTest, StridedAndDenseRunsAgree) {
  std::vector<uint16_t> host(3 * 1000), dense(1000), a(1000), b(1000);
  for (size_t i = 0; i < host.size(); ++i)
    host[i] = static_cast<uint16_t>(i * 21 + 5);
  for (size_t i = 0; i < dense.size(); ++i)
    dense[i] = host[3 * i];
  EXPECT_FALSE(
      convertToDevice(HostType::Float16, host.data(), 3, DataFormat::SEN169_FP16, a.data(), 1000));
  EXPECT_FALSE(
      convertToDevice(HostType::Float16, dense.data(), 1, DataFormat::SEN169_FP16, b.data(), 1000));
  EXPECT_EQ(a, b);
  std::vector<uint16_t> back(3 * 1000, 0xabcd);
  EXPECT_FALSE(
      convertToHost(DataFormat::SEN169_FP16, a.data(), HostType::Float16, back.data(), 3, 1000));
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(back[3 * i], convertDL16ToF16(a[i]));
  EXPECT_EQ(back[1], 0xabcd);
}

TEST(HostConversionTest, UnalignedHostMemory) {
  alignas(8) char bytes[3 * sizeof(float) + 1];
  float values[3] = {1.0f, -2.5f, 3e38f};
  std::memcpy(bytes + 1, values, sizeof(values));
  uint16_t codes[3];
  EXPECT_FALSE(convertToDevice(HostType::Float32, bytes + 1, 1, DataFormat::SEN169_FP16, codes, 3));
  EXPECT_EQ(codes[0], kDL16One);
  EXPECT_EQ(decodeDL16(codes[1]), -2.5f);
  EXPECT_EQ(codes[2], kDL16MaxFiniteCode);
}

TEST(HostConversionTest, TruthValues) {
  uint8_t host[3] = {0, 1, 255}, back[4];
  uint16_t codes[4];
  EXPECT_FALSE(convertToDevice(HostType::Bool, host, 1, DataFormat::SEN169_FP16, codes, 3));
  EXPECT_EQ(codes[0], 0);
  EXPECT_EQ(codes[1], 0x3e00);
  EXPECT_EQ(codes[2], 0x3e00);
  codes[0] = 0x8000; // -0
  codes[1] = 1;      // the smallest value
  codes[2] = 0x7fff;
  codes[3] = 0;
  EXPECT_FALSE(convertToHost(DataFormat::SEN169_FP16, codes, HostType::Bool, back, 1, 4));
  EXPECT_EQ(back[0], 0);
  EXPECT_EQ(back[1], 1);
  EXPECT_EQ(back[2], 1);
  EXPECT_EQ(back[3], 0);
}
