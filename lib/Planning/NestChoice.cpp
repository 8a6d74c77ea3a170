//===- NestChoice.cpp - Which neighbouring operations become nests -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs of operations grow one by one (TilingRun.h). The run that saves most from its first
// operation on becomes a nest: first one after the other, each by itself, then together between
// those that are settled, and again without the values that nests do away with.
//
//===----------------------------------------------------------------------===//

#include "TilingRun.h"

#include <functional>
#include <tuple>
#include <utility>

namespace spyre::planning {

/// Runs up to here are judged at each length; longer ones at multiples of it, and where they
/// end.
static constexpr unsigned kEachLength = 16;
/// Of longer ones not each length is looked at to find where they end.
static constexpr unsigned kManyInRun = 64;
/// How many operations later a nest may begin that saves more than one that begins here.
static constexpr unsigned kLookahead = 1;
/// Runs from one operation on that are tried with two loops.
static constexpr size_t kMostOfRuns = 4;
/// A nest that saves that share of the time of all is not taken apart again.
static constexpr double kShareOfSettled = 0.3;
/// Unless it takes so many times the least, and has not too many operations to be taken apart.
static constexpr double kFarFromLeast = 2;
static constexpr unsigned kMostToTakeApart = 256;
/// Of so many operations all runs are looked at, from each operation on, or in a nest to be taken
/// apart of so many; of more from those on where few values are handed on.
static constexpr unsigned kMostOfAllRuns = 64;
static constexpr unsigned kMostOfAllInNest = 24;
/// Nests are chosen at most so often.
static constexpr unsigned kMostRounds = 3;

/// What is saved by \p nest.
static tiling::Saving getSaving(const Nest &nest) {
  return {nest.numImpossible, nest.untiledInNs - nest.tiledInNs};
}

/// A nest that is to be taken apart, as smaller ones may do better.
static bool isFarFromLeast(const Nest &nest) {
  return nest.tiledInNs > kFarFromLeast * nest.leastInNs &&
         nest.last - nest.first < kMostToTakeApart;
}

static tiling::Saving getSaving(const std::vector<Nest> &nests) {
  tiling::Saving saved;
  for (const Nest &nest : nests)
    saved = saved + getSaving(nest);
  return saved;
}

/// Finds nests that begin with one operation.
class NestSearch {
public:
  /// \p getBeyond: what nests save that begin at an operation or later.
  NestSearch(const tiling::Facts &facts, std::function<tiling::Saving(unsigned)> getBeyond)
      : facts(facts), getBeyond(std::move(getBeyond)) {}

  /// The nest of operations \p first .. \p end - 1 that begins with the first of them and saves
  /// most together with those beyond it, if that is more than \p least. Unless \p endsAnywhere, it
  /// ends where few values are handed on, or where fewer dims would be left.
  std::optional<Nest> find(unsigned first, unsigned end, tiling::Saving least,
                           bool endsAnywhere = true);

private:
  /// Of runs that save the same the longest (what follows would have to be read again), of
  /// nests of one run that with fewer loops.
  void take(std::optional<Nest> nest);
  /// What a nest has to save that ends with operation \p last.
  tiling::Saving getLeast(unsigned last) const { return saved - getBeyond(last + 1); }

  const tiling::Facts &facts;
  std::function<tiling::Saving(unsigned)> getBeyond;
  std::optional<Nest> best;
  tiling::Saving saved; ///< by the best, or without one, with those beyond
};

void NestSearch::take(std::optional<Nest> nest) {
  if (!nest)
    return;
  const tiling::Saving together = getSaving(*nest) + getBeyond(nest->last + 1);
  if (!together.isMoreThan(saved) &&
      !(best && together.isAsMuchAs(saved) && nest->last > best->last))
    return;
  best = std::move(nest);
  saved = together;
}

std::optional<Nest> NestSearch::find(unsigned first, unsigned end, tiling::Saving least,
                                     bool endsAnywhere) {
  best.reset();
  saved = least;
  if (facts.problem.ops[first].isFixed)
    return best;
  struct Known {
    bool joinsReads;
    unsigned length;
    tiling::Saving most; ///< with those beyond
  };
  std::vector<Known> runs; // that are not too long for two loops
  // Of long runs those of whole steps, and those with a seam behind them.
  auto isGoodLength = [&](const tiling::Run &run) {
    return (endsAnywhere && run.getLength() % kEachLength == 0) ||
           facts.isSeam(first + run.getLength());
  };
  auto judge = [&](tiling::Run &run, bool joinsReads) {
    const unsigned length = run.getLength();
    if (!joinsReads && !run.hasSeparated())
      return;
    take(run.findBest(1, getLeast(first + length - 1)));
    // One operation needs two loops only where it is not possible else.
    const bool isShort =
        length <= tiling::kMostOfTwoLoops || (length <= 2 * tiling::kMostOfTwoLoops &&
                                              facts.isSeam(first) && facts.isSeam(first + length));
    if (isShort && (length > 1 || facts.getNumImpossible(first, first) > 0))
      runs.push_back({joinsReads, length, run.getMostSaving() + getBeyond(first + length)});
  };
  auto makeRun = [&](bool joinsReads, unsigned length) {
    tiling::Run run(facts, first, joinsReads);
    while (run.getLength() < length)
      run.grow();
    return run;
  };
  auto canGrow = [&](const tiling::Run &run) { return first + run.getLength() < end; };
  // How many classes are left once one more operation is there.
  auto grow = [&](tiling::Run &run) {
    return canGrow(run) && run.grow() ? run.getTileable().size() : 0;
  };
  for (bool joinsReads : {true, false}) {
    std::optional<tiling::Run> run(std::in_place, facts, first, joinsReads);
    size_t numTileable = run->getTileable().size();
    // Short ones at each length.
    while (numTileable > 0 && endsAnywhere && run->getLength() <= kEachLength) {
      judge(*run, joinsReads);
      numTileable = grow(*run);
    }
    while (numTileable > 0 && (joinsReads || run->getLength() <= tiling::kMostOfTwoLoops)) {
      const unsigned length = run->getLength();
      if (isGoodLength(*run))
        judge(*run, joinsReads);
      // Of long runs, steps in which nothing ends are taken at once.
      if (length >= kManyInRun) {
        tiling::Run longer = *run;
        while (longer.getLength() % kEachLength != kEachLength - 1 &&
               !facts.isSeam(first + longer.getLength() + 1) && canGrow(longer) && longer.grow()) {
        }
        if (longer.getLength() > length && longer.getTileable().size() == numTileable)
          run.emplace(std::move(longer));
      }
      // A longer run is tried before it is known to be one; where fewer dims are left, the
      // shorter is the last of its kind. That is seldom: it is made again then.
      const bool isJudged = isGoodLength(*run);
      const unsigned before = run->getLength();
      const size_t left = grow(*run);
      if (left != std::exchange(numTileable, left) && !isJudged) {
        tiling::Run shorter = makeRun(joinsReads, before);
        judge(shorter, joinsReads);
      }
    }
  }
  // Two loops where most is left to be saved.
  std::stable_sort(runs.begin(), runs.end(), [&](const Known &a, const Known &b) {
    return std::tie(a.most.numImpossible, a.most.ns) > std::tie(b.most.numImpossible, b.most.ns);
  });
  for (size_t i = 0; i < runs.size() && (i < kMostOfRuns || facts.isThorough()); ++i) {
    if (!runs[i].most.isAsMuchAs(saved))
      break;
    tiling::Run run = makeRun(runs[i].joinsReads, runs[i].length);
    take(run.findBest(2, getLeast(first + runs[i].length - 1)));
  }
  return std::move(best);
}

/// Nests one after the other, each that which saves most by itself.
static std::vector<Nest> chooseGreedily(const tiling::Facts &facts) {
  const unsigned count = static_cast<unsigned>(facts.problem.ops.size());
  std::vector<std::optional<Nest>> found(count); // by first operation, where `isKnown`
  std::vector<bool> isKnown(count);
  NestSearch search(facts, [](unsigned) { return tiling::Saving(); });
  auto at = [&](unsigned first) -> std::optional<Nest> & {
    if (!isKnown[first])
      found[first] = search.find(first, count, {});
    isKnown[first] = true;
    return found[first];
  };
  std::vector<Nest> nests;
  for (unsigned first = 0; first < count;) {
    std::optional<Nest> &nest = at(first);
    // One that begins a little later may do without what disturbs this one.
    bool isBest = nest.has_value();
    if (nest && nest->last - first < tiling::kMostOfTwoLoops)
      for (unsigned later = first + 1; later < std::min(count, first + 1 + kLookahead); ++later)
        isBest &=
            later > nest->last || !at(later) || !getSaving(*at(later)).isMoreThan(getSaving(*nest));
    first = isBest ? nest->last + 1 : first + 1;
    if (isBest)
      nests.push_back(*nest);
  }
  return nests;
}

/// Operation \p number by itself, divided for device memory.
static Nest makeAlone(const tiling::Facts &facts, unsigned number) {
  const TilingOp &op = facts.problem.ops[number];
  const auto &[splits, ns] = facts.getOwnDivision(number);
  Nest nest;
  nest.first = nest.last = number;
  nest.ops.emplace_back();
  nest.ops.back().isApart = true;
  nest.ops.back().splits = splits;
  nest.untiledInNs = facts.getCostInNs(number, {}, op.splits, 0, /*reachesAll=*/false);
  nest.tiledInNs = ns;
  return nest;
}

/// A product with a division of its own, if that is worth what leaves the scratchpads with it.
static std::optional<Nest> findAlone(const tiling::Facts &facts, unsigned number) {
  const TilingOp &op = facts.problem.ops[number];
  if (op.macs == 0 || op.isFixed || op.carried || !op.division ||
      facts.getNumImpossible(number, number) > 0)
    return std::nullopt;
  Nest nest = makeAlone(facts, number);
  if (nest.ops.front().splits.empty())
    return std::nullopt;
  nest.untiledInNs = facts.getUntiledInNs(number, number);
  for (unsigned i = 0; i < op.operands.size(); ++i) {
    const unsigned value = op.operands[i].value;
    nest.tiledInNs += facts.getTrafficInNs(facts.getBytes({number, i}));
    if (facts.isResident[value])
      nest.tiledInNs += double(facts.numUses[value] - 1) *
                        double(facts.problem.values[value].sizeInBytes) /
                        facts.problem.memoryInBytesPerNs;
  }
  return nest.tiledInNs < tiling::kWorthwhile * nest.untiledInNs ? std::optional(nest)
                                                                 : std::nullopt;
}

/// The nests of operations \p begin .. \p end - 1 that save most together. \p beginsAnywhere: from
/// each operation on.
static std::vector<Nest> chooseBest(const tiling::Facts &facts, unsigned begin, unsigned end,
                                    bool beginsAnywhere) {
  std::vector<tiling::Saving> saved(end - begin + 1); // from each operation on
  std::vector<std::optional<Nest>> found(end - begin);
  NestSearch search(facts, [&](unsigned number) { return saved[number - begin]; });
  for (unsigned first = end; first-- > begin;) {
    tiling::Saving &mine = saved[first - begin];
    mine = saved[first - begin + 1];
    std::optional<Nest> &nest = found[first - begin];
    if (beginsAnywhere || first == begin || facts.isSeam(first))
      nest = search.find(first, end, mine, beginsAnywhere);
    if (nest)
      mine = getSaving(*nest) + saved[nest->last + 1 - begin];
    if (std::optional<Nest> alone = findAlone(facts, first);
        alone && (getSaving(*alone) + saved[first + 1 - begin]).isMoreThan(mine)) {
      mine = getSaving(*alone) + saved[first + 1 - begin];
      nest = std::move(alone);
    }
  }
  std::vector<Nest> nests;
  for (unsigned first = begin; first < end;) {
    std::optional<Nest> &nest = found[first - begin];
    first = nest ? nest->last + 1 : first + 1;
    if (nest)
      nests.push_back(std::move(*nest));
  }
  return nests;
}

/// \p found without the nests that \p isSettled is not true of, and the best of what lies between
/// the others: what was found, if that saves more.
static std::vector<Nest> chooseBetween(const tiling::Facts &facts, std::vector<Nest> found,
                                       const std::function<bool(const Nest &)> &isSettled) {
  std::vector<Nest> nests;
  unsigned begin = 0;
  auto within = found.begin();
  auto fill = [&](unsigned end, auto lastWithin) {
    std::vector<Nest> known(std::make_move_iterator(within), std::make_move_iterator(lastWithin));
    bool isFar = false, isLong = end - begin > kMostOfAllRuns;
    for (const Nest &nest : known) {
      isFar |= isFarFromLeast(nest);
      isLong |= nest.last - nest.first >= kMostOfAllInNest;
    }
    isLong &= !facts.isThorough();
    std::vector<Nest> best;
    if (!isLong || isFar)
      best = chooseBest(facts, begin, end, !isLong);
    if (isLong && getSaving(known).isAsMuchAs(getSaving(best)))
      best = std::move(known);
    nests.insert(nests.end(), std::make_move_iterator(best.begin()),
                 std::make_move_iterator(best.end()));
  };
  for (auto nest = found.begin(); nest != found.end(); ++nest) {
    if (!isSettled(*nest))
      continue;
    fill(nest->first, nest);
    begin = nest->last + 1;
    within = std::next(nest);
    nests.push_back(std::move(*nest));
  }
  fill(static_cast<unsigned>(facts.problem.ops.size()), found.end());
  return nests;
}

/// The nests that are worth it where values stay untiled as \p facts says.
static std::vector<Nest> chooseNests(const tiling::Facts &facts) {
  if (facts.problem.ops.empty())
    return {};
  // Nests that save most take longest to find. What lies between them is looked at from each
  // operation on.
  const double all = facts.getUntiledInNs(0, static_cast<unsigned>(facts.problem.ops.size()) - 1);
  return chooseBetween(facts, chooseGreedily(facts), [&](const Nest &nest) {
    if (facts.problem.secondsInAddition > 0 || isFarFromLeast(nest))
      return false;
    return nest.numTrips.size() == 2 || nest.numImpossible > 0 ||
           nest.last - nest.first >= tiling::kMostOfTwoLoops ||
           (!nest.numTrips.empty() && nest.untiledInNs - nest.tiledInNs > kShareOfSettled * all);
  });
}

/// Of each operation, whether it is in one of \p nests.
static std::vector<bool> findInNests(const TilingProblem &problem, const std::vector<Nest> &nests) {
  std::vector<bool> isInNest(problem.ops.size());
  for (const Nest &nest : nests)
    std::fill(isInNest.begin() + nest.first, isInNest.begin() + nest.last + 1, true);
  return isInNest;
}

/// \p nests where \p lost, which \p facts knows now, do not stay untiled: those that neither use
/// them nor stand beside operations in no nest that do are what they were.
static std::vector<Nest> chooseAgain(const tiling::Facts &facts, std::vector<Nest> nests,
                                     const std::vector<unsigned> &lost) {
  const std::vector<bool> isInNest = findInNests(facts.problem, nests);
  auto usesLost = [&](unsigned number) {
    const std::vector<TilingOperand> &operands = facts.problem.ops[number].operands;
    return std::any_of(operands.begin(), operands.end(), [&](const TilingOperand &operand) {
      return std::find(lost.begin(), lost.end(), operand.value) != lost.end();
    });
  };
  return chooseBetween(facts, std::move(nests), [&](const Nest &nest) {
    for (unsigned number = nest.first; number <= nest.last; ++number)
      if (usesLost(number))
        return false;
    for (unsigned before = nest.first; before-- > 0 && !isInNest[before];)
      if (usesLost(before))
        return false;
    for (unsigned after = nest.last + 1; after < isInNest.size() && !isInNest[after]; ++after)
      if (usesLost(after))
        return false;
    return true;
  });
}

/// Values that operations of \p nests or beside them expect in the scratchpads, and that some
/// other nest does not leave there.
static std::vector<unsigned> findLost(const tiling::Facts &facts, const std::vector<Nest> &nests) {
  const TilingProblem &problem = facts.problem;
  std::vector<unsigned> numStaying(problem.values.size());
  std::vector<bool> isExpected(problem.values.size());
  auto count = [&](unsigned number, auto stays) {
    for (const TilingOperand &operand : problem.ops[number].operands)
      if (stays(operand.value)) {
        ++numStaying[operand.value];
        isExpected[operand.value] = true;
      }
  };
  for (const Nest &nest : nests)
    for (unsigned number = nest.first; number <= nest.last; ++number)
      count(number, [&](unsigned value) {
        return std::find(nest.wholes.begin(), nest.wholes.end(), value) != nest.wholes.end();
      });
  const std::vector<bool> isInNest = findInNests(problem, nests);
  for (unsigned number = 0; number < problem.ops.size(); ++number)
    if (!isInNest[number])
      count(number, [&](unsigned value) { return facts.isResident[value]; });
  for (const Nest &nest : nests)
    for (unsigned value : nest.evicted)
      numStaying[value] = 0;
  std::vector<unsigned> lost;
  for (unsigned value = 0; value < problem.values.size(); ++value)
    if (isExpected[value] && numStaying[value] < facts.numUses[value])
      lost.push_back(value);
  return lost;
}

/// Operations outside of \p nests were divided for values in the scratchpads that \p nests have
/// no room for. Those that find nothing there are divided for device memory: each becomes a nest
/// of its own, with no loop.
static void divideAnew(const tiling::Facts &facts, std::vector<Nest> &nests) {
  const TilingProblem &problem = facts.problem;
  const std::vector<bool> isInNest = findInNests(problem, nests);
  std::vector<bool> isLost(problem.values.size());
  for (unsigned value : findLost(facts, nests))
    isLost[value] = true;
  std::vector<Nest> alone;
  for (unsigned number = 0; number < problem.ops.size(); ++number) {
    const TilingOp &op = problem.ops[number];
    if (isInNest[number] || op.isFixed || op.carried || !op.division ||
        std::any_of(op.operands.begin(), op.operands.end(), [&](const TilingOperand &operand) {
          return facts.isResident[operand.value] && !isLost[operand.value];
        }))
      continue;
    Nest nest = makeAlone(facts, number);
    if (!nest.ops.front().splits.empty() && nest.tiledInNs < tiling::kWorthwhile * nest.untiledInNs)
      alone.push_back(std::move(nest));
  }
  nests.insert(nests.end(), std::make_move_iterator(alone.begin()),
               std::make_move_iterator(alone.end()));
  std::sort(nests.begin(), nests.end(),
            [](const Nest &a, const Nest &b) { return a.first < b.first; });
}

/// \p pinned where values stay untiled as \p facts says.
static std::variant<std::vector<Nest>, std::vector<ScheduleError>>
findPinned(const tiling::Facts &facts, const std::vector<ScheduledNest> &pinned,
           const NamedDims &names) {
  const std::vector<TilingOp> &ops = facts.problem.ops;
  std::vector<Nest> nests;
  std::vector<ScheduleError> errors;
  for (size_t i = 0; i < pinned.size(); ++i) {
    const ScheduledNest &each = pinned[i];
    const std::string field = "nests[" + std::to_string(i) + "]";
    if (each.last >= ops.size()) {
      errors.push_back(
          {field + ".last", "there are " + std::to_string(ops.size()) + " operations"});
      continue;
    }
    const auto fixed = std::find_if(ops.begin() + each.first, ops.begin() + each.last + 1,
                                    [](const TilingOp &op) { return op.isFixed || !op.division; });
    if (fixed - ops.begin() <= each.last) {
      errors.push_back({field, "operation " + std::to_string(fixed - ops.begin()) +
                                   " takes no part in nests (it gathers, or reads other bits)"});
      continue;
    }
    if (each.isAlone) {
      nests.push_back(makeAlone(facts, each.first));
      if (nests.back().ops.front().splits.empty())
        errors.push_back({field, "the operation has no legal division over the cores"});
      continue;
    }
    // Dims that are only read together may be one dim or two.
    std::variant<Nest, ScheduleError> found;
    for (bool joinsReads : {true, false}) {
      tiling::Run run(facts, each.first, joinsReads);
      while (run.getLength() < each.last - each.first + 1 && run.grow()) {
      }
      if (!joinsReads && !run.hasSeparated())
        break;
      auto nest = run.findPinned(each, names);
      const Nest *other = std::get_if<Nest>(&nest), *known = std::get_if<Nest>(&found);
      if (joinsReads || (other && (!known || other->tiledInNs < known->tiledInNs)))
        found = std::move(nest);
    }
    if (auto *error = std::get_if<ScheduleError>(&found))
      errors.push_back({field + error->field, error->message});
    else
      nests.push_back(std::move(std::get<Nest>(found)));
  }
  if (!errors.empty())
    return errors;
  return nests;
}

std::variant<std::vector<Nest>, std::vector<ScheduleError>>
findNests(const TilingProblem &problem, const std::vector<ScheduledNest> &pinned,
          const NamedDims &names, const std::optional<std::vector<unsigned>> &known,
          std::vector<unsigned> *allLost) {
  tiling::Facts facts(problem);
  if (known)
    facts.setLost(*known);
  if (allLost)
    *allLost = known.value_or(std::vector<unsigned>());
  auto nests = findPinned(facts, pinned, names);
  for (unsigned round = 1; !known && round < kMostRounds && nests.index() == 0; ++round) {
    std::vector<unsigned> lost = findLost(facts, std::get<0>(nests));
    if (lost.empty())
      break;
    facts.setLost(lost);
    if (allLost)
      allLost->insert(allLost->end(), lost.begin(), lost.end());
    nests = findPinned(facts, pinned, names);
  }
  return nests;
}

std::vector<Nest> findNests(const TilingProblem &problem, std::vector<unsigned> *allLost) {
  tiling::Facts facts(problem);
  if (allLost)
    allLost->clear();
  std::vector<Nest> nests = chooseNests(facts);
  if (problem.seed)
    return nests;
  // What nests do away with others counted on: they are chosen anew without it.
  for (unsigned round = 1; round < kMostRounds; ++round) {
    std::vector<unsigned> lost = findLost(facts, nests);
    if (lost.empty())
      break;
    facts.setLost(lost);
    if (allLost)
      allLost->insert(allLost->end(), lost.begin(), lost.end());
    nests = chooseAgain(facts, std::move(nests), lost);
  }
  divideAnew(facts, nests);
  return nests;
}

} // namespace spyre::planning
