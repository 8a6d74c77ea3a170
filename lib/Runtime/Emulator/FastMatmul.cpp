//===- FastMatmul.cpp - Matrix products of all cores in large tiles -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work slices that share operands are put together again: cores that read the same
// first operand are columns of one product, cores that read the same second one are
// its rows. It is computed in tiles of fixed size, each by one thread, so numbers do
// not depend on how many there are. Cores that share an output slice contribute in
// their order, summed in double precision and rounded once.
//
//===----------------------------------------------------------------------===//

#include "FastPath.h"
#include "Vector.h"

#include <map>
#include <numeric>

using namespace spyre;
using namespace spyre::runtime;

namespace {

/// Rows and columns of a tile: operands of one (a block of the contracted dim deep)
/// and its result are a few MB.
constexpr int64_t kTileRows = 512, kTileColumns = 512;
/// Beyond the row, so that rows do not fall on the same lines of the cache.
constexpr int64_t kRowPadding = 16;

/// Output slices that form one product: those at [row slice][column slice], each the
/// position of a group of cores.
struct Product {
  int64_t rowSlices = 0, columnSlices = 0;
  std::vector<size_t> groups;
};

/// The addresses that the members of a group read an operand at.
using Source = std::vector<std::pair<const uint8_t *, std::vector<int64_t>>>;

/// Groups by what they read, as grids if they are such.
std::vector<Product> getProducts(const std::vector<Source> &rowSources,
                                 const std::vector<Source> &columnSources) {
  size_t count = rowSources.size();
  std::map<Source, size_t> rowIds, columnIds;
  std::vector<size_t> row(count), column(count);
  for (size_t g = 0; g < count; ++g) {
    row[g] = rowIds.try_emplace(rowSources[g], rowIds.size()).first->second;
    column[g] = columnIds.try_emplace(columnSources[g], columnIds.size()).first->second;
  }
  // Rows that meet in a column belong together.
  std::vector<size_t> parent(rowIds.size() + columnIds.size());
  std::iota(parent.begin(), parent.end(), 0);
  auto find = [&](size_t i) {
    while (parent[i] != i)
      i = parent[i] = parent[parent[i]];
    return i;
  };
  for (size_t g = 0; g < count; ++g)
    parent[find(row[g])] = find(rowIds.size() + column[g]);
  std::map<size_t, std::vector<size_t>> parts;
  for (size_t g = 0; g < count; ++g)
    parts[find(row[g])].push_back(g);

  std::vector<Product> products;
  for (const auto &[root, groups] : parts) {
    std::map<size_t, size_t> rows, columns;
    for (size_t g : groups) {
      rows.try_emplace(row[g], rows.size());
      columns.try_emplace(column[g], columns.size());
    }
    std::vector<size_t> grid(rows.size() * columns.size(), count);
    for (size_t g : groups)
      grid[rows[row[g]] * columns.size() + columns[column[g]]] = g;
    bool isFull = groups.size() == grid.size() && std::count(grid.begin(), grid.end(), count) == 0;
    if (isFull)
      products.push_back({int64_t(rows.size()), int64_t(columns.size()), grid});
    else
      for (size_t g : groups)
        products.push_back({1, 1, {g}});
  }
  return products;
}

/// Room for \p count floats, kept by the thread: tiles come by the hundred, and fresh
/// memory would cost more than some of them.
float *getScratch(int64_t count) {
  thread_local std::unique_ptr<float[]> memory;
  thread_local int64_t size = 0;
  if (count > size) {
    memory.reset();
    memory = std::make_unique_for_overwrite<float[]>(count);
    size = count;
  }
  return memory.get();
}

/// One tile to compute.
struct Tile {
  const Product *product;
  std::vector<int64_t> batch; ///< index with the batch dims set
  int64_t rowBegin, rowEnd, columnBegin, columnEnd;
};

} // namespace

bool Execution::runFastMatmul() {
  const Operand &x = operands[inputs[0]], &y = operands[inputs[1]], &out = operands[output];
  // Named, not bound: lambdas below take them.
  ProductDims roles = getProductDims();
  int contracted = roles.contracted, along = out.stickDim;
  const std::vector<unsigned> &batchDims = roles.batchDims, &rowDims = roles.rowDims;
  int64_t rows = roles.rows;
  if (along < 0 || contracted < 0 || !x.has(contracted) || !y.has(contracted))
    return false;
  int64_t depth = coreSizes[contracted], columns = getRowLanes();
  if (!hasWholeSticks(x, contracted, depth, depth) ||
      !hasWholeSticks(y, along, rowLength, columns) || y.dims[contracted].inStick ||
      !hasWholeSticks(out, along, rowLength, columns) || !isFloatFormat(x.format) ||
      !isFloatFormat(y.format) || !canStoreDirectly(/*inPlace=*/false))
    return false;
  // Other masks depend on the place of a row.
  for (const sdsc::Mask &mask : d.masks)
    if (int(*d.findDim(mask.dim)) != contracted)
      return false;

  std::vector<std::vector<int>> groups = getGroups();
  std::vector<Source> rowSources, columnSources;
  for (const std::vector<int> &group : groups) {
    Source row, column;
    for (int core : group) {
      std::vector<int64_t> slices; // masks look at them
      if (!d.masks.empty())
        slices.push_back(d.coreToSlice[core][contracted]);
      row.emplace_back(x.data[core], slices);
      column.emplace_back(y.data[core], std::vector<int64_t>());
    }
    rowSources.push_back(std::move(row));
    columnSources.push_back(std::move(column));
  }
  std::vector<Product> products = getProducts(rowSources, columnSources);

  // Where the rows of a slice lie in the first operand and in the result.
  std::vector<int64_t> xOffsets, outOffsets;
  std::vector<int64_t> index(d.dims.size(), 0);
  auto offsetIn = [](const Operand &operand, const std::vector<unsigned> &dims, const int64_t *at) {
    int64_t offset = 0;
    for (unsigned dim : dims)
      offset += operand.dims[dim].getOffset(at[dim]);
    return offset;
  };
  {
    Odometer odometer(rowDims, coreSizes, index.data());
    do {
      xOffsets.push_back(offsetIn(x, rowDims, index.data()));
      outOffsets.push_back(offsetIn(out, rowDims, index.data()));
    } while (odometer.next());
  }
  std::fill(index.begin(), index.end(), 0);
  std::vector<Tile> tiles;
  Odometer batches(batchDims, coreSizes, index.data());
  do {
    for (const Product &product : products) {
      int64_t m = product.rowSlices * rows, n = product.columnSlices * columns;
      for (int64_t row = 0; row < m; row += kTileRows)
        for (int64_t column = 0; column < n; column += kTileColumns)
          tiles.push_back({&product, index, row, std::min(row + kTileRows, m), column,
                           std::min(column + kTileColumns, n)});
    }
  } while (batches.next());

  const VectorFunctions &vector = getVectorFunctions();
  const OperandDim &xAlong = x.dims[contracted], &yAlong = y.dims[along];
  int64_t yStep = y.dims[contracted].unit, outStick = out.dims[along].unit;
  emulator.pool.run(tiles.size(), [&](int64_t t) {
    const Tile &tile = tiles[t];
    const Product &product = *tile.product;
    int64_t m = tile.rowEnd - tile.rowBegin, n = tile.columnEnd - tile.columnBegin;
    int64_t block = std::min(depth, kContractedBlock);
    int64_t lda = block + kRowPadding, ldb = n + kRowPadding;
    float *a = getScratch(m * lda + block * ldb + m * n), *b = a + m * lda, *c = b + block * ldb;
    std::vector<double> sums;
    int64_t xBatch = offsetIn(x, batchDims, tile.batch.data());
    int64_t yBatch = offsetIn(y, batchDims, tile.batch.data());
    int64_t outBatch = offsetIn(out, batchDims, tile.batch.data());
    size_t numMembers = groups[product.groups[0]].size();

    for (size_t member = 0; member < numMembers; ++member) {
      for (int64_t k0 = 0; k0 < depth; k0 += block) {
        int64_t k1 = std::min(depth, k0 + block);
        // Rows of the first operand, a slice after the other.
        for (int64_t row = tile.rowBegin; row < tile.rowEnd;) {
          int64_t slice = row / rows, end = std::min(tile.rowEnd, (slice + 1) * rows);
          int core = groups[product.groups[slice * product.columnSlices]][member];
          const uint8_t *from = x.data[core] + xBatch;
          float *to = a + (row - tile.rowBegin) * lda;
          for (int64_t k = k0; k < k1; k += xAlong.perStick) {
            const uint8_t *stick = from + k / xAlong.perStick * xAlong.unit;
            int64_t lanes = std::min(xAlong.perStick, k1 - k);
            if (x.format == DataFormat::SEN169_FP16)
              vector.decodeDL16Pieces(stick, xOffsets.data() + row % rows, end - row, lanes,
                                      to + k - k0, lda);
            else
              for (int64_t r = row; r < end; ++r)
                decodeElements(x.format, stick + xOffsets[r % rows], to + (r - row) * lda + k - k0,
                               lanes);
          }
          for (const sdsc::Mask &mask : d.masks) {
            int64_t begin = mask.firstInvalid - d.coreToSlice[core][contracted] * depth - k0;
            int64_t stop = std::clamp<int64_t>(begin + mask.count, 0, k1 - k0);
            begin = std::clamp<int64_t>(begin, 0, k1 - k0);
            for (int64_t r = row; begin < stop && r < end; ++r, to += lda)
              std::fill(to + begin, to + stop, static_cast<float>(maskValue));
            to = a + (row - tile.rowBegin) * lda;
          }
          row = end;
        }
        // Columns of the second one, stick by stick.
        for (int64_t column = tile.columnBegin; column < tile.columnEnd;) {
          int64_t slice = column / columns, lane = column % columns;
          int64_t inStick = lane % yAlong.perStick;
          int64_t lanes =
              std::min({tile.columnEnd - column, columns - lane, yAlong.perStick - inStick});
          int core = groups[product.groups[slice]][member];
          const uint8_t *from = y.data[core] + yBatch + lane / yAlong.perStick * yAlong.unit +
                                inStick * y.width + k0 * yStep;
          float *to = b + column - tile.columnBegin;
          if (y.format == DataFormat::SEN169_FP16)
            vector.decodeDL16Rows(from, yStep, k1 - k0, lanes, to, ldb);
          else
            for (int64_t k = k0; k < k1; ++k)
              decodeElements(y.format, from + (k - k0) * yStep, to + (k - k0) * ldb, lanes);
          column += lanes;
        }
        multiplyMatrices({m, n, k1 - k0, a, lda, b, ldb, c, n, /*accumulate=*/k0 > 0});
      }
      if (numMembers == 1)
        break;
      if (member == 0) {
        sums.assign(c, c + m * n);
        continue;
      }
      for (size_t i = 0; i < sums.size(); ++i)
        sums[i] += c[i];
    }
    for (size_t i = 0; i < sums.size(); ++i)
      c[i] = static_cast<float>(sums[i]);

    for (int64_t row = tile.rowBegin; row < tile.rowEnd;) {
      int64_t slice = row / rows, end = std::min(tile.rowEnd, (slice + 1) * rows);
      for (int64_t column = tile.columnBegin; column < tile.columnEnd; column += outPerStick) {
        int64_t lane = column % columns;
        const std::vector<int> &group =
            groups[product.groups[slice * product.columnSlices + column / columns]];
        const float *from = c + (row - tile.rowBegin) * n + column - tile.columnBegin;
        // In scratchpads every member of the group has its copy of the sum.
        for (size_t member = 0; member < (out.isLX() ? group.size() : 1); ++member) {
          uint8_t *to = out.data[group[member]] + outBatch + lane / outPerStick * outStick;
          if (out.format == DataFormat::SEN169_FP16)
            vector.encodeDL16Pieces(from, n, end - row, outPerStick, to,
                                    outOffsets.data() + row % rows, kernel->saturate);
          else
            for (int64_t r = row; r < end; ++r)
              encodeElements(out.format, from + (r - row) * n, to + outOffsets[r % rows],
                             outPerStick, kernel->saturate);
        }
      }
      row = end;
    }
  });
  return true;
}
