//===- PlacementSearch.cpp - Depth-first search for addresses -------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlacementSearch.h"

#include <algorithm>
#include <array>
#include <compare>
#include <limits>
#include <numeric>
#include <random>

namespace spyre::planning {

namespace {

/// Groups of fewer items are settled in one go.
constexpr size_t kSmallGroup = 20;

/// The shortest run of an order of trial takes so many steps per item.
constexpr double kStepsPerItem = 12;

/// What a run may spend on the groups that it leaves, as a multiple of its own.
constexpr double kShareForGroups = 10;

/// Number \p index of Luby's sequence 1, 1, 2, 1, 1, 2, 4, ...
int getLuby(int index) {
  int length = 1;
  while (length < index + 1)
    length = 2 * length + 1;
  while (length - 1 != index) {
    length = (length - 1) / 2;
    index %= length;
  }
  return (length + 1) / 2;
}

} // namespace

PlacementSearch::PlacementSearch(int64_t capacity, int64_t alignment,
                                 const std::vector<Item> &items, int numSections)
    : capacity(capacity), alignment(alignment), items(items), numSections(numSections) {
  size_t count = items.size();
  neighbors.resize(count);
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < count; ++b) {
      if (a == b || items[a].last <= items[b].first || items[b].last <= items[a].first)
        continue;
      int64_t top = 0;
      for (const Rectangle &r : items[a].rectangles)
        for (const Rectangle &s : items[b].rectangles)
          if (r.first < s.last && s.first < r.last)
            top = std::max(top, r.height);
      if (top > 0)
        neighbors[a].push_back({static_cast<int>(b), top});
    }
  lows.assign(count, 0);
  offsets.assign(count, 0);
  isOpen.assign(count, false);
  ranks.assign(count, 0);
  candidateOf.assign(count, -1);
  isExplained.assign(count, false);
  stack.assign(numSections, 0);
  load.assign(numSections, 0);
}

Feasibility PlacementSearch::run(int64_t limit, SearchBudget &searchBudget) {
  budget = &searchBudget;
  steps = 0;
  stepLimit = ownStepLimit = limit;
  stopped = false;
  Group all;
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].height > 0) { // the others lie anywhere
      all.push_back(static_cast<int>(i));
      setOpen(static_cast<int>(i), true);
    }
  // Small groups have no order of their own.
  rank(all, Order::PressureByAddress, 0);
  if (all.empty() || solve(all, 0, -1))
    return Feasibility::Feasible;
  return stopped ? Feasibility::Unknown : Feasibility::Infeasible;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// Places the items of \p group, none below \p floor; at that address only items
/// that follow \p lastRank. Cuts it into groups that are not alive together.
bool PlacementSearch::solve(const Group &group, int64_t floor, int lastRank) {
  // How many items reach from one section into the next.
  crossing.assign(numSections, 0);
  int first = numSections, last = 0;
  for (int i : group) {
    ++crossing[items[i].first];
    --crossing[items[i].last - 1];
    first = std::min(first, items[i].first);
    last = std::max(last, items[i].last);
  }
  partOf.resize(numSections);
  int numParts = 0, running = 0;
  for (int s = first; s < last; ++s) {
    if (running == 0)
      ++numParts;
    partOf[s] = numParts - 1;
    running += crossing[s];
  }
  if (numParts == 1 && depth > 0)
    return place(group, floor, lastRank);

  std::vector<Group> groups(numParts);
  for (int i : group)
    groups[partOf[items[i].first]].push_back(i);
  std::erase_if(groups, [](const Group &g) { return g.empty(); });
  // Small groups first: they fail fast.
  std::sort(groups.begin(), groups.end(), [](const Group &a, const Group &b) {
    return std::pair(a.size(), a.front()) < std::pair(b.size(), b.front());
  });
  std::vector<int64_t> lowsBefore;
  for (int i : group)
    lowsBefore.push_back(lows[i]);
  for (const Group &part : groups) {
    if (part.size() < kSmallGroup ? place(part, floor, lastRank) : tryOrders(part, floor))
      continue;
    for (size_t k = 0; k < group.size(); ++k) {
      lows[group[k]] = lowsBefore[k];
      setOpen(group[k], true);
    }
    return false;
  }
  return true;
}

/// Runs over \p group with every order of trial, again and again: most runs are short,
/// as an order that works usually does so after a few steps back; some are long. The
/// first ones of each length take the orders as they are, others shake them.
bool PlacementSearch::tryOrders(const Group &group, int64_t floor) {
  const bool isOuter = depth == 0;
  std::vector<int> ranksBefore = ranks;
  const bool wasLowestFirst = isLowestFirst;
  const int64_t ownStepsBefore = ownSteps, ownLimitBefore = ownStepLimit, limit = stepLimit;
  std::vector<int64_t> lowsBefore;
  for (int i : group)
    lowsBefore.push_back(lows[i]);

  bool isPlaced = false, isDone = false;
  int longest = 0;
  for (int round = 0; !isDone; ++round) {
    const int length = getLuby(round);
    const double slice = kStepsPerItem * static_cast<double>(group.size()) * length * length;
    const int shake = length > longest ? 0 : round;
    longest = std::max(longest, length);
    for (Order order : {Order::PressureByAddress, Order::DurationByAddress, Order::Pressure}) {
      if (steps >= limit || budget->isUsedUp()) {
        stopped = isDone = true;
        break;
      }
      rank(group, order, shake);
      isLowestFirst = order != Order::Pressure;
      stopped = false;
      ownSteps = 0;
      ownStepLimit = static_cast<int64_t>(std::min(slice, 1e15));
      if (isOuter)
        stepLimit =
            std::min(limit, steps + static_cast<int64_t>(std::min(slice * kShareForGroups, 1e15)));
      isPlaced = place(group, floor, -1);
      stepLimit = limit;
      isDone = isPlaced || !stopped;
      if (isDone)
        break;
    }
  }
  if (!isPlaced)
    for (size_t k = 0; k < group.size(); ++k) {
      lows[group[k]] = lowsBefore[k];
      setOpen(group[k], true);
    }
  ranks = std::move(ranksBefore);
  isLowestFirst = wasLowestFirst;
  ownSteps = ownStepsBefore;
  ownStepLimit = ownLimitBefore;
  return isPlaced;
}

/// Ranks the items of \p group as \p order says: those that live beside most memory
/// of the group first, or those that live longest. Shakes that, for each \p shake but
/// 0 in its own, repeatable way.
void PlacementSearch::rank(const Group &group, Order order, int shake) {
  std::mt19937_64 random(shake);
  struct Key {
    std::array<double, 3> values;
    int item;
    auto operator<=>(const Key &) const = default;
  };
  std::vector<Key> keys;
  for (int i : group) {
    const Item &item = items[i];
    const double pressure =
        static_cast<double>(*std::max_element(load.begin() + item.first, load.begin() + item.last));
    std::array<double, 3> values;
    if (order == Order::DurationByAddress)
      values = {item.duration, item.area, pressure};
    else
      values = {pressure, item.duration, item.area};
    if (shake > 0)
      values[0] *= 1 + static_cast<double>(random() % 256) / 256;
    keys.push_back({{-values[0], -values[1], -values[2]}, i});
  }
  std::sort(keys.begin(), keys.end());
  for (size_t k = 0; k < keys.size(); ++k)
    ranks[keys[k].item] = static_cast<int>(k);
}

//===----------------------------------------------------------------------===//
// One step
//===----------------------------------------------------------------------===//

/// Places the connected items \p group, as solve does.
bool PlacementSearch::place(const Group &group, int64_t floor, int lastRank) {
  if (group.size() == 1) {
    // Its lowest address is free, below the floor too.
    int only = group.front();
    if (lows[only] + items[only].height <= capacity) {
      offsets[only] = lows[only];
      setOpen(only, false);
      return true;
    }
    conflict.assign(1, {only, capacity - items[only].height + 1});
    return false;
  }
  budget->spend();
  if (++ownSteps > ownStepLimit || ++steps > stepLimit || budget->isUsedUp()) {
    stopped = true;
    return false;
  }
  int64_t lowestTop = std::numeric_limits<int64_t>::max();
  int lowestItem = -1;
  for (int i : group) {
    int64_t low = std::max(lows[i], floor);
    if (low + items[i].height > capacity) {
      conflict.assign(1, {i, capacity - items[i].height + 1});
      return false;
    }
    if (low + items[i].height < lowestTop) {
      lowestTop = low + items[i].height;
      lowestItem = i;
    }
  }
  if (!mayFit(group, floor))
    return false;

  if (depth == frames.size())
    frames.emplace_back();
  Frame &frame = frames[depth++];
  findCandidates(group, floor, lastRank, lowestTop, frame);
  frame.sorted.clear();
  for (const Bound &bound : byLow)
    frame.sorted.push_back(bound.item);
  bool isPlaced = false, isExplainedHere = false;
  frame.conflicts.clear();
  frame.conflictEnd.clear();
  for (const Candidate &candidate : frame.candidates) {
    if (candidate.failingSection < 0) {
      isPlaced = putDown(candidate, frame);
      if (isPlaced) {
        frame.rest.clear();
        for (int i : frame.sorted)
          if (i != candidate.item)
            frame.rest.push_back(i);
        isPlaced = solve(frame.rest, candidate.low, candidate.rank);
      }
      if (isPlaced)
        break;
      takeUp(candidate, frame);
      if (stopped)
        break;
      if (holdsConflict(floor)) {
        isExplainedHere = true;
        break;
      }
      frame.conflicts.insert(frame.conflicts.end(), conflict.begin(), conflict.end());
    }
    frame.conflictEnd.push_back(frame.conflicts.size());
  }
  if (!isPlaced && !stopped && !isExplainedHere)
    explainNode(group, floor, lastRank, lowestItem, lowestTop, frame);
  --depth;
  return isPlaced;
}

/// False if the items of a section, stacked in order of their lowest addresses, end
/// above the capacity.
bool PlacementSearch::mayFit(const Group &group, int64_t floor) {
  int first = numSections, last = 0;
  byLow.clear();
  for (int i : group) {
    byLow.push_back({i, std::max(lows[i], floor)});
    first = std::min(first, items[i].first);
    last = std::max(last, items[i].last);
  }
  // The group comes in the order of the step before, where few were lower or higher.
  for (size_t k = 1; k < byLow.size(); ++k) {
    const Bound bound = byLow[k];
    size_t to = k;
    for (; to > 0 && byLow[to - 1].low > bound.low; --to)
      byLow[to] = byLow[to - 1];
    byLow[to] = bound;
  }
  std::fill(stack.begin() + first, stack.begin() + last, 0);
  for (const Bound &bound : byLow) {
    const double low = static_cast<double>(bound.low);
    for (const Rectangle &r : items[bound.item].rectangles) {
      const double height = static_cast<double>(r.height);
      double *top = stack.data() + r.first, *const end = stack.data() + r.last;
      for (; top != end; ++top)
        *top = (*top > low ? *top : low) + height;
    }
  }
  for (int s = first; s < last; ++s)
    if (stack[s] > static_cast<double>(capacity)) {
      explainStack(s);
      return false;
    }
  return true;
}

/// The items that may be the next one, in the order of trial. Notes for each whether
/// it would leave a section too little for the others.
void PlacementSearch::findCandidates(const Group &group, int64_t floor, int lastRank,
                                     int64_t lowestTop, Frame &frame) const {
  frame.candidates.clear();
  int first = numSections, last = 0;
  for (int i : group) {
    first = std::min(first, items[i].first);
    last = std::max(last, items[i].last);
    int64_t low = std::max(lows[i], floor);
    if (low < lowestTop && (low != floor || ranks[i] > lastRank))
      frame.candidates.push_back({low, ranks[i], i, -1});
  }
  int fullest =
      static_cast<int>(std::max_element(load.begin() + first, load.begin() + last) - load.begin());
  for (Candidate &candidate : frame.candidates) {
    // A section that the item is in starts at its top then, others at its address.
    for (const Rectangle &r : items[candidate.item].rectangles)
      for (int s = r.first; s < r.last && candidate.failingSection < 0; ++s)
        if (load[s] > r.height && candidate.low + load[s] > capacity)
          candidate.failingSection = s;
    if (candidate.failingSection >= 0 || candidate.low + load[fullest] <= capacity)
      continue;
    for (int s = first; s < last && candidate.failingSection < 0; ++s)
      if (load[s] > 0 && getHeightIn(candidate.item, s) == 0 && candidate.low + load[s] > capacity)
        candidate.failingSection = s;
  }
  std::sort(frame.candidates.begin(), frame.candidates.end(),
            [&](const Candidate &a, const Candidate &b) {
              return isLowestFirst ? std::pair(a.low, a.rank) < std::pair(b.low, b.rank)
                                   : a.rank < b.rank;
            });
}

void PlacementSearch::setOpen(int item, bool value) {
  if (isOpen[item] == value)
    return;
  isOpen[item] = value;
  for (const Rectangle &r : items[item].rectangles)
    for (int s = r.first; s < r.last; ++s)
      load[s] += value ? r.height : -r.height;
}

/// Places \p candidate; false (with the conflict) if a neighbour does not fit above it.
bool PlacementSearch::putDown(const Candidate &candidate, Frame &frame) {
  frame.raised.clear();
  setOpen(candidate.item, false);
  offsets[candidate.item] = candidate.low;
  for (const Neighbor &neighbor : neighbors[candidate.item]) {
    if (!isOpen[neighbor.item])
      continue;
    int64_t low = (candidate.low + neighbor.top + alignment - 1) / alignment * alignment;
    if (low <= lows[neighbor.item])
      continue;
    frame.raised.push_back({neighbor.item, lows[neighbor.item]});
    lows[neighbor.item] = low;
    if (low + items[neighbor.item].height > capacity) {
      conflict.assign(1, {neighbor.item, capacity - items[neighbor.item].height + 1});
      return false;
    }
  }
  return true;
}

void PlacementSearch::takeUp(const Candidate &candidate, const Frame &frame) {
  for (auto it = frame.raised.rbegin(); it != frame.raised.rend(); ++it)
    lows[it->item] = it->low;
  setOpen(candidate.item, true);
}

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

int64_t PlacementSearch::getHeightIn(int item, int section) const {
  for (const Rectangle &r : items[item].rectangles)
    if (r.first <= section && section < r.last)
      return r.height;
  return 0;
}

/// True if the conflict is there at this step already, whatever is placed next.
bool PlacementSearch::holdsConflict(int64_t floor) const {
  return std::all_of(conflict.begin(), conflict.end(), [&](const Bound &bound) {
    return std::max(lows[bound.item], floor) >= bound.low;
  });
}

/// The stack of \p section is too high: those above its last gap are to blame, as
/// they would be from any address on that leaves them too little.
void PlacementSearch::explainStack(int section) {
  conflict.clear();
  int64_t top = 0, sum = 0;
  for (const Bound &bound : byLow) {
    int64_t height = getHeightIn(bound.item, section);
    if (height == 0)
      continue;
    if (bound.low > top) {
      conflict.clear();
      top = bound.low;
      sum = 0;
    }
    conflict.push_back(bound);
    top += height;
    sum += height;
    if (top > capacity)
      break;
  }
  for (Bound &bound : conflict)
    bound.low = capacity - sum + 1;
}

/// No candidate can be the next one. That needs only the items of the candidates'
/// conflicts, beginning with those of the item that makes others wait: a packing of
/// these alone would begin with one of them.
void PlacementSearch::explainNode(const Group &group, int64_t floor, int lastRank, int lowestItem,
                                  int64_t lowestTop, const Frame &frame) {
  for (int i : group)
    candidateOf[i] = -1;
  for (size_t k = 0; k < frame.candidates.size(); ++k)
    candidateOf[frame.candidates[k].item] = static_cast<int>(k);
  conflict.clear();
  auto add = [&](int i) {
    if (isExplained[i])
      return;
    isExplained[i] = true;
    int64_t low = std::max(lows[i], floor);
    // Items that may not be placed at the floor any more lie above it.
    if (low == floor && low < lowestTop && candidateOf[i] < 0 && ranks[i] <= lastRank)
      ++low;
    conflict.push_back({i, low});
  };
  add(lowestItem);
  for (size_t k = 0; k < conflict.size(); ++k) {
    int index = candidateOf[conflict[k].item];
    if (index < 0)
      continue;
    const Candidate &candidate = frame.candidates[index];
    if (candidate.failingSection >= 0) {
      // The others of that section have too little above it.
      for (int i : group)
        if (i != candidate.item && getHeightIn(i, candidate.failingSection) > 0)
          add(i);
      continue;
    }
    size_t begin = index == 0 ? 0 : frame.conflictEnd[index - 1];
    for (size_t c = begin; c < frame.conflictEnd[index]; ++c)
      add(frame.conflicts[c].item);
  }
  for (const Bound &bound : conflict)
    isExplained[bound.item] = false;
}

} // namespace spyre::planning
