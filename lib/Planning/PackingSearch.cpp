//===- PackingSearch.cpp - Can these buffers all be placed? ---------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Depth-first search over placements by rising address. Every feasible packing can
// be pushed down until each buffer lies on the bottom or on another one, so it is
// enough to place, in order of address, each buffer as low as the ones below
// allow. What prunes:
//   - every unplaced buffer has a lowest address, which placed ones raise (nothing
//     that follows lies lower than the last one placed): a step fails whose
//     remaining buffers exceed what is free above the lowest of theirs;
//   - a buffer is not placed at h if another one could be placed entirely below h;
//   - buffers at the same address are placed in one order only;
//   - groups of unplaced buffers whose lifetimes do not touch are independent.
// Buffers that share a place (in-place pairs) are one item with several
// rectangles.
//
//===----------------------------------------------------------------------===//

#include "PackingSearch.h"

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <numeric>
#include <random>

namespace spyre::planning {

SearchBudget::SearchBudget(const PackingOptions &options) : nodesLeft(options.nodeLimit) {
  if (options.timeLimitInSeconds > 0) {
    hasDeadline = true;
    deadline = std::chrono::steady_clock::now() +
               std::chrono::microseconds(static_cast<int64_t>(options.timeLimitInSeconds * 1e6));
  }
}

void SearchBudget::spend() {
  --nodesLeft;
  if (!hasDeadline || ++untilClock < 256)
    return;
  untilClock = 0;
  outOfTime = outOfTime || std::chrono::steady_clock::now() >= deadline;
}

namespace {

/// Memory that is held from section \c first up to (not including) \c last.
struct Rectangle {
  int first, last;
  int64_t height;
};

struct Item {
  std::vector<Rectangle> rectangles; ///< of different sections
  std::vector<size_t> members;
  int first = 0, last = 0; ///< all sections
  int64_t height = 0;      ///< highest rectangle
  int rank = 0;            ///< place in the order of trial
};

class Search {
public:
  Search(int64_t capacity, int64_t alignment, std::vector<Item> items, int numSections,
         bool isLowestFirst, int64_t nodeLimit, SearchBudget &budget)
      : capacity(capacity), alignment(alignment), isLowestFirst(isLowestFirst),
        items(std::move(items)), load(numSections, 0), lowest(numSections, 0),
        offsets(this->items.size(), 0), nodeLimit(nodeLimit), budget(budget) {
    size_t count = this->items.size();
    tops.assign(count * count, 0);
    for (size_t a = 0; a < count; ++a)
      for (size_t b = 0; b < count; ++b)
        tops[a * count + b] = getTop(this->items[a], this->items[b]);
  }

  Feasibility run() {
    Open all;
    for (size_t i = 0; i < items.size(); ++i)
      all.push_back({static_cast<int>(i), 0});
    std::sort(all.begin(), all.end(), [&](const Entry &a, const Entry &b) {
      return std::pair(items[a.item].first, a.item) < std::pair(items[b.item].first, b.item);
    });
    if (!mayFit(all))
      return Feasibility::Infeasible;
    if (solve(all))
      return Feasibility::Feasible;
    return stopped ? Feasibility::Unknown : Feasibility::Infeasible;
  }

  int64_t getOffset(size_t item) const { return offsets[item]; }
  const std::vector<Item> &getItems() const { return items; }

private:
  /// An unplaced item and the lowest address that the placed ones leave it.
  struct Entry {
    int item;
    int64_t low;
  };
  using Open = std::vector<Entry>; ///< sorted by the items' first section

  /// How far above its own address \p a reaches where \p b is alive; 0: nowhere.
  static int64_t getTop(const Item &a, const Item &b) {
    int64_t top = 0;
    for (const Rectangle &r : a.rectangles)
      for (const Rectangle &s : b.rectangles)
        if (r.first < s.last && s.first < r.last)
          top = std::max(top, r.height);
    return top;
  }

  /// False if the items do not fit above their lowest addresses: in each section
  /// the free memory starts at the lowest of them.
  bool mayFit(const Open &open) {
    int first = static_cast<int>(load.size()), last = 0;
    for (const Entry &entry : open) {
      const Item &item = items[entry.item];
      if (entry.low + item.height > capacity)
        return false;
      first = std::min(first, item.first);
      last = std::max(last, item.last);
    }
    if (first >= last)
      return true;
    std::fill(load.begin() + first, load.begin() + last, 0);
    std::fill(lowest.begin() + first, lowest.begin() + last, capacity);
    for (const Entry &entry : open)
      for (const Rectangle &r : items[entry.item].rectangles)
        for (int s = r.first; s < r.last; ++s) {
          load[s] += r.height;
          lowest[s] = std::min(lowest[s], entry.low);
        }
    for (int s = first; s < last; ++s)
      if (load[s] > 0 && lowest[s] + load[s] > capacity)
        return false;
    return true;
  }

  /// A cheap part of mayFit: false if \p item at \p offset leaves a section too
  /// little for the others, whose memory and lowest address per section from \p
  /// first on are given (the item's own included).
  bool mayPrecede(const Item &item, int64_t offset, const std::vector<int64_t> &openLoad,
                  const std::vector<int64_t> &openLowest, int first) const {
    auto check = [&](int from, int to, int64_t height) {
      for (int s = from - first; s < to - first; ++s) {
        int64_t others = openLoad[s] - height;
        if (others > 0 && std::max(openLowest[s], offset + height) + others > capacity)
          return false;
      }
      return true;
    };
    int reach = first;
    for (const Rectangle &r : item.rectangles) {
      if (!check(reach, r.first, 0) || !check(r.first, r.last, r.height))
        return false;
      reach = r.last;
    }
    return check(reach, first + static_cast<int>(openLoad.size()), 0);
  }

  /// Cuts \p open into groups that are not alive together and solves each.
  bool solve(const Open &open) {
    std::vector<std::pair<size_t, size_t>> groups;
    size_t begin = 0;
    int reach = 0;
    for (size_t i = 0; i < open.size(); ++i) {
      const Item &item = items[open[i].item];
      if (i > begin && item.first >= reach) {
        groups.emplace_back(begin, i);
        begin = i;
      }
      reach = i == begin ? item.last : std::max(reach, item.last);
    }
    if (begin < open.size())
      groups.emplace_back(begin, open.size());
    // Small groups first: they fail fast.
    std::sort(groups.begin(), groups.end(), [](auto a, auto b) {
      return std::pair(a.second - a.first, a) < std::pair(b.second - b.first, b);
    });
    for (auto [from, to] : groups)
      if (!place(Open(open.begin() + from, open.begin() + to), -1, -1))
        return false;
    return true;
  }

  bool isConnected(const Open &open) const {
    int reach = open.empty() ? 0 : items[open.front().item].last;
    for (const Entry &entry : open) {
      if (items[entry.item].first >= reach)
        return false;
      reach = std::max(reach, items[entry.item].last);
    }
    return true;
  }

  /// Places the connected items \p open, none below \p lastOffset; at that address
  /// only items that follow \p lastRank.
  bool place(const Open &open, int64_t lastOffset, int lastRank) {
    if (open.empty())
      return true;
    budget.spend();
    if (--nodeLimit < 0 || budget.isUsedUp()) {
      stopped = true;
      return false;
    }
    int64_t lowestTop = capacity;
    for (const Entry &entry : open)
      lowestTop = std::min(lowestTop, entry.low + items[entry.item].height);
    std::vector<Entry> candidates;
    for (const Entry &entry : open)
      if (entry.low < lowestTop && (entry.low != lastOffset || items[entry.item].rank > lastRank))
        candidates.push_back(entry);
    std::sort(candidates.begin(), candidates.end(), [&](const Entry &a, const Entry &b) {
      int rankOfA = items[a.item].rank, rankOfB = items[b.item].rank;
      return isLowestFirst ? std::pair(a.low, rankOfA) < std::pair(b.low, rankOfB)
                           : rankOfA < rankOfB;
    });
    if (!mayFit(open))
      return false;
    // As mayFit leaves it for all that are open.
    int first = static_cast<int>(load.size()), last = 0;
    for (const Entry &entry : open) {
      first = std::min(first, items[entry.item].first);
      last = std::max(last, items[entry.item].last);
    }
    const std::vector<int64_t> openLoad(load.begin() + first, load.begin() + last);
    const std::vector<int64_t> openLowest(lowest.begin() + first, lowest.begin() + last);

    Open rest;
    for (const Entry &chosen : candidates) {
      if (!mayPrecede(items[chosen.item], chosen.low, openLoad, openLowest, first))
        continue;
      rest.clear();
      const int64_t *top = &tops[static_cast<size_t>(chosen.item) * items.size()];
      for (const Entry &entry : open) {
        if (entry.item == chosen.item)
          continue;
        int64_t low = std::max(entry.low, chosen.low);
        if (top[entry.item] > 0)
          low =
              std::max(low, (chosen.low + top[entry.item] + alignment - 1) / alignment * alignment);
        rest.push_back({entry.item, low});
        if (low + items[entry.item].height > capacity)
          break;
      }
      if (rest.size() + 1 < open.size() || !mayFit(rest))
        continue;
      offsets[chosen.item] = chosen.low;
      if (isConnected(rest) ? place(rest, chosen.low, items[chosen.item].rank) : solve(rest))
        return true;
      if (stopped)
        return false;
    }
    return false;
  }

  const int64_t capacity, alignment;
  const bool isLowestFirst; ///< order of trial: by address, then rank; else by rank
  std::vector<Item> items;
  std::vector<int64_t> tops;         ///< getTop of every pair
  std::vector<int64_t> load, lowest; ///< scratch of mayFit
  std::vector<int64_t> offsets;
  int64_t nodeLimit;
  SearchBudget &budget;
  bool stopped = false;
};

/// Chains of members that share a place: next[i] takes over from i.
struct Chains {
  std::vector<int> next, previous;
};

/// Children take over a parent, largest first; each parent once. A chain's
/// members other than neighbours must not be alive together.
Chains chainInPlace(const PackingProblem &problem, const std::vector<size_t> &members) {
  Chains chains;
  chains.next.assign(members.size(), -1);
  chains.previous.assign(members.size(), -1);
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
  numSections = times.size();
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
      if (last > reach)
        item.rectangles.push_back({reach, last, buffer.sizeInBytes});
      reach = std::max(reach, last);
    }
    item.last = reach;
    items.push_back(std::move(item));
  }
  return items;
}

constexpr int kNumOrders = 6;

/// Sets the items' ranks. The orders of trial: by duration, by the memory alive
/// beside an item, by area, by height, each with others behind it; which one works
/// best differs between problems. Restarts after the first shake the order a
/// little, each in its own, repeatable way.
void rankItems(std::vector<Item> &items, int numSections, int order, int restart) {
  std::vector<int64_t> load(numSections, 0);
  for (const Item &item : items)
    for (const Rectangle &r : item.rectangles)
      for (int s = r.first; s < r.last; ++s)
        load[s] += r.height;
  std::mt19937_64 random(restart);
  struct Key {
    double primary;
    int64_t secondary, tertiary;
    size_t item;
    auto operator<=>(const Key &) const = default;
  };
  std::vector<Key> keys;
  for (size_t i = 0; i < items.size(); ++i) {
    const Item &item = items[i];
    int64_t pressure = 0, area = 0, duration = item.last - item.first;
    for (const Rectangle &r : item.rectangles) {
      area += r.height * (r.last - r.first);
      for (int s = r.first; s < r.last; ++s)
        pressure = std::max(pressure, load[s]);
    }
    std::array<int64_t, 3> key;
    switch (order) {
    case 0:
      key = {duration, area, pressure};
      break;
    case 1:
      key = {pressure, area, duration};
      break;
    case 2:
      key = {pressure, duration, area};
      break;
    case 3:
      key = {item.height, duration, pressure};
      break;
    case 4:
      key = {area, duration, pressure};
      break;
    default:
      key = {duration, pressure, area};
      break;
    }
    double shake = restart > 0 ? 1 + static_cast<double>(random() % 256) / 1024 : 1;
    keys.push_back({-static_cast<double>(key[0]) * shake, -key[1], -key[2], i});
  }
  std::sort(keys.begin(), keys.end());
  for (size_t i = 0; i < keys.size(); ++i)
    items[keys[i].item].rank = i;
}

} // namespace

Feasibility placeAll(const PackingProblem &problem, const std::vector<size_t> &members,
                     int64_t capacity, int64_t nodeLimit, SearchBudget &budget,
                     std::vector<std::optional<int64_t>> &addresses) {
  std::vector<Chains> ways = {chainInPlace(problem, members)};
  bool hasChains =
      std::any_of(ways[0].next.begin(), ways[0].next.end(), [](int n) { return n >= 0; });
  if (hasChains) {
    // Taking over is usually, not always, the better choice: undo each in turn,
    // then all.
    for (size_t i = 0; i < members.size(); ++i) {
      if (ways[0].next[i] < 0)
        continue;
      Chains fewer = ways[0];
      fewer.previous[fewer.next[i]] = -1;
      fewer.next[i] = -1;
      ways.push_back(std::move(fewer));
    }
    Chains none;
    none.next.assign(members.size(), -1);
    none.previous = none.next;
    ways.push_back(std::move(none));
  }
  bool proven = !hasChains;
  for (const Chains &chains : ways) {
    int numSections = 0;
    std::vector<Item> items = makeItems(problem, members, chains, numSections);
    // Short runs with every order, then longer ones: an order that works does so
    // after a few steps back. Small problems are settled in one go.
    int64_t left = std::max<int64_t>(1, nodeLimit / static_cast<int64_t>(ways.size()));
    int64_t slice =
        items.size() <= 16 ? left : std::min<int64_t>(left, 3 * static_cast<int64_t>(items.size()));
    for (int restart = 0; left > 0; ++restart, slice += slice / 50) {
      bool decided = false;
      for (int variant = 0; variant < 2 * kNumOrders && left > 0; ++variant) {
        rankItems(items, numSections, variant % kNumOrders, restart);
        Search search(capacity, problem.alignmentInBytes, items, numSections,
                      /*isLowestFirst=*/variant >= kNumOrders, std::min(slice, left), budget);
        int64_t before = budget.nodesLeft;
        Feasibility result = search.run();
        left -= std::max<int64_t>(1, before - budget.nodesLeft);
        if (result == Feasibility::Feasible) {
          for (size_t i = 0; i < search.getItems().size(); ++i)
            for (size_t m : search.getItems()[i].members)
              addresses[m] = search.getOffset(i);
          return result;
        }
        if (result == Feasibility::Infeasible) {
          decided = true;
          break;
        }
        if (budget.isUsedUp())
          return Feasibility::Unknown;
      }
      if (decided)
        break;
      if (left <= 0)
        proven = false;
    }
  }
  return proven ? Feasibility::Infeasible : Feasibility::Unknown;
}

} // namespace spyre::planning
