//===- FastReduction.cpp - Reductions in memory order -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fills the partial results of all cores as computeReduction does, some rows at a
// time and stick by stick, so that neighbours in memory are read together. Each
// element is added to the same lane in the same order as there.
//
//===----------------------------------------------------------------------===//

#include "FastPath.h"
#include "Vector.h"

#include "spyre/Numerics/DL16.h"

#include <cmath>

using namespace spyre;
using namespace spyre::runtime;

namespace {

/// Rows of a result whose sums are under way together.
constexpr int64_t kRowsAtOnce = 64;

} // namespace

bool Execution::computeFastReduction() {
  if (emulator.options.checked || emulator.options.generalPathOnly ||
      (kernel->structure != Structure::Reduction && kernel->structure != Structure::Exx2))
    return false;
  const Operand &out = operands[output], &x = operands[inputs[0]];
  bool keepsLanes = out.stickDim >= 0, pair = kernel->structure == Structure::Exx2;
  int inner = x.stickDim;
  if (inner < 0)
    return false;
  int64_t length = coreSizes[inner], lanes = keepsLanes ? getRowLanes() : length;
  if (!hasWholeSticks(x, inner, length, lanes))
    return false;
  // Dims of the input that the result lacks are gone through for every row of it.
  std::vector<unsigned> reduced;
  int64_t numReduced = 1;
  for (unsigned dim = 0; dim < d.dims.size(); ++dim)
    if (int(dim) != inner && x.has(dim) && !out.has(dim)) {
      reduced.push_back(dim);
      numReduced *= coreSizes[dim];
    }
  std::vector<int64_t> reducedOffsets;
  std::vector<int64_t> index(d.dims.size(), 0);
  {
    Odometer odometer(reduced, coreSizes, index.data());
    do {
      int64_t offset = 0;
      for (unsigned dim : reduced)
        offset += x.dims[dim].getOffset(index[dim]);
      reducedOffsets.push_back(offset);
    } while (odometer.next());
  }
  // Masks along other dims than the stick one depend on the place; they are rare.
  for (const sdsc::Mask &mask : d.masks)
    if (int(*d.findDim(mask.dim)) != inner)
      return false;
  const OperandDim &along = x.dims[inner];
  int64_t perStick = along.perStick, numSticks = (lanes + perStick - 1) / perStick;
  int64_t perRow = keepsLanes ? lanes : pair ? 2 : 1;
  Combine combine = kernel->combine;
  bool sums = combine == Combine::Sum;
  double neutral = sums ? 0 : combine == Combine::Max ? -INFINITY : INFINITY;
  const VectorFunctions &vector = getVectorFunctions();

  results.resize(numCores);
  for (CoreResult &result : results)
    result.partial.resize(numRows * perRow);
  int64_t work = numSticks * numReduced;
  int64_t rowsPerJob = std::clamp<int64_t>(2048 / std::max<int64_t>(work, 1), 1, kRowsAtOnce);
  // Few long rows that keep their lanes are divided by sticks, too.
  int64_t sticksPerJob =
      keepsLanes ? std::clamp<int64_t>(2048 / std::max<int64_t>(numReduced, 1), 1, numSticks)
                 : numSticks;
  int64_t stickJobs = (numSticks + sticksPerJob - 1) / sticksPerJob;
  int64_t rowJobs = (numRows + rowsPerJob - 1) / rowsPerJob;

  emulator.pool.run(numCores * rowJobs * stickJobs, [&](int64_t job) {
    int core = static_cast<int>(job / (rowJobs * stickJobs));
    int64_t firstRow = job / stickJobs % rowJobs * rowsPerJob;
    int64_t rows = std::min(rowsPerJob, numRows - firstRow);
    int64_t firstStick = job % stickJobs * sticksPerJob;
    int64_t lastStick = std::min(numSticks, firstStick + sticksPerJob);
    const uint8_t *data = x.data[core];
    double *partial = results[core].partial.data() + firstRow * perRow;
    // Where the rows begin.
    int64_t starts[kRowsAtOnce];
    for (int64_t r = 0; r < rows; ++r) {
      int64_t rest = firstRow + r;
      starts[r] = 0;
      for (size_t i = outerDims.size(); i-- > 0; rest /= coreSizes[outerDims[i]])
        starts[r] += x.dims[outerDims[i]].getOffset(rest % coreSizes[outerDims[i]]);
    }
    float buffer[kStickInBytes];
    // A stick's elements as the operation reads them.
    auto load = [&](int64_t offset, int64_t stick, int64_t count) -> const float * {
      const uint8_t *from = data + offset + stick * along.unit;
      if (x.format == DataFormat::IEEE_FP32 && d.masks.empty())
        return reinterpret_cast<const float *>(from);
      decodeElements(x.format, from, buffer, count);
      for (const sdsc::Mask &mask : d.masks) {
        int64_t begin = mask.firstInvalid - d.coreToSlice[core][inner] * length - stick * perStick;
        int64_t limit = std::min(count, length - stick * perStick);
        if (limit > 0)
          std::fill(buffer + std::clamp<int64_t>(begin, 0, limit),
                    buffer + std::clamp<int64_t>(begin + mask.count, 0, limit),
                    static_cast<float>(maskValue));
      }
      return buffer;
    };
    if (keepsLanes) {
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t stick = firstStick; stick < lastStick; ++stick) {
          int64_t count = std::min(perStick, lanes - stick * perStick);
          double *to = partial + r * perRow + stick * perStick;
          std::fill_n(to, count, neutral);
          for (int64_t offset : reducedOffsets) {
            const float *row = load(starts[r] + offset, stick, count);
            if (sums)
              vector.addElements(row, count, to);
            else if (combine == Combine::Max)
              vector.maxElements(row, count, to);
            else
              vector.minElements(row, count, to);
          }
        }
      return;
    }
    std::fill_n(partial, rows * perRow, neutral);
    for (int64_t offset : reducedOffsets) {
      LaneSums lanesOf[kRowsAtOnce];
      float extremes[kRowsAtOnce];
      bool hasNaN[kRowsAtOnce] = {};
      std::fill_n(extremes, rows, static_cast<float>(neutral));
      for (int64_t stick = firstStick; stick < lastStick; ++stick) {
        int64_t count = std::min(perStick, length - stick * perStick);
        for (int64_t r = 0; r < rows; ++r) {
          const float *row = load(starts[r] + offset, stick, count);
          if (sums) {
            vector.addRow(row, count, lanesOf[r].sum);
            if (pair)
              vector.addSquares(row, count, lanesOf[r].squares);
          } else if (combine == Combine::Max) {
            extremes[r] = vector.largest(row, count, extremes[r], hasNaN[r]);
          } else {
            extremes[r] = vector.smallest(row, count, extremes[r], hasNaN[r]);
          }
        }
      }
      for (int64_t r = 0; r < rows; ++r) {
        double *to = partial + r * perRow;
        if (sums) {
          to[0] += LaneSums::combine(lanesOf[r].sum);
          if (pair)
            to[1] += LaneSums::combine(lanesOf[r].squares);
          continue;
        }
        // Which NaN wins depends on the order: that of the row.
        auto choose = combine == Combine::Max ? maximumOf : minimumOf;
        for (int64_t stick = 0; hasNaN[r] && stick < numSticks; ++stick) {
          int64_t count = std::min(perStick, length - stick * perStick);
          const float *row = load(starts[r] + offset, stick, count);
          if (stick == 0)
            extremes[r] = static_cast<float>(neutral);
          for (int64_t i = 0; i < count; ++i)
            extremes[r] = choose(extremes[r], row[i]);
        }
        to[0] = choose(static_cast<float>(to[0]), extremes[r]);
      }
    }
  });
  return true;
}
