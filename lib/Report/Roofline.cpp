//===- Roofline.cpp - Rates of operations below those of the device -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dot an operation: work per byte of device memory, and work per time in the model; both
// axes in powers of ten. Work is multiply-accumulates of products, elements of all else. The
// ceilings are the device's, with the rates in use. Of very many operations those that take
// least time and lie at one place are one dot.
//
//===----------------------------------------------------------------------===//

#include "Drawings.h"
#include "Svg.h"
#include "Text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

using namespace spyre;
using namespace spyre::report;

namespace {

/// Operations at one place.
struct Dot {
  const Operation *op = nullptr; ///< the longest
  int64_t position = 0;
  size_t number = 1;
  double ns = 0;
  std::optional<double> intensity; ///< nothing: no device memory is touched
  double rate = 0;                 ///< work per ns
};

/// Powers of ten.
struct Range {
  int low = 0, high = 1;

  void extend(double value) {
    const double power = std::log10(value);
    low = std::min(low, int(std::floor(power)));
    high = std::max(high, int(std::ceil(power)));
  }
};

class Roofline {
public:
  explicit Roofline(const Program &program);

  void write(std::ostream &os) const;

private:
  // What touches no device memory has a column of its own at the right.
  static constexpr double kHeight = 430, kLeft = 74, kTop = 12, kBottom = 392, kRight = 978;

  double getX(double intensity) const {
    return kLeft + (kRight - kLeft) * (std::log10(intensity) - x.low) / (x.high - x.low);
  }
  double getX(const Dot &dot) const {
    return dot.intensity ? getX(*dot.intensity) : (kRight + kDrawingWidth) / 2;
  }
  double getY(double rate) const {
    return kBottom - (kBottom - kTop) * (std::log10(rate) - y.low) / (y.high - y.low);
  }
  double getRadius(const Dot &dot) const {
    constexpr double kSmallest = 2.5, kLargest = 26;
    return std::max(kSmallest, kLargest * std::sqrt(total > 0 ? dot.ns / total : 0));
  }
  std::pair<double, double> getCeilingLabel() const {
    const auto [memory, macs] = program.ceilings;
    return memory > 0 && macs > 0 ? std::pair(getX(macs / memory) + 6, getY(macs) - 6)
                                  : std::pair(0.0, 0.0);
  }
  void sumUp();
  void writeAxes(Svg &svg) const;
  void writeCeilings(Svg &svg) const;
  void writeDots(Svg &svg) const;

  const Program &program;
  std::vector<Dot> dots; ///< longest first
  size_t numWithout = 0; ///< operations that take no time
  double total = 0;
  Range x, y;
};

} // namespace

/// "1k", "10M": 10 to the \p power.
static std::string getPowerOfTen(int power) {
  constexpr const char *kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  if (power < 0)
    return fixed(std::pow(10.0, power), -power);
  const size_t prefix = std::min<size_t>(size_t(power) / 3, std::size(kPrefixes) - 1);
  return fixed(std::pow(10.0, power - 3 * int(prefix)), 0) + kPrefixes[prefix];
}

/// A rate per ns as one per second: "36.48 T".
static std::string perSecond(double perNs) {
  return perNs >= 1e3 ? fixed(perNs / 1e3, 2) + " T" : fixed(perNs, 1) + " G";
}

static const char *getUnit(Job job) { return job == Job::Product ? "MAC" : "elements"; }

Roofline::Roofline(const Program &program) : program(program), total(getModelledInNs(program)) {
  if (program.ceilings.memoryInBytesPerNs > 0 && program.ceilings.macsPerNs > 0) {
    x.extend(program.ceilings.macsPerNs / program.ceilings.memoryInBytesPerNs);
    y.extend(program.ceilings.macsPerNs);
  }
  for (const Function &function : program.functions)
    for (size_t i = 0; i < function.operations.size(); ++i) {
      const Operation &op = function.operations[i];
      if (op.estimate.totalInNs <= 0 || op.work <= 0) {
        ++numWithout;
        continue;
      }
      Dot dot{&op, int64_t(i), 1, op.getTimeInNs(), std::nullopt, op.work / op.estimate.totalInNs};
      const double bytes = double(op.estimate.readInBytes) + double(op.estimate.writtenInBytes);
      if (bytes > 0) {
        dot.intensity = op.work / bytes;
        x.extend(*dot.intensity);
      }
      y.extend(dot.rate);
      dots.push_back(dot);
    }
  std::stable_sort(dots.begin(), dots.end(),
                   [](const Dot &a, const Dot &b) { return a.ns > b.ns; });
  sumUp();
}

void Roofline::sumUp() {
  constexpr size_t kMostByThemselves = 300;
  constexpr double kCell = 4;
  if (dots.size() <= kMostByThemselves)
    return;
  std::map<std::tuple<Job, int64_t, int64_t>, size_t> places;
  std::vector<Dot> kept(dots.begin(), dots.begin() + kMostByThemselves);
  for (size_t i = kMostByThemselves; i < dots.size(); ++i) {
    const Dot &dot = dots[i];
    auto [found, isNew] = places.try_emplace(
        {dot.op->job, int64_t(getX(dot) / kCell), int64_t(getY(dot.rate) / kCell)}, kept.size());
    if (isNew) {
      kept.push_back(dot);
      continue;
    }
    ++kept[found->second].number;
    kept[found->second].ns += dot.ns;
  }
  dots = std::move(kept);
  std::stable_sort(dots.begin(), dots.end(),
                   [](const Dot &a, const Dot &b) { return a.ns > b.ns; });
}

void Roofline::writeAxes(Svg &svg) const {
  for (int power = x.low; power <= x.high; ++power) {
    const double at = getX(std::pow(10.0, power));
    svg.line(at, kTop, at, kBottom, "grid");
    svg.text(at, kBottom + 15, "mid", getPowerOfTen(power));
  }
  for (int power = y.low; power <= y.high; ++power) {
    const double at = getY(std::pow(10.0, power));
    svg.line(kLeft, at, kDrawingWidth, at, "grid");
    constexpr int kNsOfSecond = 9; // a power of ten
    svg.text(kLeft - 6, at + 4, "end", getPowerOfTen(power + kNsOfSecond) + "/s");
  }
  svg.line(kLeft, kBottom, kDrawingWidth, kBottom, "axis");
  svg.line(kLeft, kTop, kLeft, kBottom, "axis");
  svg.line(kRight, kTop, kRight, kBottom, "edge");
  svg.text((kLeft + kRight) / 2, kBottom + 32, "mid",
           "multiply-accumulates, or elements, per byte of device memory");
  svg.text((kRight + kDrawingWidth) / 2, kBottom + 15, "mid", "all in LX");
}

void Roofline::writeCeilings(Svg &svg) const {
  const double memory = program.ceilings.memoryInBytesPerNs, macs = program.ceilings.macsPerNs;
  if (memory <= 0 || macs <= 0)
    return;
  const double ridge = macs / memory;
  // The memory's line begins at the left or at the bottom, whichever comes first.
  const double begin = std::max(std::pow(10.0, x.low), std::pow(10.0, y.low) / memory);
  svg.line(getX(begin), getY(begin * memory), getX(ridge), getY(macs), "ceiling");
  svg.line(getX(ridge), getY(macs), kDrawingWidth, getY(macs), "ceiling");
  svg.text(getCeilingLabel().first, getCeilingLabel().second, "",
           "systolic arrays, full: " + perSecond(macs) + "MAC/s");
  const double middle = std::sqrt(begin * ridge);
  svg.text(getX(middle) - 8, getY(middle * memory) - 4, "end",
           "device memory: " + fixed(memory, 1) + " GB/s");
}

void Roofline::writeDots(Svg &svg) const {
  constexpr size_t kLabels = 8;
  constexpr double kLine = 13, kWide = 110;
  // Where labels begin: those of the dots, and the ceiling's, which is as long as two.
  std::vector<std::pair<double, double>> labels;
  for (double part : {0.0, kWide})
    labels.emplace_back(getCeilingLabel().first + part, getCeilingLabel().second);
  for (const Dot &dot : dots) {
    const double at = getX(dot), height = getY(dot.rate);
    std::string words = report::describe(*dot.op, dot.position) + "; " + percent(dot.ns, total) +
                        " of the time; " + perSecond(dot.rate) + " " + getUnit(dot.op->job) +
                        " a second";
    if (dot.intensity)
      words += ", " + fixed(*dot.intensity, *dot.intensity < 10 ? 2 : 0) + " a byte";
    if (dot.number > 1)
      words = counted(dot.number, "operation") + " like " + words;
    svg.circle(at, height, getRadius(dot), std::string("op ") + getJobClass(dot.op->job), words);
  }
  for (size_t i = 0; i < std::min(kLabels, dots.size()); ++i) {
    const Dot &dot = dots[i];
    const double at = getX(dot), height = getY(dot.rate);
    const double radius = getRadius(dot);
    // Above or below the dot, at its right or, where the drawing ends, at its left.
    const double aside = 0.6 * radius + 3;
    const bool isLeft = at + aside + kWide > kDrawingWidth;
    const double begin = isLeft ? at - aside - kWide : at + aside;
    for (double line : {height - aside - 1, height + aside + 9}) {
      if (std::any_of(labels.begin(), labels.end(), [&](const auto &other) {
            return std::abs(other.first - begin) < kWide && std::abs(other.second - line) < kLine;
          }))
        continue;
      labels.emplace_back(begin, line);
      svg.text(isLeft ? at - aside : begin, line, isLeft ? "end" : "",
               getLabel(*dot.op, dot.position));
      break;
    }
  }
}

void Roofline::write(std::ostream &os) const {
  os << "<h2 id=\"roofline\">Roofline</h2>\n";
  if (dots.empty()) {
    os << "<p class=\"note\">No operation takes time in the model.</p>\n";
    return;
  }
  os << "<figure>\n";
  {
    Svg svg(os, kDrawingWidth, kHeight, "roofline-dots", "Roofline of " + program.name,
            counted(dots.size(), "dot") + ". Ceilings: device memory " +
                fixed(program.ceilings.memoryInBytesPerNs, 1) + " GB/s, systolic arrays " +
                perSecond(program.ceilings.macsPerNs) + "MAC/s. Most time: " +
                report::describe(*dots.front().op, dots.front().position) + ".");
    writeAxes(svg);
    writeCeilings(svg);
    writeDots(svg);
  }
  os << "<figcaption>A dot is an operation, as large as its share of the time. The flat ceiling is "
        "for products; the rate of vector units is in no model, what they do is limited by device "
        "memory alone. Bytes are those that move, read again or not.";
  if (numWithout > 0)
    os << " Not drawn: " << counted(numWithout, "operation") << " without modelled time.";
  os << "</figcaption>\n</figure>\n";
}

void report::writeRoofline(const Program &program, std::ostream &os) {
  Roofline(program).write(os);
}
