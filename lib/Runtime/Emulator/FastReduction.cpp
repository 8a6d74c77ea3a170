//===- FastReduction.cpp - Reductions in memory order -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some rows at a time and stick by stick, so that neighbours in memory are read
// together. Each element is added to the same lane in the same order as row by row
// (computeReduction). Reductions that cores share are left to that.
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
/// Sticks of a row that are read together.
constexpr int64_t kSticksAtOnce = 4;

void prefetchStick(const uint8_t *data) {
#ifdef __GNUC__
  __builtin_prefetch(data);
  __builtin_prefetch(data + kStickInBytes / 2);
#endif
}

/// The input of a reduction as its rows need it.
struct Source {
  const Operand *x = nullptr;
  int64_t length = 0, perStick = 1, numSticks = 1;
  std::vector<sdsc::Mask> masks;
  float maskValue = 0;
  std::vector<int64_t> reducedOffsets; ///< of the rows that one result row takes in
  std::vector<int64_t> rowOffsets;     ///< of the result's rows

  /// \p count elements of a stick, in memory or in \p buffer.
  const float *load(const uint8_t *data, int64_t offset, int64_t stick, int64_t count,
                    int64_t origin, float *buffer) const {
    const uint8_t *from = data + offset + stick * x->dims[x->stickDim].unit;
    if (x->format == DataFormat::IEEE_FP32 && masks.empty())
      return reinterpret_cast<const float *>(from);
    decodeElements(x->format, from, buffer, count);
    int64_t limit = std::min(count, length - stick * perStick);
    for (const sdsc::Mask &mask : masks) {
      int64_t begin = mask.firstInvalid - origin - stick * perStick;
      if (limit > 0)
        std::fill(buffer + std::clamp<int64_t>(begin, 0, limit),
                  buffer + std::clamp<int64_t>(begin + mask.count, 0, limit), maskValue);
    }
    return buffer;
  }
};

/// What \p rows rows leave, \p perRow numbers a row.
void reduceRows(const Source &source, Combiner combine, bool pair, const uint8_t *data,
                const int64_t *starts, int64_t rows, int64_t origin, double *results) {
  const VectorFunctions &vector = getVectorFunctions();
  float buffer[kStickInBytes];
  float neutral = combine == Combiner::Maximum ? -INFINITY : INFINITY;
  int64_t perRow = pair ? 2 : 1;
  bool onCodes = combine != Combiner::Add && source.x->format == DataFormat::SEN169_FP16 &&
                 source.masks.empty();
  bool addsSticks =
      !pair && combine == Combiner::Add && source.masks.empty() &&
      (source.x->format == DataFormat::SEN169_FP16 || source.x->format == DataFormat::IEEE_FP32);
  std::fill_n(results, rows * perRow, combine == Combiner::Add ? 0.0 : double(neutral));
  for (int64_t offset : source.reducedOffsets) {
    LaneSums sums[kRowsAtOnce];
    float extremes[kRowsAtOnce];
    bool hasNaN[kRowsAtOnce] = {};
    std::fill_n(extremes, rows, neutral);
    int16_t keys[kRowsAtOnce][kCodeLanes];
    std::fill_n(keys[0], rows * kCodeLanes, codeToKey(encodeDL16(neutral)));
    int64_t stride = source.x->dims[source.x->stickDim].unit;
    // Whole sticks at once, then the rest of the last one.
    int64_t whole = source.length / source.perStick;
    auto takeSticks = [&](int64_t first, int64_t sticks, int64_t count) {
      const uint8_t *from = data + offset + first * stride;
      if (onCodes)
        (combine == Combiner::Maximum ? vector.largestCodes : vector.smallestCodes)(
            from, starts, rows, sticks, stride, count, keys);
      else
        (source.x->format == DataFormat::IEEE_FP32 ? vector.addSticksF32 : vector.addSticksDL16)(
            from, starts, rows, sticks, stride, sums);
    };
    int64_t stick = 0;
    if (onCodes || addsSticks) {
      // Rows of a group are neighbours in memory, the sticks of a row are not: some sticks at
      // a time, while the next ones come.
      for (; stick < whole; stick += kSticksAtOnce) {
        int64_t sticks = std::min(kSticksAtOnce, whole - stick);
        if (!source.x->isLocal)
          for (int64_t s = stick + sticks; s < std::min(whole, stick + 2 * sticks); ++s)
            for (int64_t r = 0; r < rows; ++r)
              prefetchStick(data + starts[r] + offset + s * stride);
        takeSticks(stick, sticks, source.perStick);
      }
      stick = whole;
      if (onCodes && stick < source.numSticks) {
        takeSticks(stick, 1, source.length - stick * source.perStick);
        ++stick;
      }
    }
    for (; stick < source.numSticks; ++stick) {
      int64_t count = std::min(source.perStick, source.length - stick * source.perStick);
      for (int64_t r = 0; r < rows; ++r) {
        const float *row = source.load(data, starts[r] + offset, stick, count, origin, buffer);
        if (combine == Combiner::Add) {
          vector.addRow(row, count, sums[r].sum);
          if (pair)
            vector.addSquares(row, count, sums[r].squares);
        } else if (combine == Combiner::Maximum) {
          extremes[r] = vector.largest(row, count, extremes[r], hasNaN[r]);
        } else {
          extremes[r] = vector.smallest(row, count, extremes[r], hasNaN[r]);
        }
      }
    }
    for (int64_t r = 0; r < rows; ++r) {
      double *to = results + r * perRow;
      if (combine == Combiner::Add) {
        to[0] += LaneSums::combine(sums[r].sum);
        if (pair)
          to[1] += LaneSums::combine(sums[r].squares);
        continue;
      }
      float extreme = hasNaN[r] ? NAN : extremes[r];
      if (onCodes)
        extreme = decodeDL16(keyToCode(combine == Combiner::Maximum
                                           ? *std::max_element(keys[r], keys[r] + kCodeLanes)
                                           : *std::min_element(keys[r], keys[r] + kCodeLanes)));
      auto choose = combine == Combiner::Maximum ? maximumOf : minimumOf;
      to[0] = choose(static_cast<float>(to[0]), extreme);
    }
  }
}

/// The same for a stick of lanes that stay apart.
void reduceStick(const Source &source, Combiner combine, const uint8_t *data, int64_t start,
                 int64_t stick, int64_t origin, double *results) {
  const VectorFunctions &vector = getVectorFunctions();
  float buffer[kStickInBytes];
  auto add = combine == Combiner::Add       ? vector.addElements
             : combine == Combiner::Maximum ? vector.maxElements
                                            : vector.minElements;
  std::fill_n(results, source.perStick,
              combine == Combiner::Add       ? 0.0
              : combine == Combiner::Maximum ? -INFINITY
                                             : INFINITY);
  for (int64_t offset : source.reducedOffsets)
    add(source.load(data, start + offset, stick, source.perStick, origin, buffer), source.perStick,
        results);
}

} // namespace

void Execution::planFastReduction() {
  const Operand &out = operands[output], &x = operands[inputs[0]];
  bool keepsLanes = out.stickDim >= 0, pair = kernel->structure == Structure::Exx2;
  int inner = x.stickDim;
  Source source;
  source.length = inner >= 0 ? coreSizes[inner] : 1;
  int64_t lanes = keepsLanes ? getRowLanes() : source.length;
  if (inner < 0 || !hasWholeSticks(x, inner, source.length, lanes) ||
      !hasPlainSteps(out, out.stickDim) || (keepsLanes && x.dims[inner].perStick != outPerStick) ||
      (!isReplanned && int64_t(getGroups().size()) != numCores) ||
      !canStoreDirectly(/*inPlace=*/false))
    return;
  source.perStick = x.dims[inner].perStick;
  source.numSticks = (lanes + source.perStick - 1) / source.perStick;
  source.x = &x;
  source.masks = d.masks;
  source.maskValue = static_cast<float>(maskValue);
  // Masks along other dims depend on the place; they are rare.
  for (const sdsc::Mask &mask : d.masks)
    if (int(*d.findDim(mask.dim)) != inner)
      return;
  auto getOffsets = [&](const Operand &operand, const std::vector<unsigned> &dims) {
    std::vector<int64_t> offsets, index(d.dims.size(), 0);
    Odometer odometer(dims, coreSizes, index.data());
    do {
      offsets.push_back(0);
      for (unsigned dim : dims)
        offsets.back() += operand.dims[dim].getOffset(index[dim]);
    } while (odometer.next());
    return offsets;
  };
  // Dims of the input that the result lacks are gone through for every row of it.
  std::vector<unsigned> reduced;
  for (unsigned dim = 0; dim < d.dims.size(); ++dim)
    if (int(dim) != inner && x.has(dim) && !out.has(dim))
      reduced.push_back(dim);
  source.reducedOffsets = getOffsets(x, reduced);
  source.rowOffsets = getOffsets(x, outerDims);
  std::vector<int64_t> outOffsets = getOffsets(out, outerDims);

  int64_t perRow = keepsLanes ? outPerStick : pair ? 2 : 1;
  auto round = [=, this](const double *from, float *row) {
    for (int64_t i = 0; i < perRow; ++i) {
      double value = from[i];
      if (kernel->scaled || pair)
        value *= constants[0];
      if (pair && i == 0 && constants[1] != 0)
        value = 0;
      row[i] = std::isnan(value) ? NAN : static_cast<float>(value);
    }
  };
  int64_t workOfRow = source.numSticks * int64_t(source.reducedOffsets.size());
  if (keepsLanes) {
    int64_t outStick = out.dims[out.stickDim].unit, sticks = source.numSticks;
    work.places = numRows * sticks;
    work.placesPerJob = std::clamp<int64_t>(1024 / int64_t(source.reducedOffsets.size()), 1, 1024);
    work.run = [=, this](int core, int64_t begin, int64_t end) {
      const Operand &out = operands[output];
      int64_t origin = getFirstElement(core, inner);
      double partial[kStickInBytes];
      float row[kStickInBytes];
      for (int64_t place = begin; place < end; ++place) {
        int64_t r = place / sticks, stick = place % sticks;
        reduceStick(source, kernel->combine, source.x->data[core], source.rowOffsets[r], stick,
                    origin, partial);
        round(partial, row);
        encodeElements(out.format, row, out.data[core] + outOffsets[r] + stick * outStick,
                       outPerStick, kernel->saturate);
      }
    };
    return;
  }
  std::vector<float> undefined(outPerStick);
  fillUndefined(undefined.data(), perRow, outPerStick);
  work.places = numRows;
  work.placesPerJob = std::clamp<int64_t>(1024 / std::max<int64_t>(workOfRow, 1), 1, kRowsAtOnce);
  work.run = [=, this](int core, int64_t begin, int64_t end) {
    const Operand &out = operands[output];
    int64_t origin = getFirstElement(core, inner);
    double partial[2 * kRowsAtOnce];
    std::vector<float> row = undefined;
    uint8_t stick[kStickInBytes];
    encodeElements(out.format, row.data(), stick, outPerStick, kernel->saturate);
    for (int64_t first = begin; first < end; first += kRowsAtOnce) {
      int64_t rows = std::min(kRowsAtOnce, end - first);
      reduceRows(source, kernel->combine, pair, source.x->data[core],
                 source.rowOffsets.data() + first, rows, origin, partial);
      for (int64_t r = 0; r < rows; ++r) {
        round(partial + r * perRow, row.data());
        encodeElements(out.format, row.data(), stick, perRow, kernel->saturate);
        std::memcpy(out.data[core] + outOffsets[first + r], stick, kStickInBytes);
      }
    }
  };
}
