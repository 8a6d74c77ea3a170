//===- Rates.h - Rates that replace those of a device -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some of DeviceRates by the names that they have in files, which whoever has measured
// a card puts in the place of the published ones: rates files, their check, and the
// device with them. File format: docs/device.md, section 7.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DEVICE_RATES_H
#define SPYRE_DEVICE_RATES_H

#include "spyre/Device/Device.h"

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spyre {

/// Numbers of rates by their names, whose ends are the units ("memory_bytes_per_ns"). Those
/// that are not there stay what the device says.
using RateValues = std::map<std::string, double>;

/// Everything that is wrong with rates, each in a sentence of its own; never empty.
struct RateMistakes {
  std::vector<std::string> sentences;

  /// One a line, each behind \p source: a file or an option.
  std::string toString(std::string_view source) const;
};

/// The names of all rates, in the order of a device file.
std::vector<std::string> getRateNames();

/// What is wrong with \p value as the rate \p name; empty if nothing is: no such rate, a number
/// that is not finite and positive or that no clock could compute with, a fraction of what
/// comes in whole numbers.
std::string findMistake(std::string_view name, double value);

/// \p device with \p values in the place of its own rates. Mistakes: those of findMistake, and
/// what does not fit to the device's other numbers.
std::variant<Device, RateMistakes> replaceRates(const Device &device, const RateValues &values);

/// The rates of a rates file's \p text that shall replace those of \p device. Mistakes: no JSON, an
/// unknown version or field, a missing field, a wrong type, and those of replaceRates.
std::variant<RateValues, RateMistakes> parseRates(std::string_view text, const Device &device);
/// The same of a file; its name, or why it cannot be read, begins every line of the message.
std::variant<RateValues, std::string> readRatesFile(const std::string &file, const Device &device);
/// A rates file with all rates of \p device.
std::string writeRatesFile(const Device &device);

/// "memory_bytes_per_ns = 120, tile_full_rows = 8", for people.
std::string toString(const RateValues &values);

} // namespace spyre

#endif // SPYRE_DEVICE_RATES_H
