//===- spyre-reduce.cpp - Test-case reduction -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-reduce with this project's dialects and passes.
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/Version.h"
#include "spyre/Tools/Register.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  if (spyre::printVersionIfAsked(argc, argv))
    return 0;
  mlir::DialectRegistry registry;
  spyre::registerAllDialects(registry);
  spyre::registerAllPasses();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
