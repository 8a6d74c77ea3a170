//===- Clock.cpp - When the operations of a run take place ------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is public: a core's load, store and compute engines run programs of their
// own that are joined by queues, the back end double-buffers, and the measured
// times of single operations are those of operations that overlap in themselves.
// Nothing is published of how two operations of a kernel overlap. So:
//
// - Inside of an operation loads, compute and stores overlap as its estimate says.
//   Loads hold the device memory first, stores last.
// - The cores begin an operation when the one before has ended.
// - Only loads run ahead, by one operation at most, in the time that the operation
//   before leaves the device memory idle, if it writes nothing that they read, and
//   no more than half of the LX that no operation of the launch has used: the other
//   half is for what the running operation streams.
// - A relayout has the data ring, over which loads come, to itself.
// - Copies to and from the host, and launches, wait for all that came before: they
//   are in one stream.
//
//===----------------------------------------------------------------------===//

#include "spyre/CostModel/Clock.h"

#include <algorithm>
#include <cassert>
#include <tuple>

using namespace spyre;
using namespace spyre::cost;

const char *cost::getResourceName(Resource resource) {
  switch (resource) {
  case Resource::Memory:
    return "device memory";
  case Resource::DataRing:
    return "data ring";
  case Resource::ReduceRing:
    return "reduce ring";
  case Resource::HostLink:
    return "host link";
  }
  return "";
}

void Clock::beginLaunch() {
  loaded = storing = now;
  written.clear();
  scratchpadInBytes = 0;
}

static void hold(Scheduled &result, Resource resource, double start, double duration) {
  if (duration > 0)
    result.busy.push_back({resource, start, start + duration});
}

Scheduled Clock::execute(const Activity &activity) {
  const Estimate &estimate = activity.estimate;
  Scheduled result;
  result.startInNs = now;
  scratchpadInBytes = std::max(scratchpadInBytes, activity.scratchpadInBytes);

  const EngineTimes times = getEngineTimes(estimate);
  double loads = times.loadInNs, stores = times.storeInNs;

  // What was loaded while the operation before computed.
  double ahead = 0;
  bool depends = false;
  for (const Range &read : activity.reads)
    for (const Range &write : written)
      depends |= read.overlaps(write);
  if (!depends && estimate.readInBytes > 0) {
    double free = double(std::max<int64_t>(0, device->getUsableLXInBytes() - scratchpadInBytes));
    double share = free / 2 * double(activity.numCores) / double(estimate.readInBytes);
    ahead = std::max(0.0, std::min({loads, loads * share, storing - loaded}));
  }
  hold(result, Resource::Memory, loaded, ahead);

  double compute =
      std::max({estimate.computeInNs, estimate.memoryInNs - ahead, estimate.vectorInNs}) +
      estimate.startInNs;
  // Without loads ahead the duration is the estimate's, to the last bit.
  result.durationInNs =
      ahead > 0 ? compute + estimate.ringInNs + estimate.relayoutInNs : estimate.totalInNs;
  hold(result, Resource::Memory, now, loads - ahead);
  hold(result, Resource::DataRing, now, estimate.relayoutInNs);
  double end = result.getEndInNs();
  hold(result, Resource::ReduceRing, end - stores - estimate.ringInNs, estimate.ringInNs);
  hold(result, Resource::Memory, end - stores, stores);
  std::sort(result.busy.begin(), result.busy.end(), [](const Busy &a, const Busy &b) {
    return std::tie(a.startInNs, a.resource) < std::tie(b.startInNs, b.resource);
  });

  loaded = now + (loads - ahead);
  storing = estimate.relayoutInNs > 0 ? loaded : std::max(loaded, end - stores);
  written = activity.writes;
  now = end;
  return result;
}

Scheduled Clock::transfer(int64_t sizeInBytes) {
  Scheduled result;
  result.startInNs = now;
  double rate = std::min(device->getHostLinkInBytesPerNs(), device->getRates().memoryInBytesPerNs);
  result.durationInNs = double(std::max<int64_t>(0, sizeInBytes)) / rate;
  hold(result, Resource::HostLink, now, result.durationInNs);
  hold(result, Resource::Memory, now, result.durationInNs);
  now = result.getEndInNs();
  beginLaunch();
  return result;
}
