//===- Formats.h - Device data formats and host element types ---*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device's data formats (names as in SuperDSC's dataFormat_), the host's
// element types (names as in PyTorch), and how one maps to the other.
// MLIR-free. Source of the facts: docs/formats/superdsc-rules.md, section 4.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_NUMERICS_FORMATS_H
#define SPYRE_NUMERICS_FORMATS_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace spyre {

/// Bytes in one stick, the unit of transfer between device memory and LX.
inline constexpr int64_t kStickInBytes = 128;

/// A number format of the device. The enumerator's name is its SuperDSC name.
enum class DataFormat : uint8_t {
  SEN169_FP16, ///< DL16: sign 1, exponent 6 (bias 31), fraction 9.
  IEEE_FP16,
  BFLOAT16,
  IEEE_FP32,
  IEEE_INT32,
  SENUINT32,
  SEN143_FP8,
  SEN152_FP8,
  SENINT8,
  SENINT16,
  IEEE_INT64,
  SENINT4,
  SENINT2,
};

/// An element type of the host, PyTorch's dtype of the same name.
enum class HostType : uint8_t {
  Float16,
  BFloat16,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  Bool,
  Float8E4M3FN,
  Float8E5M2,
  Float8E4M3FNUZ,
  Float8E5M2FNUZ,
  Complex64,
  Complex128,
};

/// SuperDSC's name of \p format, e.g. "SEN169_FP16".
std::string_view getFormatName(DataFormat format);
/// The format named \p name, or nothing if there is none.
std::optional<DataFormat> parseFormat(std::string_view name);
/// Width of one element in bits.
int64_t getWidthInBits(DataFormat format);
/// Width of one element in bytes; 0 for the sub-byte formats.
int64_t getWidthInBytes(DataFormat format);
/// Elements in one 128-byte stick.
int64_t getElementsPerStick(DataFormat format);

/// PyTorch's name of \p type, e.g. "float16", "float8_e4m3fn".
std::string_view getHostTypeName(HostType type);
std::optional<HostType> parseHostType(std::string_view name);
/// Bytes of one element in a dense host array (bool is 1).
int64_t getWidthInBytes(HostType type);
/// The device format that holds host values of \p type, or nothing if the
/// device has none (float64, complex, plain float8_e5m2).
std::optional<DataFormat> getDeviceFormat(HostType type);

} // namespace spyre

#endif // SPYRE_NUMERICS_FORMATS_H
