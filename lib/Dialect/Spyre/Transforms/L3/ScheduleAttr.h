//===- ScheduleAttr.h - Schedules as attributes of functions -----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function's `spyre.schedule` says what planning has to obey (planning/Schedule.h): a dictionary
// with the fields of the JSON. `spyre.chosen_schedule`, of the same form, is what the passes
// record where they are asked to.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_SCHEDULEATTR_H
#define SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_SCHEDULEATTR_H

#include "spyre/Dialect/Spyre/Transforms/L3/Schedules.h"
#include "spyre/Planning/Schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spyre {

/// Says that \p func cannot obey its schedule, at \p loc.
void emitScheduleError(Location loc, const ::spyre::planning::ScheduleError &error);

/// What the hint of \p op says, as a schedule of operation \p number. Mistakes are diagnostics.
FailureOr<::spyre::planning::Schedule> getPlanHint(Operation *op, unsigned number);

/// Where the result of an operation has to lie (`spyre.place`).
struct AskedPlace {
  ::spyre::planning::ScheduledSpace space = ::spyre::planning::ScheduledSpace::Memory;
  std::optional<int64_t> address;
  std::string field; ///< of the schedule, that says so: "values[0]"
};
std::optional<AskedPlace> getAskedPlace(Operation *op);
void setAskedPlace(Operation *op, const AskedPlace &place);

/// What has been recorded of \p func so far.
::spyre::planning::Schedule getChosenSchedule(func::FuncOp func);
void setChosenSchedule(func::FuncOp func, const ::spyre::planning::Schedule &schedule);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_SCHEDULEATTR_H
