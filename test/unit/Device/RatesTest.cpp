//===- RatesTest.cpp - Rates that replace those of a device -----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rates files that are read, written and refused with all that is wrong with them.
//
//===----------------------------------------------------------------------===//

#include "spyre/Device/Rates.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

using namespace spyre;

namespace {

const Device &spyreDevice() {
  static const Device device = *Device::lookup("spyre");
  return device;
}

/// What is wrong with a file that has \p rates.
std::vector<std::string> getMistakes(const std::string &text) {
  auto read = parseRates(text, spyreDevice());
  auto *mistakes = std::get_if<RateMistakes>(&read);
  return mistakes ? mistakes->sentences : std::vector<std::string>();
}
std::vector<std::string> getMistakesOf(const std::string &rates) {
  return getMistakes("{\"version\": 1, \"rates\": {" + rates + "}}");
}
std::string getFirst(const std::vector<std::string> &mistakes) {
  return mistakes.empty() ? "accepted" : mistakes.front();
}

TEST(RatesTest, ReplacesSomeAndLeavesTheRest) {
  auto read = parseRates(R"({"rates": {"memory_bytes_per_ns": 120.5, "matmul_tile_elements": 4096},
                             "version": 1})",
                         spyreDevice());
  ASSERT_TRUE(std::holds_alternative<RateValues>(read));
  const RateValues &values = std::get<RateValues>(read);
  EXPECT_EQ(toString(values), "matmul_tile_elements = 4096, memory_bytes_per_ns = 120.5");
  auto replaced = replaceRates(spyreDevice(), values);
  ASSERT_TRUE(std::holds_alternative<Device>(replaced));
  DeviceRates expected = spyreDevice().getRates();
  expected.memoryInBytesPerNs = 120.5;
  expected.matmulTileInElements = 4096;
  EXPECT_EQ(std::get<Device>(replaced).getRates(), expected);
  EXPECT_EQ(std::get<Device>(replaced), spyreDevice().withRates(expected));
}

TEST(RatesTest, NoRatesReplaceNothing) {
  EXPECT_TRUE(getMistakesOf("").empty());
  EXPECT_EQ(std::get<Device>(replaceRates(spyreDevice(), {})), spyreDevice());
}

TEST(RatesTest, AWrittenFileReadsAsTheDevicesRates) {
  for (std::string_view name : Device::getVariantNames()) {
    const Device device = *Device::lookup(name);
    auto read = parseRates(writeRatesFile(device), device);
    ASSERT_TRUE(std::holds_alternative<RateValues>(read)) << name;
    EXPECT_EQ(std::get<RateValues>(read).size(), getRateNames().size());
    EXPECT_EQ(std::get<Device>(replaceRates(device, std::get<RateValues>(read))), device);
  }
}

TEST(RatesTest, EveryMistakeIsSaidWithItsPlace) {
  std::vector<std::string> mistakes = getMistakes(R"({
    "version": 2, "colour": 1,
    "rates": {"memory_rate": 3, "tile_full_rows": "x", "working_set_bytes": 1.5,
              "tile_row_exponent": -1, "tile_column_exponent": 0, "restickify_bytes_per_ns": true,
              "passes_to_fill_array": null, "memory_bytes_per_ns": 1000,
              "nominal_macs_per_ns": 1e16}})");
  const std::vector<std::string> expected = {
      "/version: version 2 of rates files; this program reads 1",
      "/colour: a rates file has \"version\" and \"rates\", nothing else",
      "/rates/memory_rate: there is no such rate",
      "/rates/tile_full_rows: expected a number, not string",
      "/rates/working_set_bytes: it is a whole number, not 1.5",
      "/rates/tile_row_exponent: a rate is a positive number, not -1",
      "/rates/tile_column_exponent: a rate is a positive number, not 0",
      "/rates/restickify_bytes_per_ns: expected a number, not boolean",
      "/rates/passes_to_fill_array: expected a number, not null",
      "/rates/nominal_macs_per_ns: a rate is a number from 1e-12 to 1e+15, not 1e+16",
      "/rates: memory_bytes_per_ns exceeds nominal_memory_bytes_per_ns"};
  ASSERT_EQ(mistakes.size(), expected.size() + 1);
  EXPECT_EQ(std::vector<std::string>(mistakes.begin(), mistakes.end() - 1), expected);
  // What there is.
  EXPECT_EQ(mistakes.back().find("the rates are memory_bytes_per_ns, turnaround_ns_per_byte, "),
            0u);
  for (const std::string &name : getRateNames())
    EXPECT_NE(mistakes.back().find(name), std::string::npos);
}

TEST(RatesTest, TextsThatAreNoRatesFile) {
  EXPECT_EQ(getFirst(getMistakes("[]")),
            "a rates file is an object with \"version\" and \"rates\"");
  EXPECT_EQ(getMistakes("{}"),
            (std::vector<std::string>{"missing field \"version\"", "missing field \"rates\""}));
  EXPECT_EQ(getFirst(getMistakes(R"({"version": 1, "rates": 3})")),
            "/rates: expected an object, not number");
  EXPECT_EQ(getFirst(getMistakes(R"({"version": "1", "rates": {}})")),
            "/version: expected an integer, not string");
  EXPECT_EQ(getFirst(getMistakesOf(R"("tile_full_rows": 1, "tile_full_rows": 2)")),
            "/rates: field \"tile_full_rows\" occurs twice");
  EXPECT_EQ(getFirst(getMistakesOf(R"("tile_full_rows": 1e999)")),
            "/rates/tile_full_rows: number overflow parsing '1e999'");
  EXPECT_NE(getFirst(getMistakesOf(R"("tile_full_rows": NaN)")), "accepted");
  EXPECT_NE(getFirst(getMistakes("")), "accepted");
}

TEST(RatesTest, NumbersThatComeWithoutAFile) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(findMistake("memory_bytes_per_ns", 1), "");
  EXPECT_EQ(findMistake("memory_bytes_per_ns", inf), "a rate is a finite number");
  EXPECT_EQ(findMistake("memory_bytes_per_ns", inf - inf), "a rate is a finite number");
  EXPECT_EQ(findMistake("clock_ghz", 1), "there is no such rate");
  auto replaced = replaceRates(spyreDevice(), {{"clock_ghz", 1}, {"tile_full_rows", -1}});
  ASSERT_TRUE(std::holds_alternative<RateMistakes>(replaced));
  EXPECT_EQ(std::get<RateMistakes>(replaced).toString("here").find(
                "here: clock_ghz: there is no such rate\n"
                "here: tile_full_rows: a rate is a positive number, not -1\n"
                "here: the rates are memory_bytes_per_ns"),
            0u);
}

TEST(RatesTest, MessagesBeginWithTheFile) {
  auto missing = readRatesFile("/no/such/rates.json", spyreDevice());
  ASSERT_TRUE(std::holds_alternative<std::string>(missing));
  EXPECT_EQ(std::get<std::string>(missing).find("/no/such/rates.json: "), 0u);
  std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / "spyre-rates-test.json";
  std::ofstream(path) << R"({"version": 1, "rates": {"sustained_macs_per_ns": 2000}})";
  auto wrong = readRatesFile(path.string(), spyreDevice());
  ASSERT_TRUE(std::holds_alternative<std::string>(wrong));
  EXPECT_EQ(std::get<std::string>(wrong),
            path.string() + ": /rates: sustained_macs_per_ns exceeds nominal_macs_per_ns");
  std::ofstream(path) << R"({"version": 1, "rates": {"sustained_macs_per_ns": 1000}})";
  auto right = readRatesFile(path.string(), spyreDevice());
  ASSERT_TRUE(std::holds_alternative<RateValues>(right));
  EXPECT_EQ(std::get<RateValues>(right), (RateValues{{"sustained_macs_per_ns", 1000}}));
  std::filesystem::remove(path);
}

} // namespace
