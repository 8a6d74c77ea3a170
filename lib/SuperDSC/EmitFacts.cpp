//===- EmitFacts.cpp - What the emission asks about an operation ----------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules (docs/formats/superdsc-rules.md, e.2) fall into a few categories; the OpFunc
// table says which one an operation belongs to.
//
//===----------------------------------------------------------------------===//

#include "EmitInternal.h"

#include "spyre/OpFunc/OpFuncTable.h"

#include <limits>

namespace spyre::sdsc {

static double getMaskValue(const OpFuncInfo &info) {
  switch (info.maskTail.value_or(TailState::Zero)) {
  case TailState::NegInf:
    return -std::numeric_limits<double>::infinity();
  case TailState::PosInf:
    return std::numeric_limits<double>::infinity();
  default:
    return 0;
  }
}

std::variant<EmitFacts, std::string> getEmitFacts(const std::string &opFunc) {
  const OpFuncInfo *info = lookupOpFunc(opFunc);
  if (!info)
    return "the OpFunc table has no operation called '" + opFunc + "'";
  if (!info->specified)
    return "the operation '" + opFunc + "' is known by name only; its meaning is not public";
  EmitFacts facts;
  facts.executionUnit = info->unit == ExecutionUnit::PT ? "pt" : "sfp";
  facts.numInputs = info->numInputs;
  facts.outputIsInput = info->outputIsInput;
  for (std::string_view constant : info->constants)
    facts.constants.emplace_back(constant);
  facts.needsPairs = info->stickRule == StickRule::Matmul8;
  facts.maskValue = getMaskValue(*info);
  facts.hasNonStickForm = lookupOpFunc(opFunc + "nonstick") != nullptr;
  switch (info->stickRule) {
  case StickRule::StickReduction:
  case StickRule::NonStickReduction:
    facts.category = EmitCategory::Reduction;
    break;
  case StickRule::TopK:
    facts.category = EmitCategory::Scan;
    break;
  case StickRule::Matmul:
  case StickRule::Matmul8:
    facts.category = EmitCategory::Matmul;
    break;
  case StickRule::Cast:
    facts.category = EmitCategory::Cast;
    break;
  case StickRule::Restickify:
    facts.category = EmitCategory::Restickify;
    break;
  default:
    // exx2 is a normalisation by its stick rule and a reduction by its operands.
    facts.category = info->outputIsInput ? EmitCategory::Reduction : EmitCategory::Pointwise;
    break;
  }
  return facts;
}

} // namespace spyre::sdsc
