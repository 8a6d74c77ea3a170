//===- KernelPlan.cpp - What a KTIR kernel reads, computes and writes -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of a kernel: operations and loops. OperationPlan.cpp describes each.
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"

#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::ktir;

static constexpr int64_t kTokensInBytes = 512;

namespace {
class KernelPlanner {
public:
  KernelPlanner(PlanningModel &model, int64_t capacityInBytes,
                SmallVectorImpl<Unsupported> &unsupported)
      : model(model), capacityInBytes(capacityInBytes), unsupported(unsupported) {}

  void visit(Block &block, std::vector<KernelStep> &steps);

  Kernel kernel;
  bool isBroken = false;

private:
  PlanningModel &model;
  int64_t capacityInBytes;
  SmallVectorImpl<Unsupported> &unsupported;
};
} // namespace

void KernelPlanner::visit(Block &block, std::vector<KernelStep> &steps) {
  for (Operation &op : block) {
    if (isa<AllocOp, ReinterpretOp, arith::ConstantOp, func::ReturnOp, scf::YieldOp>(op))
      continue;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      KernelStep step;
      step.loop = loop;
      if (!getConstantIntValue(loop.getLowerBound()) ||
          !getConstantIntValue(loop.getUpperBound()) || !getConstantIntValue(loop.getStep()))
        unsupported.push_back({&op, "the loop's bounds are no constants", nullptr, {}});
      visit(*loop.getBody(), step.body);
      steps.push_back(std::move(step));
      continue;
    }
    auto deviceOp = dyn_cast<DeviceOpInterface>(op);
    if (!deviceOp) {
      unsupported.push_back({&op, "has no place in a kernel", nullptr, {}});
      continue;
    }
    KernelOp planned;
    FailureOr<std::string> reason = planOperation(deviceOp, model, capacityInBytes, planned);
    if (failed(reason)) {
      isBroken = true;
    } else if (!reason->empty()) {
      unsupported.push_back({&op, *reason, nullptr, {}});
    } else {
      KernelStep step;
      step.operation = kernel.operations.size();
      steps.push_back(std::move(step));
      kernel.numTiles = std::max(kernel.numTiles, planned.numSlices);
      kernel.operations.push_back(std::move(planned));
    }
  }
}

FailureOr<Kernel> ktir::planKernel(func::FuncOp func, PlanningModel &model, int64_t capacityInBytes,
                                   SmallVectorImpl<Unsupported> &unsupported) {
  const MemoryUse use = getMemoryUse(func);
  if (capacityInBytes == 0)
    // What the device keeps from plans is for this, and for the tokens of barriers.
    capacityInBytes = model.getDevice()->getLXInBytes() - use.lxInBytes - kTokensInBytes;
  KernelPlanner planner(model, capacityInBytes, unsupported);
  planner.visit(func.getBody().front(), planner.kernel.steps);
  if (planner.isBroken)
    return failure();
  planner.kernel.hasPool = use.hasPool;
  planner.kernel.poolInBytes = use.poolInBytes;
  return std::move(planner.kernel);
}
