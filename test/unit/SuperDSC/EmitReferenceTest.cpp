//===- EmitReferenceTest.cpp - Emission against the reference -------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every operation of the reference cases, emitted from its neutral host form,
// must give the descriptor that the reference front end writes.
//
//===----------------------------------------------------------------------===//

#include "EmitCases.h"

#include "spyre/SuperDSC/DescriptorJson.h"
#include "spyre/SuperDSC/Verify.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

using namespace spyre;
using namespace spyre::sdsc;
using test::Json;

namespace {

const Json &getDsc(const Json &descriptor) {
  return descriptor.begin().value()["dscs_"][0].begin().value();
}

/// With symbolic arguments the reference writes ids in place of addresses: takes
/// them over, if one id stands for one address.
bool useSymbols(Descriptor &descriptor, const Json &reference, std::string &problem) {
  const Json &nodes = getDsc(reference)["scheduleTree_"];
  std::map<int64_t, int64_t> toId, toAddress;
  for (size_t i = 0; i < descriptor.tensors.size() && i < nodes.size(); ++i) {
    Tensor &tensor = descriptor.tensors[i];
    if (tensor.component == spyre::MemorySpace::LX)
      continue;
    tensor.symbolicAddress = true;
    size_t core = 0;
    for (const auto &[key, value] : nodes[i]["startAddressCoreCorelet_"]["data_"].items()) {
      if (core >= tensor.startAddress.size())
        return false;
      int64_t id = std::stoll(value.get<std::string>());
      int64_t &address = tensor.startAddress[core++];
      if (toId.emplace(address, id).first->second != id ||
          toAddress.emplace(id, address).first->second != address) {
        problem = "symbol " + std::to_string(id) + " and address " + std::to_string(address) +
                  " of tensor " + std::to_string(i) + " do not stand for each other";
        return false;
      }
      address = id;
    }
  }
  return true;
}

/// What turns the reference's descriptor into ours: JSON pointer -> our value.
std::map<std::string, nlohmann::json> getDifferences(const Json &ours, const Json &reference) {
  // Objects unordered.
  nlohmann::json a = nlohmann::json::parse(ours.dump()),
                 b = nlohmann::json::parse(reference.dump());
  std::map<std::string, nlohmann::json> differences;
  for (const nlohmann::json &entry : nlohmann::json::diff(b, a))
    differences[entry["path"]] = entry.contains("value") ? entry["value"] : nlohmann::json();
  return differences;
}

struct Outcome {
  std::string error; ///< of the emission or of symbols; empty: there is a descriptor
  std::map<std::string, nlohmann::json> differences;
  EmittedOp emitted;
};

Outcome emitAndCompare(const test::ReferenceCase &entry, const test::CaseOp &op, size_t index) {
  Outcome outcome;
  auto answer = emitDescriptor(test::getEmitOp(op, entry.content["config"]), int64_t(index));
  if (auto *error = std::get_if<EmitError>(&answer)) {
    outcome.error = error->message;
    return outcome;
  }
  outcome.emitted = std::get<EmittedOp>(answer);
  Descriptor descriptor = outcome.emitted.descriptor;
  if (entry.content["config"]["symbolic_args"])
    useSymbols(descriptor, entry.descriptors[index], outcome.error);
  std::ostringstream text;
  writeDescriptor(descriptor, text, {Form::June2026, false, false});
  outcome.differences = getDifferences(Json::parse(text.str()), entry.descriptors[index]);
  return outcome;
}

std::string describe(const Outcome &outcome) {
  std::string text = outcome.error.empty() ? "" : "error: " + outcome.error + "\n";
  for (const auto &[path, value] : outcome.differences)
    text += path + " -> " + value.dump().substr(0, 100) + "\n";
  return text.substr(0, 2000);
}

const std::vector<test::ReferenceCase> &getCases() {
  static const std::vector<test::ReferenceCase> cases = test::loadReferenceCases();
  return cases;
}

bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Every case without a fault is equal; those of one kind are one test.
class EmitReference : public testing::TestWithParam<std::string> {};

TEST_P(EmitReference, EqualWithoutFaults) {
  int equal = 0;
  for (const test::ReferenceCase &entry : getCases()) {
    if (entry.group != GetParam() || !entry.faults.empty())
      continue;
    std::vector<test::CaseOp> ops = test::getCaseOps(entry.content);
    ASSERT_EQ(ops.size(), entry.descriptors.size()) << entry.name;
    bool isEqual = true;
    for (size_t i = 0; i < ops.size(); ++i) {
      Outcome outcome = emitAndCompare(entry, ops[i], i);
      EXPECT_EQ(describe(outcome), "")
          << entry.name << " operation " << i << " (" << ops[i].op["op"] << ")";
      isEqual &= describe(outcome).empty();
    }
    equal += isEqual;
  }
  EXPECT_GT(equal, 0);
  std::cout << equal << " equal\n";
}

TEST(EmitVerify, DescriptorsKeepTheFormatsRules) {
  for (const test::ReferenceCase &entry : getCases()) {
    std::vector<test::CaseOp> ops = test::getCaseOps(entry.content);
    for (size_t i = 0; i < ops.size() && i < entry.descriptors.size(); ++i) {
      Outcome outcome = emitAndCompare(entry, ops[i], i);
      for (const Violation &violation : verifyDescriptor(outcome.emitted.descriptor))
        EXPECT_TRUE(violation.isWarning)
            << entry.name << ": SDSC-" << violation.rule << ": " << violation.message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, EmitReference,
                         testing::Values("pointwise", "reduction", "matmul", "restickify", "cast",
                                         "layernorm", "topk", "gather", "symbolic", "bundle",
                                         "loop", ""),
                         [](const auto &info) {
                           return info.param.empty() ? std::string("random") : info.param;
                         });

/// Calls \p check(entry, op, outcome) for each operation of a case with \p fault.
template <typename Check> void forEachWithFault(int64_t fault, Check check) {
  int count = 0;
  for (const test::ReferenceCase &entry : getCases()) {
    if (std::find(entry.faults.begin(), entry.faults.end(), fault) == entry.faults.end())
      continue;
    std::vector<test::CaseOp> ops = test::getCaseOps(entry.content);
    for (size_t i = 0; i < ops.size() && i < entry.descriptors.size(); ++i, ++count) {
      SCOPED_TRACE(entry.name);
      check(ops[i], emitAndCompare(entry, ops[i], i));
    }
  }
  EXPECT_GT(count, 0);
}

TEST(EmitFaults, LoopStridesFollowTheDeviceLayout) {
  forEachWithFault(2, [](const test::CaseOp &op, const Outcome &outcome) {
    // 512 rows of [1024,256] f16, device [4,1024,64]; an LX tile stays.
    EXPECT_EQ(describe(outcome), "");
    for (size_t i = 0; i < outcome.emitted.loopStrideInBytes.size(); ++i) {
      bool isFixed = op.op["args"][i]["per_tile_fixed"];
      EXPECT_EQ(outcome.emitted.loopStrideInBytes[i], std::vector<int64_t>{isFixed ? 0 : 65536});
    }
  });
}

TEST(EmitFaults, SymbolsStandForTheSlicesOwnAddresses) {
  forEachWithFault(4, [](const test::CaseOp &, const Outcome &outcome) {
    EXPECT_TRUE(outcome.differences.empty()) << describe(outcome);
  });
}

TEST(EmitFaults, MaskConstantIsFound) {
  forEachWithFault(5, [](const test::CaseOp &, const Outcome &outcome) {
    ASSERT_EQ(outcome.error, "");
    ASSERT_EQ(outcome.differences.size(), 1u) << describe(outcome);
    EXPECT_TRUE(endsWith(outcome.differences.begin()->first, "/maskingConstId_"));
    const Descriptor &descriptor = outcome.emitted.descriptor;
    EXPECT_EQ(descriptor.constants[size_t(descriptor.maskConstant)].name, "samv-maskvalue");
  });
}

TEST(EmitFaults, SecondOperandOfAnFp8ContractionHasPairsInItsSticks) {
  forEachWithFault(8, [](const test::CaseOp &, const Outcome &outcome) {
    ASSERT_EQ(outcome.error, "");
    EXPECT_FALSE(outcome.differences.empty());
    for (const auto &[path, value] : outcome.differences)
      EXPECT_TRUE(path.find("/primaryDsInfo_/KERNEL/") != std::string::npos ||
                  path.find("/scheduleTree_/1/coordinates_/") != std::string::npos)
          << path;
    const LayoutClass &kernel = outcome.emitted.descriptor.layouts[1];
    EXPECT_EQ(kernel.stickDims, (std::vector<std::string>{"in", "out"}));
    EXPECT_EQ(kernel.stickSizes, (std::vector<int64_t>{2, 64}));
  });
}

TEST(EmitFaults, CastOutputsKeepTheirSize) {
  forEachWithFault(10, [](const test::CaseOp &op, const Outcome &outcome) {
    ASSERT_EQ(outcome.error, "");
    for (const Dim &dim : outcome.emitted.descriptor.dims)
      if (dim.name == "out") {
        int64_t size = op.op["host"]["ranges"].back()["size"];
        // A lone stick dim is not padded (docs/formats/superdsc-rules.md, e.2).
        bool isAlone = op.op["args"][0]["device_size"].size() == 2;
        EXPECT_EQ(dim.size, isAlone ? size : (size + 63) / 64 * 64);
      }
    // Where the reference's sizes are those of the layouts, there is no difference.
    for (const auto &[path, value] : outcome.differences)
      EXPECT_TRUE(endsWith(path, "/out_") || path.find("/coordInfo/out/") != std::string::npos ||
                  endsWith(path, "/backGapCore_"))
          << path;
  });
}

TEST(EmitFaults, RowSlicesDoNotMoveInsideTheStick) {
  // 680 elements are four rows of 170; the reference adds 40 to the place in the
  // stick as well, which does not show in its descriptor.
  forEachWithFault(
      12, [](const test::CaseOp &, const Outcome &outcome) { EXPECT_EQ(describe(outcome), ""); });
}

} // namespace
