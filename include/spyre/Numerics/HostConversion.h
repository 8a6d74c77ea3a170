//===- HostConversion.h - Elements between host and device ------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What happens to the elements of a tensor on the way in and out: one function
// for each direction, over a run of elements that is strided on the host and
// dense on the device. Where elements go is none of its business (lib/Layout).
// Rules: docs/developer/numerics.md, "Copy in and copy out".
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_NUMERICS_HOSTCONVERSION_H
#define SPYRE_NUMERICS_HOSTCONVERSION_H

#include "spyre/Numerics/Formats.h"

#include <cstdint>
#include <optional>
#include <string>

namespace spyre {

/// An element that has no form on the other side. Nothing wraps silently.
struct ConversionError {
  int64_t element = 0; ///< position in the run, from 0
  std::string reason;  ///< "3000000000 is outside the range of IEEE_INT32 (...)"
};

/// True unless \p type holds integers or bools (complex numbers count as floats).
bool isFloat(HostType type);

/// True if elements of \p type can be kept in \p format and brought back.
bool canConvert(HostType type, DataFormat format);

/// Converts \p count host elements, \p hostStrideInElements apart, into dense
/// device elements. canConvert(type, format) must hold. On an error the
/// elements before it are converted.
std::optional<ConversionError> convertToDevice(HostType type, const void *host,
                                               int64_t hostStrideInElements, DataFormat format,
                                               void *device, int64_t count);
/// The way back.
std::optional<ConversionError> convertToHost(DataFormat format, const void *device, HostType type,
                                             void *host, int64_t hostStrideInElements,
                                             int64_t count);

} // namespace spyre

#endif // SPYRE_NUMERICS_HOSTCONVERSION_H
