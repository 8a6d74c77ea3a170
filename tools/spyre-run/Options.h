//===- Options.h - The command line of spyre-run ----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the user asked for. Parsing says what is wrong instead of guessing.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TOOLS_SPYRE_RUN_OPTIONS_H
#define SPYRE_TOOLS_SPYRE_RUN_OPTIONS_H

#include "spyre/Compiler/CompileFlags.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace spyre::tools {

struct RunOptions {
  std::string input;
  std::string bind, inputs, outputs, expect, stats, trace;
  std::string device = "spyre";
  /// -i and -o in the order of the function's parameters: (is output, text).
  std::vector<std::pair<bool, std::string>> shortArguments;
  std::vector<int64_t> sizes; ///< of symbolic dims, in the order of the parameters
  std::optional<double> rtol, atol;
  bool check = false, costOnly = false, progress = false;
  unsigned threads = 0;
  uint64_t seed = 0;
  /// Of kernels: what f16 is (empty: as the module says), when results are rounded, what
  /// happens out of bounds, and whether compute tiles run in descending order.
  std::string f16, round = "each", outOfBounds = "error";
  bool reversed = false;
  compiler::CompileFlagValues compile; ///< for .mlir inputs
};

struct UsageError {
  std::string message;
};
/// --help was given.
struct HelpRequest {};

std::variant<RunOptions, UsageError, HelpRequest> parseOptions(int argc, char **argv);
extern const char *const kHelpText;

} // namespace spyre::tools

#endif // SPYRE_TOOLS_SPYRE_RUN_OPTIONS_H
