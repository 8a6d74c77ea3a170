//===- ReportFacts.h - What a compilation's report shows --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From modules and statistics to the data that lib/Report prints.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COMPILER_REPORTFACTS_H
#define SPYRE_COMPILER_REPORTFACTS_H

#include "spyre/Compiler/Compile.h"

#include "mlir/IR/BuiltinOps.h"

namespace spyre::compiler {

/// Operations of \p module by name, in alphabetical order; without functions and
/// terminators.
std::vector<std::pair<std::string, int64_t>>
countOperations(mlir::ArrayRef<mlir::ModuleOp> modules);

/// \p rates: what replaces the device's.
report::Program makeReport(const std::string &inputFile, const CompileOptions &options,
                           const RateValues &rates, const CompileStats &stats,
                           std::vector<report::Stage> stages);

} // namespace spyre::compiler

#endif // SPYRE_COMPILER_REPORTFACTS_H
