//===- AffineConversion.h - AffineMap to and from the index algebra -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// AffineMap is the printed form of access maps; spyre::layout::IndexMap, which
// knows ranges, is what is computed with. These functions convert.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_IR_AFFINECONVERSION_H
#define SPYRE_DIALECT_SPYRE_IR_AFFINECONVERSION_H

#include "spyre/Layout/IndexMap.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/Support/LLVM.h"

namespace mlir::spyre {

/// \p map over inputs (dims, then symbols) with 0 <= input < ranges[input].
/// Fails if a result is no sum of digits under those ranges.
FailureOr<::spyre::layout::IndexMap> toIndexMap(AffineMap map, ArrayRef<int64_t> ranges);

/// The same map as an AffineMap over \p numDims dims; the other inputs become
/// symbols.
AffineMap toAffineMap(const ::spyre::layout::IndexMap &map, unsigned numDims, MLIRContext *context);

/// Smallest and largest value of \p expr over the box of \p ranges (none zero).
std::pair<int64_t, int64_t> getRange(const ::spyre::layout::IndexExpr &expr,
                                     ArrayRef<int64_t> ranges);

/// True if \p map takes every point of \p shape to itself: the identity, where dims of
/// extent 1 may be read at 0.
bool isElementwise(AffineMap map, ArrayRef<int64_t> shape);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_IR_AFFINECONVERSION_H
