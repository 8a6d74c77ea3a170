//===- ExplainKernel.h - Kernels in words -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `spyre-translate --explain` prints of KTIR.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_KTIR_TRANSFORMS_EXPLAINKERNEL_H
#define SPYRE_DIALECT_KTIR_TRANSFORMS_EXPLAINKERNEL_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::ktdp {

/// True if the module has a kernel, which is a function with an operation of ktdp.
bool hasKernel(ModuleOp module);

/// Of every kernel in \p module: its tiles and arguments, then step by step what it reads,
/// computes, passes between tiles and writes, on which tiles and how often, and how many
/// bytes that makes.
void explainKernels(ModuleOp module, llvm::raw_ostream &os);

} // namespace mlir::ktdp

#endif // SPYRE_DIALECT_KTIR_TRANSFORMS_EXPLAINKERNEL_H
