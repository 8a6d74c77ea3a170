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

using namespace spyre;
using namespace spyre::report;

double report::getModelledInNs(const Program &program) {
  double ns = 0;
  for (const Function &function : program.functions)
    for (const Operation &op : function.operations)
      ns += op.estimate.totalInNs * double(op.numRuns);
  return ns;
}

Bound report::getBound(const cost::Estimate &estimate) {
  if (estimate.totalInNs <= 0)
    return Bound::Nothing;
  if (estimate.ringInNs > estimate.computeInNs && estimate.ringInNs > estimate.memoryInNs)
    return Bound::Ring;
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
  }
  return "";
}
