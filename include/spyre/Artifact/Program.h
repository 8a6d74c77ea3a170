//===- Program.h - What the runtime executes for a program ------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `program.json` as data: the program's arrays, the device buffers it needs, and
// the steps from copy-in to copy-out. Each launch names a bundle directory, whose
// plan and launch spec are read from there. MLIR-free.
// File format: docs/formats/program.md.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_ARTIFACT_PROGRAM_H
#define SPYRE_ARTIFACT_PROGRAM_H

#include "spyre/Artifact/Plan.h"
#include "spyre/Device/Rates.h"

#include <map>

namespace spyre::artifact {

/// An argument or result of the program, on the host.
struct HostArray {
  std::string name; ///< "in0", "out1"
  HostType dtype = HostType::Float16;
  std::vector<int64_t> shape;
};

/// An array that belongs to the program.
struct ConstantArray {
  HostArray array;
  std::string file; ///< .npy inside the program directory; bfloat16 as its bits
};

/// Device memory that the runtime allocates for the program. Its layout is that
/// of the first bundle argument it is passed as; all others must agree.
struct DeviceBuffer {
  std::string name; ///< unique
  int64_t sizeInBytes = 0;
};

/// Host array to device buffer, with layout and number conversion.
struct CopyIn {
  std::string array;
  std::string buffer;
};

/// Device buffer to host array.
struct CopyOut {
  std::string buffer;
  std::string array;
};

/// Runs a bundle with one buffer an argument, in the order of its parameters.
/// Constant arguments (launch_spec.json has their value) have an empty name: the
/// runtime makes their stick.
struct LaunchBundle {
  std::string bundle; ///< directory inside the program directory
  std::vector<std::string> buffers;
};

/// An operand of a host call: none, a bool, a number, a text, an array of the program,
/// or a list of them.
struct HostArgument {
  struct Array {
    std::string name;
    bool isNumber = false; ///< a rank-0 array that is passed as a number
  };
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, std::vector<HostArgument>>
      value;
};

/// An array that a host call makes: result `number` of the operation or, if item is not
/// -1, that element of the list that the result is.
struct HostOutput {
  HostArray array;
  int64_t number = 0, item = -1;
};

/// Runs an operation of PyTorch on host arrays: by lib/Host, or by who the caller names
/// (HostFunctions.h). Outputs have the types and shapes that stand here.
struct HostCall {
  std::string function; ///< "aten.max.dim"
  std::vector<HostArgument> arguments;
  std::vector<HostOutput> outputs;
  std::string reason;   ///< why it is not on the device; may be empty
  std::string location; ///< "model.py:12:3", or empty
};

/// Calls \p fn with each array that \p arguments name, in order.
template <typename Fn> void forEachArray(const std::vector<HostArgument> &arguments, Fn fn) {
  for (const HostArgument &argument : arguments) {
    if (const auto *array = std::get_if<HostArgument::Array>(&argument.value))
      fn(*array);
    else if (const auto *list = std::get_if<std::vector<HostArgument>>(&argument.value))
      forEachArray(*list, fn);
  }
}

struct Free {
  std::string buffer;
};

struct ProgramStep {
  std::variant<CopyIn, LaunchBundle, HostCall, CopyOut, Free> content;
};

struct Program {
  static constexpr int64_t kVersion = 1;
  std::string name;
  std::string target = "superdsc"; ///< or "ktir"
  std::string device = "spyre";    ///< variant name of the device description
  RateValues rates;                ///< that it was planned with, where they replace the device's
  std::vector<HostArray> arguments;
  std::vector<HostArray> results;
  std::vector<ConstantArray> constants;
  std::vector<DeviceBuffer> buffers;
  std::vector<ProgramStep> steps;
};

/// By function: the calls of \p program; views, which do nothing, are not counted.
std::map<std::string, int64_t> countHostCalls(const Program &program);

/// Reads program.json. Errors: syntax, a missing or mistyped field, a newer
/// version, a step that names an unknown array or buffer, a bundle outside the
/// directory.
std::variant<Program, FileError> readProgram(std::string_view json);
void writeProgram(const Program &program, std::ostream &os, bool pretty);

} // namespace spyre::artifact

#endif // SPYRE_ARTIFACT_PROGRAM_H
