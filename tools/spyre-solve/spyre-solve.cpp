//===- spyre-solve.cpp - The planning libraries by themselves -------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   spyre-solve pack|divide|pool --input F --output F [--capacity N]
//               [--cost-model=spyre|published] [--time-limit S]
//
// Solves the work-division, packing and pool problems of the reference data, and
// MiniMalloc's CSV. Exit code 1: bad input or no solution; 2: wrong call.
//
//===----------------------------------------------------------------------===//

#include "Solve.h"

#include "spyre/Support/AtomicDirectory.h"
#include "spyre/Support/ReadFile.h"
#include "spyre/Support/Version.h"

#include <charconv>
#include <cstring>
#include <iostream>
#include <map>

using namespace spyre::solve;

namespace {

const char *usage =
    "usage: spyre-solve pack|divide|pool --input FILE --output FILE [--capacity BYTES]\n"
    "                   [--cost-model=spyre|published] [--time-limit SECONDS]\n"
    "\n"
    "Solves planning problems in the form of the reference data (JSON); pack and pool also\n"
    "read and write MiniMalloc's CSV (id,lower,upper,size).\n"
    "  divide  work division: {\"plans\": [...]} or one plan\n"
    "  pack    LX packing: {\"cases\": [...]} or one case; a CSV needs --capacity\n"
    "  pool    device-memory pool: a list of traces or one trace\n"
    "The time limit is for each problem of pack and pool; with 0, the answer is what first\n"
    "fit finds. Without a limit, the same input gives the same answer.\n"
    "\n"
    "example: spyre-solve pack --input A.csv --output out.csv --capacity 1048576\n";

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
      if (!command.empty())
        return fail("unexpected argument '" + word + "'", 2);
      command = word;
      continue;
    }
    size_t equals = word.find('=');
    std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    if (name != "input" && name != "output" && name != "capacity" && name != "cost-model" &&
        name != "time-limit")
      return fail("unknown option '--" + name + "'", 2);
    if (equals == std::string::npos && i + 1 == argc)
      return fail("option '--" + name + "' needs a value", 2);
    options[name] = equals == std::string::npos ? argv[++i] : word.substr(equals + 1);
  }
  if (command.empty()) {
    std::cerr << usage;
    return 2;
  }
  if (command != "pack" && command != "divide" && command != "pool")
    return fail("unknown command '" + command + "': pack, divide or pool", 2);
  for (const char *name : {"input", "output"})
    if (!options.count(name))
      return fail(std::string("option '--") + name + "' is missing", 2);

  Arguments arguments;
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

  auto text = spyre::readFile(options["input"]);
  if (auto *failure = std::get_if<spyre::ReadFailure>(&text))
    return fail(failure->message, 1);
  arguments.input = std::move(std::get<std::string>(text));
  arguments.isCsv = endsWith(options["input"], ".csv");
  if (arguments.isCsv && command == "divide")
    return fail("divide reads JSON, not CSV", 2);

  Answer answer = command == "divide" ? divide(arguments)
                  : command == "pack" ? pack(arguments)
                                      : pool(arguments);
  if (!answer.error.empty())
    return fail(options["input"] + ": " + answer.error, 1);
  if (auto error = spyre::writeFileAtomically(options["output"],
                                              [&](std::ostream &os) { os << answer.output; }))
    return fail(*error, 1);
  return 0;
}
