//===- OpFuncLawsTest.cpp - Algebra of the device operations ----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The laws, error factors, combiners and bodies of the OpFunc table against what the
// operations compute, on random numbers. Where the table claims nothing, the law must
// fail somewhere: a fact that is left out would cost a plan without anybody noticing.
//
//===----------------------------------------------------------------------===//

#include "OpFuncFunctions.h"

#include "spyre/OpFunc/OpFuncTable.h"

#include <gtest/gtest.h>

#include <random>

using namespace spyre;
using namespace spyre::test;

namespace {

using Values = std::vector<float>;

bool isClose(double a, double b) {
  return std::fabs(a - b) <= 1e-3 * (1 + std::fabs(a) + std::fabs(b));
}

/// True if \p change of the operands, by a number c, changes the result as \p expected says,
/// for random operands of which some are negative, and positive c; it gets the operands, too, as
/// they were.
bool obeys(const Function &function, size_t numInputs,
           const std::function<void(Values &, float)> &change,
           const std::function<double(double, float, const Values &)> &expected,
           bool hasZeros = false) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-4, 4), positive(0.25f, 3);
  for (int round = 0; round < 200; ++round) {
    Values values(numInputs);
    // Now and then two operands are equal, or (the condition of a choice) one is zero.
    for (float &value : values)
      value = random() % 4 ? number(random) : hasZeros && random() % 2 ? 0.0f : 1.5f;
    float c = positive(random);
    const Values old = values;
    double before = function(values);
    change(values, c);
    double after = function(values);
    if (std::isnan(before) != std::isnan(after) ||
        (!std::isnan(before) && !isClose(after, expected(before, c, old))))
      return false;
  }
  return true;
}

TEST(LawTest, ShiftsOfTheFirstOperand) {
  for (const auto &[name, function] : functions()) {
    const OpFuncInfo &info = *lookupOpFunc(name);
    auto change = [](Values &values, float c) { values[0] += c; };
    auto numInputs = static_cast<size_t>(info.numInputs);
    bool shifts =
        obeys(function, numInputs, change, [](double y, float c, const Values &) { return y + c; });
    bool scales = obeys(function, numInputs, change,
                        [](double y, float c, const Values &) { return y * std::exp(c); });
    bool addsOther =
        numInputs == 2 && obeys(function, numInputs, change,
                                [](double y, float c, const Values &x) { return y + c * x[1]; });
    EXPECT_EQ(info.shiftLaw == ShiftLaw::AddOther, addsOther) << name;
    EXPECT_EQ(info.shiftLaw == ShiftLaw::ScaleByExp, scales) << name;
    // Casts shift in exact arithmetic only, which is nothing that a plan could use.
    if (info.category != OpCategory::Quantisation)
      EXPECT_EQ(info.shiftLaw == ShiftLaw::Shift, shifts) << name;
  }
}

TEST(LawTest, ShiftsOfTheSecondOperand) {
  for (const auto &[name, function] : functions()) {
    const OpFuncInfo &info = *lookupOpFunc(name);
    auto numInputs = static_cast<size_t>(info.numInputs);
    if (numInputs < 2)
      continue;
    auto change = [](Values &values, float c) { values[1] += c; };
    bool shifts = obeys(
        function, numInputs, change, [](double y, float c, const Values &) { return y + c; },
        /*hasZeros=*/true);
    bool shiftsBack = obeys(
        function, numInputs, change, [](double y, float c, const Values &) { return y - c; },
        /*hasZeros=*/true);
    bool addsOther =
        numInputs == 2 && obeys(function, numInputs, change,
                                [](double y, float c, const Values &x) { return y + c * x[0]; });
    EXPECT_EQ(info.secondShiftLaw == ShiftLaw::AddOther, addsOther) << name;
    EXPECT_EQ(info.secondShiftLaw == ShiftLaw::Shift, shifts) << name;
    EXPECT_EQ(info.secondShiftLaw == ShiftLaw::ShiftBack, shiftsBack) << name;
  }
}

TEST(LawTest, ScalingOfOperands) {
  for (const auto &[name, function] : functions()) {
    const OpFuncInfo &info = *lookupOpFunc(name);
    auto numInputs = static_cast<size_t>(info.numInputs);
    auto scales = [&](size_t begin, size_t end) {
      return obeys(
          function, numInputs,
          [&](Values &values, float c) {
            for (size_t i = begin; i < end; ++i)
              values[i] *= c;
          },
          [](double y, float c, const Values &) { return y * c; });
    };
    bool first = scales(0, 1), last = scales(numInputs - 1, numInputs), all = scales(0, numInputs);
    switch (info.scaleLaw) {
    case ScaleLaw::None:
      EXPECT_TRUE(info.category == OpCategory::Quantisation || (!first && !all)) << name;
      break;
    case ScaleLaw::First:
      EXPECT_TRUE(first && (numInputs == 1 || !last)) << name;
      break;
    case ScaleLaw::Each:
      EXPECT_TRUE(first && last) << name;
      break;
    case ScaleLaw::All:
      EXPECT_TRUE(all && !first) << name;
      break;
    }
  }
}

TEST(LawTest, ErrorFactors) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> exponent(-12, 6);
  for (const auto &[name, function] : functions()) {
    const OpFuncInfo &info = *lookupOpFunc(name);
    if (!info.errorFactor)
      continue;
    ASSERT_EQ(info.numInputs, 1) << name;
    double largest = 0;
    for (int round = 0; round < 4000; ++round) {
      // Of the program's f32 numbers; a change of 2^-10 is what DL16 makes.
      float x = std::exp2(exponent(random)) * (random() % 2 ? 1 : -1);
      double y = function({x}), moved = function({x * (1 + 0x1p-10f)});
      if (std::isfinite(y) && std::isfinite(moved) && y != 0)
        largest = std::max(largest, std::fabs(moved / y - 1) * 0x1p10);
    }
    if (std::isinf(*info.errorFactor))
      EXPECT_GT(largest, 4) << name;
    else
      EXPECT_LE(largest, *info.errorFactor * 1.02) << name;
  }
}

double combine(Combiner combiner, double a, double b) {
  switch (combiner) {
  case Combiner::Add:
    return a + b;
  case Combiner::Maximum:
    return std::fmax(a, b);
  case Combiner::Minimum:
    return std::fmin(a, b);
  case Combiner::None:
    break;
  }
  ADD_FAILURE() << "no combiner";
  return 0;
}

TEST(LawTest, ReductionsSayHowTheyCombine) {
  for (const OpFuncInfo &info : getOpFuncTable()) {
    bool reduces =
        info.category == OpCategory::Reduction || info.category == OpCategory::Batchmatmul;
    if (!info.specified)
      continue;
    EXPECT_EQ(info.combiner != Combiner::None, reduces) << info.name;
    EXPECT_EQ(info.neutral.has_value(), reduces) << info.name;
    if (!reduces)
      continue;
    for (double number : {0.0, 1.5, -3.0, 1e30, -1e30})
      EXPECT_EQ(combine(info.combiner, *info.neutral, number), number) << info.name;
    // What padding must hold, or a mask puts there, is the same number.
    if (info.maskTail)
      EXPECT_EQ(*info.maskTail, std::isinf(*info.neutral)
                                    ? (*info.neutral < 0 ? TailState::NegInf : TailState::PosInf)
                                    : TailState::Zero)
          << info.name;
  }
}

TEST(LawTest, WhatKeepsNumbersPassesInfinities) {
  for (const OpFuncInfo &info : getOpFuncTable())
    if (info.keepsNumbers)
      EXPECT_TRUE(info.passesInfinity) << info.name;
  for (std::string_view name : {"add", "sub", "dl16tofp32", "ReStickifyOpHBM", "max"})
    EXPECT_TRUE(lookupOpFunc(name)->passesInfinity) << name;
  for (std::string_view name : {"mul", "exp", "sum", "batchmatmul", "equal"})
    EXPECT_FALSE(lookupOpFunc(name)->passesInfinity) << name;
}

/// The body of \p info on \p inputs; nothing if it has an operation that is not here.
std::optional<double> evaluate(const OpFuncInfo &info, const Values &inputs) {
  using Step = std::function<double(double, double, double)>;
  static const std::map<std::string, Step> steps = {
      {"math.absf", [](double a, double, double) { return std::fabs(a); }},
      {"math.floor", [](double a, double, double) { return std::floor(a); }},
      {"math.log", [](double a, double, double) { return std::log(a); }},
      {"math.tanh", [](double a, double, double) { return std::tanh(a); }},
      {"arith.negf", [](double a, double, double) { return -a; }},
      {"arith.addf", [](double a, double b, double) { return a + b; }},
      {"arith.subf", [](double a, double b, double) { return a - b; }},
      {"arith.mulf", [](double a, double b, double) { return a * b; }},
      {"arith.maximumf", [](double a, double b, double) { return std::fmax(a, b); }},
      {"arith.minimumf", [](double a, double b, double) { return std::fmin(a, b); }},
      {"arith.select", [](double a, double b, double c) { return a != 0 ? b : c; }},
      {"arith.extf", [](double a, double, double) { return a; }},
      {"arith.truncf", [](double a, double, double) { return a; }},
      {"arith.uitofp", [](double a, double, double) { return a; }},
      {"arith.cmpfoeq", [](double a, double b, double) { return a == b; }},
      {"arith.cmpfune", [](double a, double b, double) { return a != b; }},
      {"arith.cmpfoge", [](double a, double b, double) { return a >= b; }},
      {"arith.cmpfogt", [](double a, double b, double) { return a > b; }},
      {"arith.cmpfole", [](double a, double b, double) { return a <= b; }},
      {"arith.cmpfolt", [](double a, double b, double) { return a < b; }},
  };
  // As the functions have them.
  static const std::map<std::string, double> parameters = {{"clipMin", -2}, {"clipMax", 5}};
  std::vector<double> values;
  for (const ScalarNode &node : info.body) {
    switch (node.kind) {
    case ScalarNode::Kind::Input:
      values.push_back(inputs[static_cast<size_t>(node.input)]);
      break;
    case ScalarNode::Kind::Number:
      values.push_back(node.number);
      break;
    case ScalarNode::Kind::Parameter:
      values.push_back(parameters.at(std::string(node.name)));
      break;
    case ScalarNode::Kind::Operation: {
      auto step = steps.find(std::string(node.name) + std::string(node.predicate));
      if (step == steps.end())
        return std::nullopt;
      double operands[3] = {};
      for (size_t i = 0; i < node.operands.size(); ++i)
        operands[i] = values[node.operands[i]];
      values.push_back(step->second(operands[0], operands[1], operands[2]));
      break;
    }
    }
  }
  return values.back();
}

TEST(LawTest, BodiesComputeWhatTheOperationDoes) {
  std::mt19937 random(3);
  int numChecked = 0;
  for (const auto &[name, function] : functions()) {
    const OpFuncInfo &info = *lookupOpFunc(name);
    ASSERT_FALSE(info.body.empty()) << name;
    bool isKnown = false;
    for (int round = 0; round < 300; ++round) {
      Values inputs(static_cast<size_t>(info.numInputs));
      for (float &input : inputs)
        input = static_cast<float>(static_cast<int>(random() % 17) - 8);
      std::optional<double> value = evaluate(info, inputs);
      if (!value)
        break;
      isKnown = true;
      double expected = function(inputs);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(*value)) << name;
      else
        EXPECT_FLOAT_EQ(static_cast<float>(*value), static_cast<float>(expected)) << name;
    }
    numChecked += isKnown;
  }
  EXPECT_GE(numChecked, 20);
}

} // namespace
