//===- PlanFacts.cpp - What a plan moves and takes -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/PlanFacts.h"

#include "spyre/Device/Device.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Spyre/Transforms/BufferLiveness.h"
#include "spyre/Dialect/Spyre/Transforms/PlanningAdapter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
namespace planning = ::spyre::planning;

/// How often \p op runs.
static int64_t getNumRuns(Operation *op) {
  int64_t runs = 1;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound()))
      runs *= *upper;
  return runs;
}

namespace spyre::compiler {

void collectPlanFacts(func::FuncOp func, CompileStats &stats) {
  using namespace mlir::spyre;
  FailureOr<::spyre::Device> device = mlir::spyre::getDevice(func);
  if (failed(device))
    return;
  func.walk([&](DeviceOpInterface op) {
    ++stats.numDeviceOps;
    FailureOr<planning::DivisionProblem> problem =
        mlir::spyre::buildDivisionProblem(op, *device, device->getNumCores());
    if (failed(problem))
      return;
    planning::Splits whole(problem->dims.size(), 1);
    int64_t runs = getNumRuns(op);
    for (const planning::DivisionOperand &operand : problem->operands) {
      if (!operand.isInDeviceMemory)
        continue;
      int64_t bytes = planning::getFootprintInBytes(*problem, operand, whole) * runs;
      (operand.isOutput ? stats.hbmWriteInBytes : stats.hbmReadInBytes) += bytes;
    }
  });
  func.walk([&](AllocOp alloc) {
    PlacementAttr placement = alloc.getPlacementAttr();
    if (!placement)
      return;
    int64_t end = placement.getAddressInBytes() + getSizeInMemory(alloc);
    if (placement.getKind() == PlacementKind::LX)
      stats.lxPeakInBytes = std::max(stats.lxPeakInBytes, end);
    else if (placement.getKind() == PlacementKind::Pool)
      stats.poolInBytes = std::max(stats.poolInBytes, end);
  });
}

} // namespace spyre::compiler
