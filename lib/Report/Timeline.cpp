//===- Timeline.cpp - What keeps each engine when ---------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lane an engine, from the parts of each operation's estimate: loads first, stores and
// partial sums last, as the clock has them (lib/CostModel/Clock.cpp). The vector units
// have no rate in the model; their lane says which operations use them. Of operations
// that are drawn together a lane says by its height which part of their time it is busy.
//
//===----------------------------------------------------------------------===//

#include "Drawings.h"
#include "Text.h"
#include "TimeAxis.h"

#include <algorithm>
#include <array>

using namespace spyre;
using namespace spyre::report;

namespace {

enum Lane : size_t { kLoad, kStore, kArrays, kVector, kRing, kNumLanes };

struct LaneInfo {
  const char *name, *style;
};
constexpr LaneInfo kLanes[kNumLanes] = {{"device memory, read", "ld"},
                                        {"device memory, written", "st"},
                                        {"systolic arrays", "p"},
                                        {"vector units (SIMD)", "e wait"},
                                        {"ring", "ri"}};

/// A part of an operation's time, from its begin on; in ns.
struct Span {
  double begin = 0, end = 0;
};

} // namespace

static std::array<Span, kNumLanes> getSpans(const Operation &op) {
  const cost::EngineTimes times = cost::getEngineTimes(op.estimate);
  const double total = op.estimate.totalInNs, beforeStores = total - times.storeInNs;
  std::array<Span, kNumLanes> spans;
  spans[kLoad] = {0, times.loadInNs};
  spans[kStore] = {beforeStores, total};
  spans[kArrays] = {0, times.arraysInNs};
  spans[kRing] = {std::max(0.0, beforeStores - times.ringInNs),
                  std::max(0.0, beforeStores - times.ringInNs) + times.ringInNs};
  // Without a rate, they work as long as it takes.
  if (op.job == Job::Elementwise)
    spans[kVector] = {op.estimate.startInNs,
                      times.vectorInNs > 0 ? op.estimate.startInNs + times.vectorInNs : total};
  return spans;
}

/// The time of all runs that each lane is busy.
static std::array<double, kNumLanes> getBusyInNs(const Function &function, int64_t first,
                                                 int64_t last) {
  std::array<double, kNumLanes> busy{};
  for (int64_t i = first; i <= last; ++i) {
    const Operation &op = function.operations[size_t(i)];
    std::array<Span, kNumLanes> spans = getSpans(op);
    for (size_t lane = 0; lane < kNumLanes; ++lane)
      busy[lane] += (spans[lane].end - spans[lane].begin) * double(op.numRuns);
  }
  return busy;
}

static void writeSlot(const Function &function, const Slot &slot, double top, double pitch,
                      double height, Svg &svg) {
  const Operation &op = function.operations[size_t(slot.first)];
  const double width = slot.end - slot.begin;
  if (slot.first == slot.last) {
    const double total = op.estimate.totalInNs;
    std::array<Span, kNumLanes> spans = getSpans(op);
    for (size_t lane = 0; lane < kNumLanes; ++lane) {
      const auto [begin, end] = spans[lane];
      // One that takes no time still uses the vector units.
      if (total <= 0 ? lane != kVector || op.job != Job::Elementwise : end <= begin)
        continue;
      const double scale = total > 0 ? width / total : 0;
      svg.rect(slot.begin + begin * scale, top + double(lane) * pitch,
               total > 0 ? (end - begin) * scale : width, height, kLanes[lane].style);
    }
    return;
  }
  const std::array<double, kNumLanes> busy = getBusyInNs(function, slot.first, slot.last);
  double total = 0;
  for (int64_t i = slot.first; i <= slot.last; ++i)
    total += function.operations[size_t(i)].getTimeInNs();
  for (size_t lane = 0; lane < kNumLanes; ++lane) {
    if (busy[lane] <= 0)
      continue;
    const double share = height * std::min(1.0, busy[lane] / total);
    svg.rect(slot.begin, top + double(lane) * pitch + height - share, width, share,
             kLanes[lane].style);
  }
}

void report::writeTimeline(const Function &function, const std::string &id, std::ostream &os) {
  constexpr double kTop = 4, kOperations = 17, kGap = 5, kPitch = 26, kHeight = 20;
  const TimeAxis axis(function, kDrawingLeft, kDrawingWidth - 1);
  const double operations = kTop + axis.getLoopsHeight(), lanes = operations + kOperations + kGap;
  const double bottom = lanes + kPitch * double(kNumLanes);
  const double total = getModelledInNs(function);
  const std::array<double, kNumLanes> busy =
      getBusyInNs(function, 0, int64_t(function.operations.size()) - 1);
  os << "<figure>\n";
  {
    std::string words = counted(function.operations.size(), "operation") + " and " +
                        counted(function.loops.size(), "loop") + " in " +
                        microseconds(axis.getTimeInNs()) + " µs.";
    for (size_t lane = 0; lane < kNumLanes; ++lane)
      words += std::string(" ") + kLanes[lane].name + ": " + percent(busy[lane], total) + ".";
    Svg svg(os, kDrawingWidth, bottom + 20, id + "-lanes", "Time line of " + function.name, words);
    svg.text(kDrawingLeft - 8, operations + kOperations - 4, "end", "operations");
    for (size_t lane = 0; lane < kNumLanes; ++lane) {
      const double y = lanes + kPitch * double(lane);
      svg.rect(kDrawingLeft, y, kDrawingWidth - 1 - kDrawingLeft, kHeight, "lane");
      svg.text(kDrawingLeft - 8, y + kHeight / 2 + 4, "end", kLanes[lane].name);
    }
    axis.writeOperations(svg, operations, kOperations);
    for (const Slot &slot : axis.getSlots()) {
      svg.openGroup(axis.describe(slot));
      writeSlot(function, slot, lanes, kPitch, kHeight, svg);
      svg.closeGroup();
    }
    axis.writeLoops(svg, kTop, bottom);
    axis.writeTicks(svg, bottom);
  }
  os << "<figcaption>Modelled time of one launch, all trips of loops together: an operation in a "
        "loop is as wide as all its runs. Within an operation loads come first, stores last. "
        "The model gives vector units no time of their own: the lane says who uses them.";
  if (axis.getSlots().size() < function.operations.size())
    os << " Operations that are too short are drawn together; lanes are as high as they are busy "
          "then.";
  os << "</figcaption>\n</figure>\n<table class=\"engines\" aria-label=\"How long engines are "
        "busy\"><tr><th scope=\"col\">engine</th>";
  for (const LaneInfo &lane : kLanes)
    os << "<th scope=\"col\" class=\"n\">" << lane.name << "</th>";
  os << "</tr>\n<tr><th scope=\"row\">busy, µs</th>";
  // An upper limit where the model has no time.
  for (size_t lane = 0; lane < kNumLanes; ++lane)
    os << "<td class=\"n\">" << (lane == kVector ? "≤ " : "") << microseconds(busy[lane])
       << "</td>";
  os << "</tr>\n<tr><th scope=\"row\">share of the time</th>";
  for (size_t lane = 0; lane < kNumLanes; ++lane)
    os << "<td class=\"n\">" << (lane == kVector ? "≤ " : "") << percent(busy[lane], total)
       << "</td>";
  os << "</tr></table>\n";
}
