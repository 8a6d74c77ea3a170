//===- Html.cpp - A compiled program as one page ----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One file without scripts or references to anything outside of it: it can be
// mailed, printed and compared. All text of the program is escaped.
//
//===----------------------------------------------------------------------===//

#include "Occupancy.h"

#include "spyre/Report/ProgramReport.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <ostream>
#include <string_view>

using namespace spyre;
using namespace spyre::report;

namespace {

constexpr const char *kStyle = R"(
body{font:14px/1.45 system-ui,sans-serif;color:#1c2430;margin:2em auto;max-width:1100px;padding:0 1em}
h1{font-size:1.5em;margin-bottom:.1em}h2{font-size:1.15em;margin:1.6em 0 .4em;border-bottom:1px solid #ccd3dd}
h3{font-size:1em;margin:1.1em 0 .3em}.note{color:#5a6675}
table{border-collapse:collapse;width:100%;font-size:12.5px}
th,td{text-align:left;padding:.25em .6em;border-bottom:1px solid #e3e8ee;vertical-align:top}
th{background:#f2f5f8;font-weight:600}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
tr{break-inside:avoid}code{font:12px ui-monospace,monospace}
.tiles{display:flex;flex-wrap:wrap;gap:.6em;margin:.8em 0}.tile{border:1px solid #ccd3dd;border-radius:4px;padding:.4em .9em}
.tile b{display:block;font-size:1.15em}
.bar{display:inline-block;height:.65em;background:#4a7ebb;vertical-align:middle}
.compute{color:#8a4b00}.bandwidth{color:#1f5fa8}.ring{color:#7a2f8f}
svg{width:100%;height:auto;border:1px solid #ccd3dd;background:#fff}
@media print{body{margin:0;max-width:none;font-size:11px}h2{break-after:avoid}}
)";

std::string escape(std::string_view text) {
  std::string result;
  for (char c : text) {
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    case '\'':
      result += "&#39;";
      break;
    default:
      // Control characters are not text in HTML.
      result += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return result;
}

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

std::string microseconds(double ns) { return fixed(ns / 1000, ns < 1e5 ? 2 : 1); }

std::string bytes(int64_t count) {
  if (count >= 1000000)
    return fixed(double(count) / 1e6, count < 100000000 ? 2 : 1) + " MB";
  if (count >= 10000)
    return fixed(double(count) / 1e3, 1) + " kB";
  return std::to_string(count) + " B";
}

class Page {
public:
  Page(const Program &program, std::ostream &os, const HtmlOptions &options)
      : program(program), os(os), options(options) {}

  void write();

private:
  void writeTotals();
  void writeStages();
  void writeByOpFunc();
  void writeOperations(const Function &function);
  void writeOperation(const Operation &op, size_t number, double longestInNs);
  void tile(const std::string &value, const std::string &what) {
    os << "<div class=\"tile\"><b>" << escape(value) << "</b>" << escape(what) << "</div>\n";
  }

  const Program &program;
  std::ostream &os;
  const HtmlOptions &options;
};

void Page::writeTotals() {
  int64_t operations = 0, read = 0, written = 0, peak = 0;
  std::map<Bound, double> byBound;
  for (const Function &function : program.functions) {
    for (const Operation &op : function.operations) {
      operations += op.numRuns;
      read += op.readInBytes * op.numRuns;
      written += op.writtenInBytes * op.numRuns;
      byBound[getBound(op.estimate)] += op.estimate.totalInNs * double(op.numRuns);
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
  tile(bytes(read), "read from device memory");
  tile(bytes(written), "written to device memory");
  tile(bytes(peak), "of " + bytes(program.usableScratchpadInBytes) + " LX a core, at most");
  tile(bytes(program.poolInBytes), "pool");
  os << "</div>\n<p class=\"note\">Bound by ";
  const char *separator = "";
  for (Bound bound : {Bound::Compute, Bound::Bandwidth, Bound::Ring}) {
    os << separator << getBoundName(bound) << ": " << microseconds(byBound[bound]) << " µs";
    separator = ", ";
  }
  os << ". The cost model counts device memory, matmul arithmetic and partial sums on the ring; "
        "what moves inside of scratchpads costs nothing in it.</p>\n";
}

void Page::writeStages() {
  os << "<h2>Stages</h2>\n<table><tr><th>stage</th>";
  if (options.seconds)
    os << "<th class=\"n\">seconds</th>";
  os << "<th class=\"n\">operations</th><th>by name</th></tr>\n";
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
      os << separator << "<code>" << escape(name) << "</code>&nbsp;" << count;
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
      sum.ns += op.estimate.totalInNs * double(op.numRuns);
    }
  std::vector<std::pair<std::string, Sum>> order(sums.begin(), sums.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto &a, const auto &b) { return a.second.ns > b.second.ns; });
  double total = getModelledInNs(program);
  os << "<h2>By operation</h2>\n<table><tr><th>OpFunc</th><th class=\"n\">runs</th><th "
        "class=\"n\">read</th><th class=\"n\">written</th><th class=\"n\">µs</th><th "
        "class=\"n\">share</th></tr>\n";
  for (const auto &[name, sum] : order)
    os << "<tr><td><code>" << escape(name) << "</code></td><td class=\"n\">" << sum.runs
       << "</td><td class=\"n\">" << bytes(sum.read) << "</td><td class=\"n\">"
       << bytes(sum.written) << "</td><td class=\"n\">" << microseconds(sum.ns)
       << "</td><td class=\"n\">" << fixed(total > 0 ? 100 * sum.ns / total : 0, 1)
       << " %</td></tr>\n";
  os << "</table>\n";
}

void Page::writeOperation(const Operation &op, size_t number, double longestInNs) {
  const char *bound = getBoundName(getBound(op.estimate));
  os << "<tr id=\"op" << number << "\" class=\"operation\"><td class=\"n\">" << number
     << "</td><td><code>" << escape(op.opFunc) << "</code><br><span class=\"note\">"
     << escape(op.location.empty() ? "unknown place" : op.location) << "</span></td><td>";
  const char *separator = "";
  for (const IterationDim &dim : op.dims) {
    os << separator << dim.extent;
    if (dim.slices > 1)
      os << "&nbsp;/&nbsp;" << dim.slices;
    separator = " × ";
  }
  os << "<br><span class=\"note\">" << op.numCores << (op.numCores == 1 ? " core" : " cores")
     << (op.kFast ? ", k fast" : "");
  if (op.numRuns > 1)
    os << ", " << op.numRuns << " times";
  os << "</span></td><td>";
  separator = "";
  for (const Operand &operand : op.operands) {
    os << separator << (operand.isOutput ? "→ " : "") << "<code>" << escape(operand.name)
       << "</code> " << escape(operand.type) << " <span class=\"note\">" << escape(operand.layout)
       << ", " << escape(operand.place) << ", " << bytes(operand.sizeInBytes) << "</span>";
    separator = "<br>";
  }
  double width = longestInNs > 0 ? 60 * op.estimate.totalInNs / longestInNs : 0;
  os << "</td><td class=\"n\">" << bytes(op.readInBytes) << "<br>" << bytes(op.writtenInBytes)
     << "</td><td class=\"n\">" << microseconds(op.estimate.totalInNs) << "<br><span class=\""
     << bound << "\">" << bound
     << "</span><br><span class=\"bar\" style=\"width:" << fixed(width, 1)
     << "px\"></span></td></tr>\n";
}

void Page::writeOperations(const Function &function) {
  os << "<h2>Device operations of <code>" << escape(function.name) << "</code></h2>\n"
     << "<p class=\"note\">Iteration space with work slices (extent / slices); operands with "
        "layout, place and bytes that all cores together touch; bytes read and written in device "
        "memory; modelled time and what bounds it, of one run.</p>\n"
     << "<table><tr><th class=\"n\">#</th><th>OpFunc</th><th>iteration</th><th>operands</th><th "
        "class=\"n\">read<br>written</th><th class=\"n\">µs</th></tr>\n";
  double longest = 0;
  for (const Operation &op : function.operations)
    longest = std::max(longest, op.estimate.totalInNs);
  for (size_t i = 0; i < function.operations.size(); ++i)
    writeOperation(function.operations[i], i, longest);
  os << "</table>\n<h3>LX of each core over time</h3>\n";
  if (function.scratchpad.empty()) {
    os << "<p class=\"note\">Nothing is kept in LX.</p>\n";
    return;
  }
  os << "<p class=\"note\">Left to right the operations, bottom to top the addresses of one core's "
        "scratchpad; the dashed line is what the compiler may use. Every core holds its part of "
        "each buffer at the same address.</p>\n";
  writeOccupancy(function, program.usableScratchpadInBytes, os);
}

void Page::write() {
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>"
     << escape(program.name) << " - compilation report</title>\n<style>" << kStyle
     << "</style>\n</head>\n<body>\n<h1>" << escape(program.name) << "</h1>\n<p class=\"note\">"
     << escape(program.source) << " compiled for " << escape(program.device) << " with "
     << escape(program.options) << "</p>\n";
  writeTotals();
  writeStages();
  writeByOpFunc();
  for (const Function &function : program.functions)
    writeOperations(function);
  os << "</body>\n</html>\n";
}

} // namespace

std::string report::escapeHtml(std::string_view text) { return escape(text); }

void report::writeHtml(const Program &program, std::ostream &os, const HtmlOptions &options) {
  Page(program, os, options).write();
}
