//===- Contractions.h - Products of matrices --------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What products of matrices and convolutions share.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_HOST_CONTRACTIONS_H
#define SPYRE_LIB_HOST_CONTRACTIONS_H

#include "Elementwise.h"

namespace spyre::host {

void addAttention(Table &table);
void addLinearAlgebra(Table &table);
void addSignals(Table &table);

/// The type that sums of an array's elements are made in.
HostType getWideType(const Array &array);

/// Adds the product of an m x k and a k x n matrix to \p c, all dense.
template <typename T>
void multiplyMatrices(const T *a, const T *b, T *c, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l) {
      T factor = a[i * k + l];
      for (int64_t j = 0; j < n; ++j)
        c[i * n + j] = add(c[i * n + j], multiply(factor, b[l * n + j]));
    }
}

/// As torch.matmul does, in a wide type; nothing, and a reason, if the shapes do not fit.
std::optional<Array> multiplyArrays(Call &call, const Array &left, const Array &right);

Array transposeMatrix(const Array &matrix);

} // namespace spyre::host

#endif // SPYRE_LIB_HOST_CONTRACTIONS_H
