//===- Lanes.cpp - Checked mode: lanes without a meaning --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows two kinds of lanes through an operation: undefined ones (what a unit
// leaves in lanes that no operation defines) and padding (after the end of a
// tensor, with a known content). A lane of a pointwise result is undefined if one
// of its operands' lanes is, and padding if all are. Where lanes are combined,
// elements with undefined lanes make a wrong result, and elements with padding do
// if the padding has an effect: a sum takes no harm from zeros, a maximum none from
// small numbers. A result of undefined lanes alone is undefined and no mistake: it
// may be one that nobody looks at. Runs after the kernels, and only if such lanes
// were read.
//
//===----------------------------------------------------------------------===//

#include "Execution.h"

#include "spyre/Numerics/DL16.h"

#include <cmath>

using namespace spyre;
using namespace spyre::runtime;

namespace {

/// Marks of the \p count lanes of \p width bytes from byte \p at of a block.
void readMarks(const Block &block, int64_t at, int64_t count, int64_t width, uint8_t *marks) {
  const StickShadow &shadow = block.getShadow(at / kStickInBytes);
  if (shadow.undefined.none() && shadow.padding.none()) {
    std::fill(marks, marks + count, uint8_t(0));
    return;
  }
  int64_t byte = at % kStickInBytes;
  for (int64_t i = 0; i < count; ++i, byte += width)
    marks[i] = shadow.undefined[byte] ? kUndefinedLane : shadow.padding[byte] ? kPaddingLane : 0;
}

/// What went into one combined value.
struct Mixture {
  bool hasElement = false, hasUndefined = false, hasPadding = false;
  /// Where the first lane of the kind was read.
  int undefinedCore = -1, paddingCore = -1;
  int64_t undefinedAddress = 0, paddingAddress = 0;
  /// The best element and padding of a maximum or minimum; the padding of a sum
  /// that is not zero counts as found.
  float element = 0, padding = 0;

  uint8_t getMark() const {
    return hasElement || (!hasUndefined && !hasPadding) ? 0
           : hasUndefined                               ? kUndefinedLane
                                                        : kPaddingLane;
  }
};

} // namespace

int64_t Execution::getAddress(const Operand &operand, int core, const int64_t *index) const {
  int64_t address = operand.start[core];
  for (size_t dim = 0; dim < operand.dims.size(); ++dim)
    address += operand.dims[dim].getOffset(index[dim]);
  return address;
}

/// As loadRow, but for the marks.
void Execution::loadMarks(const Operand &operand, int core, const int64_t *index, int inner,
                          int64_t length, int64_t padded, uint8_t *marks) {
  const Block &block = *operand.block[core];
  CoreResult unused;
  int64_t filled = 0;
  visitRow(
      operand, core, index, inner, length, padded, unused,
      [&](int64_t lane, const uint8_t *data, int64_t n) {
        readMarks(block, data - block.getData(), n, operand.width, marks + lane);
        filled = lane + n;
      },
      [&](const uint8_t *data) {
        uint8_t mark;
        readMarks(block, data - block.getData(), 1, operand.width, &mark);
        std::fill(marks, marks + padded, mark);
        filled = padded;
      });
  std::fill(marks + filled, marks + padded, kUndefinedLane);
}

/// Masked lanes read as a constant: they are neither undefined nor padding.
void Execution::unmarkMasked(int core, const int64_t *index, int inner, int64_t length,
                             uint8_t *marks) const {
  for (const sdsc::Mask &mask : d.masks) {
    int dim = static_cast<int>(*d.findDim(mask.dim));
    int64_t begin = mask.firstInvalid - d.coreToSlice[core][dim] * coreSizes[dim];
    int64_t end = begin + mask.count;
    if (dim == inner)
      std::fill(marks + std::clamp<int64_t>(begin, 0, length),
                marks + std::clamp<int64_t>(end, 0, length), uint8_t(0));
    else if (index[dim] >= begin && index[dim] < end)
      std::fill(marks, marks + length, uint8_t(0));
  }
}

/// The marks of a stick that a relayout moves to byte \p to of its result.
void Execution::markShuffled(const Operand &operand, int core, int64_t offset, int64_t to,
                             CoreResult &result) const {
  result.marks.resize(result.sticks.size() / operand.width, 0);
  readMarks(*operand.block[core], operand.blockOffset[core] + offset, kStickInBytes / operand.width,
            operand.width, result.marks.data() + to / operand.width);
}

void Execution::trackLanes(const std::vector<std::vector<int>> &groups) {
  bool sawMarks = false;
  for (const CoreResult &result : results)
    sawMarks |= result.sawMarks;
  if (!sawMarks)
    return;
  if (!groups.empty()) {
    emulator.pool.run(groups.size(), [&](int64_t g) {
      if (kernel->structure == Structure::Matmul)
        markMatmul(groups[g]);
      else
        markReduction(groups[g]);
    });
    return;
  }
  if (d.opFunc == "shuffle")
    return; // the moves have brought the marks along
  emulator.pool.run(numCores, [&](int64_t core) {
    switch (kernel->structure) {
    case Structure::LayerNormScale:
      return markLayerNormScale(static_cast<int>(core));
    case Structure::TopKValue:
    case Structure::TopKIndex:
      return markTopK(static_cast<int>(core));
    default:
      return markPointwise(static_cast<int>(core));
    }
  });
}

void Execution::markPointwise(int core) {
  const Operand &out = operands[output];
  int64_t lanes = getRowLanes();
  CoreResult &result = results[core];
  result.marks.assign(numRows * lanes, 0);
  std::vector<std::vector<uint8_t>> rows(inputs.size(), std::vector<uint8_t>(lanes));
  // Operands without the row's dim say nothing of its end.
  std::vector<bool> counts(inputs.size());
  bool any = false;
  for (size_t i = 0; i < inputs.size(); ++i)
    any |= counts[i] = out.stickDim >= 0 && operands[inputs[i]].has(out.stickDim);
  for (size_t i = 0; i < inputs.size() && !any; ++i)
    for (unsigned dim = 0; dim < d.dims.size(); ++dim)
      counts[i] = counts[i] || operands[inputs[i]].has(dim);
  any = std::find(counts.begin(), counts.end(), true) != counts.end();
  bool selects = inputs.size() == 3 && d.opFunc.starts_with("where");
  std::vector<int64_t> index(d.dims.size(), 0);
  Odometer odometer(outerDims, coreSizes, index.data());
  uint8_t *to = result.marks.data();
  do {
    for (size_t i = 0; i < inputs.size(); ++i)
      loadMarks(operands[inputs[i]], core, index.data(), out.stickDim, rowLength, lanes,
                rows[i].data());
    unmarkMasked(core, index.data(), out.stickDim, lanes, rows[0].data());
    for (int64_t lane = 0; lane < lanes; ++lane) {
      bool isUndefined = false, isPadding = any;
      for (size_t i = 0; i < inputs.size(); ++i) {
        isUndefined |= rows[i][lane] == kUndefinedLane && (!selects || i == 0);
        isPadding &= !counts[i] || rows[i][lane] == kPaddingLane;
      }
      // Which of the two is taken, the lane's number says; one defined may do.
      if (selects)
        isUndefined |= rows[1][lane] == kUndefinedLane && rows[2][lane] == kUndefinedLane;
      to[lane] = isUndefined ? kUndefinedLane : isPadding ? kPaddingLane : 0;
    }
    to += lanes;
  } while (odometer.next());
}

void Execution::markLayerNormScale(int core) {
  const Operand &x = operands[inputs[0]];
  int64_t lanes = getRowLanes();
  CoreResult &result = results[core];
  result.marks.assign(numRows * lanes, 0);
  std::vector<int64_t> index(d.dims.size(), 0);
  Odometer odometer(outerDims, coreSizes, index.data());
  uint8_t *to = result.marks.data();
  do {
    int64_t offset = baseOffset(x, core, index.data(), -1, result);
    uint8_t pair[2];
    readMarks(*x.block[core], x.blockOffset[core] + offset, 2, x.width, pair);
    bool isUndefined = pair[0] == kUndefinedLane && pair[1] == kUndefinedLane;
    if (!isUndefined && (pair[0] == kUndefinedLane || pair[1] == kUndefinedLane))
      addReport(result, ReportKind::Undefined, x, core,
                x.start[core] + offset + (pair[0] == kUndefinedLane ? 0 : x.width),
                "is read as a pair of statistics, but one of them is undefined");
    bool isPadding = pair[0] == kPaddingLane && pair[1] == kPaddingLane;
    std::fill(to, to + lanes, isUndefined ? kUndefinedLane : isPadding ? kPaddingLane : 0);
    to += lanes;
  } while (odometer.next());
}

void Execution::markTopK(int core) {
  const Operand &x = operands[inputs[0]], &out = operands[output];
  CoreResult &result = results[core];
  int64_t lanes = getRowLanes();
  result.marks.assign(numRows * lanes, 0);
  std::vector<unsigned> kept, searched, ranks;
  for (unsigned dim = 0; dim < d.dims.size(); ++dim)
    if (int(dim) != out.stickDim && (x.has(dim) || out.has(dim)))
      (x.has(dim) && out.has(dim) ? kept : x.has(dim) ? searched : ranks).push_back(dim);
  std::vector<uint8_t> row(lanes), undefined(lanes), padding(lanes), elements(lanes);
  std::vector<int64_t> index(d.dims.size(), 0);
  Odometer odometer(kept, coreSizes, index.data());
  do {
    std::fill(undefined.begin(), undefined.end(), 0);
    std::fill(padding.begin(), padding.end(), 0);
    std::fill(elements.begin(), elements.end(), 0);
    Odometer along(searched, coreSizes, index.data());
    do {
      loadMarks(x, core, index.data(), out.stickDim, rowLength, lanes, row.data());
      unmarkMasked(core, index.data(), out.stickDim, rowLength, row.data());
      for (int64_t lane = 0; lane < lanes; ++lane) {
        undefined[lane] |= row[lane] == kUndefinedLane;
        padding[lane] |= row[lane] == kPaddingLane;
        elements[lane] |= row[lane] == 0;
        if (undefined[lane] && elements[lane])
          addReport(result, ReportKind::Undefined, x, core, getAddress(x, core, index.data()),
                    "is searched where some lanes are undefined");
      }
    } while (along.next());
    Odometer places(ranks, coreSizes, index.data());
    do {
      uint8_t *to = result.marks.data() + getRowIndex(index.data()) * lanes;
      for (int64_t lane = 0; lane < lanes; ++lane)
        to[lane] = elements[lane]    ? 0
                   : undefined[lane] ? kUndefinedLane
                   : padding[lane]   ? kPaddingLane
                                     : 0;
    } while (places.next());
  } while (odometer.next());
}

void Execution::markReduction(const std::vector<int> &group) {
  const Operand &out = operands[output], &x = operands[inputs[0]];
  bool keepsLanes = out.stickDim >= 0;
  bool isSum = kernel->structure == Structure::Exx2 || kernel->combine == Combiner::Add;
  int64_t perRow = keepsLanes ? getRowLanes() : 1;
  int64_t length = x.stickDim >= 0 ? coreSizes[x.stickDim] : 1;
  int64_t lanes = keepsLanes ? getRowLanes() : length;
  std::vector<Mixture> mixtures(numRows * perRow);
  std::vector<float> row(std::max(lanes, length));
  std::vector<uint8_t> marks(row.size());
  std::vector<unsigned> dims;
  for (unsigned dim = 0; dim < d.dims.size(); ++dim)
    if (int(dim) != x.stickDim && x.has(dim))
      dims.push_back(dim);
  CoreResult unused;
  for (int core : group) {
    std::vector<int64_t> index(d.dims.size(), 0);
    Odometer odometer(dims, coreSizes, index.data());
    do {
      loadRow(x, core, index.data(), x.stickDim, length, lanes, row.data(), unused);
      loadMarks(x, core, index.data(), x.stickDim, length, lanes, marks.data());
      unmarkMasked(core, index.data(), x.stickDim, length, marks.data());
      applyMask(core, index.data(), x.stickDim, length, row.data());
      Mixture *to = mixtures.data() + getRowIndex(index.data()) * perRow;
      for (int64_t lane = 0; lane < (keepsLanes ? lanes : length); ++lane) {
        Mixture &mixture = to[keepsLanes ? lane : 0];
        auto where = [&] {
          std::vector<int64_t> at = index;
          if (x.stickDim >= 0)
            at[x.stickDim] = lane;
          return getAddress(x, core, at.data());
        };
        float value = kernel->combine == Combiner::Minimum ? -row[lane] : row[lane];
        if (marks[lane] == kUndefinedLane) {
          if (!mixture.hasUndefined) {
            mixture.undefinedCore = core;
            mixture.undefinedAddress = where();
          }
          mixture.hasUndefined = true;
        } else if (marks[lane] == kPaddingLane) {
          // Of a sum, the first padding that is not zero; else the largest.
          if (!mixture.hasPadding ||
              (isSum ? mixture.padding == 0 && value != 0 : !(value <= mixture.padding))) {
            mixture.padding = value;
            mixture.paddingCore = core;
            mixture.paddingAddress = where();
          }
          mixture.hasPadding = true;
        } else {
          mixture.element = mixture.hasElement ? maximumOf(mixture.element, value) : value;
          mixture.hasElement = true;
        }
      }
    } while (odometer.next());
  }
  CoreResult &result = results[group[0]];
  result.marks.assign(numRows * getRowLanes(), 0);
  for (int64_t r = 0; r < numRows; ++r)
    for (int64_t i = 0; i < perRow; ++i) {
      const Mixture &mixture = mixtures[r * perRow + i];
      // A lane by itself may be one that nobody reads: of sticks with one element, whose other
      // lanes hold what came along. It is as undefined as what an operation on elements makes.
      const bool isSpoiled = keepsLanes && mixture.hasElement && mixture.hasUndefined;
      if (!keepsLanes && mixture.hasElement && mixture.hasUndefined)
        addReport(results[mixture.undefinedCore], ReportKind::Undefined, x, mixture.undefinedCore,
                  mixture.undefinedAddress, "is reduced with lanes that nobody defined");
      else if (mixture.hasElement && mixture.hasPadding && !std::isnan(mixture.element) &&
               (isSum ? mixture.padding != 0 : !(mixture.padding <= mixture.element)))
        addReport(results[mixture.paddingCore], ReportKind::Padding, x, mixture.paddingCore,
                  mixture.paddingAddress,
                  "is reduced with lanes after its end that are no neutral element");
      int64_t last = keepsLanes ? i + 1 : definedLanes;
      for (int64_t lane = i; lane < last; ++lane)
        result.marks[r * getRowLanes() + lane] = isSpoiled ? kUndefinedLane : mixture.getMark();
    }
}

void Execution::markMatmul(const std::vector<int> &group) {
  const Operand &x = operands[inputs[0]], &y = operands[inputs[1]], &out = operands[output];
  int contracted = -1;
  std::vector<unsigned> batchDims, rowDims;
  for (unsigned dim = 0; dim < d.dims.size(); ++dim) {
    if (!out.has(dim)) {
      if ((x.has(dim) || y.has(dim)) && (contracted < 0 || coreSizes[dim] > 1))
        contracted = static_cast<int>(dim);
    } else if (x.has(dim)) {
      (y.has(dim) ? batchDims : rowDims).push_back(dim);
    }
  }
  int64_t depth = contracted >= 0 ? coreSizes[contracted] : 1;
  int64_t columns = out.stickDim >= 0 ? getRowLanes() : 1;
  int64_t length = out.stickDim >= 0 ? rowLength : 1;
  // Rows of the first operand, and columns of the second one for each row.
  std::vector<Mixture> xRows(numRows);
  std::vector<std::vector<Mixture>> yColumns;
  std::vector<size_t> batchOf(numRows, 0);
  std::vector<uint8_t> a(depth), b(depth * columns);
  std::vector<float> aValues(depth), bValues(depth * columns);
  CoreResult unused;
  // Address of the lane \p at along \p dim.
  auto locate = [&](const Operand &operand, int core, std::vector<int64_t> index, int dim,
                    int64_t at) {
    if (dim >= 0)
      index[dim] = at;
    return getAddress(operand, core, index.data());
  };
  auto note = [&](Mixture &mixture, uint8_t mark, int core, const Operand &operand,
                  const std::vector<int64_t> &index, int dim, int64_t at) {
    mixture.hasElement |= mark == 0;
    mixture.hasPadding |= mark == kPaddingLane;
    if (mark != kUndefinedLane || mixture.hasUndefined)
      return;
    mixture.hasUndefined = true;
    mixture.undefinedCore = core;
    mixture.undefinedAddress = locate(operand, core, index, dim, at);
  };
  for (int core : group) {
    std::vector<int64_t> index(d.dims.size(), 0);
    Odometer batches(batchDims, coreSizes, index.data());
    size_t batch = 0;
    do {
      if (yColumns.size() <= batch)
        yColumns.emplace_back(columns);
      for (int64_t k = 0; k < depth; ++k) {
        if (contracted >= 0)
          index[contracted] = k;
        loadMarks(y, core, index.data(), out.stickDim, length, columns, b.data() + k * columns);
        loadRow(y, core, index.data(), out.stickDim, length, columns, bValues.data() + k * columns,
                unused);
        for (int64_t column = 0; column < columns; ++column)
          note(yColumns[batch][column], b[k * columns + column], core, y, index, out.stickDim,
               column);
      }
      if (contracted >= 0)
        index[contracted] = 0;
      // Steps at which an element's column holds something other than zero.
      std::vector<bool> hasEffect(depth, false);
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t column = 0; column < columns && !hasEffect[k]; ++column)
          hasEffect[k] = yColumns[batch][column].hasElement && bValues[k * columns + column] != 0;
      Odometer odometer(rowDims, coreSizes, index.data());
      do {
        int64_t r = getRowIndex(index.data());
        batchOf[r] = batch;
        loadMarks(x, core, index.data(), contracted, depth, depth, a.data());
        loadRow(x, core, index.data(), contracted, depth, depth, aValues.data(), unused);
        unmarkMasked(core, index.data(), contracted, depth, a.data());
        applyMask(core, index.data(), contracted, depth, aValues.data());
        for (int64_t k = 0; k < depth; ++k) {
          note(xRows[r], a[k], core, x, index, contracted, k);
          if (a[k] == kPaddingLane && aValues[k] != 0 && hasEffect[k] && xRows[r].paddingCore < 0) {
            xRows[r].paddingCore = core;
            xRows[r].paddingAddress = locate(x, core, index, contracted, k);
          }
        }
      } while (odometer.next());
      ++batch;
    } while (batches.next());
  }
  auto report = [&](const Mixture &mixture, const Operand &operand) {
    if (mixture.hasElement && mixture.hasUndefined)
      addReport(results[mixture.undefinedCore], ReportKind::Undefined, operand,
                mixture.undefinedCore, mixture.undefinedAddress,
                "is contracted with lanes that nobody defined");
    else if (mixture.hasElement && mixture.paddingCore >= 0)
      addReport(results[mixture.paddingCore], ReportKind::Padding, operand, mixture.paddingCore,
                mixture.paddingAddress, "is contracted with lanes after its end that are not zero");
  };
  CoreResult &result = results[group[0]];
  result.marks.assign(numRows * getRowLanes(), 0);
  for (int64_t r = 0; r < numRows; ++r) {
    report(xRows[r], x);
    for (int64_t column = 0; column < columns; ++column) {
      uint8_t mark = xRows[r].getMark(), other = yColumns[batchOf[r]][column].getMark();
      result.marks[r * getRowLanes() + column] = mark == kUndefinedLane || other == kUndefinedLane
                                                     ? kUndefinedLane
                                                 : mark || other ? kPaddingLane
                                                                 : 0;
    }
  }
  for (const std::vector<Mixture> &list : yColumns)
    for (const Mixture &column : list)
      report(column, y);
}
