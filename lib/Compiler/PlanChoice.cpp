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
#include "spyre/Dialect/Spyre/IR/LongRows.h"
#include "spyre/Dialect/Spyre/IR/ModuleDevice.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/OpFunc/OpFuncTable.h"
#include "spyre/Planning/TimeTiling.h"
#include "spyre/SuperDSC/DeviceLimits.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace spyre::compiler {

/// How far above the least that is possible no further kind of plan is tried.
static constexpr double kNearBound = 1.06;
/// Layouts whose plan without tiles takes so many times what others take get no other plan.
static constexpr double kFar = 1.5;

/// Plans that move more than so many times the least are not near it either.
static constexpr double kMuchTraffic = 1.25;
/// What counts of two plans is the same if it differs by such a part.
static constexpr double kSame = 1e-6;
/// Sums carried on are tried in other layouts if they take at most so many times the best plan
/// without them in the usual ones.
static constexpr double kNearUsual = 0.999;

/// True if sums go on from part to part in plans of \p kind.
static bool carries(PlanKind kind) {
  return kind == PlanKind::Carried || kind == PlanKind::BandedCarried ||
         kind == PlanKind::CarriedProducts;
}

/// What \p get says of all planned functions of \p module.
static PlanCost sum(ModuleOp module, PlanCost (*get)(func::FuncOp)) {
  PlanCost all;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal())
      all += get(func);
  return all;
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

namespace {
/// What plans could carry on.
struct Carriable {
  bool softmaxes = false;     ///< exponentials of rows less their largest number
  bool longSoftmaxes = false; ///< some tiles of which are large beside a scratchpad
  bool products = false;      ///< of what products may make
  bool longRows = false;      ///< reductions of long rows, or products of what may be out of reach
};
} // namespace

static Carriable findCarriable(ModuleOp module) {
  FailureOr<::spyre::Device> device = mlir::spyre::getDevice(module);
  if (failed(device))
    return {};
  bool hasLargest = false, hasExponentials = false, hasLongRows = false;
  int64_t longestSoftmax = 0;
  unsigned numProducts = 0;
  module.walk([&](mlir::spyre::DeviceOpInterface op) {
    if (op.getInfo().combiner == Combiner::Maximum) {
      hasLargest = true;
      int64_t length = 1;
      const llvm::SmallBitVector written = mlir::spyre::getUsedDims(op.getOutputMap());
      for (auto [dim, extent] : llvm::enumerate(op.getExtents()))
        length *= written[dim] ? 1 : extent;
      longestSoftmax = std::max(longestSoftmax, length);
    }
    hasExponentials |= op.getInfo().shiftLaw == ShiftLaw::ScaleByExp;
    if (op.getInfo().category == OpCategory::Batchmatmul) {
      ++numProducts;
      for (Value input : op.getInputs()) {
        auto type = cast<RankedTensorType>(input.getType());
        hasLongRows |= type.getNumElements() * type.getElementTypeBitWidth() / 8 >
                       device->getSpanLimitInBytes();
      }
    }
    hasLongRows |= mlir::spyre::isLongReduction(op, *device);
  });
  // Some rows of f32: shorter ones, with what they are made of, stay as a whole.
  constexpr int64_t kRowsInTile = 64, kBytesOfScore = 4, kPartOfScratchpad = 8;
  const bool isLong = longestSoftmax * kRowsInTile * kBytesOfScore >
                      device->getUsableLXInBytes() / kPartOfScratchpad;
  const bool hasSoftmaxes = hasLargest && hasExponentials;
  return {hasSoftmaxes, hasSoftmaxes && isLong, numProducts > 1, hasLongRows};
}

static bool mayCarry(const Carriable &carriable) {
  return carriable.softmaxes || carriable.products || carriable.longRows;
}

/// True if \p module (L1) has sums of squared deviations of long rows.
static bool hasDeviations(ModuleOp module) {
  FailureOr<::spyre::Device> device = mlir::spyre::getDevice(module);
  return succeeded(device) && module
                                  .walk([&](mlir::spyre::DeviceOpInterface op) {
                                    return mlir::spyre::isSumOfDeviations(op, *device)
                                               ? WalkResult::interrupt()
                                               : WalkResult::advance();
                                  })
                                  .wasInterrupted();
}

std::optional<ProgramForm> makeCarriedForm(ModuleOp program) {
  const Carriable carriable = findCarriable(program);
  if (!mayCarry(carriable))
    return std::nullopt;
  ProgramForm form{program.clone(), PlanKind::Carried, /*isL1=*/true};
  form.isUnlikely =
      carriable.softmaxes && !carriable.longSoftmaxes && carriable.products && !carriable.longRows;
  return form;
}

std::optional<ProgramForm> makeCarriedProductsForm(ModuleOp program) {
  const Carriable carriable = findCarriable(program);
  if (!carriable.softmaxes || !carriable.products)
    return std::nullopt;
  return ProgramForm{program.clone(), PlanKind::CarriedProducts};
}

/// Rows and columns that a constant has to have to be worth looking at as a mask.
static constexpr int64_t kLeastOfMask = 64;

std::optional<ProgramForm> makeBandedForm(ModuleOp program, PlanKind kind, bool must) {
  const bool mayHide = mayCarry(findCarriable(program)) &&
                       program
                           .walk([](mlir::spyre::ConstantOp constant) {
                             auto type = cast<RankedTensorType>(constant.getType());
                             const bool isMask = llvm::count_if(type.getShape(), [](int64_t size) {
                                                   return size >= kLeastOfMask;
                                                 }) >= 2;
                             return isMask && !isa<SplatElementsAttr>(constant.getValue())
                                        ? WalkResult::interrupt()
                                        : WalkResult::advance();
                           })
                           .wasInterrupted();
  if (!mayHide)
    return std::nullopt;
  ScopedDiagnosticHandler silence(program.getContext(), [](Diagnostic &) { return success(); });
  ProgramForm form{program.clone(), kind, /*isL1=*/true};
  auto run = [&](std::unique_ptr<Pass> pass) {
    PassManager pm(program.getContext());
    pm.addNestedPass<func::FuncOp>(std::move(pass));
    return succeeded(pm.run(*form.program));
  };
  auto countOps = [&] {
    unsigned count = 0;
    form.program->walk([&](mlir::spyre::DeviceOpInterface) { ++count; });
    return count;
  };
  if (!run(mlir::spyre::createSpyreWidenRows()) || !run(mlir::spyre::createSpyreDeferScaling()))
    return std::nullopt;
  const unsigned numOps = countOps();
  // As many as are worth it; then two.
  for (int64_t numBands = 0; numBands <= (must ? 2 : 0); numBands += 2) {
    mlir::spyre::SpyreSkipHiddenOptions skip;
    skip.bands = numBands;
    skip.inParts = carries(kind);
    if (!run(mlir::spyre::createSpyreSkipHidden(skip)))
      return std::nullopt;
    if (countOps() != numOps)
      return form;
  }
  return std::nullopt;
}

std::vector<ProgramForm> makeSearchedForms(ModuleOp program, ModuleOp assigned) {
  std::vector<ProgramForm> forms;
  bool moves = assigned
                   ->walk([](mlir::spyre::DeviceOpInterface op) {
                     return op.getInfo().category == OpCategory::DataMovement
                                ? WalkResult::interrupt()
                                : WalkResult::advance();
                   })
                   .wasInterrupted();
  if (!moves)
    return forms;
  OwningOpRef<ModuleOp> searched(program.clone());
  LowerOptions options;
  options.searchLayouts = true;
  PassManager pm(program.getContext());
  buildL2Stage(pm, options);
  ScopedDiagnosticHandler silence(program.getContext(), [](Diagnostic &) { return success(); });
  if (failed(pm.run(*searched)) || OperationEquivalence::isEquivalentTo(
                                       *searched, assigned, OperationEquivalence::IgnoreLocations))
    return forms;
  if (std::optional<ProgramForm> carried = makeCarriedProductsForm(*searched)) {
    carried->searchesLayouts = true;
    forms.push_back(std::move(*carried));
  }
  forms.push_back({searched->clone(), PlanKind::Untiled, /*isL1=*/false, /*searchesLayouts=*/true});
  forms.push_back({std::move(searched), PlanKind::Tiled, /*isL1=*/false, /*searchesLayouts=*/true});
  if (std::optional<ProgramForm> carried = makeCarriedForm(program)) {
    carried->searchesLayouts = true;
    forms.push_back(std::move(*carried));
  }
  return forms;
}

/// What plans of \p module that take \p cost are compared by, as nests are.
static double getCountedInNs(ModuleOp module, PlanCost cost) {
  FailureOr<::spyre::Device> device = mlir::spyre::getDevice(module);
  return failed(device) ? cost.ns
                        : cost.ns + planning::kShareOfTraffic * cost.bytes /
                                        device->getRates().memoryInBytesPerNs;
}

void PlanChoice::setUntiled(OwningOpRef<ModuleOp> &untiled, bool hasPassed) {
  plan = &untiled;
  isPlanned = hasPassed;
  isWanted = hasPassed && wanted == PlanKind::Untiled && !mustSearch;
  if (hasPassed) {
    best = sum(*untiled, getPlanCost);
    times.ns.emplace_back(PlanKind::Untiled, best.ns);
    untiledInNs = usualInNs = best.ns;
  }
}

/// Of plans of one kind, the shortest.
void PlanChoice::addTime(PlanKind kind, double ns) {
  for (auto &[known, least] : times.ns)
    if (known == kind) {
      least = std::min(least, ns);
      return;
    }
  times.ns.emplace_back(kind, ns);
}

static ProgramForm clone(ProgramForm &form) {
  return {form.program->clone(), form.kind,       form.isL1,
          form.searchesLayouts,  form.isUnlikely, form.keepsDeviationsApart};
}

void PlanChoice::consider(ProgramForm form) {
  std::vector<ProgramForm> ways;
  // Loops of their own take more traffic, but less of the scratchpads.
  if (!mustBe && carries(form.kind) && hasDeviations(*form.program)) {
    ways.push_back(clone(form));
    ways.back().keepsDeviationsApart = true;
  }
  ways.insert(ways.begin(), std::move(form));
  for (ProgramForm &way : ways) {
    // More time is not to give a worse plan, nor are divisions that are searched by themselves:
    // tiles are made for what they are.
    if (way.kind != PlanKind::Untiled && !mustBe) {
      if (options.planSeconds > 0)
        consider(clone(way), 0, options.optLevel);
      if (options.optLevel > 2)
        consider(clone(way), options.planSeconds, 2);
    }
    consider(std::move(way), options.planSeconds, options.optLevel);
  }
}

bool PlanChoice::isWorthPlanning(const ProgramForm &form) const {
  // What a number draws, or a schedule says, is a plan of the wanted kind, in the wanted layouts.
  if (mustBe)
    return !isWanted && form.kind == wanted && form.searchesLayouts == mustSearch;
  if (isWanted && form.kind != wanted)
    return false;
  if (form.isUnlikely && wanted == PlanKind::Best && isPlanned)
    return false;
  // Compile time: the usual layouts are not planned with tiles where they lose by far, others not
  // where they gain nothing without tiles.
  if (form.searchesLayouts ? form.kind != PlanKind::Untiled && !searchPays : usualIsFar)
    return false;
  if (!carries(form.kind) || wanted != PlanKind::Best)
    return true;
  // Sums that are carried on take operations of their own. In other layouts they gain seldom where
  // they lose in the usual ones; nowhere much where next to nothing is lost.
  const double usualOfKind =
      form.kind == PlanKind::CarriedProducts ? usualCarriedProductsInNs : usualCarriedInNs;
  if (form.searchesLayouts && !usualIsFar && usualOfKind > kNearUsual * usualInNs)
    return false;
  if (!isPlanned)
    return true;
  const PlanCost least = sum(**plan, getLeastCost);
  return best.ns > kNearBound * least.ns || best.bytes > kMuchTraffic * least.bytes;
}

void PlanChoice::consider(ProgramForm form, double planSeconds, unsigned optLevel) {
  ModuleOp module = *form.program;
  if (isDividedByHand(module) || !isWorthPlanning(form))
    return;
  LowerOptions tiling;
  tiling.copyOptionValuesFrom(options);
  tiling.planSeconds = planSeconds;
  tiling.optLevel = optLevel;
  tiling.tileTime = form.kind != PlanKind::Untiled;
  tiling.searchLayouts = form.searchesLayouts;
  tiling.carryReductions = carries(form.kind);
  tiling.carryProducts = form.kind == PlanKind::CarriedProducts;
  tiling.preferCarried = carries(wanted);
  tiling.deviationsApart = form.keepsDeviationsApart;
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
  const PlanCost cost = sum(module, getPlanCost);
  const double ns = cost.ns;
  if (form.searchesLayouts && form.kind == PlanKind::Untiled) {
    searchPays = !untiledInNs || ns < *untiledInNs;
    usualIsFar = untiledInNs && ns * kFar < *untiledInNs;
  }
  // Not every plan has a descriptor for each operation: with tiles a few need more dims.
  // Of two that take the same, the one that moves less.
  const double counted = getCountedInNs(module, cost),
               bestCounted = isPlanned ? getCountedInNs(module, best) : 0;
  const bool isSame = isPlanned && std::abs(counted - bestCounted) <= kSame * bestCounted;
  const bool isBetter = !isPlanned || (wanted == form.kind && !isWanted) ||
                        (isSame ? form.searchesLayouts && !hasSearched : counted < bestCounted);
  if (isBetter && !canEmit(module)) {
    if (mustBe && options.tileSeed == 0) {
      hasFailed = true;
      emitError(module.getLoc()) << "the plan that the schedule asks for has operations of more "
                                    "dims than a descriptor can say";
    }
    return;
  }
  addTime(form.kind, ns);
  if (!form.searchesLayouts) {
    if (!carries(form.kind))
      usualInNs = std::min(usualInNs, ns);
    if (form.kind == PlanKind::Carried)
      usualCarriedInNs = std::min(usualCarriedInNs, ns);
    if (form.kind == PlanKind::CarriedProducts)
      usualCarriedProductsInNs = std::min(usualCarriedProductsInNs, ns);
  }
  if (!isBetter)
    return;
  hasSearched = form.searchesLayouts;
  isWanted = wanted == form.kind;
  isPlanned = true;
  best = cost;
  times.kind = form.kind;
  *plan = std::move(form.program);
}

} // namespace spyre::compiler
