//===- CarryReductions.cpp - Reductions that go on from part to part -------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Softmaxes and attention in the form in which a loop may run over parts of the rows. Nothing
// here knows attention; what is looked for follows from the laws of the OpFunc table:
//
//   r = max_j s        the largest number of each row
//   t = s - r          gets c less when r gets c more (shift laws)
//   e = exp(t)         is multiplied by e^-c then
//   l = sum_j e, o = sum_j e v   so are these, and what else is linear in e
//
// Let r, l and o be of the parts so far. A part with the largest number r' turns them into
// max(r, r'), l h + sum_j e and o h + sum_j e v with h = exp(r - max(r, r')): what computes e of s
// and r computes h of the old r and the new one. They begin with the lowest number (not -inf,
// from which no distance is a number) and zeros.
//
// Products of products and reductions of long rows by themselves are the simple case
// (CarryProducts.cpp, CarryLongRows.cpp): their parts are combined, and nothing has to be mended.
// Squared deviations of long rows are mended as the mean of the parts moves (CarryDeviations.cpp).
//
// The operations that are done again for each part are marked with the number of their group
// (spyre.carried); as they stand they compute the same from one part, all of the row.
//
//===----------------------------------------------------------------------===//

#include "PartCarrier.h"
#include "ScheduleAttr.h"

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/IR/LongRows.h"
#include "spyre/Dialect/Spyre/IR/ModuleDevice.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYRECARRYREDUCTIONS
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::OpFunc;

namespace {
class ReductionCarrier : PartCarrier {
public:
  ReductionCarrier(func::FuncOp func, DeviceOpInterface largest, int64_t number)
      : PartCarrier(func, number), rows(largest), largest(largest) {}

  /// False, with nothing changed, if the rows of `largest` cannot be cut.
  bool run();

private:
  using Kind = CarriedRows::Kind;
  using State = CarriedRows::State;
  using Sum = CarriedRows::Sum;

  void build();
  void buildLargest();
  /// What the operations of \p chain make of the old largest numbers and the new ones.
  Value buildChange(const State &state);
  void buildSum(const Sum &sum);
  /// Computes again what \p op reads of values that go on with the row.
  void recompute(DeviceOpInterface op);
  Value getRecomputed(Value value, DeviceOpInterface before);

  CarriedRows rows;
  DeviceOpInterface largest;
  Space rowSpace; ///< where the largest numbers are written

  Value newLargest, oldLargest;         ///< with the part at hand, of the parts before
  Value exactLargest;                   ///< for what follows
  Operation *firstUpdate = nullptr;     ///< that computes `newLargest`
  DenseMap<Value, Value> oldRows;       ///< row values, of the parts before
  DenseMap<Operation *, Value> changes; ///< by the exponential
  DenseMap<Value, Value> recomputed;
};

struct CarryReductionsPass : mlir::spyre::impl::SpyreCarryReductionsBase<CarryReductionsPass> {
  using SpyreCarryReductionsBase::SpyreCarryReductionsBase;
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal() || !llvm::hasSingleElement(func.getBody()))
      return;
    SmallVector<DeviceOpInterface> starts;
    for (Operation &op : func.getBody().front()) {
      if (isa<scf::ForOp>(op))
        return; // somebody else has decided
      if (auto device = dyn_cast<DeviceOpInterface>(op);
          device && !products && isReduction(device) &&
          device.getInfo().combiner == ::spyre::Combiner::Maximum)
        starts.push_back(device);
    }
    FailureOr<::spyre::Device> device = getDevice(func);
    if (failed(device))
      return signalPassFailure();
    int64_t number = 0;
    for (DeviceOpInterface op : starts)
      number += ReductionCarrier(func, op, number).run();
    auto collect = [&](auto isOne) {
      SmallVector<DeviceOpInterface> found;
      func.walk([&](DeviceOpInterface op) {
        if (isOne(op))
          found.push_back(op);
      });
      return found;
    };
    auto isLong = [&](DeviceOpInterface op) { return isLongReduction(op, *device); };
    for (DeviceOpInterface op : collect(isMatmul))
      number += carryProduct(func, op, number);
    FailureOr<::spyre::planning::Schedule> schedule = getSchedule(func);
    if (failed(schedule))
      return signalPassFailure();
    const bool keepsApart = deviationsApart || schedule->keepsDeviationsApart;
    if (!keepsApart)
      for (DeviceOpInterface op : collect(isLong))
        number += carryDeviations(func, op, *device, number);
    if (record && keepsApart) {
      ::spyre::planning::Schedule chosen = getChosenSchedule(func);
      chosen.keepsDeviationsApart = true;
      setChosenSchedule(func, chosen);
    }
    for (DeviceOpInterface op : collect(isLong))
      number += carryLongRow(func, op, number);
  }
};
} // namespace

void ReductionCarrier::buildLargest() {
  Location loc = largest->getLoc();
  Value now = newLargest = largest.getDestination();
  SmallVector<AffineExpr> dims;
  rowSpace = CarriedRows::getSpace(largest, dims);
  builder.setInsertionPoint(largest);
  oldLargest = allocLike(now, loc);
  Value part = allocLike(now, loc);
  largest->replaceUsesOfWith(now, part);
  builder.setInsertionPointAfter(largest);
  // Finite: from an infinity no distance is a number.
  fill(rowSpace, loc, oldLargest, std::numeric_limits<float>::lowest());
  firstUpdate =
      buildOn(rowSpace, loc, OpFunc::Maximum, {oldLargest, part}, {AffineMap(), AffineMap()}, now);
  mark(cast<DeviceOpInterface>(firstUpdate));
  // The same numbers of the parts before.
  oldRows[now] = oldLargest;
  for (DeviceOpInterface op : rows.rowOps) {
    mark(op);
    builder.setInsertionPointAfter(op);
    DeviceOpSpec spec = DeviceOpSpec::of(op);
    for (Value &input : spec.inputs)
      if (Value old = oldRows.lookup(input))
        input = old;
    spec.output = oldRows[op.getDestination()] = allocLike(op.getDestination(), loc);
    mark(buildDeviceOp(builder, op->getLoc(), spec));
  }
}

Value ReductionCarrier::buildChange(const State &state) {
  Value &known = changes[state.chain.back().first];
  if (known)
    return known;
  Value current;
  for (auto [op, operand] : state.chain) {
    DeviceOpSpec spec = DeviceOpSpec::of(op);
    SmallVector<Value> inputs(spec.inputs);
    SmallVector<AffineMap> maps(inputs.size());
    if (!current) {
      Value row = inputs[operand];
      inputs[1 - operand] = oldRows.at(row);
      current = row;
    } else {
      for (auto [i, map] : llvm::enumerate(maps))
        if (i != operand) // a scalar
          map = AffineMap::get(rowSpace.extents.size(), 0, spec.maps[i].getResults(),
                               builder.getContext());
      inputs[operand] = current;
    }
    Value next = allocLike(current, op->getLoc());
    mark(buildOn(rowSpace, op->getLoc(), spec.opFunc, inputs, maps, next, spec.constants));
    current = next;
  }
  return known = current;
}

void ReductionCarrier::buildSum(const Sum &sum) {
  Location loc = sum.writer->getLoc();
  DeviceOpInterface writer = sum.writer;
  builder.setInsertionPoint(writer);
  Value part = allocLike(sum.buffer, loc);
  writer->replaceUsesOfWith(sum.buffer, part);
  builder.setInsertionPointAfter(writer);
  DeviceOpInterface reduction = sum.reduction;
  const ::spyre::OpFuncInfo &info = reduction.getInfo();
  fill(sum.space, loc, sum.buffer, *info.neutral);
  // The change, at the row of each point.
  if (sum.atRow)
    mark(buildOn(sum.space, loc, OpFunc::Mul,
                 {sum.buffer, changes.at(sum.state.chain.back().first)}, {AffineMap(), sum.atRow},
                 sum.buffer));
  update(sum.space, loc, info, sum.buffer, part);
}

Value ReductionCarrier::getRecomputed(Value value, DeviceOpInterface before) {
  if (value == newLargest) {
    // Of rows of infinities it is one.
    if (!exactLargest) {
      builder.setInsertionPointAfter(firstUpdate);
      exactLargest = allocLike(newLargest, largest->getLoc());
      combine(rowSpace, largest->getLoc(), largest.getInfo(), exactLargest,
              largest.getDestination());
    }
    return exactLargest;
  }
  const State &state = rows.getState(value);
  if (state.kind != Kind::Shifted && state.kind != Kind::Scaled)
    return value;
  if (Value known = recomputed.lookup(value))
    return known;
  DeviceOpInterface op = rows.getWriter(value);
  DeviceOpSpec spec = DeviceOpSpec::of(op);
  for (Value &input : spec.inputs)
    input = getRecomputed(input, before);
  builder.setInsertionPoint(before);
  spec.output = allocLike(value, op->getLoc());
  llvm::erase_if(spec.attributes,
                 [](NamedAttribute attribute) { return attribute.getName() == kCarriedAttr; });
  buildDeviceOp(builder, op->getLoc(), spec);
  return recomputed[value] = spec.output;
}

void ReductionCarrier::recompute(DeviceOpInterface op) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (operand.get() == op.getDestination())
      continue;
    Value value = operand.get();
    if (!isa<BufferType>(value.getType()))
      continue;
    Value now = getRecomputed(value, op);
    if (now != value)
      operand.set(now);
  }
}

void ReductionCarrier::build() {
  buildLargest();
  mark(largest);
  for (DeviceOpInterface op : rows.members)
    mark(op);
  for (Sum &sum : rows.sums)
    mark(sum.writer);
  // Once all numbers of rows are known.
  DeviceOpInterface last = largest;
  for (DeviceOpInterface op : rows.rowOps)
    last = op;
  Operation *at = last;
  while (!at->getNextNode()->hasTrait<OpTrait::IsTerminator>() && !rows.isOld(at->getNextNode()))
    at = at->getNextNode();
  builder.setInsertionPointAfter(at);
  for (Sum &sum : rows.sums)
    if (sum.state.kind == Kind::Scaled)
      (void)buildChange(sum.state);
  mark(buildOn(rowSpace, largest->getLoc(), OpFunc::Identity, {newLargest}, {AffineMap()},
               oldLargest));
  for (Sum &sum : rows.sums)
    buildSum(sum);
  for (DeviceOpInterface op : rows.finals)
    recompute(op);
}

bool ReductionCarrier::run() {
  if (!rows.analyse())
    return false;
  build();
  return true;
}
