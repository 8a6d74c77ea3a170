//===- NamedDims.cpp - Dims of operations by names of data ------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A union-find over dims of all operations; nests have one each for their own (TilingRun.h).
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/NamedDims.h"

#include "TilingRun.h"

#include <charconv>

namespace spyre::planning {

unsigned DimNames::makeNodes(size_t count) {
  const unsigned first = static_cast<unsigned>(parent.size());
  for (size_t i = 0; i < count; ++i)
    parent.push_back(first + static_cast<unsigned>(i));
  return first;
}

unsigned DimNames::find(unsigned node) {
  while (parent[node] != node)
    node = parent[node] = parent[parent[node]];
  return node;
}

unsigned DimNames::addValue(const std::vector<int64_t> &shape) {
  valueNodes.push_back(makeNodes(shape.size()));
  shapes.push_back(shape);
  return static_cast<unsigned>(shapes.size()) - 1;
}

unsigned DimNames::addOperation(unsigned count) {
  opNodes.push_back(makeNodes(count));
  numDims.push_back(count);
  return static_cast<unsigned>(numDims.size()) - 1;
}

void DimNames::addAccess(unsigned op, unsigned value, const layout::IndexMap &map) {
  for (size_t r = 0; r < shapes[value].size() && r < map.results.size(); ++r)
    if (auto dim = tiling::getOuterDim(map.results[r], map.extents, shapes[value][r]);
        dim && *dim < numDims[op])
      join(valueNodes[value] + static_cast<unsigned>(r), opNodes[op] + *dim);
}

void DimNames::addAlias(unsigned value, unsigned other) {
  for (unsigned r = 0; r < shapes[value].size() && r < shapes[other].size(); ++r)
    join(valueNodes[value] + r, valueNodes[other] + r);
}

void DimNames::setName(unsigned value, unsigned dim, const std::string &name) {
  // Two arguments may have a dim of one name: it is the same dim.
  auto [known, isNew] = named.try_emplace(name, valueNodes[value] + dim);
  if (!isNew)
    join(known->second, valueNodes[value] + dim);
}

std::vector<unsigned> DimNames::getDims(unsigned op, const std::string &name) {
  std::vector<unsigned> dims;
  auto known = named.find(name);
  for (unsigned d = 0; known != named.end() && d < numDims[op]; ++d)
    if (find(opNodes[op] + d) == find(known->second))
      dims.push_back(d);
  return dims;
}

/// The number that all of \p text is, if it is one.
static std::optional<unsigned> parseNumber(const std::string &text) {
  unsigned number = 0;
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && stop == text.data() + text.size() ? std::optional(number)
                                                                   : std::nullopt;
}

/// The dim of the operation of \p division that \p name, or a number, means; or why there is none.
static std::variant<unsigned, std::string> getDim(const ScheduledDivision &division,
                                                  const std::string &name, size_t numDims,
                                                  const std::function<DimNames &()> &getNames) {
  if (std::optional<unsigned> number = parseNumber(name)) {
    if (*number < numDims)
      return *number;
    return "the operation has " + std::to_string(numDims) + " dims";
  }
  DimNames &names = getNames();
  if (!names.isKnown(name))
    return "no argument has a dim '" + name + "' in names";
  const std::vector<unsigned> dims = names.getDims(division.operation, name);
  if (dims.size() == 1)
    return dims.front();
  if (dims.empty())
    return "the operation has no dim that is '" + name + "'";
  return "dims " + std::to_string(dims[0]) + " and " + std::to_string(dims[1]) +
         " of the operation are both '" + name + "'";
}

static std::string join(const std::vector<std::string> &texts) {
  std::string all;
  for (const std::string &text : texts)
    all += (all.empty() ? "" : "; ") + text;
  return all;
}

std::variant<Splits, ScheduleError> obey(const ScheduledDivision &division, std::string_view opFunc,
                                         const DivisionProblem &problem, const DivisionCost &cost,
                                         const std::function<DimNames &()> &getNames) {
  if (!division.opFunc.empty() && division.opFunc != opFunc)
    return ScheduleError{".opfunc", "operation " + std::to_string(division.operation) + " is " +
                                        std::string(opFunc)};
  Splits splits = division.splits;
  if (!division.byDim.empty()) {
    DivisionProblem asked = problem;
    splits.assign(problem.dims.size(), 1);
    for (const auto &[name, split] : division.byDim) {
      auto dim = getDim(division, name, problem.dims.size(), getNames);
      if (auto *message = std::get_if<std::string>(&dim))
        return ScheduleError{".splits." + name, *message};
      int64_t &required = asked.dims[std::get<unsigned>(dim)].requiredSplit;
      if (required != 0 && required != split)
        return ScheduleError{".splits." + name, "dim " + std::to_string(std::get<unsigned>(dim)) +
                                                    " has " + std::to_string(required) +
                                                    " slices already"};
      splits[std::get<unsigned>(dim)] = required = split;
    }
    DivisionOptions options;
    options.exhaustive = true;
    options.cost = cost;
    auto plan = divide(asked, options);
    if (auto *error = std::get_if<DivisionError>(&plan)) {
      // What is wrong with these slices by themselves says more than that none will do.
      const std::vector<std::string> mistakes = verify(asked, splits);
      return ScheduleError{".splits", mistakes.empty() ? error->message : join(mistakes)};
    }
    splits = std::get<DivisionPlan>(std::move(plan)).splits;
  }
  if (splits.size() != problem.dims.size())
    return ScheduleError{".splits",
                         "the operation has " + std::to_string(problem.dims.size()) + " dims"};
  if (std::vector<std::string> mistakes = verify(problem, splits); !mistakes.empty())
    return ScheduleError{".splits", join(mistakes)};
  return splits;
}

} // namespace spyre::planning
