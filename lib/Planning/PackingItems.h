//===- PackingItems.h - What the packing search places ----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers as items: buffers that share a place (in-place pairs) are one item with
// several rectangles, and time is cut into sections. Internal to lib/Planning.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_PLANNING_PACKINGITEMS_H
#define SPYRE_LIB_PLANNING_PACKINGITEMS_H

#include "spyre/Planning/Packing.h"

namespace spyre::planning {

/// Memory that is held from section \c first up to (not including) \c last.
struct Rectangle {
  int first, last;
  int64_t height; ///< bytes
};

struct Item {
  std::vector<Rectangle> rectangles; ///< of different sections, in order
  std::vector<size_t> members;       ///< buffers of the problem
  int first = 0, last = 0;           ///< all sections
  int64_t height = 0;                ///< bytes of the highest rectangle
  double duration = 0;               ///< steps alive
  double area = 0;                   ///< bytes times steps
};

/// Members that share a place: next[i] takes over from i; -1: nobody does.
struct Chains {
  std::vector<int> next, previous;

  bool hasPairs() const;
};

/// Children take over a parent, largest first; each parent once. A chain's
/// members other than neighbours must not be alive together.
Chains chainInPlace(const PackingProblem &problem, const std::vector<size_t> &members);

/// No member takes over from another one.
Chains chainNothing(size_t numMembers);

/// The items that \p members of \p problem make with \p chains. Sections whose
/// items are all alive in a neighbouring section too, no lower, are left out: they
/// say nothing new. \p numSections is the number of those that are left.
std::vector<Item> makeItems(const PackingProblem &problem, const std::vector<size_t> &members,
                            const Chains &chains, int &numSections);

} // namespace spyre::planning

#endif // SPYRE_LIB_PLANNING_PACKINGITEMS_H
