//===- WorkDivision.cpp - Which core computes what ------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two solvers over the same rules: the published heuristic (span reduction, matmul
// cost, default distribution: docs/formats/superdsc-rules.md, e.6), and the best of
// all legal splits by a cost function.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/WorkDivision.h"

#include <algorithm>
#include <numeric>

namespace spyre::planning {

namespace {

/// Slice counts that \p dim may have on its own, ascending.
std::vector<int64_t> getChoices(const DivisionProblem &problem, const DivisionDim &dim) {
  int64_t units = getNumUnits(dim);
  bool isPadded =
      problem.kind == OperationKind::Restickify && dim.extent % dim.elementsPerStick != 0;
  if (dim.requiredSplit > 0)
    return {dim.requiredSplit};
  // A restickify pads what is no multiple of the stick, in memory and iteration.
  if (problem.kind == OperationKind::SingleCore || !dim.maySplit || isPadded)
    return {1};
  std::vector<int64_t> choices;
  for (int64_t split = 1; split <= std::min(units, problem.maxCores); ++split)
    if (units % split == 0)
      choices.push_back(split);
  return choices;
}

/// A dim's largest choice that is at most \p limit.
int64_t getLargestChoice(const std::vector<int64_t> &choices, int64_t limit) {
  auto it = std::upper_bound(choices.begin(), choices.end(), limit);
  return it == choices.begin() ? 1 : *std::prev(it);
}

/// Calls \p visit for every combination of \p choices with a product <= \p
/// maxCores, lexicographically.
template <typename Visit>
void forEachCombination(const std::vector<std::vector<int64_t>> &choices, int64_t maxCores,
                        Splits &current, int64_t product, Visit &&visit) {
  size_t i = current.size();
  if (i == choices.size()) {
    visit(current);
    return;
  }
  for (int64_t split : choices[i]) {
    if (product * split > maxCores)
      break;
    current.push_back(split);
    forEachCombination(choices, maxCores, current, product * split, visit);
    current.pop_back();
  }
}

/// Cheap and usual: the whole operand is within the limit.
bool isSmall(const DivisionProblem &problem, const DivisionOperand &operand) {
  int64_t bytes = operand.bytesPerElement;
  for (int64_t size : operand.deviceSizes)
    bytes *= size;
  return bytes <= problem.spanLimitInBytes;
}

bool hasLegalSpan(const DivisionProblem &problem, const DivisionOperand &operand,
                  const Splits &splits) {
  return problem.spanLimitInBytes <= 0 || !operand.isInDeviceMemory || isSmall(problem, operand) ||
         getSpanInBytes(problem, operand, splits) <= problem.spanLimitInBytes;
}

bool hasLegalSpans(const DivisionProblem &problem, const Splits &splits) {
  return std::all_of(
      problem.operands.begin(), problem.operands.end(),
      [&](const DivisionOperand &operand) { return hasLegalSpan(problem, operand, splits); });
}

bool hasLegalReductions(const DivisionProblem &problem, const Splits &splits) {
  int numSplit = 0;
  for (size_t i = 0; i < splits.size(); ++i)
    numSplit += problem.dims[i].isReduced && splits[i] > 1;
  return numSplit <= 1;
}

class Heuristic {
public:
  Heuristic(const DivisionProblem &problem, const DivisionOptions &options)
      : problem(problem), options(options), splits(problem.dims.size(), 1),
        committed(problem.dims.size(), false) {
    for (const DivisionDim &dim : problem.dims)
      choices.push_back(getChoices(problem, dim));
    for (size_t i = 0; i < splits.size(); ++i) {
      if (problem.dims[i].requiredSplit > 0) {
        splits[i] = problem.dims[i].requiredSplit;
        committed[i] = true;
      }
    }
  }

  Splits run() {
    reduceSpans();
    Splits distributed = distribute();
    if (problem.kind != OperationKind::Matmul || !options.cost ||
        std::find(committed.begin(), committed.end(), true) != committed.end())
      return distributed;
    std::optional<Splits> best = searchMatmul();
    if (best && getNumCores(*best) >= getNumCores(distributed))
      return *best;
    return distributed;
  }

private:
  /// Commits splits of outer device dims until every operand's span is legal, or
  /// nothing helps (verify will say so).
  void reduceSpans() {
    if (problem.spanLimitInBytes <= 0)
      return;
    for (const DivisionOperand &operand : problem.operands) {
      if (!operand.isInDeviceMemory || isSmall(problem, operand))
        continue;
      size_t outer = operand.deviceSizes.size() - operand.stickRank;
      for (size_t i = 0; i < outer; ++i) {
        if (getSpanInBytes(problem, operand, splits) <= problem.spanLimitInBytes)
          break;
        splitForSpan(operand, i);
      }
    }
  }

  void splitForSpan(const DivisionOperand &operand, size_t coordinate) {
    std::vector<std::vector<int64_t>> combinations;
    for (size_t dim = 0; dim < splits.size(); ++dim) {
      bool isFree = layout::dependsOn(operand.deviceCoordinates.results[coordinate], dim) &&
                    problem.dims[dim].requiredSplit == 0;
      if (!isFree) {
        combinations.push_back({splits[dim]});
        continue;
      }
      auto first = std::lower_bound(choices[dim].begin(), choices[dim].end(), splits[dim]);
      combinations.emplace_back(first, choices[dim].end());
    }
    // The largest span within the limit, else the smallest above it.
    std::optional<Splits> best;
    int64_t bestSpan = 0;
    Splits current;
    forEachCombination(combinations, problem.maxCores, current, 1, [&](const Splits &candidate) {
      if (!hasLegalReductions(problem, candidate))
        return;
      int64_t span = getSpanInBytes(problem, operand, candidate);
      bool fits = span <= problem.spanLimitInBytes;
      bool bestFits = best && bestSpan <= problem.spanLimitInBytes;
      if (!best || (fits && (!bestFits || span > bestSpan)) ||
          (!fits && !bestFits && span < bestSpan)) {
        best = candidate;
        bestSpan = span;
      }
    });
    if (!best)
      return;
    for (size_t dim = 0; dim < splits.size(); ++dim)
      committed[dim] = committed[dim] || (*best)[dim] > 1;
    splits = *best;
  }

  /// Dims of the output's coordinates outside the stick by decreasing size take
  /// what they can get, then one reduced dim.
  Splits distribute() const {
    Splits result = splits;
    int64_t remaining = problem.maxCores / std::max<int64_t>(1, getNumCores(splits));
    std::vector<size_t> order;
    for (size_t dim = 0; dim < result.size(); ++dim)
      if (!committed[dim] && !problem.dims[dim].isReduced)
        order.push_back(dim);
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      int64_t unitsOfA = getNumUnits(problem.dims[a]), unitsOfB = getNumUnits(problem.dims[b]);
      return unitsOfA != unitsOfB ? unitsOfA > unitsOfB : a < b;
    });
    for (size_t dim : order) {
      result[dim] = getLargestChoice(choices[dim], remaining);
      remaining /= result[dim];
    }
    if (!hasLegalReductions(problem, result))
      return result;
    std::optional<size_t> reduced;
    int64_t largest = 1;
    for (size_t dim = 0; dim < result.size(); ++dim) {
      if (!problem.dims[dim].isReduced)
        continue;
      if (result[dim] > 1)
        return result; // one is committed
      int64_t split = getLargestChoice(choices[dim], remaining);
      if (split > largest && !committed[dim]) {
        reduced = dim;
        largest = split;
      }
    }
    if (reduced)
      result[*reduced] = largest;
    return result;
  }

  /// The cheapest split of a matmul with exactly one M, N and K; batch, M, N, K
  /// outermost first, the first minimum.
  std::optional<Splits> searchMatmul() const {
    std::vector<size_t> order;
    for (MatmulRole role : {MatmulRole::Batch, MatmulRole::M, MatmulRole::N, MatmulRole::K}) {
      size_t count = 0;
      for (size_t dim = 0; dim < splits.size(); ++dim) {
        if (problem.dims[dim].role != role)
          continue;
        order.push_back(dim);
        ++count;
      }
      if (role != MatmulRole::Batch && count != 1)
        return std::nullopt;
    }
    if (order.size() != splits.size())
      return std::nullopt;
    std::vector<std::vector<int64_t>> ordered;
    for (size_t dim : order)
      ordered.push_back(choices[dim]);
    std::optional<Splits> best;
    double bestCost = 0;
    Splits current;
    forEachCombination(ordered, problem.maxCores, current, 1, [&](const Splits &candidate) {
      Splits natural(candidate.size());
      for (size_t i = 0; i < order.size(); ++i)
        natural[order[i]] = candidate[i];
      if (!hasLegalSpans(problem, natural))
        return;
      double cost = options.cost(problem, natural);
      if (!best || cost < bestCost) {
        best = natural;
        bestCost = cost;
      }
    });
    return best;
  }

  const DivisionProblem &problem;
  const DivisionOptions &options;
  std::vector<std::vector<int64_t>> choices;
  Splits splits;
  std::vector<bool> committed;
};

std::string join(const Splits &splits) {
  std::string text;
  for (int64_t split : splits)
    text += (text.empty() ? "" : ", ") + std::to_string(split);
  return "[" + text + "]";
}

} // namespace

std::vector<std::string> check(const DivisionProblem &problem) {
  std::vector<std::string> errors;
  if (problem.maxCores < 1)
    errors.push_back("there must be at least one core");
  for (size_t i = 0; i < problem.dims.size(); ++i) {
    const DivisionDim &dim = problem.dims[i];
    std::string name = "dim " + std::to_string(i);
    if (dim.extent < 1)
      errors.push_back(name + " has extent " + std::to_string(dim.extent));
    if (dim.elementsPerStick < 1)
      errors.push_back(name + " has " + std::to_string(dim.elementsPerStick) +
                       " elements in a stick");
    if (dim.requiredSplit < 0)
      errors.push_back(name + " is asked to be split by " + std::to_string(dim.requiredSplit));
  }
  for (size_t i = 0; i < problem.operands.size(); ++i) {
    const DivisionOperand &operand = problem.operands[i];
    std::string name = "operand " + std::to_string(i);
    if (operand.deviceCoordinates.extents.size() < problem.dims.size())
      errors.push_back(name + " has coordinates over " +
                       std::to_string(operand.deviceCoordinates.extents.size()) + " dims, not " +
                       std::to_string(problem.dims.size()));
    if (operand.deviceCoordinates.results.size() != operand.deviceSizes.size())
      errors.push_back(name + " has as many coordinates as device sizes");
    if (operand.stickRank < 1 || operand.stickRank > operand.deviceSizes.size())
      errors.push_back(name + " has a stick of " + std::to_string(operand.stickRank) + " dims");
    if (operand.bytesPerElement < 1)
      errors.push_back(name + " has elements of " + std::to_string(operand.bytesPerElement) +
                       " bytes");
    for (int64_t size : operand.deviceSizes)
      if (size < 1)
        errors.push_back(name + " has a device size of " + std::to_string(size));
  }
  return errors;
}

std::vector<std::string> verify(const DivisionProblem &problem, const Splits &splits) {
  std::vector<std::string> errors = check(problem);
  if (!errors.empty())
    return errors;
  if (splits.size() != problem.dims.size())
    return {std::to_string(splits.size()) + " splits for " + std::to_string(problem.dims.size()) +
            " dims"};
  for (size_t i = 0; i < splits.size(); ++i) {
    const DivisionDim &dim = problem.dims[i];
    std::string name = "dim " + std::to_string(i);
    if (splits[i] < 1)
      return {name + " has " + std::to_string(splits[i]) + " slices"};
    int64_t units = getNumUnits(dim);
    if (units % splits[i] != 0)
      errors.push_back(name + " of " + std::to_string(units) +
                       (dim.elementsPerStick > 1 ? " sticks" : " elements") +
                       " cannot be cut into " + std::to_string(splits[i]) + " equal slices");
    if (dim.requiredSplit > 0 && splits[i] != dim.requiredSplit)
      errors.push_back(name + " is to be split by " + std::to_string(dim.requiredSplit) +
                       ", not by " + std::to_string(splits[i]));
    if (splits[i] > 1 && problem.kind == OperationKind::SingleCore)
      errors.push_back(name + " is split, but the operation runs on one core");
    else if (splits[i] > 1 && !dim.maySplit)
      errors.push_back(name + " must not be split");
    else if (splits[i] > 1 && problem.kind == OperationKind::Restickify &&
             dim.extent % dim.elementsPerStick != 0)
      errors.push_back(name + " is padded by the restickify and must not be split");
  }
  if (getNumCores(splits) > problem.maxCores)
    errors.push_back("splits " + join(splits) + " need " + std::to_string(getNumCores(splits)) +
                     " cores, there are " + std::to_string(problem.maxCores));
  if (!hasLegalReductions(problem, splits))
    errors.push_back("more than one reduced dim is split");
  if (!errors.empty())
    return errors;
  for (size_t i = 0; i < problem.operands.size(); ++i)
    if (const DivisionOperand &operand = problem.operands[i];
        !hasLegalSpan(problem, operand, splits))
      errors.push_back("one core spans " +
                       std::to_string(getSpanInBytes(problem, operand, splits)) +
                       " bytes of operand " + std::to_string(i) + ", the limit is " +
                       std::to_string(problem.spanLimitInBytes));
  return errors;
}

std::vector<Splits> enumerateSplits(const DivisionProblem &problem) {
  std::vector<std::vector<int64_t>> choices;
  for (const DivisionDim &dim : problem.dims)
    choices.push_back(getChoices(problem, dim));
  std::vector<Splits> found;
  // A required split may be illegal; then nothing is.
  for (size_t i = 0; i < choices.size(); ++i)
    if (int64_t required = problem.dims[i].requiredSplit)
      if (getNumUnits(problem.dims[i]) % required != 0 ||
          (required > 1 &&
           (problem.kind == OperationKind::SingleCore || !problem.dims[i].maySplit)))
        return found;
  Splits current;
  forEachCombination(choices, problem.maxCores, current, 1, [&](const Splits &splits) {
    if (hasLegalReductions(problem, splits) && hasLegalSpans(problem, splits))
      found.push_back(splits);
  });
  return found;
}

std::variant<DivisionPlan, DivisionError> divide(const DivisionProblem &problem,
                                                 const DivisionOptions &options) {
  if (std::vector<std::string> errors = check(problem); !errors.empty())
    return DivisionError{errors.front()};

  auto finish = [&](Splits splits) {
    DivisionPlan plan;
    plan.cost = options.cost ? options.cost(problem, splits) : 0;
    plan.numCores = getNumCores(splits);
    plan.kFast = wantsKFast(problem, splits);
    plan.splits = std::move(splits);
    return plan;
  };

  Splits heuristic = Heuristic(problem, options).run();
  if (!options.exhaustive || !options.cost)
    if (verify(problem, heuristic).empty() && (!options.accept || options.accept(heuristic)))
      return finish(std::move(heuristic));

  // The cheapest legal split; of equals the one with most cores, then the
  // heuristic's (neighbours tend to agree with it), then the first. Without a cost
  // (a heuristic answer that was refused) the least work per core wins.
  std::vector<Splits> candidates = enumerateSplits(problem);
  std::vector<double> costs;
  for (const Splits &splits : candidates)
    costs.push_back(options.cost ? options.cost(problem, splits)
                                 : static_cast<double>(getPointsPerCore(problem, splits)));
  std::vector<size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (costs[a] != costs[b])
      return costs[a] < costs[b];
    int64_t coresOfA = getNumCores(candidates[a]), coresOfB = getNumCores(candidates[b]);
    if (coresOfA != coresOfB)
      return coresOfA > coresOfB;
    bool isHeuristicA = candidates[a] == heuristic, isHeuristicB = candidates[b] == heuristic;
    return isHeuristicA != isHeuristicB ? isHeuristicA : a < b;
  });
  for (size_t i : order)
    if (!options.accept || options.accept(candidates[i]))
      return finish(candidates[i]);

  if (!candidates.empty())
    return DivisionError{"none of the " + std::to_string(candidates.size()) +
                         " legal work divisions is acceptable"};
  // Name a reason: what is wrong with what the heuristic would do.
  std::vector<std::string> errors = verify(problem, heuristic);
  return DivisionError{"no legal work division: " +
                       (errors.empty() ? std::string("nothing fits") : errors.front())};
}

std::vector<Cut> proposeCuts(const DivisionProblem &problem) {
  std::vector<Cut> cuts;
  if (problem.kind == OperationKind::SingleCore)
    return cuts;
  for (int64_t parts = problem.maxCores; parts > 1; parts /= 2)
    for (unsigned d = 0; d < problem.dims.size(); ++d) {
      const DivisionDim &dim = problem.dims[d];
      int64_t units = getNumUnits(dim), place = units / parts * parts * dim.elementsPerStick;
      if (dim.isReduced || !dim.maySplit || dim.requiredSplit || place == 0 || units % parts == 0)
        continue;
      if (Cut cut{d, place}; std::find(cuts.begin(), cuts.end(), cut) == cuts.end())
        cuts.push_back(cut);
    }
  return cuts;
}

} // namespace spyre::planning
