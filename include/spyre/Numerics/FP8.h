//===- FP8.h - The 8-bit floating-point formats and binary16 ----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scalar conversions of the small IEEE-like formats: binary16, bfloat16, and the
// four 8-bit formats of PyTorch. SEN143_FP8 (1-4-3, largest value 448) is
// float8_e4m3fn bit for bit; SEN152_FP8 (1-5-2) is read as float8_e5m2.
// Subnormals exist in all of them. Encoding is nearest, ties to even.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_NUMERICS_FP8_H
#define SPYRE_NUMERICS_FP8_H

#include <cstdint>

namespace spyre {

/// An IEEE-like format of at most 16 bits.
struct SmallFloat {
  enum class Specials : uint8_t {
    IEEE,    ///< the top exponent holds infinities and NaNs
    OneNaN,  ///< only the code of all ones (of either sign) is special, a NaN
    NegZero, ///< only the code of -0 is special, a NaN ("fnuz")
  };
  int exponentBits;
  int fractionBits;
  int bias;
  Specials specials;
};

inline constexpr SmallFloat kBinary16{5, 10, 15, SmallFloat::Specials::IEEE};
inline constexpr SmallFloat kBFloat16{8, 7, 127, SmallFloat::Specials::IEEE};
inline constexpr SmallFloat kE4M3FN{4, 3, 7, SmallFloat::Specials::OneNaN};
inline constexpr SmallFloat kE5M2{5, 2, 15, SmallFloat::Specials::IEEE};
inline constexpr SmallFloat kE4M3FNUZ{4, 3, 8, SmallFloat::Specials::NegZero};
inline constexpr SmallFloat kE5M2FNUZ{5, 2, 16, SmallFloat::Specials::NegZero};

/// The value of \p code, exactly.
double decodeSmallFloat(const SmallFloat &format, uint16_t code);
/// The nearest code. Beyond the largest finite value: that value if \p saturate,
/// else infinity (where the format has one) or NaN. Infinities and NaNs become
/// infinities and NaNs where the format has them, else NaN.
uint16_t encodeSmallFloat(const SmallFloat &format, double value, bool saturate);
/// Largest finite value.
double getLargestFinite(const SmallFloat &format);

float decodeFP8E4M3(uint8_t code);
float decodeFP8E5M2(uint8_t code);
/// The device's narrowing: finite values saturate (448, 57344); infinity and NaN
/// become NaN in 1-4-3, stay what they are in 1-5-2.
uint8_t encodeFP8E4M3(float value);
uint8_t encodeFP8E5M2(float value);

} // namespace spyre

#endif // SPYRE_NUMERICS_FP8_H
