//===- Region.h - Boxes of coordinates --------------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Boxes: what a core, an iteration or an operation touches of a tensor. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LAYOUT_REGION_H
#define SPYRE_LAYOUT_REGION_H

#include <cstdint>
#include <vector>

namespace spyre::layout {

/// A box: begin <= coordinate < end, one pair a dim. Without dims it is one point.
struct Region {
  std::vector<int64_t> begin;
  std::vector<int64_t> end;
  bool operator==(const Region &) const = default;

  bool isEmpty() const;
  bool contains(const Region &other) const;
  bool intersects(const Region &other) const;
  /// Number of points.
  int64_t getSize() const;
};

/// The points of \p region that are not in \p hole, as boxes that do not overlap.
std::vector<Region> subtract(const Region &region, const Region &hole);

/// A set of points as a list of boxes.
class RegionSet {
public:
  /// Adds \p region. Boxes that continue one another become one.
  void add(Region region);
  bool contains(const Region &region) const;
  const std::vector<Region> &getBoxes() const { return boxes; }

private:
  std::vector<Region> boxes; ///< none empty
};

} // namespace spyre::layout

#endif // SPYRE_LAYOUT_REGION_H
