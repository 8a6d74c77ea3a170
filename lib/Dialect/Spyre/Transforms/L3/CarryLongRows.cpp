//===- CarryLongRows.cpp - Reductions of rows that are too long ------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum, a mean or a largest number by itself: where a row is large beside a scratchpad, or a core
// cannot reach all of what it reads, parts of it are reduced one after the other and put together
// by the combiner. Rows that are not long are reduced at once, which takes fewer operations.
//
//===----------------------------------------------------------------------===//

#include "PartCarrier.h"

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/OpFunc/OpFuncTable.h"

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::Combiner;
using ::spyre::OpFunc;

bool mlir::spyre::carryLongRow(func::FuncOp func, DeviceOpInterface op, int64_t number) {
  Value result = op.getDestination();
  // 16-bit sums would be rounded once a part.
  if (op->hasAttr(kCarriedAttr) ||
      (op.getInfo().combiner == Combiner::Add && !getElementType(result).isF32()))
    return false;
  for (Operation *user : result.getUsers())
    if (auto other = dyn_cast<DeviceOpInterface>(user);
        !other || (other != op && other.getDestination() == result))
      return false;
  SmallVector<AffineExpr> dims;
  CarriedRows::Space space = CarriedRows::getSpace(op, dims);
  Location loc = op->getLoc();
  PartCarrier carrier(func, number);
  carrier.builder.setInsertionPoint(op);
  Value part = carrier.allocLike(result, loc), whole = carrier.allocLike(result, loc);
  op->replaceUsesOfWith(result, part);
  carrier.mark(op);
  carrier.builder.setInsertionPointAfter(op);
  carrier.combine(space, loc, op.getInfo(), whole, part);
  if (auto alloc = result.getDefiningOp<AllocOp>(); alloc && !alloc.getPlacementAttr())
    result.replaceAllUsesWith(whole);
  else
    carrier.buildOn(space, loc, OpFunc::Identity, {whole}, {AffineMap()}, result);
  return true;
}
