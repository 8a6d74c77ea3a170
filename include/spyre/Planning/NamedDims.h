//===- NamedDims.h - Dims of operations by names of data ---------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule names dims of arguments; which dims of an operation these are follows from the
// accesses between them: two dims are the same if an operation runs by one through all of the
// other, or through the outermost part of it, as tiles over time have it (TimeTiling.h).
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_PLANNING_NAMEDDIMS_H
#define SPYRE_PLANNING_NAMEDDIMS_H

#include "spyre/Layout/IndexMap.h"
#include "spyre/Planning/Schedule.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spyre::planning {

class DimNames {
public:
  /// A value, and an operation, of so many dims; its number, each counted from 0.
  unsigned addValue(const std::vector<int64_t> &shape);
  unsigned addOperation(unsigned numDims);
  /// Operation \p op reads or writes \p value by \p map, from its iteration space.
  void addAccess(unsigned op, unsigned value, const layout::IndexMap &map);
  /// Values of one shape that are the same data: what an operation writes a part of, and its
  /// result.
  void addAlias(unsigned value, unsigned other);
  /// Dim \p dim of \p value is called \p name.
  void setName(unsigned value, unsigned dim, const std::string &name);

  bool isKnown(const std::string &name) const { return named.contains(name); }
  /// The dims of operation \p op that are what \p name calls so; rising.
  std::vector<unsigned> getDims(unsigned op, const std::string &name);

private:
  unsigned makeNodes(size_t count);
  unsigned find(unsigned node);
  void join(unsigned a, unsigned b) { parent[find(a)] = find(b); }

  std::vector<unsigned> parent; ///< of a node: a dim of a value or an operation
  std::vector<unsigned> valueNodes, opNodes, numDims;
  std::vector<std::vector<int64_t>> shapes;
  std::map<std::string, unsigned> named;
};

/// The work slices of \p problem, an operation \p opFunc, that \p division says, those that it
/// leaves open as \p cost has them best; or what is in the way (ScheduleError::field:
/// ".splits.rows").
/// \p getNames: names of dims, in which the operation has the number that the division says;
/// called where it uses a name.
std::variant<Splits, ScheduleError> obey(const ScheduledDivision &division, std::string_view opFunc,
                                         const DivisionProblem &problem, const DivisionCost &cost,
                                         const std::function<DimNames &()> &getNames);

} // namespace spyre::planning

#endif // SPYRE_PLANNING_NAMEDDIMS_H
