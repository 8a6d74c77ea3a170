//===- FP8.cpp - The 8-bit floating-point formats and binary16 --*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One general decoder and encoder, and tables of the 8-bit formats.
//
//===----------------------------------------------------------------------===//

#include "spyre/Numerics/FP8.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace spyre;

static int totalBits(const SmallFloat &f) { return 1 + f.exponentBits + f.fractionBits; }

/// Code (without sign) of the largest finite value.
static uint32_t largestFiniteCode(const SmallFloat &f) {
  uint32_t all = (1u << (f.exponentBits + f.fractionBits)) - 1;
  switch (f.specials) {
  case SmallFloat::Specials::IEEE:
    return all - (1u << f.fractionBits);
  case SmallFloat::Specials::OneNaN:
    return all - 1;
  case SmallFloat::Specials::NegZero:
    return all;
  }
  return all;
}

double spyre::decodeSmallFloat(const SmallFloat &f, uint16_t code) {
  uint32_t signBit = 1u << (totalBits(f) - 1);
  uint32_t magnitude = code & (signBit - 1);
  bool negative = code & signBit;
  uint32_t exponent = magnitude >> f.fractionBits;
  uint32_t fraction = magnitude & ((1u << f.fractionBits) - 1);
  if (f.specials == SmallFloat::Specials::NegZero && negative && magnitude == 0)
    return std::numeric_limits<double>::quiet_NaN();
  if (magnitude > largestFiniteCode(f)) {
    if (f.specials == SmallFloat::Specials::IEEE && fraction == 0)
      return negative ? -std::numeric_limits<double>::infinity()
                      : std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
  }
  double value = exponent == 0 ? std::ldexp(double(fraction), 1 - f.bias - f.fractionBits)
                               : std::ldexp(double(fraction | (1u << f.fractionBits)),
                                            int(exponent) - f.bias - f.fractionBits);
  return negative ? -value : value;
}

double spyre::getLargestFinite(const SmallFloat &f) {
  return decodeSmallFloat(f, static_cast<uint16_t>(largestFiniteCode(f)));
}

/// A quiet NaN of the format.
static uint16_t nanCode(const SmallFloat &f) {
  uint32_t all = (1u << (f.exponentBits + f.fractionBits)) - 1;
  switch (f.specials) {
  case SmallFloat::Specials::IEEE: // top exponent, leading fraction bit
    return static_cast<uint16_t>(largestFiniteCode(f) + 1 + (1u << (f.fractionBits - 1)));
  case SmallFloat::Specials::OneNaN:
    return static_cast<uint16_t>(all);
  case SmallFloat::Specials::NegZero:
    return static_cast<uint16_t>(all + 1);
  }
  return 0;
}

/// \p x rounded to an integer, ties to even, whatever the rounding mode.
static double roundHalfEven(double x) {
  double floor = std::floor(x), rest = x - floor;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(floor, 2.0) != 0))
    return floor + 1;
  return floor;
}

uint16_t spyre::encodeSmallFloat(const SmallFloat &f, double value, bool saturate) {
  uint16_t sign = std::signbit(value) ? static_cast<uint16_t>(1u << (totalBits(f) - 1)) : 0;
  bool hasInfinity = f.specials == SmallFloat::Specials::IEEE;
  auto infinity = static_cast<uint16_t>(largestFiniteCode(f) + 1);
  if (std::isnan(value))
    return nanCode(f);
  if (std::isinf(value))
    return hasInfinity ? infinity | sign : nanCode(f);
  double magnitude = std::fabs(value);
  if (magnitude == 0)
    return f.specials == SmallFloat::Specials::NegZero ? 0 : sign;
  // The binade's quantum; below the smallest normal exponent it stays fixed.
  int exponent = std::max(std::ilogb(magnitude), 1 - f.bias);
  double steps = roundHalfEven(std::ldexp(magnitude, f.fractionBits - exponent));
  // steps counts quanta: 2^fractionBits of them start the binade. Adding to the
  // exponent field lets a carry move into the next binade.
  double code = std::ldexp(double(exponent + f.bias - 1), f.fractionBits) + steps;
  if (code > largestFiniteCode(f)) {
    if (saturate)
      return static_cast<uint16_t>(largestFiniteCode(f)) | sign;
    return hasInfinity ? infinity | sign : nanCode(f);
  }
  if (code == 0 && f.specials == SmallFloat::Specials::NegZero)
    return 0;
  return static_cast<uint16_t>(code) | sign;
}

static std::array<float, 256> makeTable(const SmallFloat &format) {
  std::array<float, 256> table;
  for (unsigned code = 0; code < 256; ++code)
    table[code] = static_cast<float>(decodeSmallFloat(format, static_cast<uint16_t>(code)));
  return table;
}

float spyre::decodeFP8E4M3(uint8_t code) {
  static const std::array<float, 256> table = makeTable(kE4M3FN);
  return table[code];
}

float spyre::decodeFP8E5M2(uint8_t code) {
  static const std::array<float, 256> table = makeTable(kE5M2);
  return table[code];
}

uint8_t spyre::encodeFP8E4M3(float value) {
  return static_cast<uint8_t>(encodeSmallFloat(kE4M3FN, value, /*saturate=*/true));
}

uint8_t spyre::encodeFP8E5M2(float value) {
  return static_cast<uint8_t>(encodeSmallFloat(kE5M2, value, /*saturate=*/true));
}
