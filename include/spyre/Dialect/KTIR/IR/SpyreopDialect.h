//===- SpyreopDialect.h - The spyreop dialect of KTIR -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations of the dialect.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_KTIR_IR_SPYREOPDIALECT_H
#define SPYRE_DIALECT_KTIR_IR_SPYREOPDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "spyre/Dialect/KTIR/IR/SpyreopDialect.h.inc"
#include "spyre/Dialect/KTIR/IR/SpyreopEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "spyre/Dialect/KTIR/IR/SpyreopAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "spyre/Dialect/KTIR/IR/SpyreopTypes.h.inc"

#define GET_OP_CLASSES
#include "spyre/Dialect/KTIR/IR/SpyreopOps.h.inc"

#endif // SPYRE_DIALECT_KTIR_IR_SPYREOPDIALECT_H
