//===- Kernels.h - What each device operation computes ----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One kernel an operation, found by the name that the OpFunc table gives. A
// kernel is either a function over rows of floats, or one of the structures that
// the executor knows (reduction, matmul, copy, ...). Private to the emulator.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_RUNTIME_EMULATOR_KERNELS_H
#define SPYRE_LIB_RUNTIME_EMULATOR_KERNELS_H

#include "spyre/OpFunc/OpFuncTable.h"

#include <cstdint>
#include <string_view>

namespace spyre::runtime {

/// out[i] = f(in[0][i], in[1][i], ...; constants), 0 <= i < count.
using PointwiseFn = void (*)(const float *const *in, float *out, int64_t count,
                             const double *constants);

/// out[r][i] = f(x[r][i], y[r][i]), 0 <= i < lanes, for rows of \p yStride numbers of y,
/// which may be 0; y[r][0] for all i if it \p isSpread.
struct BroadcastRows {
  const float *x, *y;
  int64_t yStride;
  bool isSpread;
  float *out;
  int64_t rows, lanes;
};
using BroadcastFn = void (*)(const BroadcastRows &);

enum class Structure : uint8_t {
  Pointwise,
  Reduction,
  Exx2,           ///< a reduction with two results
  LayerNormScale, ///< reads lanes 0 and 1
  Copy,           ///< bits unchanged: identity, restickify, shuffle, gather
  Matmul,
  TopKValue,
  TopKIndex,
};

struct Kernel {
  std::string_view name;
  Structure structure = Structure::Pointwise;
  PointwiseFn pointwise = nullptr;
  Combiner combine = Combiner::Add;
  bool scaled = false;             ///< the sum is multiplied by the first constant
  bool saturate = false;           ///< finite results beyond the format's range stay finite
  BroadcastFn broadcast = nullptr; ///< of two operands: the same with rows that repeat
};

/// The kernel called \p name, or null.
const Kernel *lookupKernel(std::string_view name);

/// c[m][n] = sum over k of a[m][k] * b[k][n] in f32, row-major with rows lda, ldb
/// and ldc elements apart; on top of what is there if \c accumulate.
struct MatrixProduct {
  int64_t m, n, k;
  const float *a;
  int64_t lda;
  const float *b;
  int64_t ldb;
  float *c;
  int64_t ldc;
  bool accumulate;
};
/// Elements of the contracted dim that are summed before they are added to the rest.
inline constexpr int64_t kContractedBlock = 1024;
/// The result does not depend on the thread that calls it.
void multiplyMatrices(const MatrixProduct &product);
/// "openblas" or "own": which implementation multiplyMatrices uses.
const char *getMatmulImplementation();

} // namespace spyre::runtime

#endif // SPYRE_LIB_RUNTIME_EMULATOR_KERNELS_H
