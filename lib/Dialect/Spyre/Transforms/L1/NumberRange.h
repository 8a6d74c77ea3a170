//===- NumberRange.h - How large the numbers of a program may be -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interval arithmetic over the bodies of the OpFunc table: bounds of the finite numbers that
// a value may hold if the program computed it exactly. Infinities that the program writes
// (masks) and NaNs are not counted: no format changes them.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_NUMBERRANGE_H
#define SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_NUMBERRANGE_H

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::spyre {

/// low <= number <= high; either may be infinite.
struct NumberRange {
  double low = 0, high = 0;
  double getLargest() const { return std::max(std::abs(low), std::abs(high)); }
};

/// Ranges of values, each computed once. Values that change while it lives must not be asked
/// for again.
class NumberRanges {
public:
  NumberRange get(Value value);

private:
  NumberRange compute(Value value);
  NumberRange computeDeviceOp(DeviceOpInterface op);
  llvm::DenseMap<Value, NumberRange> known;
};

} // namespace mlir::spyre

#endif // SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_NUMBERRANGE_H
