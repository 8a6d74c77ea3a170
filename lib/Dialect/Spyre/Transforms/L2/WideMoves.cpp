//===- WideMoves.cpp - Another dim into the stick of 32-bit values --------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device restickifies 16-bit values only. A value that is a cast of one is cast
// again after its source has been moved. Any other is moved as what it is in memory:
// twice as many 16-bit elements. Moving those apart and together again takes three
// restickifies, as the two halves of an element have to stay neighbours in the stick:
//
//   [r | c, h]  ->  [c, h | r]  ->  [r, h | c]  ->  [c | r, h]     (| before the stick)
//
// Only bits are moved, so every number arrives as it was, NaNs and all.
//
//===----------------------------------------------------------------------===//

#include "LayoutCopies.h"

#include "spyre/Dialect/Spyre/IR/AffineConversion.h"
#include "spyre/Layout/TensorLayout.h"
#include "spyre/OpFunc/OpFuncTable.h"

using namespace mlir;
using namespace mlir::spyre;

static RankedTensorType getRanked(Value value) { return cast<RankedTensorType>(value.getType()); }

/// 16-bit elements in one of \p value.
static int64_t getNumHalves(Value value) {
  return ::spyre::getWidthInBits(getLayout(value).getFormat()) / 16;
}

bool mlir::spyre::canMove(Value value) {
  return canRestickify(value) || ::spyre::getWidthInBits(getLayout(value).getFormat()) % 16 == 0;
}

Value LayoutCopies::getNarrowSource(Value value) {
  auto op = value.getDefiningOp<DeviceOpInterface>();
  if (!op || op.getOutput() || op.getInputs().size() != 1)
    return {};
  Value source = op.getInputs()[0];
  bool isWhole = isElementwise(op.getInputMap(0), getShape(source)) &&
                 isElementwise(op.getOutputMap(), getShape(value)) &&
                 getShape(source) == getShape(value);
  if (op.getInfo().stickRule != ::spyre::StickRule::Cast || !isWhole ||
      getStickDim(getLayout(source)) < 0 || !spyre::canRestickify(source))
    return {};
  return source;
}

Value LayoutCopies::buildReinterpret(Location loc, Value source, Type element) {
  RankedTensorType type = getRanked(source);
  LayoutAttr layout = getLayout(source);
  int64_t stick = getStickDim(layout);
  ::spyre::layout::TensorLayout target = layout.getTensorLayout(type.getShape());
  target.format = *getDeviceFormat(element);
  int64_t from = ::spyre::getWidthInBits(layout.getFormat()),
          to = ::spyre::getWidthInBits(target.format);
  auto scale = [&](int64_t extent) { return extent * from / to; };
  target.shape[stick] = scale(target.shape[stick]);
  if (!target.paddedShape.empty())
    target.paddedShape[stick] = scale(target.paddedShape[stick]);
  SmallVector<int64_t> shape(target.shape.begin(), target.shape.end());
  auto result = RankedTensorType::get(shape, element, LayoutAttr::get(type.getContext(), target));
  auto op = ReinterpretOp::create(builder, loc, result, source);
  tails.update(op);
  return op.getResult();
}

Value LayoutCopies::moveHalves(Value value, int64_t dim) {
  Location loc = value.getLoc();
  RankedTensorType type = getRanked(value);
  MLIRContext *context = builder.getContext();
  int64_t halves = getNumHalves(value), rank = type.getRank(), old = getStickDim(getLayout(value));
  Type narrow = builder.getF16Type();
  OpBuilder::InsertionGuard guard(builder);
  setInsertionAfter(value);
  // [.., r, .., c * h] with `dim` in the stick, where the halves come apart: a last dim.
  Value apart = getWithStick(buildReinterpret(loc, value, narrow), dim);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = getShape(apart)[dim];
  shape.push_back(halves);
  SmallVector<AffineExpr> from(builder.getMultiDimIdentityMap(rank).getResults());
  from[old] = from[old] * halves + builder.getAffineDimExpr(rank);
  auto split = RankedTensorType::get(shape, narrow);
  split = RankedTensorType::get(shape, narrow, makeLayout(split, dim));
  setInsertionAfter(apart);
  Value byHalf = buildIdentity(loc, apart, shape, AffineMap::get(rank + 1, 0, from, context), split,
                               builder.getMultiDimIdentityMap(rank + 1));
  // The old stick dim in the stick again: `dim` and the halves can be joined.
  Value back = getWithStick(byHalf, old);
  SmallVector<int64_t> joinedShape(getShape(back));
  joinedShape.pop_back();
  joinedShape[old] = type.getDimSize(old);
  joinedShape[dim] = type.getDimSize(dim) * halves;
  SmallVector<int64_t> points(type.getShape());
  points.push_back(halves);
  SmallVector<AffineExpr> to(builder.getMultiDimIdentityMap(rank).getResults());
  to[dim] = to[dim] * halves + builder.getAffineDimExpr(rank);
  auto joined = RankedTensorType::get(joinedShape, narrow);
  joined = RankedTensorType::get(joinedShape, narrow, makeLayout(joined, old));
  setInsertionAfter(back);
  Value together = buildIdentity(loc, back, points, builder.getMultiDimIdentityMap(rank + 1),
                                 joined, AffineMap::get(rank + 1, 0, to, context));
  Value moved = getWithStick(together, dim);
  setInsertionAfter(moved);
  return buildReinterpret(loc, moved, type.getElementType());
}

Value LayoutCopies::moveWide(Value value, int64_t dim) {
  Value narrow = getNarrowSource(value);
  if (!narrow)
    return moveHalves(value, dim);
  Value source = getWithStick(narrow, dim);
  RankedTensorType type = getRanked(source);
  auto wide = RankedTensorType::get(type.getShape(), getRanked(value).getElementType());
  wide = RankedTensorType::get(wide.getShape(), wide.getElementType(), makeLayout(wide, dim));
  OpBuilder::InsertionGuard guard(builder);
  setInsertionAfter(source);
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  auto narrowing = value.getDefiningOp<DeviceOpInterface>();
  DeviceOpSpec spec =
      DeviceOpSpec::move(narrowing.getOpFunc(), source, type.getShape(), identity, identity)
          .withOutput(Value(), wide);
  DeviceOpInterface cast = buildDeviceOp(builder, value.getLoc(), spec);
  tails.update(cast);
  return cast.getResultTensor();
}

LayoutAttr LayoutCopies::getWideLayoutWithStick(Value value, int64_t dim) const {
  RankedTensorType type = getRanked(value);
  auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
  LayoutAttr layout = makeLayout(plain, dim);
  if (getNarrowSource(value) || !canMove(value))
    return layout;
  // As moveHalves leaves it: blocks of sticks of 16-bit elements.
  int64_t halves = getNumHalves(value), old = getStickDim(getLayout(value)),
          sticks = ::spyre::getElementsPerStick(::spyre::DataFormat::SEN169_FP16);
  ::spyre::layout::TensorLayout padded = layout.getTensorLayout(type.getShape());
  padded.paddedShape = padded.shape;
  padded.paddedShape[dim] =
      static_cast<int64_t>(llvm::alignTo(padded.shape[dim] * halves, sticks)) / halves;
  padded.paddedShape[old] = static_cast<int64_t>(llvm::alignTo(padded.shape[old], sticks));
  return LayoutAttr::get(type.getContext(), padded);
}

int64_t LayoutCopies::getWideCost(Value value, int64_t dim) const {
  if (!canMove(value))
    return kNoFormCost;
  int64_t moved = getNumElementsInMemory(value, dim);
  if (Value narrow = getNarrowSource(value))
    return getWithStickCost(narrow, dim) + 2 * moved + kCopyOverhead;
  return kWidePasses * (2 * getNumHalves(value) * moved + kCopyOverhead);
}
