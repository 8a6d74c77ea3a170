//===- Text.h - Numbers and words as the report prints them -----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to the report.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_REPORT_TEXT_H
#define SPYRE_LIB_REPORT_TEXT_H

#include "spyre/Report/ProgramReport.h"

#include <string>
#include <string_view>

namespace spyre::report {

/// Text of the program, for HTML and for attributes.
std::string escape(std::string_view text);

std::string fixed(double value, int digits);
/// "8.50", of a time in ns.
std::string microseconds(double ns);
/// "1.25 MB".
std::string bytes(double count);
/// "12.5 %" of \p part in \p whole; "0.0 %" of nothing.
std::string percent(double part, double whole);
/// "1 operation", "12 operations".
std::string counted(size_t number, std::string_view what);

/// "#12 batchmatmul": as drawings and tables call an operation.
std::string getLabel(const Operation &op, int64_t position);
/// Where it is from: "a.mlir:3:10, torch.aten.mm".
std::string getPlace(const Operation &op);
/// Its label, place, time, runs and bytes, in one sentence.
std::string describe(const Operation &op, int64_t position);

/// The id of an operation's row in the page.
std::string getAnchor(size_t function, int64_t position);
/// The class that colours jobs alike everywhere.
const char *getJobClass(Job job);
const char *getJobName(Job job);

} // namespace spyre::report

#endif // SPYRE_LIB_REPORT_TEXT_H
