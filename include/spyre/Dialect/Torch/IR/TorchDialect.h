//===- TorchDialect.h - The reader's torch dialect -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect and its types; what helps to look into operations is in TorchOps.h.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_TORCH_IR_TORCHDIALECT_H
#define SPYRE_DIALECT_TORCH_IR_TORCHDIALECT_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include "spyre/Dialect/Torch/IR/TorchDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "spyre/Dialect/Torch/IR/TorchTypes.h.inc"

#endif // SPYRE_DIALECT_TORCH_IR_TORCHDIALECT_H
