//===- Distance.cpp - Where the time above the least is lost ----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three times of the whole: the least of any plan, the least of this plan's operations one
// by one, and the modelled time. What lies between the first two is lost by what moves
// between operations, between the last two by how they are divided. Then loops, and
// operations: what the time of each is more than its part of the least.
//
//===----------------------------------------------------------------------===//

#include "Drawings.h"
#include "Svg.h"
#include "Text.h"

#include <algorithm>
#include <string_view>
#include <vector>

using namespace spyre;
using namespace spyre::report;

namespace {

/// An operation or a loop of the program by its place.
struct Place {
  size_t function = 0;
  int64_t position = 0;
  double ns = 0; ///< by which it is ranked
};

/// Of several operations.
struct Sums {
  double ns = 0, leastInNs = 0, partInNs = 0;

  void add(const Operation &op) {
    ns += op.getTimeInNs();
    leastInNs += op.leastInNs * double(op.numRuns);
    partInNs += op.partOfBoundInNs;
  }
};

class Distance {
public:
  Distance(const Program &program, std::ostream &os)
      : program(program), os(os), modelled(getModelledInNs(program)), least(getLeastInNs(program)) {
  }

  void write();

private:
  void writeBars();
  void writeLoops();
  void writeOperations();
  void writeLoop(const Function &function, size_t number, const Loop &loop);
  void writeOperation(const Place &place, double mostLost);
  void writeSums(const std::string &name, const char *style, const Sums &sums);

  const Program &program;
  std::ostream &os;
  const double modelled, least;
};

} // namespace

/// "2.00", or a dash where nothing is the least.
static std::string getRatio(double ns, double leastInNs) {
  return leastInNs > 0 ? fixed(ns / leastInNs, 2) : "–";
}

static void sortDown(std::vector<Place> &places) {
  std::stable_sort(places.begin(), places.end(),
                   [](const Place &a, const Place &b) { return a.ns > b.ns; });
}

void Distance::writeBars() {
  struct Bar {
    const char *name, *style;
    double ns;
  };
  const Bar bars[] = {{"least of any plan", "least", program.boundInNs},
                      {"least of its operations", "least", least},
                      {"modelled", "modelled", modelled}};
  constexpr double kPitch = 28, kHeight = 20, kLeft = 180, kRoom = 190;
  double longest = 0;
  for (const Bar &bar : bars)
    longest = std::max(longest, bar.ns);
  if (longest <= 0)
    return;
  os << "<figure>\n";
  {
    std::string words;
    for (const Bar &bar : bars)
      words += std::string(bar.name) + ": " + microseconds(bar.ns) + " µs. ";
    Svg svg(os, kDrawingWidth, kPitch * double(std::size(bars)) + 4, "distance-bars",
            "Modelled time beside the least", words);
    double y = 4;
    for (const Bar &bar : bars) {
      const double width = (kDrawingWidth - kLeft - kRoom) * bar.ns / longest;
      svg.text(kLeft - 8, y + kHeight - 6, "end", bar.name);
      svg.rect(kLeft, y, width, kHeight, bar.style);
      svg.text(
          kLeft + width + 8, y + kHeight - 6, "",
          microseconds(bar.ns) + " µs" +
              (program.boundInNs > 0 ? ", " + getRatio(bar.ns, program.boundInNs) + " ×" : ""));
      y += kPitch;
    }
  }
  os << "<figcaption>The first bar: every argument read and every result written once, or all "
        "products with the arrays full, whichever is longer. The second: each operation by itself, "
        "from where its operands lie. From the first to the second bar time is lost by what goes "
        "through device memory between operations or is read more than once, from the second to "
        "the third by how operations are divided. A bar may be shorter than the first where reads "
        "and writes do not take turns.</figcaption>\n</figure>\n";
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static std::string getBox(const std::vector<int64_t> &extents) {
  std::string text;
  for (int64_t extent : extents)
    text += (text.empty() ? "" : "×") + std::to_string(extent);
  return text;
}

void Distance::writeLoop(const Function &function, size_t number, const Loop &loop) {
  const double ns = getModelledInNs(function, loop), runs = double(loop.numRuns);
  double read = 0, written = 0;
  std::string tiles;
  for (const LoopOperand &operand : loop.operands) {
    (operand.isResult ? written : read) += double(operand.sizeInBytes);
    if (operand.whole.empty())
      continue; // a number
    tiles += std::string(tiles.empty() ? "" : "<br/>") + (operand.isResult ? "→ " : "") + "<code>" +
             escape(operand.name) + "</code> " + getBox(operand.tile);
    if (operand.tile != operand.whole)
      tiles += " of " + getBox(operand.whole);
  }
  os << "<tr class=\"nest\" data-ns=\"" << fixed(ns, 3) << "\" data-trips=\"" << loop.numTrips
     << "\"><td class=\"depth" << std::min<int64_t>(getDepth(function, loop), 3) << "\">";
  if (program.functions.size() > 1)
    os << "<code>" << escape(function.name) << "</code> ";
  os << "<a href=\"#" << getAnchor(number, loop.first) << "\">#" << loop.first
     << "</a> to <a href=\"#" << getAnchor(number, loop.last) << "\">#" << loop.last
     << "</a></td><td class=\"n\">" << loop.numTrips
     << (loop.numRuns == 1 ? "" : ", " + std::to_string(loop.numRuns) + " runs") << "</td><td>"
     << tiles << "</td><td class=\"n\">" << bytes(read) << "<br/>" << bytes(written)
     << "</td><td class=\"n\">" << microseconds(ns) << "</td><td class=\"n\">"
     << percent(ns, modelled) << "</td><td class=\"n\">" << microseconds(loop.leastInNs * runs)
     << "</td><td class=\"n\">" << getRatio(ns, loop.leastInNs * runs) << "</td></tr>\n";
}

void Distance::writeLoops() {
  constexpr size_t kMostRows = 80;
  std::vector<Place> loops;
  for (size_t f = 0; f < program.functions.size(); ++f)
    for (size_t i = 0; i < program.functions[f].loops.size(); ++i) {
      const Loop &loop = program.functions[f].loops[i];
      if (loop.first <= loop.last)
        loops.push_back({f, int64_t(i), getModelledInNs(program.functions[f], loop)});
    }
  if (loops.empty()) {
    os << "<p class=\"note\">The plan has no loops.</p>\n";
    return;
  }
  sortDown(loops);
  const size_t left = loops.size() - std::min(loops.size(), kMostRows);
  loops.resize(loops.size() - left);
  std::sort(loops.begin(), loops.end(), [](const Place &a, const Place &b) {
    return std::pair(a.function, a.position) < std::pair(b.function, b.position);
  });
  os << "<h3>Loops</h3>\n<p class=\"note\">Time of all trips; the box of each argument and result "
        "that one trip touches; bytes of arguments and results of one run of the loop, each once; "
        "the least that these and its products take. A loop within another one is set in.</p>\n"
        "<table class=\"nests\" aria-label=\"Loops\"><tr><th scope=\"col\">operations</th><th "
        "scope=\"col\" "
        "class=\"n\">trips</th><th scope=\"col\">tile</th><th scope=\"col\" "
        "class=\"n\">arguments<br/>"
        "results</th><th scope=\"col\" class=\"n\">µs</th><th scope=\"col\" class=\"n\">share</th>"
        "<th scope=\"col\" class=\"n\">least, µs</th><th scope=\"col\" "
        "class=\"n\">ratio</th></tr>\n";
  for (const Place &place : loops) {
    const Function &function = program.functions[place.function];
    writeLoop(function, place.function, function.loops[size_t(place.position)]);
  }
  os << "</table>\n";
  if (left > 0)
    os << "<p class=\"note\">" << counted(left, "shorter loop") << " left out.</p>\n";
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// What is lost of the time of \p op: negative if it takes less than its part of the least.
static double getLostInNs(const Operation &op) { return op.getTimeInNs() - op.partOfBoundInNs; }

/// What keeps \p op from its least and from its part of that of the whole, in words.
static std::string getReason(const Function &function, const Operation &op) {
  constexpr double kNearly = 0.995;
  const cost::Estimate &estimate = op.estimate;
  std::string text;
  auto add = [&](const std::string &words) { text += (text.empty() ? "" : "; ") + words; };
  if (estimate.isComputeBound()) {
    if (op.leastInNs < kNearly * estimate.computeInNs)
      add("arrays " + percent(op.leastInNs, estimate.computeInNs) + " of full, " +
          counted(size_t(op.numCores), "core"));
  } else {
    if (op.readInBytes > 0 && estimate.readInBytes > op.readInBytes)
      add("reads " + fixed(double(estimate.readInBytes) / double(op.readInBytes), 2) +
          " times what it has");
    if (op.leastInNs < kNearly * estimate.memoryInNs)
      add("memory " + percent(op.leastInNs, estimate.memoryInNs) + " of its best");
  }
  if (estimate.isVectorBound())
    add("vector units " + microseconds(estimate.vectorInNs) + " µs a run");
  if (estimate.startInNs > 0)
    add("start " + microseconds(estimate.startInNs) + " µs a run");
  if (estimate.ringInNs > 0)
    add("partial sums " + microseconds(estimate.ringInNs) + " µs a run");
  if (estimate.relayoutInNs > 0)
    add("relayout " + microseconds(estimate.relayoutInNs) + " µs a run");
  const double moved = double(estimate.readInBytes) + double(estimate.writtenInBytes);
  if (moved > 0 && op.partOfBoundInNs < kNearly * op.leastInNs * double(op.numRuns))
    add(bytes(moved * double(op.numRuns)) +
        (function.isBoundByProducts ? " move while arrays wait"
                                    : " move, not all of them arguments and results once"));
  return text;
}

void Distance::writeOperation(const Place &place, double mostLost) {
  const Function &function = program.functions[place.function];
  const Operation &op = function.operations[size_t(place.position)];
  const double leastInNs = op.leastInNs * double(op.numRuns);
  const double share = mostLost > 0 ? 100 * place.ns / mostLost : 0;
  os << "<tr class=\"loss\"><td><a href=\"#" << getAnchor(place.function, place.position) << "\">"
     << escape(getLabel(op, place.position)) << "</a> <span class=\"note\">" << escape(getPlace(op))
     << "</span></td><td class=\"n\">" << op.numRuns << "</td><td class=\"n\">"
     << microseconds(op.getTimeInNs()) << "</td><td class=\"n\">" << microseconds(leastInNs)
     << "</td><td class=\"n\">" << getRatio(op.getTimeInNs(), leastInNs) << "</td><td class=\"n\">"
     << microseconds(op.partOfBoundInNs)
     << "</td><td class=\"n lost\" style=\"--share:" << fixed(share, 1) << "%\">"
     << microseconds(place.ns) << "</td><td>" << getReason(function, op) << "</td></tr>\n";
}

void Distance::writeSums(const std::string &name, const char *style, const Sums &sums) {
  os << "<tr class=\"" << style << "\" data-ns=\"" << fixed(sums.ns, 3) << "\"><th scope=\"row\">"
     << name << "</th><td></td><td class=\"n\">" << microseconds(sums.ns) << "</td><td class=\"n\">"
     << microseconds(sums.leastInNs) << "</td><td class=\"n\">" << getRatio(sums.ns, sums.leastInNs)
     << "</td><td class=\"n\">" << microseconds(sums.partInNs) << "</td><td class=\"n\">"
     << microseconds(sums.ns - sums.partInNs) << "</td><td></td></tr>\n";
}

void Distance::writeOperations() {
  constexpr size_t kMostRows = 25;
  std::vector<Place> places;
  for (size_t f = 0; f < program.functions.size(); ++f)
    for (size_t i = 0; i < program.functions[f].operations.size(); ++i)
      places.push_back({f, int64_t(i), getLostInNs(program.functions[f].operations[i])});
  sortDown(places);
  // What is lost by so little is no row, unless all operations are as short.
  const double nothing =
      modelled * std::min(5e-4, 0.5 / double(std::max<size_t>(1, places.size())));
  size_t shown = 0;
  while (shown < std::min(places.size(), kMostRows) && places[shown].ns > nothing)
    ++shown;
  os << "<h3>Operations</h3>\n<p class=\"note\">All runs of an operation; the least that it takes "
        "by itself, where its operands lie; its part of the least of any plan, by its products or "
        "its bytes of arguments and results, whichever that is made of. What its time is more than "
        "this part is lost: most first.</p>\n<table class=\"losses\" aria-label=\"Lost time by "
        "operation\"><tr>";
  for (const char *name : {"operation", "runs", "µs", "least by itself", "ratio",
                           "part of the least", "lost, µs", "why"}) {
    const bool isText = std::string_view(name) == "operation" || std::string_view(name) == "why";
    os << "<th scope=\"col\"" << (isText ? "" : " class=\"n\"") << '>' << name << "</th>";
  }
  os << "</tr>\n";
  Sums all, rest;
  for (size_t i = 0; i < places.size(); ++i) {
    const Operation &op =
        program.functions[places[i].function].operations[size_t(places[i].position)];
    all.add(op);
    if (i < shown)
      writeOperation(places[i], places.front().ns);
    else
      rest.add(op);
  }
  if (shown < places.size())
    writeSums(counted(places.size() - shown, shown == 0 ? "operation" : "other operation"), "rest",
              rest);
  writeSums("all", "total", all);
  os << "</table>\n";
}

void Distance::write() {
  os << "<h2 id=\"distance\">Distance to the least</h2>\n";
  writeBars();
  writeLoops();
  writeOperations();
}

void report::writeDistance(const Program &program, std::ostream &os) {
  Distance(program, os).write();
}
