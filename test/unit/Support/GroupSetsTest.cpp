//===- GroupSetsTest.cpp - Tests of sets within the types of futures ------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/GroupSets.h"

#include "gtest/gtest.h"

using spyre::nameGroupSets;

TEST(GroupSets, GetNamesAheadOfTheText) {
  EXPECT_EQ(nameGroupSets("a\n%0 : !ktdp.tile_future<tensor<4xf16>, groups = affine_set<(g) : (g "
                          ">= 0, (g) >= 0)>> b"),
            "#groups_0 = affine_set<(g) : (g >= 0, (g) >= 0)> a\n%0 : "
            "!ktdp.tile_future<tensor<4xf16>, groups = #groups_0> b");
  // The same set has one name, another one another; the lines of a set stay.
  EXPECT_EQ(nameGroupSets("!ktdp.tile_future<(t), groups = affine_set<(g) : (g >= 0)>>\n"
                          "!ktdp.tile_future<(t), groups = affine_set<(g) : (g >= 0)>>\n"
                          "!ktdp.tile_future<(t), groups =\n affine_set<(g)\n : (g >= 1) >>\nx"),
            "#groups_0 = affine_set<(g) : (g >= 0)> #groups_1 = affine_set<(g)  : (g >= 1) > "
            "!ktdp.tile_future<(t), groups = #groups_0>\n"
            "!ktdp.tile_future<(t), groups = #groups_0>\n"
            "!ktdp.tile_future<(t), groups =\n #groups_1\n>\nx");
}

TEST(GroupSets, OfPartsOfATextAreNamedInEach) {
  EXPECT_EQ(nameGroupSets("!ktdp.tile_future<(t), groups = affine_set<(g) : (g >= 0)>>\n// -----\n"
                          "// -----\n!ktdp.tile_future<(t), groups = affine_set<(g) : (g >= 0)>>"),
            "#groups_0 = affine_set<(g) : (g >= 0)> !ktdp.tile_future<(t), groups = #groups_0>\n"
            "// -----\n// -----\n"
            "#groups_0 = affine_set<(g) : (g >= 0)> !ktdp.tile_future<(t), groups = #groups_0>");
}

TEST(GroupSets, TakeNoNameThatTheTextHas) {
  EXPECT_EQ(
      nameGroupSets("#groups_0 = 1\n!ktdp.tile_future<(t), groups = affine_set<(g) : (g >= 0)>>"),
      "#groups__0 = affine_set<(g) : (g >= 0)> #groups_0 = 1\n"
      "!ktdp.tile_future<(t), groups = #groups__0>");
}

// What needs no name, and what is no set.
TEST(GroupSets, StayWhereMLIRReadsThem) {
  for (const char *text : {"", "!ktdp.tile_future<", "!ktdp.tile_future<(t), groups = #g>",
                           "!ktdp.tile_future<(t), groups = affine_set<(g) : (g == 0)>>",
                           "<(t), groups = affine_set<(g) : (g >= 0)>>",
                           "// !ktdp.tile_future<(t), groups = affine_set<(g) : (g >= 0)>>",
                           "!ktdp.tile_future<(t), groups = affine_set<(g) : (g >= 0",
                           "!ktdp.tile_future<(t), groups = affine_set<(g) : (g >= 0) x>",
                           "!ktdp.tile_future<(t)> \"groups = affine_set<(g) : (g >= 0)>\"",
                           "!ktdp.tile_future<(t), groups affine_set<(g) : (g >= 0)>>",
                           "ML\xEFR !ktdp.tile_future<(t), groups = affine_set<(g) : (g >= 0)>>"})
    EXPECT_FALSE(nameGroupSets(text)) << text;
}
