//===- OpFuncRulesTest.cpp - Tails and arrangements -------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tail rules are compared with what the operation computes on sample values of
// each state: a promised state must hold for every combination of samples. The
// arrangement rules are those of the device facts.
//
//===----------------------------------------------------------------------===//

#include "OpFuncFunctions.h"

#include "spyre/Numerics/DL16.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <vector>

using namespace spyre;
using namespace spyre::test;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kMax = float(kDL16MaxFinite), kTiny = float(kDL16SmallestNormal);

/// Values that a lane of that state may hold.
const std::vector<float> &samples(TailState state) {
  static const std::vector<float> all[] = {
      {0.0f, -0.0f},
      {-kInf},
      {kInf},
      {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, -3.25f, 100.0f, -100.0f, kMax, -kMax, kTiny, -kTiny},
      {0.0f, 1.0f, -7.0f, kMax, kInf, -kInf}};
  return all[static_cast<size_t>(state)];
}

bool holds(TailState state, float value) {
  switch (state) {
  case TailState::Zero:
    return value == 0;
  case TailState::NegInf:
    return value == -kInf;
  case TailState::PosInf:
    return value == kInf;
  case TailState::Finite:
    return std::isfinite(value);
  case TailState::Unknown:
    return true;
  }
  return false;
}

constexpr TailState kStates[] = {TailState::Zero, TailState::NegInf, TailState::PosInf,
                                 TailState::Finite, TailState::Unknown};

/// Calls \p visit with every combination of one sample an operand.
void forEachSample(const std::vector<TailState> &states, std::vector<float> &values,
                   const std::function<void()> &visit) {
  if (values.size() == states.size())
    return visit();
  for (float sample : samples(states[values.size()])) {
    values.push_back(sample);
    forEachSample(states, values, visit);
    values.pop_back();
  }
}

void forEachState(size_t count, std::vector<TailState> &states,
                  const std::function<void()> &visit) {
  if (states.size() == count)
    return visit();
  for (TailState state : kStates) {
    states.push_back(state);
    forEachState(count, states, visit);
    states.pop_back();
  }
}

TEST(TailTest, PromisedStatesHoldForWhatIsComputed) {
  for (const auto &[name, function] : functions()) {
    SCOPED_TRACE(name);
    const OpFuncInfo *info = lookupOpFunc(name);
    ASSERT_TRUE(info);
    std::vector<TailState> states;
    forEachState(static_cast<size_t>(info->numInputs), states, [&] {
      std::vector<TailOperand> operands;
      for (TailState state : states)
        operands.push_back({state, false});
      TailState promised = getProducedTail(*info, operands);
      std::vector<float> values;
      forEachSample(states, values, [&] {
        float result = roundToDL16(function(values));
        EXPECT_TRUE(holds(promised, result))
            << getName(promised) << " promised, computed " << result << " from "
            << ::testing::PrintToString(values);
      });
    });
  }
}

TailState produced(std::string_view name, std::vector<TailOperand> inputs) {
  return getProducedTail(*lookupOpFunc(name), inputs);
}

constexpr TailOperand kZero{TailState::Zero, false}, kFinite{TailState::Finite, false},
    kNegInf{TailState::NegInf, false}, kUnknown{TailState::Unknown, false},
    kBroadcast{TailState::Unknown, true};

TEST(TailTest, UsefulStatesArePromised) {
  EXPECT_EQ(produced("mul", {kZero, kFinite}), TailState::Zero);
  EXPECT_EQ(produced("mul", {kZero, kBroadcast}), TailState::Zero);
  EXPECT_EQ(produced("mul", {kZero, kUnknown}), TailState::Unknown);
  EXPECT_EQ(produced("relufwd", {kZero}), TailState::Zero);
  EXPECT_EQ(produced("add", {kZero, kZero}), TailState::Zero);
  EXPECT_EQ(produced("sub", {kZero, kBroadcast}), TailState::Finite);
  EXPECT_EQ(produced("where3", {kZero, kUnknown, kZero}), TailState::Zero);
  EXPECT_EQ(produced("maximum", {kNegInf, kZero}), TailState::Zero);
  EXPECT_EQ(produced("batchmatmul", {kUnknown, kZero}), TailState::Zero);
  EXPECT_EQ(produced("layernormnorm", {kZero, kBroadcast, kBroadcast, kZero, kZero}),
            TailState::Zero);
  EXPECT_EQ(produced("maxnonstick", {kNegInf}), TailState::NegInf);
}

TEST(TailTest, SoftmaxOfUnalignedRows) {
  // A tail of -inf on x goes through softmax to zero, which a matmul needs.
  TailState x = produced("sub", {kNegInf, kBroadcast});
  EXPECT_EQ(x, TailState::NegInf);
  x = produced("exp", {{x, false}});
  EXPECT_EQ(x, TailState::Zero);
  EXPECT_EQ(produced("realdiv", {{x, false}, kBroadcast}), TailState::Zero);
  // A tail of zero does not: 0 - max may be large, and exp overflows.
  x = produced("sub", {kZero, kBroadcast});
  EXPECT_EQ(produced("exp", {{x, false}}), TailState::Unknown);
  EXPECT_EQ(lookupOpFunc("exp")->maskTail, TailState::NegInf);
}

TEST(TailTest, SufficiencyAndJoin) {
  EXPECT_TRUE(isTailSufficient(TailState::Zero, TailState::Finite));
  EXPECT_FALSE(isTailSufficient(TailState::Finite, TailState::Zero));
  EXPECT_TRUE(isTailSufficient(TailState::PosInf, TailState::Unknown));
  EXPECT_FALSE(isTailSufficient(TailState::Unknown, TailState::NegInf));
  EXPECT_EQ(joinTails(TailState::Zero, TailState::Finite), TailState::Finite);
  EXPECT_EQ(joinTails(TailState::NegInf, TailState::PosInf), TailState::Unknown);
  EXPECT_EQ(joinTails(TailState::NegInf, TailState::NegInf), TailState::NegInf);
}

TEST(TailTest, ReductionsNeedTheirNeutralElement) {
  EXPECT_EQ(lookupOpFunc("sum")->requiredTails[0], TailState::Zero);
  EXPECT_EQ(lookupOpFunc("mean")->requiredTails[0], TailState::Zero);
  EXPECT_EQ(lookupOpFunc("exx2")->requiredTails[0], TailState::Zero);
  EXPECT_EQ(lookupOpFunc("max")->requiredTails[0], TailState::NegInf);
  EXPECT_EQ(lookupOpFunc("min")->requiredTails[0], TailState::PosInf);
  EXPECT_EQ(lookupOpFunc("sumnonstick")->requiredTails[0], TailState::Unknown);
  EXPECT_EQ(lookupOpFunc("batchmatmul")->requiredTails[0], TailState::Finite);
  EXPECT_EQ(lookupOpFunc("batchmatmul")->requiredTails[1], TailState::Zero);
}

std::string arrange(std::string_view name, std::vector<ArrangementOperand> inputs) {
  auto result = getProducedArrangement(*lookupOpFunc(name), inputs);
  if (auto *arrangement = std::get_if<Arrangement>(&result))
    return std::string(getName(*arrangement));
  return "error: " + std::get<std::string>(result);
}

constexpr ArrangementOperand kStandard{Arrangement::Standard, false},
    kStaggered{Arrangement::DL16ToFP32, false}, kNarrowed{Arrangement::FP32ToDL16, false},
    kExx2{Arrangement::Exx2, false}, kOneValue{Arrangement::Standard, true};

TEST(ArrangementTest, Casts) {
  EXPECT_EQ(arrange("dl16tofp32", {kStandard}), "dl16_to_fp32");
  EXPECT_EQ(arrange("dl16tofp32", {kNarrowed}), "standard");
  EXPECT_EQ(arrange("fp32todl16", {kStaggered}), "standard");
  EXPECT_EQ(arrange("fp32todl16", {kStandard}), "fp32_to_dl16");
  EXPECT_EQ(arrange("dl16tofp32", {kStaggered}),
            "error: 'dl16tofp32' needs input 0 standard or fp32_to_dl16, not dl16_to_fp32");
  EXPECT_EQ(arrange("qfp8ch", {kStandard}), "qfp8ch");
  EXPECT_EQ(arrange("fp8todl16", {{Arrangement::QFP8Ch, false}}), "standard");
}

TEST(ArrangementTest, PointwiseNeedsEqualOrders) {
  EXPECT_EQ(arrange("exp", {kStaggered}), "dl16_to_fp32");
  EXPECT_EQ(arrange("add", {kStaggered, kStaggered}), "dl16_to_fp32");
  EXPECT_EQ(arrange("mul", {kStaggered, kOneValue}), "dl16_to_fp32");
  EXPECT_EQ(arrange("mul", {kOneValue, kStaggered}), "dl16_to_fp32");
  EXPECT_EQ(arrange("add", {kStaggered, kStandard}),
            "error: 'add' needs input 1 in the order of the others, dl16_to_fp32, not standard");
  EXPECT_EQ(
      arrange("add", {kStaggered, kNarrowed}),
      "error: 'add' needs input 1 in the order of the others, dl16_to_fp32, not fp32_to_dl16");
  EXPECT_EQ(arrange("add", {kExx2, kStandard}),
            "error: 'add' needs input 0 in an order that has one value a lane, not exx2");
  EXPECT_EQ(arrange("where3", {kStandard, kStandard, kStaggered}),
            "error: 'where3' needs input 2 in the order of the others, standard, not dl16_to_fp32");
}

TEST(ArrangementTest, ReductionsAndNorms) {
  EXPECT_EQ(arrange("sum", {kStaggered}), "standard");
  EXPECT_EQ(arrange("sumnonstick", {kStaggered}), "dl16_to_fp32");
  EXPECT_EQ(arrange("exx2", {kStaggered}), "exx2");
  EXPECT_EQ(arrange("layernormscale", {kExx2}), "standard");
  EXPECT_EQ(arrange("layernormscale", {kStandard}),
            "error: 'layernormscale' needs input 0 exx2, not standard");
  EXPECT_EQ(arrange("layernormnorm", {kStaggered, kExx2, kOneValue, kStaggered, kStaggered}),
            "dl16_to_fp32");
  EXPECT_EQ(arrange("layernormnorm", {kStaggered, kExx2, kOneValue, kStandard, kStandard}),
            "error: 'layernormnorm' needs input 3 in the order of the others, dl16_to_fp32, not "
            "standard");
  EXPECT_EQ(arrange("batchmatmul", {kStaggered, kStandard}),
            "error: 'batchmatmul' needs input 0 standard, not dl16_to_fp32");
  EXPECT_EQ(arrange("ReStickifyOpHBM", {kStandard}), "standard");
}

} // namespace
