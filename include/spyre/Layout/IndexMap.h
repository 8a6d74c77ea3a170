//===- IndexMap.h - Index expressions with known ranges ---------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maps from iteration points to coordinates as sums of digits
// `coefficient * ((input floordiv divisor) mod modulus) + constant`, with the
// range of every input known, so that they simplify, compose, invert and split
// exactly. Everything about index arithmetic stands on this file. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LAYOUT_INDEXMAP_H
#define SPYRE_LAYOUT_INDEXMAP_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spyre::layout {

/// coefficient * ((input floordiv divisor) mod modulus); modulus 0: no mod.
struct Digit {
  unsigned input = 0;
  int64_t divisor = 1;
  int64_t modulus = 0;
  int64_t coefficient = 1;
  bool operator==(const Digit &) const = default;
};

/// A sum of digits and a constant. Canonical form (see simplify): digits sorted
/// by (input, divisor), none without effect on the inputs' ranges.
struct IndexExpr {
  std::vector<Digit> digits;
  int64_t constant = 0;
  bool operator==(const IndexExpr &) const = default;
};

/// Inputs 0 <= x_i < extents[i] to one expression a result.
struct IndexMap {
  std::vector<int64_t> extents;
  std::vector<IndexExpr> results;
  bool operator==(const IndexMap &) const = default;
};

} // namespace spyre::layout

#endif // SPYRE_LAYOUT_INDEXMAP_H
