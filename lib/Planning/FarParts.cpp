//===- FarParts.cpp - Operations beyond the cores' reach -------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header. Of a box all numbers of tiles are tried that leave whole sticks, few tiles first;
// of cuts the one behind the last whole stick, and those that leave a number of sticks with many
// divisors.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/FarParts.h"

#include <algorithm>
#include <limits>
#include <map>

namespace spyre::planning {

/// Numbers of tiles of one dim that are tried.
static constexpr size_t kMostCounts = 12;
/// And of all dims together.
static constexpr size_t kMostCombinations = 4096;
/// More tiles than so many times the fewest take longer, however they are divided.
static constexpr int64_t kManyTiles = 8;
/// What each tile counts beside its time: rates may say nothing of what it takes to start.
static constexpr double kTileInNs = 1000;
/// A loop has no more trips.
static constexpr int64_t kMostTrips = 1 << 16;
/// Cuts for the sake of divisors in one another.
static constexpr unsigned kMostCuts = 2;
/// They take an operation of their own: only where that saves as much.
static constexpr double kWorthCutting = 0.7;

int64_t FarPart::getNumTiles() const {
  int64_t all = 1;
  for (int64_t count : numTiles)
    all *= count;
  return all;
}

/// True if dim \p dim may be cut into parts that are done one after the other.
static bool mayCut(const DivisionDim &dim) {
  return !dim.isReduced && dim.maySplit && dim.requiredSplit == 0;
}

static bool isWithinReach(const DivisionProblem &problem, const Splits &splits) {
  return std::all_of(problem.operands.begin(), problem.operands.end(),
                     [&](const DivisionOperand &operand) {
                       return !operand.isInDeviceMemory || problem.spanLimitInBytes <= 0 ||
                              getSpanInBytes(problem, operand, splits) <= problem.spanLimitInBytes;
                     });
}

/// How much of \p extent of dim \p dim is cut off as it ends inside a stick. One element by itself
/// is no stick for what is turned, or for a product: it stays with the stick before it.
static int64_t getRest(const DivisionProblem &problem, unsigned dim, int64_t extent) {
  const int64_t unit = problem.dims[dim].elementsPerStick, left = extent % unit;
  const bool needsStick =
      (problem.kind == OperationKind::Restickify || problem.kind == OperationKind::Matmul) &&
      !problem.dims[dim].isReduced;
  return left == 1 && extent > unit && needsStick ? unit + 1 : left;
}

/// As little of each dim as a core can have.
static std::vector<int64_t> getLeastExtents(const DivisionProblem &problem) {
  std::vector<int64_t> extents;
  for (unsigned d = 0; d < problem.dims.size(); ++d) {
    const DivisionDim &dim = problem.dims[d];
    extents.push_back(
        std::min(dim.extent, std::max(dim.elementsPerStick, getRest(problem, d, dim.extent))));
  }
  return extents;
}

bool isWithinReach(const DivisionProblem &problem, unsigned dim, int64_t extent) {
  std::vector<int64_t> extents = getLeastExtents(problem);
  extents[dim] = extent;
  return isWithinReach(withExtents(problem, extents), Splits(problem.dims.size(), 1));
}

int64_t getLeastSpanInBytes(const DivisionProblem &problem, const DivisionOperand &operand) {
  DivisionProblem alone = problem;
  alone.operands = {operand};
  alone = withExtents(std::move(alone), getLeastExtents(problem));
  return getSpanInBytes(alone, alone.operands.front(), Splits(problem.dims.size(), 1));
}

namespace {
struct Parts {
  std::vector<FarPart> parts;
  double cost = std::numeric_limits<double>::infinity();
};

class PartSearch {
public:
  PartSearch(const DivisionProblem &problem, const DivisionCost &cost)
      : problem(problem), cost(cost) {}

  /// The box at \p offsets of \p extents, with up to \p numCuts cuts for the sake of divisors.
  Parts find(const std::vector<int64_t> &offsets, const std::vector<int64_t> &extents,
             unsigned numCuts);

private:
  struct Tiles {
    std::vector<int64_t> numTiles;
    Splits splits;
    double cost = std::numeric_limits<double>::infinity(); ///< of all
  };
  /// The best tiles of a box of \p extents without a cut.
  const Tiles &findTiles(const std::vector<int64_t> &extents);
  /// The numbers of tiles of a box that may be legal, few tiles first.
  std::vector<std::vector<int64_t>> listCounts(const DivisionProblem &box) const;

  const DivisionProblem &problem;
  const DivisionCost &cost;
  std::map<std::vector<int64_t>, Tiles> known; ///< by extents: boxes of one size are alike
};
} // namespace

/// Into how many tiles of whole sticks \p dim can be cut, rising; of many some.
static std::vector<int64_t> getCounts(const DivisionDim &dim, size_t most) {
  const int64_t units = getNumUnits(dim);
  std::vector<int64_t> counts;
  if (!mayCut(dim) || dim.extent % dim.elementsPerStick != 0)
    return {1};
  for (int64_t count = 1; count <= std::min(units, kMostTrips); ++count)
    if (units % count == 0)
      counts.push_back(count);
  std::vector<int64_t> few;
  for (size_t i = 0; i < std::min(most, counts.size()); ++i)
    few.push_back(
        counts[i * (counts.size() - 1) / std::max<size_t>(1, std::min(most, counts.size()) - 1)]);
  return few;
}

std::vector<std::vector<int64_t>> PartSearch::listCounts(const DivisionProblem &box) const {
  std::vector<std::vector<int64_t>> choices;
  for (size_t most = kMostCounts;; most /= 2) {
    choices.clear();
    size_t all = 1;
    for (const DivisionDim &dim : box.dims) {
      choices.push_back(getCounts(dim, most));
      all *= choices.back().size();
    }
    if (all <= kMostCombinations || most <= 2)
      break;
  }
  std::vector<std::pair<int64_t, std::vector<int64_t>>> found;
  std::vector<int64_t> current;
  auto visit = [&](auto &self, int64_t all) -> void {
    const size_t dim = current.size();
    if (dim < choices.size()) {
      for (int64_t count : choices[dim]) {
        current.push_back(count);
        self(self, all * count);
        current.pop_back();
      }
      return;
    }
    // The least that a core can have of each dim, whatever it has of the others.
    Splits most;
    for (size_t d = 0; d < choices.size(); ++d) {
      const int64_t units = getNumUnits(box.dims[d]) / current[d];
      int64_t split = box.dims[d].maySplit ? std::min(units, box.maxCores) : 1;
      while (units % split)
        --split;
      most.push_back(current[d] * split);
    }
    if (planning::isWithinReach(box, most))
      found.emplace_back(all, current);
  };
  visit(visit, 1);
  std::stable_sort(found.begin(), found.end(),
                   [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<std::vector<int64_t>> counts;
  for (auto &[all, each] : found)
    counts.push_back(std::move(each));
  return counts;
}

const PartSearch::Tiles &PartSearch::findTiles(const std::vector<int64_t> &extents) {
  auto [entry, isNew] = known.try_emplace(extents);
  Tiles &best = entry->second;
  if (!isNew)
    return best;
  int64_t fewest = 0;
  for (std::vector<int64_t> &numTiles : listCounts(withExtents(problem, extents))) {
    int64_t all = 1;
    std::vector<int64_t> tile = extents;
    for (size_t dim = 0; dim < tile.size(); ++dim) {
      tile[dim] /= numTiles[dim];
      all *= numTiles[dim];
    }
    if (fewest > 0 && all > kManyTiles * fewest)
      break;
    const DivisionProblem part = withExtents(problem, tile);
    for (Splits &splits : enumerateSplits(part)) {
      fewest = fewest > 0 ? fewest : all;
      const double ns = double(all) * (cost(part, splits) + kTileInNs);
      if (ns < best.cost)
        best = {numTiles, std::move(splits), ns};
    }
  }
  return best;
}

Parts PartSearch::find(const std::vector<int64_t> &offsets, const std::vector<int64_t> &extents,
                       unsigned numCuts) {
  Parts best;
  if (const Tiles &tiles = findTiles(extents); !tiles.splits.empty())
    best = {{{offsets, extents, tiles.numTiles, tiles.splits}}, tiles.cost};
  // Both sides of a cut, each by `findSide`.
  auto getSides = [&](unsigned dim, int64_t place) {
    std::vector<int64_t> behind = offsets, before = extents, rest = extents;
    behind[dim] += place;
    before[dim] = place;
    rest[dim] -= place;
    return std::array<std::pair<std::vector<int64_t>, std::vector<int64_t>>, 2>{
        {{offsets, before}, {behind, rest}}};
  };
  auto cut = [&](unsigned dim, int64_t place, unsigned left) {
    Parts all;
    all.cost = 0;
    for (auto &[begin, size] : getSides(dim, place)) {
      Parts side = find(begin, size, left);
      all.cost += side.cost;
      all.parts.insert(all.parts.end(), std::make_move_iterator(side.parts.begin()),
                       std::make_move_iterator(side.parts.end()));
    }
    return all;
  };
  // What ends inside a stick is whole up to there: as many tiles as one likes.
  for (unsigned d = 0; d < extents.size(); ++d) {
    const int64_t rest = getRest(problem, d, extents[d]), place = extents[d] - rest;
    if (!mayCut(problem.dims[d]) || rest == 0 || place == 0)
      continue;
    if (Parts found = cut(d, place, numCuts); found.cost < best.cost)
      best = std::move(found);
    return best;
  }
  if (numCuts == 0)
    return best;
  double least = kWorthCutting * best.cost;
  std::optional<Cut> where;
  for (unsigned d = 0; d < extents.size(); ++d) {
    const int64_t unit = problem.dims[d].elementsPerStick, units = extents[d] / unit;
    for (int64_t count = 2; mayCut(problem.dims[d]) && count <= units; count *= 2) {
      const int64_t place = units / count * count * unit;
      if (place == extents[d])
        continue;
      double ns = 0;
      for (auto &[begin, size] : getSides(d, place))
        ns += findTiles(size).cost;
      if (ns < least) {
        least = ns;
        where = Cut{d, place};
      }
    }
  }
  return where ? cut(where->dim, where->place, numCuts - 1) : best;
}

std::optional<std::vector<FarPart>> divideInParts(const DivisionProblem &problem,
                                                  const DivisionCost &cost) {
  if (problem.kind == OperationKind::SingleCore || !check(problem).empty())
    return std::nullopt;
  std::vector<int64_t> extents;
  for (const DivisionDim &dim : problem.dims)
    extents.push_back(dim.extent);
  Parts found =
      PartSearch(problem, cost).find(std::vector<int64_t>(extents.size(), 0), extents, kMostCuts);
  if (found.parts.empty() || found.cost == std::numeric_limits<double>::infinity())
    return std::nullopt;
  return std::move(found.parts);
}

} // namespace spyre::planning
