//===- TorchToSpyre.h - torch to L1 -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the passes on operations of torch; see Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_CONVERSION_TORCHTOSPYRE_TORCHTOSPYRE_H
#define SPYRE_CONVERSION_TORCHTOSPYRE_TORCHTOSPYRE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::spyre {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "spyre/Conversion/TorchToSpyre/Passes.h.inc"

/// \p shape as the option of spyre-specialize-shapes has it.
std::string toShapeText(ArrayRef<int64_t> shape);
} // namespace mlir::spyre

#endif // SPYRE_CONVERSION_TORCHTOSPYRE_TORCHTOSPYRE_H
