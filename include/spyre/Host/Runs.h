//===- Runs.h - Arrays whose rows are a few runs ----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Masks of attention are made of positions: a row and a column are compared, and what comes of
// it is chosen by. Each row is a few runs, of one number or of numbers that rise by one step (the
// positions themselves). Operations on such arrays are computed run by run: a mask of 32,768
// rows and columns is as many pairs of numbers, not a thousand million elements.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_HOST_RUNS_H
#define SPYRE_HOST_RUNS_H

#include "spyre/Host/Evaluate.h"

#include <optional>

namespace spyre::host {

/// Elements up to before `end` of a row: `value`, `value + step`, ...
struct Run {
  int64_t end = 0;
  double value = 0; ///< integers and truth values, too: up to 2^53
  int64_t step = 0; ///< not 0 only where all elements are integers that the type has
  /// The number \p i places behind its first one; -0 stays.
  double at(int64_t i) const { return step == 0 ? value : value + double(step) * double(i); }
  bool operator==(const Run &) const = default;
};

/// An array of floats, integers or truth values, row by row along its last dim.
struct RunArray {
  HostType dtype = HostType::Float32;
  std::vector<int64_t> shape; ///< of one dim at least
  std::vector<size_t> begin;  ///< of each row in `runs`, and behind the last
  std::vector<Run> runs;      ///< neighbours of a row are different

  int64_t getNumColumns() const { return shape.back(); }
  int64_t getNumRows() const { return static_cast<int64_t>(begin.size()) - 1; }
  std::span<const Run> getRow(int64_t row) const {
    return std::span(runs).subspan(begin[row], begin[row + 1] - begin[row]);
  }
  /// True if no run has a step.
  bool isConstantInRuns() const;
};

/// \p array, if its rows are \p mostRuns runs each, on average, or fewer.
std::optional<RunArray> findRuns(const Array &array, double mostRuns = 4);
/// The way back.
Array expand(const RunArray &runs);

/// An operand of an operation: an array of either kind, or what else an argument may be.
struct RunOperand {
  const RunArray *runs = nullptr; ///< if not null, in place of `argument`
  Argument argument;
};

/// The result of operation \p name of the host's table, of \p dtype and \p shape, if it is known
/// how to compute it run by run, exactly: creation, comparisons and integer arithmetic of
/// positions, and what is done element by element to runs of one number.
std::optional<RunArray> evaluateRuns(std::string_view name, std::span<const RunOperand> operands,
                                     HostType dtype, const std::vector<int64_t> &shape);

} // namespace spyre::host

#endif // SPYRE_HOST_RUNS_H
