//===- OpFuncTableTest.cpp - The OpFunc table and the reference -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table against op_table.json (every name, unit, input, constant, format)
// and against every descriptor of the reference data. Where it differs on
// purpose, the difference stands below with its reason.
//
//===----------------------------------------------------------------------===//

#include "spyre/OpFunc/OpFuncTable.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

using namespace spyre;
using nlohmann::json;

namespace {

std::filesystem::path dataDir() {
  const char *dir = std::getenv("SPYRE_TEST_DATA");
  return (dir ? std::filesystem::path(dir)
              : std::filesystem::path(SPYRE_SOURCE_DIR) / "test/data") /
         "superdsc";
}

json load(const std::filesystem::path &path) {
  std::string text;
  if (gzFile file = gzopen(path.c_str(), "rb")) { // reads plain files too
    std::vector<char> chunk(1 << 16);
    for (int n; (n = gzread(file, chunk.data(), static_cast<unsigned>(chunk.size()))) > 0;)
      text.append(chunk.data(), static_cast<size_t>(n));
    gzclose(file);
  }
  return json::parse(text, nullptr, false);
}

struct Exception {
  std::string_view name, reason;
};

/// Formats that differ from op_table.json.
constexpr Exception kFormatExceptions[] = {
    {"where3",
     "has f32: the reference refuses it by mistake (its list says 'where'), its programs use it"},
    {"clip", "has f32 in the newer text of the specification"},
    {"silu", "has f32 in the newer text of the specification"},
    {"equal", "has f32 in the newer text, and in the reference's own list of f32 operations"},
    {"notequal", "has f32, as equal"},
    {"greaterequal", "has f32, as equal"},
    {"greaterthan", "has f32, as equal"},
    {"lesserequal", "has f32, as equal"},
    {"lesserthan", "has f32, as equal"},
    {"identity", "'any' is spelt out: every format of a whole number of bytes"},
};

/// Names beyond op_table.json. (The list of f32 operations also names 'prod', which is not the
/// name of a device operation: a product is made of mul.)
constexpr Exception kExtraNames[] = {
    {"shuffle", "LX to LX relayout of the newer form; bundles contain it"},
};

template <size_t n> bool isListed(const Exception (&list)[n], std::string_view name) {
  return std::ranges::any_of(list, [&](const Exception &e) { return e.name == name; });
}

/// Formats of the first inputs, as op_table.json lists them.
std::set<std::string> firstFormats(const OpFuncInfo &info) {
  std::set<std::string> formats;
  for (const OpFuncForm &form : info.forms)
    formats.insert(std::string(getFormatName(form.inputs[0])));
  return formats;
}

constexpr std::string_view kMask = "samv-maskvalue";

TEST(OpFuncTableTest, EqualsThePublishedTable) {
  json table = load(dataDir() / "op_table.json");
  ASSERT_TRUE(table.is_array());
  ASSERT_EQ(table.size(), 81u);
  std::set<std::string> published;
  for (const json &row : table) {
    std::string name = row["opFuncName"];
    SCOPED_TRACE(name);
    published.insert(name);
    const OpFuncInfo *info = lookupOpFunc(name);
    ASSERT_TRUE(info);
    EXPECT_EQ(info->name, name);
    EXPECT_EQ(info->emittedByReference, row["emitted_by_torch_spyre"].get<bool>());
    EXPECT_EQ(info->specified, info->emittedByReference);
    if (!info->specified) {
      EXPECT_EQ(info->unit, ExecutionUnit::Unspecified);
      EXPECT_TRUE(info->forms.empty());
      continue;
    }
    EXPECT_EQ(info->unit == ExecutionUnit::PT ? "pt" : "sfp", row["exUnit"]);
    EXPECT_EQ(info->numInputs + info->outputIsInput, row["num_inputs"].get<int64_t>());
    std::vector<std::string> constants(info->constants.begin(), info->constants.end()), expected;
    for (const json &constant : row["constants"]) {
      std::string text = constant;
      if (text.starts_with(kMask))
        EXPECT_TRUE(info->maskTail);
      else
        expected.push_back(text);
    }
    EXPECT_EQ(constants, expected);
    if (!isListed(kFormatExceptions, name))
      EXPECT_EQ(firstFormats(*info), row["formats"].get<std::set<std::string>>());
  }
  for (const OpFuncInfo &info : getOpFuncTable())
    EXPECT_NE(published.contains(std::string(info.name)), isListed(kExtraNames, info.name))
        << info.name;
  EXPECT_EQ(std::ranges::count_if(getOpFuncTable(), &OpFuncInfo::emittedByReference),
            49 + std::ssize(kExtraNames));
}

/// Formats, unit and constants of the operation in each descriptor.
void checkDescriptor(const json &root, int &count) {
  for (const json &op : root) {
    if (!op.is_object() || !op.contains("dscs_"))
      continue;
    for (const json &entry : op["dscs_"])
      for (const auto &[name, dsc] : entry.items()) {
        SCOPED_TRACE(name);
        const OpFuncInfo *info = lookupOpFunc(name);
        ASSERT_TRUE(info && info->specified);
        ++count;
        const json &compute = dsc["computeOp_"][0];
        EXPECT_EQ(compute["exUnit"], info->unit == ExecutionUnit::PT ? "pt" : "sfp");
        bool gather = compute.contains("indirectAccessIndexLabeledDs");
        EXPECT_EQ(std::ssize(compute["inputLabeledDs"]), info->numInputs + info->outputIsInput);

        std::vector<DataFormat> formats;
        for (const json &tensor : dsc["labeledDs_"])
          formats.push_back(parseFormat(tensor["dataFormat_"].get<std::string>()).value());
        if (gather)
          formats.erase(formats.begin()); // the index tensor
        DataFormat output = formats.back();
        formats.pop_back();
        const OpFuncForm *form = lookupForm(*info, formats);
        ASSERT_TRUE(form) << checkForm(*info, formats).value_or("");
        EXPECT_EQ(form->output, output);
        if (!gather)
          EXPECT_EQ(getFormatName(form->emittedAs),
                    compute["attributes_"]["dataFormat_"].get<std::string>());

        std::vector<std::string> constants, own(info->constants.begin(), info->constants.end());
        if (dsc["constantInfo_"].is_object())
          for (const json &constant : dsc["constantInfo_"])
            constants.push_back(constant["name_"]);
        if (!dsc["coordinateMasking_"].empty()) {
          EXPECT_TRUE(info->maskTail);
          own.push_back(std::string(kMask));
        }
        // Random operations carry constants that belong to another operation.
        if (constants.size() >= own.size() && name != "exp")
          EXPECT_EQ(constants, own);
      }
  }
}

TEST(OpFuncTableTest, CoversEveryReferenceDescriptor) {
  int count = 0;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(dataDir())) {
    std::string file = entry.path().filename();
    if (!file.starts_with("sdsc_") || file == "sdsc_spec.json" ||
        entry.path().extension() != ".json")
      continue;
    json root = load(entry.path());
    if (root.is_discarded())
      continue; // a corrupt file kept for the tests of bad input
    SCOPED_TRACE(entry.path().string());
    checkDescriptor(root, count);
  }
  json random = load(dataDir() / "random_ops.json.gz");
  ASSERT_EQ(random.size(), 300u);
  for (const json &item : random)
    checkDescriptor(item["sdsc"].is_array() ? item["sdsc"][0] : item["sdsc"], count);
  EXPECT_GT(count, 500); // 300 random ones, 52 cases, the bundles
}

TEST(OpFuncTableTest, LookUp) {
  EXPECT_FALSE(lookupOpFunc(""));
  EXPECT_FALSE(lookupOpFunc("Add"));
  EXPECT_FALSE(lookupOpFunc("zzz"));
  EXPECT_FALSE(lookupOpFunc("prod"));
  for (const OpFuncInfo &info : getOpFuncTable()) {
    EXPECT_EQ(lookupOpFunc(info.name), &info);
    EXPECT_EQ(&getOpFuncInfo(info.opFunc), &info);
  }
  EXPECT_EQ(getOpFuncInfo(OpFunc::Restickify).name, "ReStickifyOpHBM");
  EXPECT_EQ(lookupOpFunc("ReStickifyOpHBM")->mnemonic, "restickify");
  EXPECT_EQ(lookupOpFunc("maxnonstick")->baseName, "max");
  EXPECT_EQ(lookupOpFunc("batchmatmul")->category, OpCategory::Batchmatmul);
  EXPECT_EQ(lookupOpFunc("exx2")->category, OpCategory::Reduction);
  EXPECT_FALSE(lookupOpFunc("topkvalue")->divisible);
}

TEST(OpFuncTableTest, MnemonicsAreUnique) {
  std::set<std::string_view> seen;
  for (const OpFuncInfo &info : getOpFuncTable())
    EXPECT_TRUE(seen.insert(info.mnemonic).second) << info.mnemonic;
}

TEST(OpFuncTableTest, F32FormsAreThoseOfTheDeviceFacts) {
  const std::set<std::string> allowed = {
      "add",          "sub",         "mul",         "realdiv",   "relufwd",        "reciprocal",
      "mean",         "sum",         "max",         "min",       "layernormscale", "abs",
      "neg",          "exp",         "sigmoid",     "exx2",      "layernormnorm",  "identity",
      "sqrt",         "rsqrt",       "topkvalue",   "topkindex", "floor",          "maximum",
      "minimum",      "where3",      "clip",        "silu",      "equal",          "notequal",
      "greaterequal", "greaterthan", "lesserequal", "lesserthan"};
  for (const OpFuncInfo &info : getOpFuncTable()) {
    bool has = firstFormats(info).contains("IEEE_FP32");
    if (info.name == "fp32todl16")
      continue; // a cast out of f32
    EXPECT_EQ(has, allowed.contains(std::string(info.baseName))) << info.name;
  }
}

TEST(OpFuncTableTest, RefusalsNameWhatThereIs) {
  DataFormat f32 = DataFormat::IEEE_FP32, dl16 = DataFormat::SEN169_FP16;
  EXPECT_EQ(checkForm(*lookupOpFunc("log"), std::vector{f32}),
            "'log' has no form for IEEE_FP32; it has SEN169_FP16");
  EXPECT_EQ(checkForm(*lookupOpFunc("add"), std::vector{dl16, f32}),
            "'add' has no form for (SEN169_FP16, IEEE_FP32); it has SEN169_FP16, IEEE_FP32");
  EXPECT_EQ(checkForm(*lookupOpFunc("add"), std::vector{dl16}), "'add' takes 2 inputs, got 1");
  EXPECT_EQ(checkForm(*lookupOpFunc("mish"), std::vector{dl16}), "'mish' has no published meaning");
  EXPECT_EQ(checkForm(*lookupOpFunc("add"), std::vector{f32, f32}), std::nullopt);
}

} // namespace
