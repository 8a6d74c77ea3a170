//===- HostFunctions.h - Who computes what the host computes ----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program's host calls go to an object of this interface: lib/Host's table, or the
// caller's own functions (PyTorch's kernels). MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_RUNTIME_HOSTFUNCTIONS_H
#define SPYRE_RUNTIME_HOSTFUNCTIONS_H

#include "spyre/Runtime/Artifacts.h"
#include "spyre/Runtime/Transfer.h"

namespace spyre::runtime {

/// One host call while it runs.
struct HostInvocation {
  const HostCall &call;
  /// The arrays that the call's arguments name, in the order of forEachArray.
  const std::vector<const HostTensor *> &arrays;
  /// One for each output, with its type and shape and memory to fill.
  const std::vector<HostTensor *> &outputs;
};

class HostFunctions {
public:
  virtual ~HostFunctions() = default;
  /// Whether call() can be asked for the operation \p function.
  virtual bool knows(const std::string &function) const = 0;
  /// Fills the outputs, or says why not.
  virtual std::optional<std::string> call(const HostInvocation &invocation) = 0;
};

/// The functions of lib/Host.
HostFunctions &getHostTable();

} // namespace spyre::runtime

#endif // SPYRE_RUNTIME_HOSTFUNCTIONS_H
