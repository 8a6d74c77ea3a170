//===- Schedule.h - What a plan says of a function, as a value ---*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decisions of a plan that somebody may want to see, keep or make: how operations are
// divided over cores, which of them run tile by tile, and which values stay out of the
// scratchpads. What a schedule says is obeyed or refused with its reason; what it does not say
// is searched. As JSON it is described in docs/formats/schedule.md.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_PLANNING_SCHEDULE_H
#define SPYRE_PLANNING_SCHEDULE_H

#include "spyre/Planning/WorkDivision.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spyre::planning {

/// A dim of the iteration space of an operation, or (name not empty) a named dim of an argument.
struct ScheduledDim {
  unsigned operation = 0, dim = 0;
  std::string name;
};

/// A dim and into how many equal parts it is cut: tiles of a loop, or slices over cores.
struct ScheduledCut {
  ScheduledDim dim;
  int64_t parts = 1;
};

/// Operations first .. last in loops over tiles.
struct ScheduledNest {
  /// Not empty: from the first to the last operation of this scope, whatever their numbers. Who
  /// knows the operations sets these (they are not read beside it).
  std::string scope = {};
  unsigned first = 0, last = 0;
  /// Outermost first; none: all at once. Nothing: they are searched.
  std::optional<std::vector<ScheduledCut>> loops;
  /// What cores share each tile along. Nothing: it is searched.
  std::optional<std::vector<ScheduledCut>> cores;
  /// Factors of products are loaded although one operation reads them once.
  std::optional<bool> loadsFactors;
  /// What cores need alike lies in each of them.
  std::optional<bool> copies;
  /// One operation, divided by itself for operands in device memory.
  bool isAlone = false;
  /// By the cost model; nobody has to obey it.
  double tiledInNs = 0, untiledInNs = 0;
};

/// Work slices of one operation.
struct ScheduledDivision {
  unsigned operation = 0;
  std::string opFunc; ///< not empty: which OpFunc it has to be
  Splits splits;      ///< a number for each dim
  /// Or for some dims, by their numbers or by names of arguments' dims; others are searched.
  std::map<std::string, int64_t> byDim = {};
};

enum class ScheduledSpace : uint8_t { LX, Memory };

/// Where the result of an operation has to lie.
struct ScheduledValue {
  unsigned operation = 0;
  ScheduledSpace space = ScheduledSpace::Memory;
  /// In LX of each core; nothing: wherever there is room.
  std::optional<int64_t> address = std::nullopt;
};

/// Of one function. Operations are counted in order: of divisions and values before sums are
/// carried on, of nests after it (the same, unless the plan's kind is `carried`).
struct Schedule {
  std::string kind; ///< of plan: untiled, tiled or carried; empty: any
  /// In the layouts that a search found, which is another form of the program.
  bool searchesLayouts = false;
  /// Sums of squared deviations of long rows are carried by themselves, not with the row's sum.
  bool keepsDeviationsApart = false;
  /// Names of the dims of arguments, by the argument's name.
  std::map<std::string, std::vector<std::string>> names;
  std::vector<ScheduledDivision> divisions;
  /// These and no others; nothing: they are searched.
  std::optional<std::vector<ScheduledNest>> nests;
  /// Results of operations, counted as nests do, that nests do not count on in LX although they
  /// would stay there without them; nothing: as follows from the nests.
  std::optional<std::vector<unsigned>> lost;
  std::vector<ScheduledValue> values;
  /// By the cost model, and what no plan falls below; nobody has to obey them.
  double timeInNs = 0, boundInNs = 0;
};

/// A mistake in a schedule: the field ("nests[0].loops[1].tiles") and what is wrong with it.
struct ScheduleError {
  std::string field, message;
};

/// Schedules by function.
using Schedules = std::map<std::string, Schedule>;

/// The schedules that \p text says, or all mistakes in it.
std::variant<Schedules, std::vector<ScheduleError>> readSchedules(const std::string &text);
/// JSON that readSchedules reads, a line for each operation and nest.
std::string writeSchedules(const Schedules &schedules);

} // namespace spyre::planning

#endif // SPYRE_PLANNING_SCHEDULE_H
