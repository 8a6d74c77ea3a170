//===- LayoutCopies.h - Copies that make operands readable ------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The movements that layout assignment inserts, each made once per value: another
// dim into the stick (restickify), zeros behind a dim (padding), one element a stick
// (spreading), and a part of a value as a value of its own. A part that starts, ends
// or splits inside a stick is cut out while another dim is in the stick: restickify,
// view, restickify. Costs are elements moved, so that callers can compare.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_LAYOUTCOPIES_H
#define SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_LAYOUTCOPIES_H

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L2/TailAnalysis.h"
#include "spyre/Layout/IndexMap.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::spyre {

/// The layout of a tensor of \p type with logical dim \p stick in the stick (-1:
/// none, one element a stick), all other dims in their order.
LayoutAttr makeLayout(RankedTensorType type, int64_t stick);

/// Gives \p value the layout \p layout.
void setLayout(Value value, LayoutAttr layout);

/// Elements of memory that \p value takes with logical dim \p stick in the stick.
int64_t getNumElementsInMemory(Value value, int64_t stick);

/// What an operation costs beside the elements it moves, in elements: copies of small
/// values are no better than one larger copy.
inline constexpr int64_t kCopyOverhead = 4096;
/// What stands for a movement that the device has not got, in sums that may have it.
inline constexpr int64_t kNoFormCost = int64_t(1) << 50;
/// Copies that moving a dim into the stick as halves takes, of twice the elements each.
inline constexpr int64_t kWidePasses = 10;

/// True if the device has a form that moves another dim into the stick of \p value: it
/// has one for 16-bit values.
bool canRestickify(Value value);
/// True if other operations can move it: values of whole 16-bit halves.
bool canMove(Value value);

/// A value that stands for a part of another one.
struct Part {
  Value value;
  AffineMap map; ///< from the part's box to the value's coordinates
};

class LayoutCopies {
public:
  explicit LayoutCopies(func::FuncOp func) : func(func), builder(func.getContext()), tails(func) {}

  /// \p weight, an argument, has whatever layout its first reader wants.
  void addWeight(Value weight) { undecided.insert(weight); }
  /// Something reads \p value as it lies.
  void keepLayout(Value value) { undecided.erase(value); }

  /// Operations write into tensors with zeros behind them themselves where they can, and weights
  /// and constants may have one element a stick.
  void beThorough() { isThorough = true; }

  TailAnalysis &getTails() { return tails; }
  /// A movement was asked for that the device has not got; an error says which.
  bool hasFailed() const { return failed; }

  /// \p value with logical dim \p dim in the stick; the result's extents may have
  /// grown to whole sticks (zeros), a sparse value by a last unit dim.
  Value getWithStick(Value value, int64_t dim);
  /// The layout that getWithStick gives (for a value that is not sparse).
  LayoutAttr getLayoutWithStick(Value value, int64_t dim) const;
  /// What that costs; 0 if it is there already.
  int64_t getWithStickCost(Value value, int64_t dim) const;

  /// \p value with a new leading dim, all of whose sticks repeat one element: what
  /// an operation reads from lane 0. \p value is not sparse.
  Value getSpread(Value value);
  int64_t getSpreadCost(Value value) const;
  /// True if an operation over \p extents can read that by \p map (without the new dim).
  bool canReadSpread(Value value, AffineMap map, ArrayRef<int64_t> extents) const;

  /// True if whoever copies \p value in can lay it out with one element a stick.
  bool canBeSparse(Value value) const {
    return isThorough && (undecided.contains(value) || value.getDefiningOp<ConstantOp>());
  }
  /// \p value like that.
  Value getSparse(Value value) { return getWithStick(value, -1); }

  /// \p value with logical dim \p dim zero-extended to whole sticks.
  Value getPadded(Value value, int64_t dim);

  /// The elements of \p value at \p map, over a box of \p extents, with box dim
  /// \p stick in the stick (-1: one element a stick). With \p zeroTail the lanes
  /// behind the box hold zeros.
  Part getPart(Value value, AffineMap map, ArrayRef<int64_t> extents, int64_t stick,
               bool zeroTail = false);
  int64_t getPartCost(Value value, AffineMap map, ArrayRef<int64_t> extents, int64_t stick,
                      bool zeroTail = false) const;

  /// An identity over \p extents from \p source at \p from to a tensor of
  /// \p resultType (with layout), or into \p init, at \p to.
  Value buildIdentity(Location loc, Value source, ArrayRef<int64_t> extents, AffineMap from,
                      RankedTensorType resultType, AffineMap to, Value init = {});

  /// True if \p value can be a longer tensor for all who read it, and whoever makes these plans
  /// does not mind.
  bool canGrow(Value value) const;
  /// Makes \p value \p extent long along \p dim, which is in its stick: sticks that nobody writes
  /// hold zeros. False if that is not possible.
  bool growStickDim(Value value, int64_t dim, int64_t extent);

  /// A 0-d zero.
  Value getZero(Type elementType);

  OpBuilder &getBuilder() { return builder; }

private:
  /// How a part is cut out: box dim `middle` in the stick, which is logical dim
  /// `logical` of the value; no middle: element by element.
  struct Cut {
    int64_t middle = -1;
    int64_t logical = -1;
    int64_t cost = 0;
  };
  Cut planCut(Value value, AffineMap map, ArrayRef<int64_t> extents, int64_t stick,
              bool zeroTail) const;
  /// \p value without what lies before and between the elements that \p map reads in
  /// dims that it reads in steps or with several box dims: the device steps through
  /// whole runs from 0 on. Changes \p map to read the copy; null if there is nothing to
  /// do.
  Value getRegion(Value value, AffineMap &map, ArrayRef<int64_t> extents);
  /// A copy of \p value whose dim \p dim, read at \p expr, is taken apart after the
  /// largest step where smaller ones do not divide it.
  Value splitSteps(Value value, AffineMap &map, ArrayRef<int64_t> extents, unsigned dim,
                   const ::spyre::layout::IndexExpr &expr);
  bool needsRegion(Value value, AffineMap map, ArrayRef<int64_t> extents, const Cut &cut) const;
  /// Makes the operation that computes \p value write it into what \p fill makes (if anything),
  /// of \p paddedType: longer, with zeros behind. False if it cannot.
  bool writeInto(Value value, RankedTensorType paddedType, function_ref<Value()> fill);
  /// Zeros in dim \p dim of a tensor of \p type from \p begin on.
  Value buildZeros(Location loc, RankedTensorType type, int64_t dim, int64_t begin);
  Value buildRestickify(Location loc, Value source, int64_t newStick);

  // Moves of values that the device cannot restickify (WideMoves.cpp).
  /// The 16-bit value that \p value is a cast of, element by element; null if it is none.
  static Value getNarrowSource(Value value);
  /// \p value (not sparse) with \p dim in the stick, moved before the cast that it is, or
  /// as 16-bit halves.
  Value moveWide(Value value, int64_t dim);
  Value moveHalves(Value value, int64_t dim);
  Value buildReinterpret(Location loc, Value source, Type element);
  LayoutAttr getWideLayoutWithStick(Value value, int64_t dim) const;
  int64_t getWideCost(Value value, int64_t dim) const;
  void setInsertionAfter(Value value);

  func::FuncOp func;
  OpBuilder builder;
  TailAnalysis tails;
  bool failed = false, isThorough = false;
  llvm::MapVector<std::pair<Value, int64_t>, Value> restickified, padded;
  llvm::MapVector<Value, Value> spread;
  llvm::DenseSet<Value> regions;   ///< what getRegion has made
  llvm::DenseSet<Value> undecided; ///< weights that nothing has read yet
  llvm::MapVector<Type, Value> zeros;
  /// By value and (map, extents, stick, zeroTail) as an attribute.
  llvm::MapVector<std::pair<Value, Attribute>, Part> parts;
  Attribute getPartKey(AffineMap map, ArrayRef<int64_t> extents, int64_t stick,
                       bool zeroTail) const;
};

} // namespace mlir::spyre

#endif // SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_LAYOUTCOPIES_H
