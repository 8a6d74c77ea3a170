//===- Formats.cpp - Device data formats and host element types --*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables behind Formats.h: one row a format, one row a host type.
// Source of the facts: docs/formats/superdsc-rules.md, section 4.
//
//===----------------------------------------------------------------------===//

#include "spyre/Numerics/Formats.h"

#include <cassert>
#include <cstddef>
#include <iterator>

using namespace spyre;

namespace {

struct FormatRow {
  DataFormat format;
  std::string_view name;
  int64_t widthInBits;
};

constexpr FormatRow kFormats[] = {
    {DataFormat::SEN169_FP16, "SEN169_FP16", 16}, {DataFormat::IEEE_FP16, "IEEE_FP16", 16},
    {DataFormat::BFLOAT16, "BFLOAT16", 16},       {DataFormat::IEEE_FP32, "IEEE_FP32", 32},
    {DataFormat::IEEE_INT32, "IEEE_INT32", 32},   {DataFormat::SENUINT32, "SENUINT32", 32},
    {DataFormat::SEN143_FP8, "SEN143_FP8", 8},    {DataFormat::SEN152_FP8, "SEN152_FP8", 8},
    {DataFormat::SENINT8, "SENINT8", 8},          {DataFormat::SENINT16, "SENINT16", 16},
    {DataFormat::IEEE_INT64, "IEEE_INT64", 64},   {DataFormat::SENINT4, "SENINT4", 4},
    {DataFormat::SENINT2, "SENINT2", 2},
};

struct HostTypeRow {
  HostType type;
  std::string_view name;
  int64_t widthInBytes;
  std::optional<DataFormat> deviceFormat;
};

// PyTorch's plain float8_e5m2, the fnuz form of e4m3, float64 and the complex
// types have no device form: their values are computed on the host.
constexpr HostTypeRow kHostTypes[] = {
    {HostType::Float16, "float16", 2, DataFormat::SEN169_FP16},
    {HostType::BFloat16, "bfloat16", 2, DataFormat::SEN169_FP16},
    {HostType::Float32, "float32", 4, DataFormat::IEEE_FP32},
    {HostType::Float64, "float64", 8, std::nullopt},
    {HostType::Int8, "int8", 1, DataFormat::SENINT8},
    {HostType::Int16, "int16", 2, DataFormat::SENINT16},
    {HostType::Int32, "int32", 4, DataFormat::IEEE_INT32},
    {HostType::Int64, "int64", 8, DataFormat::IEEE_INT32},
    {HostType::UInt8, "uint8", 1, DataFormat::SENUINT32},
    {HostType::Bool, "bool", 1, DataFormat::SEN169_FP16},
    {HostType::Float8E4M3FN, "float8_e4m3fn", 1, DataFormat::SEN143_FP8},
    {HostType::Float8E5M2, "float8_e5m2", 1, std::nullopt},
    {HostType::Float8E4M3FNUZ, "float8_e4m3fnuz", 1, std::nullopt},
    {HostType::Float8E5M2FNUZ, "float8_e5m2fnuz", 1, DataFormat::SEN152_FP8},
    {HostType::Complex64, "complex64", 8, std::nullopt},
    {HostType::Complex128, "complex128", 16, std::nullopt},
};

/// Row i describes enumerator i, so that a look-up is an index.
template <typename Row, size_t n, typename Key>
constexpr bool inOrder(const Row (&rows)[n], Key Row::*key) {
  for (size_t i = 0; i < n; ++i)
    if (static_cast<size_t>(rows[i].*key) != i)
      return false;
  return true;
}
static_assert(inOrder(kFormats, &FormatRow::format), "kFormats follows DataFormat");
static_assert(inOrder(kHostTypes, &HostTypeRow::type), "kHostTypes follows HostType");

const FormatRow &row(DataFormat format) {
  assert(static_cast<size_t>(format) < std::size(kFormats) && "not a DataFormat");
  return kFormats[static_cast<size_t>(format)];
}

const HostTypeRow &row(HostType type) {
  assert(static_cast<size_t>(type) < std::size(kHostTypes) && "not a HostType");
  return kHostTypes[static_cast<size_t>(type)];
}

} // namespace

std::string_view spyre::getFormatName(DataFormat format) { return row(format).name; }

std::optional<DataFormat> spyre::parseFormat(std::string_view name) {
  for (const FormatRow &candidate : kFormats)
    if (candidate.name == name)
      return candidate.format;
  return std::nullopt;
}

int64_t spyre::getWidthInBits(DataFormat format) { return row(format).widthInBits; }

int64_t spyre::getWidthInBytes(DataFormat format) { return row(format).widthInBits / 8; }

int64_t spyre::getElementsPerStick(DataFormat format) {
  return kStickInBytes * 8 / row(format).widthInBits;
}

std::string_view spyre::getHostTypeName(HostType type) { return row(type).name; }

std::optional<HostType> spyre::parseHostType(std::string_view name) {
  for (const HostTypeRow &candidate : kHostTypes)
    if (candidate.name == name)
      return candidate.type;
  return std::nullopt;
}

int64_t spyre::getWidthInBytes(HostType type) { return row(type).widthInBytes; }

std::optional<DataFormat> spyre::getDeviceFormat(HostType type) { return row(type).deviceFormat; }
