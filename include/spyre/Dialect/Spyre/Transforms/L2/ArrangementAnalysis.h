//===- ArrangementAnalysis.h - Order of elements within sticks -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Casts between 16 and 32 bits leave the elements of a stick in another order, and
// operations take only some orders together (docs/developer/numerics.md). What an
// operation takes and makes is the arrangement rule of the OpFunc table; this file
// follows it through a function.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_TRANSFORMS_L2_ARRANGEMENTANALYSIS_H
#define SPYRE_DIALECT_SPYRE_TRANSFORMS_L2_ARRANGEMENTANALYSIS_H

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace mlir::spyre {

class ArrangementAnalysis {
public:
  /// Of the tensors (L2) of \p func: a sparse dataflow analysis. Arguments and constants
  /// have the arrangement that their layout says.
  explicit ArrangementAnalysis(func::FuncOp func);

  /// False if the elements of \p value are in another order; of what has one value a stick,
  /// or comes after operands that do not fit together, nothing is claimed.
  bool mayBe(Value value, ::spyre::Arrangement arrangement) const;

  /// Why the operands of \p op cannot be combined, or an empty string. What follows from an
  /// operation before it is not said again.
  std::string check(DeviceOpInterface op) const;

  /// The order of \p value in words: "dl16_to_fp32", "uniform", ...
  std::string describe(Value value) const;

private:
  DataFlowSolver solver;
};

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L2_ARRANGEMENTANALYSIS_H
