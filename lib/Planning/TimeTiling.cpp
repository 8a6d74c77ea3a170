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
#include <tuple>
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
/// Numbers of tiles of each of two loops that are tried.
static constexpr size_t kMostCounts = 7;
/// Runs from one operation on that are tried with two loops.
static constexpr size_t kMostOfRuns = 6;
/// Drawn nests have no more tiles: each takes a while to run.
static constexpr int64_t kMostDrawnTiles = 64;
/// What must be carried on counts like so many operations that are not possible else.
static constexpr unsigned kMustCarry = 1u << 20;
/// A nest has to be better than the same operations untiled by this factor: rates are rough.
static constexpr double kWorthwhile = 0.97;

namespace tiling {

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
  if (!saving.isAsMuchAs(least))
    return std::nullopt;
  const double mostInNs = saving.numImpossible > least.numImpossible
                              ? std::numeric_limits<double>::infinity()
                              : untiledInNs - least.ns + std::abs(least.ns) / 1000;
  std::optional<Nest> best;
  // Takes the candidate if it is the best so far; true if smaller tiles cannot be better.
  auto consider = [&](const Candidate &candidate, double leastOf) {
    if (mustCarry && std::none_of(candidate.loops.begin(), candidate.loops.end(),
                                  [](const Loop &loop) { return loop.tiled->isCarried; }))
      return false;
    const double limit = best ? best->tiledInNs : mostInNs;
    // No plan of it takes less than all in the scratchpads.
    const uint64_t seed = facts.problem.seed;
    if (leastOf >= (seed ? std::numeric_limits<double>::infinity() : limit))
      return false;
    double ns = evaluate(candidate, nest, allFit);
    if (seed && ns < std::numeric_limits<double>::infinity()) {
      const uint64_t shares = nest.shares.empty() ? 0 : uint64_t(nest.shares.front());
      ns =
          untiledInNs * draw(seed, {first, last, nest.numTrips.size(), uint64_t(nest.getNumTiles()),
                                    shares, uint64_t(candidate.copies), nest.tiles.size()});
      if (nest.getNumTiles() > kMostDrawnTiles)
        return true;
    }
    if (ns < limit) {
      best = nest;
      best->tiledInNs = ns;
      best->untiledInNs = untiledInNs;
      best->numImpossible = saving.numImpossible;
    }
    return allFit; // more tiles read more often what does not advance
  };
  // The same loops for each way to share their tiles. True if smaller tiles cannot be better.
  auto considerShares = [&](const std::vector<Loop> &loops) {
    bool isLast = true;
    for (const std::vector<Share> &cores : getShares(loops, shareable)) {
      const double leastOf = getLeastOf({loops, cores});
      isLast &= consider({loops, cores}, leastOf);
      if (!hasProducts)
        continue;
      consider({loops, cores, true}, leastOf);
      const double leastOfCopies = getLeastOf({loops, cores, false, true});
      consider({loops, cores, false, true}, leastOfCopies);
      isLast &= consider({loops, cores, true, true}, leastOfCopies);
    }
    return isLast;
  };
  std::vector<std::vector<int64_t>> counts; // of tiles, for each of these
  for (Node tiled : tileable) {
    counts.push_back(getTileCounts(getClass(tiled).extent, getClass(tiled).unit));
    if (numLoops == 2)
      counts.back() = thin(counts.back(), kMostCounts);
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
  bool isNest = best && (best->numImpossible > 0 || best->tiledInNs < kWorthwhile * untiledInNs);
  return isNest ? best : std::nullopt;
}

} // namespace tiling

/// What is saved by \p nest.
static tiling::Saving getSaving(const Nest &nest) {
  return {nest.numImpossible, nest.untiledInNs - nest.tiledInNs};
}

/// The best nest that begins with operation \p first.
static std::optional<Nest> findNest(const tiling::Facts &facts, unsigned first) {
  std::optional<Nest> best;
  if (facts.problem.ops[first].isFixed)
    return best;
  // Of runs that save the same the longest (what follows would have to be read again), of nests
  // of one run that with fewer loops.
  auto take = [&](std::optional<Nest> nest) {
    if (nest && (!best || getSaving(*nest).isMoreThan(getSaving(*best)) ||
                 (getSaving(*nest).isAsMuchAs(getSaving(*best)) && nest->last > best->last)))
      best = std::move(nest);
  };
  auto getLeastSaving = [&] { return best ? getSaving(*best) : tiling::Saving(); };
  std::vector<tiling::Run> runs; // that are not too long for two loops
  for (bool joinsReads : {true, false}) {
    tiling::Run run(facts, first, joinsReads);
    for (size_t numTileable = run.getTileable().size(); numTileable > 0;) {
      // A longer run is tried before it is known to be one; where fewer dims are left, the
      // shorter is the last of its kind.
      tiling::Run shorter = run;
      size_t left = run.grow() ? run.getTileable().size() : 0;
      bool isLast = left != std::exchange(numTileable, left);
      unsigned length = shorter.getLength();
      if (!joinsReads && length > tiling::kMostOfTwoLoops)
        break;
      if ((!isLast && length > kEachLength && length % kEachLength) ||
          (!joinsReads && !shorter.hasSeparated()))
        continue;
      take(shorter.findBest(1, getLeastSaving()));
      if (length <= tiling::kMostOfTwoLoops && length > 1)
        runs.push_back(std::move(shorter));
    }
  }
  // Two loops where most is left to be saved.
  std::vector<size_t> order(runs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const tiling::Saving first = runs[a].getMostSaving(), second = runs[b].getMostSaving();
    return std::tie(first.numImpossible, first.ns) > std::tie(second.numImpossible, second.ns);
  });
  for (size_t i = 0; i < std::min(runs.size(), kMostOfRuns); ++i)
    take(runs[order[i]].findBest(2, getLeastSaving()));
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

} // namespace spyre::planning
