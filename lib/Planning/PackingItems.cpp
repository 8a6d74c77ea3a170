//===- PackingItems.cpp - What the packing search places ------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackingItems.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace spyre::planning {

bool Chains::hasPairs() const {
  return std::any_of(next.begin(), next.end(), [](int n) { return n >= 0; });
}

Chains chainNothing(size_t numMembers) {
  Chains chains;
  chains.next.assign(numMembers, -1);
  chains.previous.assign(numMembers, -1);
  return chains;
}

Chains chainInPlace(const PackingProblem &problem, const std::vector<size_t> &members) {
  Chains chains = chainNothing(members.size());
  std::map<size_t, int> position;
  for (size_t i = 0; i < members.size(); ++i)
    position[members[i]] = i;
  std::vector<int> order(members.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(-problem.buffers[members[a]].sizeInBytes, a) <
           std::pair(-problem.buffers[members[b]].sizeInBytes, b);
  });
  for (int child : order) {
    const PackingBuffer &c = problem.buffers[members[child]];
    for (size_t parent : c.inPlaceParents) {
      auto it = position.find(parent);
      if (it == position.end() || !canTakeOver(problem, members[child], parent))
        continue;
      int p = it->second;
      if (chains.next[p] >= 0)
        continue;
      // With a one-step member in between, three would be alive at once.
      int before = chains.previous[p], after = chains.next[child];
      if (before >= 0 && problem.buffers[members[before]].end > c.begin)
        continue;
      if (after >= 0 && problem.buffers[members[after]].begin < problem.buffers[parent].end)
        continue;
      chains.next[p] = child;
      chains.previous[child] = p;
      break;
    }
  }
  return chains;
}

namespace {

/// An item that is alive in a section, with the bytes that it holds there.
struct Share {
  int item;
  int64_t height;
};
using Section = std::vector<Share>; ///< by item

/// True if all that is alive in \p a is so in \p b, and no lower.
bool isCovered(const Section &a, const Section &b) {
  size_t next = 0;
  for (const Share &share : a) {
    while (next < b.size() && b[next].item < share.item)
      ++next;
    if (next == b.size() || b[next].item != share.item || b[next].height < share.height)
      return false;
  }
  return true;
}

/// Leaves out sections that a neighbour covers. \p items have their rectangles in
/// the \p numSections sections that there are before; returns how many are left.
int dropCoveredSections(std::vector<Item> &items, int numSections) {
  std::vector<Section> sections(numSections);
  for (size_t i = 0; i < items.size(); ++i)
    for (const Rectangle &r : items[i].rectangles)
      for (int s = r.first; s < r.last; ++s)
        sections[s].push_back({static_cast<int>(i), r.height});
  std::vector<int> kept;
  for (int s = 0; s < numSections; ++s) {
    while (!kept.empty() && isCovered(sections[kept.back()], sections[s]))
      kept.pop_back();
    if (!sections[s].empty() && (kept.empty() || !isCovered(sections[s], sections[kept.back()])))
      kept.push_back(s);
  }
  auto renumber = [&](int section) {
    return static_cast<int>(std::lower_bound(kept.begin(), kept.end(), section) - kept.begin());
  };
  for (Item &item : items) {
    for (Rectangle &r : item.rectangles)
      r = {renumber(r.first), renumber(r.last), r.height};
    std::erase_if(item.rectangles, [](const Rectangle &r) { return r.first == r.last; });
    item.first = renumber(item.first);
    item.last = renumber(item.last);
  }
  return kept.size();
}

} // namespace

std::vector<Item> makeItems(const PackingProblem &problem, const std::vector<size_t> &members,
                            const Chains &chains, int &numSections) {
  std::vector<int64_t> times;
  for (size_t m : members) {
    times.push_back(problem.buffers[m].begin);
    times.push_back(problem.buffers[m].end);
    // Where a child takes over, the last step of its parent is a section.
    times.push_back(problem.buffers[m].begin + 1);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  auto section = [&](int64_t time) {
    return static_cast<int>(std::lower_bound(times.begin(), times.end(), time) - times.begin());
  };
  std::vector<Item> items;
  for (size_t i = 0; i < members.size(); ++i) {
    if (chains.previous[i] >= 0)
      continue;
    Item item;
    int reach = section(problem.buffers[members[i]].begin);
    item.first = reach;
    for (int m = i; m >= 0; m = chains.next[m]) {
      const PackingBuffer &buffer = problem.buffers[members[m]];
      item.members.push_back(members[m]);
      item.height = std::max(item.height, buffer.sizeInBytes);
      // The parent is not smaller: it covers the common step.
      int last = section(buffer.end);
      if (last > reach) {
        double steps = static_cast<double>(times[last] - times[reach]);
        item.rectangles.push_back({reach, last, buffer.sizeInBytes});
        item.duration += steps;
        item.area += steps * static_cast<double>(buffer.sizeInBytes);
      }
      reach = std::max(reach, last);
    }
    item.last = reach;
    items.push_back(std::move(item));
  }
  numSections = dropCoveredSections(items, static_cast<int>(times.size()));
  return items;
}

} // namespace spyre::planning
