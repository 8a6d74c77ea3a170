//===- DeviceAccess.h - The fields of a device, once ------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One visitor over all fields with their names in a device file, so that
// reading, writing and checking cannot disagree. Numbers must be positive.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DEVICE_DEVICEACCESS_H
#define SPYRE_LIB_DEVICE_DEVICEACCESS_H

#include "spyre/Device/Device.h"

#include <string_view>

namespace spyre {

struct DeviceAccess {
  /// Calls \p visit(key, field) for each number of \p device but its rates.
  template <typename D, typename Visitor> static void visitFields(D &device, Visitor visit) {
    visit("cores", device.numCores);
    visit("corelets_per_core", device.numCoreletsPerCore);
    visit("lx_bytes", device.lxInBytes);
    visit("lx_usable_bytes", device.usableLXInBytes);
    visit("alignment_bytes", device.alignmentInBytes);
    visit("span_limit_bytes", device.spanLimitInBytes);
    visit("segments", device.numSegments);
    visit("segment_bytes", device.segmentInBytes);
    visit("memory_bytes", device.memoryInBytes);
    visit("max_tensors_per_op", device.maxTensorsPerOp);
    visit("nominal_memory_bytes_per_ns", device.nominalMemoryInBytesPerNs);
    visit("host_link_bytes_per_ns", device.hostLinkInBytesPerNs);
    visit("clock_ghz", device.clockInGHz);
    visit("ring_bytes_per_cycle", device.ringInBytesPerCycle);
    visit("multicast_readers", device.multicastReaders);
    visit("array_rows", device.arrayRows);
    visit("array_columns", device.arrayColumns);
  }

  /// The same for what the device does or does not.
  template <typename D, typename Visitor> static void visitFlags(D &device, Visitor visit) {
    visit("restickify_reads_lx", device.restickifyReadsLX);
    visit("relayouts", device.relayouts);
  }

  template <typename R, typename Visitor> static void visitRates(R &rates, Visitor visit) {
    visit("memory_bytes_per_ns", rates.memoryInBytesPerNs);
    visit("turnaround_ns_per_byte", rates.turnaroundInNsPerByte);
    visit("broadcast_bytes_per_ns", rates.broadcastInBytesPerNs);
    visit("stick_reduction_base_bytes_per_ns", rates.stickReductionBaseInBytesPerNs);
    visit("stick_reduction_gain_bytes_per_ns", rates.stickReductionGainInBytesPerNs);
    visit("stick_reduction_decay_rows", rates.stickReductionDecayInRows);
    visit("row_reduction_bytes_per_ns", rates.rowReductionInBytesPerNs);
    visit("restickify_bytes_per_ns", rates.restickifyInBytesPerNs);
    visit("sustained_macs_per_ns", rates.sustainedMacsPerNs);
    visit("nominal_macs_per_ns", rates.nominalMacsPerNs);
    visit("passes_to_fill_array", rates.passesToFillArray);
    visit("matmul_tile_elements", rates.matmulTileInElements);
    visit("partial_sum_hop_ns_per_element", rates.partialSumHopInNsPerElement);
    visit("tile_full_rows", rates.tileFullRows);
    visit("tile_row_exponent", rates.tileRowExponent);
    visit("tile_full_columns", rates.tileFullColumns);
    visit("tile_column_exponent", rates.tileColumnExponent);
    visit("tile_max_efficiency", rates.tileMaxEfficiency);
    visit("working_set_bytes", rates.workingSetInBytes);
    visit("working_set_exponent", rates.workingSetExponent);
    visit("operation_start_ns", rates.operationStartInNs);
    visit("vector_bytes_per_ns", rates.vectorInBytesPerNs);
  }

  /// Rates that may be 0, and that a device file may leave out: it takes no time then.
  static bool mayBeZero(std::string_view rate) {
    return rate == "operation_start_ns" || rate == "vector_bytes_per_ns";
  }

  static std::string &name(Device &device) { return device.name; }
  static DeviceRates &rates(Device &device) { return device.rates; }

  // The variants, in Variants.cpp.
  static Device makeSpyre();
  static Device makeSpyre202606();
  static Device makeSpyre202608();
  static Device makeMock4();
  static Device makeMock32();
};

} // namespace spyre

#endif // SPYRE_LIB_DEVICE_DEVICEACCESS_H
