//===- DeviceLimits.h - A device's limits for the verifier ------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that says which of a device's numbers bound a descriptor. A header
// only, so that the library of descriptors does not depend on the device library.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SUPERDSC_DEVICELIMITS_H
#define SPYRE_SUPERDSC_DEVICELIMITS_H

#include "spyre/Device/Device.h"
#include "spyre/SuperDSC/Verify.h"

namespace spyre::sdsc {

inline Limits getLimits(const Device &device) {
  Limits limits;
  limits.numCores = device.getNumCores();
  limits.numCoreletsPerCore = device.getNumCoreletsPerCore();
  limits.spanInBytes = device.getSpanLimitInBytes();
  limits.lxInBytes = device.getLXInBytes();
  return limits;
}

} // namespace spyre::sdsc

#endif // SPYRE_SUPERDSC_DEVICELIMITS_H
