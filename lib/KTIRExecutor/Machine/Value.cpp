//===- Value.cpp - Rounding, bytes and shapes -------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/KTIRExecutor/Machine/Value.h"

#include "spyre/Numerics/DL16.h"
#include "spyre/Numerics/FP8.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace spyre;
using namespace spyre::ktir;

namespace {
/// IEEE binary16 of a float: nearest, ties to even.
uint16_t encodeHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return 0x7e00;
  if (magnitude >= 0x477ff000) // what rounds to 65536 or more
    return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < 0x38800000) {
    // Subnormal: adding 0.5 leaves the rounded multiple of 2^-24 in the last bits.
    float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
  }
  uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13));
}

float decodeHalf(uint16_t code) {
  uint32_t sign = static_cast<uint32_t>(code & 0x8000) << 16, magnitude = code & 0x7fff;
  if (magnitude >= 0x7c00)
    return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude < 0x400)
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude * 0x1p-24f));
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000));
}

uint16_t encodeBF16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float decodeBF16(uint16_t code) { return std::bit_cast<float>(static_cast<uint32_t>(code) << 16); }

template <typename Code, typename To, typename Apply>
void decodeAll(const uint8_t *bytes, To *values, int64_t count, Apply apply) {
  for (int64_t i = 0; i < count; ++i) {
    Code code;
    std::memcpy(&code, bytes + i * sizeof(Code), sizeof(Code));
    values[i] = apply(code);
  }
}
template <typename Code, typename From, typename Apply>
void encodeAll(const From *values, uint8_t *bytes, int64_t count, Apply apply) {
  for (int64_t i = 0; i < count; ++i) {
    Code code = apply(values[i]);
    std::memcpy(bytes + i * sizeof(Code), &code, sizeof(Code));
  }
}
} // namespace

void spyre::ktir::roundTo(Element element, float *values, int64_t count) {
  switch (element.kind) {
  case ElementKind::DL16:
    return roundToDL16(std::span(values, count));
  case ElementKind::IEEE16:
    for (int64_t i = 0; i < count; ++i)
      values[i] = decodeHalf(encodeHalf(values[i]));
    return;
  case ElementKind::BF16:
    for (int64_t i = 0; i < count; ++i)
      values[i] = decodeBF16(encodeBF16(values[i]));
    return;
  case ElementKind::E4M3:
    for (int64_t i = 0; i < count; ++i)
      values[i] = decodeFP8E4M3(encodeFP8E4M3(values[i]));
    return;
  case ElementKind::E5M2:
    for (int64_t i = 0; i < count; ++i)
      values[i] = decodeFP8E5M2(encodeFP8E5M2(values[i]));
    return;
  default:
    return;
  }
}

void spyre::ktir::decode(Element element, const uint8_t *bytes, float *values, int64_t count) {
  switch (element.kind) {
  case ElementKind::DL16:
    return decodeAll<uint16_t>(bytes, values, count, [](uint16_t c) { return decodeDL16(c); });
  case ElementKind::IEEE16:
    return decodeAll<uint16_t>(bytes, values, count, decodeHalf);
  case ElementKind::BF16:
    return decodeAll<uint16_t>(bytes, values, count, decodeBF16);
  case ElementKind::E4M3:
    return decodeAll<uint8_t>(bytes, values, count, decodeFP8E4M3);
  case ElementKind::E5M2:
    return decodeAll<uint8_t>(bytes, values, count, decodeFP8E5M2);
  default:
    std::memcpy(values, bytes, count * sizeof(float));
  }
}

void spyre::ktir::encode(Element element, const float *values, uint8_t *bytes, int64_t count) {
  switch (element.kind) {
  case ElementKind::DL16:
    return encodeAll<uint16_t>(values, bytes, count, [](float v) { return encodeDL16(v); });
  case ElementKind::IEEE16:
    return encodeAll<uint16_t>(values, bytes, count, encodeHalf);
  case ElementKind::BF16:
    return encodeAll<uint16_t>(values, bytes, count, encodeBF16);
  case ElementKind::E4M3:
    return encodeAll<uint8_t>(values, bytes, count, encodeFP8E4M3);
  case ElementKind::E5M2:
    return encodeAll<uint8_t>(values, bytes, count, encodeFP8E5M2);
  default:
    std::memcpy(bytes, values, count * sizeof(float));
  }
}

void spyre::ktir::decode(Element element, const uint8_t *bytes, int64_t *values, int64_t count) {
  int64_t width = element.getBytes();
  if (width == 8) {
    std::memcpy(values, bytes, count * sizeof(int64_t));
    return;
  }
  if (width == 4 && element.bits == 32)
    return decodeAll<int32_t>(bytes, values, count, [](int32_t c) { return int64_t(c); });
  for (int64_t i = 0; i < count; ++i) {
    uint64_t value = 0;
    std::memcpy(&value, bytes + i * width, width);
    values[i] = wrapTo(element, static_cast<int64_t>(value));
  }
}

void spyre::ktir::encode(Element element, const int64_t *values, uint8_t *bytes, int64_t count) {
  int64_t width = element.getBytes();
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(bytes + i * width, &values[i], width);
}

int64_t spyre::ktir::countElements(const Shape &shape) {
  constexpr int64_t kMost = int64_t(1) << 32;
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 0 || (size > 0 && count > kMost / size))
      return -1;
    count *= size;
  }
  return count;
}

Shape spyre::ktir::getRowMajorStrides(const Shape &shape) {
  Shape strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

std::string spyre::ktir::toString(const Shape &shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

Tensor::Tensor(Element element, Shape sizes) : element(element), shape(std::move(sizes)) {
  int64_t count = std::max<int64_t>(countElements(shape), 0);
  if (element.isFloat())
    floats.assign(count, std::numeric_limits<float>::quiet_NaN());
  else
    ints.assign(count, 0);
}
