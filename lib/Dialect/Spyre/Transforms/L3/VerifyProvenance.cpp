//===- VerifyProvenance.cpp - Every operation knows where it comes from ---===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See Passes.td.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/Provenance.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREVERIFYPROVENANCE
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;

/// Device operations, and the descriptors that they become.
static bool computes(Operation *op) {
  if (isa<DeviceOpInterface>(op))
    return true;
  return op->getName().getDialectNamespace() == "sdsc" &&
         isa_and_present<ModuleOp>(op->getParentOp());
}

namespace {
struct VerifyProvenancePass : mlir::spyre::impl::SpyreVerifyProvenanceBase<VerifyProvenancePass> {
  using SpyreVerifyProvenanceBase::SpyreVerifyProvenanceBase;
  void runOnOperation() override {
    bool ok = true;
    getOperation().walk([&](Operation *op) {
      if (!computes(op))
        return;
      Origin origin = getOrigin(op->getLoc());
      if (!origin.position) {
        op->emitError() << "provenance: no position in the program's text";
        ok = false;
      } else if (operations && !origin.operation) {
        op->emitError() << "provenance: does not say which operation of the program it comes from";
        ok = false;
      }
    });
    if (!ok)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
