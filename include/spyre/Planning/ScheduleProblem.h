//===- ScheduleProblem.h - What a schedule is of, by itself ------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function as planning sees it, without a program: values in their layouts, and operations in
// the order in which they run. problem -> check -> solve: divisions, nests and places in the
// scratchpads, each obeyed where a schedule says it, else searched. The passes of L3 do the same
// one part after the other, with what they know of a program in addition. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_PLANNING_SCHEDULEPROBLEM_H
#define SPYRE_PLANNING_SCHEDULEPROBLEM_H

#include "spyre/Device/Device.h"
#include "spyre/Layout/IndexMap.h"
#include "spyre/Layout/TensorLayout.h"
#include "spyre/OpFunc/OpFuncTable.h"
#include "spyre/Planning/Schedule.h"

#include <string>
#include <variant>
#include <vector>

namespace spyre::planning {

struct ProblemValue {
  std::string name;
  layout::TensorLayout memory;
  /// An operation writes it and the caller sees it; what no operation writes is an argument, all
  /// else lies between operations.
  bool isResult = false;
};

/// A value and the logical coordinates of it that each point of an operation touches.
struct ProblemOperand {
  unsigned value = 0;
  layout::IndexMap map;
};

struct ProblemOperation {
  OpFunc opFunc = OpFunc::Identity;
  std::vector<int64_t> extents;
  std::vector<ProblemOperand> operands; ///< inputs, then the output
};

struct ScheduleProblem {
  std::vector<ProblemValue> values;
  std::vector<ProblemOperation> operations;
};

/// What each point of an operation touches of \p operand; there are no loops.
layout::Access getAccess(const ProblemOperand &operand);
/// \p op, without a device, in the terms of work division; a message if an operand has no
/// coordinates in its layout.
std::variant<DivisionProblem, std::string> makeDivision(const ScheduleProblem &problem,
                                                        const ProblemOperation &op);

/// Everything that is wrong with \p problem itself.
std::vector<std::string> check(const ScheduleProblem &problem);

/// A schedule of all of \p problem that does what \p asked says and takes as little as possible,
/// with what it takes; or what of \p asked is in the way, and why. \p problem must pass check.
/// Names are those of values that no operation writes; of a kind, only whether there are nests
/// counts.
std::variant<Schedule, std::vector<ScheduleError>>
solve(const ScheduleProblem &problem, const Schedule &asked, const Device &device);

} // namespace spyre::planning

#endif // SPYRE_PLANNING_SCHEDULEPROBLEM_H
