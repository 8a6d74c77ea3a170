//===- KernelEmitter.cpp - Writes a KTIR kernel down ----------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The function, views, slices of the compute tile, loops, loads and stores.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"
#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::ktir;

Value KernelEmitter::getIndex(int64_t value) {
  Value &constant = constants[value];
  if (!constant) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    constant = arith::ConstantIndexOp::create(b, planned.getLoc(), value);
    if (!prologue)
      prologue = constant.getDefiningOp();
  }
  return constant;
}

Value KernelEmitter::inPrologue(function_ref<Value()> make) {
  OpBuilder::InsertionGuard guard(b);
  if (prologue)
    b.setInsertionPointAfter(prologue);
  else
    b.setInsertionPointToStart(entry);
  Value value = make();
  if (Operation *op = value.getDefiningOp())
    prologue = op;
  return value;
}

void KernelEmitter::makeFunction() {
  Type index = b.getIndexType();
  SmallVector<Type> types(planned.getNumArguments() + kernel.hasPool, index);
  b.setInsertionPoint(planned);
  function =
      func::FuncOp::create(b, planned.getLoc(), planned.getName(), b.getFunctionType(types, {}));
  function.setSymVisibilityAttr(planned.getSymVisibilityAttr());
  function->setAttr(ktdp::kGridAttr, b.getI64ArrayAttr({kernel.numTiles}));
  if (kernel.hasPool)
    function->setAttr(ktdp::kPoolBytesAttr, b.getI64IntegerAttr(kernel.poolInBytes));
  // What the caller must pass is said as in L3; only the device address of an
  // argument is the launcher's.
  for (unsigned i = 0; i < planned.getNumArguments(); ++i)
    for (NamedAttribute attribute : function_interface_impl::getArgAttrs(planned, i))
      if (attribute.getName() != kAddressAttr)
        function.setArgAttr(i + kernel.hasPool, attribute.getName(), attribute.getValue());
  entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value KernelEmitter::getSlice(const KernelOp &op, const Part &part) {
  if (part.split == 1)
    return nullptr;
  // The slowest slices need no remainder: the tile's number is below the product.
  bool isSlowest = part.coreStride * part.split >= op.numSlices;
  Value &slice = slices[{part.coreStride, isSlowest ? 0 : part.split}];
  if (slice)
    return slice;
  slice = tileId;
  Value stride = part.coreStride > 1 ? getIndex(part.coreStride) : Value();
  Value split = isSlowest ? Value() : getIndex(part.split);
  if (stride)
    slice = inPrologue([&] { return arith::DivUIOp::create(b, loc, tileId, stride).getResult(); });
  if (split)
    slice = inPrologue([&] { return arith::RemUIOp::create(b, loc, slice, split).getResult(); });
  return slice;
}

Value KernelEmitter::materialize(AffineExpr expr, ArrayRef<Value> dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return getIndex(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = materialize(binary.getLHS(), dims), rhs = materialize(binary.getRHS(), dims);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, loc, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, loc, lhs, rhs);
  case AffineExprKind::Mod:
    return arith::RemUIOp::create(b, loc, lhs, rhs);
  default:
    return arith::DivUIOp::create(b, loc, lhs, rhs);
  }
}

/// The position of \p value among \p dims, where it is put if it is not there.
static AffineExpr getDim(Value value, SmallVectorImpl<Value> &dims) {
  auto *it = llvm::find(dims, value);
  AffineExpr dim = getAffineDimExpr(it - dims.begin(), value.getContext());
  if (it == dims.end())
    dims.push_back(value);
  return dim;
}

Value KernelEmitter::getView(const KernelOp &op, unsigned i) {
  const KernelOperand &operand = op.operands[i];
  SmallVector<int64_t> sizes, strides;
  for (const Axis &axis : operand.axes) {
    sizes.push_back(axis.size);
    strides.push_back(axis.stride);
  }
  int64_t width = llvm::divideCeil(operand.elementType.getIntOrFloatBitWidth(), 8);
  int64_t offset = operand.base.offsetInBytes + operand.constant * width;
  auto make = [&](Value address) {
    return ktdp::ConstructMemoryViewOp::create(
               b, loc, MemRefType::get(sizes, operand.elementType), address, strides,
               operand.isLX() ? ktdp::MemorySpaceKind::CtLocal : ktdp::MemorySpaceKind::Global)
        .getResult();
  };
  Value base;
  if (operand.base.kind == BufferBase::Argument)
    base = function.getArgument(operand.base.argument + kernel.hasPool);
  else if (operand.base.kind == BufferBase::Pool)
    base = function.getArgument(0);
  if (!operand.loops.empty()) {
    // A loop moves the view.
    SmallVector<Value> dims;
    AffineExpr place = b.getAffineConstantExpr(base ? 0 : offset);
    if (base)
      place = getDim(base, dims) + offset;
    for (const LoopTerm &term : operand.loops) {
      AffineExpr step = getDim(loopVariables.lookup(term.variable), dims);
      step = step.floorDiv(term.divisor);
      if (term.modulus)
        step = step % term.modulus;
      place = place + step * (term.stride * width);
    }
    return make(materialize(place, dims));
  }
  // A view of LX stands where it is used: what comes after it lies at the same addresses.
  if (operand.isOwn())
    return make(getIndex(offset));
  std::vector<int64_t> key = {operand.base.kind, operand.base.argument, offset};
  key.insert(key.end(), sizes.begin(), sizes.end());
  key.insert(key.end(), strides.begin(), strides.end());
  Value &view = views[{operand.elementType.getAsOpaquePointer(), key}];
  if (view)
    return view;
  if (operand.isRemote())
    return view = getSharedView(operand);
  Value start = base && offset == 0 ? base : getIndex(offset);
  Value address = !base || offset == 0 ? start : inPrologue([&] {
    return arith::AddIOp::create(b, loc, base, start).getResult();
  });
  return view = inPrologue([&] { return make(address); });
}

/// A view of what several cores hold, each a box of it.
Value KernelEmitter::getSharedView(const KernelOperand &operand) {
  Value address = getIndex(operand.base.offsetInBytes);
  SmallVector<Value> parts;
  MLIRContext *context = b.getContext();
  for (const Share &share : operand.shares) {
    SmallVector<AffineExpr> box;
    for (auto [k, begin] : llvm::enumerate(share.begin)) {
      AffineExpr place = b.getAffineDimExpr(k) - begin;
      box.push_back(place);
      box.push_back(-place + (share.sizes[k] - 1));
    }
    auto set = IntegerSet::get(share.begin.size(), 0, box, SmallVector<bool>(box.size(), false));
    parts.push_back(inPrologue([&] {
      return ktdp::ConstructMemoryViewOp::create(
                 b, loc, MemRefType::get(share.sizes, operand.elementType), address, ValueRange(),
                 ValueRange(), b.getDenseI64ArrayAttr(share.sizes),
                 b.getDenseI64ArrayAttr(share.strides), IntegerSetAttr::get(set),
                 ktdp::MemorySpaceAttr::get(context, ktdp::MemorySpaceKind::CtLocal, share.core))
          .getResult();
    }));
  }
  SmallVector<int64_t> sizes =
      llvm::map_to_vector(operand.axes, [](const Axis &axis) { return axis.size; });
  return inPrologue([&] {
    return ktdp::ConstructDistributedMemoryViewOp::create(
               b, loc, MemRefType::get(sizes, operand.elementType), parts)
        .getResult();
  });
}

AffineExpr KernelEmitter::getPlace(const KernelOp &op, unsigned part, bool withSlice,
                                   SmallVectorImpl<Value> &dims) {
  AffineExpr place = b.getAffineConstantExpr(0);
  if (Value slice = withSlice ? getSlice(op, op.parts[part]) : Value())
    place = getDim(slice, dims) * op.parts[part].extent;
  if (tileOffsets[part])
    place = place + getDim(tileOffsets[part], dims);
  return place;
}

SmallVector<int64_t> KernelEmitter::getTileShape(const KernelOp &op, unsigned i) {
  return llvm::map_to_vector(op.operands[i].axes, [&](const Axis &axis) {
    return axis.part < 0 ? 1 : op.tileSizes[axis.part];
  });
}

Value KernelEmitter::makeAccessTile(const KernelOp &op, unsigned i) {
  const KernelOperand &operand = op.operands[i];
  SmallVector<Value> indices;
  SmallVector<AffineExpr> subscripts;
  for (const Axis &axis : operand.axes)
    subscripts.push_back(axis.part < 0 ? b.getAffineConstantExpr(0)
                                       : getPlace(op, axis.part, !operand.isOwn(), indices));
  Value view = getView(op, i);
  return ktdp::ConstructAccessTileOp::create(
      b, loc, view, AffineMap::get(indices.size(), 0, subscripts, b.getContext()), indices,
      getTileShape(op, i));
}

/// The coordinates of a table's places that an index tensor names: the tile has a dim for
/// each of \p parts.
Value KernelEmitter::makeGatherTile(const KernelOp &op, ArrayRef<unsigned> parts) {
  ArrayRef<int64_t> gather = *DeviceOpInterface(op.op).getGather();
  const unsigned table = gather[0], index = gather[2];
  SmallVector<Value> captured;
  SmallVector<AffineExpr> places;
  for (unsigned part : parts)
    places.push_back(getPlace(op, part, /*withSlice=*/true, captured));
  // Variables follow what is captured.
  auto subscribe = [&](const Axis &axis) -> AffineExpr {
    if (axis.part < 0)
      return b.getAffineConstantExpr(0);
    auto *it = llvm::find(parts, static_cast<unsigned>(axis.part));
    return b.getAffineDimExpr(captured.size() + (it - parts.begin())) + places[it - parts.begin()];
  };
  unsigned numDims = captured.size() + parts.size();
  SmallVector<Attribute> kinds, maps;
  auto add = [&](bool isIndirect, ArrayRef<AffineExpr> results) {
    kinds.push_back(b.getBoolAttr(isIndirect));
    maps.push_back(AffineMapAttr::get(AffineMap::get(numDims, 0, results, b.getContext())));
  };
  for (const Axis &axis : op.operands[table].axes)
    add(axis.isIndirect, axis.isIndirect ? llvm::map_to_vector(op.operands[index].axes, subscribe)
                                         : SmallVector<AffineExpr>{subscribe(axis)});
  SmallVector<int64_t> shape =
      llvm::map_to_vector(parts, [&](unsigned part) { return op.tileSizes[part]; });
  Value base = getView(op, table), indexView = getView(op, index);
  auto tile = ktdp::ConstructIndirectAccessTileOp::create(
      b, loc, ktdp::AccessTileType::get(b.getContext(), shape), base, indexView, captured,
      ValueRange(), b.getArrayAttr(kinds), b.getArrayAttr(maps),
      IntegerSetAttr::get(ktdp::getBoxSet(shape, b.getContext())),
      AffineMapAttr::get(b.getMultiDimIdentityMap(shape.size())));
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&tile.getVariables(), {}, SmallVector<Type>(parts.size(), b.getIndexType()),
                SmallVector<Location>(parts.size(), loc));
  ktdp::RegionTerminatorOp::create(b, loc);
  return tile.getResult();
}

Value KernelEmitter::loadOperand(const KernelOp &op, unsigned i) {
  Value tile = makeAccessTile(op, i);
  return ktdp::LoadOp::create(
      b, loc, RankedTensorType::get(getTileShape(op, i), op.operands[i].elementType), tile);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Value KernelEmitter::emitLoops(const KernelOp &op, bool reduced, Value carried,
                               function_ref<Value(Value)> body) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<scf::ForOp> loops;
  for (auto [p, part] : llvm::enumerate(op.parts)) {
    if (part.isReduced != reduced || op.tileSizes[p] == part.extent ||
        (op.isLargest() && part.dim == 0))
      continue;
    Value zero = getIndex(0), end = getIndex(part.extent), step = getIndex(op.tileSizes[p]);
    auto loop =
        scf::ForOp::create(b, loc, zero, end, step, carried ? ValueRange(carried) : ValueRange());
    if (carried)
      carried = loop.getRegionIterArg(0);
    tileOffsets[p] = loop.getInductionVar();
    loops.push_back(loop);
    b.setInsertionPointToStart(loop.getBody());
  }
  Value result = body(carried);
  for (scf::ForOp loop : llvm::reverse(loops)) {
    // A loop without values has its terminator already.
    if (result) {
      b.setInsertionPointToEnd(loop.getBody());
      scf::YieldOp::create(b, loc, result);
      result = loop.getResult(0);
    }
  }
  return result;
}

void KernelEmitter::emitOperation(const KernelOp &op) {
  loc = op.op->getLoc();
  OpBuilder::InsertionGuard guard(b);
  if (op.needsBarrier)
    emitBarrier();
  if (op.numSlices < kernel.numTiles) {
    // The other compute tiles have nothing to do here.
    Value isActive =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, tileId, getIndex(op.numSlices));
    auto active = scf::IfOp::create(b, loc, isActive, /*withElseRegion=*/false);
    b.setInsertionPointToStart(active.thenBlock());
  }
  tileOffsets.assign(op.parts.size(), Value());
  emitLoops(op, /*reduced=*/false, Value(), [&](Value) {
    emitTile(op);
    return Value();
  });
}

void KernelEmitter::emitSteps(ArrayRef<KernelStep> steps) {
  for (const KernelStep &step : steps) {
    if (step.operation) {
      emitOperation(kernel.operations[*step.operation]);
      continue;
    }
    scf::ForOp planned = step.loop;
    loc = planned.getLoc();
    auto bound = [&](Value value) { return getIndex(*getConstantIntValue(value)); };
    Value lower = bound(planned.getLowerBound()), upper = bound(planned.getUpperBound()),
          width = bound(planned.getStep());
    auto loop = scf::ForOp::create(b, loc, lower, upper, width);
    loopVariables.map(planned.getInductionVar(), loop.getInductionVar());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    emitSteps(step.body);
  }
}

void KernelEmitter::run() {
  makeFunction();
  loc = planned.getLoc();
  func::ReturnOp end = func::ReturnOp::create(b, planned.getLoc());
  if (kernel.numTiles > 1)
    tileId = inPrologue([&] {
      return ktdp::GetComputeTileIdOp::create(b, loc, TypeRange(b.getIndexType())).getResult(0);
    });
  b.setInsertionPoint(end);
  emitSteps(kernel.steps);
  planned.erase();
}
