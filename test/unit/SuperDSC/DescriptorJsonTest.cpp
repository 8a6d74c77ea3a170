//===- DescriptorJsonTest.cpp - Reading and writing descriptor files ------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every descriptor of the reference data is read and written back to equal JSON
// with the reference's key order; damaged files yield errors, never crashes.
//
//===----------------------------------------------------------------------===//

#include "ReferenceData.h"

#include "spyre/SuperDSC/DescriptorJson.h"

#include <gtest/gtest.h>

#include <ctime>
#include <iostream>
#include <random>
#include <sstream>

using namespace spyre::sdsc;
using nlohmann::json;
using nlohmann::ordered_json;

namespace {

std::string write(const Descriptor &descriptor, Form form, bool pretty = false) {
  std::ostringstream os;
  WriteOptions options;
  options.form = form;
  options.pretty = pretty;
  writeDescriptor(descriptor, os, options);
  return os.str();
}

Form getForm(const std::string &text) {
  return text.find("\"symbolicDimInfo_\"") == std::string::npos ? Form::June2026 : Form::August2026;
}

std::string readOrFail(const std::string &text, Descriptor &descriptor) {
  auto result = readDescriptor(text, "");
  if (auto *error = std::get_if<ReadError>(&result))
    return error->where + ": " + error->message;
  descriptor = std::get<Descriptor>(std::move(result));
  return "";
}

/// The error of reading \p document, "" if there is none.
std::string readError(const ordered_json &document) {
  Descriptor descriptor;
  return readOrFail(document.dump(), descriptor);
}

ordered_json load(const std::string &name) {
  return ordered_json::parse(test::readFile(test::getDataDir() / "superdsc" / name));
}

/// The one operation of \p document.
ordered_json &getDsc(ordered_json &document) {
  return document.begin().value()["dscs_"][0].begin().value();
}

TEST(DescriptorJson, RoundTripsEveryReferenceDescriptor) {
  int count = 0;
  for (const auto &[name, text] : test::getAllDescriptors()) {
    Descriptor descriptor;
    ASSERT_EQ(readOrFail(text, descriptor), "") << name;
    // Nothing of the published forms is carried along unread.
    EXPECT_TRUE(descriptor.unknownFields.empty()) << name;
    std::string written = write(descriptor, getForm(text));
    ASSERT_EQ(json::parse(written), json::parse(text)) << name;
    // Key order too: a dump that keeps the order is the same text.
    ASSERT_EQ(ordered_json::parse(written).dump(), ordered_json::parse(text).dump()) << name;
    ++count;
  }
  EXPECT_GE(count, 500);
}

TEST(DescriptorJson, TenThousandDescriptorsTakeSeconds) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  constexpr int count = 500;
#else
  constexpr int count = 10000;
#endif
  std::vector<std::pair<std::string, std::string>> all = test::getAllDescriptors();
  ASSERT_FALSE(all.empty());
  std::ofstream sink("/dev/null");
  // Time of the processor: others may use the machine.
  std::clock_t start = std::clock();
  for (int i = 0; i < count; ++i) {
    // One at a time: nothing but the current descriptor is in memory.
    const auto &[name, text] = all[static_cast<size_t>(i) % all.size()];
    auto result = readDescriptor(text, name);
    ASSERT_TRUE(std::holds_alternative<Descriptor>(result)) << name;
    writeDescriptor(std::get<Descriptor>(result), sink, WriteOptions());
  }
  double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::cout << count << " descriptors read and written in " << seconds << " s\n";
  EXPECT_LT(seconds, 30.0);
}

TEST(DescriptorJson, PrettyTextIsTheReferencesText) {
  for (const char *name : {"bundles/softmax_512x1024/sdsc_0.json", "cases/mm_m8_n4/sdsc_0.json"}) {
    std::string text = test::readFile(test::getDataDir() / "superdsc" / name);
    Descriptor descriptor;
    ASSERT_EQ(readOrFail(text, descriptor), "");
    EXPECT_EQ(write(descriptor, getForm(text), /*pretty=*/true), text) << name;
  }
}

TEST(DescriptorJson, FieldsMeanWhatTheReferenceSays) {
  Descriptor d;
  ASSERT_EQ(readOrFail(load("bundles/attention_1x32x512x128/sdsc_2.json").dump(), d), "");
  EXPECT_EQ(d.opFunc, "shuffle");
  EXPECT_EQ(d.index, 2);
  EXPECT_EQ(d.executionUnit, "sfp");
  EXPECT_EQ(d.numCores, 32);
  ASSERT_EQ(d.dims.size(), 3u);
  EXPECT_EQ(d.dims[1].name, "x");
  EXPECT_EQ(d.dims[1].numSlices, 32);
  ASSERT_EQ(d.tensors.size(), 2u);
  EXPECT_EQ(d.tensors[0].component, spyre::MemorySpace::LX);
  EXPECT_EQ(d.tensors[0].coreToSlice.size(), 32u);
  EXPECT_FALSE(d.tensors[0].symbolicAddress);
  ASSERT_TRUE(d.provenance.has_value());
}

TEST(DescriptorJson, FormsDifferInTheEmptyObjectsAndTheHandle) {
  std::string text = load("bundles/softmax_512x1024/sdsc_0.json").dump();
  Descriptor descriptor;
  ASSERT_EQ(readOrFail(text, descriptor), "");
  ordered_json expected = ordered_json::parse(text);
  expected.begin().value().erase("debug_handle_");
  for (const char *stage : {"ss_", "el_"})
    for (const char *field : {"symbolicDimInfo_", "maxSymbolicVolume_", "coreletSplit_",
                              "rowSplit_", "peSfpSplit_", "paddingSizes_"})
      getDsc(expected)["dataStageParam_"]["0"][stage].erase(field);
  EXPECT_EQ(write(descriptor, Form::June2026), expected.dump());
}

TEST(DescriptorJson, UnknownFieldsSurvive) {
  ordered_json document = load("cases/mm_m8_n4/sdsc_0.json");
  document.begin().value()["futureField"] = {{"a", 1}};
  ordered_json &dsc = getDsc(document);
  dsc["odd/name~1"] = 3;
  dsc["scheduleTree_"][2]["extra"] = {1, 2, "x"};
  dsc["scheduleTree_"][2]["isStartAddrSymbolic_"] = 0;
  dsc["dataStageParam_"]["0"]["ss_"]["coreletSplit_"] = {{"mb", {16, 16}}};
  dsc["N_"]["zj_"] = -1; // a dim that the operation does not have
  Descriptor descriptor;
  ASSERT_EQ(readOrFail(document.dump(), descriptor), "");
  EXPECT_EQ(descriptor.unknownFields.size(), 6u);
  EXPECT_EQ(json::parse(write(descriptor, Form::June2026)), json::parse(document.dump()));
  // Renumbering keeps them.
  descriptor.index = 7;
  json renumbered = json::parse(write(descriptor, Form::June2026));
  EXPECT_EQ(renumbered["7_batchmatmul"]["futureField"]["a"], 1);
}

TEST(DescriptorJson, UnknownFieldsAreReportedOnce) {
  ordered_json document = load("cases/mm_m8_n4/sdsc_0.json");
  document.begin().value()["future_"] = 1;
  for (int i : {0, 2})
    getDsc(document)["scheduleTree_"][i]["extra_"] = i;
  Descriptor descriptor;
  ASSERT_EQ(readOrFail(document.dump(), descriptor), "");
  UnknownFields fields;
  EXPECT_TRUE(fields.empty());
  for (const char *file : {"sdsc_0.json", "sdsc_1.json", "sdsc_2.json"})
    fields.add(descriptor, file);
  EXPECT_EQ(fields.getMessages(),
            (std::vector<std::string>{"unknown field /dscs_/*/*/scheduleTree_/*/extra_ of "
                                      "sdsc_0.json and 2 more files is kept as it is",
                                      "unknown field /future_ of sdsc_0.json and 2 more files is "
                                      "kept as it is"}));
}

/// Reads \p document, expects no unknown fields and the same document written back
/// in the form that it has.
Descriptor expectRoundTrip(const ordered_json &document, Form form) {
  Descriptor descriptor;
  EXPECT_EQ(readOrFail(document.dump(), descriptor), "");
  for (const auto &[pointer, text] : descriptor.unknownFields)
    ADD_FAILURE() << pointer << " is unknown";
  EXPECT_EQ(json::parse(write(descriptor, form)), json::parse(document.dump()));
  return descriptor;
}

TEST(DescriptorJson, EmptyConstantsMayBeAnObject) {
  ordered_json document = load("cases/pw_exp_2d_1c/sdsc_0.json");
  getDsc(document)["constantInfo_"] = ordered_json::object();
  expectRoundTrip(document, Form::June2026);
}

TEST(DescriptorJson, ConstantsMayBeText) {
  // A list of a number (the reference's older files), of a text (its newer ones), or a
  // text alone (the vendor's).
  ordered_json document = load("cases/ln_exx2_scale_norm/sdsc_0.json");
  ordered_json &constants = getDsc(document)["constantInfo_"];
  ASSERT_EQ(constants.size(), 2u);
  std::vector<uint32_t> bits;
  for (auto &[key, constant] : constants.items())
    bits.push_back(constant["data_"]["data_"]["[0, 0, 0]"][0].get<uint32_t>());
  for (bool isAlone : {false, true}) {
    for (size_t i = 0; i < bits.size(); ++i) {
      ordered_json text = std::to_string(bits[i]);
      constants[std::to_string(i)]["data_"]["data_"]["[0, 0, 0]"] =
          isAlone ? text : ordered_json::array({text});
    }
    Descriptor d = expectRoundTrip(document, Form::June2026);
    for (size_t i = 0; i < bits.size(); ++i)
      EXPECT_EQ(d.constants[i].bits, bits[i]);
  }
  auto check = [&](ordered_json value, const std::string &message) {
    ordered_json changed = document;
    getDsc(changed)["constantInfo_"]["0"]["data_"]["data_"]["[0, 0, 0]"] = value;
    auto result = readDescriptor(changed.dump(), "");
    ASSERT_TRUE(std::holds_alternative<ReadError>(result));
    EXPECT_NE(std::get<ReadError>(result).message.find(message), std::string::npos)
        << std::get<ReadError>(result).message;
  };
  check("4294967296", "expected the 32 bits of a constant as a number from 0 to 4294967295");
  check("-1", "expected the 32 bits of a constant");
  check("0x2A00", "expected a decimal integer in the string");
  check(ordered_json::array({1}), "constants of one descriptor are spelled in one way");
}

TEST(DescriptorJson, SymbolicDimsAreTyped) {
  for (bool isNewForm : {false, true}) {
    ordered_json document =
        load(isNewForm ? "bundles/small/gelu_32x128/sdsc_0.json" : "cases/mm_m8_n4/sdsc_0.json");
    ordered_json &dsc = getDsc(document);
    dsc["dimToSymbolMapping_"] = {{"mb", {-6}}};
    for (const char *stage : {"ss_", "el_"})
      dsc["dataStageParam_"]["0"][stage]["symbolicDimInfo_"] = {
          {"mb", {{"maxSize_", 128}, {"granularity_", 16}}}};
    Descriptor d = expectRoundTrip(document, isNewForm ? Form::August2026 : Form::June2026);
    EXPECT_EQ(d.dimSymbols, (std::vector<DimSymbols>{{"mb", {-6}}}));
    EXPECT_EQ(d.steadyStage.symbolicDims, (std::vector<SymbolicExtent>{{"mb", 128, 16}}));
    EXPECT_EQ(d.epilogueStage, d.steadyStage);
  }
}

TEST(DescriptorJson, SizesOfSymbolicDimsMayBeLeftOpen) {
  ordered_json document = load("cases/mm_m8_n4/sdsc_0.json");
  ordered_json &dsc = getDsc(document);
  dsc["dimToSymbolMapping_"] = {{"mb_", {"-1"}}};
  dsc["N_"]["mb_"] = -1;
  for (const char *stage : {"ss_", "el_"}) {
    dsc["dataStageParam_"]["0"][stage]["mb_"] = -1;
    dsc["dataStageParam_"]["0"][stage]["symbolicDimInfo_"] = {
        {"mb_", {{"maxSize_", 32}, {"granularity_", 4}}}};
  }
  Descriptor d = expectRoundTrip(document, Form::June2026);
  const Dim &mb = d.dims[*d.findDim("mb")];
  EXPECT_TRUE(mb.isUnsized);
  EXPECT_EQ(mb.coreSize, 32);
  EXPECT_EQ(mb.size, 256);
}

TEST(DescriptorJson, WindowsAreTyped) {
  ordered_json document = load("cases/red_mean_nonstick_3d/sdsc_0.json");
  ordered_json &dsc = getDsc(document);
  std::string dim = dsc["primaryDsInfo_"].begin().value()["layoutDimOrder_"][1];
  ordered_json window = {{"padFront_", 1},         {"padBack_", 0},         {"unneededPad_", 1},
                         {"unneededPadFront_", 0}, {"unneededPadBack_", 1}, {"totalSize_", 130},
                         {"stride_", 2},           {"dilation_", 1},        {"windowDim_", "ki_"}};
  dsc["N_"]["paddingSizes_"] = {{dim, window}};
  window["padFront_"] = window["padBack_"] = -1;
  window["totalSize_"] = "N/A";
  dsc["dataStageParam_"]["0"]["ss_"]["paddingSizes_"] = {{dim, window}};
  window.erase("unneededPad_");
  window.erase("unneededPadFront_");
  window.erase("unneededPadBack_");
  dsc["dataStageParam_"]["0"]["el_"]["paddingSizes_"] = {{dim, window}};
  dsc["scheduleTree_"][0]["coordinates_"]["coordInfo"][dim]["padding"] = "padded_nozeropad";
  Descriptor d = expectRoundTrip(document, Form::June2026);
  PaddedWindow expected;
  expected.dim = dim;
  expected.padFront = 1;
  expected.totalSize = 130;
  expected.stride = 2;
  expected.windowDim = "ki";
  expected.unneeded = {1, 0, 1};
  EXPECT_EQ(d.windows, (std::vector<PaddedWindow>{expected}));
  expected.padFront = expected.padBack = -1;
  expected.totalSize.reset();
  EXPECT_EQ(d.steadyStage.windows, (std::vector<PaddedWindow>{expected}));
  expected.unneeded.reset();
  EXPECT_EQ(d.epilogueStage.windows, (std::vector<PaddedWindow>{expected}));
  bool found = false;
  for (const DimCoordinate &coordinate : d.tensors[0].coordinates)
    found |= coordinate.padding == PaddingKind::PaddedNoZeroPad;
  EXPECT_TRUE(found);
}

TEST(DescriptorJson, PaddingKindsHaveTheNamesOfTheFormat) {
  for (const char *name : {"nopad", "lowered_padded", "padded_nozeropad", "padded_wzeropad",
                           "padded_fullspan", "padded_fullspan_wunneeded"}) {
    std::optional<PaddingKind> kind = parsePaddingKind(name);
    ASSERT_TRUE(kind.has_value()) << name;
    EXPECT_EQ(getPaddingName(*kind), name);
  }
  EXPECT_FALSE(parsePaddingKind("").has_value());
}

TEST(DescriptorJson, WhatIsAlwaysOneValueMayBeAnother) {
  ordered_json document = load("cases/gather_rows/sdsc_0.json");
  ordered_json &root = document.begin().value();
  ordered_json &dsc = getDsc(document);
  root["sdscFoldProps_"][0]["factor_"] = 2;
  root["sdscFolds_"]["dim_prop_attr"][0]["factor_"] = 2;
  root["sdscFolds_"]["data_"] = {{"[0]", "0"}, {"[1]", "1"}};
  root["coreletFoldProp_"]["factor_"] = 2;
  root["coreIdToDscSchedule"]["0"] = {{0, 0, 1, 0}, {-1, 0, 0, 1}};
  root["target_"] = "senulator";
  root["dataOpdscs_"] = {{{"STCDPOpLx", {{"a", 1}}}}};
  dsc["target_"] = "sentient";
  dsc["numCoreletsUsed_"] = 2;
  dsc["coreIdsUsed_"][0] = 7;
  dsc["dataStageParam_"]["0"]["el_"]["mb_"] = 1;
  ordered_json &node = dsc["scheduleTree_"][0];
  node["name_"] = "mine";
  node["startAddressCoreCorelet_"]["dim_prop_attr"][1]["factor_"] = 2;
  node["maxDimSizes_"][0] = 16;
  Descriptor d = expectRoundTrip(document, Form::June2026);
  EXPECT_FALSE(d.folds.isStandard());
  EXPECT_EQ(d.corelets.factor, 2);
  EXPECT_EQ(d.schedule.size(), static_cast<size_t>(d.numCores));
  EXPECT_EQ(d.schedule[0][1], (ScheduleStep{-1, 0, 0, 1}));
  EXPECT_EQ(d.target, "senulator");
  EXPECT_EQ(d.operationTarget, "sentient");
  ASSERT_TRUE(d.dataOps.has_value());
  EXPECT_EQ(d.dataOps->front(), R"({"STCDPOpLx":{"a":1}})");
  EXPECT_EQ(d.coreIds.front(), 7);
  EXPECT_EQ(d.dims[*d.findDim("mb")].epilogueSize, 1);
  EXPECT_EQ(d.tensors[0].getAllocationName(), "mine");
  EXPECT_EQ(d.tensors[0].addressCorelets, 2);
  EXPECT_EQ(d.tensors[0].maxDimSizes[0], 16);
}

TEST(DescriptorJson, ErrorsSayWhereAndWhat) {
  const ordered_json good = load("cases/mm_m8_n4/sdsc_0.json");
  auto check = [&](auto change, const std::string &expected) {
    ordered_json document = good;
    change(document);
    EXPECT_EQ(readError(document), expected);
  };
  check([](ordered_json &d) { getDsc(d).erase("N_"); },
        "/0_batchmatmul/dscs_/0/batchmatmul: missing field \"N_\"");
  check([](ordered_json &d) { getDsc(d)["N_"]["mb_"] = "eight"; },
        "/0_batchmatmul/dscs_/0/batchmatmul/N_/mb_: expected an integer, found a string");
  check([](ordered_json &d) { getDsc(d)["N_"]["mb_"] = 0; },
        "/0_batchmatmul/dscs_/0/batchmatmul/N_/mb_: integer out of range: 0 is not in "
        "[1, 1099511627776]");
  check([](ordered_json &d) { getDsc(d)["labeledDs_"][1]["dsType_"] = "WEIGHT"; },
        "/0_batchmatmul/dscs_/0/batchmatmul/labeledDs_/1/dsType_: unknown layout class "
        "\"WEIGHT\": it is not in primaryDsInfo_");
  check([](ordered_json &d) { getDsc(d)["scheduleTree_"][0]["layoutDimOrder_"][0] = "k"; },
        "/0_batchmatmul/dscs_/0/batchmatmul/scheduleTree_/0/layoutDimOrder_: unknown dim \"k\": "
        "it is not in N_");
  check([](ordered_json &d) { getDsc(d)["labeledDs_"][1]["dataFormat_"] = "FP17"; },
        "/0_batchmatmul/dscs_/0/batchmatmul/labeledDs_/1/dataFormat_: unknown data format "
        "\"FP17\"");
  check([](ordered_json &d) { d.begin().value()["coreletFoldProp_"]["factor_"] = 0; },
        "/0_batchmatmul/coreletFoldProp_/factor_: integer out of range: 0 is not in "
        "[1, 1099511627776]");
  check([](ordered_json &d) { d.begin().value()["coreIdToWkSlice_"].erase("3"); },
        "/0_batchmatmul/coreIdToWkSlice_: expected an entry for each of 32 cores, found 31");
  check([](ordered_json &d) { getDsc(d)["N_"]["mb_"] = -1; },
        "/0_batchmatmul/dscs_/0/batchmatmul/dataStageParam_/0/ss_/mb_: integer out of range: 32 "
        "is not in [-1, -1]");
  check(
      [](ordered_json &d) {
        getDsc(d)["N_"]["mb_"] = getDsc(d)["dataStageParam_"]["0"]["ss_"]["mb_"] =
            getDsc(d)["dataStageParam_"]["0"]["el_"]["mb_"] = -1;
      },
      "/0_batchmatmul/dscs_/0/batchmatmul/dataStageParam_: dim \"mb\" has the size -1, but no "
      "entry in symbolicDimInfo_");
  check(
      [](ordered_json &d) {
        getDsc(d)["scheduleTree_"][0]["coordinates_"]["coordInfo"]["mb"]["padding"] = "padded";
      },
      "/0_batchmatmul/dscs_/0/batchmatmul/scheduleTree_/0/coordinates_/coordInfo/mb/padding: "
      "unknown padding kind \"padded\"");
  check([](ordered_json &d) { getDsc(d)["N_"]["paddingSizes_"] = {{"x", {{"padFront_", 1}}}}; },
        "/0_batchmatmul/dscs_/0/batchmatmul/N_/paddingSizes_/x: unknown dim \"x\": it is not in "
        "N_");
  check([](ordered_json &d) { getDsc(d)["N_"]["paddingSizes_"] = {{"mb", {{"padFront_", 1}}}}; },
        "/0_batchmatmul/dscs_/0/batchmatmul/N_/paddingSizes_/mb: missing field \"padBack_\"");
  check([](ordered_json &d) { d.begin().value()["coreIdToDscSchedule"]["3"] = {{0, 1}}; },
        "/0_batchmatmul/coreIdToDscSchedule/3/0: expected four numbers: data operation, "
        "operation, synchronisation before and after");
  check(
      [](ordered_json &d) {
        d.begin().value()["dscs_"] = ordered_json::array();
        d.begin().value()["dataOpdscs_"] = {{{"STCDPOpLx", {{"a", 1}}}}};
      },
      "/0_batchmatmul/dscs_: a descriptor of data operations (dataOpdscs_) alone is not supported");
  check([](ordered_json &d) { getDsc(d)["computeOp_"][0]["inputLabeledDs"][0] = "Tensor9-idx9"; },
        "/0_batchmatmul/dscs_/0/batchmatmul/computeOp_/0/inputLabeledDs/0: \"Tensor9-idx9\" names "
        "no entry of labeledDs_ (\"<dsName_>-idx<ldsIdx_>\")");
  check([](ordered_json &d) { getDsc(d)["maskingConstId_"] = 0; },
        "/0_batchmatmul/dscs_/0/batchmatmul/maskingConstId_: integer out of range: 0 is not in "
        "[-1, -1]");
  check([](ordered_json &d) { d = {{"version", 2}, {"0_add", {}}}; },
        "/version: version 2 is newer than this reader's, 1");
  check([](ordered_json &d) { d = ordered_json::array(); }, "/: expected an object, found a list");

  auto result = readDescriptor("{\n  \"0_add\": {,", "sdsc_0.json");
  ASSERT_TRUE(std::holds_alternative<ReadError>(result));
  EXPECT_EQ(std::get<ReadError>(result).where, "2:13");
  EXPECT_EQ(std::get<ReadError>(result).message.substr(0, 13), "sdsc_0.json: ");
  result = readDescriptor(R"({"a": [{"b": 1}, {"b": 1, "c": 2, "b": 3}]})", "");
  EXPECT_EQ(std::get<ReadError>(result).where, "/a/1");
  EXPECT_EQ(std::get<ReadError>(result).message, "field \"b\" occurs twice");
  result = readDescriptor(std::string(100000, '['), "");
  EXPECT_EQ(std::get<ReadError>(result).where, "1:65");
  EXPECT_EQ(std::get<ReadError>(result).message, "nested deeper than 64 levels");
}

/// Reads \p text, and writes what could be read: neither may crash or throw.
void exercise(const std::string &text) {
  auto result = readDescriptor(text, "f");
  if (auto *error = std::get_if<ReadError>(&result)) {
    EXPECT_FALSE(error->message.empty());
    EXPECT_FALSE(error->where.empty()) << error->message;
    return;
  }
  std::string written = write(std::get<Descriptor>(result), Form::August2026);
  Descriptor again;
  EXPECT_EQ(readOrFail(written, again), "");
}

TEST(DescriptorJson, TruncatedFilesAreErrors) {
  std::string text = load("cases/gather_rows/sdsc_0.json").dump();
  for (size_t length = 0; length < text.size(); ++length) {
    auto result = readDescriptor(std::string_view(text).substr(0, length), "f");
    ASSERT_TRUE(std::holds_alternative<ReadError>(result)) << length;
  }
}

TEST(DescriptorJson, FlippedBytesNeverCrash) {
  std::string text = load("bundles/small/softmax_33x100_4c/sdsc_1.json").dump();
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    for (int k = 0; k < 1 + i % 3; ++k)
      damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
    exercise(damaged);
  }
}

/// Replaces, erases or retypes one random value of a document.
void mutate(ordered_json &document, std::mt19937 &random) {
  ordered_json *node = &document;
  for (int depth = static_cast<int>(random() % 12);
       depth > 0 && node->is_structured() && !node->empty(); --depth) {
    auto it = node->begin();
    std::advance(it, static_cast<int>(random() % node->size()));
    node = &*it;
  }
  static const std::vector<ordered_json> values = {nullptr,
                                                   true,
                                                   0,
                                                   1,
                                                   -1,
                                                   3,
                                                   1 << 30,
                                                   -9223372036854775807ll,
                                                   18446744073709551615ull,
                                                   1.5,
                                                   "",
                                                   "x",
                                                   "999",
                                                   "{}",
                                                   ordered_json::array(),
                                                   ordered_json::object(),
                                                   {1, 2},
                                                   {{"a", 1}}};
  if (node->is_structured() && !node->empty() && random() % 3 == 0) {
    auto it = node->begin();
    std::advance(it, static_cast<int>(random() % node->size()));
    node->erase(it);
  } else {
    *node = values[random() % values.size()];
  }
}

TEST(DescriptorJson, MutatedDocumentsNeverCrash) {
  std::mt19937 random(2);
  for (const char *name :
       {"cases/gather_rows/sdsc_0.json", "bundles/small/softmax_33x100_4c/sdsc_1.json",
        "bundles/attention_1x32x512x128/sdsc_2.json"}) {
    const ordered_json good = load(name);
    for (int i = 0; i < 1500; ++i) {
      ordered_json document = good;
      mutate(document, random);
      exercise(document.dump());
    }
  }
}

} // namespace
