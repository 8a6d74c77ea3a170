//===- ScheduleSolver.cpp - Schedules of problems by themselves ------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Divisions, then nests, then places, as the passes of L3 do it (DivideWork, TileTime,
// PlaceBuffers). Only values that are used by no nest get addresses here: tiles do not exist before
// somebody builds the loops.
//
//===----------------------------------------------------------------------===//

#include "spyre/CostModel/CostModel.h"
#include "spyre/Planning/DivisionCost.h"
#include "spyre/Planning/DivisionGraph.h"
#include "spyre/Planning/NamedDims.h"
#include "spyre/Planning/Packing.h"
#include "spyre/Planning/Residency.h"
#include "spyre/Planning/ScheduleProblem.h"
#include "spyre/Planning/TimeTiling.h"

#include <algorithm>

namespace spyre::planning {

namespace {
class Solver {
public:
  Solver(const ScheduleProblem &problem, const Schedule &asked, const Device &device)
      : problem(problem), asked(asked), device(device) {}

  std::variant<Schedule, std::vector<ScheduleError>> run();

private:
  struct Operation {
    DivisionProblem division;
    std::vector<layout::Access> accesses;
    CostClass costClass;
    DivisionCost cost;
    Splits splits;
    layout::Spread spread;
    bool isPinned = false, isPossible = true;
  };

  void fail(const std::string &field, const std::string &message) {
    errors.push_back({field, message});
  }
  bool hasOperation(unsigned number, const std::string &field) {
    if (number < operations.size())
      return true;
    fail(field, "there are " + std::to_string(operations.size()) + " operations");
    return false;
  }
  void describe();
  void divide();
  /// Where the results of operations have to lie, by value.
  void findPlaces();
  /// What is in the way of \p value in the scratchpads; nothing: `parts` has what cores hold.
  std::optional<std::string> findObstacleOf(unsigned value);
  /// Whether operation \p number may write its result over \p operand: element by element.
  bool mayReplace(unsigned number, const ProblemOperand &operand) const {
    const ProblemOperand &output = problem.operations[number].operands.back();
    return operations[number].division.kind == OperationKind::Pointwise && &operand != &output &&
           operand.map == output.map &&
           problem.values[operand.value].memory == problem.values[output.value].memory;
  }
  TilingProblem makeTiling();
  void tile();
  void place();
  void measure();
  bool isInternal(unsigned value) const { return writer[value] && !problem.values[value].isResult; }
  /// Bytes of \p value without padding.
  double getBytes(unsigned value) const {
    double bytes = double(getWidthInBytes(problem.values[value].memory.format));
    for (int64_t size : problem.values[value].memory.shape)
      bytes *= double(size);
    return bytes;
  }

  const ScheduleProblem &problem;
  const Schedule &asked;
  const Device &device;
  std::vector<ScheduleError> errors;
  std::vector<Operation> operations;
  std::vector<std::optional<unsigned>> writer;       ///< of each value
  std::vector<std::vector<DivisionGraph::Use>> uses; ///< of each value
  std::vector<const ScheduledValue *> places;        ///< of each value, that is asked for
  std::vector<std::optional<int64_t>> parts;         ///< what a core holds of each value
  std::vector<std::string> obstacles;                ///< why it holds none
  std::vector<Nest> nests;
  std::vector<unsigned> lost;
  std::vector<bool> isInNest; ///< each operation
  Schedule made;
};
} // namespace

void Solver::describe() {
  writer.resize(problem.values.size());
  uses.resize(problem.values.size());
  places.resize(problem.values.size());
  for (unsigned number = 0; number < problem.operations.size(); ++number) {
    const ProblemOperation &op = problem.operations[number];
    Operation &mine = operations.emplace_back();
    mine.division = std::get<DivisionProblem>(makeDivision(problem, op));
    mine.division.maxCores = device.getNumCores();
    mine.division.spanLimitInBytes = device.getSpanLimitInBytes();
    mine.costClass = getOpFuncInfo(op.opFunc).costClass;
    mine.cost = makeModelCost(device, mine.costClass);
    for (const ProblemOperand &operand : op.operands)
      mine.accesses.push_back(getAccess(operand));
    for (unsigned i = 0; i + 1 < op.operands.size(); ++i)
      uses[op.operands[i].value].push_back({number, i});
    writer[op.operands.back().value] = number;
  }
}

void Solver::divide() {
  DimNames names;
  for (const ProblemValue &value : problem.values)
    names.addValue(value.memory.shape);
  for (unsigned number = 0; number < operations.size(); ++number) {
    names.addOperation(static_cast<unsigned>(problem.operations[number].extents.size()));
    for (const ProblemOperand &operand : problem.operations[number].operands)
      names.addAccess(number, operand.value, operand.map);
  }
  for (const auto &[name, dims] : asked.names) {
    auto value = std::find_if(problem.values.begin(), problem.values.end(),
                              [&](const ProblemValue &each) { return each.name == name; });
    const unsigned number = static_cast<unsigned>(value - problem.values.begin());
    if (value == problem.values.end() || writer[number])
      fail("names." + name, "there is no such argument");
    else if (value->memory.shape.size() != dims.size())
      fail("names." + name,
           "the argument has " + std::to_string(value->memory.shape.size()) + " dims");
    else
      for (unsigned d = 0; d < dims.size(); ++d)
        names.setName(number, d, dims[d]);
  }
  for (size_t i = 0; i < asked.divisions.size(); ++i) {
    const ScheduledDivision &division = asked.divisions[i];
    const std::string field = "divisions[" + std::to_string(i) + "]";
    if (!hasOperation(division.operation, field + ".operation"))
      continue;
    Operation &op = operations[division.operation];
    auto obeyed = obey(division, getOpFuncInfo(problem.operations[division.operation].opFunc).name,
                       op.division, op.cost, [&]() -> DimNames & { return names; });
    if (auto *error = std::get_if<ScheduleError>(&obeyed)) {
      fail(field + error->field, error->message);
      continue;
    }
    op.splits = std::get<Splits>(obeyed);
    op.isPinned = true;
  }
  DivisionGraph graph(device);
  for (Operation &op : operations) {
    if (!op.isPinned) {
      auto plan = planning::divide(op.division, {});
      op.isPossible = std::holds_alternative<DivisionPlan>(plan);
      op.splits =
          op.isPossible ? std::get<DivisionPlan>(plan).splits : Splits(op.division.dims.size(), 1);
    }
    graph.addOperation(op.division, op.costClass, op.accesses, op.splits,
                       op.isPinned || !op.isPossible);
  }
  for (unsigned value = 0; value < problem.values.size(); ++value)
    if (isInternal(value)) {
      const layout::TensorLayout &memory = problem.values[value].memory;
      DivisionGraph::Value left;
      left.shape = memory.shape;
      left.hasPaddedLayout = !memory.paddedShape.empty() || !memory.stick.empty();
      left.uses = uses[value];
      graph.setValue(*writer[value], left);
    }
  graph.improve(SearchEffort::Everything);
  for (unsigned number = 0; number < operations.size(); ++number) {
    Operation &op = operations[number];
    op.splits = graph.getSplits(number);
    op.spread = makeSpread(op.division.dims, op.splits, wantsKFast(op.division, op.splits));
  }
}

void Solver::findPlaces() {
  for (size_t i = 0; i < asked.values.size(); ++i) {
    const ScheduledValue &value = asked.values[i];
    const std::string field = "values[" + std::to_string(i) + "]";
    if (!hasOperation(value.operation, field + ".result_of"))
      continue;
    const unsigned result = problem.operations[value.operation].operands.back().value;
    if (value.space == ScheduledSpace::LX && problem.values[result].isResult)
      fail(field,
           "the result has to be in LX, and is one of the program, which lie in device memory");
    places[result] = &value;
  }
  parts.resize(problem.values.size());
  obstacles.resize(problem.values.size());
  for (unsigned value = 0; value < problem.values.size(); ++value)
    if (isInternal(value))
      obstacles[value] = findObstacleOf(value).value_or("");
}

std::optional<std::string> Solver::findObstacleOf(unsigned value) {
  if (places[value] && places[value]->space == ScheduledSpace::Memory)
    return "it has to be in device memory";
  const layout::TensorLayout &memory = problem.values[value].memory;
  ResidencyValue residency;
  residency.shape = memory.shape;
  residency.hasPaddedLayout = !memory.paddedShape.empty() || !memory.stick.empty();
  std::vector<const layout::Spread *> spreads;
  auto add = [&](unsigned number, size_t operand, bool isWrite) {
    const Operation &op = operations[number];
    residency.uses.push_back(
        {op.accesses[operand], isWrite, needsDeviceMemory(device, op.division.kind, isWrite)});
    spreads.push_back(&op.spread);
  };
  const Operation &producer = operations[*writer[value]];
  add(*writer[value], producer.accesses.size() - 1, /*isWrite=*/true);
  for (DivisionGraph::Use use : uses[value])
    add(use.operation, use.operand, /*isWrite=*/false);
  std::optional<ResidencyObstacle> obstacle = findObstacle(residency);
  if (!obstacle)
    obstacle = findObstacleInSpreads(residency, spreads, device.getNumCores());
  if (obstacle)
    return planning::describe(*obstacle);
  // In whole sticks; the outermost of the dims that run through one is divided.
  int64_t sticks = 1;
  for (size_t d = 0; d < memory.shape.size(); ++d) {
    const layout::IndexExpr &expr = producer.accesses.back().map.results[d];
    const int64_t slices =
        expr.digits.empty() ? 1 : producer.splits[layout::getDigitsByStep(expr).back().input];
    const int64_t elements = layout::getElementsInStick(memory, static_cast<int>(d));
    const int64_t units = (memory.shape[d] + elements - 1) / elements;
    sticks *= (units + slices - 1) / slices;
  }
  parts[value] = sticks * kStickInBytes;
  return std::nullopt;
}

TilingProblem Solver::makeTiling() {
  TilingProblem tiling;
  for (unsigned v = 0; v < problem.values.size(); ++v) {
    const layout::TensorLayout &memory = problem.values[v].memory;
    TilingValue value = makeTilingValue(memory, isInternal(v));
    value.mayStay &= !(places[v] && places[v]->space == ScheduledSpace::Memory);
    value.untiledPartInBytes = parts[v];
    tiling.values.push_back(std::move(value));
  }
  for (unsigned number = 0; number < operations.size(); ++number) {
    const ProblemOperation &op = problem.operations[number];
    const Operation &mine = operations[number];
    TilingOp entry;
    for (const ProblemOperand &operand : op.operands) {
      const bool isWrite = &operand == &op.operands.back();
      entry.operands.push_back({operand.value, operand.map, isWrite, mayReplace(number, operand),
                                needsDeviceMemory(device, mine.division.kind, isWrite)});
    }
    for (const DivisionDim &dim : mine.division.dims)
      entry.units.push_back(dim.elementsPerStick);
    entry.isFixed = op.extents.empty() || (mine.isPinned && !asked.nests);
    if (mine.division.kind == OperationKind::Matmul) {
      entry.macs = 1;
      for (int64_t extent : op.extents)
        entry.macs *= extent;
    }
    entry.splits = mine.splits;
    entry.division = &mine.division;
    entry.cost = &mine.cost;
    tiling.ops.push_back(std::move(entry));
  }
  setDevice(tiling, device);
  return tiling;
}

void Solver::tile() {
  isInNest.resize(operations.size());
  const TilingProblem tiling = makeTiling();
  if (asked.nests) {
    NamedDims named;
    for (const auto &[name, dims] : asked.names)
      for (unsigned v = 0; v < problem.values.size(); ++v)
        for (unsigned d = 0; problem.values[v].name == name && d < dims.size(); ++d)
          named.try_emplace(dims[d], v, d);
    for (size_t i = 0; i < asked.nests->size(); ++i)
      if (!(*asked.nests)[i].scope.empty())
        fail("nests[" + std::to_string(i) + "].scope",
             "a problem has no scopes: first and last say which operations");
    std::optional<std::vector<unsigned>> known;
    if (asked.lost) {
      known.emplace();
      for (size_t i = 0; i < asked.lost->size(); ++i)
        if (hasOperation((*asked.lost)[i], "lost[" + std::to_string(i) + "]"))
          known->push_back(problem.operations[(*asked.lost)[i]].operands.back().value);
    }
    if (!errors.empty())
      return;
    auto found = findNests(tiling, *asked.nests, named, known, &lost);
    if (auto *mistakes = std::get_if<std::vector<ScheduleError>>(&found)) {
      errors.insert(errors.end(), mistakes->begin(), mistakes->end());
      return;
    }
    nests = std::get<std::vector<Nest>>(std::move(found));
  } else if (asked.kind != "untiled") {
    nests = findNests(tiling, &lost);
  }
  for (const Nest &nest : nests)
    std::fill(isInNest.begin() + nest.first, isInNest.begin() + nest.last + 1, true);
}

void Solver::place() {
  std::vector<bool> isOfNest(problem.values.size()), isKept(problem.values.size());
  for (unsigned number = 0; number < operations.size(); ++number)
    for (const ProblemOperand &operand : problem.operations[number].operands)
      if (isInNest[number])
        isOfNest[operand.value] = true;
  for (const Nest &nest : nests) {
    for (const NestTile &tile : nest.tiles)
      isKept[tile.value] = true;
    for (unsigned value : nest.wholes)
      isKept[value] = true;
    for (unsigned value : nest.evicted)
      isOfNest[value] = true;
  }
  auto getField = [&](unsigned value) {
    return "values[" + std::to_string(places[value] - asked.values.data()) + "]";
  };
  const std::string why = "the result has to be in LX";
  for (unsigned value = 0; value < problem.values.size(); ++value) {
    if (!places[value] || places[value]->space != ScheduledSpace::LX)
      continue;
    if (isOfNest[value] && places[value]->address)
      fail(getField(value) + ".address",
           "operations of a nest use the result: whoever builds its loops places tiles");
    else if (isOfNest[value] && !isKept[value])
      fail(getField(value), why + ": the nest leaves it in device memory");
    else if (!isOfNest[value] && !parts[value])
      fail(getField(value), why + ": " + obstacles[value]);
  }
  PackingProblem packing;
  packing.alignmentInBytes = kStickInBytes;
  packing.capacityInBytes = device.getUsableLXInBytes();
  std::vector<unsigned> candidates;
  for (unsigned value = 0; value < problem.values.size(); ++value) {
    if (!parts[value] || isOfNest[value])
      continue;
    PackingBuffer buffer;
    buffer.sizeInBytes = *parts[value];
    buffer.begin = *writer[value];
    buffer.end = buffer.begin + 1;
    for (DivisionGraph::Use use : uses[value])
      buffer.end = std::max<int64_t>(buffer.end, int64_t(use.operation) + 1);
    buffer.numUses = static_cast<int64_t>(uses[value].size()) + 1;
    if (places[value])
      buffer.address = places[value]->address;
    candidates.push_back(value);
    packing.buffers.push_back(std::move(buffer));
  }
  for (size_t child = 0; child < candidates.size(); ++child)
    for (const ProblemOperand &operand : problem.operations[*writer[candidates[child]]].operands)
      if (auto parent = std::find(candidates.begin(), candidates.end(), operand.value);
          parent != candidates.end() && mayReplace(*writer[candidates[child]], operand))
        packing.buffers[child].inPlaceParents.push_back(
            static_cast<size_t>(parent - candidates.begin()));
  for (const AddressMistake &mistake : checkAddresses(packing)) {
    const unsigned value = candidates[mistake.buffer];
    fail(getField(value) + ".address",
         std::to_string(*places[value]->address) + " " + mistake.message +
             (mistake.other ? ", by " + getField(candidates[*mistake.other]) : ""));
  }
  if (!errors.empty())
    return;
  const PackingPlan plan = pack(packing);
  std::vector<std::optional<int64_t>> addresses(problem.values.size());
  for (size_t i = 0; i < candidates.size(); ++i)
    addresses[candidates[i]] = plan.addresses[i];
  for (unsigned value = 0; value < problem.values.size(); ++value) {
    if (places[value] && places[value]->space == ScheduledSpace::LX && parts[value] &&
        !isOfNest[value] && !addresses[value])
      fail(getField(value), why + ": LX is full");
    if (!addresses[value] && !places[value])
      continue;
    ScheduledValue said;
    if (places[value])
      said = *places[value];
    else
      said = {*writer[value], ScheduledSpace::LX};
    if (addresses[value])
      said.address = addresses[value];
    made.values.push_back(said);
  }
  std::sort(made.values.begin(), made.values.end(),
            [](const auto &a, const auto &b) { return a.operation < b.operation; });
  for (unsigned number = 0; number < operations.size(); ++number) {
    Operation &op = operations[number];
    for (size_t i = 0; i < op.accesses.size(); ++i)
      op.division.operands[i].isInDeviceMemory =
          !addresses[problem.operations[number].operands[i].value];
  }
}

void Solver::measure() {
  made.timeInNs = 0;
  for (const Nest &nest : nests)
    made.timeInNs += nest.tiledInNs;
  double read = 0, written = 0, macs = 0;
  for (unsigned number = 0; number < operations.size(); ++number) {
    const Operation &op = operations[number];
    if (!isInNest[number]) {
      made.timeInNs += op.cost(op.division, op.splits);
      if (!op.isPossible)
        fail("", "operation " + std::to_string(number) +
                     " has no legal division over the cores, and no nest makes it smaller");
    }
    if (op.division.kind == OperationKind::Matmul) {
      double points = 1;
      for (const DivisionDim &dim : op.division.dims)
        points *= double(dim.extent);
      macs += points;
    }
  }
  for (unsigned value = 0; value < problem.values.size(); ++value)
    if (!writer[value] && !uses[value].empty())
      read += getBytes(value);
    else if (writer[value] && problem.values[value].isResult)
      written += getBytes(value);
  made.boundInNs = cost::getBoundInNs(device, read, written, macs);
}

std::variant<Schedule, std::vector<ScheduleError>> Solver::run() {
  if (!asked.kind.empty() && asked.kind != "untiled" && asked.kind != "tiled")
    fail("kind", "a problem by itself is one form of a program: untiled or tiled");
  if (asked.searchesLayouts)
    fail("layouts", "the layouts are those of the problem");
  describe();
  divide();
  findPlaces();
  if (errors.empty())
    tile();
  if (errors.empty())
    place();
  if (errors.empty())
    measure();
  if (!errors.empty())
    return errors;
  made.kind = nests.empty() ? "untiled" : "tiled";
  made.names = asked.names;
  for (unsigned number = 0; number < operations.size(); ++number)
    if (operations[number].isPossible)
      made.divisions.push_back({number,
                                std::string(getOpFuncInfo(problem.operations[number].opFunc).name),
                                operations[number].splits});
  made.nests.emplace();
  for (const Nest &nest : nests)
    made.nests->push_back(planning::describe(nest));
  if (!nests.empty()) {
    made.lost.emplace();
    for (unsigned number = 0; number < operations.size(); ++number)
      if (std::find(lost.begin(), lost.end(), problem.operations[number].operands.back().value) !=
          lost.end())
        made.lost->push_back(number);
  }
  return std::move(made);
}

std::variant<Schedule, std::vector<ScheduleError>>
solve(const ScheduleProblem &problem, const Schedule &asked, const Device &device) {
  return Solver(problem, asked, device).run();
}

} // namespace spyre::planning
