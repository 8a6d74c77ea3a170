//===- TilingRun.h - Neighbouring operations and their common dims -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run of operations that grows one by one. With each, the dims that are the same dim of the
// data are joined: a union-find over the dims of operations and of values (TilingRun.cpp). What
// a candidate nest of the run takes is in NestCost.cpp, how cores may share it in NestShares.cpp,
// which candidates there are in
// TimeTiling.cpp, which runs become nests in NestChoice.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_PLANNING_TILINGRUN_H
#define SPYRE_LIB_PLANNING_TILINGRUN_H

#include "spyre/Planning/TimeTiling.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace spyre::planning::tiling {

/// A longer run is not looked at: what it would save, its parts save.
inline constexpr unsigned kMaxRun = 2048;
/// A nest has to be better than the same operations untiled by this factor: rates are rough.
inline constexpr double kWorthwhile = 0.97;
/// Longer runs are tiled by one loop.
inline constexpr unsigned kMostOfTwoLoops = 40;
/// Longer runs are not shared along the columns of products that few other operations have;
/// nor are those with products of products, along the columns of these.
inline constexpr unsigned kMostOfColumns = 40, kMostOfChain = 24;
/// Longer runs are shared along one dim.
inline constexpr unsigned kMostOfTwoShares = 128;

using Node = unsigned;
inline constexpr Node kNone = std::numeric_limits<Node>::max();

/// The dim of an access over \p extents that counts equal parts of a logical dim of \p size, one
/// after the other and from 0 on, where coordinate \p expr goes through all of it: one dim, or
/// the outermost of several (heads of a hidden dim).
inline std::optional<unsigned> getOuterDim(const layout::IndexExpr &expr,
                                           const std::vector<int64_t> &extents, int64_t size) {
  if (expr.constant != 0 || expr.digits.empty())
    return std::nullopt;
  const std::vector<layout::Digit> digits = layout::getDigitsByStep(expr);
  int64_t reach = 1;
  for (const layout::Digit &digit : digits) {
    if (digit.coefficient != reach || digit.divisor != 1 || digit.modulus != 0 ||
        digit.input >= extents.size())
      return std::nullopt;
    reach *= extents[digit.input];
  }
  return reach == size ? std::optional(digits.back().input) : std::nullopt;
}

/// True if the only element along a logical dim is meant.
inline bool isUnit(const layout::IndexExpr &expr, int64_t size) {
  return size == 1 && expr.constant == 0 && expr.digits.empty();
}

/// What a nest saves: operations that are not possible untiled count before all time.
struct Saving {
  unsigned numImpossible = 0;
  double ns = 0;

  Saving operator+(Saving other) const {
    return {numImpossible + other.numImpossible, ns + other.ns};
  }
  /// Nothing is negative of what was not possible.
  Saving operator-(Saving other) const {
    return {numImpossible - std::min(numImpossible, other.numImpossible), ns - other.ns};
  }

  /// Savings of time that differ by less than a thousandth are the same.
  bool isMoreThan(Saving other) const {
    return numImpossible != other.numImpossible ? numImpossible > other.numImpossible
                                                : ns > other.ns + std::abs(other.ns) / 1000;
  }
  bool isAsMuchAs(Saving other) const {
    return numImpossible != other.numImpossible ? numImpossible > other.numImpossible
                                                : ns >= other.ns - std::abs(other.ns) / 1000;
  }
};

/// A value in the scratchpad of a core from one position in the order of execution to another.
struct Resident {
  unsigned id = 0;
  unsigned from = 0, to = 0;
  double bytes = 0;
  double savedInBytes = 0; ///< of traffic
  /// Where the operation at `to` may write its result over it, that result's id.
  std::optional<unsigned> replacedBy;
};

/// Drops of \p residents, at \p numPositions positions, what does not fit into \p capacity
/// together, that which saves least first. True: nothing was dropped.
bool fit(std::vector<Resident> &residents, size_t numPositions, double capacity);

/// Into how many tiles of whole units a dim of \p extent can be cut, rising.
std::vector<int64_t> getTileCounts(int64_t extent, int64_t unit);

/// A number in 0 .. 1 that \p seed and \p parts draw.
double draw(uint64_t seed, std::initializer_list<uint64_t> parts);

/// A use of a value by an operation of the run.
struct Use {
  unsigned op, operand;
};

/// Facts about a problem that do not depend on a run.
struct Facts {
  explicit Facts(const TilingProblem &problem) : problem(problem) {
    Node count = 0;
    for (const TilingOp &op : problem.ops) {
      opNodes.push_back(count);
      count += static_cast<Node>(getExtents(op).size());
    }
    for (const TilingValue &value : problem.values) {
      valueNodes.push_back(count);
      count += static_cast<Node>(value.shape.size());
      firstUse.push_back(kNone);
      lastUse.push_back(0);
    }
    numNodes = count;
    for (const TilingOp &op : problem.ops)
      if (op.carried) {
        groupSizes.resize(std::max<size_t>(groupSizes.size(), *op.carried + 1));
        ++groupSizes[*op.carried];
      }
    numUses.resize(problem.values.size());
    for (unsigned i = 0; i < problem.ops.size(); ++i) {
      bytes.emplace_back();
      for (const TilingOperand &operand : problem.ops[i].operands) {
        bytes.back().push_back(countBytes(operand));
        firstUse[operand.value] = std::min(firstUse[operand.value], i);
        lastUse[operand.value] = std::max(lastUse[operand.value], i);
        ++numUses[operand.value];
      }
    }
    numHandedOn.resize(problem.ops.size() + 1);
    for (unsigned value = 0; value < problem.values.size(); ++value)
      for (unsigned i = firstUse[value]; problem.values[value].isInternal && i < lastUse[value];
           ++i)
        ++numHandedOn[i + 1];
    computeUntiled();
  }

  static const std::vector<int64_t> &getExtents(const TilingOp &op) {
    return op.operands.back().map.extents;
  }
  const layout::IndexMap &getMap(Use use) const {
    return problem.ops[use.op].operands[use.operand].map;
  }

  /// What \p bytes of traffic count beside the time: of plans that take about the same, that
  /// which moves less.
  double getTrafficInNs(double bytes) const {
    return kShareOfTraffic * bytes / problem.memoryInBytesPerNs;
  }

  /// True if fewer values are handed on over the place before operation \p number than over others
  /// near it: a nest may well end there.
  bool isSeam(unsigned number) const {
    constexpr unsigned kNear = 8;
    if (number >= problem.ops.size())
      return true;
    const unsigned from = number - std::min(number, kNear),
                   to = std::min(number + kNear, static_cast<unsigned>(problem.ops.size()) - 1);
    auto getMost = [&](unsigned begin, unsigned end) {
      return *std::max_element(numHandedOn.begin() + begin, numHandedOn.begin() + end + 1);
    };
    const auto least = std::min_element(numHandedOn.begin() + from, numHandedOn.begin() + to + 1);
    return numHandedOn[number] == *least && *least < getMost(from, number) &&
           *least < getMost(number, to);
  }

  /// Traffic of \p value if it lay in device memory.
  double getBytesOfUses(unsigned value) const {
    return double(problem.values[value].sizeInBytes) * numUses[value];
  }

  /// Bytes that an operand touches, whole dims of a part.
  double getBytes(Use use) const { return bytes[use.op][use.operand]; }

  double countBytes(const TilingOperand &operand) const {
    const TilingValue &value = problem.values[operand.value];
    double bytes = static_cast<double>(value.sizeInBytes);
    for (size_t r = 0; r < value.shape.size(); ++r) {
      auto [low, high] = layout::getRange(operand.map.results[r], operand.map.extents);
      bytes *= std::min(1.0, double(high - low + 1) / double(std::max<int64_t>(1, value.shape[r])));
    }
    return bytes;
  }

  /// The time of one tile of operation \p op, whose dims are \p tiles times smaller, with the
  /// operands of \p inLX (a bit each) in the scratchpads. \p splits: empty for a division of
  /// its own. Infinite if no such division is legal; \p reachesAll: it has to be so with all
  /// operands in device memory.
  double getCostInNs(unsigned op, const std::vector<std::pair<unsigned, int64_t>> &tiles,
                     const Splits &splits, uint64_t inLX, bool reachesAll) const;

  /// What gathering takes (TilingProblem::gatherCost), which grows with the bytes.
  double getGatherInNs(const std::vector<int64_t> &slices, unsigned gathered, double bytes) const {
    auto [known, isNew] = gatherInNsPerByte.try_emplace({slices, gathered});
    if (isNew)
      known->second = problem.gatherCost(slices, gathered, 1);
    return known->second * bytes;
  }

  /// The best division of operation \p op as a whole, all operands in device memory, and what it
  /// takes then. Infinite, with no splits, if there is none.
  const std::pair<Splits, double> &getOwnDivision(unsigned op) const;

  /// Whether cores can reach what they copy of \p tile, of which loops make \p numTrips tiles.
  bool canCopy(const NestTile &tile, const std::vector<int64_t> &numTrips) const;
  /// The value of the result of operation \p op, if it may be written over \p value, which the
  /// operation reads.
  std::optional<unsigned> getReplacement(unsigned op, unsigned value) const {
    const std::vector<TilingOperand> &operands = problem.ops[op].operands;
    bool mayBe = std::any_of(operands.begin(), operands.end(), [&](const TilingOperand &operand) {
      return operand.value == value && operand.mayBeReplaced;
    });
    return mayBe ? std::optional(operands.back().value) : std::nullopt;
  }
  /// What operations \p first .. \p last take untiled, in ns, those that are possible so.
  double getUntiledInNs(unsigned first, unsigned last) const {
    return untiledInNs[last + 1] - untiledInNs[first];
  }
  /// How many of them are not.
  unsigned getNumImpossible(unsigned first, unsigned last) const {
    return numImpossible[last + 1] - numImpossible[first];
  }

  /// Whether there is time for candidates that are not looked at as a rule.
  bool isThorough() const {
    return problem.secondsInAddition > 0 && std::chrono::steady_clock::now() < deadline;
  }

  const TilingProblem &problem;
  std::chrono::steady_clock::time_point deadline =
      std::chrono::steady_clock::now() +
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(
          std::chrono::duration<double>(problem.secondsInAddition));
  std::vector<Node> opNodes, valueNodes;
  std::vector<unsigned> firstUse, lastUse;
  /// Values that operations before each hand on to it or to those behind it.
  std::vector<unsigned> numHandedOn;
  std::vector<std::vector<double>> bytes; ///< of each operand of each operation
  Node numNodes = 0;
  std::vector<unsigned> groupSizes; ///< operations of each group that carries something
  std::vector<unsigned> numUses;    ///< of each value
  std::vector<bool> isResident;     ///< each value, untiled

  /// Values that do not stay in the scratchpads untiled after all.
  void setLost(const std::vector<unsigned> &lost);

private:
  /// Finds the values that are resident untiled and the times of operations.
  void computeUntiled();
  void computeTimes();
  std::vector<double> untiledInNs;     ///< of the operations before each
  std::vector<unsigned> numImpossible; ///< of the operations before each

  struct Hash {
    size_t operator()(const std::vector<int64_t> &key) const {
      uint64_t hash = 0xcbf29ce484222325;
      for (int64_t part : key)
        hash = (hash ^ static_cast<uint64_t>(part)) * 0x100000001b3;
      return static_cast<size_t>(hash ^ hash >> 29);
    }
  };
  mutable std::unordered_map<std::vector<int64_t>, double, Hash> costs;
  mutable std::unordered_map<unsigned, std::pair<Splits, double>> ownDivisions;
  mutable std::map<std::pair<std::vector<int64_t>, unsigned>, double> gatherInNsPerByte;
  mutable std::vector<int64_t> key; ///< of the last question
};

/// Operations first .. last, and which of their dims are the same.
class Run {
public:
  /// \p joinsReads: dims are the same also where operations only read the same value by them.
  /// Else what is only read keeps them apart: queries and keys that are made of the same rows.
  Run(const Facts &facts, unsigned first, bool joinsReads)
      : facts(facts), joinsReads(joinsReads), first(first), last(first), parent(facts.numNodes),
        isMixed(facts.numNodes), isReduced(facts.numNodes), isInner(facts.numNodes),
        isTaken(facts.numNodes), places(facts.problem.values.size(), kNone) {
    std::iota(parent.begin(), parent.end(), 0);
    add(first);
  }

  unsigned getLength() const { return last - first + 1; }
  /// Dims were kept apart that the other way joins.
  bool hasSeparated() const { return numSeparated > 0; }

  bool grow() {
    if (last + 1 >= facts.problem.ops.size() || facts.problem.ops[last + 1].isFixed ||
        last - first + 1 >= kMaxRun)
      return false;
    add(++last);
    return true;
  }

  /// Classes of dims that a loop may tile: at least half of the operations have one, and what
  /// the others do can be done before the loop.
  std::vector<Node> getTileable();
  /// Classes that cores may share in at least half of the operations, or of the products.
  std::vector<Node> getShareable();

  /// The best nest of at most one or just two loops, if one is worth it and saves about
  /// \p least or more.
  std::optional<Nest> findBest(unsigned numLoops, Saving least);
  /// The best nest that \p pinned describes, whatever it takes; else the field of it that is in
  /// the way, and why.
  std::variant<Nest, ScheduleError> findPinned(const ScheduledNest &pinned, const NamedDims &names);

  /// No nest saves more.
  Saving getMostSaving() const {
    return {facts.getNumImpossible(first, last),
            facts.getUntiledInNs(first, last) - getLeastInNs()};
  }

private:
  void add(unsigned op);
  Node find(Node node) {
    while (parent[node] != node)
      node = parent[node] = parent[parent[node]];
    return node;
  }

  /// Where an operation stands beside a loop over a class.
  enum class Side : uint8_t { Inside, Before, After };
  /// What a class of dims is in the run as it is now.
  struct Class {
    std::vector<std::optional<unsigned>> dims; ///< of each operation, in its result
    /// The dim of each operation that a loop cuts: also a reduced one, of which it carries on
    /// from part to part.
    std::vector<std::optional<unsigned>> cutDims;
    std::vector<Side> sides; ///< of each operation; set where the class is tileable
    /// Of each operation: it writes what a loop over the class carries on.
    std::vector<bool> writesCarried;
    bool isCarried = false;      ///< a loop over the class carries something on
    std::vector<bool> isReduced; ///< by each operation, or several dims of it
    /// The only dim of each operation, if it is reduced.
    std::vector<std::optional<unsigned>> reducedDims;
    /// The logical dim of each of `values`, if it is read and written by plain dims only.
    std::vector<std::optional<unsigned>> valueDims;
    std::vector<bool> isInValue; ///< whether each of `values` has such a dim at all
    /// Parts that all its dims can be cut into alike; how many of them have to stay together.
    int64_t extent = 1, unit = 1;
    unsigned numOps = 0; ///< that have a dim
    bool isOfColumns = false;
  };
  const Class &getClass(Node root);
  /// The same as cores share it: columns of products that read a value together (of the projections
  /// of one input) are shared alike, as one class.
  const Class &getShareClass(Node root);
  /// Where a product reads what another one makes, the columns of both are, if the cores can gather
  /// what they have of it.
  bool sharesColumns() const {
    return hasProducts && (hasChain ? facts.problem.gatherCost && getLength() <= kMostOfChain
                                    : getLength() <= kMostOfColumns);
  }
  /// True if \p shared are the columns of a product and of what it reads of another one.
  bool isOfChain(const Class &shared) const { return hasChain && shared.isOfColumns; }
  /// The classes of such columns; none if there are not several, or an operation has two of them.
  const std::vector<Node> &getColumns();
  /// \p ofColumns: of several dims of a product the one that it does not reduce.
  template <typename IsIn> Class makeClass(IsIn isIn, bool ofColumns = false);
  /// The columns of products that read what the run's products make, and the dims that they reduce.
  void addChains(std::vector<Node> &columns);
  /// The dims of a product's result that operand \p use of it does not have.
  void addColumns(Use use, std::vector<Node> &columns);
  /// The dim of operation \p op that cores may share along \p shared: also a reduced one, whose
  /// sums they put together.
  static std::optional<unsigned> getSharedDim(const Class &shared, unsigned op) {
    return shared.dims[op] ? shared.dims[op] : shared.reducedDims[op];
  }
  bool isTileable(Node root);
  /// The groups whose reductions reduce a dim of \p tiled; false if one of them is not whole
  /// in the run, or an operation reduces it that carries nothing.
  bool findCarried(const Class &tiled, std::vector<bool> &isCarried) const;
  /// The classes of the run's operations that half of them may have, in order of appearance; or
  /// may have or carry something on.
  std::vector<Node> getRoots(bool countsCarried);

  /// Classes stay where they are as long as the run does.
  struct Loop {
    const Class *tiled = nullptr;
    int64_t numTrips = 1;
  };
  struct Share {
    const Class *shared = nullptr;
    int64_t numSlices = 1;
  };
  /// True if \p loop is over columns of products.
  bool cutsColumns(const Loop &loop);
  /// Into how many slices cores could share what \p loops leave of \p shared.
  int64_t getShareableUnits(const Class &shared, const std::vector<Loop> &loops);
  struct Candidate {
    std::vector<Loop> loops; ///< of several tiles each, outermost first
    std::vector<Share> cores;
    /// Operands of products are loaded also where one operation reads them once: a product
    /// reads device memory again for each part of a large result.
    bool loadsFactors = false;
    /// What cores need alike lies in each of them.
    bool copies = false;
    /// Which operations are done apart (NestOp::isApart); empty: none.
    std::vector<bool> isApart = {};
  };
  /// A value that a candidate would keep.
  struct Kept {
    unsigned place;
    NestTile tile;
    unsigned from, to;       ///< positions in the order of the nest
    double bytes;            ///< in the scratchpad of a core
    double savedInBytes = 0; ///< of traffic
  };
  /// What it takes to make \p entry, a gathered tile of \p nest, once.
  double getGatherInNs(const Nest &nest, const Kept &entry) const;
  /// The tile of \p entry, which \p sharing says is gathered, as its readers have it.
  Kept gather(const Candidate &candidate, const Nest &nest, const Kept &entry, unsigned gathered,
              const std::vector<unsigned> &positions) const;
  /// Whether what cores have of a value can be put together in each of them.
  bool mayGather(unsigned place) const {
    return facts.problem.gatherCost && facts.problem.values[values[place]].mayMove;
  }
  /// True if \p use reads its value, of which cores share tiles, as a whole along \p share.
  bool readsGathered(const Candidate &candidate, size_t share, Use use) const {
    const Share &along = candidate.cores[share];
    return candidate.copies && along.numSlices > 1 && isOfChain(*along.shared) &&
           !facts.problem.ops[use.op].operands[use.operand].isWrite && readsCopies(along, use);
  }
  /// True if \p use is of the tile that is gathered along some of the shares \p gathered.
  bool isGathered(const Candidate &candidate, unsigned gathered, Use use) const {
    for (size_t i = 0; i < candidate.cores.size(); ++i)
      if (gathered >> i & 1 && readsGathered(candidate, i, use))
        return true;
    return false;
  }
  /// The time of \p candidate, which \p nest becomes. \p allFit: nothing that could stay in LX
  /// had to leave it for its size. Infinite if it is not legal.
  /// Where it is \p limit or more, it may be said to be infinite.
  double evaluate(const Candidate &candidate, Nest &nest, bool &allFit, double limit);
  /// Which operations are done apart (NestOp::isApart); empty: none.
  std::vector<bool> findApart(const Candidate &candidate);
  /// The time of one tile of operation \p op if all its operands were in the scratchpads, and how
  /// often it runs. Infinite if it is not legal, or too few cores would work.
  double getLeastOf(const Candidate &candidate, unsigned op);
  /// Whether operation \p op, on \p cores of them, would leave too many cores idle, which nobody
  /// has asked for: rates do not tell what that costs.
  bool leavesIdle(unsigned op, int64_t cores) const {
    return cores > 1 && cores * 2 < getNumCores(facts.problem.ops[op].splits) &&
           !(pins && pins->cores);
  }
  /// The work slices of operation \p op, empty for one core, and how many cores they take.
  int64_t setSplits(const Candidate &candidate, unsigned op, Splits &splits) const;
  /// What no plan of \p candidate falls below: its operations with all operands in the
  /// scratchpads. Infinite if it is not legal, or too few cores would work; \p limit or more
  /// where that is all that is known.
  double getLeastOf(const Candidate &candidate, double limit);
  /// Whether \p dim of operation \p op can be two dims, the \p numSlices slices and what is in
  /// one, where an operand lies in device memory: memory goes on in whole steps of slices.
  bool canSplit(unsigned op, size_t operand, unsigned dim, const Candidate &candidate,
                int64_t numSlices) const;
  /// Depths, dims and work slices of the operations.
  /// False if an operation would have to stand both in a loop and behind it.
  bool placeOps(const Candidate &candidate, Nest &nest);
  /// Whether some operation reads alike what slices of a share could have copies of.
  bool mayCopy(const Candidate &candidate) const;
  /// Whether what cores have of some value would be put together.
  bool mayGather(const Candidate &candidate) const;
  /// True if an operation reads a value as slices of \p share could have copies of it.
  bool isReadAlike(const Share &share, unsigned place) const;
  /// Which operations each slice does for itself: those whose result cores need alike.
  void copyOps(const Candidate &candidate, Nest &nest) const;
  /// Bytes that \p use touches in all iterations of \p nest: what a loop does not move along is
  /// touched again in each of its own.
  double getBytesOfRuns(Use use, const Nest &nest) const;
  /// True if \p use, of an operation that has a dim along \p share, may be that of a copy of its
  /// slice.
  bool readsCopies(const Share &share, Use use) const {
    const std::optional<unsigned> dim = share.shared->dims[use.op - first];
    if (!dim)
      return false;
    // Slices of whole sticks.
    const TilingOp &op = facts.problem.ops[use.op];
    if (Facts::getExtents(op)[*dim] % (share.numSlices * op.units[*dim]) != 0)
      return false;
    const std::vector<layout::IndexExpr> &results = facts.getMap(use).results;
    return std::none_of(results.begin(), results.end(), [&](const layout::IndexExpr &expr) {
      return layout::dependsOn(expr, *dim);
    });
  }
  /// How the accesses of a value by the operations of a nest fit to what cores share.
  struct Sharing {
    unsigned sliced = 0, copied = 0; ///< along each share, a bit each
    unsigned gathered = 0;           ///< sliced, but some read all slices
  };
  /// Nothing if some core would not find in its own scratchpad what it reads.
  std::optional<Sharing> findSharing(const Candidate &candidate, const Nest &nest,
                                     unsigned place) const;
  /// The values that may stay, in the order of first use.
  std::vector<Kept> findKept(const Candidate &candidate, const Nest &nest,
                             const std::vector<unsigned> &positions);
  /// Drops of \p kept what does not fit, and of what others keep meanwhile (Nest::evicted).
  /// True: nothing.
  bool fitKept(std::vector<Kept> &kept, Nest &nest, const std::vector<unsigned> &positions);
  /// Values that stay in the scratchpads from before the run to behind it, for others.
  const std::vector<unsigned> &getPassing();
  /// What it takes at least to read values that no product touches, whose time would hide that.
  double getOutsideInNs() const;
  /// What no nest of the run falls below: each value from outside is read once, each that
  /// leaves is written once.
  double getLeastInNs() const;
  /// The class that \p cut means; an error says what is wrong with it.
  std::variant<Node, std::string> resolve(const ScheduledDim &dim, const NamedDims &names);
  /// What is not searched.
  struct Pins {
    std::optional<std::vector<Loop>> loops;
    std::optional<std::vector<Share>> cores;
    std::optional<bool> loadsFactors, copies;
  };
  std::optional<Pins> pins;
  /// Cores are counted in the order of the dims of what has both of \p shares.
  void order(std::vector<Share> &shares) const;
  /// Ways to share the tiles of \p loops among the cores.
  std::vector<std::vector<Share>> getShares(const std::vector<Loop> &loops,
                                            const std::vector<Node> &shareable);

  const Facts &facts;
  bool joinsReads;
  unsigned numSeparated = 0;
  unsigned first, last;
  std::vector<Node> parent;
  std::vector<bool> isMixed;          ///< of values: read or written by other coordinates, too
  std::vector<bool> isReduced;        ///< of operations: not a dim of the result
  std::vector<bool> isInner;          ///< of operations: within another dim of the result
  std::vector<bool> isTaken;          ///< of values: an operation has the dim
  std::vector<unsigned> values;       ///< that the run uses, in order of first use
  std::vector<std::vector<Use>> uses; ///< of each of `values`
  std::vector<bool> touchesBoxes;     ///< of each of `values`: each use touches a box of it
  std::vector<bool> touchesAll;       ///< of each of `values`: each use touches all of it
  std::map<Node, Class> classes;      ///< of the run as it is; kNone: of all columns
  std::optional<std::vector<Node>> columns; ///< of the run as it is
  bool hasProducts = false;
  std::vector<bool> isOfProduct; ///< of each of `values`: a product of the run has a part in it
  bool hasChain = false;         ///< a product has such an operand
  std::optional<std::vector<unsigned>> passing;      ///< of the run as it is
  std::optional<double> outsideInNs;                 ///< of the run as it is
  std::vector<std::pair<unsigned, int64_t>> tilesOf; ///< of the last operation that was asked for
  Splits splitsOf;
  std::vector<unsigned> places; ///< of every value of the problem in `values`, or kNone
};

} // namespace spyre::planning::tiling

#endif // SPYRE_LIB_PLANNING_TILINGRUN_H
