//===- TilingRun.cpp - Neighbouring operations and their common dims -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "TilingRun.h"

namespace spyre::planning::tiling {

void Run::add(unsigned number) {
  classes.clear();
  columns.reset();
  passing.reset();
  outsideInNs.reset();
  const TilingOp &op = facts.problem.ops[number];
  hasProducts |= op.macs > 0;
  const std::vector<int64_t> &extents = Facts::getExtents(op);
  std::vector<bool> inResult(extents.size());
  for (unsigned i = 0; i < op.operands.size(); ++i) {
    const TilingOperand &operand = op.operands[i];
    const TilingValue &value = facts.problem.values[operand.value];
    unsigned &place = places[operand.value];
    if (place == kNone) {
      place = static_cast<unsigned>(values.size());
      values.push_back(operand.value);
      uses.emplace_back();
      isOfProduct.push_back(false);
      touchesBoxes.push_back(true);
      touchesAll.push_back(true);
    }
    const bool isWritten = std::any_of(uses[place].begin(), uses[place].end(), [&](Use use) {
      return facts.problem.ops[use.op].operands[use.operand].isWrite;
    });
    uses[place].push_back({number, i});
    for (unsigned r = 0; r < value.shape.size(); ++r) {
      const layout::IndexExpr &expr = operand.map.results[r];
      Node node = facts.valueNodes[operand.value] + r;
      if (auto dim = getOuterDim(expr, extents, value.shape[r])) {
        const Node mine = find(facts.opNodes[number] + *dim);
        // What an operation of the run has written carries its dims on.
        bool carries = joinsReads || operand.isWrite || isWritten;
        if (carries || !isTaken[node]) {
          parent[find(node)] = mine;
        } else if (find(node) != mine) {
          isMixed[node] = true;
          ++numSeparated;
        }
        isTaken[node] = true;
        if (operand.isWrite)
          inResult[*dim] = true;
        // Dims within a part of the outermost are no sums, but nothing is cut along them.
        for (const layout::Digit &digit : expr.digits)
          if (operand.isWrite && digit.input != *dim)
            isInner[facts.opNodes[number] + digit.input] = true;
      } else if (!isUnit(expr, value.shape[r])) {
        isMixed[node] = true;
        touchesAll[place] = false;
        // A box of it, at one place, may be touched in a scratchpad.
        const bool isBox =
            expr.constant >= 0 &&
            std::all_of(expr.digits.begin(), expr.digits.end(),
                        [&](const layout::Digit &digit) {
                          return digit.divisor == 1 && digit.modulus == 0 && digit.coefficient == 1;
                        }) &&
            expr.digits.size() <= 1;
        touchesBoxes[place] = touchesBoxes[place] && isBox;
        // Every point writes an element of its own: tiles write apart from each other.
        for (const layout::Digit &digit : expr.digits)
          if (operand.isWrite && digit.divisor == 1 && digit.modulus == 0)
            inResult[digit.input] = true;
      }
    }
  }
  const bool isMade =
      std::any_of(op.operands.begin(), op.operands.end(), [&](const TilingOperand &operand) {
        return !operand.isWrite && isOfProduct[places[operand.value]];
      });
  hasChain |= isMade && op.macs > 0;
  for (const TilingOperand &operand : op.operands)
    if (operand.isWrite && (isMade || op.macs > 0))
      isOfProduct[places[operand.value]] = true;
  for (unsigned d = 0; d < extents.size(); ++d)
    isReduced[facts.opNodes[number] + d] = !inResult[d] && !isInner[facts.opNodes[number] + d];
}

const Run::Class &Run::getClass(Node root) {
  auto known = classes.find(root);
  if (known == classes.end())
    known = classes.emplace(root, makeClass([&](Node node) { return find(node) == root; })).first;
  return known->second;
}

static bool dependsOn(const layout::IndexMap &map, unsigned dim) {
  return std::any_of(map.results.begin(), map.results.end(),
                     [dim](const layout::IndexExpr &expr) { return layout::dependsOn(expr, dim); });
}

static void addOnce(Node node, std::vector<Node> &found) {
  if (std::find(found.begin(), found.end(), node) == found.end())
    found.push_back(node);
}

void Run::addColumns(Use use, std::vector<Node> &found) {
  const TilingOp &op = facts.problem.ops[use.op];
  for (unsigned d = 0; d < Facts::getExtents(op).size(); ++d) {
    const Node node = facts.opNodes[use.op] + d;
    if (!dependsOn(facts.getMap(use), d) && !isReduced[node] && Facts::getExtents(op)[d] != 1)
      addOnce(find(node), found);
  }
}

void Run::addChains(std::vector<Node> &found) {
  for (unsigned place = 0; place < values.size(); ++place)
    for (Use use : uses[place]) {
      const TilingOp &op = facts.problem.ops[use.op];
      if (!isOfProduct[place] || !mayGather(place) || op.macs == 0 ||
          op.operands[use.operand].isWrite)
        continue;
      // Operations on many alike (heads) share those among the cores.
      const std::vector<int64_t> &extents = Facts::getExtents(op);
      bool isBatched = false;
      for (unsigned d = 0; d < extents.size(); ++d)
        isBatched |= extents[d] > 1 && std::all_of(op.operands.begin(), op.operands.end(),
                                                   [&](const TilingOperand &operand) {
                                                     return dependsOn(operand.map, d);
                                                   });
      if (isBatched)
        continue;
      addColumns(use, found);
      for (unsigned d = 0; d < extents.size(); ++d)
        if (const Node node = facts.opNodes[use.op] + d; isReduced[node])
          addOnce(find(node), found);
    }
}

const std::vector<Node> &Run::getColumns() {
  if (columns)
    return *columns;
  columns.emplace();
  if (!sharesColumns())
    return *columns;
  for (unsigned place = 0; place < values.size(); ++place) {
    auto isFactor = [&](Use use) {
      const TilingOp &op = facts.problem.ops[use.op];
      return op.macs > 0 && !op.operands[use.operand].isWrite;
    };
    if (std::count_if(uses[place].begin(), uses[place].end(), isFactor) < 2)
      continue;
    for (Use use : uses[place])
      if (isFactor(use))
        addColumns(use, *columns);
  }
  addChains(*columns);
  bool isClear = columns->size() > 1;
  for (unsigned op = first; op <= last && isClear; ++op) {
    const TilingOp &described = facts.problem.ops[op];
    unsigned count = 0;
    for (unsigned d = 0; d < Facts::getExtents(described).size(); ++d) {
      const Node node = facts.opNodes[op] + d;
      const bool isColumn =
          std::find(columns->begin(), columns->end(), find(node)) != columns->end();
      count += isColumn && !(described.macs > 0 && isReduced[node]);
    }
    isClear = count <= 1;
  }
  if (!isClear)
    columns->clear();
  return *columns;
}

const Run::Class &Run::getShareClass(Node root) {
  const std::vector<Node> &all = getColumns();
  if (std::find(all.begin(), all.end(), root) == all.end())
    return getClass(root);
  auto known = classes.find(kNone);
  if (known == classes.end())
    known =
        classes
            .emplace(kNone, makeClass(
                                [&](Node node) {
                                  return std::find(all.begin(), all.end(), find(node)) != all.end();
                                },
                                /*ofColumns=*/true))
            .first;
  return known->second;
}

template <typename IsIn> Run::Class Run::makeClass(IsIn isIn, bool ofColumns) {
  Class made;
  made.isOfColumns = ofColumns;
  std::vector<std::pair<int64_t, int64_t>> dims; // extents and units
  for (unsigned op = first; op <= last; ++op) {
    std::optional<unsigned> found;
    bool isReducedHere = false, areSeveral = false, isInnerHere = false;
    const Node begin = facts.opNodes[op];
    for (unsigned d = 0; d < Facts::getExtents(facts.problem.ops[op]).size(); ++d)
      if (isIn(begin + d) &&
          !(ofColumns && facts.problem.ops[op].macs > 0 && isReduced[begin + d])) {
        areSeveral |= found.has_value();
        isReducedHere |= areSeveral || isReduced[begin + d];
        isInnerHere |= isInner[begin + d];
        found = d;
      }
    made.isReduced.push_back(isReducedHere);
    // A contraction's partial sums go around the ring, in an order of cores of its own.
    const bool isOnlyReduced =
        isReducedHere && !areSeveral && !isInnerHere && facts.problem.ops[op].macs == 0;
    made.reducedDims.push_back(isOnlyReduced ? found : std::nullopt);
    made.dims.push_back(isReducedHere || isInnerHere ? std::nullopt : found);
    const bool isCut =
        found && !areSeveral && !isInnerHere && (!isReducedHere || facts.problem.ops[op].carried);
    made.cutDims.push_back(isCut ? found : std::nullopt);
    if (!getSharedDim(made, op - first) && !isCut)
      continue;
    const int64_t extent = Facts::getExtents(facts.problem.ops[op])[*found];
    made.extent = dims.empty() ? extent : std::gcd(made.extent, extent);
    made.numOps += made.dims.back().has_value();
    dims.emplace_back(extent, facts.problem.ops[op].units[*found]);
  }
  for (unsigned value : values) {
    std::optional<unsigned> found;
    bool isMixedHere = false, isThere = false;
    const Node begin = facts.valueNodes[value];
    for (unsigned r = 0; r < facts.problem.values[value].shape.size(); ++r)
      if (isIn(begin + r)) {
        isMixedHere |= isThere || isMixed[begin + r];
        isThere = true;
        found = r;
      }
    made.isInValue.push_back(isThere);
    made.valueDims.push_back(isMixedHere ? std::nullopt : found);
    if (!made.valueDims.back())
      continue;
    made.extent = std::gcd(made.extent, facts.problem.values[value].shape[*found]);
    dims.emplace_back(facts.problem.values[value].shape[*found],
                      facts.problem.values[value].units[*found]);
  }
  for (auto [extent, unit] : dims) {
    const int64_t size = extent / std::max<int64_t>(1, made.extent); // of one part
    made.unit = std::lcm(made.unit, unit / std::gcd(unit, size));
  }
  return made;
}

bool Run::findCarried(const Class &tiled, std::vector<bool> &isCarried) const {
  for (unsigned op = first; op <= last; ++op)
    if (tiled.isReduced[op - first]) {
      const std::optional<unsigned> group = facts.problem.ops[op].carried;
      if (!group || !tiled.cutDims[op - first])
        return false;
      isCarried.resize(facts.groupSizes.size());
      isCarried[*group] = true;
    }
  // A sum that the loop does not cut would be added again in each iteration.
  for (unsigned op = first; op <= last && !isCarried.empty(); ++op) {
    const std::optional<unsigned> group = facts.problem.ops[op].carried;
    const std::vector<int64_t> &extents = Facts::getExtents(facts.problem.ops[op]);
    const std::optional<unsigned> cut = tiled.cutDims[op - first];
    if (!group || !isCarried[*group] || (cut && isReduced[facts.opNodes[op] + *cut]))
      continue; // of the other dims that it reduces a part has all
    for (unsigned d = 0; d < extents.size(); ++d)
      if (isReduced[facts.opNodes[op] + d] && extents[d] > 1)
        return false;
  }
  std::vector<unsigned> sizes(isCarried.size());
  for (unsigned op = first; op <= last && !isCarried.empty(); ++op)
    if (const std::optional<unsigned> group = facts.problem.ops[op].carried)
      ++sizes[*group];
  for (size_t group = 0; group < isCarried.size(); ++group)
    if (isCarried[group] && sizes[group] != facts.groupSizes[group])
      return false;
  return true;
}

bool Run::isTileable(Node root) {
  const Class &known = getClass(root);
  if (known.extent <= 1)
    return false;
  std::vector<bool> isCarried; // each group
  if (!findCarried(known, isCarried))
    return false;
  Class &tiled = classes.at(root);
  tiled.sides.assign(getLength(), Side::Inside);
  // What stands before the loop depends on nothing that the loop, or what stands behind it, has
  // touched until then; what stands in the loop on nothing of what stands behind it.
  struct Touches {
    explicit Touches(size_t count) : isRead(count), isWritten(count) {}
    void add(unsigned place, bool isWrite) { (isWrite ? isWritten : isRead)[place] = true; }
    /// Whether an access has to come after these.
    bool follows(unsigned place, bool isWrite) const {
      return isWritten[place] || (isWrite && isRead[place]);
    }
    std::vector<bool> isRead, isWritten;
  };
  Touches inside(values.size()), after(values.size());
  std::vector<unsigned> numInside(values.size());
  // Of each value the group whose operations alone touch it in the loop.
  constexpr unsigned kUntouched = ~0u, kSeveral = ~1u;
  std::vector<unsigned> groupOf(values.size(), kUntouched);
  std::vector<bool> isCarriedValue(values.size());
  unsigned numInsideOps = 0;
  for (unsigned op = first; op <= last; ++op) {
    const TilingOp &described = facts.problem.ops[op];
    const bool carries =
        described.carried && *described.carried < isCarried.size() && isCarried[*described.carried];
    bool followsInside = false, followsAfter = false;
    for (const TilingOperand &operand : described.operands) {
      const unsigned place = places[operand.value];
      followsInside |= inside.follows(place, operand.isWrite);
      followsAfter |= after.follows(place, operand.isWrite);
    }
    Side &side = tiled.sides[op - first];
    if (carries || tiled.cutDims[op - first])
      side = Side::Inside;
    else
      side = followsInside || followsAfter ? Side::After : Side::Before;
    if (side == Side::Inside && followsAfter)
      return false;
    // Without something to carry, what stands behind may as well begin a run of its own.
    if (side == Side::After && isCarried.empty())
      return false;
    if (side == Side::Before)
      continue;
    for (const TilingOperand &operand : described.operands) {
      const unsigned place = places[operand.value];
      (side == Side::Inside ? inside : after).add(place, operand.isWrite);
      if (side != Side::Inside)
        continue;
      ++numInside[place];
      isCarriedValue[place] = isCarriedValue[place] || (carries && operand.isWrite);
      const unsigned group = carries ? *described.carried : kSeveral;
      groupOf[place] = groupOf[place] == kUntouched || groupOf[place] == group ? group : kSeveral;
    }
    numInsideOps += side == Side::Inside;
  }
  if (numInsideOps * (isCarried.empty() ? 2 : 3) < getLength()) // as in getRoots
    return false;
  // What the loop writes is read, and written by others, in the same tile only, or carried on
  // by one group.
  for (unsigned i = 0; i < values.size(); ++i) {
    const bool isWritten = inside.isWritten[i];
    if (isWritten && numInside[i] > 1 && !tiled.valueDims[i] &&
        (tiled.isInValue[i] || !isCarriedValue[i] || groupOf[i] == kSeveral))
      return false;
  }
  tiled.writesCarried.assign(getLength(), false);
  tiled.isCarried = !isCarried.empty();
  for (unsigned i = 0; i < values.size(); ++i)
    for (Use use : uses[i])
      if (isCarriedValue[i] && facts.problem.ops[use.op].operands[use.operand].isWrite)
        tiled.writesCarried[use.op - first] = true;
  return true;
}

std::vector<Node> Run::getRoots(bool countsCarried) {
  std::vector<Node> roots;
  std::vector<unsigned> counts; // operations that have a dim of it
  unsigned numCarried = 0;
  for (unsigned op = first; op <= last; ++op) {
    numCarried += facts.problem.ops[op].carried.has_value();
    const size_t numDims = Facts::getExtents(facts.problem.ops[op]).size();
    for (unsigned d = 0; d < numDims; ++d) {
      const Node root = find(facts.opNodes[op] + d);
      const auto known = std::find(roots.begin(), roots.end(), root);
      counts.resize(roots.size() + 1);
      ++counts[static_cast<size_t>(known - roots.begin())];
      if (known == roots.end())
        roots.push_back(root);
    }
  }
  // Half of the operations have to have it; a third if some carry on, as much then stands before
  // the loop and behind it.
  const unsigned more = countsCarried ? numCarried : 0;
  size_t at = 0;
  std::erase_if(roots, [&](Node) { return (counts[at++] + more) * (more ? 3 : 2) < getLength(); });
  return roots;
}

std::vector<Node> Run::getTileable() {
  std::vector<Node> roots = getRoots(/*countsCarried=*/true);
  std::erase_if(roots, [&](Node root) { return !isTileable(root); });
  return roots;
}

std::vector<Node> Run::getShareable() {
  std::vector<Node> roots = getRoots(/*countsCarried=*/false);
  std::erase_if(roots, [&](Node root) { return getShareClass(root).numOps * 2 < getLength(); });
  if (!sharesColumns())
    return roots;
  // What the others do, each slice does for itself.
  unsigned numProducts = 0;
  for (unsigned op = first; op <= last; ++op)
    numProducts += facts.problem.ops[op].macs > 0;
  std::vector<const Class *> known;
  for (Node root : roots)
    known.push_back(&getShareClass(root));
  for (unsigned op = first; op <= last; ++op)
    for (unsigned d = 0; d < Facts::getExtents(facts.problem.ops[op]).size(); ++d) {
      const Node root = find(facts.opNodes[op] + d);
      if (facts.problem.ops[op].macs == 0 || isReduced[facts.opNodes[op] + d])
        continue;
      const Class &shared = getShareClass(root);
      unsigned count = 0;
      for (unsigned other = first; other <= last; ++other)
        count += facts.problem.ops[other].macs > 0 && shared.dims[other - first];
      if (count * 2 < numProducts || std::find(known.begin(), known.end(), &shared) != known.end())
        continue;
      known.push_back(&shared);
      roots.push_back(root);
    }
  return roots;
}

} // namespace spyre::planning::tiling
