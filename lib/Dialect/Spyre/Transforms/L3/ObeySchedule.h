//===- ObeySchedule.h - Schedules and hints, operation by operation -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a schedule, or operations themselves (PlanHints.h), say of divisions and places becomes
// what the passes read on operations; scopes become runs of operations.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_OBEYSCHEDULE_H
#define SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_OBEYSCHEDULE_H

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"
#include "spyre/Planning/Schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spyre {

/// Gives \p ops, the operations of \p func, the divisions and places that \p schedule and their
/// hints say; fails, after a message for each, where that is not possible. What hints say is part
/// of \p schedule afterwards. \p limit: cores that may be used.
LogicalResult obeyDivisions(func::FuncOp func, ::spyre::planning::Schedule &schedule,
                            ArrayRef<DeviceOpInterface> ops, PlanningModel &model, int64_t limit);

/// The argument of \p func that holds array \p name ("in0"); nothing if there is none.
std::optional<BlockArgument> findArgument(func::FuncOp func, StringRef name);

/// \p nests with the first and last of \p ops for those that name a scope; fails after a message.
FailureOr<std::vector<::spyre::planning::ScheduledNest>>
resolveScopes(func::FuncOp func, std::vector<::spyre::planning::ScheduledNest> nests,
              ArrayRef<DeviceOpInterface> ops);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_OBEYSCHEDULE_H
