//===- CarriedRows.cpp - What goes on with the parts of a row --------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "CarriedRows.h"

#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::ShiftLaw;

SmallVector<unsigned> mlir::spyre::getReducedDims(DeviceOpInterface op) {
  llvm::SmallBitVector written = getUsedDims(op.getOutputMap());
  SmallVector<unsigned> dims;
  for (auto [d, extent] : llvm::enumerate(op.getExtents()))
    if (!written[d] && extent > 1)
      dims.push_back(d);
  return dims;
}

/// An operation of plain points: neither reduces nor contracts.
static bool isElementwise(DeviceOpInterface op) {
  return !isMatmul(op) && !isReduction(op) && !op.getGather() && op.getInfo().divisible;
}

static bool isF32(Value buffer) { return getElementType(buffer).isF32(); }

/// True if \p value is a number of the program above 0.
static bool isPositive(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto func = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  auto number =
      func ? func.getArgAttrOfType<FloatAttr>(argument.getArgNumber(), kValueAttr) : nullptr;
  return number && number.getValueAsDouble() > 0;
}

/// True if the result of \p op does not get less when its \p operand gets more, and is a number for
/// each: the change that it makes of the lowest number is none that grows.
static bool keepsOrder(DeviceOpInterface op, unsigned operand) {
  switch (op.getOpFunc()) {
  case ::spyre::OpFunc::Identity:
  case ::spyre::OpFunc::Maximum:
  case ::spyre::OpFunc::Minimum:
  case ::spyre::OpFunc::Add:
    return true;
  case ::spyre::OpFunc::Sub:
    return operand == 0;
  default:
    return false;
  }
}

bool CarriedRows::isPrivate(Value buffer) {
  auto alloc = buffer.getDefiningOp<AllocOp>();
  return alloc && !alloc.getPlacementAttr() && writers[buffer].size() == 1 &&
         llvm::none_of(buffer.getUsers(), llvm::IsaPred<ReinterpretOp>);
}

bool CarriedRows::findRow() {
  SmallVector<unsigned> reduced = getReducedDims(largest);
  Value result = largest.getDestination();
  if (reduced.size() != 1 || !isF32(result) || largest->hasAttr(kCarriedAttr) || !isPrivate(result))
    return false;
  State start{Kind::Row, {}, {}};
  for (auto [r, expr] : llvm::enumerate(largest.getOutputMap().getResults())) {
    if (!getPlainDim(expr) && expr != 0)
      return false;
    start.rows.push_back(getPlainDim(expr) ? std::optional<unsigned>(r) : std::nullopt);
  }
  states[result] = start;
  for (auto [r, expr] : llvm::enumerate(largest.getInputMap(0).getResults()))
    if (getPlainDim(expr) == reduced.front())
      along[largest.getInputs()[0]] = r;
    else if (expr.isFunctionOfDim(reduced.front()))
      return false;
  return along.size() == 1;
}

bool CarriedRows::findAlong() {
  SmallVector<Value> work{largest.getInputs()[0]};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    const unsigned coordinate = along[value];
    SmallVector<DeviceOpInterface> users(writers[value]);
    users.append(readers[value]);
    for (DeviceOpInterface op : users) {
      if (!isElementwise(op))
        continue;
      std::optional<unsigned> dim;
      auto forEach = [&](auto apply) {
        for (unsigned i = 0, e = op.getInputs().size(); i <= e; ++i)
          apply(i < e ? op.getInputs()[i] : op.getDestination(), op.getMap(i));
      };
      forEach([&](Value operand, AffineMap map) {
        if (operand == value)
          dim = getPlainDim(map.getResult(coordinate));
      });
      bool isClear = true;
      forEach([&](Value operand, AffineMap map) {
        for (auto [r, expr] : llvm::enumerate(map.getResults())) {
          if (!dim || getPlainDim(expr) != *dim)
            continue;
          auto [known, isNew] = along.try_emplace(operand, r);
          isClear &= known->second == r;
          // What nobody writes (a mask that many rows are added to) hands nothing on.
          if (isNew && writers.contains(operand))
            work.push_back(operand);
        }
      });
      if (!isClear)
        return false;
    }
  }
  return true;
}

std::optional<unsigned> CarriedRows::getAlong(DeviceOpInterface op, bool &isClear) {
  std::optional<unsigned> found;
  auto look = [&](Value value, AffineMap map) {
    auto known = along.find(value);
    if (known == along.end())
      return;
    AffineExpr expr = map.getResult(known->second);
    std::optional<unsigned> dim = getPlainDim(expr);
    isClear &= dim.has_value() && (!found || found == dim);
    found = dim;
  };
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    look(input, op.getInputMap(i));
  look(op.getDestination(), op.getOutputMap());
  return found;
}

std::optional<SmallVector<std::optional<unsigned>>>
CarriedRows::follow(DeviceOpInterface op, unsigned operand,
                    ArrayRef<std::optional<unsigned>> rows) {
  AffineMap from = op.getInputMap(operand), to = op.getOutputMap();
  SmallVector<std::optional<unsigned>> result;
  for (std::optional<unsigned> row : rows) {
    result.push_back(std::nullopt);
    if (!row)
      continue;
    std::optional<unsigned> dim = getPlainDim(from.getResult(*row));
    for (auto [r, expr] : llvm::enumerate(to.getResults()))
      if (dim && getPlainDim(expr) == dim)
        result.back() = r;
    if (!result.back())
      return std::nullopt;
  }
  return result;
}

CarriedRows::State CarriedRows::transferRow(DeviceOpInterface op, unsigned operand,
                                            const State &from, std::optional<unsigned> along) {
  const State final{Kind::Final, {}, {}};
  if (!isElementwise(op) || !isF32(op.getDestination()) || !isPrivate(op.getDestination()))
    return final;
  auto rows = follow(op, operand, from.rows);
  if (!rows)
    return final;
  if (!along) {
    if (!keepsOrder(op, operand))
      return final;
    // Of the same numbers for each row, in the same place; others are scalars, or a number of each
    // row that other columns make (the largest of a part beside this one).
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      const bool isInPlace = op.getInputMap(i) == op.getOutputMap() &&
                             getShape(input) == getShape(op.getDestination());
      if (!isInPlace && (i == operand || getUsedDims(op.getInputMap(i)).any()))
        return final;
    }
    return {Kind::Row, *rows, {}};
  }
  // It gets less where the number of the row gets more: exponentials do not grow with it.
  bool isShift = op.getInputs().size() == 2 && operand == 1 &&
                 op.getInfo().secondShiftLaw == ShiftLaw::ShiftBack;
  return isShift ? State{Kind::Shifted, *rows, {{op, operand}}} : final;
}

CarriedRows::State CarriedRows::transfer(DeviceOpInterface op) {
  const State final{Kind::Final, {}, {}};
  std::optional<unsigned> operand;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    const State &state = getState(input);
    if (state.kind == Kind::Exact)
      continue;
    if (state.kind == Kind::Final || operand)
      return final;
    operand = i;
  }
  if (!operand)
    return {};
  bool isClear = true;
  std::optional<unsigned> dim = getAlong(op, isClear);
  const State &from = getState(op.getInputs()[*operand]);
  if (!isClear)
    return final;
  if (from.kind == Kind::Row)
    return transferRow(op, *operand, from, dim);
  const ::spyre::OpFuncInfo &info = op.getInfo();
  if (!dim || !isPrivate(op.getDestination()))
    return final;
  if (from.kind == Kind::Scaled && !isElementwise(op)) {
    addSum(op, *operand, from, *dim);
    return final;
  }
  auto rows = follow(op, *operand, from.rows);
  if (!rows)
    return final;
  State to{from.kind, *rows, from.chain};
  const bool isCast = info.stickRule == ::spyre::StickRule::Cast;
  const bool scalesFirst = info.scaleLaw == ::spyre::ScaleLaw::Each ||
                           (info.scaleLaw == ::spyre::ScaleLaw::First && *operand == 0);
  if (from.kind == Kind::Shifted) {
    if (!isElementwise(op) || isCast || !isF32(op.getDestination()))
      return final;
    // A shift by c becomes one by c times a number above 0.
    const bool isScaled =
        op.getInputs().size() == 2 && scalesFirst && isPositive(op.getInputs()[1 - *operand]);
    if (info.shiftLaw == ShiftLaw::ScaleByExp && *operand == 0 && op.getInputs().size() == 1)
      to.kind = Kind::Scaled;
    else if (!isScaled) {
      // What is added to all alike is no part of the change.
      bool isAdded = (*operand == 0 && info.shiftLaw == ShiftLaw::Shift) ||
                     (*operand == 1 && info.secondShiftLaw == ShiftLaw::Shift);
      return isAdded ? to : final;
    }
    to.chain.emplace_back(op, *operand);
    return to;
  }
  return isCast || scalesFirst ? to : final;
}

CarriedRows::Space CarriedRows::getSpace(DeviceOpInterface op, SmallVectorImpl<AffineExpr> &dims) {
  MLIRContext *context = op->getContext();
  llvm::SmallBitVector written = getUsedDims(op.getOutputMap());
  Space space;
  for (auto [d, extent] : llvm::enumerate(op.getExtents())) {
    dims.push_back(written[d] ? getAffineDimExpr(space.extents.size(), context)
                              : getAffineConstantExpr(0, context));
    if (!written[d])
      continue;
    space.extents.push_back(extent);
    if (!op.getSplits().empty())
      space.splits.push_back(op.getSplits()[d]);
  }
  space.place = op.getOutputMap().replaceDimsAndSymbols(dims, {}, space.extents.size(), 0);
  return space;
}

void CarriedRows::addSum(DeviceOpInterface op, unsigned operand, const State &from, unsigned dim) {
  const ::spyre::OpFuncInfo &info = op.getInfo();
  const bool isLinear = isMatmul(op) || info.scaleLaw == ::spyre::ScaleLaw::Each ||
                        info.scaleLaw == ::spyre::ScaleLaw::First;
  // Over the row, and over nothing else.
  if (info.combiner != ::spyre::Combiner::Add || !isLinear ||
      getReducedDims(op) != SmallVector<unsigned>{dim} || op.getOutputMap().isFunctionOfDim(dim))
    return;
  SmallVector<AffineExpr> dims, results;
  Space space = getSpace(op, dims);
  for (std::optional<unsigned> row : from.rows) {
    std::optional<unsigned> at =
        row ? getPlainDim(op.getInputMap(operand).getResult(*row)) : std::nullopt;
    if (row && (!at || *at == dim))
      return;
    results.push_back(row ? dims[*at] : getAffineConstantExpr(0, op->getContext()));
  }
  AffineMap atRow = AffineMap::get(space.extents.size(), 0, results, op->getContext());
  sums.push_back({op, op, op.getDestination(), from, std::move(space), atRow});
}

DeviceOpInterface CarriedRows::getOnlyCast(const Sum &sum) {
  ArrayRef<DeviceOpInterface> users = readers[sum.buffer];
  if (users.size() != 1)
    return {};
  DeviceOpInterface op = users.front();
  bool isCast = op.getInfo().stickRule == ::spyre::StickRule::Cast && isF32(op.getDestination()) &&
                op.getExtents() == ArrayRef(sum.space.extents) &&
                op.getInputMap(0) == sum.space.place && op.getOutputMap() == sum.space.place &&
                isPrivate(op.getDestination());
  return isCast ? op : DeviceOpInterface();
}

bool CarriedRows::chooseSums() {
  for (Sum &sum : sums) {
    if (!isPrivate(sum.buffer))
      return false;
    if (isF32(sum.buffer))
      continue;
    // Carried in f32: 16 bits would round each part's sum.
    DeviceOpInterface cast = getOnlyCast(sum);
    if (!cast)
      return false;
    members.push_back(sum.writer);
    sum.writer = cast;
    sum.buffer = cast.getDestination();
    sum.space.splits.assign(cast.getSplits().begin(), cast.getSplits().end());
  }
  return !sums.empty();
}

void CarriedRows::addExactReductions() {
  for (DeviceOpInterface op : ops) {
    Value result = op.getDestination();
    const ::spyre::OpFuncInfo &info = op.getInfo();
    if (op == largest || !isReduction(op) || op->hasAttr(kCarriedAttr) || !isPrivate(result) ||
        getState(op.getInputs()[0]).kind != Kind::Exact || !along.contains(op.getInputs()[0]))
      continue;
    bool isClear = true;
    std::optional<unsigned> dim = getAlong(op, isClear);
    const bool isAdded = info.combiner == ::spyre::Combiner::Add && isF32(result) &&
                         info.scaleLaw == ::spyre::ScaleLaw::First;
    const bool isCombined = isAdded || info.combiner == ::spyre::Combiner::Maximum ||
                            info.combiner == ::spyre::Combiner::Minimum;
    // What reads it waits for the end of the loop: it goes along no row.
    bool isReadInside = llvm::any_of(readers[result], [&](DeviceOpInterface reader) {
      bool isClearHere = true;
      return llvm::is_contained(members, reader) || llvm::is_contained(rowOps, reader) ||
             getAlong(reader, isClearHere) || !isClearHere;
    });
    const Value input = op.getInputs()[0];
    const bool isWhole = dim && op.getExtents()[*dim] == getShape(input)[along[input]];
    if (isWhole && isClear && dim && isCombined && !isReadInside &&
        getReducedDims(op) == SmallVector<unsigned>{*dim}) {
      SmallVector<AffineExpr> dims;
      sums.push_back({op, op, result, State(), getSpace(op, dims), AffineMap()});
    }
  }
}

bool CarriedRows::analyse() {
  for (Operation &op : *largest->getBlock())
    if (auto device = dyn_cast<DeviceOpInterface>(op)) {
      order[device] = ops.size();
      ops.push_back(device);
      for (Value input : device.getInputs())
        if (SmallVector<DeviceOpInterface> &users = readers[getRootBuffer(input)];
            users.empty() || users.back() != device)
          users.push_back(device);
      writers[getRootBuffer(device.getDestination())].push_back(device);
    }
  if (!findRow() || !findAlong())
    return false;
  begin = largest;
  for (DeviceOpInterface op : llvm::drop_begin(ops, order[largest] + 1)) {
    State state = transfer(op);
    if (state.kind == Kind::Exact)
      continue;
    switch (state.kind) {
    case Kind::Row:
      rowOps.push_back(op);
      break;
    case Kind::Shifted:
      if (getState(op.getInputs()[0]).kind == Kind::Row ||
          (op.getInputs().size() > 1 && getState(op.getInputs()[1]).kind == Kind::Row))
        shifts.push_back(op);
      members.push_back(op);
      break;
    case Kind::Scaled:
      members.push_back(op);
      break;
    case Kind::Exact:
    case Kind::Final:
      finals.push_back(op);
      break;
    }
    states[op.getDestination()] = std::move(state);
  }
  if (!chooseSums())
    return false;
  // Each operation goes on with one row.
  auto isTaken = [](DeviceOpInterface op) { return op->hasAttr(kCarriedAttr); };
  if (llvm::any_of(members, isTaken) || llvm::any_of(rowOps, isTaken) ||
      llvm::any_of(sums, [&](const Sum &sum) { return isTaken(sum.writer); }))
    return false;
  llvm::SmallPtrSet<Operation *, 4> writersOfSums;
  for (Sum &sum : sums)
    writersOfSums.insert(sum.writer);
  for (DeviceOpInterface op : members)
    writersOfSums.insert(op);
  llvm::erase_if(finals, [&](DeviceOpInterface op) { return writersOfSums.contains(op); });
  // Numbers of rows that no shift needs are computed at the end.
  llvm::SmallPtrSet<Value, 4> needed;
  for (DeviceOpInterface op : shifts)
    needed.insert(op.getInputs().begin(), op.getInputs().end());
  SmallVector<DeviceOpInterface> before;
  for (DeviceOpInterface op : llvm::reverse(rowOps)) {
    if (!needed.contains(op.getDestination())) {
      finals.push_back(op);
      continue;
    }
    before.push_back(op);
    needed.insert(op.getInputs().begin(), op.getInputs().end());
  }
  rowOps.assign(before.rbegin(), before.rend());
  addExactReductions();
  for (Sum &sum : sums)
    if (order[sum.writer] < order[begin])
      begin = sum.writer;
  llvm::sort(finals, [&](DeviceOpInterface a, DeviceOpInterface b) { return order[a] < order[b]; });
  // They, and the sums, come once all numbers of rows are there.
  if (rowOps.empty())
    return true;
  const unsigned lastRow = order[rowOps.back()];
  return (finals.empty() || order[finals.front()] > lastRow) &&
         llvm::all_of(sums,
                      [&](const Sum &sum) { return !sum.atRow || order[sum.writer] > lastRow; });
}
