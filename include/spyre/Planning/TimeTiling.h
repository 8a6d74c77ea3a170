//===- TimeTiling.h - Tiles of operations over time --------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which neighbouring operations should run tile by tile, so that what they hand on to each
// other stays in the cores' scratchpads, and which arguments are then loaded once.
//
// A *nest* is a run of operations with one dim each that is the same dim of the data: two
// operations share it if their accesses to a value have it in the same logical dim, whole
// and from 0 on. Nobody names dims. A dim that an operation reduces, or that some value of
// the nest is read across, is none. The nest is cut into equal tiles of that dim, or of two
// such dims, which run one after the other; cores share each tile along another such dim, or
// the same.
//
// What is compared is traffic with device memory, and what products take: the published
// rates (Device). A nest is proposed only where it moves less than the same operations do
// untiled, and never where fewer than half as many cores would work. MLIR-free; a pass
// describes the function and builds the loops.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_PLANNING_TIMETILING_H
#define SPYRE_PLANNING_TIMETILING_H

#include "spyre/Layout/IndexMap.h"
#include "spyre/Planning/WorkDivision.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace spyre::planning {

/// One operand of an operation: inputs, then the output.
struct TilingOperand {
  unsigned value = 0;
  layout::IndexMap map; ///< iteration space to logical coordinates
  bool isWrite = false;
  /// The result may be written over this input.
  bool mayBeReplaced = false;
};

struct TilingOp {
  /// Elements of each dim that are kept together (a stick where the dim lies in one).
  std::vector<int64_t> units;
  std::vector<TilingOperand> operands;
  /// Works in device memory whatever the plan (a restickify).
  bool needsDeviceMemory = false;
  /// Takes no part in nests (it stands in a loop, or gathers).
  bool isFixed = false;
  int64_t macs = 0;     ///< multiply-accumulates
  int64_t numCores = 1; ///< that share it untiled
  /// The untiled operation for the division over cores, which says what is legal (spans);
  /// null: everything is.
  const DivisionProblem *division = nullptr;
};

struct TilingValue {
  std::vector<int64_t> shape;
  int64_t sizeInBytes = 0;
  /// A buffer that nobody outside of the operations sees; else an argument or a result.
  bool isInternal = false;
  /// A tile of it may be in LX (its layout is not padded and it is not reinterpreted).
  bool mayStay = true;
  /// Elements of each logical dim that are kept together in memory.
  std::vector<int64_t> units;
};

struct TilingProblem {
  std::vector<TilingOp> ops;
  std::vector<TilingValue> values;
  int64_t numCores = 1;
  int64_t scratchpadInBytes = 0; ///< of a core
  double memoryInBytesPerNs = 1;
  double macsPerNs = 1; ///< of a core
};

/// A value that a nest keeps tile by tile in LX.
struct NestTile {
  unsigned value = 0;
  std::vector<unsigned> dims; ///< its logical dim that each loop tiles
  unsigned coreDim = 0;       ///< the one that cores share
  bool isLoaded = false;      ///< copied in at the start of each tile, for several readers
  bool isStored = false;      ///< copied out after it is written, for readers beyond the nest
};

/// A loop over tiles.
struct NestLoop {
  std::vector<unsigned> dims; ///< tiled dim of each operation
  int64_t numTrips = 1;
};

struct Nest {
  unsigned first = 0, last = 0; ///< operations, both included
  std::vector<NestLoop> loops;  ///< outermost first, each of several tiles; none: all at once
  /// The dim of each operation that cores share; nothing: it is divided by itself.
  std::vector<std::optional<unsigned>> coreDims;
  int64_t numCores = 1;
  std::vector<NestTile> tiles;
  double untiledInNs = 0, tiledInNs = 0; ///< by the rates above

  /// Tiles in all.
  int64_t getNumTiles() const {
    int64_t count = 1;
    for (const NestLoop &loop : loops)
      count *= loop.numTrips;
    return count;
  }
};

/// The nests that are worth it, in order, none overlapping another.
std::vector<Nest> findNests(const TilingProblem &problem);

} // namespace spyre::planning

#endif // SPYRE_PLANNING_TIMETILING_H
