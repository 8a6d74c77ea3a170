//===- TimeAxis.h - Operations and loops over modelled time -----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The axis that the drawings of a function share: operations follow each other, each as
// wide as all its runs in one launch take; a loop is drawn once, as a bracket over its
// operations. Where there is room every operation gets a sliver, also those that take no
// time in the model. Private to the report.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_REPORT_TIMEAXIS_H
#define SPYRE_LIB_REPORT_TIMEAXIS_H

#include "Svg.h"

#include "spyre/Report/ProgramReport.h"

#include <vector>

namespace spyre::report {

/// What is drawn as one: an operation, or several that are too narrow by themselves.
struct Slot {
  int64_t first = 0, last = 0; ///< positions of operations
  double begin = 0, end = 0;   ///< pixels
};

class TimeAxis {
public:
  /// From pixel \p left to \p right. \p function outlives the axis.
  TimeAxis(const Function &function, double left, double right);

  double getBegin(int64_t op) const { return edges[size_t(op)]; }
  double getEnd(int64_t op) const { return edges[size_t(op) + 1]; }
  const std::vector<Slot> &getSlots() const { return slots; }
  /// What a launch takes.
  double getTimeInNs() const { return times.back(); }
  /// The operation that takes most of \p slot.
  int64_t getLongest(const Slot &slot) const;
  /// What to say of \p slot.
  std::string describe(const Slot &slot) const;

  /// Pixels that the brackets of loops and launches need.
  double getLoopsHeight() const;
  /// Brackets from \p top on, the outermost above, and where loops begin and end down to
  /// \p bottom.
  void writeLoops(Svg &svg, double top, double bottom) const;
  /// One box an operation, by its job, with its name where there is room.
  void writeOperations(Svg &svg, double top, double height) const;
  /// Ticks at round times below \p top, with labels.
  void writeTicks(Svg &svg, double top) const;

private:
  double getTimeOf(int64_t op) const { return times[size_t(op) + 1] - times[size_t(op)]; }
  double toPixels(double ns) const;
  /// \p number: trips, which stand alone where \p label finds no room.
  void writeBracket(Svg &svg, double begin, double end, double top, double bottom, int64_t number,
                    const std::string &label, const std::string &title) const;

  const Function &function;
  std::vector<double> edges; ///< pixels: where operations begin, and the end
  std::vector<double> times; ///< the same in ns
  std::vector<Slot> slots;
};

} // namespace spyre::report

#endif // SPYRE_LIB_REPORT_TIMEAXIS_H
