//===- Schedules.h - Schedules of a module's functions -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between schedules as values (spyre/Planning/Schedule.h) and the attributes that the passes of
// L3 read and write.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_SCHEDULES_H
#define SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_SCHEDULES_H

#include "spyre/Planning/Schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::spyre {

/// What `spyre.schedule` of \p func says, empty if there is none. Mistakes are diagnostics.
FailureOr<::spyre::planning::Schedule> getSchedule(func::FuncOp func);

/// Has the functions of \p module obey those of \p schedules that have their names.
void setSchedules(ModuleOp module, const ::spyre::planning::Schedules &schedules);

/// Moves what the passes have recorded of the functions of \p module, whose plan is of \p kind,
/// in searched layouts or not, to \p schedules. No function has an attribute of a schedule
/// afterwards.
void takeChosenSchedules(ModuleOp module, StringRef kind, bool searchesLayouts,
                         ::spyre::planning::Schedules &schedules);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_SCHEDULES_H
