//===- ReportTest.cpp - Reports and traces from data ------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums, what bounds an operation, escaping, rows; and traces.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

#include "spyre/Report/Trace.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

using namespace spyre;
using namespace spyre::report;
using cost::TimelineEvent;

namespace {

TEST(ReportTest, TimesAreSummedOverRuns) {
  EXPECT_DOUBLE_EQ(getModelledInNs(makeProgram()), 3 * 1000 + 5500);
  EXPECT_EQ(getModelledInNs(Program()), 0);
}

TEST(ReportTest, WhatBoundsAnOperation) {
  EXPECT_EQ(getBound(makeEstimate(0, 0, 0)), Bound::Nothing);
  EXPECT_EQ(getBound(makeEstimate(5, 3, 1)), Bound::Compute);
  EXPECT_EQ(getBound(makeEstimate(3, 5, 1)), Bound::Bandwidth);
  EXPECT_EQ(getBound(makeEstimate(3, 5, 6)), Bound::Ring);
  EXPECT_STREQ(getBoundName(Bound::Ring), "ring");
}

TEST(ReportTest, TextIsEscaped) {
  std::string html = toHtml(makeProgram());
  EXPECT_NE(html.find("&lt;main&gt; &amp; &quot;co&quot;"), std::string::npos);
  EXPECT_NE(html.find("a&#39;b.mlir"), std::string::npos);
  EXPECT_EQ(html.find("&lt;main&gt; & "), std::string::npos);
}

TEST(ReportTest, EachOperationHasARow) {
  std::string html = toHtml(makeProgram());
  EXPECT_EQ(count(html, "class=\"operation\""), 2u);
  EXPECT_NE(html.find("64&#160;/&#160;32 × 128"), std::string::npos);
  EXPECT_NE(html.find("3 times"), std::string::npos);
  EXPECT_NE(html.find("LX 128"), std::string::npos);
  EXPECT_NE(html.find("8.50 µs"), std::string::npos); // in all
  EXPECT_EQ(html, toHtml(makeProgram()));
  EXPECT_EQ(html.find("seconds"), std::string::npos);
  EXPECT_NE(toHtml(makeProgram(), true).find("0.5000"), std::string::npos);
}

TEST(ReportTest, WhereLoopsStandAndWhatTheyTake) {
  const Program program = makeLoops();
  const Function &function = program.functions[0];
  EXPECT_EQ(getDepth(function, function.loops[0]), 0);
  EXPECT_EQ(getDepth(function, function.loops[1]), 1);
  EXPECT_DOUBLE_EQ(getModelledInNs(function, function.loops[0]), 8 * 5500 + 64 * 1000);
  EXPECT_DOUBLE_EQ(getModelledInNs(function, function.loops[1]), 64 * 1000);
  EXPECT_DOUBLE_EQ(getModelledInNs(program), 2 * 1000 + 8 * 5500 + 64 * 1000);
  EXPECT_DOUBLE_EQ(getLeastInNs(program), 2 * 750 + 8 * 2500 + 64 * 750);
}

TEST(TraceTest, OperationsAreOnTheirCoresRows) {
  TimelineEvent copy;
  copy.kind = TimelineEvent::Transfer;
  copy.name = "copy in";
  copy.where = "in\"0\"";
  copy.writtenInBytes = 256;
  TimelineEvent op;
  op.name = "add";
  op.where = "sdsc_0.json";
  op.numCores = 2;
  op.startInNs = 0;
  op.durationInNs = 1500;
  op.readInBytes = 256;
  op.estimate = makeEstimate(0, 1500, 0);
  op.busy = {{cost::Resource::Memory, 0, 1500}};
  std::ostringstream os;
  writeTrace({copy, op}, 4, "program", "mock4", os);
  auto trace = nlohmann::json::parse(os.str(), nullptr, false);
  ASSERT_FALSE(trace.is_discarded());
  std::vector<nlohmann::json> rows, host, operations, resources;
  for (const auto &event : trace["traceEvents"]) {
    if (event["name"] == "thread_name")
      rows.push_back(event);
    else if (event["ph"] == "i")
      host.push_back(event);
    else if (event.value("cat", "") == "resource")
      resources.push_back(event);
    else if (event["ph"] == "X")
      operations.push_back(event);
  }
  ASSERT_EQ(rows.size(), 8u); // the host, four cores, what they share
  ASSERT_EQ(host.size(), 1u);
  EXPECT_EQ(host[0]["name"], "copy in in\"0\"");
  EXPECT_EQ(host[0]["tid"], 0);
  // The device memory's row follows those of the four cores.
  ASSERT_EQ(resources.size(), 1u);
  EXPECT_EQ(resources[0]["tid"], 5);
  EXPECT_EQ(resources[0]["dur"], 1.5);
  ASSERT_EQ(operations.size(), 2u);
  EXPECT_EQ(operations[1]["tid"], 2);
  EXPECT_EQ(operations[1]["dur"], 1.5);
  EXPECT_EQ(operations[1]["args"]["bound_by"], "bandwidth");
  EXPECT_EQ(operations[1]["args"]["hbm_read_bytes"], 256);
  EXPECT_FALSE(operations[1]["args"].contains("origin"));
}

} // namespace
