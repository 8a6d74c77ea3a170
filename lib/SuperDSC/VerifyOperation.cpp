//===- VerifyOperation.cpp - The rules of each class of operations --------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the OpFunc table says of an operation (unit, inputs, constants, formats,
// stick rule), checked on a descriptor. Operations that are known by name only
// have no rows of formats; what their class tells is checked all the same.
// Source of the rules: docs/formats/superdsc-rules.md, sections 3 and 7.
//
//===----------------------------------------------------------------------===//

#include "VerifyInternal.h"

#include <algorithm>

namespace spyre::sdsc {

namespace {

/// What a mask constant is called in constantInfo_.
constexpr std::string_view kMaskConstant = "samv-maskvalue";

bool isMatmul(const OpFuncInfo &info) { return info.category == OpCategory::Batchmatmul; }

} // namespace

/// Rules 26 to 42.
void Verifier::checkOperation() {
  const OpFuncInfo *info = lookupOpFunc(d.opFunc);
  if (!info) {
    report(26, "operation " + d.opFunc + " is not in the table of operations");
    return;
  }
  bool onArray = info->unit == ExecutionUnit::PT || isMatmul(*info);
  // No public text says on which unit convolutions run.
  bool isOpen =
      info->unit == ExecutionUnit::Unspecified && info->category == OpCategory::Convolution;
  const char *unit = onArray ? "pt" : "sfp";
  if (!isOpen && (d.executionUnit == "pt" || d.executionUnit == "sfp") && d.executionUnit != unit)
    report(27, d.opFunc + " runs on unit " + unit + ", not on " + d.executionUnit);

  if (info->specified) {
    int64_t expected = info->numInputs, found = static_cast<int64_t>(dataInputs.size());
    if (found != expected) {
      std::vector<std::string> names;
      for (unsigned input : dataInputs)
        names.push_back(nameOf(input));
      report(28, "it has " + str(found) + " inputs, " + join(names) + "; " + d.opFunc + " takes " +
                     str(expected));
    }
    bool isListed =
        std::find(d.inputs.begin(), d.inputs.end(), d.outputs.front()) != d.inputs.end();
    if (isListed != info->outputIsInput)
      report(28,
             info->outputIsInput ? "a reduction lists its output among its inputs too"
                                 : "the output is listed as an input, which only reductions do",
             static_cast<int>(d.outputs.front()));
    checkConstants(*info);
    if (found == expected)
      checkForms(*info);
  }
  if (!info->divisible && d.numCores != 1)
    report(38, d.opFunc + " runs on one core, not on " + str(d.numCores));

  for (unsigned i = 0; i < d.tensors.size(); ++i)
    if (!views[i].layout)
      return; // rule 5 says so; the sticks cannot be compared
  switch (info->stickRule) {
  case StickRule::Pointwise:
    return checkPointwise(info->costClass == CostClass::Shuffle);
  case StickRule::StickReduction:
  case StickRule::NonStickReduction:
    return checkReduction(*info);
  case StickRule::Matmul:
  case StickRule::Matmul8:
    return checkMatmul();
  case StickRule::TopK:
    return checkTopK();
  case StickRule::Normalisation:
    return checkNormalisation();
  case StickRule::Cast:
    return checkCast(*info);
  case StickRule::Restickify:
    return checkRestickify();
  case StickRule::Unspecified:
    break;
  }
  // Known by name only: the class says as much.
  switch (info->category) {
  case OpCategory::Unary:
  case OpCategory::Broadcast:
    return checkPointwise(/*isShuffle=*/false);
  case OpCategory::Batchmatmul:
    return checkMatmul();
  case OpCategory::Normalisation:
    return checkNormalisation();
  case OpCategory::Quantisation:
    return checkCast(*info);
  case OpCategory::Reduction:
    if (info->baseName != info->name)
      checkReduction(*info);
    return;
  default:
    return;
  }
}

/// Rule 30.
void Verifier::checkForms(const OpFuncInfo &info) {
  std::vector<DataFormat> formats;
  for (unsigned input : dataInputs)
    formats.push_back(d.tensors[input].format);
  if (std::optional<std::string> error = checkForm(info, formats)) {
    report(30, *error);
    return;
  }
  const OpFuncForm &form = *lookupForm(info, formats);
  if (output().format != form.output)
    report(30,
           d.opFunc + " of these inputs gives " + std::string(getFormatName(form.output)) +
               ", not " + std::string(getFormatName(output().format)),
           static_cast<int>(d.outputs.front()));
  if (d.format != form.emittedAs)
    report(30, "the operation is labelled " + std::string(getFormatName(d.format)) + ", not " +
                   std::string(getFormatName(form.emittedAs)));
}

/// Rule 29.
void Verifier::checkConstants(const OpFuncInfo &info) {
  size_t own = info.constants.size();
  for (size_t i = 0; i < own; ++i)
    if (i >= d.constants.size() || d.constants[i].name != info.constants[i])
      report(29, "constant " + str(static_cast<int64_t>(i)) + " of " + d.opFunc + " is " +
                     std::string(info.constants[i]) + ", found " +
                     (i < d.constants.size() ? d.constants[i].name : std::string("none")));
  // The reference front end passes on whatever constants it was given.
  for (size_t i = own; i < d.constants.size(); ++i)
    if (d.constants[i].name != kMaskConstant)
      warn(29, d.opFunc + " has no constant " + d.constants[i].name);
  for (const Constant &constant : d.constants)
    if (constant.format != d.format)
      report(29, "constant " + constant.name + " is " +
                     std::string(getFormatName(constant.format)) + ", the operation " +
                     std::string(getFormatName(d.format)));
}

/// Rules 31, 32 and, for shuffle, its own.
void Verifier::checkPointwise(bool isShuffle) {
  const std::vector<std::string> &stick = outputView().layout->stickDims;
  for (unsigned i = 0; i < d.tensors.size(); ++i) {
    if (isIndexTensor(i))
      continue;
    const View &view = views[i];
    if (view.layout->stickDims != stick)
      report(31,
             "its stick is " + join(view.layout->stickDims) + ", the output's " + join(stick) +
                 "; a ReStickifyOpHBM changes it",
             static_cast<int>(i));
    int64_t present = 0, broadcast = 0;
    for (size_t dim = 0; dim < d.dims.size(); ++dim)
      if (view.isStick[dim])
        ++(view.has(dim) ? present : broadcast);
    if (present && broadcast)
      report(32,
             "only some of the dims of its stick " + join(view.layout->stickDims) +
                 " are broadcast; all or none are",
             static_cast<int>(i));
  }
  if (isShuffle)
    checkShuffle();
}

/// Rules 33, 34.
void Verifier::checkMatmul() {
  if (dataInputs.size() != 2)
    return;
  const View &x = views[dataInputs[0]], &y = views[dataInputs[1]], &out = outputView();
  std::vector<std::string> reduction, generated, preserved, shared;
  for (size_t dim = 0; dim < d.dims.size(); ++dim) {
    const std::string &name = d.dims[dim].name;
    bool inX = x.has(dim), inY = y.has(dim), inOut = out.has(dim);
    if (inX && inY)
      (inOut ? shared : reduction).push_back(name);
    else if (inX && inOut)
      preserved.push_back(name);
    else if (inY && inOut)
      generated.push_back(name);
    else
      report(33,
             "dim " + name +
                 " is in one operand only; a matmul's dim is in both inputs, or in "
                 "one input and the output",
             -1, name);
  }
  if (reduction.size() != 1)
    report(33, str(static_cast<int64_t>(reduction.size())) + " reduction dims " + join(reduction) +
                   " (in both inputs, not in the output); a matmul has one");
  if (generated.size() != 1)
    report(33, str(static_cast<int64_t>(generated.size())) + " generated dims " + join(generated) +
                   " (in input 2 and the output); a matmul has one");
  // The specification's table of dims ends at two; the reference front end's names for a
  // matmul's dims go on, and so do views that the layouts take apart.
  if (preserved.size() > 2)
    warn(33, str(static_cast<int64_t>(preserved.size())) + " preserved dims " + join(preserved) +
                 " (in input 1 and the output); two are the most");
  if (shared.size() > 2)
    warn(33, str(static_cast<int64_t>(shared.size())) + " dims without reuse " + join(shared) +
                 " (in all operands); two are the most");
  if (reduction.size() != 1 || generated.size() != 1)
    return;
  const std::string &k = reduction[0], &n = generated[0];
  int64_t perStick = getElementsPerStick(d.tensors[dataInputs[0]].format);
  switch (perStick) {
  case 128:
    checkMatmulStick(dataInputs[0], {k}, {128});
    checkMatmulStick(dataInputs[1], {k, n}, {2, 64});
    break;
  case 256:
    if (preserved.empty())
      report(34, "the stick of a 4-bit input 1 holds a preserved dim, and there is none",
             static_cast<int>(dataInputs[0]));
    else
      checkMatmulStick(dataInputs[0], {k, preserved[0], k}, {16, 2, 8});
    checkMatmulStick(dataInputs[1], {k, n}, {4, 64});
    break;
  default:
    checkMatmulStick(dataInputs[0], {k}, {perStick});
    checkMatmulStick(dataInputs[1], {n}, {perStick});
  }
  checkMatmulStick(d.outputs.front(), {n}, {getElementsPerStick(output().format)});
}

void Verifier::checkMatmulStick(unsigned index, const std::vector<std::string> &dims,
                                const std::vector<int64_t> &sizes) {
  const LayoutClass &layout = *views[index].layout;
  if (layout.stickDims == dims && layout.stickSizes == sizes)
    return;
  auto text = [](const std::vector<std::string> &names, const std::vector<int64_t> &counts) {
    std::string result = "[";
    for (size_t i = 0; i < names.size(); ++i)
      result += (i ? ", " : "") + names[i] + " " + (i < counts.size() ? str(counts[i]) : "?");
    return result + "]";
  };
  report(34,
         "its stick is " + text(layout.stickDims, layout.stickSizes) + ", a matmul wants " +
             text(dims, sizes),
         static_cast<int>(index), dims[0]);
}

/// Rules 35, 36.
void Verifier::checkReduction(const OpFuncInfo &info) {
  bool alongStick = info.stickRule == StickRule::StickReduction;
  std::vector<size_t> reduced = getReducedDims();
  for (unsigned input : dataInputs) {
    const View &view = views[input];
    for (size_t dim : reduced)
      if (!alongStick && view.isStick[dim])
        report(36,
               "dim " + d.dims[dim].name + " is reduced and in the stick; " + d.opFunc +
                   " reduces other dims",
               static_cast<int>(input), d.dims[dim].name);
    if (!alongStick)
      continue;
    const std::vector<std::string> &stick = view.layout->stickDims;
    std::optional<unsigned> dim = stick.size() == 1 ? d.findDim(stick[0]) : std::nullopt;
    bool isReduced = dim && std::find(reduced.begin(), reduced.end(), *dim) != reduced.end();
    if (!isReduced)
      report(35,
             "its stick is " + join(stick) + "; " + d.opFunc +
                 " wants one reduced dim alone in the stick",
             static_cast<int>(input), stick.empty() ? "" : stick[0]);
    else if (outputView().scale[*dim] != -2)
      report(35,
             "the reduced stick dim " + stick[0] + " has scale " + str(outputView().scale[*dim]) +
                 ", expected -2",
             static_cast<int>(d.outputs.front()), stick[0]);
  }
}

/// Rule 37. k is the dim of the results, the reduced dim that of the input.
void Verifier::checkTopK() {
  for (unsigned i = 0; i < d.tensors.size(); ++i)
    for (size_t dim = 0; dim < d.dims.size(); ++dim) {
      if (!views[i].isStick[dim])
        continue;
      bool inInput = !dataInputs.empty() && views[dataInputs[0]].has(dim);
      if (!inInput || !outputView().has(dim))
        report(37,
               "its stick holds dim " + d.dims[dim].name + ", which is " +
                   (inInput ? "reduced" : "k") + "; neither may be in a stick",
               static_cast<int>(i), d.dims[dim].name);
    }
}

/// Rule 39.
void Verifier::checkNormalisation() {
  const std::vector<std::string> &stick = outputView().layout->stickDims;
  for (unsigned i = 0; i < d.tensors.size(); ++i)
    if (views[i].layout->stickDims != stick || stick.size() != 1)
      report(39,
             "its stick is " + join(views[i].layout->stickDims) +
                 "; only the normalised dim may be in the stick, the same in all operands",
             static_cast<int>(i));
}

/// Rule 42.
void Verifier::checkCast(const OpFuncInfo &info) {
  if (dataInputs.size() != 1)
    return;
  const LayoutClass &in = *views[dataInputs[0]].layout, &out = *outputView().layout;
  int source = static_cast<int>(dataInputs[0]), target = static_cast<int>(d.outputs.front());
  if (in.stickDims.size() != 1) {
    report(42, "its stick is " + join(in.stickDims) + "; a cast's input has one dim in the stick",
           source);
    return;
  }
  const std::string &dim = in.stickDims[0];
  bool is8Bit = getElementsPerStick(output().format) == 128;
  if (is8Bit && info.name.ends_with("mb")) {
    bool fits = out.stickSizes == std::vector<int64_t>{8, 2, 8} && out.stickDims.size() == 3 &&
                out.stickDims[0] == dim && out.stickDims[2] == dim && out.stickDims[1] != dim;
    if (!fits)
      report(42, "its stick is not [" + dim + " 8, another dim 2, " + dim + " 8]", target, dim);
  } else if (is8Bit && info.name.ends_with("wt")) {
    bool fits = out.stickSizes == std::vector<int64_t>{2, 64} && out.stickDims.size() == 2 &&
                out.stickDims[1] == dim && out.stickDims[0] != dim;
    if (!fits)
      report(42, "its stick is not [another dim 2, " + dim + " 64]", target, dim);
  } else if (info.specified || (is8Bit && info.name.ends_with("ch"))) {
    if (out.stickDims != in.stickDims)
      report(42,
             "its stick is " + join(out.stickDims) + ", the input's " + join(in.stickDims) +
                 "; a cast keeps the dim",
             target, dim);
  }
}

/// Rule 41.
void Verifier::checkRestickify() {
  if (dataInputs.size() != 1)
    return;
  const std::vector<std::string> &in = views[dataInputs[0]].layout->stickDims;
  const std::vector<std::string> &out = outputView().layout->stickDims;
  if (in.size() != 1)
    report(41, "its stick is " + join(in) + "; a restickify takes one dim out of the stick",
           static_cast<int>(dataInputs[0]));
  if (out.size() != 1)
    report(41, "its stick is " + join(out) + "; a restickify puts one dim into the stick",
           static_cast<int>(d.outputs.front()));
  if (in.size() == 1 && in == out)
    report(41, "its stick is the input's, " + in[0] + "; there is nothing to restickify",
           static_cast<int>(d.outputs.front()), in[0]);
}

} // namespace spyre::sdsc
