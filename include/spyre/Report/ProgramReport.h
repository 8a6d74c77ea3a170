//===- ProgramReport.h - What a planned program does, as data ---*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The facts that a report shows about a compiled program: its stages, each device
// operation with operands, division, bytes and modelled time beside the least, the
// loops around them, and what occupies the scratchpads when. The compiler fills it
// in, the HTML writer prints it. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_REPORT_PROGRAMREPORT_H
#define SPYRE_REPORT_PROGRAMREPORT_H

#include "spyre/CostModel/CostModel.h"
#include "spyre/Device/MemorySpace.h"

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
  MemorySpace memory = MemorySpace::HBM;
  int64_t buffer = -1; ///< position in Function::scratchpad; -1: not in LX
};

struct IterationDim {
  int64_t extent = 1, slices = 1;
};

/// What an operation is for.
enum class Job : uint8_t {
  Product,     ///< on the systolic arrays
  Elementwise, ///< on the vector units: pointwise operations, reductions, casts
  Transfer,    ///< data only moves, between memories, layouts or cores
};

struct Operation {
  std::string opFunc;
  std::string location; ///< "model.mlir:12:8"
  std::string origin;   ///< the program's operation, "torch.aten.mm"; empty: not known
  Job job = Job::Elementwise;
  std::vector<IterationDim> dims;
  bool kFast = false;
  int64_t numCores = 1;
  int64_t loop = -1;   ///< innermost loop around it, a position in Function::loops; -1: none
  int64_t numRuns = 1; ///< trips of the loops around it, times launches
  std::vector<Operand> operands;
  /// Of one run: bytes of operands in device memory, each stick once.
  int64_t readInBytes = 0, writtenInBytes = 0;
  cost::Estimate estimate; ///< of one run
  /// Of one run: multiply-accumulates of a product, else points of the iteration space.
  double work = 0;
  double leastInNs = 0; ///< of one run (cost::getLeastInNs)
  /// Of all runs: its part of Program::boundInNs, by what that counts: its products, or its bytes
  /// of arguments and results. What its time is more is lost.
  double partOfBoundInNs = 0;

  double getTimeInNs() const { return estimate.totalInNs * double(numRuns); }
};

/// A tensor of device memory from outside of a loop that it reads or leaves behind.
struct LoopOperand {
  std::string name;
  bool isResult = false;
  std::vector<int64_t> tile; ///< extents of the box that one trip touches
  std::vector<int64_t> whole;
  int64_t sizeInBytes = 0; ///< touched from one begin of the loop to its end, each byte once
};

/// A loop around operations that follow each other. Loops within it come behind it.
struct Loop {
  int64_t parent = -1;         ///< the next loop around it; -1: none
  int64_t first = 0, last = 0; ///< positions of its operations, those of loops within included
  int64_t numTrips = 1;
  int64_t numRuns = 1; ///< how often it begins: trips of the loops around it, times launches
  std::vector<LoopOperand> operands;
  /// Of one run: what no plan of it falls below (cost::getBoundInNs of its operands and products).
  double leastInNs = 0;
};

/// What lies in every core's scratchpad from the first to the last of some
/// operations (positions in Function::operations).
struct ScratchpadBuffer {
  std::string name; ///< "%3"
  int64_t addressInBytes = 0, sizeInBytes = 0;
  int64_t first = 0, last = 0;
  /// The value in words: the argument that is copied there ("in0"), else the OpFunc of the
  /// operation that writes first; empty: nothing does.
  std::string value;
  int64_t writer = -1; ///< position of that operation
};

struct Function {
  std::string name;
  std::vector<Operation> operations; ///< in schedule order
  std::vector<ScratchpadBuffer> scratchpad;
  std::vector<Loop> loops; ///< in the order in which they begin
  int64_t numLaunches = 1;
  /// Its products are what no plan falls below, not its arguments and results.
  bool isBoundByProducts = false;
};

/// What the device can do at most, in the model.
struct Ceilings {
  double memoryInBytesPerNs = 0; ///< device memory, one direction
  double macsPerNs = 0;          ///< systolic arrays of all cores, full
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
  double boundInNs = 0; ///< no plan takes less (cost::getBoundInNs, launch by launch)
  Ceilings ceilings;
};

/// Times all runs of all operations.
double getModelledInNs(const Program &program);
double getModelledInNs(const Function &function);
/// All trips of all runs of \p loop.
double getModelledInNs(const Function &function, const Loop &loop);
/// The least that each operation takes by itself, over all runs.
double getLeastInNs(const Program &program);

/// The highest end of a buffer in a core's scratchpad.
int64_t getPeakInBytes(const Function &function);

/// Loops around \p loop of \p function: 0 for an outermost one.
int64_t getDepth(const Function &function, const Loop &loop);

/// What limits an operation.
enum class Bound { Nothing, Compute, Bandwidth, Ring, Vector, Start };
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
