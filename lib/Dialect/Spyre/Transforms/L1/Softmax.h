//===- Softmax.h - Exponentials of numbers less their row's largest -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// exp(x - max x) of each row, as it stands at tensor level once composites are decomposed.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_SOFTMAX_H
#define SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_SOFTMAX_H

#include "MapUtils.h"

#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "spyre/OpFunc/OpFuncTable.h"

namespace mlir::spyre {

struct Softmax {
  Value scores;
  DeviceOpInterface largest;      ///< of each row
  DeviceOpInterface shifted;      ///< scores less that, or less a number above it
  DeviceOpInterface exponentials; ///< none is above 1
};

/// The softmax whose exponentials \p value is, if it is such.
inline std::optional<Softmax> matchSoftmax(Value value) {
  Softmax softmax;
  softmax.exponentials = getProducer(value);
  if (!softmax.exponentials || softmax.exponentials.getOpFunc() != ::spyre::OpFunc::Exp)
    return std::nullopt;
  DeviceOpInterface sub = softmax.shifted = getProducer(softmax.exponentials.getInputs()[0]);
  if (!sub || sub.getOpFunc() != ::spyre::OpFunc::Sub)
    return std::nullopt;
  softmax.scores = sub.getInputs()[0];
  DeviceOpInterface largest = getProducer(sub.getInputs()[1]);
  while (largest && largest.getOpFunc() == ::spyre::OpFunc::Maximum) {
    unsigned other = getScalarConstant(largest.getInputs()[1]) ? 0 : 1;
    if (largest.getInputMap(other) != largest.getOutputMap())
      return std::nullopt;
    largest = getProducer(largest.getInputs()[other]);
  }
  if (!largest || largest.getInfo().combiner != ::spyre::Combiner::Maximum ||
      largest.getInputs()[0] != softmax.scores || largest.getExtents() != sub.getExtents() ||
      largest.getInputMap(0) != sub.getInputMap(0) || largest.getOutputMap() != sub.getInputMap(1))
    return std::nullopt;
  softmax.largest = largest;
  return softmax;
}

} // namespace mlir::spyre

#endif // SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_SOFTMAX_H
