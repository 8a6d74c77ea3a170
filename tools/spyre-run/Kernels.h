//===- Kernels.h - KTIR kernels in spyre-run --------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file of MLIR text that holds operations of KTIR is no program to compile: its kernel
// runs as it stands, on arrays that a binding or -i and -o describe.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TOOLS_SPYRE_RUN_KERNELS_H
#define SPYRE_TOOLS_SPYRE_RUN_KERNELS_H

#include "Options.h"

#include "spyre/KTIRExecutor/Machine/Machine.h"
#include "spyre/Runtime/Runtime.h"
#include "spyre/Support/Npz.h"

#include <map>
#include <string>

namespace spyre::tools {

/// Whether \p file may hold a kernel: its text names the dialect.
bool looksLikeKernel(const std::string &file);

struct KernelOutcome {
  std::map<std::string, runtime::HostTensor> outputs;
  ktir::MachineStats stats;
  double seconds = 0;
};

/// Runs the kernel of options.input on \p given, or on random arrays where it is empty.
runtime::Result<KernelOutcome> runKernelFile(const RunOptions &options, const npz::Archive &given);

/// The counters of a kernel's run as JSON.
std::string toJson(const KernelOutcome &outcome);

} // namespace spyre::tools

#endif // SPYRE_TOOLS_SPYRE_RUN_KERNELS_H
