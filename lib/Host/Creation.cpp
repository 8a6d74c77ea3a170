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
    call.result.set(i, value);
  return true;
}

/// Argument \p index everywhere.
static Function fillWith(size_t index) {
  return [index](Call &call) {
    Array value = call.getValue(index);
    if (call.isOk() && value.getNumElements() != 1)
      return call.refuse("is filled with one number");
    for (int64_t i = 0, n = call.result.getNumElements(); i < n && call.isOk(); ++i)
      call.result.copy(i, value, 0);
    return call.isOk();
  };
}

/// start + i * step, in integers where both are.
static bool count(Call &call, size_t start, size_t step) {
  int64_t n = call.result.getNumElements();
  if (call.at(start).getFloat() || call.at(step).getFloat()) {
    double first = call.getNumber(start, 0), by = call.getNumber(step, 1);
    for (int64_t i = 0; i < n; ++i)
      call.result.set(i, first + static_cast<double>(i) * by);
    return call.isOk();
  }
  int64_t first = call.getInt(start, 0), by = call.getInt(step, 1);
  for (int64_t i = 0; i < n; ++i)
    call.result.set(i, add(first, multiply(i, by)));
  return call.isOk();
}

static bool makeLinspace(Call &call) {
  double start = call.getNumber(0), end = call.getNumber(1);
  int64_t n = call.result.getNumElements();
  double step = n > 1 ? (end - start) / static_cast<double>(n - 1) : 0;
  // From the nearer end, as PyTorch does.
  for (int64_t i = 0; i < n; ++i)
    call.result.set(i, n == 1 || i < n / 2 ? start + step * static_cast<double>(i)
                                           : end - step * static_cast<double>(n - 1 - i));
  return call.isOk();
}

static bool makeEye(Call &call) {
  if (call.result.shape.size() != 2)
    return call.refuse("is a matrix");
  for (int64_t i = 0, n = call.result.getNumElements(), columns = call.result.shape.back(); i < n;
       ++i)
    call.result.set(i, int64_t(i / columns == i % columns));
  return true;
}

/// Coordinates of the elements on one side of a diagonal, row by row.
static Function listTriangle(bool isUpper) {
  return [isUpper](Call &call) {
    int64_t rows = call.getInt(0), columns = call.getInt(1), diagonal = call.getInt(2, 0);
    if (!call.isOk() || rows < 0 || columns < 0 || !countElements({rows, columns}))
      return call.refuse("has a size that is negative or too large");
    Ints where[2];
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        if (isUpper ? column - row >= diagonal : column - row <= diagonal) {
          where[0].push_back(row);
          where[1].push_back(column);
        }
    auto size = static_cast<int64_t>(where[0].size());
    if (!call.expectShape({2, size}))
      return false;
    for (int64_t i = 0; i < 2 * size; ++i)
      call.result.set(i, where[i / size][i % size]);
    return true;
  };
}

void addCreation(Table &table) {
  // What is empty holds anything: zeros are as good, and always the same.
  addAll(table,
         {"aten.zeros", "aten.zeros_like", "aten.new_zeros", "aten.empty.memory_format",
          "aten.empty_like", "aten.new_empty", "aten.empty_strided", "aten.new_empty_strided",
          "aten.zero"},
         [](Call &call) { return fill(call, 0); });
  addAll(table, {"aten.ones", "aten.ones_like", "aten.new_ones"},
         [](Call &call) { return fill(call, 1); });
  addAll(table, {"aten.full", "aten.full_like", "aten.fill.Scalar", "aten.fill.Tensor"},
         fillWith(1));
  table["aten.new_full"] = fillWith(2);
  addAll(table, {"aten.scalar_tensor", "prim.NumToTensor.Scalar"}, fillWith(0));
  // A position that does not exist is an argument that is not given.
  constexpr size_t kNone = 99;
  table["aten.arange"] = [](Call &call) { return count(call, kNone, kNone); };
  table["aten.arange.start"] = [](Call &call) { return count(call, 0, kNone); };
  table["aten.arange.start_step"] = [](Call &call) { return count(call, 0, 2); };
  table["prims.iota"] = [](Call &call) { return count(call, 1, 2); };
  table["aten.linspace"] = makeLinspace;
  addAll(table, {"aten.eye", "aten.eye.m"}, makeEye);
  table["aten.tril_indices"] = listTriangle(false);
  table["aten.triu_indices"] = listTriangle(true);
}

} // namespace spyre::host
