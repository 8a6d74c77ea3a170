//===- SpyreOpsShard2.cpp - Generated definitions, part 2 -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One of three parts of the generated operation classes; see -op-shard-count.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/OpFunc/OpFuncTable.h"

using namespace mlir;
using namespace mlir::spyre;

#define GET_OP_DEFS_2
#include "spyre/Dialect/Spyre/IR/SpyreOps.cpp.inc"
