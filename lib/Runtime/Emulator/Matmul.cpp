//===- Matmul.cpp - The matrix product of one work slice --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Single-threaded BLAS where there is one that is right. Some releases of
// OpenBLAS compute wrong products on processors newer than they know, unless an
// environment variable picks another kernel; so the first use compares a number
// of products with a plain loop, and a loop of our own takes over if one differs.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <vector>

#ifdef SPYRE_HAVE_OPENBLAS
#include <cblas.h>
extern "C" void openblas_set_num_threads(int num_threads);
#endif

using namespace spyre::runtime;

namespace {

/// Blocked over k and n so that a panel of b stays in cache; the order of the
/// additions to one element is that of k.
void multiplyOwn(const MatrixProduct &p) {
  auto [m, n, k, a, lda, b, ldb, c, ldc, accumulate] = p;
  constexpr int64_t kBlockK = 128, kBlockN = 512, kRows = 4;
  for (int64_t i = 0; i < m && !accumulate; ++i)
    std::memset(c + i * ldc, 0, sizeof(float) * n);
  for (int64_t n0 = 0; n0 < n; n0 += kBlockN) {
    int64_t n1 = std::min(n, n0 + kBlockN);
    for (int64_t k0 = 0; k0 < k; k0 += kBlockK) {
      int64_t k1 = std::min(k, k0 + kBlockK);
      int64_t i = 0;
      for (; i + kRows <= m; i += kRows)
        for (int64_t l = k0; l < k1; ++l) {
          const float *row = b + l * ldb;
          const float *from = a + i * lda + l;
          float a0 = from[0], a1 = from[lda], a2 = from[2 * lda], a3 = from[3 * lda];
          float *c0 = c + i * ldc, *c1 = c0 + ldc, *c2 = c1 + ldc, *c3 = c2 + ldc;
          for (int64_t j = n0; j < n1; ++j) {
            c0[j] += a0 * row[j];
            c1[j] += a1 * row[j];
            c2[j] += a2 * row[j];
            c3[j] += a3 * row[j];
          }
        }
      for (; i < m; ++i)
        for (int64_t l = k0; l < k1; ++l) {
          float factor = a[i * lda + l];
          for (int64_t j = n0; j < n1; ++j)
            c[i * ldc + j] += factor * b[l * ldb + j];
        }
    }
  }
}

#ifdef SPYRE_HAVE_OPENBLAS
void multiplyBlas(const MatrixProduct &p) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(p.m),
              static_cast<int>(p.n), static_cast<int>(p.k), 1.0f, p.a, static_cast<int>(p.lda), p.b,
              static_cast<int>(p.ldb), p.accumulate ? 1.0f : 0.0f, p.c, static_cast<int>(p.ldc));
}

/// Products of small integers are exact in any order, so any difference is a fault.
bool isBlasRight() {
  constexpr int64_t kShapes[][3] = {{1, 1, 1},       {1, 64, 64},    {1, 192, 320},  {2, 65, 33},
                                    {3, 129, 70},    {4, 64, 128},   {7, 48, 65},    {8, 256, 64},
                                    {16, 16, 64},    {16, 128, 512}, {31, 33, 35},   {32, 64, 64},
                                    {33, 65, 129},   {48, 192, 64},  {64, 64, 64},   {96, 100, 128},
                                    {128, 128, 128}, {130, 257, 66}, {200, 320, 192}};
  uint32_t state = 12345;
  auto next = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(static_cast<int>(state >> 28) - 8);
  };
  for (const auto &[m, n, k] : kShapes) {
    std::vector<float> a(m * k), b(k * n), c(m * n, NAN), expected(m * n);
    for (float &x : a)
      x = next();
    for (float &x : b)
      x = next();
    MatrixProduct product{m, n, k, a.data(), k, b.data(), n, c.data(), n, false};
    multiplyBlas(product);
    product.c = expected.data();
    multiplyOwn(product);
    if (c != expected)
      return false;
    product.accumulate = true;
    multiplyOwn(product);
    product.c = c.data();
    multiplyBlas(product);
    if (c != expected)
      return false;
  }
  return true;
}

bool useBlas() {
  static const bool right = [] {
    openblas_set_num_threads(1);
    return isBlasRight();
  }();
  return right;
}
#endif

} // namespace

void spyre::runtime::multiplyMatrices(const MatrixProduct &product) {
  // In blocks of the contracted dim: callers that divide it so get the same sums.
  for (int64_t k = 0; k == 0 || k < product.k; k += kContractedBlock) {
    MatrixProduct part = product;
    part.k = std::min(kContractedBlock, product.k - k);
    part.a += k;
    part.b += k * product.ldb;
    part.accumulate = product.accumulate || k > 0;
    if (part.m == 0 || part.n == 0)
      return;
#ifdef SPYRE_HAVE_OPENBLAS
    if (std::max({part.m, part.n, part.k, part.lda, part.ldb, part.ldc}) < (int64_t(1) << 31) &&
        useBlas()) {
      multiplyBlas(part);
      continue;
    }
#endif
    multiplyOwn(part);
  }
}

const char *spyre::runtime::getMatmulImplementation() {
#ifdef SPYRE_HAVE_OPENBLAS
  if (useBlas())
    return "openblas";
#endif
  return "own";
}
