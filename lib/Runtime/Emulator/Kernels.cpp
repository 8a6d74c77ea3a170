//===- Kernels.cpp - What each device operation computes --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic of pointwise operations in f32; the executor rounds the result
// once. Constants come in the order in which the OpFunc table lists them. The file
// is compiled once for each kind of vector unit (ForEachTarget.h), from the same
// loops, so that the numbers are the same on all of them.
//
//===----------------------------------------------------------------------===//

// NOLINTBEGIN(llvm-header-guard): compiled once a target
#undef SPYRE_THIS_FILE
#define SPYRE_THIS_FILE "Kernels.cpp"
#include "ForEachTarget.h"

#include "Kernels.h"

#include "spyre/Numerics/DL16.h"

#include <cmath>

SPYRE_BEGIN_TARGET

template <typename Fn> void map1(const float *const *in, float *out, int64_t n, Fn fn) {
  const float *x = in[0];
  SPYRE_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i)
    out[i] = fn(x[i]);
}
template <typename Fn> void map2(const float *const *in, float *out, int64_t n, Fn fn) {
  const float *x = in[0], *y = in[1];
  SPYRE_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i)
    out[i] = fn(x[i], y[i]);
}

template <typename Fn> void mapRows(const BroadcastRows &rows, Fn fn) {
  const float *x = rows.x, *y = rows.y;
  float *out = rows.out;
  for (int64_t r = 0; r < rows.rows; ++r, x += rows.lanes, y += rows.yStride, out += rows.lanes) {
    if (rows.isSpread) {
      float value = *y;
      SPYRE_VECTOR_LOOP
      for (int64_t i = 0; i < rows.lanes; ++i)
        out[i] = fn(x[i], value);
    } else {
      SPYRE_VECTOR_LOOP
      for (int64_t i = 0; i < rows.lanes; ++i)
        out[i] = fn(x[i], y[i]);
    }
  }
}

/// Of two NaNs any may come out of a sum or product, so one is chosen.
inline float canonical(float x) { return x != x ? NAN : x; }

#define UNARY(NAME, EXPR)                                                                          \
  {NAME, Structure::Pointwise, [](const float *const *in, float *out, int64_t n, const double *) { \
     map1(in, out, n, [](float x) -> float { return EXPR; });                                      \
   }}
#define BINARY(NAME, EXPR)                                                                         \
  {NAME,                                                                                           \
   Structure::Pointwise,                                                                           \
   [](const float *const *in, float *out, int64_t n, const double *) {                             \
     map2(in, out, n, [](float x, float y) -> float { return EXPR; });                             \
   },                                                                                              \
   Combiner::Add,                                                                                  \
   false,                                                                                          \
   false,                                                                                          \
   [](const BroadcastRows &rows) {                                                                 \
     mapRows(rows, [](float x, float y) -> float { return EXPR; });                                \
   }}

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }
/// 0 * inf is no number, but x * sigmoid(x) tends to 0.
float silu(float x) { return x == -INFINITY ? 0.0f : x * sigmoid(x); }
/// 1 + erf(x) by erfc, which keeps its digits where the sum is nearly zero.
float gelu(float x) {
  return x == -INFINITY ? 0.0f : 0.5f * x * std::erfc(x * -0.70710678118654752f);
}

void clip(const float *const *in, float *out, int64_t n, const double *c) {
  float low = static_cast<float>(c[0]), high = static_cast<float>(c[1]);
  map1(in, out, n, [=](float x) { return minimumOf(maximumOf(x, low), high); });
}

void softplus(const float *const *in, float *out, int64_t n, const double *c) {
  float beta = static_cast<float>(c[0]), threshold = static_cast<float>(c[1]);
  // Not divided by beta: the device leaves that out.
  map1(in, out, n, [=](float x) {
    float scaled = x * beta;
    return scaled > threshold ? scaled : std::log1p(std::exp(scaled));
  });
}

void where3(const float *const *in, float *out, int64_t n, const double *) {
  const float *c = in[0], *x = in[1], *y = in[2];
  SPYRE_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i)
    out[i] = c[i] != 0 ? x[i] : y[i];
}

void layerNorm(const float *const *in, float *out, int64_t n, const double *) {
  const float *x = in[0], *mean = in[1], *scale = in[2], *weight = in[3], *bias = in[4];
  SPYRE_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i)
    out[i] = (x[i] - mean[i]) * scale[i] * weight[i] + bias[i];
}

constexpr Kernel kKernels[] = {
    UNARY("abs", std::fabs(x)),
    UNARY("exp", std::exp(x)),
    UNARY("floor", std::floor(x)),
    UNARY("log", std::log(x)),
    UNARY("neg", -x),
    UNARY("reciprocal", 1.0f / x),
    UNARY("relufwd", maximumOf(x, 0.0f)),
    UNARY("rsqrt", 1.0f / std::sqrt(x)),
    UNARY("sigmoid", sigmoid(x)),
    UNARY("sqrt", std::sqrt(x)),
    UNARY("tanh", std::tanh(x)),
    UNARY("gelufwd", gelu(x)),
    UNARY("silu", silu(x)),
    {"clip", Structure::Pointwise, clip},
    {"softplus", Structure::Pointwise, softplus},
    BINARY("add", canonical(x + y)),
    BINARY("sub", x - y),
    BINARY("mul", canonical(x *y)),
    BINARY("realdiv", x / y),
    BINARY("maximum", maximumOf(x, y)),
    BINARY("minimum", minimumOf(x, y)),
    BINARY("equal", x == y ? 1.0f : 0.0f),
    BINARY("notequal", x != y ? 1.0f : 0.0f),
    BINARY("greaterequal", x >= y ? 1.0f : 0.0f),
    BINARY("greaterthan", x > y ? 1.0f : 0.0f),
    BINARY("lesserequal", x <= y ? 1.0f : 0.0f),
    BINARY("lesserthan", x < y ? 1.0f : 0.0f),
    {"where3", Structure::Pointwise, where3},
    {"layernormnorm", Structure::Pointwise, layerNorm},
    UNARY("dl16tofp32", x),
    {"fp32todl16", Structure::Pointwise,
     [](const float *const *in, float *out, int64_t n, const double *) {
       map1(in, out, n, [](float x) { return x; });
     },
     Combiner::Add, false, true},
    UNARY("fp8todl16", x),
    UNARY("qfp8ch", x),
    {"sum", Structure::Reduction},
    {"sumnonstick", Structure::Reduction},
    {"max", Structure::Reduction, nullptr, Combiner::Maximum},
    {"maxnonstick", Structure::Reduction, nullptr, Combiner::Maximum},
    {"min", Structure::Reduction, nullptr, Combiner::Minimum},
    {"minnonstick", Structure::Reduction, nullptr, Combiner::Minimum},
    {"mean", Structure::Reduction, nullptr, Combiner::Add, true},
    {"meannonstick", Structure::Reduction, nullptr, Combiner::Add, true},
    {"exx2", Structure::Exx2},
    {"layernormscale", Structure::LayerNormScale},
    {"identity", Structure::Copy},
    {"batchmatmul", Structure::Matmul},
    {"batchmatmulfp8", Structure::Matmul},
    {"topkvalue", Structure::TopKValue},
    {"topkindex", Structure::TopKIndex},
};

const Kernel *findKernel(std::string_view name) {
  for (const Kernel &kernel : kKernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

SPYRE_END_TARGET

#if SPYRE_ONCE
namespace spyre::runtime {
SPYRE_EXPORT(findKernel)
const Kernel *lookupKernel(std::string_view name) { return SPYRE_DISPATCH(findKernel)(name); }
} // namespace spyre::runtime
#endif
// NOLINTEND(llvm-header-guard)
