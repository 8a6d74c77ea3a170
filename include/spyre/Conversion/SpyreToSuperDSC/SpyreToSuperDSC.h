//===- SpyreToSuperDSC.h - L3 to SuperDSC -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the pass convert-spyre-to-superdsc; see Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_CONVERSION_SPYRETOSUPERDSC_SPYRETOSUPERDSC_H
#define SPYRE_CONVERSION_SPYRETOSUPERDSC_SPYRETOSUPERDSC_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::spyre {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "spyre/Conversion/SpyreToSuperDSC/Passes.h.inc"
} // namespace mlir::spyre

#endif // SPYRE_CONVERSION_SPYRETOSUPERDSC_SPYRETOSUPERDSC_H
