//===- LoaderTest.cpp - Plans of foreign bundles --------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every reference bundle is loaded, and its plan compared with what the names in
// the text say (%arg_1_core_512 is argument 1 plus 512 bytes), read without MLIR.
//
//===----------------------------------------------------------------------===//

#include "ReferenceData.h"

#include "spyre/Loader/Loader.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <regex>

using namespace mlir;
using ::spyre::artifact::AddressExpr;
using ::spyre::artifact::Launch;
using ::spyre::artifact::Loop;
using ::spyre::artifact::Plan;
using ::spyre::artifact::Step;

namespace {

/// A bundle's text line by line, understood by the reference's naming alone.
class TextPlan {
public:
  explicit TextPlan(const std::string &text) {
    std::istringstream lines(text);
    std::string line;
    std::vector<std::vector<Step> *> stack = {&steps};
    std::smatch match;
    while (std::getline(lines, line)) {
      if (std::regex_search(line, match, std::regex("^#(map_\\d+) = .*-> \\((.*)\\)>$"))) {
        std::string sum = match[2];
        std::vector<int64_t> strides;
        std::regex term("(\\d+)\\*d(\\d+)");
        for (std::sregex_iterator it(sum.begin(), sum.end(), term), end; it != end; ++it) {
          size_t dim = std::stoul((*it)[2]);
          strides.resize(std::max(strides.size(), dim + 1), 0);
          strides[dim] = std::stoll((*it)[1]);
        }
        maps[match[1]] = strides;
      } else if (std::regex_search(line, match,
                                   std::regex("%(loop_bound_\\d+) = arith.constant (\\d+)"))) {
        bounds[match[1]] = std::stoll(match[2]);
      } else if (std::regex_search(line, match, std::regex("scf.for .* to %(\\w+) step"))) {
        stack.back()->push_back({Loop{bounds.at(match[1]), {}}});
        stack.push_back(&std::get<Loop>(stack.back()->back().content).body);
      } else if (std::regex_search(
                     line, match,
                     std::regex("%(addr_\\d+) = affine.apply #(map_\\d+)\\(.*\\)\\[%(\\w+)\\]"))) {
        AddressExpr address = parseName(match[3]);
        address.strideInBytes = maps.at(match[2]);
        while (!address.strideInBytes.empty() && address.strideInBytes.back() == 0)
          address.strideInBytes.pop_back();
        tiled[match[1]] = address;
      } else if (std::regex_search(
                     line, match,
                     std::regex("sdsc_execute \\((.*)\\) \\{sdsc_filename=\"(.*?)\"(.*)\\}"))) {
        Launch launch;
        launch.descriptor = match[2];
        std::string operands = match[1], rest = match[3];
        std::regex name("%(\\w+)"), number("-\\d+");
        std::sregex_iterator id(rest.begin(), rest.end(), number);
        for (std::sregex_iterator it(operands.begin(), operands.end(), name), end; it != end;
             ++it, ++id)
          launch.symbols.emplace_back(std::stoll(id->str()), parseName((*it)[1]));
        stack.back()->push_back({launch});
      } else if (stack.size() > 1 && std::regex_search(line, std::regex("^\\s*\\}$"))) {
        stack.pop_back();
      }
      if (line.find("(%pool_base_addr:") != std::string::npos)
        hasPool = true;
    }
  }

  std::vector<Step> steps;
  bool hasPool = false;

private:
  AddressExpr parseName(const std::string &name) {
    if (auto it = tiled.find(name); it != tiled.end())
      return it->second;
    AddressExpr address;
    std::smatch match;
    if (std::regex_match(name, match, std::regex("arg_(\\d+)(_slice_(\\d+))?(_core_(\\d+))?"))) {
      address.base = std::stoll(match[1]);
      address.offsetInBytes = (match[3].matched ? std::stoll(match[3]) : 0) +
                              (match[5].matched ? std::stoll(match[5]) : 0);
    } else if (std::regex_match(name, match, std::regex("pool_addr_(\\d+)"))) {
      address.base = AddressExpr::kPool;
      address.offsetInBytes = std::stoll(match[1]);
    } else {
      ADD_FAILURE() << "name of an unknown form: " << name;
    }
    return address;
  }

  std::map<std::string, std::vector<int64_t>> maps;
  std::map<std::string, int64_t> bounds;
  std::map<std::string, AddressExpr> tiled;
};

std::string toText(const std::vector<Step> &steps) {
  Plan plan;
  plan.hasPool = true;
  plan.numArguments = 1000;
  plan.steps = steps;
  std::ostringstream os;
  writePlan(plan, os, true);
  return os.str();
}

class LoaderTest : public ::testing::Test {
protected:
  LoaderTest() : dir(std::filesystem::path(::testing::TempDir()) / "spyre-loader-test") {
    std::filesystem::remove_all(dir);
    std::filesystem::create_directories(dir);
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      std::string where;
      if (auto loc = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
        where = std::filesystem::path(loc.getFilename().str()).filename().string() + ":" +
                std::to_string(loc.getLine()) + ": ";
      messages += where + diagnostic.str() + "\n";
      return success();
    });
  }
  ~LoaderTest() override { std::filesystem::remove_all(dir); }

  void write(const std::string &name, const std::string &text) {
    std::ofstream(dir / name) << text;
  }
  /// The diagnostics of loading a bundle with \p body between the braces of its
  /// function with two parameters; "" if it loads.
  std::string load(const std::string &body) {
    write("bundle.mlir", "func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>, "
                         "%arg_1_base_addr: !sdscbundle.input_arg<index>) {\n" +
                             body + "  return\n}\n");
    return load();
  }
  std::string load() {
    messages.clear();
    plan = ::spyre::loadBundlePlan(dir.string(), context);
    EXPECT_EQ(failed(plan), !messages.empty()) << messages;
    return messages;
  }

  std::filesystem::path dir;
  std::string messages;
  MLIRContext context;
  FailureOr<Plan> plan = failure();
};

TEST_F(LoaderTest, PlansOfAllReferenceBundles) {
  int loops = 0, pools = 0;
  for (const std::filesystem::path &bundle : test::getBundleDirs()) {
    messages.clear();
    FailureOr<Plan> loaded = ::spyre::loadBundlePlan(bundle.string(), context);
    ASSERT_TRUE(succeeded(loaded)) << bundle << messages;
    TextPlan expected(test::readFile(bundle / "bundle.mlir"));
    EXPECT_EQ(toText(loaded->steps), toText(expected.steps)) << bundle;
    EXPECT_EQ(loaded->hasPool, expected.hasPool) << bundle;
    EXPECT_EQ(loaded->name, "sdsc_bundle");
    pools += loaded->hasPool;
    for (const Step &step : loaded->steps)
      loops += std::holds_alternative<Loop>(step.content);
    if (std::filesystem::exists(bundle / "bind.json")) {
      auto spec = nlohmann::json::parse(test::readFile(bundle / "bind.json"));
      EXPECT_EQ(loaded->numArguments, static_cast<int64_t>(spec["arguments"].size())) << bundle;
      EXPECT_EQ(loaded->poolInBytes, spec["pool_bytes"].get<int64_t>()) << bundle;
    }
  }
  EXPECT_GE(loops, 4);
  EXPECT_GE(pools, 10);
}

TEST_F(LoaderTest, PoolIsKnownByNameOrByTheNumberOfArguments) {
  auto bundle = [](const std::string &first) {
    return "func.func @f(%" + first +
           ": !sdscbundle.input_arg<index>, %x: !sdscbundle.input_arg<index>) {\n  return\n}\n";
  };
  const std::string argument =
      R"({"role":"input","array":"in0","shape":[64],"dtype":"float16","device_size":[1,64],"stride_map":[64,1],"device_dtype":"SEN169_FP16"})";
  write("bundle.mlir", bundle("pool_base_addr"));
  ASSERT_EQ(load(), "");
  EXPECT_TRUE(plan->hasPool);
  EXPECT_EQ(plan->numArguments, 1);
  write("bundle.mlir", bundle("a"));
  ASSERT_EQ(load(), "");
  EXPECT_FALSE(plan->hasPool);
  EXPECT_EQ(plan->numArguments, 2);
  write("launch_spec.json", R"({"version":1,"pool_bytes":256,"arguments":[)" + argument + "]}");
  ASSERT_EQ(load(), "");
  EXPECT_TRUE(plan->hasPool);
  EXPECT_EQ(plan->poolInBytes, 256);
  write("launch_spec.json", R"({"version":1,"arguments":[]})");
  EXPECT_EQ(load(),
            "bundle.mlir:1: the bundle has 2 parameters but launch_spec.json lists 0 arguments\n");
  write("launch_spec.json", R"({"version":2,"arguments":[]})");
  EXPECT_EQ(load(), "launch_spec.json:0: /version: version 2 is newer than the newest that this "
                    "build reads, 1\n");
}

TEST_F(LoaderTest, PoolMayBeMadeInTheBody) {
  const std::string parameter = "%arg_0_base_addr: !sdscbundle.input_arg<index>";
  write("bundle.mlir", "func.func @f(" + parameter +
                           ") {\n"
                           "  %pool = sdscbundle.device_mem_allocate 100 bytes : index\n"
                           "  %more = sdscbundle.device_mem_allocate 256 bytes : index\n"
                           "  return\n}\n");
  ASSERT_EQ(load(), "");
  EXPECT_TRUE(plan->hasPool);
  EXPECT_EQ(plan->numArguments, 1);
  EXPECT_EQ(plan->poolInBytes, 128 + 256);
  write("bundle.mlir", "func.func @f(%pool_base_addr: !sdscbundle.input_arg<index>) {\n"
                       "  %pool = sdscbundle.device_mem_allocate 128 bytes : index\n"
                       "  return\n}\n");
  EXPECT_EQ(load(), "bundle.mlir:2: makes a pool, and the first parameter is one\n");
}

TEST_F(LoaderTest, SizesAreNoAddresses) {
  const std::string type = "!sdscbundle.input_arg<index, granularity = 64, max_value = 4096>";
  auto bundle = [&](const std::string &body) {
    return "func.func @f(%n: " + type + ", %arg_0_base_addr: !sdscbundle.input_arg<index>) {\n" +
           "  %size = sdscbundle.input_arg_extract value from %n : " + type + " -> index\n" + body +
           "  return\n}\n";
  };
  write("bundle.mlir", bundle(""));
  ASSERT_EQ(load(), "");
  EXPECT_EQ(plan->numArguments, 1);
  ASSERT_EQ(plan->sizes.size(), 1u);
  EXPECT_EQ(plan->sizes[0].position, 0);
  EXPECT_EQ(plan->sizes[0].maxValue, 4096);
  write("bundle.mlir", bundle("  %sum = arith.addi %size, %size : index\n"));
  EXPECT_EQ(load(), "bundle.mlir:3: computes with a size, which only stands for the size of a "
                    "dim\n");
}

TEST_F(LoaderTest, EvaluatesArithmetic) {
  std::filesystem::copy_file(test::getDataDir() / "superdsc/cases/pw_exp_2d_1c/sdsc_0.json",
                             dir / "sdsc_0.json");
  ASSERT_EQ(load(R"(
  %a = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c3 to %c9 step %c2 {
    scf.for %j = %c2 to %c2 step %c2 {
      %0 = arith.muli %i, %c9 : index
      %1 = arith.addi %0, %a : index
      %2 = affine.apply affine_map<(d0, d1)[s0] -> (s0 + d0 * 128 - d1 * 64 + 7 floordiv 2)>(%j, %i)[%1]
      %3 = arith.subi %2, %c2 : index
      sdscbundle.sdsc_execute (%3, %c9) {sdsc_filename="sdsc_0.json", symbol_ids=[-4, -2]}
    }
  }
)"),
            "");
  // i = 3 + 2k, j = 2 + 2l: 9 i + a + 128 j - 64 i + 3 - 2 = a - 165 - 110 k + 256 + 256 l + 1.
  const Loop &outer = std::get<Loop>(plan->steps[0].content);
  EXPECT_EQ(outer.count, 3);
  const Loop &inner = std::get<Loop>(outer.body[0].content);
  EXPECT_EQ(inner.count, 0);
  const Launch &launch = std::get<Launch>(inner.body[0].content);
  EXPECT_EQ(launch.symbols[0].first, -4);
  EXPECT_EQ(launch.symbols[0].second.base, 0);
  EXPECT_EQ(launch.symbols[0].second.offsetInBytes, 92);
  EXPECT_EQ(launch.symbols[0].second.strideInBytes, (std::vector<int64_t>{-110, 256}));
  EXPECT_EQ(launch.symbols[1].second.base, AddressExpr::kAbsolute);
  EXPECT_EQ(launch.symbols[1].second.offsetInBytes, 9);
}

TEST_F(LoaderTest, ErrorsAreNamedAtTheirPlace) {
  std::string good =
      test::readFile(test::getDataDir() / "superdsc/bundles/small/add_64x256/sdsc_0.json");
  write("sdsc_0.json", good);
  const std::string extract = "  %a = sdscbundle.input_arg_extract value from %arg_0_base_addr : "
                              "!sdscbundle.input_arg<index> -> index\n"
                              "  %b = sdscbundle.input_arg_extract value from %arg_1_base_addr : "
                              "!sdscbundle.input_arg<index> -> index\n"
                              "  %c2 = arith.constant 2 : index\n";
  EXPECT_EQ(load("  sdscbundle.sdsc_execute () {sdsc_filename=\"sdsc_7.json\"}\n"),
            "bundle.mlir:2: names the descriptor \"sdsc_7.json\", which is not in " + dir.string() +
                "\n");
  EXPECT_EQ(
      load("  sdscbundle.sdsc_execute () {sdsc_filename=\"../sdsc_0.json\"}\n"),
      "bundle.mlir:2: 'sdscbundle.sdsc_execute' op names the file \"../sdsc_0.json\", which is "
      "not directly inside the bundle directory\n");
  EXPECT_EQ(load("  sdscbundle.sdsc_execute () {sdsc_filename=\"sdsc_0.json\"}\n").substr(0, 56),
            "bundle.mlir:2: does not bind symbol -1 that sdsc_0.json ");
  EXPECT_EQ(load(extract + "  %s = arith.addi %a, %b : index\n"),
            "bundle.mlir:5: adds two base addresses\n");
  EXPECT_EQ(load(extract + "  %s = arith.muli %a, %c2 : index\n"),
            "bundle.mlir:5: multiplies a base address\n");
  EXPECT_EQ(load(extract + "  %s = arith.divsi %c2, %c2 : index\n"),
            "bundle.mlir:5: 'arith.divsi' cannot stand in a bundle\n");
  EXPECT_EQ(load(extract + "  scf.for %i = %c2 to %a step %c2 {\n  }\n"),
            "bundle.mlir:5: the loop's upper bound is not constant\n");
  EXPECT_EQ(load(extract +
                 "  scf.for %i = %c2 to %c2 step %c2 {\n %s = arith.muli %i, %i : index\n  }\n"),
            "bundle.mlir:6: is not affine: it multiplies two values that are not constant\n");
  EXPECT_EQ(load(extract + "  scf.for %i = %c2 to %c2 step %c2 {\n %s = affine.apply "
                           "affine_map<(d0) -> (d0 mod 2)>(%i)\n  }\n"),
            "bundle.mlir:6: is not affine in the loop variables: it divides\n");
  EXPECT_NE(load("  %x = foo.bar : index\n"), "");
  EXPECT_NE(load("  sdscbundle.sdsc_execute () {sdsc_file"), "");

  write("sdsc_0.json", good.substr(0, good.size() / 2));
  EXPECT_EQ(load("  sdscbundle.sdsc_execute () {sdsc_filename=\"sdsc_0.json\"}\n").substr(0, 15),
            "sdsc_0.json:1: ");
  std::filesystem::remove(dir / "bundle.mlir");
  EXPECT_EQ(load(), "bundle.mlir:0: cannot be read: No such file or directory\n");
  std::filesystem::create_directory(dir / "bundle.mlir");
  EXPECT_EQ(load(), "bundle.mlir:0: is no file\n");
}

} // namespace
