//===- NestShares.cpp - How cores may share the tiles of a nest -------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One dim of the data or two, in as many slices as there are cores; the columns of products that
// read one value, or of a product and of what it reads of another one, count as one dim.
//
//===----------------------------------------------------------------------===//

#include "TilingRun.h"

namespace spyre::planning::tiling {

/// Ways to share a chain of products by two dims that are tried.
static constexpr size_t kMostOfChained = 3;

void Run::order(std::vector<Share> &shares) const {
  for (unsigned op = first; op <= last && shares.size() == 2; ++op) {
    auto a = getSharedDim(*shares[0].shared, op - first),
         b = getSharedDim(*shares[1].shared, op - first);
    if (!a || !b)
      continue;
    if (*b < *a)
      std::swap(shares[0], shares[1]);
    return;
  }
}

bool Run::cutsColumns(const Loop &loop) {
  const std::vector<Node> &all = getColumns();
  return std::any_of(all.begin(), all.end(),
                     [&](Node root) { return &getClass(root) == loop.tiled; });
}

int64_t Run::getShareableUnits(const Class &shared, const std::vector<Loop> &loops) {
  int64_t units = shared.extent / std::max<int64_t>(1, shared.unit);
  for (const Loop &loop : loops) {
    const int64_t left = loop.tiled->extent / loop.numTrips;
    if (loop.tiled == &shared)
      units = left / std::max<int64_t>(1, shared.unit);
    else if (shared.isOfColumns && cutsColumns(loop))
      units = std::gcd(units, left / std::max<int64_t>(1, loop.tiled->unit));
  }
  return units;
}

std::vector<std::vector<Run::Share>> Run::getShares(const std::vector<Loop> &loops,
                                                    const std::vector<Node> &candidates) {
  if (pins && pins->cores)
    return {*pins->cores};
  const int64_t numCores = facts.problem.numCores;
  auto getMost = [](int64_t units, int64_t limit) {
    int64_t most = 1;
    for (int64_t n = 2; n <= limit; ++n)
      if (units % n == 0)
        most = n;
    return most;
  };
  // Columns of several products are not tiled over time and shared by cores at once, unless one
  // product reads what another one makes.
  auto isTiled = [&](Node root) {
    const std::vector<Node> &all = getColumns();
    return !hasChain && std::find(all.begin(), all.end(), root) != all.end() &&
           std::any_of(loops.begin(), loops.end(),
                       [&](const Loop &loop) { return cutsColumns(loop); });
  };
  std::vector<Node> shareable = candidates;
  std::erase_if(shareable, isTiled);
  std::vector<std::vector<Share>> shares;
  std::vector<std::pair<const Class *, int64_t>> known;
  for (Node root : shareable) {
    const Class &shared = getShareClass(root);
    known.emplace_back(&shared, getShareableUnits(shared, loops));
    shares.push_back({{&shared, getMost(known.back().second, numCores)}});
  }
  if (getLength() > kMostOfTwoShares || !hasProducts)
    return shares;
  // Two dims where products are: what cores read alike, they wait for.
  struct Pairs {
    int64_t most = 2; // cores
    std::vector<std::vector<Share>> all;
    void add(Share a, Share b) {
      const int64_t cores = a.numSlices * b.numSlices;
      if (b.numSlices == 1 || cores < most)
        return;
      if (cores > most)
        all.clear();
      most = cores;
      all.push_back({a, b});
    }
  };
  Pairs pairs, chained;
  for (size_t i = 0; i < shareable.size(); ++i)
    for (size_t j = i + 1; j < shareable.size(); ++j) {
      auto [a, units] = known[i];
      auto [b, others] = known[j];
      const bool isChain = isOfChain(*a) || isOfChain(*b);
      // What is gathered is the smaller, the more slices it has of other dims; in more than a
      // transfer serves, all wait for what they read alike.
      if (isOfChain(*a)) {
        std::swap(a, b);
        std::swap(units, others);
      }
      const int64_t limit =
          isChain ? std::min(numCores / 2, facts.problem.multicastReaders) : numCores / 2;
      for (int64_t n = 2; n <= limit; ++n)
        if (units % n == 0)
          (isChain ? chained : pairs).add({a, n}, {b, getMost(others, numCores / n)});
    }
  if (chained.all.size() > kMostOfChained)
    chained.all.erase(chained.all.begin(), chained.all.end() - kMostOfChained);
  for (Pairs *each : {&pairs, &chained})
    for (std::vector<Share> &pair : each->all) {
      order(pair);
      shares.push_back(std::move(pair));
    }
  return shares;
}

} // namespace spyre::planning::tiling
