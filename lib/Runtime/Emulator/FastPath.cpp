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

namespace {

struct Steps {
  int64_t unit, count;
};

/// Steps of whole sticks, large ones first.
std::vector<Steps> getSteps(const Operand &operand) {
  std::vector<Steps> steps;
  for (const OperandDim &dim : operand.dims) {
    int64_t count = dim.inStick ? (dim.extent + dim.perStick - 1) / dim.perStick : dim.extent;
    if (dim.unit > 0 && count > 1)
      steps.push_back({dim.unit, count});
  }
  std::sort(steps.begin(), steps.end(),
            [](const Steps &a, const Steps &b) { return a.unit > b.unit; });
  return steps;
}

int64_t floorDiv(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

/// Whether two sets of sticks with the same steps meet, the second \p distance bytes
/// behind the first; \p budget bounds the search.
bool meet(const std::vector<Steps> &steps, const std::vector<int64_t> &spans, size_t level,
          int64_t distance, int &budget) {
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
    if (meet(steps, spans, level + 1, distance - q * unit, budget))
      return true;
  return false;
}

} // namespace

bool spyre::runtime::mayOverlap(const Operand &a, int64_t startA, const Operand &b,
                                int64_t startB) {
  if (startA + a.endOffset <= startB || startB + b.endOffset <= startA)
    return false;
  if (!haveSameSteps(a, b))
    return true;
  std::vector<Steps> steps = getSteps(a);
  // Span of what the steps from a level on reach.
  std::vector<int64_t> spans(steps.size() + 1, kStickInBytes);
  for (size_t i = steps.size(); i-- > 0;)
    spans[i] = spans[i + 1] + (steps[i].count - 1) * steps[i].unit;
  int budget = 10000;
  return meet(steps, spans, 0, startB - startA, budget);
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

bool Execution::canStoreDirectly(bool inPlace) const {
  const Operand &out = operands[output];
  for (int core = 0; core < numCores; ++core)
    for (int other = 0; other < core; ++other)
      if (out.block[core] == out.block[other] &&
          mayOverlap(out, out.start[core], out, out.start[other]))
        return false;
  for (const Operand &in : operands) {
    if (in.position == output)
      continue;
    bool sameSteps = inPlace && haveSameSteps(in, out);
    for (int reader = 0; reader < numCores; ++reader)
      for (int writer = 0; writer < numCores; ++writer) {
        if (in.block[reader] != out.block[writer])
          continue;
        if (sameSteps && reader == writer && in.start[reader] == out.start[writer])
          continue;
        if (mayOverlap(in, in.start[reader], out, out.start[writer]))
          return false;
      }
  }
  return true;
}

/// Computes and stores the whole descriptor, or does nothing and returns false.
bool Execution::runFast() {
  if (emulator.options.checked || emulator.options.generalPathOnly || d.opFunc == "shuffle")
    return false;
  switch (kernel->structure) {
  case Structure::Pointwise:
    return runFastPointwise();
  case Structure::Copy:
    return runFastCopy();
  case Structure::Matmul:
    return runFastMatmul();
  default:
    return false;
  }
}
