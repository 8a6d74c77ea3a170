//===- EmitExchange.cpp - What compute tiles of a kernel give each other --===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Folds of partial sums, and barriers. A barrier is a fold of a token over all compute
// tiles: a delivery comes after what its producers did before they produced, and every
// tile of the grid produces and consumes.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::ktir;

/// How results over parts of the reduced dims are put together.
Value ktir::combine(OpBuilder &b, Location loc, ::spyre::Combiner combiner, Value x, Value y) {
  switch (combiner) {
  case ::spyre::Combiner::Maximum:
    return arith::MaximumFOp::create(b, loc, x, y);
  case ::spyre::Combiner::Minimum:
    return arith::MinimumFOp::create(b, loc, x, y);
  default:
    return arith::AddFOp::create(b, loc, x, y);
  }
}

/// 0 <= expr < end.
static void addRange(AffineExpr expr, int64_t end, SmallVectorImpl<AffineExpr> &constraints) {
  constraints.push_back(expr);
  constraints.push_back(-expr + (end - 1));
}

static IntegerSet makeSet(unsigned numDims, unsigned numSymbols, ArrayRef<AffineExpr> constraints,
                          ArrayRef<bool> areEqualities = {}) {
  SmallVector<bool> equalities(areEqualities);
  equalities.resize(constraints.size(), false);
  return IntegerSet::get(numDims, numSymbols, constraints, equalities);
}

Value KernelEmitter::emitFold(Value partial, const TileGroups &groups, ::spyre::Combiner combiner,
                              double neutral) {
  auto type = cast<RankedTensorType>(partial.getType());
  AffineExpr g = b.getAffineDimExpr(0);
  SmallVector<AffineExpr> all;
  addRange(g, groups.count, all);
  auto future =
      ktdp::TileFutureType::get(b.getContext(), type, IntegerSetAttr::get(makeSet(1, 0, all)));
  auto produce =
      ktdp::InterTileProduceOp::create(b, loc, future, IntegerSetAttr::get(groups.producers));
  {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&produce.getBody(), {}, b.getIndexType(), loc);
    ktdp::YieldPartialOp::create(b, loc, partial);
  }
  Value identity = arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(type, b.getFloatAttr(type.getElementType(), neutral).getValue()));
  auto reduce =
      ktdp::InterTileReduceOp::create(b, loc, TypeRange(type), produce.getFuture(), identity,
                                      IntegerSetAttr::get(groups.consumers), IntegerSetAttr());
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&reduce.getCombiner(), {}, {type, type}, {loc, loc});
  ktdp::YieldReducedOp::create(
      b, loc, combine(b, loc, combiner, block->getArgument(0), block->getArgument(1)));
  return reduce.getResult(0);
}

void KernelEmitter::emitBarrier() {
  TileGroups everyone;
  AffineExpr tile = b.getAffineDimExpr(0);
  SmallVector<AffineExpr> all;
  addRange(tile, kernel.numTiles, all);
  everyone.producers = everyone.consumers = makeSet(1, 1, all);
  auto type = RankedTensorType::get({1}, b.getF32Type());
  Value token = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, 0.0f));
  emitFold(token, everyone, ::spyre::Combiner::Add, 0);
}

TileGroups KernelEmitter::getSumGroups(const KernelOp &op) {
  // Slices of parts from the fastest on; those that are summed over are left out of the
  // number of the group.
  SmallVector<const Part *> parts;
  for (const Part &part : op.parts)
    if (part.split > 1)
      parts.push_back(&part);
  llvm::sort(parts, [](const Part *x, const Part *y) { return x->coreStride < y->coreStride; });
  AffineExpr tile = b.getAffineDimExpr(0), group = b.getAffineSymbolExpr(0);
  TileGroups groups;
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> equalities;
  addRange(tile, op.numSlices, constraints);
  equalities.resize(constraints.size(), false);
  SmallVector<AffineExpr> same;
  for (size_t k = 0; k < parts.size();) {
    // Neighbours of one kind are one digit.
    bool isReduced = parts[k]->isReduced;
    int64_t stride = parts[k]->coreStride, width = 1;
    for (; k < parts.size() && parts[k]->isReduced == isReduced; ++k)
      width *= parts[k]->split;
    AffineExpr digit = tile.floorDiv(stride);
    if (stride * width < op.numSlices)
      digit = digit % width;
    if (isReduced)
      continue;
    AffineExpr number = group.floorDiv(groups.count);
    groups.count *= width;
    if (stride * width < op.numSlices)
      number = number % width;
    same.push_back(digit - number);
  }
  for (AffineExpr expr : same) {
    constraints.push_back(expr);
    equalities.push_back(true);
  }
  groups.producers = groups.consumers = makeSet(1, 1, constraints, equalities);
  return groups;
}

void KernelEmitter::enterFirstOfSum(const KernelOp &op) {
  Value isFirst;
  for (const Part &part : op.parts) {
    if (!part.isReduced || part.split == 1)
      continue;
    Value is =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, getSlice(op, part), getIndex(0));
    isFirst = isFirst ? arith::AndIOp::create(b, loc, isFirst, is).getResult() : is;
  }
  auto first = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
  b.setInsertionPointToStart(first.thenBlock());
}
