//===- VerifyTest.cpp - The numbered rules of a descriptor ----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference's descriptors keep the rules. Then, rule by rule: a descriptor
// that keeps it (one of the reference's, or one changed to use what the reference
// never does) and the same with one fault, which is reported with tensor and dim.
//
//===----------------------------------------------------------------------===//

#include "ReferenceData.h"

#include "spyre/SuperDSC/DescriptorJson.h"
#include "spyre/SuperDSC/DeviceLimits.h"
#include "spyre/SuperDSC/Standard.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

using namespace spyre::sdsc;

namespace {

Descriptor load(const std::string &text) {
  auto result = readDescriptor(text, "");
  EXPECT_TRUE(std::holds_alternative<Descriptor>(result));
  return std::get<Descriptor>(result);
}

const Descriptor &loadCase(const std::string &name) {
  static std::map<std::string, Descriptor> cache;
  auto it = cache.find(name);
  if (it == cache.end())
    it =
        cache
            .emplace(name, load(test::readFile(test::getDataDir() / "superdsc" / (name + ".json"))))
            .first;
  return it->second;
}

Limits getSpyreLimits() { return getLimits(*spyre::Device::lookup("spyre")); }

std::string toText(const std::vector<Violation> &violations, const Descriptor &descriptor) {
  std::string text;
  for (const Violation &violation : violations)
    text += toString(violation, descriptor) + "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// The reference data
//===----------------------------------------------------------------------===//

/// Calls \p fn with the name and text of each of the reference's descriptors, and its case.
template <typename Fn> void forEachReference(Fn fn) {
  nlohmann::ordered_json operations = test::loadRandomOps();
  for (const auto &[name, text] : test::getAllDescriptors())
    fn(name, text,
       name.rfind("random_ops ", 0) == 0
           ? operations[std::stoul(name.substr(11))]["case"]
           : test::loadCaseJson(std::filesystem::path(name).parent_path()));
}

TEST(SdscVerify, ReferenceDescriptorsKeepTheRules) {
  Limits limits = getSpyreLimits();
  int faulty = 0, clean = 0;
  forEachReference([&](const std::string &name, const std::string &text,
                       const nlohmann::ordered_json &caseJson) {
    Descriptor descriptor = load(text);
    std::vector<Violation> violations = verifyDescriptor(descriptor, limits);
    bool isExecutable = !caseJson.is_object() || caseJson.value("executable", true);
    std::erase_if(violations, [&](const Violation &violation) {
      // Cases that cannot run have LX addresses that were drawn at random.
      return violation.isWarning || (violation.rule == 25 && !isExecutable);
    });
    if (test::isFaulty(caseJson)) {
      faulty += !violations.empty();
      return;
    }
    ++clean;
    EXPECT_EQ(toText(violations, descriptor), "") << name;
  });
  EXPECT_GE(clean, 400);
  // One-dimensional fp8 sticks (fault 8).
  EXPECT_GE(faulty, 1);
}

TEST(SdscStandard, PartialSticksOfCastsArePadded) {
  Limits limits = getSpyreLimits();
  int padded = 0;
  forEachReference([&](const std::string &name, const std::string &text,
                       const nlohmann::ordered_json &caseJson) {
    const Descriptor descriptor = load(text);
    Descriptor whole = descriptor;
    padPartialSticks(whole);
    int changed = 0;
    for (size_t i = 0; i < whole.dims.size(); ++i)
      changed += whole.dims[i].size != descriptor.dims[i].size;
    if (changed == 0)
      return;
    ++padded;
    // The same elements of memory, in whole sticks that the folds count.
    for (size_t i = 0; i < whole.dims.size(); ++i) {
      EXPECT_GE(whole.dims[i].size, descriptor.dims[i].size) << name;
      EXPECT_LT(whole.dims[i].size - descriptor.dims[i].size, 128) << name;
    }
    for (const Tensor &tensor : whole.tensors)
      for (const DimCoordinate &coordinate : tensor.coordinates) {
        int64_t product = 1;
        for (const Fold &fold : coordinate.folds)
          product *= fold.factor;
        EXPECT_EQ(product, whole.dims[*whole.findDim(coordinate.dim)].size) << name;
      }
    if (!test::isFaulty(caseJson))
      EXPECT_EQ(toText(verifyDescriptor(whole, limits), whole), "") << name;
  });
  EXPECT_GE(padded, 1);
}

TEST(SdscStandard, WrongFoldsOfCastsStayWrong) {
  Descriptor descriptor = loadCase("cases/cast_dl16tofp32/sdsc_0");
  for (Dim &dim : descriptor.dims)
    if (dim.name == "out") {
      dim.numSlices = 1;
      dim.size = dim.coreSize = 71;
    }
  for (Tensor &tensor : descriptor.tensors)
    for (DimCoordinate &coordinate : tensor.coordinates)
      if (coordinate.dim == "out")
        coordinate.folds[3].factor = 9;
  padPartialSticks(descriptor);
  for (const Tensor &tensor : descriptor.tensors)
    for (const DimCoordinate &coordinate : tensor.coordinates)
      if (coordinate.dim == "out")
        EXPECT_EQ(coordinate.folds[3].factor, 9);
}

//===----------------------------------------------------------------------===//
// Rule by rule
//===----------------------------------------------------------------------===//

using Change = std::function<void(Descriptor &)>;

struct RuleCase {
  int rule;
  std::string base;
  Change fault;
  std::string expected;     ///< a part of the violation's text
  Change prepare = nullptr; ///< from the reference's descriptor to one that keeps the rule
  bool isWarning = false;
};

/// Dim \p name of \p d.
Dim &dimOf(Descriptor &d, const std::string &name) { return d.dims[*d.findDim(name)]; }

const char *const kMatmul = "cases/mm_m4_n2_k4_kfast/sdsc_0";
const char *const kExp = "cases/pw_exp_2d_1c/sdsc_0";
const char *const kAdd = "cases/pw_add_2d_32c/sdsc_0";
const char *const kSum = "cases/red_sum_stick/sdsc_0";
const char *const kRowSum = "cases/red_sum_nonstick/sdsc_0";
const char *const kTopK = "cases/red_topkvalue/sdsc_0";
const char *const kCast = "cases/cast_qfp8ch_1d/sdsc_0";
const char *const kRestickify = "cases/restick_transpose/sdsc_0";
const char *const kNorm = "cases/ln_exx2_scale_norm/sdsc_2";
const char *const kGather = "cases/gather_rows/sdsc_0";
const char *const kSymbolic = "cases/sym_add_4c/sdsc_0";
const char *const kMasked = "cases/red_max_unaligned_split2/sdsc_0";
const char *const kFp8 = "cases/mm_fp8/sdsc_0";
const char *const kShuffle = "bundles/attention_1x32x512x128/sdsc_2";

/// Rows are symbolic: multiples of 4 up to 128, in 4 slices.
void makeSymbolic(Descriptor &d) {
  d.dimSymbols = {{"mb", {-100}}};
  d.steadyStage.symbolicDims = d.epilogueStage.symbolicDims = {{"mb", 32, 1}};
}

/// A window of mb, 8 cores, over rows of `x`; the stick holds `out`.
void makePooling(Descriptor &d) {
  d.opFunc = "avgpoolfwd";
  d.layouts[0].stickDims = {"out"};
  for (Tensor &tensor : d.tensors)
    tensor.coordinates.clear();
  PaddedWindow window;
  window.dim = "mb";
  window.padFront = window.padBack = 1;
  window.totalSize = 8 + 128 - 1;
  window.windowDim = "x";
  d.windows = {window};
  window.padFront = window.padBack = -1;
  window.totalSize = 1 + 128 - 1;
  d.steadyStage.windows = d.epilogueStage.windows = {window};
  dimOf(d, "x").numSlices = 1;
  dimOf(d, "x").coreSize = 128;
  d.numCores = 8;
  d.coreToSlice.resize(8);
  for (int64_t core = 0; core < 8; ++core)
    d.coreToSlice[static_cast<size_t>(core)] = {core, 0, 0};
  d.coreOrder = {0, 1, 2};
  d.constants.clear();
  d.tensors[1].scale = {1, 1, 1};
  for (size_t k = 0; k < 3; ++k)
    if (d.layouts[0].dimOrder[k] == "x")
      d.tensors[1].scale[k] = -1;
  for (Tensor &tensor : d.tensors)
    tensor.startAddress.resize(8);
}

void makeConvolution(Descriptor &d) {
  makePooling(d);
  d.opFunc = "conv2d";
  DimCoordinate coordinate;
  coordinate.dim = "mb";
  coordinate.padding = PaddingKind::PaddedNoZeroPad;
  coordinate.folds = {{1, 0, 8, "core_fold"},
                      {0, 0, 1, "corelet_fold"},
                      {0, 0, 1, "row_fold"},
                      {1, 0, 1, "elem_arr_0"}};
  d.tensors[0].coordinates = {coordinate};
}

/// The second operand of an fp8 matmul with the stick that the device wants.
void mendFp8(Descriptor &d) {
  d.layouts[1].stickDims = {"in", "out"};
  d.layouts[1].stickSizes = {2, 64};
}

const char *const kMean3d = "cases/red_mean_nonstick_3d/sdsc_0";

std::vector<RuleCase> getStructureCases() {
  return {
      {1, kMatmul, [](Descriptor &d) { d.numCores = 7; },
       "the slices of all dims multiply to 32 for 7 cores"},
      {2, kMatmul, [](Descriptor &d) { d.dims[0].coreSize += 1; }, "dim mb: dim mb: 512 elements"},
      {3, kMatmul, [](Descriptor &d) { d.coreToSlice[3] = d.coreToSlice[4]; },
       "core 4 has the same work slice"},
      {3, kMatmul, [](Descriptor &d) { d.coreToSlice[3][0] = 9; }, "core 3, dim mb: slice 9 of 4"},
      {4, kMatmul,
       [](Descriptor &d) {
         d.layouts[0].stickDims.clear();
         d.layouts[0].stickSizes.clear();
       },
       "layout class INPUT has no stick dim"},
      {4, kMatmul, [](Descriptor &d) { d.layouts[0].dimOrder[0] = d.layouts[0].dimOrder[1]; },
       "layout class INPUT has a dim twice"},
      {5, kMatmul, [](Descriptor &d) { d.tensors[1].label = "X"; },
       "Tensor1: layout class X does not exist"},
      {5, kMatmul, [](Descriptor &d) { d.tensors[1].dimOrder.pop_back(); },
       "Tensor1: its dims are not those"},
      {6, kMatmul, [](Descriptor &d) { d.tensors[0].wordLength = 4; },
       "Tensor0: word length 4 for a format of 2 bytes"},
      {6, kMatmul, [](Descriptor &d) { d.layouts[2].stickSizes[0] = 48; },
       "Tensor2: a stick of 48 elements"},
      {7, kMatmul, [](Descriptor &d) { d.tensors[0].scale[0] = -2; },
       "Tensor0, dim mb: scale -2 on dim mb"},
      {8, kMatmul,
       [](Descriptor &d) {
         dimOf(d, "in").coreSize = 250;
         dimOf(d, "in").size = 1000;
       },
       "Tensor0, dim in: dim in: a core's 250 elements are no multiple of the stick's 64"},
      {8, "cases/cast_dl16tofp32/sdsc_0",
       [](Descriptor &d) {
         // Divided: slices of a part of a stick.
         dimOf(d, "out").size = 80;
         dimOf(d, "out").numSlices = 2;
         dimOf(d, "out").coreSize = 40;
       },
       "a core's 40 elements are no multiple of the stick's 64"},
      {9, kMatmul, [](Descriptor &d) { d.tensors[0].coordinates[0].folds[3].factor += 1; },
       "Tensor0, dim mb: dim mb: the folds do not cover its "},
      {9, kMatmul, [](Descriptor &d) { d.tensors[0].coordinates[0].folds.pop_back(); },
       "expected elemArr + 3 = 4"},
      {10, kMatmul, [](Descriptor &d) { d.tensors[0].startAddress[5] = -3; },
       "Tensor0: core 5: -3 is no address"},
      {10, kSymbolic, [](Descriptor &d) { d.tensors[0].startAddress[1] = 128; },
       "Tensor0: core 1: 128 is no symbol id"},
      {11, kMatmul, [](Descriptor &d) { d.tensors[2].startAddress[5] += 2; },
       "Tensor2: core 5: the address "},
      {12, kMatmul, [](Descriptor &d) { d.tensors[0].backGap = {{"in", {1, 2}}}; },
       "Tensor0, dim in: the gap of dim in has 2 entries, expected 1",
       [](Descriptor &d) { d.tensors[0].backGap = {{"in", {64}}}; }},
      {61, kExp, [](Descriptor &d) { d.tensors[0].backGap = {{d.dims.back().name, {-32}}}; },
       "only a cast may lack memory"},
      {61, "cases/cast_dl16tofp32/sdsc_0",
       [](Descriptor &d) { d.tensors[1].backGap = {{"out", {-4096}}}; },
       "leaves none of its elements",
       [](Descriptor &d) { d.tensors[1].backGap = {{"out", {-32}}}; }},
      {61, kCast, [](Descriptor &d) { d.tensors[1].backGap = {{"out", {-32}}}; },
       "dim out lacks memory at its end and is divided"},
      {13, kMatmul, [](Descriptor &d) { d.inputs.pop_back(); },
       "Tensor1: the operation does not use it"},
      {13, kMatmul, [](Descriptor &d) { d.outputs.clear(); }, "0 outputs; there is one"},
      {13, kAdd,
       [](Descriptor &d) {
         for (int i = 0; i < 6; ++i)
           d.tensors.push_back(d.tensors[0]);
       },
       "9 operands; 8 are the most"},
      {14, kMatmul, [](Descriptor &d) { d.executionUnit = "gpu"; }, "unknown execution unit gpu"},
      {15, kMatmul, [](Descriptor &d) { d.tensors[2].scale[0] = -1; },
       "dim in: the reduced dims mb and in are both split", nullptr, /*isWarning=*/true},
      {16, kMatmul, [](Descriptor &d) { d.indexTensors = {0}; },
       "Tensor0: used as index, but it is no index tensor"},
      {16, kGather, [](Descriptor &d) { d.tensors[0].relatedAllocation = "x"; },
       "its partner x does not exist"},
      {16, kGather, [](Descriptor &d) { d.tensors[1].unusualAllocationName = "mine"; },
       "its partner allocate-Tensor1_hbm does not exist",
       [](Descriptor &d) {
         d.tensors[0].unusualAllocationName = "the indices";
         d.tensors[1].relatedAllocation = "the indices";
       }},
      {17, kMasked, [](Descriptor &d) { d.masks = {{"out", 1, 100000}}; },
       "dim out: the mask of dim out, 100000 elements from 1, is not inside the dim"},
      {17, kMasked, [](Descriptor &d) { d.maskConstant = -1; },
       "masked elements have no constant to read as"},
      {17, kMatmul, [](Descriptor &d) { d.maskConstant = 0; }, "a mask constant, but no mask"},
      {20, kMatmul, [](Descriptor &d) { d.numCores = 64; }, "64 cores; the device has 32"},
      {21, kMatmul, [](Descriptor &d) { d.coreIds = {0, 1}; },
       "coreIdsUsed_ has 2 entries, numCoresUsed_ is 32"},
      {21, kAdd,
       [](Descriptor &d) {
         for (int64_t core = 0; core < 32; ++core)
           d.coreIds.push_back(31 - core);
       },
       "coreIdsUsed_ has core 31 in place of core 0"},
      {22, kMatmul, [](Descriptor &d) { d.dims[0].epilogueSize = 100; },
       "dim mb: dim mb: the last slice has 100 elements, the others 128"},
      {22, kSymbolic, [](Descriptor &d) { d.epilogueStage.symbolicDims.clear(); },
       "the steady state (ss_) and the epilogue (el_) differ",
       [](Descriptor &d) { makeSymbolic(d); }},
      {23, kExp, [](Descriptor &d) { d.dims[0].coreSize = 128; },
       "dim mb: dim mb: a slice of 128 elements of only 64"},
      {52, kAdd, [](Descriptor &d) { d.tensors[1].presentInHbm = false; },
       "Tensor1: it is allocated in hbm, which memOrg_ does not mark"},
      {53, kAdd, [](Descriptor &d) { d.target = "gpu"; }, "unknown target gpu",
       [](Descriptor &d) { d.target = d.operationTarget = "senpcfg"; }},
      {54, kAdd, [](Descriptor &d) { d.dataOps->push_back("{}"); },
       "1 data operations (dataOpdscs_) beside an operation",
       [](Descriptor &d) { d.dataOps.emplace(); }},
      {56, kAdd, [](Descriptor &d) { d.tensors[0].coordinates[1].folds[1].label = "core_fold"; },
       "fold 1 is labelled core_fold, expected corelet_fold"},
      {57, kAdd, [](Descriptor &d) { d.corelets.factor = 3; },
       "a corelet fold of 3; a core has 2 corelets",
       [](Descriptor &d) { d.corelets.factor = d.tensors[0].addressCorelets = 2; }},
      {57, kAdd, [](Descriptor &d) { d.tensors[0].addressCorelets = 2; },
       "Tensor0: its addresses have a corelet fold of 2, the descriptor one of 1"},
      {58, kExp, [](Descriptor &d) { d.schedule = {{{0, 0, 0, 0}}}; },
       "core 0 is scheduled to run operation 0 and data operation 0, which do not exist",
       [](Descriptor &d) { d.schedule = {{{-1, 0, 1, 0}}}; }},
      {58, kExp, [](Descriptor &d) { d.folds.properties[0].factor = 2; }, "one time fold"},
      {59, kAdd, [](Descriptor &d) { d.inputs[0] = 5; }, "the operation names tensor 5 of 3"},
      {60, kAdd, [](Descriptor &d) { d.tensors[1].name = "Tensor0"; },
       "another tensor is named Tensor0 too"},
  };
}

std::vector<RuleCase> getOperationCases() {
  return {
      {26, kExp, [](Descriptor &d) { d.opFunc = "exponential"; },
       "operation exponential is not in the table"},
      {27, kExp, [](Descriptor &d) { d.executionUnit = "pt"; }, "exp runs on unit sfp, not on pt"},
      {27, kMatmul, [](Descriptor &d) { d.executionUnit = "sfp"; },
       "batchmatmul runs on unit pt, not on sfp"},
      {28, kAdd, [](Descriptor &d) { d.opFunc = "where3"; },
       "it has 2 inputs, [Tensor0, Tensor1]; where3 takes 3"},
      {28, kSum, [](Descriptor &d) { d.inputs.pop_back(); },
       "Tensor1: a reduction lists its output among its inputs too"},
      {28, kExp, [](Descriptor &d) { d.inputs.push_back(1); },
       "Tensor1: the output is listed as an input"},
      {29, kExp, [](Descriptor &d) { d.opFunc = "clip"; },
       "constant 0 of clip is clipMin, found none"},
      {29, kMasked, [](Descriptor &d) { d.constants[0].format = spyre::DataFormat::IEEE_FP32; },
       "constant samv-maskvalue is IEEE_FP32, the operation SEN169_FP16"},
      {29, kExp, [](Descriptor &d) { d.constants.push_back({"clipMin", d.format, 0}); },
       "exp has no constant clipMin", nullptr, /*isWarning=*/true},
      {30, "cases/pw_add_fp32/sdsc_0", [](Descriptor &d) { d.opFunc = "batchmatmul"; },
       "'batchmatmul' has no form for IEEE_FP32"},
      {30, kAdd, [](Descriptor &d) { d.format = spyre::DataFormat::IEEE_FP32; },
       "the operation is labelled IEEE_FP32, not SEN169_FP16"},
      {30, kCast, [](Descriptor &d) { d.opFunc = "fp8todl16"; },
       "'fp8todl16' has no form for SEN169_FP16"},
      {31, kRestickify, [](Descriptor &d) { d.opFunc = "identity"; },
       "Tensor0: its stick is [mb], the output's [out]"},
      {32, "cases/cast_dl16tofp32/sdsc_0", [](Descriptor &d) { d.tensors[0].scale = {1, -2}; },
       "Tensor0: only some of the dims of its stick [mb, out] are broadcast",
       [](Descriptor &d) {
         // A copy of two-dimensional sticks.
         d.opFunc = "neg";
         d.tensors[1].format = d.tensors[0].format;
         d.tensors[1].wordLength = 2;
         for (Tensor &tensor : d.tensors) {
           tensor.label = d.layouts[0].label;
           tensor.coordinates.clear();
         }
         d.layouts[0].dimOrder = {"mb", "out"};
         d.layouts[0].stickDims = {"mb", "out"};
         d.layouts[0].stickSizes = {2, 32};
       }},
      {33, kMatmul, [](Descriptor &d) { d.tensors[2].scale[0] = -1; }, "2 reduction dims [mb, in]",
       [](Descriptor &d) {
         // mb is without reuse: in all operands.
         d.layouts[1].dimOrder.push_back("mb");
         d.tensors[1].dimOrder.push_back("mb");
         d.tensors[1].scale.push_back(1);
       }},
      {33, kMatmul, [](Descriptor &d) { d.tensors[0].scale[0] = -1; },
       "dim mb: dim mb is in one operand only"},
      {34, kMatmul, [](Descriptor &d) { d.layouts[1].stickDims = {"in"}; },
       "Tensor1, dim out: its stick is [in 64], a matmul wants [out 64]"},
      {34, kFp8, [](Descriptor &d) { d.layouts[1].stickDims = {"out", "in"}; },
       "Tensor1, dim in: its stick is [out 2, in 64], a matmul wants [in 2, out 64]", mendFp8},
      {34, kFp8, [](Descriptor &d) { d.layouts[0].stickSizes = {8, 4, 8}; },
       "Tensor0, dim in: its stick is [in 8, mb 4, in 8], a matmul wants [in 16, mb 2, in 8]",
       [](Descriptor &d) {
         d.opFunc = "batchmatmulint4";
         d.layouts[0].stickDims = {"in", "mb", "in"};
         d.layouts[0].stickSizes = {16, 2, 8};
         d.layouts[1].stickDims = {"in", "out"};
         d.layouts[1].stickSizes = {4, 64};
         for (size_t i : {0, 1}) {
           d.tensors[i].format = spyre::DataFormat::SENINT4;
           d.tensors[i].wordLength = 1;
         }
       }},
      {35, kSum, [](Descriptor &d) { d.layouts[0].stickDims = {"mb"}; },
       "Tensor0, dim mb: its stick is [mb]; sum wants one reduced dim alone in the stick"},
      {35, kSum, [](Descriptor &d) { d.tensors[1].scale[1] = -1; },
       "Tensor1, dim out: the reduced stick dim out has scale -1, expected -2"},
      {36, kRowSum, [](Descriptor &d) { d.tensors[1].scale = {1, -2}; },
       "Tensor0, dim mb: dim mb is reduced and in the stick"},
      {37, kTopK, [](Descriptor &d) { d.layouts[0].stickDims = {"out"}; },
       "Tensor0, dim out: its stick holds dim out, which is reduced"},
      {37, kTopK, [](Descriptor &d) { d.layouts[1].stickDims = {"mb"}; },
       "Tensor1, dim mb: its stick holds dim mb, which is k"},
      {38, kTopK, [](Descriptor &d) { d.numCores = 2; }, "topkvalue runs on one core, not on 2"},
      {39, kNorm,
       [](Descriptor &d) {
         d.layouts.push_back(d.layouts[0]);
         d.layouts[1].label = "KERNEL";
         d.layouts[1].stickDims = {"mb"};
         d.tensors[3].label = "KERNEL";
       },
       "Tensor3: its stick is [mb]; only the normalised dim may be in the stick"},
      {40, kMean3d, [](Descriptor &d) { d.windows[0].windowDim = "out"; },
       "Tensor0, dim out: its stick holds dim out of the window", makePooling},
      {41, kRestickify, [](Descriptor &d) { d.layouts[1].stickDims = {"mb"}; },
       "Tensor1, dim mb: its stick is the input's, mb"},
      {41, kRestickify,
       [](Descriptor &d) {
         d.layouts[1].stickDims = {"mb", "out"};
         d.layouts[1].stickSizes = {2, 32};
       },
       "Tensor1: its stick is [mb, out]; a restickify puts one dim into the stick"},
      {42, kCast, [](Descriptor &d) { d.layouts[1].stickDims = {"mb"}; },
       "Tensor1, dim out: its stick is [mb], the input's [out]; a cast keeps the dim"},
      {42, "cases/cast_dl16tofp32/sdsc_0", [](Descriptor &d) { d.layouts[1].stickSizes = {64, 2}; },
       "Tensor1, dim out: its stick is not [another dim 2, out 64]",
       [](Descriptor &d) {
         d.opFunc = "qfp8wt";
         d.tensors[1].format = spyre::DataFormat::SEN143_FP8;
         d.tensors[1].wordLength = 1;
         d.layouts[1].stickDims = {"mb", "out"};
         d.layouts[1].stickSizes = {2, 64};
       }},
      {42, "cases/cast_dl16tofp32/sdsc_0",
       [](Descriptor &d) { d.layouts[1].stickSizes = {4, 4, 8}; },
       "Tensor1, dim out: its stick is not [out 8, another dim 2, out 8]",
       [](Descriptor &d) {
         d.opFunc = "qfp8mb";
         d.tensors[1].format = spyre::DataFormat::SEN143_FP8;
         d.tensors[1].wordLength = 1;
         d.layouts[1].stickDims = {"out", "mb", "out"};
         d.layouts[1].stickSizes = {8, 2, 8};
       }},
  };
}

std::vector<RuleCase> getExtensionCases() {
  return {
      {24, kExp, [](Descriptor &d) { dimOf(d, "mb").size = dimOf(d, "mb").coreSize = 2097121; },
       "Tensor0: one core addresses a span of 268431488 bytes, the device 268431360",
       [](Descriptor &d) {
         dimOf(d, "mb").size = dimOf(d, "mb").coreSize = 2097120;
         dimOf(d, "out").size = dimOf(d, "out").coreSize = 64;
         for (Tensor &tensor : d.tensors)
           tensor.coordinates.clear();
       }},
      {25, kShuffle, [](Descriptor &d) { d.tensors[1].startAddress[3] = 2 << 20; },
       "Tensor1: core 3: 524288 bytes from 2097152 leave the LX of 2097152 bytes"},
      {43, kSymbolic, [](Descriptor &d) { d.dimSymbols[0].symbols = {-100, -101}; },
       "dim mb: dim mb has 2 symbols; a dim has one", makeSymbolic},
      {43, kSymbolic, [](Descriptor &d) { d.dimSymbols[0].symbols = {7}; },
       "dim mb: dim mb: 7 is no symbol id", makeSymbolic},
      {43, kSymbolic, [](Descriptor &d) { d.dimSymbols[0].symbols = {-1}; },
       "symbol -1 is a dim's and an address's", makeSymbolic},
      {43, kSymbolic, [](Descriptor &d) { d.dimSymbols.clear(); },
       "dim mb: dim mb has a symbolic extent, but no symbol", makeSymbolic},
      {44, kSymbolic,
       [](Descriptor &d) {
         d.steadyStage.symbolicDims[0].granularity = d.epilogueStage.symbolicDims[0].granularity =
             3;
       },
       "dim mb: dim mb: the granularity 3 does not divide the largest extent 32", makeSymbolic},
      {44, kSymbolic,
       [](Descriptor &d) {
         d.steadyStage.symbolicDims[0].maxSize = d.epilogueStage.symbolicDims[0].maxSize = 128;
       },
       "the largest extent of one slice is 128, its size 32", makeSymbolic},
      {45, kSymbolic,
       [](Descriptor &d) {
         d.tensors[0].symbolicAddress = false;
         d.tensors[0].startAddress = {0, 128, 256, 384};
       },
       "Tensor0, dim mb: its symbolic dim mb is split", makeSymbolic},
      {46, kMean3d, [](Descriptor &d) { d.windows[0].windowDim = "q"; },
       "dim mb: dim mb (N_): its window dim q does not exist", makePooling},
      {46, kMean3d, [](Descriptor &d) { d.windows[0].totalSize = 100; },
       "dim mb (N_): 8 windows of 128 read 135 elements, its total size is 100", makePooling},
      {46, kMean3d, [](Descriptor &d) { d.windows[0].unneeded = {3, 0, 0}; },
       "dim mb (N_): the windows read 135 of 135 elements, so 0 are not needed, not 3",
       makePooling},
      {46, kMean3d, [](Descriptor &d) { d.opFunc = "neg"; }, "neg has no windows", makePooling},
      {47, kMean3d,
       [](Descriptor &d) {
         d.steadyStage.windows[0].padFront = d.epilogueStage.windows[0].padFront = 1;
       },
       "dim mb (core stage): it is split, so the padding in front and behind is -1, found 1 and -1",
       makePooling},
      {47, kMean3d, [](Descriptor &d) { d.windows[0].padBack = -1; },
       "dim mb (N_): it is not split, so the padding is known", makePooling},
      {48, kMean3d,
       [](Descriptor &d) {
         d.tensors[0].coordinates[0].padding = PaddingKind::PaddedFullSpanWithUnneeded;
       },
       "Tensor0, dim mb: dim mb: padding kind padded_fullspan_wunneeded; a convolution with "
       "padding wants padded_nozeropad",
       makeConvolution},
      {48, kAdd,
       [](Descriptor &d) { d.tensors[0].coordinates[0].padding = PaddingKind::LoweredPadded; },
       "padding kind lowered_padded, but the dim has no window"},
      {49, kShuffle, [](Descriptor &d) { d.tensors[1].coreToSlice.clear(); },
       "Tensor1: a shuffle's operand has a division of its own"},
      {49, kShuffle,
       [](Descriptor &d) {
         d.tensors[0].component = spyre::MemorySpace::HBM;
         d.tensors[0].presentInHbm = true;
       },
       "Tensor0: a shuffle moves data from LX to LX"},
      {50, kShuffle, [](Descriptor &d) { d.tensors[1].startAddress[4] = 128; },
       "Tensor1: core 4: the result at 128 overlaps the input of 524288 bytes at 0"},
      {51, kShuffle,
       [](Descriptor &d) { d.tensors[1].coreToSlice[4] = d.tensors[1].coreToSlice[5]; },
       "Tensor1: the cores hold 31 of its 32 pieces"},
      {51, kShuffle,
       [](Descriptor &d) { d.tensors[1].coreToSlice[31] = d.tensors[1].coreToSlice[0]; },
       "a piece is on ",
       [](Descriptor &d) {
         // Replicated: each of 16 pieces of the result on two cores.
         for (DimCoordinate &coordinate : d.tensors[1].coordinates)
           if (coordinate.dim == "x") {
             coordinate.folds[0].factor = 16;
             coordinate.folds[0].alpha = coordinate.folds[3].factor = 32;
           }
         for (auto &core : d.tensors[1].coreToSlice)
           for (auto &[dim, slice] : core)
             if (dim == "x")
               slice /= 2;
         d.tensors[0].startAddress.assign(32, 1 << 20);
         d.tensors[1].startAddress.assign(32, 0);
       }},
      {55, kGather, [](Descriptor &d) { d.tensors[1].maxDimSizes = {48, -1}; },
       "elements are no whole pages of 48",
       [](Descriptor &d) { d.tensors[1].maxDimSizes = {32, -1}; }},
      {55, kAdd, [](Descriptor &d) { d.tensors[1].maxDimSizes[0] = 16; },
       "but the tensor is not addressed through an index tensor"},
  };
}

void checkCases(const std::vector<RuleCase> &cases, std::set<int> &covered) {
  Limits limits = getSpyreLimits();
  for (const RuleCase &test : cases) {
    SCOPED_TRACE("SDSC-" + std::to_string(test.rule) + " " + test.base + ": " + test.expected);
    Descriptor descriptor = loadCase(test.base);
    if (test.prepare)
      test.prepare(descriptor);
    for (const Violation &violation : verifyDescriptor(descriptor, limits)) {
      bool isFp8Fault = test.base == kFp8 && !test.prepare;
      if (!violation.isWarning && !isFp8Fault)
        ADD_FAILURE() << "before the fault: " << toString(violation, descriptor);
    }
    test.fault(descriptor);
    std::string all;
    bool found = false;
    for (const Violation &violation : verifyDescriptor(descriptor, limits)) {
      std::string text = toString(violation, descriptor);
      all += text + "\n";
      found |= violation.rule == test.rule && violation.isWarning == test.isWarning &&
               text.find(test.expected) != std::string::npos;
    }
    EXPECT_TRUE(found) << all;
    covered.insert(test.rule);
  }
}

TEST(SdscVerify, EveryRuleIsKeptAndBroken) {
  std::set<int> covered;
  checkCases(getStructureCases(), covered);
  checkCases(getOperationCases(), covered);
  checkCases(getExtensionCases(), covered);
  for (int rule = 1; rule <= 62; ++rule)
    // 18, 19 and 62 are about modules; the pass sdsc-verify has them and their tests.
    EXPECT_EQ(covered.count(rule), rule == 18 || rule == 19 || rule == 62 ? 0u : 1u) << rule;
}

TEST(SdscVerify, ThePageListsEveryRuleOnce) {
  std::string page =
      test::readFile(std::filesystem::path(SPYRE_SOURCE_DIR) / "docs/formats/superdsc.md");
  for (int rule = 1; rule <= 62; ++rule) {
    std::string row = "| SDSC-" + std::to_string(rule) + " |";
    size_t at = page.find(row);
    ASSERT_NE(at, std::string::npos) << row;
    EXPECT_EQ(page.find(row, at + 1), std::string::npos) << row;
  }
  EXPECT_EQ(page.find("| SDSC-63 |"), std::string::npos);
}

TEST(SdscVerify, AllViolationsInOneRunInOrder) {
  Descriptor d = loadCase(kMatmul);
  d.dims[0].coreSize += 1;
  d.tensors[0].wordLength = 4;
  d.tensors[2].startAddress[5] += 2;
  d.executionUnit = "gpu";
  d.target = "gpu";
  std::vector<int> rules;
  for (const Violation &violation : verifyDescriptor(d, getSpyreLimits()))
    if (rules.empty() || rules.back() != violation.rule)
      rules.push_back(violation.rule);
  EXPECT_EQ(rules, (std::vector<int>{2, 6, 11, 14, 53}));
}

TEST(SdscVerify, WithoutADeviceItsLimitsAreNotChecked) {
  Descriptor d = loadCase(kShuffle);
  d.tensors[1].startAddress[3] = 2 << 20;
  EXPECT_EQ(toText(verifyDescriptor(d), d), "");
}

} // namespace
