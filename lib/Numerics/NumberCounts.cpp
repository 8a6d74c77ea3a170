//===- NumberCounts.cpp - What the device cannot tell or hold -------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Magnitudes are compared as integers with the limits of the type. A block is first asked
// whether it has anything at all, which is what a copy pays; only then it is counted.
//
//===----------------------------------------------------------------------===//

#include "spyre/Numerics/NumberCounts.h"

#include "WideClones.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace spyre;

namespace {

/// Elements that are looked at together. Counts of a block fit in 16 bits.
constexpr int64_t kBlock = 2048;

/// Magnitudes of a type: codes without their sign.
template <typename Code> struct Limits {
  Code mask;         ///< the bits of a code that are its magnitude
  Code infinity;     ///< what is above it is NaN
  Code tooLarge;     ///< from here to below infinity
  Code smallest = 1; ///< below it, and not zero, is too small
  /// Sent to the largest number of DL16 on purpose: the type's largest, and that of a
  /// narrower type it may come from. 0: there is none.
  Code largest = 0, otherLargest = 0;
  bool hasInfinity = true; ///< without, \c infinity is a number like others
};

constexpr Limits<uint16_t> kFloat16 = {0x7fff, 0x7c00, 0x7c00};
constexpr Limits<uint16_t> kBFloat16 = {0x7fff, 0x7f80, 0x7f80};
constexpr Limits<uint32_t> kFloat32 = {0x7fffffff, 0x7f800000, 0x7f800000};
/// From 2^-31 to 2^33 DL16 has a number that differs by 1/512 at most: 2^-31 becomes the
/// smallest, 2^33 the largest.
constexpr Limits<uint16_t> kBFloat16InDL16 = {0x7fff, 0x7f80, 0x5001, 0x3000, 0x7f7f, 0x7f7f};
constexpr Limits<uint32_t> kFloat32InDL16 = {0x7fffffff, 0x7f800000, 0x50000001,
                                             0x30000000, 0x7f7fffff, 0x7f7f0000};
constexpr Limits<uint8_t> kE4M3FN = {0x7f, 0x7e, 0x7f, 1, 0, 0, false};
constexpr Limits<uint8_t> kE5M2 = {0x7f, 0x7c, 0x7c};
/// Codes of the device. Of the last two, the number before infinity is what too large ones
/// become; widened to IEEE_FP32 it is one number among others.
constexpr Limits<uint16_t> kDL16 = {0x7fff, 0x7fff, 0x7ffe};
constexpr Limits<uint32_t> kDeviceFloat32 = {0x7fffffff, 0x7f800000, 0x7f800000};
constexpr uint32_t kLargestDL16Widened = 0x4fff8000;
/// The one NaN of e5m2fnuz and e4m3fnuz is -0.
constexpr uint8_t kNaNOfFNUZ = 0x80;

template <typename Code> Code load(const uint8_t *from, int64_t i) {
  Code code;
  std::memcpy(&code, from + i * int64_t(sizeof(Code)), sizeof(Code));
  return code;
}

/// What a block has, in numbers that vectors of codes can be summed in.
struct BlockCounts {
  uint16_t nans = 0, infinities = 0, tooSmall = 0, tooLarge = 0, largest = 0;
};

// Inlined into each clone of the functions below.
#define SPYRE_INLINE [[gnu::always_inline]] inline

template <auto limits> SPYRE_INLINE bool hasAnyOf(const uint8_t *from, int64_t count) {
  using Code = decltype(limits.mask);
  Code any = 0;
  for (int64_t i = 0; i < count; ++i) {
    Code magnitude = load<Code>(from, i) & limits.mask;
    any |=
        Code(magnitude >= limits.tooLarge) | Code(Code(magnitude - 1) < Code(limits.smallest - 1));
  }
  return any != 0;
}

template <auto limits>
SPYRE_INLINE void countBlock(const uint8_t *from, int64_t count, BlockCounts &counts) {
  using Code = decltype(limits.mask);
  for (int64_t i = 0; i < count; ++i) {
    Code magnitude = load<Code>(from, i) & limits.mask;
    bool isLargest =
        limits.largest != 0 && (magnitude == limits.largest || magnitude == limits.otherLargest);
    counts.nans += magnitude > limits.infinity;
    counts.infinities += limits.hasInfinity && magnitude == limits.infinity;
    counts.tooSmall += Code(magnitude - 1) < Code(limits.smallest - 1);
    counts.tooLarge += magnitude >= limits.tooLarge && magnitude < limits.infinity && !isLargest;
    counts.largest += isLargest;
  }
}

SPYRE_INLINE bool hasAnyFNUZ(const uint8_t *from, int64_t count) {
  uint8_t any = 0;
  for (int64_t i = 0; i < count; ++i)
    any |= uint8_t(from[i] == kNaNOfFNUZ);
  return any != 0;
}
SPYRE_INLINE void countFNUZ(const uint8_t *from, int64_t count, BlockCounts &counts) {
  for (int64_t i = 0; i < count; ++i)
    counts.nans += from[i] == kNaNOfFNUZ;
}

SPYRE_INLINE bool hasAnyDeviceFloat32(const uint8_t *from, int64_t count) {
  uint32_t any = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t magnitude = load<uint32_t>(from, i) & kDeviceFloat32.mask;
    any |=
        uint32_t(magnitude >= kDeviceFloat32.infinity) | uint32_t(magnitude == kLargestDL16Widened);
  }
  return any != 0;
}
SPYRE_INLINE void countDeviceFloat32(const uint8_t *from, int64_t count, BlockCounts &counts) {
  countBlock<kDeviceFloat32>(from, count, counts);
  for (int64_t i = 0; i < count; ++i)
    counts.tooLarge += (load<uint32_t>(from, i) & kDeviceFloat32.mask) == kLargestDL16Widened;
}

/// What an array is compared with.
enum class Kind : uint8_t {
  None,
  Float16,
  BFloat16,
  BFloat16InDL16,
  Float32,
  Float32InDL16,
  E4M3FN,
  E5M2,
  FNUZ,
  DL16,
  DeviceFloat32,
};

Kind getKind(HostType type, DataFormat format) {
  bool isDL16 = format == DataFormat::SEN169_FP16;
  switch (type) {
  case HostType::Float16:
    return Kind::Float16; // all of it is within DL16's range
  case HostType::BFloat16:
    return isDL16 ? Kind::BFloat16InDL16 : Kind::BFloat16;
  case HostType::Float32:
    return isDL16 ? Kind::Float32InDL16 : Kind::Float32;
  case HostType::Float8E4M3FN:
    return Kind::E4M3FN;
  case HostType::Float8E5M2:
    return Kind::E5M2;
  case HostType::Float8E4M3FNUZ:
  case HostType::Float8E5M2FNUZ:
    return Kind::FNUZ;
  default:
    return Kind::None;
  }
}

Kind getKind(DataFormat format) {
  switch (format) {
  case DataFormat::SEN169_FP16:
    return Kind::DL16;
  case DataFormat::IEEE_FP32:
    return Kind::DeviceFloat32;
  default:
    return Kind::None;
  }
}

SPYRE_WIDE_CLONES bool hasAny(Kind kind, const uint8_t *from, int64_t count) {
  switch (kind) {
  case Kind::None:
    return false;
  case Kind::Float16:
    return hasAnyOf<kFloat16>(from, count);
  case Kind::BFloat16:
    return hasAnyOf<kBFloat16>(from, count);
  case Kind::BFloat16InDL16:
    return hasAnyOf<kBFloat16InDL16>(from, count);
  case Kind::Float32:
    return hasAnyOf<kFloat32>(from, count);
  case Kind::Float32InDL16:
    return hasAnyOf<kFloat32InDL16>(from, count);
  case Kind::E4M3FN:
    return hasAnyOf<kE4M3FN>(from, count);
  case Kind::E5M2:
    return hasAnyOf<kE5M2>(from, count);
  case Kind::FNUZ:
    return hasAnyFNUZ(from, count);
  case Kind::DL16:
    return hasAnyOf<kDL16>(from, count);
  case Kind::DeviceFloat32:
    return hasAnyDeviceFloat32(from, count);
  }
  return false;
}

SPYRE_WIDE_CLONES void count(Kind kind, const uint8_t *from, int64_t count, BlockCounts &counts) {
  switch (kind) {
  case Kind::None:
    return;
  case Kind::Float16:
    return countBlock<kFloat16>(from, count, counts);
  case Kind::BFloat16:
    return countBlock<kBFloat16>(from, count, counts);
  case Kind::BFloat16InDL16:
    return countBlock<kBFloat16InDL16>(from, count, counts);
  case Kind::Float32:
    return countBlock<kFloat32>(from, count, counts);
  case Kind::Float32InDL16:
    return countBlock<kFloat32InDL16>(from, count, counts);
  case Kind::E4M3FN:
    return countBlock<kE4M3FN>(from, count, counts);
  case Kind::E5M2:
    return countBlock<kE5M2>(from, count, counts);
  case Kind::FNUZ:
    return countFNUZ(from, count, counts);
  case Kind::DL16:
    return countBlock<kDL16>(from, count, counts);
  case Kind::DeviceFloat32:
    return countDeviceFloat32(from, count, counts);
  }
}

BlockCounts getCounts(Kind kind, const uint8_t *from, int64_t elements) {
  BlockCounts counts;
  count(kind, from, elements, counts);
  return counts;
}

/// Adds a block that has something. \p begin: the place of its first element; -1: places
/// are not noted.
void addBlock(Kind kind, const uint8_t *from, int64_t elements, int64_t width, int64_t begin,
              NumberCounts &counts) {
  BlockCounts block = getCounts(kind, from, elements);
  counts.nans += block.nans;
  counts.infinities += block.infinities;
  counts.tooSmall += block.tooSmall;
  counts.tooLarge += block.tooLarge;
  counts.largest += block.largest;
  bool wantsNaN = begin >= 0 && block.nans && counts.firstNaN < 0;
  bool wantsRange = begin >= 0 && (block.tooSmall || block.tooLarge) && counts.firstOutOfRange < 0;
  for (int64_t i = 0; i < elements && (wantsNaN || wantsRange); ++i) {
    BlockCounts one = getCounts(kind, from + i * width, 1);
    if (wantsNaN && one.nans) {
      counts.firstNaN = begin + i;
      wantsNaN = false;
    }
    if (wantsRange && (one.tooSmall || one.tooLarge)) {
      counts.firstOutOfRange = begin + i;
      wantsRange = false;
    }
  }
}

} // namespace

void spyre::countNumbers(HostType type, DataFormat format, const void *host, int64_t begin,
                         int64_t end, NumberCounts &counts) {
  const Kind kind = getKind(type, format);
  if (kind == Kind::None)
    return;
  const int64_t width = getWidthInBytes(type);
  const auto *bytes = static_cast<const uint8_t *>(host);
  for (; begin < end; begin += kBlock) {
    int64_t elements = std::min(kBlock, end - begin);
    if (hasAny(kind, bytes + begin * width, elements))
      addBlock(kind, bytes + begin * width, elements, width, begin, counts);
  }
}

void spyre::countDeviceNumbers(DataFormat format, const void *device, int64_t count,
                               NumberCounts &counts) {
  const Kind kind = getKind(format);
  if (kind == Kind::None)
    return;
  const int64_t width = getWidthInBytes(format);
  const auto *bytes = static_cast<const uint8_t *>(device);
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    int64_t elements = std::min(kBlock, count - begin);
    if (hasAny(kind, bytes + begin * width, elements))
      addBlock(kind, bytes + begin * width, elements, width, /*begin=*/-1, counts);
  }
}
