//===- CApiInternal.h - What the files of the C interface share -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device behind its handle, and how errors reach the calling thread.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_RUNTIME_CAPIINTERNAL_H
#define SPYRE_LIB_RUNTIME_CAPIINTERNAL_H

#include "spyre/Runtime/Runtime.h"
#include "spyre/Runtime/spyre.h"

#include <mutex>

struct spyre_device {
  /// Recursive: a caller's host function may use the device that runs its program.
  std::recursive_mutex mutex;
  spyre::runtime::Runtime runtime;
  std::string report;
  spyre_device(spyre::Device device, spyre::runtime::EmulatorOptions options)
      : runtime(std::move(device), options) {}
};

namespace spyre::runtime::capi {

/// Why the last call of this thread failed.
std::string &getLastError();

/// Runs \p fn, which returns an optional Error; what it throws (the host is out of memory)
/// becomes one.
template <typename Fn> spyre_status guarded(Fn fn) {
  try {
    std::optional<Error> error = fn();
    getLastError() = error ? std::move(error->message) : std::string();
    return error ? SPYRE_ERROR : SPYRE_OK;
  } catch (const std::exception &exception) {
    getLastError() = std::string("the host failed: ") + exception.what();
    return SPYRE_ERROR;
  }
}

} // namespace spyre::runtime::capi

#endif // SPYRE_LIB_RUNTIME_CAPIINTERNAL_H
