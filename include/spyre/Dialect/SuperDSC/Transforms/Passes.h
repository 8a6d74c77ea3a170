//===- Passes.h - Passes on sdsc and sdscbundle -----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// createSdscVerifyPass, registerSdscPasses. Link SpyreSdscTransforms.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SUPERDSC_TRANSFORMS_PASSES_H
#define SPYRE_DIALECT_SUPERDSC_TRANSFORMS_PASSES_H

#include "spyre/SuperDSC/Verify.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sdsc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "spyre/Dialect/SuperDSC/Transforms/Passes.h.inc"

/// What the pass sdsc-verify does, for tools that hold a module: emits all
/// violations, fails if there is one.
/// \p limits: what the device allows; none are checked without. \p warnings: whether
/// violations that are no errors are emitted.
LogicalResult verifyModule(ModuleOp module, const ::spyre::sdsc::Limits &limits = {},
                           bool warnings = true);

} // namespace mlir::sdsc

#endif // SPYRE_DIALECT_SUPERDSC_TRANSFORMS_PASSES_H
