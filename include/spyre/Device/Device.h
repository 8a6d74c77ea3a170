//===- Device.h - Description of a device -----------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every hardware number that passes, cost model and emulator use, in one value.
// Published variants and mocks are found by name; a device file (JSON) describes
// others. Where each number comes from stands in lib/Device/Variants.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DEVICE_DEVICE_H
#define SPYRE_DEVICE_DEVICE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spyre {

/// Rates measured on a device. GB/s are bytes per ns. Rates.h replaces some of them.
struct DeviceRates {
  /// Device memory in one direction.
  double memoryInBytesPerNs = 0;
  /// Added for each byte of the smaller of reads and writes.
  double turnaroundInNsPerByte = 0;
  /// Reads and writes together of an operation with a broadcast operand.
  double broadcastInBytesPerNs = 0;
  /// Reads of a reduction along rows: min(memory, base + gain exp(-rows / decay)).
  double stickReductionBaseInBytesPerNs = 0;
  double stickReductionGainInBytesPerNs = 0;
  double stickReductionDecayInRows = 1;
  /// Reads of a reduction across rows.
  double rowReductionInBytesPerNs = 0;
  /// Reads and writes together of a restickify.
  double restickifyInBytesPerNs = 0;
  /// Multiply-accumulates of one core: what a long matmul sustains, and the peak.
  double sustainedMacsPerNs = 1;
  double nominalMacsPerNs = 1;
  /// Passes of the systolic array that fill its pipeline.
  double passesToFillArray = 1;
  /// A core's output tile beyond which matmul operands are read again.
  int64_t matmulTileInElements = 1;
  /// One ring hop of one partial sum.
  double partialSumHopInNsPerElement = 0;
  /// Tiled kernels: (rows / a)^b (columns / c)^d, at most e.
  double tileFullRows = 1, tileRowExponent = 0, tileFullColumns = 1, tileColumnExponent = 0,
         tileMaxEfficiency = 1;
  /// Beyond this working set of a core the memory rate falls with this power.
  int64_t workingSetInBytes = 1;
  double workingSetExponent = 0;
  /// Nobody has published what follows: 0, which stands for no time, is the device's, another
  /// number its user's. One execution of a descriptor begins.
  double operationStartInNs = 0;
  /// Bytes of operands, wherever they are, that the vector units of one core pass.
  double vectorInBytesPerNs = 0;

  bool operator==(const DeviceRates &) const = default;
};

class Device {
public:
  /// The variant \p name: "spyre", "spyre-2026-06", "spyre-2026-08", "mock4",
  /// "mock32".
  static std::optional<Device> lookup(std::string_view name);
  static std::vector<std::string_view> getVariantNames();
  /// A variant's name or the path of a device file; a message if it is neither
  /// or the file is wrong.
  static std::variant<Device, std::string> resolve(std::string_view nameOrFile);
  static std::variant<Device, std::string> fromJson(std::string_view text);
  std::string toJson() const;
  /// Everything that is wrong with the description.
  std::vector<std::string> check() const;

  const std::string &getName() const { return name; }
  int64_t getNumCores() const { return numCores; }
  int64_t getNumCoreletsPerCore() const { return numCoreletsPerCore; }
  /// A core's whole scratchpad, and what of it the compiler may use.
  int64_t getLXInBytes() const { return lxInBytes; }
  int64_t getUsableLXInBytes() const { return usableLXInBytes; }
  /// Every address and allocation is a multiple of it.
  int64_t getAlignmentInBytes() const { return alignmentInBytes; }
  /// Largest span of device memory that one core can address in one tensor.
  int64_t getSpanLimitInBytes() const { return spanLimitInBytes; }
  /// Virtual memory of a launch: segments, of which the last holds the program.
  int64_t getNumSegments() const { return numSegments; }
  int64_t getSegmentInBytes() const { return segmentInBytes; }
  int64_t getNumArgumentSegments() const { return numSegments - 1; }
  int64_t getMemoryInBytes() const { return memoryInBytes; }
  /// Most tensors of one descriptor.
  int64_t getMaxTensorsPerOp() const { return maxTensorsPerOp; }
  /// Nominal bandwidth of device memory.
  double getNominalMemoryInBytesPerNs() const { return nominalMemoryInBytesPerNs; }
  /// One direction of the link to the host.
  double getHostLinkInBytesPerNs() const { return hostLinkInBytesPerNs; }
  double getClockInGHz() const { return clockInGHz; }
  /// One direction of the ring, a cycle; readers that share one transfer.
  int64_t getRingInBytesPerCycle() const { return ringInBytesPerCycle; }
  int64_t getMulticastReaders() const { return multicastReaders; }
  /// Systolic array of a corelet. M streams in passes of getArrayRows() rows.
  int64_t getArrayRows() const { return arrayRows; }
  int64_t getArrayColumns() const { return arrayColumns; }
  /// A restickify may read from LX what every core wrote there itself.
  bool getRestickifyReadsLX() const { return restickifyReadsLX; }
  /// A descriptor may move data between the cores' LX, also to several cores.
  bool getRelayouts() const { return relayouts; }
  const DeviceRates &getRates() const { return rates; }
  /// The same device with \p other rates, which are not checked.
  Device withRates(const DeviceRates &other) const {
    Device device = *this;
    device.rates = other;
    return device;
  }

  bool operator==(const Device &) const = default;

private:
  friend struct DeviceAccess;

  std::string name;
  int64_t numCores = 0;
  int64_t numCoreletsPerCore = 0;
  int64_t lxInBytes = 0;
  int64_t usableLXInBytes = 0;
  int64_t alignmentInBytes = 0;
  int64_t spanLimitInBytes = 0;
  int64_t numSegments = 0;
  int64_t segmentInBytes = 0;
  int64_t memoryInBytes = 0;
  int64_t maxTensorsPerOp = 0;
  double nominalMemoryInBytesPerNs = 0;
  double hostLinkInBytesPerNs = 0;
  double clockInGHz = 0;
  int64_t ringInBytesPerCycle = 0;
  int64_t multicastReaders = 0;
  int64_t arrayRows = 0;
  int64_t arrayColumns = 0;
  bool restickifyReadsLX = false;
  bool relayouts = false;
  DeviceRates rates;
};

} // namespace spyre

#endif // SPYRE_DEVICE_DEVICE_H
