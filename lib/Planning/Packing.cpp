//===- Packing.cpp - Lifetimes into a scratchpad or a pool ----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First fit in several orders, improved by the search of PackingSearch.cpp: what
// to keep by branch and bound over the buffers' worth, then the peak by bisection.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/Packing.h"

#include "PackingSearch.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

namespace spyre::planning {

namespace {

using Addresses = std::vector<std::optional<int64_t>>;

/// What may be spent on a packing of all buffers where others are of use too.
constexpr int64_t kStepsToKeepAll = 100000;

bool areAliveTogether(const PackingBuffer &a, const PackingBuffer &b) {
  return a.begin < b.end && b.begin < a.end;
}

bool mayShare(const PackingProblem &problem, size_t a, size_t b) {
  return canTakeOver(problem, a, b) || canTakeOver(problem, b, a);
}

int64_t alignUp(int64_t value, int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Worth of keeping a buffer.
int64_t getWorth(const PackingBuffer &buffer) { return buffer.sizeInBytes * buffer.numUses; }

int64_t getPeak(const PackingProblem &problem, const Addresses &addresses) {
  int64_t peak = 0;
  for (size_t i = 0; i < addresses.size(); ++i)
    if (addresses[i])
      peak = std::max(peak, *addresses[i] + problem.buffers[i].sizeInBytes);
  return peak;
}

int64_t getKept(const PackingProblem &problem, const Addresses &addresses) {
  int64_t kept = 0;
  for (size_t i = 0; i < addresses.size(); ++i)
    if (addresses[i])
      kept += getWorth(problem.buffers[i]);
  return kept;
}

bool hasFixed(const PackingProblem &problem) {
  return std::any_of(problem.buffers.begin(), problem.buffers.end(),
                     [](const PackingBuffer &buffer) { return buffer.address.has_value(); });
}

/// First fit in the order \p order, around what has its address; what does not fit below
/// \p capacity is left out. In-place partners that are placed are tried first.
Addresses firstFit(const PackingProblem &problem, const std::vector<size_t> &order,
                   int64_t capacity) {
  Addresses addresses(problem.buffers.size());
  std::vector<size_t> placed; // by address
  for (size_t index = 0; index < problem.buffers.size(); ++index)
    if ((addresses[index] = problem.buffers[index].address))
      placed.push_back(index);
  std::stable_sort(placed.begin(), placed.end(),
                   [&](size_t a, size_t b) { return *addresses[a] < *addresses[b]; });
  for (size_t index : order) {
    const PackingBuffer &buffer = problem.buffers[index];
    if (buffer.address || buffer.sizeInBytes > capacity)
      continue;
    auto isFree = [&](int64_t address) {
      if (address + buffer.sizeInBytes > capacity)
        return false;
      for (size_t other : placed) {
        const PackingBuffer &o = problem.buffers[other];
        if (*addresses[other] >= address + buffer.sizeInBytes)
          break;
        if (!areAliveTogether(buffer, o) || *addresses[other] + o.sizeInBytes <= address)
          continue;
        if (*addresses[other] == address && mayShare(problem, index, other))
          continue;
        return false;
      }
      return true;
    };
    std::optional<int64_t> found;
    for (size_t other : placed)
      if (!found && mayShare(problem, index, other) && isFree(*addresses[other]))
        found = addresses[other];
    if (!found) {
      int64_t address = 0;
      for (size_t other : placed) {
        const PackingBuffer &o = problem.buffers[other];
        if (!areAliveTogether(buffer, o))
          continue;
        if (*addresses[other] >= address + buffer.sizeInBytes)
          break;
        address =
            std::max(address, alignUp(*addresses[other] + o.sizeInBytes, problem.alignmentInBytes));
      }
      if (address + buffer.sizeInBytes <= capacity)
        found = address;
    }
    if (!found)
      continue;
    addresses[index] = found;
    auto after = std::upper_bound(placed.begin(), placed.end(), *found,
                                  [&](int64_t a, size_t i) { return a < *addresses[i]; });
    placed.insert(after, index);
  }
  return addresses;
}

/// Orders for first fit: by worth per memory and time, by worth, by area, by size,
/// by duration, by start. Ties: the problem's order.
std::vector<std::vector<size_t>> getOrders(const PackingProblem &problem) {
  std::vector<size_t> natural(problem.buffers.size());
  std::iota(natural.begin(), natural.end(), 0);
  std::vector<std::vector<size_t>> orders;
  auto addOrder = [&](auto key) {
    std::vector<decltype(key(problem.buffers[0]))> keys;
    for (const PackingBuffer &buffer : problem.buffers)
      keys.push_back(key(buffer));
    std::vector<size_t> order = natural;
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return std::pair(keys[a], a) < std::pair(keys[b], b); });
    orders.push_back(std::move(order));
  };
  auto duration = [](const PackingBuffer &b) { return b.end - b.begin; };
  addOrder([&](const PackingBuffer &b) {
    // Uses per step, as a fraction that sorts exactly: larger first.
    return std::pair(static_cast<double>(duration(b)) /
                         static_cast<double>(std::max<int64_t>(1, b.numUses)),
                     -b.sizeInBytes);
  });
  addOrder([&](const PackingBuffer &b) { return std::pair(-getWorth(b), duration(b)); });
  addOrder(
      [&](const PackingBuffer &b) { return std::pair(-b.sizeInBytes * duration(b), b.begin); });
  addOrder([&](const PackingBuffer &b) { return std::pair(-b.sizeInBytes, -duration(b)); });
  addOrder([&](const PackingBuffer &b) { return std::pair(-duration(b), -b.sizeInBytes); });
  addOrder([&](const PackingBuffer &b) { return std::pair(b.begin, -b.end); });
  return orders;
}

struct Best {
  Addresses addresses;
  int64_t kept = -1;
  int64_t peak = 0;

  void offer(const PackingProblem &problem, const Addresses &candidate) {
    int64_t candidateKept = getKept(problem, candidate);
    int64_t candidatePeak = getPeak(problem, candidate);
    if (candidateKept < kept || (candidateKept == kept && candidatePeak >= peak))
      return;
    addresses = candidate;
    kept = candidateKept;
    peak = candidatePeak;
  }
};

/// Memory that \p members need at their busiest step, at least.
int64_t getLoad(const PackingProblem &problem, const std::vector<bool> &isMember) {
  std::map<int64_t, int64_t> changes;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (!isMember[i])
      continue;
    const PackingBuffer &buffer = problem.buffers[i];
    // A child that can take over costs nothing at its first step.
    bool takesOver = false;
    for (size_t parent : buffer.inPlaceParents)
      takesOver |= parent < isMember.size() && isMember[parent] && canTakeOver(problem, i, parent);
    int64_t begin = buffer.begin + (takesOver ? 1 : 0);
    if (begin >= buffer.end)
      continue;
    changes[begin] += buffer.sizeInBytes;
    changes[buffer.end] -= buffer.sizeInBytes;
  }
  int64_t load = 0, peak = 0;
  for (auto [time, change] : changes) {
    load += change;
    peak = std::max(peak, load);
  }
  return peak;
}

/// Searches for sets of buffers that are worth more than what is kept.
class KeepSearch {
public:
  KeepSearch(const PackingProblem &problem, Best &best, SearchBudget &budget)
      : problem(problem), best(best), budget(budget) {
    for (size_t i = 0; i < problem.buffers.size(); ++i)
      if (problem.buffers[i].sizeInBytes <= problem.capacityInBytes)
        order.push_back(i);
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(-getWorth(problem.buffers[a]), a) <
             std::pair(-getWorth(problem.buffers[b]), b);
    });
    worthAfter.assign(order.size() + 1, 0);
    for (size_t i = order.size(); i-- > 0;)
      worthAfter[i] = worthAfter[i + 1] + getWorth(problem.buffers[order[i]]);
    isMember.assign(problem.buffers.size(), false);

    std::vector<int64_t> times;
    for (const PackingBuffer &buffer : problem.buffers)
      times.insert(times.end(), {buffer.begin, buffer.begin + 1, buffer.end});
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    load.assign(times.size(), 0);
    auto getSection = [&](int64_t time) {
      return std::lower_bound(times.begin(), times.end(), time) - times.begin();
    };
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      const PackingBuffer &buffer = problem.buffers[i];
      // A child that may take over costs nothing at its first step.
      bool mayTakeOver = std::any_of(buffer.inPlaceParents.begin(), buffer.inPlaceParents.end(),
                                     [&](size_t p) { return canTakeOver(problem, i, p); });
      sections.emplace_back(getSection(buffer.begin + (mayTakeOver ? 1 : 0)),
                            getSection(buffer.end));
    }
  }

  /// True if nothing better exists.
  bool run() {
    isProven = true;
    branch(0, 0);
    return isProven;
  }

private:
  void branch(size_t depth, int64_t worth) {
    if (worth + worthAfter[depth] <= best.kept)
      return;
    if (budget.isUsedUp()) {
      isProven = false;
      return;
    }
    budget.spend();
    if (depth == order.size()) {
      evaluate();
      return;
    }
    size_t index = order[depth];
    const PackingBuffer &buffer = problem.buffers[index];
    auto [first, last] = sections[index];
    bool fits = true;
    for (size_t s = first; s < last; ++s)
      fits &= (load[s] += buffer.sizeInBytes) <= problem.capacityInBytes;
    isMember[index] = true;
    if (fits)
      branch(depth + 1, worth + getWorth(buffer));
    isMember[index] = false;
    for (size_t s = first; s < last; ++s)
      load[s] -= buffer.sizeInBytes;
    branch(depth + 1, worth);
  }

  void evaluate() {
    if (getLoad(problem, isMember) > problem.capacityInBytes)
      return;
    std::vector<size_t> members;
    for (size_t i = 0; i < isMember.size(); ++i)
      if (isMember[i])
        members.push_back(i);
    Addresses addresses(problem.buffers.size());
    switch (placeAll(problem, members, problem.capacityInBytes, 5000, budget, addresses)) {
    case Feasibility::Feasible:
      best.offer(problem, addresses);
      break;
    case Feasibility::Infeasible:
      break;
    case Feasibility::Unknown:
      isProven = false;
      break;
    }
  }

  const PackingProblem &problem;
  Best &best;
  SearchBudget &budget;
  std::vector<size_t> order; ///< by decreasing worth
  std::vector<int64_t> worthAfter;
  std::vector<bool> isMember;
  std::vector<std::pair<size_t, size_t>> sections; ///< of each buffer
  std::vector<int64_t> load;                       ///< of the members, per section
  bool isProven = true;
};

/// Hill climbing: bring a buffer that was left out to the front of the order of
/// placement. Repeatable: the seed is fixed.
void improveOrder(const PackingProblem &problem, std::vector<size_t> order, int64_t capacity,
                  Best &best, SearchBudget &budget, int rounds) {
  std::mt19937_64 random(0x5A17);
  for (int round = 0; round < rounds && !budget.isUsedUp(); ++round) {
    budget.spend();
    std::vector<size_t> candidate = order;
    std::vector<size_t> leftOut;
    for (size_t i = 0; i < order.size(); ++i)
      if (!best.addresses[order[i]] &&
          problem.buffers[order[i]].sizeInBytes <= problem.capacityInBytes)
        leftOut.push_back(i);
    size_t from = leftOut.empty() ? random() % order.size() : leftOut[random() % leftOut.size()];
    size_t to = random() % (from + 1);
    std::rotate(candidate.begin() + to, candidate.begin() + from, candidate.begin() + from + 1);
    Addresses addresses = firstFit(problem, candidate, capacity);
    int64_t kept = best.kept, peak = best.peak;
    best.offer(problem, addresses);
    if (best.kept != kept || best.peak != peak)
      order = std::move(candidate);
  }
}

/// Lowers the peak of what is kept, by search under smaller capacities.
void lowerPeak(const PackingProblem &problem, Best &best, SearchBudget &budget) {
  std::vector<size_t> members;
  std::vector<bool> isMember(problem.buffers.size(), false);
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (!best.addresses[i])
      continue;
    members.push_back(i);
    isMember[i] = true;
  }
  int64_t low = getLoad(problem, isMember); // no peak is smaller
  // The bound itself first: it often holds.
  int64_t capacity = low;
  while (low < best.peak && !budget.isUsedUp()) {
    Addresses addresses(problem.buffers.size());
    if (placeAll(problem, members, capacity, 20000, budget, addresses) == Feasibility::Feasible)
      best.offer(problem, addresses);
    else
      low = capacity + 1;
    capacity = low + (best.peak - low) / 2;
  }
}

/// First fit in all orders.
Best packFast(const PackingProblem &problem, int64_t capacity, std::vector<size_t> *bestOrder) {
  Best best;
  // What has its address, at least.
  best.addresses = firstFit(problem, {}, capacity);
  best.kept = getKept(problem, best.addresses);
  best.peak = getPeak(problem, best.addresses);
  if (problem.buffers.empty())
    return best;
  for (std::vector<size_t> &order : getOrders(problem)) {
    int64_t kept = best.kept, peak = best.peak;
    best.offer(problem, firstFit(problem, order, capacity));
    if (bestOrder && (bestOrder->empty() || best.kept != kept || best.peak != peak))
      *bestOrder = std::move(order);
  }
  return best;
}

} // namespace

bool PackingPlan::keepsAll() const {
  return std::all_of(addresses.begin(), addresses.end(),
                     [](const auto &a) { return a.has_value(); });
}

bool canTakeOver(const PackingProblem &problem, size_t child, size_t parent) {
  const PackingBuffer &c = problem.buffers[child];
  if (child == parent || parent >= problem.buffers.size() ||
      std::find(c.inPlaceParents.begin(), c.inPlaceParents.end(), parent) == c.inPlaceParents.end())
    return false;
  const PackingBuffer &p = problem.buffers[parent];
  return p.end == c.begin + 1 && c.sizeInBytes <= p.sizeInBytes;
}

int64_t getPeakLoad(const PackingProblem &problem) {
  return getLoad(problem, std::vector<bool>(problem.buffers.size(), true));
}

std::vector<AddressMistake> checkAddresses(const PackingProblem &problem) {
  std::vector<AddressMistake> mistakes;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const PackingBuffer &a = problem.buffers[i];
    if (!a.address)
      continue;
    auto fail = [&](const std::string &message, std::optional<size_t> other = std::nullopt) {
      mistakes.push_back({i, other, message});
    };
    if (*a.address < 0)
      fail("is negative");
    if (*a.address % problem.alignmentInBytes != 0)
      fail("is not a multiple of " + std::to_string(problem.alignmentInBytes));
    // Without sums: a number of a file may be any.
    if (a.sizeInBytes > problem.capacityInBytes ||
        *a.address > problem.capacityInBytes - a.sizeInBytes)
      fail("is too high: " + std::to_string(a.sizeInBytes) +
           " bytes from there on end beyond the " + std::to_string(problem.capacityInBytes) +
           " that there are");
    for (size_t j = 0; j < i; ++j) {
      const PackingBuffer &b = problem.buffers[j];
      if (!b.address || !areAliveTogether(a, b) || *a.address >= *b.address + b.sizeInBytes ||
          *b.address >= *a.address + a.sizeInBytes ||
          (*a.address == *b.address && mayShare(problem, i, j)))
        continue;
      fail("lies, with the " + std::to_string(a.sizeInBytes) + " bytes behind it, over " +
               std::to_string(b.sizeInBytes) + " bytes at " + std::to_string(*b.address) +
               " that are in use at the same time",
           j);
    }
  }
  return mistakes;
}

std::vector<std::string> check(const PackingProblem &problem) {
  std::vector<std::string> errors;
  if (problem.capacityInBytes < 0)
    errors.push_back("the capacity is negative");
  if (problem.alignmentInBytes < 1)
    errors.push_back("the alignment must be at least 1");
  constexpr int64_t limit = int64_t(1) << 50; // sums stay in range
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const PackingBuffer &buffer = problem.buffers[i];
    std::string name = "buffer " + std::to_string(i);
    if (buffer.sizeInBytes < 0 || buffer.sizeInBytes > limit)
      errors.push_back(name + " has a size of " + std::to_string(buffer.sizeInBytes) + " bytes");
    if (buffer.begin >= buffer.end)
      errors.push_back(name + " lives from " + std::to_string(buffer.begin) + " to " +
                       std::to_string(buffer.end));
    if (buffer.begin < -limit || buffer.end > limit)
      errors.push_back(name + " has a lifetime out of range");
    if (buffer.numUses < 0 || buffer.numUses > (int64_t(1) << 20))
      errors.push_back(name + " has " + std::to_string(buffer.numUses) + " uses");
    for (size_t parent : buffer.inPlaceParents)
      if (parent >= problem.buffers.size())
        errors.push_back(name + " names a parent that does not exist");
    if (buffer.address && (*buffer.address < -limit || *buffer.address > limit))
      errors.push_back(name + " has an address out of range");
  }
  if (errors.empty())
    for (const AddressMistake &mistake : checkAddresses(problem))
      errors.push_back("the address of buffer " + std::to_string(mistake.buffer) + " " +
                       mistake.message +
                       (mistake.other ? ", by buffer " + std::to_string(*mistake.other) : ""));
  return errors;
}

/// True if buffers of \p addresses lie where \p problem says.
static bool obeys(const PackingProblem &problem, const Addresses &addresses) {
  for (size_t i = 0; i < addresses.size(); ++i)
    if (problem.buffers[i].address && problem.buffers[i].address != addresses[i])
      return false;
  return true;
}

PackingPlan pack(const PackingProblem &problem, const PackingOptions &options) {
  const bool isFixed = hasFixed(problem);
  // Where nobody has to be moved, nobody is: a plan whose addresses are written down and read
  // again is the same plan.
  if (isFixed) {
    PackingProblem free = problem;
    for (PackingBuffer &buffer : free.buffers)
      buffer.address.reset();
    if (PackingPlan plan = pack(free, options); obeys(problem, plan.addresses))
      return plan;
  }
  SearchBudget budget(options);
  std::vector<size_t> order;
  Best best = packFast(problem, problem.capacityInBytes, &order);
  int64_t all = 0;
  for (const PackingBuffer &buffer : problem.buffers)
    all += getWorth(buffer);
  bool isProven = best.kept == all;
  bool isSearched = options.strategy == PackingStrategy::Search && !problem.buffers.empty();
  // The search places all of its items: around what has its address there is first fit, in orders
  // that get better.
  if (isFixed) {
    if (isSearched && best.kept < all)
      improveOrder(problem, order, problem.capacityInBytes, best, budget, 300);
    isProven = best.kept == all;
    isSearched = false;
  }
  if (isSearched && best.kept < all) {
    bool isHopeless = getPeakLoad(problem) > problem.capacityInBytes;
    for (const PackingBuffer &buffer : problem.buffers)
      isHopeless |= buffer.sizeInBytes > problem.capacityInBytes;
    if (!isHopeless) {
      std::vector<size_t> members(problem.buffers.size());
      std::iota(members.begin(), members.end(), 0);
      Addresses addresses(problem.buffers.size());
      // Where buffers may be left out, most of a long search is for which ones.
      int64_t nodes = options.mustKeepAll ? options.nodeLimit
                                          : std::min(options.nodeLimit / 2, kStepsToKeepAll);
      Feasibility result =
          placeAll(problem, members, problem.capacityInBytes, nodes, budget, addresses);
      if (result == Feasibility::Feasible)
        best.offer(problem, addresses);
      isHopeless = result == Feasibility::Infeasible;
    }
    isProven = best.kept == all || (options.mustKeepAll && isHopeless);
  }
  if (isSearched && !options.mustKeepAll) {
    if (!isProven) {
      improveOrder(problem, order, problem.capacityInBytes, best, budget, 300);
      isProven = KeepSearch(problem, best, budget).run();
    }
    lowerPeak(problem, best, budget);
  }
  PackingPlan plan;
  plan.addresses = std::move(best.addresses);
  plan.keptByteUses = best.kept;
  plan.peakInBytes = best.peak;
  plan.isOptimal = isProven;
  plan.hitLimit = budget.isUsedUp();
  return plan;
}

std::vector<std::string> verify(const PackingProblem &problem, const Addresses &addresses) {
  std::vector<std::string> errors;
  if (addresses.size() != problem.buffers.size())
    return {std::to_string(addresses.size()) + " addresses for " +
            std::to_string(problem.buffers.size()) + " buffers"};
  for (size_t i = 0; i < addresses.size(); ++i) {
    const PackingBuffer &a = problem.buffers[i];
    std::string name = "buffer " + std::to_string(i);
    if (a.address && addresses[i] != a.address)
      errors.push_back(name + " has to be at " + std::to_string(*a.address));
    if (!addresses[i])
      continue;
    if (*addresses[i] < 0 || *addresses[i] % problem.alignmentInBytes != 0)
      errors.push_back(name + " is at " + std::to_string(*addresses[i]) +
                       ", which is not aligned to " + std::to_string(problem.alignmentInBytes));
    if (*addresses[i] + a.sizeInBytes > problem.capacityInBytes)
      errors.push_back(name + " ends at " + std::to_string(*addresses[i] + a.sizeInBytes) +
                       ", the capacity is " + std::to_string(problem.capacityInBytes));
    for (size_t j = 0; j < i; ++j) {
      const PackingBuffer &b = problem.buffers[j];
      if (!addresses[j] || !areAliveTogether(a, b) ||
          *addresses[i] >= *addresses[j] + b.sizeInBytes ||
          *addresses[j] >= *addresses[i] + a.sizeInBytes)
        continue;
      if (*addresses[i] == *addresses[j] && mayShare(problem, i, j))
        continue;
      errors.push_back("buffers " + std::to_string(j) + " and " + std::to_string(i) +
                       " overlap while both are alive");
    }
  }
  return errors;
}

std::variant<PoolPlan, PackingError> solvePool(const PoolProblem &problem,
                                               const PackingOptions &options) {
  if (std::vector<std::string> errors = check(problem); !errors.empty())
    return PackingError{errors.front()};
  PackingProblem unlimited = problem;
  for (PackingBuffer &buffer : unlimited.buffers)
    buffer.address.reset();
  unlimited.capacityInBytes = 0;
  for (const PackingBuffer &buffer : problem.buffers)
    unlimited.capacityInBytes += alignUp(buffer.sizeInBytes, problem.alignmentInBytes);
  SearchBudget budget(options);
  std::vector<size_t> order;
  Best best = packFast(unlimited, unlimited.capacityInBytes, &order);
  if (options.strategy == PackingStrategy::Search && !problem.buffers.empty() &&
      best.peak > getPeakLoad(problem)) {
    improveOrder(unlimited, order, unlimited.capacityInBytes, best, budget, 300);
    lowerPeak(unlimited, best, budget);
  }
  if (problem.capacityInBytes > 0 && best.peak > problem.capacityInBytes)
    return PackingError{"the pool would need " + std::to_string(best.peak) + " bytes, there are " +
                        std::to_string(problem.capacityInBytes)};
  PoolPlan plan;
  for (const auto &address : best.addresses)
    plan.offsets.push_back(address.value_or(0));
  plan.sizeInBytes = best.peak;
  plan.isOptimal = best.peak == getPeakLoad(problem);
  return plan;
}

} // namespace spyre::planning
