//===- Evaluate.cpp - PyTorch operations on host arrays -------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arrays, arguments and the table; see the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Host/Evaluate.h"

#include "Call.h"
#include "spyre/Numerics/FP8.h"
#include "spyre/Numerics/HostConversion.h"

#include <cmath>

namespace spyre::host {

bool Array::isFloat() const { return spyre::isFloat(dtype); }

int64_t Array::getNumElements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

double Array::getNumber(int64_t i) const {
  return isFloat() ? numbers[i] : static_cast<double>(integers[i]);
}

int64_t Array::getInteger(int64_t i) const {
  if (!isFloat())
    return integers[i];
  double value = std::trunc(numbers[i]);
  // What does not fit has no defined value in PyTorch.
  return std::fabs(value) < 0x1p63 ? static_cast<int64_t>(value) : 0;
}

double roundTo(HostType dtype, double value) {
  auto round = [&](const SmallFloat &format) {
    return decodeSmallFloat(format, encodeSmallFloat(format, value, /*saturate=*/false));
  };
  switch (dtype) {
  case HostType::Float16:
    return round(kBinary16);
  case HostType::BFloat16:
    return round(kBFloat16);
  case HostType::Float32:
    return static_cast<float>(value);
  default:
    return value;
  }
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

//===----------------------------------------------------------------------===//
// Call
//===----------------------------------------------------------------------===//

static std::string describe(size_t i, const char *what) {
  return "argument #" + std::to_string(i) + " is no " + what;
}

const Array *Call::getArray(size_t i) {
  if (i < arguments.size())
    if (auto *array = std::get_if<Array>(&arguments[i]))
      return array;
  refuse(describe(i, "known array"));
  return nullptr;
}

const std::vector<Array> *Call::getArrays(size_t i) {
  if (i < arguments.size())
    if (auto *arrays = std::get_if<std::vector<Array>>(&arguments[i]))
      return arrays;
  refuse(describe(i, "list of known arrays"));
  return nullptr;
}

std::optional<int64_t> Call::getInt(size_t i) {
  if (i < arguments.size()) {
    if (auto *integer = std::get_if<int64_t>(&arguments[i]))
      return *integer;
    if (auto *truth = std::get_if<bool>(&arguments[i]))
      return *truth;
  }
  refuse(describe(i, "integer"));
  return std::nullopt;
}

std::optional<std::vector<int64_t>> Call::getInts(size_t i) {
  if (i < arguments.size())
    if (auto *integers = std::get_if<std::vector<int64_t>>(&arguments[i]))
      return *integers;
  if (std::optional<int64_t> integer = getInt(i))
    return std::vector<int64_t>{*integer};
  return std::nullopt;
}

std::optional<double> Call::getNumber(size_t i) {
  if (i < arguments.size()) {
    if (auto *number = std::get_if<double>(&arguments[i]))
      return *number;
    if (auto *integer = std::get_if<int64_t>(&arguments[i]))
      return static_cast<double>(*integer);
    if (auto *truth = std::get_if<bool>(&arguments[i]))
      return *truth ? 1.0 : 0.0;
    if (auto *array = std::get_if<Array>(&arguments[i]); array && array->getNumElements() == 1)
      return array->getNumber(0);
  }
  refuse(describe(i, "number"));
  return std::nullopt;
}

bool Call::isFloat(size_t i) const {
  if (i >= arguments.size())
    return false;
  if (auto *array = std::get_if<Array>(&arguments[i]))
    return array->isFloat();
  return std::holds_alternative<double>(arguments[i]);
}

std::string Call::getText(size_t i) const {
  if (i < arguments.size())
    if (auto *text = std::get_if<std::string>(&arguments[i]))
      return *text;
  return {};
}

void Call::set(int64_t i, double value) {
  if (result.isFloat())
    result.numbers[i] = roundTo(result.dtype, value);
  else if (result.dtype == HostType::Bool)
    result.integers[i] = value != 0;
  else
    result.integers[i] =
        wrapTo(result.dtype, std::fabs(value) < 0x1p63 ? static_cast<int64_t>(value) : 0);
}

void Call::set(int64_t i, int64_t value) {
  if (result.isFloat())
    result.numbers[i] = roundTo(result.dtype, static_cast<double>(value));
  else
    result.integers[i] = wrapTo(result.dtype, value);
}

void Call::copy(int64_t i, const Array &source, int64_t from) {
  if (source.isFloat())
    set(i, source.numbers[from]);
  else
    set(i, source.integers[from]);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

std::vector<int64_t> getBroadcastStrides(const std::vector<int64_t> &shape, size_t rank) {
  std::vector<int64_t> strides(rank);
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[rank - shape.size() + d] = shape[d] == 1 ? 0 : stride;
    stride *= shape[d];
  }
  return strides;
}

std::optional<int64_t> normalizeDim(int64_t dim, size_t rank) {
  auto size = static_cast<int64_t>(rank);
  if (dim < -size || dim >= size)
    return std::nullopt;
  return dim < 0 ? dim + size : dim;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static const Table &getTable() {
  static const Table table = [] {
    Table made;
    addCreation(made);
    addElementwise(made);
    addMovement(made);
    return made;
  }();
  return table;
}

bool isKnown(std::string_view name) { return getTable().count(name) != 0; }

std::variant<Array, std::string> evaluate(std::string_view name,
                                          std::span<const Argument> arguments, HostType dtype,
                                          const std::vector<int64_t> &shape) {
  auto function = getTable().find(name);
  if (function == getTable().end())
    return std::string("'" + std::string(name) + "' cannot be computed on the host");
  Array result;
  result.dtype = dtype;
  result.shape = shape;
  if (dtype == HostType::Complex64 || dtype == HostType::Complex128)
    return std::string("complex numbers are not computed on the host");
  if (isFloat(dtype))
    result.numbers.resize(result.getNumElements());
  else
    result.integers.resize(result.getNumElements());
  Call call(arguments, result);
  if (!function->second(call))
    return std::string("'" + std::string(name) + "': " + call.getReason());
  return result;
}

} // namespace spyre::host
