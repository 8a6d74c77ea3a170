//===- Structures.cpp - How rows flow through each kind of kernel -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pointwise, copy, reduction, matmul, normalisation scale, top-k and relayout: a
// work slice is walked row by row (a row runs along a stick dim), operands are
// decoded to f32, and results stay unrounded until the cores that share an output
// slice are combined.
//
//===----------------------------------------------------------------------===//

#include "Execution.h"

#include "spyre/Numerics/DL16.h"

#include <cmath>
#include <map>
#include <numeric>

using namespace spyre;
using namespace spyre::runtime;

namespace {

/// Combines \p count values of \p row into one. Sums run in eight lanes, a fixed
/// order that does not depend on the processor.
double reduceRow(Combiner combine, const float *row, int64_t count, bool squared = false) {
  if (combine == Combiner::Add) {
    double sums[8] = {};
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
      for (int64_t j = 0; j < 8; ++j) {
        double x = row[i + j];
        sums[j] += squared ? x * x : x;
      }
    for (int64_t j = 0; i < count; ++i, ++j) {
      double x = row[i];
      sums[j] += squared ? x * x : x;
    }
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) +
           ((sums[2] + sums[6]) + (sums[3] + sums[7]));
  }
  float value = combine == Combiner::Maximum ? -INFINITY : INFINITY;
  for (int64_t i = 0; i < count; ++i)
    value = combine == Combiner::Maximum ? maximumOf(value, row[i]) : minimumOf(value, row[i]);
  return value;
}

double combineTwo(Combiner combine, double a, double b) {
  switch (combine) {
  case Combiner::Add:
    return a + b;
  case Combiner::Maximum:
    return maximumOf(static_cast<float>(a), static_cast<float>(b));
  case Combiner::Minimum:
    return minimumOf(static_cast<float>(a), static_cast<float>(b));
  case Combiner::None:
    break;
  }
  return a;
}

double getNeutral(Combiner combine) {
  switch (combine) {
  case Combiner::Add:
    return 0;
  case Combiner::Maximum:
    return -INFINITY;
  case Combiner::Minimum:
    return INFINITY;
  case Combiner::None:
    break;
  }
  return 0;
}

std::vector<unsigned> allDimsExcept(size_t count, int inner) {
  std::vector<unsigned> dims;
  for (unsigned dim = 0; dim < count; ++dim)
    if (int(dim) != inner)
      dims.push_back(dim);
  return dims;
}

} // namespace

/// Whether dims and sticks fit the kind of kernel.
std::optional<std::string> Execution::checkStructure() const {
  const Operand &out = operands[output];
  auto name = [&](unsigned dim) { return "dim '" + d.dims[dim].name + "'"; };
  bool reduces = kernel->structure != Structure::Pointwise &&
                 kernel->structure != Structure::Copy &&
                 kernel->structure != Structure::LayerNormScale;
  for (unsigned dim = 0; dim < d.dims.size(); ++dim)
    // The stick dim of a result that keeps one lane is read as one lane, too.
    if (!reduces && !out.has(dim) && d.dims[dim].size > 1)
      for (unsigned input : inputs)
        if (operands[input].has(dim))
          return name(dim) + " is in " + operands[input].tensor->name + " but not in the result";
  if (!reduces)
    for (unsigned dim = 0; dim < d.dims.size(); ++dim)
      if (!out.has(dim) && d.dims[dim].numSlices > 1)
        return name(dim) + " is split but not in the result";
  if (kernel->structure == Structure::Reduction || kernel->structure == Structure::Exx2) {
    const Operand &x = operands[inputs[0]];
    if (x.stickDim >= 0 && out.has(x.stickDim) && out.stickDim != x.stickDim)
      return "the stick dim of " + x.tensor->name + " is kept but is not that of the result";
    if (out.stickDim >= 0 && out.stickDim != x.stickDim)
      return "the stick dims of " + x.tensor->name + " and of the result differ";
    for (unsigned dim = 0; dim < d.dims.size(); ++dim)
      if (out.has(dim) && !x.has(dim))
        return name(dim) + " of the result is not in the input";
    if (kernel->structure == Structure::Exx2 && out.stickDim >= 0)
      return "the result keeps the stick dim";
  }
  if (kernel->structure == Structure::Matmul) {
    const Operand &x = operands[inputs[0]], &y = operands[inputs[1]];
    int numContracted = 0, numGenerated = 0;
    for (unsigned dim = 0; dim < d.dims.size(); ++dim) {
      bool inX = x.has(dim), inY = y.has(dim), inOut = out.has(dim);
      if (!inOut && (inX || inY) && coreSizes[dim] > 1)
        ++numContracted;
      if (!inX && inY && inOut && coreSizes[dim] > 1)
        ++numGenerated;
      if (inOut && !inX && !inY && d.dims[dim].size > 1)
        return name(dim) + " of the result is in no operand";
    }
    if (numContracted > 1)
      return "more than one dim is contracted";
    if (numGenerated > 1)
      return "more than one dim is generated";
    if (out.stickDim >= 0 && x.has(out.stickDim))
      return "the result's stick dim is in the first operand, " + x.tensor->name;
  }
  if (kernel->structure == Structure::TopKValue || kernel->structure == Structure::TopKIndex) {
    if (numCores != 1)
      return "top-k runs on one core";
    const Operand &x = operands[inputs[0]];
    if (x.stickDim != out.stickDim || out.stickDim < 0)
      return "the stick dims of " + x.tensor->name + " and of the result differ";
  }
  return std::nullopt;
}

void Execution::computePointwise(int core, CoreResult &result) {
  const Operand &out = operands[output];
  int64_t lanes = getRowLanes();
  result.sticks.resize(numRows * rowSticks * kStickInBytes);
  std::vector<std::vector<float>> rows(inputs.size(), std::vector<float>(lanes));
  std::vector<const float *> in;
  for (const std::vector<float> &row : rows)
    in.push_back(row.data());
  std::vector<float> values(lanes);
  std::vector<int64_t> index(d.dims.size(), 0);
  Odometer odometer(outerDims, coreSizes, index.data());
  uint8_t *to = result.sticks.data();
  do {
    for (size_t i = 0; i < inputs.size(); ++i)
      loadRow(operands[inputs[i]], core, index.data(), out.stickDim, rowLength, lanes,
              rows[i].data(), result);
    if (!d.masks.empty())
      applyMask(core, index.data(), out.stickDim, lanes, rows[0].data());
    if (kernel->pointwise)
      kernel->pointwise(in.data(), values.data(), lanes, constants.data());
    else
      std::copy(rows[0].begin(), rows[0].end(), values.begin());
    if (out.stickDim < 0)
      fillUndefined(values.data(), 1, lanes);
    encodeRow(values.data(), to);
    to += rowSticks * kStickInBytes;
  } while (odometer.next());
}

void Execution::computeCopy(int core, CoreResult &result) {
  const Operand &out = operands[output];
  int64_t lanes = getRowLanes();
  result.sticks.resize(numRows * rowSticks * kStickInBytes);
  std::vector<int64_t> index(d.dims.size(), 0);
  Odometer odometer(outerDims, coreSizes, index.data());
  uint8_t *to = result.sticks.data();
  do {
    loadRawRow(operands[inputs[0]], core, index.data(), out.stickDim, rowLength, lanes, to, result);
    if (out.stickDim < 0)
      fillUndefinedBytes(to + out.width, kStickInBytes - out.width, 1);
    to += rowSticks * kStickInBytes;
  } while (odometer.next());
}

void Execution::computeLayerNormScale(int core, CoreResult &result) {
  const Operand &x = operands[inputs[0]];
  int64_t lanes = getRowLanes();
  result.sticks.resize(numRows * rowSticks * kStickInBytes);
  std::vector<float> values(lanes);
  std::vector<int64_t> index(d.dims.size(), 0);
  Odometer odometer(outerDims, coreSizes, index.data());
  uint8_t *to = result.sticks.data();
  do {
    int64_t base = baseOffset(x, core, index.data(), -1, result);
    if (isChecking)
      checkRead(x, core, base, 2 * x.width, result);
    float pair[2];
    decodeElements(x.format, x.data[core] + base, pair, 2);
    float variance = std::max(pair[1] - pair[0] * pair[0], 0.0f);
    std::fill(values.begin(), values.end(),
              1.0f / std::sqrt(variance + static_cast<float>(constants[0])));
    encodeRow(values.data(), to);
    to += rowSticks * kStickInBytes;
  } while (odometer.next());
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

void Execution::computeReduction(int core, CoreResult &result) {
  const Operand &out = operands[output], &x = operands[inputs[0]];
  bool keepsLanes = out.stickDim >= 0, pair = kernel->structure == Structure::Exx2;
  int64_t perRow = keepsLanes ? getRowLanes() : pair ? 2 : 1;
  result.partial.assign(numRows * perRow, getNeutral(kernel->combine));
  int64_t length = x.stickDim >= 0 ? coreSizes[x.stickDim] : 1;
  int64_t lanes = keepsLanes ? getRowLanes() : length;
  std::vector<float> row(std::max(lanes, length));
  std::vector<int64_t> index(d.dims.size(), 0);
  // Only the dims of the input: others of the operation say nothing here.
  std::vector<unsigned> dims;
  for (unsigned dim : allDimsExcept(d.dims.size(), x.stickDim))
    if (x.has(dim))
      dims.push_back(dim);
  Odometer odometer(dims, coreSizes, index.data());
  do {
    loadRow(x, core, index.data(), x.stickDim, length, lanes, row.data(), result);
    applyMask(core, index.data(), x.stickDim, length, row.data());
    double *to = result.partial.data() + getRowIndex(index.data()) * perRow;
    if (keepsLanes) {
      for (int64_t i = 0; i < lanes; ++i)
        to[i] = combineTwo(kernel->combine, to[i], row[i]);
    } else if (pair) {
      to[0] += reduceRow(Combiner::Add, row.data(), length);
      to[1] += reduceRow(Combiner::Add, row.data(), length, /*squared=*/true);
    } else {
      to[0] = combineTwo(kernel->combine, to[0], reduceRow(kernel->combine, row.data(), length));
    }
  } while (odometer.next());
}

/// Combines the cores of \p group in their order, rounds once, and leaves the
/// sticks with the first of them.
void Execution::finishReduction(const std::vector<int> &group, int core) {
  const Operand &out = operands[output];
  CoreResult &result = results[core];
  result.sticks.resize(numRows * rowSticks * kStickInBytes);
  int64_t lanes = getRowLanes();
  if (kernel->structure == Structure::Matmul) {
    if (group.size() > 1) {
      std::vector<double> sums(result.product.begin(), result.product.end());
      for (size_t i = 1; i < group.size(); ++i)
        for (size_t j = 0; j < sums.size(); ++j)
          sums[j] += results[group[i]].product[j];
      for (size_t j = 0; j < sums.size(); ++j)
        result.product[j] = static_cast<float>(sums[j]);
    }
    int64_t perRow = out.stickDim >= 0 ? lanes : 1;
    std::vector<float> row(lanes);
    fillUndefined(row.data(), perRow, lanes);
    for (int64_t r = 0; r < numRows; ++r) {
      std::copy_n(result.product.data() + r * perRow, perRow, row.data());
      encodeRow(row.data(), result.sticks.data() + r * rowSticks * kStickInBytes);
    }
    return;
  }
  for (size_t i = 1; i < group.size(); ++i)
    for (size_t j = 0; j < result.partial.size(); ++j)
      result.partial[j] =
          combineTwo(kernel->combine, result.partial[j], results[group[i]].partial[j]);
  bool keepsLanes = out.stickDim >= 0, pair = kernel->structure == Structure::Exx2;
  int64_t perRow = keepsLanes ? lanes : pair ? 2 : 1;
  std::vector<float> row(lanes);
  fillUndefined(row.data(), perRow, lanes);
  for (int64_t r = 0; r < numRows; ++r) {
    for (int64_t i = 0; i < perRow; ++i) {
      double value = result.partial[r * perRow + i];
      if (kernel->scaled || pair)
        value *= constants[0];
      if (pair && i == 0 && constants[1] != 0)
        value = 0;
      // Which NaN an order of additions leaves says nothing.
      row[i] = std::isnan(value) ? NAN : static_cast<float>(value);
    }
    encodeRow(row.data(), result.sticks.data() + r * rowSticks * kStickInBytes);
  }
}

//===----------------------------------------------------------------------===//
// Matmul
//===----------------------------------------------------------------------===//

ProductDims Execution::getProductDims() const {
  const Operand &x = operands[inputs[0]], &y = operands[inputs[1]], &out = operands[output];
  ProductDims dims;
  for (unsigned dim = 0; dim < d.dims.size(); ++dim) {
    if (!out.has(dim)) {
      if ((x.has(dim) || y.has(dim)) && (dims.contracted < 0 || coreSizes[dim] > 1))
        dims.contracted = static_cast<int>(dim);
    } else if (x.has(dim) && y.has(dim)) {
      dims.batchDims.push_back(dim);
    } else if (x.has(dim)) {
      dims.rowDims.push_back(dim);
      dims.rows *= coreSizes[dim];
    }
  }
  return dims;
}

void Execution::computeMatmul(int core, CoreResult &result) {
  const Operand &x = operands[inputs[0]], &y = operands[inputs[1]], &out = operands[output];
  auto [contracted, batchDims, rowDims, rows] = getProductDims();
  int64_t depth = contracted >= 0 ? coreSizes[contracted] : 1;
  int64_t columns = out.stickDim >= 0 ? getRowLanes() : 1;
  int64_t length = out.stickDim >= 0 ? rowLength : 1;
  result.product.assign(numRows * columns, 0.0f);
  std::vector<float> a(rows * depth), b(depth * columns), c(rows * columns);
  std::vector<int64_t> index(d.dims.size(), 0);
  Odometer batches(batchDims, coreSizes, index.data());
  do {
    float *to = a.data();
    {
      Odometer odometer(rowDims, coreSizes, index.data());
      do {
        loadRow(x, core, index.data(), contracted, depth, depth, to, result);
        applyMask(core, index.data(), contracted, depth, to);
        to += depth;
      } while (odometer.next());
    }
    for (int64_t k = 0; k < depth; ++k) {
      if (contracted >= 0)
        index[contracted] = k;
      loadRow(y, core, index.data(), out.stickDim, length, columns, b.data() + k * columns, result);
    }
    if (contracted >= 0)
      index[contracted] = 0;
    multiplyMatrices({rows, columns, depth, a.data(), depth, b.data(), columns, c.data(), columns,
                      /*accumulate=*/false});
    const float *from = c.data();
    Odometer odometer(rowDims, coreSizes, index.data());
    do {
      std::copy_n(from, columns, result.product.data() + getRowIndex(index.data()) * columns);
      from += columns;
    } while (odometer.next());
  } while (batches.next());
}

//===----------------------------------------------------------------------===//
// Top-k
//===----------------------------------------------------------------------===//

void Execution::computeTopK(int core, CoreResult &result) {
  const Operand &x = operands[inputs[0]], &out = operands[output];
  int searched = -1, rank = -1;
  std::vector<unsigned> kept;
  for (unsigned dim = 0; dim < d.dims.size(); ++dim) {
    if (int(dim) == out.stickDim)
      continue;
    if (x.has(dim) && !out.has(dim))
      searched = static_cast<int>(dim);
    else if (!x.has(dim) && out.has(dim))
      rank = static_cast<int>(dim);
    else if (out.has(dim))
      kept.push_back(dim);
  }
  int64_t count = searched >= 0 ? coreSizes[searched] : 1, k = rank >= 0 ? coreSizes[rank] : 1;
  int64_t lanes = getRowLanes();
  if (k > count) {
    result.error = "k is " + std::to_string(k) + " for " + std::to_string(count) + " elements";
    result.reports.push_back(
        {ReportKind::OutOfBounds, name, core, x.start[core], result.error, x.tensor->name});
    result.sticks.resize(numRows * rowSticks * kStickInBytes);
    return;
  }
  result.sticks.resize(numRows * rowSticks * kStickInBytes);
  std::vector<float> table(count * lanes), rows(k * lanes);
  std::vector<int64_t> order(count), index(d.dims.size(), 0);
  Odometer odometer(kept, coreSizes, index.data());
  do {
    for (int64_t i = 0; i < count; ++i) {
      if (searched >= 0)
        index[searched] = i;
      loadRow(x, core, index.data(), out.stickDim, rowLength, lanes, table.data() + i * lanes,
              result);
      applyMask(core, index.data(), out.stickDim, rowLength, table.data() + i * lanes);
    }
    if (searched >= 0)
      index[searched] = 0;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      std::iota(order.begin(), order.end(), 0);
      // A NaN counts as the largest; of equal values the first comes first.
      auto key = [&](int64_t i) {
        float value = table[i * lanes + lane];
        return std::isnan(value) ? INFINITY : value;
      };
      std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t i, int64_t j) {
        float p = key(i), q = key(j);
        return p != q ? p > q : i < j;
      });
      for (int64_t j = 0; j < k; ++j)
        rows[j * lanes + lane] = kernel->structure == Structure::TopKIndex
                                     ? static_cast<float>(order[j])
                                     : table[order[j] * lanes + lane];
    }
    for (int64_t j = 0; j < k; ++j) {
      if (rank >= 0)
        index[rank] = j;
      encodeRow(rows.data() + j * lanes,
                result.sticks.data() + getRowIndex(index.data()) * rowSticks * kStickInBytes);
    }
    if (rank >= 0)
      index[rank] = 0;
  } while (odometer.next());
}

//===----------------------------------------------------------------------===//
// Relayout between scratchpads
//===----------------------------------------------------------------------===//

std::optional<Error> Execution::computeShuffle() {
  const Operand &x = operands[inputs[0]], &out = operands[output];
  if (!x.isLX() || !out.isLX())
    return Error{name + ": a relayout goes from scratchpad to scratchpad"};
  if (x.stickDim != out.stickDim || x.stickDim < 0)
    return Error{name + ": a relayout keeps the stick dim"};
  // Slices of each core, of the source and of the destination.
  auto slicesOf = [&](const Operand &operand, int core) {
    return getRelayoutSlices(d, operand, operand.position == output, core);
  };
  std::map<std::vector<int64_t>, int> sourceOf;
  for (int core = numCores; core-- > 0;) {
    std::optional<std::vector<int64_t>> slices = slicesOf(x, core);
    if (!slices)
      return Error{name + ": " + x.tensor->name + " has no coreIdToWkSlice_ of its own"};
    sourceOf[*slices] = core;
  }
  int stickDim = x.stickDim;
  int64_t perStick = x.dims[stickDim].perStick;
  for (const Operand *operand : {&x, &out})
    if (operand->dims[stickDim].extent % perStick != 0)
      return Error{name + ": a relayout moves whole sticks"};
  emulator.pool.run(numCores, [&](int64_t core) {
    CoreResult &result = results[core];
    std::optional<std::vector<int64_t>> mine = slicesOf(out, static_cast<int>(core));
    if (!mine) {
      result.error = out.tensor->name + " lacks a core's slice";
      return;
    }
    result.sticks.resize(numRows * rowSticks * kStickInBytes);
    std::vector<int64_t> index(d.dims.size(), 0), slices(d.dims.size()), local(d.dims.size());
    Odometer odometer(outerDims, coreSizes, index.data());
    uint8_t *to = result.sticks.data();
    // Most sticks come from where the one before came from.
    std::vector<int64_t> known;
    auto source = sourceOf.end();
    do {
      for (int64_t stick = 0; stick < rowSticks; ++stick, to += kStickInBytes) {
        index[stickDim] = stick * perStick;
        for (size_t dim = 0; dim < index.size(); ++dim) {
          int64_t global = (*mine)[dim] * coreSizes[dim] + index[dim];
          slices[dim] = x.has(dim) ? global / x.dims[dim].extent : 0;
          local[dim] = x.has(dim) ? global % x.dims[dim].extent : 0;
        }
        if (slices != known) {
          source = sourceOf.find(slices);
          known = slices;
        }
        if (source == sourceOf.end()) {
          result.error = "no core holds a part that core " + std::to_string(core) + " wants";
          addReport(result, ReportKind::OutOfBounds, out, static_cast<int>(core),
                    out.start[core] + (to - result.sticks.data()),
                    "takes a part that no core holds");
          break;
        }
        int64_t offset = 0;
        for (size_t dim = 0; dim < index.size(); ++dim)
          offset += x.dims[dim].getOffset(local[dim]);
        if (isChecking) {
          checkRead(x, source->second, offset, kStickInBytes, result);
          markShuffled(x, source->second, offset, to - result.sticks.data(), result);
        }
        std::memcpy(to, x.data[source->second] + offset, kStickInBytes);
      }
      index[stickDim] = 0;
    } while (odometer.next());
  });
  return std::nullopt;
}
