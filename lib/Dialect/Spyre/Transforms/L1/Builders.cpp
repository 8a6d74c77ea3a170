//===- Builders.cpp - Making operations of L1 -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "spyre/Dialect/Spyre/IR/AffineConversion.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Numbers.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::OpFunc;
namespace layout = ::spyre::layout;

RankedTensorType mlir::spyre::getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

bool mlir::spyre::isHalf(Type type) { return type.isF16() || type.isBF16(); }

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

bool mlir::spyre::isNumberType(Type type) {
  return isHalf(type) || type.isF32() || type.isF64() || type.isInteger(1) || type.isInteger(32) ||
         type.isInteger(64);
}

/// \p value truncated. What does not fit has no defined value in PyTorch.
static int64_t toInteger(double value) {
  return std::fabs(value) < 0x1p63 ? static_cast<int64_t>(value) : 0;
}

double mlir::spyre::roundToType(double value, Type type) {
  if (type.isInteger(1))
    return value != 0;
  auto floatType = dyn_cast<FloatType>(type);
  if (!floatType)
    return value;
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(floatType.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

Value mlir::spyre::buildScalar(OpBuilder &b, Location loc, double value, Type elementType) {
  assert(isNumberType(elementType) && "ask isNumberType first");
  auto type = RankedTensorType::get({}, elementType);
  if (auto floatType = dyn_cast<FloatType>(elementType)) {
    llvm::APFloat rounded(value);
    bool losesInfo = false;
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    rounded.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    // A tiny one is no zero, a large one no infinity.
    if (rounded.isZero() && value != 0.0)
      rounded = llvm::APFloat::getSmallest(semantics, std::signbit(value));
    if (rounded.isInfinity() && std::isfinite(value))
      rounded = llvm::APFloat::getLargest(semantics, std::signbit(value));
    auto constant = ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, rounded));
    if (losesInfo)
      constant->setAttr(kValueAttr, b.getF64FloatAttr(value));
    return constant;
  }
  int64_t integer = elementType.isInteger(1) ? value != 0 : toInteger(value);
  llvm::APInt bits(elementType.getIntOrFloatBitWidth(), static_cast<uint64_t>(integer),
                   /*isSigned=*/true, /*implicitTrunc=*/true);
  return ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, bits));
}

std::optional<double> mlir::spyre::getScalarConstant(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return std::nullopt;
  if (auto exact = constant->getAttrOfType<FloatAttr>(kValueAttr))
    return exact.getValueAsDouble();
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!elements || !elements.isSplat())
    return std::nullopt;
  if (isa<FloatType>(elements.getElementType())) {
    llvm::APFloat number = elements.getSplatValue<llvm::APFloat>();
    bool losesInfo = false;
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return number.convertToDouble();
  }
  if (isa<IntegerType>(elements.getElementType())) {
    llvm::APInt number = elements.getSplatValue<llvm::APInt>();
    return number.getBitWidth() == 1 ? static_cast<double>(number.getZExtValue())
                                     : static_cast<double>(number.getSExtValue());
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Pointwise operations and reductions
//===----------------------------------------------------------------------===//

AffineMap mlir::spyre::getBroadcastMap(MLIRContext *context, ArrayRef<int64_t> operandShape,
                                       ArrayRef<int64_t> shape) {
  assert(operandShape.size() <= shape.size() && "an operand has more dims than the result");
  size_t missing = shape.size() - operandShape.size();
  SmallVector<AffineExpr> results;
  for (auto [i, extent] : llvm::enumerate(operandShape))
    results.push_back(extent == 1 ? getAffineConstantExpr(0, context)
                                  : getAffineDimExpr(missing + i, context));
  return AffineMap::get(shape.size(), 0, results, context);
}

Value mlir::spyre::buildPointwise(OpBuilder &b, Location loc, OpFunc opFunc, ValueRange inputs,
                                  RankedTensorType resultType, ArrayRef<NamedAttribute> constants) {
  DeviceOpSpec spec;
  spec.opFunc = opFunc;
  spec.resultType = resultType;
  spec.extents.assign(resultType.getShape().begin(), resultType.getShape().end());
  spec.constants.assign(constants.begin(), constants.end());
  for (Value input : inputs) {
    spec.inputs.push_back(input);
    spec.maps.push_back(
        getBroadcastMap(b.getContext(), getTensorType(input).getShape(), resultType.getShape()));
  }
  spec.maps.push_back(b.getMultiDimIdentityMap(resultType.getRank()));
  return buildDeviceOp(b, loc, spec).getResultTensor();
}

Value mlir::spyre::buildOnElements(OpBuilder &b, Location loc, ::spyre::OpFunc opFunc,
                                   ValueRange inputs, RankedTensorType type, Value output,
                                   ArrayRef<int64_t> offsets, RankedTensorType whole) {
  DeviceOpSpec spec;
  SmallVector<AffineExpr> here, there;
  for (auto [axis, size] : llvm::enumerate(type.getShape())) {
    here.push_back(size == 1 ? b.getAffineConstantExpr(0)
                             : b.getAffineDimExpr(spec.extents.size()));
    there.push_back(here.back() + (offsets.empty() ? 0 : offsets[axis]));
    if (size != 1)
      spec.extents.push_back(size);
  }
  const unsigned numDims = spec.extents.size();
  spec.opFunc = opFunc;
  for (Value input : inputs) {
    spec.inputs.push_back(input);
    spec.maps.push_back(getTensorType(input).getRank() == 0
                            ? AffineMap::get(numDims, 0, b.getContext())
                            : AffineMap::get(numDims, 0, here, b.getContext()));
  }
  spec.maps.push_back(AffineMap::get(numDims, 0, there, b.getContext()));
  spec.output = output;
  spec.resultType = whole ? whole : type;
  return buildDeviceOp(b, loc, spec).getResultTensor();
}

Value mlir::spyre::buildReduction(OpBuilder &b, Location loc, OpFunc opFunc, Value x,
                                  ArrayRef<int64_t> dims, bool keepDims) {
  RankedTensorType type = getTensorType(x);
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> results;
  int64_t count = 1;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (!llvm::is_contained(dims, d)) {
      shape.push_back(type.getDimSize(d));
      results.push_back(b.getAffineDimExpr(d));
      continue;
    }
    count *= type.getDimSize(d);
    if (keepDims) {
      shape.push_back(1);
      results.push_back(b.getAffineConstantExpr(0));
    }
  }
  DeviceOpSpec spec;
  spec.opFunc = opFunc;
  spec.inputs = {x};
  spec.resultType = RankedTensorType::get(shape, type.getElementType());
  spec.extents.assign(type.getShape().begin(), type.getShape().end());
  spec.maps = {b.getMultiDimIdentityMap(type.getRank()),
               AffineMap::get(type.getRank(), 0, results, b.getContext())};
  if (opFunc == OpFunc::Mean)
    spec.constants.push_back(
        b.getNamedAttr("scaling_factor", b.getF64FloatAttr(1.0 / static_cast<double>(count))));
  return buildDeviceOp(b, loc, spec).getResultTensor();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// True if \p dim of \p x, behind views, is the last dim, which lies in sticks.
static bool isInnermost(Value x, int64_t dim) {
  while (auto view = x.getDefiningOp<ViewOp>()) {
    AffineExpr wanted = getAffineDimExpr(dim, x.getContext());
    std::optional<unsigned> found;
    for (auto [result, expr] : llvm::enumerate(view.getMap().getResults()))
      if (expr.isFunctionOfDim(dim)) {
        if (found || expr != wanted)
          return true; // several, or in steps: rather all than a copy
        found = result;
      }
    if (!found)
      return false;
    dim = *found;
    x = view->getOperand(0);
  }
  return dim + 1 == getTensorType(x).getRank();
}

Value mlir::spyre::buildCentred(OpBuilder &b, Location loc, Value x, int64_t dim) {
  // So many, spread over all, tell where the middle is: all of many would be read once more.
  constexpr int64_t kEnough = 256, kMany = 8 * kEnough;
  Value some = x;
  SmallVector<int64_t> shape(getShape(x));
  if (shape[dim] > kMany && !isInnermost(x, dim)) {
    AffineMap map = b.getMultiDimIdentityMap(shape.size());
    SmallVector<AffineExpr> places(map.getResults());
    places[dim] = places[dim] * (shape[dim] / kEnough);
    shape[dim] = kEnough;
    some = buildView(b, loc, x, AffineMap::get(shape.size(), 0, places, b.getContext()), shape);
  }
  Value mean = buildReduction(b, loc, OpFunc::Mean, some, {dim}, /*keepDims=*/true);
  return buildPointwise(b, loc, OpFunc::Sub, {x, mean}, getTensorType(x));
}

Value mlir::spyre::buildView(OpBuilder &b, Location loc, Value source, AffineMap map,
                             ArrayRef<int64_t> shape) {
  RankedTensorType type = getTensorType(source);
  auto resultType = RankedTensorType::get(shape, type.getElementType());
  if (resultType == type && map.isIdentity())
    return source;
  return ViewOp::create(b, loc, resultType, source, map);
}

/// Coordinates in \p from of the row-major position of a point of \p to; nothing
/// if that is no sum of digits.
static std::optional<AffineMap> getReshapeMap(MLIRContext *context, ArrayRef<int64_t> from,
                                              ArrayRef<int64_t> to) {
  unsigned numDims = to.size();
  if (llvm::is_contained(to, 0)) {
    SmallVector<AffineExpr> zeros(from.size(), getAffineConstantExpr(0, context));
    return AffineMap::get(numDims, 0, zeros, context);
  }
  // Unit dims carry no digit; without them the strides are distinct.
  std::vector<int64_t> extents(to.begin(), to.end()), shape;
  for (int64_t extent : from)
    if (extent != 1)
      shape.push_back(extent);
  layout::IndexExpr flat =
      layout::linearize(layout::makeIdentity(extents), layout::getRowMajorStrides(extents));
  std::optional<layout::IndexMap> index = layout::delinearize(
      layout::simplify(flat, extents), extents, shape, layout::getRowMajorStrides(shape));
  if (!index)
    return std::nullopt;
  AffineMap dense = toAffineMap(*index, numDims, context);
  SmallVector<AffineExpr> results;
  unsigned next = 0;
  for (int64_t extent : from)
    results.push_back(extent == 1 ? getAffineConstantExpr(0, context) : dense.getResult(next++));
  return AffineMap::get(numDims, 0, results, context);
}

Value mlir::spyre::buildReshape(OpBuilder &b, Location loc, Value source, ArrayRef<int64_t> shape) {
  RankedTensorType type = getTensorType(source);
  if (type.getShape() == shape)
    return source;
  if (std::optional<AffineMap> map = getReshapeMap(b.getContext(), type.getShape(), shape))
    return buildView(b, loc, source, *map, shape);
  int64_t count = type.getNumElements();
  std::optional<AffineMap> toFlat = getReshapeMap(b.getContext(), type.getShape(), {count});
  std::optional<AffineMap> fromFlat = getReshapeMap(b.getContext(), {count}, shape);
  assert(toFlat && fromFlat && "a flat index is always a sum of digits");
  return buildView(b, loc, buildView(b, loc, source, *toFlat, {count}), *fromFlat, shape);
}

//===----------------------------------------------------------------------===//
// Conversions and contractions
//===----------------------------------------------------------------------===//

Value mlir::spyre::buildConvert(OpBuilder &b, Location loc, Value source, Type elementType) {
  RankedTensorType type = getTensorType(source);
  if (type.getElementType() == elementType)
    return source;
  return ConvertOp::create(b, loc, RankedTensorType::get(type.getShape(), elementType), source);
}

/// The product of a row and a column: no dim is generated, which the device's contraction
/// needs. Products and their sum in f32, rounded once, as the contraction does.
static Value buildDotProduct(OpBuilder &b, Location loc, Value lhs, Value rhs,
                             RankedTensorType resultType, bool transposedRhs) {
  auto widen = [&](Value value) {
    RankedTensorType type = getTensorType(value);
    return buildPointwise(b, loc, OpFunc::Dl16tofp32, {value},
                          RankedTensorType::get(type.getShape(), b.getF32Type()));
  };
  if (!transposedRhs) { // [..., K, 1] as [..., 1, K]
    SmallVector<int64_t> shape(getTensorType(rhs).getShape());
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    rhs = buildReshape(b, loc, rhs, shape);
  }
  SmallVector<int64_t> shape(resultType.getShape());
  shape.back() = getTensorType(lhs).getShape().back();
  Value product = buildPointwise(b, loc, OpFunc::Mul, {widen(lhs), widen(rhs)},
                                 RankedTensorType::get(shape, b.getF32Type()));
  Value sum =
      buildReduction(b, loc, OpFunc::Sum, product, {resultType.getRank() - 1}, /*keepDims=*/true);
  return buildPointwise(b, loc, OpFunc::Fp32todl16, {sum}, resultType);
}

Value mlir::spyre::buildConcat(OpBuilder &b, Location loc, ArrayRef<Value> parts, int64_t dim) {
  RankedTensorType first = getTensorType(parts.front());
  SmallVector<int64_t> shape(first.getShape());
  shape[dim] = 0;
  for (Value part : parts)
    shape[dim] += getTensorType(part).getDimSize(dim);
  return ConcatOp::create(b, loc, RankedTensorType::get(shape, first.getElementType()), parts,
                          static_cast<uint64_t>(dim));
}

bool mlir::spyre::isPassedByHost(Value value) {
  while (auto view = value.getDefiningOp<ViewOp>())
    value = view.getSource();
  auto argument = dyn_cast<BlockArgument>(value);
  auto func = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  return func && func.getArgAttr(argument.getArgNumber(), kOnHostAttr);
}

bool mlir::spyre::isTakenByHost(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    auto func = dyn_cast<func::FuncOp>(use.getOwner()->getParentOp());
    return isa<func::ReturnOp>(use.getOwner()) && func &&
           func.getResultAttr(use.getOperandNumber(), kOnHostAttr);
  });
}

Value mlir::spyre::buildMatmul(OpBuilder &b, Location loc, Value lhs, Value rhs,
                               RankedTensorType resultType, bool transposedRhs) {
  MLIRContext *context = b.getContext();
  ArrayRef<int64_t> l = getTensorType(lhs).getShape(), r = getTensorType(rhs).getShape(),
                    o = resultType.getShape();
  int64_t contracted = l.back();
  bool isColumn = o.back() == 1 && contracted != 1;
  if (isColumn && o[o.size() - 2] == 1 && isHalf(resultType.getElementType()))
    return buildDotProduct(b, loc, lhs, rhs, resultType, transposedRhs);
  // Iteration dims: the result's (batch, M, N), then K.
  unsigned numBatch = o.size() - 2, k = o.size();
  auto batchMap = [&](ArrayRef<int64_t> shape) {
    // Batch coordinates of an operand; its matrix dims are appended by the caller.
    size_t missing = o.size() - shape.size();
    SmallVector<AffineExpr> results;
    for (size_t i = 0; i + 2 < shape.size(); ++i)
      results.push_back(shape[i] == 1 ? getAffineConstantExpr(0, context)
                                      : getAffineDimExpr(missing + i, context));
    return results;
  };
  AffineExpr m = getAffineDimExpr(numBatch, context), n = getAffineDimExpr(numBatch + 1, context),
             kd = getAffineDimExpr(k, context);
  SmallVector<AffineExpr> lhsResults = batchMap(l), rhsResults = batchMap(r), outResults;
  for (unsigned i = 0; i < o.size(); ++i)
    outResults.push_back(getAffineDimExpr(i, context));
  DeviceOpSpec spec;
  spec.inputs = {lhs, rhs};
  spec.resultType = resultType;
  spec.extents.assign(o.begin(), o.end());
  unsigned numDims = o.size();
  if (contracted == 1) {
    spec.opFunc = OpFunc::Mul;
    kd = getAffineConstantExpr(0, context);
  } else {
    spec.opFunc = OpFunc::Batchmatmul;
    spec.extents.push_back(contracted);
    ++numDims;
  }
  llvm::append_values(lhsResults, m, kd);
  if (transposedRhs)
    llvm::append_values(rhsResults, n, kd);
  else
    llvm::append_values(rhsResults, kd, n);
  // A column is generated as a row: by the transposed product.
  if (isColumn) {
    std::swap(spec.inputs[0], spec.inputs[1]);
    std::swap(lhsResults, rhsResults);
  }
  for (ArrayRef<AffineExpr> results :
       {ArrayRef(lhsResults), ArrayRef(rhsResults), ArrayRef(outResults)})
    spec.maps.push_back(AffineMap::get(numDims, 0, results, context));
  return buildDeviceOp(b, loc, spec).getResultTensor();
}

/// x - max x along \p dim, and the sum of its exponentials. Subtracting the maximum
/// keeps every exponential at most 1 and one of them 1, so that the sum is at least 1.
static std::tuple<Value, Value, Value> buildShiftedExponentials(OpBuilder &b, Location loc, Value x,
                                                                int64_t dim) {
  RankedTensorType type = getTensorType(x);
  Value maximum = buildReduction(b, loc, OpFunc::Max, x, {dim}, /*keepDims=*/true);
  Value shifted = buildPointwise(b, loc, OpFunc::Sub, {x, maximum}, type);
  Value exponentials = buildPointwise(b, loc, OpFunc::Exp, {shifted}, type);
  Value sum = buildReduction(b, loc, OpFunc::Sum, exponentials, {dim}, /*keepDims=*/true);
  return {shifted, exponentials, sum};
}

Value mlir::spyre::buildSoftmax(OpBuilder &b, Location loc, Value x, int64_t dim) {
  auto [shifted, exponentials, sum] = buildShiftedExponentials(b, loc, x, dim);
  return buildPointwise(b, loc, OpFunc::Realdiv, {exponentials, sum}, getTensorType(x));
}

Value mlir::spyre::buildLogSoftmax(OpBuilder &b, Location loc, Value x, int64_t dim) {
  auto [shifted, exponentials, sum] = buildShiftedExponentials(b, loc, x, dim);
  Value logarithm = buildPointwise(b, loc, OpFunc::Log, {sum}, getTensorType(sum));
  return buildPointwise(b, loc, OpFunc::Sub, {shifted, logarithm}, getTensorType(x));
}
