//===- SdscDialect.h - The sdsc dialect -------------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations of the dialect of descriptors. To build a descriptor operation
// from data, and back: spyre/Target/SuperDSC/DescriptorConversion.h.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SUPERDSC_IR_SDSCDIALECT_H
#define SPYRE_DIALECT_SUPERDSC_IR_SDSCDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"

#include "spyre/SuperDSC/Descriptor.h"

#include "spyre/Dialect/SuperDSC/IR/SdscDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "spyre/Dialect/SuperDSC/IR/SdscTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "spyre/Dialect/SuperDSC/IR/SdscAttributes.h.inc"

#define GET_OP_CLASSES
#include "spyre/Dialect/SuperDSC/IR/SdscOps.h.inc"

#endif // SPYRE_DIALECT_SUPERDSC_IR_SDSCDIALECT_H
