//===- Numbers.cpp - Operations of Python's numbers -----------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers are arrays of rank 0 of int64, float64 and bool. Their arithmetic and comparisons
// are in Unary.cpp and Binary.cpp, with those of tensors.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

#include <cmath>

namespace spyre::host {

/// The one element of the operand, in the result's type.
static bool convert(Call &call) {
  Array value = call.getValue(0);
  if (!call.expectShape({}))
    return false;
  if (value.getNumElements() != 1)
    return call.refuse("a tensor of shape " + toString(value.shape) + " is no number");
  // Python refuses what PyTorch would leave undefined.
  if (call.result.dtype == HostType::Int64 && value.isFloat() &&
      !(std::fabs(value.numbers[0]) < 0x1p63))
    return call.refuse("a number that is not finite or too large is no integer");
  call.result.copy(0, value, 0);
  return true;
}

static bool getSize(Call &call) {
  const Argument &argument = call.at(0);
  const Array &array = call.getArray(0);
  size_t dim = call.getDim(1, array.shape.size());
  if (!call.expectShape({}) || !argument.getArray() || array.shape.empty())
    return call.refuse("a tensor of rank 0 has no dims");
  call.result.set(0, array.shape[dim]);
  return true;
}

/// Argument 0 holds, or the text says what does not.
static bool checkTruth(Call &call) {
  if (call.getNumber(0) != 0 || !call.isOk())
    return call.isOk();
  std::string text = call.getText(1);
  return call.refuse(text.empty() ? "an assertion of the program does not hold" : text);
}

void addNumbers(Table &table) {
  addAll(table, {"aten._assert_scalar", "aten._assert_async", "aten._assert_async.msg"},
         checkTruth);
  addAll(table,
         {"aten.Int.Tensor", "aten.Int.float", "aten.Int.bool", "aten.Int.Scalar",
          "aten.Float.Tensor", "aten.Float.Scalar", "aten.Float.int", "aten.Bool.Tensor",
          "aten.Bool.float", "aten.Bool.int", "aten.item", "aten._local_scalar_dense",
          "aten.ScalarImplicit", "aten.IntImplicit", "aten.FloatImplicit",
          "prim.NumToTensor.Scalar"},
         convert);
  table["aten.size.int"] = getSize;
  table["aten.numel"] = [](Call &call) {
    int64_t count = call.getArray(0).getNumElements();
    if (!call.expectShape({}))
      return false;
    call.result.set(0, count);
    return true;
  };
  addAll(table, {"aten.div.int", "aten.div.float", "aten.div"}, [](Call &call) {
    if (call.getNumber(1) == 0)
      return call.refuse("divides by zero");
    return map<Floats, 2>(call, {0, 1}, [](auto x, auto y) { return x / y; });
  });
  addAll(table, {"aten.ceil.Scalar", "aten.ceil.float"}, [](Call &call) {
    return map<Integers | Floats, 1>(call, {0}, [](auto x) { return std::ceil(x); });
  });
  table["aten.sqrt.int"] = unary<Floats>([](auto x) { return std::sqrt(x); });
  addAll(table, {"prim.max.int", "prim.max.float"},
         binary<Integers | Floats>([](auto x, auto y) { return x > y ? x : y; }));
  addAll(table, {"prim.min.int", "prim.min.float"},
         binary<Integers | Floats>([](auto x, auto y) { return x < y ? x : y; }));
}

} // namespace spyre::host
