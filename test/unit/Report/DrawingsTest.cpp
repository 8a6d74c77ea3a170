//===- DrawingsTest.cpp - What the report draws and ranks -------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops, engines, scratchpads, the roofline and what is lost, of programs whose sums are
// known; and that the page of a large program stays small without losing time.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

#include <gtest/gtest.h>

#include <regex>

using namespace spyre;
using namespace spyre::report;

namespace {

bool has(const std::string &text, const std::string &what) {
  return text.find(what) != std::string::npos;
}

/// The part of \p page from \p begin to \p end.
std::string cut(const std::string &page, const std::string &begin, const std::string &end) {
  const size_t at = page.find(begin);
  return at == page.npos ? "" : page.substr(at, page.find(end, at) - at);
}

/// The sum of `data-ns` times `data-runs` in \p rows of the page.
double sumRows(const std::string &page, const std::string &style) {
  double sum = 0;
  const std::regex row("<tr[^>]*class=\"" + style +
                       "\" data-ns=\"([0-9.]+)\"(?: data-runs=\"([0-9]+)\")?");
  for (std::sregex_iterator it(page.begin(), page.end(), row), end; it != end; ++it)
    sum += std::stod((*it)[1]) * ((*it)[2].matched ? std::stod((*it)[2]) : 1);
  return sum;
}

TEST(DrawingsTest, ALoopIsDrawnOnceWithItsTripsAndAllTheirTime) {
  const std::string lanes = cut(toHtml(makeLoops()), "id=\"f0-lanes-text\"", "</svg>");
  EXPECT_TRUE(has(lanes, "2 launches, 110.0 µs in all"));
  // 8 runs of 5.5 us and 64 of 1 us.
  EXPECT_TRUE(
      has(lanes, "loop of 4 trips over operations #1 to #2: 108.0 µs in all trips in 2 runs"));
  EXPECT_TRUE(
      has(lanes, "loop of 8 trips over operations #2 to #2: 64.00 µs in all trips in 8 runs"));
  EXPECT_TRUE(has(lanes, "#2 exp (a.mlir:1:2, torch.aten.add): 64.00 µs, 64 runs of 1.00 µs"));
  EXPECT_EQ(count(toHtml(makeProgram()), "class=\"loop\""), 0u);
}

TEST(DrawingsTest, EnginesAreBusyAsTheEstimateSays) {
  const std::string page = toHtml(makeLoops());
  const std::string table = cut(page, "busy, µs", "</tr>");
  // Reads: all of 66 us, and 1 us of each product, whose arrays take 5 and whose partial sums 0.5.
  EXPECT_TRUE(has(table, "<td class=\"n\">74.00</td><td class=\"n\">0.00</td><td "
                         "class=\"n\">40.00</td><td class=\"n\">≤ 64.00</td><td "
                         "class=\"n\">4.00</td>"))
      << table;
}

TEST(DrawingsTest, BuffersAreBoxesAndTransfersAreDrawnOnThem) {
  Program program = makeLoops();
  std::string lx = cut(toHtml(program), "id=\"f0-lx-text\"", "</svg>");
  EXPECT_EQ(count(lx, "class=\"buf t\""), 1u);
  EXPECT_TRUE(
      has(lx, "%1, add: 256 B, bytes 128 to 384, operations #0 to #2, written first by #0"));
  EXPECT_EQ(count(lx, "class=\"in\""), 1u); // by the transfer alone
  EXPECT_TRUE(has(lx, "filled by #0 identity"));
  EXPECT_EQ(getPeakInBytes(program.functions[0]), 384);
  program.functions[0].scratchpad.clear();
  EXPECT_TRUE(has(toHtml(program), "Nothing is kept in LX"));
}

TEST(DrawingsTest, TheRooflineHasADotForEachOperationThatTakesTime) {
  Program program = makeLoops();
  std::string dots = cut(toHtml(program), "id=\"roofline-dots-text\"", "</svg>");
  EXPECT_EQ(count(dots, "<circle"), 3u);
  EXPECT_EQ(count(dots, "class=\"ceiling\""), 2u);
  EXPECT_TRUE(has(dots, "device memory: 100.0 GB/s"));
  EXPECT_TRUE(has(dots, "10.00 TMAC/s"));
  // 8192 multiply-accumulates in 5500 ns.
  EXPECT_TRUE(has(dots, "1.5 G MAC a second, 82 a byte"));
  // Nothing is drawn of what takes no time; what is in LX has no intensity.
  program.functions[0].operations[0].estimate = {};
  program.functions[0].operations[1].estimate.readInBytes = 0;
  std::string page = toHtml(program);
  EXPECT_EQ(count(cut(page, "id=\"roofline-dots-text\"", "</svg>"), "<circle"), 2u);
  EXPECT_TRUE(has(page, "Not drawn: 1 operation without modelled time"));
  EXPECT_TRUE(has(page, "1.5 G MAC a second</title>"));
  for (Operation &op : program.functions[0].operations)
    op.estimate = {};
  EXPECT_TRUE(has(toHtml(program), "No operation takes time in the model"));
}

TEST(DrawingsTest, WhatIsLostIsRankedAndAddsUp) {
  const std::string page = toHtml(makeProgram());
  const std::string table = cut(page, "<table class=\"losses\"", "</table>");
  // 3 us of which 0.3 are part of the least, 5.5 of which 2.5 are.
  const size_t product = table.find("#1 batchmatmul"), add = table.find("#0 add");
  ASSERT_NE(add, table.npos);
  EXPECT_LT(product, add);
  EXPECT_TRUE(has(table, "arrays 50.0 % of full, 32 cores; partial sums 0.50 µs a run"));
  EXPECT_TRUE(has(table, "memory 75.0 % of its best; 300 B move"));
  EXPECT_TRUE(has(cut(table, "class=\"total\"", "</tr>"),
                  "8.50</td><td class=\"n\">4.75</td><td class=\"n\">1.79</td><td "
                  "class=\"n\">2.80</td><td class=\"n\">5.70"));
}

TEST(DrawingsTest, ALoopHasARowWithTileBytesAndRatio) {
  const std::string page = toHtml(makeLoops());
  const std::string nests = cut(page, "<table class=\"nests\"", "</table>");
  EXPECT_EQ(count(nests, "class=\"nest\""), 2u);
  EXPECT_TRUE(has(nests, "data-ns=\"108000.000\" data-trips=\"4\""));
  EXPECT_TRUE(has(nests, "<code>in&lt;0&gt;</code> 1×64 of 4×64"));
  EXPECT_TRUE(has(nests, "4096 B<br/>0 B"));
  EXPECT_TRUE(has(nests, "52.00</td><td class=\"n\">2.08</td>")); // 2 runs of 26 us
  EXPECT_TRUE(has(nests, "class=\"depth1\""));
  EXPECT_TRUE(has(toHtml(makeProgram()), "The plan has no loops"));
}

TEST(DrawingsTest, ALargeProgramIsSummedUp) {
  Program program = makeProgram();
  Function &function = program.functions[0];
  const Operation add = function.operations[0];
  const ScratchpadBuffer buffer = function.scratchpad[0];
  function.operations.clear();
  function.scratchpad.clear();
  constexpr int64_t kNumOps = 20000;
  for (int64_t i = 0; i < kNumOps; ++i) {
    function.operations.push_back(add);
    function.operations.back().estimate.totalInNs = 1 + double(i % 97);
    function.operations.back().operands[1].buffer = i;
    function.scratchpad.push_back(buffer);
    function.scratchpad.back().first = i;
    function.scratchpad.back().last = std::min(i + 1, kNumOps - 1);
    function.scratchpad.back().addressInBytes = 128 * (i % 4);
    Loop loop;
    loop.first = loop.last = i;
    function.loops.push_back(loop);
  }
  // One that is seen beside all others.
  function.operations[70].estimate.totalInNs = 1e6;
  const std::string page = toHtml(program);
  EXPECT_LT(page.size(), 2000000u);
  EXPECT_EQ(page, toHtml(program));
  EXPECT_TRUE(has(page, "#70 add"));
  EXPECT_TRUE(has(page, "buffers too small to be drawn one by one"));
  EXPECT_TRUE(has(page, "19920 shorter loops left out"));
  const double all = getModelledInNs(program);
  EXPECT_NEAR(sumRows(page, "operation") + sumRows(page, "rest") -
                  sumRows(cut(page, "<table class=\"losses\"", "</table>"), "rest"),
              all, all * 1e-6);
  EXPECT_NEAR(sumRows(page, "total"), all, all * 1e-6);
}

TEST(DrawingsTest, FunctionsThatTakeLittleAreNotDrawn) {
  Program program = makeProgram();
  program.functions.push_back(program.functions[0]);
  program.functions[1].name = "small";
  for (Operation &op : program.functions[1].operations)
    op.estimate = makeEstimate(0, 1, 0);
  const std::string page = toHtml(program);
  EXPECT_TRUE(has(page, "Not drawn: 1 function with less than 1.0 % of the time"));
  EXPECT_EQ(count(page, "<desc id=\"f0-lanes-text\">") + count(page, "f1-lanes"), 1u);
  EXPECT_TRUE(has(page, "id=\"f1o1\"")); // its operations are listed
}

} // namespace
