//===- spyre-solve.cpp - The planning libraries by themselves -------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   spyre-solve pack|divide|pool --input F --output F [--capacity N]
//               [--cost-model=spyre|published] [--time-limit S]
//               [--device=NAME|FILE] [--rates=FILE]
//   spyre-solve schedule F [--problem F] [--output F] [--device=NAME|FILE] [--rates=FILE]
//   spyre-solve rates [--device=NAME|FILE] [--rates=FILE] [--output F]
//
// Solves the work-division, packing and pool problems of the reference data, and
// MiniMalloc's CSV; checks schedules, and solves what they leave open; prints the rates that the
// cost model computes with. Exit code 1: bad input or no solution; 2: wrong call.
//
//===----------------------------------------------------------------------===//

#include "Solve.h"

#include "spyre/Device/Rates.h"
#include "spyre/Support/AtomicDirectory.h"
#include "spyre/Support/ReadFile.h"
#include "spyre/Support/Version.h"

#include <charconv>
#include <cstring>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

using namespace spyre::solve;

namespace {

const char *usage =
    "usage: spyre-solve pack|divide|pool --input FILE --output FILE [--capacity BYTES]\n"
    "                   [--cost-model=spyre|published] [--time-limit SECONDS]\n"
    "                   [--device=NAME|FILE] [--rates=FILE]\n"
    "       spyre-solve schedule FILE [--problem FILE] [--output FILE]\n"
    "                   [--device=NAME|FILE] [--rates=FILE]\n"
    "       spyre-solve rates [--device=NAME|FILE] [--rates=FILE] [--output FILE]\n"
    "\n"
    "Solves planning problems in the form of the reference data (JSON); pack and pool also\n"
    "read and write MiniMalloc's CSV (id,lower,upper,size).\n"
    "  divide  work division: {\"plans\": [...]} or one plan\n"
    "  pack    LX packing: {\"cases\": [...]} or one case; a CSV needs --capacity\n"
    "  pool    device-memory pool: a list of traces or one trace\n"
    "  schedule  checks a schedule, as --plan of spyre-compile takes it, and prints it in its\n"
    "          usual form; with --problem, a file with values and operations, solves what it\n"
    "          leaves open, and prints all of it with its time and the least possible\n"
    "          (both files: docs/formats/schedule.md)\n"
    "  rates   prints the rates of a device as a rates file, to start one of your own from\n"
    "\n"
    "The time limit is for each problem of pack and pool; with 0, the answer is what first\n"
    "fit finds. Without a limit, the same input gives the same answer.\n"
    "\n"
    "--device and --rates are for divide, schedule and rates: which device, and a rates file "
    "whose\n"
    "rates replace the device's.\n"
    "\n"
    "example: spyre-solve pack --input A.csv --output out.csv --capacity 1048576\n"
    "         spyre-solve schedule plan.json --problem function.json\n"
    "         spyre-solve rates --device=spyre > mine.json\n";

int fail(const std::string &message, int code) {
  std::cerr << "spyre-solve: error: " << message << "\n";
  return code;
}

bool endsWith(const std::string &text, const char *suffix) {
  size_t size = std::strlen(suffix);
  return text.size() >= size && text.compare(text.size() - size, size, suffix) == 0;
}

} // namespace

int main(int argc, char **argv) {
  if (spyre::printVersionIfAsked(argc, argv))
    return 0;
  spyre::cleanUpOnInterrupt();
  std::string command;
  std::map<std::string, std::string> options;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--help" || word == "-h") {
      std::cout << usage;
      return 0;
    }
    if (word.rfind("--", 0) != 0) {
      if (command == "schedule" && !options.count("input")) {
        options["input"] = word;
        continue;
      }
      if (!command.empty())
        return fail("unexpected argument '" + word + "'", 2);
      command = word;
      continue;
    }
    size_t equals = word.find('=');
    std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    if (name != "input" && name != "output" && name != "capacity" && name != "cost-model" &&
        name != "time-limit" && name != "device" && name != "rates" && name != "problem")
      return fail("unknown option '--" + name + "'", 2);
    if (equals == std::string::npos && i + 1 == argc)
      return fail("option '--" + name + "' needs a value", 2);
    options[name] = equals == std::string::npos ? argv[++i] : word.substr(equals + 1);
  }
  if (command.empty()) {
    std::cerr << usage;
    return 2;
  }
  const std::map<std::string, std::set<std::string>> known = {
      {"pack", {"input", "output", "capacity", "cost-model", "time-limit"}},
      {"pool", {"input", "output", "capacity", "cost-model", "time-limit"}},
      {"divide", {"input", "output", "capacity", "cost-model", "time-limit", "device", "rates"}},
      {"schedule", {"input", "output", "problem", "device", "rates"}},
      {"rates", {"output", "device", "rates"}}};
  if (!known.count(command))
    return fail("unknown command '" + command + "': pack, divide, pool, schedule or rates", 2);
  const bool printsRates = command == "rates";
  for (const auto &[name, value] : options)
    if (!known.at(command).count(name))
      return fail("option '--" + name + "' is not one of " + command, 2);

  Arguments arguments;
  auto device = spyre::Device::resolve(options.count("device") ? options["device"] : "spyre");
  if (auto *message = std::get_if<std::string>(&device))
    return fail(*message, 2);
  arguments.device = std::get<spyre::Device>(std::move(device));
  if (auto it = options.find("rates"); it != options.end()) {
    auto rates = spyre::readRatesFile(it->second, arguments.device);
    if (auto *message = std::get_if<std::string>(&rates))
      return fail(*message, 2);
    auto replaced = spyre::replaceRates(arguments.device, std::get<spyre::RateValues>(rates));
    arguments.device = std::get<spyre::Device>(std::move(replaced));
  }
  auto write = [&](const std::string &text) {
    if (!options.count("output"))
      std::cout << text;
    else if (auto error = spyre::writeFileAtomically(options["output"],
                                                     [&](std::ostream &os) { os << text; }))
      return fail(*error, 1);
    return 0;
  };
  if (printsRates)
    return write(spyre::writeRatesFile(arguments.device));
  if (command == "schedule" && !options.count("input"))
    return fail("schedule wants the file of one", 2);
  for (const char *name : {"input", "output"})
    if (!options.count(name) && command != "schedule")
      return fail(std::string("option '--") + name + "' is missing", 2);

  if (auto it = options.find("capacity"); it != options.end()) {
    int64_t value = 0;
    const char *end = it->second.data() + it->second.size();
    auto [stop, error] = std::from_chars(it->second.data(), end, value);
    if (error != std::errc() || stop != end || value < 0)
      return fail("'--capacity' wants a number of bytes, not '" + it->second + "'", 2);
    arguments.capacityInBytes = value;
  }
  if (auto it = options.find("time-limit"); it != options.end()) {
    double value = 0;
    const char *end = it->second.data() + it->second.size();
    auto [stop, error] = std::from_chars(it->second.data(), end, value);
    if (error != std::errc() || stop != end || !(value >= 0 && value < 1e6))
      return fail("'--time-limit' wants seconds, not '" + it->second + "'", 2);
    arguments.timeLimitInSeconds = value;
  }
  if (auto it = options.find("cost-model"); it != options.end()) {
    if (it->second != "spyre" && it->second != "published")
      return fail("'--cost-model' is spyre or published, not '" + it->second + "'", 2);
    arguments.usePublishedCost = it->second == "published";
  }

  for (const char *name : {"input", "problem"}) {
    if (!options.count(name))
      continue;
    auto text = spyre::readFile(options[name]);
    if (auto *failure = std::get_if<spyre::ReadFailure>(&text))
      return fail(failure->message, 1);
    if (std::string(name) == "input")
      arguments.input = std::move(std::get<std::string>(text));
    else
      arguments.problem = std::move(std::get<std::string>(text));
  }
  arguments.problemName = options["problem"];
  arguments.isCsv = endsWith(options["input"], ".csv");
  if (arguments.isCsv && command == "divide")
    return fail("divide reads JSON, not CSV", 2);

  Answer answer = command == "divide"     ? divide(arguments)
                  : command == "pack"     ? pack(arguments)
                  : command == "schedule" ? schedule(arguments)
                                          : pool(arguments);
  std::istringstream mistakes(answer.error);
  int code = 0;
  for (std::string mistake; std::getline(mistakes, mistake);)
    code = fail((answer.file.empty() ? options["input"] : answer.file) + ": " + mistake, 1);
  return code ? code : write(answer.output);
}
