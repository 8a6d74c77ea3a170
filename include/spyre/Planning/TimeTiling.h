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
// A *nest* is a run of operations in loops over tiles. Two operations share a dim if their
// accesses to a value have it in the same logical dim, whole and from 0 on: such dims make a
// class, and nobody names one. A loop cuts one class into equal tiles. An operation stands in
// the loops from the outermost to the innermost that tiles a dim of it, so that what does not
// change with the inner loops is done before them: the keys of a head are turned once for all
// tiles of its rows, and loaded once. A dim that some value of the nest is read across is not
// tiled, nor one that an operation reduces: unless the operations around it carry what they have
// from part to part (TilingOp::carried). What reads the results of a loop without having its dim
// stands behind it. A product that needs nothing of the nest and whose parts are too small for
// the cores is done before it. Cores share each tile along one class or two; what all of them need
// of it may lie in each core, computed or loaded by each, or gathered over the ring from the
// cores that have computed a slice of it.
//
// What is compared is what the cost model says of each operation with its operands where the
// nest would have them. A nest is proposed only where that is less than what the same
// operations take untiled, and never where fewer than half as many cores would work.
// MLIR-free; a pass describes the function and builds the loops.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_PLANNING_TIMETILING_H
#define SPYRE_PLANNING_TIMETILING_H

#include "spyre/Layout/IndexMap.h"
#include "spyre/Layout/TensorLayout.h"
#include "spyre/Planning/DivisionCost.h"
#include "spyre/Planning/Schedule.h"
#include "spyre/Planning/WorkDivision.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <variant>
#include <vector>

namespace spyre::planning {

/// One operand of an operation: inputs, then the output.
struct TilingOperand {
  unsigned value = 0;
  layout::IndexMap map; ///< iteration space to logical coordinates
  bool isWrite = false;
  /// The result may be written over this input.
  bool mayBeReplaced = false;
  /// Lies in device memory whatever the plan (what a restickify reads, where the device
  /// says so).
  bool needsDeviceMemory = false;
};

struct TilingOp {
  /// Elements of each dim that are kept together (a stick where the dim lies in one).
  std::vector<int64_t> units;
  std::vector<TilingOperand> operands;
  /// Takes no part in nests (it stands in a loop, or gathers).
  bool isFixed = false;
  /// The number of a group of operations that may be done again for each part of what its
  /// reductions reduce, and then have the result for all parts so far; all of them or none.
  std::optional<unsigned> carried;
  int64_t macs = 0; ///< multiply-accumulates
  Splits splits;    ///< its work slices untiled
  /// The untiled operation: which divisions over cores are legal (spans), and what they cost.
  const DivisionProblem *division = nullptr;
  /// Its time by the cost model; operands of the problem say where they lie.
  const DivisionCost *cost = nullptr;
};

struct TilingValue {
  std::vector<int64_t> shape;
  layout::TensorLayout memory;
  int64_t sizeInBytes = 0;
  /// A buffer that nobody outside of the operations sees; else an argument or a result.
  bool isInternal = false;
  /// A tile of it may be in LX (its layout is not padded and it is not reinterpreted).
  bool mayStay = true;
  /// The device moves its elements between scratchpads.
  bool mayMove = false;
  /// What a core keeps of it in LX with the divisions that the operations have untiled; nothing
  /// if it does not stay so.
  std::optional<int64_t> untiledPartInBytes;
  /// Elements of each logical dim that are kept together in memory.
  std::vector<int64_t> units;
};

struct TilingProblem {
  std::vector<TilingOp> ops;
  std::vector<TilingValue> values;
  int64_t numCores = 1;
  int64_t scratchpadInBytes = 0; ///< of a core
  int64_t spanLimitInBytes = 0;  ///< of a core in one tensor
  double memoryInBytesPerNs = 1;
  double macsPerNs = 1; ///< of a core
  /// Cores that one transfer serves.
  int64_t multicastReaders = std::numeric_limits<int64_t>::max();
  /// What gathering a tile over the ring takes; empty: it is not possible.
  GatherCost gatherCost;
  /// What can be carried on from tile to tile is, whatever it takes: to try it out.
  bool prefersCarried = false;
  /// Seconds for looking at more candidates than usual; what they find depends on the machine
  /// where they do not suffice for all. 0: none.
  double secondsInAddition = 0;
  /// Not 0: nests, tiles and copies as this number draws them, among all that are legal, and
  /// whatever they take: for tests.
  uint64_t seed = 0;
};

/// A value that lies in memory as \p memory says; what else its users say of it is missing.
TilingValue makeTilingValue(const layout::TensorLayout &memory, bool isInternal);
/// Gives \p problem the numbers of \p device, of which \p cores may be used; 0: all.
void setDevice(TilingProblem &problem, const Device &device, int64_t cores = 0);

/// Of the time that traffic takes, hidden or not, what counts in addition: of plans that take about
/// the same, that which moves less.
inline constexpr double kShareOfTraffic = 0.01;
/// Cores share tiles along so many classes at most.
inline constexpr size_t kMostShares = 2;

/// An operation of a nest.
struct NestOp {
  /// It stands in the first so many loops.
  unsigned depth = 0;
  /// Behind the next loop, not before it.
  bool isAfter = false;
  /// The dim that each of those tiles; nothing: it is done again in each iteration.
  std::vector<std::optional<unsigned>> dims;
  /// Work slices of each dim; empty: it is divided by itself.
  Splits splits;
  /// For each of Nest::shares the dim that cores share, if it has one.
  std::array<std::optional<unsigned>, kMostShares> shareDims;
  /// A bit for each of Nest::shares: all of its slices do the same, each for itself.
  unsigned copied = 0;
  /// A bit for each operand that is the gathered tile of its value (NestTile::isGathered).
  unsigned gathered = 0;
  /// Done as a whole before all others, divided by itself, with all operands in device memory:
  /// it needs nothing that the nest computes, and takes less so than in parts.
  bool isApart = false;
};

/// A value that a nest keeps tile by tile in LX.
struct NestTile {
  unsigned value = 0;
  /// It lives within one iteration of the first so many loops.
  unsigned depth = 0;
  /// The logical dim that each of those tiles, if any.
  std::vector<std::optional<unsigned>> dims;
  Splits splits; ///< of its logical dims, over cores
  /// A bit for each of Nest::shares: each of its slices has a copy.
  unsigned copied = 0;
  /// For each of Nest::shares the logical dim that cores share, if it has one.
  std::array<std::optional<unsigned>, kMostShares> shareDims;
  bool isLoaded = false; ///< copied in before it is used
  bool isStored = false; ///< copied out after it is written, for readers beyond the nest
  /// Made of the other tile of the value before the first operation that reads it: each of
  /// the slices `copied` gets over the ring what all of them have.
  bool isGathered = false;
};

struct Nest {
  unsigned first = 0, last = 0;  ///< operations, both included
  std::vector<int64_t> numTrips; ///< of the loops, outermost first; none: all at once
  /// Slices that cores share the tiles in, along one class each, in the order in which cores are
  /// counted.
  std::vector<int64_t> shares;
  /// Cores are counted the other way round, along the last share first: those that gather what
  /// they have along it are neighbours on the ring then.
  bool isReversed = false;
  std::vector<NestOp> ops;
  std::vector<NestTile> tiles;
  /// Values that stay in LX as a whole, as they do untiled, also for operations beyond the nest.
  std::vector<unsigned> wholes;
  /// Values of others that stay untiled and for which the nest leaves no room.
  std::vector<unsigned> evicted;
  double untiledInNs = 0, tiledInNs = 0; ///< by the cost model
  double leastInNs = 0;                  ///< no nest of these operations takes less
  /// How it was asked for: which factors are loaded, whether there may be copies.
  bool loadsFactors = false, mayCopy = false;
  /// What the second best way takes to run the same operations, in how many tiles; infinite:
  /// there was none that came near.
  double secondInNs = std::numeric_limits<double>::infinity();
  std::vector<int64_t> secondTrips;
  /// Operations that are not possible untiled; the others' time is `untiledInNs`.
  unsigned numImpossible = 0;

  /// How often what stands in the first \p depth loops runs.
  int64_t getNumRuns(unsigned depth) const {
    int64_t runs = 1;
    for (unsigned i = 0; i < depth; ++i)
      runs *= numTrips[i];
    return runs;
  }
  /// Tiles in all.
  int64_t getNumTiles() const { return getNumRuns(static_cast<unsigned>(numTrips.size())); }
};

/// The nests that are worth it, in order, none overlapping another. \p lost, if not null, becomes
/// the values that would stay in LX untiled and that they do not count on.
std::vector<Nest> findNests(const TilingProblem &problem, std::vector<unsigned> *lost = nullptr);

/// Dims of values that have a name.
using NamedDims = std::map<std::string, std::pair<unsigned, unsigned>>; ///< value, logical dim

/// Just \p nests, what they leave open searched; or why one of them is not possible
/// (ScheduleError::field: "nests[0].loops[1].tiles").
/// \p known: values that they do not count on in LX; nothing: as follows from the nests. \p lost,
/// if not null, becomes these values in either case.
std::variant<std::vector<Nest>, std::vector<ScheduleError>>
findNests(const TilingProblem &problem, const std::vector<ScheduledNest> &nests,
          const NamedDims &names, const std::optional<std::vector<unsigned>> &known = std::nullopt,
          std::vector<unsigned> *lost = nullptr);

/// \p nest as a schedule says it: findNests makes the same of it.
ScheduledNest describe(const Nest &nest);

} // namespace spyre::planning

#endif // SPYRE_PLANNING_TIMETILING_H
