//===- RunsTest.cpp - Arrays whose rows are a few runs --------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is computed run by run is what the host's operations compute element by element.
//
//===----------------------------------------------------------------------===//

#include "spyre/Host/Runs.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace spyre;
using namespace spyre::host;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// 0, 1, ... along the last or the last but one of \p shape's dims.
Array count(std::vector<int64_t> shape, int64_t start = 0, int64_t step = 1,
            HostType dtype = HostType::Int64) {
  Array array = makeArray(dtype, std::move(shape));
  for (int64_t i = 0; i < array.getNumElements(); ++i)
    array.set(i, start + step * i);
  return array;
}

Array triangle(int64_t rows, int64_t columns, int64_t diagonal, HostType dtype = HostType::Bool) {
  Array array = makeArray(dtype, {rows, columns});
  for (int64_t i = 0; i < rows * columns; ++i)
    array.set(i, int64_t(i % columns <= i / columns + diagonal));
  return array;
}

RunArray runsOf(const Array &array) {
  std::optional<RunArray> runs = findRuns(array, 100);
  EXPECT_TRUE(runs);
  return runs.value_or(RunArray());
}

void expectSame(const Array &got, const Array &want) {
  EXPECT_EQ(got.dtype, want.dtype);
  EXPECT_EQ(got.shape, want.shape);
  EXPECT_EQ(got.integers, want.integers);
  ASSERT_EQ(got.numbers.size(), want.numbers.size());
  for (size_t i = 0; i < want.numbers.size(); ++i) {
    EXPECT_TRUE(got.numbers[i] == want.numbers[i] ||
                (std::isnan(got.numbers[i]) && std::isnan(want.numbers[i])))
        << i << ": " << got.numbers[i] << " for " << want.numbers[i];
    EXPECT_EQ(std::signbit(got.numbers[i]), std::signbit(want.numbers[i]));
  }
}

/// Computes \p name both ways; arrays of \p asRuns are given as runs.
void check(std::string_view name, const std::vector<Argument> &arguments,
           const std::vector<size_t> &asRuns, HostType dtype, std::vector<int64_t> shape) {
  SCOPED_TRACE(name);
  auto dense = evaluate(name, arguments, dtype, shape);
  ASSERT_TRUE(std::holds_alternative<Array>(dense)) << std::get<std::string>(dense);
  std::vector<RunArray> made;
  made.reserve(arguments.size());
  std::vector<RunOperand> operands;
  for (size_t i = 0; i < arguments.size(); ++i) {
    operands.push_back({nullptr, arguments[i]});
    if (std::find(asRuns.begin(), asRuns.end(), i) == asRuns.end())
      continue;
    made.push_back(runsOf(*arguments[i].getArray()));
    operands.back() = {&made.back(), {}};
  }
  std::optional<RunArray> runs = evaluateRuns(name, operands, dtype, shape);
  ASSERT_TRUE(runs);
  expectSame(expand(*runs), std::get<Array>(dense));
}
} // namespace

TEST(RunsTest, RowsAreRuns) {
  RunArray mask = runsOf(triangle(3, 5, 0));
  EXPECT_EQ(mask.getNumRows(), 3);
  EXPECT_EQ(mask.getRow(0).size(), 2U);
  EXPECT_EQ(mask.getRow(1)[0], (host::Run{2, 1, 0}));
  RunArray positions = runsOf(count({2, 4}, 3, 2));
  EXPECT_EQ(positions.runs, (std::vector<host::Run>{{4, 3, 2}, {4, 11, 2}}));
  EXPECT_FALSE(positions.isConstantInRuns());
  expectSame(expand(positions), count({2, 4}, 3, 2));
  // Neither what has too many runs nor floats that rise.
  EXPECT_FALSE(findRuns(triangle(2, 8, 3), 1.4));
  EXPECT_EQ(runsOf(count({4}, 0, 1, HostType::Float32)).runs.size(), 4U);
  // Zeros of both signs are different numbers.
  Array zeros = makeArray(HostType::Float32, {4});
  zeros.numbers = {0, -0.0, -0.0, 0};
  EXPECT_EQ(runsOf(zeros).runs.size(), 3U);
  expectSame(expand(runsOf(zeros)), zeros);
}

TEST(RunsTest, PositionsAreCompared) {
  const Array rows = count({7, 1}), columns = count({1, 9}), last = count({9}, -4, 3);
  for (const char *name : {"aten.lt.Tensor", "aten.le.Tensor", "aten.gt.Tensor", "aten.ge.Tensor",
                           "aten.eq.Tensor", "aten.ne.Tensor"}) {
    check(name, {columns, rows}, {}, HostType::Bool, {7, 9});
    check(name, {rows, last}, {1}, HostType::Bool, {7, 9});
    check(name, {columns, last}, {0, 1}, HostType::Bool, {1, 9});
    check(name, {columns, columns}, {0}, HostType::Bool, {1, 9});
  }
  check("aten.le.Scalar", {last, 5}, {0}, HostType::Bool, {9});
  check("aten.gt.Scalar", {last, 100}, {0}, HostType::Bool, {9});
}

TEST(RunsTest, PositionsAreAdded) {
  const Array rows = count({7, 1}), columns = count({1, 9}), batch = count({2, 1, 1}, 5);
  check("aten.sub.Tensor", {columns, rows, 1}, {}, HostType::Int64, {7, 9});
  check("aten.sub.Tensor", {columns, rows, 3}, {1}, HostType::Int64, {7, 9});
  check("aten.add.Tensor", {columns, batch, 2}, {0}, HostType::Int64, {2, 1, 9});
  check("aten.add.Scalar", {columns, 4, 1}, {0}, HostType::Int64, {1, 9});
  check("aten.rsub.Scalar", {columns, 4, 1}, {0}, HostType::Int64, {1, 9});
  check("aten.mul.Tensor", {columns, rows}, {0}, HostType::Int64, {7, 9});
  check("aten.neg", {columns}, {0}, HostType::Int64, {1, 9});
  check("prims.convert_element_type", {columns, 6}, {0}, HostType::Float32, {1, 9});
  check("aten.expand", {columns, std::vector<int64_t>{3, 9}, false}, {0}, HostType::Int64, {3, 9});
}

TEST(RunsTest, NumbersAreChosen) {
  const Array seen = triangle(6, 8, 1), other = triangle(6, 8, -2);
  const Array lowest =
                  [] {
                    Array number = makeArray(HostType::Float32, {});
                    number.numbers = {-kInfinity};
                    return number;
                  }(),
              zeros = makeArray(HostType::Float32, {6, 8});
  check("aten.logical_and", {seen, other}, {0, 1}, HostType::Bool, {6, 8});
  check("aten.logical_not", {seen}, {0}, HostType::Bool, {6, 8});
  check("aten.bitwise_or.Tensor", {seen, other}, {0}, HostType::Bool, {6, 8});
  check("aten.where.ScalarOther", {seen, zeros, -kInfinity}, {0, 1}, HostType::Float32, {6, 8});
  check("aten.where.self", {seen, lowest, lowest}, {0}, HostType::Float32, {6, 8});
  check("aten.masked_fill.Scalar", {zeros, seen, -kInfinity}, {0, 1}, HostType::Float32, {6, 8});
  check("aten.masked_fill.Tensor", {zeros, seen, lowest}, {0, 1}, HostType::Float32, {6, 8});
  check("aten.mul.Tensor", {seen, zeros}, {0, 1}, HostType::Float32, {6, 8});
  check("aten.full", {std::vector<int64_t>{3, 4}, 2.5}, {}, HostType::Float16, {3, 4});
  check("aten.view", {seen, std::vector<int64_t>{1, 6, 8}}, {0}, HostType::Bool, {1, 6, 8});
  for (int64_t diagonal : {-3, 0, 2, 20}) {
    check("aten.tril", {zeros, diagonal}, {0}, HostType::Float32, {6, 8});
    check("aten.triu", {count({6, 8}), diagonal}, {0}, HostType::Int64, {6, 8});
    check("aten.tril", {count({6, 8}), diagonal}, {0}, HostType::Int64, {6, 8});
  }
}

TEST(RunsTest, WhatIsNotExactIsRefused) {
  const Array columns = count({1, 5000});
  RunArray runs = runsOf(columns);
  // 2049 is no f16 number, 300 no int8 one.
  EXPECT_FALSE(evaluateRuns("prims.convert_element_type", std::vector<RunOperand>{{&runs, {}}},
                            HostType::Float16, {1, 5000}));
  EXPECT_FALSE(
      evaluateRuns("aten.exp", std::vector<RunOperand>{{&runs, {}}}, HostType::Float32, {1, 5000}));
  EXPECT_FALSE(evaluateRuns("aten.mul.Tensor", std::vector<RunOperand>{{&runs, {}}, {&runs, {}}},
                            HostType::Int64, {1, 5000}));
  // Sizes do not fit.
  EXPECT_FALSE(evaluateRuns(
      "aten.add.Tensor", std::vector<RunOperand>{{&runs, {}}, {nullptr, count({3})}, {nullptr, 1}},
      HostType::Int64, {1, 5000}));
}
