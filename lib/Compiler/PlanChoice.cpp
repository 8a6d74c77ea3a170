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
#include "spyre/Conversion/SpyreToSuperDSC/SpyreToSuperDSC.h"
#include "spyre/Dialect/Spyre/IR/ModuleDevice.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"
#include "spyre/OpFunc/OpFuncTable.h"
#include "spyre/SuperDSC/DeviceLimits.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace spyre::compiler {

/// How far above the least that is possible no further kind of plan is tried.
static constexpr double kNearBound = 1.06;

/// What \p getInNs says of all planned functions of \p module.
static double sum(ModuleOp module, double (*getInNs)(func::FuncOp)) {
  double ns = 0;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal())
      ns += getInNs(func);
  return ns;
}

/// True if descriptors can be made of all operations of \p module, which is planned.
static bool canEmit(ModuleOp module) {
  FailureOr<::spyre::Device> device = mlir::spyre::getDevice(module);
  if (failed(device))
    return false;
  ScopedDiagnosticHandler silence(module.getContext(), [](Diagnostic &) { return success(); });
  const ::spyre::sdsc::Limits limits = ::spyre::sdsc::getLimits(*device);
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    FailureOr<mlir::sdsc::Bundle> bundle = mlir::spyre::emitBundle(func, {});
    if (failed(bundle) || failed(mlir::sdsc::verifyBundle(*bundle, limits)))
      return false;
  }
  return true;
}

/// True if work slices are written on an operation of \p module.
static bool isDividedByHand(ModuleOp module) {
  return module
      .walk([](mlir::spyre::DeviceOpInterface op) {
        return op.getSplits().empty() ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

/// True if \p module has exponentials of rows less their largest number, or products of what
/// products make.
static bool mayCarry(ModuleOp module) {
  bool hasLargest = false, hasExponentials = false;
  unsigned numProducts = 0;
  module.walk([&](mlir::spyre::DeviceOpInterface op) {
    hasLargest |= op.getInfo().combiner == Combiner::Maximum;
    hasExponentials |= op.getInfo().shiftLaw == ShiftLaw::ScaleByExp;
    numProducts += op.getInfo().category == OpCategory::Batchmatmul;
  });
  return (hasLargest && hasExponentials) || numProducts > 1;
}

std::optional<ProgramForm> makeCarriedForm(ModuleOp program) {
  if (!mayCarry(program))
    return std::nullopt;
  return ProgramForm{program.clone(), PlanKind::Carried, /*isL1=*/true};
}

void PlanChoice::setUntiled(OwningOpRef<ModuleOp> &untiled, bool hasPassed) {
  plan = &untiled;
  isPlanned = hasPassed;
  isWanted = hasPassed && wanted == PlanKind::Untiled;
  if (hasPassed) {
    bestInNs = sum(*untiled, getModelledTimeInNs);
    times.ns.emplace_back(PlanKind::Untiled, bestInNs);
  }
}

void PlanChoice::consider(ProgramForm form) {
  ModuleOp module = *form.program;
  // What a number draws, or a schedule says, is a plan of the wanted kind.
  if (isWanted || isDividedByHand(module) || (mustBe && form.kind != wanted))
    return;
  // Sums that are carried on take operations of their own; little can be gained where next to
  // nothing is lost.
  if (form.kind == PlanKind::Carried && wanted == PlanKind::Best && isPlanned &&
      bestInNs <= kNearBound * sum(**plan, getBoundInNs))
    return;
  LowerOptions tiling;
  tiling.copyOptionValuesFrom(options);
  tiling.tileTime = true;
  tiling.carryReductions = form.kind == PlanKind::Carried;
  tiling.preferCarried = wanted == PlanKind::Carried;
  PassManager pm(module.getContext());
  if (form.kind == PlanKind::Carried) {
    pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreWidenRows());
    pm.addNestedPass<func::FuncOp>(mlir::spyre::createSpyreDeferScaling());
  }
  if (form.isL1)
    buildL2Stage(pm, tiling);
  buildL3Stage(pm, tiling);
  ScopedDiagnosticHandler silence(module.getContext(),
                                  [&](Diagnostic &) { return success(!mustBe); });
  if (failed(pm.run(module))) {
    hasFailed |= mustBe;
    return;
  }
  const double ns = sum(module, getModelledTimeInNs);
  // Not every plan has a descriptor for each operation: with tiles a few need more dims.
  const bool isBetter = !isPlanned || wanted == form.kind || ns < bestInNs;
  if (isBetter && !canEmit(module)) {
    if (mustBe && options.tileSeed == 0) {
      hasFailed = true;
      emitError(module.getLoc()) << "the plan that the schedule asks for has operations of more "
                                    "dims than a descriptor can say";
    }
    return;
  }
  times.ns.emplace_back(form.kind, ns);
  if (!isBetter)
    return;
  isWanted = wanted == form.kind;
  isPlanned = true;
  bestInNs = ns;
  times.kind = form.kind;
  *plan = std::move(form.program);
}

} // namespace spyre::compiler
