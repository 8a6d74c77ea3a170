//===- EvaluateTest.cpp - PyTorch operations on host arrays ---------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small cases with results written down from PyTorch's documentation.
//
//===----------------------------------------------------------------------===//

#include "spyre/Host/Evaluate.h"
#include "spyre/Numerics/FP8.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace spyre;
using namespace spyre::host;

namespace {
Array ints(std::vector<int64_t> shape, std::vector<int64_t> values,
           HostType dtype = HostType::Int64) {
  return {dtype, std::move(shape), {}, std::move(values), {}};
}
Array floats(std::vector<int64_t> shape, std::vector<double> values,
             HostType dtype = HostType::Float32) {
  return {dtype, std::move(shape), std::move(values), {}, {}};
}

Array run(std::string_view name, std::vector<Argument> arguments, HostType dtype,
          std::vector<int64_t> shape) {
  auto result = evaluate(name, arguments, dtype, shape);
  if (auto *why = std::get_if<std::string>(&result)) {
    ADD_FAILURE() << *why;
    return {};
  }
  return std::get<Array>(result);
}

std::string whyNot(std::string_view name, std::vector<Argument> arguments, HostType dtype,
                   std::vector<int64_t> shape) {
  auto result = evaluate(name, arguments, dtype, shape);
  auto *why = std::get_if<std::string>(&result);
  return why ? *why : "";
}

using Integers = std::vector<int64_t>;
using Numbers = std::vector<double>;

TEST(Evaluate, Creation) {
  EXPECT_EQ(
      run("aten.arange.start_step", {int64_t(3), int64_t(12), int64_t(4)}, HostType::Int64, {3})
          .integers,
      (Integers{3, 7, 11}));
  EXPECT_EQ(run("aten.arange.start_step", {1.0, 2.0, 0.25}, HostType::Float32, {4}).numbers,
            (Numbers{1, 1.25, 1.5, 1.75}));
  EXPECT_EQ(run("aten.arange", {int64_t(3)}, HostType::Int64, {3}).integers, (Integers{0, 1, 2}));
  EXPECT_EQ(run("aten.eye.m", {int64_t(2), int64_t(3)}, HostType::Float32, {2, 3}).numbers,
            (Numbers{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(run("aten.full_like", {Unknown{}, true}, HostType::Bool, {2}).integers,
            (Integers{1, 1}));
  // Rounded to the result's type once: the next f16 number to 0.1.
  EXPECT_EQ(run("aten.full", {Integers{1}, 0.1}, HostType::Float16, {1}).numbers[0],
            0.0999755859375);
  EXPECT_EQ(run("aten.linspace", {0.0, 1.0, int64_t(5)}, HostType::Float32, {5}).numbers,
            (Numbers{0, 0.25, 0.5, 0.75, 1}));
}

TEST(Evaluate, BroadcastsAndKeepsIntegers) {
  Array row = ints({1, 3}, {0, 1, 2}), column = ints({2, 1}, {10, 20});
  EXPECT_EQ(run("aten.sub.Tensor", {row, column, int64_t(2)}, HostType::Int64, {2, 3}).integers,
            (Integers{-20, -19, -18, -40, -39, -38}));
  // 2^53 + 1 is no double.
  int64_t large = (int64_t(1) << 53) + 1;
  EXPECT_EQ(
      run("aten.add.Scalar", {ints({1}, {large}), int64_t(2), int64_t(1)}, HostType::Int64, {1})
          .integers[0],
      large + 2);
  EXPECT_EQ(run("aten.le.Scalar", {row, int64_t(1)}, HostType::Bool, {1, 3}).integers,
            (Integers{1, 1, 0}));
  EXPECT_EQ(
      run("aten.div.Tensor", {ints({2}, {1, 3}), ints({1}, {2})}, HostType::Float32, {2}).numbers,
      (Numbers{0.5, 1.5}));
  EXPECT_EQ(run("aten.div.Tensor_mode", {ints({2}, {-7, 7}), ints({1}, {2}), std::string("floor")},
                HostType::Int64, {2})
                .integers,
            (Integers{-4, 3}));
  EXPECT_EQ(run("aten.remainder.Scalar", {ints({3}, {-7, 7, 6}), int64_t(3)}, HostType::Int64, {3})
                .integers,
            (Integers{2, 1, 0}));
}

TEST(Evaluate, ComputesInTheOperandsTypes) {
  // 0.7 is rounded like the elements it is compared with.
  EXPECT_EQ(
      run("aten.ge.Scalar", {floats({1}, {static_cast<float>(0.7)}), 0.7}, HostType::Bool, {1})
          .integers,
      (Integers{1}));
  Array half = floats({1}, {roundTo(HostType::Float16, 0.7)}, HostType::Float16);
  EXPECT_EQ(run("aten.eq.Scalar", {half, 0.7}, HostType::Bool, {1}).integers, (Integers{1}));
  EXPECT_EQ(run("aten.remainder.Scalar", {half, 0.7}, HostType::Float16, {1}).numbers,
            (Numbers{0}));
  // An integer array beside a float number is f32: 16777217 is none.
  EXPECT_EQ(
      run("aten.eq.Scalar", {ints({1}, {16777217}), 16777216.0}, HostType::Bool, {1}).integers,
      (Integers{1}));
  // Quotients of f32: 0.9f / 0.1f is not 9 in double.
  float nine = 9 * 0.1f;
  EXPECT_EQ(run("aten.div.Tensor_mode",
                {floats({1}, {nine}), floats({1}, {0.1f}), std::string("trunc")}, HostType::Float32,
                {1})
                .numbers[0],
            std::trunc(nine / 0.1f));
}

TEST(Evaluate, IntegersStayExactAndWrap) {
  int64_t large = (int64_t(1) << 62) + 1;
  EXPECT_EQ(run("aten.neg", {ints({1}, {large})}, HostType::Int64, {1}).integers[0], -large);
  EXPECT_EQ(run("aten.remainder.Scalar", {ints({1}, {large}), int64_t(1001)}, HostType::Int64, {1})
                .integers[0],
            large % 1001);
  EXPECT_EQ(run("aten.floor_divide", {ints({2}, {-large, large}), int64_t(2)}, HostType::Int64, {2})
                .integers,
            (Integers{-(int64_t(1) << 61) - 1, int64_t(1) << 61}));
  EXPECT_EQ(run("aten.pow.Tensor_Scalar", {ints({2}, {3, -2}), int64_t(39)}, HostType::Int64, {2})
                .integers,
            (Integers{4052555153018976267, -(int64_t(1) << 39)}));
  EXPECT_EQ(run("aten.clamp", {ints({3}, {-large, 0, large}), int64_t(-5), int64_t(large - 1)},
                HostType::Int64, {3})
                .integers,
            (Integers{-5, 0, large - 1}));
  EXPECT_EQ(run("aten.sub.Scalar", {ints({1}, {0}, HostType::UInt8), int64_t(3), int64_t(1)},
                HostType::UInt8, {1})
                .integers[0],
            253);
  EXPECT_EQ(run("aten.cumsum", {floats({3}, {0.7, 0.7, 1.7}), int64_t(0), int64_t(4)},
                HostType::Int64, {3})
                .integers,
            (Integers{0, 0, 1}));
  EXPECT_EQ(
      whyNot("aten.remainder.Scalar", {ints({1}, {1}), int64_t(0)}, HostType::Int64, {1}),
      "'aten.remainder.Scalar': an integer is divided by zero, or raised to a negative power");
}

TEST(Evaluate, Selection) {
  Array mask = ints({2, 2}, {1, 0, 0, 1}, HostType::Bool);
  EXPECT_EQ(run("aten.where.self", {mask, floats({}, {5}), floats({2}, {1, 2})}, HostType::Float32,
                {2, 2})
                .numbers,
            (Numbers{5, 2, 1, 5}));
  EXPECT_EQ(run("aten.masked_fill.Scalar", {floats({2, 2}, {1, 2, 3, 4}), mask, -INFINITY},
                HostType::Float32, {2, 2})
                .numbers,
            (Numbers{-INFINITY, 2, 3, -INFINITY}));
  EXPECT_EQ(
      run("aten.tril", {ints({2, 3}, {1, 2, 3, 4, 5, 6}), int64_t(-1)}, HostType::Int64, {2, 3})
          .integers,
      (Integers{0, 0, 0, 4, 0, 0}));
  EXPECT_EQ(
      run("aten.triu", {ints({2, 3}, {1, 2, 3, 4, 5, 6}), int64_t(1)}, HostType::Int64, {2, 3})
          .integers,
      (Integers{0, 2, 3, 0, 0, 6}));
}

TEST(Evaluate, Movement) {
  Array x = ints({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run("aten.permute", {x, Integers{1, 0}}, HostType::Int64, {3, 2}).integers,
            (Integers{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(
      run("aten.transpose.int", {x, int64_t(-1), int64_t(0)}, HostType::Int64, {3, 2}).integers,
      (Integers{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(run("aten.slice.Tensor", {x, int64_t(1), int64_t(0), int64_t(9), int64_t(2)},
                HostType::Int64, {2, 2})
                .integers,
            (Integers{1, 3, 4, 6}));
  EXPECT_EQ(run("aten.select.int", {x, int64_t(1), int64_t(-1)}, HostType::Int64, {2}).integers,
            (Integers{3, 6}));
  EXPECT_EQ(run("aten.flip", {x, Integers{0, 1}}, HostType::Int64, {2, 3}).integers,
            (Integers{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(
      run("aten.expand", {ints({2, 1}, {7, 8}), Integers{2, 2}}, HostType::Int64, {2, 2}).integers,
      (Integers{7, 7, 8, 8}));
  EXPECT_EQ(run("aten.cat", {std::vector<Array>{x, ints({2, 1}, {9, 9})}, int64_t(1)},
                HostType::Int64, {2, 4})
                .integers,
            (Integers{1, 2, 3, 9, 4, 5, 6, 9}));
  EXPECT_EQ(run("aten.stack",
                {std::vector<Array>{ints({2}, {1, 2}), ints({2}, {3, 4})}, int64_t(1)},
                HostType::Int64, {2, 2})
                .integers,
            (Integers{1, 3, 2, 4}));
  EXPECT_EQ(run("aten.cumsum", {x, int64_t(0)}, HostType::Int64, {2, 3}).integers,
            (Integers{1, 2, 3, 5, 7, 9}));
  EXPECT_EQ(run("prims.convert_element_type", {floats({3}, {1.5, -1.5, 0}), int64_t(4)},
                HostType::Int64, {3})
                .integers,
            (Integers{1, -1, 0}));
  EXPECT_EQ(run("aten.to.dtype", {floats({2}, {0.5, 0})}, HostType::Bool, {2}).integers,
            (Integers{1, 0}));
}

TEST(Evaluate, Refuses) {
  EXPECT_EQ(whyNot("aten.bernoulli", {}, HostType::Float32, {1}),
            "'aten.bernoulli' cannot be computed on the host");
  EXPECT_EQ(whyNot("aten.tril", {Unknown{}, int64_t(0)}, HostType::Float32, {2, 2}),
            "'aten.tril': argument #0 is no known array");
  EXPECT_EQ(whyNot("aten.view", {ints({2}, {1, 2})}, HostType::Int64, {3}),
            "'aten.view': the result has another number of elements");
  EXPECT_EQ(whyNot("aten.slice.Tensor",
                   {ints({2}, {1, 2}), int64_t(0), int64_t(1), int64_t(2), int64_t(1)},
                   HostType::Int64, {2}),
            "'aten.slice.Tensor': the result has the shape [1], not [2]");
  EXPECT_EQ(whyNot("aten.permute", {ints({2}, {1, 2}), Integers{3}}, HostType::Int64, {2}),
            "'aten.permute': dim 3 does not exist in a tensor of rank 1");
}

/// Every number of a small format, what lies between neighbours, and what lies beyond.
TEST(Evaluate, RoundsAndStoresAsTheFormatsSay) {
  struct Case {
    HostType dtype;
    const SmallFloat &format;
  };
  for (auto [dtype, format] :
       {Case{HostType::Float16, kBinary16}, Case{HostType::BFloat16, kBFloat16},
        Case{HostType::Float8E4M3FN, kE4M3FN}, Case{HostType::Float8E5M2, kE5M2},
        Case{HostType::Float8E4M3FNUZ, kE4M3FNUZ}, Case{HostType::Float8E5M2FNUZ, kE5M2FNUZ}}) {
    int64_t codes = int64_t(1) << (8 * getWidthInBytes(dtype));
    std::vector<char> bytes(codes * getWidthInBytes(dtype)), back(bytes.size());
    for (int64_t code = 0; code < codes; ++code)
      std::memcpy(&bytes[code * getWidthInBytes(dtype)], &code, getWidthInBytes(dtype));
    Array all = fromBytes(dtype, {codes}, bytes.data());
    toBytes(all, back.data());
    for (int64_t code = 0; code < codes; ++code) {
      double value = decodeSmallFloat(format, static_cast<uint16_t>(code));
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(all.numbers[code]));
        continue;
      }
      ASSERT_EQ(all.numbers[code], value) << code;
      ASSERT_EQ(std::signbit(all.numbers[code]), std::signbit(value)) << code;
      ASSERT_EQ(std::memcmp(&bytes[code * getWidthInBytes(dtype)],
                            &back[code * getWidthInBytes(dtype)], getWidthInBytes(dtype)),
                0)
          << code;
      for (double factor : {1.0, 1 + 0x1p-11, 1 + 0x1p-8, 1 + 0x1p-4, 1 - 0x1p-5, 1.03, 1.5}) {
        double scaled = value * factor;
        // PyTorch's cast to this one saturates.
        bool saturates = dtype == HostType::Float8E4M3FN;
        double wanted = decodeSmallFloat(format, encodeSmallFloat(format, scaled, saturates));
        double rounded = roundTo(dtype, scaled);
        ASSERT_TRUE(rounded == wanted || (std::isnan(rounded) && std::isnan(wanted)))
            << scaled << ": " << rounded << ", not " << wanted;
      }
    }
  }
}

TEST(Evaluate, EmptyShapes) {
  EXPECT_TRUE(run("aten.zeros", {}, HostType::Float32, {0, 3}).numbers.empty());
  EXPECT_EQ(run("aten.cat", {std::vector<Array>{ints({0}, {}), ints({2}, {1, 2})}, int64_t(0)},
                HostType::Int64, {2})
                .integers,
            (Integers{1, 2}));
}
} // namespace
