//===- ScheduleAttr.cpp - Schedules as attributes of functions -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dictionary becomes JSON and is read as that: one reader, one set of rules and messages.
//
//===----------------------------------------------------------------------===//

#include "ScheduleAttr.h"

#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Schedules.h"

#include "llvm/ADT/TypeSwitch.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using namespace mlir::spyre;
namespace planning = ::spyre::planning;
using nlohmann::json;

static json toJson(Attribute attribute) {
  return TypeSwitch<Attribute, json>(attribute)
      .Case([](BoolAttr value) { return json(value.getValue()); })
      .Case([](IntegerAttr value) {
        return value.getValue().isSignedIntN(64) ? json(value.getValue().getSExtValue()) : json();
      })
      .Case([](FloatAttr value) { return json(value.getValueAsDouble()); })
      .Case([](StringAttr value) { return json(value.str()); })
      .Case([](ArrayAttr values) {
        json array = json::array();
        for (Attribute value : values)
          array.push_back(toJson(value));
        return array;
      })
      .Case([](DictionaryAttr values) {
        json object = json::object();
        for (NamedAttribute value : values)
          object[value.getName().str()] = toJson(value.getValue());
        return object;
      })
      .Default([](Attribute) { return json(); });
}

static Attribute toAttribute(MLIRContext *context, const json &value) {
  Builder builder(context);
  if (value.is_boolean())
    return builder.getBoolAttr(value.get<bool>());
  if (value.is_number_integer())
    return builder.getI64IntegerAttr(value.get<int64_t>());
  if (value.is_number())
    return builder.getF64FloatAttr(value.get<double>());
  if (value.is_string())
    return builder.getStringAttr(value.get<std::string>());
  if (value.is_array()) {
    SmallVector<Attribute> values;
    for (const json &each : value)
      values.push_back(toAttribute(context, each));
    return builder.getArrayAttr(values);
  }
  SmallVector<NamedAttribute> values;
  for (const auto &[key, each] : value.items())
    values.push_back(builder.getNamedAttr(key, toAttribute(context, each)));
  return builder.getDictionaryAttr(values);
}

static std::variant<planning::Schedules, std::vector<planning::ScheduleError>>
read(func::FuncOp func, StringRef attribute) {
  Attribute value = func->getAttr(attribute);
  if (!value)
    return planning::Schedules();
  json root{{"version", 1}, {"functions", {{"", toJson(value)}}}};
  return planning::readSchedules(root.dump(-1, ' ', false, json::error_handler_t::replace));
}

void mlir::spyre::emitScheduleError(Location loc, const planning::ScheduleError &error) {
  StringRef field = error.field;
  field.consume_front(".");
  InFlightDiagnostic diagnostic = emitError(loc) << "the schedule cannot be obeyed: ";
  if (!field.empty())
    diagnostic << field << ": ";
  diagnostic << error.message;
}

FailureOr<planning::Schedule> mlir::spyre::getSchedule(func::FuncOp func) {
  auto found = read(func, kScheduleAttr);
  if (auto *errors = std::get_if<std::vector<planning::ScheduleError>>(&found)) {
    for (const planning::ScheduleError &error : *errors)
      emitScheduleError(func.getLoc(), error);
    return failure();
  }
  return std::get<planning::Schedules>(found)[""];
}

FailureOr<planning::Schedule> mlir::spyre::getPlanHint(Operation *op, unsigned number) {
  const json hint = toJson(op->getAttr(kPlanAttr));
  json fields = json::object();
  if (hint.contains("splits"))
    fields["divisions"] = {{{"operation", number}, {"splits", hint["splits"]}}};
  if (hint.contains("space") || hint.contains("address")) {
    json value{{"result_of", number}};
    for (const char *key : {"space", "address"})
      if (hint.contains(key))
        value[key] = hint[key];
    fields["values"] = {std::move(value)};
  }
  const json root{{"version", 1}, {"functions", {{"", std::move(fields)}}}};
  auto found = planning::readSchedules(root.dump(-1, ' ', false, json::error_handler_t::replace));
  if (auto *errors = std::get_if<std::vector<planning::ScheduleError>>(&found)) {
    for (const planning::ScheduleError &error : *errors) {
      // There is one entry of each: what it is of is the operation.
      StringRef field = error.field;
      if (!field.consume_front(".divisions[0]"))
        field.consume_front(".values[0]");
      emitScheduleError(op->getLoc(), {(kPlanAttr + field).str(), error.message});
    }
    return failure();
  }
  return std::get<planning::Schedules>(std::move(found))[""];
}

std::optional<AskedPlace> mlir::spyre::getAskedPlace(Operation *op) {
  auto value = op->getAttrOfType<DictionaryAttr>(kPlaceAttr);
  auto space = value ? value.getAs<StringAttr>("space") : StringAttr();
  if (!space)
    return std::nullopt;
  AskedPlace place;
  if (space.getValue() == "lx")
    place.space = planning::ScheduledSpace::LX;
  if (auto address = value.getAs<IntegerAttr>("address");
      address && address.getType().isSignlessInteger(64))
    place.address = address.getInt();
  if (auto field = value.getAs<StringAttr>("field"))
    place.field = field.str();
  return place;
}

void mlir::spyre::setAskedPlace(Operation *op, const AskedPlace &place) {
  Builder b(op->getContext());
  NamedAttrList value;
  value.set("space",
            b.getStringAttr(place.space == planning::ScheduledSpace::LX ? "lx" : "memory"));
  value.set("field", b.getStringAttr(place.field));
  if (place.address)
    value.set("address", b.getI64IntegerAttr(*place.address));
  op->setAttr(kPlaceAttr, value.getDictionary(op->getContext()));
}

planning::Schedule mlir::spyre::getChosenSchedule(func::FuncOp func) {
  auto found = read(func, kChosenScheduleAttr);
  // What somebody else has written there counts as nothing.
  auto *schedules = std::get_if<planning::Schedules>(&found);
  return schedules ? (*schedules)[""] : planning::Schedule();
}

static Attribute makeAttribute(func::FuncOp func, const planning::Schedule &schedule) {
  json root = json::parse(planning::writeSchedules({{"", schedule}}));
  return toAttribute(func.getContext(), root["functions"][""]);
}

void mlir::spyre::setChosenSchedule(func::FuncOp func, const planning::Schedule &schedule) {
  func->setAttr(kChosenScheduleAttr, makeAttribute(func, schedule));
}

void mlir::spyre::setSchedules(ModuleOp module, const planning::Schedules &schedules) {
  for (auto func : module.getOps<func::FuncOp>())
    if (auto known = schedules.find(func.getName().str()); known != schedules.end())
      func->setAttr(kScheduleAttr, makeAttribute(func, known->second));
}

void mlir::spyre::takeChosenSchedules(ModuleOp module, StringRef kind, bool searchesLayouts,
                                      planning::Schedules &schedules) {
  for (auto func : module.getOps<func::FuncOp>()) {
    func->removeAttr(kScheduleAttr);
    if (!func->hasAttr(kChosenScheduleAttr))
      continue;
    planning::Schedule schedule = getChosenSchedule(func);
    func->removeAttr(kChosenScheduleAttr);
    schedule.kind = kind.str();
    schedule.searchesLayouts = searchesLayouts;
    if (!schedule.nests)
      schedule.nests.emplace();
    schedules[func.getName().str()] = std::move(schedule);
  }
}
