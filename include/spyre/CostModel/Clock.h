//===- Clock.h - When the operations of a run take place --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cost model says how long one operation takes; the clock says when it runs
// and what of the device it holds meanwhile. Operations run in order, their loads
// may run ahead of the operation before. What the rules follow from stands in
// lib/CostModel/Clock.cpp. All times are in ns.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COSTMODEL_CLOCK_H
#define SPYRE_COSTMODEL_CLOCK_H

#include "spyre/CostModel/CostModel.h"

#include <cstdint>
#include <vector>

namespace spyre::cost {

/// What the operations of a run share.
enum class Resource : uint8_t { Memory, DataRing, ReduceRing, HostLink };
const char *getResourceName(Resource resource);

/// A time during which one operation holds a resource.
struct Busy {
  Resource resource = Resource::Memory;
  double startInNs = 0, endInNs = 0;

  bool operator==(const Busy &) const = default;
};

/// Addresses in device memory, the end not included.
struct Range {
  int64_t begin = 0, end = 0;

  bool overlaps(const Range &other) const { return begin < other.end && other.begin < end; }
};

/// One operation of a launch.
struct Activity {
  Estimate estimate;
  std::vector<Range> reads, writes;
  int64_t numCores = 1;
  /// Highest end of its operands in a core's LX.
  int64_t scratchpadInBytes = 0;
};

struct Scheduled {
  /// The cores work on the operation from here on; its loads may have begun before.
  double startInNs = 0;
  double durationInNs = 0;
  /// In the order of their starts; nothing that takes no time.
  std::vector<Busy> busy;

  double getEndInNs() const { return startInNs + durationInNs; }
};

class Clock {
public:
  explicit Clock(const Device &device) : device(&device) {}

  /// A launch waits for all that came before; LX holds nothing.
  void beginLaunch();
  Scheduled execute(const Activity &activity);
  /// A copy between the host and device memory waits for all that came before.
  Scheduled transfer(int64_t sizeInBytes);

  /// The end of all that was scheduled.
  double getNowInNs() const { return now; }

private:
  const Device *device;
  double now = 0;
  // The operation before: when its loads are done, when its stores begin, and what
  // it writes. Between the two the device memory serves the next operation.
  double loaded = 0, storing = 0;
  std::vector<Range> written;
  /// Highest end in LX since the launch began.
  int64_t scratchpadInBytes = 0;
};

} // namespace spyre::cost

#endif // SPYRE_COSTMODEL_CLOCK_H
