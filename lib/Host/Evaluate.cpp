//===- Evaluate.cpp - PyTorch operations on host arrays -------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table, and what is checked before and after a function of it runs.
//
//===----------------------------------------------------------------------===//

#include "spyre/Host/Evaluate.h"

#include "Call.h"

#include <algorithm>
#include <new>
#include <unordered_set>

namespace spyre::host {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static const Table &getTable() {
  static const Table table = [] {
    Table made;
    for (auto add : {addActivations, addBinary, addContractions, addConvolutions, addCreation,
                     addIndexing, addMovement, addNorms, addNumbers, addOrdering, addPooling,
                     addQuantization, addReductions, addResampling, addScans, addUnary})
      add(made);
    return made;
  }();
  return table;
}

bool isKnown(std::string_view name) { return getTable().count(name) != 0; }

std::vector<std::string_view> getKnownNames() {
  std::vector<std::string_view> names;
  for (const auto &[name, function] : getTable())
    names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

bool isView(std::string_view name) {
  static const std::unordered_set<std::string_view> views = {
      "aten.alias",
      "aten.as_strided",
      "aten.broadcast_to",
      "aten.chunk",
      "aten.detach",
      "aten.diagonal",
      "aten.expand",
      "aten.expand_as",
      "aten.flatten.using_ints",
      "aten.imag",
      "aten.mT",
      "aten.movedim.int",
      "aten.narrow",
      "aten.numpy_T",
      "aten.permute",
      "aten.real",
      "aten.reshape",
      "aten._reshape_alias",
      "aten.select.int",
      "aten.slice.Tensor",
      "aten.split.Tensor",
      "aten.split.sizes",
      "aten.split_with_sizes",
      "aten.squeeze",
      "aten.squeeze.dim",
      "aten.squeeze.dims",
      "aten.swapaxes",
      "aten.swapdims",
      "aten.t",
      "aten.tensor_split.sections",
      "aten.transpose.int",
      "aten.unbind.int",
      "aten.unflatten.int",
      "aten.unfold",
      "aten._unsafe_view",
      "aten.unsqueeze",
      "aten.view",
      "aten.view_as",
      "aten.view_as_complex",
      "aten.view_as_real",
      "prims.collapse",
      "prims.split_dim",
      "prims.squeeze",
      "prims.view_of",
  };
  return views.count(name) != 0;
}

/// Why \p argument is none that can be computed with; empty if it is.
static std::string checkArgument(const Argument &argument) {
  if (const Argument::List *list = argument.getList())
    for (const Argument &element : *list)
      if (std::string why = checkArgument(element); !why.empty())
        return why;
  const Array *array = argument.getArray();
  if (!array)
    return {};
  std::optional<int64_t> count = countElements(array->shape);
  size_t held = array->isFloat()     ? array->numbers.size()
                : array->isComplex() ? array->complexes.size()
                                     : array->integers.size();
  return count == static_cast<int64_t>(held) ? std::string()
                                             : "has another number of elements than its shape";
}

std::variant<std::vector<Array>, std::string> evaluate(std::string_view name,
                                                       std::span<const Argument> arguments,
                                                       std::span<const ResultType> results) {
  std::string quoted = "'" + std::string(name) + "'";
  auto function = getTable().find(name);
  if (function == getTable().end())
    return quoted + " cannot be computed on the host";
  // An operation that only checks something has no result; a place for one does not hurt it.
  static const ResultType nothing{HostType::Float32, {}, false};
  bool hasResults = !results.empty();
  if (!hasResults && name.starts_with("aten._assert"))
    results = std::span(&nothing, 1);
  else if (std::none_of(results.begin(), results.end(),
                        [](const ResultType &type) { return type.isWanted; }))
    return quoted + ": has no result that is read";
  for (size_t i = 0; i < arguments.size(); ++i)
    if (std::string why = checkArgument(arguments[i]); !why.empty())
      return quoted + ": argument #" + std::to_string(i) + " " + why;
  try {
    std::vector<Array> made;
    for (const ResultType &type : results) {
      if (!countElements(type.shape))
        return quoted + ": a result has too many elements";
      made.push_back(makeArray(type.dtype, type.shape));
    }
    Call call(arguments, made, results);
    if (!function->second(call))
      return quoted + ": " + call.getReason();
    if (!hasResults)
      made.clear();
    return made;
  } catch (const std::bad_alloc &) {
    return quoted + ": there is not enough memory for its result";
  }
}

std::variant<Array, std::string> evaluate(std::string_view name,
                                          std::span<const Argument> arguments, HostType dtype,
                                          const std::vector<int64_t> &shape) {
  ResultType type{dtype, shape};
  auto results = evaluate(name, arguments, std::span<const ResultType>(&type, 1));
  if (auto *why = std::get_if<std::string>(&results))
    return std::move(*why);
  return std::move(std::get<std::vector<Array>>(results).front());
}

} // namespace spyre::host
