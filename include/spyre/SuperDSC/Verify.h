//===- Verify.h - The rules that a descriptor keeps -------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Structural rules of the format, numbered SDSC-1, SDSC-2, ... as in
// docs/developer/sdsc-rules.md. All violations are reported, not the first.
// MLIR-free; the pass sdsc-verify and the emulator's loader call it.
// Source of the rules: SuperDSC reference, sections 1 and 7.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SUPERDSC_VERIFY_H
#define SPYRE_SUPERDSC_VERIFY_H

#include "spyre/SuperDSC/Descriptor.h"

#include <string>
#include <vector>

namespace spyre::sdsc {

struct Violation {
  int rule = 0;        ///< n of SDSC-n
  std::string message; ///< what is wrong, with names and numbers
  int tensor = -1;     ///< the operand it is about, -1: the descriptor
  /// The specification forbids it, but the reference front end emits it and it has
  /// a meaning: worth a warning, not a refusal.
  bool isWarning = false;
};

/// All violations in \p descriptor, in the order of the rules' numbers.
/// Precondition: consistent counts, as the reader of the files makes them.
std::vector<Violation> verifyDescriptor(const Descriptor &descriptor);

} // namespace spyre::sdsc

#endif // SPYRE_SUPERDSC_VERIFY_H
