//===- TimeTiling.cpp - Tiles of operations over time ----------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The candidates of a run (TilingRun.h): loops over classes of dims that may be tiled, numbers of
// tiles and ways to share them among the cores. NestCost.cpp judges them.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/TimeTiling.h"

#include "TilingRun.h"

#include <cmath>
#include <utility>

namespace spyre::planning {

/// Nothing is looked for where the least that is possible is that near.
static constexpr double kNoBetter = 1.02;
/// What takes up to so many times the best is judged to its end: it may be the next best.
static constexpr double kNearBest = 1.3;
/// More tiles than that start more than they compute.
static constexpr int64_t kMostTiles = 1 << 16;
/// Numbers of tiles of each of two loops that are tried.
static constexpr size_t kMostCounts = 7;
/// Drawn nests have no more tiles: each takes a while to run.
static constexpr int64_t kMostDrawnTiles = 64;
/// What must be carried on counts like so many operations that are not possible else.
static constexpr unsigned kMustCarry = 1u << 20;

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
    // More tiles read more often what does not advance. That says nothing of what is not legal: a
    // core may reach smaller tiles.
    const bool isIllegal = ns == std::numeric_limits<double>::infinity() && getLimit() == ns;
    return allFit && !isIllegal;
  };
  // The same loops for each way to share their tiles. True if smaller tiles cannot be better.
  auto considerShares = [&](const std::vector<Loop> &loops) {
    bool isLast = true;
    for (std::vector<Share> &cores : getShares(loops, shareable)) {
      // Chains of products are shared along their columns to gather what lies between.
      const bool gathers =
          cores.size() > 1 && std::any_of(cores.begin(), cores.end(), [&](const Share &share) {
            return isOfChain(*share.shared);
          });
      Candidate candidate{loops, std::move(cores)};
      if (gathers && !mayGather(candidate))
        continue;
      candidate.isApart = findApart(candidate);
      if (!gathers) {
        const double leastOf = getLeastOf(candidate, getLimit());
        isLast &= consider(candidate, leastOf);
        if (!hasProducts)
          continue;
        candidate.loadsFactors = true;
        consider(candidate, leastOf);
      }
      if (!gathers && !mayCopy(candidate))
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

} // namespace spyre::planning
