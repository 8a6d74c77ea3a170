//===- Occupancy.h - Scratchpads over time as a drawing ---------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inline SVG of the report. Private to it.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_REPORT_OCCUPANCY_H
#define SPYRE_LIB_REPORT_OCCUPANCY_H

#include "spyre/Report/ProgramReport.h"

#include <string_view>

namespace spyre::report {

/// The highest end of a buffer in a core's scratchpad.
int64_t getPeakInBytes(const Function &function);

/// A box a buffer: operations from left to right, addresses from bottom to top.
void writeOccupancy(const Function &function, int64_t usableInBytes, std::ostream &os);

std::string escapeHtml(std::string_view text);

} // namespace spyre::report

#endif // SPYRE_LIB_REPORT_OCCUPANCY_H
