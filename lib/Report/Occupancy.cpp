//===- Occupancy.cpp - Scratchpads over time as a drawing -------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan is the same on every core, so one drawing serves all of them.
//
//===----------------------------------------------------------------------===//

#include "Occupancy.h"

#include <algorithm>
#include <cstdio>
#include <ostream>

using namespace spyre;
using namespace spyre::report;

int64_t report::getPeakInBytes(const Function &function) {
  int64_t peak = 0;
  for (const ScratchpadBuffer &buffer : function.scratchpad)
    peak = std::max(peak, buffer.addressInBytes + buffer.sizeInBytes);
  return peak;
}

void report::writeOccupancy(const Function &function, int64_t usableInBytes, std::ostream &os) {
  constexpr double kWidth = 1000, kHeight = 260, kLeft = 70, kBottom = 22, kTop = 8;
  int64_t peak = getPeakInBytes(function);
  // A plan that uses little of the scratchpad is drawn at its own scale.
  int64_t top =
      std::max<int64_t>(1, peak * 2 < usableInBytes ? peak : std::max(peak, usableInBytes));
  double numOps = std::max<double>(1, double(function.operations.size()));
  auto x = [&](int64_t op) { return kLeft + (kWidth - kLeft) * double(op) / numOps; };
  auto y = [&](int64_t bytes) {
    return kHeight - kBottom - (kHeight - kBottom - kTop) * double(bytes) / double(top);
  };
  auto number = [](double value) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.2f", value);
    return std::string(text);
  };
  auto label = [&](double atX, double atY, const char *anchor, const std::string &text) {
    os << "<text x=\"" << number(atX) << "\" y=\"" << number(atY) << "\" font-size=\"11\" fill=\""
       << "#5a6675\" text-anchor=\"" << anchor << "\">" << escapeHtml(text) << "</text>\n";
  };
  os << "<svg viewBox=\"0 0 1000 260\" role=\"img\" aria-label=\"LX occupancy\">\n";
  static constexpr const char *kColors[] = {"#4a7ebb", "#5fa777", "#c98b3d", "#8d6bb3",
                                            "#b35f6b", "#4fa3a5", "#8a8f3f", "#6b7b8c"};
  size_t index = 0;
  for (const ScratchpadBuffer &buffer : function.scratchpad) {
    double left = x(buffer.first), right = x(buffer.last + 1);
    double upper = y(buffer.addressInBytes + buffer.sizeInBytes), lower = y(buffer.addressInBytes);
    os << "<rect x=\"" << number(left) << "\" y=\"" << number(upper) << "\" width=\""
       << number(right - left) << "\" height=\"" << number(std::max(lower - upper, 0.5))
       << "\" fill=\"" << kColors[index++ % std::size(kColors)]
       << "\" fill-opacity=\"0.75\" stroke=\"#fff\" stroke-width=\"0.5\"><title>"
       << escapeHtml(buffer.name) << ": bytes " << buffer.addressInBytes << " to "
       << buffer.addressInBytes + buffer.sizeInBytes << ", operations " << buffer.first << " to "
       << buffer.last << "</title></rect>\n";
    if (right - left > 40 && lower - upper > 12)
      label((left + right) / 2, (upper + lower) / 2 + 4, "middle", buffer.name);
  }
  os << "<line x1=\"" << number(kLeft) << "\" y1=\"" << number(y(0)) << "\" x2=\"" << number(kWidth)
     << "\" y2=\"" << number(y(0)) << "\" stroke=\"#5a6675\"/>\n";
  if (usableInBytes <= top)
    os << "<line x1=\"" << number(kLeft) << "\" y1=\"" << number(y(usableInBytes)) << "\" x2=\""
       << number(kWidth) << "\" y2=\"" << number(y(usableInBytes))
       << "\" stroke=\"#b35f6b\" stroke-dasharray=\"6 4\"/>\n";
  label(kLeft - 4, y(0), "end", "0");
  label(kLeft - 4, y(top) + 8, "end", std::to_string(top));
  label(kLeft, kHeight - 6, "start", "operation 0");
  label(kWidth - 2, kHeight - 6, "end", std::to_string(function.operations.size()));
  os << "</svg>\n";
}
