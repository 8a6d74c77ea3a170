//===- DeviceTest.cpp - Variants and device files ---------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The published facts, and device files that are read, written and refused.
//
//===----------------------------------------------------------------------===//

#include "spyre/Device/Device.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace spyre;

namespace {

Device get(std::string_view name) {
  auto device = Device::lookup(name);
  EXPECT_TRUE(device) << name;
  return device.value_or(Device());
}

std::string error(std::string text) {
  auto result = Device::fromJson(text);
  auto *message = std::get_if<std::string>(&result);
  return message ? *message : "accepted";
}

std::string replaced(std::string_view from, std::string_view to) {
  std::string text = get("spyre").toJson();
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(DeviceTest, PublishedFacts) {
  Device device = get("spyre");
  EXPECT_EQ(device.getNumCores(), 32);
  EXPECT_EQ(device.getLXInBytes(), 2097152);
  EXPECT_EQ(device.getUsableLXInBytes(), 1625344);
  EXPECT_EQ(device.getAlignmentInBytes(), 128);
  EXPECT_EQ(device.getSegmentInBytes(), int64_t(1) << 34);
  EXPECT_EQ(device.getNumArgumentSegments(), 7);
  EXPECT_NEAR(double(device.getSpanLimitInBytes()) / (1 << 20), 255.996, 0.0005);
  // The clock is derived from the nominal rate: 2 corelets of 8x8 cells with 8 MACs each.
  EXPECT_DOUBLE_EQ(device.getRates().nominalMacsPerNs,
                   device.getClockInGHz() *
                       double(device.getNumCoreletsPerCore() * device.getArrayRows() *
                              device.getArrayColumns() * 8));
  EXPECT_EQ(get("spyre-2026-06").getUsableLXInBytes(), 1677721);
  EXPECT_EQ(get("spyre-2026-06").getSpanLimitInBytes(), 268435456);
  EXPECT_TRUE(get("spyre").getRestickifyReadsLX());
  EXPECT_FALSE(get("spyre-2026-08").getRestickifyReadsLX());
  EXPECT_TRUE(get("spyre-2026-08").getRelayouts());
  EXPECT_FALSE(get("spyre-2026-06").getRelayouts());
  EXPECT_EQ(get("mock4").getNumCores(), 4);
  EXPECT_EQ(get("mock32").getUsableLXInBytes(), 32 * 1024);
  EXPECT_FALSE(Device::lookup("spyre2"));
}

TEST(DeviceTest, EveryVariantIsSoundAndRoundTrips) {
  for (std::string_view name : Device::getVariantNames()) {
    Device device = get(name);
    EXPECT_EQ(device.getName(), name);
    EXPECT_TRUE(device.check().empty()) << name;
    auto again = Device::fromJson(device.toJson());
    ASSERT_TRUE(std::holds_alternative<Device>(again)) << std::get<std::string>(again);
    EXPECT_EQ(std::get<Device>(again), device);
  }
}

TEST(DeviceTest, BadFiles) {
  EXPECT_EQ(error(replaced("\"version\": 1", "\"version\": 2")),
            "/version: version 2 of device files; this program reads 1");
  EXPECT_EQ(error(replaced("\"cores\"", "\"coers\"")), "/: missing field \"cores\"");
  EXPECT_EQ(error(replaced("\"cores\": 32", "\"cores\": 32, \"colour\": 1")),
            "/colour: a device has no field \"colour\"");
  EXPECT_EQ(error(replaced("\"cores\": 32", "\"cores\": 0")), "cores must be positive");
  EXPECT_EQ(error(replaced("\"lx_usable_bytes\": 1625344", "\"lx_usable_bytes\": 4000000")),
            "lx_usable_bytes exceeds lx_bytes");
  EXPECT_NE(error(replaced("\"cores\": 32", "\"cores\": \"many\"")), "accepted");
  EXPECT_NE(error("{"), "accepted");
  EXPECT_NE(error("[]"), "accepted");
}

TEST(DeviceTest, ReportsEveryProblem) {
  // An empty description: its name and each of its 16 numbers beside the rates.
  EXPECT_GE(Device().check().size(), 17u);
}

TEST(DeviceTest, NameOrFile) {
  EXPECT_TRUE(std::holds_alternative<Device>(Device::resolve("mock4")));
  auto missing = Device::resolve("no-such-device");
  ASSERT_TRUE(std::holds_alternative<std::string>(missing));
  EXPECT_EQ(std::get<std::string>(missing),
            "'no-such-device' is neither a device (spyre, "
            "spyre-2026-06, spyre-2026-08, mock4, mock32) nor a readable file");
  std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / "spyre-device-test.json";
  std::ofstream(path) << replaced("\"name\": \"spyre\"", "\"name\": \"mine\"");
  auto mine = Device::resolve(path.string());
  ASSERT_TRUE(std::holds_alternative<Device>(mine));
  EXPECT_EQ(std::get<Device>(mine).getName(), "mine");
  std::filesystem::remove(path);
}

} // namespace
