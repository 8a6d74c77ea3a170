//===- FastPath.cpp - Walking work slices stick by stick --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// When results may be stored while others are still being computed: if no core
// reads what another one writes, no two write the same, and a core that writes over
// its own operand does so element by element.
//
//===----------------------------------------------------------------------===//

#include "FastPath.h"

#include <cassert>

using namespace spyre;
using namespace spyre::runtime;

void Walk::finish(int numOperands, bool merge) {
  std::sort(levels.begin(), levels.end(),
            [](const Level &a, const Level &b) { return a.stride[0] > b.stride[0]; });
  std::vector<Level> kept;
  for (const Level &level : levels) {
    if (level.extent == 1 && merge)
      continue;
    bool joins = merge && !kept.empty();
    for (int i = 0; joins && i < numOperands; ++i)
      joins = kept.back().stride[i] == level.stride[i] * level.extent;
    if (!joins) {
      kept.push_back(level);
      continue;
    }
    int64_t extent = kept.back().extent * level.extent;
    kept.back() = level;
    kept.back().extent = extent;
    kept.back().dim = -1;
  }
  if (kept.empty())
    kept.emplace_back();
  levels = std::move(kept);
}

bool spyre::runtime::haveSameSteps(const Operand &a, const Operand &b) {
  if (a.width != b.width || a.dims.size() != b.dims.size())
    return false;
  for (size_t dim = 0; dim < a.dims.size(); ++dim) {
    const OperandDim &p = a.dims[dim], &q = b.dims[dim];
    if (p.extent != q.extent || p.inStick != q.inStick || p.laneStride != q.laneStride ||
        p.perStick != q.perStick || p.limit != q.limit)
      return false;
    if (p.unit != q.unit && (p.extent > 1 && !(p.inStick && p.extent <= p.perStick)))
      return false;
  }
  return true;
}

static int64_t floorDiv(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

std::vector<std::pair<int64_t, int64_t>> spyre::runtime::getSteps(const Operand &operand) {
  std::vector<std::pair<int64_t, int64_t>> steps;
  for (const OperandDim &dim : operand.dims) {
    int64_t count = dim.inStick ? (dim.extent + dim.perStick - 1) / dim.perStick : dim.extent;
    if (dim.unit > 0 && count > 1)
      steps.emplace_back(dim.unit, count);
  }
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

OverlapTest::OverlapTest(const Operand &a, const Operand &b)
    : endA(a.endOffset), endB(b.endOffset), sameSteps(haveSameSteps(a, b)) {
  if (!sameSteps)
    return;
  steps = getSteps(a);
  spans.assign(steps.size() + 1, kStickInBytes);
  for (size_t i = steps.size(); i-- > 0;)
    spans[i] = spans[i + 1] + (steps[i].second - 1) * steps[i].first;
}

/// Whether two sets of sticks with the same steps meet, the second \p distance bytes
/// behind the first; \p budget bounds the search.
bool OverlapTest::meet(size_t level, int64_t distance, int &budget) const {
  if (--budget < 0)
    return true;
  if (std::abs(distance) >= spans[level])
    return false;
  if (level == steps.size())
    return true;
  auto [unit, count] = steps[level];
  // Only steps that bring the rest within its span.
  int64_t rest = spans[level + 1] - 1;
  int64_t first = std::max(-(count - 1), floorDiv(distance - rest + unit - 1, unit));
  int64_t last = std::min(count - 1, floorDiv(distance + rest, unit));
  for (int64_t q = first; q <= last; ++q)
    if (meet(level + 1, distance - q * unit, budget))
      return true;
  return false;
}

bool OverlapTest::mayOverlap(int64_t startA, int64_t startB) const {
  if (startA + endA <= startB || startB + endB <= startA)
    return false;
  if (!sameSteps)
    return true;
  int budget = 10000;
  return meet(0, startB - startA, budget);
}

bool spyre::runtime::hasPlainSteps(const Operand &operand, int dim) {
  for (int other = 0; other < int(operand.dims.size()); ++other)
    if (other != dim && operand.dims[other].inStick && operand.dims[other].extent > 1)
      return false;
  return !operand.isPartial && operand.indirectDim < 0;
}

bool spyre::runtime::hasWholeSticks(const Operand &operand, int dim, int64_t length,
                                    int64_t lanes) {
  const OperandDim &entry = operand.dims[dim];
  return entry.inStick && entry.laneStride == operand.width &&
         entry.perStick * operand.width == kStickInBytes && hasPlainSteps(operand, dim) &&
         (length + entry.perStick - 1) / entry.perStick * entry.perStick >= lanes;
}

namespace {

/// All addresses of an operand, over all cores.
struct Range {
  int64_t begin, end;
  explicit Range(const Operand &operand)
      : begin(*std::min_element(operand.start.begin(), operand.start.end())),
        end(*std::max_element(operand.start.begin(), operand.start.end()) + operand.endOffset) {}
  bool meets(const Range &other) const { return begin < other.end && other.begin < end; }
};

/// Whether a core's \p a and another core's \p b may share a stick; with
/// \p sameCore also those of one core.
bool mayMeet(const Operand &a, const Operand &b, bool sameCore) {
  if (a.isLX() != b.isLX())
    return false;
  // Which rows a gather reads is not known before it runs.
  if (a.indirectDim >= 0 || b.indirectDim >= 0)
    return true;
  size_t countA = a.start.size(), countB = b.start.size();
  if (a.isLX()) {
    if (!sameCore)
      return false;
    OverlapTest test(a, b);
    for (size_t core = 0; core < std::min(countA, countB); ++core)
      if (test.mayOverlap(a.start[core], b.start[core]))
        return true;
    return false;
  }
  if (!Range(a).meets(Range(b)))
    return false;
  OverlapTest test(a, b);
  for (size_t i = 0; i < countA; ++i)
    for (size_t j = 0; j < countB; ++j)
      if ((i != j || sameCore) && test.mayOverlap(a.start[i], b.start[j]))
        return true;
  return false;
}

} // namespace

bool spyre::runtime::mayMeetOnOneCore(const Operand &a, const Operand &b) {
  if (a.isLX() == b.isLX() && (a.indirectDim >= 0 || b.indirectDim >= 0))
    return true;
  if (a.isLX() != b.isLX() || (!a.isLX() && !Range(a).meets(Range(b))))
    return false;
  OverlapTest test(a, b);
  for (size_t core = 0; core < std::min(a.start.size(), b.start.size()); ++core)
    if (test.mayOverlap(a.start[core], b.start[core]))
      return true;
  return false;
}

bool spyre::runtime::mayMeetOnAnyCore(const Operand &a, const Operand &b) {
  if (a.isLX() != b.isLX())
    return false;
  // Which rows a gather reads is not known before it runs.
  return a.indirectDim >= 0 || b.indirectDim >= 0 || Range(a).meets(Range(b));
}

bool Execution::canStoreDirectly(bool inPlace) const {
  if (isReplanned)
    return true;
  const Operand &out = operands[output];
  if (mayMeet(out, out, /*sameCore=*/false))
    return false;
  for (const Operand &in : operands) {
    if (in.position == output)
      continue;
    // The same places on every core: only its own core reads what is written, and
    // no two cores write the same.
    if (inPlace && haveSameSteps(in, out) && in.isLX() == out.isLX() && in.start == out.start)
      continue;
    if (mayMeet(in, out, /*sameCore=*/true))
      return false;
  }
  return true;
}

bool Execution::canFollow(const Execution &earlier) const {
  for (const Operand &mine : operands)
    for (const Operand &theirs : earlier.operands) {
      bool iWrite = mine.position == output, theyWrite = theirs.position == earlier.output;
      if (!iWrite && !theyWrite)
        continue;
      // No two cores write the same, so the same places are no other core's.
      if (mine.isLX() == theirs.isLX() && mine.start == theirs.start && haveSameSteps(mine, theirs))
        continue;
      if (mayMeet(mine, theirs, /*sameCore=*/false))
        return false;
    }
  return true;
}

bool Execution::isIndependentOf(const Execution &other) const {
  for (const Operand &mine : operands)
    for (const Operand &theirs : other.operands)
      if ((mine.position == output || theirs.position == other.output) &&
          mayMeet(mine, theirs, /*sameCore=*/true))
        return false;
  return true;
}

void Execution::setLocal(size_t k, std::span<const std::pair<int64_t, int64_t>> units) {
  Operand &operand = operands[k < inputs.size() ? inputs[k] : output];
  operand.isLocal = true;
  for (OperandDim &dim : operand.dims)
    for (auto [from, to] : units)
      if (dim.unit == from) {
        dim.unit = to;
        break;
      }
}

void Execution::cut(int dim, int64_t pieces) {
  if (dim >= 0) {
    cutDim = dim;
    numPieces = pieces;
    coreSizes[dim] /= pieces;
    numRows /= pieces;
    for (Operand &operand : operands) {
      OperandDim &entry = operand.dims[dim];
      bool moves = operand.has(dim);
      if (moves)
        entry.extent /= pieces;
      std::vector<uint8_t *> data;
      for (uint8_t *begin : operand.data)
        for (int64_t piece = 0; piece < pieces; ++piece)
          data.push_back(begin + (moves ? piece * entry.extent * entry.unit : 0));
      operand.data = std::move(data);
    }
    numCores *= static_cast<int>(pieces);
  }
  isReplanned = true;
  work = {};
  planFast();
  assert(work.run && "what was planned before can be planned for less");
}

bool Execution::mayRunFast() const {
  return !emulator.options.checked && !emulator.options.generalPathOnly && d.opFunc != "shuffle";
}

void Execution::planFast() {
  if (!mayRunFast())
    return;
  switch (kernel->structure) {
  case Structure::Pointwise:
    planFastPointwise();
    break;
  case Structure::Copy:
    planFastCopy();
    break;
  case Structure::Reduction:
  case Structure::Exx2:
    planFastReduction();
    break;
  default:
    break;
  }
}

void Execution::runPlan() {
  int64_t pieces = std::max<int64_t>(1, (work.places + work.placesPerJob - 1) / work.placesPerJob);
  emulator.pool.run(numCores * pieces, [&](int64_t i) {
    int64_t begin = i % pieces * work.placesPerJob;
    work.run(static_cast<int>(i / pieces), begin, std::min(begin + work.placesPerJob, work.places));
  });
}
