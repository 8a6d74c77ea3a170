//===- Builders.h - Making operations of L1 -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device operations with the iteration space and access maps that their operands'
// shapes imply: pointwise with broadcasting, reductions, views. The torch
// conversion and the decompositions both build with these, so that a broadcast or a
// kept dim is written in one way only.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_TRANSFORMS_L1_BUILDERS_H
#define SPYRE_DIALECT_SPYRE_TRANSFORMS_L1_BUILDERS_H

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"

#include "mlir/IR/Builders.h"

namespace mlir::spyre {

/// Type, shape and element type of a tensor value.
RankedTensorType getTensorType(Value value);

/// A 0-d constant. Its element is \p value rounded to \p elementType; where that
/// is not exact, the discardable attribute `spyre.value` keeps the number, which
/// the device format may hold better (an epsilon of 1e-5 is subnormal in f16).
Value buildScalar(OpBuilder &b, Location loc, double value, Type elementType);

/// The value of a 0-d (or splat) constant made by buildScalar, or nothing.
std::optional<double> getScalarConstant(Value value);

/// Access map of an operand of \p operandShape that broadcasts to \p shape:
/// aligned at the innermost dim, constant 0 where the operand has extent 1.
AffineMap getBroadcastMap(MLIRContext *context, ArrayRef<int64_t> operandShape,
                          ArrayRef<int64_t> shape);

/// The device operation \p opFunc on every element of \p resultType.
Value buildPointwise(OpBuilder &b, Location loc, ::spyre::OpFunc opFunc, ValueRange inputs,
                     RankedTensorType resultType, ArrayRef<NamedAttribute> constants = {});
/// The same by name, for tables of a conversion: a specified one.
inline Value buildPointwise(OpBuilder &b, Location loc, StringRef opFunc, ValueRange inputs,
                            RankedTensorType resultType, ArrayRef<NamedAttribute> constants = {}) {
  return buildPointwise(b, loc, ::spyre::lookupOpFunc(opFunc)->opFunc, inputs, resultType,
                        constants);
}

/// \p opFunc on each element of \p type, of inputs of that shape and of numbers without dims. Dims
/// of one element are none of the iteration space, as spyre-split-dims leaves them. With \p
/// offsets: written from there on into a tensor of \p whole, that of \p output if that is not null.
Value buildOnElements(OpBuilder &b, Location loc, ::spyre::OpFunc opFunc, ValueRange inputs,
                      RankedTensorType type, Value output = {}, ArrayRef<int64_t> offsets = {},
                      RankedTensorType whole = {});

/// The reduction \p opFunc over \p dims (sorted, each once). With \p keepDims the
/// reduced dims stay with extent 1. A reduction over one element
/// stays one, for the precision rules to see; spyre-fold-views makes it a view.
Value buildReduction(OpBuilder &b, Location loc, ::spyre::OpFunc opFunc, Value x,
                     ArrayRef<int64_t> dims, bool keepDims);
inline Value buildReduction(OpBuilder &b, Location loc, StringRef opFunc, Value x,
                            ArrayRef<int64_t> dims, bool keepDims) {
  return buildReduction(b, loc, ::spyre::lookupOpFunc(opFunc)->opFunc, x, dims, keepDims);
}

/// \p x less its mean over \p dim, computed in its own type.
Value buildCentred(OpBuilder &b, Location loc, Value x, int64_t dim);

/// \p source indexed by \p map, with result shape \p shape.
Value buildView(OpBuilder &b, Location loc, Value source, AffineMap map, ArrayRef<int64_t> shape);

/// \p source with the same elements in row-major order in \p shape. Where no sum
/// of digits describes it (6x4 as 4x6) it goes through a flat view.
Value buildReshape(OpBuilder &b, Location loc, Value source, ArrayRef<int64_t> shape);

/// \p parts one behind the other along \p dim; a single part is copied.
Value buildConcat(OpBuilder &b, Location loc, ArrayRef<Value> parts, int64_t dim);

/// \p source in another element type; \p source itself if it has it.
Value buildConvert(OpBuilder &b, Location loc, Value source, Type elementType);

/// Matrix product over the last two dims, batch dims broadcast (spyre.matmul's
/// meaning) as device operations: batchmatmul, or mul where one element is
/// contracted. \p transposedRhs: rhs is [..., N, K].
Value buildMatmul(OpBuilder &b, Location loc, Value lhs, Value rhs, RankedTensorType resultType,
                  bool transposedRhs = false);

/// The softmax of \p x along \p dim, or its logarithm, as device operations.
Value buildSoftmax(OpBuilder &b, Location loc, Value x, int64_t dim);
Value buildLogSoftmax(OpBuilder &b, Location loc, Value x, int64_t dim);

/// \p value is an argument as the host passes it (kOnHostAttr), maybe through views.
bool isPassedByHost(Value value);
/// All that reads \p value are results that the host takes (kOnHostAttr).
bool isTakenByHost(Value value);

/// True for 16-bit floats, which are all DL16 on the device.
bool isHalf(Type type);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L1_BUILDERS_H
