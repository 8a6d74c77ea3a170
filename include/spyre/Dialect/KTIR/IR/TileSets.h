//===- TileSets.h - Sets of tiles and of coordinates -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What verifiers, rules and executors ask of the sets and maps in kernels. Nothing
// here enumerates more than it was asked for, and sets that no solver takes (products
// of unknowns, divisions by 0) have an answer too.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_KTIR_IR_TILESETS_H
#define SPYRE_DIALECT_KTIR_IR_TILESETS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"

#include <optional>

namespace mlir::ktdp {

/// Compute tiles of a grid, and groups of a future, that the rules look at.
inline constexpr int64_t kMaxTiles = 4096;

/// The set {0 <= d[i] < sizes[i]}; an unknown size is the next symbol.
IntegerSet getBoxSet(ArrayRef<int64_t> sizes, MLIRContext *context);

/// Inclusive bounds of one dim of a set; nothing where they are not constant or too
/// costly to find.
struct DimBounds {
  std::optional<int64_t> lower, upper;
  /// The number of places between the bounds, if both are known.
  std::optional<int64_t> getExtent() const;
};
/// The bounds of all dims; of an empty set 0 and -1.
SmallVector<DimBounds> getBounds(IntegerSet set);

/// True if no constraint is on two dims or divides: the set has all places between its
/// bounds.
bool isBox(IntegerSet set);

/// The number of points of a set without symbols; nothing if its bounds are not known or
/// hold more than kMaxTiles * 16 places.
std::optional<int64_t> countPoints(IntegerSet set);

/// True if products have a number as one factor and divisors are positive numbers.
bool isAffine(AffineExpr expr);
bool isAffine(AffineMap map);
bool isAffine(IntegerSet set);

/// The expression's value; nothing if a number does not fit or a divisor is not positive.
std::optional<int64_t> evaluate(AffineExpr expr, ArrayRef<int64_t> dims,
                                ArrayRef<int64_t> symbols = {});

/// True if the set holds the point; symbols that the set does not have are not looked at.
bool contains(IntegerSet set, ArrayRef<int64_t> point, ArrayRef<int64_t> symbols = {});

/// The set with numbers for its first symbols; the other symbols are left.
IntegerSet bindSymbols(IntegerSet set, ArrayRef<int64_t> symbols);

/// The tiles among 0..numTiles-1 of a set `(i)[symbols]`, ascending.
SmallVector<int64_t> getTiles(IntegerSet set, ArrayRef<int64_t> symbols, int64_t numTiles);

/// The numbers of the groups, ascending; nothing if they are not bounded, or are more
/// than kMaxTiles.
std::optional<SmallVector<int64_t>> getGroups(IntegerSet groups);

} // namespace mlir::ktdp

#endif // SPYRE_DIALECT_KTIR_IR_TILESETS_H
