//===- Precision.h - Formats of f32 operations -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the precision rules see: the f32 operations of a function, which of them are
// already computed at DL16, and which values are 16-bit values in an f32 coat.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_PRECISION_H
#define SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_PRECISION_H

#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::spyre {

/// True if \p value is an f32 tensor.
bool isF32(Value value);
/// \p value without views: what it shows.
Value skipViews(Value value);
/// The operations that use \p value, those of a view of it in the view's place.
SmallVector<Operation *> getUsersThroughViews(Value value);
/// The operation of type \p Op that computes \p value, looked at through views; null if
/// there is none.
template <typename Op> Operation *getDefining(Value value) {
  return skipViews(value).getDefiningOp<Op>();
}

/// What an operation reads: a value that is no view, by a map from the iteration dims.
struct Read {
  Value root;
  AffineMap map;
};
/// Input \p i of \p op with the views in front of it folded.
Read getRead(DeviceOpInterface op, unsigned i);
/// True if at every point input \p i of \p reader is the element that
/// \p reduction writes at that point, over the same iteration space; \p value is
/// the reduction's result or a pointwise function of it in the same shape.
bool readsReduction(DeviceOpInterface reader, unsigned i, Value value, DeviceOpInterface reduction);
/// True if inputs \p i and \p j read the same elements at the same points.
bool readsSame(DeviceOpInterface a, unsigned i, DeviceOpInterface b, unsigned j);

/// 1 / sqrt(factor * sum x^2 + epsilon), as norms compute it, taken apart.
struct InverseNorm {
  DeviceOpInterface square, reduction;
  Operation *scaled = nullptr;  ///< the product of the sum with a number, if there is one
  Operation *shifted = nullptr; ///< the addition of epsilon, if there is one
  double factor = 1, epsilon = 0;
};
/// What \p root computes; nothing if it is something else.
std::optional<InverseNorm> matchInverseNorm(Operation *root);

/// The f32 part of a function.
class F32Region {
public:
  explicit F32Region(func::FuncOp func);

  /// Device operations and composites with an f32 operand or result, in order.
  ArrayRef<Operation *> getOps() const { return ops; }

  bool isHalf(Operation *op) const { return reasons.contains(op); }
  StringRef getReason(Operation *op) const { return reasons.lookup(op); }
  void setHalf(Operation *op, StringRef reason) { reasons.try_emplace(op, reason); }

  /// \p op's island touches f32 arguments or results of the function.
  bool isVisible(Operation *op) const;
  /// A 16-bit type that the island of \p op is entered from or left to.
  Type getHalfType(Operation *op) const;

  /// The device computes \p op in f32 by an operation of its own.
  static bool hasF32Form(Operation *op);
  /// It does, or by several operations that later passes put in its place.
  static bool canBeF32(Operation *op);
  /// The device computes \p op at DL16.
  static bool hasHalfForm(Operation *op);

  /// \p value loses nothing at 16 bits: widened, computed at DL16, or a constant that
  /// DL16 holds.
  bool isExact(Value value) const;
  /// All operands of \p op are.
  bool hasExactOperands(Operation *op) const;
  /// Every use of \p op's result, seen through views, narrows it: a conversion to 16
  /// bits, an operation at DL16, or one in \p others.
  bool isNarrowed(Operation *op, const llvm::SmallPtrSetImpl<Operation *> &others) const;

  /// Marks \p set if the device has DL16 forms for it and all of its results are
  /// narrowed; true if something changed.
  bool markClosed(ArrayRef<Operation *> set, StringRef reason);

private:
  func::FuncOp func;
  SmallVector<Operation *> ops;
  llvm::MapVector<Operation *, StringRef> reasons;
  llvm::EquivalenceClasses<void *> islands;
  llvm::DenseMap<void *, Type> halfTypes;      // by island leader
  llvm::SmallPtrSet<void *, 4> visibleIslands; // by island leader
  void *getIsland(Operation *op) const;
};

/// True for a product of f32 tensors that spyre-split-products can do with 16-bit ones.
bool isSplitProduct(DeviceOpInterface op);

/// True for a function of f32 numbers that spyre-expand-functions writes with others.
bool isExpandedFunction(DeviceOpInterface op);

/// Means and variances that the program computes in f64 become f32; fails, after an
/// error, where other f64 operations are left.
LogicalResult narrowStatistics(func::FuncOp func);

/// Applies every rule until none applies. \p fastProducts: products are 16 bits wide.
void applyPrecisionRules(F32Region &region, bool fastProducts);

} // namespace mlir::spyre

#endif // SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_PRECISION_H
