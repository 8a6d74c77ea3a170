//===- TorchOps.cpp - Looking into torch operations -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements the helpers of TorchOps.h.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Torch/IR/TorchOps.h"

#include "spyre/Dialect/Torch/IR/ComplexConstants.h"
#include "spyre/Dialect/Torch/IR/TorchEffects.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::torch_reader;

bool torch_reader::isOp(Operation *op, StringRef fullName) {
  return op && op->getName().getStringRef() == fullName;
}

Operation *torch_reader::getDefiningOp(Value value, StringRef fullName) {
  Operation *op = value ? value.getDefiningOp() : nullptr;
  return isOp(op, fullName) ? op : nullptr;
}

/// Attribute `value` of the constant of that name.
template <typename AttrT> static AttrT getConstant(Value value, StringRef name) {
  Operation *op = torch_reader::getDefiningOp(value, name);
  return op ? op->getAttrOfType<AttrT>("value") : AttrT();
}

std::optional<int64_t> torch_reader::getConstantInt(Value value) {
  auto attr = getConstant<IntegerAttr>(value, names::constantInt);
  if (!attr || attr.getValue().getSignificantBits() > 64)
    return std::nullopt;
  return attr.getValue().getSExtValue();
}

std::optional<double> torch_reader::getConstantFloat(Value value) {
  if (auto attr = getConstant<FloatAttr>(value, names::constantFloat))
    return attr.getValueAsDouble();
  return std::nullopt;
}

std::optional<bool> torch_reader::getConstantBool(Value value) {
  if (auto attr = getConstant<BoolAttr>(value, names::constantBool))
    return attr.getValue();
  return std::nullopt;
}

std::optional<double> torch_reader::getConstantNumber(Value value) {
  if (auto number = getConstantInt(value))
    return static_cast<double>(*number);
  if (auto number = getConstantFloat(value))
    return number;
  if (auto flag = getConstantBool(value))
    return *flag ? 1.0 : 0.0;
  if (auto attr = getConstant<FloatAttr>(value, names::constantNumber))
    return attr.getValueAsDouble();
  if (auto attr = getConstant<IntegerAttr>(value, names::constantNumber))
    return attr.getValue().signedRoundToDouble();
  return std::nullopt;
}

std::optional<StringRef> torch_reader::getConstantString(Value value) {
  if (auto attr = getConstant<StringAttr>(value, names::constantStr))
    return attr.getValue();
  return std::nullopt;
}

std::optional<StringRef> torch_reader::getConstantDevice(Value value) {
  if (auto attr = getConstant<StringAttr>(value, names::constantDevice))
    return attr.getValue();
  return std::nullopt;
}

bool torch_reader::isComplexNumber(DenseElementsAttr elements) {
  auto type = dyn_cast<ComplexType>(elements.getElementType());
  return type && type.getElementType().isF64() && elements.getType().getRank() == 0;
}

DenseElementsAttr torch_reader::getConstantComplex(Value value) {
  auto elements = getConstant<DenseElementsAttr>(value, names::constantComplex);
  return elements && isComplexNumber(elements) ? elements : DenseElementsAttr();
}

bool torch_reader::isNone(Value value) { return getDefiningOp(value, names::constantNone); }

std::optional<OperandRange> torch_reader::getListElements(Value value) {
  if (Operation *op = getDefiningOp(value, names::listConstruct))
    return op->getOperands();
  return std::nullopt;
}

template <typename T>
static std::optional<SmallVector<T>> getConstantList(Value value,
                                                     std::optional<T> (*getOne)(Value)) {
  std::optional<OperandRange> elements = getListElements(value);
  if (!elements)
    return std::nullopt;
  SmallVector<T> numbers;
  for (Value element : *elements) {
    std::optional<T> number = getOne(element);
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<SmallVector<int64_t>> torch_reader::getIntList(Value value) {
  return getConstantList<int64_t>(value, getConstantInt);
}

std::optional<SmallVector<double>> torch_reader::getFloatList(Value value) {
  return getConstantList<double>(value, getConstantNumber);
}

/// The elements are those of a tensor of \p type: as many, in the same form.
static bool isOfType(ElementsAttr elements, Type type) {
  ShapedType is = elements.getShapedType();
  Type element = torch_reader::getTensorElementType(type), held = is.getElementType();
  std::optional<ArrayRef<int64_t>> shape = torch_reader::getTensorShape(type);
  if (!shape || !element || is.getShape() != *shape)
    return false;
  // Attributes have signless integers as well.
  auto integer = dyn_cast<IntegerType>(element), heldInteger = dyn_cast<IntegerType>(held);
  return integer && heldInteger ? integer.getWidth() == heldInteger.getWidth() : element == held;
}

ElementsAttr torch_reader::getTensorLiteral(Value value) {
  auto attr = getConstant<ElementsAttr>(value, names::valueTensorLiteral);
  if (!attr)
    attr = getConstant<ElementsAttr>(value, names::tensorLiteral);
  return attr && isOfType(attr, value.getType()) ? attr : ElementsAttr();
}

bool torch_reader::isTensor(Type type) { return isa<ValueTensorType, NonValueTensorType>(type); }

std::optional<ArrayRef<int64_t>> torch_reader::getTensorShape(Type type) {
  if (auto tensor = dyn_cast<ValueTensorType>(type); tensor && tensor.getHasSizes())
    return tensor.getSizes();
  if (auto tensor = dyn_cast<NonValueTensorType>(type); tensor && tensor.getHasSizes())
    return tensor.getSizes();
  return std::nullopt;
}

Type torch_reader::getTensorElementType(Type type) {
  if (auto tensor = dyn_cast<ValueTensorType>(type))
    return tensor.getDtype();
  if (auto tensor = dyn_cast<NonValueTensorType>(type))
    return tensor.getDtype();
  return {};
}

bool torch_reader::isResultUnused(Operation *op, unsigned number) {
  return number >= op->getNumResults() || op->getResult(number).use_empty();
}

bool torch_reader::areResultsUnusedFrom(Operation *op, unsigned from) {
  return llvm::all_of(llvm::drop_begin(op->getResults(), std::min(from, op->getNumResults())),
                      [](Value result) { return result.use_empty(); });
}

StringRef torch_reader::getShortName(Operation *op) {
  if (isOp(op, names::customOperator))
    if (auto name = op->getAttrOfType<StringAttr>("name"))
      return name.getValue();
  StringRef name = op->getName().getStringRef();
  name.consume_front("torch.");
  return name;
}

StringRef torch_reader::getOperatorName(Operation *op) {
  StringRef name = getShortName(op);
  name.consume_front("torch.");
  return name;
}

bool torch_reader::hasEffect(Operation *op) {
  if (op->hasAttr(kEffectAttr))
    return true;
  return op->getNumResults() == 0 && op->getName().getDialectNamespace() == "torch" &&
         llvm::is_contained(
             {"aten._assert_async", "aten._assert_async.msg", "aten._assert_scalar", "aten._print"},
             getOperatorName(op));
}

bool torch_reader::isPacking(Operation *op) {
  return isOp(op, names::listConstruct) || isOp(op, names::tupleConstruct) ||
         isOp(op, names::derefine);
}
