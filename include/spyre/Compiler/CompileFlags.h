//===- CompileFlags.h - Command-line flags of a compilation -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The flags that spyre-compile and spyre-run share (commands). One object a tool;
// LLVM's option library keeps flags in globals, so a tool makes it in main.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COMPILER_COMPILEFLAGS_H
#define SPYRE_COMPILER_COMPILEFLAGS_H

#include "spyre/Compiler/Compile.h"

#include "llvm/Support/CommandLine.h"

#include <optional>
#include <variant>

namespace spyre::compiler {

/// The flags as given.
struct CompileFlagValues {
  int optLevel = 2;
  int64_t cores = 0;
  std::string target = "superdsc", form = "2026-08", device = "spyre";
  std::string dumpStages, report, weights, host = "table", costModel = "published";
  std::string planKind = "best", plan, savePlan, precision = "default";
  std::string ratesFile; ///< or empty
  RateValues rates;      ///< of callers without a file
  int64_t planSeed = 0;
  double planSeconds = 0;
  bool pretty = false, reportSeconds = false, provenance = true, exactArguments = true;
  bool exactResults = false, movesOnHost = false, saveAddresses = false;
};

/// The options that \p flags ask for. A message if a value is wrong or a flag is
/// not supported yet.
std::variant<CompileOptions, std::string> makeOptions(const CompileFlagValues &flags);

/// The flags on LLVM's command line.
class CompileFlags {
public:
  explicit CompileFlags(llvm::cl::OptionCategory &category);

  /// As makeOptions, with MLIR's own flags applied to every pass manager.
  std::variant<CompileOptions, std::string> getOptions() const;

private:
  llvm::cl::opt<int> optLevel;
  llvm::cl::opt<int64_t> cores, planSeed;
  llvm::cl::opt<std::string> target, form, device, rates, weights, host, costModel, planKind;
  llvm::cl::opt<std::string> precision;
  llvm::cl::opt<std::string> plan, savePlan;
  llvm::cl::opt<bool> saveAddresses;
  llvm::cl::opt<double> planSeconds;
  llvm::cl::opt<std::string> dumpStages, report;
  llvm::cl::opt<bool> exactArguments, exactResults, movesOnHost, provenance, reportSeconds, pretty;
};

/// Takes LLVM's flag \p name (--stats prints its statistics) off the command line,
/// so that a tool can define its own. Call before defining it.
void releaseFlag(llvm::StringRef name);

/// Adds MLIR's own flags (--mlir-timing, --mlir-print-ir-after-all, crash
/// reproducers, ...). Call once in main, before parsing.
void registerMLIRFlags();

/// Parses the command line. Nothing if it is fine, else the exit code: 0 for
/// --help and --version, 2 for wrong usage.
std::optional<int> parseCommandLine(int argc, char **argv, const char *overview,
                                    llvm::cl::OptionCategory &category);

} // namespace spyre::compiler

#endif // SPYRE_COMPILER_COMPILEFLAGS_H
