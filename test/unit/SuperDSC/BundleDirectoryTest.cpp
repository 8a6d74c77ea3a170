//===- BundleDirectoryTest.cpp - Bundles to MLIR and back -----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every reference bundle is read into the dialects, printed, parsed, written as a
// directory, and compared: the descriptors as JSON, bundle.mlir as text, plan.json
// with what the Loader makes of the written bundle.
//
//===----------------------------------------------------------------------===//

#include "ReferenceData.h"

#include "spyre/Dialect/SuperDSC/IR/SdscDialect.h"
#include "spyre/Dialect/SuperDSC/Transforms/Passes.h"
#include "spyre/Loader/Loader.h"
#include "spyre/Target/SuperDSC/BundleDirectory.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
namespace sd = ::spyre::sdsc;
namespace fs = std::filesystem;

namespace {

class BundleDirectoryTest : public ::testing::Test {
protected:
  BundleDirectoryTest()
      : dir(fs::path(::testing::TempDir()) / ("spyre-bundle-" + std::to_string(::getpid()))) {
    fs::remove_all(dir);
    fs::create_directories(dir);
    DialectRegistry registry;
    ::spyre::registerBundleDialects(registry);
    registry.insert<sdsc::SdscDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
      return success();
    });
  }
  ~BundleDirectoryTest() override { fs::remove_all(dir); }

  static std::string print(Operation *op) {
    std::string text;
    llvm::raw_string_ostream os(text);
    op->print(os);
    return text;
  }

  fs::path dir;
  std::string messages;
  MLIRContext context;
};

TEST_F(BundleDirectoryTest, ReferenceBundlesRoundTrip) {
  for (const fs::path &bundle : test::getBundleDirs()) {
    messages.clear();
    auto read = sdsc::readBundleDirectory(bundle.string(), context);
    ASSERT_TRUE(succeeded(read)) << bundle << messages;
    if (!test::isFaulty(test::loadCaseJson(bundle)))
      EXPECT_TRUE(succeeded(sdsc::verifyModule(**read))) << bundle << messages;
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(print(**read), &context);
    ASSERT_TRUE(module) << bundle << messages;

    sd::WriteOptions options;
    std::string first = test::readFile(bundle / "sdsc_0.json");
    options.form = first.find("\"symbolicDimInfo_\"") == std::string::npos ? sd::Form::June2026
                                                                           : sd::Form::August2026;
    fs::path out = dir / "out";
    ASSERT_TRUE(succeeded(sdsc::writeBundleDirectory(*module, out.string(), options)))
        << bundle << messages;

    EXPECT_EQ(test::readFile(out / "bundle.mlir"), test::readFile(bundle / "bundle.mlir"))
        << bundle;
    for (const auto &entry : fs::directory_iterator(bundle)) {
      std::string name = entry.path().filename().string();
      if (name.rfind("sdsc_", 0) != 0 || name == "sdsc_spec.json")
        continue;
      EXPECT_EQ(nlohmann::json::parse(test::readFile(out / name)),
                nlohmann::json::parse(test::readFile(entry.path())))
          << entry.path();
    }
    EXPECT_EQ(fs::exists(out / "launch_spec.json"), fs::exists(bundle / "bind.json"));

    auto plan = ::spyre::loadBundlePlan(out.string(), context);
    ASSERT_TRUE(succeeded(plan)) << bundle << messages;
    std::ostringstream text;
    writePlan(*plan, text, false);
    EXPECT_EQ(test::readFile(out / "plan.json"), text.str()) << bundle;
  }
}

TEST_F(BundleDirectoryTest, WritingTwiceGivesTheSameBytes) {
  fs::path bundle = test::getDataDir() / "superdsc/bundles/small/softmax_pool_32x256";
  auto read = sdsc::readBundleDirectory(bundle.string(), context);
  ASSERT_TRUE(succeeded(read)) << messages;
  for (const char *name : {"a", "b"})
    ASSERT_TRUE(succeeded(sdsc::writeBundleDirectory(**read, (dir / name).string(), {})));
  int count = 0;
  for (const auto &entry : fs::directory_iterator(dir / "a")) {
    EXPECT_EQ(test::readFile(entry.path()), test::readFile(dir / "b" / entry.path().filename()));
    ++count;
  }
  EXPECT_EQ(count, 8);
}

TEST_F(BundleDirectoryTest, Errors) {
  auto write = [&](const std::string &text) {
    messages.clear();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << messages;
    EXPECT_TRUE(failed(sdsc::writeBundleDirectory(*module, (dir / "out").string(), {})));
    EXPECT_FALSE(fs::exists(dir / "out"));
    EXPECT_TRUE(fs::is_empty(dir));
    return messages;
  };
  EXPECT_EQ(write("module {}"), "a bundle is one function with a body; the module has 0\n");
  EXPECT_EQ(
      write(
          "func.func @f() { sdscbundle.sdsc_execute () {sdsc_filename=\"sdsc_0.json\"}\n return }"),
      "the module has no descriptor @sdsc_0\n");
  EXPECT_EQ(
      write(
          "func.func @f(%a: index, %b: index) attributes {sdscbundle.arguments = []} {\n return }"),
      "has 2 parameters but its launch spec lists 0 arguments\n");
}

} // namespace
