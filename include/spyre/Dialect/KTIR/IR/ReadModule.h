//===- ReadModule.h - Modules with kernels from files -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The way in which tools read MLIR that somebody else wrote.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_KTIR_IR_READMODULE_H
#define SPYRE_DIALECT_KTIR_IR_READMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::ktdp {

/// The module of a file (`-`: standard input), or null and errors at their places. Texts that
/// upstream's parsers do not survive are refused, earlier spellings of futures are read.
OwningOpRef<ModuleOp> readModule(StringRef path, llvm::SourceMgr &sourceMgr, MLIRContext &context);

} // namespace mlir::ktdp

#endif // SPYRE_DIALECT_KTIR_IR_READMODULE_H
