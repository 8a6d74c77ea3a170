//===- RowGroup.h - What is done to the scores of rows ----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the product that makes scores of rows and columns to the sums and products that have
// columns no more: the operations that have to agree on which rows and columns they compute,
// if some are left out.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_ROWGROUP_H
#define SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_ROWGROUP_H

#include "HiddenColumns.h"

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::spyre {

/// The columns that each row sees, from the first of them on, and the truth values that say so.
using ShownValues = SmallVector<std::pair<SmallVector<int64_t>, Value>>;

class RowGroup {
public:
  /// An operation of the group: which of its dims are rows and columns.
  struct Member {
    unsigned row = 0;
    std::optional<unsigned> column; ///< none: it reads and writes numbers of rows alone
  };

  /// The group of \p masking, whose input \p mask hides some columns \p hiddenBy, along its dims
  /// \p row and \p column. Nothing if a number that is hidden changes what one of the
  /// group computes, or more than the group has to be known.
  static std::optional<RowGroup> of(DeviceOpInterface masking, unsigned mask, unsigned row,
                                    unsigned column, HiddenBy hiddenBy);

  /// The dim of \p op that coordinate \p axis of \p map is and no other one has, all of an axis of
  /// \p extent.
  static std::optional<unsigned> getDim(DeviceOpInterface op, AffineMap map, unsigned axis,
                                        int64_t extent);

  /// In their order.
  const llvm::MapVector<Operation *, Member> &getMembers() const { return members; }
  bool contains(Operation *op) const { return members.contains(op); }
  DeviceOpInterface getMasking() const { return masking; }
  /// The input of the masking operation that is the mask.
  unsigned getMask() const { return mask; }
  /// The axes of rows and, if it has them, columns of what a member writes.
  std::pair<unsigned, std::optional<unsigned>> getAxes(Value value) const {
    const Scores &scores = values.at(value);
    return {scores.row, scores.column};
  }
  /// The operand of the masking operation that it returns where the mask hides nothing; nothing if
  /// that is not made by a member.
  std::optional<unsigned> findUnmasked() const;
  /// A member that writes its only operand, of rows alone, in f32 and at the same places.
  bool isPlainWidening(Operation *op) const;
  /// Results that operations beside the group read.
  SmallVector<Value> getOutputs() const;

  /// What is done for the rows of a band.
  struct BandForm {
    /// Each band stands by itself: rows of factors are loaded once for all parts, and what says
    /// which columns are shown is made anew. Else bands have that in common where it is the same.
    bool isAlone = false;
    /// The columns that each row sees, where that is all there is to say; else none.
    ArrayRef<ColumnRange> shown;
    /// The part of the mask of some columns: the coordinates of both begin at 0.
    llvm::function_ref<Value(ColumnRange)> cut;
    /// What bands before have made; in and out.
    ShownValues &known;
  };
  /// The part of the group for \p rows x \p parts, before \p builder; what is reduced over columns
  /// is put together from all parts. \p outputs: what parts before have written, null at first;
  /// each becomes what this one has written in addition.
  void build(OpBuilder &builder, ColumnRange rows, ArrayRef<ColumnPart> parts, const BandForm &form,
             llvm::MapVector<Value, Value> &outputs) const;

private:
  /// What is known of a value: its axes, and what its hidden columns hold.
  struct Scores {
    unsigned row = 0;
    std::optional<unsigned> column;
    ::spyre::TailState hidden = ::spyre::TailState::Unknown;
  };

  bool collect(Member dims);
  bool addMasking(Member dims);
  /// The dims of \p op that its operands' rows and columns are; nothing if they are not whole, or
  /// not the same.
  std::optional<Member> getDims(DeviceOpInterface op) const;
  /// Adds what \p op writes; false if columns that are hidden have a part in it.
  bool addResult(DeviceOpInterface op, Member dims);
  ::spyre::TailState getHidden(DeviceOpInterface op, Member dims) const;
  void addMakers();
  void addBetween(ArrayRef<DeviceOpInterface> ofRows);
  void addFollowers(ArrayRef<DeviceOpInterface> ofRows);
  void sort();

  DeviceOpInterface masking;
  unsigned mask = 0;
  HiddenBy hiddenBy = HiddenBy::NegInf;
  llvm::MapVector<Operation *, Member> members;
  llvm::DenseMap<Value, Scores> values;
};

} // namespace mlir::spyre

#endif // SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_ROWGROUP_H
