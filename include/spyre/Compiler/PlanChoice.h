//===- PlanChoice.h - The better of two plans --------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan with tiles over time is made beside the one without, and taken where it takes less
// time in the cost model: today's plan is always a candidate.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COMPILER_PLANCHOICE_H
#define SPYRE_COMPILER_PLANCHOICE_H

#include "spyre/Compiler/Pipelines.h"

#include "mlir/IR/BuiltinOps.h"

namespace spyre::compiler {

/// Plans \p unplanned (L2) with tiles over time and puts it in the place of \p planned if it
/// takes less time in the model. Says nothing where that cannot be planned, and leaves a
/// program alone whose operations are divided by hand.
void chooseTiledPlan(mlir::OwningOpRef<mlir::ModuleOp> &planned,
                     mlir::OwningOpRef<mlir::ModuleOp> unplanned, const LowerOptions &options);

} // namespace spyre::compiler

#endif // SPYRE_COMPILER_PLANCHOICE_H
