//===- SdscVerify.cpp - The pass sdsc-verify ------------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules 18 and 19, about a module, are here; all others are the MLIR-free library's.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/SuperDSC/Transforms/Passes.h"

#include "spyre/SuperDSC/DeviceLimits.h"
#include "spyre/Target/SuperDSC/DescriptorConversion.h"

#include "mlir/IR/SymbolTable.h"

#include <set>

namespace mlir::sdsc {

#define GEN_PASS_DEF_SDSCVERIFYPASS
#include "spyre/Dialect/SuperDSC/Transforms/Passes.h.inc"

static LogicalResult verifyDescriptorOp(DescriptorOp op, const ::spyre::sdsc::Limits &limits,
                                        bool warnings) {
  FailureOr<::spyre::sdsc::Descriptor> descriptor = toDescriptor(op);
  if (failed(descriptor))
    return failure();
  SmallVector<Operation *> allocations;
  for (AllocateOp allocate : op.getBody().getOps<AllocateOp>())
    allocations.push_back(allocate);
  LogicalResult result = success();
  for (const ::spyre::sdsc::Violation &violation : verifyDescriptor(*descriptor, limits)) {
    if (violation.isWarning && !warnings)
      continue;
    Operation *place = violation.tensor < 0 ? op.getOperation() : allocations[violation.tensor];
    InFlightDiagnostic diagnostic = violation.isWarning ? place->emitWarning() : place->emitError();
    diagnostic << violation.message << " [SDSC-" << violation.rule << "]";
    if (!violation.isWarning)
      result = failure();
  }
  return result;
}

/// Rule 62: what the bundle passes for the symbol of a dim is a size of that dim.
static LogicalResult verifySizes(sdscbundle::SdscExecuteOp op, DescriptorOp descriptor) {
  FailureOr<::spyre::sdsc::Descriptor> content = toDescriptor(descriptor);
  if (failed(content))
    return failure();
  LogicalResult result = success();
  for (auto [id, value] : llvm::zip_equal(op.getSymbolIdValues(), op.getAddresses())) {
    auto extract = value.getDefiningOp<sdscbundle::InputArgExtractOp>();
    Type type = extract ? extract.getInput().getType() : Type();
    bool isSize = type && sdscbundle::isSizeType(type);
    const ::spyre::sdsc::DimSymbols *mapped = nullptr;
    for (const ::spyre::sdsc::DimSymbols &entry : content->dimSymbols)
      if (llvm::is_contained(entry.symbols, id))
        mapped = &entry;
    auto report = [&]() -> InFlightDiagnostic {
      result = failure();
      return op.emitError();
    };
    if (isSize != (mapped != nullptr)) {
      report() << "passes " << (isSize ? "a size" : "an address") << " for symbol " << id
               << ", which is " << (mapped ? "the size of a dim" : "an address") << " [SDSC-62]";
      continue;
    }
    std::optional<unsigned> dim = mapped ? content->findDim(mapped->dim) : std::nullopt;
    if (!dim)
      continue; // an address, or a dim that rule 43 misses
    auto size = cast<sdscbundle::InputArgType>(type);
    int64_t slices = content->dims[*dim].numSlices;
    if (slices < 1 || size.getGranularity() % slices != 0) {
      report() << "dim " << mapped->dim << " has " << slices
               << " slices, which do not divide the granularity " << size.getGranularity()
               << " of its size [SDSC-62]";
      continue;
    }
    for (const ::spyre::sdsc::SymbolicExtent &extent : content->steadyStage.symbolicDims)
      if (extent.dim == mapped->dim && (extent.granularity * slices != size.getGranularity() ||
                                        extent.maxSize * slices != size.getMaxValue()))
        report() << "dim " << mapped->dim << ": " << slices << " slices of at most "
                 << extent.maxSize << " in steps of " << extent.granularity
                 << " are no size of at most " << size.getMaxValue() << " in steps of "
                 << size.getGranularity() << " [SDSC-62]";
  }
  return result;
}

/// Rules 18, 19 and 62.
static LogicalResult verifyExecution(sdscbundle::SdscExecuteOp op, SymbolTable &symbols) {
  auto descriptor = symbols.lookup<DescriptorOp>(op.getDescriptorSymbol());
  if (!descriptor)
    return op.emitError() << "the module has no descriptor @" << op.getDescriptorSymbol()
                          << " [SDSC-18]";
  std::set<int64_t> missing;
  if (std::optional<ArrayAttr> mapping = descriptor.getDimSymbols())
    for (SymbolsAttr entry : mapping->getAsRange<SymbolsAttr>())
      missing.insert(entry.getSymbols().begin(), entry.getSymbols().end());
  if (failed(verifySizes(op, descriptor)))
    return failure();
  for (AllocateOp allocate : descriptor.getBody().getOps<AllocateOp>())
    for (int64_t address : allocate.getStartAddress())
      if (allocate.getSymbolic())
        missing.insert(address);
  for (int64_t id : op.getSymbolIdValues())
    missing.erase(id);
  if (missing.empty())
    return success();
  InFlightDiagnostic diagnostic = op.emitError();
  diagnostic << "does not bind symbol " << *missing.rbegin() << " that @"
             << op.getDescriptorSymbol() << " uses [SDSC-19]";
  diagnostic.attachNote(descriptor.getLoc()) << "the descriptor is here";
  return diagnostic;
}

LogicalResult verifyModule(ModuleOp module, const ::spyre::sdsc::Limits &limits, bool warnings) {
  LogicalResult result = success();
  bool hasDescriptors = false;
  for (DescriptorOp op : module.getOps<DescriptorOp>()) {
    hasDescriptors = true;
    if (failed(verifyDescriptorOp(op, limits, warnings)))
      result = failure();
  }
  if (!hasDescriptors)
    return result;
  SymbolTable symbols(module);
  module.walk([&](sdscbundle::SdscExecuteOp op) {
    if (failed(verifyExecution(op, symbols)))
      result = failure();
  });
  return result;
}

namespace {
struct SdscVerifyPass : impl::SdscVerifyPassBase<SdscVerifyPass> {
  using SdscVerifyPassBase::SdscVerifyPassBase;
  void runOnOperation() override {
    std::optional<::spyre::Device> found = ::spyre::Device::lookup(device);
    if (!found) {
      // Not emitError() of the module, which would print all of it.
      InFlightDiagnostic diag = emitError(getOperation().getLoc())
                                << "sdsc-verify: device=" << device << ": known variants are";
      for (std::string_view name : ::spyre::Device::getVariantNames())
        diag << " " << StringRef(name);
      return signalPassFailure();
    }
    if (failed(verifyModule(getOperation(), ::spyre::sdsc::getLimits(*found), warnings)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace mlir::sdsc
