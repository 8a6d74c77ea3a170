//===- PlacementSearch.h - Depth-first search for addresses -----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every feasible packing can be pushed down until each item lies on the bottom or on
// another one, so it is enough to place, in order of address, each item as low as
// the ones below allow. Internal to lib/Planning.
//
// What prunes:
//   - every unplaced item has a lowest address, which placed ones raise (nothing that
//     follows lies lower than the last one placed). In each section, the items that
//     are left, stacked in order of their lowest addresses, must end below the
//     capacity;
//   - an item is not placed at h if another one could be placed entirely below h;
//   - items at the same address are placed in one order only.
//
// What keeps failures local:
//   - groups of unplaced items whose lifetimes do not touch are independent. Each is
//     solved by itself, with short runs of several orders of trial, then longer ones;
//   - a failure is explained by a few items and the addresses they had to lie above.
//     As long as these hold without the last placement, trying others in its stead
//     is of no use.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_PLANNING_PLACEMENTSEARCH_H
#define SPYRE_LIB_PLANNING_PLACEMENTSEARCH_H

#include "PackingItems.h"
#include "PackingSearch.h"

#include <deque>

namespace spyre::planning {

class PlacementSearch {
public:
  /// \p items have their rectangles in \p numSections sections; addresses are
  /// multiples of \p alignment, in bytes, and nothing ends above \p capacity.
  PlacementSearch(int64_t capacity, int64_t alignment, const std::vector<Item> &items,
                  int numSections);

  /// At most \p stepLimit steps, which are taken from \p budget. Steps, not time,
  /// say which order of trial is next: the answer is repeatable.
  Feasibility run(int64_t stepLimit, SearchBudget &budget);

  /// Of the packing that run has found.
  int64_t getOffset(size_t item) const { return offsets[item]; }

private:
  using Group = std::vector<int>; ///< unplaced items

  /// Orders of trial. Which one works best differs between problems.
  enum class Order : uint8_t {
    PressureByAddress, ///< lower addresses first; of these, beside most memory
    DurationByAddress, ///< lower addresses first; of these, what lives longest
    Pressure,          ///< beside most memory first, at whatever address
  };

  struct Neighbor {
    int item;
    int64_t top; ///< how far an item reaches above its address where this one is alive
  };

  struct Candidate {
    int64_t low;
    int rank;
    int item;
    int failingSection; ///< that would have too little left; -1: none
  };

  /// An item that lies at \c low or higher.
  struct Bound {
    int item;
    int64_t low;
  };

  /// Of one step of the search, so that its vectors are used again.
  struct Frame {
    Group sorted; ///< all that are to be placed, by their lowest addresses
    Group rest;   ///< those after a placement
    std::vector<Candidate> candidates;
    std::vector<Bound> raised;       ///< lowest addresses before the placement
    std::vector<Bound> conflicts;    ///< of all candidates, one after the other
    std::vector<size_t> conflictEnd; ///< of each candidate in conflicts
  };

  bool solve(const Group &group, int64_t floor, int lastRank);
  bool tryOrders(const Group &group, int64_t floor);
  bool place(const Group &group, int64_t floor, int lastRank);

  void rank(const Group &group, Order order, int shake);
  bool mayFit(const Group &group, int64_t floor);
  void findCandidates(const Group &group, int64_t floor, int lastRank, int64_t lowestTop,
                      Frame &frame) const;
  void setOpen(int item, bool value);
  bool putDown(const Candidate &candidate, Frame &frame);
  void takeUp(const Candidate &candidate, const Frame &frame);
  void explainStack(int section);
  void explainNode(const Group &group, int64_t floor, int lastRank, int lowestItem,
                   int64_t lowestTop, const Frame &frame);
  bool holdsConflict(int64_t floor) const;
  int64_t getHeightIn(int item, int section) const;

  const int64_t capacity, alignment;
  const std::vector<Item> &items;
  const int numSections;
  std::vector<std::vector<Neighbor>> neighbors;

  // The state of the search.
  std::vector<int64_t> lows; ///< lowest address of each unplaced item
  std::vector<int64_t> offsets;
  std::vector<char> isOpen;  ///< not placed
  std::vector<int64_t> load; ///< bytes of the unplaced items in each section
  std::vector<int> ranks;
  bool isLowestFirst = true;   ///< order of trial: by address, then rank; else by rank
  std::vector<Bound> conflict; ///< why the last failure was one
  bool stopped = false;        ///< the last failure is none, a limit was hit

  // What may still be spent.
  SearchBudget *budget = nullptr;
  int64_t steps = 0;     ///< so far
  int64_t stepLimit = 0; ///< for all that is under way
  int64_t ownSteps = 0;  ///< of the present order of trial, without groups' own runs
  int64_t ownStepLimit = 0;

  // Scratch.
  std::deque<Frame> frames; ///< stable addresses
  size_t depth = 0;
  std::vector<Bound> byLow;
  std::vector<double> stack;         ///< by section; exact below 2^53 bytes
  std::vector<int> crossing, partOf; ///< by section
  std::vector<int> candidateOf;      ///< by item
  std::vector<char> isExplained;
};

} // namespace spyre::planning

#endif // SPYRE_LIB_PLANNING_PLACEMENTSEARCH_H
