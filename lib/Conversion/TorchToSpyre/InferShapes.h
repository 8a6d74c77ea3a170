//===- InferShapes.h - Sizes of a result from its operands ------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table by kind of operation: what shape PyTorch gives a result whose operands have
// known sizes. For types that the exporter left open (`?`).
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_CONVERSION_TORCHTOSPYRE_INFERSHAPES_H
#define SPYRE_LIB_CONVERSION_TORCHTOSPYRE_INFERSHAPES_H

#include "mlir/IR/Operation.h"

namespace mlir::spyre::torch_lowering {

using Shape = SmallVector<int64_t>;

/// \p type has a size that is not known.
bool hasUnknownSizes(Type type);

/// \p type, a tensor, with the sizes of \p shape where it says `?`; null if it is no
/// tensor of that rank or says another size.
Type refineTensorType(Type type, ArrayRef<int64_t> shape);

/// Gives the results of \p op whose types have `?` the sizes that its operands tell.
/// Nothing happens where a rule or an operand's size is missing.
void inferResultShapes(Operation *op);

} // namespace mlir::spyre::torch_lowering

#endif // SPYRE_LIB_CONVERSION_TORCHTOSPYRE_INFERSHAPES_H
