//===- NestingTest.cpp - Texts that nest too deep for a parser ------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/Nesting.h"

#include <gtest/gtest.h>

#include <string>

using spyre::findTooDeepNesting;
using spyre::kMaxTextNesting;

namespace {

std::string repeat(const std::string &text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i)
    result += text;
  return result;
}

TEST(Nesting, NamesTheFirstBracketBeyondTheLimit) {
  for (const char *open : {"(", "[", "{", "<"}) {
    EXPECT_FALSE(findTooDeepNesting(repeat(open, kMaxTextNesting)));
    auto place = findTooDeepNesting("a\n  " + repeat(open, kMaxTextNesting + 1));
    ASSERT_TRUE(place);
    EXPECT_EQ(place->line, 2);
    EXPECT_EQ(place->column, kMaxTextNesting + 3);
  }
  EXPECT_TRUE(findTooDeepNesting(repeat("([{<", 100)));
}

TEST(Nesting, WhatIsNoNesting) {
  EXPECT_FALSE(findTooDeepNesting(repeat("(", kMaxTextNesting) + repeat(")", 10000)));
  EXPECT_FALSE(findTooDeepNesting(repeat("{ }", 10000)));
  EXPECT_FALSE(findTooDeepNesting("\"" + repeat("(\\\"", 10000) + "\""));
  EXPECT_FALSE(findTooDeepNesting("// " + repeat("(", 10000) + "\n"));
  EXPECT_FALSE(findTooDeepNesting("// " + repeat("(", 10000)));
  EXPECT_FALSE(findTooDeepNesting("ML\xEFR" + repeat("(", 10000)));
  // Arrows and comparisons close nothing that is open.
  EXPECT_TRUE(findTooDeepNesting(repeat("(->", kMaxTextNesting + 1)));
  // A string that never ends leaves the next line alone.
  EXPECT_TRUE(findTooDeepNesting("\"abc\n" + repeat("(", kMaxTextNesting + 1)));
}

} // namespace

TEST(BrokenDims, AreFoundBehindTheNamesOfLinalg) {
  using spyre::findBrokenDims;
  std::string op = "%0 = linalg.reduce { arith.addf } ins(%a : t) outs(%b : t)\n  ";
  EXPECT_FALSE(findBrokenDims(op + "dimensions = [0, 1]"));
  EXPECT_FALSE(findBrokenDims(op + "dimensions=[ ]"));
  EXPECT_FALSE(findBrokenDims(op + "permutation = // turned\n [1, // first\n -1]"));
  EXPECT_FALSE(findBrokenDims(op + "dimensions = array<i64: 1>"));
  // negative: other names, other texts.
  EXPECT_FALSE(findBrokenDims(op + "gather_dimensions = [x] dimensions : 3"));
  EXPECT_FALSE(findBrokenDims("dimensions = [x]"));
  for (const char *list : {"[1", "[1,", "[1 2]", "[x]", "1]", "", "[99999999999999999999]", "[-]"})
    EXPECT_TRUE(findBrokenDims(op + "dimensions = " + list)) << list;
  EXPECT_TRUE(findBrokenDims(op + "dimensions" + std::string(3, '\0') + "= [x]"));
  auto place = findBrokenDims(op + "permutation = [1, \xff");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->line, 2);
  EXPECT_EQ(place->column, 17);
}
