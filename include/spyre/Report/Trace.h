//===- Trace.h - A run as a Chrome trace ------------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the emulator's timeline in the JSON form that Perfetto and Chrome's trace
// viewer open: a row for the host and its transfers and one a core. MLIR-free.
// File format: docs/formats/trace.md.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_REPORT_TRACE_H
#define SPYRE_REPORT_TRACE_H

#include "spyre/CostModel/Timeline.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace spyre::report {

/// \p numCores: rows to show. \p program and \p device name the process.
void writeTrace(const std::vector<cost::TimelineEvent> &timeline, int64_t numCores,
                const std::string &program, const std::string &device, std::ostream &os);

} // namespace spyre::report

#endif // SPYRE_REPORT_TRACE_H
