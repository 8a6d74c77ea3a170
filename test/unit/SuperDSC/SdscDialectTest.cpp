//===- SdscDialectTest.cpp - Descriptors and bundles as MLIR --------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every descriptor of the reference data becomes an operation, prints, parses
// and comes back unchanged; every bundle.mlir parses and prints the same way.
//
//===----------------------------------------------------------------------===//

#include "ReferenceData.h"

#include "spyre/SuperDSC/DescriptorJson.h"
#include "spyre/Target/SuperDSC/DescriptorConversion.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <sstream>

using namespace mlir;

namespace {

class SdscDialectTest : public ::testing::Test {
protected:
  SdscDialectTest() {
    DialectRegistry registry;
    registry.insert<affine::AffineDialect, arith::ArithDialect, func::FuncDialect, scf::SCFDialect,
                    sdsc::SdscDialect, sdscbundle::SdscBundleDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      messages += diagnostic.str() + "\n";
      return success();
    });
  }

  std::string print(Operation *op) {
    std::string text;
    llvm::raw_string_ostream os(text);
    op->print(os);
    return text;
  }

  /// The messages of parsing \p text, "" if it parses.
  std::string parseError(const std::string &text) {
    messages.clear();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    return messages;
  }

  std::string messages;
  MLIRContext context;
};

std::string toJson(const ::spyre::sdsc::Descriptor &descriptor, ::spyre::sdsc::Form form) {
  std::ostringstream os;
  ::spyre::sdsc::WriteOptions options;
  options.form = form;
  writeDescriptor(descriptor, os, options);
  return os.str();
}

TEST_F(SdscDialectTest, DescriptorsSurviveTheDialect) {
  int explicitFolds = 0;
  for (const auto &[name, text] : test::getAllDescriptors()) {
    auto result = ::spyre::sdsc::readDescriptor(text, name);
    ASSERT_TRUE(std::holds_alternative<::spyre::sdsc::Descriptor>(result)) << name;
    const auto &descriptor = std::get<::spyre::sdsc::Descriptor>(result);
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    OpBuilder builder = OpBuilder::atBlockBegin(module->getBody());
    sdsc::DescriptorOp op = sdsc::buildDescriptorOp(builder, UnknownLoc::get(&context), descriptor);
    ASSERT_TRUE(succeeded(verify(module->getOperation()))) << name << messages;
    op.walk(
        [&](sdsc::AllocateOp allocate) { explicitFolds += allocate.getCoordinates().has_value(); });

    std::string printed = print(*module);
    OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(printed, &context);
    ASSERT_TRUE(parsed) << name << "\n" << messages << printed;
    EXPECT_EQ(print(*parsed), printed) << name;
    auto back = sdsc::toDescriptor(*parsed->getOps<sdsc::DescriptorOp>().begin());
    ASSERT_TRUE(succeeded(back)) << name << messages;
    for (auto form : {::spyre::sdsc::Form::June2026, ::spyre::sdsc::Form::August2026})
      EXPECT_EQ(toJson(*back, form), toJson(descriptor, form)) << name;
  }
  // The standard folds are what the files hold, except in a few odd ones.
  RecordProperty("explicit_folds", explicitFolds);
  EXPECT_LT(explicitFolds, 150) << "folds that the standard rule does not give";
}

TEST_F(SdscDialectTest, RareFieldsSurviveTheDialect) {
  namespace sd = ::spyre::sdsc;
  auto result = sd::readDescriptor(test::getAllDescriptors().front().second, "");
  sd::Descriptor d = std::get<sd::Descriptor>(result);
  ASSERT_FALSE(d.dims.empty());
  std::string dim = d.dims.front().name;
  d.dims.front().epilogueSize = 1;
  d.dimSymbols = {{dim, {-7}}};
  d.steadyStage.symbolicDims = {{dim, 512, 64}};
  d.epilogueStage.symbolicDims = {{dim, 512, 64}};
  d.windows = {{dim, 1, 2, 34, 2, 1, dim, std::array<int64_t, 3>{1, 0, 1}}};
  d.steadyStage.windows = {{dim, -1, -1, std::nullopt, 1, 3, dim, std::nullopt}};
  d.epilogueStage.windows = d.windows;
  d.target = "senulator";
  d.operationTarget = "sentient";
  d.corelets = {2, "corelet"};
  d.numCorelets = 2;
  d.coreIds.assign(static_cast<size_t>(d.numCores), 3);
  d.folds = {{{2, "time"}}, {{4, 1, 2, "time"}}, {{"[0]", "0"}, {"[1]", "5"}}};
  d.schedule.assign(static_cast<size_t>(d.numCores), {{-1, 0, 0, 0}, {-1, 0, 1, 1}});
  d.spelling = {true, true, true, false};
  d.tensors.front().unusualAllocationName = "elsewhere";
  d.tensors.front().addressCorelets = 2;
  d.tensors.front().maxDimSizes.assign(d.tensors.front().dimOrder.size(), 16);
  d.tensors.front().coordinates.front().padding = sd::PaddingKind::PaddedFullSpanWithUnneeded;
  d.constants.push_back({"eps", ::spyre::DataFormat::SEN169_FP16, 0x1234, 2});
  d.unknownFields = {{"/futureField", "[1]"}};

  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  OpBuilder builder = OpBuilder::atBlockBegin(module->getBody());
  sdsc::buildDescriptorOp(builder, UnknownLoc::get(&context), d);
  ASSERT_TRUE(succeeded(verify(module->getOperation()))) << messages;
  std::string printed = print(*module);
  OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(printed, &context);
  ASSERT_TRUE(parsed) << messages << printed;
  auto back = sdsc::toDescriptor(*parsed->getOps<sdsc::DescriptorOp>().begin());
  ASSERT_TRUE(succeeded(back)) << messages;
  std::string json = toJson(d, sd::Form::August2026);
  EXPECT_EQ(toJson(*back, sd::Form::August2026), json);
  // What the text of the module says is what is in the file.
  for (const char *field : {"symbolicDimInfo_", "dimToSymbolMapping_", "windowDim_", "senulator",
                            "padded_fullspan_wunneeded", "futureField", "elsewhere"})
    EXPECT_NE(json.find(field), std::string::npos) << field;
}

/// Text without white space, for comparing structure and spelling.
std::string squeeze(const std::string &text) {
  std::string result;
  for (char c : text)
    if (!isspace(static_cast<unsigned char>(c)))
      result += c;
  return result;
}

TEST_F(SdscDialectTest, ExecuteLinesPrintAsTheReferenceWritesThem) {
  const std::string text = R"(module {
  func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>) {
    %0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
    sdscbundle.sdsc_execute (%0) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1]}
    sdscbundle.sdsc_execute () {sdsc_filename="sdsc_1.json", "symbol_ids"=[]}
    sdscbundle.sdsc_execute () {sdsc_filename="sdsc_2.json"}
    return
  }
}
)";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module) << messages;
  std::string expected = text;
  size_t at;
  while ((at = expected.find("%arg_0_base_addr")) != std::string::npos)
    expected.replace(at, 16, "%arg0");
  EXPECT_EQ(print(*module), expected);
  // The unquoted spelling, with blanks, is the same operation.
  std::string unquoted = text;
  while ((at = unquoted.find("\"symbol_ids\"=")) != std::string::npos)
    unquoted.replace(at, 13, "symbol_ids = ");
  OwningOpRef<ModuleOp> second = parseSourceString<ModuleOp>(unquoted, &context);
  ASSERT_TRUE(second) << messages;
  EXPECT_EQ(print(*second), expected);
}

TEST_F(SdscDialectTest, EveryReferenceBundleParsesAndRoundTrips) {
  std::vector<std::pair<std::string, std::string>> bundles;
  for (const std::filesystem::path &dir : test::getBundleDirs())
    bundles.emplace_back(dir.string(), test::readFile(dir / "bundle.mlir"));
  nlohmann::ordered_json operations = test::loadRandomOps();
  for (size_t i = 0; i < operations.size(); ++i)
    bundles.emplace_back("random_ops " + std::to_string(i), operations[i]["bundle"]);
  for (const auto &[name, text] : bundles) {
    messages.clear();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << name << "\n" << messages;
    std::string printed = print(*module);
    OwningOpRef<ModuleOp> again = parseSourceString<ModuleOp>(printed, &context);
    ASSERT_TRUE(again) << name << "\n" << messages;
    EXPECT_EQ(print(*again), printed) << name;
    // The same number of executions, with the same attributes.
    size_t count = 0, position = 0;
    module->walk([&](sdscbundle::SdscExecuteOp op) {
      std::string attributes = squeeze(print(op));
      attributes = attributes.substr(attributes.find('{'));
      position = squeeze(text).find(attributes, position);
      EXPECT_NE(position, std::string::npos) << name << attributes;
      ++count;
    });
    EXPECT_GE(count, 1u);
  }
  EXPECT_GE(bundles.size(), 400u);
}

TEST_F(SdscDialectTest, ExecuteErrors) {
  auto execute = [](const std::string &line) {
    return "func.func @f(%a: index, %b: index) {\n sdscbundle.sdsc_execute " + line +
           "\n return\n}\n";
  };
  const std::string op = "'sdscbundle.sdsc_execute' op ";
  EXPECT_EQ(parseError(execute(R"((%a, %b) {sdsc_filename="s.json", "symbol_ids"=[-1]})")),
            op + "has 2 addresses for 1 symbol ids\n");
  EXPECT_EQ(parseError(execute(R"((%a) {sdsc_filename="s.json"})")),
            op + "has 1 addresses for 0 symbol ids\n");
  EXPECT_EQ(parseError(execute(R"((%a) {sdsc_filename="s.json", symbol_ids=[0]})")),
            op + "has the symbol id 0; ids are negative\n");
  EXPECT_EQ(parseError(execute(R"((%a, %b) {sdsc_filename="s.json", symbol_ids=[-1, -1]})")),
            op + "has the symbol id -1 twice\n");
  for (const char *name : {"../s.json", "/s.json", "..", "", "a/s.json", "a\\\\s.json"})
    EXPECT_EQ(parseError(execute(std::string("() {sdsc_filename=\"") + name + "\"}")),
              op + "names the file \"" + name +
                  "\", which is not directly inside the bundle directory\n");
  EXPECT_NE(parseError(execute("() {symbol_ids=[]}")), "");
  EXPECT_NE(parseError(execute(R"(() {sdsc_filename="s.json", symbol_ids=["x"]})")), "");
}

TEST_F(SdscDialectTest, LaunchSpecTravelsOnTheFunction) {
  for (const std::filesystem::path &dir : test::getBundleDirs()) {
    if (!std::filesystem::exists(dir / "bind.json"))
      continue;
    auto result = ::spyre::artifact::readLaunchSpec(test::readFile(dir / "bind.json"));
    ASSERT_TRUE(std::holds_alternative<::spyre::artifact::LaunchSpec>(result));
    auto spec = std::get<::spyre::artifact::LaunchSpec>(result);
    spec.kernelName = "sdsc_bundle";
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(test::readFile(dir / "bundle.mlir"), &context);
    ASSERT_TRUE(module) << messages;
    sdscbundle::setLaunchSpec(*module->getOps<func::FuncOp>().begin(), spec);
    ASSERT_TRUE(succeeded(verify(module->getOperation()))) << messages;
    OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(print(*module), &context);
    ASSERT_TRUE(parsed) << messages << print(*module);
    auto back = sdscbundle::getLaunchSpec(*parsed->getOps<func::FuncOp>().begin());
    ASSERT_TRUE(back.has_value());
    std::ostringstream before, after;
    writeLaunchSpec(spec, before, true);
    writeLaunchSpec(*back, after, true);
    EXPECT_EQ(after.str(), before.str()) << dir;
  }
}

} // namespace
