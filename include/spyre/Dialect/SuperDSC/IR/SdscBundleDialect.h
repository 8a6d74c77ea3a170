//===- SdscBundleDialect.h - The sdscbundle dialect -------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations of the dialect of bundle.mlir, and the names of the function
// attributes that carry a launch spec.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SUPERDSC_IR_SDSCBUNDLEDIALECT_H
#define SPYRE_DIALECT_SUPERDSC_IR_SDSCBUNDLEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "spyre/Dialect/SuperDSC/IR/SdscBundleDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "spyre/Dialect/SuperDSC/IR/SdscBundleTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "spyre/Dialect/SuperDSC/IR/SdscBundleAttributes.h.inc"

#define GET_OP_CLASSES
#include "spyre/Dialect/SuperDSC/IR/SdscBundleOps.h.inc"

namespace mlir::sdscbundle {

/// Function attributes, see the dialect's description.
inline constexpr llvm::StringLiteral kArgumentsAttr = "sdscbundle.arguments";
inline constexpr llvm::StringLiteral kPoolBytesAttr = "sdscbundle.pool_bytes";
inline constexpr llvm::StringLiteral kHasPoolAttr = "sdscbundle.has_pool";
inline constexpr llvm::StringLiteral kNumbersAttr = "sdscbundle.argument_numbers";

/// The parameters of a bundle function that are addresses, the pool's among them; the
/// others are sizes of symbolic dims.
unsigned getNumAddresses(Operation *function);
/// Whether a value of \p type is such a size.
bool isSizeType(Type type);

/// Whether \p name is a file directly inside the bundle directory.
bool isPlainFileName(llvm::StringRef name);

} // namespace mlir::sdscbundle

#endif // SPYRE_DIALECT_SUPERDSC_IR_SDSCBUNDLEDIALECT_H
