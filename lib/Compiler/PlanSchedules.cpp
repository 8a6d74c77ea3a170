//===- PlanSchedules.cpp - Plans that somebody asks for --------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/PlanSchedules.h"

#include "spyre/Dialect/Spyre/IR/PlanHints.h"
#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Schedules.h"
#include "spyre/Support/ReadFile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace spyre::compiler {

Location getPlanLoc(MLIRContext &context, const std::string &path) {
  return FileLineColLoc::get(&context, path.empty() ? "plan" : path, 1, 1);
}

FailureOr<planning::Schedules> readPlan(MLIRContext &context, const std::string &path,
                                        const std::string &text) {
  const Location loc = getPlanLoc(context, path);
  std::variant<std::string, ReadFailure> read = text.empty() ? readFile(path) : text;
  if (auto *unread = std::get_if<ReadFailure>(&read))
    return emitError(loc) << "cannot read the plan: " << unread->message;
  auto schedules = planning::readSchedules(std::get<std::string>(read));
  if (auto *errors = std::get_if<std::vector<planning::ScheduleError>>(&schedules)) {
    for (const planning::ScheduleError &error : *errors)
      emitError(loc) << "the plan "
                     << (error.field.empty() ? "" : "has a mistake: " + error.field + ": ")
                     << error.message;
    return failure();
  }
  return std::get<planning::Schedules>(std::move(schedules));
}

LogicalResult PlanSchedules::addPart(ModuleOp module) {
  planning::Schedules &mine = parts.emplace_back();
  bool ok = true;
  for (auto func : module.getOps<func::FuncOp>()) {
    names.push_back(func.getName().str());
    FailureOr<planning::Schedule> own = mlir::spyre::getSchedule(func);
    ok &= succeeded(own);
    if (auto known = given.find(names.back()); known != given.end())
      mine[names.back()] = known->second;
    else if (succeeded(own) &&
             (func->hasAttr(mlir::spyre::kScheduleAttr) || mlir::spyre::hasPlanHints(func)))
      mine[names.back()] = *own;
    func->removeAttr(mlir::spyre::kScheduleAttr);
    func->removeAttr(mlir::spyre::kChosenScheduleAttr);
  }
  return success(ok);
}

PlanKind PlanSchedules::getKind(size_t part, PlanKind otherwise) const {
  for (const auto &[name, schedule] : parts[part]) {
    if (std::optional<PlanKind> kind = parseName<PlanKind>(schedule.kind))
      return *kind;
    return usual;
  }
  return otherwise;
}

bool PlanSchedules::searchesLayouts(size_t part) const {
  return llvm::any_of(parts[part], [](const auto &each) { return each.second.searchesLayouts; });
}

bool PlanSchedules::hasNests(size_t part) const {
  return llvm::any_of(parts[part], [](const auto &each) {
    return each.second.nests && !each.second.nests->empty();
  });
}

void PlanSchedules::apply(size_t part, ModuleOp module, PlanKind kind, bool searches) const {
  if (!isPinned(part))
    return;
  if (getKind(part, PlanKind::Best) == kind && searchesLayouts(part) == searches)
    mlir::spyre::setSchedules(module, parts[part]);
  else
    for (auto func : module.getOps<func::FuncOp>())
      mlir::spyre::removePlanHints(func);
}

} // namespace spyre::compiler
