//===- SpyreToSuperDSC.h - L3 to SuperDSC -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass convert-spyre-to-superdsc (see Passes.td), and the emission that it is made of.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_CONVERSION_SPYRETOSUPERDSC_SPYRETOSUPERDSC_H
#define SPYRE_CONVERSION_SPYRETOSUPERDSC_SPYRETOSUPERDSC_H

#include "spyre/Target/SuperDSC/Bundle.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::spyre {

struct EmissionOptions {
  bool symbolic = true; ///< addresses of arguments and pool are symbols
  bool unroll = false;  ///< loops
};

/// The bundle of the planned function \p func, which stays as it is. Emits an error where
/// an operation cannot be a descriptor.
FailureOr<sdsc::Bundle> emitBundle(func::FuncOp func, EmissionOptions options);

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "spyre/Conversion/SpyreToSuperDSC/Passes.h.inc"
} // namespace mlir::spyre

#endif // SPYRE_CONVERSION_SPYRETOSUPERDSC_SPYRETOSUPERDSC_H
