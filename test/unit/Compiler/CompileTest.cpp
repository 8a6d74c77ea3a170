//===- CompileTest.cpp - From a text to a program directory --------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/Compile.h"
#include "spyre/Artifact/Program.h"
#include "spyre/Tools/Register.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace fs = std::filesystem;
using namespace spyre::compiler;

namespace {

constexpr const char *kRelu = R"(
func.func @main(%x: !torch.vtensor<[64,128],f16>) -> !torch.vtensor<[64,128],f16> {
  %0 = torch.aten.relu %x : !torch.vtensor<[64,128],f16> -> !torch.vtensor<[64,128],f16>
  return %0 : !torch.vtensor<[64,128],f16>
})";

// Sorting is the host's, in its table.
constexpr const char *kSorted = R"(
func.func @main(%x: !torch.vtensor<[4,64],f16>) -> !torch.vtensor<[4,64],f16> {
  %dim = torch.constant.int -1
  %no = torch.constant.bool false
  %0 = torch.aten.relu %x : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
  %1, %2 = torch.aten.sort %0, %dim, %no : !torch.vtensor<[4,64],f16>, !torch.int, !torch.bool -> !torch.vtensor<[4,64],f16>, !torch.vtensor<[4,64],si64>
  %3 = torch.aten.tanh %1 : !torch.vtensor<[4,64],f16> -> !torch.vtensor<[4,64],f16>
  return %3 : !torch.vtensor<[4,64],f16>
})";

class CompileTest : public testing::Test {
protected:
  CompileTest() {
    folder = fs::temp_directory_path() /
             ("spyre-compile-test-" +
              std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder);
    spyre::registerAllDialects(registry);
    options.onDiagnostic = [this](mlir::Diagnostic &diagnostic) {
      messages.push_back(diagnostic.str());
      for (const mlir::Diagnostic &note : diagnostic.getNotes())
        messages.push_back(note.str());
    };
  }
  ~CompileTest() override { fs::remove_all(folder); }

  bool compile(const char *text) {
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    stats = {};
    return mlir::succeeded(compileText(text, "program", folder.string(), options, stats, context));
  }

  /// The files of the program by their names.
  std::map<std::string, std::string> readFiles() {
    std::map<std::string, std::string> files;
    for (const fs::directory_entry &entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) {
        std::ifstream file(entry.path());
        std::stringstream text;
        text << file.rdbuf();
        files[fs::relative(entry.path(), folder).string()] = text.str();
      }
    return files;
  }

  mlir::DialectRegistry registry;
  fs::path folder;
  CompileOptions options;
  CompileStats stats;
  std::vector<std::string> messages;
};

TEST_F(CompileTest, WritesAProgram) {
  ASSERT_TRUE(compile(kRelu));
  std::map<std::string, std::string> files = readFiles();
  for (const char *file : {"program.json", "bundles/0/plan.json", "bundles/0/launch_spec.json",
                           "bundles/0/bundle.mlir", "bundles/0/sdsc_0.json"})
    EXPECT_TRUE(files.count(file)) << file;
  auto program = spyre::artifact::readProgram(files["program.json"]);
  ASSERT_TRUE(std::holds_alternative<spyre::artifact::Program>(program));
  EXPECT_EQ(std::get<spyre::artifact::Program>(program).steps.size(),
            5u); // in, launch, free, out, free
  EXPECT_EQ(stats.numBundles, 1);
  EXPECT_EQ(stats.numDeviceOps, 1);
  EXPECT_TRUE(messages.empty());
}

TEST_F(CompileTest, TheSameTextGivesTheSameBytes) {
  ASSERT_TRUE(compile(kSorted));
  std::map<std::string, std::string> first = readFiles();
  fs::remove_all(folder);
  ASSERT_TRUE(compile(kSorted));
  EXPECT_EQ(first, readFiles());
}

TEST_F(CompileTest, WhatTheDeviceRefusesIsTheHosts) {
  ASSERT_TRUE(compile(kSorted));
  EXPECT_EQ(stats.hostCalls, (std::map<std::string, int64_t>{{"aten.sort", 1}}));
  EXPECT_EQ(stats.numBundles, 2);
  ASSERT_EQ(stats.hostFacts.size(), 1u);
  EXPECT_NE(stats.hostFacts[0].reason.find("no device operation"), std::string::npos);
}

TEST_F(CompileTest, WithoutAHostItIsRefusedAndNothingIsWritten) {
  options.host = HostPolicy::None;
  EXPECT_FALSE(compile(kSorted));
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_TRUE(llvm::any_of(messages, [](const std::string &message) {
    return message.find("torch.aten.sort") != std::string::npos;
  }));
}

TEST_F(CompileTest, AWeightThatIsNotThereIsTheOptionsMistake) {
  options.weights = {7};
  EXPECT_FALSE(compile(kRelu));
  EXPECT_NE(stats.usageError.find("there is no in7"), std::string::npos);
  EXPECT_TRUE(messages.empty());
}

TEST_F(CompileTest, LevelsDoNotChangeWhatAProgramTakes) {
  std::string signature;
  for (int level = 0; level <= 3; ++level) {
    options.optLevel = level;
    fs::remove_all(folder);
    ASSERT_TRUE(compile(kSorted)) << level;
    auto read = spyre::artifact::readProgram(readFiles()["program.json"]);
    const auto &program = std::get<spyre::artifact::Program>(read);
    std::string own;
    for (const auto *arrays : {&program.arguments, &program.results})
      for (const spyre::artifact::HostArray &array : *arrays)
        own += array.name + " ";
    if (level == 0)
      signature = own;
    EXPECT_EQ(own, signature);
  }
}

} // namespace
