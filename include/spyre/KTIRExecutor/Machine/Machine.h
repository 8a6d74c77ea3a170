//===- Machine.h - Runs the compute tiles of a program ----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each compute tile has slots, an LX and a place in the program. Tiles that do not
// communicate run one after another or in threads; others run in turn, each until it waits
// for one that has not produced yet, always in the same order. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_KTIREXECUTOR_MACHINE_MACHINE_H
#define SPYRE_KTIREXECUTOR_MACHINE_MACHINE_H

#include "spyre/KTIRExecutor/Machine/Memory.h"
#include "spyre/KTIRExecutor/Machine/Value.h"

#include <map>
#include <string>
#include <vector>

namespace spyre::ktir {

struct Program;

struct MachineOptions {
  /// Compute tiles in descending order.
  bool isReversed = false;
  /// Every result is rounded to its type; else only what is stored.
  bool roundsEach = true;
  /// A place that a view does not own reads as zero and drops what is written; else an error.
  bool readsZeroOutOfBounds = false;
  /// Loads of what nobody has written, races between tiles and too much in LX are errors.
  bool isChecked = false;
  /// For tiles that do not communicate; 0: as many as the machine has.
  unsigned threads = 1;
  /// LX of one compute tile.
  int64_t lxInBytes = 0;
};

/// What a run has done, over all tiles.
struct MachineStats {
  int64_t instructions = 0;
  int64_t readInBytes = 0, writtenInBytes = 0;   ///< of device memory, elements only
  int64_t readInSticks = 0, writtenInSticks = 0; ///< distinct sticks, access by access
  int64_t exchangedInBytes = 0;                  ///< of partials that other tiles have taken
  int64_t peakLXInBytes = 0;                     ///< of one tile: ct_local views and live tensors
};

/// Runs \p program on \p memory. An empty string: it worked; else what is wrong, with the place
/// in the kernel's text, the operation and the tile.
/// \p lx: what the LX of some tiles holds, before and after.
std::string runProgram(const Program &program, Memory &memory, const std::vector<Datum> &arguments,
                       const MachineOptions &options, MachineStats *stats = nullptr,
                       std::map<int64_t, Memory> *lx = nullptr);

} // namespace spyre::ktir

#endif // SPYRE_KTIREXECUTOR_MACHINE_MACHINE_H
