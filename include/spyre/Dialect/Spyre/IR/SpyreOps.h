//===- SpyreOps.h - Operations of the Spyre dialect -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device operations, views, composites and allocation, with the interface that
// passes use.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_IR_SPYREOPS_H
#define SPYRE_DIALECT_SPYRE_IR_SPYREOPS_H

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

// Of the OpFunc table, which this header does without.
namespace spyre {
enum class OpFunc : uint8_t;
struct OpFuncInfo;
const OpFuncInfo &getOpFuncInfo(OpFunc opFunc);
} // namespace spyre

#include "spyre/Dialect/Spyre/IR/SpyreInterfaces.h.inc"

namespace mlir::spyre::detail {
/// The shared syntax, rules and effects of all device operations.
ParseResult parseDeviceOp(OpAsmParser &parser, OperationState &state);
void printDeviceOp(OpAsmPrinter &printer, DeviceOpInterface op);
LogicalResult verifyDeviceOp(DeviceOpInterface op);
void getDeviceOpEffects(DeviceOpInterface op,
                        SmallVectorImpl<MemoryEffects::EffectInstance> &effects);
} // namespace mlir::spyre::detail

#define GET_OP_CLASSES
#include "spyre/Dialect/Spyre/IR/SpyreOps.h.inc"

namespace mlir::spyre {

/// Shape, element type and layout (null if none) of a tensor or buffer.
ArrayRef<int64_t> getShape(Value value);
Type getElementType(Value value);
LayoutAttr getLayout(Value value);

/// \p op (of tensors) and the operations that update its result in place, one after another.
SmallVector<DeviceOpInterface> getWriters(DeviceOpInterface op);

/// The allocation or argument whose memory \p buffer is: through `spyre.reinterpret`.
Value getRootBuffer(Value buffer);

/// Trip counts of the loops around \p op that its maps use, outermost first;
/// nothing if one of them is not `scf.for` from 0 to a constant in steps of 1.
std::optional<SmallVector<int64_t>> getTripCounts(DeviceOpInterface op);

/// Operation name ("spyre.add") of a specified OpFunc, or an empty string.
StringRef getOperationName(::spyre::OpFunc opFunc);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_IR_SPYREOPS_H
