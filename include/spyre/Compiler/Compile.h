//===- Compile.h - From a file to a program directory -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What spyre-compile does, as a library: parse, lower, write program.json and the
// bundles. spyre-run uses the same function on .mlir inputs, the Python package the
// one on texts.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COMPILER_COMPILE_H
#define SPYRE_COMPILER_COMPILE_H

#include "spyre/Compiler/HostChoice.h"
#include "spyre/Compiler/Pipelines.h"
#include "spyre/Device/Rates.h"
#include "spyre/Planning/PlanKind.h"
#include "spyre/Report/ProgramReport.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/LLVM.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace spyre::compiler {

using planning::PlanKind;
using planning::PlanTimes;

struct CompileOptions {
  int optLevel = 2;
  int64_t cores = 0;               ///< 0: what the level says
  std::string device = "spyre";    ///< variant name
  RateValues rates;                ///< in the place of the device's, which they fit to
  std::string target = "superdsc"; ///< or "ktir"
  std::string superdscForm = "2026-08";
  /// At -O2 and above: a plan of this kind, where there is one; to compare them.
  PlanKind planKind = PlanKind::Best;
  /// Not 0: tiles of such a plan as it draws them among the legal ones, for tests.
  int64_t planSeed = 0;
  /// Seconds for each kind of plan to look at more nests than usual; what they find depends on
  /// the machine where they do not suffice.
  double planSeconds = 0;
  /// A file that says how the program is to be planned (docs/formats/schedule.md), or its text.
  std::string plan, planText;
  /// Where to write what was planned, in that form; empty: nowhere.
  std::string savePlan;
  bool saveAddresses = false;     ///< with savePlan: addresses in LX, too
  bool superdscProvenance = true; ///< descriptors say where they came from (newer form only)
  /// Positions of arguments that are weights: their device layout is what their readers
  /// want, and the caller lays them out (once for many runs).
  std::vector<unsigned> weights;
  /// Which operations the host may compute where the device cannot.
  HostPolicy host = HostPolicy::Table;
  Precision precision = Precision::Default;
  /// f16 arguments are f32 on the device where the bit decides that DL16 lacks
  /// (spyre-exact-jumps, spyre-widen-arguments). False: all are DL16, at half the traffic.
  bool exactArguments = true;
  /// Operations elsewhere may decide by the results (graphs that PyTorch has cut): all
  /// known numbers leave as they came, not only what was moved.
  bool exactResults = false;
  /// A program that only moves data is the host's: for parts of graphs, whose arguments and
  /// results lie there.
  bool movesOnHost = false;
  /// The shapes of all arguments, for a program with sizes left open (`?`); else unread.
  std::vector<std::vector<int64_t>> inputShapes;
  bool pretty = false;
  /// Diagnostics are followed by the operation in MLIR's words, which may be all of the
  /// program: for who works on the compiler.
  bool showOperations = false;
  std::string dumpStages;     ///< directory for one file a stage, or empty
  std::string report;         ///< HTML file to write, or empty
  bool reportSeconds = false; ///< the report says how long stages took
  /// Applied to every pass manager: timing, crash reproducers, IR printing.
  std::function<mlir::LogicalResult(mlir::PassManager &)> configure;
  /// Gets every diagnostic; without it they go to standard error with the source line.
  std::function<void(mlir::Diagnostic &)> onDiagnostic;
};

/// Why an operation is on the host.
struct HostCallFact {
  std::string function, reason, location;
};

/// What `--stats` reports of a compilation.
struct CompileStats {
  double compileSeconds = 0;
  bool needsShapes = false; ///< the program has open sizes, and no shapes were given
  /// An option that does not fit to the program, in words; no diagnostic says it then.
  std::string usageError;
  std::vector<std::pair<std::string, double>> stages; ///< name, seconds
  int64_t numBundles = 0;
  int64_t numDeviceOps = 0;
  /// How often operations were placed on the host and the program was lowered anew.
  int64_t numPlacements = 0;
  int64_t poolInBytes = 0;
  int64_t lxPeakInBytes = 0;                       ///< per core
  int64_t hbmReadInBytes = 0, hbmWriteInBytes = 0; ///< planned
  double modelledInNs = 0;                         ///< all runs of all operations
  /// Its parts, which overlap within an operation.
  double computeInNs = 0, memoryInNs = 0, ringInNs = 0, vectorInNs = 0, startInNs = 0;
  std::vector<PlanTimes> plans; ///< of each part that was planned, where there was a choice
  double boundInNs = 0;         ///< least time of all launches (getBoundInNs)
  std::map<std::string, int64_t> hostCalls; ///< by function
  std::vector<HostCallFact> hostFacts;
  /// Each planned function's operations, with their modelled times.
  std::vector<report::Function> functions;
};

/// A JSON object with the keys of `--stats` that a compilation knows.
std::string toJson(const CompileStats &stats);

/// Compiles \p inputFile into the program directory \p outputDirectory, which is
/// written whole or not at all. Errors are diagnostics.
mlir::LogicalResult compileFile(const std::string &inputFile, const std::string &outputDirectory,
                                const CompileOptions &options, CompileStats &stats,
                                mlir::MLIRContext &context);

/// The same with a program's text in memory; locations call it \p name.
mlir::LogicalResult compileText(llvm::StringRef text, const std::string &name,
                                const std::string &outputDirectory, const CompileOptions &options,
                                CompileStats &stats, mlir::MLIRContext &context);

} // namespace spyre::compiler

#endif // SPYRE_COMPILER_COMPILE_H
