//===- HostCalls.h - torch operations as calls of the host ------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which operations the host can be asked for, and how one becomes a spyre.host_call.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_CONVERSION_TORCHTOSPYRE_HOSTCALLS_H
#define SPYRE_LIB_CONVERSION_TORCHTOSPYRE_HOSTCALLS_H

#include "mlir/IR/Builders.h"

namespace mlir::spyre::torch_lowering {

/// True if \p op takes numbers from PyTorch's generator: such operations keep their order.
bool drawsRandomNumbers(Operation *op);

/// True if the result shares the operand's elements: nothing to compute.
bool isView(Operation *op);

/// A cast from one element type to another.
bool isCast(Operation *op);

/// Gives its one tensor on as it is, in another shape, or in another element type.
bool passesOperandOn(Operation *op);

/// True if \p op tells NaNs from infinities, which are one on the device.
bool tellsNaNs(Operation *op);

/// Puts a spyre.host_call in the place of \p ops: one operation, the lists that it reads,
/// and what unpacks the list that it gives; or views that it makes several of. An error
/// where a result has no size before it runs, or is neither tensor nor number.
LogicalResult replaceWithHostCall(ArrayRef<Operation *> ops, OpBuilder &builder);

} // namespace mlir::spyre::torch_lowering

#endif // SPYRE_LIB_CONVERSION_TORCHTOSPYRE_HOSTCALLS_H
