//===- ModuleDevice.h - The device of a program -----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one way in which passes get the description of the device.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_IR_MODULEDEVICE_H
#define SPYRE_DIALECT_SPYRE_IR_MODULEDEVICE_H

#include "spyre/Device/Device.h"

#include "mlir/IR/Operation.h"

namespace mlir::spyre {

/// The device that the module of \p op names, or the default one. Emits an error
/// if there is no such variant.
FailureOr<::spyre::Device> getDevice(Operation *op);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_IR_MODULEDEVICE_H
