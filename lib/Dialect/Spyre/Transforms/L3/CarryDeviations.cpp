//===- CarryDeviations.cpp - Means and variances in one pass ----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sum of squared deviations of a long row from a number that is computed from the sum of the
// row: both at once, so that a loop over parts reads the row once. Nothing here knows variances;
// what is looked for follows from the laws of the OpFunc table:
//
//   r = f(sum_j x)     a number of the row
//   t = x - r          gets c less when r gets c more (ShiftBack)
//   q = t t            gets c t less for each of its factors, and c c more (AddOther)
//   T = sum_j t        so this gets n c less, n being the sum of ones,
//   Q = sum_j q        and this c (2 T - n c)
//
// So the loop need not know r: T and Q are about another number p, and sum_j x is T + n p. Once r
// is known, they are mended by what it differs from p. Any p would do in exact arithmetic. In f32 n
// (m - p)^2 is lost in Q, m being the mean, and what p is rounded by in T: p is the mean of the
// parts so far. Each part with the mean m' and the n' elements moves it by (m' - p) n' / (n + n'),
// and T and Q are mended by what it has moved, before the part's own are added. It begins with n =
// 0 and p = 0, which takes the first part for all.
//
// This is Chan's combination of parts, but that T, which is 0 but for rounding, is not taken for 0:
// how large the mean is beside the deviations does not matter.
//
//===----------------------------------------------------------------------===//

#include "PartCarrier.h"

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/IR/LongRows.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"
#include "spyre/OpFunc/OpFuncTable.h"

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::Combiner;
using ::spyre::OpFunc;
using ::spyre::ShiftLaw;

namespace {
class DeviationCarrier : PartCarrier {
public:
  DeviationCarrier(func::FuncOp func, DeviceOpInterface sum, const ::spyre::Device &device,
                   int64_t number)
      : PartCarrier(func, number), sum(sum), device(device) {}

  bool run();

private:
  bool analyse();
  /// A reduction that the parts of this one can be put together by adding them.
  bool isSum(DeviceOpInterface op) const;
  /// The reduction of what `centring` centres that its second operand is computed from, point by
  /// point; else null.
  DeviceOpInterface findReduction();
  /// \p opFunc on numbers of rows, written to \p result, or a buffer of its own. In the group while
  /// `isInside`.
  DeviceOpInterface build(OpFunc opFunc, ArrayRef<Value> inputs, Value result = {});
  /// The same as a value.
  Value compute(OpFunc opFunc, ArrayRef<Value> inputs) {
    return build(opFunc, inputs).getDestination();
  }
  Value getConstant(double value) {
    return getNumber(value, getElementType(sum.getDestination()), sum->getLoc());
  }

  /// T and Q.
  struct Sums {
    Value centred, squares;
  };
  /// \p sums, of \p count ones, about a number that is \p change more.
  Sums mend(Sums sums, Value count, Value change);
  /// Moves p, in \p pivot, and n, in \p count, by a part of which `reduction` has made \p part;
  /// returns \p sums about p as it is now.
  Sums movePivot(Value part, Value pivot, Value count, Sums sums);
  /// \p op on \p inputs, as part of the group.
  Value buildPoints(DeviceOpInterface op, ArrayRef<Value> inputs);
  /// Writes the sum of \p term, as \p like makes them, and \p before to \p whole.
  void addSum(DeviceOpInterface like, Value term, Value before, Value whole);
  /// What `reduction` wrote to \p row, and what `sum` writes, of the sums about \p pivot.
  void buildEnd(Value row, Value pivot, Sums sums);

  DeviceOpInterface sum;
  const ::spyre::Device &device;
  /// x - r, its square, and the sum of x.
  DeviceOpInterface centring, square, reduction;
  Space space;     ///< the rows
  double ones = 0; ///< what `reduction` makes of ones
  bool isInside = true;
};
} // namespace

/// True if nobody writes \p buffer behind \p op.
static bool isConstantBehind(Value buffer, Operation *op) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    auto other = dyn_cast<DeviceOpInterface>(user);
    return other && (other.getDestination() != buffer || other->isBeforeInBlock(op));
  });
}

bool DeviationCarrier::isSum(DeviceOpInterface op) const {
  const ::spyre::OpFuncInfo &info = op.getInfo();
  return info.combiner == Combiner::Add && info.scaleLaw == ::spyre::ScaleLaw::First &&
         !op->hasAttr(kCarriedAttr) && getElementType(op.getDestination()).isF32() &&
         isLongReduction(op, device);
}

DeviceOpInterface DeviationCarrier::findReduction() {
  SmallVector<Value> work{centring.getInputs()[1]};
  llvm::SmallPtrSet<Value, 8> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    DeviceOpInterface op = seen.insert(value).second ? getOnlyWriter(value) : nullptr;
    if (!op || !op->isBeforeInBlock(centring) || op->getBlock() != sum->getBlock())
      continue;
    if (isReduction(op)) {
      // The same row, so that one loop goes through both.
      if (isSum(op) && op.getInputs()[0] == centring.getInputs()[0] &&
          op.getInputMap(0) == centring.getInputMap(0) && op.getExtents() == sum.getExtents() &&
          getReducedDims(op) == getReducedDims(sum))
        return op;
      continue;
    }
    if (isMatmul(op) || op.getGather() || !op.getInfo().divisible)
      continue;
    for (auto [i, input] : llvm::enumerate(op.getInputs()))
      if (op.getInputMap(i) == op.getOutputMap() && input.getType() == value.getType())
        work.push_back(input);
  }
  return {};
}

bool DeviationCarrier::analyse() {
  if (!isSum(sum))
    return false;
  Value squares = sum.getInputs()[0];
  square = getOnlyWriter(squares);
  if (!square || square.getInfo().shiftLaw != ShiftLaw::AddOther ||
      square.getInfo().secondShiftLaw != ShiftLaw::AddOther || square.getInputs().size() != 2 ||
      square.getInputs()[0] != square.getInputs()[1])
    return false;
  Value centred = square.getInputs()[0];
  centring = getOnlyWriter(centred);
  if (!centring || centring.getInfo().shiftLaw != ShiftLaw::Shift ||
      centring.getInfo().secondShiftLaw != ShiftLaw::ShiftBack ||
      centring.getInputs().size() != 2 || centred.getType() != squares.getType())
    return false;
  // Point by point, in the same order.
  const AffineMap points = sum.getInputMap(0);
  if (square.getExtents() != sum.getExtents() || centring.getExtents() != sum.getExtents() ||
      square.getInputMap(0) != points || square.getInputMap(1) != points ||
      square.getOutputMap() != points || centring.getOutputMap() != points)
    return false;
  // One number a row, and all numbers of rows in the same places.
  if (centring.getInputMap(1) != sum.getOutputMap() ||
      centring.getInputs()[1].getType() != sum.getDestination().getType())
    return false;
  reduction = findReduction();
  return reduction && getOnlyWriter(reduction.getDestination()) == reduction &&
         reduction.getOutputMap() == sum.getOutputMap() &&
         isConstantBehind(centring.getInputs()[0], reduction) &&
         isConstantBehind(centring.getInputs()[1], centring);
}

/// What \p reduction makes of ones.
static double getSumOfOnes(DeviceOpInterface reduction) {
  double value = 1;
  for (unsigned dim : getReducedDims(reduction))
    value *= static_cast<double>(reduction.getExtents()[dim]);
  // What follows the sum multiplies it (its scale law).
  if (DictionaryAttr constants = reduction.getConstantsAttr())
    for (NamedAttribute constant : constants)
      if (auto factor = dyn_cast<FloatAttr>(constant.getValue()))
        value *= factor.getValueAsDouble();
  return value;
}

DeviceOpInterface DeviationCarrier::build(OpFunc opFunc, ArrayRef<Value> inputs, Value result) {
  Location loc = sum->getLoc();
  if (!result)
    result = allocLike(sum.getDestination(), loc);
  SmallVector<AffineMap> maps;
  for (Value input : inputs) // all at the same place, but for numbers
    maps.push_back(getShape(input).empty() ? getNowhere(space) : AffineMap());
  DeviceOpInterface op = buildOn(space, loc, opFunc, inputs, maps, result);
  if (isInside)
    mark(op);
  return op;
}

DeviationCarrier::Sums DeviationCarrier::mend(Sums sums, Value count, Value change) {
  Value less = compute(OpFunc::Mul, {count, change});
  Value centred = compute(OpFunc::Sub, {sums.centred, less});
  Value twice = compute(OpFunc::Add, {centred, sums.centred});
  // Both reductions may multiply what they add up, each by a factor of its own.
  if (double ratio = getSumOfOnes(sum) / ones; ratio != 1)
    twice = compute(OpFunc::Mul, {twice, getConstant(ratio)});
  return {centred, compute(OpFunc::Sub, {sums.squares, compute(OpFunc::Mul, {change, twice})})};
}

DeviationCarrier::Sums DeviationCarrier::movePivot(Value part, Value pivot, Value count,
                                                   Sums sums) {
  // Filled just before what needs it (PartCarrier::fill).
  auto begin = [&](Value value) { fill(space, sum->getLoc(), value, 0); };
  // All that the row has, by a part of it as much as that has.
  auto share = [&](Value value, unsigned operand) {
    getOnlyWriter(value)->setAttr(kSharedOutAttr, builder.getI64IntegerAttr(operand));
    return value;
  };
  const Value all = getConstant(ones);
  Value mean = share(compute(OpFunc::Realdiv, {part, all}), 1);
  // What an infinity makes of a row it makes of it about any number.
  Value isInfinite = compute(OpFunc::Sub, {mean, mean});
  begin(pivot);
  mean = compute(OpFunc::Where3, {isInfinite, pivot, mean});
  begin(count);
  Value newCount = share(compute(OpFunc::Add, {count, all}), 1);
  Value weight = share(compute(OpFunc::Realdiv, {all, newCount}), 0);
  Value step = compute(OpFunc::Mul, {compute(OpFunc::Sub, {mean, pivot}), weight});
  Value moved = compute(OpFunc::Add, {pivot, step});
  Value change = compute(OpFunc::Sub, {moved, pivot});
  begin(sums.centred);
  begin(sums.squares);
  Sums mended = mend(sums, count, change);
  build(OpFunc::Identity, {newCount}, count);
  build(OpFunc::Identity, {moved}, pivot);
  return mended;
}

void DeviationCarrier::addSum(DeviceOpInterface like, Value term, Value before, Value whole) {
  DeviceOpSpec spec = DeviceOpSpec::of(like).withOperand(0, term, sum.getInputMap(0));
  spec.output = allocLike(whole, like->getLoc());
  mark(buildDeviceOp(builder, like->getLoc(), spec));
  build(OpFunc::Add, {before, spec.output}, whole);
}

Value DeviationCarrier::buildPoints(DeviceOpInterface op, ArrayRef<Value> inputs) {
  DeviceOpSpec spec = DeviceOpSpec::of(op);
  spec.inputs.assign(inputs.begin(), inputs.end());
  spec.output = allocLike(op.getDestination(), op->getLoc());
  mark(buildDeviceOp(builder, op->getLoc(), spec));
  return spec.output;
}

void DeviationCarrier::buildEnd(Value row, Value pivot, Sums sums) {
  isInside = false;
  // The sum of x.
  build(OpFunc::Add, {sums.centred, compute(OpFunc::Mul, {pivot, getConstant(ones)})}, row);
  // As soon as the number is there: what else is made of it needs not stand between.
  const Value number = centring.getInputs()[1];
  Operation *last = &*std::prev(builder.getInsertionPoint());
  for (Operation *user : number.getUsers())
    if (cast<DeviceOpInterface>(user).getDestination() == number && last->isBeforeInBlock(user))
      last = user;
  builder.setInsertionPointAfter(last);
  if (auto alloc = sum.getDestination().getDefiningOp<AllocOp>();
      alloc && last->isBeforeInBlock(alloc))
    alloc->moveBefore(last);
  Sums mended = mend(sums, getConstant(ones), compute(OpFunc::Sub, {number, pivot}));
  // A sum of squares is not below 0, also where rounding makes it so.
  build(OpFunc::Maximum, {mended.squares, getConstant(0)}, sum.getDestination());
}

bool DeviationCarrier::run() {
  if (!analyse())
    return false;
  SmallVector<AffineExpr> dims;
  space = CarriedRows::getSpace(sum, dims);
  ones = getSumOfOnes(reduction);
  Location loc = reduction->getLoc();
  Value row = reduction.getDestination();
  builder.setInsertionPoint(reduction);
  Value part = allocLike(row, loc);
  reduction->replaceUsesOfWith(row, part);
  mark(reduction);
  builder.setInsertionPointAfter(reduction);
  Value pivot = allocLike(row, loc), count = allocLike(row, loc);
  Sums sums{allocLike(row, loc), allocLike(row, loc)};
  Sums before = movePivot(part, pivot, count, sums);
  Value centred = buildPoints(centring, {centring.getInputs()[0], pivot});
  Value squares = buildPoints(square, {centred, centred});
  addSum(reduction, centred, before.centred, sums.centred);
  addSum(sum, squares, before.squares, sums.squares);
  buildEnd(row, pivot, sums);
  sum->erase();
  // What others read of it is computed of the whole row's number, as before, but just before them:
  // with them it is a loop over tiles of its own.
  for (DeviceOpInterface op : {square, centring}) {
    Operation *first = nullptr;
    for (Operation *user : op.getDestination().getUsers())
      if (user != op && (!first || user->isBeforeInBlock(first)))
        first = user;
    auto alloc = op.getDestination().getDefiningOp<AllocOp>();
    if (first) {
      op->moveBefore(first);
    } else if (alloc) { // else it is the program's result
      op->erase();
      alloc.erase();
    }
  }
  return true;
}

bool mlir::spyre::carryDeviations(func::FuncOp func, DeviceOpInterface sum,
                                  const ::spyre::Device &device, int64_t number) {
  return DeviationCarrier(func, sum, device, number).run();
}
