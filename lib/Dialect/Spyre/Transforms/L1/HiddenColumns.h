//===- HiddenColumns.h - What a mask leaves of each row ---------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask that is known at compile time hides columns of each row: those above the diagonal
// (causal), those far from it (a sliding window), those of another document. What it leaves
// of a band of rows is kept as the columns from the first to the last that it shows.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_HIDDENCOLUMNS_H
#define SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_HIDDENCOLUMNS_H

#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>

namespace mlir::spyre {

/// What a mask has at the places that it hides.
enum class HiddenBy : uint8_t {
  NegInf, ///< added to scores
  Zero,   ///< a factor, or false
  True,   ///< of a mask of truth values
};

/// Columns begin .. end - 1.
struct ColumnRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

/// Columns of a mask, and whether all rows of a band see all of them.
struct ColumnPart {
  ColumnRange columns;
  bool isClear = false;
};

class VisibleColumns {
public:
  /// What \p mask shows of each index of \p rowAxis along \p columnAxis, whatever its other axes;
  /// nothing if its numbers cannot be read or are all one.
  static std::optional<VisibleColumns> of(ElementsAttr mask, unsigned rowAxis, unsigned columnAxis,
                                          HiddenBy hiddenBy);

  int64_t getNumRows() const { return rows.size(); }
  int64_t getNumColumns() const { return numColumns; }
  /// The columns from the first to the last that one of rows \p first .. \p last - 1 sees, in
  /// whole multiples of \p granularity, at least one: one part is clear if there is such, the
  /// others have \p mostMasked columns at most.
  SmallVector<ColumnPart> getParts(int64_t first, int64_t last, int64_t granularity,
                                   int64_t mostMasked) const;
  /// The columns that each of rows \p first .. \p last - 1 sees, if those are all that lie between
  /// two of them, and nothing is done to them; else none.
  SmallVector<ColumnRange> getShown(int64_t first, int64_t last) const;

private:
  struct Row {
    ColumnRange visible; ///< from the first to the last
    ColumnRange clear;   ///< the columns around its middle that nothing is done to
  };
  /// The same of runs along the last axis, by the codes of what is hidden, but for the bits
  /// \p ignored, and of what is clear.
  static std::optional<VisibleColumns> ofRuns(RunsAttr mask, unsigned rowAxis, uint64_t hidden,
                                              uint64_t clear, uint64_t ignored);

  SmallVector<Row> rows;
  int64_t numColumns = 0;
};

/// The part of \p mask for \p rows along \p rowAxis and \p columns along \p columnAxis; null if
/// its elements cannot be read.
ElementsAttr cutMask(ElementsAttr mask, unsigned rowAxis, ColumnRange rows, unsigned columnAxis,
                     ColumnRange columns);

} // namespace mlir::spyre

#endif // SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_HIDDENCOLUMNS_H
