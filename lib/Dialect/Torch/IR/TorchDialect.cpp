//===- TorchDialect.cpp - The reader's torch dialect -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration. Operations are unknown to MLIR on purpose: see Torch.td.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Torch/IR/TorchDialect.h"

using namespace mlir;
using namespace mlir::torch_reader;

#include "spyre/Dialect/Torch/IR/TorchDialect.cpp.inc"

void TorchDialect::initialize() {
  allowUnknownOperations();
  registerTypes();
}
