//===- TensorLayout.h - Where a tensor's elements sit -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device layout of a tensor: what `#spyre.layout` means. MLIR-free.
// Source of the rules: SuperDSC reference e.0; hardware reference, "Default
// tensor layout".
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LAYOUT_TENSORLAYOUT_H
#define SPYRE_LAYOUT_TENSORLAYOUT_H

#include "spyre/Layout/IndexMap.h"
#include "spyre/Numerics/Formats.h"

namespace spyre::layout {

/// One dim of a stick, outermost first: [reduction 2, generated 64] of fp8 has
/// two of them.
struct StickDim {
  int dim = 0;           ///< logical dim
  int64_t elements = 64; ///< of that dim in one stick
  bool operator==(const StickDim &) const = default;
};

/// Where the elements of a logical tensor sit on the device.
struct TensorLayout {
  std::vector<int64_t> shape; ///< logical extents, the host's shape
  /// Logical dims outer to inner; the last is the stick dim. A trailing -1: no
  /// dim in the stick, one element a stick ("sparse"). Empty for rank 0.
  std::vector<int> dimOrder;
  DataFormat format = DataFormat::SEN169_FP16;
  /// Extents in memory, one a logical dim, each >= shape; empty: the shape.
  std::vector<int64_t> paddedShape;
  /// The stick's dims where they are not just (last of dimOrder, elements a stick).
  std::vector<StickDim> stick;
  bool operator==(const TensorLayout &) const = default;
};

} // namespace spyre::layout

#endif // SPYRE_LAYOUT_TENSORLAYOUT_H
