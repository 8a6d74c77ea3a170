//===- DivisionGraph.cpp - Work divisions that suit each other ------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Local search. A step changes one operation, or all pointwise operations and
// reductions that follow one; the sum over the operations around it decides. What the placement
// does later (lifetimes, a full scratchpad) is not known here: a value is counted
// as resident if every core reads just what it wrote and its part fits.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/DivisionGraph.h"

#include "spyre/Planning/DivisionCost.h"

#include <algorithm>
#include <cassert>
#include <tuple>

namespace spyre::planning {

namespace {
/// Steps must gain more than rounding does.
bool isLess(double a, double b) { return a < b - 1e-9 * std::max(1.0, b); }
} // namespace

static layout::Spread getSpread(const DivisionProblem &problem, const Splits &splits) {
  return makeSpread(problem.dims, splits, wantsKFast(problem, splits));
}

unsigned DivisionGraph::addOperation(DivisionProblem problem, CostClass costClass,
                                     std::vector<layout::Access> accesses, Splits splits,
                                     bool isFixed) {
  assert(accesses.size() == problem.operands.size() && splits.size() == problem.dims.size());
  Operation op;
  op.cost = getCostProblem(problem, splits, costClass);
  op.spread = getSpread(problem, splits);
  op.problem = std::move(problem);
  op.costClass = costClass;
  op.accesses = std::move(accesses);
  op.splits = std::move(splits);
  op.isFixed = isFixed;
  op.producers.resize(op.problem.operands.size());
  operations.push_back(std::move(op));
  return static_cast<unsigned>(operations.size() - 1);
}

void DivisionGraph::setValue(unsigned producer, const Value &value) {
  Operation &op = operations[producer];
  auto addUse = [&](const Operation &user, unsigned operand, bool isWrite) {
    op.value.uses.push_back(
        {user.accesses[operand], isWrite, needsDeviceMemory(device, user.problem.kind, isWrite)});
  };
  op.value.shape = value.shape;
  op.value.hasPaddedLayout = value.hasPaddedLayout;
  op.value.isShared = value.isShared;
  addUse(op, static_cast<unsigned>(op.accesses.size() - 1), /*isWrite=*/true);
  op.value.isWrittenInParts = value.isWrittenInParts;
  for (const Use &use : value.uses)
    addUse(operations[use.operation], use.operand, /*isWrite=*/false);
  std::optional<ResidencyObstacle> obstacle = findObstacle(op.value);
  op.mayStay = !obstacle;
  op.resident.reset();
  // Neighbours are divided alike where that makes sense of some kind: not if the value is
  // not theirs alone.
  bool isTheirs = !obstacle || obstacle->kind == Obstacle::DeviceMemoryOnly ||
                  obstacle->kind == Obstacle::PartlyWritten;
  if (!isTheirs)
    return;
  op.uses = value.uses;
  for (const Use &use : value.uses)
    operations[use.operation].producers[use.operand] = producer;
}

bool DivisionGraph::computeResident(const Operation &op) const {
  if (!op.mayStay || op.uses.empty())
    return false;
  // The whole buffer, as rounded by the slices of its owner.
  int64_t parts = 1;
  for (size_t dim = 0; dim < op.splits.size(); ++dim)
    if (!op.problem.dims[dim].isReduced)
      parts *= op.splits[dim];
  if (op.cost.operands.back().sizeInBytes / parts > device.getUsableLXInBytes())
    return false;
  std::vector<const layout::Spread *> spreads{&op.spread};
  for (const Use &use : op.uses)
    spreads.push_back(&operations[use.operation].spread);
  return !findObstacleInSpreads(op.value, spreads, device.getNumCores());
}

bool DivisionGraph::isResident(unsigned number) {
  Operation &op = operations[number];
  if (!op.resident)
    op.resident = computeResident(op);
  return *op.resident;
}

double DivisionGraph::getOperationCost(unsigned number) {
  Operation &op = operations[number];
  for (size_t i = 0; i < op.producers.size(); ++i)
    if (op.producers[i])
      op.cost.operands[i].memory =
          isResident(*op.producers[i]) ? MemorySpace::LX : MemorySpace::HBM;
  if (!op.uses.empty())
    op.cost.operands.back().memory = isResident(number) ? MemorySpace::LX : MemorySpace::HBM;
  op.cost.numCores = getNumCores(op.splits);
  if (op.cost.matmul)
    op.cost.matmul = getMatmulShape(op.problem, op.splits, /*wholeSticks=*/true);
  return cost::estimate(device, op.cost).totalInNs;
}

double DivisionGraph::getLowerBound(const Operation &op, const Splits &splits) const {
  cost::OpProblem best = op.cost;
  for (size_t i = 0; i < op.producers.size(); ++i)
    if (op.producers[i])
      best.operands[i].memory =
          operations[*op.producers[i]].mayStay ? MemorySpace::LX : MemorySpace::HBM;
  if (op.mayStay && !op.uses.empty())
    best.operands.back().memory = MemorySpace::LX;
  if (best.matmul)
    best.matmul = getMatmulShape(op.problem, splits, /*wholeSticks=*/true);
  return cost::estimate(device, best).totalInNs;
}

double DivisionGraph::getCost() {
  double sum = 0;
  for (unsigned number = 0; number < operations.size(); ++number)
    sum += getOperationCost(number);
  return sum;
}

void DivisionGraph::setSplits(unsigned number, const Splits &splits) {
  Operation &op = operations[number];
  op.splits = splits;
  op.spread = getSpread(op.problem, splits);
  op.resident.reset();
  for (const std::optional<unsigned> &producer : op.producers)
    if (producer)
      operations[*producer].resident.reset();
}

std::vector<unsigned> DivisionGraph::getNeighbourhood(unsigned number) const {
  std::set<unsigned> found{number};
  auto addValue = [&](unsigned producer) {
    found.insert(producer);
    for (const Use &use : operations[producer].uses)
      found.insert(use.operation);
  };
  for (const std::optional<unsigned> &producer : operations[number].producers)
    if (producer)
      addValue(*producer);
  addValue(number);
  return {found.begin(), found.end()};
}

double DivisionGraph::getCostOf(const std::vector<unsigned> &numbers) {
  double sum = 0;
  for (unsigned number : numbers)
    sum += getOperationCost(number);
  return sum;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The cheapest legal splits of one operation. Of equals the present ones stay.
bool DivisionGraph::tryAllSplits(unsigned number) {
  Operation &op = operations[number];
  std::vector<unsigned> around = getNeighbourhood(number);
  Splits best = op.splits;
  double bestCost = getCostOf(around);
  // Others can only gain what they pay for this operation's operands now, so a
  // candidate that costs more than all of them together is not looked at.
  bool changed = false;
  for (const Splits &candidate : enumerateSplits(op.problem)) {
    if (candidate == best || getLowerBound(op, candidate) >= bestCost)
      continue;
    setSplits(number, candidate);
    double cost = getCostOf(around);
    if (isLess(cost, bestCost)) {
      best = candidate;
      bestCost = cost;
      changed = true;
    }
  }
  setSplits(number, best);
  return changed;
}

std::optional<Splits> DivisionGraph::deriveSplits(const Operation &producer, const Operation &user,
                                                  unsigned operand) const {
  Splits splits(user.problem.dims.size(), 1);
  const layout::IndexMap &written = producer.accesses.back().map,
                         &read = user.accesses[operand].map;
  for (size_t i = 0; i < written.results.size(); ++i) {
    const auto &from = written.results[i].digits, &to = read.results[i].digits;
    int64_t slices = from.empty() ? 1 : producer.splits[from[0].input];
    if (slices == 1)
      continue;
    if (from.size() != 1 || to.size() != 1)
      return std::nullopt;
    splits[to[0].input] = slices;
  }
  if (!verify(user.problem, splits).empty())
    return std::nullopt;
  return splits;
}

/// Gives \p number the splits \p own, and those that follow it the ones under which
/// they read just what each core has.
bool DivisionGraph::tryPropagation(unsigned number, const Splits &own, bool throughMatmuls) {
  std::vector<std::pair<unsigned, Splits>> before;
  std::vector<std::pair<unsigned, Splits>> steps;
  std::set<unsigned> seen{number}, affected;
  auto step = [&](unsigned op, const Splits &splits) {
    before.emplace_back(op, operations[op].splits);
    steps.emplace_back(op, splits);
    for (unsigned near : getNeighbourhood(op))
      affected.insert(near);
    // Later users follow these splits, so they are set at once; the costs are
    // compared when the chain is complete.
    operations[op].splits = splits;
  };
  if (own != operations[number].splits)
    step(number, own);
  std::vector<unsigned> queue{number};
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const Use &use : operations[queue[i]].uses) {
      const Operation &user = operations[use.operation];
      bool follows = user.problem.kind == OperationKind::Pointwise ||
                     user.problem.kind == OperationKind::Reduction ||
                     (throughMatmuls && user.problem.kind == OperationKind::Matmul);
      if (user.isFixed || !follows || !seen.insert(use.operation).second)
        continue;
      std::optional<Splits> splits = deriveSplits(operations[queue[i]], user, use.operand);
      if (!splits)
        continue;
      queue.push_back(use.operation);
      if (*splits != user.splits)
        step(use.operation, *splits);
    }
  }
  if (steps.empty())
    return false;
  std::vector<unsigned> around(affected.begin(), affected.end());
  for (const auto &[op, splits] : before)
    setSplits(op, splits);
  double cost = getCostOf(around);
  for (const auto &[op, splits] : steps)
    setSplits(op, splits);
  if (isLess(getCostOf(around), cost))
    return true;
  for (const auto &[op, splits] : before)
    setSplits(op, splits);
  return false;
}

/// Splits that are better for a matmul by itself may be worth it only if those that
/// follow change with it.
bool DivisionGraph::tryWithFollowers(unsigned number) {
  // Few: each is a walk over what follows.
  constexpr size_t kMaxCandidates = 4;
  constexpr double kWorthwhile = 0.9;
  Operation &op = operations[number];
  double present = getOperationCost(number);
  std::vector<std::pair<double, Splits>> candidates;
  cost::OpProblem problem = op.cost;
  for (Splits &splits : enumerateSplits(op.problem)) {
    problem.matmul = getMatmulShape(op.problem, splits, /*wholeSticks=*/true);
    double cost = cost::estimate(device, problem).totalInNs;
    if (cost < kWorthwhile * present)
      candidates.emplace_back(cost, std::move(splits));
  }
  // Of equals the one with most cores, then with whole rows: what follows (a
  // reduction, the next product) can then be divided alike.
  auto getRank = [&](const std::pair<double, Splits> &candidate) {
    const Splits &splits = candidate.second;
    return std::tuple(candidate.first, -getNumCores(splits),
                      getMatmulShape(op.problem, splits).nSplit, splits);
  };
  std::sort(candidates.begin(), candidates.end(),
            [&](const auto &x, const auto &y) { return getRank(x) < getRank(y); });
  for (size_t i = 0; i < std::min(candidates.size(), kMaxCandidates); ++i)
    for (bool throughMatmuls : {false, true})
      if (tryPropagation(number, candidates[i].second, throughMatmuls))
        return true;
  return false;
}

void DivisionGraph::improve(SearchEffort effort) {
  // Every step makes the sum smaller, so this ends; the limit is for the clock.
  constexpr int kMaxSweeps = 8;
  int sweeps = effort == SearchEffort::Everything ? kMaxSweeps : 2;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    bool changed = false;
    for (unsigned number = 0; number < operations.size(); ++number) {
      bool isMatmul = operations[number].cost.matmul.has_value();
      if (!isMatmul && effort != SearchEffort::Everything)
        continue;
      if (!operations[number].isFixed && tryAllSplits(number))
        changed = true;
      for (bool throughMatmuls : {false, true})
        if (tryPropagation(number, operations[number].splits, throughMatmuls))
          changed = true;
      if (isMatmul && !operations[number].isFixed && tryWithFollowers(number))
        changed = true;
    }
    if (!changed)
      return;
  }
}

} // namespace spyre::planning
