//===- spyre-opt.cpp - Runs passes on MLIR files -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt with this project's dialects, passes and pipelines.
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/Version.h"
#include "spyre/Tools/Register.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  if (spyre::printVersionIfAsked(argc, argv))
    return 0;
  mlir::DialectRegistry registry;
  spyre::registerAllDialects(registry);
  spyre::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv,
      "Spyre optimiser driver\n\nExample: spyre-opt --spyre-lower-to-superdsc in.mlir\n",
      registry));
}
