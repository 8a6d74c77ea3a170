//===- DeviceOpSpec.h - A device operation as a value -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that a device operation says, to be changed and built again: the one way in
// which passes make a part of an operation, give it other operands or write elsewhere.
// What a change is not about survives it (loops, kFast, gather, constants, discardable
// attributes), so that a field that is added to the operations is kept by all passes.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_IR_DEVICEOPSPEC_H
#define SPYRE_DIALECT_SPYRE_IR_DEVICEOPSPEC_H

#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace mlir::spyre {

class DeviceOpInterface;

struct DeviceOpSpec {
  ::spyre::OpFunc opFunc; ///< a specified one
  SmallVector<Value> inputs;
  Value output;    ///< buffer, initial tensor, or null
  Type resultType; ///< null at L3
  SmallVector<int64_t> extents;
  SmallVector<AffineMap> maps; ///< one an input, then the output's
  SmallVector<int64_t> splits; ///< empty: undivided
  SmallVector<Value> loopVariables;
  SmallVector<NamedAttribute> constants;
  bool kFast = false;
  SmallVector<int64_t> gather;            ///< table, its dim, index; empty: no gather
  SmallVector<NamedAttribute> attributes; ///< discardable ones

  /// All that \p op says.
  static DeviceOpSpec of(DeviceOpInterface op);

  /// \p opFunc on all elements of \p source, read at \p from for each of \p extents and
  /// written at \p to.
  static DeviceOpSpec move(::spyre::OpFunc opFunc, Value source, ArrayRef<int64_t> extents,
                           AffineMap from, AffineMap to);
  /// The same elements elsewhere.
  static DeviceOpSpec copy(Value source, ArrayRef<int64_t> extents, AffineMap from, AffineMap to) {
    return move(::spyre::OpFunc::Identity, source, extents, from, to);
  }

  /// The part of the iteration space that begins at \p offset of \p dim and has \p extent
  /// of its points: the same elements at the same places. Work slices stay as they are.
  DeviceOpSpec restrict(unsigned dim, int64_t offset, int64_t extent) const;

  /// Another iteration space of \p extents: dim d of this one is \p dims[d] of the new
  /// dims. A new dim has the work slices of the old dim that it is; others are undivided.
  DeviceOpSpec substitute(ArrayRef<AffineExpr> dims, ArrayRef<int64_t> extents) const;

  /// \p value, read by \p map, as input \p index.
  DeviceOpSpec withOperand(unsigned index, Value value, AffineMap map) const;
  DeviceOpSpec withOperand(unsigned index, Value value) const {
    return withOperand(index, value, maps[index]);
  }

  /// Written by \p map into a tensor of \p resultType, a part of \p output if there is one,
  /// or (null type) into the buffer \p output.
  DeviceOpSpec withOutput(Value output, Type resultType, AffineMap map) const;
  DeviceOpSpec withOutput(Value output, Type resultType) const {
    return withOutput(output, resultType, maps.back());
  }
};

/// Builds the operation that executes \p spec.opFunc.
DeviceOpInterface buildDeviceOp(OpBuilder &builder, Location loc, const DeviceOpSpec &spec);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_IR_DEVICEOPSPEC_H
