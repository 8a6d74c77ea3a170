//===- ExactArguments.cpp - Arguments as the host has them ----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header. An f32 form is an argument of the device function by itself; it names
// the same array of the program (kArrayAttr) and the type that this has (kHostTypeAttr).
//
//===----------------------------------------------------------------------===//

#include "ExactArguments.h"

#include "spyre/Dialect/Spyre/IR/ConstantNumbers.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cmath>

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::OpFunc;

/// The factor of a product with a power of two, which changes no fraction.
static bool isPowerOfTwo(Value value) {
  std::optional<double> number = getScalarConstant(value);
  int exponent;
  return number && *number != 0.0 && std::isfinite(*number) &&
         std::fabs(std::frexp(*number, &exponent)) == 0.5;
}

/// x + 0, x - 0 and x * 1 are x.
static bool isNeutral(DeviceOpInterface op) {
  bool adds = isa<AddOp, SubOp>(op);
  if (!adds && !isa<MulOp>(op))
    return false;
  return getScalarConstant(op.getInputs()[1]) == (adds ? 0.0 : 1.0);
}

/// Bounds of a clip, which has no f32 form; nothing if f16 does not hold them.
struct Bounds {
  double low, high;
};
static std::optional<Bounds> getBounds(DeviceOpInterface op) {
  DictionaryAttr constants = op.getConstantsAttr();
  if (!isa<ClipOp>(op) || !constants)
    return std::nullopt;
  auto low = constants.getAs<FloatAttr>("clipMin"), high = constants.getAs<FloatAttr>("clipMax");
  auto isHeld = [](FloatAttr number) {
    APFloat rounded = number.getValue();
    bool losesInfo = false;
    rounded.convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven, &losesInfo);
    return !losesInfo || std::fabs(number.getValueAsDouble()) > 65504;
  };
  if (!low || !high || !isHeld(low) || !isHeld(high))
    return std::nullopt;
  return Bounds{low.getValueAsDouble(), high.getValueAsDouble()};
}

/// Operands of \p op that its result's elements come from.
static bool isValueOperand(DeviceOpInterface op, unsigned i) {
  return !getTensorType(op.getInputs()[i]).getElementType().isInteger(1);
}

/// The f16 numbers of a resource; none if \p elements is something else.
static ArrayRef<uint16_t> getResourceCodes(ElementsAttr elements) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob || blob->getData().size() != 2 * size_t(elements.getNumElements()))
    return {};
  return {reinterpret_cast<const uint16_t *>(blob->getData().data()),
          size_t(elements.getNumElements())};
}

/// A constant of f16 numbers; single ones may be kept as f32.
static bool holdsFloat16(ConstantOp constant) {
  ElementsAttr value = constant.getValue();
  if (value.getElementType().isF16())
    return hasNumbers(value) || !getResourceCodes(value).empty();
  auto elements = dyn_cast<DenseFPElementsAttr>(value);
  if (!elements)
    return false;
  if (!elements.getElementType().isF32() || !elements.isSplat())
    return false;
  APFloat number = elements.getSplatValue<APFloat>();
  bool losesInfo = false;
  number.convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven, &losesInfo);
  return !losesInfo;
}

bool ExactArguments::isKnown(Value value, Reach reach) {
  auto [entry, isNew] = known.try_emplace({value, static_cast<int>(reach)}, false);
  if (!isNew)
    return entry->second;
  auto isKnownHere = [&](Value operand) { return isKnown(operand, reach); };
  Type element = getTensorType(value).getElementType();
  bool found = false;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    found = element.isF16() && func.getArgAttr(argument.getArgNumber(), kOnHostAttr);
  } else if (Operation *op = value.getDefiningOp(); auto view = dyn_cast<ViewOp>(op)) {
    found = isKnownHere(view.getSource());
  } else if (auto constant = dyn_cast<ConstantOp>(op)) {
    found = holdsFloat16(constant);
  } else if (auto join = dyn_cast<ConcatOp>(op)) {
    found = llvm::all_of(join.getSources(), isKnownHere);
  } else if (auto convert = dyn_cast<ConvertOp>(op)) {
    Type from = getElementType(convert.getSource());
    // f16 as f32 and back; f16 as bf16 is rounded by whoever takes it from the f32 form.
    bool keeps = (from.isF16() && element.isF32()) || (from.isF32() && element.isF16()) ||
                 (from.isF16() && element.isBF16() && reach == Reach::Moves);
    found = convert->hasAttr(kLosslessAttr) || (keeps && isKnownHere(convert.getSource()));
  } else if (auto device = dyn_cast<DeviceOpInterface>(op);
             device && device.getResultTensor() && (isHalf(element) || element.isF32())) {
    const ::spyre::OpFuncInfo &info = device.getInfo();
    bool isCopy = (info.category == ::spyre::OpCategory::DataMovement && info.numInputs == 1 &&
                   device.getInputs().size() == 1) ||
                  isNeutral(device);
    bool keeps = info.keepsNumbers && (info.constants.empty() || getBounds(device));
    bool scales =
        isa<MulOp>(device) && device.getInputs().size() == 2 && isPowerOfTwo(device.getInputs()[1]);
    if (isCopy)
      found = isKnownHere(device.getInputs()[0]);
    else if (reach == Reach::Numbers && scales)
      found = isKnownHere(device.getInputs()[0]);
    else if (reach == Reach::Numbers && keeps) {
      found = true;
      for (auto [i, input] : llvm::enumerate(device.getInputs()))
        found &= !isValueOperand(device, i) || isKnownHere(input);
    }
  }
  known[{value, static_cast<int>(reach)}] = found;
  return found;
}

bool ExactArguments::readsHost(Value value) {
  if (getTensorType(value).getElementType().isInteger(1))
    return false;
  Operation *op = value.getDefiningOp();
  if (!op)
    return true;
  if (auto constant = dyn_cast<ConstantOp>(op))
    return !isa<SplatElementsAttr>(constant.getValue());
  return llvm::any_of(op->getOperands(), readsHost);
}

BlockArgument ExactArguments::getTwin(BlockArgument argument) {
  auto [entry, isNew] = twins.try_emplace(argument);
  if (!isNew)
    return entry->second;
  unsigned number = argument.getArgNumber(), index = func.getNumArguments();
  Builder b(func.getContext());
  NamedAttrList attributes(func.getArgAttrDict(number));
  if (!attributes.get(kArrayAttr))
    attributes.set(kArrayAttr, b.getStringAttr("in" + Twine(number)));
  attributes.set(kHostTypeAttr, TypeAttr::get(getElementType(argument)));
  (void)func.insertArgument(
      index, RankedTensorType::get(getTensorType(argument).getShape(), b.getF32Type()),
      attributes.getDictionary(func.getContext()), argument.getLoc());
  return twins[argument] = func.getArgument(index);
}

static APFloat widen(const APFloat &number) {
  APFloat wide = number;
  bool losesInfo;
  wide.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
  return wide;
}

ElementsAttr mlir::spyre::widenElements(ElementsAttr elements) {
  Type f32 = Float32Type::get(elements.getContext());
  if (auto dense = dyn_cast<DenseFPElementsAttr>(elements))
    return dense.mapValues(f32,
                           [](const APFloat &number) { return widen(number).bitcastToAPInt(); });
  const llvm::fltSemantics &semantics =
      cast<FloatType>(elements.getElementType()).getFloatSemantics();
  auto toWide = [&](uint64_t code) { return widen(APFloat(semantics, APInt(16, code))); };
  if (auto runs = dyn_cast<RunsAttr>(elements)) {
    SmallVector<uint64_t> codes = llvm::map_to_vector(runs.getCodes(), [&](uint64_t code) {
      return toWide(code).bitcastToAPInt().getZExtValue();
    });
    return RunsAttr::get(cast<RankedTensorType>(runs.getType().clone(f32)), runs.getCounts(),
                         runs.getEnds(), codes);
  }
  SmallVector<float> numbers;
  for (uint16_t code : getResourceCodes(elements))
    numbers.push_back(toWide(code).convertToFloat());
  ArrayRef<char> bytes(reinterpret_cast<const char *>(numbers.data()), 4 * numbers.size());
  return DenseResourceElementsAttr::get(
      elements.getShapedType().clone(f32), "exact",
      HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, alignof(float)));
}

Value ExactArguments::getCondition(Value value) {
  if (!widensConditions)
    return value;
  if (Value made = exact.lookup(value))
    return made;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(value);
  auto type = RankedTensorType::get(getTensorType(value).getShape(), rewriter.getF32Type());
  return exact[value] = buildPointwise(rewriter, value.getLoc(), OpFunc::Dl16tofp32, {value}, type);
}

Value ExactArguments::getExact(Value value) {
  // What is f32 already has to be built anew only as far as it is made of 16-bit values.
  if (getTensorType(value).getElementType().isF32() &&
      (value.getDefiningOp<ConstantOp>() || !isKnown(value, Reach::Numbers)))
    return value;
  if (Value made = exact.lookup(value))
    return made;
  Value wide;
  OpBuilder::InsertionGuard guard(rewriter);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return exact[value] = getTwin(argument);
  Operation *op = value.getDefiningOp();
  rewriter.setInsertionPointAfter(op);
  if (auto view = dyn_cast<ViewOp>(op)) {
    wide = buildView(rewriter, op->getLoc(), getExact(view.getSource()), view.getMap(),
                     getTensorType(value).getShape());
  } else if (auto constant = dyn_cast<ConstantOp>(op)) {
    ElementsAttr elements = widenElements(constant.getValue());
    wide = ConstantOp::create(rewriter, op->getLoc(), elements.getType(), elements);
  } else if (auto convert = dyn_cast<ConvertOp>(op)) {
    wide = getExact(convert.getSource());
  } else {
    SmallVector<Value> operands;
    auto device = dyn_cast<DeviceOpInterface>(op);
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      bool keeps = device && !isValueOperand(device, i);
      operands.push_back(keeps ? getCondition(operand) : getExact(operand));
    }
    rewriter.setInsertionPointAfter(op);
    auto type = RankedTensorType::get(getTensorType(value).getShape(), rewriter.getF32Type());
    std::optional<Bounds> bounds = device ? getBounds(device) : std::nullopt;
    if (bounds) {
      auto scalar = [&](double number) {
        return buildScalar(rewriter, op->getLoc(), number, rewriter.getF32Type());
      };
      wide = buildPointwise(rewriter, op->getLoc(), OpFunc::Maximum,
                            {operands[0], scalar(bounds->low)}, type);
      wide = buildPointwise(rewriter, op->getLoc(), OpFunc::Minimum, {wide, scalar(bounds->high)},
                            type);
    } else {
      Operation *clone = rewriter.clone(*op);
      clone->setOperands(operands);
      clone->getResult(0).setType(type);
      wide = clone->getResult(0);
    }
  }
  return exact[value] = wide;
}

void ExactArguments::finish() {
  // What nobody reads in its 16-bit form any more is taken as f32 in its place.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(func.getBody().front())))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
  llvm::BitVector replaced(func.getNumArguments());
  SmallVector<Type> types(func.getArgumentTypes());
  for (auto [argument, twin] : twins) {
    if (!argument.use_empty())
      continue;
    unsigned number = argument.getArgNumber();
    argument.setType(twin.getType());
    types[number] = twin.getType();
    func.setArgAttr(number, kHostTypeAttr, func.getArgAttr(twin.getArgNumber(), kHostTypeAttr));
    rewriter.replaceAllUsesWith(twin, argument);
    replaced.set(twin.getArgNumber());
  }
  func.setFunctionType(
      FunctionType::get(func.getContext(), types, func.getFunctionType().getResults()));
  (void)func.eraseArguments(replaced);
}
