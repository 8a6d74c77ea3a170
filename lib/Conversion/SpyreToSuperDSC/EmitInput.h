//===- EmitInput.h - From an L3 operation to the emission's input -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds spyre::sdsc::EmitOp from a device operation on buffers, with some loop
// variables fixed (unrolled loops) and the others free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_CONVERSION_SPYRETOSUPERDSC_EMITINPUT_H
#define SPYRE_LIB_CONVERSION_SPYRETOSUPERDSC_EMITINPUT_H

#include "spyre/Dialect/Spyre/IR/BufferBase.h"
#include "spyre/SuperDSC/Emit.h"

namespace mlir::spyre {

/// One loop around an operation. Unrolled loops have a value.
struct LoopState {
  Value variable;
  int64_t tripCount = 0;
  std::optional<int64_t> value;
};

/// \p op as input of emitDescriptor. \p loops are all loops around it, outermost
/// first; those without a value become the emission's loop variables.
/// Operands' addresses are their base's offset; \p bases receives one an operand.
FailureOr<::spyre::sdsc::EmitOp> buildEmitOp(DeviceOpInterface op, ArrayRef<LoopState> loops,
                                             SmallVectorImpl<BufferBase> &bases);

} // namespace mlir::spyre

#endif // SPYRE_LIB_CONVERSION_SPYRETOSUPERDSC_EMITINPUT_H
