//===- FarOperands.h - Operands in a layout within reach --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What one core has to have at once may be far apart in memory: two f32 sticks of a row for the
// 16-bit stick that they are cast to, 64 rows of a tensor that is turned. Where it has the least of
// every dim and still does not reach that, the operand is copied to where its sticks lie otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_FAROPERANDS_H
#define SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_FAROPERANDS_H

#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"

namespace mlir::spyre {

/// Puts a copy and an operation like \p op, which \p planned describes, in the place of \p op, one
/// operand of which is beyond reach whatever is cut. Returns both, undivided, in their order;
/// nothing, and nothing is changed, if there is no such operand, or no layout that helps.
std::optional<SmallVector<DeviceOpInterface>> copyFarOperand(DeviceOpInterface op,
                                                             const PlannedOp &planned);

} // namespace mlir::spyre

#endif // SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_FAROPERANDS_H
