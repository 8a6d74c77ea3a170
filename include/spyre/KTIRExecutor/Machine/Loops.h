//===- Loops.h - Perfect nests over tensors ---------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a linalg operation is when it runs: a loop nest whose operands are tensors seen
// through affine maps and whose body is a lane program. The order of sums is fixed:
// each output element takes its terms in the order of the nest's reduction dims, first
// dim slowest, beginning with the output's initial value; it is kept in f32 until the
// nest ends and is rounded once. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_KTIREXECUTOR_MACHINE_LOOPS_H
#define SPYRE_KTIREXECUTOR_MACHINE_LOOPS_H

#include "spyre/KTIRExecutor/Machine/Affine.h"
#include "spyre/KTIRExecutor/Machine/Lanes.h"

namespace spyre::ktir {

struct LoopNest {
  std::vector<bool> isReduction; ///< of each dim
  size_t numInputs = 0;          ///< operands before the outputs
  std::vector<Map> maps;         ///< of inputs and outputs, from dims to coordinates
  LaneProgram body;              ///< arguments: an element of each operand
  /// The body is out + a * b of two inputs, in floats.
  bool isContraction = false;
  uint16_t factors[2] = {0, 0};
};

/// Runs \p nest. Inputs are tensors or, with a map without results, numbers. \p outputs hold
/// the initial values and receive the results. \p captured is what the body refers to. An
/// empty string: it worked; else what is wrong.
std::string runLoops(const LoopNest &nest, const std::vector<const Datum *> &inputs,
                     const std::vector<Tensor *> &outputs,
                     const std::vector<const Datum *> &captured, bool roundsEach);

/// Runs \p body on all elements of tensors of one shape (arguments that are numbers are the
/// same for all). Outputs have that shape already.
std::string runElements(const LaneProgram &body, const std::vector<const Datum *> &arguments,
                        const std::vector<bool> &isTensor, const std::vector<Tensor *> &outputs,
                        const std::vector<const Datum *> &captured, bool roundsEach);

/// Fills \p output with what \p body makes of each coordinate.
std::string generate(const LaneProgram &body, Tensor &output,
                     const std::vector<const Datum *> &captured, bool roundsEach);

} // namespace spyre::ktir

#endif // SPYRE_KTIREXECUTOR_MACHINE_LOOPS_H
