//===- TransferTest.cpp - Layout conversion, arrays in files ----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every element lands where the layout says and nowhere else; tails are zero;
// what cannot be converted names its element. And NumPy files, damaged ones too.
//
//===----------------------------------------------------------------------===//

#include "spyre/Runtime/Transfer.h"
#include "spyre/Numerics/DL16.h"
#include "spyre/Support/Npz.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

using namespace spyre;
using namespace spyre::runtime;

namespace {

ArgumentSpec makeSpec(std::vector<int64_t> shape, std::vector<int64_t> device,
                      std::vector<int64_t> map, HostType type = HostType::Float32,
                      DataFormat format = DataFormat::IEEE_FP32) {
  ArgumentSpec spec;
  spec.array = "in0";
  spec.shape = std::move(shape);
  spec.deviceSize = std::move(device);
  spec.strideMap = std::move(map);
  spec.dtype = type;
  spec.deviceFormat = format;
  return spec;
}

HostTensor makeCounting(const ArgumentSpec &spec) {
  HostTensor host = HostTensor::create(HostType::Float32, spec.shape);
  auto *values = reinterpret_cast<float *>(host.data.data());
  for (int64_t i = 0; i < host.getNumElements(); ++i)
    values[i] = static_cast<float>(i + 1);
  return host;
}

/// Copies in, compares every place with \p expected (0: tail), copies back.
void check(const ArgumentSpec &spec,
           const std::function<int64_t(const std::vector<int64_t> &)> &expected) {
  HostTensor host = makeCounting(spec);
  std::vector<uint8_t> device(std::get<int64_t>(getDeviceSizeInBytes(spec)), 0xee);
  auto error = copyToDevice(spec, host, device.data());
  ASSERT_FALSE(error) << error->message;
  const auto *values = reinterpret_cast<const float *>(device.data());
  std::vector<int64_t> p(spec.deviceSize.size(), 0);
  int64_t count = 1;
  for (int64_t size : spec.deviceSize)
    count *= size;
  for (int64_t i = 0; i < count; ++i) {
    ASSERT_EQ(values[i], static_cast<float>(expected(p))) << "place " << i;
    for (size_t j = p.size(); j-- > 0;) {
      if (++p[j] < spec.deviceSize[j])
        break;
      p[j] = 0;
    }
  }
  HostTensor back = HostTensor::create(HostType::Float32, spec.shape);
  error = copyToHost(spec, device.data(), back);
  ASSERT_FALSE(error) << error->message;
  EXPECT_EQ(back.data, host.data);
}

TEST(Transfer, TailOfARowDoesNotWrapIntoTheNext) {
  check(makeSpec({33, 100}, {4, 33, 32}, {32, 100, 1}), [](const std::vector<int64_t> &p) {
    int64_t column = p[0] * 32 + p[2];
    return column < 100 ? p[1] * 100 + column + 1 : 0;
  });
}

TEST(Transfer, RankThreeAndOtherDimOrder) {
  check(makeSpec({5, 10, 50}, {10, 2, 5, 32}, {50, 32, 500, 1}), [](const std::vector<int64_t> &p) {
    int64_t column = p[1] * 32 + p[3];
    return column < 50 ? p[2] * 500 + p[0] * 50 + column + 1 : 0;
  });
}

TEST(Transfer, EqualStridesOfStickCountAndRows) {
  // Rows of exactly one stick: both outer dims move 32 elements.
  check(makeSpec({4, 32}, {1, 4, 32}, {32, 32, 1}),
        [](const std::vector<int64_t> &p) { return p[1] * 32 + p[2] + 1; });
}

TEST(Transfer, PaddedRows) {
  check(makeSpec({3, 32}, {1, 8, 32}, {32, 32, 1}),
        [](const std::vector<int64_t> &p) { return p[1] < 3 ? p[1] * 32 + p[2] + 1 : 0; });
}

TEST(Transfer, SparseLayoutHasOneElementAStick) {
  check(makeSpec({6}, {6, 32}, {1, -1}),
        [](const std::vector<int64_t> &p) { return p[1] == 0 ? p[0] + 1 : 0; });
}

TEST(Transfer, PermutedHostStrides) {
  // The program's [64, 3] is a transposed [3, 64] on the host; our arrays are dense.
  ArgumentSpec spec = makeSpec({64, 3}, {2, 3, 32}, {32, 64, 1});
  spec.strideInElements = {1, 64};
  check(spec, [](const std::vector<int64_t> &p) { return (p[0] * 32 + p[2]) * 3 + p[1] + 1; });
}

// Large arrays go past the caches, row by row; a callback takes the way of small ones.
TEST(Transfer, LargeArraysAreAsSmallOnes) {
  auto compare = [](ArgumentSpec spec, auto makeCode) {
    using Code = decltype(makeCode(int64_t(0)));
    HostTensor host = HostTensor::create(spec.dtype, spec.shape);
    for (int64_t i = 0; i < host.getNumElements(); ++i) {
      Code code = makeCode(i);
      std::memcpy(host.data.data() + i * sizeof(code), &code, sizeof(code));
    }
    const size_t size = std::get<int64_t>(getDeviceSizeInBytes(spec));
    ASSERT_GE(size, size_t(16) << 20);
    std::vector<uint8_t> device(size, 0xee), expected(size, 0xdd);
    ASSERT_FALSE(copyToDevice(spec, host, device.data()));
    ASSERT_FALSE(copyToDevice(spec, host, expected.data(), [](int64_t, int64_t) {}));
    EXPECT_EQ(device, expected);
    HostTensor back = HostTensor::create(spec.dtype, spec.shape), plain = back;
    ASSERT_FALSE(copyToHost(spec, device.data(), back));
    ASSERT_FALSE(copyToHost(spec, device.data(), plain, [](int64_t, int64_t) {}));
    EXPECT_EQ(back.data, plain.data);
  };
  auto half = [](int64_t i) { return uint16_t(i * 7919); }; // every code
  // Odd rows that are no multiple of a tile, of a stick or of a line; padded rows.
  ArgumentSpec spec = makeSpec({4099, 2050}, {33, 4100, 64}, {64, 2050, 1}, HostType::Float16,
                               DataFormat::SEN169_FP16);
  compare(spec, half);
  spec.overflowIsInfinite = true;
  compare(spec, half);
  compare(makeSpec({3, 1367, 2050}, {1367, 33, 3, 64}, {2050, 64, 1367 * 2050, 1},
                   HostType::Float16, DataFormat::SEN169_FP16),
          half);
  compare(makeSpec({2100, 2031}, {64, 2100, 32}, {32, 2031, 1}),
          [](int64_t i) { return float(i); });
}

TEST(Transfer, RefusesAMapThatDropsElements) {
  ArgumentSpec spec = makeSpec({4, 64}, {1, 4, 32}, {32, 64, 1});
  std::vector<uint8_t> device(4 * 128);
  auto error = copyToDevice(spec, makeCounting(spec), device.data());
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message,
            "in0: device_size and stride_map do not place every element of the host array");
}

TEST(Transfer, AnIntegerOutOfRangeNamesItsElement) {
  ArgumentSpec spec =
      makeSpec({2, 3}, {1, 2, 32}, {32, 3, 1}, HostType::Int64, DataFormat::IEEE_INT32);
  HostTensor host = HostTensor::create(HostType::Int64, {2, 3});
  reinterpret_cast<int64_t *>(host.data.data())[5] = 3000000000;
  std::vector<uint8_t> device(256);
  auto error = copyToDevice(spec, host, device.data());
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("in0: element [1, 2]: 3000000000"), std::string::npos)
      << error->message;
}

TEST(Transfer, ConstantsFillEveryLane) {
  ArgumentSpec spec = makeSpec({}, {1, 64}, {-1, -1}, HostType::Float16, DataFormat::SEN169_FP16);
  spec.role = Role::Constant;
  for (double value : {0.088, -double(INFINITY), 1e-5}) {
    spec.value = value;
    uint16_t sticks[64];
    auto error = fillConstant(spec, reinterpret_cast<uint8_t *>(sticks), 128);
    ASSERT_FALSE(error) << error->message;
    for (uint16_t code : sticks)
      EXPECT_EQ(code, encodeDL16(value));
  }
}

npz::Array makeArray() {
  npz::Array array{"f4", {2, 3}, std::vector<uint8_t>(24)};
  for (size_t i = 0; i < 24; ++i)
    array.data[i] = static_cast<uint8_t>(i * 7);
  return array;
}

TEST(Npz, RoundTrip) {
  npz::Archive archive = {{"in0", makeArray()},
                          {"scalar", {"i8", {}, std::vector<uint8_t>(8, 1)}},
                          {"empty", {"f2", {0, 4}, {}}}};
  auto read = npz::parseNpz(npz::serializeNpz(archive));
  ASSERT_TRUE(std::holds_alternative<npz::Archive>(read)) << std::get<npz::Error>(read).message;
  const npz::Archive &back = std::get<npz::Archive>(read);
  ASSERT_EQ(back.size(), archive.size());
  for (size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(back[i].first, archive[i].first);
    EXPECT_EQ(back[i].second.type, archive[i].second.type);
    EXPECT_EQ(back[i].second.shape, archive[i].second.shape);
    EXPECT_EQ(back[i].second.data, archive[i].second.data);
  }
}

TEST(Npz, EveryTruncationAndFlippedByteIsSeenOrHarmless) {
  std::string bytes = npz::serializeNpz({{"in0", makeArray()}});
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_TRUE(std::holds_alternative<npz::Error>(npz::parseNpz(bytes.substr(0, size)))) << size;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    npz::parseNpz(damaged); // must return
  }
}

TEST(Npz, ColumnMajorArraysBecomeRowMajor) {
  npz::Array array{"u1", {2, 3}, {1, 2, 3, 4, 5, 6}};
  std::string bytes = npz::serializeNpy(array);
  size_t at = bytes.find("False");
  bytes.replace(at, 5, "True ");
  auto read = npz::parseNpy(bytes);
  ASSERT_TRUE(std::holds_alternative<npz::Array>(read));
  EXPECT_EQ(std::get<npz::Array>(read).data, (std::vector<uint8_t>{1, 3, 5, 2, 4, 6}));
}

/// A transfer of f16 with a NaN and an infinity at \p nan and \p infinity.
void checkCounts(const std::string &name, std::vector<int64_t> shape, std::vector<int64_t> device,
                 std::vector<int64_t> map, int64_t nan, int64_t infinity) {
  ArgumentSpec spec = makeSpec(std::move(shape), std::move(device), std::move(map),
                               HostType::Float16, DataFormat::SEN169_FP16);
  HostTensor host = HostTensor::create(HostType::Float16, spec.shape);
  auto put = [&](int64_t element, uint16_t code) {
    std::memcpy(host.data.data() + 2 * element, &code, 2);
  };
  put(nan, 0x7e00);
  put(infinity, 0xfc00);
  // Padding and what follows the array hold the code, too: nothing reads it.
  std::vector<uint8_t> memory(std::get<int64_t>(getDeviceSizeInBytes(spec)), 0xff);
  NumberCounts counts;
  auto error = copyToDevice(spec, host, memory.data(), nullptr, &counts);
  ASSERT_FALSE(error) << error->message;
  EXPECT_EQ(counts.nans, 1) << name;
  EXPECT_EQ(counts.infinities, 1) << name;
  EXPECT_EQ(counts.firstNaN, nan) << name;
  HostTensor back = HostTensor::create(HostType::Float16, spec.shape);
  NumberCounts out;
  error = copyToHost(spec, memory.data(), back, nullptr, &out);
  ASSERT_FALSE(error) << error->message;
  EXPECT_EQ(out.infinities, 2) << name;
  EXPECT_EQ(out.nans + out.tooLarge, 0) << name;
}

TEST(Transfer, CountsEachElementOnce) {
  checkCounts("rows", {33, 100}, {2, 33, 64}, {64, 100, 1}, 3299, 100);
  checkCounts("columns in the sticks", {130, 3}, {3, 3, 64}, {192, 1, 3}, 389, 0);
  checkCounts("one stick an element", {70}, {70, 64}, {1, -1}, 69, 3);
  // Larger than the caches: by rows, past them.
  checkCounts("large", {4099, 2050}, {33, 4099, 64}, {64, 2050, 1}, 4099 * 2050 - 1, 2049);
}

TEST(Transfer, DoesNotCountPadding) {
  ArgumentSpec spec =
      makeSpec({3, 70}, {2, 3, 64}, {64, 70, 1}, HostType::Float16, DataFormat::SEN169_FP16);
  HostTensor host = HostTensor::create(HostType::Float16, spec.shape);
  std::vector<uint8_t> memory(std::get<int64_t>(getDeviceSizeInBytes(spec)));
  ASSERT_FALSE(copyToDevice(spec, host, memory.data()));
  for (int64_t row = 0; row < 3; ++row) // the second stick of a row has six elements
    std::fill_n(memory.begin() + (3 + row) * 128 + 12, 116, 0xff);
  NumberCounts counts;
  ASSERT_FALSE(copyToHost(spec, memory.data(), host, nullptr, &counts));
  EXPECT_FALSE(counts.any());
}

} // namespace
