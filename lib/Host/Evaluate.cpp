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

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <type_traits>
#include <unordered_set>

namespace spyre::host {

/// Elements of one array at most: as doubles 32 GiB.
static constexpr int64_t kMaxElements = int64_t(1) << 32;

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

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

double roundTo(HostType dtype, double value) {
  if (dtype == HostType::Float32)
    return static_cast<float>(value);
  const SmallFloat *format = getSmallFloat(dtype);
  return format ? decodeSmallFloat(*format, encodeSmallFloat(*format, value, /*saturate=*/false))
                : value;
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
          array.numbers[i] = decodeSmallFloat(*format, static_cast<uint16_t>(value));
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
          value = static_cast<T>(encodeSmallFloat(*format, array.numbers[i], /*saturate=*/false));
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

//===----------------------------------------------------------------------===//
// Call
//===----------------------------------------------------------------------===//

static std::string describe(size_t i, const char *what) {
  return "argument #" + std::to_string(i) + " is no " + what;
}

const Array *Call::getArray(size_t i) {
  const Array *array = i < arguments.size() ? arguments[i].getArray() : nullptr;
  if (!array)
    refuse(describe(i, "known array"));
  return array;
}

std::optional<std::vector<const Array *>> Call::getArrays(size_t i) {
  const Argument::List *list = i < arguments.size() ? arguments[i].getList() : nullptr;
  std::vector<const Array *> arrays;
  for (const Argument &element : list ? *list : Argument::List())
    arrays.push_back(element.getArray());
  if (!list || std::count(arrays.begin(), arrays.end(), nullptr)) {
    refuse(describe(i, "list of known arrays"));
    return std::nullopt;
  }
  return arrays;
}

static std::optional<int64_t> toInt(const Argument &argument) {
  if (const int64_t *integer = argument.getInt())
    return *integer;
  if (const bool *truth = argument.getBool())
    return *truth;
  return std::nullopt;
}

std::optional<int64_t> Call::getInt(size_t i) {
  std::optional<int64_t> integer;
  if (i < arguments.size())
    integer = toInt(arguments[i]);
  if (!integer)
    refuse(describe(i, "integer"));
  return integer;
}

std::optional<std::vector<int64_t>> Call::getInts(size_t i) {
  const Argument::List *list = i < arguments.size() ? arguments[i].getList() : nullptr;
  if (!list) {
    std::optional<int64_t> integer = getInt(i);
    return integer ? std::optional(std::vector<int64_t>{*integer}) : std::nullopt;
  }
  std::vector<int64_t> integers;
  for (const Argument &element : *list) {
    std::optional<int64_t> integer = toInt(element);
    if (!integer) {
      refuse(describe(i, "list of integers"));
      return std::nullopt;
    }
    integers.push_back(*integer);
  }
  return integers;
}

std::optional<double> Call::getNumber(size_t i) {
  if (i < arguments.size()) {
    const Argument &argument = arguments[i];
    if (const double *number = argument.getFloat())
      return *number;
    if (std::optional<int64_t> integer = toInt(argument))
      return static_cast<double>(*integer);
    if (const Array *array = argument.getArray(); array && array->getNumElements() == 1)
      return array->getNumber(0);
  }
  refuse(describe(i, "number"));
  return std::nullopt;
}

bool Call::isFloat(size_t i) const {
  if (i >= arguments.size())
    return false;
  if (const Array *array = arguments[i].getArray())
    return array->isFloat();
  return arguments[i].getFloat() != nullptr;
}

std::string Call::getText(size_t i) const {
  const std::string *text = i < arguments.size() ? arguments[i].getText() : nullptr;
  return text ? *text : std::string();
}

void Call::set(int64_t i, double value) {
  if (result.isFloat())
    result.numbers[i] = roundTo(result.dtype, value);
  else if (result.dtype == HostType::Bool)
    result.integers[i] = value != 0;
  else if (result.isInteger())
    result.integers[i] = wrapTo(result.dtype, truncate(value));
  else
    set(i, std::complex<double>(value));
}

void Call::set(int64_t i, int64_t value) {
  if (result.isInteger())
    result.integers[i] = wrapTo(result.dtype, value);
  else
    set(i, static_cast<double>(value));
}

void Call::set(int64_t i, std::complex<double> value) {
  if (result.dtype == HostType::Bool)
    result.integers[i] = value != 0.0;
  else if (!result.isComplex())
    set(i, value.real());
  else if (result.dtype == HostType::Complex64)
    result.complexes[i] = std::complex<float>(value);
  else
    result.complexes[i] = value;
}

void Call::copy(int64_t i, const Array &source, int64_t from) {
  if (source.isFloat())
    set(i, source.numbers[from]);
  else if (source.isComplex())
    set(i, source.complexes[from]);
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

std::vector<std::string_view> getKnownNames() {
  std::vector<std::string_view> names;
  for (const auto &[name, function] : getTable())
    names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

bool isView(std::string_view name) {
  static const std::unordered_set<std::string_view> views = {
      "aten.alias",
      "aten.as_strided",
      "aten.broadcast_to",
      "aten.chunk",
      "aten.detach",
      "aten.diagonal",
      "aten.expand",
      "aten.expand_as",
      "aten.flatten.using_ints",
      "aten.imag",
      "aten.mT",
      "aten.movedim.int",
      "aten.narrow",
      "aten.numpy_T",
      "aten.permute",
      "aten.real",
      "aten.reshape",
      "aten._reshape_alias",
      "aten.select.int",
      "aten.slice.Tensor",
      "aten.split.Tensor",
      "aten.split.sizes",
      "aten.split_with_sizes",
      "aten.squeeze",
      "aten.squeeze.dim",
      "aten.squeeze.dims",
      "aten.swapaxes",
      "aten.swapdims",
      "aten.t",
      "aten.tensor_split.sections",
      "aten.transpose.int",
      "aten.unbind.int",
      "aten.unflatten.int",
      "aten.unfold",
      "aten._unsafe_view",
      "aten.unsqueeze",
      "aten.view",
      "aten.view_as",
      "aten.view_as_complex",
      "aten.view_as_real",
      "prims.collapse",
      "prims.split_dim",
      "prims.squeeze",
      "prims.view_of",
  };
  return views.count(name) != 0;
}

/// Elements of an array of \p shape; nothing if there are too many, or less than none.
static std::optional<int64_t> countElements(const std::vector<int64_t> &shape) {
  // An empty array has extents, too, that others multiply.
  int64_t count = 1, capacity = 1;
  for (int64_t extent : shape) {
    if (extent < 0 || (extent > 1 && capacity > kMaxElements / extent))
      return std::nullopt;
    capacity *= std::max<int64_t>(extent, 1);
    count *= extent;
  }
  return count;
}

/// Why \p argument is none that can be computed with; empty if it is.
static std::string checkArgument(const Argument &argument) {
  if (const Argument::List *list = argument.getList())
    for (const Argument &element : *list)
      if (std::string why = checkArgument(element); !why.empty())
        return why;
  const Array *array = argument.getArray();
  if (!array)
    return {};
  std::optional<int64_t> count = countElements(array->shape);
  size_t held = array->isFloat()     ? array->numbers.size()
                : array->isComplex() ? array->complexes.size()
                                     : array->integers.size();
  return count == static_cast<int64_t>(held) ? std::string()
                                             : "has another number of elements than its shape";
}

std::variant<std::vector<Array>, std::string> evaluate(std::string_view name,
                                                       std::span<const Argument> arguments,
                                                       std::span<const ResultType> results) {
  std::string quoted = "'" + std::string(name) + "'";
  auto function = getTable().find(name);
  if (function == getTable().end())
    return quoted + " cannot be computed on the host";
  if (results.empty())
    return quoted + ": has no result";
  for (size_t i = 0; i < arguments.size(); ++i)
    if (std::string why = checkArgument(arguments[i]); !why.empty())
      return quoted + ": argument #" + std::to_string(i) + " " + why;
  try {
    std::vector<Array> made;
    for (const ResultType &type : results) {
      if (!countElements(type.shape))
        return quoted + ": a result has too many elements";
      made.push_back(makeArray(type.dtype, type.shape));
    }
    Call call(arguments, made);
    if (!function->second(call))
      return quoted + ": " + call.getReason();
    return made;
  } catch (const std::bad_alloc &) {
    return quoted + ": there is not enough memory for its result";
  }
}

std::variant<Array, std::string> evaluate(std::string_view name,
                                          std::span<const Argument> arguments, HostType dtype,
                                          const std::vector<int64_t> &shape) {
  ResultType type{dtype, shape};
  auto results = evaluate(name, arguments, std::span<const ResultType>(&type, 1));
  if (auto *why = std::get_if<std::string>(&results))
    return std::move(*why);
  return std::move(std::get<std::vector<Array>>(results).front());
}

} // namespace spyre::host
