//===- Elementwise.cpp - Operands in their common type --------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PyTorch's type promotion; see the header.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

#include <algorithm>

namespace spyre::host {

/// Kinds in ascending order: bool, integer, float, complex.
static int getKind(HostType type) {
  Array array;
  array.dtype = type;
  return type == HostType::Bool ? 0 : array.isInteger() ? 1 : array.isFloat() ? 2 : 3;
}

static HostType toComplex(HostType type) {
  return type == HostType::Float64 ? HostType::Complex128 : HostType::Complex64;
}

HostType promote(HostType type, HostType other) {
  int kind = getKind(type), otherKind = getKind(other);
  if (type == other || kind < otherKind)
    return kind == 2 && otherKind == 3 && toComplex(type) == HostType::Complex128 ? toComplex(type)
                                                                                  : other;
  if (kind > otherKind)
    return promote(other, type);
  if (kind == 1) {
    // Of an unsigned and a signed one the next larger signed one.
    int64_t width = getWidthInBytes(type), otherWidth = getWidthInBytes(other);
    if (type == HostType::UInt8)
      return otherWidth > 1 ? other : HostType::Int16;
    if (other == HostType::UInt8)
      return width > 1 ? type : HostType::Int16;
    return width >= otherWidth ? type : other;
  }
  int64_t width = getWidthInBytes(type), otherWidth = getWidthInBytes(other);
  // f16 and bf16 hold no part of each other.
  if (width == otherWidth)
    return HostType::Float32;
  return width > otherWidth ? type : other;
}

/// What \p higher becomes beside \p lower, which only counts if it is of a higher kind.
static std::optional<HostType> combine(std::optional<HostType> higher,
                                       std::optional<HostType> lower) {
  if (!higher || !lower)
    return higher ? higher : lower;
  int kind = getKind(*higher), lowerKind = getKind(*lower);
  if (kind == 3 || (kind == 2 && lowerKind < 3))
    return higher;
  if (kind == 2)
    return toComplex(*higher);
  return lowerKind > kind ? promote(*higher, *lower) : higher;
}

std::optional<std::vector<Operand>> getOperands(Call &call, std::span<const size_t> which,
                                                HostType &common, NumberRounding rounding,
                                                bool allowsIntegers) {
  std::vector<Operand> operands;
  std::optional<HostType> types[3]; // of arrays with dims, arrays without, numbers
  for (size_t i : which) {
    Operand &operand = operands.emplace_back();
    operand.array = call.getValue(i);
    operand.isNumber = !call.isArray(i);
    if (!call.isOk())
      return std::nullopt;
    const Ints &shape = operand.array.shape, &result = call.result.shape;
    if (std::optional<Ints> both = broadcast(shape, result); !both || *both != result) {
      call.refuse("argument #" + std::to_string(i) + " of shape " + toString(shape) +
                  " does not broadcast to the result's " + toString(result));
      return std::nullopt;
    }
    operand.strides = getBroadcastStrides(shape, result.size());
    HostType dtype = operand.array.dtype;
    if (operand.isNumber && dtype == HostType::Float64)
      dtype = HostType::Float32; // PyTorch's default
    std::optional<HostType> &type = types[operand.isNumber ? 2 : shape.empty() ? 1 : 0];
    type = type ? promote(*type, dtype) : dtype;
  }
  common = *combine(types[0], combine(types[1], types[2]));
  if (!allowsIntegers && getKind(common) < 2)
    common = HostType::Float32;
  bool isSmall = getKind(common) == 2 && getWidthInBytes(common) < 4;
  bool onlyNumbers = !types[0] && !types[1];
  if (onlyNumbers && getKind(common) == 2)
    common = HostType::Float64; // Python's numbers
  for (Operand &operand : operands) {
    HostType own = operand.isNumber && isSmall && rounding == NumberRounding::ToComputed
                       ? HostType::Float32
                       : common;
    if (operand.array.dtype != own)
      operand.array = castTo(operand.array, own);
  }
  return operands;
}

template <typename T>
void detail::readChunk(const Operand &operand, const Ints &shape, int64_t first, int64_t count,
                       T *values) {
  // f32 is held in doubles.
  using Held = std::conditional_t<std::is_same_v<T, float>, double, T>;
  const std::vector<Held> &elements = getElements<Held>(operand.array);
  int64_t columns = shape.empty() ? 1 : shape.back(),
          step = shape.empty() ? 0 : operand.strides.back();
  for (int64_t i = 0; i < count;) {
    // The rest of a row.
    int64_t column = (first + i) % columns, row = (first + i) / columns, place = column * step,
            end = std::min(count, i + columns - column);
    for (size_t d = shape.size(); d-- > 1;) {
      place += row % shape[d - 1] * operand.strides[d - 1];
      row /= shape[d - 1];
    }
    for (; i < end; ++i, place += step)
      values[i] = static_cast<T>(elements[place]);
  }
}

template <typename T>
void detail::storeChunk(Array &result, int64_t first, int64_t count, const T *values) {
  // What needs no rounding is written as it is.
  if constexpr (std::is_same_v<T, int64_t>)
    if (result.dtype == HostType::Int64) {
      std::copy_n(values, count, result.integers.begin() + first);
      return;
    }
  if constexpr (!std::is_same_v<T, std::complex<double>>)
    if (result.dtype == HostType::Bool) {
      for (int64_t i = 0; i < count; ++i)
        result.integers[first + i] = values[i] != 0;
      return;
    }
  for (int64_t i = 0; i < count; ++i)
    result.set(first + i, values[i]);
}

using Complex = std::complex<double>;
template void detail::readChunk(const Operand &, const Ints &, int64_t, int64_t, int64_t *);
template void detail::readChunk(const Operand &, const Ints &, int64_t, int64_t, float *);
template void detail::readChunk(const Operand &, const Ints &, int64_t, int64_t, double *);
template void detail::readChunk(const Operand &, const Ints &, int64_t, int64_t, Complex *);
template void detail::storeChunk(Array &, int64_t, int64_t, const int64_t *);
template void detail::storeChunk(Array &, int64_t, int64_t, const double *);
template void detail::storeChunk(Array &, int64_t, int64_t, const Complex *);

} // namespace spyre::host
