//===- ObeySchedule.cpp - Schedules and hints, operation by operation ------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A hint is an entry of the schedule for the operation that has it: both come to the same place.
//
//===----------------------------------------------------------------------===//

#include "ObeySchedule.h"

#include "ScheduleAttr.h"

#include "spyre/Dialect/Spyre/IR/PlanHints.h"
#include "spyre/Dialect/Spyre/IR/Provenance.h"
#include "spyre/OpFunc/OpFuncTable.h"
#include "spyre/Planning/DivisionCost.h"
#include "spyre/Planning/NamedDims.h"

using namespace mlir;
using namespace mlir::spyre;
namespace planning = ::spyre::planning;

std::optional<BlockArgument> mlir::spyre::findArgument(func::FuncOp func, StringRef name) {
  // Before a program has a launch its arguments are counted.
  auto found = llvm::find_if(func.getArguments(), [&](BlockArgument arg) {
    auto array = func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), kArrayAttr);
    return array ? array.getValue() == name : "in" + std::to_string(arg.getArgNumber()) == name;
  });
  return found == func.getArguments().end() ? std::nullopt : std::optional(*found);
}

namespace {
class Obedience {
public:
  Obedience(func::FuncOp func, planning::Schedule &schedule, ArrayRef<DeviceOpInterface> ops,
            PlanningModel &model, int64_t limit)
      : func(func), schedule(schedule), ops(ops), model(model), limit(limit) {}

  LogicalResult run();

private:
  void fail(Location loc, const std::string &field, std::string message) {
    emitScheduleError(loc, {field, std::move(message)});
    ok = false;
  }
  bool hasOperation(unsigned number, const std::string &field) {
    if (number < ops.size())
      return true;
    fail(func.getLoc(), field, "there are " + std::to_string(ops.size()) + " operations");
    return false;
  }
  /// Adds what operations say of themselves to the schedule.
  void addHints();
  void divide(const planning::ScheduledDivision &division, const std::string &field);
  /// Which dims of the operations are named.
  planning::DimNames &getNames();

  func::FuncOp func;
  planning::Schedule &schedule;
  ArrayRef<DeviceOpInterface> ops;
  PlanningModel &model;
  int64_t limit;
  bool ok = true;
  std::optional<planning::DimNames> names;
  /// Where divisions and values are said, for those of hints; empty: in the schedule.
  std::vector<std::string> divisionFields, valueFields;
};
} // namespace

void Obedience::addHints() {
  for (Location place : getLostPlanHints(func))
    fail(place, "spyre.plan",
         "no operation has it any more: the one that it stood at was folded, or others took its "
         "place");
  for (size_t i = 0; i < schedule.divisions.size(); ++i)
    divisionFields.push_back("divisions[" + std::to_string(i) + "]");
  for (size_t i = 0; i < schedule.values.size(); ++i)
    valueFields.push_back("values[" + std::to_string(i) + "]");
  for (auto [number, op] : llvm::enumerate(ops)) {
    if (!op->hasAttr(kPlanAttr))
      continue;
    FailureOr<planning::Schedule> hint = getPlanHint(op, number);
    if (failed(hint)) {
      ok = false;
      continue;
    }
    auto add = [&, op = op](auto &mine, const auto &said, std::vector<std::string> &fields) {
      for (const auto &each : said) {
        auto known = llvm::find_if(
            mine, [&](const auto &other) { return other.operation == each.operation; });
        if (known != mine.end()) {
          fail(op->getLoc(), "spyre.plan",
               "the schedule says the same, in " + fields[known - mine.begin()]);
          continue;
        }
        mine.push_back(each);
        fields.push_back("spyre.plan");
      }
    };
    add(schedule.divisions, hint->divisions, divisionFields);
    add(schedule.values, hint->values, valueFields);
  }
  removePlanHints(func);
}

planning::DimNames &Obedience::getNames() {
  if (names)
    return *names;
  names.emplace();
  DenseMap<Value, unsigned> numbers;
  auto getValue = [&](Value value) {
    auto [known, isNew] = numbers.try_emplace(value, 0);
    if (isNew)
      known->second = names->addValue(getShape(value));
    return known->second;
  };
  for (DeviceOpInterface op : ops) {
    const PlannedOp &planned = model.describe(op);
    const unsigned number = names->addOperation(static_cast<unsigned>(op.getExtents().size()));
    for (auto [i, access] : llvm::enumerate(planned.accesses)) {
      const bool isOutput = i == op.getInputs().size();
      const Value result = op.getResultTensor() ? op.getResultTensor() : op.getDestination();
      const unsigned value = getValue(isOutput ? result : op.getInputs()[i]);
      names->addAccess(number, value, access.map);
      if (isOutput && op.getOutput())
        names->addAlias(value, getValue(op.getOutput()));
    }
  }
  for (const auto &[argument, dims] : schedule.names) {
    std::optional<BlockArgument> found = findArgument(func, argument);
    if (!found) {
      fail(func.getLoc(), "names." + argument, "there is no such argument");
      continue;
    }
    const size_t rank = getShape(*found).size();
    if (dims.size() != rank) {
      fail(func.getLoc(), "names." + argument,
           "the argument has " + std::to_string(rank) + " dims");
      continue;
    }
    for (auto [dim, name] : llvm::enumerate(dims))
      names->setName(getValue(*found), static_cast<unsigned>(dim), name);
  }
  return *names;
}

void Obedience::divide(const planning::ScheduledDivision &division, const std::string &field) {
  if (!hasOperation(division.operation, field + ".operation"))
    return;
  DeviceOpInterface op = ops[division.operation];
  for (const auto &[name, split] : division.byDim)
    if (std::optional<StringRef> lost = getLostDim(name))
      return fail(op.getLoc(), field + ".splits." + lost->str(),
                  "the dim has become several, or is none any more: call it by the name of an "
                  "argument's dim");
  const PlannedOp *planned = model.get(op);
  if (!planned) {
    ok = false;
    return;
  }
  planning::DivisionProblem problem = planned->problem;
  problem.maxCores = limit;
  auto obeyed = planning::obey(division, op.getInfo().name, problem,
                               planning::makeModelCost(*model.getDevice(), op.getInfo().costClass),
                               [&]() -> planning::DimNames & { return getNames(); });
  if (auto *error = std::get_if<planning::ScheduleError>(&obeyed))
    return fail(op.getLoc(), field + error->field, error->message);
  const planning::Splits &splits = std::get<planning::Splits>(obeyed);
  // Nests that are searched would divide it otherwise.
  if (!schedule.nests)
    op->setAttr(kPinnedAttr, UnitAttr::get(func.getContext()));
  // Undivided is said, too.
  op.setSplits(splits);
  if (planning::wantsKFast(planned->problem, splits))
    op->setAttr("kFast", UnitAttr::get(func.getContext()));
}

LogicalResult Obedience::run() {
  addHints();
  for (auto [division, field] : llvm::zip_equal(schedule.divisions, divisionFields))
    divide(division, field);
  for (auto [value, field] : llvm::zip_equal(schedule.values, valueFields))
    if (hasOperation(value.operation, field + ".result_of"))
      setAskedPlace(ops[value.operation], {value.space, value.address, field});
  return success(ok);
}

LogicalResult mlir::spyre::obeyDivisions(func::FuncOp func, planning::Schedule &schedule,
                                         ArrayRef<DeviceOpInterface> ops, PlanningModel &model,
                                         int64_t limit) {
  return Obedience(func, schedule, ops, model, limit).run();
}

/// True if \p op is of \p scope, or of one within it: "layers.0" is of "layers".
static bool isOfScope(DeviceOpInterface op, StringRef scope) {
  return llvm::any_of(getScopes(op.getLoc()), [&](StringRef own) {
    return own.consume_front(scope) && (own.empty() || own.front() == '.');
  });
}

FailureOr<std::vector<planning::ScheduledNest>>
mlir::spyre::resolveScopes(func::FuncOp func, std::vector<planning::ScheduledNest> nests,
                           ArrayRef<DeviceOpInterface> ops) {
  /// A message lists so many of the scopes that there are.
  constexpr size_t kMostListed = 8;
  bool ok = true;
  for (auto [i, nest] : llvm::enumerate(nests)) {
    if (nest.scope.empty())
      continue;
    auto fail = [&, i = i](Location loc, std::string message) {
      emitScheduleError(loc, {"nests[" + std::to_string(i) + "].scope", std::move(message)});
      ok = false;
    };
    std::optional<unsigned> first, last;
    for (auto [number, op] : llvm::enumerate(ops))
      if (isOfScope(op, nest.scope)) {
        first = first.value_or(number);
        last = number;
      }
    if (!first) {
      SmallVector<StringRef> known;
      for (DeviceOpInterface op : ops)
        for (StringRef scope : getScopes(op.getLoc()))
          if (known.size() <= kMostListed && !llvm::is_contained(known, scope))
            known.push_back(scope);
      const bool hasMore = known.size() > kMostListed;
      if (hasMore)
        known.pop_back();
      fail(func.getLoc(), "no operation has the scope '" + nest.scope + "'; " +
                              (known.empty() ? "none has any"
                                             : "scopes are " + llvm::join(known, ", ") +
                                                   (hasMore ? ", ..." : "")));
      continue;
    }
    nest.first = *first;
    nest.last = *last;
  }
  for (size_t i = 1; ok && i < nests.size(); ++i)
    if (nests[i].first <= nests[i - 1].last) {
      const std::string field = nests[i].scope.empty() ? "first" : "scope";
      emitScheduleError(nests[i].first < ops.size() ? ops[nests[i].first]->getLoc() : func.getLoc(),
                        {"nests[" + std::to_string(i) + "]." + field,
                         "operation " + std::to_string(nests[i].first) +
                             " comes before the end of the nest before it, operation " +
                             std::to_string(nests[i - 1].last)});
      ok = false;
    }
  if (!ok)
    return failure();
  return nests;
}
