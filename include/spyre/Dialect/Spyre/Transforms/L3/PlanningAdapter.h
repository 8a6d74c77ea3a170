//===- PlanningAdapter.h - IR to planning problems -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns device operations into the problems of lib/Planning.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_PLANNINGADAPTER_H
#define SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_PLANNINGADAPTER_H

#include "spyre/Dialect/Spyre/IR/ModuleDevice.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Planning/WorkDivision.h"

namespace mlir::spyre {

/// The access map of operand \p operand of \p op (inputs, then the output) over
/// its iteration dims, at the first iteration of its loops.
FailureOr<::spyre::layout::IndexMap> getAccess(DeviceOpInterface op, unsigned operand);

/// \p op as a division problem for \p cores cores of \p device. Emits an error
/// where an operand cannot be described.
FailureOr<::spyre::planning::DivisionProblem>
buildDivisionProblem(DeviceOpInterface op, const ::spyre::Device &device, int64_t cores);

/// How \p op is spread over the cores.
::spyre::planning::Distribution getDistribution(DeviceOpInterface op,
                                                const ::spyre::planning::DivisionProblem &problem);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_PLANNINGADAPTER_H
