//===- Contraction.cpp - Sums of products -----------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// out += a * b over lanes along one parallel dim: a block of outputs stays in the cache
// while the reduction runs over it, in the nest's order and without fused operations, so
// that the numbers are those of the plain loop.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"

#include <algorithm>

using namespace spyre::ktir;
using namespace spyre::ktir::loops;

namespace {
constexpr int64_t kBlock = 512;

/// out[j] += a * b[j], four terms at a time.
void addScaled(float *out, const float *a, const int64_t *aPlaces, const float *b,
               const int64_t *bPlaces, int64_t terms, int64_t count) {
  int64_t k = 0;
  for (; k + 4 <= terms; k += 4) {
    float a0 = a[aPlaces[k]], a1 = a[aPlaces[k + 1]], a2 = a[aPlaces[k + 2]],
          a3 = a[aPlaces[k + 3]];
    const float *__restrict b0 = b + bPlaces[k], *__restrict b1 = b + bPlaces[k + 1];
    const float *__restrict b2 = b + bPlaces[k + 2], *__restrict b3 = b + bPlaces[k + 3];
    float *__restrict o = out;
    for (int64_t j = 0; j < count; ++j)
      o[j] = (((o[j] + a0 * b0[j]) + a1 * b1[j]) + a2 * b2[j]) + a3 * b3[j];
  }
  for (; k < terms; ++k) {
    float factor = a[aPlaces[k]];
    const float *__restrict row = b + bPlaces[k];
    float *__restrict o = out;
    for (int64_t j = 0; j < count; ++j)
      o[j] += factor * row[j];
  }
}

/// out[j] += a[j * as] * b[j * bs].
void addProducts(float *out, const float *a, int64_t as, const int64_t *aPlaces, const float *b,
                 int64_t bs, const int64_t *bPlaces, int64_t terms, int64_t count) {
  for (int64_t k = 0; k < terms; ++k)
    for (int64_t j = 0; j < count; ++j)
      out[j] += a[aPlaces[k] + j * as] * b[bPlaces[k] + j * bs];
}

/// Copies \p operand so that dim \p lane is its innermost one.
void pack(Operand &operand, const std::vector<Dim> &dims, size_t lane, std::vector<float> &copy) {
  std::vector<size_t> used;
  for (size_t d = 0; d < dims.size(); ++d)
    if (operand.strides[d] != 0 && d != lane)
      used.push_back(d);
  int64_t rows = 1, size = dims[lane].size;
  for (size_t d : used)
    rows *= dims[d].size;
  copy.resize(rows * size);
  std::vector<int64_t> point(used.size(), 0), strides(dims.size(), 0);
  strides[lane] = 1;
  int64_t stride = size;
  for (size_t k = used.size(); k-- > 0;) {
    strides[used[k]] = stride;
    stride *= dims[used[k]].size;
  }
  for (int64_t row = 0; row < rows; ++row) {
    int64_t place = operand.offset;
    for (size_t k = 0; k < used.size(); ++k)
      place += point[k] * operand.strides[used[k]];
    for (int64_t j = 0; j < size; ++j)
      copy[row * size + j] = operand.f[place + j * operand.strides[lane]];
    for (size_t k = used.size(); k-- > 0;) {
      if (++point[k] < dims[used[k]].size)
        break;
      point[k] = 0;
    }
  }
  operand.f = copy.data();
  operand.offset = 0;
  operand.strides = strides;
}
} // namespace

bool loops::runContraction(const LoopNest &source, Nest &nest) {
  Operand &out = nest.operands.back();
  Operand a = nest.operands[source.factors[0]], b = nest.operands[source.factors[1]];
  // Lanes: the dim along which the output is dense, else the longest.
  size_t lane = nest.dims.size();
  for (size_t d = 0; d < nest.dims.size(); ++d) {
    if (nest.dims[d].isReduction || out.strides[d] == 0)
      continue;
    if (lane == nest.dims.size() || nest.dims[d].size > nest.dims[lane].size)
      lane = d;
  }
  constexpr int64_t kWorthIt = 8;
  if (lane == nest.dims.size() || nest.dims[lane].size < kWorthIt)
    return false;
  for (size_t d = 0; d < nest.dims.size(); ++d)
    if (out.strides[d] == 1 && !nest.dims[d].isReduction && nest.dims[d].size >= 4 * kWorthIt)
      lane = d;
  // A factor that stands still along the lanes comes first.
  if (b.strides[lane] == 0)
    std::swap(a, b);
  std::vector<float> packedA, packedB;
  if (b.strides[lane] != 1 && b.strides[lane] != 0)
    pack(b, nest.dims, lane, packedB);
  if (a.strides[lane] != 1 && a.strides[lane] != 0)
    pack(a, nest.dims, lane, packedA);

  std::vector<size_t> outer, reduced;
  for (size_t d = 0; d < nest.dims.size(); ++d)
    if (d != lane)
      (nest.dims[d].isReduction ? reduced : outer).push_back(d);
  // Places of the terms, in the nest's order.
  std::vector<int64_t> aPlaces{0}, bPlaces{0};
  for (size_t d : reduced) {
    std::vector<int64_t> nextA, nextB;
    nextA.reserve(aPlaces.size() * nest.dims[d].size);
    nextB.reserve(aPlaces.size() * nest.dims[d].size);
    for (size_t k = 0; k < aPlaces.size(); ++k)
      for (int64_t i = 0; i < nest.dims[d].size; ++i) {
        nextA.push_back(aPlaces[k] + i * a.strides[d]);
        nextB.push_back(bPlaces[k] + i * b.strides[d]);
      }
    aPlaces = std::move(nextA);
    bPlaces = std::move(nextB);
  }
  int64_t terms = aPlaces.size(), size = nest.dims[lane].size, outStride = out.strides[lane];
  std::vector<int64_t> point(outer.size(), 0);
  std::vector<float> block(kBlock);
  while (true) {
    int64_t aPlace = a.offset, bPlace = b.offset, outPlace = out.offset;
    for (size_t k = 0; k < outer.size(); ++k) {
      aPlace += point[k] * a.strides[outer[k]];
      bPlace += point[k] * b.strides[outer[k]];
      outPlace += point[k] * out.strides[outer[k]];
    }
    for (int64_t first = 0; first < size; first += kBlock) {
      int64_t count = std::min(kBlock, size - first);
      float *target = out.f + outPlace + first * outStride;
      for (int64_t j = 0; j < count; ++j)
        block[j] = target[j * outStride];
      const float *fa = a.f + aPlace + first * a.strides[lane];
      const float *fb = b.f + bPlace + first * b.strides[lane];
      if (a.strides[lane] == 0 && b.strides[lane] == 1)
        addScaled(block.data(), fa, aPlaces.data(), fb, bPlaces.data(), terms, count);
      else
        addProducts(block.data(), fa, a.strides[lane], aPlaces.data(), fb, b.strides[lane],
                    bPlaces.data(), terms, count);
      for (int64_t j = 0; j < count; ++j)
        target[j * outStride] = block[j];
    }
    size_t k = outer.size();
    while (k > 0 && ++point[k - 1] == nest.dims[outer[k - 1]].size)
      point[--k] = 0;
    if (k == 0)
      return true;
  }
}
