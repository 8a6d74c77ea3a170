//===- spyre-compile.cpp - A program to a program directory -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// torch dialect, or any level of the stack, to program.json and bundles. See the
// commands' contract for flags and exit codes.
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/CompileFlags.h"
#include "spyre/Support/AtomicDirectory.h"
#include "spyre/Support/Version.h"
#include "spyre/Tools/Register.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

#include <ostream>

using namespace spyre::compiler;
namespace cl = llvm::cl;

int main(int argc, char **argv) {
  if (spyre::printVersionIfAsked(argc, argv))
    return 0;
  llvm::InitLLVM init(argc, argv);
  spyre::cleanUpOnInterrupt();
  cl::OptionCategory category("spyre-compile");
  CompileFlags flags(category);
  cl::opt<std::string> input(cl::Positional, cl::desc("IN.mlir"), cl::cat(category));
  cl::opt<std::string> output("o", cl::desc("Program directory to write"), cl::value_desc("dir"),
                              cl::cat(category));
  releaseFlag("stats");
  cl::opt<std::string> statsFile("stats", cl::desc("Write statistics as JSON"),
                                 cl::value_desc("file"), cl::cat(category));
  registerMLIRFlags();
  if (std::optional<int> code =
          parseCommandLine(argc, argv,
                           "Compiles a program for the Spyre accelerator\n\nExample: spyre-compile "
                           "softmax.mlir -o softmax.spyre\n",
                           category))
    return *code;
  auto usage = [](const std::string &message) {
    llvm::errs() << "spyre-compile: error: " << message << "\n";
    return 2;
  };
  if (input.empty())
    return usage("no input file; see --help");
  if (output.empty())
    return usage("no output directory; give one with -o DIR");
  auto options = flags.getOptions();
  if (auto *message = std::get_if<std::string>(&options))
    return usage(*message);

  mlir::DialectRegistry registry;
  spyre::registerAllDialects(registry);
  spyre::registerAllPasses();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  CompileStats stats;
  if (failed(compileFile(input, output, std::get<CompileOptions>(options), stats, context)))
    return stats.usageError.empty() ? 1 : usage(stats.usageError);
  if (!statsFile.empty()) {
    std::string json = toJson(stats);
    if (auto message = spyre::writeFileAtomically(statsFile.getValue(),
                                                  [&](std::ostream &os) { os << json << "\n"; })) {
      llvm::errs() << "spyre-compile: error: " << *message << "\n";
      return 1;
    }
  }
  return 0;
}
