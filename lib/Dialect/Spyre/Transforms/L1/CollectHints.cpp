//===- CollectHints.cpp - Hints and scopes before operations change --------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the pass's description.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/PlanHints.h"
#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYRECOLLECTHINTS
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

namespace {
struct CollectHintsPass : mlir::spyre::impl::SpyreCollectHintsBase<CollectHintsPass> {
  void runOnOperation() override { mlir::spyre::collectPlanHints(getOperation()); }
};
} // namespace
