//===- OverflowSources.h - Where the largest f16 number comes from -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device's 16-bit format has no 65504: it holds 65536 instead. Going out, that is
// 65504 if the program put it in (as an argument, as the finfo.min of a mask), and an
// overflow if it has been computed. The numbers are the same; where they come from tells.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_TRANSFORMS_L2_OVERFLOWSOURCES_H
#define SPYRE_DIALECT_SPYRE_TRANSFORMS_L2_OVERFLOWSOURCES_H

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"

#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spyre {

class OverflowSources {
public:
  /// Where a number of that size in a tensor may come from.
  enum class Source { Computed, Argument, Constant };

  /// Of the tensors (L2) of \p func: a sparse dataflow analysis.
  explicit OverflowSources(func::FuncOp func);

  /// False if 65536 in the tensor \p value is the overflow of what computed it:
  /// nothing that it selects, moves or adds up is an argument, and nothing that it is
  /// computed from is a constant of that size.
  bool mayBeLargest(Value value) const;

private:
  DataFlowSolver solver;
};

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L2_OVERFLOWSOURCES_H
