//===- Alignment.h - One loop dim per device dim ----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits the iteration dims of an operation until every device coordinate of
// every operand is one loop dim plus a constant (or, for the stick, one loop dim
// divided by or modulo the elements of a stick). That is the form in which
// SuperDSC can name a coordinate. MLIR-free.
// Source of the rules: docs/formats/superdsc-rules.md, e.1.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LAYOUT_ALIGNMENT_H
#define SPYRE_LAYOUT_ALIGNMENT_H

#include "spyre/Layout/TensorLayout.h"

#include <string>
#include <variant>
#include <vector>

namespace spyre::layout {

/// An iteration dim before alignment.
struct AlignDim {
  int64_t extent = 1;
  int64_t split = 1; ///< work slices
  /// Keep the dim although its extent is 1; else it vanishes.
  bool keepUnit = false;
};

/// An operand before alignment: its device dims, outer to inner, the last
/// stickRank ones within the stick, and their coordinates over the iteration dims.
struct AlignAccess {
  std::vector<int64_t> deviceSizes;
  std::vector<IndexExpr> coordinates;
  unsigned stickRank = 1;
  /// Device dim that is addressed through an index tensor; -1: none.
  int indirectDim = -1;
  /// (device dim, iteration dim with keepUnit) that belong together. The device
  /// dim has size 1 or is in the stick.
  std::vector<std::pair<unsigned, unsigned>> unitDims = {};
};

/// A loop dim after alignment.
struct AlignedDim {
  std::string name; ///< of its first segment: c<i>; others z0, z1, ... (for messages)
  int64_t size = 1;
  int64_t split = 1;
  int source = -1;  ///< the iteration dim it is a part of; -1: none (a constant's dim)
  int64_t unit = 1; ///< steps of the source dim per step of this one
};

enum class CoordinateKind : uint8_t {
  Constant, ///< offset only
  Whole,    ///< dim + offset
  Count,    ///< dim floordiv elements in the stick + offset
  Within,   ///< dim mod elements in the stick
  Indirect, ///< the value of an index tensor
};

struct AlignedCoordinate {
  CoordinateKind kind = CoordinateKind::Constant;
  int dim = -1; ///< position in Alignment::dims
  int64_t offset = 0;
  bool operator==(const AlignedCoordinate &) const = default;
};

struct AlignedAccess {
  std::vector<int64_t> deviceSizes;
  std::vector<AlignedCoordinate> coordinates;
  std::vector<int> sources; ///< device dim of the operand that each is a part of; -1: none
  unsigned stickRank = 1;

  /// The loop dim that runs through the stick, innermost; -1: none.
  int getStickDim() const { return coordinates.back().dim; }
  /// Elements of loop dim \p dim in one stick; 1 if it is not in the stick.
  int64_t getElementsInStick(int dim) const {
    for (size_t i = coordinates.size() - stickRank; i < coordinates.size(); ++i)
      if (coordinates[i].dim == dim && dim != -1)
        return deviceSizes[i];
    return 1;
  }
};

struct Alignment {
  std::vector<AlignedDim> dims; ///< in iteration order
  std::vector<AlignedAccess> accesses;
};

struct AlignError {
  std::string message;
  int access = -1; ///< whose fault it is; -1: the dims
};

/// All operands of one operation together. Accesses must be in bounds.
/// Errors: coordinates whose parts do not fit into each other, two loop dims in
/// one stick, an offset inside a stick, a split that cannot be handed out.
std::variant<Alignment, AlignError> align(const std::vector<AlignDim> &dims,
                                          const std::vector<AlignAccess> &accesses);

} // namespace spyre::layout

#endif // SPYRE_LAYOUT_ALIGNMENT_H
