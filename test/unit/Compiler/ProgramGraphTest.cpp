//===- ProgramGraphTest.cpp - Programs taken apart ---------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/ProgramGraph.h"
#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"
#include "spyre/Tools/Register.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using ::spyre::compiler::HostNumbers;

namespace {

// Two launches of one layer, then another function.
constexpr const char *kLayers = R"(
func.func private @layer(%x: tensor<4x64xf16>, %w: tensor<4x64xf16>) -> tensor<4x64xf16> {
  return %x : tensor<4x64xf16>
}
func.func private @last(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  return %x : tensor<4x64xf16>
}
func.func @main(%x: tensor<4x64xf16>, %a: tensor<4x64xf16>, %b: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %0 = call @layer(%x, %a) : (tensor<4x64xf16>, tensor<4x64xf16>) -> tensor<4x64xf16>
  %1 = call @layer(%0, %b) : (tensor<4x64xf16>, tensor<4x64xf16>) -> tensor<4x64xf16>
  %2 = call @last(%1) : (tensor<4x64xf16>) -> tensor<4x64xf16>
  return %2 : tensor<4x64xf16>
})";

constexpr const char *kOne = R"(
func.func @main(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  return %x : tensor<4x64xf16>
})";

class ProgramGraphTest : public testing::Test {
protected:
  ProgramGraphTest() {
    DialectRegistry registry;
    ::spyre::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  ::spyre::compiler::ProgramGraph split(const char *text, HostNumbers numbers) {
    auto graph = ::spyre::compiler::splitProgram(parseSourceString<ModuleOp>(text, &context),
                                                 /*isSplit=*/false, numbers);
    EXPECT_TRUE(succeeded(graph));
    return std::move(*graph);
  }

  static func::FuncOp getFunction(const ::spyre::compiler::ProgramGraph &graph, size_t bundle) {
    return *graph.bundles[bundle].get().getOps<func::FuncOp>().begin();
  }

  MLIRContext context;
};

TEST_F(ProgramGraphTest, EqualLayersAreOneBundle) {
  ::spyre::compiler::ProgramGraph graph = split(kLayers, HostNumbers::Rounded);
  ASSERT_EQ(graph.bundles.size(), 2u);
  ASSERT_EQ(graph.calls.size(), 3u);
  EXPECT_EQ(graph.getNumLaunches(0), 2);
  EXPECT_EQ(graph.getNumLaunches(1), 1);
  const auto &second = std::get<::spyre::compiler::BundleCall>(graph.calls[1]);
  EXPECT_EQ(second.inputs.back(), "in2");
  EXPECT_EQ(second.inputs.front(),
            std::get<::spyre::compiler::BundleCall>(graph.calls[0]).outputs.front());
  EXPECT_EQ(graph.results, std::vector<std::string>{"out0"});
}

TEST_F(ProgramGraphTest, WhatTheHostPassesAndTakesIsMarked) {
  ::spyre::compiler::ProgramGraph graph = split(kLayers, HostNumbers::Exact);
  func::FuncOp layer = getFunction(graph, 0), last = getFunction(graph, 1);
  // The first argument is the other launch's result, too.
  EXPECT_FALSE(layer.getArgAttr(0, mlir::spyre::kOnHostAttr));
  EXPECT_TRUE(layer.getArgAttr(1, mlir::spyre::kOnHostAttr));
  EXPECT_FALSE(layer.getResultAttr(0, mlir::spyre::kOnHostAttr));
  EXPECT_TRUE(isa<UnitAttr>(last.getResultAttr(0, mlir::spyre::kOnHostAttr)));
}

TEST_F(ProgramGraphTest, RoundedNumbersHaveNoMark) {
  ::spyre::compiler::ProgramGraph rounded = split(kOne, HostNumbers::Rounded);
  EXPECT_FALSE(getFunction(rounded, 0).getArgAttr(0, mlir::spyre::kOnHostAttr));
  ::spyre::compiler::ProgramGraph exact = split(kOne, HostNumbers::Exact);
  EXPECT_TRUE(getFunction(exact, 0).getArgAttr(0, mlir::spyre::kOnHostAttr));
}

TEST_F(ProgramGraphTest, ReadResultsAreMarkedAsRead) {
  for (const char *text : {kOne, kLayers}) {
    ::spyre::compiler::ProgramGraph graph = split(text, HostNumbers::ExactResults);
    func::FuncOp last = getFunction(graph, graph.bundles.size() - 1);
    auto mark = dyn_cast_or_null<StringAttr>(last.getResultAttr(0, mlir::spyre::kOnHostAttr));
    ASSERT_TRUE(mark);
    EXPECT_EQ(mark.getValue().str(), "read");
  }
}

} // namespace
