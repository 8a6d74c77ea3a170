//===- DivideWork.cpp - Work slices for every operation -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An adapter: the decision is spyre::planning::divide.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/PlanningAdapter.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREDIVIDEWORK
#include "spyre/Dialect/Spyre/Transforms/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
namespace planning = ::spyre::planning;

namespace {
struct DivideWorkPass : mlir::spyre::impl::SpyreDivideWorkBase<DivideWorkPass> {
  using SpyreDivideWorkBase::SpyreDivideWorkBase;
  void runOnOperation() override {
    FailureOr<::spyre::Device> device = getDevice(getOperation());
    if (failed(device))
      return signalPassFailure();
    int64_t available = device->getNumCores();
    if (cores < 0 || cores > available) {
      getOperation().emitError() << "cannot use " << cores << " cores; the device has "
                                 << available;
      return signalPassFailure();
    }
    int64_t limit = cores == 0 ? available : static_cast<int64_t>(cores);
    bool ok = true;
    getOperation().walk([&](DeviceOpInterface op) {
      if (!op.getSplits().empty())
        return; // divided by hand
      if (llvm::is_contained(op.getExtents(), 0))
        return;
      if (failed(divide(op, *device, limit)))
        ok = false;
    });
    if (!ok)
      signalPassFailure();
  }

  LogicalResult divide(DeviceOpInterface op, const ::spyre::Device &device, int64_t limit) {
    FailureOr<planning::DivisionProblem> problem = buildDivisionProblem(op, device, limit);
    if (failed(problem))
      return failure();
    planning::DivisionOptions options;
    auto plan = planning::divide(*problem, options);
    // One core may not reach all of a tensor: then the span decides.
    if (std::holds_alternative<planning::DivisionError>(plan) && limit < device.getNumCores()) {
      problem->maxCores = device.getNumCores();
      plan = planning::divide(*problem, options);
    }
    if (auto *error = std::get_if<planning::DivisionError>(&plan))
      return op->emitOpError() << "cannot be divided: " << error->message;
    auto &division = std::get<planning::DivisionPlan>(plan);
    if (llvm::any_of(division.splits, [](int64_t s) { return s != 1; }))
      op.setSplits(division.splits);
    if (division.kFast)
      op->setAttr("kFast", UnitAttr::get(op.getContext()));
    return success();
  }
};
} // namespace
