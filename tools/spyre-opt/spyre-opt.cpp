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
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

int main(int argc, char **argv) {
  if (spyre::printVersionIfAsked(argc, argv))
    return 0;
  mlir::DialectRegistry registry;
  spyre::registerAllDialects(registry);
  spyre::registerAllPasses();
  // Messages end with the line and the reason, not with the program in MLIR's words, unless
  // somebody asks for it.
  mlir::registerMLIRContextCLOptions();
  auto &options = llvm::cl::getRegisteredOptions();
  if (auto shown = options.find("mlir-print-op-on-diagnostic"); shown != options.end())
    static_cast<llvm::cl::opt<bool> *>(shown->second)->setInitialValue(false);
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv,
      "Spyre optimiser driver\n\nExample: spyre-opt --spyre-lower-to-superdsc in.mlir\n",
      registry));
}
