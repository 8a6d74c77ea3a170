//===- KtdpCanonicalize.cpp - Constants in operations of ktdp -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes, strides and subscripts that are constants become numbers of the operation.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::ktdp;

namespace {
/// Strides that are constants become static.
struct FoldConstantStrides : OpRewritePattern<ConstructMemoryViewOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConstructMemoryViewOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<int64_t> numbers(op.getStaticStrides());
    SmallVector<Value> values;
    auto next = op.getStrides().begin();
    for (int64_t &number : numbers) {
      if (!ShapedType::isDynamic(number))
        continue;
      Value value = *next++;
      APInt constant;
      // What is wrong stays visible to the verifier's message about operands.
      if (matchPattern(value, m_ConstantInt(&constant)) && constant.isNonNegative())
        number = constant.getSExtValue();
      else
        values.push_back(value);
    }
    if (values.size() == op.getStrides().size())
      return rewriter.notifyMatchFailure(op, "no stride is a constant");
    rewriter.modifyOpInPlace(op, [&] {
      op.getStridesMutable().assign(values);
      op.setStaticStrides(numbers);
    });
    return success();
  }
};

/// Sizes that are constants become static, and with them the type and the symbols of the
/// coordinate set. Only where the view is used by access tiles alone, which take any type
/// that their sets fit in: others may hold the type.
struct FoldConstantSizes : OpRewritePattern<ConstructMemoryViewOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConstructMemoryViewOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<int64_t> sizes(op.getStaticSizes());
    SmallVector<Value> values;
    SmallVector<AffineExpr> symbols;
    auto next = op.getSizes().begin();
    for (int64_t &size : sizes) {
      if (!ShapedType::isDynamic(size))
        continue;
      Value value = *next++;
      APInt constant;
      if (matchPattern(value, m_ConstantInt(&constant)) && constant.isNonNegative()) {
        size = constant.getSExtValue();
        symbols.push_back(rewriter.getAffineConstantExpr(size));
      } else {
        symbols.push_back(rewriter.getAffineSymbolExpr(values.size()));
        values.push_back(value);
      }
    }
    if (values.size() == op.getSizes().size())
      return rewriter.notifyMatchFailure(op, "no size is a constant");
    for (Operation *user : op->getUsers())
      if (!fits(user, sizes))
        return rewriter.notifyMatchFailure(op, "a user may not take another type");
    MemRefType type = MemRefType::get(sizes, op.getType().getElementType());
    rewriter.modifyOpInPlace(op, [&] {
      if (std::optional<IntegerSet> set = op.getCoordinateSet()) {
        SmallVector<AffineExpr> dims;
        for (unsigned i = 0; i < set->getNumDims(); ++i)
          dims.push_back(rewriter.getAffineDimExpr(i));
        op.setCoordinateSetAttr(IntegerSetAttr::get(
            set->replaceDimsAndSymbols(dims, symbols, set->getNumDims(), values.size())));
      }
      op.getSizesMutable().assign(values);
      op.setStaticSizes(sizes);
      op.getResult().setType(type);
    });
    return success();
  }

private:
  static bool fits(Operation *user, ArrayRef<int64_t> sizes) {
    if (isa<ConstructIndirectAccessTileOp>(user))
      return true;
    auto access = dyn_cast<ConstructAccessTileOp>(user);
    if (!access)
      return false;
    for (auto [size, dim] : llvm::zip_equal(sizes, getBounds(access.getAccessTileSet()))) {
      std::optional<int64_t> extent = dim.getExtent();
      if (!ShapedType::isDynamic(size) && extent && *extent > size)
        return false;
    }
    return true;
  }
};

/// Subscripts that are constants become numbers of the map.
struct FoldConstantSubscripts : OpRewritePattern<ConstructAccessTileOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConstructAccessTileOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<AffineExpr> replaced;
    SmallVector<Value> values;
    for (Value value : op.getIndices()) {
      APInt constant;
      if (matchPattern(value, m_ConstantInt(&constant))) {
        replaced.push_back(rewriter.getAffineConstantExpr(constant.getSExtValue()));
        continue;
      }
      auto known = llvm::find(values, value);
      replaced.push_back(rewriter.getAffineDimExpr(known - values.begin()));
      if (known == values.end())
        values.push_back(value);
    }
    if (values.size() == op.getIndices().size())
      return rewriter.notifyMatchFailure(op, "all values are different and unknown");
    AffineMap map = op.getBaseMap().replaceDimsAndSymbols(replaced, {}, values.size(), 0);
    rewriter.modifyOpInPlace(op, [&] {
      op.getIndicesMutable().assign(values);
      op.setBaseMap(map);
    });
    return success();
  }
};
} // namespace

void ConstructMemoryViewOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                        MLIRContext *context) {
  patterns.add<FoldConstantSizes, FoldConstantStrides>(context);
}

void ConstructAccessTileOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                        MLIRContext *context) {
  patterns.add<FoldConstantSubscripts>(context);
}
