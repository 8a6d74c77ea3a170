//===- Temporaries.h - What an interrupt has to remove ----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files and folders under construction, known to the signal handler. The handler
// may run on any thread while another one writes: that one stops at its next
// step (waitIfInterrupted), and the handler waits for steps that must be whole.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_SUPPORT_TEMPORARIES_H
#define SPYRE_LIB_SUPPORT_TEMPORARIES_H

#include <filesystem>

#include <csignal>

namespace spyre::temporaries {

/// Registers \p path. Does nothing if the list is full or the path too long: the
/// next run removes such a path.
void add(const std::filesystem::path &path);
void remove(const std::filesystem::path &path);

/// Does not return once an interrupt is being handled: the process is ending.
void waitIfInterrupted();

/// While one lives, the handler does not begin.
class UninterruptedStep {
public:
  UninterruptedStep();
  ~UninterruptedStep();
  UninterruptedStep(const UninterruptedStep &) = delete;
  UninterruptedStep &operator=(const UninterruptedStep &) = delete;

private:
  sigset_t before;
};

} // namespace spyre::temporaries

#endif // SPYRE_LIB_SUPPORT_TEMPORARIES_H
