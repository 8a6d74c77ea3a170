//===- Operand.cpp - Where the elements of an operand lie -------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The walk over layoutDimOrder_: a running unit starts at one stick and grows by
// each dim's extent in memory. Dims that are reduced or broadcast contribute
// nothing, also not to the unit: they come after all others in the order.
//
//===----------------------------------------------------------------------===//

#include "Operand.h"
#include "Vector.h"
#include "spyre/Numerics/FP8.h"
#include "spyre/SuperDSC/Standard.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace spyre;
using namespace spyre::runtime;

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::optional<int64_t> multiply(int64_t a, int64_t b) {
  if (a < 0 || b < 0 || (b != 0 && a > std::numeric_limits<int64_t>::max() / 4 / b))
    return std::nullopt;
  return a * b;
}

} // namespace

Result<Operand> spyre::runtime::makeOperand(const sdsc::Descriptor &descriptor, unsigned position,
                                            const std::vector<int64_t> &coreSizes) {
  const sdsc::Tensor &tensor = descriptor.tensors[position];
  Operand operand;
  operand.tensor = &tensor;
  operand.position = position;
  operand.format = tensor.format;
  operand.width = getWidthInBytes(tensor.format);
  operand.dims.resize(descriptor.dims.size());
  auto fail = [&](const std::string &message) { return Error{tensor.name + ": " + message}; };
  if (operand.width == 0)
    return fail(std::string(getFormatName(tensor.format)) + " is not emulated");
  const sdsc::LayoutClass *label = nullptr;
  for (const sdsc::LayoutClass &layout : descriptor.layouts)
    if (layout.label == tensor.label)
      label = &layout;
  if (!label || label->dimOrder.size() != tensor.scale.size() ||
      label->stickDims.size() != label->stickSizes.size())
    return fail("its layout class is missing or inconsistent");
  if (tensor.coordinates.size() != 0)
    for (const sdsc::DimCoordinate &coordinate : tensor.coordinates)
      if (coordinate.padding != sdsc::PaddingKind::NoPad)
        return fail("padding kind '" + std::string(sdsc::getPaddingName(coordinate.padding)) +
                    "' is not emulated");

  int64_t perStick = 1;
  for (int64_t size : label->stickSizes)
    perStick *= std::max<int64_t>(size, 1);
  if (perStick * operand.width > kStickInBytes)
    return fail("a stick of " + std::to_string(perStick) + " elements has more than " +
                std::to_string(kStickInBytes) + " bytes");

  int64_t unit = kStickInBytes;
  for (const std::string &name : tensor.dimOrder) {
    std::optional<unsigned> dim = descriptor.findDim(name);
    auto inLabel = std::find(label->dimOrder.begin(), label->dimOrder.end(), name);
    if (!dim || inLabel == label->dimOrder.end())
      return fail("dim '" + name + "' is unknown");
    int64_t scale = tensor.scale[inLabel - label->dimOrder.begin()];
    if (scale != 1)
      continue;
    OperandDim &entry = operand.dims[*dim];
    entry.extent = coreSizes[*dim];
    entry.unit = unit;
    auto stick = std::find(label->stickDims.begin(), label->stickDims.end(), name);
    if (stick != label->stickDims.end()) {
      size_t s = stick - label->stickDims.begin();
      entry.inStick = true;
      entry.perStick = label->stickSizes[s];
      if (entry.perStick <= 0)
        return fail("stick size " + std::to_string(entry.perStick));
      entry.laneStride = operand.width;
      // Stick dims are listed outermost first.
      for (size_t t = s + 1; t < label->stickSizes.size(); ++t)
        entry.laneStride *= label->stickSizes[t];
      if (s + 1 == label->stickSizes.size())
        operand.stickDim = static_cast<int>(*dim);
    }
    // Extent in memory: of the whole dim, or of the core's slice in a scratchpad.
    int64_t size = operand.isLX() ? coreSizes[*dim] : descriptor.dims[*dim].size;
    for (const auto &[gapDim, gaps] : tensor.backGap) {
      if (gapDim != name || gaps.empty())
        continue;
      for (int64_t gap : gaps)
        if (gap != gaps.front())
          return fail("back gaps that differ between cores are not emulated");
      bool isPadded = sdsc::isGapPadding(descriptor, tensor, name, gaps.front());
      if (isPadded || gaps.front() < 0) {
        if (descriptor.dims[*dim].numSlices != 1)
          return fail("dim '" + name + "' is padded and split");
        size -= std::abs(gaps.front());
        entry.limit = size;
        operand.isPartial = true;
      } else {
        size += gaps.front();
      }
    }
    if (size <= 0)
      return fail("dim '" + name + "' has " + std::to_string(size) + " places in memory");
    std::optional<int64_t> grown =
        multiply(unit, entry.inStick ? ceilDiv(size, entry.perStick) : size);
    if (!grown || !multiply(unit, std::max(size, entry.extent)))
      return fail("its size is beyond any memory");
    unit = *grown;
  }

  int64_t end = kStickInBytes;
  for (const OperandDim &dim : operand.dims) {
    if (dim.unit == 0)
      continue;
    int64_t extent = std::min(dim.extent, dim.limit);
    int64_t steps = dim.inStick ? ceilDiv(extent, dim.perStick) : extent;
    operand.numSticks *= steps;
    end += (steps - 1) * dim.unit;
  }
  operand.endOffset = end;
  return operand;
}

std::optional<std::vector<int64_t>>
spyre::runtime::getRelayoutSlices(const sdsc::Descriptor &descriptor, const Operand &operand,
                                  bool isOutput, int core) {
  const auto &own = operand.tensor->coreToSlice;
  if (own.empty())
    return isOutput ? std::optional(descriptor.coreToSlice[core]) : std::nullopt;
  if (size_t(core) >= own.size())
    return std::nullopt;
  std::vector<int64_t> slices(descriptor.dims.size(), 0);
  for (const auto &[dim, slice] : own[core])
    if (std::optional<unsigned> position = descriptor.findDim(dim))
      slices[*position] = slice;
  return slices;
}

bool spyre::runtime::isFloatFormat(DataFormat format) {
  switch (format) {
  case DataFormat::SEN169_FP16:
  case DataFormat::IEEE_FP16:
  case DataFormat::BFLOAT16:
  case DataFormat::IEEE_FP32:
  case DataFormat::SEN143_FP8:
  case DataFormat::SEN152_FP8:
    return true;
  default:
    return false;
  }
}

void spyre::runtime::decodeElements(DataFormat format, const uint8_t *from, float *to,
                                    int64_t count) {
  switch (format) {
  case DataFormat::SEN169_FP16:
    getVectorFunctions().decodeDL16(reinterpret_cast<const uint16_t *>(from), to, count);
    return;
  case DataFormat::IEEE_FP32:
    std::memcpy(to, from, count * 4);
    return;
  case DataFormat::IEEE_FP16:
  case DataFormat::BFLOAT16: {
    const SmallFloat &kind = format == DataFormat::IEEE_FP16 ? kBinary16 : kBFloat16;
    const auto *codes = reinterpret_cast<const uint16_t *>(from);
    for (int64_t i = 0; i < count; ++i)
      to[i] = static_cast<float>(decodeSmallFloat(kind, codes[i]));
    return;
  }
  case DataFormat::SEN143_FP8:
    for (int64_t i = 0; i < count; ++i)
      to[i] = decodeFP8E4M3(from[i]);
    return;
  case DataFormat::SEN152_FP8:
    for (int64_t i = 0; i < count; ++i)
      to[i] = decodeFP8E5M2(from[i]);
    return;
  default:
    std::fill(to, to + count, 0.0f);
  }
}

void spyre::runtime::encodeElements(DataFormat format, const float *from, uint8_t *to,
                                    int64_t count, bool saturate) {
  switch (format) {
  case DataFormat::SEN169_FP16:
    getVectorFunctions().encodeDL16(from, reinterpret_cast<uint16_t *>(to), count, saturate);
    return;
  case DataFormat::IEEE_FP32:
    std::memcpy(to, from, count * 4);
    return;
  case DataFormat::IEEE_FP16:
  case DataFormat::BFLOAT16: {
    const SmallFloat &kind = format == DataFormat::IEEE_FP16 ? kBinary16 : kBFloat16;
    auto *codes = reinterpret_cast<uint16_t *>(to);
    for (int64_t i = 0; i < count; ++i)
      codes[i] = encodeSmallFloat(kind, from[i], saturate);
    return;
  }
  case DataFormat::SEN143_FP8:
    for (int64_t i = 0; i < count; ++i)
      to[i] = encodeFP8E4M3(from[i]);
    return;
  case DataFormat::SEN152_FP8:
    for (int64_t i = 0; i < count; ++i)
      to[i] = encodeFP8E5M2(from[i]);
    return;
  default:
    std::fill(to, to + count, uint8_t(0));
  }
}
