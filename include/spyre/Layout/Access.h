//===- Access.h - What is touched by which core at what time ----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operand's access in space and time: an index map from the points of an operation's
// iteration space and the iterations of the loops around it to coordinates, and how
// the points are spread over cores. MLIR-free.
//
// The core is no input of the map, although one could be made for it: slices that are cut
// off at the end of a dim (130 rows over 4 cores) are no sum of digits of a core's number.
// A Spread says which points a core has, and region(core, time) is exact with it.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LAYOUT_ACCESS_H
#define SPYRE_LAYOUT_ACCESS_H

#include "spyre/Layout/IndexMap.h"
#include "spyre/Layout/Region.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace spyre::layout {

//===----------------------------------------------------------------------===//
// Space: cores
//===----------------------------------------------------------------------===//

/// A dim that is cut into equal slices.
struct SpreadDim {
  int64_t extent = 1;
  int64_t numSlices = 1;
  /// Points of one slice; the last slices end with the dim, some may be empty.
  int64_t sliceSize = 1;
  bool operator==(const SpreadDim &) const = default;
};

/// A box of points over cores: each core has one slice of every dim.
struct Spread {
  std::vector<SpreadDim> dims;
  int64_t numCores = 1;              ///< cores from here on are idle
  std::vector<int64_t> slicesOfCore; ///< [core, dim]
  bool operator==(const Spread &) const = default;

  /// The slice of \p dim that \p core < numCores has.
  int64_t getSlice(int64_t core, size_t dim) const {
    return slicesOfCore[static_cast<size_t>(core) * dims.size() + dim];
  }
  /// The points of \p core, which may be none; nothing if the core is idle.
  std::optional<Region> getPoints(int64_t core) const;
};

/// Dims in the order in which consecutive cores count their slices, fastest first
/// (docs/formats/superdsc-rules.md, e.3): the first dim varies fastest; under \p kFast
/// the last dim, then the first.
std::vector<unsigned> getCoreOrder(size_t numDims, bool kFast);

/// \p dims over as many cores as there are combinations of slices, in core order.
Spread makeSpread(std::vector<SpreadDim> dims, bool kFast);

//===----------------------------------------------------------------------===//
// Space and time
//===----------------------------------------------------------------------===//

/// What an input of an access counts.
enum class Axis : uint8_t {
  Point, ///< of the operation's iteration space, spread over cores
  Time,  ///< an iteration of a loop around the operation
};

struct Access {
  /// From points, then times (outermost loop first), to logical coordinates.
  IndexMap map;
  unsigned numPoints = 0;
  bool operator==(const Access &) const = default;

  Axis getAxis(unsigned input) const { return input < numPoints ? Axis::Point : Axis::Time; }
  unsigned getNumTimes() const { return static_cast<unsigned>(map.extents.size()) - numPoints; }
  /// How often each loop runs.
  std::vector<int64_t> getTripCounts() const;
  /// True if a loop moves what is touched.
  bool isMoving() const;

  /// The map from points alone at \p time, an iteration for every loop.
  IndexMap at(const std::vector<int64_t> &time) const;

  /// What \p core of \p spread (of the points) touches at \p time, with what lies between
  /// the coordinates of a strided access; nothing if the core is idle.
  std::optional<Region> getRegion(const Spread &spread, int64_t core,
                                  const std::vector<int64_t> &time) const;
  /// The same over all iterations.
  std::optional<Region> getRegion(const Spread &spread, int64_t core) const;
  /// What all cores touch at \p time.
  Region getRegion(const std::vector<int64_t> &time) const;
  /// What is touched at all.
  Region getRegion() const;

  /// True if all coordinates of a tensor of \p shape are touched in one iteration, each by
  /// one point for the dims that it depends on: every dim by one input from 0 on, or by
  /// several one within the other.
  bool isWhole(const std::vector<int64_t> &shape) const;
  /// The same of a box of a tensor of \p shape, at one place in all iterations.
  bool isBox(const std::vector<int64_t> &shape) const;
  /// True if no dim is sliced by \p spread that counts within another one in some coordinate: then
  /// what a core touches is a box where what is touched at all is one.
  bool areSlicesDense(const Spread &spread) const;
  /// True if every coordinate of getRegion(time) is touched at that time, whatever the time.
  bool isDense() const;
};

/// An access without loops.
Access makeAccess(IndexMap map);

} // namespace spyre::layout

#endif // SPYRE_LAYOUT_ACCESS_H
