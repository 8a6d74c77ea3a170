//===- Residency.cpp - What may stay in the cores' scratchpads ------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/Residency.h"

#include <algorithm>
#include <cassert>

namespace spyre::planning {

bool needsDeviceMemory(const Device &device, OperationKind kind, bool isWrite) {
  return kind == OperationKind::Restickify && !isWrite && !device.getRestickifyReadsLX();
}

std::optional<ResidencyObstacle> findObstacle(const ResidencyValue &value) {
  if (value.isShared)
    return ResidencyObstacle{Obstacle::Shared};
  if (value.uses.empty() || !value.uses.front().isWrite || value.isWrittenInParts)
    return ResidencyObstacle{Obstacle::WrittenInParts};
  if (value.hasPaddedLayout)
    return ResidencyObstacle{Obstacle::PaddedLayout};
  if (value.isReinterpreted)
    return ResidencyObstacle{Obstacle::Reinterpreted};
  for (unsigned i = 0; i < value.uses.size(); ++i) {
    if (value.uses[i].needsDeviceMemory)
      return ResidencyObstacle{Obstacle::DeviceMemoryOnly, i};
    if (value.uses[i].access.isMoving())
      return ResidencyObstacle{Obstacle::Moves, i};
  }
  // Written again, it is carried on, or made of boxes (a tensor with zeros behind it).
  for (unsigned i = 0; i < value.uses.size(); ++i)
    if (value.uses[i].isWrite && !value.uses[i].access.isBox(value.shape))
      return ResidencyObstacle{Obstacle::PartlyWritten, i};
  return std::nullopt;
}

/// What is in the way of a value whose uses touch boxes of it. A core's part is a slice of some
/// dims, which every use has alike, and all of the others, of which uses may touch some.
static std::optional<ResidencyObstacle>
findObstacleInBoxes(const ResidencyValue &value, const std::vector<const layout::Spread *> &spreads,
                    int64_t numCores) {
  for (unsigned use = 0; use < spreads.size(); ++use)
    if (!value.uses[use].access.isBox(value.shape) || value.uses[use].isFromAnyCore)
      return ResidencyObstacle{Obstacle::OtherPart, use};
  // Of each use and core; idle cores are the last ones.
  std::vector<std::vector<layout::Region>> regions(spreads.size());
  for (unsigned use = 0; use < spreads.size(); ++use) {
    const layout::Access &access = value.uses[use].access;
    // Uses alike touch the same.
    unsigned same = 0;
    while (same < use && !(value.uses[same].access == access && *spreads[same] == *spreads[use]))
      ++same;
    if (same < use) {
      regions[use] = regions[same];
      continue;
    }
    const std::vector<int64_t> start(access.getNumTimes(), 0);
    for (int64_t core = 0; core < numCores; ++core) {
      std::optional<layout::Region> region = access.getRegion(*spreads[use], core, start);
      if (!region)
        break;
      regions[use].push_back(std::move(*region));
    }
  }
  const size_t rank = value.shape.size();
  // Dims of which cores touch different parts.
  std::vector<bool> isSliced(rank);
  for (const std::vector<layout::Region> &mine : regions)
    for (const layout::Region &other : mine)
      for (size_t dim = 0; dim < rank; ++dim)
        isSliced[dim] = isSliced[dim] || mine.front().begin[dim] != other.begin[dim] ||
                        mine.front().end[dim] != other.end[dim];
  // Slices are parts of the whole: where a core's part lies in its scratchpad follows from how many
  // slices all of the dim has.
  for (unsigned use = 0; use < spreads.size(); ++use) {
    const layout::Region all = value.uses[use].access.getRegion();
    for (size_t dim = 0; dim < rank; ++dim)
      if (isSliced[dim] && (all.begin[dim] != 0 || all.end[dim] != value.shape[dim]))
        return use == 0 ? ResidencyObstacle{Obstacle::PartlyWritten}
                        : ResidencyObstacle{Obstacle::OtherPart, use};
  }
  const std::vector<layout::Region> &owned = regions.front();
  for (size_t core = 0; core < static_cast<size_t>(numCores); ++core)
    for (unsigned use = 1; use < spreads.size(); ++use) {
      const std::vector<layout::Region> &wanted = regions[use];
      const ResidencyObstacle obstacle{Obstacle::OtherPart, use, static_cast<int64_t>(core)};
      if ((core < owned.size()) != (core < wanted.size()))
        return obstacle;
      for (size_t dim = 0; core < owned.size() && dim < rank; ++dim)
        if (isSliced[dim] && (owned[core].begin[dim] != wanted[core].begin[dim] ||
                              owned[core].end[dim] != wanted[core].end[dim]))
          return obstacle;
    }
  return std::nullopt;
}

std::optional<ResidencyObstacle>
findObstacleInSpreads(const ResidencyValue &value,
                      const std::vector<const layout::Spread *> &spreads, int64_t numCores) {
  assert(spreads.size() == value.uses.size() && "a spread for every use");
  const layout::Access &written = value.uses.front().access;
  const layout::Spread &owner = *spreads.front();
  // Slices of a dim that the written coordinates do not depend on are partial sums of the
  // same elements; which core ends up with the complete ones is not public.
  for (unsigned i = 0; i < spreads.size(); ++i) {
    const std::vector<layout::IndexExpr> &results = value.uses[i].access.map.results;
    for (unsigned dim = 0; value.uses[i].isWrite && dim < spreads[i]->dims.size(); ++dim)
      if (spreads[i]->dims[dim].numSlices > 1 &&
          std::none_of(results.begin(), results.end(),
                       [&](const layout::IndexExpr &expr) { return layout::dependsOn(expr, dim); }))
        return ResidencyObstacle{Obstacle::SummedByCores, i};
  }
  // A core's part is a box.
  for (unsigned i = 0; i < spreads.size(); ++i)
    if (!value.uses[i].access.areSlicesDense(*spreads[i]))
      return i == 0 ? ResidencyObstacle{Obstacle::PartlyWritten}
                    : ResidencyObstacle{Obstacle::OtherPart, i};
  for (const ResidencyUse &use : value.uses)
    if (use.isWrite && !use.access.isWhole(value.shape))
      return findObstacleInBoxes(value, spreads, numCores);
  // No access moves (findObstacle), so that one iteration stands for all.
  std::vector<std::optional<layout::Region>> held;
  auto start = [](const layout::Access &access) {
    return std::vector<int64_t>(access.getNumTimes(), 0);
  };
  for (unsigned i = 1; i < spreads.size(); ++i) {
    const layout::Access &read = value.uses[i].access;
    if (value.uses[i].isFromAnyCore || (read == written && *spreads[i] == owner))
      continue;
    // The same part of some of the cores alone is a part in addresses of its own.
    if (!read.isWhole(value.shape))
      return read.isBox(value.shape) ? findObstacleInBoxes(value, spreads, numCores)
                                     : ResidencyObstacle{Obstacle::OtherPart, i};
    for (int64_t core = 0; core < numCores; ++core) {
      std::optional<layout::Region> wanted = read.getRegion(*spreads[i], core, start(read));
      if (!wanted)
        break; // the cores after it are idle, too
      if (held.size() <= static_cast<size_t>(core))
        held.push_back(written.getRegion(owner, core, start(written)));
      // Just that, not more: LX addresses are those of the reader's own part.
      if (!held[core] || !(*held[core] == *wanted))
        return ResidencyObstacle{Obstacle::OtherPart, i, core};
    }
  }
  return std::nullopt;
}

std::string describe(const ResidencyObstacle &obstacle) {
  switch (obstacle.kind) {
  case Obstacle::Shared:
    return "it leaves the operations of the device";
  case Obstacle::WrittenInParts:
    return "it is written in parts";
  case Obstacle::PaddedLayout:
    return "its layout is padded";
  case Obstacle::Reinterpreted:
    return "it is read as elements of another width";
  case Obstacle::DeviceMemoryOnly:
    return "a restickify reads device memory";
  case Obstacle::Moves:
    return "a loop moves over it";
  case Obstacle::PartlyWritten:
    return "only a part of it is written";
  case Obstacle::SummedByCores:
    return "several cores sum it up";
  case Obstacle::OtherPart:
    return "core " + std::to_string(obstacle.core) + " reads another part than it writes";
  }
  return "";
}

} // namespace spyre::planning
