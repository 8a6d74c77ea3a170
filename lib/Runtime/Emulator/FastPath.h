//===- FastPath.h - Walking work slices stick by stick ----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the faster ways share. They serve unchecked runs of operations whose
// operands have whole sticks along the result's rows; everything else goes row by
// row (Structures.cpp), and both give the same bits. Private to the emulator.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_RUNTIME_EMULATOR_FASTPATH_H
#define SPYRE_LIB_RUNTIME_EMULATOR_FASTPATH_H

#include "Execution.h"

namespace spyre::runtime {

/// The places of a slice as nested loops, outermost first, with what each operand
/// advances by.
struct Walk {
  static constexpr int kMaxOperands = 6;
  static constexpr int kMaxLevels = 16;
  struct Level {
    int64_t extent = 1;
    int64_t stride[kMaxOperands] = {}; ///< bytes; operand 0 decides the order
    int dim = -1;                      ///< of the operation; -1: several were merged
  };
  std::vector<Level> levels;

  /// Memory order of operand 0 becomes the order of the loops, the innermost loop the
  /// one with the smallest steps. Loops that go on where another ends are merged.
  void finish(int numOperands, bool merge);
  int64_t getNumPlaces() const {
    int64_t places = 1;
    for (const Level &level : levels)
      places *= level.extent;
    return places;
  }

  /// Calls run(offsets, index, rows, count) for places \p begin to \p end, tiles of at
  /// most \p most places at a time: \c count steps of the innermost loop, and that in
  /// \c rows steps of the one around it; the operands' offsets at the first place, and the
  /// loops' variables there.
  template <typename Fn>
  void forEachTile(int64_t begin, int64_t end, int numOperands, int64_t most, const Fn &run) const {
    int64_t index[kMaxLevels], offsets[kMaxOperands];
    int last = static_cast<int>(levels.size()) - 1;
    int64_t inner = levels[last].extent, rest = begin;
    for (int level = last; level >= 0; --level) {
      index[level] = rest % levels[level].extent;
      rest /= levels[level].extent;
    }
    while (begin < end) {
      for (int i = 0; i < numOperands; ++i) {
        offsets[i] = 0;
        for (int level = 0; level <= last; ++level)
          offsets[i] += index[level] * levels[level].stride[i];
      }
      int64_t rows = 1, count = std::min({end - begin, inner - index[last], most});
      if (last > 0 && count == inner)
        rows = std::max<int64_t>(1, std::min({levels[last - 1].extent - index[last - 1],
                                              (end - begin) / inner, most / inner}));
      run(offsets, index, rows, count);
      begin += rows * count;
      if (count == inner)
        index[last - (last > 0)] += last > 0 ? rows : count;
      else
        index[last] += count;
      for (int level = last; level > 0; --level)
        if (index[level] == levels[level].extent) {
          index[level] = 0;
          ++index[level - 1];
        }
    }
  }

  /// The same a run of the innermost loop at a time: run(offsets, index, count).
  template <typename Fn>
  void forEachRun(int64_t begin, int64_t end, int numOperands, const Fn &run) const {
    int64_t inner = levels.back().extent;
    forEachTile(begin, end, numOperands, inner,
                [&](const int64_t *offsets, const int64_t *index, int64_t, int64_t count) {
                  run(offsets, index, count);
                });
  }
};

/// Bytes and count of the steps between an operand's sticks, large ones first.
std::vector<std::pair<int64_t, int64_t>> getSteps(const Operand &operand);

/// Whether elements of \p a and \p b at the same place of the operation are a
/// constant distance apart on all cores.
bool haveSameSteps(const Operand &a, const Operand &b);

/// Whether a stick of one operand and one of another may be the same, for any of
/// their start addresses.
class OverlapTest {
public:
  OverlapTest(const Operand &a, const Operand &b);
  bool mayOverlap(int64_t startA, int64_t startB) const;

private:
  bool meet(size_t level, int64_t distance, int &budget) const;
  int64_t endA, endB;
  bool sameSteps;
  std::vector<std::pair<int64_t, int64_t>> steps; ///< of both, if they are the same
  std::vector<int64_t> spans;                     ///< of what the steps from a level on reach
};

/// Whether a core's \p a and its \p b may share a stick.
bool mayMeetOnOneCore(const Operand &a, const Operand &b);
/// Whether their addresses overlap, whatever the core.
bool mayMeetOnAnyCore(const Operand &a, const Operand &b);

/// Whether rows along \p dim are made of whole sticks of it, \p lanes lanes of which
/// all are in memory, and no other dim is in the stick.
bool hasWholeSticks(const Operand &operand, int dim, int64_t length, int64_t lanes);
/// Whether \p operand has no stick dim of more than one element but \p dim.
bool hasPlainSteps(const Operand &operand, int dim);

} // namespace spyre::runtime

#endif // SPYRE_LIB_RUNTIME_EMULATOR_FASTPATH_H
