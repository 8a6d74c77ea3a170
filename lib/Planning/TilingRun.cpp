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
      } else if (!isUnit(expr, value.shape[r])) {
        isMixed[node] = true;
        touchesAll[place] = false;
        // Every point writes an element of its own: tiles write apart from each other.
        for (const layout::Digit &digit : expr.digits)
          if (operand.isWrite && digit.divisor == 1 && digit.modulus == 0)
            inResult[digit.input] = true;
      }
    }
  }
  for (unsigned d = 0; d < extents.size(); ++d)
    isReduced[facts.opNodes[number] + d] = !inResult[d];
}

const Run::Class &Run::getClass(Node root) {
  auto [known, isNew] = classes.try_emplace(root);
  Class &made = known->second;
  if (!isNew)
    return made;
  std::vector<std::pair<int64_t, int64_t>> dims; // extents and units
  for (unsigned op = first; op <= last; ++op) {
    std::optional<unsigned> found;
    bool isReducedHere = false, areSeveral = false;
    const Node begin = facts.opNodes[op];
    for (unsigned d = 0; d < Facts::getExtents(facts.problem.ops[op]).size(); ++d)
      if (find(begin + d) == root) {
        areSeveral |= found.has_value();
        isReducedHere |= areSeveral || isReduced[begin + d];
        found = d;
      }
    made.isReduced.push_back(isReducedHere);
    // A contraction's partial sums go around the ring, in an order of cores of its own.
    const bool isOnlyReduced = isReducedHere && !areSeveral && facts.problem.ops[op].macs == 0;
    made.reducedDims.push_back(isOnlyReduced ? found : std::nullopt);
    made.dims.push_back(isReducedHere ? std::nullopt : found);
    if (!getSharedDim(made, op - first))
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
      if (find(begin + r) == root) {
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

bool Run::isTileable(Node root) {
  const Class &tiled = getClass(root);
  if (tiled.extent <= 1 || tiled.numOps * 2 < getLength())
    return false;
  // What stands before the loop: it reads nothing that the loop has written until then, and
  // writes nothing that the loop has touched.
  std::vector<bool> isWrittenInside(values.size()), isTouchedInside(values.size());
  for (unsigned op = first; op <= last; ++op) {
    if (tiled.isReduced[op - first])
      return false;
    for (const TilingOperand &operand : facts.problem.ops[op].operands) {
      const unsigned place = places[operand.value];
      if (tiled.dims[op - first]) {
        isTouchedInside[place] = true;
        isWrittenInside[place] = isWrittenInside[place] || operand.isWrite;
      } else if (isWrittenInside[place] || (operand.isWrite && isTouchedInside[place])) {
        return false;
      }
    }
  }
  // What the loop writes is read, and written by others, in the same tile only.
  for (unsigned i = 0; i < values.size(); ++i)
    if (isWrittenInside[i] && uses[i].size() > 1 && !tiled.valueDims[i])
      return false;
  return true;
}

std::vector<Node> Run::getRoots() {
  std::vector<Node> roots;
  for (unsigned op = first; op <= last; ++op)
    for (unsigned d = 0; d < Facts::getExtents(facts.problem.ops[op]).size(); ++d) {
      Node root = find(facts.opNodes[op] + d);
      if (std::find(roots.begin(), roots.end(), root) == roots.end())
        roots.push_back(root);
    }
  return roots;
}

std::vector<Node> Run::getTileable() {
  std::vector<Node> roots = getRoots();
  std::erase_if(roots, [&](Node root) { return !isTileable(root); });
  return roots;
}

std::vector<Node> Run::getShareable() {
  std::vector<Node> roots = getRoots();
  std::erase_if(roots, [&](Node root) { return getClass(root).numOps * 2 < getLength(); });
  return roots;
}

} // namespace spyre::planning::tiling
