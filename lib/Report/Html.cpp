//===- Html.cpp - A compiled program as one page ----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One file without scripts or references to anything outside of it: it can be
// mailed, printed and compared, and is well-formed XML, too. All text of the program is
// escaped. What is drawn and listed is limited, so that the page of a large model stays
// small: the rest is summed up.
//
//===----------------------------------------------------------------------===//

#include "Drawings.h"
#include "Style.h"
#include "Svg.h"
#include "Text.h"

#include <algorithm>
#include <map>
#include <ostream>

using namespace spyre;
using namespace spyre::report;

namespace {

class Page {
public:
  Page(const Program &program, std::ostream &os, const HtmlOptions &options)
      : program(program), os(os), options(options) {}

  void write();

private:
  void writeTotals();
  void writeStages();
  void writeByOpFunc();
  void writeTime();
  /// Operations get a row of their own; if there are too many, those that take most time.
  void chooseRows();
  void writeOperations(size_t number);
  void writeOperation(const Operation &op, size_t function, size_t position, double longestInNs);
  void tile(const std::string &value, const std::string &what) {
    os << "<div class=\"tile\"><b>" << escape(value) << "</b>" << escape(what) << "</div>\n";
  }

  const Program &program;
  std::ostream &os;
  const HtmlOptions &options;
  std::vector<std::vector<bool>> isListed; ///< [function, operation]
};

void Page::writeTotals() {
  int64_t operations = 0, read = 0, written = 0, peak = 0;
  std::map<Bound, double> byBound;
  for (const Function &function : program.functions) {
    for (const Operation &op : function.operations) {
      operations += op.numRuns;
      read += op.readInBytes * op.numRuns;
      written += op.writtenInBytes * op.numRuns;
      byBound[getBound(op.estimate)] += op.getTimeInNs();
    }
    peak = std::max(peak, getPeakInBytes(function));
  }
  os << "<div class=\"tiles\">\n";
  tile(microseconds(getModelledInNs(program)) + " µs", "modelled time");
  if (program.boundInNs > 0) {
    tile(fixed(getModelledInNs(program) / program.boundInNs, 2) + " ×",
         "the least that any plan takes, " + microseconds(program.boundInNs) + " µs");
  }
  tile(std::to_string(operations), "device operations");
  tile(bytes(double(read)), "read from device memory");
  tile(bytes(double(written)), "written to device memory");
  tile(bytes(double(peak)),
       "of " + bytes(double(program.usableScratchpadInBytes)) + " LX a core, at most");
  tile(bytes(double(program.poolInBytes)), "pool");
  os << "</div>\n<p class=\"note\">Bound by ";
  const char *separator = "";
  for (Bound bound : {Bound::Compute, Bound::Bandwidth, Bound::Ring, Bound::Vector, Bound::Start}) {
    // What only rates of one's own say is there where they do.
    if (bound > Bound::Ring && byBound[bound] == 0)
      continue;
    os << separator << getBoundName(bound) << ": " << microseconds(byBound[bound]) << " µs";
    separator = ", ";
  }
  os << ". The cost model counts device memory, matmul arithmetic and partial sums on the ring; "
        "what moves inside of scratchpads costs nothing in it.</p>\n";
}

void Page::writeStages() {
  os << "<h2 id=\"stages\">Stages</h2>\n<table><tr><th scope=\"col\">stage</th>";
  if (options.seconds)
    os << "<th scope=\"col\" class=\"n\">seconds</th>";
  os << "<th scope=\"col\" class=\"n\">operations</th><th scope=\"col\">by name</th></tr>\n";
  for (const Stage &stage : program.stages) {
    int64_t total = 0;
    for (const auto &[name, count] : stage.opCounts)
      total += count;
    os << "<tr><td>" << escape(stage.name) << "</td>";
    if (options.seconds)
      os << "<td class=\"n\">" << fixed(stage.seconds, 4) << "</td>";
    os << "<td class=\"n\">" << total << "</td><td>";
    const char *separator = "";
    for (const auto &[name, count] : stage.opCounts) {
      os << separator << "<code>" << escape(name) << "</code>&#160;" << count;
      separator = ", ";
    }
    os << "</td></tr>\n";
  }
  os << "</table>\n";
}

void Page::writeByOpFunc() {
  struct Sum {
    int64_t runs = 0, read = 0, written = 0;
    double ns = 0;
  };
  std::map<std::string, Sum> sums;
  for (const Function &function : program.functions)
    for (const Operation &op : function.operations) {
      Sum &sum = sums[op.opFunc];
      sum.runs += op.numRuns;
      sum.read += op.readInBytes * op.numRuns;
      sum.written += op.writtenInBytes * op.numRuns;
      sum.ns += op.getTimeInNs();
    }
  std::vector<std::pair<std::string, Sum>> order(sums.begin(), sums.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto &a, const auto &b) { return a.second.ns > b.second.ns; });
  double total = getModelledInNs(program);
  os << "<h2 id=\"functions\">By operation</h2>\n<table><tr><th scope=\"col\">OpFunc</th><th "
        "scope=\"col\" class=\"n\">runs</th><th scope=\"col\" class=\"n\">read</th><th "
        "scope=\"col\" class=\"n\">written</th><th scope=\"col\" class=\"n\">µs</th><th "
        "scope=\"col\" class=\"n\">share</th></tr>\n";
  for (const auto &[name, sum] : order)
    os << "<tr><td><code>" << escape(name) << "</code></td><td class=\"n\">" << sum.runs
       << "</td><td class=\"n\">" << bytes(double(sum.read)) << "</td><td class=\"n\">"
       << bytes(double(sum.written)) << "</td><td class=\"n\">" << microseconds(sum.ns)
       << "</td><td class=\"n\">" << percent(sum.ns, total) << "</td></tr>\n";
  os << "</table>\n";
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

void Page::writeTime() {
  constexpr double kLeastShare = 0.01;
  const double total = getModelledInNs(program);
  os << "<h2 id=\"time\">Over time</h2>\n<p class=\"note\">";
  for (Job job : {Job::Product, Job::Elementwise, Job::Transfer})
    os << "<span class=\"key " << getJobClass(job) << "\"></span>" << getJobName(job);
  os << "<span class=\"key ld\"></span>device memory read<span class=\"key st\"></span>device "
        "memory "
        "written<span class=\"key ri\"></span>ring</p>\n";
  size_t left = 0;
  for (size_t i = 0; i < program.functions.size(); ++i) {
    const Function &function = program.functions[i];
    if (function.operations.empty())
      continue;
    if (program.functions.size() > 1 && getModelledInNs(function) < kLeastShare * total) {
      ++left;
      continue;
    }
    const std::string id = "f" + std::to_string(i);
    os << "<h3>Engines in <code>" << escape(function.name) << "</code></h3>\n";
    writeTimeline(function, id, os);
    os << "<h3>LX of each core in <code>" << escape(function.name) << "</code></h3>\n";
    if (function.scratchpad.empty())
      os << "<p class=\"note\">Nothing is kept in LX.</p>\n";
    else
      writeOccupancy(function, program.usableScratchpadInBytes, id, os);
  }
  if (left > 0)
    os << "<p class=\"note\">Not drawn: " << counted(left, "function") << " with less than "
       << percent(kLeastShare, 1) << " of the time" << (left == 1 ? "" : " each") << ".</p>\n";
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void Page::chooseRows() {
  constexpr size_t kMostRows = 1500;
  std::vector<std::pair<size_t, size_t>> places;
  for (size_t f = 0; f < program.functions.size(); ++f) {
    const size_t numOps = program.functions[f].operations.size();
    isListed.emplace_back(numOps, false);
    for (size_t i = 0; i < numOps; ++i)
      places.emplace_back(f, i);
  }
  auto getTime = [&](const std::pair<size_t, size_t> &place) {
    return program.functions[place.first].operations[place.second].getTimeInNs();
  };
  std::stable_sort(places.begin(), places.end(),
                   [&](const auto &a, const auto &b) { return getTime(a) > getTime(b); });
  places.resize(std::min(places.size(), kMostRows));
  for (auto [function, position] : places)
    isListed[function][position] = true;
}

void Page::writeOperation(const Operation &op, size_t function, size_t position,
                          double longestInNs) {
  const char *bound = getBoundName(getBound(op.estimate));
  os << "<tr id=\"" << getAnchor(function, int64_t(position)) << "\" class=\"operation\" data-ns=\""
     << fixed(op.estimate.totalInNs, 6) << "\" data-runs=\"" << op.numRuns << "\"><td class=\"n\">"
     << position << "</td><td><code>" << escape(op.opFunc) << "</code><br/><span class=\"note\">"
     << escape(getPlace(op)) << "</span></td><td>";
  const char *separator = "";
  for (const IterationDim &dim : op.dims) {
    os << separator << dim.extent;
    if (dim.slices > 1)
      os << "&#160;/&#160;" << dim.slices;
    separator = " × ";
  }
  os << "<br/><span class=\"note\">" << op.numCores << (op.numCores == 1 ? " core" : " cores")
     << (op.kFast ? ", k fast" : "");
  if (op.numRuns > 1)
    os << ", " << op.numRuns << " times";
  os << "</span></td><td>";
  separator = "";
  for (const Operand &operand : op.operands) {
    os << separator << (operand.isOutput ? "→ " : "") << "<code>" << escape(operand.name)
       << "</code> " << escape(operand.type) << " <span class=\"note\">" << escape(operand.layout)
       << ", " << escape(operand.place) << ", " << bytes(double(operand.sizeInBytes)) << "</span>";
    separator = "<br/>";
  }
  double width = longestInNs > 0 ? 60 * op.estimate.totalInNs / longestInNs : 0;
  os << "</td><td class=\"n\">" << bytes(double(op.readInBytes)) << "<br/>"
     << bytes(double(op.writtenInBytes)) << "</td><td class=\"n\">"
     << microseconds(op.estimate.totalInNs) << "<br/><span class=\"" << bound << "\">" << bound
     << "</span><br/><span class=\"bar\" style=\"width:" << fixed(width, 1)
     << "px\"></span></td></tr>\n";
}

void Page::writeOperations(size_t number) {
  const Function &function = program.functions[number];
  const size_t numOps = function.operations.size();
  os << "<h2>Device operations of <code>" << escape(function.name) << "</code></h2>\n"
     << "<p class=\"note\">Iteration space with work slices (extent / slices); operands with "
        "layout, place and bytes that all cores together touch; bytes read and written in device "
        "memory; modelled time and what bounds it, of one run.</p>\n"
     << "<table><tr><th scope=\"col\" class=\"n\">#</th><th scope=\"col\">OpFunc</th><th "
        "scope=\"col\">iteration</th><th scope=\"col\">operands</th><th scope=\"col\" "
        "class=\"n\">read<br/>written</th><th scope=\"col\" class=\"n\">µs</th></tr>\n";
  double longest = 0;
  for (const Operation &op : function.operations)
    longest = std::max(longest, op.estimate.totalInNs);
  for (size_t i = 0; i < numOps; ++i) {
    if (isListed[number][i]) {
      writeOperation(function.operations[i], number, i, longest);
      continue;
    }
    const size_t first = i;
    double ns = function.operations[i].getTimeInNs();
    for (; i + 1 < numOps && !isListed[number][i + 1]; ++i)
      ns += function.operations[i + 1].getTimeInNs();
    os << "<tr class=\"rest\" data-ns=\"" << fixed(ns, 3) << "\"><td class=\"n\">" << first
       << "</td><td colspan=\"4\" class=\"note\">" << counted(i - first + 1, "operation")
       << " that take little, all runs</td><td class=\"n\">" << microseconds(ns) << "</td></tr>\n";
  }
  os << "</table>\n";
}

void Page::write() {
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta "
        "name=\"viewport\" content=\"width=device-width\"/>\n<title>"
     << escape(program.name) << " - compilation report</title>\n<style>" << kStyle
     << "</style>\n</head>\n<body>\n";
  writePatterns(os);
  os << "<main>\n<h1>" << escape(program.name) << "</h1>\n<p class=\"note\">"
     << escape(program.source) << " compiled for " << escape(program.device) << " with "
     << escape(program.options) << "</p>\n<nav aria-label=\"Parts of the report\">";
  for (auto [anchor, name] :
       {std::pair("distance", "Distance to the least"), std::pair("time", "Over time"),
        std::pair("roofline", "Roofline"), std::pair("functions", "By operation"),
        std::pair("operations", "Device operations"), std::pair("stages", "Stages")})
    os << "<a href=\"#" << anchor << "\">" << name << "</a>";
  os << "</nav>\n";
  writeTotals();
  writeDistance(program, os);
  writeTime();
  writeRoofline(program, os);
  writeByOpFunc();
  chooseRows();
  os << "<div id=\"operations\">\n";
  for (size_t i = 0; i < program.functions.size(); ++i)
    writeOperations(i);
  os << "</div>\n";
  writeStages();
  os << "</main>\n</body>\n</html>\n";
}

} // namespace

void report::writeHtml(const Program &program, std::ostream &os, const HtmlOptions &options) {
  Page(program, os, options).write();
}
