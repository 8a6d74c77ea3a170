//===- NestKept.cpp - What a candidate nest keeps in LX ----------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which values may stay in the scratchpads, tile by tile or as a whole, and which of them fit
// together with what others keep there meanwhile.
//
//===----------------------------------------------------------------------===//

#include "TilingRun.h"

namespace spyre::planning::tiling {

/// Of the scratchpad, what tiles may take: copies of other operations need some, too.
static constexpr double kShareOfScratchpad = 0.98;
/// Bytes of traffic, more than any value's: it stays before all others.
static constexpr double kMustStay = 1e18;

double Run::getBytesOfRuns(Use use, const Nest &nest) const {
  const NestOp &op = nest.ops[use.op - first];
  const std::vector<layout::IndexExpr> &results = facts.getMap(use).results;
  double bytes = facts.getBytes(use);
  for (unsigned loop = 0; loop < op.depth; ++loop) {
    const bool isMoved =
        op.dims[loop] && std::any_of(results.begin(), results.end(), [&](const auto &expr) {
          return layout::dependsOn(expr, *op.dims[loop]);
        });
    bytes *= isMoved ? 1 : double(nest.numTrips[loop]);
  }
  return bytes;
}

std::optional<Run::Sharing> Run::findSharing(const Candidate &candidate, const Nest &nest,
                                             unsigned place) const {
  const size_t numShares = candidate.cores.size();
  Sharing sharing;
  unsigned leftOut = 0;
  // Every core finds what it wrote if all operations share it along the same dims, in the same
  // order.
  std::optional<bool> isReversed;
  for (Use use : uses[place]) {
    const NestOp &op = nest.ops[use.op - first];
    if (op.isApart)
      continue;
    for (size_t i = 0; i < numShares; ++i) {
      const Share &share = candidate.cores[i];
      if (share.numSlices == 1)
        continue;
      const unsigned bit = 1u << i;
      if (!op.shareDims[i]) {
        // A slice for itself: it has a copy of what is no slice.
        (op.copied & bit ? sharing.copied : leftOut) |= bit;
        if (op.copied & bit && share.shared->isInValue[place])
          return std::nullopt;
      } else if (share.shared->valueDims[place]) {
        // All slices of it, as columns of its own are what is shared.
        if (!isOfChain(*share.shared) || !readsCopies(share, use))
          sharing.sliced |= bit;
        else if (mayGather(place) && readsGathered(candidate, i, use))
          sharing.gathered |= bit;
        else
          return std::nullopt;
      } else {
        // The result of a reduced dim, too: which core has the whole sum is not public.
        if (!candidate.copies || share.shared->isInValue[place] || !readsCopies(share, use) ||
            facts.problem.ops[use.op].operands[use.operand].isWrite)
          return std::nullopt;
        sharing.copied |= bit;
      }
    }
    if (numShares == 2 && op.shareDims[0] && op.shareDims[1]) {
      const bool isReversedHere = *op.shareDims[1] < *op.shareDims[0];
      if (isReversed.value_or(isReversedHere) != isReversedHere)
        return std::nullopt;
      isReversed = isReversedHere;
    }
  }
  // Copies of a number would be elements of one stick.
  if (sharing.copied && facts.problem.values[values[place]].shape.empty())
    return std::nullopt;
  if ((sharing.sliced & sharing.copied) | (leftOut & (sharing.sliced | sharing.copied)))
    return std::nullopt;
  if (sharing.gathered & ~sharing.sliced)
    return std::nullopt;
  // Copies are counted in the order of the shares.
  return (sharing.copied | sharing.gathered) && isReversed.value_or(false) ? std::nullopt
                                                                           : std::optional(sharing);
}

std::vector<Run::Kept> Run::findKept(const Candidate &candidate, const Nest &nest,
                                     const std::vector<unsigned> &positions) {
  const unsigned numLoops = static_cast<unsigned>(candidate.loops.size());
  std::vector<Kept> kept;
  for (unsigned place = 0; place < values.size(); ++place) {
    const unsigned number = values[place];
    const TilingValue &value = facts.problem.values[number];
    if (!value.mayStay || !touchesBoxes[place])
      continue;
    bool isPossible = true;
    unsigned numUses = 0, numWrites = 0, numFirstWrites = 0, numCarried = 0, leastDepth = numLoops,
             mostDepth = 0, from = kNone, to = 0;
    bool isReadByCopies = false;
    const Use *firstWithin = nullptr;
    for (const Use &use : uses[place]) {
      const NestOp &op = nest.ops[use.op - first];
      if (op.isApart)
        continue;
      firstWithin = firstWithin ? firstWithin : &use;
      const TilingOperand &operand = facts.problem.ops[use.op].operands[use.operand];
      // Boxes of it that are written before it is read.
      numFirstWrites += operand.isWrite && numFirstWrites == numUses && !op.isAfter &&
                        op.depth == nest.ops[firstWithin->op - first].depth;
      ++numUses;
      numWrites += operand.isWrite;
      numCarried += operand.isWrite && facts.problem.ops[use.op].carried;
      isPossible &= !operand.needsDeviceMemory && !op.splits.empty();
      isReadByCopies |= !operand.isWrite && op.copied;
      // What a loop moves along is a dim of the tile, not a part of one.
      const layout::IndexMap &map = facts.getMap(use);
      for (unsigned i = 0; i < op.dims.size(); ++i)
        for (unsigned r = 0; op.dims[i] && r < map.results.size(); ++r)
          if (layout::dependsOn(map.results[r], *op.dims[i]))
            isPossible &= candidate.loops[i].tiled->valueDims[place] == r;
      leastDepth = std::min(leastDepth, op.depth);
      mostDepth = std::max(mostDepth, op.depth);
      from = std::min(from, positions[use.op - first]);
      to = std::max(to, positions[use.op - first]);
    }
    std::optional<Sharing> sharing =
        isPossible && firstWithin ? findSharing(candidate, nest, place) : std::nullopt;
    if (!sharing)
      continue;
    NestTile tile;
    tile.value = number;
    // The loops that move over it; within them it is the same.
    for (unsigned i = 0; i < numLoops; ++i)
      if (candidate.loops[i].tiled->isInValue[place])
        tile.depth = i + 1;
    const Use &firstUse = *firstWithin;
    // What a group carries on is filled once, and then written again by the group.
    const bool isWrittenFirst =
        facts.problem.ops[firstUse.op].operands[firstUse.operand].isWrite &&
        (numWrites == 1 || (numCarried == 0 && numWrites == numFirstWrites) ||
         (numWrites == numCarried + 1 && !facts.problem.ops[firstUse.op].carried));
    // What no loop moves over stays as a whole beyond the run as well, if it did untiled and
    // the operations of the run share it as they did.
    const bool isWhole =
        tile.depth == 0 && value.isInternal && facts.isResident[number] && !sharing->copied &&
        std::all_of(uses[place].begin(), uses[place].end(), [&](Use use) {
          return nest.ops[use.op - first].splits == facts.problem.ops[use.op].splits;
        });
    const bool isWithin = value.isInternal && facts.firstUse[number] >= first &&
                          facts.lastUse[number] <= last && isWrittenFirst;
    const bool isInside = isWhole || isWithin;
    // What is gathered is a copy of what the nest has written.
    if (sharing->gathered && (!isWithin || numWrites != numFirstWrites))
      continue;
    // Not what is read beyond the run: that is no tile, also where a loop writes it first.
    if (isWrittenFirst && (isWithin || !isWhole))
      tile.depth = std::max(tile.depth, nest.ops[firstUse.op - first].depth);
    if (tile.depth > leastDepth)
      continue; // read while a loop moves over it, or written again
    int64_t reads = 0;
    for (Use use : uses[place])
      if (!nest.ops[use.op - first].isApart)
        reads += nest.getNumRuns(nest.ops[use.op - first].depth) / nest.getNumRuns(tile.depth) +
                 (candidate.loadsFactors && numWrites == 0 && facts.problem.ops[use.op].macs > 0);
    // Slices that do the same start from a copy of their own.
    reads += isReadByCopies && numWrites == 0;
    const bool isReused = !isInside && reads > 1;
    tile.isLoaded = isReused && numWrites == 0;
    // What is stored is all of it: others may have written what is missing here.
    tile.isStored =
        isReused && isWrittenFirst && numWrites == 1 && !sharing->copied && touchesAll[place];
    if (!isInside && !tile.isLoaded && !tile.isStored)
      continue;
    double parts = 1;
    for (unsigned i = 0; i < tile.depth; ++i) {
      tile.dims.push_back(candidate.loops[i].tiled->valueDims[place]);
      isPossible &= tile.dims.back() || !candidate.loops[i].tiled->isInValue[place];
      // Each iteration would store the whole of it.
      isPossible &= tile.dims.back() || !tile.isStored;
      parts *= tile.dims.back() ? double(candidate.loops[i].numTrips) : 1;
    }
    if (!isPossible)
      continue;
    tile.splits.assign(value.shape.size(), 1);
    tile.copied = sharing->copied;
    std::vector<unsigned> slicedDims;
    for (size_t i = 0; i < candidate.cores.size(); ++i)
      if (sharing->sliced >> i & 1) {
        tile.shareDims[i] = candidate.cores[i].shared->valueDims[place];
        slicedDims.push_back(*candidate.cores[i].shared->valueDims[place]);
        tile.splits[slicedDims.back()] = candidate.cores[i].numSlices;
        parts *= double(candidate.cores[i].numSlices);
      }
    // A copy counts the cores in the order of the value's dims, other operations in that of
    // their own.
    if (slicedDims.size() == 2 && (tile.isLoaded || tile.isStored)) {
      const auto &dims = nest.ops[firstUse.op - first].shareDims;
      if ((*dims[0] < *dims[1]) != (slicedDims[0] < slicedDims[1]))
        continue;
    }
    if ((tile.isLoaded || tile.isStored) && !facts.canCopy(tile, nest.numTrips))
      continue;
    // Used in deeper loops, it is needed from their first iteration to their last.
    if (mostDepth > tile.depth) {
      for (unsigned op = 0; op < nest.ops.size(); ++op)
        if (nest.ops[op].depth > tile.depth) {
          from = std::min(from, positions[op]);
          to = std::max(to, positions[op]);
        }
    }
    Kept entry{place, std::move(tile), from, to, double(value.sizeInBytes) / parts};
    for (Use use : uses[place]) {
      // What each slice computes for itself cannot go out.
      const bool mustStay = facts.problem.ops[use.op].operands[use.operand].isWrite &&
                            nest.ops[use.op - first].copied;
      entry.savedInBytes += mustStay ? kMustStay : getBytesOfRuns(use, nest);
    }
    kept.push_back(std::move(entry));
    if (!sharing->gathered)
      continue;
    Kept gathered = gather(candidate, nest, kept.back(), sharing->gathered, positions);
    // Once it is gathered only others need the slices.
    if (mostDepth == gathered.tile.depth) {
      kept.back().to = gathered.from;
      for (Use use : uses[place])
        if (!isGathered(candidate, sharing->gathered, use))
          kept.back().to = std::max(kept.back().to, positions[use.op - first]);
    }
    kept.push_back(std::move(gathered));
  }
  return kept;
}

Run::Kept Run::gather(const Candidate &candidate, const Nest &nest, const Kept &entry,
                      unsigned gathered, const std::vector<unsigned> &positions) const {
  Kept made{entry.place, entry.tile, kNone, entry.to, entry.bytes};
  made.tile.isGathered = true;
  made.tile.copied = gathered;
  for (size_t i = 0; i < candidate.cores.size(); ++i)
    if (gathered >> i & 1) {
      made.tile.splits[*made.tile.shareDims[i]] = 1;
      made.tile.shareDims[i].reset();
      made.bytes *= double(candidate.cores[i].numSlices);
    }
  for (Use use : uses[entry.place])
    if (isGathered(candidate, gathered, use)) {
      made.from = std::min(made.from, positions[use.op - first]);
      made.savedInBytes += getBytesOfRuns(use, nest);
    }
  // Read in deeper loops, it is made before they begin.
  for (unsigned op = 0; op < nest.ops.size(); ++op)
    if (nest.ops[op].depth > entry.tile.depth)
      made.from = std::min(made.from, std::max(entry.from, positions[op]));
  return made;
}

/// For each of \p residents the one that takes its place, if that is as large; else as many as
/// there are.
static std::vector<size_t> findReplacements(const std::vector<Resident> &residents) {
  std::vector<size_t> byId(residents.size()), found(residents.size(), residents.size());
  std::iota(byId.begin(), byId.end(), 0);
  std::sort(byId.begin(), byId.end(),
            [&](size_t a, size_t b) { return residents[a].id < residents[b].id; });
  for (size_t i = 0; i < residents.size(); ++i) {
    if (!residents[i].replacedBy)
      continue;
    const auto other =
        std::lower_bound(byId.begin(), byId.end(), *residents[i].replacedBy,
                         [&](size_t at, unsigned id) { return residents[at].id < id; });
    if (other != byId.end() && residents[*other].id == *residents[i].replacedBy &&
        residents[*other].bytes == residents[i].bytes)
      found[i] = *other;
  }
  return found;
}

bool fit(std::vector<Resident> &residents, size_t numPositions, double capacity) {
  const std::vector<size_t> replacements = findReplacements(residents);
  // There are many; what is dropped is taken out at the end.
  std::vector<bool> isLeft(residents.size() + 1, true);
  isLeft.back() = false;
  std::vector<double> change;
  for (bool allFit = true;; allFit = false) {
    // What is live at each operation, from what begins and ends there. A result takes the
    // place of an input that ends with it.
    change.assign(numPositions + 1, 0);
    for (size_t i = 0; i < residents.size(); ++i) {
      if (!isLeft[i])
        continue;
      const Resident &resident = residents[i];
      change[resident.from] += resident.bytes;
      change[resident.to + (isLeft[replacements[i]] ? 0 : 1)] -= resident.bytes;
    }
    double most = 0, live = 0;
    unsigned at = 0;
    for (unsigned position = 0; position < numPositions; ++position) {
      live += change[position];
      if (live > most) {
        most = live;
        at = position;
      }
    }
    if (most <= capacity) {
      size_t number = 0;
      std::erase_if(residents, [&](const Resident &) { return !isLeft[number++]; });
      return allFit;
    }
    // Per byte of the scratchpad; of those that save the same the largest.
    std::optional<size_t> least;
    for (size_t i = 0; i < residents.size(); ++i) {
      const Resident &entry = residents[i];
      if (!isLeft[i] || entry.from > at || entry.to < at)
        continue;
      double mine = least ? entry.savedInBytes * residents[*least].bytes : -1,
             other = least ? residents[*least].savedInBytes * entry.bytes : 0;
      if (mine < other || (mine == other && entry.bytes > residents[*least].bytes))
        least = i;
    }
    isLeft[*least] = false;
  }
}

const std::vector<unsigned> &Run::getPassing() {
  if (passing)
    return *passing;
  passing.emplace();
  for (unsigned value = 0; value < facts.isResident.size(); ++value)
    if (facts.isResident[value] && facts.firstUse[value] < first && facts.lastUse[value] > last &&
        places[value] == kNone)
      passing->push_back(value);
  return *passing;
}

bool Run::fitKept(std::vector<Kept> &kept, Nest &nest, const std::vector<unsigned> &positions) {
  std::vector<unsigned> opAt(positions.size());
  for (unsigned op = 0; op < positions.size(); ++op)
    opAt[positions[op]] = op + first;
  std::vector<Resident> residents;
  const unsigned numOwn = static_cast<unsigned>(values.size());
  // A value's tiles, the values that pass by, gathered tiles.
  auto getId = [&](const Kept &entry) {
    return entry.place + (entry.tile.isGathered
                              ? numOwn + static_cast<unsigned>(facts.problem.values.size())
                              : 0);
  };
  for (const Kept &entry : kept) {
    Resident resident{getId(entry), entry.from,         entry.to,
                      entry.bytes,  entry.savedInBytes, std::nullopt};
    const unsigned number = opAt[entry.to];
    std::optional<unsigned> result = facts.getReplacement(number, values[entry.place]);
    if (result && uses[places[*result]].front().op == number &&
        entry.tile.depth == nest.ops[number - first].depth)
      resident.replacedBy = places[*result];
    residents.push_back(resident);
  }
  for (unsigned value : getPassing())
    residents.push_back({numOwn + value, 0, static_cast<unsigned>(positions.size()) - 1,
                         double(*facts.problem.values[value].untiledPartInBytes),
                         facts.getBytesOfUses(value), std::nullopt});
  if (fit(residents, positions.size(),
          kShareOfScratchpad * double(facts.problem.scratchpadInBytes)))
    return true;
  std::vector<bool> isLeft(2 * numOwn + facts.problem.values.size());
  for (const Resident &resident : residents)
    isLeft[resident.id] = true;
  for (unsigned value : getPassing())
    if (!isLeft[numOwn + value])
      nest.evicted.push_back(value);
  // A gathered tile and what it is made of are there together.
  for (const Kept &entry : kept)
    if (entry.tile.isGathered && !(isLeft[entry.place] && isLeft[getId(entry)]))
      isLeft[entry.place] = isLeft[getId(entry)] = false;
  std::erase_if(kept, [&](const Kept &entry) { return !isLeft[getId(entry)]; });
  return false;
}

} // namespace spyre::planning::tiling
