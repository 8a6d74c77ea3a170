//===- PackingSearch.cpp - Can these buffers all be placed? ---------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses who takes over whose place, and lets PlacementSearch look for addresses.
//
//===----------------------------------------------------------------------===//

#include "PackingSearch.h"

#include "PlacementSearch.h"

#include <algorithm>

namespace spyre::planning {

SearchBudget::SearchBudget(const PackingOptions &options) : nodesLeft(options.nodeLimit) {
  if (!options.timeLimitInSeconds)
    return;
  hasDeadline = true;
  outOfTime = *options.timeLimitInSeconds <= 0;
  deadline = std::chrono::steady_clock::now() +
             std::chrono::microseconds(static_cast<int64_t>(*options.timeLimitInSeconds * 1e6));
}

void SearchBudget::spend() {
  --nodesLeft;
  if (!hasDeadline || ++untilClock < 256)
    return;
  untilClock = 0;
  outOfTime = outOfTime || std::chrono::steady_clock::now() >= deadline;
}

Feasibility placeAll(const PackingProblem &problem, const std::vector<size_t> &members,
                     int64_t capacity, int64_t nodeLimit, SearchBudget &budget,
                     std::vector<std::optional<int64_t>> &addresses) {
  std::vector<Chains> ways = {chainInPlace(problem, members)};
  const bool hasPairs = ways[0].hasPairs();
  if (hasPairs) {
    // Taking over is usually, not always, the better choice: undo each in turn,
    // then all.
    for (size_t i = 0; i < members.size(); ++i) {
      if (ways[0].next[i] < 0)
        continue;
      Chains fewer = ways[0];
      fewer.previous[fewer.next[i]] = -1;
      fewer.next[i] = -1;
      ways.push_back(std::move(fewer));
    }
    ways.push_back(chainNothing(members.size()));
  }
  // Not all ways of taking over are tried, so that with pairs nothing is proven.
  bool isProven = !hasPairs;
  for (const Chains &chains : ways) {
    if (budget.isUsedUp())
      return Feasibility::Unknown;
    int numSections = 0;
    std::vector<Item> items = makeItems(problem, members, chains, numSections);
    PlacementSearch search(capacity, problem.alignmentInBytes, items, numSections);
    int64_t share = std::max<int64_t>(1, nodeLimit / static_cast<int64_t>(ways.size()));
    switch (search.run(share, budget)) {
    case Feasibility::Feasible:
      for (size_t i = 0; i < items.size(); ++i)
        for (size_t member : items[i].members)
          addresses[member] = search.getOffset(i);
      return Feasibility::Feasible;
    case Feasibility::Infeasible:
      break;
    case Feasibility::Unknown:
      isProven = false;
      break;
    }
  }
  return isProven ? Feasibility::Infeasible : Feasibility::Unknown;
}

} // namespace spyre::planning
