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
    uses[place].push_back({number, i});
    for (unsigned r = 0; r < value.shape.size(); ++r) {
      const layout::IndexExpr &expr = operand.map.results[r];
      Node node = facts.valueNodes[operand.value] + r;
      if (auto dim = getPlainDim(expr, extents, value.shape[r])) {
        parent[find(node)] = find(facts.opNodes[number] + *dim);
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

} // namespace spyre::planning::tiling
