//===- BadInputTest.cpp - What is refused on the host ---------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arguments and types come from programs that users write: whatever they are, an operation
// computes or gives a reason. The reasons that are likely to be met are pinned.
//
//===----------------------------------------------------------------------===//

#include "spyre/Host/Evaluate.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace spyre;
using namespace spyre::host;

namespace {
using Integers = std::vector<int64_t>;

Array filled(std::vector<int64_t> shape, HostType dtype = HostType::Float32, int64_t value = 1) {
  Array array = makeArray(dtype, std::move(shape));
  for (int64_t i = 0; i < array.getNumElements(); ++i)
    array.set(i, value);
  return array;
}

std::string whyNot(std::string_view name, std::vector<Argument> arguments, HostType dtype,
                   std::vector<int64_t> shape) {
  auto result = evaluate(name, arguments, dtype, shape);
  auto *why = std::get_if<std::string>(&result);
  return why ? *why : "";
}

TEST(BadInput, ArraysAndTypesThatAreNone) {
  Array broken = filled({2, 3});
  broken.numbers.pop_back();
  EXPECT_EQ(whyNot("aten.relu", {broken}, HostType::Float32, {2, 3}),
            "'aten.relu': argument #0 has another number of elements than its shape");
  EXPECT_EQ(whyNot("aten.zeros", {}, HostType::Float32, {int64_t(1) << 40, int64_t(1) << 40}),
            "'aten.zeros': a result has too many elements");
  EXPECT_EQ(whyNot("aten.zeros", {}, HostType::Float32, {-1}),
            "'aten.zeros': a result has too many elements");
  EXPECT_EQ(whyNot("aten.bernoulli", {}, HostType::Float32, {1}),
            "'aten.bernoulli' cannot be computed on the host");
  EXPECT_EQ(std::get<std::string>(evaluate("aten.relu", {}, std::span<const ResultType>())),
            "'aten.relu': has no result that is read");
}

TEST(BadInput, Assertions) {
  auto check = [](bool holds) {
    std::vector<Argument> arguments = {holds, "u0 >= 2"};
    return evaluate("aten._assert_scalar", arguments, std::span<const ResultType>());
  };
  EXPECT_TRUE(std::get<std::vector<Array>>(check(true)).empty());
  EXPECT_EQ(std::get<std::string>(check(false)), "'aten._assert_scalar': u0 >= 2");
}

TEST(BadInput, ShapesThatDoNotFit) {
  EXPECT_EQ(whyNot("aten.mm", {filled({2, 3}), filled({2, 3})}, HostType::Float32, {2, 3}),
            "'aten.mm': shapes [2, 3] and [2, 3] do not multiply");
  EXPECT_EQ(whyNot("aten.mm", {filled({2}), filled({2, 3})}, HostType::Float32, {3}),
            "'aten.mm': needs tensors of ranks 2 and 2");
  EXPECT_EQ(whyNot("aten.add.Tensor", {filled({2}), filled({3})}, HostType::Float32, {2}),
            "'aten.add.Tensor': argument #1 of shape [3] does not broadcast to the result's [2]");
  EXPECT_EQ(
      whyNot("aten.sum.dim_IntList", {filled({2, 3}), Integers{1}, false}, HostType::Float32, {3}),
      "'aten.sum.dim_IntList': the result has the shape [2], not [3]");
  EXPECT_EQ(whyNot("aten.amax", {filled({2, 3}), Integers{2}, false}, HostType::Float32, {2}),
            "'aten.amax': dim 2 does not exist in a tensor of rank 2");
  EXPECT_EQ(whyNot("aten.amax", {filled({2, 3}), Integers{1, -1}, false}, HostType::Float32, {2}),
            "'aten.amax': a dim is named twice");
  EXPECT_EQ(whyNot("aten.amax", {filled({2, 0}), Integers{1}, false}, HostType::Float32, {2}),
            "'aten.amax': has no element to choose from");
  EXPECT_EQ(whyNot("aten.convolution",
                   {filled({1, 3, 5}), filled({2, 2, 3}), std::monostate(), Integers{1},
                    Integers{0}, Integers{1}, false, Integers{0}, int64_t(1)},
                   HostType::Float32, {1, 2, 3}),
            "'aten.convolution': a weight of shape [2, 2, 3] in 1 groups does not fit an input of "
            "[1, 3, 5]");
  std::vector<Argument> arguments = {filled({2, 3}), int64_t(1), false};
  std::vector<ResultType> types(3, {HostType::Float32, {2}, true});
  EXPECT_EQ(std::get<std::string>(evaluate("aten.max.dim", arguments, types)),
            "'aten.max.dim': has 2 results, not 3");
}

TEST(BadInput, IndicesOutOfBounds) {
  Array index = filled({2}, HostType::Int64, 7);
  EXPECT_EQ(
      whyNot("aten.index_select", {filled({5, 3}), int64_t(0), index}, HostType::Float32, {2, 3}),
      "'aten.index_select': index 7 is out of bounds for dim 0 of size 5");
  EXPECT_EQ(
      whyNot("aten.index.Tensor", {filled({5}), std::vector<Array>{index}}, HostType::Float32, {2}),
      "'aten.index.Tensor': index 7 is out of bounds for dim 0 of size 5");
  EXPECT_EQ(whyNot("aten.embedding", {filled({5, 3}), index}, HostType::Float32, {2, 3}),
            "'aten.embedding': index 7 is out of bounds for dim 0 of size 5");
  EXPECT_EQ(
      whyNot("aten.select.int", {filled({5}), int64_t(0), int64_t(-6)}, HostType::Float32, {}),
      "'aten.select.int': an index is out of bounds");
  EXPECT_EQ(
      whyNot("aten.as_strided", {filled({5}), Integers{3}, Integers{3}}, HostType::Float32, {3}),
      "'aten.as_strided': an index is out of bounds");
}

TEST(BadInput, ArgumentsThatAreMissing) {
  EXPECT_EQ(whyNot("aten.sum.dim_IntList", {Unknown{}}, HostType::Float32, {}),
            "'aten.sum.dim_IntList': argument #0 is no known array");
  EXPECT_EQ(whyNot("aten.topk", {filled({3})}, HostType::Float32, {3}),
            "'aten.topk': argument #1 is no integer");
  EXPECT_EQ(whyNot("aten.permute", {filled({3}), std::string("x")}, HostType::Float32, {3}),
            "'aten.permute': argument #1 is no integer");
  EXPECT_EQ(whyNot("aten.gelu", {filled({3}), std::string("x")}, HostType::Float32, {3}),
            "'aten.gelu': 'x' is no approximation of gelu");
  EXPECT_EQ(whyNot("aten.max", {filled({3}, HostType::Complex64)}, HostType::Complex64, {}),
            "'aten.max': is not defined for complex numbers");
  EXPECT_EQ(whyNot("aten.dropout", {filled({3}), 0.5, true}, HostType::Float32, {3}),
            "'aten.dropout': draws random numbers in training");
}

//===----------------------------------------------------------------------===//
// Whatever the arguments are
//===----------------------------------------------------------------------===//

class Draw {
public:
  explicit Draw(uint32_t seed) : engine(seed) {}

  int64_t below(int64_t bound) { return static_cast<int64_t>(engine() % bound); }

  HostType dtype() {
    constexpr HostType types[] = {HostType::Float32,   HostType::Int64,        HostType::Bool,
                                  HostType::Float16,   HostType::Float64,      HostType::UInt8,
                                  HostType::Complex64, HostType::Float8E4M3FN, HostType::Int32};
    return types[below(3) ? below(3) : below(std::size(types))];
  }
  std::vector<int64_t> shape() {
    std::vector<int64_t> shape(below(5));
    for (int64_t &extent : shape)
      extent = below(4) ? 2 + below(2) : below(2);
    return shape;
  }
  int64_t integer() {
    constexpr int64_t extremes[] = {INT64_MIN,   INT64_MAX,        int64_t(1) << 40,
                                    -1000000007, int64_t(1) << 24, int64_t(1) << 31};
    return below(8) ? below(6) - 2 : extremes[below(std::size(extremes))];
  }
  double number() {
    constexpr double extremes[] = {INFINITY, -INFINITY, NAN, 1e300, 1e-300, 0};
    return below(4) ? static_cast<double>(below(9)) / 4 - 1 : extremes[below(std::size(extremes))];
  }
  Array array() {
    Array array = makeArray(dtype(), shape());
    for (int64_t i = 0; i < array.getNumElements(); ++i)
      if (array.isInteger())
        array.set(i, below(20) ? below(3) : integer());
      else
        array.set(i, number());
    return array;
  }
  Argument argument(int depth = 0) {
    switch (below(depth ? 6 : 9)) {
    case 0:
      return {};
    case 1:
      return integer();
    case 2:
      return number();
    case 3:
      return below(2) == 0;
    case 4:
      return array();
    case 5:
      return Unknown{};
    case 6: {
      constexpr const char *texts[] = {"floor", "mean", "reflect", "tanh", "valid", ""};
      return texts[below(std::size(texts))];
    }
    default: {
      Argument::List list;
      bool ofIntegers = below(2);
      for (int64_t i = 0, n = below(4); i < n; ++i)
        list.push_back(ofIntegers ? Argument(integer()) : argument(depth + 1));
      return list;
    }
    }
  }

private:
  std::mt19937 engine;
};

TEST(BadInput, AnyArgumentsAreComputedOrRefused) {
  int64_t computed = 0;
  for (std::string_view name : getKnownNames())
    for (uint32_t round = 0; round < 120; ++round) {
      Draw draw(static_cast<uint32_t>(std::hash<std::string_view>()(name)) + round);
      std::vector<Argument> arguments;
      // An array comes first most times.
      for (int64_t i = 0, n = draw.below(9); i < n; ++i)
        arguments.push_back(i == 0 && draw.below(8) ? Argument(draw.array()) : draw.argument());
      std::vector<ResultType> types(1 + draw.below(4) / 2);
      for (ResultType &type : types)
        type = {draw.dtype(), draw.shape(), draw.below(6) != 0};
      if (draw.below(2) && !arguments.empty() && arguments[0].getArray())
        for (ResultType &type : types)
          type = {arguments[0].getArray()->dtype, arguments[0].getArray()->shape};
      auto results = evaluate(name, arguments, types);
      if (auto *why = std::get_if<std::string>(&results)) {
        EXPECT_GT(why->size(), name.size() + 4) << *why;
        continue;
      }
      ++computed;
      const std::vector<Array> &arrays = std::get<std::vector<Array>>(results);
      for (size_t k = 0; k < arrays.size(); ++k) {
        std::vector<char> bytes(arrays[k].getNumElements() * getWidthInBytes(arrays[k].dtype));
        toBytes(arrays[k], bytes.data());
        EXPECT_TRUE(!types[k].isWanted || arrays[k].shape == types[k].shape) << name;
      }
    }
  EXPECT_GT(computed, 1000);
}
} // namespace
