//===- ProgramFiles.cpp - Fuzzer of plan, launch spec and program files --===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any bytes as plan.json, launch_spec.json (also the form of --bind files) and
// program.json: an error, or data that are written and read again the same.
//
//===----------------------------------------------------------------------===//

#include "spyre/Artifact/Program.h"

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <sstream>

using namespace spyre::artifact;

/// Writes what was read and reads it again.
template <typename T, typename Read, typename Write>
static void check(std::string_view text, Read read, Write write) {
  auto result = read(text);
  const auto *value = std::get_if<T>(&result);
  if (!value)
    return;
  std::ostringstream first, second;
  write(*value, first, /*pretty=*/false);
  auto again = read(first.str());
  const auto *same = std::get_if<T>(&again);
  if (same)
    write(*same, second, /*pretty=*/false);
  if (!same || first.str() != second.str()) {
    std::cerr << "the file does not survive:\n" << first.str() << "\n";
    std::abort();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  check<Plan>(text, readPlan, writePlan);
  check<LaunchSpec>(text, readLaunchSpec, writeLaunchSpec);
  check<Program>(text, readProgram, writeProgram);
  return 0;
}
