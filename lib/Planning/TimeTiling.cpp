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
#include <map>
#include <numeric>

namespace spyre::planning {

/// A longer run is not looked at: what it would save, its parts save.
static constexpr unsigned kMaxRun = 512;
/// Runs up to here are judged at each length; longer ones at multiples of it, and where they
/// end.
static constexpr unsigned kEachLength = 16;
/// Nothing is looked for where the least that is possible is that near.
static constexpr double kNoBetter = 1.02;
/// How many operations later a nest may begin that saves more than one that begins here.
static constexpr unsigned kLookahead = 3;
/// Longer runs are tiled by one loop.
static constexpr unsigned kMostOfTwoLoops = 32;
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
    for (unsigned i = 0; i < problem.ops.size(); ++i) {
      bytes.emplace_back();
      for (const TilingOperand &operand : problem.ops[i].operands) {
        bytes.back().push_back(countBytes(operand));
        firstUse[operand.value] = std::min(firstUse[operand.value], i);
        lastUse[operand.value] = std::max(lastUse[operand.value], i);
      }
    }
  }

  static const std::vector<int64_t> &getExtents(const TilingOp &op) {
    return op.operands.back().map.extents;
  }
  const layout::IndexMap &getMap(Use use) const {
    return problem.ops[use.op].operands[use.operand].map;
  }

  /// Bytes that an operand touches, whole dims of a part.
  double getBytes(Use use) const { return bytes[use.op][use.operand]; }

  double countBytes(const TilingOperand &operand) const {
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
  std::vector<std::vector<double>> bytes; ///< of each operand of each operation
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

  struct Loop {
    Node tiled = kNone;
    int64_t numTrips = 1;
  };
  struct Candidate {
    std::vector<Loop> loops; ///< of several tiles each
    Node shared = kNone;
    bool movesTiles = false; ///< loads and stores tiles
  };
  /// The traffic and products of \p candidate in time. \p allFit: nothing that could stay in LX
  /// had to leave it for its size.
  double evaluate(const Candidate &candidate, Nest &nest, bool &allFit);
  /// What no nest of the run falls below: each value from outside is read once, each that
  /// leaves is written once.
  double getLeastInNs() const;
  /// True if every operation of \p nest can be divided as it says.
  bool isLegal(const Nest &nest) const;
  /// What a class of dims is in the run as it is now.
  struct Class {
    std::vector<std::optional<unsigned>> dims;      ///< of each operation
    std::vector<std::optional<unsigned>> valueDims; ///< of each of `values`
    int64_t extent = 1, unit = 1;
  };
  const Class &getClass(Node root);
  unsigned getPlace(unsigned value) const {
    return std::lower_bound(index.begin(), index.end(), std::pair(value, 0u))->second;
  }

  const Facts &facts;
  unsigned first, last;
  std::vector<Node> parent;
  std::vector<bool> isMixed;          ///< of values: read or written by other coordinates, too
  std::vector<bool> isReduced;        ///< of operations: not a dim of the result
  std::vector<unsigned> values;       ///< that the run uses, in order of first use
  std::vector<std::vector<Use>> uses; ///< of each of `values`
  std::vector<bool> touchesAll;       ///< of each of `values`: each use touches all of it
  std::map<Node, Class> classes;      ///< of the run as it is
  std::vector<std::pair<unsigned, unsigned>> index; ///< value -> place in `values`, sorted
};
} // namespace

void Run::add(unsigned number) {
  classes.clear();
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
      touchesAll.push_back(true);
    }
    uses[place->second].push_back({number, i});
    for (unsigned r = 0; r < value.shape.size(); ++r)
      if (!getPlainDim(operand.map.results[r], extents, value.shape[r]) &&
          !isUnit(operand.map.results[r], value.shape[r]))
        touchesAll[place->second] = false;
  }
  for (unsigned d = 0; d < extents.size(); ++d)
    isReduced[facts.opNodes[number] + d] = !inResult[d];
}

const Run::Class &Run::getClass(Node root) {
  auto [known, isNew] = classes.try_emplace(root);
  Class &made = known->second;
  if (!isNew)
    return made;
  for (unsigned op = first; op <= last; ++op) {
    made.dims.push_back(getDim(op, root));
    if (made.dims.back()) {
      made.extent = Facts::getExtents(facts.problem.ops[op])[*made.dims.back()];
      made.unit = std::lcm(made.unit, facts.problem.ops[op].units[*made.dims.back()]);
    }
  }
  for (unsigned value : values) {
    made.valueDims.push_back(getValueDim(value, root));
    if (made.valueDims.back())
      made.unit = std::lcm(made.unit, facts.problem.values[value].units[*made.valueDims.back()]);
  }
  return made;
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
  return getClass(root).extent > 1;
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
    if (!op.mayBeInPlace || bytesAt[getPlace(result.value)] != input.bytes ||
        uses[getPlace(result.value)].front().op != input.to)
      return false;
    return std::any_of(op.operands.begin(), op.operands.end() - 1, [&](const auto &operand) {
      return operand.value == values[input.place] && operand.map.results == result.map.results;
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

std::optional<Nest> Run::findBest(double &untiledInNs) {
  std::vector<Node> shareable = getShareable();
  Nest nest;
  bool allFit = true;
  untiledInNs = std::numeric_limits<double>::infinity();
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
  for (Node tiled : tileable) {
    auto [extent, unit] = std::pair(getClass(tiled).extent, getClass(tiled).unit);
    std::vector<int64_t> &trips = counts.emplace_back();
    for (int64_t count = 2; count <= extent; ++count)
      if (extent % count == 0 && (extent / count) % unit == 0)
        trips.push_back(count);
  }
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
      for (size_t j = i + 1; j < tileable.size(); ++j)
        for (int64_t outer : counts[i])
          for (int64_t inner : counts[j])
            if (consider({{{tileable[i], outer}, {tileable[j], inner}}, shared, true}))
              break;
  }
  bool isNest = best && best->tiledInNs < kWorthwhile * untiledInNs &&
                (!best->loops.empty() ||
                 std::any_of(
                     best->tiles.begin(), best->tiles.end(),
                     [](const NestTile &tile) { return tile.isLoaded || tile.isStored; }));
  return isNest ? best : std::nullopt;
}

/// What is saved by \p nest.
static double getSaving(const Nest &nest) { return nest.untiledInNs - nest.tiledInNs; }

/// The best nest that begins with operation \p first.
static std::optional<Nest> findNest(const Facts &facts, unsigned first) {
  std::optional<Nest> best;
  if (facts.problem.ops[first].isFixed)
    return best;
  Run run(facts, first);
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
    if (nest && (!best || getSaving(*nest) >= kAsGood * getSaving(*best)))
      best = std::move(nest);
  }
  return best;
}

std::vector<Nest> findNests(const TilingProblem &problem) {
  Facts facts(problem);
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
