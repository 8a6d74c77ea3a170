//===- NestCost.cpp - What a candidate nest takes --------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A candidate says which loops there are and how cores share tiles. From that follow the loops
// that each operation stands in, the values that may stay in LX (NestKept.cpp), and the time.
//
//===----------------------------------------------------------------------===//

#include "TilingRun.h"

#include <bit>
#include <cassert>

namespace spyre::planning::tiling {

static constexpr double kIllegal = std::numeric_limits<double>::infinity();
/// An operation with dims for copies has at most so many: descriptors have names for seven, and
/// layouts may take one apart.
static constexpr size_t kMostDims = 6;

double Facts::getCostInNs(unsigned number, const std::vector<std::pair<unsigned, int64_t>> &tiles,
                          const Splits &splits, uint64_t inLX, bool reachesAll) const {
  const TilingOp &op = problem.ops[number];
  key.clear();
  key.push_back(reinterpret_cast<intptr_t>(op.division));
  key.push_back(reinterpret_cast<intptr_t>(op.cost));
  key.push_back(
      static_cast<int64_t>(inLX << 2 | uint64_t(splits.empty()) << 1 | uint64_t(reachesAll)));
  for (auto [dim, numTrips] : tiles)
    key.push_back(numTrips << 8 | dim);
  key.push_back(-1);
  for (size_t dim = 0; dim < splits.size(); ++dim)
    if (splits[dim] != 1)
      key.push_back(splits[dim] << 8 | int64_t(dim));
  if (auto known = costs.find(key); known != costs.end())
    return known->second;
  double &cost = costs[key] = kIllegal;
  DivisionProblem division = *op.division;
  division.maxCores = std::min(division.maxCores, problem.numCores);
  for (auto [dim, numTrips] : tiles) {
    division.dims[dim].extent /= numTrips;
    for (DivisionOperand &operand : division.operands)
      operand.deviceCoordinates.extents[dim] = division.dims[dim].extent;
  }
  auto place = [&](uint64_t bits) {
    for (size_t i = 0; i < division.operands.size(); ++i)
      division.operands[i].isInDeviceMemory = !(bits >> i & 1);
  };
  place(reachesAll ? 0 : inLX);
  Splits own = splits;
  if (own.empty()) {
    DivisionOptions options;
    options.cost = *op.cost;
    auto plan = divide(division, options);
    if (std::holds_alternative<DivisionError>(plan))
      return kIllegal;
    own = std::move(std::get<DivisionPlan>(plan).splits);
  } else if (!verify(division, own).empty()) {
    return kIllegal;
  }
  place(inLX);
  return cost = (*op.cost)(division, own);
}

const std::pair<Splits, double> &Facts::getOwnDivision(unsigned number) const {
  auto [own, isNew] = ownDivisions.try_emplace(number, Splits(), kIllegal);
  const TilingOp &op = problem.ops[number];
  if (!isNew || !op.division)
    return own->second;
  DivisionProblem division = *op.division;
  division.maxCores = std::min(division.maxCores, problem.numCores);
  DivisionOptions options;
  options.cost = *op.cost;
  options.exhaustive = op.macs > 0;
  auto plan = divide(division, options);
  if (auto *found = std::get_if<DivisionPlan>(&plan)) {
    const double ns = (*op.cost)(division, found->splits);
    own->second = {std::move(found->splits), ns};
  }
  return own->second;
}

bool Facts::canCopy(const NestTile &tile, const std::vector<int64_t> &numTrips) const {
  const TilingValue &value = problem.values[tile.value];
  if (value.sizeInBytes <= problem.spanLimitInBytes)
    return true; // all of it
  layout::IndexMap map{value.shape, {}};
  for (unsigned dim = 0; dim < value.shape.size(); ++dim)
    map.results.push_back(layout::makeInput(dim));
  for (unsigned i = 0; i < tile.dims.size(); ++i)
    if (tile.dims[i])
      map.extents[*tile.dims[i]] /= numTrips[i];
  auto operand = makeOperand(layout::makeAccess(map), value.memory, tile.isStored);
  if (std::holds_alternative<DivisionError>(operand))
    return false;
  DivisionProblem division;
  for (int64_t extent : map.extents) {
    division.dims.push_back({});
    division.dims.back().extent = extent;
  }
  division.operands.push_back(std::move(std::get<DivisionOperand>(operand)));
  setElementsPerStick(division);
  return getSpanInBytes(division, division.operands.front(), tile.splits) <=
         problem.spanLimitInBytes;
}

int64_t Run::setSplits(const Candidate &candidate, unsigned op, Splits &splits) const {
  int64_t cores = 1;
  splits.clear();
  for (const Share &share : candidate.cores)
    if (std::optional<unsigned> dim = getSharedDim(*share.shared, op - first);
        dim && share.numSlices > 1) {
      splits.resize(facts.problem.ops[op].units.size(), 1);
      splits[*dim] = share.numSlices;
      cores *= share.numSlices;
    }
  return cores;
}

double Run::getLeastOf(const Candidate &candidate, unsigned number) {
  const TilingOp &op = facts.problem.ops[number];
  int64_t runs = 1, runsHere = 1;
  tilesOf.clear();
  for (const Loop &loop : candidate.loops) {
    runs *= loop.numTrips;
    if (loop.tiled->sides[number - first] != Side::Inside)
      continue;
    runsHere = runs;
    if (std::optional<unsigned> dim = loop.tiled->cutDims[number - first])
      tilesOf.emplace_back(*dim, loop.numTrips);
  }
  const int64_t cores = setSplits(candidate, number, splitsOf);
  // Copies are known later.
  if (leavesIdle(number, cores) && !(candidate.copies && op.macs == 0))
    return kIllegal;
  return facts.getCostInNs(number, tilesOf, splitsOf, ~uint64_t(0) >> 2, /*reachesAll=*/false) *
         double(runsHere);
}

double Run::getOutsideInNs() const {
  double bytes = 0;
  for (unsigned place = 0; place < values.size(); ++place) {
    const unsigned number = values[place];
    const bool isInside = facts.problem.values[number].isInternal &&
                          facts.firstUse[number] >= first && facts.lastUse[number] <= last;
    if (isInside || facts.isResident[number])
      continue;
    double most = 0;
    bool isHidden = false;
    for (Use use : uses[place]) {
      // What a reduction writes is counted in the rate at which it reads.
      if (!facts.problem.ops[use.op].operands[use.operand].isWrite)
        most = std::max(most, facts.getBytes(use));
      isHidden |= facts.problem.ops[use.op].macs > 0;
    }
    bytes += isHidden ? 0 : most;
  }
  return bytes / facts.problem.memoryInBytesPerNs;
}

double Run::getLeastOf(const Candidate &candidate, double limit) {
  double ns = outsideInNs ? *outsideInNs : 0;
  for (unsigned number = first; number <= last && ns < limit; ++number)
    ns += !candidate.isApart.empty() && candidate.isApart[number - first]
              ? facts.getOwnDivision(number).second
              : getLeastOf(candidate, number);
  return ns;
}

std::vector<bool> Run::findApart(const Candidate &candidate) {
  std::vector<bool> isApart;
  if (candidate.loops.empty() || !hasProducts)
    return isApart;
  isApart.resize(getLength());
  for (unsigned number = first; number <= last; ++number) {
    const TilingOp &op = facts.problem.ops[number];
    if (op.macs == 0 || op.carried)
      continue;
    // It is done before all others: none may have written what it reads, or used what it writes.
    bool isPossible = true;
    for (const TilingOperand &operand : op.operands)
      for (Use use : uses[places[operand.value]]) {
        const bool isWrite = facts.problem.ops[use.op].operands[use.operand].isWrite;
        if (use.op == number)
          continue;
        isPossible &= isWrite ? !operand.isWrite && use.op < number && isApart[use.op - first]
                              : !operand.isWrite || use.op > number;
      }
    if (!isPossible)
      continue;
    const unsigned result = static_cast<unsigned>(op.operands.size() - 1);
    const double passed = 2 * facts.getBytes({number, result}) / facts.problem.memoryInBytesPerNs;
    isApart[number - first] =
        facts.getOwnDivision(number).second + passed < getLeastOf(candidate, number);
  }
  return isApart;
}

bool Run::placeOps(const Candidate &candidate, Nest &nest) {
  nest.ops.resize(getLength());
  for (unsigned number = first; number <= last; ++number) {
    NestOp &placed = nest.ops[number - first];
    placed.depth = placed.copied = placed.gathered = 0;
    placed.isAfter = placed.isApart = false;
    placed.dims.clear();
    placed.splits.clear();
    placed.shareDims.fill(std::nullopt);
    if (!candidate.isApart.empty() && candidate.isApart[number - first]) {
      placed.isApart = true;
      placed.splits = facts.getOwnDivision(number).first;
      continue;
    }
    const unsigned numLoops = static_cast<unsigned>(candidate.loops.size());
    for (unsigned i = 0; i < numLoops; ++i) {
      placed.dims.push_back(candidate.loops[i].tiled->cutDims[number - first]);
      if (candidate.loops[i].tiled->sides[number - first] == Side::Inside)
        placed.depth = i + 1;
    }
    placed.dims.resize(placed.depth);
    // Behind the outermost loop that it is not in, it is behind those in it, too; in a loop
    // inside of another, it is done again, before the other is at its end.
    bool isBefore = false;
    for (unsigned i = 0; i < numLoops; ++i) {
      const Side side = candidate.loops[i].tiled->sides[number - first];
      if (side == Side::After && i < placed.depth)
        return false;
      placed.isAfter |= side == Side::After;
      isBefore |= side == Side::Before && i >= placed.depth;
    }
    if (placed.isAfter && isBefore)
      return false;
    // What is carried on is not done again: it is all that the innermost loop does, and other
    // loops have their own part of it.
    for (unsigned i = 0; i < numLoops; ++i)
      if (candidate.loops[i].tiled->isCarried) {
        if (i + 1 < numLoops)
          return false;
        for (unsigned outer = 0; outer < i; ++outer)
          if (candidate.loops[i].tiled->writesCarried[number - first] &&
              !candidate.loops[outer].tiled->cutDims[number - first])
            return false;
      }
    setSplits(candidate, number, placed.splits);
    for (size_t i = 0; i < candidate.cores.size(); ++i)
      if (candidate.cores[i].numSlices > 1)
        placed.shareDims[i] = getSharedDim(*candidate.cores[i].shared, number - first);
  }
  if (candidate.copies)
    copyOps(candidate, nest);
  return true;
}

bool Run::mayCopy(const Candidate &candidate) const {
  for (const Share &share : candidate.cores)
    for (unsigned place = 0; place < values.size() && share.numSlices > 1; ++place)
      if (!share.shared->isInValue[place] && touchesBoxes[place] && isReadAlike(share, place))
        return true;
  return false;
}

bool Run::mayGather(const Candidate &candidate) const {
  for (const Share &share : candidate.cores)
    for (unsigned place = 0; place < values.size() && isOfChain(*share.shared); ++place) {
      const unsigned value = values[place];
      if (mayGather(place) && share.shared->valueDims[place] && facts.firstUse[value] >= first &&
          facts.lastUse[value] <= last && isReadAlike(share, place))
        return true;
    }
  return false;
}

bool Run::isReadAlike(const Share &share, unsigned place) const {
  return std::any_of(uses[place].begin(), uses[place].end(), [&](Use use) {
    return !facts.problem.ops[use.op].operands[use.operand].isWrite && readsCopies(share, use);
  });
}

void Run::copyOps(const Candidate &candidate, Nest &nest) const {
  for (unsigned number = last + 1; number-- > first;) {
    const TilingOp &op = facts.problem.ops[number];
    NestOp &placed = nest.ops[number - first];
    const unsigned result = op.operands.back().value, place = places[result];
    const TilingValue &value = facts.problem.values[result];
    if (placed.isApart || op.macs > 0 || op.carried || !value.mayStay || !value.isInternal ||
        facts.firstUse[result] < first || facts.lastUse[result] > last || !touchesBoxes[place])
      continue;
    for (unsigned i = 0; i < candidate.cores.size(); ++i) {
      const Share &share = candidate.cores[i];
      if (share.numSlices == 1 || placed.shareDims[i] || share.shared->isInValue[place])
        continue;
      bool isNeeded = false, isPossible = true;
      for (Use use : uses[place]) {
        const TilingOp &user = facts.problem.ops[use.op];
        const TilingOperand &operand = user.operands[use.operand];
        // All that write it do so for each slice.
        if (operand.isWrite) {
          isPossible &= user.macs == 0 && !user.carried && !nest.ops[use.op - first].shareDims[i];
          continue;
        }
        isNeeded = true;
        isPossible &= !operand.needsDeviceMemory &&
                      (readsCopies(share, use) || nest.ops[use.op - first].copied >> i & 1);
      }
      placed.copied |= unsigned(isNeeded && isPossible) << i;
    }
    // The other dims are shared as they are.
    if (placed.copied)
      placed.splits.resize(op.units.size(), 1);
  }
}

void Facts::computeUntiled() {
  std::vector<Resident> residents;
  for (unsigned value = 0; value < problem.values.size(); ++value) {
    if (!problem.values[value].untiledPartInBytes || numUses[value] == 0)
      continue;
    Resident resident{value,
                      firstUse[value],
                      lastUse[value],
                      double(*problem.values[value].untiledPartInBytes),
                      getBytesOfUses(value),
                      std::nullopt};
    std::optional<unsigned> result = getReplacement(resident.to, value);
    if (result && firstUse[*result] == resident.to)
      resident.replacedBy = result;
    residents.push_back(resident);
  }
  fit(residents, problem.ops.size(), double(problem.scratchpadInBytes));
  isResident.resize(problem.values.size());
  for (const Resident &resident : residents)
    isResident[resident.id] = true;
  computeTimes();
}

void Facts::setLost(const std::vector<unsigned> &lost) {
  for (unsigned value : lost)
    isResident[value] = false;
  computeTimes();
}

void Facts::computeTimes() {
  untiledInNs.assign(1, 0);
  numImpossible.clear();
  numImpossible.push_back(0);
  for (unsigned number = 0; number < problem.ops.size(); ++number) {
    const TilingOp &op = problem.ops[number];
    uint64_t inLX = 0;
    for (size_t i = 0; i < op.operands.size(); ++i)
      inLX |= uint64_t(isResident[op.operands[i].value]) << i;
    double ns = op.division ? getCostInNs(number, {}, op.splits, inLX, /*reachesAll=*/false) : 0;
    for (unsigned i = 0; i < op.operands.size(); ++i)
      ns += inLX >> i & 1 ? 0 : getTrafficInNs(getBytes({number, i}));
    untiledInNs.push_back(untiledInNs.back() + (ns == kIllegal ? 0 : ns));
    numImpossible.push_back(numImpossible.back() + (ns == kIllegal));
  }
}

double draw(uint64_t seed, std::initializer_list<uint64_t> parts) {
  uint64_t state = seed;
  for (uint64_t part : parts) {
    state += part + 0x9e3779b97f4a7c15;
    state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9;
    state = (state ^ state >> 27) * 0x94d049bb133111eb;
    state ^= state >> 31;
  }
  return double(state >> 11) / double(uint64_t(1) << 53);
}

bool Run::canSplit(unsigned number, size_t operand, unsigned dim, const Candidate &candidate,
                   int64_t numSlices) const {
  const DivisionOperand &memory = facts.problem.ops[number].division->operands[operand];
  int64_t part = Facts::getExtents(facts.problem.ops[number])[dim] / numSlices;
  for (const Loop &loop : candidate.loops)
    if (loop.tiled->cutDims[number - first] == dim)
      part /= loop.numTrips;
  for (size_t i = 0; i < memory.deviceSizes.size(); ++i)
    for (const layout::Digit &digit : memory.deviceCoordinates.results[i].digits) {
      if (digit.input != dim || digit.modulus != 0)
        continue;
      const int64_t step = part * digit.coefficient / digit.divisor;
      if (part * digit.coefficient % digit.divisor || step == 0 || memory.deviceSizes[i] % step)
        return false;
    }
  return true;
}

double Run::evaluate(const Candidate &candidate, Nest &nest, bool &allFit, double limit) {
  allFit = false;
  // What it has allocated is used again: there are many candidates.
  nest.numTrips.clear();
  nest.shares.clear();
  nest.tiles.clear();
  nest.wholes.clear();
  nest.evicted.clear();
  for (const Share &share : candidate.cores)
    nest.shares.push_back(share.numSlices);
  nest.first = first;
  nest.last = last;
  for (const Loop &loop : candidate.loops)
    nest.numTrips.push_back(loop.numTrips);
  if (!placeOps(candidate, nest))
    return kIllegal;
  // What stands before the next loop, that loop, and what stands behind it.
  std::vector<unsigned> positions(nest.ops.size());
  unsigned position = 0;
  const unsigned numLoops = static_cast<unsigned>(candidate.loops.size());
  for (unsigned op = 0; op < nest.ops.size(); ++op)
    if (nest.ops[op].isApart)
      positions[op] = position++;
  for (unsigned depth = 0; depth <= numLoops; ++depth)
    for (unsigned op = 0; op < nest.ops.size(); ++op)
      if (nest.ops[op].depth == depth && !nest.ops[op].isAfter && !nest.ops[op].isApart)
        positions[op] = position++;
  for (unsigned depth = numLoops; depth-- > 0;)
    for (unsigned op = 0; op < nest.ops.size(); ++op)
      if (nest.ops[op].depth == depth && nest.ops[op].isAfter)
        positions[op] = position++;
  std::vector<Kept> kept = findKept(candidate, nest, positions);
  allFit = fitKept(kept, nest, positions);
  // Drawn plans leave out some that would fit.
  if (facts.problem.seed)
    std::erase_if(kept, [&](const Kept &entry) {
      return draw(facts.problem.seed, {first, last, entry.place, uint64_t(candidate.loadsFactors),
                                       uint64_t(nest.getNumTiles())}) < 0.1;
    });

  double ns = 0;
  std::vector<bool> isKept(values.size());
  bool hasCopies = false;
  std::vector<unsigned> copied(values.size()), gathered(values.size());
  for (const Kept &entry : kept) {
    isKept[entry.place] = true;
    (entry.tile.isGathered ? gathered : copied)[entry.place] = entry.tile.copied;
    hasCopies |= entry.tile.copied != 0;
  }
  // Without copies it is another candidate; with them nothing goes out that all compute, and
  // nobody turns what is not there.
  if (candidate.copies && !hasCopies)
    return kIllegal;
  for (unsigned number = first; number <= last; ++number) {
    NestOp &op = nest.ops[number - first];
    if (op.isApart)
      continue;
    const TilingOp &described = facts.problem.ops[number];
    unsigned slices = op.copied;
    for (unsigned k = 0; k < described.operands.size(); ++k) {
      const unsigned place = places[described.operands[k].value];
      const bool readsAll = isGathered(candidate, gathered[place], {number, k});
      op.gathered |= unsigned(readsAll) << k;
      slices |= readsAll ? gathered[place] : copied[place];
    }
    if (slices && described.units.size() + std::popcount(slices) > kMostDims)
      return kIllegal;
    for (size_t i = 0; i < candidate.cores.size(); ++i)
      if (slices >> i & 1 && op.shareDims[i])
        for (size_t k = 0; k < described.operands.size(); ++k)
          if (!isKept[places[described.operands[k].value]] &&
              !canSplit(number, k, *op.shareDims[i], candidate, candidate.cores[i].numSlices))
            return kIllegal;
    if (!op.copied) {
      const int64_t cores = op.splits.empty() ? 1 : getNumCores(op.splits);
      if (candidate.copies && leavesIdle(number, cores))
        return kIllegal;
      continue;
    }
    for (const TilingOperand &operand : described.operands)
      if (!isKept[places[operand.value]] &&
          (operand.isWrite || described.division->kind != OperationKind::Pointwise))
        return kIllegal;
  }
  // Others find what stays as a whole where they count it.
  auto isOthers = [&](const Kept &entry) {
    const NestTile &tile = entry.tile;
    return !tile.isLoaded && (facts.firstUse[tile.value] < first ||
                              (facts.lastUse[tile.value] > last && !tile.isStored));
  };
  nest.isReversed = std::any_of(kept.begin(), kept.end(),
                                [](const Kept &entry) { return entry.tile.isGathered; }) &&
                    std::none_of(kept.begin(), kept.end(), isOthers);
  for (Kept &entry : kept) {
    if (entry.tile.isGathered)
      ns += getGatherInNs(nest, entry) * double(nest.getNumRuns(entry.tile.depth));
    if (entry.tile.isLoaded || entry.tile.isStored) {
      double bytes = double(facts.problem.values[entry.tile.value].sizeInBytes);
      for (unsigned i = 0; i < entry.tile.depth; ++i)
        if (!entry.tile.dims[i])
          bytes *= double(nest.numTrips[i]);
      ns += bytes / facts.problem.memoryInBytesPerNs + facts.getTrafficInNs(bytes);
    }
    // A whole value keeps its buffer.
    assert(
        (entry.tile.depth == 0 || entry.tile.isGathered || entry.tile.isLoaded ||
         entry.tile.isStored ||
         (facts.firstUse[entry.tile.value] >= first && facts.lastUse[entry.tile.value] <= last)) &&
        "a tile that is no copy of anything ends with the nest");
    if (entry.tile.depth > 0 || entry.tile.isLoaded || entry.tile.isStored || entry.tile.copied)
      nest.tiles.push_back(std::move(entry.tile));
    else
      nest.wholes.push_back(entry.tile.value);
  }
  // What leaves the scratchpads here is missed by others.
  for (unsigned value : nest.evicted)
    ns += facts.getBytesOfUses(value) / facts.problem.memoryInBytesPerNs;
  for (unsigned place = 0; place < values.size(); ++place)
    if (facts.isResident[values[place]] && !isKept[place])
      ns += double(facts.numUses[values[place]] - uses[place].size()) *
            double(facts.problem.values[values[place]].sizeInBytes) /
            facts.problem.memoryInBytesPerNs;
  std::vector<std::pair<unsigned, int64_t>> tiles;
  for (unsigned number = first; number <= last; ++number) {
    if (ns >= limit)
      return kIllegal;
    const NestOp &op = nest.ops[number - first];
    tiles.clear();
    for (unsigned i = 0; i < op.depth; ++i)
      if (op.dims[i])
        tiles.emplace_back(*op.dims[i], nest.numTrips[i]);
    const auto &operands = facts.problem.ops[number].operands;
    uint64_t inLX = 0;
    for (size_t i = 0; i < operands.size() && !op.isApart; ++i)
      inLX |= uint64_t(isKept[places[operands[i].value]]) << i;
    ns += facts.getCostInNs(number, tiles, op.splits, inLX,
                            /*reachesAll=*/candidate.loops.empty()) *
          double(nest.getNumRuns(op.depth));
    for (unsigned i = 0; i < operands.size(); ++i)
      if (!(inLX >> i & 1))
        ns += facts.getTrafficInNs(getBytesOfRuns({number, i}, nest));
  }
  return ns;
}

double Run::getGatherInNs(const Nest &nest, const Kept &entry) const {
  double part = entry.bytes;
  std::vector<int64_t> slices = nest.shares;
  unsigned gathered = 0;
  for (size_t i = 0; i < slices.size(); ++i)
    if (entry.tile.copied >> i & 1) {
      part /= double(slices[i]);
      gathered |= 1u << (nest.isReversed ? slices.size() - 1 - i : i);
    }
  if (nest.isReversed)
    std::reverse(slices.begin(), slices.end());
  return facts.getGatherInNs(slices, gathered, part);
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
  return std::max(bytes / facts.problem.memoryInBytesPerNs,
                  macs / (facts.problem.macsPerNs * double(facts.problem.numCores)));
}

} // namespace spyre::planning::tiling
