//===- TimeTiling.cpp - Tiles of operations over time ----------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs of operations grow one by one (TilingRun.h). For each class of dims that may be tiled,
// each that cores may share and each number of tiles the traffic is counted. What does not
// fit into LX together goes back to device memory, the largest first. The run that saves most
// from its first operation on becomes a nest.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/TimeTiling.h"

#include "TilingRun.h"

#include <utility>

namespace spyre::planning {

/// Runs up to here are judged at each length; longer ones at multiples of it, and where they
/// end.
static constexpr unsigned kEachLength = 16;
/// Nothing is looked for where the least that is possible is that near.
static constexpr double kNoBetter = 1.02;
/// How many operations later a nest may begin that saves more than one that begins here.
static constexpr unsigned kLookahead = 3;
/// More tiles than that start more than they compute.
static constexpr int64_t kMostTiles = 1 << 16;
/// Of more pairs of numbers of tiles, the outer loop only takes one unit at a time.
static constexpr size_t kMostPairs = 256;
/// Longer runs are tiled by one loop.
static constexpr unsigned kMostOfTwoLoops = 32;
/// Savings that differ by less are the same.
static constexpr double kAsGood = 0.999;
/// A nest has to be better than the same operations untiled by this factor: rates are rough.
static constexpr double kWorthwhile = 0.97;

namespace tiling {

double Run::evaluate(const Candidate &candidate, Nest &nest, bool &allFit) {
  const TilingProblem &problem = facts.problem;
  // Slices that cores get of the shared dim of one tile.
  const Class &shared = getClass(candidate.shared);
  std::vector<const Class *> tiled;
  int64_t extent = shared.extent, trips = 1;
  for (const Loop &loop : candidate.loops) {
    tiled.push_back(&getClass(loop.tiled));
    trips *= loop.numTrips;
    if (candidate.shared == loop.tiled)
      extent /= loop.numTrips;
  }
  int64_t units = extent / std::max<int64_t>(1, shared.unit);
  int64_t cores = 1;
  for (int64_t n = 2; n <= problem.numCores; ++n)
    if (units % n == 0)
      cores = n;
  nest = {};
  nest.first = first;
  nest.last = last;
  nest.numCores = cores;
  for (const Loop &loop : candidate.loops)
    nest.loops.push_back({{}, loop.numTrips});
  double productsInNs = 0;
  for (unsigned op = first; op <= last; ++op) {
    for (size_t i = 0; i < tiled.size(); ++i)
      nest.loops[i].dims.push_back(*tiled[i]->dims[op - first]);
    std::optional<unsigned> dim = shared.dims[op - first];
    nest.coreDims.push_back(cores > 1 ? dim : std::nullopt);
    productsInNs +=
        double(problem.ops[op].macs) / (problem.macsPerNs * double(dim ? cores : problem.numCores));
  }

  struct Kept {
    unsigned place;
    NestTile tile;
    unsigned from, to;
    double bytes; ///< in the scratchpad of a core
  };
  std::vector<Kept> kept;
  for (unsigned place = 0; place < values.size(); ++place) {
    unsigned number = values[place];
    const TilingValue &value = problem.values[number];
    unsigned writes = 0;
    bool isPossible = value.mayStay;
    for (Use use : uses[place]) {
      writes += problem.ops[use.op].operands[use.operand].isWrite;
      isPossible &=
          !problem.ops[use.op].needsDeviceMemory && nest.coreDims[use.op - first].has_value();
    }
    std::vector<unsigned> tiledDims;
    for (const Class *loop : tiled)
      if (loop->valueDims[place])
        tiledDims.push_back(*loop->valueDims[place]);
    std::optional<unsigned> sharedDim = shared.valueDims[place];
    if (!isPossible || !sharedDim || tiledDims.size() != candidate.loops.size() ||
        !touchesAll[place])
      continue;
    bool isWrittenFirst =
        writes == 1 &&
        problem.ops[uses[place].front().op].operands[uses[place].front().operand].isWrite;
    // Without tiles an internal value may stay as long as it is used, beyond the run as well,
    // and may have come that way.
    bool isWhole = trips == 1 && value.isInternal;
    bool isInside = value.isInternal && facts.firstUse[number] >= first &&
                    (isWhole || facts.lastUse[number] <= last) && isWrittenFirst;
    NestTile tile{number, std::move(tiledDims), *sharedDim};
    bool isReused = !isInside && !isWhole && uses[place].size() > 1;
    tile.isLoaded = isReused && writes == 0;
    tile.isStored = isReused && isWrittenFirst;
    if (!isInside && (!candidate.movesTiles || !(tile.isLoaded || tile.isStored)))
      continue;
    kept.push_back({place, tile, tile.isLoaded ? first : uses[place].front().op,
                    uses[place].back().op,
                    double(value.sizeInBytes) / double(trips) / double(cores)});
  }
  std::vector<double> bytesAt(values.size()); // of what is kept
  for (const Kept &entry : kept)
    bytesAt[entry.place] = entry.bytes;
  // Whether the operation that reads \p input last may write its result there.
  auto isReplaced = [&](const Kept &input) {
    const TilingOp &op = problem.ops[input.to];
    const TilingOperand &result = op.operands.back();
    const unsigned place = places[result.value];
    if (bytesAt[place] != input.bytes || uses[place].front().op != input.to)
      return false;
    return std::any_of(op.operands.begin(), op.operands.end() - 1, [&](const auto &operand) {
      return operand.value == values[input.place] && operand.mayBeReplaced;
    });
  };
  // What does not fit together leaves, the largest first.
  allFit = true;
  while (true) {
    // What is live at each operation, from what begins and ends there. A result takes the
    // place of an input that ends with it.
    std::vector<double> change(last - first + 2);
    for (const Kept &entry : kept) {
      change[entry.from - first] += entry.bytes;
      change[entry.to - first + (isReplaced(entry) ? 0 : 1)] -= entry.bytes;
    }
    double most = 0, live = 0;
    unsigned at = first;
    for (unsigned op = first; op <= last; ++op) {
      live += change[op - first];
      if (live > most) {
        most = live;
        at = op;
      }
    }
    if (most <= double(problem.scratchpadInBytes))
      break;
    allFit = false;
    auto largest = kept.end();
    for (auto entry = kept.begin(); entry != kept.end(); ++entry)
      if (entry->from <= at && at <= entry->to &&
          (largest == kept.end() || entry->bytes > largest->bytes))
        largest = entry;
    bytesAt[largest->place] = 0;
    kept.erase(largest);
  }

  double bytes = 0;
  std::vector<bool> isKept(values.size());
  for (const Kept &entry : kept) {
    isKept[entry.place] = true;
    const TilingValue &value = problem.values[entry.tile.value];
    if (entry.tile.isLoaded || entry.tile.isStored)
      bytes += double(value.sizeInBytes);
    // A whole value keeps its buffer.
    if (trips > 1 || entry.tile.isLoaded || entry.tile.isStored)
      nest.tiles.push_back(entry.tile);
  }
  for (unsigned place = 0; place < values.size(); ++place) {
    if (isKept[place])
      continue;
    for (Use use : uses[place]) {
      const layout::IndexMap &map = facts.getMap(use);
      double moved = facts.getBytes(use);
      // Read again by each loop that does not advance it.
      for (const NestLoop &loop : nest.loops)
        if (std::none_of(map.results.begin(), map.results.end(), [&](const auto &expr) {
              return layout::dependsOn(expr, loop.dims[use.op - first]);
            }))
          moved *= double(loop.numTrips);
      bytes += moved;
    }
  }
  return bytes / problem.memoryInBytesPerNs + productsInNs;
}

double Run::getLeastInNs() const {
  double bytes = 0, macs = 0;
  for (unsigned place = 0; place < values.size(); ++place) {
    unsigned number = values[place];
    bool isInside = facts.problem.values[number].isInternal && facts.firstUse[number] >= first &&
                    facts.lastUse[number] <= last;
    double most = 0;
    for (Use use : uses[place])
      most = std::max(most, facts.getBytes(use));
    bytes += isInside ? 0 : most;
  }
  for (unsigned op = first; op <= last; ++op)
    macs += double(facts.problem.ops[op].macs);
  return bytes / facts.problem.memoryInBytesPerNs +
         macs / (facts.problem.macsPerNs * double(facts.problem.numCores));
}

bool Run::isLegal(const Nest &nest) const {
  for (unsigned number = first; number <= last; ++number) {
    const TilingOp &op = facts.problem.ops[number];
    // Rates do not tell what idle cores cost.
    if (nest.coreDims[number - first] && nest.numCores * 2 < op.numCores)
      return false;
    if (!op.division)
      continue;
    DivisionProblem division = *op.division;
    for (const NestLoop &loop : nest.loops)
      division.dims[loop.dims[number - first]].extent /= loop.numTrips;
    for (size_t i = 0; i < division.operands.size(); ++i) {
      for (const NestLoop &loop : nest.loops) {
        unsigned dim = loop.dims[number - first];
        division.operands[i].deviceCoordinates.extents[dim] = division.dims[dim].extent;
      }
      // A value as a whole may end up in device memory after all.
      division.operands[i].isInDeviceMemory =
          nest.loops.empty() ||
          std::none_of(nest.tiles.begin(), nest.tiles.end(),
                       [&](const NestTile &tile) { return tile.value == op.operands[i].value; });
    }
    if (std::optional<unsigned> shared = nest.coreDims[number - first]) {
      Splits splits(division.dims.size(), 1);
      splits[*shared] = nest.numCores;
      if (!verify(division, splits).empty())
        return false;
    } else if (std::holds_alternative<DivisionError>(divide(division, {}))) {
      return false;
    }
  }
  return true;
}

/// Into how many tiles of whole units a dim of \p extent can be cut, rising.
static std::vector<int64_t> getTileCounts(int64_t extent, int64_t unit) {
  std::vector<int64_t> counts;
  if (extent % unit)
    return counts; // one unit is cut off: a last tile of another size
  const int64_t units = extent / unit;
  for (int64_t small = 1; small <= kMostTiles && small * small <= units; ++small) {
    if (units % small)
      continue;
    for (int64_t count : {small, units / small})
      if (count > 1 && count <= kMostTiles)
        counts.push_back(count);
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

std::optional<Nest> Run::findBest() {
  std::vector<Node> shareable = getShareable();
  Nest nest;
  bool allFit = true;
  double untiledInNs = std::numeric_limits<double>::infinity();
  for (Node shared : shareable)
    untiledInNs = std::min(untiledInNs, evaluate({{}, shared, false}, nest, allFit));
  std::optional<Nest> best;
  // Takes the candidate if it is the best so far; true if smaller tiles cannot be better.
  auto consider = [&](const Candidate &candidate) {
    double ns = evaluate(candidate, nest, allFit);
    if (best && ns >= best->tiledInNs)
      return allFit;
    if (!isLegal(nest))
      return false; // smaller tiles reach less far
    best = nest;
    best->tiledInNs = ns;
    best->untiledInNs = untiledInNs;
    return allFit; // more tiles read more often what does not advance
  };
  const double leastInNs = getLeastInNs();
  std::vector<Node> tileable = getTileable();
  std::vector<std::vector<int64_t>> counts; // of tiles, for each of these
  for (Node tiled : tileable)
    counts.push_back(getTileCounts(getClass(tiled).extent, getClass(tiled).unit));
  for (Node shared : shareable) {
    if (consider({{}, shared, true}))
      continue;
    for (size_t i = 0; i < tileable.size(); ++i)
      for (int64_t trips : counts[i])
        if (consider({{{tileable[i], trips}}, shared, true}))
          break;
    if (getLength() > kMostOfTwoLoops || (best && best->tiledInNs <= kNoBetter * leastInNs))
      continue;
    for (size_t i = 0; i < tileable.size(); ++i)
      for (size_t j = i + 1; j < tileable.size(); ++j) {
        bool areMany = counts[i].size() * counts[j].size() > kMostPairs;
        for (int64_t outer : counts[i]) {
          if (areMany && outer != counts[i].back())
            continue;
          for (int64_t inner : counts[j])
            if (consider({{{tileable[i], outer}, {tileable[j], inner}}, shared, true}))
              break;
        }
      }
  }
  bool isNest = best && best->tiledInNs < kWorthwhile * untiledInNs &&
                (!best->loops.empty() ||
                 std::any_of(
                     best->tiles.begin(), best->tiles.end(),
                     [](const NestTile &tile) { return tile.isLoaded || tile.isStored; }));
  return isNest ? best : std::nullopt;
}

} // namespace tiling

/// What is saved by \p nest.
static double getSaving(const Nest &nest) { return nest.untiledInNs - nest.tiledInNs; }

/// The best nest that begins with operation \p first.
static std::optional<Nest> findNest(const tiling::Facts &facts, unsigned first) {
  std::optional<Nest> best;
  if (facts.problem.ops[first].isFixed)
    return best;
  tiling::Run run(facts, first);
  for (size_t numTileable = run.getTileable().size(); numTileable > 0;) {
    // A longer run is tried before it is known to be one; where fewer dims are left, the
    // shorter is the last of its kind.
    tiling::Run shorter = run;
    size_t left = run.grow() ? run.getTileable().size() : 0;
    bool isLast = left != std::exchange(numTileable, left);
    unsigned length = shorter.getLength();
    if (!isLast && length > kEachLength && length % kEachLength)
      continue;
    std::optional<Nest> nest = shorter.findBest();
    // Of runs that save the same the longest: what follows would have to be read again.
    if (nest && (!best || getSaving(*nest) >= kAsGood * getSaving(*best)))
      best = std::move(nest);
  }
  return best;
}

std::vector<Nest> findNests(const TilingProblem &problem) {
  tiling::Facts facts(problem);
  const unsigned count = static_cast<unsigned>(problem.ops.size());
  std::vector<std::optional<Nest>> found(count); // by first operation, where `isKnown`
  std::vector<bool> isKnown(count);
  auto at = [&](unsigned first) -> std::optional<Nest> & {
    if (!isKnown[first])
      found[first] = findNest(facts, first);
    isKnown[first] = true;
    return found[first];
  };
  std::vector<Nest> nests;
  for (unsigned first = 0; first < count;) {
    std::optional<Nest> &nest = at(first);
    // One that begins a little later may do without what disturbs this one.
    bool isBest = nest.has_value();
    if (nest && nest->last - first < kMostOfTwoLoops)
      for (unsigned later = first + 1; later < std::min(count, first + 1 + kLookahead); ++later)
        isBest &=
            later > nest->last || !at(later) || getSaving(*at(later)) <= getSaving(*nest) / kAsGood;
    first = isBest ? nest->last + 1 : first + 1;
    if (isBest)
      nests.push_back(*nest);
  }
  return nests;
}

} // namespace spyre::planning
