//===- CheckLegality.cpp - The pass ktir-check-legality -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules are numbered in Passes.td. Here are those that look at one operation or
// attribute at a time; Legality.h lists the others.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/KTIR/Transforms/Passes.h"

#include "Legality.h"

#include "spyre/Device/Device.h"

namespace mlir::ktdp {
#define GEN_PASS_DEF_KTIRCHECKLEGALITY
#include "spyre/Dialect/KTIR/Transforms/Passes.h.inc"
} // namespace mlir::ktdp

using namespace mlir;
using namespace mlir::ktdp;

std::optional<InFlightDiagnostic> LegalityReport::at(Operation *op, StringRef rule) {
  if (!reported.insert({op, rule}).second)
    return std::nullopt;
  // Not the emitError of an operation with regions, which prints it whole.
  InFlightDiagnostic diag = op->getNumRegions() ? emitError(op->getLoc()) : op->emitError();
  diag << rule << ": ";
  return diag;
}

SmallVector<int64_t> Kernel::getCoordinates(int64_t tile) const {
  SmallVector<int64_t> coordinates;
  for (int64_t size : grid) {
    coordinates.push_back(tile % size);
    tile /= size;
  }
  return coordinates;
}

/// The tiles that the sets of inter-tile operations name, kMaxTiles + 1 at most.
static int64_t countNamedTiles(FunctionOpInterface function) {
  int64_t numTiles = 1, looked = 0;
  auto count = [&](TileFutureType type, IntegerSet set) {
    std::optional<SmallVector<int64_t>> groups = getGroups(type.getGroups().getValue());
    for (int64_t group : groups.value_or(SmallVector<int64_t>()))
      if (++looked > 4 * kMaxTiles)
        return;
      else if (std::optional<int64_t> upper = getBounds(bindSymbols(set, group)).front().upper)
        numTiles = std::max(numTiles, std::min(*upper, kMaxTiles) + 1);
  };
  function->walk([&](Operation *op) {
    if (auto produce = dyn_cast<InterTileProduceOp>(op))
      count(produce.getFuture().getType(), produce.getProducerTilesPerGroup());
    else if (auto delivery = dyn_cast<DeliveryOpInterface>(op))
      count(delivery.getFuture().getType(), delivery.getConsumerTilesPerGroup());
  });
  return numTiles;
}

bool mlir::ktdp::isKernel(FunctionOpInterface function) {
  return function
      ->walk([](Operation *op) {
        return isa<KtdpDialect>(op->getDialect()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

std::optional<Kernel> mlir::ktdp::makeKernel(FunctionOpInterface function,
                                             const ::spyre::Device &device) {
  std::optional<SmallVector<int64_t>> grid = getGrid(function);
  if (!grid || !isKernel(function))
    return std::nullopt;
  if (!function->hasAttr(kGridAttr))
    grid = SmallVector<int64_t>{countNamedTiles(function), 1, 1};
  int64_t numTiles = getNumTiles(*grid);
  if (numTiles > kMaxTiles)
    return std::nullopt;
  auto module = function->getParentOfType<ModuleOp>();
  auto unit = module ? module->getAttrOfType<StringAttr>(kAddressUnitAttr) : StringAttr();
  Kernel kernel{function,
                *grid,
                numTiles,
                device,
                unit && unit.getValue() == "bytes",
                DenseMap<Operation *, SmallVector<int64_t>>()};
  int64_t questions = 0;
  function->walk([&](InterTileProduceOp op) {
    std::optional<SmallVector<int64_t>> groups =
        getGroups(op.getFuture().getType().getGroups().getValue());
    questions += groups ? groups->size() * numTiles : 0;
    bool isKnown = groups && questions <= kMaxQuestions;
    SmallVector<int64_t> &groupOf = kernel.groups[op];
    groupOf.assign(numTiles, isKnown ? Kernel::kNoGroup : Kernel::kUnknownGroup);
    // Of several groups the first counts; R1 reports it.
    if (isKnown)
      for (int64_t group : llvm::reverse(*groups))
        for (int64_t tile : getTiles(op.getProducerTilesPerGroup(), group, numTiles))
          groupOf[tile] = group;
  });
  return kernel;
}

namespace {
class LegalityCheck {
public:
  LegalityCheck(ModuleOp module, const ::spyre::Device &device) : module(module), device(device) {}

  bool run() {
    Attribute f16 = module->getAttr(kF16Attr);
    auto name = dyn_cast_or_null<StringAttr>(f16);
    if (f16 && (!name || (name.getValue() != "dl16" && name.getValue() != "ieee")))
      *report.at(module, "KTIR-4") << "'" << kF16Attr << "' must be \"dl16\" or \"ieee\"";
    module.walk([&](FunctionOpInterface function) {
      if (isKernel(function))
        checkKernel(function);
    });
    return report.isClean();
  }

private:
  void checkKernel(FunctionOpInterface function) {
    std::optional<Kernel> kernel = makeKernel(function, device);
    if (!getGrid(function))
      *report.at(function, "KTIR-2")
          << "'" << kGridAttr << "' must be an array of one to three positive numbers";
    else if (!kernel)
      *report.at(function, "KTIR-2") << "the grid has more than " << kMaxTiles << " compute tiles";
    checkOperations(function, kernel ? std::optional(kernel->numTiles) : std::nullopt);
    if (!kernel)
      return;
    RunCounts counts;
    checkAccesses(*kernel, report, counts);
    checkInterTile(*kernel, counts, report);
    checkMemory(*kernel, report);
    checkStores(*kernel, report);
  }

  /// KTIR-1, KTIR-3, KTIR-6.
  void checkOperations(FunctionOpInterface function, std::optional<int64_t> numTiles) {
    static constexpr StringLiteral kDialects[] = {"arith",  "func", "ktdp",    "linalg", "math",
                                                  "memref", "scf",  "spyreop", "tensor"};
    function->walk([&](Operation *op) {
      if (op == function)
        return;
      if (!llvm::is_contained(kDialects, op->getName().getDialectNamespace()))
        if (auto diag = report.at(op, "KTIR-1"))
          *diag << "'" << op->getName() << "' has no place in a kernel";
      if (auto view = dyn_cast<ConstructMemoryViewOp>(op))
        if (numTiles && view.getMemorySpace().getCtId() >= *numTiles)
          if (auto diag = report.at(op, "KTIR-6"))
            *diag << "there is no compute tile " << view.getMemorySpace().getCtId()
                  << "; the grid has " << *numTiles;
      if (auto load = dyn_cast<LoadOp>(op))
        checkType(op, load.getTile(), load.getResult().getType());
      if (auto store = dyn_cast<StoreOp>(op))
        checkType(op, store.getTile(), store.getValue().getType());
    });
  }

  void checkType(Operation *op, Value tile, Type type) {
    Operation *maker = tile.getDefiningOp();
    if (!isa_and_nonnull<ConstructAccessTileOp, ConstructIndirectAccessTileOp>(maker))
      return;
    // The base is the first operand of both.
    Type base = cast<ShapedType>(maker->getOperand(0).getType()).getElementType();
    Type element = cast<ShapedType>(type).getElementType();
    if (base != element)
      if (auto diag = report.at(op, "KTIR-3"))
        *diag << "moves " << element << ", the tile's base holds " << base;
  }

  ModuleOp module;
  const ::spyre::Device &device;
  LegalityReport report;
};

struct CheckLegalityPass : mlir::ktdp::impl::KtirCheckLegalityBase<CheckLegalityPass> {
  using KtirCheckLegalityBase::KtirCheckLegalityBase;

  void runOnOperation() override {
    std::optional<::spyre::Device> found = ::spyre::Device::lookup(device);
    if (!found) {
      emitError(getOperation().getLoc()) << "unknown device variant '" << device << "'";
      return signalPassFailure();
    }
    if (!LegalityCheck(getOperation(), *found).run())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
