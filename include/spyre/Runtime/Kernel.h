//===- Kernel.h - What a bundle may launch in place of descriptors -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is a text that only a library above the runtime can read; the runtime
// gives it the memory of its arguments. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_RUNTIME_KERNEL_H
#define SPYRE_RUNTIME_KERNEL_H

#include "spyre/Device/Device.h"
#include "spyre/Runtime/Memory.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace spyre::runtime {

/// The kernel in a bundle directory.
inline constexpr const char *kKernelFile = "kernel.ktir.mlir";

/// The device memory of an argument.
struct KernelBuffer {
  uint8_t *data = nullptr;
  int64_t sizeInBytes = 0;
  bool isRead = false; ///< it holds something before the launch
  bool isWritten = false;
};

class Kernel {
public:
  virtual ~Kernel() = default;
  /// Runs on all compute tiles. Buffers that are the same memory are one. \p checked: loads of
  /// what nobody has written, races between tiles and too much in LX are errors.
  virtual std::optional<Error> run(const std::vector<KernelBuffer> &arguments, int64_t poolInBytes,
                                   const Device &device, bool checked) const = 0;
};

/// Reads the kernel in a file; an error that names the file.
using KernelReader = std::function<Result<std::shared_ptr<const Kernel>>(const std::string &file)>;

} // namespace spyre::runtime

#endif // SPYRE_RUNTIME_KERNEL_H
