//===- OpFuncFunctions.h - What operations compute, for tests ---*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The meanings in the OpFunc table, written down a second time as C++ functions of one
// lane, for tests that hold the table's other claims against them.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TEST_UNIT_OPFUNC_OPFUNCFUNCTIONS_H
#define SPYRE_TEST_UNIT_OPFUNC_OPFUNCFUNCTIONS_H

#include "spyre/Numerics/DL16.h"

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace spyre::test {

using Function = std::function<float(const std::vector<float> &)>;

/// What the operations compute, one lane at a time.
inline const std::map<std::string, Function> &functions() {
  using V = const std::vector<float> &;
  static const std::map<std::string, Function> all = {
      {"abs", [](V v) { return std::fabs(v[0]); }},
      {"exp", [](V v) { return std::exp(v[0]); }},
      {"floor", [](V v) { return std::floor(v[0]); }},
      {"log", [](V v) { return std::log(v[0]); }},
      {"neg", [](V v) { return -v[0]; }},
      {"reciprocal", [](V v) { return 1 / v[0]; }},
      {"relufwd", [](V v) { return maximumOf(v[0], 0.0f); }},
      {"rsqrt", [](V v) { return 1 / std::sqrt(v[0]); }},
      {"sigmoid", [](V v) { return 1 / (1 + std::exp(-v[0])); }},
      {"sqrt", [](V v) { return std::sqrt(v[0]); }},
      {"tanh", [](V v) { return std::tanh(v[0]); }},
      {"gelufwd", [](V v) { return v[0] / 2 * (1 + std::erf(v[0] / std::sqrt(2.0f))); }},
      {"silu", [](V v) { return v[0] / (1 + std::exp(-v[0])); }},
      {"clip", [](V v) { return std::fmin(std::fmax(v[0], -2.0f), 5.0f); }},
      {"softplus", [](V v) { return v[0] > 20 ? v[0] : std::log1p(std::exp(v[0])); }},
      {"identity", [](V v) { return v[0]; }},
      {"shuffle", [](V v) { return v[0]; }},
      {"dl16tofp32", [](V v) { return v[0]; }},
      {"fp8todl16", [](V v) { return v[0]; }},
      {"add", [](V v) { return v[0] + v[1]; }},
      {"sub", [](V v) { return v[0] - v[1]; }},
      {"mul", [](V v) { return v[0] * v[1]; }},
      {"realdiv", [](V v) { return v[0] / v[1]; }},
      {"maximum", [](V v) { return maximumOf(v[0], v[1]); }},
      {"minimum", [](V v) { return minimumOf(v[0], v[1]); }},
      {"equal", [](V v) { return float(v[0] == v[1]); }},
      {"notequal", [](V v) { return float(v[0] != v[1]); }},
      {"greaterequal", [](V v) { return float(v[0] >= v[1]); }},
      {"greaterthan", [](V v) { return float(v[0] > v[1]); }},
      {"lesserequal", [](V v) { return float(v[0] <= v[1]); }},
      {"lesserthan", [](V v) { return float(v[0] < v[1]); }},
      {"where3", [](V v) { return v[0] != 0 ? v[1] : v[2]; }},
  };
  return all;
}

} // namespace spyre::test

#endif // SPYRE_TEST_UNIT_OPFUNC_OPFUNCFUNCTIONS_H
