//===- AssignLayouts.cpp - L1 to L2: a device layout for every tensor -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks the function in order. Each operation picks its stick dim, operands that do
// not fit are copied (once per value), and the result gets the layout that the
// operation writes. See Passes.td for the contract.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/StickAccess.h"
#include "spyre/Layout/TensorLayout.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREASSIGNLAYOUTS
#include "spyre/Dialect/Spyre/Transforms/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;

static int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

static int64_t getNumElements(Value value) { return ShapedType::getNumElements(getShape(value)); }

/// Logical order with \p stick (a logical dim, or -1: sparse) moved to the end.
static std::vector<int> getOrderWithStick(int64_t rank, int64_t stick) {
  std::vector<int> order;
  for (int64_t d = 0; d < rank; ++d)
    if (d != stick)
      order.push_back(d);
  order.push_back(stick);
  return order;
}

namespace {
class LayoutAssigner {
public:
  explicit LayoutAssigner(func::FuncOp func) : func(func), builder(func.getContext()) {}

  LogicalResult run();

private:
  LogicalResult assign(DeviceOpInterface op);
  LogicalResult assignMatmul(DeviceOpInterface op);
  LogicalResult assignPointwise(DeviceOpInterface op);
  LogicalResult assignReturn(func::ReturnOp op);

  /// The layout of a tensor of \p type with logical dim \p stick in the stick.
  LayoutAttr makeLayout(RankedTensorType type, int64_t stick);
  /// Gives \p value the layout \p layout.
  static void setLayout(Value value, LayoutAttr layout) {
    auto type = cast<RankedTensorType>(value.getType());
    value.setType(RankedTensorType::get(type.getShape(), type.getElementType(), layout));
  }
  void setDefaultLayout(Value value);
  /// Layout of an operation's result whose stick iteration dim is \p stick (or
  /// none): the result's default layout where that has the dim in the stick.
  LayoutAttr chooseResultLayout(DeviceOpInterface op, std::optional<unsigned> stick);

  /// A copy of \p value with logical dim \p dim in the stick; logical extents may
  /// have grown to whole sticks (zeros). Made once per value.
  Value getWithStick(Value value, int64_t dim);
  /// A copy of \p value with a new leading dim, all of whose sticks repeat one
  /// element: what an operation reads from lane 0.
  Value getSpread(Value value);
  /// \p value with logical dim \p dim zero-extended to whole sticks.
  Value getPadded(Value value, int64_t dim);
  Value buildIdentity(Location loc, Value source, ArrayRef<int64_t> extents, AffineMap from,
                      RankedTensorType resultType, AffineMap to, Value init = {});
  Value buildRestickify(Location loc, Value source, int64_t newStick);
  Value getZero(Type elementType);
  void setInsertionAfter(Value value);
  LogicalResult makeOperandFit(DeviceOpInterface op, unsigned input, std::optional<unsigned> stick);

  func::FuncOp func;
  OpBuilder builder;
  llvm::MapVector<std::pair<Value, int64_t>, Value> restickified, padded;
  llvm::MapVector<Value, Value> spread;
  llvm::MapVector<Type, Value> zeros;
};

struct AssignLayoutsPass : mlir::spyre::impl::SpyreAssignLayoutsBase<AssignLayoutsPass> {
  void runOnOperation() override {
    if (failed(LayoutAssigner(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

LayoutAttr LayoutAssigner::makeLayout(RankedTensorType type, int64_t stick) {
  ::spyre::layout::TensorLayout layout;
  layout.shape.assign(type.getShape().begin(), type.getShape().end());
  layout.format = *getDeviceFormat(type.getElementType());
  if (type.getRank() > 0)
    layout.dimOrder = getOrderWithStick(type.getRank(), stick);
  return LayoutAttr::get(type.getContext(), layout);
}

void LayoutAssigner::setDefaultLayout(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  setLayout(value, makeLayout(type, type.getRank() - 1));
}

LayoutAttr LayoutAssigner::chooseResultLayout(DeviceOpInterface op, std::optional<unsigned> stick) {
  auto type = cast<RankedTensorType>(op.getResultTensor().getType());
  AffineMap map = op.getOutputMap();
  if (type.getRank() == 0)
    return makeLayout(type, -1);
  auto usesStick = [&](int64_t dim) { return stick && map.getResult(dim).isFunctionOfDim(*stick); };
  if (stick && getUsedDims(map)[*stick]) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (usesStick(dim))
        return makeLayout(type, dim);
  }
  // One element a stick. A dim of extent 1 can lie in the stick: the last one
  // keeps the default layout.
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim)
    if (type.getDimSize(dim) == 1)
      return makeLayout(type, dim);
  return makeLayout(type, -1);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void LayoutAssigner::setInsertionAfter(Value value) {
  if (Operation *def = value.getDefiningOp())
    builder.setInsertionPointAfter(def);
  else
    builder.setInsertionPointToStart(&func.getBody().front());
}

Value LayoutAssigner::getZero(Type elementType) {
  Value &zero = zeros[elementType];
  if (!zero) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&func.getBody().front());
    auto type = RankedTensorType::get({}, elementType);
    auto encoded = RankedTensorType::get({}, elementType, makeLayout(type, -1));
    auto value = DenseElementsAttr::get(type, builder.getZeroAttr(elementType));
    zero = ConstantOp::create(builder, func.getLoc(), encoded, value);
  }
  return zero;
}

Value LayoutAssigner::buildIdentity(Location loc, Value source, ArrayRef<int64_t> extents,
                                    AffineMap from, RankedTensorType resultType, AffineMap to,
                                    Value init) {
  DeviceOpSpec spec;
  spec.opFunc = "identity";
  spec.inputs = {source};
  spec.output = init;
  spec.resultType = resultType;
  spec.extents.assign(extents.begin(), extents.end());
  spec.maps = {from, to};
  return buildDeviceOp(builder, loc, spec).getResultTensor();
}

Value LayoutAssigner::getPadded(Value value, int64_t dim) {
  Value &result = padded[{value, dim}];
  if (result)
    return result;
  auto type = cast<RankedTensorType>(value.getType());
  LayoutAttr layout = getLayout(value);
  int64_t extent = type.getDimSize(dim);
  int64_t whole = roundUp(extent, ::spyre::getElementsPerStick(layout.getFormat()));
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = whole;
  auto paddedType = RankedTensorType::get(shape, type.getElementType());
  paddedType = RankedTensorType::get(shape, type.getElementType(),
                                     makeLayout(paddedType, getStickDim(layout)));
  Value zero = getZero(type.getElementType());
  OpBuilder::InsertionGuard guard(builder);
  setInsertionAfter(value);
  if (zero.getDefiningOp()->getBlock() == builder.getInsertionBlock() && !value.getDefiningOp())
    builder.setInsertionPointAfter(zero.getDefiningOp());

  unsigned rank = type.getRank();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  // Zeros beyond the value, then the value.
  SmallVector<int64_t> rest(type.getShape());
  rest[dim] = whole - extent;
  SmallVector<AffineExpr> shifted(identity.getResults());
  shifted[dim] = shifted[dim] + extent;
  Value filled =
      buildIdentity(value.getLoc(), zero, rest, AffineMap::get(rank, 0, builder.getContext()),
                    paddedType, AffineMap::get(rank, 0, shifted, builder.getContext()));
  result =
      buildIdentity(value.getLoc(), value, type.getShape(), identity, paddedType, identity, filled);
  return result;
}

Value LayoutAssigner::buildRestickify(Location loc, Value source, int64_t newStick) {
  auto type = cast<RankedTensorType>(source.getType());
  LayoutAttr layout = getLayout(source);
  int64_t elements = ::spyre::getElementsPerStick(layout.getFormat());
  int64_t oldStick = getStickDim(layout);
  // The dim that leaves the stick is padded in memory: whole sticks are written.
  ::spyre::layout::TensorLayout target;
  target.shape.assign(type.getShape().begin(), type.getShape().end());
  target.format = layout.getFormat();
  target.dimOrder = getOrderWithStick(type.getRank(), newStick);
  target.paddedShape = target.shape;
  target.paddedShape[newStick] = roundUp(target.shape[newStick], elements);
  target.paddedShape[oldStick] = roundUp(target.shape[oldStick], elements);
  DeviceOpSpec spec;
  spec.opFunc = "ReStickifyOpHBM";
  spec.inputs = {source};
  spec.resultType = RankedTensorType::get(type.getShape(), type.getElementType(),
                                          LayoutAttr::get(builder.getContext(), target));
  spec.extents.assign(type.getShape().begin(), type.getShape().end());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  spec.maps = {identity, identity};
  return buildDeviceOp(builder, loc, spec).getResultTensor();
}

Value LayoutAssigner::getWithStick(Value value, int64_t dim) {
  auto key = std::make_pair(value, dim);
  if (Value known = restickified.lookup(key))
    return known;
  auto type = cast<RankedTensorType>(value.getType());
  LayoutAttr layout = getLayout(value);
  Value source = value;
  if (getStickDim(layout) < 0) {
    // A sparse tensor gets a unit dim for its stick, so that one dim can leave it.
    SmallVector<int64_t> shape(type.getShape());
    shape.push_back(1);
    auto unit = RankedTensorType::get(shape, type.getElementType());
    unit = RankedTensorType::get(shape, type.getElementType(), makeLayout(unit, shape.size() - 1));
    OpBuilder::InsertionGuard guard(builder);
    setInsertionAfter(value);
    unsigned rank = type.getRank();
    SmallVector<AffineExpr> to(builder.getMultiDimIdentityMap(rank).getResults());
    to.push_back(builder.getAffineConstantExpr(0));
    source =
        buildIdentity(value.getLoc(), value, type.getShape(), builder.getMultiDimIdentityMap(rank),
                      unit, AffineMap::get(rank, 0, to, builder.getContext()));
  }
  if (getShape(source)[dim] % ::spyre::getElementsPerStick(layout.getFormat()))
    source = getPadded(source, dim);
  OpBuilder::InsertionGuard guard(builder);
  setInsertionAfter(source);
  return restickified[key] = buildRestickify(value.getLoc(), source, dim);
}

Value LayoutAssigner::getSpread(Value value) {
  if (Value known = spread.lookup(value))
    return known;
  auto type = cast<RankedTensorType>(value.getType());
  LayoutAttr layout = getLayout(value);
  int64_t elements = ::spyre::getElementsPerStick(layout.getFormat());
  unsigned rank = type.getRank();
  SmallVector<int64_t> shape{elements};
  llvm::append_range(shape, type.getShape());
  auto wide = RankedTensorType::get(shape, type.getElementType());
  wide = RankedTensorType::get(shape, type.getElementType(),
                               makeLayout(wide, getStickDim(layout) + 1));
  OpBuilder::InsertionGuard guard(builder);
  setInsertionAfter(value);
  Value repeated = buildIdentity(value.getLoc(), value, shape,
                                 builder.getMultiDimIdentityMap(rank + 1).getSubMap(
                                     llvm::to_vector(llvm::seq<unsigned>(1, rank + 1))),
                                 wide, builder.getMultiDimIdentityMap(rank + 1));
  return spread[value] = buildRestickify(value.getLoc(), repeated, 0);
}

/// Puts \p value with map \p map in place of input \p input.
static void replaceInput(DeviceOpInterface op, unsigned input, Value value, AffineMap map) {
  op->setOperand(input, value);
  SmallVector<Attribute> maps(op.getMaps().getValue());
  maps[input] = AffineMapAttr::get(map);
  op->setAttr("maps", ArrayAttr::get(op->getContext(), maps));
}

LogicalResult LayoutAssigner::makeOperandFit(DeviceOpInterface op, unsigned input,
                                             std::optional<unsigned> stick) {
  Value value = op.getInputs()[input];
  AffineMap map = op.getInputMap(input);
  StickAccess access = getStickAccess(getShape(value), getLayout(value), map, op.getExtents());
  bool used = stick && getUsedDims(map)[*stick];
  if (access.kind == StickAccess::Dim && used && access.dim == *stick)
    return success();
  if (access.kind == StickAccess::Lane0 && !used)
    return success();
  if (used) {
    for (auto [dim, result] : llvm::enumerate(map.getResults())) {
      if (!result.isFunctionOfDim(*stick) ||
          static_cast<int64_t>(dim) == getStickDim(getLayout(value)))
        continue;
      Value copy = getWithStick(value, dim);
      // A sparse value has grown a unit dim.
      AffineMap newMap = map;
      if (cast<RankedTensorType>(copy.getType()).getRank() >
          static_cast<int64_t>(map.getNumResults()))
        newMap = map.insertResult(builder.getAffineConstantExpr(0), map.getNumResults());
      replaceInput(op, input, copy, newMap);
      access = getStickAccess(getShape(copy), getLayout(copy), newMap, op.getExtents());
      if (access.kind == StickAccess::Dim && access.dim == *stick)
        return success();
    }
    return op->emitOpError() << "input #" << input << " cannot be read with d" << *stick
                             << " in the stick" << (access.reason.empty() ? "" : ": ")
                             << access.reason;
  }
  if (access.kind == StickAccess::Dim) {
    // Read one element at a time while another dim runs along the sticks.
    Value copy = getSpread(value);
    replaceInput(op, input, copy, map.insertResult(builder.getAffineConstantExpr(0), 0));
    return success();
  }
  return op->emitOpError() << "input #" << input << " cannot be read: " << access.reason;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult LayoutAssigner::assignMatmul(DeviceOpInterface op) {
  MatmulDims dims = getMatmulDims(op);
  if (dims.reduction.size() != 1)
    return op->emitOpError() << "contracts over " << dims.reduction.size()
                             << " dims; the device contracts over one";
  if (dims.generated.size() > 1)
    return op->emitOpError() << "generates " << dims.generated.size()
                             << " dims; the device generates one";
  unsigned k = dims.reduction.front();
  if (failed(makeOperandFit(op, 0, k)))
    return failure();
  std::optional<unsigned> n;
  if (!dims.generated.empty())
    n = dims.generated.front();
  if (failed(makeOperandFit(op, 1, n)))
    return failure();
  // Memory of the second operand must reach to the end of the last stick of k.
  Value y = op.getInputs()[1];
  AffineMap map = op.getInputMap(1);
  for (auto [dim, result] : llvm::enumerate(map.getResults())) {
    if (!result.isFunctionOfDim(k))
      continue;
    ::spyre::layout::TensorLayout layout = getLayout(y).getTensorLayout(getShape(y));
    int64_t elements = ::spyre::getElementsPerStick(layout.format);
    int64_t inMemory = layout.paddedShape.empty() ? layout.shape[dim] : layout.paddedShape[dim];
    if (inMemory < roundUp(op.getExtents()[k], elements))
      replaceInput(op, 1, getPadded(y, dim), map);
  }
  setLayout(op.getResultTensor(), chooseResultLayout(op, n));
  return success();
}

LogicalResult LayoutAssigner::assignPointwise(DeviceOpInterface op) {
  // Elements that stay where they are, for each dim that could be in the stick.
  SmallVector<int64_t> kept(op.getNumDims(), 0);
  llvm::SmallBitVector candidate(op.getNumDims()), inSomeOperand(op.getNumDims());
  for (auto [i, value] : llvm::enumerate(op.getInputs())) {
    AffineMap map = op.getInputMap(i);
    inSomeOperand |= getUsedDims(map);
    StickAccess access = getStickAccess(getShape(value), getLayout(value), map, op.getExtents());
    if (access.kind != StickAccess::Dim)
      continue;
    candidate.set(access.dim);
    kept[access.dim] += getNumElements(value);
  }
  // A result that the caller sees wants the default layout.
  Value result = op.getResultTensor();
  AffineMap outMap = op.getOutputMap();
  std::optional<unsigned> defaultStick;
  if (outMap.getNumResults() > 0)
    for (unsigned d = 0; d < op.getNumDims(); ++d)
      if (outMap.getResults().back().isFunctionOfDim(d))
        defaultStick = d;
  bool returned = llvm::any_of(result.getUsers(), llvm::IsaPred<func::ReturnOp>);
  if (defaultStick && returned) {
    kept[*defaultStick] += getNumElements(result);
    candidate.set(*defaultStick);
  }
  if (defaultStick && candidate.none() && !inSomeOperand[*defaultStick])
    candidate.set(*defaultStick);
  std::optional<unsigned> stick;
  bool reduces = isReduction(op);
  llvm::SmallBitVector written = getUsedDims(outMap);
  for (unsigned d : candidate.set_bits()) {
    // Only a reduction may have a dim in its input's stick that it does not write.
    if (!written[d] && !reduces)
      continue;
    if (!stick || kept[d] > kept[*stick] || (kept[d] == kept[*stick] && defaultStick == d))
      stick = d;
  }
  for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
    if (failed(makeOperandFit(op, i, stick)))
      return failure();
  if (Value init = op.getOutput()) {
    setLayout(result, getLayout(init));
    return success();
  }
  setLayout(result, chooseResultLayout(op, stick));
  return success();
}

LogicalResult LayoutAssigner::assign(DeviceOpInterface op) {
  if (!op.getResultTensor())
    return op->emitOpError() << "works on buffers; layouts are assigned to tensors";
  if (getLayout(op.getResultTensor()))
    return success(); // placed by this pass, or by hand
  LogicalResult assigned = isMatmul(op) ? assignMatmul(op) : assignPointwise(op);
  if (failed(assigned))
    return failure();
  StickAccess sticks = checkSticks(op);
  if (sticks.kind == StickAccess::Unreadable)
    return op->emitOpError() << "has no layout that the device can execute: " << sticks.reason;
  return success();
}

LogicalResult LayoutAssigner::assignReturn(func::ReturnOp op) {
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    auto type = cast<RankedTensorType>(value.getType());
    auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
    LayoutAttr wanted = makeLayout(plain, plain.getRank() - 1);
    LayoutAttr have = getLayout(value);
    if (have == wanted)
      continue;
    Value source = value;
    if (getStickDim(have) != getStickDim(wanted)) {
      source = getWithStick(value, type.getRank() - 1);
    }
    if (source.getType() != RankedTensorType::get(type.getShape(), type.getElementType(), wanted)) {
      // Drop padding: copy the logical region.
      builder.setInsertionPoint(op);
      unsigned rank = type.getRank();
      AffineMap identity = builder.getMultiDimIdentityMap(rank);
      AffineMap from = identity;
      if (cast<RankedTensorType>(source.getType()).getRank() > rank)
        from = identity.insertResult(builder.getAffineConstantExpr(0), rank);
      source = buildIdentity(op.getLoc(), source, type.getShape(), from,
                             RankedTensorType::get(type.getShape(), type.getElementType(), wanted),
                             identity);
    }
    operand.set(source);
  }
  return success();
}

LogicalResult LayoutAssigner::run() {
  bool ok = true;
  auto supported = [&](Value value, Operation *at) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && type.hasStaticShape() && getDeviceFormat(type.getElementType()))
      return true;
    at->emitError() << "a value of type " << value.getType()
                    << " has no device layout; shapes must be static and the element type one of "
                       "the device's";
    return false;
  };
  for (BlockArgument argument : func.getArguments()) {
    if (!supported(argument, func)) {
      ok = false;
      continue;
    }
    if (!getLayout(argument))
      setDefaultLayout(argument);
  }
  if (!ok)
    return failure();
  for (Operation &op : llvm::make_early_inc_range(func.getBody().front())) {
    LogicalResult assigned = success();
    if (auto device = dyn_cast<DeviceOpInterface>(op)) {
      if (!supported(device.getDestination(), &op))
        return failure();
      assigned = assign(device);
    } else if (auto constant = dyn_cast<ConstantOp>(op)) {
      if (!supported(constant.getResult(), &op))
        return failure();
      if (!getLayout(constant.getResult()))
        setDefaultLayout(constant.getResult());
    } else if (auto ret = dyn_cast<func::ReturnOp>(op)) {
      assigned = assignReturn(ret);
    } else {
      op.emitOpError() << "should have been lowered to device operations before layouts are "
                          "assigned";
      assigned = failure();
    }
    ok &= succeeded(assigned);
  }
  if (!ok)
    return failure();
  SmallVector<Type> results(func.getBody().front().getTerminator()->getOperandTypes());
  func.setFunctionType(builder.getFunctionType(func.getBody().getArgumentTypes(), results));
  return success();
}
