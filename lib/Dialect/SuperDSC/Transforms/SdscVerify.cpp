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

/// Rules 18 and 19.
static LogicalResult verifyExecution(sdscbundle::SdscExecuteOp op, SymbolTable &symbols) {
  auto descriptor = symbols.lookup<DescriptorOp>(op.getDescriptorSymbol());
  if (!descriptor)
    return op.emitError() << "the module has no descriptor @" << op.getDescriptorSymbol()
                          << " [SDSC-18]";
  std::set<int64_t> missing;
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
      getOperation().emitError() << "unknown device variant '" << device << "'";
      return signalPassFailure();
    }
    if (failed(verifyModule(getOperation(), ::spyre::sdsc::getLimits(*found), warnings)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace mlir::sdsc
