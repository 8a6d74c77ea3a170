//===- Verify.h - The rules that a descriptor keeps -------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules of the format, numbered SDSC-1, SDSC-2, ... as in docs/formats/superdsc.md.
// All violations are reported, not the first. MLIR-free; the pass sdsc-verify and
// the emulator's loader call it.
// The rules: docs/formats/superdsc.md, "Rules"; what stands behind them:
// docs/formats/superdsc-rules.md, section 7.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SUPERDSC_VERIFY_H
#define SPYRE_SUPERDSC_VERIFY_H

#include "spyre/SuperDSC/Descriptor.h"

#include <string>
#include <vector>

namespace spyre::sdsc {

/// What a device allows (see DeviceLimits.h); 0: not checked.
struct Limits {
  int64_t numCores = 0;
  int64_t numCoreletsPerCore = 0;
  /// Device memory that one core may address in one tensor.
  int64_t spanInBytes = 0;
  /// The scratchpad of one core.
  int64_t lxInBytes = 0;
};

struct Violation {
  int rule = 0;        ///< n of SDSC-n
  std::string message; ///< what is wrong, with names and numbers
  int tensor = -1;     ///< the operand it is about, -1: the descriptor
  /// The specification forbids it, but the reference front end emits it and it has
  /// a meaning: worth a warning, not a refusal.
  bool isWarning = false;
  std::string dim; ///< the dim it is about, empty: none or all
};

/// All violations in \p descriptor, in the order of the rules' numbers.
/// Precondition: consistent counts, as the reader of the files makes them.
std::vector<Violation> verifyDescriptor(const Descriptor &descriptor, const Limits &limits = {});

/// "SDSC-8: descriptor 3_exp, Tensor1, dim out: ..."
std::string toString(const Violation &violation, const Descriptor &descriptor);

} // namespace spyre::sdsc

#endif // SPYRE_SUPERDSC_VERIFY_H
