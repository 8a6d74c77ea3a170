//===- TripPieces.h - The trips of a loop that was taken apart --*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a loop leaves behind is a row of trips that differ in where they read and write.
//
// - A tensor that the trips write side by side is put together at the end, instead of
//   being copied in each trip.
// - Few trips stay where they are: planned as one, what they carry stays in the cores'
//   scratchpads. Planning takes time that grows faster than the number of operations, so
//   many trips are cut into equal *pieces* of some hundred operations, of which
//   `spyre-outline-layers` makes one function that is called once a piece. For that a
//   piece reads a part of its own of what the trips go through, sliced out before the
//   loop, and gives one part of what they write.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_CONVERSION_TORCHTOSPYRE_TRIPPIECES_H
#define SPYRE_LIB_CONVERSION_TORCHTOSPYRE_TRIPPIECES_H

#include "mlir/IR/Builders.h"

namespace mlir::spyre::torch_lowering {

/// What a trip consists of has this attribute.
inline constexpr llvm::StringLiteral kTripAttr = "spyre.trip";

/// Operations that trips together have at most if they stay in one function, and those of a
/// piece (as many trips as have no more, at least one). docs/developer/loops.md has what
/// was measured.
inline constexpr int64_t kMostInPlace = 512, kMostInPiece = 256;

/// \p op gives the planner something to do: it is no number, list or view.
bool isWork(Operation *op);

/// The trips of one loop, which stand in front of it in its block.
class Trips {
public:
  /// \p before: what stood before the loop (null: it was the first of its block); \p ends:
  /// the last operation of each trip but the last one (null: as \p before).
  Trips(Operation *loop, Operation *before, ArrayRef<Operation *> ends);

  /// Has each piece slice its part of what all slice. No-op for few trips.
  void cutReads();
  /// \p value, or what takes its place: a tensor that the trips write side by side, put
  /// together from what was written.
  Value joinWrites(Value value);
  /// Erases what nobody reads.
  void eraseDead();

private:
  int64_t getPiece(Operation *op) const { return trips.lookup(op) / tripsInPiece; }

  Operation *loop;
  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, int64_t> trips; ///< operation -> number of its trip
  int64_t numTrips;
  int64_t tripsInPiece; ///< all of them if they stay where they are
};

} // namespace mlir::spyre::torch_lowering

#endif // SPYRE_LIB_CONVERSION_TORCHTOSPYRE_TRIPPIECES_H
