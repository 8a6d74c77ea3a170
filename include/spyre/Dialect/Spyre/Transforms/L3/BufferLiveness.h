//===- BufferLiveness.h - When buffers live and how large they are -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Op order is the schedule: operations are numbered in order, and a buffer lives
// from its first to its last access. What a loop touches of a buffer that is
// allocated outside lives through the whole loop.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_BUFFERLIVENESS_H
#define SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_BUFFERLIVENESS_H

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::spyre {

/// One access of a buffer by operand \c operand of \c op (inputs, then the output).
struct BufferAccess {
  DeviceOpInterface op;
  unsigned operand = 0;
  bool isWrite = false;
  int64_t position = 0; ///< of the op in the schedule
};

struct BufferLife {
  SmallVector<BufferAccess> accesses; ///< in schedule order
  int64_t first = 0, last = -1;       ///< positions, inclusive; empty if unused
};

/// Lives of all buffers that \p func allocates or gets as arguments, in order of
/// definition. \p numPositions receives the schedule's length.
llvm::MapVector<Value, BufferLife> computeLives(func::FuncOp func, int64_t &numPositions);

/// Bytes of an HBM buffer, or of one core's part of a distributed LX buffer.
int64_t getSizeInMemory(AllocOp alloc);

/// Bytes of one core's part of a buffer of \p type cut into \p slices of its logical dims.
int64_t getSizePerCore(BufferType type, ArrayRef<int64_t> slices);

/// Where the placed buffers of a function end.
struct MemoryUse {
  bool hasPool = false; ///< a buffer is in the pool, be it without a size
  int64_t poolInBytes = 0;
  int64_t lxInBytes = 0; ///< on each core
};
MemoryUse getMemoryUse(func::FuncOp func);

/// How often \p op runs, in all the loops around it.
int64_t getNumRuns(Operation *op);

/// True if \p reader reads its input \p input and writes its output at the same
/// places, element by element: the output may take the input's memory.
bool canBeInPlace(DeviceOpInterface reader, unsigned input);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_BUFFERLIVENESS_H
