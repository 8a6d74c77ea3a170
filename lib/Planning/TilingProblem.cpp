//===- TilingProblem.cpp - Values and devices as nests see them ------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the compiler and the solver of schedules say alike of a value and of the device.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/TimeTiling.h"

#include "spyre/OpFunc/OpFuncTable.h"

#include <algorithm>
#include <span>

namespace spyre::planning {

/// True if the device has a form of \p opFunc, which moves data, for elements of \p format.
static bool canMove(OpFunc opFunc, DataFormat format) {
  return lookupForm(getOpFuncInfo(opFunc), std::span(&format, 1)) != nullptr;
}

TilingValue makeTilingValue(const layout::TensorLayout &memory, bool isInternal) {
  TilingValue value;
  value.shape = memory.shape;
  value.memory = memory;
  value.sizeInBytes = layout::getSizeInBytes(memory);
  value.isInternal = isInternal;
  value.mayStay = memory.paddedShape.empty() && memory.stick.empty() &&
                  (isInternal || canMove(OpFunc::Identity, memory.format));
  for (size_t dim = 0; dim < memory.shape.size(); ++dim)
    value.units.push_back(layout::getElementsInStick(memory, static_cast<int>(dim)));
  // Whole sticks go over the ring.
  const int stickDim = memory.dimOrder.empty() ? -1 : memory.dimOrder.back();
  value.mayMove = isInternal && stickDim >= 0 &&
                  value.shape[stickDim] % value.units[stickDim] == 0 &&
                  canMove(OpFunc::Shuffle, memory.format);
  return value;
}

void setDevice(TilingProblem &problem, const Device &device, int64_t cores) {
  problem.numCores =
      cores == 0 ? device.getNumCores() : std::min<int64_t>(cores, device.getNumCores());
  problem.scratchpadInBytes = device.getUsableLXInBytes();
  problem.spanLimitInBytes = device.getSpanLimitInBytes();
  problem.memoryInBytesPerNs = device.getRates().memoryInBytesPerNs;
  problem.macsPerNs = device.getRates().sustainedMacsPerNs;
  problem.multicastReaders = device.getMulticastReaders();
  problem.gatherCost = device.getRelayouts() ? makeGatherCost(device) : GatherCost();
}

} // namespace spyre::planning
