//===- ComplexConstants.h - Complex numbers of a program --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// torch-mlir has no complex constants: texts make them of two floats, by TorchScript's
// `aten.Complex.float_float`. Folded they are `torch.constant.complex`, whose value is an
// array without dims of complex<f64>.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_TORCH_IR_COMPLEXCONSTANTS_H
#define SPYRE_DIALECT_TORCH_IR_COMPLEXCONSTANTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"

namespace mlir::torch_reader {

namespace names {
inline constexpr llvm::StringLiteral constantComplex = "torch.constant.complex";
} // namespace names

/// \p elements is one complex<f64>.
bool isComplexNumber(DenseElementsAttr elements);
/// The number of a complex constant; null if \p value is not one.
DenseElementsAttr getConstantComplex(Value value);

} // namespace mlir::torch_reader

#endif // SPYRE_DIALECT_TORCH_IR_COMPLEXCONSTANTS_H
