//===- PlanSchedules.h - Plans that somebody asks for ------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file of schedules (--plan), `spyre.schedule` of a function or hints of its operations say how a
// program is to be planned. A schedule is of one kind of plan, as operations are counted in the
// program's form of that kind; only that form gets it.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COMPILER_PLANSCHEDULES_H
#define SPYRE_COMPILER_PLANSCHEDULES_H

#include "spyre/Planning/PlanKind.h"
#include "spyre/Planning/Schedule.h"

#include "mlir/IR/BuiltinOps.h"

namespace spyre::compiler {

using planning::PlanKind;
using planning::PlanTimes;

/// The place of a plan: file \p path, or a text that has none.
mlir::Location getPlanLoc(mlir::MLIRContext &context, const std::string &path);

/// The schedules of file \p path, or of \p text if that is not empty. Mistakes are diagnostics.
mlir::FailureOr<planning::Schedules> readPlan(mlir::MLIRContext &context, const std::string &path,
                                              const std::string &text);

/// The schedules of a program's parts.
class PlanSchedules {
public:
  /// \p given: for functions of any part; they come before what functions bring along.
  /// \p usual: the kind of schedules that say none.
  PlanSchedules(const planning::Schedules &given, PlanKind usual) : given(given), usual(usual) {}

  /// Takes the schedules of the functions of \p module, the next part, away from them.
  mlir::LogicalResult addPart(mlir::ModuleOp module);
  bool isPinned(size_t part) const { return !parts[part].empty(); }
  /// The kind that the schedule of \p part says, or \p otherwise.
  PlanKind getKind(size_t part, PlanKind otherwise) const;
  /// Whether the schedule of \p part is for searched layouts.
  bool searchesLayouts(size_t part) const;
  bool hasNests(size_t part) const;
  /// Has \p module, a form of \p part for a plan of \p kind, obey, if the schedule is for it; else
  /// takes its hints away.
  void apply(size_t part, mlir::ModuleOp module, PlanKind kind, bool searchesLayouts) const;
  /// Of all functions.
  const std::vector<std::string> &getNames() const { return names; }

private:
  planning::Schedules given;
  PlanKind usual;
  std::vector<planning::Schedules> parts;
  std::vector<std::string> names;
};

} // namespace spyre::compiler

#endif // SPYRE_COMPILER_PLANSCHEDULES_H
