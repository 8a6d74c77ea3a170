//===- ScheduleCommand.cpp - spyre-solve schedule --------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks a schedule and prints it in its usual form; with a problem beside it, solves what it
// leaves open. Both files: docs/formats/schedule.md.
//
//===----------------------------------------------------------------------===//

#include "CoordinateParser.h"
#include "Solve.h"

#include "spyre/Numerics/Formats.h"
#include "spyre/Planning/Schedule.h"
#include "spyre/Planning/ScheduleProblem.h"
#include "spyre/Support/JsonReader.h"

#include <map>

namespace spyre::solve {

using namespace planning;

namespace {

constexpr int64_t kMaxExtent = int64_t(1) << 40;
constexpr int64_t kVersion = 1;

/// An error for every field of \p cursor that is not among \p known.
void expectFields(const json::Cursor &cursor, const std::vector<std::string> &known) {
  for (const auto &[key, value] : cursor.fields())
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      std::string message = "unknown field; known are";
      for (const std::string &name : known)
        message += " " + name;
      value.fail(message);
    }
}

std::vector<int64_t> readExtents(const json::Cursor &cursor) {
  std::vector<int64_t> extents;
  for (const json::Cursor &each : cursor.elements())
    extents.push_back(each.getInt(1, kMaxExtent));
  return extents;
}

ProblemValue readValue(const std::string &name, const json::Cursor &cursor) {
  expectFields(cursor, {"shape", "format", "order", "result"});
  ProblemValue value;
  value.name = name;
  const std::vector<int64_t> shape = readExtents(cursor.at("shape"));
  const std::string text = cursor.at("format").getString();
  const std::optional<DataFormat> format = parseFormat(text);
  if (cursor.isValid() && !format)
    cursor.at("format").fail("there is no format '" + text + "'");
  value.memory = layout::getDefaultLayout(shape, format.value_or(DataFormat::SEN169_FP16));
  if (auto order = cursor.find("order")) {
    value.memory.dimOrder.clear();
    for (const json::Cursor &dim : order->elements())
      value.memory.dimOrder.push_back(
          static_cast<int>(dim.getInt(-1, static_cast<int64_t>(shape.size()) - 1)));
  }
  if (auto result = cursor.find("result"))
    value.isResult = result->getBool();
  return value;
}

ProblemOperand readOperand(const json::Cursor &cursor, const std::vector<int64_t> &extents,
                           const std::map<std::string, unsigned> &values) {
  expectFields(cursor, {"value", "at"});
  ProblemOperand operand;
  operand.map.extents = extents;
  const std::string name = cursor.at("value").getString();
  if (auto known = values.find(name); known != values.end())
    operand.value = known->second;
  else if (cursor.isValid())
    cursor.at("value").fail("there is no value '" + name + "'");
  std::vector<std::string> dims;
  for (size_t d = 0; d < extents.size(); ++d)
    dims.push_back("d" + std::to_string(d));
  for (const json::Cursor &at : cursor.at("at").elements()) {
    const std::string text = at.getString();
    std::optional<layout::IndexExpr> expr = parseCoordinate(text, dims, extents);
    if (at.isValid() && !expr)
      at.fail("cannot read the coordinate '" + text + "' of d0 to d" +
              std::to_string(extents.empty() ? 0 : extents.size() - 1));
    operand.map.results.push_back(expr.value_or(layout::IndexExpr()));
  }
  return operand;
}

ScheduleProblem readProblem(const json::Cursor &cursor) {
  expectFields(cursor, {"values", "operations"});
  ScheduleProblem problem;
  std::map<std::string, unsigned> values;
  for (const auto &[name, value] : cursor.at("values").fields()) {
    values[name] = static_cast<unsigned>(problem.values.size());
    problem.values.push_back(readValue(name, value));
  }
  for (const json::Cursor &each : cursor.at("operations").elements()) {
    expectFields(each, {"opfunc", "extents", "inputs", "output"});
    ProblemOperation op;
    const std::string name = each.at("opfunc").getString();
    const OpFuncInfo *info = lookupOpFunc(name);
    if (each.isValid() && (!info || !info->specified))
      each.at("opfunc").fail("there is no operation '" + name + "'");
    if (info)
      op.opFunc = info->opFunc;
    op.extents = readExtents(each.at("extents"));
    for (const json::Cursor &input : each.at("inputs").elements())
      op.operands.push_back(readOperand(input, op.extents, values));
    op.operands.push_back(readOperand(each.at("output"), op.extents, values));
    problem.operations.push_back(std::move(op));
  }
  return problem;
}

/// The functions of \p text; else a message.
std::variant<std::map<std::string, ScheduleProblem>, std::string>
readProblems(const std::string &text) {
  auto parsed = json::parse(text);
  if (auto *error = std::get_if<json::Error>(&parsed))
    return error->where + ": " + error->message;
  std::optional<json::Error> mistake;
  json::Cursor root(std::get<json::Document>(parsed), mistake);
  std::map<std::string, ScheduleProblem> problems;
  expectFields(root, {"version", "functions"});
  root.at("version").getInt(kVersion, kVersion);
  for (const auto &[name, function] : root.at("functions").fields()) {
    problems[name] = readProblem(function);
    if (mistake)
      break;
    if (const std::vector<std::string> errors = check(problems[name]); !errors.empty())
      function.fail(errors.front());
  }
  if (mistake)
    return mistake->where + ": " + mistake->message;
  return problems;
}

/// The mistakes of \p errors in function \p name, a line each behind the first.
std::string toText(const std::vector<ScheduleError> &errors, const std::string &name = "") {
  std::string text;
  for (const ScheduleError &error : errors) {
    std::string field = name;
    if (!error.field.empty())
      field += (name.empty() ? "" : ".") + error.field;
    text += (text.empty() ? "" : "\n") + field + (field.empty() ? "" : ": ") + error.message;
  }
  return text;
}

} // namespace

Answer schedule(const Arguments &arguments) {
  Answer answer;
  auto read = readSchedules(arguments.input);
  if (auto *errors = std::get_if<std::vector<ScheduleError>>(&read)) {
    answer.error = toText(*errors);
    return answer;
  }
  Schedules schedules = std::get<Schedules>(std::move(read));
  if (arguments.problem) {
    auto problems = readProblems(*arguments.problem);
    if (auto *message = std::get_if<std::string>(&problems)) {
      answer.error = *message;
      answer.file = arguments.problemName;
      return answer;
    }
    const auto &functions = std::get<0>(problems);
    for (const auto &[name, asked] : schedules)
      if (!functions.contains(name))
        answer.error +=
            (answer.error.empty() ? "" : "\n") + name + ": the problem has no such function";
    if (!answer.error.empty())
      return answer;
    for (const auto &[name, problem] : functions) {
      auto solved = planning::solve(problem, schedules[name], arguments.device);
      if (auto *errors = std::get_if<std::vector<ScheduleError>>(&solved)) {
        answer.error += (answer.error.empty() ? "" : "\n") + toText(*errors, name);
        answer.isUnsolved = true;
      } else {
        schedules[name] = std::get<Schedule>(std::move(solved));
      }
    }
    if (!answer.error.empty())
      return answer;
  }
  answer.output = writeSchedules(schedules);
  return answer;
}

} // namespace spyre::solve
