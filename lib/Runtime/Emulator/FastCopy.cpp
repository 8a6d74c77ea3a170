//===- FastCopy.cpp - Copies and restickify by sticks and tiles -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy that keeps the stick dim moves sticks; one that changes it transposes
// square tiles, as many sticks as a stick has elements.
//
//===----------------------------------------------------------------------===//

#include "FastPath.h"
#include "Vector.h"

using namespace spyre;
using namespace spyre::runtime;

namespace {

/// One square tile: \p sticks sticks of the source become the first lanes of
/// \p rows sticks; \p tail holds the bytes of the lanes after them.
void turnTile(int64_t width, const uint8_t *from, int64_t fromStride, int64_t sticks, uint8_t *to,
              int64_t toStride, int64_t rows, const std::vector<uint8_t> &tail) {
  const VectorFunctions &vector = getVectorFunctions();
  auto turn = width == 1 ? vector.transpose8 : width == 2 ? vector.transpose16 : vector.transpose32;
  int64_t size = kStickInBytes / width;
  if (sticks == size && rows == size)
    return turn(from, fromStride, to, toStride);
  alignas(64) uint8_t source[kStickInBytes * kStickInBytes] = {};
  alignas(64) uint8_t turned[kStickInBytes * kStickInBytes];
  for (int64_t i = 0; i < sticks; ++i)
    std::memcpy(source + i * kStickInBytes, from + i * fromStride, kStickInBytes);
  turn(source, kStickInBytes, turned, kStickInBytes);
  for (int64_t j = 0; j < rows; ++j) {
    std::memcpy(to + j * toStride, turned + j * kStickInBytes, sticks * width);
    std::memcpy(to + j * toStride + sticks * width, tail.data(), (size - sticks) * width);
  }
}

} // namespace

void Execution::planFastCopy() {
  if (!d.masks.empty())
    return planFastPointwise();
  const Operand &out = operands[output], &in = operands[inputs[0]];
  int row = out.stickDim;
  if (row < 0 || inputs.size() != 1 || in.width != out.width ||
      outerDims.size() + 1 > Walk::kMaxLevels ||
      !hasWholeSticks(out, row, rowLength, getRowLanes()))
    return;
  bool turns = in.stickDim != row;
  int other = in.stickDim;
  if (turns) {
    if (other < 0 || !in.has(row) || in.dims[row].inStick || !out.has(other) || out.width > 4 ||
        !hasWholeSticks(in, other, coreSizes[other], coreSizes[other]))
      return;
  } else if (!hasWholeSticks(in, row, rowLength, getRowLanes())) {
    return;
  }
  if (!canStoreDirectly(/*inPlace=*/!turns))
    return;

  Walk walk;
  int64_t perStick = outPerStick;
  auto add = [&](int dim, int64_t extent, int64_t outStride, int64_t inStride) {
    Walk::Level level;
    level.dim = dim;
    level.extent = extent;
    level.stride[0] = outStride;
    level.stride[1] = inStride;
    walk.levels.push_back(level);
  };
  for (unsigned dim : outerDims)
    if (turns && int(dim) == other)
      add(other, (coreSizes[dim] + perStick - 1) / perStick, perStick * out.dims[dim].unit,
          in.dims[dim].unit);
    else
      add(static_cast<int>(dim), coreSizes[dim], out.dims[dim].unit, in.dims[dim].unit);
  add(row, rowSticks, out.dims[row].unit, turns ? perStick * in.dims[row].unit : in.dims[row].unit);
  walk.finish(2, /*merge=*/!turns);
  work.places = walk.getNumPlaces();
  int64_t outStride = walk.levels.back().stride[0], inStride = walk.levels.back().stride[1];

  if (!turns) {
    work.placesPerJob = 1024;
    work.run = [=, this](int core, int64_t b, int64_t e) {
      const Operand &out = operands[output], &in = operands[inputs[0]];
      walk.forEachRun(b, e, 2, [&](const int64_t *offsets, const int64_t *, int64_t n) {
        uint8_t *to = out.data[core] + offsets[0];
        const uint8_t *from = in.data[core] + offsets[1];
        if (outStride == kStickInBytes && inStride == kStickInBytes) {
          if (to != from)
            std::memcpy(to, from, n * kStickInBytes);
          return;
        }
        getVectorFunctions().copySticks(from, inStride, to, outStride, n);
      });
    };
    return;
  }

  int rowLevel = 0, otherLevel = 0;
  for (size_t level = 0; level < walk.levels.size(); ++level) {
    if (walk.levels[level].dim == row)
      rowLevel = static_cast<int>(level);
    if (walk.levels[level].dim == other)
      otherLevel = static_cast<int>(level);
  }
  int innermost = static_cast<int>(walk.levels.size()) - 1;
  // What a row has after its last element.
  std::vector<uint8_t> tail((getRowLanes() - rowLength) * out.width);
  fillUndefinedBytes(tail.data(), static_cast<int64_t>(tail.size()), rowLength);
  work.placesPerJob = 16;
  work.run = [=, this](int core, int64_t b, int64_t e) {
    const Operand &out = operands[output], &in = operands[inputs[0]];
    walk.forEachRun(b, e, 2, [&](const int64_t *offsets, const int64_t *index, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        int64_t rowBlock = index[rowLevel] + (rowLevel == innermost ? i : 0);
        int64_t otherBlock = index[otherLevel] + (otherLevel == innermost ? i : 0);
        turnTile(out.width, in.data[core] + offsets[1] + i * inStride, in.dims[row].unit,
                 std::min(perStick, rowLength - rowBlock * perStick),
                 out.data[core] + offsets[0] + i * outStride, out.dims[other].unit,
                 std::min(perStick, coreSizes[other] - otherBlock * perStick), tail);
      }
    });
  };
}
