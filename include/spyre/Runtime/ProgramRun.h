//===- ProgramRun.h - Running a program directory ---------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads program.json with all bundles that it launches, checks that they fit
// together, and runs the steps. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_RUNTIME_PROGRAMRUN_H
#define SPYRE_RUNTIME_PROGRAMRUN_H

#include "spyre/Runtime/Artifacts.h"
#include "spyre/Runtime/Runtime.h"

namespace spyre::runtime {

struct LoadedProgram {
  std::string directory;
  Program program;
  std::map<std::string, Bundle> bundles;       ///< by the name that launches use
  std::map<std::string, HostTensor> constants; ///< by array name
};

/// Reads \p directory. Errors name the file: what loadBundle reports, a launch
/// with a wrong number of buffers, a buffer too small for an argument, arguments of
/// one buffer that disagree in layout, a step that reads what no step made. \p kernels
/// reads the kernels of programs that have such; without it they are an error.
Result<LoadedProgram> loadProgram(const std::string &directory, const KernelReader &kernels = {});

/// By buffer: its layout, as the bundle arguments that it becomes say; in \p program.
using BufferLayouts = std::map<std::string, const ArgumentSpec *>;
Result<BufferLayouts> getBufferLayouts(const LoadedProgram &program);

/// Whether buffers and pools fit in device memory; an error if not.
std::optional<Error> checkCapacity(const LoadedProgram &program, const Device &device,
                                   bool countOnly = false);

/// Runs all steps. \p inputs: the program's arguments by name, in its dtypes and
/// shapes (an error names what is missing or differs). The result holds the
/// program's results by name. On an emulator that only counts, arrays have no data.
Result<std::map<std::string, HostTensor>>
runProgram(Runtime &runtime, const LoadedProgram &program,
           const std::map<std::string, HostTensor> &inputs);

} // namespace spyre::runtime

#endif // SPYRE_RUNTIME_PROGRAMRUN_H
