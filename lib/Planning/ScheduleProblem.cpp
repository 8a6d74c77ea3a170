//===- ScheduleProblem.cpp - What a schedule is of, by itself --------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is wrong with a problem, and its operations as work division sees them.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/ScheduleProblem.h"

#include <algorithm>

namespace spyre::planning {

static OperationKind getKind(const OpFuncInfo &info) {
  if (!info.divisible)
    return OperationKind::SingleCore;
  if (info.opFunc == OpFunc::Restickify)
    return OperationKind::Restickify;
  if (info.category == OpCategory::Batchmatmul)
    return OperationKind::Matmul;
  return info.category == OpCategory::Reduction ? OperationKind::Reduction
                                                : OperationKind::Pointwise;
}

layout::Access getAccess(const ProblemOperand &operand) {
  return {operand.map, static_cast<unsigned>(operand.map.extents.size())};
}

std::variant<DivisionProblem, std::string> makeDivision(const ScheduleProblem &problem,
                                                        const ProblemOperation &op) {
  DivisionProblem division;
  division.kind = getKind(getOpFuncInfo(op.opFunc));
  for (unsigned d = 0; d < op.extents.size(); ++d) {
    DivisionDim &dim = division.dims.emplace_back();
    dim.extent = op.extents[d];
    const auto &written = op.operands.back().map.results;
    dim.isReduced = dim.extent > 1 && std::none_of(written.begin(), written.end(), [&](auto &expr) {
                      return layout::dependsOn(expr, d);
                    });
  }
  for (size_t i = 0; i < op.operands.size(); ++i) {
    auto operand =
        makeOperand(getAccess(op.operands[i]), problem.values[op.operands[i].value].memory,
                    i + 1 == op.operands.size());
    if (auto *error = std::get_if<DivisionError>(&operand))
      return "operand " + std::to_string(i) + ": " + error->message;
    division.operands.push_back(std::get<DivisionOperand>(std::move(operand)));
  }
  setElementsPerStick(division);
  if (division.kind == OperationKind::Matmul)
    setMatmulRoles(division);
  return division;
}

/// What is wrong with operand \p operand of an operation over \p extents.
static std::string checkOperand(const ProblemValue &value, const ProblemOperand &operand) {
  if (operand.map.results.size() != value.memory.shape.size())
    return "'" + value.name + "' has " + std::to_string(value.memory.shape.size()) + " dims, and " +
           std::to_string(operand.map.results.size()) + " coordinates are given";
  for (size_t r = 0; r < operand.map.results.size(); ++r) {
    auto [low, high] = layout::getRange(operand.map.results[r], operand.map.extents);
    if (low < 0 || high >= value.memory.shape[r])
      return "coordinates " + std::to_string(low) + " to " + std::to_string(high) + " of dim " +
             std::to_string(r) + " of '" + value.name + "', which has " +
             std::to_string(value.memory.shape[r]);
  }
  return "";
}

/// True if an array over \p extents has at most so many elements that sums of bytes are numbers.
static bool isCountable(const std::vector<int64_t> &extents) {
  constexpr int64_t kMost = int64_t(1) << 48;
  int64_t left = kMost;
  for (int64_t extent : extents)
    left /= std::max<int64_t>(1, extent);
  return left > 0;
}

std::vector<std::string> check(const ScheduleProblem &problem) {
  std::vector<std::string> errors;
  for (const ProblemValue &value : problem.values)
    if (!isCountable(value.memory.shape))
      errors.push_back("value '" + value.name + "' is too large");
  for (size_t number = 0; number < problem.operations.size(); ++number)
    if (!isCountable(problem.operations[number].extents))
      errors.push_back("operation " + std::to_string(number) + " has too many points");
  if (!errors.empty())
    return errors;
  for (const ProblemValue &value : problem.values)
    for (const std::string &mistake : layout::verify(value.memory))
      errors.push_back("value '" + value.name + "': " + mistake);
  if (!errors.empty())
    return errors;
  std::vector<std::optional<size_t>> firstRead(problem.values.size());
  std::vector<bool> isWritten(problem.values.size());
  for (size_t number = 0; number < problem.operations.size(); ++number) {
    const ProblemOperation &op = problem.operations[number];
    const OpFuncInfo &info = getOpFuncInfo(op.opFunc);
    auto fail = [&](const std::string &message) {
      errors.push_back("operation " + std::to_string(number) + ", " + std::string(info.name) +
                       ": " + message);
    };
    if (op.operands.size() != static_cast<size_t>(info.numInputs) + 1) {
      fail("it has " + std::to_string(info.numInputs) + " inputs");
      continue;
    }
    std::string mistake;
    std::vector<DataFormat> formats;
    for (const ProblemOperand &operand : op.operands) {
      if (mistake.empty())
        mistake = checkOperand(problem.values[operand.value], operand);
      formats.push_back(problem.values[operand.value].memory.format);
    }
    formats.pop_back();
    if (mistake.empty())
      mistake = checkForm(info, formats).value_or("");
    if (mistake.empty())
      if (auto division = makeDivision(problem, op); division.index() == 1)
        mistake = std::get<std::string>(division);
    if (!mistake.empty())
      fail(mistake);
    const unsigned written = op.operands.back().value;
    for (size_t i = 0; i + 1 < op.operands.size(); ++i)
      if (std::optional<size_t> &read = firstRead[op.operands[i].value];
          !read && !isWritten[op.operands[i].value])
        read = number;
    if (firstRead[written])
      fail("'" + problem.values[written].name + "' is read before it is written");
    if (isWritten[written])
      fail("'" + problem.values[written].name + "' is written already");
    isWritten[written] = true;
  }
  return errors;
}

} // namespace spyre::planning
