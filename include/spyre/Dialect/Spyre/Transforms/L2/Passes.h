//===- Passes.h - From plain tensors to tensors with layouts -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations and registration; see Passes.td for what each pass does.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_TRANSFORMS_L2_PASSES_H
#define SPYRE_DIALECT_SPYRE_TRANSFORMS_L2_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::spyre {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "spyre/Dialect/Spyre/Transforms/L2/Passes.h.inc"
} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L2_PASSES_H
