//===- Ranges.h - What index values of a kernel may be -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranges of integers through index arithmetic and affine expressions. A number that
// does not fit in 64 bits is unknown.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_KTIR_TRANSFORMS_RANGES_H
#define SPYRE_LIB_DIALECT_KTIR_TRANSFORMS_RANGES_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace mlir::ktdp {

/// What a value may be, inclusive; nothing: anything.
struct Interval {
  int64_t low, high;
  bool isPoint() const { return low == high; }
};
using MaybeInterval = std::optional<Interval>;

/// The sum of two ranges.
MaybeInterval add(MaybeInterval a, MaybeInterval b);

/// What is known of the values on one compute tile.
class Ranges {
public:
  /// A constant, or what was set.
  MaybeInterval get(Value value) const;
  /// The number that the value is, if it is known.
  std::optional<int64_t> getPoint(Value value) const;
  void set(Value value, MaybeInterval range);

  /// Works out the result of an operation of `arith` on integers.
  void compute(Operation &op);

  /// The range of an expression in \p dims; symbols are unknown.
  MaybeInterval evaluate(AffineExpr expr, ArrayRef<MaybeInterval> dims) const;
  MaybeInterval evaluate(AffineExpr expr, ValueRange dims) const;

private:
  DenseMap<Value, Interval> known;
};

} // namespace mlir::ktdp

#endif // SPYRE_LIB_DIALECT_KTIR_TRANSFORMS_RANGES_H
