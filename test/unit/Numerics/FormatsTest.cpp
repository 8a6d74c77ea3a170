//===- FormatsTest.cpp - Names and widths of formats ------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of docs/formats/superdsc-rules.md, section 4.
//
//===----------------------------------------------------------------------===//

#include "spyre/Numerics/Formats.h"

#include <gtest/gtest.h>

using namespace spyre;

TEST(FormatsTest, WidthsAndSticks) {
  struct {
    std::string_view name;
    int64_t elements, bytes;
  } expected[] = {{"SEN169_FP16", 64, 2}, {"IEEE_FP16", 64, 2},   {"BFLOAT16", 64, 2},
                  {"IEEE_FP32", 32, 4},   {"IEEE_INT32", 32, 4},  {"SENUINT32", 32, 4},
                  {"SEN143_FP8", 128, 1}, {"SEN152_FP8", 128, 1}, {"SENINT8", 128, 1},
                  {"SENINT16", 64, 2},    {"IEEE_INT64", 16, 8},  {"SENINT4", 256, 0},
                  {"SENINT2", 512, 0}};
  for (auto &row : expected) {
    auto format = parseFormat(row.name);
    ASSERT_TRUE(format) << row.name;
    EXPECT_EQ(getFormatName(*format), row.name);
    EXPECT_EQ(getElementsPerStick(*format), row.elements) << row.name;
    EXPECT_EQ(getWidthInBytes(*format), row.bytes) << row.name;
    EXPECT_EQ(getElementsPerStick(*format) * getWidthInBits(*format), kStickInBytes * 8);
  }
  EXPECT_FALSE(parseFormat("SEN169"));
  EXPECT_FALSE(parseFormat(""));
}

TEST(FormatsTest, DeviceFormOfHostTypes) {
  struct {
    std::string_view name;
    int64_t bytes;
    std::string_view format;
  } expected[] = {{"float16", 2, "SEN169_FP16"},
                  {"bfloat16", 2, "SEN169_FP16"},
                  {"bool", 1, "SEN169_FP16"},
                  {"float32", 4, "IEEE_FP32"},
                  {"int32", 4, "IEEE_INT32"},
                  {"int64", 8, "IEEE_INT32"},
                  {"int8", 1, "SENINT8"},
                  {"int16", 2, "SENINT16"},
                  {"uint8", 1, "SENUINT32"},
                  {"float8_e4m3fn", 1, "SEN143_FP8"},
                  {"float8_e5m2fnuz", 1, "SEN152_FP8"},
                  {"float8_e5m2", 1, ""},
                  {"float8_e4m3fnuz", 1, ""},
                  {"float64", 8, ""},
                  {"complex64", 8, ""},
                  {"complex128", 16, ""}};
  for (auto &row : expected) {
    auto type = parseHostType(row.name);
    ASSERT_TRUE(type) << row.name;
    EXPECT_EQ(getHostTypeName(*type), row.name);
    EXPECT_EQ(getWidthInBytes(*type), row.bytes) << row.name;
    auto format = getDeviceFormat(*type);
    EXPECT_EQ(format ? getFormatName(*format) : "", row.format) << row.name;
  }
  EXPECT_FALSE(parseHostType("float"));
}
