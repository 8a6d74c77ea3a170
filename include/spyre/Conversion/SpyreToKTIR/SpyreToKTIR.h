//===- SpyreToKTIR.h - L3 to KTIR -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the pass convert-spyre-to-ktir; see Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_CONVERSION_SPYRETOKTIR_SPYRETOKTIR_H
#define SPYRE_CONVERSION_SPYRETOKTIR_SPYRETOKTIR_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::spyre {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "spyre/Conversion/SpyreToKTIR/Passes.h.inc"
} // namespace mlir::spyre

#endif // SPYRE_CONVERSION_SPYRETOKTIR_SPYRETOKTIR_H
