//===- EmitForms.cpp - Operations with a form of their own ----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What no scalar body and no single combination says: two moments of a row in two lanes
// of a stick, what a layer normalisation makes of them, and the largest numbers.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"
#include "spyre/Dialect/KTIR/IR/SpyreopDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::ktir;

static Attribute getConstant(const KernelOp &op, unsigned i) {
  std::string_view name = op.info->constants[i];
  return DeviceOpInterface(op.op).getConstantsAttr().get(StringRef(name.data(), name.size()));
}

static Value makeNumber(OpBuilder &b, Location loc, Type type, double number) {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, number));
}

/// True in the lane of the sum, false in that of the sum of squares.
static Value isFirstMoment(OpBuilder &b, Location loc, unsigned lanes) {
  Value lane = linalg::IndexOp::create(b, loc, lanes);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane, zero);
}

Value ktir::makeMoment(OpBuilder &b, Location loc, unsigned lanes, Value value) {
  Value square = arith::MulFOp::create(b, loc, value, value);
  return arith::SelectOp::create(b, loc, isFirstMoment(b, loc, lanes), value, square);
}

Value ktir::scaleMoment(OpBuilder &b, Location loc, const KernelOp &op, unsigned lanes, Value sum) {
  double scale = cast<FloatAttr>(getConstant(op, 0)).getValueAsDouble();
  Value scaled = arith::MulFOp::create(b, loc, sum, makeNumber(b, loc, sum.getType(), scale));
  if (!cast<BoolAttr>(getConstant(op, 1)).getValue())
    return scaled;
  return arith::SelectOp::create(b, loc, isFirstMoment(b, loc, lanes),
                                 makeNumber(b, loc, sum.getType(), 0), scaled);
}

Value ktir::makeMomentsScale(OpBuilder &b, Location loc, const KernelOp &op, Value mean,
                             Value squares) {
  Type type = mean.getType();
  double eps = cast<FloatAttr>(getConstant(op, 0)).getValueAsDouble();
  Value square = arith::MulFOp::create(b, loc, mean, mean);
  Value variance = arith::SubFOp::create(b, loc, squares, square);
  variance = arith::MaximumFOp::create(b, loc, variance, makeNumber(b, loc, type, 0));
  variance = arith::AddFOp::create(b, loc, variance, makeNumber(b, loc, type, eps));
  return spyreop::RsqrtOp::create(b, loc, type, variance);
}

namespace {
/// The scalar body of one round: the largest of the numbers that come after the last one, which
/// are smaller, or equal and behind it.
struct Round {
  OpBuilder &b;
  Location loc;

  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  /// \p args: a number, the last one and its place, the best one so far and its place.
  void build(unsigned dim, ValueRange args) {
    Type f32 = b.getF32Type();
    Value value = args[0];
    if (value.getType() != f32)
      value = arith::ExtFOp::create(b, loc, f32, value);
    Value index = linalg::IndexOp::create(b, loc, dim);
    Value integer = arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
    Value place = arith::UIToFPOp::create(b, loc, f32, integer);
    Value smaller = compare(arith::CmpFPredicate::OLT, value, args[1]);
    Value equal = compare(arith::CmpFPredicate::OEQ, value, args[1]);
    Value behind = compare(arith::CmpFPredicate::OGT, place, args[2]);
    Value sameBehind = arith::AndIOp::create(b, loc, equal, behind);
    Value isLeft = arith::OrIOp::create(b, loc, smaller, sameBehind);
    Value better = compare(arith::CmpFPredicate::OGT, value, args[3]);
    Value isBest = arith::AndIOp::create(b, loc, isLeft, better);
    Value best = arith::SelectOp::create(b, loc, isBest, value, args[3]);
    Value where = arith::SelectOp::create(b, loc, isBest, place, args[4]);
    linalg::YieldOp::create(b, loc, ValueRange{best, where});
  }
};
} // namespace

void KernelEmitter::emitLargest(const KernelOp &op) {
  const unsigned output = op.operands.size() - 1;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Type f32 = b.getF32Type(), type = op.operands[output].elementType;
  // The dims of a round are the input's; what is found has all but the reduced one.
  SmallVector<AffineExpr> numbers(op.parts.size(), b.getAffineConstantExpr(0)), results;
  SmallVector<utils::IteratorType> iterators;
  SmallVector<int64_t> shape;
  unsigned reducedDim = 0, first = 0;
  for (auto [p, part] : llvm::enumerate(op.parts)) {
    if (part.dim == 0)
      first = p;
    if (llvm::none_of(op.operands[0].axes,
                      [&](const Axis &axis) { return axis.part == static_cast<int>(p); }))
      continue;
    if (part.isReduced) {
      reducedDim = iterators.size();
    } else {
      results.push_back(b.getAffineDimExpr(p));
      shape.push_back(op.tileSizes[p]);
    }
    numbers[p] = b.getAffineDimExpr(iterators.size());
    iterators.push_back(part.isReduced ? utils::IteratorType::reduction
                                       : utils::IteratorType::parallel);
  }
  AffineMap found = AffineMap::get(op.parts.size(), 0, results, b.getContext());
  auto compact = [&](AffineMap map) {
    return map.replaceDimsAndSymbols(numbers, {}, iterators.size(), 0);
  };
  auto fill = [&](double number) -> Value {
    Value value = makeNumber(b, loc, f32, number);
    Value empty = tensor::EmptyOp::create(b, loc, shape, f32);
    return linalg::FillOp::create(b, loc, value, empty).getResult(0);
  };
  Value x = loadOperand(op, 0), number = fill(kInfinity), place = fill(-1);
  SmallVector<AffineMap> maps(5, compact(found));
  maps[0] = compact(getIndexing(op, 0));
  for (int64_t k = 0; k < op.parts[first].extent; ++k) {
    Value best = fill(-kInfinity), where = fill(0);
    auto round =
        linalg::GenericOp::create(b, loc, TypeRange{best.getType(), where.getType()},
                                  ValueRange{x, number, place}, ValueRange{best, where}, maps,
                                  iterators, [&](OpBuilder &inner, Location at, ValueRange args) {
                                    Round{inner, at}.build(reducedDim, args);
                                  });
    number = round.getResult(0);
    place = round.getResult(1);
    tileOffsets[first] = getIndex(k);
    Value chosen = op.info->keepsNumbers ? number : place;
    Value empty = tensor::EmptyOp::create(b, loc, getTileShape(op, output), type);
    Value rounded = makeGeneric(op, chosen, empty, {found, getIndexing(op, output)},
                                [&](OpBuilder &inner, Location at, ValueRange args) -> Value {
                                  if (type == f32)
                                    return args[0];
                                  return arith::TruncFOp::create(inner, at, type, args[0]);
                                });
    ktdp::StoreOp::create(b, loc, rounded, makeAccessTile(op, output));
  }
}
