//===- VerifyTest.cpp - The numbered rules of a descriptor ----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference's descriptors keep the rules; breaking each is noticed.
//
//===----------------------------------------------------------------------===//

#include "ReferenceData.h"

#include "spyre/SuperDSC/DescriptorJson.h"
#include "spyre/SuperDSC/Verify.h"

#include <gtest/gtest.h>

using namespace spyre::sdsc;

namespace {

Descriptor load(const std::string &text) {
  auto result = readDescriptor(text, "");
  EXPECT_TRUE(std::holds_alternative<Descriptor>(result));
  return std::get<Descriptor>(result);
}

std::string toText(const std::vector<Violation> &violations) {
  std::string text;
  for (const Violation &violation : violations)
    text += "SDSC-" + std::to_string(violation.rule) + " tensor " +
            std::to_string(violation.tensor) + ": " + violation.message + "\n";
  return text;
}

TEST(SdscVerify, ReferenceDescriptorsKeepTheRules) {
  nlohmann::ordered_json operations = test::loadRandomOps();
  int faulty = 0;
  for (const auto &[name, text] : test::getAllDescriptors()) {
    std::vector<Violation> violations = verifyDescriptor(load(text));
    std::erase_if(violations, [](const Violation &violation) { return violation.isWarning; });
    // An unaligned cast whose sizes the reference gets wrong (its fault 10).
    if (name.rfind("random_ops ", 0) == 0) {
      const auto &faults = operations[std::stoul(name.substr(11))]["case"]["faults"];
      if (std::find(faults.begin(), faults.end(), 10) != faults.end()) {
        faulty += !violations.empty();
        continue;
      }
    }
    EXPECT_EQ(toText(violations), "") << name;
  }
  EXPECT_GE(faulty, 1);
}

TEST(SdscVerify, EveryBrokenRuleIsReported) {
  const Descriptor good =
      load(test::readFile(test::getDataDir() / "superdsc/cases/mm_m4_n2_k4_kfast/sdsc_0.json"));
  auto check = [&](auto change, const std::string &expected) {
    Descriptor descriptor = good;
    change(descriptor);
    std::string text = toText(verifyDescriptor(descriptor));
    EXPECT_EQ(text.substr(0, expected.size()), expected) << text;
  };
  check([](Descriptor &d) { d.numCores = 7; },
        "SDSC-1 tensor -1: the slices of all dims multiply to 32 for 7 cores\n");
  check([](Descriptor &d) { d.dims[0].coreSize += 1; }, "SDSC-2 tensor -1: dim mb: ");
  check([](Descriptor &d) { d.coreToSlice[3] = d.coreToSlice[4]; },
        "SDSC-3 tensor -1: core 4 has the same work slice");
  check(
      [](Descriptor &d) {
        d.layouts[0].stickDims.clear();
        d.layouts[0].stickSizes.clear();
      },
      "SDSC-4 tensor -1: layout class INPUT has no stick dim\n");
  check([](Descriptor &d) { d.tensors[1].label = "X"; },
        "SDSC-5 tensor 1: layout class X does not exist\n");
  check([](Descriptor &d) { d.tensors[1].dimOrder.pop_back(); },
        "SDSC-5 tensor 1: its dims are not those");
  check([](Descriptor &d) { d.tensors[0].wordLength = 4; },
        "SDSC-6 tensor 0: word length 4 for a format of 2 bytes\n");
  check([](Descriptor &d) { d.tensors[0].scale[0] = -2; }, "SDSC-7 tensor 0: scale -2 on dim mb");
  check([](Descriptor &d) { d.layouts[2].stickSizes[0] = 48; },
        "SDSC-6 tensor 2: a stick of 48 elements");
  check([](Descriptor &d) { d.tensors[0].coordinates[0].folds[3].factor += 1; },
        "SDSC-9 tensor 0: dim mb: the folds do not cover its ");
  check([](Descriptor &d) { d.tensors[0].startAddress[5] = -3; },
        "SDSC-10 tensor 0: core 5: -3 is no address\n");
  check([](Descriptor &d) { d.tensors[2].startAddress[5] += 2; },
        "SDSC-11 tensor 2: core 5: the address ");
  check([](Descriptor &d) { d.tensors[0].backGap = {{"in", {1, 2}}}; },
        "SDSC-12 tensor 0: the gap of dim in has 2 entries, expected 1\n");
  check([](Descriptor &d) { d.inputs.pop_back(); },
        "SDSC-13 tensor 1: the operation does not use it\n");
  check([](Descriptor &d) { d.outputs.clear(); }, "SDSC-13 tensor -1: 0 outputs; there is one\n");
  check([](Descriptor &d) { d.executionUnit = "gpu"; },
        "SDSC-14 tensor -1: unknown execution unit gpu\n");
  check([](Descriptor &d) { d.tensors[2].scale[0] = -1; },
        "SDSC-15 tensor -1: the reduced dims mb and in are both split\n");
  check([](Descriptor &d) { d.indexTensors = {0}; },
        "SDSC-16 tensor 0: used as index, but it is no index tensor\n");
  check([](Descriptor &d) { d.masks = {{"in", 1, 100000}}; },
        "SDSC-17 tensor -1: the mask of dim in, 100000 elements from 1, is not inside the dim\n"
        "SDSC-17 tensor -1: masked elements have no constant to read as\n");
  check([](Descriptor &d) { d.maskConstant = 0; },
        "SDSC-17 tensor -1: a mask constant, but no mask\n");
}

} // namespace
