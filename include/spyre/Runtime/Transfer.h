//===- Transfer.h - Tensors between host and device layout ------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Host-device conversion (DCI): where each element of an argument sits in device
// memory, and the copies in both directions with conversion of the numbers. The
// layout is that of the argument's record: device sizes and host elements per
// step of each. Lanes without a host element are tails: copy-in writes zero
// there, copy-out never reads them. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_RUNTIME_TRANSFER_H
#define SPYRE_RUNTIME_TRANSFER_H

#include "spyre/Numerics/NumberCounts.h"
#include "spyre/Runtime/Artifacts.h"
#include "spyre/Runtime/Memory.h"

#include <algorithm>
#include <functional>

namespace spyre::runtime {

/// The bytes of a host array: its own, or borrowed from a caller who keeps them alive and
/// unchanged. Borrowed bytes are copied when somebody asks to change them, never written.
class HostBytes {
public:
  HostBytes() = default;
  HostBytes(std::vector<uint8_t> bytes) : owned(std::move(bytes)) {}
  static HostBytes borrow(const void *bytes, size_t size) {
    HostBytes result;
    result.borrowed = static_cast<const uint8_t *>(bytes);
    result.borrowedSize = size;
    return result;
  }

  size_t size() const { return borrowed ? borrowedSize : owned.size(); }
  bool empty() const { return size() == 0; }
  const uint8_t *data() const { return borrowed ? borrowed : owned.data(); }
  const uint8_t &operator[](size_t i) const { return data()[i]; }
  const uint8_t *begin() const { return data(); }
  const uint8_t *end() const { return data() + size(); }
  uint8_t *data() { return own().data(); }
  uint8_t &operator[](size_t i) { return own()[i]; }
  void resize(size_t size) { own().resize(size); }
  /// The bytes themselves, to be moved from.
  std::vector<uint8_t> &own() {
    if (borrowed)
      owned.assign(borrowed, borrowed + borrowedSize);
    borrowed = nullptr;
    return owned;
  }
  operator std::vector<uint8_t>() const { return {begin(), end()}; }
  bool operator==(const HostBytes &other) const {
    return size() == other.size() && std::equal(begin(), end(), other.begin());
  }

private:
  std::vector<uint8_t> owned;
  const uint8_t *borrowed = nullptr;
  size_t borrowedSize = 0;
};

/// A dense row-major array on the host.
struct HostTensor {
  HostType dtype = HostType::Float16;
  std::vector<int64_t> shape;
  HostBytes data;

  int64_t getNumElements() const;
  /// Zeros.
  static HostTensor create(HostType dtype, std::vector<int64_t> shape);
};

/// One device dim as a digit of one host dim: coordinate += factor * position.
/// hostDim -1: synthetic; only position 0 holds elements.
struct DeviceDigit {
  int hostDim = -1;
  int64_t factor = 0;
};

/// "float16 [32, 96]".
std::string describeArray(HostType dtype, const std::vector<int64_t> &shape);
/// "float16 [32, 96] in SEN169_FP16 [2, 32, 64]", with the host elements a step of each
/// device dim where \p strides asks for them.
std::string describeLayout(const ArgumentSpec &spec, bool strides = false);
/// Whether a buffer in one layout can be read in the other.
bool haveSameLayout(const ArgumentSpec &a, const ArgumentSpec &b);
/// "float16 [32, 96] in SEN169_FP16 [2, 32, 64], not ...": both sides of a difference.
std::string describeDifference(const ArgumentSpec &is, const ArgumentSpec &wanted);

/// What each device dim of \p spec counts. An error if its stride_map describes
/// no arrangement of the whole host array.
Result<std::vector<DeviceDigit>> getDeviceDigits(const ArgumentSpec &spec);

/// Bytes of the argument in device memory.
Result<int64_t> getDeviceSizeInBytes(const ArgumentSpec &spec);

/// Called with (byte offset, bytes) of each run of elements in device memory.
using RunCallback = std::function<void(int64_t, int64_t)>;

/// Bytes between elements are the device format's width: element p of the
/// row-major device array is at \c device + p * width. \p wrote, if given, is told
/// where elements are; everything else is padding. \p counts, if given, gets the numbers that
/// the device cannot tell or hold added.
std::optional<Error> copyToDevice(const ArgumentSpec &spec, const HostTensor &host, uint8_t *device,
                                  const RunCallback &wrote = nullptr,
                                  NumberCounts *counts = nullptr);
/// \p checkRead, if given, is told what is read. \p counts: as above, of the device's codes.
std::optional<Error> copyToHost(const ArgumentSpec &spec, const uint8_t *device, HostTensor &host,
                                const RunCallback &checkRead = nullptr,
                                NumberCounts *counts = nullptr);

/// The content of a constant argument: every lane is spec.value.
std::optional<Error> fillConstant(const ArgumentSpec &spec, uint8_t *device, int64_t sizeInBytes);

} // namespace spyre::runtime

#endif // SPYRE_RUNTIME_TRANSFER_H
