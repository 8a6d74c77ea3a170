//===- Lowering.cpp - One torch operation on its way to L1 -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads constants, converts operands, says no.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "spyre/Dialect/Spyre/Transforms/L1/Numbers.h"
#include "spyre/Dialect/Torch/IR/TorchOps.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

bool Lowering::isTensor(unsigned i) const {
  return i < operands.size() && isa<RankedTensorType>(operands[i].getType());
}

bool Lowering::isNone(unsigned i) const {
  return i < operands.size() && torch_reader::isNone(op->getOperand(i));
}

/// The reason that an operand is no constant of the kind that is needed.
static std::string notConstant(unsigned i, unsigned numOperands, StringRef what) {
  std::string operand = "operand #" + std::to_string(i);
  return i < numOperands ? operand + " is no constant " + what.str() : operand + " is missing";
}

std::optional<int64_t> Lowering::getInt(unsigned i) {
  std::optional<int64_t> value;
  if (i < operands.size())
    value = torch_reader::getConstantInt(op->getOperand(i));
  if (!value)
    (void)refuse(notConstant(i, operands.size(), "integer"));
  return value;
}

std::optional<bool> Lowering::getBool(unsigned i) {
  std::optional<bool> value;
  if (i < operands.size())
    value = torch_reader::getConstantBool(op->getOperand(i));
  if (!value)
    (void)refuse(notConstant(i, operands.size(), "bool"));
  return value;
}

std::optional<SmallVector<int64_t>> Lowering::getInts(unsigned i) {
  if (i < operands.size()) {
    if (std::optional<int64_t> one = torch_reader::getConstantInt(op->getOperand(i)))
      return SmallVector<int64_t>{*one};
    if (std::optional<SmallVector<int64_t>> list = torch_reader::getIntList(op->getOperand(i)))
      return list;
  }
  (void)refuse(notConstant(i, operands.size(), "list of integers"));
  return std::nullopt;
}

std::optional<double> Lowering::getNumber(unsigned i) {
  if (i < operands.size()) {
    if (isTensor(i)) {
      if (std::optional<double> value = getScalarConstant(operands[i]))
        return value;
    } else {
      Value operand = op->getOperand(i);
      if (std::optional<double> value = torch_reader::getConstantNumber(operand))
        return value;
    }
  }
  (void)refuse(notConstant(i, operands.size(), "number"));
  return std::nullopt;
}

StringRef Lowering::getString(unsigned i) const {
  if (i >= operands.size())
    return {};
  return torch_reader::getConstantString(op->getOperand(i)).value_or(StringRef());
}

std::optional<int64_t> Lowering::normalizeDim(int64_t dim, int64_t rank) {
  if (dim >= -rank && dim < rank)
    return dim < 0 ? dim + rank : dim;
  (void)refuse("dim " + Twine(dim) + " does not exist; the tensor has " + Twine(rank));
  return std::nullopt;
}

std::optional<int64_t> Lowering::normalizeIndex(int64_t index, RankedTensorType type, int64_t dim) {
  int64_t extent = type.getDimSize(dim);
  if (index >= -extent && index < extent)
    return index < 0 ? index + extent : index;
  (void)refuse("index " + Twine(index) + " is outside dim " + Twine(dim));
  return std::nullopt;
}

std::optional<Slice> Lowering::getSlice(unsigned first) {
  RankedTensorType type = getTensorType(0);
  std::optional<int64_t> dim = getInt(first), step = dim ? getInt(first + 3) : std::nullopt;
  if (step)
    dim = normalizeDim(*dim, type.getRank());
  if (!step || !dim)
    return std::nullopt;
  if (*step < 1) {
    (void)refuse("its step is " + Twine(*step));
    return std::nullopt;
  }
  int64_t extent = type.getDimSize(*dim), start = 0, end = extent;
  for (unsigned i : {first + 1, first + 2}) {
    if (isNone(i))
      continue;
    std::optional<int64_t> given = getInt(i);
    if (!given)
      return std::nullopt;
    (i == first + 1 ? start : end) =
        std::clamp<int64_t>(*given < 0 ? *given + extent : *given, 0, extent);
  }
  int64_t count = llvm::divideCeil(std::max<int64_t>(end - start, 0), *step);
  return Slice{*dim, start, count, *step};
}

static std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// \p number as a 0-d constant; null after refusing where the device keeps no such number.
static Value getScalar(Lowering &l, double number, Type elementType) {
  if (isNumberType(elementType))
    return buildScalar(l.b, l.loc, number, elementType);
  (void)l.refuse("the device keeps no number of type " + toString(elementType));
  return {};
}

Value Lowering::getAs(unsigned i, Type elementType) {
  if (!isTensor(i)) {
    std::optional<double> number = getNumber(i);
    return number ? getScalar(*this, *number, elementType) : Value();
  }
  Value value = operands[i];
  Type from = getTensorType(i).getElementType();
  if (from == elementType)
    return value;
  if (getTensorType(i).getRank() == 0)
    if (std::optional<double> number = getScalarConstant(value))
      return getScalar(*this, *number, elementType);
  auto isFloat = [](Type type) { return isHalf(type) || type.isF32() || type.isF64(); };
  if (isFloat(from) && isFloat(elementType))
    return buildConvert(b, loc, value, elementType);
  if (from.isInteger(1) && (isHalf(elementType) || elementType.isF32()))
    return buildConvert(b, loc, value, elementType);
  (void)refuse("operand #" + Twine(i) +
               " has an element type that the device does not convert to the result's");
  return {};
}

Type Lowering::getDeviceType() {
  Type type = getResultType().getElementType();
  if (isHalf(type) || type.isF32())
    return type;
  (void)refuse("the device does not compute it in " + toString(type));
  return {};
}

Type Lowering::getComputeType() {
  if (getResultType().getElementType().isF64() && statisticsAreNarrow(op))
    return getResultType().getElementType();
  return getDeviceType();
}

LogicalResult Lowering::replaceWith(Value value) { return replaceWith(ArrayRef<Value>(value)); }

LogicalResult Lowering::replaceWith(ArrayRef<Value> values) {
  for (auto [value, type] : llvm::zip(values, resultTypes))
    if (value.getType() != type)
      return refuse("its result would have type " + toString(value.getType()));
  for (unsigned i = values.size(); i < op->getNumResults(); ++i)
    if (!op->getResult(i).use_empty())
      return refuse("its result #" + Twine(i) + " is used and has no device form");
  SmallVector<SmallVector<Value>> replacements(op->getNumResults());
  for (auto [i, value] : llvm::enumerate(values))
    replacements[i].push_back(value);
  b.replaceOpWithMultiple(op, std::move(replacements));
  return success();
}

Handler torch_lowering::onTensor(Handler handler) {
  return [handler = std::move(handler)](Lowering &l) {
    if (!l.isTensor(0))
      return l.refuse("operand #0 is no tensor");
    return handler(l);
  };
}

Value torch_lowering::buildSlice(Lowering &l, Value source, int64_t dim, int64_t start,
                                 int64_t size, int64_t step) {
  RankedTensorType type = getTensorType(source);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  SmallVector<AffineExpr> results;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    AffineExpr d = l.b.getAffineDimExpr(i);
    results.push_back(i == dim ? d * step + start : d);
  }
  return buildView(l.b, l.loc, source, AffineMap::get(type.getRank(), 0, results, l.b.getContext()),
                   shape);
}

Value torch_lowering::buildSelect(Lowering &l, Value source, int64_t dim, int64_t index) {
  RankedTensorType type = getTensorType(source);
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim);
  SmallVector<AffineExpr> results;
  for (int64_t i = 0, next = 0; i < type.getRank(); ++i)
    results.push_back(i == dim ? l.b.getAffineConstantExpr(index) : l.b.getAffineDimExpr(next++));
  return buildView(l.b, l.loc, source, AffineMap::get(shape.size(), 0, results, l.b.getContext()),
                   shape);
}
