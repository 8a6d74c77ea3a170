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

/// erfc(z) = t p(t) e^(-z^2) for z >= 0, t = 1 / (1 + z/2): the factors of p, constant first. A
/// least-squares fit of relative errors at Chebyshev's points, within 5e-8 for z up to 14.5,
/// where e^(-z^2) is no f32 number any more.
inline constexpr double kScaledErfc[] = {0.2820816916,   0.2824780106,  0.2421532865,  0.2076009123,
                                         -0.04227034447, 0.3099092242,  -0.5287086515, 0.3180708552,
                                         -0.07429082407, 0.002975806361};

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L1_NUMBERS_H
