//===- RowGroup.cpp - What is done to the scores of rows --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One sweep over the block from the masking operation on follows what hidden columns hold, by
// the rules that the OpFunc table has for the padding of sticks: a sum is the same without
// zeros, a largest number without -inf. A score that is not finite at a hidden place, which
// makes a NaN of its row where the mask is added, is left out with the place.
//
//===----------------------------------------------------------------------===//

#include "RowGroup.h"

#include "MapUtils.h"

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::TailState;

std::optional<unsigned> RowGroup::getDim(DeviceOpInterface op, AffineMap map, unsigned axis,
                                         int64_t extent) {
  auto dim = dyn_cast<AffineDimExpr>(map.getResult(axis));
  if (!dim || dim.getPosition() >= op.getExtents().size() ||
      op.getExtents()[dim.getPosition()] != extent)
    return std::nullopt;
  for (auto [i, expr] : llvm::enumerate(map.getResults()))
    if (i != axis && expr.isFunctionOfDim(dim.getPosition()))
      return std::nullopt;
  return dim.getPosition();
}

/// The coordinate of \p op's result that is its dim \p dim, whole and by itself.
static std::optional<unsigned> getAxis(DeviceOpInterface op, unsigned dim) {
  AffineMap map = op.getOutputMap();
  for (auto [axis, expr] : llvm::enumerate(map.getResults()))
    if (expr.isFunctionOfDim(dim)) {
      ArrayRef<int64_t> shape = getTensorType(op.getResultTensor()).getShape();
      return RowGroup::getDim(op, map, axis, shape[axis]) ? std::optional<unsigned>(axis)
                                                          : std::nullopt;
    }
  return std::nullopt;
}

/// An operation whose parts can be computed by themselves.
static bool isDivisible(DeviceOpInterface op) {
  return op && op.getResultTensor() && !op.getOutput() && !op.getGather() &&
         op.getLoopVariables().empty() && op.getSplits().empty();
}

static bool isPointwise(DeviceOpInterface op) {
  ::spyre::OpCategory category = op.getInfo().category;
  return category == ::spyre::OpCategory::Unary || category == ::spyre::OpCategory::Broadcast ||
         op.getInfo().stickRule == ::spyre::StickRule::Cast;
}

static TailState toState(double number) {
  return number == 0           ? TailState::Zero
         : std::isnan(number)  ? TailState::Unknown
         : !std::isinf(number) ? TailState::Finite
         : number < 0          ? TailState::NegInf
                               : TailState::PosInf;
}

/// True if what combines numbers by \p info is the same without one of state \p hidden.
static bool isNeutral(const ::spyre::OpFuncInfo &info, TailState hidden) {
  return info.combiner != ::spyre::Combiner::None && info.neutral && hidden != TailState::Finite &&
         hidden != TailState::Unknown && toState(*info.neutral) == hidden;
}

TailState RowGroup::getHidden(DeviceOpInterface op, Member dims) const {
  SmallVector<::spyre::TailOperand> operands;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    ::spyre::TailOperand operand;
    auto known = values.find(input);
    if (known != values.end() && known->second.column)
      operand.tail = known->second.hidden;
    else if (std::optional<double> number = getScalarConstant(input))
      operand.tail = toState(*number);
    else if (op.getInputMap(i).isFunctionOfDim(*dims.column))
      operand.tail = TailState::Finite;
    else
      operand.isStickBroadcast = true;
    operands.push_back(operand);
  }
  return ::spyre::getProducedTail(op.getInfo(), operands);
}

std::optional<RowGroup::Member> RowGroup::getDims(DeviceOpInterface op) const {
  std::optional<Member> dims;
  bool isFirst = true;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    auto known = values.find(input);
    if (known == values.end())
      continue;
    const Scores &scores = known->second;
    ArrayRef<int64_t> shape = getTensorType(input).getShape();
    AffineMap map = op.getInputMap(i);
    std::optional<unsigned> row = getDim(op, map, scores.row, shape[scores.row]), column;
    if (scores.column)
      column = getDim(op, map, *scores.column, shape[*scores.column]);
    if (!row || (scores.column && !column) || (!isFirst && *row != dims->row) ||
        (column && !isFirst && dims->column && *column != *dims->column))
      return std::nullopt;
    if (isFirst)
      dims = Member{*row, column};
    else if (column)
      dims->column = column;
    isFirst = false;
  }
  return dims;
}

bool RowGroup::addResult(DeviceOpInterface op, Member dims) {
  std::optional<unsigned> row = getAxis(op, dims.row);
  if (!row)
    return false;
  Scores result{*row, std::nullopt};
  if (dims.column && op.getOutputMap().isFunctionOfDim(*dims.column)) {
    result.column = getAxis(op, *dims.column);
    if (!result.column || !isPointwise(op))
      return false;
    result.hidden = getHidden(op, dims);
  } else if (dims.column) {
    if (op.getInfo().category == ::spyre::OpCategory::Batchmatmul) {
      SmallVector<TailState, 2> factors;
      for (Value input : op.getInputs()) {
        auto known = values.find(input);
        factors.push_back(known == values.end() ? TailState::Finite : known->second.hidden);
      }
      if (!::spyre::areContractionTailsSufficient(op.getInfo(), factors[0], factors[1]))
        return false;
    } else if (op.getInfo().category != ::spyre::OpCategory::Reduction ||
               !isNeutral(op.getInfo(), values.at(op.getInputs()[0]).hidden)) {
      return false;
    }
  }
  members[op] = dims;
  values[op.getResultTensor()] = result;
  return true;
}

bool RowGroup::addMasking(Member dims) {
  if (!isDivisible(masking) || !isPointwise(masking))
    return false;
  std::optional<unsigned> row = getAxis(masking, dims.row);
  std::optional<unsigned> column = getAxis(masking, *dims.column);
  if (!row || !column)
    return false;
  const ::spyre::OpFuncInfo &info = masking.getInfo();
  SmallVector<::spyre::TailOperand> operands;
  for (auto [i, input] : llvm::enumerate(masking.getInputs())) {
    std::optional<double> number = getScalarConstant(input);
    operands.push_back({number ? toState(*number) : TailState::Finite});
  }
  Scores result{*row, column};
  if (hiddenBy == HiddenBy::True) {
    // What is chosen where the condition holds.
    if (info.tailRule != ::spyre::TailRule::Select || mask != 0)
      return false;
    result.hidden = operands[1].tail;
  } else {
    operands[mask].tail = hiddenBy == HiddenBy::Zero ? TailState::Zero : TailState::NegInf;
    result.hidden = ::spyre::getProducedTail(info, operands);
  }
  members[masking] = dims;
  values[masking.getResultTensor()] = result;
  return true;
}

bool RowGroup::collect(Member dims) {
  if (!addMasking(dims))
    return false;
  // How many uses of scores are still to come.
  auto countUses = [](Value value) { return std::distance(value.use_begin(), value.use_end()); };
  int64_t numOpen = countUses(masking.getResultTensor());
  llvm::SmallPtrSet<Operation *, 16> tainted;
  SmallVector<DeviceOpInterface> ofRows;
  for (Operation *op = masking->getNextNode(); op; op = op->getNextNode()) {
    int64_t numScores = 0;
    bool readsRows = false, readsTainted = false;
    for (Value operand : op->getOperands()) {
      auto known = values.find(operand);
      if (known != values.end()) {
        numScores += known->second.column.has_value();
        readsRows |= !known->second.column;
      }
      readsTainted |= operand.getDefiningOp() && tainted.contains(operand.getDefiningOp());
    }
    if (numScores == 0 && !readsRows && !readsTainted)
      continue;
    auto device = dyn_cast<DeviceOpInterface>(op);
    bool isAdded = false;
    if (device && isDivisible(device) && !readsTainted)
      if (std::optional<Member> found = getDims(device)) {
        isAdded = addResult(device, *found);
        if (isAdded && !found->column)
          ofRows.push_back(device);
        else if (isAdded && values.at(device.getResultTensor()).column)
          numOpen += countUses(device.getResultTensor());
      }
    if (!isAdded && numScores > 0)
      return false;
    if (!isAdded)
      tainted.insert(op);
    numOpen -= numScores;
    // What follows is looked at for what makes results smaller, up to the next product.
    if (numOpen == 0 && device && device.getInfo().category == ::spyre::OpCategory::Batchmatmul &&
        numScores == 0)
      break;
  }
  if (numOpen != 0)
    return false;
  // What works on rows alone is in the group only if the group needs it.
  for (DeviceOpInterface op : ofRows)
    members.erase(op);
  addBetween(ofRows);
  addMakers();
  sort();
  addFollowers(ofRows);
  return true;
}

/// Adds those of \p ofRows that members need.
void RowGroup::addBetween(ArrayRef<DeviceOpInterface> ofRows) {
  for (DeviceOpInterface op : llvm::reverse(ofRows)) {
    Value result = op.getResultTensor();
    if (!members.contains(op) &&
        llvm::any_of(result.getUsers(), [&](Operation *user) { return members.contains(user); }))
      members[op] = Member{*getDims(op)};
  }
}

/// Adds what makes scores for members alone: the product, its scaling and casts.
void RowGroup::addMakers() {
  for (size_t i = 0; i < members.size(); ++i) {
    auto [operation, dims] = *(members.begin() + i);
    if (!dims.column)
      continue;
    auto op = cast<DeviceOpInterface>(operation);
    for (auto [k, input] : llvm::enumerate(op.getInputs())) {
      DeviceOpInterface maker = getProducer(input);
      if (values.contains(input) || !maker || !isDivisible(maker) ||
          maker->getBlock() != op->getBlock() ||
          !llvm::all_of(input.getUsers(), [&](Operation *user) { return members.contains(user); }))
        continue;
      // The axes that all its readers agree on.
      AffineMap map = op.getInputMap(k);
      ArrayRef<int64_t> shape = getTensorType(input).getShape();
      std::optional<unsigned> row, column;
      for (unsigned axis = 0; axis < shape.size(); ++axis) {
        std::optional<unsigned> dim = getDim(op, map, axis, shape[axis]);
        if (dim == dims.row)
          row = axis;
        else if (dim && dim == dims.column)
          column = axis;
      }
      if (!row || !column)
        continue;
      AffineMap output = maker.getOutputMap();
      std::optional<unsigned> rowDim = getDim(maker, output, *row, shape[*row]);
      std::optional<unsigned> columnDim = getDim(maker, output, *column, shape[*column]);
      if (!rowDim || !columnDim)
        continue;
      values[input] = {*row, column};
      bool agree = llvm::all_of(input.getUsers(), [&](Operation *user) {
        auto reader = cast<DeviceOpInterface>(user);
        std::optional<Member> found = getDims(reader);
        return found && found->row == members.lookup(user).row &&
               found->column == members.lookup(user).column;
      });
      if (!agree) {
        values.erase(input);
        continue;
      }
      members[maker] = Member{*rowDim, columnDim};
    }
  }
}

void RowGroup::sort() {
  auto all = members.takeVector();
  llvm::sort(all, [](const auto &a, const auto &b) { return a.first->isBeforeInBlock(b.first); });
  for (auto &member : all)
    members.insert(std::move(member));
}

SmallVector<Value> RowGroup::getOutputs() const {
  SmallVector<Value> outputs;
  for (const auto &[op, dims] : members) {
    Value result = cast<DeviceOpInterface>(op).getResultTensor();
    if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !members.contains(user); }))
      outputs.push_back(result);
  }
  return outputs;
}

/// Adds those of \p ofRows after which fewer bytes leave the group: quotients by sums, casts.
void RowGroup::addFollowers(ArrayRef<DeviceOpInterface> ofRows) {
  auto getBytes = [&](ArrayRef<Value> outputs) {
    int64_t bits = 0;
    for (Value value : outputs) {
      RankedTensorType type = getTensorType(value);
      bits += type.getNumElements() * type.getElementTypeBitWidth();
    }
    return bits;
  };
  for (DeviceOpInterface op : ofRows) {
    if (members.contains(op) || !isPointwise(op))
      continue;
    // With what it needs of rows.
    const auto before = members;
    const int64_t bytesBefore = getBytes(getOutputs());
    SmallVector<Operation *> needed{op};
    for (size_t i = 0; i < needed.size(); ++i) {
      members[needed[i]] = *getDims(cast<DeviceOpInterface>(needed[i]));
      for (Value operand : needed[i]->getOperands())
        if (values.contains(operand) && !members.contains(operand.getDefiningOp()))
          needed.push_back(operand.getDefiningOp());
    }
    sort();
    if (!llvm::all_of(needed,
                      [](Operation *o) { return isPointwise(cast<DeviceOpInterface>(o)); }) ||
        getBytes(getOutputs()) >= bytesBefore)
      members = before;
  }
}

std::optional<RowGroup> RowGroup::of(DeviceOpInterface masking, unsigned mask, unsigned row,
                                     unsigned column, HiddenBy hiddenBy) {
  RowGroup group;
  group.masking = masking;
  group.mask = mask;
  group.hiddenBy = hiddenBy;
  return group.collect(Member{row, column}) ? std::optional(group) : std::nullopt;
}

std::optional<unsigned> RowGroup::findUnmasked() const {
  std::optional<unsigned> kept;
  switch (DeviceOpInterface(masking).getOpFunc()) {
  case ::spyre::OpFunc::Add: // -inf or 0
    if (hiddenBy == HiddenBy::NegInf)
      kept = 1 - mask;
    break;
  case ::spyre::OpFunc::Mul: // 0 or 1
    if (hiddenBy == HiddenBy::Zero)
      kept = 1 - mask;
    break;
  case ::spyre::OpFunc::Where3:
    if (mask == 0)
      kept = hiddenBy == HiddenBy::True ? 2 : 1;
    break;
  default:
    break;
  }
  auto op = DeviceOpInterface(masking);
  if (!kept)
    return std::nullopt;
  Value value = op.getInputs()[*kept], result = op.getResultTensor();
  return value.getType() == result.getType() && op.getInputMap(*kept) == op.getOutputMap() &&
                 members.contains(value.getDefiningOp())
             ? kept
             : std::nullopt;
}

bool RowGroup::isPlainWidening(Operation *op) const {
  auto device = dyn_cast<DeviceOpInterface>(op);
  return device && members.contains(op) && device.getOpFunc() == ::spyre::OpFunc::Dl16tofp32 &&
         device.getInputMap(0) == device.getOutputMap() &&
         getTensorType(device.getInputs()[0]).getShape() ==
             getTensorType(device.getResultTensor()).getShape();
}
