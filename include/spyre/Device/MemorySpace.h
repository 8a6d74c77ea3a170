//===- MemorySpace.h - The memories of the device ----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What plans, descriptors, costs and the dialects call the memories that operations
// read and write, and how a place in them is given.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DEVICE_MEMORYSPACE_H
#define SPYRE_DEVICE_MEMORYSPACE_H

#include "spyre/Support/EnumNames.h"

#include <cstdint>

namespace spyre {

/// A memory that operations read and write: device memory, or the cores' scratchpads.
enum class MemorySpace : uint8_t { HBM, LX };

template <> struct EnumNames<MemorySpace> {
  static constexpr std::string_view kNames[] = {"hbm", "lx"};
};

/// How the address of a buffer is given.
enum class PlacementKind : uint8_t {
  HBM,  ///< absolute device address
  Pool, ///< offset in the bundle's pool, which is device memory
  LX,   ///< offset in every core's scratchpad
};

template <> struct EnumNames<PlacementKind> {
  static constexpr std::string_view kNames[] = {"hbm", "pool", "lx"};
};

} // namespace spyre

#endif // SPYRE_DEVICE_MEMORYSPACE_H
