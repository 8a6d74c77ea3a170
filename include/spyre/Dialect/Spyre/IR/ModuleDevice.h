//===- ModuleDevice.h - The device of a program -----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one way in which passes get the description of the device: the variant that the
// module names (`spyre.device`), with the rates that it gives itself (`spyre.rates`).
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_IR_MODULEDEVICE_H
#define SPYRE_DIALECT_SPYRE_IR_MODULEDEVICE_H

#include "spyre/Device/Rates.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Operation.h"

namespace mlir::spyre {

/// The device that the module of \p op names, or the default one, with the rates of the
/// module. Emits an error if there is no such variant or rates do not fit to it.
FailureOr<::spyre::Device> getDevice(Operation *op);

/// The rates that \p module replaces; none if it has no `spyre.rates`.
::spyre::RateValues getRates(ModuleOp module);
/// Adds \p values to the rates that \p module replaces; they win over those that it has.
void addRates(ModuleOp module, const ::spyre::RateValues &values);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_IR_MODULEDEVICE_H
