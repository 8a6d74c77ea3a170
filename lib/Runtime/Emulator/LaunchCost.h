//===- LaunchCost.h - What one descriptor moves and takes -------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device-memory traffic and modelled time of one execution of a descriptor, by
// formula from its operands' slices. Runs and walks that only count use the same
// function. Private to the emulator.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_RUNTIME_EMULATOR_LAUNCHCOST_H
#define SPYRE_LIB_RUNTIME_EMULATOR_LAUNCHCOST_H

#include "Operand.h"

#include "spyre/CostModel/Clock.h"

namespace spyre::runtime {

struct LaunchCost {
  /// Distinct sticks of each operand in device memory, a broadcast once.
  int64_t readInBytes = 0, writtenInBytes = 0;
  cost::OpProblem problem;
};

/// \p inputs and \p output: positions in \p operands, whose start addresses are set.
LaunchCost getLaunchCost(const OpFuncInfo &info, const sdsc::Descriptor &descriptor,
                         const std::vector<Operand> &operands, const std::vector<unsigned> &inputs,
                         unsigned output);

/// The same execution as the clock sees it. A gather reads anything.
cost::Activity getActivity(const Device &device, const sdsc::Descriptor &descriptor,
                           const cost::OpProblem &problem, const std::vector<Operand> &operands,
                           const std::vector<unsigned> &inputs, unsigned output);

/// Where \p descriptor says that it came from: "model.mlir:12:8 (aten.softmax)".
std::string getOrigin(const sdsc::Descriptor &descriptor);

} // namespace spyre::runtime

#endif // SPYRE_LIB_RUNTIME_EMULATOR_LAUNCHCOST_H
