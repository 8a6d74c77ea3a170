//===- Contraction.h - Nests while they run, and sums of products -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A nest with its sizes and the places of its operands. Private to the machine.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_KTIREXECUTOR_MACHINE_CONTRACTION_H
#define SPYRE_LIB_KTIREXECUTOR_MACHINE_CONTRACTION_H

#include "spyre/KTIRExecutor/Machine/Loops.h"

namespace spyre::ktir::loops {

struct Dim {
  int64_t size = 0;
  bool isReduction = false;
};

struct Operand {
  bool isFloat = true;
  /// The place is offset + sum point[d] * strides[d]; else the map says it.
  bool isLinear = true;
  float *f = nullptr;
  int64_t *i = nullptr;
  int64_t offset = 0;
  std::vector<int64_t> strides;
  Shape shape;
  const Map *map = nullptr;
};

struct Nest {
  std::vector<Dim> dims;
  std::vector<Operand> operands; ///< inputs, then outputs
  bool isLinear = true, isEmpty = false;
};

/// Sizes and places; a message if operands do not fit together.
std::string prepare(const LoopNest &nest, const std::vector<const Datum *> &inputs,
                    const std::vector<Tensor *> &outputs, Nest &result);

/// Joins dims that continue in each other and drops those of one place.
void coalesce(Nest &nest);

/// Runs out += a * b. False: it has not the form.
bool runContraction(const LoopNest &source, Nest &nest);

} // namespace spyre::ktir::loops

#endif // SPYRE_LIB_KTIREXECUTOR_MACHINE_CONTRACTION_H
