//===- Device.cpp - Description of a device ---------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Look-up, device files and the check of a description. A device file holds
// every field; a missing or unknown one is an error, for a misspelt number would
// silently be another device.
//
//===----------------------------------------------------------------------===//

#include "spyre/Device/Device.h"

#include "DeviceAccess.h"

#include "spyre/Support/JsonReader.h"
#include "spyre/Support/JsonWriter.h"
#include "spyre/Support/ReadFile.h"

#include <set>
#include <sstream>

using namespace spyre;

static constexpr int64_t kVersion = 1;

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

std::optional<Device> Device::lookup(std::string_view name) {
  for (const Device &variant :
       {DeviceAccess::makeSpyre(), DeviceAccess::makeSpyre202606(), DeviceAccess::makeSpyre202608(),
        DeviceAccess::makeMock4(), DeviceAccess::makeMock32()})
    if (variant.name == name)
      return variant;
  return std::nullopt;
}

std::vector<std::string_view> Device::getVariantNames() {
  return {"spyre", "spyre-2026-06", "spyre-2026-08", "mock4", "mock32"};
}

std::variant<Device, std::string> Device::resolve(std::string_view nameOrFile) {
  if (auto variant = lookup(nameOrFile))
    return *variant;
  std::string path(nameOrFile);
  auto text = readFile(path);
  if (std::holds_alternative<ReadFailure>(text)) {
    std::string known;
    for (std::string_view name : getVariantNames())
      known += (known.empty() ? "" : ", ") + std::string(name);
    return "'" + path + "' is neither a device (" + known + ") nor a readable file";
  }
  auto device = fromJson(std::get<std::string>(text));
  if (auto *message = std::get_if<std::string>(&device))
    return path + ": " + *message;
  return device;
}

//===----------------------------------------------------------------------===//
// Device files
//===----------------------------------------------------------------------===//

namespace {

/// Reads the fields of one object and refuses those that nobody asked for.
class FieldReader {
public:
  explicit FieldReader(const json::Cursor &object) : object(object) {}

  void operator()(const char *key, int64_t &field) {
    known.insert(key);
    field = object.at(key).getInt();
  }
  void operator()(const char *key, bool &field) {
    known.insert(key);
    field = object.at(key).getBool();
  }
  void operator()(const char *key, double &field) {
    known.insert(key);
    if (DeviceAccess::mayBeZero(key) && !object.find(key))
      return;
    field = object.at(key).getDouble();
  }
  void refuseUnknown(std::initializer_list<const char *> others) {
    known.insert(others.begin(), others.end());
    for (const auto &[key, value] : object.fields())
      if (!known.contains(key))
        value.fail("a device has no field \"" + key + "\"");
  }

private:
  const json::Cursor &object;
  std::set<std::string> known;
};

} // namespace

std::variant<Device, std::string> Device::fromJson(std::string_view text) {
  auto parsed = json::parse(text);
  auto describe = [](const json::Error &error) {
    return (error.where.empty() ? "" : error.where + ": ") + error.message;
  };
  if (auto *error = std::get_if<json::Error>(&parsed))
    return describe(*error);
  std::optional<json::Error> error;
  json::Cursor root(std::get<json::Document>(parsed), error);
  int64_t version = root.at("version").getInt();
  if (root.isValid() && version != kVersion)
    root.at("version").fail("version " + std::to_string(version) +
                            " of device files; this program reads " + std::to_string(kVersion));
  Device device;
  device.name = root.at("name").getString();
  FieldReader fields(root);
  DeviceAccess::visitFields(device, std::ref(fields));
  DeviceAccess::visitFlags(device, std::ref(fields));
  json::Cursor ratesObject = root.at("rates");
  FieldReader rates(ratesObject);
  DeviceAccess::visitRates(device.rates, std::ref(rates));
  fields.refuseUnknown({"version", "name", "rates"});
  rates.refuseUnknown({});
  if (error)
    return describe(*error);
  std::string problems;
  for (const std::string &problem : device.check())
    problems += (problems.empty() ? "" : "; ") + problem;
  if (!problems.empty())
    return problems;
  return device;
}

std::string Device::toJson() const {
  std::ostringstream os;
  {
    json::Writer writer(os, /*pretty=*/true);
    auto write = [&](const char *key, auto field) { writer.field(key, field); };
    writer.beginObject();
    writer.field("version", kVersion);
    writer.field("name", name);
    DeviceAccess::visitFields(*this, write);
    DeviceAccess::visitFlags(*this, write);
    writer.key("rates");
    writer.beginObject();
    DeviceAccess::visitRates(rates, write);
    writer.endObject();
    writer.endObject();
  }
  return os.str();
}

//===----------------------------------------------------------------------===//
// Check
//===----------------------------------------------------------------------===//

std::vector<std::string> Device::check() const {
  std::vector<std::string> problems;
  auto require = [&](bool holds, std::string message) {
    if (!holds)
      problems.push_back(std::move(message));
  };
  require(!name.empty(), "a device needs a name");
  auto positive = [&](const char *key, auto field) {
    if (DeviceAccess::mayBeZero(key))
      require(field >= 0, std::string(key) + " must not be negative");
    else
      require(field > 0, std::string(key) + " must be positive");
  };
  DeviceAccess::visitFields(*this, positive);
  DeviceAccess::visitRates(rates, positive);
  if (!problems.empty())
    return problems; // the rest divides and compares
  require(usableLXInBytes <= lxInBytes, "lx_usable_bytes exceeds lx_bytes");
  require(lxInBytes % alignmentInBytes == 0, "lx_bytes is no multiple of alignment_bytes");
  require(segmentInBytes % alignmentInBytes == 0,
          "segment_bytes is no multiple of alignment_bytes");
  require(numSegments >= 2, "segments must leave one beside the program's");
  require(segmentInBytes <= memoryInBytes, "segment_bytes exceeds memory_bytes");
  require(spanLimitInBytes <= segmentInBytes, "span_limit_bytes exceeds segment_bytes");
  require(rates.memoryInBytesPerNs <= nominalMemoryInBytesPerNs,
          "memory_bytes_per_ns exceeds nominal_memory_bytes_per_ns");
  require(rates.sustainedMacsPerNs <= rates.nominalMacsPerNs,
          "sustained_macs_per_ns exceeds nominal_macs_per_ns");
  return problems;
}
