//===- PinnedNests.cpp - Nests that a schedule asks for ----------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule names dims of operations, or of arguments; here they become the classes of a run, with
// the reason where that is not possible. What it leaves open is searched as everywhere.
//
//===----------------------------------------------------------------------===//

#include "TilingRun.h"

#include "spyre/Planning/NamedDims.h"

namespace spyre::planning {

namespace tiling {

/// What \p names calls the dims of all operations of \p problem.
static DimNames nameDims(const TilingProblem &problem, const NamedDims &names) {
  DimNames all;
  for (const TilingValue &value : problem.values)
    all.addValue(value.shape);
  for (unsigned op = 0; op < problem.ops.size(); ++op) {
    all.addOperation(static_cast<unsigned>(Facts::getExtents(problem.ops[op]).size()));
    for (const TilingOperand &operand : problem.ops[op].operands)
      all.addAccess(op, operand.value, operand.map);
  }
  for (const auto &[name, place] : names)
    all.setName(place.first, place.second, name);
  return all;
}

std::variant<Node, std::string> Run::resolve(const ScheduledDim &dim, const NamedDims &names) {
  if (!dim.name.empty()) {
    auto known = names.find(dim.name);
    if (known == names.end())
      return "no argument has a dim '" + dim.name + "'";
    if (places[known->second.first] != kNone)
      return find(facts.valueNodes[known->second.first] + known->second.second);
    // What they use may be made of the argument.
    DimNames all = nameDims(facts.problem, names);
    for (unsigned op = first; op <= last; ++op)
      if (std::vector<unsigned> dims = all.getDims(op, dim.name); dims.size() == 1)
        return find(facts.opNodes[op] + dims.front());
    return "the operations have no dim that is '" + dim.name + "'";
  }
  if (dim.operation < first || dim.operation > last)
    return "operation " + std::to_string(dim.operation) + " is not one of the nest";
  const size_t numDims = Facts::getExtents(facts.problem.ops[dim.operation]).size();
  if (dim.dim >= numDims)
    return "operation " + std::to_string(dim.operation) + " has " + std::to_string(numDims) +
           " dims";
  return find(facts.opNodes[dim.operation] + dim.dim);
}

std::variant<Nest, ScheduleError> Run::findPinned(const ScheduledNest &pinned,
                                                  const NamedDims &names) {
  pins.emplace();
  pins->loadsFactors = pinned.loadsFactors;
  pins->copies = pinned.copies;
  const std::vector<Node> tileable = getTileable();
  if (pinned.loops) {
    pins->loops.emplace();
    for (size_t i = 0; i < pinned.loops->size(); ++i) {
      const ScheduledCut &cut = (*pinned.loops)[i];
      const std::string field = ".loops[" + std::to_string(i) + "]";
      auto found = resolve(cut.dim, names);
      if (auto *message = std::get_if<std::string>(&found))
        return ScheduleError{field + ".dim", *message};
      const Node root = std::get<Node>(found);
      if (std::find(tileable.begin(), tileable.end(), root) == tileable.end())
        return ScheduleError{field + ".dim",
                             "the operations cannot run tile by tile along it: one of them reduces "
                             "it, or reads across tiles what another writes"};
      const std::vector<int64_t> counts = getTileCounts(getClass(root).extent, getClass(root).unit);
      if (std::find(counts.begin(), counts.end(), cut.parts) == counts.end()) {
        std::string message = "the dim can be cut into";
        for (size_t k = 0; k < counts.size(); ++k)
          message += (k ? ", " : " ") + std::to_string(counts[k]);
        return ScheduleError{field + ".tiles",
                             counts.empty() ? "the dim cannot be cut" : message + " tiles"};
      }
      pins->loops->push_back({&getClass(root), cut.parts});
    }
    if (pins->loops->size() == 2 && pins->loops->front().tiled == pins->loops->back().tiled)
      return ScheduleError{".loops", "both loops are along the same dim of the data"};
  }
  if (pinned.cores) {
    pins->cores.emplace();
    int64_t slices = 1;
    for (size_t i = 0; i < pinned.cores->size(); ++i) {
      const ScheduledCut &cut = (*pinned.cores)[i];
      const std::string field = ".cores[" + std::to_string(i) + "]";
      auto found = resolve(cut.dim, names);
      if (auto *message = std::get_if<std::string>(&found))
        return ScheduleError{field + ".dim", *message};
      const Class &shared = getShareClass(std::get<Node>(found));
      const int64_t unit = std::max<int64_t>(1, shared.unit),
                    units =
                        getShareableUnits(shared, pins->loops ? *pins->loops : std::vector<Loop>());
      if (units % cut.parts)
        return ScheduleError{field + ".slices", "a tile has " + std::to_string(units * unit) +
                                                    " along the dim, in units of " +
                                                    std::to_string(unit) +
                                                    ": slices have to be equal"};
      slices *= cut.parts;
      pins->cores->push_back({&shared, cut.parts});
    }
    if (slices > facts.problem.numCores)
      return ScheduleError{".cores", "so many slices need " + std::to_string(slices) +
                                         " cores, of " + std::to_string(facts.problem.numCores)};
    if (pins->cores->size() == 2 && pins->cores->front().shared == pins->cores->back().shared)
      return ScheduleError{".cores", "both are along the same dim of the data"};
    order(*pins->cores);
  }
  std::optional<Nest> nest = findBest(1, {});
  if (!pins->loops)
    if (std::optional<Nest> other = findBest(2, {});
        other && (!nest || other->tiledInNs < nest->tiledInNs))
      nest = std::move(other);
  if (!nest)
    return ScheduleError{"", "the operations cannot run so: the cores have no legal division of "
                             "one of them, or what a loop carries on would be done again"};
  return *nest;
}

} // namespace tiling

static ScheduledDim getScheduledDim(unsigned operation, unsigned dim) {
  ScheduledDim made;
  made.operation = operation;
  made.dim = dim;
  return made;
}

ScheduledNest describe(const Nest &nest) {
  ScheduledNest made;
  made.first = nest.first;
  made.last = nest.last;
  made.tiledInNs = nest.tiledInNs;
  made.untiledInNs = nest.untiledInNs;
  made.isAlone = nest.first == nest.last && nest.ops.front().isApart;
  if (made.isAlone)
    return made;
  made.loops.emplace();
  made.cores.emplace();
  auto add = [&](std::vector<ScheduledCut> &cuts, int64_t parts, auto getDim) {
    for (unsigned op = 0; op < nest.ops.size(); ++op)
      if (std::optional<unsigned> dim = getDim(nest.ops[op]))
        return cuts.push_back({getScheduledDim(nest.first + op, *dim), parts});
  };
  for (size_t i = 0; i < nest.numTrips.size(); ++i)
    add(*made.loops, nest.numTrips[i],
        [&](const NestOp &op) { return i < op.dims.size() ? op.dims[i] : std::nullopt; });
  for (size_t i = 0; i < nest.shares.size(); ++i)
    add(*made.cores, nest.shares[i], [&](const NestOp &op) { return op.shareDims[i]; });
  made.loadsFactors = nest.loadsFactors;
  made.copies = nest.mayCopy;
  return made;
}

} // namespace spyre::planning
