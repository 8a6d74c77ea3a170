//===- Rates.cpp - Rates that replace those of a device ---------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names and types of the rates are DeviceAccess's, so a rate that is added there is
// one of rates files at once. A misspelt rate would silently be the published one, so
// everything that is unknown is a mistake, and all mistakes are said at once.
//
//===----------------------------------------------------------------------===//

#include "spyre/Device/Rates.h"

#include "DeviceAccess.h"

#include "spyre/Support/JsonReader.h"
#include "spyre/Support/JsonWriter.h"
#include "spyre/Support/ReadFile.h"

#include <cmath>
#include <sstream>
#include <type_traits>

using namespace spyre;

static constexpr int64_t kVersion = 1;
/// Times stay finite and different from zero with rates between these.
static constexpr double kLeast = 1e-12, kMost = 1e15;
static const char *const kUnknown = "there is no such rate";

static std::string toText(double value) {
  std::ostringstream os;
  os.precision(12);
  os << value;
  return os.str();
}

//===----------------------------------------------------------------------===//
// Names and numbers
//===----------------------------------------------------------------------===//

std::string RateMistakes::toString(std::string_view source) const {
  std::string text;
  for (const std::string &sentence : sentences)
    text += (text.empty() ? "" : "\n") + std::string(source) + ": " + sentence;
  return text;
}

std::vector<std::string> spyre::getRateNames() {
  std::vector<std::string> names;
  DeviceRates rates;
  DeviceAccess::visitRates(rates, [&](const char *name, auto &) { names.emplace_back(name); });
  return names;
}

static std::string listNames() {
  std::string names;
  for (const std::string &name : getRateNames())
    names += (names.empty() ? "" : ", ") + name;
  return "the rates are " + names;
}

std::string spyre::findMistake(std::string_view name, double value) {
  bool isKnown = false, isWhole = false;
  DeviceRates rates;
  DeviceAccess::visitRates(rates, [&](const char *known, auto &field) {
    if (known != name)
      return;
    isKnown = true;
    isWhole = std::is_integral_v<std::remove_reference_t<decltype(field)>>;
  });
  if (!isKnown)
    return kUnknown;
  if (!std::isfinite(value))
    return "a rate is a finite number";
  if (value == 0 && DeviceAccess::mayBeZero(name))
    return "";
  if (!(value > 0))
    return "a rate is a positive number, not " + toText(value);
  if (value < kLeast || value > kMost)
    return "a rate is a number from " + toText(kLeast) + " to " + toText(kMost) + ", not " +
           toText(value);
  if (isWhole && value != std::floor(value))
    return "it is a whole number, not " + toText(value);
  return "";
}

std::string spyre::toString(const RateValues &values) {
  std::string text;
  for (const auto &[name, value] : values)
    text += (text.empty() ? "" : ", ") + name + " = " + toText(value);
  return text;
}

//===----------------------------------------------------------------------===//
// A device with other rates
//===----------------------------------------------------------------------===//

std::variant<Device, RateMistakes> spyre::replaceRates(const Device &device,
                                                       const RateValues &values) {
  RateMistakes mistakes;
  bool hasUnknown = false;
  DeviceRates rates = device.getRates();
  for (const auto &[name, value] : values)
    if (std::string mistake = findMistake(name, value); !mistake.empty()) {
      mistakes.sentences.push_back(name + ": " + mistake);
      hasUnknown |= mistake == kUnknown;
    } else {
      DeviceAccess::visitRates(
          rates, [&, &name = name, &value = value](const char *known, auto &field) {
            if (known == name)
              field = static_cast<std::remove_reference_t<decltype(field)>>(value);
          });
    }
  Device result = device.withRates(rates);
  for (const std::string &problem : result.check())
    mistakes.sentences.push_back(problem);
  if (hasUnknown)
    mistakes.sentences.push_back(listNames());
  if (!mistakes.sentences.empty())
    return mistakes;
  return result;
}

//===----------------------------------------------------------------------===//
// Rates files
//===----------------------------------------------------------------------===//

std::variant<RateValues, RateMistakes> spyre::parseRates(std::string_view text,
                                                         const Device &device) {
  RateMistakes mistakes;
  bool isRateWrong = false;
  auto say = [&](const std::string &where, const std::string &what) {
    mistakes.sentences.push_back(where.empty() ? what : where + ": " + what);
  };
  auto parsed = json::parse(text);
  if (auto *error = std::get_if<json::Error>(&parsed)) {
    say(error->where, error->message);
    return mistakes;
  }
  const json::Document &document = std::get<json::Document>(parsed);
  if (!document.is_object()) {
    say("", "a rates file is an object with \"version\" and \"rates\"");
    return mistakes;
  }
  // Each field is read by itself: a cursor keeps the first mistake only.
  RateValues values;
  bool hasVersion = false, hasRates = false;
  for (const auto &[key, field] : document.get_ref<const json::Document::object_t &>()) {
    const std::string where = json::appendPointer("", key);
    if (key == "version") {
      hasVersion = true;
      if (!field.is_number_integer())
        say(where, "expected an integer, not " + std::string(field.type_name()));
      else if (field != kVersion)
        say(where, "version " + field.dump() + " of rates files; this program reads " +
                       std::to_string(kVersion));
    } else if (key != "rates") {
      say(where, "a rates file has \"version\" and \"rates\", nothing else");
    } else if (!field.is_object()) {
      hasRates = true;
      say(where, "expected an object, not " + std::string(field.type_name()));
    } else {
      hasRates = true;
      for (const auto &[name, value] : field.get_ref<const json::Document::object_t &>()) {
        const std::string place = json::appendPointer(where, name);
        std::string mistake = findMistake(name, value.is_number() ? value.get<double>() : 1);
        if (mistake != kUnknown && !value.is_number())
          mistake = "expected a number, not " + std::string(value.type_name());
        if (mistake.empty())
          values.emplace(name, value.get<double>());
        else
          say(place, mistake);
        isRateWrong |= !mistake.empty();
      }
    }
  }
  if (!hasVersion)
    say("", "missing field \"version\"");
  if (!hasRates)
    say("", "missing field \"rates\"");
  auto replaced = replaceRates(device, values);
  if (auto *wrong = std::get_if<RateMistakes>(&replaced))
    for (const std::string &sentence : wrong->sentences)
      say("/rates", sentence);
  if (isRateWrong)
    say("", listNames());
  if (!mistakes.sentences.empty())
    return mistakes;
  return values;
}

std::variant<RateValues, std::string> spyre::readRatesFile(const std::string &file,
                                                           const Device &device) {
  auto text = readFile(file);
  if (auto *failure = std::get_if<ReadFailure>(&text))
    return failure->message;
  auto values = parseRates(std::get<std::string>(text), device);
  if (auto *mistakes = std::get_if<RateMistakes>(&values))
    return mistakes->toString(file);
  return std::get<RateValues>(std::move(values));
}

std::string spyre::writeRatesFile(const Device &device) {
  std::ostringstream os;
  {
    json::Writer writer(os, /*pretty=*/true);
    writer.beginObject();
    writer.field("version", kVersion);
    writer.key("rates");
    writer.beginObject();
    DeviceAccess::visitRates(device.getRates(),
                             [&](const char *name, auto field) { writer.field(name, field); });
    writer.endObject();
    writer.endObject();
  }
  return os.str() + "\n";
}
