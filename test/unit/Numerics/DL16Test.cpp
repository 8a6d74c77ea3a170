//===- DL16Test.cpp - Number formats against an independent model *- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every code of every 16- and 8-bit format, and rounding around every DL16 code
// and midpoint, compared with the tables of dl16_model.py.
//
//===----------------------------------------------------------------------===//

#include "spyre/Numerics/DL16.h"
#include "spyre/Numerics/FP8.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

using namespace spyre;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// The model's tables by name, widened to 64 bits.
const std::map<std::string, std::vector<uint64_t>> &tables() {
  static const auto all = [] {
    std::map<std::string, std::vector<uint64_t>> result;
    std::ifstream file(SPYRE_NUMERICS_TABLES, std::ios::binary);
    char magic[8] = {};
    file.read(magic, 8);
    EXPECT_EQ(std::string(magic, 8), "SPYRENUM");
    char name[17] = {};
    while (file.read(name, 16)) {
      uint64_t count = 0, size = 0;
      file.read(reinterpret_cast<char *>(&count), 8);
      file.read(reinterpret_cast<char *>(&size), 8);
      std::vector<uint64_t> values(count, 0);
      for (uint64_t &value : values)
        file.read(reinterpret_cast<char *>(&value), static_cast<std::streamsize>(size));
      result[name] = std::move(values);
    }
    return result;
  }();
  return all;
}

const std::vector<uint64_t> &table(const std::string &name) {
  static const std::vector<uint64_t> empty;
  auto it = tables().find(name);
  EXPECT_NE(it, tables().end()) << name;
  return it == tables().end() ? empty : it->second;
}

/// Bits of \p value as f32, NaNs made one.
uint32_t bitsOf(double value) {
  auto narrow = static_cast<float>(value);
  return std::isnan(narrow) ? 0x7fc00000u : std::bit_cast<uint32_t>(narrow);
}

template <typename Function> void compareAll(const std::string &name, Function compute) {
  const auto &expected = table(name);
  int shown = 0;
  for (size_t code = 0; code < expected.size() && shown < 10; ++code) {
    uint64_t got = compute(code);
    if (got != expected[code]) {
      ADD_FAILURE() << name << ", code " << std::hex << code << ": got " << got
                    << ", the model says " << expected[code];
      ++shown;
    }
  }
}

TEST(DL16Test, DecodesEveryCode) {
  ASSERT_EQ(table("decode.dl16").size(), 65536u);
  compareAll("decode.dl16", [](size_t c) { return bitsOf(decodeDL16(static_cast<uint16_t>(c))); });
}

TEST(DL16Test, EncodingIsTheInverseOfDecoding) {
  for (unsigned code = 0; code < 65536; ++code) {
    float value = decodeDL16(static_cast<uint16_t>(code));
    EXPECT_EQ(encodeDL16(value), code);
    EXPECT_EQ(encodeDL16(double(value)), code);
    EXPECT_EQ(encodeDL16Saturating(value), code);
    EXPECT_EQ(encodeDL16Saturating(double(value)), code);
  }
}

TEST(DL16Test, RoundsAroundEveryCodeAndMidpoint) {
  const auto &bits = table("round.bits"), &arithmetic = table("round.arith"),
             &copy = table("round.copy");
  ASSERT_GT(bits.size(), 190000u);
  ASSERT_EQ(bits.size(), arithmetic.size());
  ASSERT_EQ(bits.size(), copy.size());
  for (size_t i = 0; i < bits.size(); ++i) {
    auto value = std::bit_cast<double>(bits[i]);
    for (unsigned sign : {0u, 0x8000u}) {
      double x = sign ? -value : value;
      ASSERT_EQ(encodeDL16(x), arithmetic[i] | sign) << x;
      ASSERT_EQ(encodeDL16Saturating(x), copy[i] | sign) << x;
      if (double(float(x)) == x) {
        ASSERT_EQ(encodeDL16(float(x)), arithmetic[i] | sign) << x;
        ASSERT_EQ(encodeDL16Saturating(float(x)), copy[i] | sign) << x;
      }
    }
  }
}

TEST(DL16Test, FloatAndDoubleEncodersAgree) {
  // Neighbours in float of every code and midpoint: what the double list cannot hold.
  for (uint32_t code = 0; code < 0x8000; ++code)
    for (uint32_t step : {0u, 0x2000u})
      for (int delta : {-1, 0, 1}) {
        uint32_t bits = (code << 14) + step + (96u << 23) + uint32_t(delta);
        auto x = std::bit_cast<float>(bits);
        ASSERT_EQ(encodeDL16(x), encodeDL16(double(x))) << x;
        ASSERT_EQ(encodeDL16Saturating(-x), encodeDL16Saturating(double(-x))) << x;
      }
}

TEST(DL16Test, Specials) {
  for (float nan : {kNaN, -kNaN}) {
    EXPECT_EQ(encodeDL16(nan), 0x7fff);
    EXPECT_EQ(encodeDL16(double(nan)), 0x7fff);
    EXPECT_EQ(encodeDL16Saturating(nan), 0x7fff);
  }
  EXPECT_EQ(encodeDL16(-kInf), 0xffff);
  EXPECT_EQ(encodeDL16Saturating(-kInf), 0xffff);
  EXPECT_EQ(encodeDL16Saturating(double(kInf)), 0x7fff);
  EXPECT_EQ(decodeDL16(0xffff), -kInf);
  // A finfo.min mask stays finite when copied, not when computed.
  float lowest = std::numeric_limits<float>::lowest();
  EXPECT_EQ(decodeDL16(encodeDL16Saturating(lowest)), -8573157376.0f);
  EXPECT_EQ(roundToDL16(lowest), -kInf);
  EXPECT_EQ(encodeDL16(-0.0f), 0x8000);
  EXPECT_EQ(encodeDL16(1.0f), kDL16One);
  EXPECT_EQ(double(decodeDL16(kDL16MaxFiniteCode)), kDL16MaxFinite);
  EXPECT_EQ(double(decodeDL16(1)), kDL16SmallestNormal);
}

TEST(DL16Test, ConvertsEveryHostCode) {
  auto with = [](auto convert) {
    return [convert](size_t c) -> uint64_t { return convert(static_cast<uint16_t>(c)); };
  };
  compareAll("f16->dl16", with([](uint16_t c) { return convertF16ToDL16(c); }));
  compareAll("bf16->dl16", with([](uint16_t c) { return convertBF16ToDL16(c); }));
  compareAll("dl16->f16", with([](uint16_t c) { return convertDL16ToF16(c); }));
  compareAll("dl16->bf16", with([](uint16_t c) { return convertDL16ToBF16(c); }));
  compareAll("dl16->e4m3fn", with([](uint16_t c) { return encodeFP8E4M3(decodeDL16(c)); }));
  compareAll("dl16->e5m2", with([](uint16_t c) { return encodeFP8E5M2(decodeDL16(c)); }));
}

TEST(DL16Test, LargestBinary16SurvivesARoundTrip) {
  EXPECT_EQ(convertDL16ToF16(convertF16ToDL16(0xfbff)), 0xfbff);
  EXPECT_EQ(convertDL16ToF16(convertF16ToDL16(0x7bff)), 0x7bff);
  EXPECT_EQ(convertDL16ToF16(encodeDL16(65664.0f)), 0x7c00);
}

TEST(DL16Test, ArraysAgreeWithScalars) {
  std::vector<uint16_t> codes(65536 + 17), out(codes.size());
  // Runs of normal numbers between special ones, and an odd length.
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<uint16_t>(i < 65536 ? i : i * 40503u);
  std::vector<float> values(codes.size()), again(codes.size());
  decodeDL16(codes, values);
  for (size_t i = 0; i < codes.size(); ++i)
    ASSERT_EQ(values[i], decodeDL16(codes[i]));
  encodeDL16(values, out);
  EXPECT_EQ(out, codes);
  convertF16ToDL16(codes, out);
  for (size_t i = 0; i < codes.size(); ++i)
    ASSERT_EQ(out[i], convertF16ToDL16(codes[i])) << codes[i];
  convertDL16ToF16(codes, out);
  for (size_t i = 0; i < codes.size(); ++i)
    ASSERT_EQ(out[i], convertDL16ToF16(codes[i])) << codes[i];
  convertBF16ToDL16(codes, out);
  for (size_t i = 0; i < codes.size(); ++i)
    ASSERT_EQ(out[i], convertBF16ToDL16(codes[i]));
  convertDL16ToBF16(codes, out);
  for (size_t i = 0; i < codes.size(); ++i)
    ASSERT_EQ(out[i], convertDL16ToBF16(codes[i]));
  for (float &value : values)
    value *= 1.00073f;
  again = values;
  roundToDL16(again);
  encodeDL16(values, out);
  for (size_t i = 0; i < codes.size(); ++i)
    ASSERT_EQ(again[i], decodeDL16(out[i]));
  encodeDL16(values, out, DL16Overflow::Saturate);
  for (size_t i = 0; i < codes.size(); ++i)
    ASSERT_EQ(out[i], encodeDL16Saturating(values[i]));
}

TEST(DL16Test, MaximumAndMinimum) {
  EXPECT_TRUE(std::isnan(maximumOf(kNaN, kInf)));
  EXPECT_TRUE(std::isnan(minimumOf(-kInf, kNaN)));
  EXPECT_EQ(maximumOf(-kInf, 1.0f), 1.0f);
  EXPECT_EQ(minimumOf(kInf, 1.0f), 1.0f);
  EXPECT_FALSE(std::signbit(maximumOf(-0.0f, 0.0f)));
  EXPECT_FALSE(std::signbit(maximumOf(0.0f, -0.0f)));
  EXPECT_TRUE(std::signbit(minimumOf(0.0f, -0.0f)));
  EXPECT_TRUE(std::signbit(minimumOf(-0.0f, 0.0f)));
}

TEST(SmallFloatTest, DecodesEveryCode) {
  auto decoded = [](const SmallFloat &format) {
    return [&format](size_t c) -> uint64_t {
      return bitsOf(decodeSmallFloat(format, static_cast<uint16_t>(c)));
    };
  };
  compareAll("decode.f16", decoded(kBinary16));
  compareAll("decode.bf16", decoded(kBFloat16));
  compareAll("decode.e4m3fn", decoded(kE4M3FN));
  compareAll("decode.e5m2", decoded(kE5M2));
  compareAll("decode.e4m3fnuz", decoded(kE4M3FNUZ));
  compareAll("decode.e5m2fnuz", decoded(kE5M2FNUZ));
  compareAll("decode.e4m3fn",
             [](size_t c) { return bitsOf(decodeFP8E4M3(static_cast<uint8_t>(c))); });
  compareAll("decode.e5m2",
             [](size_t c) { return bitsOf(decodeFP8E5M2(static_cast<uint8_t>(c))); });
}

TEST(SmallFloatTest, EncodingIsTheInverseOfDecoding) {
  for (const SmallFloat *format :
       {&kBinary16, &kBFloat16, &kE4M3FN, &kE5M2, &kE4M3FNUZ, &kE5M2FNUZ}) {
    unsigned codes = 1u << (1 + format->exponentBits + format->fractionBits);
    for (unsigned code = 0; code < codes; ++code) {
      double value = decodeSmallFloat(*format, static_cast<uint16_t>(code));
      if (!std::isnan(value))
        ASSERT_EQ(encodeSmallFloat(*format, value, true), code);
      else
        ASSERT_TRUE(std::isnan(decodeSmallFloat(*format, encodeSmallFloat(*format, value, true))));
    }
  }
}

TEST(SmallFloatTest, BeyondTheRange) {
  EXPECT_EQ(getLargestFinite(kE4M3FN), 448);
  EXPECT_EQ(getLargestFinite(kE5M2), 57344);
  EXPECT_EQ(getLargestFinite(kBinary16), 65504);
  EXPECT_EQ(decodeFP8E4M3(encodeFP8E4M3(1e6f)), 448);
  EXPECT_TRUE(std::isnan(decodeFP8E4M3(encodeFP8E4M3(kInf))));
  EXPECT_EQ(encodeSmallFloat(kBinary16, 65519.99, false), 0x7bff);
  EXPECT_EQ(encodeSmallFloat(kBinary16, 65520.0, false), 0x7c00);
  EXPECT_EQ(encodeSmallFloat(kE4M3FN, 464, false), 0x7e);
  EXPECT_EQ(encodeSmallFloat(kE4M3FN, 465, false), 0x7f);
}

} // namespace
