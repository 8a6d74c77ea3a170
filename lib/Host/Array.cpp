//===- Array.cpp - Elements of host arrays --------------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements in their dtype, and as bytes.
//
//===----------------------------------------------------------------------===//

#include "Call.h"
#include "spyre/Numerics/FP8.h"
#include "spyre/Numerics/HostConversion.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace spyre::host {

bool Array::isComplex() const {
  return dtype == HostType::Complex64 || dtype == HostType::Complex128;
}

bool Array::isFloat() const { return spyre::isFloat(dtype) && !isComplex(); }

int64_t Array::getNumElements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

double Array::getNumber(int64_t i) const {
  return isFloat()     ? numbers[i]
         : isComplex() ? complexes[i].real()
                       : static_cast<double>(integers[i]);
}

/// Truncated. What does not fit has no defined value in PyTorch.
static int64_t truncate(double value) {
  return std::fabs(value) < 0x1p63 ? static_cast<int64_t>(value) : 0;
}

int64_t Array::getInteger(int64_t i) const {
  return isInteger() ? integers[i] : truncate(getNumber(i));
}

std::complex<double> Array::getComplex(int64_t i) const {
  return isComplex() ? complexes[i] : std::complex<double>(getNumber(i));
}

Array makeArray(HostType dtype, std::vector<int64_t> shape) {
  Array array;
  array.dtype = dtype;
  array.shape = std::move(shape);
  int64_t count = array.getNumElements();
  if (array.isFloat())
    array.numbers.resize(count);
  else if (array.isComplex())
    array.complexes.resize(count);
  else
    array.integers.resize(count);
  return array;
}

/// The format of a float type of at most 16 bits, else null.
static const SmallFloat *getSmallFloat(HostType dtype) {
  switch (dtype) {
  case HostType::Float16:
    return &kBinary16;
  case HostType::BFloat16:
    return &kBFloat16;
  case HostType::Float8E4M3FN:
    return &kE4M3FN;
  case HostType::Float8E5M2:
    return &kE5M2;
  case HostType::Float8E4M3FNUZ:
    return &kE4M3FNUZ;
  case HostType::Float8E5M2FNUZ:
    return &kE5M2FNUZ;
  default:
    return nullptr;
  }
}

double getLargest(HostType dtype) {
  switch (dtype) {
  case HostType::Float16:
    return 65504;
  case HostType::BFloat16:
    return 0x1.fep127;
  case HostType::Float8E4M3FN:
    return 448;
  case HostType::Float8E4M3FNUZ:
    return 240;
  case HostType::Float8E5M2:
  case HostType::Float8E5M2FNUZ:
    return 57344;
  case HostType::Float32:
    return std::numeric_limits<float>::max();
  default:
    return std::numeric_limits<double>::max();
  }
}

/// Exponent of a normal double.
static int getExponent(double value) {
  return static_cast<int>(std::bit_cast<uint64_t>(value) >> 52 & 0x7ff) - 1023;
}

double roundTo(HostType dtype, double value) {
  if (dtype == HostType::Float32)
    return static_cast<float>(value);
  const SmallFloat *format = getSmallFloat(dtype);
  if (!format)
    return value;
  // PyTorch's casts saturate in this format and in no other.
  if (dtype == HostType::Float8E4M3FN && std::fabs(value) > getLargest(dtype))
    return std::copysign(getLargest(dtype), value);
  if (value == 0 && format->specials != SmallFloat::Specials::NegZero)
    return value;
  int exponent = getExponent(value), least = 1 - format->bias;
  if (exponent < 1 - format->bias - format->fractionBits || exponent > format->bias + 1)
    return decodeSmallFloat(*format, encodeSmallFloat(*format, value, /*saturate=*/false));
  // Added to 1.5 of what makes a quantum of the format its last bit, and taken away again.
  int scale = 52 + std::max(exponent, least) - format->fractionBits;
  double large = std::bit_cast<double>(static_cast<uint64_t>(scale + 1023) << 52 | 1ull << 51);
  double rounded = value + large - large;
  if (rounded == 0 || std::fabs(rounded) > getLargest(dtype))
    return decodeSmallFloat(*format, encodeSmallFloat(*format, value, /*saturate=*/false));
  return rounded;
}

/// encodeSmallFloat and decodeSmallFloat, faster for normal numbers.
static uint16_t encode(const SmallFloat &format, HostType dtype, double value) {
  double rounded = roundTo(dtype, value);
  int exponent = getExponent(rounded) + format.bias;
  if (exponent < 1 || std::fabs(rounded) > getLargest(dtype) || std::isnan(rounded))
    return encodeSmallFloat(format, rounded, /*saturate=*/false);
  auto bits = std::bit_cast<uint64_t>(rounded);
  uint64_t fraction = bits << 12 >> (64 - format.fractionBits),
           sign = bits >> 63 << (format.exponentBits + format.fractionBits);
  return static_cast<uint16_t>(sign | static_cast<uint64_t>(exponent) << format.fractionBits |
                               fraction);
}

static double decode(const SmallFloat &format, uint16_t code) {
  if (code == 0)
    return 0;
  int exponent = code >> format.fractionBits & ((1 << format.exponentBits) - 1);
  if (exponent == 0 || exponent == (1 << format.exponentBits) - 1)
    return decodeSmallFloat(format, code);
  uint64_t fraction = code & ((1u << format.fractionBits) - 1),
           sign = code >> (format.exponentBits + format.fractionBits) & 1;
  return std::bit_cast<double>(sign << 63 |
                               static_cast<uint64_t>(exponent - format.bias + 1023) << 52 |
                               fraction << (52 - format.fractionBits));
}

/// Calls \p function with a value of the C++ type that holds an element of \p dtype.
template <typename F> static void visitStored(HostType dtype, F function) {
  switch (dtype) {
  case HostType::Float16:
  case HostType::BFloat16:
    return function(uint16_t());
  case HostType::Float8E4M3FN:
  case HostType::Float8E5M2:
  case HostType::Float8E4M3FNUZ:
  case HostType::Float8E5M2FNUZ:
  case HostType::UInt8:
  case HostType::Bool:
    return function(uint8_t());
  case HostType::Float32:
    return function(float());
  case HostType::Float64:
    return function(double());
  case HostType::Int8:
    return function(int8_t());
  case HostType::Int16:
    return function(int16_t());
  case HostType::Int32:
    return function(int32_t());
  case HostType::Int64:
    return function(int64_t());
  case HostType::Complex64:
    return function(std::complex<float>());
  case HostType::Complex128:
    return function(std::complex<double>());
  }
}

Array fromBytes(HostType dtype, std::vector<int64_t> shape, const char *bytes) {
  Array array = makeArray(dtype, std::move(shape));
  const SmallFloat *format = getSmallFloat(dtype);
  visitStored(dtype, [&](auto value) {
    for (int64_t i = 0, n = array.getNumElements(); i < n; ++i, bytes += sizeof(value)) {
      std::memcpy(&value, bytes, sizeof(value));
      if constexpr (std::is_arithmetic_v<decltype(value)>) {
        if (format)
          array.numbers[i] = decode(*format, static_cast<uint16_t>(value));
        else if (std::is_floating_point_v<decltype(value)>)
          array.numbers[i] = static_cast<double>(value);
        else
          array.integers[i] =
              dtype == HostType::Bool ? int64_t(value != 0) : static_cast<int64_t>(value);
      } else {
        array.complexes[i] = value;
      }
    }
  });
  return array;
}

void toBytes(const Array &array, char *out) {
  const SmallFloat *format = getSmallFloat(array.dtype);
  visitStored(array.dtype, [&](auto value) {
    using T = decltype(value);
    for (int64_t i = 0, n = array.getNumElements(); i < n; ++i, out += sizeof(value)) {
      if constexpr (std::is_arithmetic_v<T>) {
        if (format)
          value = static_cast<T>(encode(*format, array.dtype, array.numbers[i]));
        else
          value = std::is_floating_point_v<T> ? static_cast<T>(array.numbers[i])
                                              : static_cast<T>(array.integers[i]);
      } else {
        value = T(array.complexes[i]);
      }
      std::memcpy(out, &value, sizeof(value));
    }
  });
}

static int64_t wrapTo(HostType dtype, int64_t value) {
  switch (dtype) {
  case HostType::Bool:
    return value != 0;
  case HostType::Int8:
    return static_cast<int8_t>(value);
  case HostType::UInt8:
    return static_cast<uint8_t>(value);
  case HostType::Int16:
    return static_cast<int16_t>(value);
  case HostType::Int32:
    return static_cast<int32_t>(value);
  default:
    return value;
  }
}

void Array::set(int64_t i, double value) {
  if (isFloat())
    numbers[i] = roundTo(dtype, value);
  else if (dtype == HostType::Bool)
    integers[i] = value != 0;
  else if (isInteger())
    integers[i] = wrapTo(dtype, truncate(value));
  else
    set(i, std::complex<double>(value));
}

void Array::set(int64_t i, int64_t value) {
  if (isInteger())
    integers[i] = wrapTo(dtype, value);
  else
    set(i, static_cast<double>(value));
}

void Array::set(int64_t i, std::complex<double> value) {
  if (dtype == HostType::Bool)
    integers[i] = value != 0.0;
  else if (!isComplex())
    set(i, value.real());
  else if (dtype == HostType::Complex64)
    complexes[i] = std::complex<float>(value);
  else
    complexes[i] = value;
}

void Array::copy(int64_t i, const Array &source, int64_t from) {
  if (source.isFloat())
    set(i, source.numbers[from]);
  else if (source.isComplex())
    set(i, source.complexes[from]);
  else
    set(i, source.integers[from]);
}

Array castTo(const Array &array, HostType dtype) {
  if (array.dtype == dtype)
    return array;
  Array cast = makeArray(dtype, array.shape);
  for (int64_t i = 0, n = array.getNumElements(); i < n; ++i)
    cast.copy(i, array, i);
  return cast;
}

} // namespace spyre::host
