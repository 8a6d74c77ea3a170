//===- Passes.h - Passes on KTIR -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// createKtirCheckLegality, registerKtirPasses; see Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_KTIR_TRANSFORMS_PASSES_H
#define SPYRE_DIALECT_KTIR_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::ktdp {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "spyre/Dialect/KTIR/Transforms/Passes.h.inc"
} // namespace mlir::ktdp

#endif // SPYRE_DIALECT_KTIR_TRANSFORMS_PASSES_H
