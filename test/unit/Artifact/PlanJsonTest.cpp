//===- PlanJsonTest.cpp - plan.json and launch_spec.json ------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Artifact/Plan.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

using namespace spyre;
using namespace spyre::artifact;
using nlohmann::json;

namespace {

template <typename T> std::string getError(const std::variant<T, FileError> &result) {
  const auto *error = std::get_if<FileError>(&result);
  return error ? error->where + ": " + error->message : "";
}

std::string toText(const Plan &plan, bool pretty = false) {
  std::ostringstream os;
  writePlan(plan, os, pretty);
  return os.str();
}

std::string toText(const LaunchSpec &spec) {
  std::ostringstream os;
  writeLaunchSpec(spec, os, false);
  return os.str();
}

const char *const kPlan =
    R"({"version":1,"name":"sdsc_bundle","arguments":2,"pool":true,"pool_bytes":4096,"steps":[)"
    R"({"launch":"sdsc_0.json","symbols":[{"id":-1,"base":0},{"id":-2,"base":"pool","offset":128}]},)"
    R"({"loop":4,"body":[{"launch":"sdsc_1.json","symbols":[{"id":-3,"base":1,"offset":512,"stride":[16384]},)"
    R"({"id":-4,"base":"absolute","offset":1024}]},{"loop":2,"body":[{"launch":"sdsc_2.json","symbols":[)"
    R"({"id":-5,"base":1,"stride":[0,256]}]}]}]}]})";

TEST(PlanJson, RoundTrips) {
  auto result = readPlan(kPlan);
  ASSERT_EQ(getError(result), "");
  const Plan &plan = std::get<Plan>(result);
  EXPECT_EQ(plan.numArguments, 2);
  EXPECT_TRUE(plan.hasPool);
  const Loop &loop = std::get<Loop>(plan.steps[1].content);
  EXPECT_EQ(loop.count, 4);
  const AddressExpr &address = std::get<Launch>(loop.body[0].content).symbols[0].second;
  EXPECT_EQ(address.base, 1);
  EXPECT_EQ(address.offsetInBytes, 512);
  EXPECT_EQ(address.strideInBytes, std::vector<int64_t>{16384});
  EXPECT_EQ(std::get<Launch>(loop.body[0].content).symbols[1].second.base, AddressExpr::kAbsolute);
  EXPECT_EQ(toText(plan), kPlan);
  EXPECT_EQ(json::parse(toText(plan, true)), json::parse(kPlan));
}

TEST(PlanJson, TripCountsThatSizesMake) {
  const std::string text =
      R"({"version":2,"name":"f","arguments":1,"pool":false,"pool_bytes":0,"sizes":[)"
      R"({"name":"size0","position":1,"granularity":64,"min":128,"max":4096}],"steps":[)"
      R"({"loop":{"plus":-64,"sizes":[{"size":0,"times":2}],"per":128},"body":[]},)"
      R"({"loop":{"sizes":[{"size":0}]},"body":[]}]})";
  auto result = readPlan(text);
  ASSERT_EQ(getError(result), "");
  const Plan &plan = std::get<Plan>(result);
  EXPECT_EQ(plan.sizes[0].minValue, 128);
  const TripCount &count = std::get<Loop>(plan.steps[0].content).count;
  EXPECT_FALSE(count.isConstant());
  EXPECT_EQ(count.evaluate({128}), 2); // (256 - 64) / 128, rounded up
  EXPECT_EQ(count.evaluate({192}), 3);
  EXPECT_EQ(count.evaluate({0}), 0);
  EXPECT_EQ(std::get<Loop>(plan.steps[1].content).count.evaluate({192}), 192);
  EXPECT_EQ(toText(plan), text);
  // What the first version can say is written as one.
  EXPECT_NE(toText(std::get<Plan>(readPlan(kPlan))).find("\"version\":1"), std::string::npos);
}

TEST(PlanJson, WrongTripCounts) {
  auto getMistake = [](const std::string &loop) {
    return getError(
        readPlan(R"({"version":2,"name":"f","arguments":1,"pool":false,"pool_bytes":0,"sizes":[)"
                 R"({"name":"size0","position":1,"granularity":64,"max":4096}],"steps":[{"loop":)" +
                 loop + R"(,"body":[]}]})"));
  };
  EXPECT_EQ(getMistake("3"), "");
  EXPECT_NE(getMistake(R"({"sizes":[{"size":1}]})"), "");
  EXPECT_NE(getMistake(R"({"sizes":[{"size":0}],"per":0})"), "");
  EXPECT_NE(getMistake(R"({"sizes":[{"size":0,"times":1000000}]})"), "");
  EXPECT_NE(getMistake(R"({"plus":3})"), "");
  std::string many = R"({"size":0})";
  for (int i = 0; i < 5; ++i)
    many += R"(,{"size":0})";
  EXPECT_NE(getMistake(R"({"sizes":[)" + many + "]}"), "");
}

TEST(PlanJson, SizesOfSymbolicDims) {
  const std::string text =
      R"({"version":1,"name":"f","arguments":1,"pool":false,"pool_bytes":0,"sizes":[)"
      R"({"name":"size0","position":1,"granularity":64,"max":4096}],"steps":[)"
      R"({"launch":"sdsc_0.json","symbols":[{"id":-1,"base":0},{"id":-2,"base":"size"}]}]})";
  auto result = readPlan(text);
  ASSERT_EQ(getError(result), "");
  const Plan &plan = std::get<Plan>(result);
  ASSERT_EQ(plan.sizes.size(), 1u);
  EXPECT_EQ(plan.sizes[0].granularity, 64);
  EXPECT_EQ(std::get<Launch>(plan.steps[0].content).symbols[1].second.base, AddressExpr::kSize);
  EXPECT_EQ(toText(plan), text);
  json wrong = json::parse(text);
  wrong["sizes"][0]["granularity"] = 60;
  EXPECT_EQ(getError(readPlan(wrong.dump())),
            "/sizes/0: the granularity does not divide the largest value");
  wrong = json::parse(text);
  wrong["steps"][0]["symbols"][1]["offset"] = 1;
  EXPECT_EQ(getError(readPlan(wrong.dump())), "/steps/0/symbols/1: there is no size 1");
}

TEST(PlanJson, TrailingZeroStridesAreCanonical) {
  json document = json::parse(kPlan);
  document["steps"][1]["body"][0]["symbols"][0]["stride"] = {0};
  auto result = readPlan(document.dump());
  ASSERT_EQ(getError(result), "");
  const Loop &loop = std::get<Loop>(std::get<Plan>(result).steps[1].content);
  EXPECT_TRUE(std::get<Launch>(loop.body[0].content).symbols[0].second.strideInBytes.empty());
}

TEST(PlanJson, ErrorsSayWhereAndWhat) {
  auto check = [](auto change, const std::string &expected) {
    json document = json::parse(kPlan);
    change(document);
    EXPECT_EQ(getError(readPlan(document.dump())), expected);
  };
  check([](json &d) { d["version"] = 3; },
        "/version: version 3 is newer than the newest that this build reads, 2");
  check([](json &d) { d.erase("steps"); }, "/: missing field \"steps\"");
  check([](json &d) { d["steps"][0]["launch"] = "../sdsc_0.json"; },
        "/steps/0/launch: \"../sdsc_0.json\" is no file name inside the bundle directory");
  check([](json &d) { d["steps"][0]["symbols"][1]["id"] = -1; },
        "/steps/0/symbols/1/id: symbol -1 is bound twice");
  check([](json &d) { d["steps"][0]["symbols"][0]["base"] = 2; },
        "/steps/0/symbols/0/base: integer out of range: 2 is not in [0, 1]");
  check([](json &d) { d["pool"] = false; }, "/steps/0/symbols/1/base: the plan has no pool");
  check([](json &d) { d["steps"][0]["symbols"][0]["stride"] = {1}; },
        "/steps/0/symbols/0/stride: more strides than the 0 enclosing loops");
  EXPECT_EQ(getError(readPlan("")).substr(0, 5), "1:1: ");
}

TEST(PlanJson, DamagedPlansNeverCrash) {
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    std::string damaged = kPlan;
    for (int k = 0; k < 1 + i % 3; ++k)
      damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
    auto result = readPlan(damaged);
    if (auto *plan = std::get_if<Plan>(&result))
      EXPECT_EQ(getError(readPlan(toText(*plan))), "");
  }
  std::string text = kPlan;
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_NE(getError(readPlan(std::string_view(text).substr(0, length))), "");
}

/// \p document as a launch spec of ours holds it: with the fields that a binding
/// file leaves out.
json complete(json document) {
  document["kernel_name"] = "";
  document["bundle_symbolic_args"] = true;
  for (json &argument : document["arguments"])
    argument.erase("note"); // a remark for people, which is no part of the format
  if (!document.contains("pool_bytes"))
    document["pool_bytes"] = 0;
  return document;
}

TEST(LaunchSpecJson, ReadsEveryBindingOfTheReferenceData) {
  const char *dir = std::getenv("SPYRE_TEST_DATA");
  std::filesystem::path data =
      dir ? std::filesystem::path(dir) : std::filesystem::path(SPYRE_SOURCE_DIR) / "test/data";
  int count = 0;
  for (const auto &entry :
       std::filesystem::recursive_directory_iterator(data / "superdsc/bundles")) {
    if (entry.path().filename() != "bind.json")
      continue;
    std::ifstream file(entry.path());
    std::ostringstream text;
    text << file.rdbuf();
    auto result = readLaunchSpec(text.str());
    ASSERT_EQ(getError(result), "") << entry.path();
    EXPECT_EQ(json::parse(toText(std::get<LaunchSpec>(result))), complete(json::parse(text.str())))
        << entry.path();
    ++count;
  }
  EXPECT_GE(count, 62);
}

const char *const kBinding =
    R"({"version":1,"pool_bytes":0,"arguments":[)"
    R"({"role":"input","array":"in0","shape":[64,128],"dtype":"float16","device_size":[2,64,64],"stride_map":[64,128,1],"device_dtype":"SEN169_FP16"},)"
    R"({"role":"constant","shape":[],"dtype":"float16","device_size":[1,64],"stride_map":[-1,-1],"device_dtype":"SEN169_FP16","value":"-inf"}]})";

TEST(LaunchSpecJson, InfiniteConstantsAreText) {
  auto result = readLaunchSpec(kBinding);
  ASSERT_EQ(getError(result), "");
  const LaunchSpec &spec = std::get<LaunchSpec>(result);
  EXPECT_EQ(spec.arguments[1].value, -INFINITY);
  EXPECT_EQ(json::parse(toText(spec)), complete(json::parse(kBinding)));
}

TEST(LaunchSpecJson, ReadsTheNeutralForm) {
  json text = json::parse(R"({
    "version": "0.1", "kernel_name": "k", "pool_size": 4096, "bundle_symbolic_args": true,
    "emitter": "somebody", "symbol_kinds": {}, "symbols": {}, "args": [
      {"arg_index": 2, "role": "output", "shape": [64, 128], "dtype": "torch.float16", "layout":
        {"device_size": [2, 64, 64], "stride_map": [64, 128, 1], "device_dtype": "SEN169_FP16",
         "element_arrangement": "STANDARD"}},
      {"arg_index": 0, "role": "input", "shape": [64, 128], "dtype": "torch.float32", "layout":
        {"device_size": [4, 64, 32], "stride_map": [32, 128, 1],
         "device_dtype": "DataFormats.IEEE_FP32", "element_arrangement": null}},
      {"arg_index": 1, "role": "input_output", "shape": [64], "dtype": "torch.bfloat16", "layout":
        {"device_size": [1, 64], "stride_map": [64, 1], "device_dtype": "SEN169_FP16"}}]})");
  auto result = readLaunchSpec(text.dump());
  ASSERT_EQ(getError(result), "");
  const LaunchSpec &spec = std::get<LaunchSpec>(result);
  EXPECT_EQ(spec.poolInBytes, 4096);
  EXPECT_EQ(spec.kernelName, "k");
  ASSERT_EQ(spec.arguments.size(), 3u);
  EXPECT_EQ(spec.arguments[0].array, "in0");
  EXPECT_EQ(spec.arguments[0].dtype, spyre::HostType::Float32);
  EXPECT_EQ(spec.arguments[0].deviceFormat, spyre::DataFormat::IEEE_FP32);
  EXPECT_EQ(spec.arguments[1].array, "in1");
  EXPECT_EQ(spec.arguments[1].result, "out0");
  EXPECT_EQ(spec.arguments[2].array, "out1");
  EXPECT_EQ(spec.arguments[2].elementArrangement, "");
  auto check = [&](auto change, const std::string &expected) {
    json changed = text;
    change(changed);
    EXPECT_EQ(getError(readLaunchSpec(changed.dump())), expected);
  };
  check([](json &d) { d["args"][1]["arg_index"] = 2; },
        "/args/1/arg_index: argument 2 is there twice");
  check([](json &d) { d["args"][0]["dtype"] = "torch.half"; },
        "/args/0/dtype: unknown dtype \"torch.half\"");
  check([](json &d) { d["args"][0]["layout"]["stride_map"] = {1}; },
        "/args/0/layout/stride_map: expected a stride for each of 3 device dims");
  check([](json &d) { d["args"][0].erase("layout"); }, "/args/0: missing field \"layout\"");
}

TEST(LaunchSpecJson, ErrorsSayWhereAndWhat) {
  auto check = [](auto change, const std::string &expected) {
    json document = json::parse(kBinding);
    change(document);
    EXPECT_EQ(getError(readLaunchSpec(document.dump())), expected);
  };
  check([](json &d) { d["version"] = 7; },
        "/version: version 7 is newer than the newest that this build reads, 1");
  check([](json &d) { d["arguments"][0]["dtype"] = "half"; },
        "/arguments/0/dtype: unknown dtype \"half\"");
  check([](json &d) { d["arguments"][0]["role"] = "weight"; },
        "/arguments/0/role: unknown role \"weight\"");
  check([](json &d) { d["arguments"][0]["array"] = "out0"; },
        "/arguments/0/array: \"out0\" is no array name: expected \"in<number>\"");
  check([](json &d) { d["arguments"][0]["stride_map"] = {1}; },
        "/arguments/0/stride_map: expected a stride for each of 3 device dims");
  check([](json &d) { d["arguments"][0]["device_size"] = {1 << 30, 1 << 30}; },
        "/arguments/0/device_size: too large: more than 2^48 elements");
  check([](json &d) { d["arguments"][1].erase("value"); }, "/arguments/1: missing field \"value\"");
}

} // namespace
