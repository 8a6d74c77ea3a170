//===- NumberCounts.h - What the device cannot tell or hold -----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts the numbers of an array that mean something else on the other side: NaNs, which
// DL16 does not tell from infinities, and values beyond its range. Whoever copies decides
// what to do about them. Rules: docs/developer/numerics.md, "Numbers that are counted".
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_NUMERICS_NUMBERCOUNTS_H
#define SPYRE_NUMERICS_NUMBERCOUNTS_H

#include "spyre/Numerics/Formats.h"

#include <cstdint>

namespace spyre {

/// Of one array, or a part of it.
struct NumberCounts {
  int64_t nans = 0;
  /// Of the device: DL16's one code for infinity and NaN.
  int64_t infinities = 0;
  int64_t tooSmall = 0; ///< not zero, and below DL16's range
  /// Finite, and beyond DL16's range. Of the device: DL16's largest number, which is what
  /// those become.
  int64_t tooLarge = 0;
  /// The largest number of bfloat16 or float32: programs write it (finfo.min) where they
  /// mean "very small", and DL16's largest serves. Not counted as too large.
  int64_t largest = 0;
  /// Places of the first NaN and of the first number out of range; -1: none.
  int64_t firstNaN = -1, firstOutOfRange = -1;

  int64_t getOutOfRange() const { return tooSmall + tooLarge; }
  bool any() const { return nans || infinities || tooSmall || tooLarge || largest; }
};

/// Adds elements \p begin to \p end of a dense host array that are to be kept in
/// \p format. Integers have nothing to count.
void countNumbers(HostType type, DataFormat format, const void *host, int64_t begin, int64_t end,
                  NumberCounts &counts);

/// Adds \p count dense elements of the device. Places are not noted.
void countDeviceNumbers(DataFormat format, const void *device, int64_t count, NumberCounts &counts);

} // namespace spyre

#endif // SPYRE_NUMERICS_NUMBERCOUNTS_H
