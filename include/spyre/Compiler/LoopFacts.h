//===- LoopFacts.h - What the loops of a plan do ----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts read off the loops of a placed L3: trips, tiles, and the least that what
// they move and multiply takes.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COMPILER_LOOPFACTS_H
#define SPYRE_COMPILER_LOOPFACTS_H

#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"
#include "spyre/Report/ProgramReport.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace spyre::compiler {

/// Adds the loops of \p func to \p facts, whose operations are those of the function in order,
/// and says in these which loop they stand in. \p getName: of a tensor.
void collectLoops(mlir::func::FuncOp func, mlir::spyre::PlanningModel &model,
                  llvm::function_ref<std::string(mlir::Value)> getName, report::Function &facts);

} // namespace spyre::compiler

#endif // SPYRE_COMPILER_LOOPFACTS_H
