//===- SpyreopDialect.cpp - The spyreop dialect -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration, and the rules that TableGen does not say.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/KTIR/IR/SpyreopDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::spyreop;

#include "spyre/Dialect/KTIR/IR/SpyreopDialect.cpp.inc"
#include "spyre/Dialect/KTIR/IR/SpyreopEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "spyre/Dialect/KTIR/IR/SpyreopAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "spyre/Dialect/KTIR/IR/SpyreopTypes.cpp.inc"

#define GET_OP_CLASSES
#include "spyre/Dialect/KTIR/IR/SpyreopOps.cpp.inc"

void SpyreopDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "spyre/Dialect/KTIR/IR/SpyreopTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "spyre/Dialect/KTIR/IR/SpyreopAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "spyre/Dialect/KTIR/IR/SpyreopOps.cpp.inc"
      >();
}

/// The scalar types, each with the type of a pair of them.
static SmallVector<std::pair<Type, Type>> getPairs(MLIRContext *context) {
  return {{Float16Type::get(context), FP16FusedType::get(context)},
          {DF16Type::get(context), DF16FusedType::get(context)},
          {Float32Type::get(context), FP32FusedType::get(context)}};
}

LogicalResult Exx2FusedOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  for (auto [scalar, pair] : getPairs(context))
    if (adaptor.getOperand().getType() == scalar)
      types.push_back(pair);
  return success(!types.empty());
}

LogicalResult LayerNormScaleFusedOp::inferReturnTypes(MLIRContext *context, std::optional<Location>,
                                                      Adaptor adaptor,
                                                      SmallVectorImpl<Type> &types) {
  for (auto [scalar, pair] : getPairs(context))
    if (adaptor.getOperand().getType() == pair)
      types.push_back(scalar);
  return success(!types.empty());
}

LogicalResult SoftplusOp::verify() {
  if (getBeta().isZero())
    return emitOpError() << "divides by beta, which is 0";
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult SliceReductionOp::verify() {
  auto from = cast<RankedTensorType>(getOperand().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  if (from.getElementType() != to.getElementType())
    return emitOpError() << "makes " << to.getElementType() << " of " << from.getElementType();
  if (from.getRank() != to.getRank())
    return emitOpError() << "makes a tensor of rank " << to.getRank() << " of one of rank "
                         << from.getRank();
  return success();
}
