//===- FarReductions.h - Reductions of dims beyond reach --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums, largest numbers and products whose reduced dim no core reaches as a whole, however little
// it has of the others: parts of the dim are reduced one after the other, and put together by the
// combiner.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_FARREDUCTIONS_H
#define SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_FARREDUCTIONS_H

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Planning/WorkDivision.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spyre {

/// Puts operations in the place of \p op of \p func, which \p problem describes, that reduce
/// parts of a reduced dim that is beyond reach. Returns all of them, undivided; nothing, and
/// nothing is changed, if there is no such dim, or no way to put parts together.
std::optional<SmallVector<DeviceOpInterface>>
reduceInParts(func::FuncOp func, DeviceOpInterface op,
              const ::spyre::planning::DivisionProblem &problem);

} // namespace mlir::spyre

#endif // SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_FARREDUCTIONS_H
