//===- Solve.h - The problems that spyre-solve reads ------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The subcommands: text in, text out.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TOOLS_SPYRE_SOLVE_SOLVE_H
#define SPYRE_TOOLS_SPYRE_SOLVE_SOLVE_H

#include "spyre/Device/Device.h"

#include <cstdint>
#include <optional>
#include <string>

namespace spyre::solve {

struct Arguments {
  Device device;     ///< with the rates that the user gives; divide's
  std::string input; ///< the file's content
  bool isCsv = false;
  /// schedule's: what the problem's file holds, and its name.
  std::optional<std::string> problem;
  std::string problemName;
  std::optional<int64_t> capacityInBytes;
  bool usePublishedCost = false;
  std::optional<double> timeLimitInSeconds; ///< 0: what first fit finds
};

struct Answer {
  std::string output;
  std::string error;       ///< empty: all went well; a mistake a line
  std::string file;        ///< that it is in; empty: the input
  bool isUnsolved = false; ///< the input is good, but there is no solution
};

Answer divide(const Arguments &arguments);
Answer pack(const Arguments &arguments);
Answer pool(const Arguments &arguments);
Answer schedule(const Arguments &arguments);

} // namespace spyre::solve

#endif // SPYRE_TOOLS_SPYRE_SOLVE_SOLVE_H
