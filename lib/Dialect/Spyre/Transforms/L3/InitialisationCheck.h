//===- InitialisationCheck.h - What is read before it is written -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rule L3-8 of the plan's verifier, over space and time.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_INITIALISATIONCHECK_H
#define SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_INITIALISATIONCHECK_H

#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"

namespace mlir::spyre {

/// A read of elements that nothing has written.
struct UninitialisedRead {
  Value buffer;
  BufferAccess access;
};

/// The first such read of every buffer of \p func that has one, in the order of the buffers.
/// What is written before the program runs (its arguments) counts as written. All
/// operations must be in \p plannedOps.
SmallVector<UninitialisedRead>
findUninitialisedReads(func::FuncOp func, const llvm::MapVector<Value, BufferLife> &lives,
                       const PlannedOps &plannedOps);

} // namespace mlir::spyre

#endif // SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_INITIALISATIONCHECK_H
