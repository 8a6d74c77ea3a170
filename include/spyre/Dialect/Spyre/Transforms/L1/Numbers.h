//===- Numbers.h - Which numbers the device keeps ---------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A constant without dims is a number that fills its stick at launch. Values of the other
// element types (8-bit floats, small integers, complex numbers) are in arrays only.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_TRANSFORMS_L1_NUMBERS_H
#define SPYRE_DIALECT_SPYRE_TRANSFORMS_L1_NUMBERS_H

#include "mlir/IR/Types.h"

namespace mlir::spyre {

/// True for the types that buildScalar takes: 16-bit floats, f32, f64 (until it is
/// narrowed), bool and the integers of indices.
bool isNumberType(Type type);

/// \p value as PyTorch keeps it in \p type, one of isNumberType: the nearest, infinite beyond
/// the largest; as bool, any number but 0 is true.
double roundToType(double value, Type type);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L1_NUMBERS_H
