//===- CostModel.h - Modelled time of device operations ---------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How long one device operation takes: the one model that work division, tiling,
// placement, reports and the emulator's clock use. First edition, from published
// measurements of single kernels; the numbers are the device's (DeviceRates), the
// formulas are here. All times are in ns. What it knows and does not know stands
// in lib/CostModel/CostModel.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COSTMODEL_COSTMODEL_H
#define SPYRE_COSTMODEL_COSTMODEL_H

#include "spyre/Device/Device.h"
#include "spyre/Device/MemorySpace.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace spyre::cost {

/// One operand as the operation touches it.
struct Operand {
  /// Bytes of the whole operand that all cores together touch, each once, in
  /// whole sticks.
  int64_t sizeInBytes = 0;
  MemorySpace memory = MemorySpace::HBM;
  bool isOutput = false;
  /// Smaller than the iteration space (outputs of reductions are not meant).
  bool isBroadcast = false;
};

/// Extents of a matmul and into how many work slices each is cut.
struct MatmulShape {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  int64_t batchSplit = 1, mSplit = 1, nSplit = 1, kSplit = 1;
};

struct OpProblem {
  CostClass costClass = CostClass::Pointwise;
  /// Inputs, then outputs. For matmul: x, y, result.
  std::vector<Operand> operands;
  int64_t numCores = 1;
  /// StickReduction: rows that are reduced, over all cores.
  int64_t rows = 1;
  std::optional<MatmulShape> matmul;
  /// Bytes that one core holds at a time; 0: not known.
  int64_t workingSetInBytes = 0;
  /// An op of a coarse tile: rows of a core's tile and its columns. 0: untiled.
  int64_t tileRowsPerCore = 0, tileColumns = 0;
  /// Of a relayout: what its messages take on the data ring (getRingInNs).
  double relayoutInNs = 0;
};

/// The parts overlap; the total is not their sum.
struct Estimate {
  double computeInNs = 0;
  double memoryInNs = 0;   ///< device memory; LX traffic is hidden
  double ringInNs = 0;     ///< partial sums of a split K
  double relayoutInNs = 0; ///< from scratchpad to scratchpad, on the data ring
  double vectorInNs = 0;   ///< vector units; 0 unless the rates say what they take
  double startInNs = 0;    ///< before all else; 0 unless the rates say so
  double totalInNs = 0;
  /// Device-memory traffic, rereads included.
  int64_t readInBytes = 0, writtenInBytes = 0;

  bool isComputeBound() const { return computeInNs > std::max(memoryInNs, vectorInNs); }
  bool isVectorBound() const { return vectorInNs > std::max(memoryInNs, computeInNs); }
};

/// \p problem must have what its cost class needs; Unspecified costs as pointwise.
Estimate estimate(const Device &device, const OpProblem &problem);

/// How long an operation keeps each engine, within its total and after its start. Loads come first,
/// stores last.
struct EngineTimes {
  double loadInNs = 0, storeInNs = 0; ///< of the device memory; together memoryInNs
  double arraysInNs = 0;              ///< systolic arrays
  double ringInNs = 0;                ///< both rings
  double vectorInNs = 0;              ///< 0: not known
};

/// The memory's time is shared by loads and stores as the bytes are.
EngineTimes getEngineTimes(const Estimate &estimate);

/// What no division of the operation among cores falls below: \p macs multiply-accumulates with all
/// arrays full, or what \p problem has in device memory moved once, at the rate of streams or at
/// that of its class where this is the better one. Never more than its estimate, if \p macs are the
/// matmul's or fewer.
double getLeastInNs(const Device &device, const OpProblem &problem, double macs);

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Streaming time of reads and writes together: the bus turns around.
double getStreamInNs(const DeviceRates &rates, double readInBytes, double writtenInBytes);
/// Read rate of a stand-alone reduction along \p rows rows.
double getStickReductionRate(const DeviceRates &rates, int64_t rows);
/// Share of the systolic array's rate at \p rowsPerCore rows of M.
double getArrayEfficiency(const Device &device, double rowsPerCore);
/// Share of the memory rate that a tiled kernel reaches.
double getTileEfficiency(const DeviceRates &rates, int64_t rowsPerCore, int64_t columns);
/// Share of the memory rate that is left at a core's working set.
double getWorkingSetEfficiency(const DeviceRates &rates, int64_t workingSetInBytes);

/// What no plan falls below that moves these bytes between device memory and cores once and
/// multiplies that often: the published rates with the turnaround, all arrays full. One that
/// skips what a mask hides may.
double getBoundInNs(const Device &device, double readInBytes, double writtenInBytes, double macs);

/// The incumbent's cost of a matmul's division, in its units (about us), for
/// comparison: it penalises splits of the batch and of a short M.
/// Infinity for more slices than the device has cores.
double getIncumbentMatmulCost(const Device &device, const MatmulShape &shape);

} // namespace spyre::cost

#endif // SPYRE_COSTMODEL_COSTMODEL_H
