//===- DivideCommand.cpp - spyre-solve divide -----------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads an operation with symbols, device coordinates and device sizes, and writes
// the splits: the best of all by the chosen cost, and the fast heuristic's.
//
//===----------------------------------------------------------------------===//

#include "CoordinateParser.h"
#include "Solve.h"

#include "spyre/Numerics/Formats.h"
#include "spyre/Planning/DivisionCost.h"
#include "spyre/Support/JsonReader.h"
#include "spyre/Support/JsonWriter.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace spyre::solve {

using layout::IndexExpr;
using namespace planning;

namespace {

struct NamedProblem {
  std::string name;
  std::vector<std::string> symbols;
  DivisionProblem problem;
};

constexpr int64_t kMaxExtent = int64_t(1) << 40;

NamedProblem readProblem(const json::Cursor &plan, const Device &device) {
  NamedProblem result;
  DivisionProblem &problem = result.problem;
  if (auto name = plan.find("name"))
    result.name = name->getString();
  problem.maxCores = device.getNumCores();
  if (auto cores = plan.find("max_cores"))
    problem.maxCores = cores->getInt(1, device.getNumCores());
  problem.spanLimitInBytes = device.getSpanLimitInBytes();

  std::vector<int64_t> extents;
  for (const json::Cursor &range : plan.at("ranges").elements()) {
    result.symbols.push_back(range.at("sym").getString());
    extents.push_back(range.at("size").getInt(1, kMaxExtent));
    problem.dims.emplace_back().extent = extents.back();
  }

  std::vector<json::Cursor> operands = plan.at("inputs").elements();
  operands.push_back(plan.at("output"));
  std::vector<json::Cursor> coordinates = plan.at("device_coordinates").elements();
  if (plan.isValid() && coordinates.size() != operands.size())
    plan.at("device_coordinates").fail("one list an operand is wanted");
  for (size_t i = 0; i < operands.size() && plan.isValid(); ++i) {
    DivisionOperand operand;
    operand.deviceCoordinates.extents = extents;
    operand.deviceSizes = operands[i].at("layout_device_size").getInts();
    for (const json::Cursor &coordinate : coordinates[i].elements()) {
      std::string text = coordinate.getString();
      std::optional<IndexExpr> expr = parseCoordinate(text, result.symbols, extents);
      if (!expr)
        coordinate.fail("cannot read the coordinate '" + text + "'");
      else
        operand.deviceCoordinates.results.push_back(*expr);
    }
    std::string dtype = operands[i].at("dtype").getString();
    std::optional<HostType> host = parseHostType(dtype);
    std::optional<DataFormat> format = host ? getDeviceFormat(*host) : std::nullopt;
    if (!format)
      operands[i].at("dtype").fail("'" + dtype + "' has no device format");
    else
      operand.bytesPerElement = getWidthInBytes(*format);
    operand.isOutput = i + 1 == operands.size();
    problem.operands.push_back(std::move(operand));
  }
  if (!plan.isValid())
    return result;

  std::string kind = plan.at("kind").getString();
  std::string type;
  if (auto reduction = plan.find("reduction_type"); reduction && !reduction->isNull())
    type = reduction->getString();
  if (kind == "reduction") {
    problem.kind = type.rfind("topk", 0) == 0          ? OperationKind::SingleCore
                   : type.rfind("batchmatmul", 0) == 0 ? OperationKind::Matmul
                                                       : OperationKind::Reduction;
    const DivisionOperand &output = problem.operands.back();
    for (unsigned dim = 0; dim < problem.dims.size(); ++dim)
      problem.dims[dim].isReduced = std::none_of(
          output.deviceCoordinates.results.begin(), output.deviceCoordinates.results.end(),
          [&](const IndexExpr &expr) { return layout::dependsOn(expr, dim); });
  } else if (kind != "pointwise") {
    plan.at("kind").fail("'" + kind + "' is neither pointwise nor reduction");
  }
  setElementsPerStick(problem);
  if (problem.kind == OperationKind::Matmul)
    setMatmulRoles(problem);
  // Dims that take part of a name (hints): {"c1": 4}. must_split is the reference's
  // answer to the span limit, not a part of the problem.
  if (auto hints = plan.find("hints"); hints && !hints->isNull())
    for (const auto &[symbol, split] : hints->fields()) {
      auto it = std::find(result.symbols.begin(), result.symbols.end(), symbol);
      if (it == result.symbols.end())
        split.fail("no such symbol");
      else
        problem.dims[it - result.symbols.begin()].requiredSplit = split.getInt(1, kMaxExtent);
    }
  return result;
}

void writeSplits(json::Writer &writer, const char *key, const NamedProblem &named,
                 const Splits &splits) {
  writer.key(key);
  writer.beginObject();
  for (size_t i = 0; i < splits.size(); ++i)
    writer.field(named.symbols[i], splits[i]);
  writer.endObject();
}

} // namespace

Answer divide(const Arguments &arguments) {
  Answer answer;
  auto parsed = json::parse(arguments.input);
  if (auto *error = std::get_if<json::Error>(&parsed)) {
    answer.error = error->where + ": " + error->message;
    return answer;
  }
  const json::Document &document = std::get<json::Document>(parsed);
  std::optional<json::Error> problemError;
  json::Cursor root(document, problemError);
  std::optional<json::Cursor> list;
  if (root.isObject())
    list = root.find("plans");
  std::vector<json::Cursor> plans = list ? list->elements() : std::vector<json::Cursor>{root};

  std::ostringstream os;
  {
    json::Writer writer(os, /*pretty=*/true);
    if (list) {
      writer.beginObject();
      writer.key("plans");
      writer.beginArray();
    }
    for (const json::Cursor &plan : plans) {
      NamedProblem named = readProblem(plan, arguments.device);
      if (problemError)
        break;
      DivisionOptions options;
      options.cost = makePublishedCost(arguments.device);
      auto fast = planning::divide(named.problem, options);
      if (!arguments.usePublishedCost)
        options.cost = makeModelCost(arguments.device);
      options.exhaustive = true;
      auto best = planning::divide(named.problem, options);
      for (auto *result : {&fast, &best})
        if (auto *error = std::get_if<DivisionError>(result))
          answer.error = (named.name.empty() ? "" : named.name + ": ") + error->message;
      if (!answer.error.empty()) {
        answer.isUnsolved = true;
        break;
      }
      const auto &bestPlan = std::get<DivisionPlan>(best);
      writer.beginObject();
      writer.field("name", named.name);
      writeSplits(writer, "splits", named, bestPlan.splits);
      writer.field("cores", bestPlan.numCores);
      writer.field("k_fast", bestPlan.kFast);
      writer.field("cost", bestPlan.cost);
      writer.field("published_cost",
                   makePublishedCost(arguments.device)(named.problem, bestPlan.splits));
      writeSplits(writer, "fast_splits", named, std::get<DivisionPlan>(fast).splits);
      std::vector<int64_t> spans;
      for (const DivisionOperand &operand : named.problem.operands)
        spans.push_back(getSpanInBytes(named.problem, operand, bestPlan.splits));
      writer.listField("spans_bytes", spans);
      writer.key("core_to_slice");
      writer.beginObject();
      layout::Spread spread = makeSpread(named.problem.dims, bestPlan.splits, bestPlan.kFast);
      for (int64_t core = 0; core < bestPlan.numCores; ++core) {
        writer.key(std::to_string(core));
        writer.beginObject();
        for (size_t i = 0; i < spread.dims.size(); ++i)
          writer.field(named.symbols[i], spread.getSlice(core, i));
        writer.endObject();
      }
      writer.endObject();
      writer.endObject();
    }
    if (list) {
      writer.endArray();
      writer.endObject();
    }
  }
  if (problemError)
    answer.error = problemError->where + ": " + problemError->message;
  answer.output = os.str() + "\n";
  return answer;
}

} // namespace spyre::solve
