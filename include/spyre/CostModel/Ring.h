//===- Ring.h - Time of what cores send each other --------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The data ring joins the cores both ways round; a relayout sends over it what one core has
// in its scratchpad and another one wants in its own. Planning, statistics and the emulator's
// clock ask here what that takes. MLIR-free; times are in ns.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COSTMODEL_RING_H
#define SPYRE_COSTMODEL_RING_H

#include "spyre/Device/Device.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace spyre::cost {

/// Bytes that a core sends to others over the ring. All readers get the same.
struct Message {
  int64_t from = 0;
  std::vector<int64_t> to;
  double sizeInBytes = 0;
};

/// Time of messages that are sent at once: that of the busiest link. Each goes the
/// shorter way; one transfer serves as many readers as a multicast has.
double getRingInNs(const Device &device, const std::vector<Message> &messages);

/// A part of a tensor: of each dim the elements from begin to end.
using Box = std::vector<std::pair<int64_t, int64_t>>;

/// What a relayout takes on the ring: core i holds \p held[i] of a tensor and then has
/// \p wanted[i] of it, of \p bytesPerElement. A part that several cores hold comes from the
/// nearest of them; what a core has itself it does not send.
double getRelayoutInNs(const Device &device, const std::vector<Box> &held,
                       const std::vector<Box> &wanted, double bytesPerElement);

} // namespace spyre::cost

#endif // SPYRE_COSTMODEL_RING_H
