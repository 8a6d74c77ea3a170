//===- BufferBase.h - Where a placed buffer's address starts -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both emissions start from L3 with placed buffers; this is what they ask of one.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_IR_BUFFERBASE_H
#define SPYRE_DIALECT_SPYRE_IR_BUFFERBASE_H

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"

namespace mlir::spyre {

/// Where a buffer's address starts: at an argument, in the pool, in LX, or at an
/// absolute address.
struct BufferBase {
  enum Kind { Argument, Pool, LX, Absolute } kind = Absolute;
  unsigned argument = 0;
  int64_t offsetInBytes = 0; ///< from the base; the address itself if absolute
};

/// The base of \p buffer: a function argument or a placed allocation. Emits an
/// error at \p user otherwise.
FailureOr<BufferBase> getBufferBase(Value buffer, Operation *user);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_IR_BUFFERBASE_H
