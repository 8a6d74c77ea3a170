//===- Svg.cpp - Inline drawings of the report ------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "Svg.h"
#include "Text.h"

#include <algorithm>

using namespace spyre;
using namespace spyre::report;

Svg::Svg(std::ostream &os, double width, double height, const std::string &id,
         std::string_view title, std::string_view description)
    : os(os) {
  os << "<svg viewBox=\"0 0 " << number(width) << ' ' << number(height)
     << "\" role=\"img\" aria-labelledby=\"" << id << "-title " << id << "-text\">\n<title id=\""
     << id << "-title\">" << escape(title) << "</title>\n<desc id=\"" << id << "-text\">"
     << escape(description) << "</desc>\n";
}

std::string Svg::number(double value) {
  std::string text = fixed(value, 2);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return text;
}

void Svg::close(const char *element, std::string_view title) {
  if (title.empty())
    os << "/>\n";
  else
    os << "><title>" << escape(title) << "</title></" << element << ">\n";
}

void Svg::rect(double x, double y, double width, double height, std::string_view style,
               std::string_view title) {
  os << "<rect class=\"" << style << "\" x=\"" << number(x) << "\" y=\"" << number(y)
     << "\" width=\"" << number(width) << "\" height=\"" << number(height) << '"';
  close("rect", title);
}

void Svg::circle(double x, double y, double radius, std::string_view style,
                 std::string_view title) {
  os << "<circle class=\"" << style << "\" cx=\"" << number(x) << "\" cy=\"" << number(y)
     << "\" r=\"" << number(radius) << '"';
  close("circle", title);
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style) {
  os << "<path class=\"" << style << "\" d=\"M" << number(x1) << ' ' << number(y1) << 'L'
     << number(x2) << ' ' << number(y2) << "\"/>\n";
}

void Svg::path(std::string_view data, std::string_view style, std::string_view title) {
  os << "<path class=\"" << style << "\" d=\"" << data << '"';
  close("path", title);
}

void Svg::text(double x, double y, std::string_view style, std::string_view content) {
  os << "<text";
  if (!style.empty())
    os << " class=\"" << style << '"';
  os << " x=\"" << number(x) << "\" y=\"" << number(y) << "\">" << escape(content) << "</text>\n";
}

void Svg::fit(double x, double y, double room, std::string_view style, std::string_view content) {
  constexpr size_t kShortest = 3;
  auto places = size_t(std::max(0.0, room / kCharWidth));
  if (places >= content.size())
    return text(x, y, style, content);
  if (places < kShortest)
    return;
  // Never within a character of several bytes.
  while (places > 1 && (static_cast<unsigned char>(content[places - 1]) & 0xC0) == 0x80)
    --places;
  text(x, y, style, std::string(content.substr(0, places - 1)) + "…");
}

void Svg::openGroup(std::string_view title) { os << "<g><title>" << escape(title) << "</title>\n"; }

void report::writePatterns(std::ostream &os) {
  os << "<svg class=\"patterns\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>"
        "<pattern id=\"down\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
        "<path class=\"hatch t\" d=\"M0 0L6 6M-1 5L1 7M5 -1L7 1\"/></pattern>"
        "<pattern id=\"up\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
        "<path class=\"hatch s\" d=\"M0 5L5 0M-1 1L1 -1M4 6L6 4\"/></pattern>"
        "<pattern id=\"dots\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
        "<circle class=\"dot\" cx=\"2\" cy=\"2\" r=\"0.9\"/></pattern>"
        "</defs></svg>\n";
}
