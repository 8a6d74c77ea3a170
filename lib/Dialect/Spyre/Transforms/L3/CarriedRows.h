//===- CarriedRows.h - What goes on with the parts of a row ------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the values of a function depend on the largest number of a row, by the laws of the OpFunc
// table, and which sums over the row can therefore be mended when it changes.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_CARRIEDROWS_H
#define SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_CARRIEDROWS_H

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"

#include "mlir/IR/AffineExpr.h"

#include <optional>
#include <vector>

namespace mlir::spyre {

/// The dim that \p expr is, by itself.
inline std::optional<unsigned> getPlainDim(AffineExpr expr) {
  auto dim = dyn_cast<AffineDimExpr>(expr);
  return dim ? std::optional(dim.getPosition()) : std::nullopt;
}

/// The dims of several points that \p op reduces.
SmallVector<unsigned> getReducedDims(DeviceOpInterface op);

class CarriedRows {
public:
  /// How a value depends on the largest number of its row.
  enum class Kind : uint8_t {
    Exact,   ///< not at all
    Row,     ///< a number of the row, computed from it
    Shifted, ///< it gets less by what that gets more
    Scaled,  ///< it is multiplied by the exponential of what that gets less
    Final,   ///< computed from sums over the whole row
  };

  struct State {
    Kind kind = Kind::Exact;
    /// For each coordinate of the largest numbers the coordinate of this value; nothing where
    /// they have just one element.
    SmallVector<std::optional<unsigned>> rows;
    /// The operations from the largest number on, up to the exponential, and the operand of each
    /// that they are the operand of.
    SmallVector<std::pair<DeviceOpInterface, unsigned>> chain;
  };

  /// The points at which an operation writes: its dims without those that it reduces.
  struct Space {
    SmallVector<int64_t> extents;
    SmallVector<int64_t> splits; ///< work slices, or empty
    AffineMap place;             ///< where each is written
  };
  /// The space of \p op. \p dims receives what each of its dims is in the space, 0 where nothing.
  static Space getSpace(DeviceOpInterface op, SmallVectorImpl<AffineExpr> &dims);

  /// A number of the row that is carried, and who writes it: a sum of what is scaled, or a
  /// reduction of something exact.
  struct Sum {
    DeviceOpInterface reduction;
    DeviceOpInterface writer; ///< the reduction, or the cast to f32 behind it
    Value buffer;
    State state;     ///< of what is summed up
    Space space;     ///< where the writer writes
    AffineMap atRow; ///< from the space to the numbers of rows; null if it depends on none
  };

  explicit CarriedRows(DeviceOpInterface largest) : largest(largest) {}

  /// Analyses the block of `largest`. False if the rows cannot be cut.
  bool analyse();

  const State &getState(Value value) const {
    auto known = states.find(value);
    return known == states.end() ? exact : known->second;
  }
  DeviceOpInterface getWriter(Value value) { return writers[value].front(); }
  /// True if \p op stood in the block before anything was changed.
  bool isOld(Operation *op) const { return order.contains(op); }

  DeviceOpInterface largest; ///< the reduction to the largest number of each row
  DeviceOpInterface begin;   ///< the first operation that carries something
  /// In order: what computes numbers of rows that shifts need; what is shifted, scaled and
  /// summed up; what reads any of it once the row is at its end.
  SmallVector<DeviceOpInterface> rowOps, members, finals;
  std::vector<Sum> sums;

private:
  bool findRow();
  /// Finds the coordinate along the row of all values that are the row's, element by element.
  bool findAlong();
  /// The dim of \p op along the row; nothing if it has none. \p isClear: false if it is mixed.
  std::optional<unsigned> getAlong(DeviceOpInterface op, bool &isClear);
  State transfer(DeviceOpInterface op);
  /// Notes that \p op sums up its \p operand, which is \p from, along \p dim, if it does no more.
  void addSum(DeviceOpInterface op, unsigned operand, const State &from, unsigned dim);
  State transferRow(DeviceOpInterface op, unsigned operand, const State &from,
                    std::optional<unsigned> along);
  /// The coordinates of \p op's result that \p rows of its operand \p operand become.
  std::optional<SmallVector<std::optional<unsigned>>>
  follow(DeviceOpInterface op, unsigned operand, ArrayRef<std::optional<unsigned>> rows);
  bool isPrivate(Value buffer);
  /// The only reader of \p sum, if it casts each point to f32 where it is; else null.
  DeviceOpInterface getOnlyCast(const Sum &sum);
  bool chooseSums();
  /// Adds reductions along the row that depend on no other.
  void addExactReductions();

  SmallVector<DeviceOpInterface> ops; ///< of the block, in order
  DenseMap<Operation *, unsigned> order;
  DenseMap<Value, SmallVector<DeviceOpInterface>> writers, readers;
  DenseMap<Value, unsigned> along; ///< coordinate along the row
  const State exact;
  DenseMap<Value, State> states;
  SmallVector<DeviceOpInterface> shifts;
};

} // namespace mlir::spyre

#endif // SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_CARRIEDROWS_H
