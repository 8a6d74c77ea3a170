//===- PlanFacts.h - What a plan moves and takes -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts read off a placed L3: operations, device-memory traffic, modelled time, LX
// and pool.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COMPILER_PLANFACTS_H
#define SPYRE_COMPILER_PLANFACTS_H

#include "spyre/Compiler/Compile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace spyre::compiler {

/// Adds the facts of the planned function \p func, launched \p numLaunches times, to
/// \p stats, one by one and summed. Traffic counts each operand in device memory once
/// an operation, in whole sticks, however many cores read it.
void collectPlanFacts(mlir::func::FuncOp func, int64_t numLaunches, CompileStats &stats);

/// Modelled time, and bytes read and written of device memory.
struct PlanCost {
  double ns = 0, bytes = 0;

  PlanCost &operator+=(const PlanCost &other) {
    ns += other.ns;
    bytes += other.bytes;
    return *this;
  }
};

/// What one launch of the planned function \p func takes and moves by the cost model, without the
/// rest.
PlanCost getPlanCost(mlir::func::FuncOp func);

/// What no plan of one launch of \p func falls below: the products take so long, or each argument
/// is read and each result written once.
PlanCost getLeastCost(mlir::func::FuncOp func);

} // namespace spyre::compiler

#endif // SPYRE_COMPILER_PLANFACTS_H
