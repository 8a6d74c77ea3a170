//===- CostModel.cpp - Modelled time of device operations -------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formulas of the first edition, from measurements of single kernels.
//
// In it: the one-way rate of device memory and the turnaround between reads and
// writes; rates of broadcasts, reductions and restickify; matmul as the longer
// of compute and memory with rereads of large tiles and contention for shared
// operands, plus the ring hops of a split K; small tiles and large working sets.
// LX traffic and pointwise arithmetic cost nothing beside device memory, and the
// number of cores has no effect on the memory rate.
//
// Not in it: launch and descriptor overheads, imperfect hiding of matmul's loads
// (the sum comes out 22 to 31 % low), stick-plane transports (the coefficients
// of their measured law are not published) and overlap between operations. Relayouts
// take what their busiest link of the ring takes (Clock.cpp). Published times of a whole softmax
// kernel on one core are below what these rates give for its operations one by
// one, so the rates must not be summed into a prediction of fused kernels.
//
//===----------------------------------------------------------------------===//

#include "spyre/CostModel/CostModel.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

using namespace spyre;
using namespace spyre::cost;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

double cost::getStreamInNs(const DeviceRates &rates, double readInBytes, double writtenInBytes) {
  return (readInBytes + writtenInBytes) / rates.memoryInBytesPerNs +
         rates.turnaroundInNsPerByte * std::min(readInBytes, writtenInBytes);
}

double cost::getStickReductionRate(const DeviceRates &rates, int64_t rows) {
  double rate = rates.stickReductionBaseInBytesPerNs +
                rates.stickReductionGainInBytesPerNs *
                    std::exp(-double(rows) / rates.stickReductionDecayInRows);
  return std::min(rates.memoryInBytesPerNs, rate);
}

double cost::getArrayEfficiency(const Device &device, double rowsPerCore) {
  double passes = rowsPerCore / double(device.getArrayRows());
  return std::min(1.0, std::sqrt(passes / device.getRates().passesToFillArray));
}

double cost::getBoundInNs(const Device &device, double readInBytes, double writtenInBytes,
                          double macs) {
  const DeviceRates &rates = device.getRates();
  return std::max(getStreamInNs(rates, readInBytes, writtenInBytes),
                  macs / (rates.sustainedMacsPerNs * double(device.getNumCores())));
}

double cost::getTileEfficiency(const DeviceRates &rates, int64_t rowsPerCore, int64_t columns) {
  double share = std::pow(double(rowsPerCore) / rates.tileFullRows, rates.tileRowExponent) *
                 std::pow(double(columns) / rates.tileFullColumns, rates.tileColumnExponent);
  return std::min(rates.tileMaxEfficiency, share);
}

double cost::getWorkingSetEfficiency(const DeviceRates &rates, int64_t workingSetInBytes) {
  if (workingSetInBytes <= rates.workingSetInBytes)
    return 1;
  return std::pow(double(rates.workingSetInBytes) / double(workingSetInBytes),
                  rates.workingSetExponent);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {

/// Bytes in device memory.
struct Traffic {
  double read = 0, written = 0;
  bool hasBroadcast = false;
};

Traffic getTraffic(const std::vector<Operand> &operands) {
  Traffic traffic;
  for (const Operand &operand : operands) {
    // The rate is a property of such operations, wherever the operand is.
    traffic.hasBroadcast |= operand.isBroadcast;
    if (operand.memory == MemorySpace::HBM)
      (operand.isOutput ? traffic.written : traffic.read) += double(operand.sizeInBytes);
  }
  return traffic;
}

/// Bytes of all operands, wherever they are.
double countBytes(const std::vector<Operand> &operands) {
  double bytes = 0;
  for (const Operand &operand : operands)
    bytes += double(operand.sizeInBytes);
  return bytes;
}

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// How often x and y are read when an output tile is made in \p parts parts that
/// are arranged for least traffic.
std::pair<int64_t, int64_t> getReads(int64_t parts, int64_t xInBytes, int64_t yInBytes) {
  std::pair<int64_t, int64_t> best{parts, 1};
  for (int64_t columns = 1; columns <= parts; ++columns) {
    std::pair<int64_t, int64_t> reads{columns, ceilDiv(parts, columns)};
    if (double(reads.first) * double(xInBytes) + double(reads.second) * double(yInBytes) <
        double(best.first) * double(xInBytes) + double(best.second) * double(yInBytes))
      best = reads;
  }
  return best;
}

/// Memory time of everything but matmul.
double getMemoryInNs(const DeviceRates &rates, const OpProblem &problem, const Traffic &traffic) {
  double stream = getStreamInNs(rates, traffic.read, traffic.written);
  switch (problem.costClass) {
  case CostClass::StickReduction:
    // The measured read rate includes the kernel's own small output.
    if (traffic.read > 0)
      return traffic.read / getStickReductionRate(rates, problem.rows);
    return stream;
  case CostClass::RowReduction:
    if (traffic.read > 0)
      return traffic.read / rates.rowReductionInBytesPerNs;
    return stream;
  case CostClass::Restickify:
    if (traffic.read > 0 && traffic.written > 0)
      return (traffic.read + traffic.written) / rates.restickifyInBytesPerNs;
    return stream;
  default:
    if (traffic.hasBroadcast)
      return std::min(stream, (traffic.read + traffic.written) / rates.broadcastInBytesPerNs);
    return stream;
  }
}

Estimate estimateMatmul(const Device &device, const OpProblem &problem) {
  const DeviceRates &rates = device.getRates();
  assert(problem.matmul && problem.operands.size() == 3 && "a matmul has a shape and x, y, result");
  const MatmulShape &s = *problem.matmul;
  Estimate estimate;

  double macs = double(s.batch) * double(s.m) * double(s.n) * double(s.k);
  int64_t cores = s.batchSplit * s.mSplit * s.nSplit * s.kSplit;
  int64_t rowsPerCore = std::max<int64_t>(1, s.m / s.mSplit);
  int64_t columnsPerCore = std::max<int64_t>(1, s.n / s.nSplit);
  estimate.computeInNs =
      macs / double(cores) /
      (rates.sustainedMacsPerNs * getArrayEfficiency(device, double(rowsPerCore)));

  // An output tile that is too large is made in parts: cut along N, each part
  // reads x again, cut along M, y again.
  const Operand &x = problem.operands[0], &y = problem.operands[1], &out = problem.operands[2];
  auto [xReads, yReads] =
      getReads(ceilDiv(rowsPerCore * columnsPerCore, rates.matmulTileInElements),
               x.memory == MemorySpace::HBM ? x.sizeInBytes : 0,
               y.memory == MemorySpace::HBM ? y.sizeInBytes : 0);
  double xBytes = double(x.sizeInBytes) * double(xReads);
  double yBytes = double(y.sizeInBytes) * double(yReads);
  // x is the same for all slices of N, y for all of M. Beyond the readers that
  // one multicast serves, they queue.
  auto queue = [&](int64_t readers) {
    return std::max(1.0, double(readers) / double(device.getMulticastReaders()));
  };
  double readInNs = 0, read = 0, written = 0;
  if (x.memory == MemorySpace::HBM) {
    read += xBytes;
    readInNs += xBytes / rates.memoryInBytesPerNs * queue(s.nSplit);
  }
  if (y.memory == MemorySpace::HBM) {
    read += yBytes;
    readInNs += yBytes / rates.memoryInBytesPerNs * queue(s.mSplit);
  }
  if (out.memory == MemorySpace::HBM)
    written = double(out.sizeInBytes);
  estimate.memoryInNs = readInNs + written / rates.memoryInBytesPerNs +
                        rates.turnaroundInNsPerByte * std::min(read, written);
  estimate.readInBytes = int64_t(read);
  estimate.writtenInBytes = int64_t(written);

  double outputs = double(s.batch) * double(s.m) * double(s.n);
  estimate.ringInNs = double(s.kSplit - 1) * outputs * rates.partialSumHopInNsPerElement;
  return estimate;
}

} // namespace

Estimate cost::estimate(const Device &device, const OpProblem &problem) {
  const DeviceRates &rates = device.getRates();
  Estimate estimate;
  if (problem.costClass == CostClass::Matmul) {
    estimate = estimateMatmul(device, problem);
  } else {
    Traffic traffic = getTraffic(problem.operands);
    estimate.memoryInNs = getMemoryInNs(rates, problem, traffic);
    estimate.readInBytes = int64_t(traffic.read);
    estimate.writtenInBytes = int64_t(traffic.written);
    if (rates.vectorInBytesPerNs > 0)
      estimate.vectorInNs =
          countBytes(problem.operands) /
          (rates.vectorInBytesPerNs * double(std::max<int64_t>(1, problem.numCores)));
  }
  double efficiency = getWorkingSetEfficiency(rates, problem.workingSetInBytes);
  if (problem.tileRowsPerCore > 0 && problem.tileColumns > 0)
    efficiency *= getTileEfficiency(rates, problem.tileRowsPerCore, problem.tileColumns);
  estimate.memoryInNs /= efficiency;
  estimate.startInNs = rates.operationStartInNs;
  estimate.relayoutInNs = problem.relayoutInNs;
  estimate.totalInNs = std::max({estimate.computeInNs, estimate.memoryInNs, estimate.vectorInNs}) +
                       estimate.ringInNs + estimate.relayoutInNs + estimate.startInNs;
  return estimate;
}

EngineTimes cost::getEngineTimes(const Estimate &estimate) {
  EngineTimes times;
  double bytes = double(estimate.readInBytes) + double(estimate.writtenInBytes);
  times.loadInNs = bytes > 0 ? estimate.memoryInNs * double(estimate.readInBytes) / bytes : 0;
  times.storeInNs = estimate.memoryInNs - times.loadInNs;
  times.arraysInNs = estimate.computeInNs;
  times.ringInNs = estimate.ringInNs + estimate.relayoutInNs;
  times.vectorInNs = estimate.vectorInNs;
  return times;
}

double cost::getLeastInNs(const Device &device, const OpProblem &problem, double macs) {
  const DeviceRates &rates = device.getRates();
  Traffic traffic = getTraffic(problem.operands);
  double least = getBoundInNs(device, traffic.read, traffic.written, 0);
  if (problem.costClass != CostClass::Matmul)
    least = std::min(least, getMemoryInNs(rates, problem, traffic));
  return std::max(least, getBoundInNs(device, 0, 0, macs));
}

//===----------------------------------------------------------------------===//
// The incumbent
//===----------------------------------------------------------------------===//

double cost::getIncumbentMatmulCost(const Device &device, const MatmulShape &s) {
  const DeviceRates &rates = device.getRates();
  double b = double(s.batch), m = double(s.m), n = double(s.n), k = double(s.k);
  double cores = double(s.batchSplit * s.mSplit * s.nSplit * s.kSplit);
  if (cores > double(device.getNumCores()))
    return std::numeric_limits<double>::infinity();
  double passes = std::max(1.0, double(s.m / s.mSplit) / double(device.getArrayRows()));
  double full = rates.passesToFillArray;
  double efficiency = std::min(1.0, std::sqrt(passes / full));
  constexpr double kNsPerUs = 1e3;
  double compute = b * m * n * k / cores / (rates.nominalMacsPerNs * kNsPerUs * efficiency);
  double memory =
      2 * (b * m * k + b * k * n + b * m * n) / (device.getNominalMemoryInBytesPerNs() * kNsPerUs) *
      std::max(1.0, double(std::max(s.mSplit, s.nSplit)) / double(device.getMulticastReaders()));
  double partialSums =
      double(s.kSplit - 1) * b * m * n * rates.partialSumHopInNsPerElement / kNsPerUs;
  // Prefers an array that is full, and batches that stay whole: weights of the
  // incumbent's search, not properties of the device.
  double tie = passes >= full ? 0 : 50 * std::log2(full / passes);
  return (compute + memory + partialSums + tie) * std::pow(double(s.batchSplit), 1.4);
}
