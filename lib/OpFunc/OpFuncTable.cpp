//===- OpFuncTable.cpp - The table of device operations in C++ --*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Look-up in the generated rows, and the rules of tails and arrangements that
// the rows name. Why a tail rule says what it says is written in
// docs/developer/numerics.md, section "Tails".
//
//===----------------------------------------------------------------------===//

#include "spyre/OpFunc/OpFuncTable.h"

#include <algorithm>
#include <cassert>
#include <limits>

using namespace spyre;

namespace {
#define SPYRE_OPFUNC_ROWS
#include "spyre/OpFunc/OpFuncTable.inc"
} // namespace

std::span<const OpFuncInfo> spyre::getOpFuncTable() { return kOpFuncs; }

const OpFuncInfo *spyre::lookupOpFunc(std::string_view name) {
  auto it = std::ranges::lower_bound(kOpFuncs, name, {}, &OpFuncInfo::name);
  return it != std::end(kOpFuncs) && it->name == name ? it : nullptr;
}

const OpFuncInfo &spyre::getOpFuncInfo(OpFunc opFunc) {
  auto index = static_cast<size_t>(opFunc);
  assert(index < std::size(kOpFuncs) && kOpFuncs[index].opFunc == opFunc);
  return kOpFuncs[index];
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

const OpFuncForm *spyre::lookupForm(const OpFuncInfo &info, std::span<const DataFormat> inputs) {
  for (const OpFuncForm &form : info.forms)
    if (std::ranges::equal(form.inputs, inputs))
      return &form;
  return nullptr;
}

static std::string formatList(std::span<const DataFormat> formats) {
  if (!formats.empty() && std::ranges::count(formats, formats[0]) == std::ssize(formats))
    return std::string(getFormatName(formats[0]));
  std::string text;
  for (DataFormat format : formats)
    text += (text.empty() ? "" : ", ") + std::string(getFormatName(format));
  return "(" + text + ")";
}

std::optional<std::string> spyre::checkForm(const OpFuncInfo &info,
                                            std::span<const DataFormat> inputs) {
  std::string name(info.name);
  if (!info.specified)
    return "'" + name + "' has no published meaning";
  if (std::ssize(inputs) != info.numInputs)
    return "'" + name + "' takes " + std::to_string(info.numInputs) + " inputs, got " +
           std::to_string(inputs.size());
  if (lookupForm(info, inputs))
    return std::nullopt;
  std::string known;
  for (const OpFuncForm &form : info.forms)
    known += (known.empty() ? "" : ", ") + formatList(form.inputs);
  return "'" + name + "' has no form for " + formatList(inputs) + "; it has " + known;
}

//===----------------------------------------------------------------------===//
// Tails
//===----------------------------------------------------------------------===//

namespace {

/// A tail state, or a value of the row's own data (of a stick broadcast).
enum class Lane : uint8_t { Zero, NegInf, PosInf, Finite, Unknown, Data };

bool isInf(Lane lane) { return lane == Lane::NegInf || lane == Lane::PosInf; }

TailState toTail(Lane lane) {
  // A datum on its own is finite, or its row promises nothing.
  return lane == Lane::Data ? TailState::Finite : static_cast<TailState>(lane);
}

Lane negate(Lane lane) {
  if (isInf(lane))
    return lane == Lane::NegInf ? Lane::PosInf : Lane::NegInf;
  return lane;
}

TailState addLanes(Lane a, Lane b) {
  if (a == Lane::Unknown || b == Lane::Unknown)
    return TailState::Unknown;
  if (isInf(a) && isInf(b))
    return a == b ? toTail(a) : TailState::Unknown;
  if (isInf(a) || isInf(b))
    return toTail(isInf(a) ? a : b);
  if (a == Lane::Zero)
    return toTail(b);
  if (b == Lane::Zero)
    return toTail(a);
  return TailState::Unknown; // two finite values may overflow
}

TailState multiplyLanes(Lane a, Lane b) {
  auto keepsZero = [](Lane other) {
    return other == Lane::Zero || other == Lane::Finite || other == Lane::Data;
  };
  if ((a == Lane::Zero && keepsZero(b)) || (b == Lane::Zero && keepsZero(a)))
    return TailState::Zero;
  return TailState::Unknown;
}

TailState maximumOfLanes(Lane a, Lane b) {
  if (a == Lane::Unknown || b == Lane::Unknown)
    return TailState::Unknown;
  if (a == Lane::PosInf || b == Lane::PosInf)
    return TailState::PosInf;
  if (a == Lane::NegInf)
    return toTail(b);
  if (b == Lane::NegInf)
    return toTail(a);
  return a == Lane::Zero && b == Lane::Zero ? TailState::Zero : TailState::Finite;
}

TailState negateTail(TailState state) { return toTail(negate(static_cast<Lane>(state))); }

} // namespace

TailState spyre::getProducedTail(const OpFuncInfo &info, std::span<const TailOperand> inputs) {
  assert(std::ssize(inputs) == info.numInputs && "one tail an input");
  auto lane = [&](size_t i) {
    return inputs[i].isStickBroadcast ? Lane::Data : static_cast<Lane>(inputs[i].tail);
  };
  switch (info.tailRule) {
  case TailRule::Map:
    return info.tailMap[static_cast<size_t>(toTail(lane(0)))];
  case TailRule::AlwaysUnknown:
    return TailState::Unknown;
  case TailRule::AlwaysFinite:
    return TailState::Finite;
  case TailRule::Add:
    return addLanes(lane(0), lane(1));
  case TailRule::Sub:
    return addLanes(lane(0), negate(lane(1)));
  case TailRule::Mul:
    return multiplyLanes(lane(0), lane(1));
  case TailRule::Div:
    // A tail divided by a tail may be 0/0; only a datum divides safely.
    if (lane(1) == Lane::Data && lane(0) == Lane::Zero)
      return TailState::Zero;
    if (isInf(lane(1)) &&
        (lane(0) == Lane::Zero || lane(0) == Lane::Finite || lane(0) == Lane::Data))
      return TailState::Zero;
    return TailState::Unknown;
  case TailRule::Maximum:
    return maximumOfLanes(lane(0), lane(1));
  case TailRule::Minimum:
    return negateTail(maximumOfLanes(negate(lane(0)), negate(lane(1))));
  case TailRule::CompareTrue:
    return TailState::Finite;
  case TailRule::CompareFalse:
    return lane(0) == Lane::Zero && lane(1) == Lane::Zero ? TailState::Zero : TailState::Finite;
  case TailRule::Select:
    // The condition's tail chooses; a zero chooses the third operand.
    if (lane(0) == Lane::Zero)
      return toTail(lane(2));
    return joinTails(toTail(lane(1)), toTail(lane(2)));
  case TailRule::Matmul:
    return lane(1) == Lane::Zero ? TailState::Zero : TailState::Unknown;
  case TailRule::LayerNorm:
    return lane(0) == Lane::Zero && lane(3) == Lane::Zero && lane(4) == Lane::Zero
               ? TailState::Zero
               : TailState::Unknown;
  }
  assert(false && "not a TailRule");
  return TailState::Unknown;
}

bool spyre::isTailSufficient(TailState have, TailState need) {
  return need == TailState::Unknown || have == need ||
         (need == TailState::Finite && have == TailState::Zero);
}

bool spyre::areContractionTailsSufficient(const OpFuncInfo &info, TailState x, TailState y) {
  assert(info.category == OpCategory::Batchmatmul && "not a contraction");
  TailState first = info.requiredTails[0], second = info.requiredTails[1];
  return (isTailSufficient(x, first) && isTailSufficient(y, second)) ||
         (isTailSufficient(x, second) && isTailSufficient(y, first));
}

TailState spyre::joinTails(TailState a, TailState b) {
  if (a == b)
    return a;
  auto finite = [](TailState s) { return s == TailState::Zero || s == TailState::Finite; };
  return finite(a) && finite(b) ? TailState::Finite : TailState::Unknown;
}

//===----------------------------------------------------------------------===//
// Arrangements
//===----------------------------------------------------------------------===//

namespace {

using Result = std::variant<Arrangement, std::string>;

std::string describe(const OpFuncInfo &info, size_t input, Arrangement arrangement,
                     const std::string &wanted) {
  return "'" + std::string(info.name) + "' needs input " + std::to_string(input) + " " + wanted +
         ", not " + std::string(getName(arrangement));
}

/// The arrangement that the inputs named in \p which share.
Result combine(const OpFuncInfo &info, std::span<const ArrangementOperand> inputs,
               std::initializer_list<size_t> which) {
  std::optional<Arrangement> shared;
  for (size_t i : which) {
    const ArrangementOperand &operand = inputs[i];
    if (operand.arrangement == Arrangement::Exx2)
      return describe(info, i, operand.arrangement, "in an order that has one value a lane");
    if (operand.isStickBroadcast) {
      if (operand.arrangement != Arrangement::Standard)
        return describe(info, i, operand.arrangement, "standard, for it is one value a stick");
      continue;
    }
    if (shared && *shared != operand.arrangement)
      return describe(info, i, operand.arrangement,
                      "in the order of the others, " + std::string(getName(*shared)));
    shared = operand.arrangement;
  }
  return shared.value_or(Arrangement::Standard);
}

Result combineAll(const OpFuncInfo &info, std::span<const ArrangementOperand> inputs) {
  switch (inputs.size()) {
  case 1:
    return combine(info, inputs, {0});
  case 2:
    return combine(info, inputs, {0, 1});
  default:
    return combine(info, inputs, {0, 1, 2});
  }
}

Result convert(const OpFuncInfo &info, const ArrangementOperand &x, Arrangement fromStandard,
               Arrangement toStandard) {
  if (x.arrangement == toStandard)
    return Arrangement::Standard;
  if (x.arrangement == Arrangement::Standard)
    return fromStandard;
  return describe(info, 0, x.arrangement, "standard or " + std::string(getName(toStandard)));
}

} // namespace

Result spyre::getProducedArrangement(const OpFuncInfo &info,
                                     std::span<const ArrangementOperand> inputs) {
  assert(std::ssize(inputs) == info.numInputs && "one arrangement an input");
  switch (info.arrangementRule) {
  case ArrangementRule::StandardOnly:
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].arrangement != Arrangement::Standard)
        return describe(info, i, inputs[i].arrangement, "standard");
    return Arrangement::Standard;
  case ArrangementRule::Same:
    return combineAll(info, inputs);
  case ArrangementRule::StickReduction:
  case ArrangementRule::ProducesExx2: {
    Result x = combine(info, inputs, {0});
    if (std::holds_alternative<std::string>(x))
      return x;
    return info.arrangementRule == ArrangementRule::ProducesExx2 ? Arrangement::Exx2
                                                                 : Arrangement::Standard;
  }
  case ArrangementRule::FromExx2:
    if (inputs[0].arrangement != Arrangement::Exx2)
      return describe(info, 0, inputs[0].arrangement, "exx2");
    return Arrangement::Standard;
  case ArrangementRule::LayerNorm:
    if (inputs[1].arrangement != Arrangement::Exx2)
      return describe(info, 1, inputs[1].arrangement, "exx2");
    if (inputs[2].arrangement != Arrangement::Standard)
      return describe(info, 2, inputs[2].arrangement, "standard");
    return combine(info, inputs, {0, 3, 4});
  case ArrangementRule::Widen:
    return convert(info, inputs[0], Arrangement::DL16ToFP32, Arrangement::FP32ToDL16);
  case ArrangementRule::Narrow:
    return convert(info, inputs[0], Arrangement::FP32ToDL16, Arrangement::DL16ToFP32);
  case ArrangementRule::WidenFP8:
    return convert(info, inputs[0], Arrangement::Standard, Arrangement::QFP8Ch);
  case ArrangementRule::QuantiseFP8Ch:
    if (inputs[0].arrangement != Arrangement::Standard)
      return describe(info, 0, inputs[0].arrangement, "standard");
    return Arrangement::QFP8Ch;
  case ArrangementRule::Unspecified:
    break;
  }
  return "'" + std::string(info.name) + "' has no published meaning";
}
