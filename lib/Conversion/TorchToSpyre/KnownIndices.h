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
  bool dropsDim = false;  ///< one index without a dim of its own: `select`
  bool writes = false;    ///< the result is operand 0 with something else in the slice
  unsigned written = 0;   ///< the operand that is written
};

/// What \p op (index_select, index.Tensor, index_put without accumulation) reads or writes,
/// if its indices are known, in bounds and at equal, positive distances.
std::optional<KnownIndices> getKnownIndices(Operation *op);

/// The same for every way to write a slice: slice_scatter and select_scatter as well.
std::optional<KnownIndices> getKnownWrite(Operation *op);

/// \p value, or a concatenation in its place (before the insertion point of \p builder) of
/// what was written piece by piece into a tensor by operations behind \p before (null:
/// the block's first) in the block, if nothing reads the tensor in between.
Value joinWrites(Value value, Operation *before, OpBuilder &builder);

} // namespace mlir::spyre::torch_lowering

#endif // SPYRE_LIB_CONVERSION_TORCHTOSPYRE_KNOWNINDICES_H
