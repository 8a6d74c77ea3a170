//===- FoldScalars.h - Arithmetic on constant numbers -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of torch that give an int, float or bool of known ones, or of sizes.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_CONVERSION_TORCHTOSPYRE_FOLDSCALARS_H
#define SPYRE_LIB_CONVERSION_TORCHTOSPYRE_FOLDSCALARS_H

#include "mlir/IR/Builders.h"

namespace mlir::spyre::torch_lowering {

/// A constant int, before the insertion point of \p builder.
Value buildConstantInt(OpBuilder &builder, Location loc, int64_t value);

/// Puts constants in the place of what \p op gives, if that is a number, or a list of
/// numbers (`aten.size`), that its operands tell, and erases it. False: nothing happened.
/// Numbers that int64 cannot hold are left to the program, and so are divisions by zero.
bool foldScalars(Operation *op, OpBuilder &builder);

} // namespace mlir::spyre::torch_lowering

#endif // SPYRE_LIB_CONVERSION_TORCHTOSPYRE_FOLDSCALARS_H
