//===- PlanChoice.h - The better of two plans --------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans with tiles over time are made beside the one without, and taken where they take less
// time in the cost model: today's plan is always a candidate. One of them is of a program whose
// rows are scaled after contractions (spyre-defer-scaling), which needs less of the scratchpads
// and one operation more.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COMPILER_PLANCHOICE_H
#define SPYRE_COMPILER_PLANCHOICE_H

#include "spyre/Compiler/Pipelines.h"

#include "mlir/IR/BuiltinOps.h"

namespace spyre::compiler {

/// \p program (L1) with rows scaled after contractions; null if that changes nothing.
mlir::OwningOpRef<mlir::ModuleOp> deferScaling(mlir::ModuleOp program);

/// Plans \p unplanned with tiles over time and puts it in the place of \p planned if it takes
/// less time in the model, or whatever it takes where there is no plan yet (\p isPlanned: there
/// is). Fails, and says nothing, where there is none then either. \p isL1: it has no layouts
/// yet; else it is L2. A program whose operations are divided by hand is left alone.
llvm::LogicalResult chooseTiledPlan(mlir::OwningOpRef<mlir::ModuleOp> &planned,
                                    mlir::OwningOpRef<mlir::ModuleOp> unplanned, bool isL1,
                                    bool isPlanned, const LowerOptions &options);

} // namespace spyre::compiler

#endif // SPYRE_COMPILER_PLANCHOICE_H
