//===- TilingRun.h - Neighbouring operations and their common dims -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run of operations that grows one by one. With each, the dims that are the same dim of the
// data are joined: a union-find over the dims of operations and of values. What may be done
// with a class of dims is asked here; what is worth it is TimeTiling.cpp's.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_PLANNING_TILINGRUN_H
#define SPYRE_LIB_PLANNING_TILINGRUN_H

#include "spyre/Planning/TimeTiling.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace spyre::planning::tiling {

/// A longer run is not looked at: what it would save, its parts save.
inline constexpr unsigned kMaxRun = 512;

using Node = unsigned;
inline constexpr Node kNone = std::numeric_limits<Node>::max();

/// Coordinate \p expr of an access over \p extents, if it is one dim, whole and from 0 on, of
/// a logical dim of \p size.
inline std::optional<unsigned> getPlainDim(const layout::IndexExpr &expr,
                                           const std::vector<int64_t> &extents, int64_t size) {
  if (expr.constant != 0 || expr.digits.size() != 1)
    return std::nullopt;
  const layout::Digit &digit = expr.digits.front();
  bool isPlain = digit.coefficient == 1 && digit.divisor == 1 && digit.modulus == 0 &&
                 digit.input < extents.size() && extents[digit.input] == size;
  return isPlain ? std::optional(digit.input) : std::nullopt;
}

/// True if the only element along a logical dim is meant.
inline bool isUnit(const layout::IndexExpr &expr, int64_t size) {
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
        isReduced(facts.numNodes), places(facts.problem.values.size(), kNone) {
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

  /// The best nest of the run, if one is worth it.
  std::optional<Nest> findBest();

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

  const Facts &facts;
  unsigned first, last;
  std::vector<Node> parent;
  std::vector<bool> isMixed;          ///< of values: read or written by other coordinates, too
  std::vector<bool> isReduced;        ///< of operations: not a dim of the result
  std::vector<unsigned> values;       ///< that the run uses, in order of first use
  std::vector<std::vector<Use>> uses; ///< of each of `values`
  std::vector<bool> touchesAll;       ///< of each of `values`: each use touches all of it
  std::map<Node, Class> classes;      ///< of the run as it is
  std::vector<unsigned> places;       ///< of every value of the problem in `values`, or kNone
};

} // namespace spyre::planning::tiling

#endif // SPYRE_LIB_PLANNING_TILINGRUN_H
