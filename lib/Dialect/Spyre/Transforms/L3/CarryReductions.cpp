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
// The operations that are done again for each part are marked with the number of their group
// (spyre.carried); as they stand they compute the same from one part, all of the row.
//
//===----------------------------------------------------------------------===//

#include "CarriedRows.h"

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h"
#include "spyre/Layout/TensorLayout.h"
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
namespace layout = ::spyre::layout;

namespace {
class ReductionCarrier {
public:
  ReductionCarrier(func::FuncOp func, DeviceOpInterface largest, int64_t number)
      : func(func), rows(largest), largest(largest), number(number), builder(func) {}

  /// False, with nothing changed, if the rows of `largest` cannot be cut.
  bool run();

private:
  using Kind = CarriedRows::Kind;
  using State = CarriedRows::State;
  using Sum = CarriedRows::Sum;
  using Space = CarriedRows::Space;

  void build();
  void buildLargest();
  /// What the operations of \p chain make of the old largest numbers and the new ones.
  Value buildChange(const State &state);
  void buildSum(const Sum &sum);
  /// Fills \p whole, and combines it with \p part here.
  void combine(const Space &space, Location loc, ::spyre::Combiner combiner, Value whole,
               Value part);
  /// Computes again what \p op reads of values that go on with the row.
  void recompute(DeviceOpInterface op);
  Value getRecomputed(Value value, DeviceOpInterface before);

  Value allocLike(Value buffer, Location loc) {
    return AllocOp::create(builder, loc, cast<BufferType>(buffer.getType()), PlacementAttr(),
                           DistributionAttr());
  }
  /// \p opFunc on \p inputs for all points of \p space; \p maps null: where it writes.
  DeviceOpInterface buildOn(const Space &space, Location loc, OpFunc opFunc, ArrayRef<Value> inputs,
                            ArrayRef<AffineMap> maps, Value output,
                            ArrayRef<NamedAttribute> constants = {});
  /// The map of a number that is the same for all points of \p space.
  AffineMap getScalarMap(const Space &space);
  void fill(const Space &space, Value buffer, double value);
  void mark(DeviceOpInterface op) { op->setAttr(kCarriedAttr, builder.getI64IntegerAttr(number)); }

  func::FuncOp func;
  CarriedRows rows;
  DeviceOpInterface largest;
  Space rowSpace; ///< where the largest numbers are written
  int64_t number;
  OpBuilder builder;

  Value newLargest, oldLargest;         ///< with the part at hand, of the parts before
  Value exactLargest;                   ///< for what follows
  Operation *firstUpdate = nullptr;     ///< that computes `newLargest`
  DenseMap<Value, Value> oldRows;       ///< row values, of the parts before
  DenseMap<Operation *, Value> changes; ///< by the exponential
  DenseMap<Value, Value> recomputed;
};

struct CarryReductionsPass : mlir::spyre::impl::SpyreCarryReductionsBase<CarryReductionsPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal() || !llvm::hasSingleElement(func.getBody()))
      return;
    SmallVector<DeviceOpInterface> starts;
    for (Operation &op : func.getBody().front()) {
      if (isa<scf::ForOp>(op))
        return; // somebody else has decided
      if (auto device = dyn_cast<DeviceOpInterface>(op);
          device && isReduction(device) && device.getInfo().combiner == ::spyre::Combiner::Maximum)
        starts.push_back(device);
    }
    int64_t number = 0;
    for (DeviceOpInterface op : starts)
      number += ReductionCarrier(func, op, number).run();
    SmallVector<DeviceOpInterface> products;
    func.walk([&](DeviceOpInterface op) {
      if (isMatmul(op))
        products.push_back(op);
    });
    for (DeviceOpInterface op : products)
      number += carryProduct(func, op, number);
  }
};
} // namespace

Value mlir::spyre::getConstantArgument(func::FuncOp func, double value, Type element,
                                       Location loc) {
  Builder builder(func.getContext());
  FloatAttr number = builder.getF64FloatAttr(value);
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<BufferType>(argument.getType());
    if (type && type.getShape().empty() && type.getElementType() == element &&
        func.getArgAttr(argument.getArgNumber(), kValueAttr) == number)
      return argument;
  }
  MLIRContext *context = builder.getContext();
  const ::spyre::DataFormat format =
      element.isF32() ? ::spyre::DataFormat::IEEE_FP32 : ::spyre::DataFormat::SEN169_FP16;
  auto type = BufferType::get(context, {}, element,
                              LayoutAttr::get(context, layout::getDefaultLayout({}, format)),
                              MemorySpace::HBM);
  unsigned index = func.getNumArguments();
  SmallVector<NamedAttribute> attributes{
      builder.getNamedAttr(kRoleAttr, builder.getStringAttr("constant")),
      builder.getNamedAttr(kValueAttr, number)};
  (void)func.insertArgument(index, type, builder.getDictionaryAttr(attributes), loc);
  return func.getArgument(index);
}

DeviceOpInterface ReductionCarrier::buildOn(const Space &space, Location loc, OpFunc opFunc,
                                            ArrayRef<Value> inputs, ArrayRef<AffineMap> maps,
                                            Value output, ArrayRef<NamedAttribute> constants) {
  DeviceOpSpec spec;
  spec.opFunc = opFunc;
  spec.inputs.assign(inputs.begin(), inputs.end());
  spec.output = output;
  spec.extents = space.extents;
  for (AffineMap map : maps)
    spec.maps.push_back(map ? map : space.place);
  spec.maps.push_back(space.place);
  spec.splits = space.splits;
  spec.constants.assign(constants.begin(), constants.end());
  return buildDeviceOp(builder, loc, spec);
}

AffineMap ReductionCarrier::getScalarMap(const Space &space) {
  return AffineMap::get(space.extents.size(), 0, builder.getContext());
}

void ReductionCarrier::fill(const Space &space, Value buffer, double value) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(rows.begin);
  buffer.getDefiningOp()->moveBefore(rows.begin);
  buildOn(space, largest->getLoc(), OpFunc::Identity,
          {getConstantArgument(func, value, getElementType(buffer), largest->getLoc())},
          {getScalarMap(space)}, buffer);
}

void ReductionCarrier::buildLargest() {
  Location loc = largest->getLoc();
  Value now = newLargest = largest.getDestination();
  SmallVector<AffineExpr> dims;
  rowSpace = CarriedRows::getSpace(largest, dims);
  builder.setInsertionPoint(largest);
  oldLargest = allocLike(now, loc);
  Value part = allocLike(now, loc);
  fill(rowSpace, oldLargest, std::numeric_limits<float>::lowest());
  largest->replaceUsesOfWith(now, part);
  builder.setInsertionPointAfter(largest);
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

void ReductionCarrier::combine(const Space &space, Location loc, ::spyre::Combiner combiner,
                               Value whole, Value part) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double neutral = 0;
  OpFunc opFunc = OpFunc::Add;
  if (combiner == ::spyre::Combiner::Maximum) {
    neutral = -kInfinity;
    opFunc = OpFunc::Maximum;
  } else if (combiner == ::spyre::Combiner::Minimum) {
    neutral = kInfinity;
    opFunc = OpFunc::Minimum;
  }
  fill(space, whole, neutral);
  mark(buildOn(space, loc, opFunc, {whole, part}, {AffineMap(), AffineMap()}, whole));
}

void ReductionCarrier::buildSum(const Sum &sum) {
  Location loc = sum.writer->getLoc();
  DeviceOpInterface writer = sum.writer;
  builder.setInsertionPoint(writer);
  Value part = allocLike(sum.buffer, loc);
  writer->replaceUsesOfWith(sum.buffer, part);
  builder.setInsertionPointAfter(writer);
  // The change, at the row of each point.
  if (sum.atRow)
    mark(buildOn(sum.space, loc, OpFunc::Mul,
                 {sum.buffer, changes.at(sum.state.chain.back().first)}, {AffineMap(), sum.atRow},
                 sum.buffer));
  combine(sum.space, loc, sum.atRow ? ::spyre::Combiner::Add : writer.getInfo().combiner,
          sum.buffer, part);
}

Value ReductionCarrier::getRecomputed(Value value, DeviceOpInterface before) {
  if (value == newLargest) {
    // Of rows of infinities it is one.
    if (!exactLargest) {
      builder.setInsertionPointAfter(firstUpdate);
      exactLargest = allocLike(newLargest, largest->getLoc());
      combine(rowSpace, largest->getLoc(), ::spyre::Combiner::Maximum, exactLargest,
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
