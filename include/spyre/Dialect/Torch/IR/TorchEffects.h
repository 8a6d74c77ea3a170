//===- TorchEffects.h - Operators that do more than give results *- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Printing, assertions, and what users have registered, which exporters mark. MLIR knows
// nothing of the effects of unregistered operations.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_TORCH_IR_TORCHEFFECTS_H
#define SPYRE_DIALECT_TORCH_IR_TORCHEFFECTS_H

#include "mlir/IR/Operation.h"

namespace mlir::torch_reader {

/// The attribute of operators that users have registered to have effects.
inline constexpr llvm::StringLiteral kEffectAttr = "effect";

/// \p op does more than give results: it runs even if nobody reads what it gives, in the
/// order of the text.
bool hasEffect(Operation *op);

} // namespace mlir::torch_reader

#endif // SPYRE_DIALECT_TORCH_IR_TORCHEFFECTS_H
