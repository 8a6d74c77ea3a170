//===- HostConversion.cpp - Elements between host and device ----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table of pairs (host type, device format), each with a converter of dense
// arrays in either direction. A strided run is gathered (or scattered) through
// a small buffer, so that the converters stay simple loops.
//
//===----------------------------------------------------------------------===//

#include "spyre/Numerics/HostConversion.h"
#include "spyre/Numerics/DL16.h"
#include "spyre/Numerics/FP8.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>
#include <utility>

using namespace spyre;

namespace {

/// Converts dense arrays; returns the first element without a form, or -1.
using Converter = int64_t (*)(const void *from, void *to, int64_t count);

/// Elements that pass through the buffer of a strided run at a time. The last of
/// 256 host elements of 16 bytes ends at 4 KiB.
constexpr int64_t kRun = 256;
constexpr int64_t kMaxWidthInBytes = 16;

template <typename T> T load(const void *from, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char *>(from) + i * int64_t(sizeof(T)), sizeof(T));
  return value;
}

template <typename T> void store(void *to, int64_t i, T value) {
  std::memcpy(static_cast<char *>(to) + i * int64_t(sizeof(T)), &value, sizeof(T));
}

template <typename T> int64_t copyBits(const void *from, void *to, int64_t count) {
  std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
  return -1;
}

/// A conversion that has a result for every code.
template <typename From, typename To, To (*convert)(From)>
int64_t convertEach(const void *from, void *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    store<To>(to, i, convert(load<From>(from, i)));
  return -1;
}

template <typename From, typename To> bool fits(From value) { return std::in_range<To>(value); }

template <typename From, typename To>
int64_t convertInteger(const void *from, void *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    From value = load<From>(from, i);
    if (!fits<From, To>(value))
      return i;
    store<To>(to, i, static_cast<To>(value));
  }
  return -1;
}

/// Integers as the nearest float, as PyTorch casts them; floats without their fraction, and what
/// no integer is (NaN, infinities, beyond the type) as the smallest one, as processors do.
template <typename Integer> int64_t integersToFloats(const void *from, void *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    store<float>(to, i, static_cast<float>(load<Integer>(from, i)));
  return -1;
}
template <typename Integer> int64_t floatsToIntegers(const void *from, void *to, int64_t count) {
  constexpr float kLimit = -static_cast<float>(std::numeric_limits<Integer>::min());
  for (int64_t i = 0; i < count; ++i) {
    float value = load<float>(from, i);
    bool isHeld = value >= -kLimit && value < kLimit;
    store<Integer>(to, i,
                   isHeld ? static_cast<Integer>(value) : std::numeric_limits<Integer>::min());
  }
  return -1;
}

/// Arrays of 16-bit codes; the buffers may be unaligned only on the host side,
/// where a run is copied first (see convertRun).
template <void (*convert)(std::span<const uint16_t>, std::span<uint16_t>)>
int64_t convertCodes(const void *from, void *to, int64_t count) {
  convert({static_cast<const uint16_t *>(from), static_cast<size_t>(count)},
          {static_cast<uint16_t *>(to), static_cast<size_t>(count)});
  return -1;
}

int64_t floatToDL16(const void *from, void *to, int64_t count) {
  encodeDL16({static_cast<const float *>(from), static_cast<size_t>(count)},
             {static_cast<uint16_t *>(to), static_cast<size_t>(count)}, DL16Overflow::Saturate);
  return -1;
}

int64_t dl16ToFloat(const void *from, void *to, int64_t count) {
  decodeDL16({static_cast<const uint16_t *>(from), static_cast<size_t>(count)},
             {static_cast<float *>(to), static_cast<size_t>(count)});
  return -1;
}

uint16_t boolToDL16(uint8_t value) { return value ? kDL16One : 0; }
/// Any value but zero is true, -0 is zero.
uint8_t dl16ToBool(uint16_t code) { return (code & 0x7fff) != 0; }

float f16ToFloat(uint16_t code) { return static_cast<float>(decodeSmallFloat(kBinary16, code)); }
uint16_t floatToF16(float value) { return encodeSmallFloat(kBinary16, value, false); }
float bf16ToFloat(uint16_t code) { return std::bit_cast<float>(uint32_t(code) << 16); }
uint16_t floatToBF16(float value) { return encodeSmallFloat(kBFloat16, value, false); }

/// fnuz has no infinity and half the range: what does not fit becomes its NaN
/// or its largest value, as in any narrowing.
uint8_t e5m2FnuzToE5M2(uint8_t code) {
  return static_cast<uint8_t>(encodeSmallFloat(kE5M2, decodeSmallFloat(kE5M2FNUZ, code), true));
}
uint8_t e5m2ToE5M2Fnuz(uint8_t code) {
  return static_cast<uint8_t>(encodeSmallFloat(kE5M2FNUZ, decodeSmallFloat(kE5M2, code), true));
}

struct Pair {
  HostType type;
  DataFormat format;
  Converter toDevice;
  Converter toHost;
};

template <typename Host, typename Device>
constexpr Pair integers(HostType type, DataFormat format) {
  return {type, format, convertInteger<Host, Device>, convertInteger<Device, Host>};
}
template <typename T> constexpr Pair sameBits(HostType type, DataFormat format) {
  return {type, format, copyBits<T>, copyBits<T>};
}

constexpr Pair kPairs[] = {
    {HostType::Float16, DataFormat::SEN169_FP16, convertCodes<convertF16ToDL16>,
     convertCodes<convertDL16ToF16>},
    {HostType::BFloat16, DataFormat::SEN169_FP16, convertCodes<convertBF16ToDL16>,
     convertCodes<convertDL16ToBF16>},
    {HostType::Float32, DataFormat::SEN169_FP16, floatToDL16, dl16ToFloat},
    {HostType::Bool, DataFormat::SEN169_FP16, convertEach<uint8_t, uint16_t, boolToDL16>,
     convertEach<uint16_t, uint8_t, dl16ToBool>},
    {HostType::Float16, DataFormat::IEEE_FP32, convertEach<uint16_t, float, f16ToFloat>,
     convertEach<float, uint16_t, floatToF16>},
    {HostType::BFloat16, DataFormat::IEEE_FP32, convertEach<uint16_t, float, bf16ToFloat>,
     convertEach<float, uint16_t, floatToBF16>},
    sameBits<float>(HostType::Float32, DataFormat::IEEE_FP32),
    sameBits<uint16_t>(HostType::Float16, DataFormat::IEEE_FP16),
    sameBits<uint16_t>(HostType::BFloat16, DataFormat::BFLOAT16),
    sameBits<uint8_t>(HostType::Float8E4M3FN, DataFormat::SEN143_FP8),
    sameBits<uint8_t>(HostType::Float8E5M2, DataFormat::SEN152_FP8),
    {HostType::Float8E5M2FNUZ, DataFormat::SEN152_FP8,
     convertEach<uint8_t, uint8_t, e5m2FnuzToE5M2>, convertEach<uint8_t, uint8_t, e5m2ToE5M2Fnuz>},
    integers<int8_t, int8_t>(HostType::Int8, DataFormat::SENINT8),
    integers<int16_t, int16_t>(HostType::Int16, DataFormat::SENINT16),
    integers<int32_t, int32_t>(HostType::Int32, DataFormat::IEEE_INT32),
    integers<int64_t, int32_t>(HostType::Int64, DataFormat::IEEE_INT32),
    integers<int64_t, int64_t>(HostType::Int64, DataFormat::IEEE_INT64),
    integers<uint8_t, uint32_t>(HostType::UInt8, DataFormat::SENUINT32),
    {HostType::Int32, DataFormat::IEEE_FP32, integersToFloats<int32_t>, floatsToIntegers<int32_t>},
    {HostType::Int64, DataFormat::IEEE_FP32, integersToFloats<int64_t>, floatsToIntegers<int64_t>},
    // Index tensors.
    integers<int32_t, uint32_t>(HostType::Int32, DataFormat::SENUINT32),
    integers<int64_t, uint32_t>(HostType::Int64, DataFormat::SENUINT32),
};

const Pair *lookup(HostType type, DataFormat format) {
  for (const Pair &pair : kPairs)
    if (pair.type == type && pair.format == format)
      return &pair;
  return nullptr;
}

/// Value of an integer element, for messages.
int64_t integerAt(const void *data, int64_t i, int64_t widthInBytes, bool isSigned) {
  switch (widthInBytes) {
  case 1:
    return isSigned ? load<int8_t>(data, i) : load<uint8_t>(data, i);
  case 2:
    return load<int16_t>(data, i);
  case 4:
    return isSigned ? int64_t(load<int32_t>(data, i)) : int64_t(load<uint32_t>(data, i));
  default:
    return load<int64_t>(data, i);
  }
}

std::string rangeOf(std::string_view name, int64_t widthInBytes, bool isSigned) {
  int bits = int(widthInBytes) * 8;
  int64_t high = bits == 64 ? std::numeric_limits<int64_t>::max()
                            : (int64_t(1) << (isSigned ? bits - 1 : bits)) - 1;
  int64_t low = isSigned ? -high - 1 : 0;
  return std::string(name) + " (" + std::to_string(low) + ".." + std::to_string(high) + ")";
}

bool isSigned(HostType type) { return type != HostType::UInt8; }
bool isSigned(DataFormat format) { return format != DataFormat::SENUINT32; }

std::string outOfRange(int64_t value, const std::string &range) {
  return std::to_string(value) + " is outside the range of " + range;
}

} // namespace

bool spyre::isFloat(HostType type) {
  switch (type) {
  case HostType::Int8:
  case HostType::Int16:
  case HostType::Int32:
  case HostType::Int64:
  case HostType::UInt8:
  case HostType::Bool:
    return false;
  default:
    return true;
  }
}

bool spyre::canConvert(HostType type, DataFormat format) { return lookup(type, format); }

std::optional<ConversionError> spyre::convertToDevice(HostType type, const void *host,
                                                      int64_t hostStrideInElements,
                                                      DataFormat format, void *device,
                                                      int64_t count) {
  const Pair *pair = lookup(type, format);
  assert(pair && "ask canConvert first");
  int64_t hostWidth = getWidthInBytes(type), deviceWidth = getWidthInBytes(format);
  auto fail = [&](const void *data, int64_t bad, int64_t element) -> ConversionError {
    return {element, outOfRange(integerAt(data, bad, hostWidth, isSigned(type)),
                                rangeOf(getFormatName(format), deviceWidth, isSigned(format)))};
  };
  auto aligned = [&](const void *p) { return reinterpret_cast<uintptr_t>(p) % hostWidth == 0; };
  if (hostStrideInElements == 1 && aligned(host)) {
    int64_t bad = pair->toDevice(host, device, count);
    if (bad >= 0)
      return fail(host, bad, bad);
    return std::nullopt;
  }
  alignas(kMaxWidthInBytes) char buffer[kRun * kMaxWidthInBytes];
  auto gather = [&]<typename T>(int64_t begin, int64_t n, T) {
    for (int64_t i = 0; i < n; ++i)
      store<T>(buffer, i, load<T>(host, (begin + i) * hostStrideInElements));
  };
  for (int64_t begin = 0; begin < count; begin += kRun) {
    int64_t n = std::min(kRun, count - begin);
    if (hostWidth == 1)
      gather(begin, n, uint8_t());
    else if (hostWidth == 2)
      gather(begin, n, uint16_t());
    else if (hostWidth == 4)
      gather(begin, n, uint32_t());
    else
      gather(begin, n, uint64_t());
    int64_t bad = pair->toDevice(buffer, static_cast<char *>(device) + begin * deviceWidth, n);
    if (bad >= 0)
      return fail(buffer, bad, begin + bad);
  }
  return std::nullopt;
}

std::optional<ConversionError> spyre::convertToHost(DataFormat format, const void *device,
                                                    HostType type, void *host,
                                                    int64_t hostStrideInElements, int64_t count) {
  const Pair *pair = lookup(type, format);
  assert(pair && "ask canConvert first");
  int64_t hostWidth = getWidthInBytes(type), deviceWidth = getWidthInBytes(format);
  auto fail = [&](const void *data, int64_t bad, int64_t element) -> ConversionError {
    return {element, outOfRange(integerAt(data, bad, deviceWidth, isSigned(format)),
                                rangeOf(getHostTypeName(type), hostWidth, isSigned(type)))};
  };
  auto aligned = [&](const void *p) { return reinterpret_cast<uintptr_t>(p) % hostWidth == 0; };
  if (hostStrideInElements == 1 && aligned(host)) {
    int64_t bad = pair->toHost(device, host, count);
    if (bad >= 0)
      return fail(device, bad, bad);
    return std::nullopt;
  }
  alignas(kMaxWidthInBytes) char buffer[kRun * kMaxWidthInBytes];
  auto scatter = [&]<typename T>(int64_t begin, int64_t n, T) {
    for (int64_t i = 0; i < n; ++i)
      store<T>(host, (begin + i) * hostStrideInElements, load<T>(buffer, i));
  };
  for (int64_t begin = 0; begin < count; begin += kRun) {
    int64_t n = std::min(kRun, count - begin);
    const char *from = static_cast<const char *>(device) + begin * deviceWidth;
    int64_t bad = pair->toHost(from, buffer, n);
    if (bad >= 0)
      n = bad;
    if (hostWidth == 1)
      scatter(begin, n, uint8_t());
    else if (hostWidth == 2)
      scatter(begin, n, uint16_t());
    else if (hostWidth == 4)
      scatter(begin, n, uint32_t());
    else
      scatter(begin, n, uint64_t());
    if (bad >= 0)
      return fail(from, bad, begin + bad);
  }
  return std::nullopt;
}
