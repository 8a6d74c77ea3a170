//===- ProgramReport.h - What a planned program does, as data ---*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The facts that a report shows about a compiled program: its stages, each device
// operation with operands, division, bytes and modelled time, and what occupies
// the scratchpads when. The compiler fills it in, the HTML writer prints it.
// MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_REPORT_PROGRAMREPORT_H
#define SPYRE_REPORT_PROGRAMREPORT_H

#include "spyre/CostModel/CostModel.h"

#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace spyre::report {

/// One stage of the compilation, after it ran.
struct Stage {
  std::string name;
  double seconds = 0;
  std::vector<std::pair<std::string, int64_t>> opCounts; ///< by name
};

struct Operand {
  std::string name;   ///< "in0", "%3"
  std::string type;   ///< "512x1024xf16"
  std::string layout; ///< "[16, 512, 64] SEN169_FP16"
  std::string place;  ///< "HBM, argument 0", "LX 32768", "pool 0"
  bool isOutput = false;
  int64_t sizeInBytes = 0; ///< touched by all cores together, each stick once
};

struct IterationDim {
  int64_t extent = 1, slices = 1;
};

struct Operation {
  std::string opFunc;
  std::string location; ///< "model.mlir:12:8"
  std::vector<IterationDim> dims;
  bool kFast = false;
  int64_t numCores = 1;
  int64_t numRuns = 1; ///< trips of the loops around it
  std::vector<Operand> operands;
  /// Of one run: bytes of operands in device memory, each stick once.
  int64_t readInBytes = 0, writtenInBytes = 0;
  cost::Estimate estimate; ///< of one run
};

/// What lies in every core's scratchpad from the first to the last of some
/// operations (positions in Program::operations).
struct ScratchpadBuffer {
  std::string name;
  int64_t addressInBytes = 0, sizeInBytes = 0;
  int64_t first = 0, last = 0;
};

struct Function {
  std::string name;
  std::vector<Operation> operations; ///< in schedule order
  std::vector<ScratchpadBuffer> scratchpad;
};

struct Program {
  std::string name;
  std::string source; ///< file name without its folder
  std::string device;
  std::string options; ///< "-O2"
  int64_t usableScratchpadInBytes = 0;
  std::vector<Stage> stages;
  std::vector<Function> functions;
  int64_t poolInBytes = 0;
  double boundInNs = 0; ///< no plan takes less
};

/// Times all runs of all operations.
double getModelledInNs(const Program &program);

/// What limits an operation.
enum class Bound { Nothing, Compute, Bandwidth, Ring };
Bound getBound(const cost::Estimate &estimate);
const char *getBoundName(Bound bound);

struct HtmlOptions {
  /// Print how long stages took; the file then differs from run to run.
  bool seconds = false;
};

/// One self-contained HTML page; the same bytes for the same program.
void writeHtml(const Program &program, std::ostream &os, const HtmlOptions &options = {});

} // namespace spyre::report

#endif // SPYRE_REPORT_PROGRAMREPORT_H
