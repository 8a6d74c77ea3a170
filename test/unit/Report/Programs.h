//===- Programs.h - Programs to report on -----------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts as the compiler would fill them in, small enough to know every sum.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TEST_UNIT_REPORT_PROGRAMS_H
#define SPYRE_TEST_UNIT_REPORT_PROGRAMS_H

#include "spyre/Report/ProgramReport.h"

#include <algorithm>
#include <sstream>

namespace spyre::report {

inline cost::Estimate makeEstimate(double compute, double memory, double ring) {
  cost::Estimate estimate;
  estimate.computeInNs = compute;
  estimate.memoryInNs = memory;
  estimate.ringInNs = ring;
  estimate.totalInNs = std::max(compute, memory) + ring;
  return estimate;
}

/// An elementwise operation that runs three times, and a product.
inline Program makeProgram() {
  Program program;
  program.name = "<main> & \"co\"";
  program.source = "a'b.mlir";
  program.device = "spyre";
  program.options = "-O2";
  program.usableScratchpadInBytes = 1000;
  program.ceilings = {100, 10000};
  program.stages = {{"parse", 0.5, {{"torch.aten.add", 2}}}};
  Operation add;
  add.opFunc = "add";
  add.location = "a.mlir:1:2";
  add.origin = "torch.aten.add";
  add.dims = {{64, 32}, {128, 1}};
  add.numCores = 32;
  add.numRuns = 3;
  add.work = 64 * 128;
  Operand in, out;
  in.name = "in0";
  in.type = "64x128xf16";
  in.layout = "[2, 64, 64] SEN169_FP16";
  in.place = "HBM, argument 0";
  in.sizeInBytes = 100;
  out = in;
  out.name = "%1";
  out.place = "LX 128";
  out.isOutput = true;
  out.sizeInBytes = 200;
  out.memory = MemorySpace::LX;
  out.buffer = 0;
  add.operands = {in, out};
  add.readInBytes = 100;
  add.estimate = makeEstimate(0, 1000, 0);
  add.estimate.readInBytes = 100;
  add.leastInNs = 750;
  add.partOfBoundInNs = 300;
  Operation matmul = add;
  matmul.opFunc = "batchmatmul";
  matmul.job = Job::Product;
  matmul.numRuns = 1;
  matmul.estimate = makeEstimate(5000, 1000, 500);
  matmul.estimate.readInBytes = 100;
  matmul.leastInNs = 2500;
  matmul.partOfBoundInNs = 2500;
  ScratchpadBuffer buffer;
  buffer.name = "%1";
  buffer.addressInBytes = 128;
  buffer.sizeInBytes = 256;
  buffer.last = 1;
  buffer.value = "add";
  buffer.writer = 0;
  Function function;
  function.name = "main";
  function.operations = {add, matmul};
  function.scratchpad = {buffer};
  program.functions = {function};
  program.boundInNs = 2800;
  return program;
}

/// Two launches of: a transfer into LX; 4 trips of (a product; 8 trips of an elementwise
/// operation).
inline Program makeLoops() {
  Program program = makeProgram();
  Function &function = program.functions[0];
  Operation load = function.operations[0], product = function.operations[1],
            inner = function.operations[0];
  load.opFunc = "identity";
  load.job = Job::Transfer;
  load.numRuns = 2;
  product.loop = 0;
  product.numRuns = 2 * 4;
  inner.opFunc = "exp";
  inner.loop = 1;
  inner.numRuns = 2 * 4 * 8;
  function.operations = {load, product, inner};
  Loop outer, within;
  outer.first = within.first = 1;
  outer.last = within.last = 2;
  within.first = 2;
  outer.numTrips = 4;
  outer.numRuns = 2;
  outer.leastInNs = 26000;
  within.parent = 0;
  within.numTrips = 8;
  within.numRuns = 2 * 4;
  LoopOperand operand;
  operand.name = "in<0>";
  operand.tile = {1, 64};
  operand.whole = {4, 64};
  operand.sizeInBytes = 4096;
  outer.operands = {operand};
  function.loops = {outer, within};
  function.numLaunches = 2;
  function.scratchpad[0].last = 2;
  return program;
}

inline std::string toHtml(const Program &program, bool seconds = false) {
  std::ostringstream os;
  writeHtml(program, os, {seconds});
  return os.str();
}

inline size_t count(const std::string &text, const std::string &what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++n;
  return n;
}

} // namespace spyre::report

#endif // SPYRE_TEST_UNIT_REPORT_PROGRAMS_H
