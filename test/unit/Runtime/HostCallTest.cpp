//===- HostCallTest.cpp - Programs that call the host -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// program.json with host calls, and their execution: before and behind a launch, by
// lib/Host, by functions of the caller, through the C interface.
//
//===----------------------------------------------------------------------===//

#include "FaultBases.h"

#include "spyre/Runtime/ProgramSession.h"

#include "gtest/gtest.h"

#include <cstring>
#include <fstream>
#include <sstream>
#include <unistd.h>
#include <utility>

using namespace spyre;
using namespace spyre::runtime;
using namespace spyre::runtime::test;

namespace {

HostArgument array(std::string name, bool isNumber = false) {
  return {HostArgument::Array{std::move(name), isNumber}};
}

/// f16 of all elements: 0.5 or 2.
constexpr uint16_t kHalf = 0x3800, kTwo = 0x4000;

HostTensor filled(uint16_t code, std::vector<int64_t> shape = {32, 128}) {
  HostTensor tensor = HostTensor::create(HostType::Float16, std::move(shape));
  for (size_t i = 0; i < tensor.data.size(); i += 2)
    std::memcpy(tensor.data.data() + i, &code, 2);
  return tensor;
}

uint16_t first(const HostTensor &tensor) {
  uint16_t code;
  std::memcpy(&code, std::as_const(tensor.data).data(), 2);
  return code;
}

/// Counts, and fails where it is told to.
class Counting : public HostFunctions {
public:
  bool knows(const std::string &function) const override { return function != "aten.unknown"; }
  std::optional<std::string> call(const HostInvocation &invocation) override {
    ++numCalls;
    if (fails)
      return "it was told to";
    return getHostTable().call(invocation);
  }
  int numCalls = 0;
  bool fails = false;
};

/// relu(x) + y, and the sum times 2 on the host again.
class HostCallTest : public testing::Test {
protected:
  HostCallTest() : runtime(*Device::lookup("spyre"), EmulatorOptions{.checked = true}) {
    FaultProgram made = makePointwise();
    int64_t size = std::get<int64_t>(getDeviceSizeInBytes(made.bundle.spec.arguments[0]));
    loaded.directory = "memory";
    loaded.bundles.emplace("add", std::move(made.bundle));
    Program &program = loaded.program;
    auto f16 = [](std::string name) {
      return HostArray{std::move(name), HostType::Float16, {32, 128}};
    };
    for (const char *name : {"in0", "in1"})
      program.arguments.push_back(f16(name));
    program.results.push_back(f16("out0"));
    for (const char *name : {"x", "y", "sum"})
      program.buffers.push_back({name, size});
    program.steps = {{HostCall{"aten.relu", {array("in0")}, {{f16("a"), 0, -1}}, "", ""}},
                     {CopyIn{"a", "x"}},
                     {CopyIn{"in1", "y"}},
                     {LaunchBundle{"add", {"x", "y", "sum"}}},
                     {CopyOut{"sum", "b"}},
                     {HostCall{"aten.mul.Scalar",
                               {array("b"), {int64_t(2)}},
                               {{f16("out0"), 0, -1}},
                               "no reason",
                               "model.py:3:1"}}};
  }

  std::optional<RunError> run(HostFunctions *host, uint16_t &result) {
    auto made = ProgramSession::create(runtime, loaded, {.keepBuffers = true, .host = host});
    if (auto *error = std::get_if<RunError>(&made))
      return *error;
    HostTensor x = filled(kHalf), y = filled(kHalf);
    std::vector<HostTensor> results;
    auto error = std::get<std::unique_ptr<ProgramSession>>(made)->run({&x, &y}, results);
    if (!error)
      result = first(results.at(0));
    return error;
  }

  Runtime runtime;
  LoadedProgram loaded;
};

TEST_F(HostCallTest, RunsBesideLaunches) {
  uint16_t result = 0;
  auto error = run(nullptr, result);
  ASSERT_FALSE(error) << error->message;
  EXPECT_EQ(result, kTwo);
  EXPECT_TRUE(runtime.getEmulator().getReports().empty());
}

TEST_F(HostCallTest, AsksTheCallersFunctions) {
  Counting host;
  uint16_t result = 0;
  ASSERT_FALSE(run(&host, result));
  EXPECT_EQ(host.numCalls, 2);
  EXPECT_EQ(result, kTwo);
}

TEST_F(HostCallTest, SaysWhichCallFailed) {
  Counting host;
  host.fails = true;
  uint16_t result = 0;
  auto error = run(&host, result);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "host call 'aten.relu': it was told to");
}

TEST_F(HostCallTest, RefusesWhatNobodyKnowsBeforeItRuns) {
  std::get<HostCall>(loaded.program.steps.back().content).function = "aten.unknown";
  Counting host;
  for (HostFunctions *functions : {static_cast<HostFunctions *>(&host), &getHostTable()}) {
    uint16_t result = 0;
    auto error = run(functions, result);
    ASSERT_TRUE(error);
    EXPECT_NE(error->message.find("host call 'aten.unknown' (model.py:3:1) is not supported"),
              std::string::npos)
        << error->message;
  }
  EXPECT_EQ(host.numCalls, 0);
}

TEST_F(HostCallTest, RefusesArgumentsOfTheTableInWords) {
  std::get<HostCall>(loaded.program.steps.front().content).arguments = {{std::string("text")}};
  uint16_t result = 0;
  auto error = run(nullptr, result);
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("host call 'aten.relu': "), std::string::npos) << error->message;
}

TEST_F(HostCallTest, IsNotMadeByADeviceThatOnlyCounts) {
  Runtime counting(*Device::lookup("spyre"), EmulatorOptions{.countOnly = true});
  Counting host;
  auto made = ProgramSession::create(counting, loaded, {.keepBuffers = true, .host = &host});
  ASSERT_TRUE(std::get_if<std::unique_ptr<ProgramSession>>(&made));
  HostTensor x = filled(kHalf), y = filled(kHalf);
  std::vector<HostTensor> results;
  EXPECT_FALSE(std::get<std::unique_ptr<ProgramSession>>(made)->run({&x, &y}, results));
  EXPECT_EQ(host.numCalls, 0);
}

TEST_F(HostCallTest, ReadsBoundArguments) {
  auto made = ProgramSession::create(runtime, loaded);
  auto &session = std::get<std::unique_ptr<ProgramSession>>(made);
  {
    HostTensor x = filled(kHalf);
    ASSERT_FALSE(session->bind(0, x));
  }
  HostTensor y = filled(kHalf);
  std::vector<HostTensor> results;
  ASSERT_FALSE(session->run({nullptr, &y}, results));
  EXPECT_EQ(first(results.at(0)), kTwo);
}

std::string write(const Program &program) {
  std::ostringstream os;
  writeProgram(program, os, /*pretty=*/false);
  return os.str();
}

/// Bytes of this process that are in memory.
int64_t getResidentBytes() {
  int64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// Writes what it is asked for and notes how much memory there is in use.
class Filling : public HostFunctions {
public:
  bool knows(const std::string &) const override { return true; }
  std::optional<std::string> call(const HostInvocation &invocation) override {
    HostTensor &output = *invocation.outputs.at(0);
    std::memset(output.data.data(), 1, output.data.size());
    resident.push_back(getResidentBytes());
    return std::nullopt;
  }
  std::vector<int64_t> resident;
};

TEST(HostCalls, ArraysGoWithTheirLastReader) {
  constexpr int64_t kSize = 32 << 20, kCalls = 12;
  LoadedProgram loaded;
  auto bytes = [](std::string name) { return HostArray{std::move(name), HostType::Int8, {kSize}}; };
  loaded.program.results = {bytes("a" + std::to_string(kCalls - 1))};
  for (int64_t i = 0; i < kCalls; ++i) {
    std::vector<HostArgument> arguments;
    for (int64_t read = std::max<int64_t>(i - 2, 0); read < i; ++read)
      arguments.push_back(array("a" + std::to_string(read)));
    loaded.program.steps.push_back(
        {HostCall{"aten.example", arguments, {{bytes("a" + std::to_string(i)), 0, -1}}, "", ""}});
  }
  Runtime runtime(*Device::lookup("spyre"), EmulatorOptions{});
  Filling host;
  auto session = ProgramSession::create(runtime, loaded, {.keepBuffers = false, .host = &host});
  ASSERT_FALSE(std::holds_alternative<RunError>(session));
  std::vector<HostTensor> results;
  ASSERT_FALSE(std::get<std::unique_ptr<ProgramSession>>(session)->run({}, results));
  // Three at a time, not twelve.
  EXPECT_LT(host.resident.back() - host.resident.front(), 5 * kSize);
  EXPECT_EQ(std::as_const(results.at(0).data).data()[kSize - 1], 1);
}

TEST(HostCallJson, RoundTripsEveryKindOfArgument) {
  Program program;
  program.name = "main";
  program.arguments = {{"in0", HostType::Float32, {2}}, {"in1", HostType::Int64, {}}};
  program.results = {{"out0", HostType::Float32, {2}}};
  HostCall call;
  call.function = "aten.example";
  call.arguments = {{},
                    {true},
                    {int64_t(-3)},
                    {1.0},
                    {-std::numeric_limits<double>::infinity()},
                    {std::string("floor")},
                    array("in0"),
                    array("in1", /*isNumber=*/true),
                    {std::vector<HostArgument>{array("in0"), {}, {int64_t(1)}}}};
  call.outputs = {{{"tmp0", HostType::BFloat16, {1, 0}}, 1, -1},
                  {{"out0", HostType::Float32, {2}}, 0, 2}};
  call.reason = "no device form";
  call.location = "model.py:1:2";
  program.steps = {{call}};
  std::string text = write(program);
  auto read = readProgram(text);
  ASSERT_TRUE(std::get_if<Program>(&read)) << std::get<FileError>(read).message;
  EXPECT_EQ(write(std::get<Program>(read)), text);
  EXPECT_NE(text.find("\"float\":1"), std::string::npos) << text;
  EXPECT_NE(text.find("{\"scalar\":\"in1\"}"), std::string::npos) << text;
  const auto &back = std::get<HostCall>(std::get<Program>(read).steps.at(0).content);
  EXPECT_EQ(std::get<double>(back.arguments[3].value), 1.0);
  EXPECT_EQ(back.outputs[1].item, 2);
}

TEST(HostCallJson, ErrorsSayWhereAndWhat) {
  auto check = [](const std::string &step, const std::string &where, const std::string &what) {
    std::string text = R"({"version": 1, "name": "p", "target": "superdsc", "device": "spyre",
      "arguments": [{"name": "in0", "dtype": "float32", "shape": [2]}], "results": [],
      "buffers": [], "steps": [)" +
                       step + "]}";
    auto read = readProgram(text);
    auto *error = std::get_if<FileError>(&read);
    ASSERT_TRUE(error) << step;
    EXPECT_EQ(error->where, where) << error->message;
    EXPECT_NE(error->message.find(what), std::string::npos) << error->message;
  };
  check(R"({"step": "host_call", "function": "f", "arguments": [{"array": "in7"}], "outputs": []})",
        "/steps/0/arguments/0/array", "unknown array \"in7\"");
  check(
      R"({"step": "host_call", "function": "f", "arguments": [[{"float": "many"}]], "outputs": []})",
      "/steps/0/arguments/0/0/float", "\"many\" is no number");
  check(R"({"step": "host_call", "function": "f", "arguments": [1.5], "outputs": []})",
        "/steps/0/arguments/0", "");
  check(R"({"step": "host_call", "function": "f", "arguments": [], "outputs": [
           {"name": "a", "dtype": "float32", "shape": [], "result": -1}]})",
        "/steps/0/outputs/0/result", "");
  check(R"({"step": "host_call", "function": "f", "arguments": [], "outputs": [
           {"name": "a", "dtype": "float32", "shape": [], "result": 0},
           {"name": "a", "dtype": "float32", "shape": [], "result": 1}]})",
        "/steps/0/outputs/1/name", "is made twice");
}

} // namespace
