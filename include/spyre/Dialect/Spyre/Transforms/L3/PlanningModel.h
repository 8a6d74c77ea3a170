//===- PlanningModel.h - Device operations as planning sees them -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one description of a device operation in the terms of lib/Planning: its division
// problem, what each operand touches over points and loops, and how it is spread over the
// cores. An analysis of a function: what is described once is kept, and shared by all
// operations that say the same, for the division, the placement, the verifier, the report and
// the KTIR emission.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_PLANNINGMODEL_H
#define SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_PLANNINGMODEL_H

#include "spyre/Dialect/Spyre/IR/ModuleDevice.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Planning/WorkDivision.h"

#include <map>
#include <memory>

namespace mlir::spyre {

/// A device operation in planning's terms.
struct PlannedOp {
  /// Why the operation cannot be planned; empty: it can. Else there are only the accesses
  /// that are sums of digits, up to the first that is none.
  std::string error;
  /// For all cores of the device.
  ::spyre::planning::DivisionProblem problem;
  /// Of the operands: inputs, then the output.
  std::vector<::spyre::layout::Access> accesses;
  /// The work slices that are written on the operation; all 1 where none are.
  ::spyre::planning::Splits splits;
  bool kFast = false; ///< the operation's core order, where it makes a difference
  /// How the points are spread; nothing if the slices are more than the device has cores.
  std::optional<::spyre::layout::Spread> spread;
};

/// Descriptions by operation, for who changes none meanwhile.
using PlannedOps = DenseMap<Operation *, const PlannedOp *>;

/// The access of operand \p operand of \p op (inputs, then the output). Fails, without a
/// message, if its map is no sum of digits or a loop's trip count is not known.
FailureOr<::spyre::layout::Access> getAccess(DeviceOpInterface op, unsigned operand);

class PlanningModel {
public:
  /// \p op: anything in a module; the module names the device.
  explicit PlanningModel(Operation *op) : device(spyre::getDevice(op)) {}

  /// Fails, after a message, if the module names a device that there is not.
  const FailureOr<::spyre::Device> &getDevice() const { return device; }

  /// What \p op is now: descriptions are found by what an operation says, so that a
  /// changed operation gets another one. Valid as long as the model.
  const PlannedOp &describe(DeviceOpInterface op);
  /// The same; null, after a message, if it cannot be planned.
  const PlannedOp *get(DeviceOpInterface op);

  /// Never out of date (see get).
  bool isInvalidated(const AnalysisManager::PreservedAnalyses &) { return false; }

private:
  FailureOr<::spyre::Device> device;
  std::map<std::vector<uintptr_t>, std::unique_ptr<PlannedOp>> entries;
};

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_PLANNINGMODEL_H
