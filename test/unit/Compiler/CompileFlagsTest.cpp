//===- CompileFlagsTest.cpp - Options from flags -------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/CompileFlags.h"

#include <gtest/gtest.h>

#include <functional>

using namespace spyre::compiler;

namespace {

/// The message of flags that are changed, or "" if they are options.
std::string getMistake(const std::function<void(CompileFlagValues &)> &change) {
  CompileFlagValues flags;
  change(flags);
  auto made = makeOptions(flags);
  auto *message = std::get_if<std::string>(&made);
  return message ? *message : "";
}

TEST(CompileFlags, DefaultsAreOptions) {
  auto made = makeOptions({});
  const auto *options = std::get_if<CompileOptions>(&made);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->optLevel, 2);
  EXPECT_EQ(options->host, HostPolicy::Table);
  EXPECT_TRUE(options->exactArguments);
  EXPECT_FALSE(options->exactResults);
  EXPECT_FALSE(options->movesOnHost);
  EXPECT_TRUE(options->weights.empty());
}

TEST(CompileFlags, WeightsAreListsAndRanges) {
  CompileFlagValues flags;
  flags.weights = "in1,in3-in5";
  auto made = makeOptions(flags);
  EXPECT_EQ(std::get<CompileOptions>(made).weights, (std::vector<unsigned>{1, 3, 4, 5}));
  for (const char *wrong : {"1", "in", "in3-", "in3-5", "in5-in3", "in1,x", "in-1", "in99999999"})
    EXPECT_EQ(getMistake([&](CompileFlagValues &values) { values.weights = wrong; }),
              std::string("--weights=") + wrong +
                  ": a list of arguments or ranges is wanted, e.g. in1,in3-in9");
}

TEST(CompileFlags, MistakesNameTheFlag) {
  EXPECT_EQ(getMistake([](CompileFlagValues &flags) { flags.optLevel = 4; }),
            "-O4: optimisation levels are 0 to 3");
  EXPECT_EQ(getMistake([](CompileFlagValues &flags) { flags.target = "x86"; }),
            "--target=x86: known targets are superdsc and ktir");
  EXPECT_EQ(getMistake([](CompileFlagValues &flags) { flags.form = "2025"; }),
            "--superdsc-form=2025: known forms are 2026-06 and 2026-08");
  EXPECT_EQ(getMistake([](CompileFlagValues &flags) { flags.host = "gpu"; }),
            "--host=gpu: known choices are none, table and any");
  EXPECT_EQ(getMistake([](CompileFlagValues &flags) { flags.costModel = "simulated"; }),
            "--cost-model=simulated: the only model so far is published");
  EXPECT_EQ(getMistake([](CompileFlagValues &flags) { flags.cores = 33; }),
            "--cores=33: the device has 32 cores");
  EXPECT_EQ(getMistake([](CompileFlagValues &flags) { flags.device = "tpu"; }).find("--device=tpu"),
            0u);
}

TEST(CompileFlags, RatesAreThoseOfAFileOrOfTheCaller) {
  CompileFlagValues flags;
  flags.rates = {{"memory_bytes_per_ns", 120}};
  auto made = makeOptions(flags);
  EXPECT_EQ(std::get<CompileOptions>(made).rates, flags.rates);
  EXPECT_EQ(getMistake([](CompileFlagValues &values) { values.rates = {{"tile_full_rows", 0}}; }),
            "--rates: tile_full_rows: a rate is a positive number, not 0");
  EXPECT_EQ(getMistake([](CompileFlagValues &values) {
              values.ratesFile = "/no/such/rates.json";
            }).find("/no/such/rates.json: "),
            0u);
}

} // namespace
