//===- AffineConversion.cpp - AffineMap to and from the index algebra -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/AffineConversion.h"

#include "mlir/IR/AffineExpr.h"

using namespace mlir;
using namespace mlir::spyre;
namespace layout = ::spyre::layout;

/// \p expr as a sum of digits, or nothing if it is none.
static std::optional<layout::IndexExpr> convert(AffineExpr expr, unsigned numDims,
                                                const std::vector<int64_t> &ranges) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return layout::makeConstant(cast<AffineConstantExpr>(expr).getValue());
  case AffineExprKind::DimId:
    return layout::makeInput(cast<AffineDimExpr>(expr).getPosition());
  case AffineExprKind::SymbolId:
    return layout::makeInput(numDims + cast<AffineSymbolExpr>(expr).getPosition());
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<layout::IndexExpr> lhs = convert(binary.getLHS(), numDims, ranges);
  if (!lhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    std::optional<layout::IndexExpr> rhs = convert(binary.getRHS(), numDims, ranges);
    if (!rhs)
      return std::nullopt;
    return layout::simplify(layout::add(*lhs, *rhs), ranges);
  }
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!constant)
    return std::nullopt;
  int64_t value = constant.getValue();
  if (expr.getKind() == AffineExprKind::Mul)
    return layout::simplify(layout::multiply(*lhs, value), ranges);
  if (value <= 0)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::CeilDiv) {
    lhs = layout::simplify(layout::add(*lhs, layout::makeConstant(value - 1)), ranges);
  }
  std::optional<layout::DivMod> divided = layout::divide(*lhs, ranges, value);
  if (!divided)
    return std::nullopt;
  return expr.getKind() == AffineExprKind::Mod ? divided->remainder : divided->quotient;
}

FailureOr<layout::IndexMap> mlir::spyre::toIndexMap(AffineMap map, ArrayRef<int64_t> ranges) {
  layout::IndexMap result;
  result.extents.assign(ranges.begin(), ranges.end());
  for (AffineExpr expr : map.getResults()) {
    std::optional<layout::IndexExpr> converted = convert(expr, map.getNumDims(), result.extents);
    if (!converted)
      return failure();
    result.results.push_back(std::move(*converted));
  }
  return result;
}

AffineMap mlir::spyre::toAffineMap(const layout::IndexMap &map, unsigned numDims,
                                   MLIRContext *context) {
  SmallVector<AffineExpr> results;
  for (const layout::IndexExpr &expr : map.results) {
    AffineExpr sum = getAffineConstantExpr(0, context);
    for (const layout::Digit &digit : expr.digits) {
      AffineExpr input = digit.input < numDims
                             ? getAffineDimExpr(digit.input, context)
                             : getAffineSymbolExpr(digit.input - numDims, context);
      if (digit.divisor != 1)
        input = input.floorDiv(digit.divisor);
      if (digit.modulus != 0)
        input = input % digit.modulus;
      sum = sum + input * digit.coefficient;
    }
    results.push_back(sum + expr.constant);
  }
  return AffineMap::get(numDims, map.extents.size() - numDims, results, context);
}

std::pair<int64_t, int64_t> mlir::spyre::getRange(const layout::IndexExpr &expr,
                                                  ArrayRef<int64_t> ranges) {
  return layout::getRange(expr, std::vector<int64_t>(ranges.begin(), ranges.end()));
}

bool mlir::spyre::isElementwise(AffineMap map, ArrayRef<int64_t> shape) {
  if (map.getNumDims() != shape.size() || map.getNumResults() != shape.size())
    return false;
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    bool isUnit = constant && constant.getValue() == 0 && shape[d] == 1;
    if (!isUnit && expr != getAffineDimExpr(d, map.getContext()))
      return false;
  }
  return true;
}
