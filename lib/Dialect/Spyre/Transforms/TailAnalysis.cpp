//===- TailAnalysis.cpp - What the padding of tensors holds -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/TailAnalysis.h"

#include "spyre/Dialect/Spyre/Transforms/StickAccess.h"
#include "spyre/Layout/TensorLayout.h"

using namespace mlir;
using namespace mlir::spyre;
using Tail = ::spyre::TailState;

TailAnalysis::TailAnalysis(func::FuncOp func) {
  // Copy-in writes zeros into tails and gaps.
  for (BlockArgument argument : func.getArguments())
    states[argument] = {Tail::Zero, Tail::Zero};
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      // Every lane of a constant's stick holds its value.
      Tail state = Tail::Unknown;
      if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
        if (isa<FloatType>(splat.getElementType())) {
          APFloat value = splat.getSplatValue<APFloat>();
          state = value.isZero()       ? Tail::Zero
                  : value.isInfinity() ? (value.isNegative() ? Tail::NegInf : Tail::PosInf)
                  : value.isNaN()      ? Tail::Unknown
                                       : Tail::Finite;
        }
      states[constant.getResult()] = {state, state};
    } else if (auto device = dyn_cast<DeviceOpInterface>(op)) {
      if (Value result = device.getResultTensor())
        states[result] = compute(device);
    }
  });
}

PaddingState TailAnalysis::compute(DeviceOpInterface op) const {
  StringRef name = op.getOpFuncName();
  const ::spyre::OpFuncInfo &info = *::spyre::lookupOpFunc({name.data(), name.size()});
  StickAccess sticks = checkSticks(op);
  PaddingState state;
  if (isRestickify(op)) {
    // Lanes become rows and rows lanes.
    PaddingState input = get(op.getInputs()[0]);
    return {input.rows, input.lanes};
  }
  SmallVector<::spyre::TailOperand> operands;
  std::optional<SmallVector<int64_t>> trips = getTripCounts(op);
  SmallVector<int64_t> ranges(op.getExtents());
  if (trips)
    ranges.append(*trips);
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    StickAccess access =
        getStickAccess(getShape(input), getLayout(input), op.getInputMap(i), ranges);
    ::spyre::TailOperand operand;
    operand.isStickBroadcast = access.kind == StickAccess::Lane0 && sticks.kind == StickAccess::Dim;
    if (sticks.kind == StickAccess::Dim && access.kind == StickAccess::Dim)
      operand.tail = getTail(input, op.getInputMap(i), access.dim, op.getExtents()[access.dim]);
    else
      operand.tail = get(input).lanes;
    operands.push_back(operand);
  }
  state.lanes = ::spyre::getProducedTail(info, operands);
  // An update leaves the rest of the tensor's padding as it was.
  if (Value init = op.getOutput()) {
    PaddingState before = get(init);
    state.lanes = ::spyre::joinTails(state.lanes, before.lanes);
    state.rows = before.rows;
  }
  return state;
}

Tail TailAnalysis::getContent(Value value, int64_t dim, int64_t begin) const {
  // A chain of updates: what lies beyond `begin` was written by the last one that
  // reaches there. Only scalar fills promise a state.
  auto op = value.getDefiningOp<DeviceOpInterface>();
  if (!op)
    return Tail::Unknown;
  AffineExpr expr = op.getOutputMap().getResult(dim);
  int64_t start = 0, extent = 1;
  expr.walk([&](AffineExpr e) {
    if (auto constant = dyn_cast<AffineConstantExpr>(e))
      start = constant.getValue();
    else if (auto d = dyn_cast<AffineDimExpr>(e))
      extent = op.getExtents()[d.getPosition()];
  });
  if (isRestickify(op)) {
    // The logical region moved with the rest.
    return getContent(op.getInputs()[0], dim, begin);
  }
  if (start >= begin && op.getOpFuncName() == "identity" && getShape(op.getInputs()[0]).empty()) {
    if (start == begin && start + extent == getShape(value)[dim])
      return get(op.getInputs()[0]).lanes;
    return Tail::Unknown;
  }
  if (start + extent <= begin && op.getOutput())
    return getContent(op.getOutput(), dim, begin);
  return Tail::Unknown;
}

Tail TailAnalysis::getTail(Value value, AffineMap map, unsigned dim, int64_t extent) const {
  for (auto [logical, result] : llvm::enumerate(map.getResults())) {
    if (!result.isFunctionOfDim(dim))
      continue;
    int64_t start = 0;
    result.walk([&](AffineExpr e) {
      if (auto constant = dyn_cast<AffineConstantExpr>(e))
        start = constant.getValue();
    });
    // Padding inside the tensor's own extents is data to it.
    if (start + extent < getShape(value)[logical])
      return getContent(value, logical, start + extent);
    bool inStick = static_cast<int64_t>(logical) == getStickDim(getLayout(value));
    PaddingState state = get(value);
    return inStick ? state.lanes : state.rows;
  }
  return Tail::Unknown;
}
