//===- Relayout.h - From scratchpad to scratchpad ---------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What cores hold of a buffer in their scratchpads, and what a relayout from there takes.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_RELAYOUT_H
#define SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_RELAYOUT_H

#include "spyre/Device/Device.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"
#include "spyre/Layout/Access.h"

namespace mlir::spyre {

/// Which part of \p alloc, which has a distribution, each core holds.
::spyre::layout::Spread getHeld(AllocOp alloc);

/// What \p op, a relayout described by \p planned, takes on the data ring, in ns; 0 if its
/// source does not say who holds what.
double getRelayoutInNs(DeviceOpInterface op, const PlannedOp &planned,
                       const ::spyre::Device &device);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_RELAYOUT_H
