//===- DL16.h - The device's 16-bit floating-point format -------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DL16 (SEN169_FP16): sign 1, exponent 6 (bias 31), fraction 9, value
// 2^(e-31) (1 + m/512). Code 0 is zero, there are no subnormals, and the code of
// all ones is the one infinity/NaN, with a sign. It decodes as an infinity; a NaN
// encodes as the positive one, so that results do not depend on the sign that a
// processor gives its NaNs.
//
// An operation of the device computes in float and rounds once: roundToDL16()
// of a float result is what the device stores. maximumOf() and minimumOf() are
// what float arithmetic does not give. The whole contract stands in
// docs/developer/numerics.md. Source: docs/formats/superdsc-rules.md, section 4.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_NUMERICS_DL16_H
#define SPYRE_NUMERICS_DL16_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

namespace spyre {

inline constexpr double kDL16MaxFinite = 8573157376.0;
/// 2^-31 (1 + 1/512), the smallest value above zero.
inline constexpr double kDL16SmallestNormal = 0x1.008p-31;
/// Up to here each integer is a number.
inline constexpr int64_t kDL16MostCounted = 1024;
inline constexpr uint16_t kDL16MaxFiniteCode = 0x7ffe;
inline constexpr uint16_t kDL16InfinityCode = 0x7fff;
inline constexpr uint16_t kDL16One = 31 << 9;

/// True if DL16 holds \p value up to its rounding: it is zero, no number, or neither too
/// small nor too large.
inline bool isInDL16Range(double value) {
  double magnitude = std::fabs(value);
  return magnitude == 0.0 || !std::isfinite(value) ||
         (magnitude >= kDL16SmallestNormal && magnitude <= kDL16MaxFinite);
}

/// What becomes of a value beyond the largest finite one.
enum class DL16Overflow : uint8_t {
  /// Arithmetic: infinity.
  ToInfinity,
  /// Copy-in, folding and narrowing: a finite value stays finite, at
  /// +-8573157376, so that a finfo.min mask is still a large number.
  Saturate,
};

/// The value of \p code, exactly.
inline float decodeDL16(uint16_t code) {
  uint32_t magnitude = code & 0x7fffu;
  uint32_t bits = (magnitude << 14) + ((127u - 31u) << 23);
  bits = magnitude == 0 ? 0 : bits;
  bits = magnitude == kDL16InfinityCode ? 0x7f800000u : bits;
  return std::bit_cast<float>(bits | (uint32_t(code & 0x8000u) << 16));
}

/// The nearest code, ties to the even one; the sign is kept, also of zero.
/// Branch-free and in signed numbers, so that loops over arrays become short vector
/// code.
inline uint16_t encodeDL16(float value, DL16Overflow overflow = DL16Overflow::ToInfinity) {
  constexpr int32_t kBase = 96 << 23, kInfinity = 0x7f800000;
  constexpr int32_t kSmallest = kBase | (1 << 14), kHalfOfSmallest = (95 << 23) | (1 << 14);
  auto bits = std::bit_cast<int32_t>(value);
  int32_t magnitude = bits & 0x7fffffff;
  // A finite value may be as large as 2^128; the limit depends on who asks.
  int32_t limit = overflow == DL16Overflow::Saturate && magnitude < kInfinity
                      ? kBase + (kDL16MaxFiniteCode << 14)
                      : kBase + (kDL16InfinityCode << 14);
  int32_t clamped = magnitude < kSmallest ? kSmallest : magnitude;
  clamped = clamped > limit ? limit : clamped;
  int32_t code = ((clamped + 0x1fff + ((clamped >> 14) & 1)) >> 14) - (kBase >> 14);
  // Between zero and the smallest value there is nothing: the nearer of the two.
  code = magnitude > kHalfOfSmallest ? code : 0;
  int32_t sign = magnitude > kInfinity ? 0 : (bits >> 16) & 0x8000;
  return static_cast<uint16_t>(code | sign);
}

/// The same for a double: one rounding, not two.
uint16_t encodeDL16(double value, DL16Overflow overflow = DL16Overflow::ToInfinity);

/// encodeDL16 with saturation.
inline uint16_t encodeDL16Saturating(float value) {
  return encodeDL16(value, DL16Overflow::Saturate);
}
inline uint16_t encodeDL16Saturating(double value) {
  return encodeDL16(value, DL16Overflow::Saturate);
}

/// What an operation that computed \p value leaves: never a NaN.
inline float roundToDL16(float value) { return decodeDL16(encodeDL16(value)); }
inline float roundToDL16(double value) { return decodeDL16(encodeDL16(value)); }

/// IEEE 754 binary16 to DL16. Always in range: a fraction bit is rounded away,
/// subnormals become exact normal values. NaN gives the positive infinity.
uint16_t convertF16ToDL16(uint16_t f16);
/// DL16 to binary16. 65536 gives 65504 (which 65504 was rounded to on its way
/// in), larger magnitudes infinity; small ones round to subnormals or zero.
uint16_t convertDL16ToF16(uint16_t dl16);
/// bfloat16 to DL16; finite values beyond the range saturate.
uint16_t convertBF16ToDL16(uint16_t bf16);
uint16_t convertDL16ToBF16(uint16_t dl16);

// The same for arrays. Both spans have one size.
void decodeDL16(std::span<const uint16_t> codes, std::span<float> values);
void encodeDL16(std::span<const float> values, std::span<uint16_t> codes,
                DL16Overflow overflow = DL16Overflow::ToInfinity);
void roundToDL16(std::span<float> values);
void convertF16ToDL16(std::span<const uint16_t> f16, std::span<uint16_t> dl16);
void convertDL16ToF16(std::span<const uint16_t> dl16, std::span<uint16_t> f16);
void convertBF16ToDL16(std::span<const uint16_t> bf16, std::span<uint16_t> dl16);
void convertDL16ToBF16(std::span<const uint16_t> dl16, std::span<uint16_t> bf16);

/// Maximum as the device and PyTorch have it: a NaN wins (in DL16 it is the
/// infinity code and wins anyway), +0 is above -0.
inline float maximumOf(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
inline float minimumOf(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

} // namespace spyre

#endif // SPYRE_NUMERICS_DL16_H
