//===- DivisionCost.h - What a work division costs --------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ties work division to the cost model: turns a problem and its splits into what
// spyre::cost wants to know. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_PLANNING_DIVISIONCOST_H
#define SPYRE_PLANNING_DIVISIONCOST_H

#include "spyre/CostModel/CostModel.h"
#include "spyre/Planning/WorkDivision.h"

namespace spyre::planning {

/// The matmul that \p problem is, with \p splits: dims of one role multiplied.
/// \p wholeSticks: extents as the device computes them, stick dims rounded up.
cost::MatmulShape getMatmulShape(const DivisionProblem &problem, const Splits &splits,
                                 bool wholeSticks = false);

/// \p problem in the cost model's terms. \p costClass: the OpFunc's, where it says
/// more than the kind.
cost::OpProblem getCostProblem(const DivisionProblem &problem, const Splits &splits,
                               std::optional<CostClass> costClass = std::nullopt);

/// The cost model's time in ns.
DivisionCost makeModelCost(const Device &device, std::optional<CostClass> costClass = std::nullopt);

/// What it takes, in ns, that cores which share a tile in \p slices of some of its dims, the first
/// ones innermost, get what those have that differ from them in the slices \p gathered (a bit
/// each) only; each has \p bytes before.
using GatherCost =
    std::function<double(const std::vector<int64_t> &slices, unsigned gathered, double bytes)>;
GatherCost makeGatherCost(const Device &device);

/// The formula that the incumbent's matmul search uses (about us). Operations that
/// it has none for: points of the iteration space per core.
DivisionCost makePublishedCost(const Device &device);

} // namespace spyre::planning

#endif // SPYRE_PLANNING_DIVISIONCOST_H
