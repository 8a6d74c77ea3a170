//===- Drawings.h - The drawings of the report ------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each writes one part of the page: drawing, words and table. Private to the report.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_REPORT_DRAWINGS_H
#define SPYRE_LIB_REPORT_DRAWINGS_H

#include "spyre/Report/ProgramReport.h"

#include <iosfwd>
#include <string>

namespace spyre::report {

/// Pixels of all drawings, and where the ones over time begin.
inline constexpr double kDrawingWidth = 1100, kDrawingLeft = 150;

/// What keeps each engine when (Timeline.cpp). \p id: of the function, in the page.
void writeTimeline(const Function &function, const std::string &id, std::ostream &os);

/// What lies in LX when, and what is copied from and to there (Occupancy.cpp).
void writeOccupancy(const Function &function, int64_t usableInBytes, const std::string &id,
                    std::ostream &os);

/// Rates of operations below those of the device (Roofline.cpp).
void writeRoofline(const Program &program, std::ostream &os);

/// Where the time above the least is lost (Distance.cpp).
void writeDistance(const Program &program, std::ostream &os);

} // namespace spyre::report

#endif // SPYRE_LIB_REPORT_DRAWINGS_H
