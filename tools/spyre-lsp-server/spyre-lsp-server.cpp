//===- spyre-lsp-server.cpp - Editor support -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's language server with this project's dialects.
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/Version.h"
#include "spyre/Tools/Register.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  if (spyre::printVersionIfAsked(argc, argv))
    return 0;
  mlir::DialectRegistry registry;
  spyre::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
