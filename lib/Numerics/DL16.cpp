//===- DL16.cpp - The device's 16-bit floating-point format -----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversions to and from the host's 16-bit formats, and array forms. The
// conversions of single 16-bit codes are tables; arrays of binary16 go through
// integer arithmetic a block at a time (normal numbers need no table) and fall
// back to the table for the block that has anything else.
//
//===----------------------------------------------------------------------===//

#include "spyre/Numerics/DL16.h"

#include "WideClones.h"
#include "spyre/Numerics/FP8.h"

#include <algorithm>
#include <cassert>
#include <vector>

using namespace spyre;

uint16_t spyre::encodeDL16(double value, DL16Overflow overflow) {
  constexpr int kShift = 52 - 9;
  constexpr uint64_t kBase = uint64_t(1023 - 31) << 9;
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint64_t magnitude = bits & ~(uint64_t(1) << 63);
  constexpr uint64_t kInfinity = uint64_t(0x7ff) << 52;
  if (magnitude > kInfinity)
    return kDL16InfinityCode;
  auto sign = static_cast<uint16_t>((bits >> 48) & 0x8000u);
  double absolute = std::bit_cast<double>(magnitude);
  if (absolute < kDL16SmallestNormal)
    return sign | (absolute > kDL16SmallestNormal / 2 ? 1 : 0);
  uint64_t half = (uint64_t(1) << (kShift - 1)) - 1;
  uint64_t code = ((magnitude + half + ((magnitude >> kShift) & 1)) >> kShift) - kBase;
  uint64_t limit = overflow == DL16Overflow::Saturate && magnitude != kInfinity ? kDL16MaxFiniteCode
                                                                                : kDL16InfinityCode;
  return sign | static_cast<uint16_t>(std::min(code, limit));
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {

/// One entry for each of the 65536 codes.
class CodeTable {
public:
  template <typename Function> explicit CodeTable(Function convert) : entries(65536) {
    for (unsigned code = 0; code < 65536; ++code)
      entries[code] = convert(static_cast<uint16_t>(code));
  }
  uint16_t operator[](uint16_t code) const { return entries[code]; }

private:
  std::vector<uint16_t> entries;
};

const CodeTable &f16ToDL16() {
  static const CodeTable table(
      [](uint16_t code) { return encodeDL16Saturating(decodeSmallFloat(kBinary16, code)); });
  return table;
}

const CodeTable &dl16ToF16() {
  static const CodeTable table([](uint16_t code) -> uint16_t {
    float value = decodeDL16(code);
    // 65504, the largest binary16 value, lies halfway between two codes and came
    // in as 65536; it goes out as itself.
    if (std::fabs(value) == 65536.0f)
      value = std::copysign(65504.0f, value);
    return encodeSmallFloat(kBinary16, value, /*saturate=*/false);
  });
  return table;
}

uint16_t fromBF16(uint16_t bf16) {
  return encodeDL16Saturating(std::bit_cast<float>(uint32_t(bf16) << 16));
}

/// Nearest even; an infinity has no bits to round. There is no NaN.
uint16_t toBF16(uint16_t dl16) {
  uint32_t bits = std::bit_cast<uint32_t>(decodeDL16(dl16));
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// Elements that are checked together for anything but normal numbers.
constexpr size_t kBlock = 64;

} // namespace

uint16_t spyre::convertF16ToDL16(uint16_t f16) { return f16ToDL16()[f16]; }
uint16_t spyre::convertDL16ToF16(uint16_t dl16) { return dl16ToF16()[dl16]; }
uint16_t spyre::convertBF16ToDL16(uint16_t bf16) { return fromBF16(bf16); }
uint16_t spyre::convertDL16ToBF16(uint16_t dl16) { return toBF16(dl16); }

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

void spyre::decodeDL16(std::span<const uint16_t> codes, std::span<float> values) {
  assert(codes.size() == values.size());
  const uint16_t *in = codes.data();
  float *out = values.data();
  for (size_t i = 0, n = codes.size(); i < n; ++i)
    out[i] = decodeDL16(in[i]);
}

void spyre::encodeDL16(std::span<const float> values, std::span<uint16_t> codes,
                       DL16Overflow overflow) {
  assert(codes.size() == values.size());
  const float *in = values.data();
  uint16_t *out = codes.data();
  size_t n = values.size();
  // The choice outside the loops keeps them free of it.
  if (overflow == DL16Overflow::Saturate)
    for (size_t i = 0; i < n; ++i)
      out[i] = encodeDL16(in[i], DL16Overflow::Saturate);
  else
    for (size_t i = 0; i < n; ++i)
      out[i] = encodeDL16(in[i], DL16Overflow::ToInfinity);
}

void spyre::roundToDL16(std::span<float> values) {
  for (float &value : values)
    value = roundToDL16(value);
}

SPYRE_WIDE_CLONES void spyre::convertF16ToDL16(std::span<const uint16_t> f16,
                                               std::span<uint16_t> dl16) {
  assert(f16.size() == dl16.size());
  const CodeTable &table = f16ToDL16();
  for (size_t begin = 0; begin < f16.size(); begin += kBlock) {
    size_t n = std::min(kBlock, f16.size() - begin);
    const uint16_t *in = f16.data() + begin;
    uint16_t *out = dl16.data() + begin;
    uint16_t special = 0;
    for (size_t i = 0; i < n; ++i) {
      uint16_t magnitude = in[i] & 0x7fff;
      // Normal numbers have an exponent field of 1 to 30.
      special |= uint16_t(magnitude != 0) & uint16_t(uint16_t(magnitude - 0x400) >= 0x7800);
      uint16_t rounded = uint16_t(magnitude + ((magnitude >> 1) & 1)) >> 1;
      uint16_t code = uint16_t(rounded + ((31 - 15) << 9));
      code = magnitude == 0 ? 0 : code;
      out[i] = code | (in[i] & 0x8000);
    }
    if (special)
      for (size_t i = 0; i < n; ++i)
        out[i] = table[in[i]];
  }
}

SPYRE_WIDE_CLONES void spyre::convertDL16ToF16(std::span<const uint16_t> dl16,
                                               std::span<uint16_t> f16) {
  assert(f16.size() == dl16.size());
  const CodeTable &table = dl16ToF16();
  for (size_t begin = 0; begin < dl16.size(); begin += kBlock) {
    size_t n = std::min(kBlock, dl16.size() - begin);
    const uint16_t *in = dl16.data() + begin;
    uint16_t *out = f16.data() + begin;
    uint16_t special = 0;
    for (size_t i = 0; i < n; ++i) {
      uint16_t magnitude = in[i] & 0x7fff;
      // Exponents -14 to 15 are binary16's normal numbers.
      uint16_t shifted = uint16_t(magnitude - ((31 - 14) << 9));
      special |= uint16_t(magnitude != 0) & uint16_t(shifted >= (30 << 9));
      uint16_t code = uint16_t((shifted << 1) + 0x400);
      code = magnitude == 0 ? 0 : code;
      out[i] = code | (in[i] & 0x8000);
    }
    if (special)
      for (size_t i = 0; i < n; ++i)
        out[i] = table[in[i]];
  }
}

void spyre::convertBF16ToDL16(std::span<const uint16_t> bf16, std::span<uint16_t> dl16) {
  assert(bf16.size() == dl16.size());
  for (size_t i = 0, n = bf16.size(); i < n; ++i)
    dl16[i] = fromBF16(bf16[i]);
}

void spyre::convertDL16ToBF16(std::span<const uint16_t> dl16, std::span<uint16_t> bf16) {
  assert(bf16.size() == dl16.size());
  for (size_t i = 0, n = dl16.size(); i < n; ++i)
    bf16[i] = toBF16(dl16[i]);
}
