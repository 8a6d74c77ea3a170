//===- PackingSearch.h - Can these buffers all be placed? -------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decision problem behind both packers. Internal to lib/Planning.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_PLANNING_PACKINGSEARCH_H
#define SPYRE_LIB_PLANNING_PACKINGSEARCH_H

#include "spyre/Planning/Packing.h"

#include <chrono>

namespace spyre::planning {

/// What a whole run of a solver may use up.
struct SearchBudget {
  explicit SearchBudget(const PackingOptions &options);

  int64_t nodesLeft;
  bool isUsedUp() const { return nodesLeft <= 0 || outOfTime; }
  /// Counts a step.
  void spend();

private:
  bool hasDeadline = false;
  bool outOfTime = false;
  int64_t untilClock = 0;
  std::chrono::steady_clock::time_point deadline;
};

enum class Feasibility : uint8_t { Feasible, Infeasible, Unknown };

/// Places the buffers \p members of \p problem below \p capacity, all of them.
/// Writes their entries of \p addresses if feasible. At most \p nodeLimit steps.
Feasibility placeAll(const PackingProblem &problem, const std::vector<size_t> &members,
                     int64_t capacity, int64_t nodeLimit, SearchBudget &budget,
                     std::vector<std::optional<int64_t>> &addresses);

} // namespace spyre::planning

#endif // SPYRE_LIB_PLANNING_PACKINGSEARCH_H
