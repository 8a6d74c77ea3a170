//===- Svg.h - Inline drawings of the report --------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements of SVG without coordinates of more than two decimals, with classes that
// the page's style colours. Private to the report.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_REPORT_SVG_H
#define SPYRE_LIB_REPORT_SVG_H

#include <ostream>
#include <string>
#include <string_view>

namespace spyre::report {

/// Pixels of a character of a drawing's text, about.
inline constexpr double kCharWidth = 6.2;

/// One drawing, ended by the destructor. Texts are escaped here.
class Svg {
public:
  /// \p id: of the page, to name title and description by.
  Svg(std::ostream &os, double width, double height, const std::string &id, std::string_view title,
      std::string_view description);
  ~Svg() { os << "</svg>\n"; }
  Svg(const Svg &) = delete;
  Svg &operator=(const Svg &) = delete;

  /// With \p title, which is shown on the spot, if it is not empty.
  void rect(double x, double y, double width, double height, std::string_view style,
            std::string_view title = {});
  void circle(double x, double y, double radius, std::string_view style, std::string_view title);
  void line(double x1, double y1, double x2, double y2, std::string_view style);
  void path(std::string_view data, std::string_view style, std::string_view title = {});
  void text(double x, double y, std::string_view style, std::string_view content);
  /// A text that has \p room pixels: cut, or left out if nothing of it would be read.
  void fit(double x, double y, double room, std::string_view style, std::string_view content);

  /// What follows has one title.
  void openGroup(std::string_view title);
  void closeGroup() { os << "</g>\n"; }

  /// A number as SVG has it: at most two decimals, no zeros behind.
  static std::string number(double value);

private:
  void close(const char *element, std::string_view title);

  std::ostream &os;
};

/// The patterns that styles fill with; once a page.
void writePatterns(std::ostream &os);

} // namespace spyre::report

#endif // SPYRE_LIB_REPORT_SVG_H
