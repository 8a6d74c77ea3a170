//===- PlanChoice.cpp - The better of two plans ----------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/PlanChoice.h"

#include "spyre/Compiler/PlanFacts.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace spyre::compiler {

/// The modelled time of all planned functions of \p module.
static double getTimeInNs(ModuleOp module) {
  double ns = 0;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal())
      ns += getModelledTimeInNs(func);
  return ns;
}

/// True if work slices are written on an operation of \p module.
static bool isDividedByHand(ModuleOp module) {
  return module
      .walk([](mlir::spyre::DeviceOpInterface op) {
        return op.getSplits().empty() ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

OwningOpRef<ModuleOp> deferScaling(ModuleOp program) {
  OwningOpRef<ModuleOp> deferred = program.clone();
  PassManager pm(program.getContext());
  pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreDeferScaling());
  OperationFingerPrint before(*deferred);
  if (failed(pm.run(*deferred)) || OperationFingerPrint(*deferred) == before)
    return {};
  return deferred;
}

LogicalResult chooseTiledPlan(OwningOpRef<ModuleOp> &planned, OwningOpRef<ModuleOp> unplanned,
                              bool isL1, bool isPlanned, const LowerOptions &options) {
  if (isDividedByHand(*unplanned))
    return success(isPlanned);
  LowerOptions tiling;
  tiling.copyOptionValuesFrom(options);
  tiling.tileTime = true;
  PassManager pm(unplanned->getContext());
  if (isL1)
    buildL2Stage(pm, tiling);
  buildL3Stage(pm, tiling);
  ScopedDiagnosticHandler silence(unplanned->getContext(), [](Diagnostic &) { return success(); });
  if (failed(pm.run(*unplanned)))
    return success(isPlanned);
  if (!isPlanned || getTimeInNs(*unplanned) < getTimeInNs(*planned))
    planned = std::move(unplanned);
  return success();
}

} // namespace spyre::compiler
