//===- BufferResidency.h - What may stay in LX -------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rule of lib/Planning (Residency.h) for one buffer, with the divisions that are written on
// the operations: what each core would hold of it, or why it cannot stay.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_BUFFERRESIDENCY_H
#define SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_BUFFERRESIDENCY_H

#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"
#include "spyre/Planning/Residency.h"

namespace mlir::spyre {

struct BufferResidency {
  DistributionAttr distribution; ///< which core would hold what; null: it cannot stay
  /// Why it cannot. Nothing, without a distribution: an operation is not planned.
  std::optional<::spyre::planning::ResidencyObstacle> obstacle;
};

/// \p life is that of \p alloc and has accesses.
BufferResidency findResidency(AllocOp alloc, const BufferLife &life, PlanningModel &model);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_BUFFERRESIDENCY_H
