//===- AssignLayouts.cpp - L1 to L2: a device layout for every tensor -----===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See LayoutAssigner.h.
//
//===----------------------------------------------------------------------===//

#include "LayoutAssigner.h"
#include "spyre/OpFunc/OpFuncTable.h"

using namespace mlir;
using namespace mlir::spyre;

/// More than any plan: not possible.
static constexpr int64_t kImpossible = int64_t(1) << 60;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

void mlir::spyre::replaceInput(DeviceOpInterface op, unsigned input, Value value, AffineMap map) {
  op->setOperand(input, value);
  SmallVector<Attribute> maps(op.getMaps().getValue());
  maps[input] = AffineMapAttr::get(map);
  op->setAttr("maps", ArrayAttr::get(op->getContext(), maps));
}

static RankedTensorType getPlainType(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

static Box getInputBox(DeviceOpInterface op, unsigned input, Stick stick) {
  AffineMap map = op.getInputMap(input);
  return getBox(op, map, getUsedDims(map), stick);
}

/// True if several operations read parts of \p value that are as much as all of it together.
static bool isReadInParts(Value value) {
  int64_t numParts = 0, numElements = 0;
  for (OpOperand &use : value.getUses()) {
    auto op = dyn_cast<DeviceOpInterface>(use.getOwner());
    if (!op || use.getOperandNumber() >= op.getInputs().size())
      continue;
    llvm::SmallBitVector used = getUsedDims(op.getInputMap(use.getOperandNumber()));
    int64_t size = 1;
    for (unsigned dim : used.set_bits())
      size *= op.getExtents()[dim];
    numElements += size;
    numParts += size < cast<RankedTensorType>(value.getType()).getNumElements();
  }
  return numParts > 1 && numElements >= cast<RankedTensorType>(value.getType()).getNumElements();
}

OperandPlan LayoutAssigner::planOperand(DeviceOpInterface op, unsigned input, Stick stick) {
  Value value = op.getInputs()[input];
  AffineMap map = op.getInputMap(input);
  StickAccess access = getStickAccess(getShape(value), getLayout(value), map, op.getExtents());
  bool used = stick && getUsedDims(map)[*stick];
  if (access.kind == StickAccess::Dim && used && access.dim == *stick)
    return {};
  if (access.kind == StickAccess::Lane0 && !used)
    return {};
  std::optional<OperandPlan> best;
  auto offer = [&](OperandPlan plan) {
    if (!best || plan.cost < best->cost)
      best = plan;
  };
  if (used) {
    for (auto [dim, result] : llvm::enumerate(map.getResults())) {
      auto logical = static_cast<int64_t>(dim);
      if (!result.isFunctionOfDim(*stick) || logical == getStickDim(getLayout(value)))
        continue;
      StickAccess moved = getStickAccess(getShape(value), copies.getLayoutWithStick(value, logical),
                                         map, op.getExtents());
      if (moved.kind == StickAccess::Dim && moved.dim == *stick)
        offer({OperandPlan::Restickify, logical, copies.getWithStickCost(value, logical)});
    }
  } else if (access.kind == StickAccess::Dim && copies.canReadSpread(value, map, op.getExtents())) {
    offer({OperandPlan::Spread, -1, copies.getSpreadCost(value)});
  }
  if (!used && copies.canBeSparse(value) &&
      getStickAccess(getShape(value), makeLayout(getPlainType(value), -1), map, op.getExtents())
              .kind == StickAccess::Lane0)
    offer({OperandPlan::Sparse, -1, getNumElementsInMemory(value, -1)});
  // One copy of the whole is shared by all who read parts of it.
  if (best && best->kind == OperandPlan::Restickify && isReadInParts(value))
    return *best;
  Box box = getInputBox(op, input, stick);
  offer({OperandPlan::Part, -1, copies.getPartCost(value, box.map, box.extents, box.stick)});
  return *best;
}

void LayoutAssigner::makePart(DeviceOpInterface op, unsigned input, Stick stick, bool zeroTail) {
  Box box = getInputBox(op, input, stick);
  Part part = copies.getPart(op.getInputs()[input], box.map, box.extents, box.stick, zeroTail);
  replaceInput(op, input, part.value, part.map.compose(box.projection));
}

void LayoutAssigner::makeOperandFit(DeviceOpInterface op, unsigned input, Stick stick) {
  OperandPlan plan = planOperand(op, input, stick);
  Value value = op.getInputs()[input];
  AffineMap map = op.getInputMap(input);
  switch (plan.kind) {
  case OperandPlan::Fits:
    copies.keepLayout(value);
    return;
  case OperandPlan::Restickify: {
    Value copy = copies.getWithStick(value, plan.logical);
    // A sparse value has grown a unit dim.
    if (getShape(copy).size() > map.getNumResults())
      map = map.insertResult(builder.getAffineConstantExpr(0), map.getNumResults());
    return replaceInput(op, input, copy, map);
  }
  case OperandPlan::Sparse:
    return replaceInput(op, input, copies.getSparse(value), map);
  case OperandPlan::Spread:
    return replaceInput(op, input, copies.getSpread(value),
                        map.insertResult(builder.getAffineConstantExpr(0), 0));
  case OperandPlan::Part:
    return makePart(op, input, stick, /*zeroTail=*/false);
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LayoutAssigner::Choice LayoutAssigner::makeChoice(DeviceOpInterface op, Stick stick) {
  // Every operation has an input (its verifier).
  int64_t elements = ::spyre::getElementsPerStick(getLayout(op.getInputs()[0]).getFormat());
  // Every operand moves the points once, in whole sticks.
  int64_t points = stick ? 1 : elements;
  for (auto [d, extent] : llvm::enumerate(op.getExtents()))
    points *= stick == d ? static_cast<int64_t>(llvm::alignTo(extent, elements)) : extent;
  // What is copied into another stick is often copied back by its next reader.
  constexpr int64_t kCopyWeight = 2;
  Choice choice{stick};
  choice.cost = points;
  for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i) {
    choice.cost += getShape(op.getInputs()[i]).empty() ? 0 : points;
    choice.copies += kCopyWeight * planOperand(op, i, stick).cost;
  }
  choice.cost += choice.copies;
  choice.inPlace = chooseResultLayout(op, stick).has_value();
  // A copy has nothing to split off.
  if (!choice.inPlace)
    choice.cost = isa<IdentityOp>(op) ? kImpossible : choice.cost + 4 * points;
  return choice;
}

LogicalResult LayoutAssigner::assignPointwise(DeviceOpInterface op, std::optional<unsigned> place) {
  Value result = op.getResultTensor();
  AffineMap outMap = op.getOutputMap();
  llvm::SmallBitVector written = getUsedDims(outMap);
  bool reduces = isReduction(op);
  // A result that another bundle reads wants the default layout.
  Stick defaultStick;
  if (outMap.getNumResults() > 0)
    for (unsigned d = 0; d < op.getNumDims(); ++d)
      if (outMap.getResults().back().isFunctionOfDim(d))
        defaultStick = d;
  bool wantsDefault =
      llvm::any_of(getWriters(op).back().getResultTensor().getUses(), [&](OpOperand &use) {
        return isa<func::ReturnOp>(use.getOwner()) && !isFreeResult(use);
      });

  Choice best;
  best.cost = kImpossible;
  SmallVector<Choice> choices;
  auto consider = [&](Stick stick) {
    Choice choice = makeChoice(op, stick);
    if (choice.cost >= kImpossible)
      return;
    if (wantsDefault && defaultStick && stick != defaultStick)
      choice.cost += 2 * getNumElementsInMemory(result, outMap.getNumResults() - 1);
    if (choice.cost < best.cost || (choice.cost == best.cost && stick && stick == defaultStick))
      best = choice;
    // In the order of their costs.
    choices.insert(
        llvm::upper_bound(choices, choice,
                          [](const Choice &a, const Choice &b) { return a.cost < b.cost; }),
        choice);
  };
  // Only a reduction may have a dim in its input's stick that it does not write.
  for (unsigned d = 0; d < op.getNumDims(); ++d)
    if (written[d] || reduces)
      consider(d);
  consider(std::nullopt);
  if (place) {
    if (auto wish = wishes.find(*place); wish != wishes.end())
      for (const Choice &choice : choices)
        if (choice.stick == wish->second && choice.inPlace)
          best = choice;
    StickDecision decision{*place, best.copies > 0, {}};
    for (const Choice &choice : choices)
      if (choice.inPlace && choice.stick != best.stick && choice.cost < kNoFormCost)
        decision.others.push_back(choice.stick);
    decisions.push_back(std::move(decision));
  }
  if (best.cost == kImpossible) {
    // Two steps through a dim of five places: nothing but the outermost dim is stepped
    // through like that. The four places by themselves are two dims.
    DeviceOpInterface written = splitOffOffset(op, /*always=*/true);
    if (!written)
      return op->emitOpError() << "has no stick dim with which its result can be written";
    if (failed(assignPointwise(written.getInputs()[0].getDefiningOp<DeviceOpInterface>())))
      return failure();
    return assignPointwise(written);
  }

  if (isCast(op) && planOperand(op, 0, std::nullopt).kind == OperandPlan::Fits)
    return assignPartialCast(op, std::nullopt);

  DeviceOpInterface write;
  if (!best.inPlace) {
    write = splitOffWrite(op);
    op = write.getInputs()[0].getDefiningOp<DeviceOpInterface>();
  }
  if (isCast(op) && (!best.stick || isPartialCast(op, *best.stick))) {
    if (failed(assignPartialCast(op, best.stick)))
      return failure();
    return write ? assignPointwise(write) : success();
  }
  for (unsigned i = 0, e = op.getInputs().size(); i < e; ++i)
    makeOperandFit(op, i, best.stick);
  std::optional<LayoutAttr> layout = chooseResultLayout(op, best.stick);
  assert(layout && "a box of one's own can be written with every stick dim");
  setLayout(op.getResultTensor(), *layout);
  if (failed(finish(op)))
    return failure();
  return write ? assignPointwise(write) : success();
}

LogicalResult LayoutAssigner::finish(DeviceOpInterface op) {
  StickAccess sticks = checkSticks(op);
  if (sticks.kind == StickAccess::Dim && isCast(op) && isPartialCast(op, sticks.dim))
    return op->emitOpError() << "has no layout that the device can execute: one side has fewer "
                                "sticks than those of the other side hold";
  if (sticks.kind == StickAccess::Unreadable)
    return op->emitOpError() << "has no layout that the device can execute: " << sticks.reason;
  copies.getTails().update(op);
  return success();
}

LogicalResult LayoutAssigner::assign(DeviceOpInterface op, unsigned place) {
  if (!op.getResultTensor())
    return op->emitOpError() << "works on buffers; layouts are assigned to tensors";
  if (getLayout(op.getResultTensor())) // placed by this pass, or by hand
    return finish(op);
  if (failed(repeatReduced(op)))
    return failure();
  return isMatmul(op) ? assignMatmul(op, place) : assignPointwise(op, place);
}

bool LayoutAssigner::isFreeResult(OpOperand &returned) {
  return resultsAreFree && func.getResultAttr(returned.getOperandNumber(), kOnHostAttr);
}

LogicalResult LayoutAssigner::assignReturn(func::ReturnOp op, unsigned place) {
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    copies.keepLayout(value);
    auto type = cast<RankedTensorType>(value.getType());
    auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
    LayoutAttr wanted = makeLayout(plain, plain.getRank() - 1);
    LayoutAttr have = getLayout(value);
    if (have == wanted)
      continue;
    // Copies out follow any layout of whole sticks without padding of other dims.
    if (isFreeResult(operand) && getStickDim(have) >= 0 &&
        have == makeLayout(plain, getStickDim(have)))
      continue;
    Value source = value;
    if (getStickDim(have) != getStickDim(wanted)) {
      decisions.push_back({place, /*copiesOperands=*/true, {}});
      source = copies.getWithStick(value, type.getRank() - 1);
    }
    if (source.getType() != RankedTensorType::get(type.getShape(), type.getElementType(), wanted)) {
      // Drop padding: copy the logical region.
      builder.setInsertionPoint(op);
      unsigned rank = type.getRank();
      AffineMap identity = builder.getMultiDimIdentityMap(rank);
      AffineMap from = identity;
      if (cast<RankedTensorType>(source.getType()).getRank() > rank)
        from = identity.insertResult(builder.getAffineConstantExpr(0), rank);
      source = copies.buildIdentity(
          op.getLoc(), source, type.getShape(), from,
          RankedTensorType::get(type.getShape(), type.getElementType(), wanted), identity);
    }
    operand.set(source);
  }
  return success();
}

/// An integer of \p constant that the device's integers cannot hold, if it has one.
static std::optional<int64_t> getBeyondInt32(ConstantOp constant) {
  auto elements = dyn_cast<DenseIntElementsAttr>(constant.getValue());
  if (!elements || elements.getElementType().getIntOrFloatBitWidth() <= 32)
    return std::nullopt;
  auto isBeyond = [](const APInt &value) { return !value.isSignedIntN(32); };
  if (elements.isSplat()) {
    APInt value = elements.getSplatValue<APInt>();
    return isBeyond(value) ? std::optional(value.getSExtValue()) : std::nullopt;
  }
  for (const APInt &value : elements.getValues<APInt>())
    if (isBeyond(value))
      return value.getSExtValue();
  return std::nullopt;
}

/// Sizes and points up to here can be padded and counted in 64 bits.
static constexpr int64_t kMaxElements = int64_t(1) << 48;
static constexpr int64_t kMaxPoints = int64_t(1) << 50;

/// True if the product of \p sizes is larger than \p limit.
static bool isLargerThan(ArrayRef<int64_t> sizes, int64_t limit) {
  for (int64_t size : sizes) {
    if (size == 0)
      return false;
    limit /= size;
  }
  return limit < 1;
}

void LayoutAssigner::splitOffsets() {
  for (Operation &op : llvm::make_early_inc_range(func.getBody().front()))
    if (auto device = dyn_cast<DeviceOpInterface>(op); device && device.getResultTensor())
      splitOffOffset(device, /*always=*/false);
}

LogicalResult LayoutAssigner::run() {
  bool ok = true;
  auto supported = [&](Value value, Operation *at) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && type.hasStaticShape() && getDeviceFormat(type.getElementType())) {
      if (!isLargerThan(type.getShape(), kMaxElements))
        return true;
      emitError(at->getLoc()) << "a value of type " << type << " has more than " << kMaxElements
                              << " elements";
      return false;
    }
    emitError(at->getLoc())
        << "a value of type " << value.getType()
        << " has no device layout and is not supported; shapes must be static and the "
           "element type one of "
           "the device's";
    return false;
  };
  splitOffsets();
  for (BlockArgument argument : func.getArguments()) {
    if (!supported(argument, func)) {
      ok = false;
      continue;
    }
    if (!getLayout(argument)) {
      setDefaultLayout(argument);
      if (func.getArgAttr(argument.getArgNumber(), kWeightAttr))
        copies.addWeight(argument);
    }
  }
  if (!ok)
    return failure();
  // Copies are inserted before the operations that they are for, and are no places.
  unsigned place = 0;
  for (Operation &op : llvm::make_early_inc_range(func.getBody().front())) {
    LogicalResult assigned = success();
    if (auto device = dyn_cast<DeviceOpInterface>(op)) {
      if (!supported(device.getDestination(), &op))
        return failure();
      if (isLargerThan(device.getExtents(), kMaxPoints))
        return op.emitOpError() << "iterates over more than " << kMaxPoints << " points";
      assigned = assign(device, place++);
    } else if (auto constant = dyn_cast<ConstantOp>(op)) {
      if (!supported(constant.getResult(), &op))
        return failure();
      if (std::optional<int64_t> beyond = getBeyondInt32(constant))
        return op.emitError() << "the number " << *beyond << " of a constant of type "
                              << constant.getType()
                              << " is not supported: the device's integers have 32 bits";
      if (!getLayout(constant.getResult()))
        setDefaultLayout(constant.getResult());
      copies.getTails().update(constant);
    } else if (auto alias = dyn_cast<ReinterpretOp>(op)) {
      copies.getTails().update(alias);
    } else if (auto ret = dyn_cast<func::ReturnOp>(op)) {
      assigned = assignReturn(ret, place);
    } else {
      op.emitOpError() << "should have been lowered to device operations before layouts are "
                          "assigned";
      assigned = failure();
    }
    ok &= succeeded(assigned);
    // What comes after needs the layouts of what came before.
    if (!ok || copies.hasFailed())
      return failure();
  }
  SmallVector<Type> results(func.getBody().front().getTerminator()->getOperandTypes());
  func.setFunctionType(builder.getFunctionType(func.getBody().getArgumentTypes(), results));
  return success();
}
