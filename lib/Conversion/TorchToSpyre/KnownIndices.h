//===- KnownIndices.h - Indices that are known are slices -------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading and writing at a tensor of indices (`index_select`, `x[i]`, `index_put`) that is
// a literal, in one dim and at equal distances, is reading or writing a slice, for which
// the device has a form. Programs index so by the counter of a loop.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_CONVERSION_TORCHTOSPYRE_KNOWNINDICES_H
#define SPYRE_LIB_CONVERSION_TORCHTOSPYRE_KNOWNINDICES_H

#include "Lowering.h"

namespace mlir::spyre::torch_lowering {

/// What an operation reads or writes of its operand 0.
struct KnownIndices {
  Slice slice;
  bool dropsDim = false; ///< one index without a dim of its own: `select`
  bool writes = false;   ///< the result is operand 0 with something else in the slice
  unsigned written = 0;  ///< the operand that is written
};

/// What \p op (index_select, index.Tensor, index_put without accumulation) reads or writes,
/// if its indices are known, in bounds and at equal, positive distances.
std::optional<KnownIndices> getKnownIndices(Operation *op);

/// The same for every way to read a slice (slice, select, narrow as well), and to write one
/// (slice_scatter and select_scatter as well).
std::optional<KnownIndices> getKnownRead(Operation *op);
std::optional<KnownIndices> getKnownWrite(Operation *op);

/// Elements [start, start + count) of dim \p dim of \p source, a torch tensor of known sizes.
Value buildTorchSlice(OpBuilder &builder, Location loc, Value source, int64_t dim, int64_t start,
                      int64_t count);
/// Index \p index of dim \p dim of \p source, without that dim.
Value buildTorchSelect(OpBuilder &builder, Location loc, Value source, int64_t dim, int64_t index);

} // namespace mlir::spyre::torch_lowering

#endif // SPYRE_LIB_CONVERSION_TORCHTOSPYRE_KNOWNINDICES_H
