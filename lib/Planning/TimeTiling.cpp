//===- TimeTiling.cpp - Tiles of operations over time ----------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run of operations grows one by one. With each, the dims that are the same dim of the
// data are joined (a union-find over dims of operations and of values), and for each class
// of dims that may be tiled, each that cores may share and each number of tiles the traffic
// is counted. What does not fit into LX together goes back to device memory, the largest
// first. The run that saves most from its first operation on becomes a nest.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/TimeTiling.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

namespace spyre::planning {

/// A longer run is not looked at: what it would save, its parts save.
static constexpr unsigned kMaxRun = 512;
/// Runs up to here are judged at each length; longer ones at multiples of it, and where they
/// end.
static constexpr unsigned kEachLength = 16;
/// Savings that differ by less are the same.
static constexpr double kAsGood = 0.999;
/// A nest has to be better than the same operations untiled by this factor: rates are rough.
static constexpr double kWorthwhile = 0.97;

namespace {

using Node = unsigned;
constexpr Node kNone = std::numeric_limits<Node>::max();

/// Coordinate \p expr of an access over \p extents, if it is one dim, whole and from 0 on, of
/// a logical dim of \p size.
std::optional<unsigned> getPlainDim(const layout::IndexExpr &expr,
                                    const std::vector<int64_t> &extents, int64_t size) {
  if (expr.constant != 0 || expr.digits.size() != 1)
    return std::nullopt;
  const layout::Digit &digit = expr.digits.front();
  bool isPlain = digit.coefficient == 1 && digit.divisor == 1 && digit.modulus == 0 &&
                 digit.input < extents.size() && extents[digit.input] == size;
  return isPlain ? std::optional(digit.input) : std::nullopt;
}

/// True if the only element along a logical dim is meant.
bool isUnit(const layout::IndexExpr &expr, int64_t size) {
  return size == 1 && expr.constant == 0 && expr.digits.empty();
}

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
    for (unsigned i = 0; i < problem.ops.size(); ++i)
      for (const TilingOperand &operand : problem.ops[i].operands) {
        firstUse[operand.value] = std::min(firstUse[operand.value], i);
        lastUse[operand.value] = std::max(lastUse[operand.value], i);
      }
  }

  static const std::vector<int64_t> &getExtents(const TilingOp &op) {
    return op.operands.back().map.extents;
  }
  const layout::IndexMap &getMap(Use use) const {
    return problem.ops[use.op].operands[use.operand].map;
  }

  /// Bytes that an operand touches, whole dims of a part.
  double getBytes(Use use) const {
    const TilingOperand &operand = problem.ops[use.op].operands[use.operand];
    const TilingValue &value = problem.values[operand.value];
    double bytes = static_cast<double>(value.sizeInBytes);
    for (size_t r = 0; r < value.shape.size(); ++r) {
      auto [low, high] = layout::getRange(operand.map.results[r], operand.map.extents);
      bytes *= std::min(1.0, double(high - low + 1) / double(std::max<int64_t>(1, value.shape[r])));
    }
    return bytes;
  }

  const TilingProblem &problem;
  std::vector<Node> opNodes, valueNodes;
  std::vector<unsigned> firstUse, lastUse;
  Node numNodes = 0;
};

/// Operations first .. last, and which of their dims are the same.
class Run {
public:
  Run(const Facts &facts, unsigned first)
      : facts(facts), first(first), last(first), parent(facts.numNodes), isMixed(facts.numNodes),
        isReduced(facts.numNodes) {
    std::iota(parent.begin(), parent.end(), 0);
    add(first);
  }

  unsigned getLength() const { return last - first + 1; }

  bool grow() {
    if (last + 1 >= facts.problem.ops.size() || facts.problem.ops[last + 1].isFixed ||
        last - first + 1 >= kMaxRun)
      return false;
    add(++last);
    return true;
  }

  /// Classes of dims of which every operation has one that may be tiled.
  std::vector<Node> getTileable();
  /// Classes that cores may share in at least half of the operations.
  std::vector<Node> getShareable();

  /// The dim of \p op in the class \p root, if it has one, in its result.
  std::optional<unsigned> getDim(unsigned op, Node root) {
    std::optional<unsigned> found;
    for (unsigned d = 0; d < Facts::getExtents(facts.problem.ops[op]).size(); ++d)
      if (find(facts.opNodes[op] + d) == root) {
        if (found || isReduced[facts.opNodes[op] + d])
          return std::nullopt;
        found = d;
      }
    return found;
  }
  /// The logical dim of \p value in the class, if it is read and written by plain dims only.
  std::optional<unsigned> getValueDim(unsigned value, Node root) {
    std::optional<unsigned> found;
    for (unsigned r = 0; r < facts.problem.values[value].shape.size(); ++r)
      if (find(facts.valueNodes[value] + r) == root) {
        if (found || isMixed[facts.valueNodes[value] + r])
          return std::nullopt;
        found = r;
      }
    return found;
  }

  /// The best nest of the run, and the time of the run untiled.
  std::optional<Nest> findBest(double &untiledInNs);

private:
  void add(unsigned op);
  Node find(Node node) {
    while (parent[node] != node)
      node = parent[node] = parent[parent[node]];
    return node;
  }
  bool isTileable(Node root);
  int64_t getExtent(Node root);
  int64_t getUnit(Node root);

  struct Candidate {
    Node tiled = kNone, shared = kNone;
    int64_t numTrips = 1;
    bool movesTiles = false; ///< loads and stores tiles
  };
  /// The traffic and products of \p candidate in time. \p allFit: nothing that could stay in LX
  /// had to leave it for its size.
  double evaluate(const Candidate &candidate, Nest &nest, bool &allFit);
  /// True if every operation of \p nest can be divided as it says.
  bool isLegal(const Nest &nest) const;
  /// True if all uses in the run of the value at \p place touch all of it.
  bool touchAll(unsigned place) const;

  const Facts &facts;
  unsigned first, last;
  std::vector<Node> parent;
  std::vector<bool> isMixed;          ///< of values: read or written by other coordinates, too
  std::vector<bool> isReduced;        ///< of operations: not a dim of the result
  std::vector<unsigned> values;       ///< that the run uses, in order of first use
  std::vector<std::vector<Use>> uses; ///< of each of `values`
  std::vector<std::pair<unsigned, unsigned>> index; ///< value -> place in `values`, sorted
};
} // namespace

void Run::add(unsigned number) {
  const TilingOp &op = facts.problem.ops[number];
  const std::vector<int64_t> &extents = Facts::getExtents(op);
  std::vector<bool> inResult(extents.size());
  for (unsigned i = 0; i < op.operands.size(); ++i) {
    const TilingOperand &operand = op.operands[i];
    const TilingValue &value = facts.problem.values[operand.value];
    for (unsigned r = 0; r < value.shape.size(); ++r) {
      const layout::IndexExpr &expr = operand.map.results[r];
      Node node = facts.valueNodes[operand.value] + r;
      if (auto dim = getPlainDim(expr, extents, value.shape[r])) {
        parent[find(node)] = find(facts.opNodes[number] + *dim);
        if (operand.isWrite)
          inResult[*dim] = true;
      } else if (!isUnit(expr, value.shape[r])) {
        isMixed[node] = true;
        // Every point writes an element of its own: tiles write apart from each other.
        for (const layout::Digit &digit : expr.digits)
          if (operand.isWrite && digit.divisor == 1 && digit.modulus == 0)
            inResult[digit.input] = true;
      }
    }
    auto place = std::lower_bound(index.begin(), index.end(), std::pair(operand.value, 0u));
    if (place == index.end() || place->first != operand.value) {
      place = index.insert(place, {operand.value, static_cast<unsigned>(values.size())});
      values.push_back(operand.value);
      uses.emplace_back();
    }
    uses[place->second].push_back({number, i});
  }
  for (unsigned d = 0; d < extents.size(); ++d)
    isReduced[facts.opNodes[number] + d] = !inResult[d];
}

int64_t Run::getExtent(Node root) {
  for (unsigned op = first; op <= last; ++op)
    if (auto dim = getDim(op, root))
      return Facts::getExtents(facts.problem.ops[op])[*dim];
  return 1;
}

int64_t Run::getUnit(Node root) {
  int64_t unit = 1;
  for (unsigned op = first; op <= last; ++op)
    if (auto dim = getDim(op, root))
      unit = std::lcm(unit, facts.problem.ops[op].units[*dim]);
  for (unsigned value : values)
    if (auto dim = getValueDim(value, root))
      unit = std::lcm(unit, facts.problem.values[value].units[*dim]);
  return unit;
}

bool Run::isTileable(Node root) {
  for (unsigned op = first; op <= last; ++op)
    if (!getDim(op, root))
      return false;
  // What the run writes is read, and written by others, in the same tile only.
  for (unsigned i = 0; i < values.size(); ++i) {
    bool isWritten = std::any_of(uses[i].begin(), uses[i].end(), [&](Use use) {
      return facts.problem.ops[use.op].operands[use.operand].isWrite;
    });
    if (isWritten && uses[i].size() > 1 && !getValueDim(values[i], root))
      return false;
  }
  return getExtent(root) > 1;
}

std::vector<Node> Run::getTileable() {
  std::vector<Node> roots;
  for (unsigned d = 0; d < Facts::getExtents(facts.problem.ops[first]).size(); ++d) {
    Node root = find(facts.opNodes[first] + d);
    if (std::find(roots.begin(), roots.end(), root) == roots.end() && isTileable(root))
      roots.push_back(root);
  }
  return roots;
}

std::vector<Node> Run::getShareable() {
  std::vector<std::pair<Node, unsigned>> counts;
  for (unsigned op = first; op <= last; ++op)
    for (unsigned d = 0; d < Facts::getExtents(facts.problem.ops[op]).size(); ++d) {
      Node root = find(facts.opNodes[op] + d);
      if (getDim(op, root) != d)
        continue;
      auto known = std::find_if(counts.begin(), counts.end(),
                                [&](const auto &entry) { return entry.first == root; });
      if (known == counts.end())
        counts.emplace_back(root, 1);
      else
        ++known->second;
    }
  std::vector<Node> roots;
  for (auto [root, count] : counts)
    if (count * 2 >= last - first + 1)
      roots.push_back(root);
  return roots;
}

bool Run::touchAll(unsigned place) const {
  const TilingValue &value = facts.problem.values[values[place]];
  return std::all_of(uses[place].begin(), uses[place].end(), [&](Use use) {
    const layout::IndexMap &map = facts.getMap(use);
    for (unsigned r = 0; r < value.shape.size(); ++r)
      if (!getPlainDim(map.results[r], map.extents, value.shape[r]) &&
          !isUnit(map.results[r], value.shape[r]))
        return false;
    return true;
  });
}

double Run::evaluate(const Candidate &candidate, Nest &nest, bool &allFit) {
  const TilingProblem &problem = facts.problem;
  const int64_t trips = candidate.numTrips;
  // Slices that cores get of the shared dim of one tile.
  int64_t extent =
      getExtent(candidate.shared) / (candidate.shared == candidate.tiled ? trips : int64_t(1));
  int64_t units = extent / std::max<int64_t>(1, getUnit(candidate.shared));
  int64_t cores = 1;
  for (int64_t n = 2; n <= problem.numCores; ++n)
    if (units % n == 0)
      cores = n;
  nest = {};
  nest.first = first;
  nest.last = last;
  nest.numTrips = trips;
  nest.numCores = cores;
  double productsInNs = 0;
  for (unsigned op = first; op <= last; ++op) {
    nest.dims.push_back(getDim(op, candidate.tiled).value_or(0));
    std::optional<unsigned> dim = getDim(op, candidate.shared);
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
    std::optional<unsigned> tiledDim = getValueDim(number, candidate.tiled);
    std::optional<unsigned> sharedDim = getValueDim(number, candidate.shared);
    if (!isPossible || !sharedDim || (!tiledDim && trips > 1) || !touchAll(place))
      continue;
    bool isWrittenFirst =
        writes == 1 &&
        problem.ops[uses[place].front().op].operands[uses[place].front().operand].isWrite;
    // Without tiles an internal value may stay as long as it is used, beyond the run as well,
    // and may have come that way.
    bool isWhole = trips == 1 && value.isInternal;
    bool isInside = value.isInternal && facts.firstUse[number] >= first &&
                    (isWhole || facts.lastUse[number] <= last) && isWrittenFirst;
    NestTile tile{number, tiledDim.value_or(0), *sharedDim};
    bool isReused = !isInside && !isWhole && uses[place].size() > 1;
    tile.isLoaded = isReused && writes == 0;
    tile.isStored = isReused && isWrittenFirst;
    if (!isInside && (!candidate.movesTiles || !(tile.isLoaded || tile.isStored)))
      continue;
    kept.push_back({place, tile, tile.isLoaded ? first : uses[place].front().op,
                    uses[place].back().op,
                    double(value.sizeInBytes) / double(trips) / double(cores)});
  }
  auto isReplacedBy = [&](const Kept &input, const Kept &result) {
    const TilingOp &op = problem.ops[input.to];
    if (!op.mayBeInPlace || result.tile.isLoaded ||
        op.operands.back().value != values[result.place])
      return false;
    return std::any_of(op.operands.begin(), op.operands.end() - 1, [&](const auto &operand) {
      return operand.value == values[input.place] &&
             operand.map.results == op.operands.back().map.results;
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
      bool isReplaced = std::any_of(kept.begin(), kept.end(), [&](const Kept &other) {
        return other.from == entry.to && other.bytes == entry.bytes && isReplacedBy(entry, other);
      });
      change[entry.to - first + (isReplaced ? 0 : 1)] -= entry.bytes;
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
      bool advances = std::any_of(map.results.begin(), map.results.end(), [&](const auto &expr) {
        return layout::dependsOn(expr, nest.dims[use.op - first]);
      });
      bytes += facts.getBytes(use) * (advances ? 1.0 : double(trips));
    }
  }
  return bytes / problem.memoryInBytesPerNs + productsInNs;
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
    unsigned dim = nest.dims[number - first];
    int64_t extent = division.dims[dim].extent / nest.numTrips;
    division.dims[dim].extent = extent;
    for (size_t i = 0; i < division.operands.size(); ++i) {
      division.operands[i].deviceCoordinates.extents[dim] = extent;
      // A value as a whole may end up in device memory after all.
      division.operands[i].isInDeviceMemory =
          nest.numTrips == 1 ||
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

std::optional<Nest> Run::findBest(double &untiledInNs) {
  std::vector<Node> shareable = getShareable();
  Nest nest;
  bool allFit = true;
  untiledInNs = std::numeric_limits<double>::infinity();
  for (Node shared : shareable)
    untiledInNs = std::min(untiledInNs, evaluate({shared, shared, 1, false}, nest, allFit));
  std::optional<Nest> best;
  for (Node tiled : getTileable()) {
    int64_t extent = getExtent(tiled), unit = getUnit(tiled);
    for (Node shared : shareable)
      for (int64_t trips = 1; trips <= extent; ++trips) {
        if (extent % trips || (extent / trips) % unit)
          continue;
        double ns = evaluate({tiled, shared, trips, true}, nest, allFit);
        if (best && ns >= best->tiledInNs) {
          if (allFit)
            break;
          continue;
        }
        if (!isLegal(nest))
          continue; // smaller tiles reach less far
        best = nest;
        best->tiledInNs = ns;
        best->untiledInNs = untiledInNs;
        if (allFit)
          break; // more tiles read more often what does not advance
      }
  }
  bool isNest = best && best->tiledInNs < kWorthwhile * untiledInNs &&
                (best->numTrips > 1 ||
                 std::any_of(
                     best->tiles.begin(), best->tiles.end(),
                     [](const NestTile &tile) { return tile.isLoaded || tile.isStored; }));
  return isNest ? best : std::nullopt;
}

std::vector<Nest> findNests(const TilingProblem &problem) {
  Facts facts(problem);
  std::vector<Nest> nests;
  for (unsigned first = 0; first < problem.ops.size();) {
    if (problem.ops[first].isFixed) {
      ++first;
      continue;
    }
    Run run(facts, first);
    std::optional<Nest> best;
    for (bool grows = !run.getTileable().empty(); grows;) {
      // A longer run is tried before it is known to be one; where it is none, the shorter is
      // the last.
      Run shorter = run;
      grows = run.grow() && !run.getTileable().empty();
      unsigned length = shorter.getLength();
      bool isLast = !grows || run.getTileable().size() != shorter.getTileable().size();
      if (!isLast && length > kEachLength && length % kEachLength)
        continue;
      double untiledInNs = 0;
      std::optional<Nest> nest = shorter.findBest(untiledInNs);
      // Of runs that save the same the longest: what follows would have to be read again.
      if (nest && (!best || nest->untiledInNs - nest->tiledInNs >=
                                kAsGood * (best->untiledInNs - best->tiledInNs)))
        best = std::move(nest);
    }
    if (best) {
      first = best->last + 1;
      nests.push_back(std::move(*best));
    } else {
      ++first;
    }
  }
  return nests;
}

} // namespace spyre::planning
