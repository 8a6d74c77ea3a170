//===- HostChoice.h - What the host computes --------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler itself says what the device can do: every lowering and pass refuses with
// a reason what it cannot. A program is compiled; operations that are refused, by
// whatever phase, are marked as the host's, and it is compiled again, until nothing is
// refused. Operations are numbered by their locations, so that a refusal late in the
// stack still names one.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COMPILER_HOSTCHOICE_H
#define SPYRE_COMPILER_HOSTCHOICE_H

#include "spyre/Dialect/Spyre/IR/Refusal.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace spyre::compiler {

/// Which operations may run on the host.
enum class HostPolicy {
  None,  ///< none: what the device cannot do is refused
  Table, ///< those that lib/Host computes
  Any,   ///< all: whoever runs the program brings PyTorch
};

class HostChoice {
public:
  /// Numbers the operations of \p module, a program of torch.
  HostChoice(mlir::OwningOpRef<mlir::ModuleOp> module, HostPolicy policy);

  /// The program for the next attempt, the host's operations marked.
  mlir::OwningOpRef<mlir::ModuleOp> getProgram() const { return module.get().clone(); }
  /// True if it has to be taken apart: an operation is marked, or the signature has what
  /// no device function can.
  bool needsSplit() const { return numMarked > 0 || hasOtherSignature; }

  /// Learns from an attempt in which \p refusals were made, in the functions \p failedParts:
  /// marks what they refuse. False if there is nothing new that the host may compute.
  bool learn(llvm::ArrayRef<mlir::spyre::Refusal> refusals,
             llvm::ArrayRef<mlir::ModuleOp> failedParts);

  /// Marks all that the host may compute.
  void markAll(llvm::StringRef reason);

private:
  bool mark(int64_t number, llvm::StringRef reason);
  bool mayRunOnHost(mlir::Operation *op) const;

  mlir::OwningOpRef<mlir::ModuleOp> module;
  HostPolicy policy;
  std::vector<mlir::Operation *> operations; ///< by number
  int64_t numMarked = 0;
  bool hasOtherSignature = false;
};

} // namespace spyre::compiler

#endif // SPYRE_COMPILER_HOSTCHOICE_H
