//===- TimeAxis.cpp - Operations and loops over modelled time ---*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "TimeAxis.h"
#include "Text.h"

#include <algorithm>
#include <cmath>

using namespace spyre;
using namespace spyre::report;

/// What is narrower is drawn together with its neighbours.
static constexpr double kNarrowest = 3;
static constexpr double kBracketHeight = 18;
/// Brackets that are narrower, or stand deeper, are left to the table of loops.
static constexpr double kNarrowestBracket = 4;
static constexpr int64_t kDeepest = 4;

TimeAxis::TimeAxis(const Function &function, double left, double right) : function(function) {
  constexpr double kWidestSliver = 14, kShareOfSlivers = 0.35;
  const double numOps = double(std::max<size_t>(1, function.operations.size()));
  times.push_back(0);
  for (const Operation &op : function.operations)
    times.push_back(times.back() +
                    op.getTimeInNs() / double(std::max<int64_t>(1, function.numLaunches)));
  const bool hasTime = times.back() > 0;
  const double sliver = hasTime ? std::min(kWidestSliver, kShareOfSlivers * (right - left) / numOps)
                                : (right - left) / numOps;
  const double perNs = hasTime ? (right - left - sliver * numOps) / times.back() : 0;
  for (size_t i = 0; i < times.size(); ++i)
    edges.push_back(left + sliver * double(i) + perNs * times[i]);

  for (int64_t op = 0; op + 1 < int64_t(edges.size()); ++op) {
    const bool isNarrow = getEnd(op) - getBegin(op) < kNarrowest;
    if (isNarrow && !slots.empty() && slots.back().end - slots.back().begin < kNarrowest) {
      slots.back().last = op;
      slots.back().end = getEnd(op);
    } else {
      slots.push_back({op, op, getBegin(op), getEnd(op)});
    }
  }
}

int64_t TimeAxis::getLongest(const Slot &slot) const {
  int64_t longest = slot.first;
  for (int64_t op = slot.first; op <= slot.last; ++op)
    if (getTimeOf(op) > getTimeOf(longest))
      longest = op;
  return longest;
}

std::string TimeAxis::describe(const Slot &slot) const {
  if (slot.first == slot.last)
    return report::describe(function.operations[size_t(slot.first)], slot.first);
  const int64_t longest = getLongest(slot);
  double ns = 0;
  for (int64_t op = slot.first; op <= slot.last; ++op)
    ns += function.operations[size_t(op)].getTimeInNs();
  return counted(size_t(slot.last - slot.first + 1), "operation") + " from #" +
         std::to_string(slot.first) + " to #" + std::to_string(slot.last) + ": " +
         microseconds(ns) + " µs; the longest is " +
         report::describe(function.operations[size_t(longest)], longest);
}

double TimeAxis::toPixels(double ns) const {
  size_t op = size_t(std::upper_bound(times.begin(), times.end(), ns) - times.begin());
  op = std::min(std::max<size_t>(op, 1), times.size() - 1);
  const double share =
      times[op] > times[op - 1] ? (ns - times[op - 1]) / (times[op] - times[op - 1]) : 1;
  return edges[op - 1] + share * (edges[op] - edges[op - 1]);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

double TimeAxis::getLoopsHeight() const {
  int64_t rows = function.numLaunches > 1 ? 1 : 0, deepest = -1;
  for (const Loop &loop : function.loops)
    deepest = std::max(deepest, std::min(getDepth(function, loop), kDeepest));
  return kBracketHeight * double(rows + deepest + 1);
}

void TimeAxis::writeBracket(Svg &svg, double begin, double end, double top, double bottom,
                            int64_t number, const std::string &label,
                            const std::string &title) const {
  svg.rect(begin + 0.5, top, std::max(1.0, end - begin - 1), kBracketHeight - 3, "loop", title);
  const double room = end - begin - 8;
  const bool isWide = kCharWidth * double(label.size()) <= room;
  svg.fit(begin + 5, top + 11.5, room, "", isWide ? label : std::to_string(number) + "×");
  constexpr double kWideEnough = 24;
  if (end - begin < kWideEnough)
    return;
  for (double x : {begin + 0.5, end - 0.5})
    svg.line(x, top + kBracketHeight - 3, x, bottom, "edge");
}

void TimeAxis::writeLoops(Svg &svg, double top, double bottom) const {
  const double left = edges.front(), right = edges.back();
  if (function.numLaunches > 1) {
    const std::string launches = std::to_string(function.numLaunches) + " launches";
    const std::string all = microseconds(getModelledInNs(function)) + " µs in all";
    writeBracket(svg, left, right, top, bottom, function.numLaunches, launches + ", " + all,
                 launches + " of " + function.name + ", " + all + "; one is drawn");
    top += kBracketHeight;
  }
  for (const Loop &loop : function.loops) {
    const int64_t depth = getDepth(function, loop);
    if (loop.last < loop.first || depth > kDeepest)
      continue;
    const double begin = getBegin(loop.first), end = getEnd(loop.last);
    if (end - begin < kNarrowestBracket)
      continue;
    const std::string trips = std::to_string(loop.numTrips) + " trips";
    const std::string time = microseconds(getModelledInNs(function, loop)) + " µs";
    const std::string runs =
        loop.numRuns == 1 ? "" : " in " + std::to_string(loop.numRuns) + " runs";
    writeBracket(svg, begin, end, top + double(depth) * kBracketHeight, bottom, loop.numTrips,
                 trips + ", " + time,
                 "loop of " + trips + " over operations #" + std::to_string(loop.first) + " to #" +
                     std::to_string(loop.last) + ": " + time + " in all trips" + runs);
  }
}

//===----------------------------------------------------------------------===//
// Operations and ticks
//===----------------------------------------------------------------------===//

void TimeAxis::writeOperations(Svg &svg, double top, double height) const {
  for (const Slot &slot : slots) {
    const Operation &op = function.operations[size_t(getLongest(slot))];
    svg.rect(slot.begin, top, slot.end - slot.begin, height,
             std::string("op ") + getJobClass(op.job), describe(slot));
    if (slot.first == slot.last)
      svg.fit(slot.begin + 3, top + height - 4, slot.end - slot.begin - 5, "", op.opFunc);
  }
}

void TimeAxis::writeTicks(Svg &svg, double top) const {
  constexpr double kTicks = 10, kRoomInPixels = 60;
  svg.line(edges.front(), top, edges.back(), top, "axis");
  if (getTimeInNs() <= 0)
    return;
  const double step = std::pow(10.0, std::floor(std::log10(getTimeInNs() / kTicks)));
  double factor = 10;
  for (double candidate : {5.0, 2.0, 1.0})
    if (getTimeInNs() / (step * candidate) <= kTicks)
      factor = candidate;
  double lastLabel = -kRoomInPixels;
  for (int64_t i = 0; double(i) * step * factor <= getTimeInNs(); ++i) {
    const double ns = double(i) * step * factor, x = i == 0 ? edges.front() : toPixels(ns);
    svg.line(x, top, x, top + 4, "axis");
    if (x - lastLabel < kRoomInPixels || edges.back() - x < kRoomInPixels)
      continue;
    const double us = ns / 1000;
    const int digits = us < 1 ? 3 : us < 10 ? 1 : 0;
    svg.text(x, top + 15, i == 0 ? "" : "mid", i == 0 ? "0 µs" : fixed(us, digits));
    lastLabel = x;
  }
  svg.text(edges.back(), top + 15, "end", microseconds(getTimeInNs()) + " µs");
}
