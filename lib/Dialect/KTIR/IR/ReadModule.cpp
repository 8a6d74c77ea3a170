//===- ReadModule.cpp - Modules with kernels from files -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/KTIR/IR/ReadModule.h"

#include "spyre/Support/GroupSets.h"
#include "spyre/Support/Nesting.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

OwningOpRef<ModuleOp> mlir::ktdp::readModule(StringRef path, llvm::SourceMgr &sourceMgr,
                                             MLIRContext &context) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer) {
    emitError(FileLineColLoc::get(&context, path, 0, 0))
        << "cannot be read: " << buffer.getError().message();
    return nullptr;
  }
  std::string_view text((*buffer)->getBufferStart(), (*buffer)->getBufferSize());
  std::optional<::spyre::TextProblem> problem = ::spyre::findTextProblem(text);
  if (std::optional<std::string> named = ::spyre::nameGroupSets(text))
    *buffer = llvm::MemoryBuffer::getMemBufferCopy(*named, (*buffer)->getBufferIdentifier());
  sourceMgr.AddNewSourceBuffer(std::move(*buffer), SMLoc());
  if (problem) {
    emitError(FileLineColLoc::get(&context, path, problem->place.line, problem->place.column))
        << problem->message;
    return nullptr;
  }
  return parseSourceFile<ModuleOp>(sourceMgr, &context);
}
