//===- Creation.cpp - Arrays from nothing ---------------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations whose result depends on numbers and shapes only.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

namespace spyre::host {

static bool fill(Call &call, double value) {
  for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i)
    call.set(i, value);
  return true;
}

/// Argument \p index everywhere; integers as they are.
static Function fillWith(size_t index) {
  return [index](Call &call) {
    if (!call.isFloat(index))
      if (std::optional<int64_t> integer = Call(call).getInt(index)) {
        for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i)
          call.set(i, *integer);
        return true;
      }
    std::optional<double> value = call.getNumber(index);
    return value && fill(call, *value);
  };
}

/// start + i * step, in integers where both are.
static bool count(Call &call, size_t start, size_t step) {
  if (call.isFloat(start) || call.isFloat(step)) {
    std::optional<double> first = call.getNumberOr(start, 0), by = call.getNumberOr(step, 1);
    if (!first || !by)
      return false;
    for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i)
      call.set(i, *first + static_cast<double>(i) * *by);
    return true;
  }
  std::optional<int64_t> first = call.getIntOr(start, 0), by = call.getIntOr(step, 1);
  if (!first || !by)
    return false;
  for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i)
    call.set(i, *first + i * *by);
  return true;
}

static bool makeLinspace(Call &call) {
  std::optional<double> start = call.getNumber(0), end = call.getNumber(1);
  if (!start || !end)
    return false;
  int64_t n = call.result.getNumElements();
  double step = n > 1 ? (*end - *start) / static_cast<double>(n - 1) : 0;
  // From the nearer end, as PyTorch does.
  for (int64_t i = 0; i < n; ++i)
    call.set(i, i < n / 2 ? *start + step * static_cast<double>(i)
                          : *end - step * static_cast<double>(n - 1 - i));
  if (n == 1)
    call.set(0, *start);
  return true;
}

static bool makeEye(Call &call) {
  for (int64_t i = 0, n = call.result.getNumElements(), columns = call.result.shape.back(); i < n;
       ++i)
    call.set(i, int64_t(i / columns == i % columns));
  return true;
}

void addCreation(Table &table) {
  // What is empty holds anything: zeros are as good, and always the same.
  for (const char *name : {"aten.zeros", "aten.zeros_like", "aten.new_zeros",
                           "aten.empty.memory_format", "aten.empty_like", "aten.new_empty",
                           "aten.empty_strided", "aten.new_empty_strided", "aten.zero"})
    table[name] = [](Call &call) { return fill(call, 0); };
  for (const char *name : {"aten.ones", "aten.ones_like", "aten.new_ones"})
    table[name] = [](Call &call) { return fill(call, 1); };
  for (const char *name : {"aten.full", "aten.full_like", "aten.fill.Scalar", "aten.fill.Tensor"})
    table[name] = fillWith(1);
  table["aten.new_full"] = fillWith(2);
  table["aten.scalar_tensor"] = fillWith(0);
  table["prim.NumToTensor.Scalar"] = fillWith(0);
  // A position that does not exist is an argument that is not given.
  constexpr size_t kNone = 99;
  table["aten.arange"] = [](Call &call) { return count(call, kNone, kNone); };
  table["aten.arange.start"] = [](Call &call) { return count(call, 0, kNone); };
  table["aten.arange.start_step"] = [](Call &call) { return count(call, 0, 2); };
  table["prims.iota"] = [](Call &call) { return count(call, 1, 2); };
  table["aten.linspace"] = makeLinspace;
  table["aten.eye"] = makeEye;
  table["aten.eye.m"] = makeEye;
}

} // namespace spyre::host
