//===- TimeTiling.cpp - Tiles of operations over time ----------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs of operations grow one by one (TilingRun.h). Loops over classes of dims that may be
// tiled, numbers of tiles and ways to share them among the cores are enumerated here and judged
// in NestCost.cpp. The run that saves most from its first operation on becomes a nest.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/TimeTiling.h"

#include "TilingRun.h"

#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

namespace spyre::planning {

/// Runs up to here are judged at each length; longer ones at multiples of it, and where they
/// end.
static constexpr unsigned kEachLength = 16;
/// Of longer ones not each length is looked at to find where they end.
static constexpr unsigned kManyInRun = 64;
/// Nothing is looked for where the least that is possible is that near.
static constexpr double kNoBetter = 1.02;
/// What takes up to so many times the best is judged to its end: it may be the next best.
static constexpr double kNearBest = 1.3;
/// How many operations later a nest may begin that saves more than one that begins here.
static constexpr unsigned kLookahead = 1;
/// More tiles than that start more than they compute.
static constexpr int64_t kMostTiles = 1 << 16;
/// Numbers of tiles of each of two loops that are tried.
static constexpr size_t kMostCounts = 7;
/// Runs from one operation on that are tried with two loops.
static constexpr size_t kMostOfRuns = 4;
/// Drawn nests have no more tiles: each takes a while to run.
static constexpr int64_t kMostDrawnTiles = 64;
/// What must be carried on counts like so many operations that are not possible else.
static constexpr unsigned kMustCarry = 1u << 20;
/// A nest that saves that share of the time of all is not taken apart again.
static constexpr double kShareOfSettled = 0.3;
/// Unless it takes so many times the least, and has not too many operations to be taken apart.
static constexpr double kFarFromLeast = 2;
static constexpr unsigned kFewInNest = 24;
/// Of so many operations all runs are looked at, from each operation on.
static constexpr unsigned kMostOfAllRuns = 64;
/// Nests are chosen at most so often.
static constexpr unsigned kMostRounds = 3;
/// A nest has to be better than the same operations untiled by this factor: rates are rough.
static constexpr double kWorthwhile = 0.97;

namespace tiling {

std::vector<int64_t> getTileCounts(int64_t extent, int64_t unit) {
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

/// Of \p counts, which rise, at most \p most: the ends, and steps of about the same factor.
static std::vector<int64_t> thin(const std::vector<int64_t> &counts, size_t most) {
  if (counts.size() <= most)
    return counts;
  std::vector<int64_t> few;
  const double factor =
      std::pow(double(counts.back()) / double(counts.front()), 1 / double(most - 1));
  double next = double(counts.front());
  for (int64_t count : counts)
    if (double(count) >= next * (1 - 1e-9)) {
      few.push_back(count);
      next = double(count) * factor;
    }
  if (few.back() != counts.back())
    few.push_back(counts.back());
  return few;
}

std::optional<Nest> Run::findBest(unsigned numLoops, Saving least) {
  std::vector<Node> shareable = getShareable();
  outsideInNs = getOutsideInNs();
  Nest nest;
  bool allFit = true;
  const double untiledInNs = facts.getUntiledInNs(first, last), leastInNs = getLeastInNs();
  std::vector<Node> tileable = getTileable();
  const bool mustCarry = facts.problem.prefersCarried &&
                         std::any_of(tileable.begin(), tileable.end(),
                                     [&](Node root) { return getClass(root).isCarried; });
  Saving saving = getMostSaving();
  if (mustCarry)
    saving.numImpossible += kMustCarry;
  if (!pins && !saving.isAsMuchAs(least))
    return std::nullopt;
  const double mostInNs = pins || saving.numImpossible > least.numImpossible
                              ? std::numeric_limits<double>::infinity()
                              : untiledInNs - least.ns + std::abs(least.ns) / 1000;
  std::optional<Nest> best;
  double secondInNs = std::numeric_limits<double>::infinity();
  std::vector<int64_t> secondTrips;
  auto getLimit = [&] {
    return facts.problem.seed ? std::numeric_limits<double>::infinity()
           : best             ? best->tiledInNs
                              : mostInNs;
  };
  // Takes the candidate if it is the best so far; true if smaller tiles cannot be better.
  auto consider = [&](const Candidate &candidate, double leastOf) {
    if (pins && (pins->loadsFactors.value_or(candidate.loadsFactors) != candidate.loadsFactors ||
                 pins->copies.value_or(candidate.copies) != candidate.copies))
      return false;
    if (mustCarry && !pins &&
        std::none_of(candidate.loops.begin(), candidate.loops.end(),
                     [](const Loop &loop) { return loop.tiled->isCarried; }))
      return false;
    // No plan of it takes less than all in the scratchpads.
    const uint64_t seed = facts.problem.seed;
    if (leastOf >= getLimit())
      return false;
    const double limit = best ? best->tiledInNs : mostInNs;
    double ns = evaluate(candidate, nest, allFit, getLimit() * kNearBest);
    if (seed && ns < std::numeric_limits<double>::infinity()) {
      const uint64_t shares = nest.shares.empty() ? 0 : uint64_t(nest.shares.front());
      ns =
          untiledInNs * draw(seed, {first, last, nest.numTrips.size(), uint64_t(nest.getNumTiles()),
                                    shares, uint64_t(candidate.copies), nest.tiles.size()});
      if (nest.getNumTiles() > kMostDrawnTiles)
        return true;
    }
    auto setSecond = [&](double takes, const std::vector<int64_t> &trips) {
      if (takes >= secondInNs)
        return;
      secondInNs = takes;
      secondTrips = trips;
    };
    if (ns < limit) {
      if (best)
        setSecond(best->tiledInNs, best->numTrips);
      best = nest;
      best->tiledInNs = ns;
      best->loadsFactors = candidate.loadsFactors;
      best->mayCopy = candidate.copies;
      best->untiledInNs = untiledInNs;
      best->leastInNs = leastInNs;
      best->numImpossible = saving.numImpossible;
    } else {
      setSecond(ns, nest.numTrips);
    }
    return allFit; // more tiles read more often what does not advance
  };
  // The same loops for each way to share their tiles. True if smaller tiles cannot be better.
  auto considerShares = [&](const std::vector<Loop> &loops) {
    bool isLast = true;
    for (std::vector<Share> &cores : getShares(loops, shareable)) {
      Candidate candidate{loops, std::move(cores)};
      candidate.isApart = findApart(candidate);
      const double leastOf = getLeastOf(candidate, getLimit());
      isLast &= consider(candidate, leastOf);
      if (!hasProducts)
        continue;
      candidate.loadsFactors = true;
      consider(candidate, leastOf);
      if (!mayCopy(candidate))
        continue;
      candidate.copies = true;
      const double leastOfCopies = getLeastOf(candidate, getLimit());
      candidate.loadsFactors = false;
      consider(candidate, leastOfCopies);
      candidate.loadsFactors = true;
      isLast &= consider(candidate, leastOfCopies);
    }
    return isLast;
  };
  std::vector<std::vector<int64_t>> counts; // of tiles, for each of these
  for (Node tiled : tileable) {
    counts.push_back(getTileCounts(getClass(tiled).extent, getClass(tiled).unit));
    if (numLoops == 2 && !facts.isThorough())
      counts.back() = thin(counts.back(), kMostCounts);
  }
  if (pins && pins->loops) {
    considerShares(*pins->loops);
    return best;
  }
  // Drawn nests have loops.
  if (numLoops == 1 && (facts.problem.seed || !considerShares({}))) {
    for (size_t i = 0; i < tileable.size(); ++i)
      for (int64_t trips : counts[i])
        if (considerShares({{&getClass(tileable[i]), trips}}))
          break;
  }
  for (size_t i = 0; i < tileable.size() && numLoops == 2; ++i)
    for (size_t j = 0; j < tileable.size(); ++j) {
      if (i == j || (!facts.problem.seed && best && best->tiledInNs <= kNoBetter * leastInNs))
        continue;
      for (int64_t outer : counts[i])
        for (int64_t inner : counts[j])
          if (considerShares({{&getClass(tileable[i]), outer}, {&getClass(tileable[j]), inner}}))
            break;
    }
  if (best) {
    best->secondInNs = secondInNs;
    best->secondTrips = std::move(secondTrips);
  }
  bool isNest =
      best && (pins || best->numImpossible > 0 || best->tiledInNs < kWorthwhile * untiledInNs);
  return isNest ? best : std::nullopt;
}

} // namespace tiling

/// What is saved by \p nest.
static tiling::Saving getSaving(const Nest &nest) {
  return {nest.numImpossible, nest.untiledInNs - nest.tiledInNs};
}

/// Finds nests that begin with one operation.
class NestSearch {
public:
  /// \p getBeyond: what nests save that begin at an operation or later.
  NestSearch(const tiling::Facts &facts, std::function<tiling::Saving(unsigned)> getBeyond)
      : facts(facts), getBeyond(std::move(getBeyond)) {}

  /// The nest of operations \p first .. \p end - 1 that begins with the first of them and saves
  /// most together with those beyond it, if that is more than \p least.
  std::optional<Nest> find(unsigned first, unsigned end, tiling::Saving least);

private:
  /// Of runs that save the same the longest (what follows would have to be read again), of
  /// nests of one run that with fewer loops.
  void take(std::optional<Nest> nest);
  /// What a nest has to save that ends with operation \p last.
  tiling::Saving getLeast(unsigned last) const { return saved - getBeyond(last + 1); }

  const tiling::Facts &facts;
  std::function<tiling::Saving(unsigned)> getBeyond;
  std::optional<Nest> best;
  tiling::Saving saved; ///< by the best, or without one, with those beyond
};

void NestSearch::take(std::optional<Nest> nest) {
  if (!nest)
    return;
  const tiling::Saving together = getSaving(*nest) + getBeyond(nest->last + 1);
  if (!together.isMoreThan(saved) &&
      !(best && together.isAsMuchAs(saved) && nest->last > best->last))
    return;
  best = std::move(nest);
  saved = together;
}

std::optional<Nest> NestSearch::find(unsigned first, unsigned end, tiling::Saving least) {
  best.reset();
  saved = least;
  if (facts.problem.ops[first].isFixed)
    return best;
  struct Known {
    bool joinsReads;
    unsigned length;
    tiling::Saving most; ///< with those beyond
  };
  std::vector<Known> runs; // that are not too long for two loops
  auto judge = [&](tiling::Run &run, bool joinsReads) {
    const unsigned length = run.getLength();
    if (!joinsReads && !run.hasSeparated())
      return;
    take(run.findBest(1, getLeast(first + length - 1)));
    // One operation needs two loops only where it is not possible else.
    if (length <= tiling::kMostOfTwoLoops &&
        (length > 1 || facts.getNumImpossible(first, first) > 0))
      runs.push_back({joinsReads, length, run.getMostSaving() + getBeyond(first + length)});
  };
  auto canGrow = [&](const tiling::Run &run) { return first + run.getLength() < end; };
  // How many classes are left once one more operation is there.
  auto grow = [&](tiling::Run &run) {
    return canGrow(run) && run.grow() ? run.getTileable().size() : 0;
  };
  for (bool joinsReads : {true, false}) {
    std::optional<tiling::Run> run(std::in_place, facts, first, joinsReads);
    size_t numTileable = run->getTileable().size();
    // Short ones at each length.
    while (numTileable > 0 && run->getLength() <= kEachLength) {
      judge(*run, joinsReads);
      numTileable = grow(*run);
    }
    while (numTileable > 0 && (joinsReads || run->getLength() <= tiling::kMostOfTwoLoops)) {
      const unsigned length = run->getLength();
      if (length % kEachLength == 0)
        judge(*run, joinsReads);
      // Of long runs, steps in which nothing ends are taken at once.
      if (length >= kManyInRun) {
        tiling::Run longer = *run;
        while (longer.getLength() % kEachLength != kEachLength - 1 && canGrow(longer) &&
               longer.grow()) {
        }
        if (longer.getLength() > length && longer.getTileable().size() == numTileable)
          run.emplace(std::move(longer));
      }
      // A longer run is tried before it is known to be one; where fewer dims are left, the
      // shorter is the last of its kind.
      tiling::Run shorter = *run;
      const size_t left = grow(*run);
      if (left != std::exchange(numTileable, left) && shorter.getLength() % kEachLength != 0)
        judge(shorter, joinsReads);
    }
  }
  // Two loops where most is left to be saved.
  std::stable_sort(runs.begin(), runs.end(), [&](const Known &a, const Known &b) {
    return std::tie(a.most.numImpossible, a.most.ns) > std::tie(b.most.numImpossible, b.most.ns);
  });
  for (size_t i = 0; i < runs.size() && (i < kMostOfRuns || facts.isThorough()); ++i) {
    if (!runs[i].most.isAsMuchAs(saved))
      break;
    tiling::Run run(facts, first, runs[i].joinsReads);
    while (run.getLength() < runs[i].length)
      run.grow();
    take(run.findBest(2, getLeast(first + runs[i].length - 1)));
  }
  return std::move(best);
}

/// Nests one after the other, each that which saves most by itself.
static std::vector<Nest> chooseGreedily(const tiling::Facts &facts) {
  const unsigned count = static_cast<unsigned>(facts.problem.ops.size());
  std::vector<std::optional<Nest>> found(count); // by first operation, where `isKnown`
  std::vector<bool> isKnown(count);
  NestSearch search(facts, [](unsigned) { return tiling::Saving(); });
  auto at = [&](unsigned first) -> std::optional<Nest> & {
    if (!isKnown[first])
      found[first] = search.find(first, count, {});
    isKnown[first] = true;
    return found[first];
  };
  std::vector<Nest> nests;
  for (unsigned first = 0; first < count;) {
    std::optional<Nest> &nest = at(first);
    // One that begins a little later may do without what disturbs this one.
    bool isBest = nest.has_value();
    if (nest && nest->last - first < tiling::kMostOfTwoLoops)
      for (unsigned later = first + 1; later < std::min(count, first + 1 + kLookahead); ++later)
        isBest &=
            later > nest->last || !at(later) || !getSaving(*at(later)).isMoreThan(getSaving(*nest));
    first = isBest ? nest->last + 1 : first + 1;
    if (isBest)
      nests.push_back(*nest);
  }
  return nests;
}

/// Operation \p number by itself, divided for device memory.
static Nest makeAlone(const tiling::Facts &facts, unsigned number) {
  const TilingOp &op = facts.problem.ops[number];
  const auto &[splits, ns] = facts.getOwnDivision(number);
  Nest nest;
  nest.first = nest.last = number;
  nest.ops.emplace_back();
  nest.ops.back().isApart = true;
  nest.ops.back().splits = splits;
  nest.untiledInNs = facts.getCostInNs(number, {}, op.splits, 0, /*reachesAll=*/false);
  nest.tiledInNs = ns;
  return nest;
}

/// A product with a division of its own, if that is worth what leaves the scratchpads with it.
static std::optional<Nest> findAlone(const tiling::Facts &facts, unsigned number) {
  const TilingOp &op = facts.problem.ops[number];
  if (op.macs == 0 || op.isFixed || op.carried || !op.division ||
      facts.getNumImpossible(number, number) > 0)
    return std::nullopt;
  Nest nest = makeAlone(facts, number);
  if (nest.ops.front().splits.empty())
    return std::nullopt;
  nest.untiledInNs = facts.getUntiledInNs(number, number);
  for (unsigned i = 0; i < op.operands.size(); ++i) {
    const unsigned value = op.operands[i].value;
    nest.tiledInNs += facts.getTrafficInNs(facts.getBytes({number, i}));
    if (facts.isResident[value])
      nest.tiledInNs += double(facts.numUses[value] - 1) *
                        double(facts.problem.values[value].sizeInBytes) /
                        facts.problem.memoryInBytesPerNs;
  }
  return nest.tiledInNs < kWorthwhile * nest.untiledInNs ? std::optional(nest) : std::nullopt;
}

/// The nests of operations \p begin .. \p end - 1 that save most together.
static std::vector<Nest> chooseBest(const tiling::Facts &facts, unsigned begin, unsigned end) {
  std::vector<tiling::Saving> saved(end - begin + 1); // from each operation on
  std::vector<std::optional<Nest>> found(end - begin);
  NestSearch search(facts, [&](unsigned number) { return saved[number - begin]; });
  for (unsigned first = end; first-- > begin;) {
    tiling::Saving &mine = saved[first - begin];
    mine = saved[first - begin + 1];
    std::optional<Nest> &nest = found[first - begin];
    nest = search.find(first, end, mine);
    if (nest)
      mine = getSaving(*nest) + saved[nest->last + 1 - begin];
    if (std::optional<Nest> alone = findAlone(facts, first);
        alone && (getSaving(*alone) + saved[first + 1 - begin]).isMoreThan(mine)) {
      mine = getSaving(*alone) + saved[first + 1 - begin];
      nest = std::move(alone);
    }
  }
  std::vector<Nest> nests;
  for (unsigned first = begin; first < end;) {
    std::optional<Nest> &nest = found[first - begin];
    first = nest ? nest->last + 1 : first + 1;
    if (nest)
      nests.push_back(std::move(*nest));
  }
  return nests;
}

/// \p found without the nests that \p isSettled is not true of, and the best of what lies between
/// the others; where that is too long to be looked at from each operation on, what was found.
static std::vector<Nest> chooseBetween(const tiling::Facts &facts, std::vector<Nest> found,
                                       const std::function<bool(const Nest &)> &isSettled) {
  std::vector<Nest> nests;
  unsigned begin = 0;
  auto within = found.begin();
  auto fill = [&](unsigned end, auto lastWithin) {
    if (end - begin <= kMostOfAllRuns || facts.isThorough())
      for (Nest &nest : chooseBest(facts, begin, end))
        nests.push_back(std::move(nest));
    else
      nests.insert(nests.end(), std::make_move_iterator(within),
                   std::make_move_iterator(lastWithin));
  };
  for (auto nest = found.begin(); nest != found.end(); ++nest) {
    if (!isSettled(*nest))
      continue;
    fill(nest->first, nest);
    begin = nest->last + 1;
    within = std::next(nest);
    nests.push_back(std::move(*nest));
  }
  fill(static_cast<unsigned>(facts.problem.ops.size()), found.end());
  return nests;
}

/// The nests that are worth it where values stay untiled as \p facts says.
static std::vector<Nest> chooseNests(const tiling::Facts &facts) {
  if (facts.problem.ops.empty())
    return {};
  // Nests that save most take longest to find. What lies between them is looked at from each
  // operation on.
  const double all = facts.getUntiledInNs(0, static_cast<unsigned>(facts.problem.ops.size()) - 1);
  return chooseBetween(facts, chooseGreedily(facts), [&](const Nest &nest) {
    if (facts.problem.secondsInAddition > 0 ||
        (nest.tiledInNs > kFarFromLeast * nest.leastInNs && nest.last - nest.first < kFewInNest))
      return false;
    return nest.numTrips.size() == 2 || nest.numImpossible > 0 ||
           nest.last - nest.first >= tiling::kMostOfTwoLoops ||
           (!nest.numTrips.empty() && nest.untiledInNs - nest.tiledInNs > kShareOfSettled * all);
  });
}

/// \p nests where \p lost, which \p facts knows now, do not stay untiled: those that do not use
/// them are what they were.
static std::vector<Nest> chooseAgain(const tiling::Facts &facts, std::vector<Nest> nests,
                                     const std::vector<unsigned> &lost) {
  return chooseBetween(facts, std::move(nests), [&](const Nest &nest) {
    for (unsigned number = nest.first; number <= nest.last; ++number)
      for (const TilingOperand &operand : facts.problem.ops[number].operands)
        if (std::find(lost.begin(), lost.end(), operand.value) != lost.end())
          return false;
    return true;
  });
}

/// Of each operation, whether it is in one of \p nests.
static std::vector<bool> findInNests(const TilingProblem &problem, const std::vector<Nest> &nests) {
  std::vector<bool> isInNest(problem.ops.size());
  for (const Nest &nest : nests)
    std::fill(isInNest.begin() + nest.first, isInNest.begin() + nest.last + 1, true);
  return isInNest;
}

/// Values that operations of \p nests or beside them expect in the scratchpads, and that some
/// other nest does not leave there.
static std::vector<unsigned> findLost(const tiling::Facts &facts, const std::vector<Nest> &nests) {
  const TilingProblem &problem = facts.problem;
  std::vector<unsigned> numStaying(problem.values.size());
  std::vector<bool> isExpected(problem.values.size());
  auto count = [&](unsigned number, auto stays) {
    for (const TilingOperand &operand : problem.ops[number].operands)
      if (stays(operand.value)) {
        ++numStaying[operand.value];
        isExpected[operand.value] = true;
      }
  };
  for (const Nest &nest : nests)
    for (unsigned number = nest.first; number <= nest.last; ++number)
      count(number, [&](unsigned value) {
        return std::find(nest.wholes.begin(), nest.wholes.end(), value) != nest.wholes.end();
      });
  const std::vector<bool> isInNest = findInNests(problem, nests);
  for (unsigned number = 0; number < problem.ops.size(); ++number)
    if (!isInNest[number])
      count(number, [&](unsigned value) { return facts.isResident[value]; });
  for (const Nest &nest : nests)
    for (unsigned value : nest.evicted)
      numStaying[value] = 0;
  std::vector<unsigned> lost;
  for (unsigned value = 0; value < problem.values.size(); ++value)
    if (isExpected[value] && numStaying[value] < facts.numUses[value])
      lost.push_back(value);
  return lost;
}

/// Operations outside of \p nests were divided for values in the scratchpads that \p nests have
/// no room for. Those that find nothing there are divided for device memory: each becomes a nest
/// of its own, with no loop.
static void divideAnew(const tiling::Facts &facts, std::vector<Nest> &nests) {
  const TilingProblem &problem = facts.problem;
  const std::vector<bool> isInNest = findInNests(problem, nests);
  std::vector<bool> isLost(problem.values.size());
  for (unsigned value : findLost(facts, nests))
    isLost[value] = true;
  std::vector<Nest> alone;
  for (unsigned number = 0; number < problem.ops.size(); ++number) {
    const TilingOp &op = problem.ops[number];
    if (isInNest[number] || op.isFixed || op.carried || !op.division ||
        std::any_of(op.operands.begin(), op.operands.end(), [&](const TilingOperand &operand) {
          return facts.isResident[operand.value] && !isLost[operand.value];
        }))
      continue;
    Nest nest = makeAlone(facts, number);
    if (!nest.ops.front().splits.empty() && nest.tiledInNs < kWorthwhile * nest.untiledInNs)
      alone.push_back(std::move(nest));
  }
  nests.insert(nests.end(), std::make_move_iterator(alone.begin()),
               std::make_move_iterator(alone.end()));
  std::sort(nests.begin(), nests.end(),
            [](const Nest &a, const Nest &b) { return a.first < b.first; });
}

/// \p pinned where values stay untiled as \p facts says.
static std::variant<std::vector<Nest>, std::vector<ScheduleError>>
findPinned(const tiling::Facts &facts, const std::vector<ScheduledNest> &pinned,
           const NamedDims &names) {
  const std::vector<TilingOp> &ops = facts.problem.ops;
  std::vector<Nest> nests;
  std::vector<ScheduleError> errors;
  for (size_t i = 0; i < pinned.size(); ++i) {
    const ScheduledNest &each = pinned[i];
    const std::string field = "nests[" + std::to_string(i) + "]";
    if (each.last >= ops.size()) {
      errors.push_back(
          {field + ".last", "there are " + std::to_string(ops.size()) + " operations"});
      continue;
    }
    const auto fixed = std::find_if(ops.begin() + each.first, ops.begin() + each.last + 1,
                                    [](const TilingOp &op) { return op.isFixed || !op.division; });
    if (fixed - ops.begin() <= each.last) {
      errors.push_back({field, "operation " + std::to_string(fixed - ops.begin()) +
                                   " takes no part in nests (it gathers, or reads other bits)"});
      continue;
    }
    if (each.isAlone) {
      nests.push_back(makeAlone(facts, each.first));
      if (nests.back().ops.front().splits.empty())
        errors.push_back({field, "the operation has no legal division over the cores"});
      continue;
    }
    // Dims that are only read together may be one dim or two.
    std::variant<Nest, ScheduleError> found;
    for (bool joinsReads : {true, false}) {
      tiling::Run run(facts, each.first, joinsReads);
      while (run.getLength() < each.last - each.first + 1 && run.grow()) {
      }
      if (!joinsReads && !run.hasSeparated())
        break;
      auto nest = run.findPinned(each, names);
      const Nest *other = std::get_if<Nest>(&nest), *known = std::get_if<Nest>(&found);
      if (joinsReads || (other && (!known || other->tiledInNs < known->tiledInNs)))
        found = std::move(nest);
    }
    if (auto *error = std::get_if<ScheduleError>(&found))
      errors.push_back({field + error->field, error->message});
    else
      nests.push_back(std::move(std::get<Nest>(found)));
  }
  if (!errors.empty())
    return errors;
  return nests;
}

std::variant<std::vector<Nest>, std::vector<ScheduleError>>
findNests(const TilingProblem &problem, const std::vector<ScheduledNest> &pinned,
          const NamedDims &names, const std::optional<std::vector<unsigned>> &known) {
  tiling::Facts facts(problem);
  if (known)
    facts.setLost(*known);
  auto nests = findPinned(facts, pinned, names);
  for (unsigned round = 1; !known && round < kMostRounds && nests.index() == 0; ++round) {
    std::vector<unsigned> lost = findLost(facts, std::get<0>(nests));
    if (lost.empty())
      break;
    facts.setLost(lost);
    nests = findPinned(facts, pinned, names);
  }
  return nests;
}

std::vector<Nest> findNests(const TilingProblem &problem, std::vector<unsigned> *allLost) {
  tiling::Facts facts(problem);
  if (allLost)
    allLost->clear();
  std::vector<Nest> nests = chooseNests(facts);
  if (problem.seed)
    return nests;
  // What nests do away with others counted on: they are chosen anew without it.
  for (unsigned round = 1; round < kMostRounds; ++round) {
    std::vector<unsigned> lost = findLost(facts, nests);
    if (lost.empty())
      break;
    facts.setLost(lost);
    if (allLost)
      allLost->insert(allLost->end(), lost.begin(), lost.end());
    nests = chooseAgain(facts, std::move(nests), lost);
  }
  divideAnew(facts, nests);
  return nests;
}

} // namespace spyre::planning
