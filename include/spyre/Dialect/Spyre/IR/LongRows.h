//===- LongRows.h - Reductions of rows that are too long --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which reductions are done part by part because of their size, as tensors and as buffers.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_IR_LONGROWS_H
#define SPYRE_DIALECT_SPYRE_IR_LONGROWS_H

#include "spyre/Device/Device.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"

namespace mlir::spyre {

/// True if \p op is a reduction whose results over parts of what it reduces a combiner can put
/// together.
bool combinesParts(DeviceOpInterface op);

/// True if \p op is a reduction whose parts a combiner can put together, and a row of it, of one
/// dim or several, is large beside a scratchpad of \p device, or all that it reads is more than a
/// core may span.
bool isLongReduction(DeviceOpInterface op, const ::spyre::Device &device);

/// True if \p op (L1) is a long sum of squares of differences: those of a row from its mean are
/// carried with the row's sum, or by themselves.
bool isSumOfDeviations(DeviceOpInterface op, const ::spyre::Device &device);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_IR_LONGROWS_H
