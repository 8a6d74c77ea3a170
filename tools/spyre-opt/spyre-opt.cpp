//===- spyre-opt.cpp - Runs passes on MLIR files -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt with this project's dialects, passes and pipelines. It reads kernels whose
// futures are spelt in a way that upstream's parser cannot read, too.
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/GroupSets.h"
#include "spyre/Support/Nesting.h"
#include "spyre/Support/Version.h"
#include "spyre/Tools/Register.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

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
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv,
      "Spyre optimiser driver\n\nExample: spyre-opt --spyre-lower-to-superdsc in.mlir\n", registry);
  // Standard input and what cannot be read are left to upstream.
  auto buffer = llvm::MemoryBuffer::getFile(input);
  std::optional<std::string> respelt;
  if (input != "-" && buffer) {
    std::string_view text((*buffer)->getBufferStart(), (*buffer)->getBufferSize());
    if (std::optional<spyre::TextProblem> problem = spyre::findTextProblem(text)) {
      llvm::errs() << input << ':' << problem->place.line << ':' << problem->place.column
                   << ": error: " << problem->message << "\n";
      return 1;
    }
    respelt = spyre::nameGroupSets(text);
  }
  if (!respelt)
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  std::string error;
  std::unique_ptr<llvm::ToolOutputFile> file = mlir::openOutputFile(output, &error);
  if (!file) {
    llvm::errs() << error << "\n";
    return 1;
  }
  mlir::LogicalResult done =
      mlir::MlirOptMain(file->os(), llvm::MemoryBuffer::getMemBufferCopy(*respelt, input), registry,
                        mlir::MlirOptMainConfig::createFromCLOptions());
  if (mlir::succeeded(done))
    file->keep();
  return mlir::asMainReturnCode(done);
}
