//===- KernelFile.h - Kernels of program directories ------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime's kernels, from files: parsed and translated once, run by the machine.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_KTIREXECUTOR_KERNELFILE_H
#define SPYRE_KTIREXECUTOR_KERNELFILE_H

#include "spyre/Runtime/Kernel.h"

namespace spyre::ktir {

/// Reads the one kernel of \p file. Its first argument is the pool where it has
/// `ktdp.pool_bytes`; all arguments are addresses.
runtime::Result<std::shared_ptr<const runtime::Kernel>> readKernelFile(const std::string &file);

} // namespace spyre::ktir

#endif // SPYRE_KTIREXECUTOR_KERNELFILE_H
