//===- LayoutResults.cpp - Where an operation can write -------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an operation writes: the layouts in which it can, and what is done where there
// is none: it computes a value of its own, which is copied. Casts whose sides have
// other numbers of sticks are computed between longer tensors.
//
//===----------------------------------------------------------------------===//

#include "LayoutAssigner.h"

#include "spyre/Dialect/Spyre/IR/AffineConversion.h"
#include "spyre/OpFunc/OpFuncTable.h"

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::OpFunc;

bool mlir::spyre::isCast(DeviceOpInterface op) {
  return op.getInfo().stickRule == ::spyre::StickRule::Cast;
}

static int64_t getCastElements(Value value) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return ::spyre::getElementsPerStick(*getDeviceFormat(element));
}

bool mlir::spyre::isPartialCast(DeviceOpInterface op, unsigned stick) {
  int64_t from = getCastElements(op.getInputs()[0]), to = getCastElements(op.getResultTensor()),
          narrow = std::min(from, to), extent = op.getExtents()[stick];
  return llvm::alignTo(extent, narrow) != llvm::alignTo(extent, std::max(from, to));
}

std::optional<LayoutAttr> LayoutAssigner::chooseResultLayout(DeviceOpInterface op, Stick stick) {
  Value result = op.getResultTensor();
  auto type = cast<RankedTensorType>(result.getType());
  type = RankedTensorType::get(type.getShape(), type.getElementType());
  SmallVector<DeviceOpInterface> writers = getWriters(op);
  // With `stick` in the stick of what this operation writes, and no lane of others
  // overwritten by any writer.
  auto fits = [&](LayoutAttr layout) {
    StickAccess access =
        getStickAccess(type.getShape(), layout, op.getOutputMap(), op.getExtents());
    bool wanted = stick ? access.kind == StickAccess::Dim && access.dim == *stick
                        : access.kind == StickAccess::Lane0;
    return wanted && llvm::all_of(writers, [&](DeviceOpInterface writer) {
             return isWritable(result, layout, writer.getOutputMap(), writer.getExtents());
           });
  };
  if (Value init = op.getOutput())
    return fits(getLayout(init)) ? std::optional(getLayout(init)) : std::nullopt;
  bool reduced = stick && !getUsedDims(op.getOutputMap())[*stick];
  if (stick && !reduced) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (op.getOutputMap().getResult(dim).isFunctionOfDim(*stick))
        if (LayoutAttr layout = makeLayout(type, dim); fits(layout))
          return layout;
    return std::nullopt;
  }
  // One element a stick. A dim of extent 1 can lie in the stick: the last one
  // keeps the default layout.
  stick = std::nullopt;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim)
    if (type.getDimSize(dim) == 1)
      if (LayoutAttr layout = makeLayout(type, dim); fits(layout))
        return layout;
  LayoutAttr sparse = makeLayout(type, -1);
  return fits(sparse) ? std::optional(sparse) : std::nullopt;
}

Box mlir::spyre::getBox(DeviceOpInterface op, AffineMap map, const llvm::SmallBitVector &used,
                        Stick stick) {
  MLIRContext *context = op->getContext();
  Box box;
  SmallVector<AffineExpr> projection, replacement(op.getNumDims());
  for (unsigned d = 0; d < op.getNumDims(); ++d) {
    replacement[d] = getAffineConstantExpr(0, context);
    if (!used[d])
      continue;
    if (stick == d)
      box.stick = box.extents.size();
    replacement[d] = getAffineDimExpr(box.extents.size(), context);
    projection.push_back(getAffineDimExpr(d, context));
    box.extents.push_back(op.getExtents()[d]);
  }
  box.map = map.replaceDimsAndSymbols(replacement, {}, box.extents.size(), 0);
  box.projection = AffineMap::get(op.getNumDims(), 0, projection, context);
  return box;
}

DeviceOpInterface LayoutAssigner::splitWrite(DeviceOpInterface op, RankedTensorType partType,
                                             AffineMap inPart, AffineMap inWhole) {
  Value result = op.getResultTensor();
  builder.setInsertionPoint(op);
  DeviceOpInterface computed = buildDeviceOp(
      builder, op->getLoc(), DeviceOpSpec::of(op).withOutput(Value(), partType, inPart));
  DeviceOpSpec write =
      DeviceOpSpec::copy(computed.getResultTensor(), partType.getShape(),
                         builder.getMultiDimIdentityMap(partType.getRank()), inWhole);
  DeviceOpInterface written =
      buildDeviceOp(builder, op->getLoc(), write.withOutput(op.getOutput(), result.getType()));
  result.replaceAllUsesWith(written.getResultTensor());
  op->erase();
  return written;
}

DeviceOpInterface LayoutAssigner::splitOffWrite(DeviceOpInterface op) {
  Box box = getBox(op, op.getOutputMap(), getUsedDims(op.getOutputMap()));
  auto type = cast<RankedTensorType>(op.getResultTensor().getType());
  return splitWrite(op,
                    RankedTensorType::get(box.extents, type.getElementType(), type.getEncoding()),
                    box.projection, box.map);
}

DeviceOpInterface LayoutAssigner::splitOffOffset(DeviceOpInterface op, bool always) {
  AffineMap map = op.getOutputMap();
  FailureOr<::spyre::layout::IndexMap> index = toIndexMap(map, op.getExtents());
  Value result = op.getResultTensor();
  auto type = cast<RankedTensorType>(result.getType());
  if (failed(index))
    return {};
  unsigned rank = type.getRank();
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> inPart, inWhole;
  bool moves = false;
  for (unsigned dim = 0; dim < rank; ++dim) {
    auto [low, high] = ::spyre::layout::getRange(index->results[dim], index->extents);
    int64_t step = 1;
    for (const ::spyre::layout::Digit &digit : index->results[dim].digits)
      step = std::max(step, digit.coefficient);
    bool isPart = low != 0 || high + 1 < type.getDimSize(dim);
    moves |= index->results[dim].digits.size() > 1 && (low % step != 0 || (always && isPart));
    shape.push_back(high - low + 1);
    inPart.push_back(map.getResult(dim) - low);
    inWhole.push_back(builder.getAffineDimExpr(dim) + low);
  }
  if (!moves)
    return {};
  MLIRContext *context = builder.getContext();
  return splitWrite(op, RankedTensorType::get(shape, type.getElementType()),
                    AffineMap::get(op.getNumDims(), 0, inPart, context),
                    AffineMap::get(rank, 0, inWhole, context));
}

// A cast maps a stick of the narrower format to several whole sticks of the wider one.
// Where the wider side has fewer (20 or 32 elements: one 16-bit stick, but one f32 stick
// of two; one element a stick), the cast is one between tensors that are long enough:
// copied in, cast, copied out. The lanes behind the copy hold anything, the sticks behind
// it zeros. One element a stick is repeated in all lanes of a new last dim.
LogicalResult LayoutAssigner::assignPartialCast(DeviceOpInterface op, Stick stick) {
  makeOperandFit(op, 0, stick);
  Value source = op.getInputs()[0], result = op.getResultTensor();
  SmallVector<int64_t> extents(op.getExtents()), wide(extents);
  int64_t elements = std::max(getCastElements(source), getCastElements(result));
  unsigned rank = extents.size(), wideStick = stick ? *stick : rank;
  if (stick)
    wide[*stick] = llvm::alignTo(extents[*stick], elements);
  else
    wide.push_back(elements);
  MLIRContext *context = builder.getContext();
  AffineMap all = builder.getMultiDimIdentityMap(wide.size());
  auto getWideType = [&](Value value) {
    auto type =
        RankedTensorType::get(wide, cast<RankedTensorType>(value.getType()).getElementType());
    return RankedTensorType::get(wide, type.getElementType(), makeLayout(type, wideStick));
  };
  builder.setInsertionPoint(op);
  LogicalResult built = success();
  auto build = [&](OpFunc opFunc, Value input, ArrayRef<int64_t> over, AffineMap from,
                   RankedTensorType type, AffineMap to, Value init) {
    DeviceOpSpec spec = DeviceOpSpec::move(opFunc, input, over, from, to).withOutput(init, type);
    DeviceOpInterface device = buildDeviceOp(builder, op->getLoc(), spec);
    built = success(succeeded(built) && succeeded(finish(device)));
    return device.getResultTensor();
  };

  // Longer tensors from the beginning need no copies.
  Value in;
  AffineMap inMap = all;
  auto findDim = [&](Value value, AffineMap map) -> std::optional<int64_t> {
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (stick && expr == builder.getAffineDimExpr(*stick) &&
          getShape(value)[dim] == extents[*stick] &&
          static_cast<int64_t>(dim) == getStickDim(getLayout(value)))
        return dim;
    return std::nullopt;
  };
  if (auto dim = findDim(source, op.getInputMap(0));
      dim && source.hasOneUse() && copies.growStickDim(source, *dim, wide[*stick])) {
    in = source;
    inMap = op.getInputMap(0);
  } else if (!stick) {
    AffineMap from = AffineMap::get(rank + 1, 0, op.getInputMap(0).getResults(), context);
    in = build(OpFunc::Identity, source, wide, from, getWideType(source), all, {});
  } else {
    Value behind;
    int64_t begin = llvm::alignTo(extents[*stick], getCastElements(source));
    if (begin < wide[*stick]) {
      Value zero = copies.getZero(cast<RankedTensorType>(source.getType()).getElementType());
      SmallVector<int64_t> rest(wide);
      rest[*stick] -= begin;
      SmallVector<AffineExpr> shifted(all.getResults());
      shifted[*stick] = shifted[*stick] + begin;
      builder.setInsertionPoint(op);
      behind = build(OpFunc::Identity, zero, rest, AffineMap::get(rank, 0, context),
                     getWideType(source), AffineMap::get(rank, 0, shifted, context), {});
    }
    in = build(OpFunc::Identity, source, extents, op.getInputMap(0), getWideType(source), all,
               behind);
  }
  std::optional<LayoutAttr> layout = chooseResultLayout(op, stick);
  if (!layout)
    return op->emitOpError() << "has no layout that the device can execute: one element a stick "
                                "cannot be written in place";
  builder.setInsertionPoint(op);
  setLayout(result, *layout);
  if (auto dim = findDim(result, op.getOutputMap());
      dim && !op.getOutput() && copies.canGrow(result)) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[*dim] = wide[*stick];
    type = RankedTensorType::get(shape, type.getElementType());
    type = RankedTensorType::get(shape, type.getElementType(), makeLayout(type, *dim));
    result.replaceAllUsesWith(build(op.getOpFunc(), in, wide, inMap, type, op.getOutputMap(), {}));
    op->erase();
    return built;
  }
  Value out = build(op.getOpFunc(), in, wide, inMap, getWideType(result), all, {});
  AffineMap from = builder.getMultiDimIdentityMap(rank);
  if (!stick)
    from = from.insertResult(builder.getAffineConstantExpr(0), rank);
  auto type = cast<RankedTensorType>(result.getType());
  Value written = build(OpFunc::Identity, out, extents, from,
                        RankedTensorType::get(type.getShape(), type.getElementType(), *layout),
                        op.getOutputMap(), op.getOutput());
  result.replaceAllUsesWith(written);
  op->erase();
  return built;
}
