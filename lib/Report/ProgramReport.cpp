//===- ProgramReport.cpp - What a planned program does, as data -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums and words.
//
//===----------------------------------------------------------------------===//

#include "spyre/Report/ProgramReport.h"

#include <algorithm>

using namespace spyre;
using namespace spyre::report;

double report::getModelledInNs(const Function &function) {
  double ns = 0;
  for (const Operation &op : function.operations)
    ns += op.getTimeInNs();
  return ns;
}

double report::getModelledInNs(const Program &program) {
  double ns = 0;
  for (const Function &function : program.functions)
    ns += getModelledInNs(function);
  return ns;
}

double report::getModelledInNs(const Function &function, const Loop &loop) {
  double ns = 0;
  for (int64_t i = loop.first; i <= loop.last; ++i)
    ns += function.operations[size_t(i)].getTimeInNs();
  return ns;
}

double report::getLeastInNs(const Program &program) {
  double ns = 0;
  for (const Function &function : program.functions)
    for (const Operation &op : function.operations)
      ns += op.leastInNs * double(op.numRuns);
  return ns;
}

int64_t report::getDepth(const Function &function, const Loop &loop) {
  int64_t depth = 0;
  for (int64_t parent = loop.parent; parent >= 0; parent = function.loops[size_t(parent)].parent)
    ++depth;
  return depth;
}

int64_t report::getPeakInBytes(const Function &function) {
  int64_t peak = 0;
  for (const ScratchpadBuffer &buffer : function.scratchpad)
    peak = std::max(peak, buffer.addressInBytes + buffer.sizeInBytes);
  return peak;
}

Bound report::getBound(const cost::Estimate &estimate) {
  if (estimate.totalInNs <= 0)
    return Bound::Nothing;
  const double ring = estimate.ringInNs + estimate.relayoutInNs;
  if (ring > estimate.computeInNs && ring > estimate.memoryInNs)
    return Bound::Ring;
  if (estimate.startInNs * 2 > estimate.totalInNs)
    return Bound::Start;
  if (estimate.isVectorBound())
    return Bound::Vector;
  return estimate.isComputeBound() ? Bound::Compute : Bound::Bandwidth;
}

const char *report::getBoundName(Bound bound) {
  switch (bound) {
  case Bound::Nothing:
    return "nothing";
  case Bound::Compute:
    return "compute";
  case Bound::Bandwidth:
    return "bandwidth";
  case Bound::Ring:
    return "ring";
  case Bound::Vector:
    return "vector units";
  case Bound::Start:
    return "start";
  }
  return "";
}
