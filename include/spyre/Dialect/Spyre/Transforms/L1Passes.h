//===- L1Passes.h - Passes on plain tensors -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations and registration; see L1Passes.td for what each pass does.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_TRANSFORMS_L1PASSES_H
#define SPYRE_DIALECT_SPYRE_TRANSFORMS_L1PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::spyre {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "spyre/Dialect/Spyre/Transforms/L1Passes.h.inc"

/// The torch dialect to L1 as layout assignment wants it: one function of device
/// operations, constants and arguments.
void buildL1Pipeline(OpPassManager &pm);
/// Registers it as `spyre-torch-to-l1`.
void registerL1Pipeline();

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L1PASSES_H
