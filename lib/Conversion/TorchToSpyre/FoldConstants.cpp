//===- FoldConstants.cpp - What no argument has a part in -----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes, with lib/Host, the operations of torch that depend on constants only:
// positions, masks of the positions, and what is made of them. See Passes.td.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "spyre/Conversion/TorchToSpyre/TorchToSpyre.h"
#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"
#include "spyre/Dialect/Torch/IR/ComplexConstants.h"
#include "spyre/Dialect/Torch/IR/TorchEffects.h"
#include "spyre/Dialect/Torch/IR/TorchOps.h"
#include "spyre/Host/Evaluate.h"
#include "spyre/Host/Runs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <complex>

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREFOLDTORCHCONSTANTS
#include "spyre/Conversion/TorchToSpyre/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
namespace host = ::spyre::host;
using ::spyre::HostType;

/// Literals up to here are computed with: weights are left to the device.
static constexpr int64_t kMaxLiteralElements = 65536;
/// What is made of the program's own literals is computed up to here.
static constexpr int64_t kMaxAsideElements = 64;
/// Results up to here are made: masks of 4,096 rows and columns; as runs, of 8,192.
static constexpr int64_t kMaxElements = int64_t(1) << 24;
static constexpr int64_t kMaxInRuns = int64_t(1) << 26;

//===----------------------------------------------------------------------===//
// Arrays and attributes
//===----------------------------------------------------------------------===//

/// The type that an array of torch's element type \p element is computed in.
static std::optional<HostType> getComputedType(Type element) {
  if (!element)
    return std::nullopt;
  if (auto integer = dyn_cast<IntegerType>(element); integer && !integer.isSignless()) {
    if (integer.isUnsigned())
      return integer.getWidth() == 8 ? std::optional(HostType::UInt8) : std::nullopt;
    element = IntegerType::get(element.getContext(), integer.getWidth());
  }
  std::optional<HostType> type = getHostType(element);
  if (!type)
    return std::nullopt;
  switch (*type) {
  case HostType::Float16:
  case HostType::BFloat16:
  case HostType::Float32:
  case HostType::Float64:
  case HostType::Float8E4M3FN:
  case HostType::Float8E5M2:
  case HostType::Float8E4M3FNUZ:
  case HostType::Float8E5M2FNUZ:
  case HostType::Int8:
  case HostType::UInt8:
  case HostType::Bool:
  case HostType::Int16:
  case HostType::Int32:
  case HostType::Int64:
    return type;
  default:
    return std::nullopt;
  }
}

static std::optional<host::Array> toArray(ElementsAttr elements, Type element,
                                          RankedTensorType type) {
  std::optional<HostType> dtype = getComputedType(element);
  int64_t count = type.getNumElements();
  if (!dtype || count > kMaxLiteralElements)
    return std::nullopt;
  host::Array array = host::makeArray(*dtype, {type.getShape().begin(), type.getShape().end()});
  if (auto dense = dyn_cast<DenseElementsAttr>(elements)) {
    if (array.isFloat() != isa<DenseFPElementsAttr>(dense) ||
        array.isInteger() != isa<DenseIntElementsAttr>(dense))
      return std::nullopt;
    if (array.isFloat()) {
      for (auto [i, value] : llvm::enumerate(dense.getValues<APFloat>())) {
        APFloat number = value;
        bool loses;
        number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
        array.numbers[i] = number.convertToDouble();
      }
      return array;
    }
    bool isUnsigned = array.dtype == HostType::Bool || array.dtype == HostType::UInt8;
    for (auto [i, value] : llvm::enumerate(dense.getValues<APInt>()))
      array.integers[i] =
          isUnsigned ? static_cast<int64_t>(value.getZExtValue()) : value.getSExtValue();
    return array;
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob ||
      static_cast<int64_t>(blob->getData().size()) != count * ::spyre::getWidthInBytes(array.dtype))
    return std::nullopt;
  return host::fromBytes(*dtype, std::move(array.shape), blob->getData().data());
}

static DenseElementsAttr toAttribute(const host::Array &array, RankedTensorType type) {
  if (std::optional<HostType> own = getHostType(type.getElementType()); own && *own != array.dtype)
    return toAttribute(host::castTo(array, *own), type);
  if (array.dtype == HostType::Bool) {
    SmallVector<bool> values(array.integers.begin(), array.integers.end());
    return DenseElementsAttr::get(type, ArrayRef<bool>(values));
  }
  std::vector<char> bytes(size_t(array.getNumElements()) *
                          size_t(::spyre::getWidthInBytes(array.dtype)));
  host::toBytes(array, bytes.data());
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

/// \p runs as elements of \p type; null if they are no floats or truth values of one number each.
static ElementsAttr toAttribute(const host::RunArray &runs, RankedTensorType type) {
  Type element = type.getElementType();
  auto real = dyn_cast<FloatType>(element);
  if (!runs.isConstantInRuns() || getHostType(element) != runs.dtype ||
      (!real && !element.isInteger(1)))
    return {};
  SmallVector<int64_t> counts, ends;
  SmallVector<uint64_t> codes;
  for (int64_t row = 0; row < runs.getNumRows(); ++row) {
    counts.push_back(std::ssize(runs.getRow(row)));
    for (const host::Run &run : runs.getRow(row)) {
      ends.push_back(run.end);
      APFloat number(run.value);
      bool losesInfo;
      if (real)
        number.convert(real.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
      codes.push_back(real ? number.bitcastToAPInt().getZExtValue() : run.value != 0);
    }
  }
  return RunsAttr::getElements(type, counts, ends, codes);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Results of one number: the conversion makes them with the number as written.
static bool isNumberEverywhere(StringRef name) {
  return llvm::is_contained({"aten.full", "aten.full_like", "aten.zeros", "aten.zeros_like",
                             "aten.ones", "aten.ones_like", "aten.scalar_tensor",
                             "prim.NumToTensor.Scalar"},
                            name);
}

/// Operations that show elements more than once: the device repeats them for nothing.
static bool repeatsElements(StringRef name) {
  return llvm::is_contained({"aten.expand", "aten.broadcast_to", "aten.expand_as"}, name);
}

/// A literal of integers, which the device does not compute with.
static bool isIntegerLiteral(Value value) {
  return torch_reader::getTensorLiteral(value) &&
         isa_and_present<IntegerType>(torch_reader::getTensorElementType(value.getType())) &&
         !torch_reader::getTensorElementType(value.getType()).isInteger(1);
}

/// Operations that ask an operand for its type only.
static bool readsTypeOnly(StringRef name) {
  return name.ends_with("_like") || name.starts_with("aten.new_") || name == "aten.zero" ||
         name.starts_with("aten.fill.");
}

namespace {
class ConstantFolder {
public:
  explicit ConstantFolder(func::FuncOp func) : func(func), builder(func.getContext()) {}

  void run();
  /// What \p op gives, if all that it reads is known and it is not too large.
  std::optional<host::Array> compute(Operation *op);

private:
  /// Null if it is not known.
  std::shared_ptr<const host::Array> getArray(Value value);
  /// What \p op gives, if it is large, and known run by run.
  std::optional<host::RunArray> computeRuns(Operation *op);
  host::Argument getArgument(Value value);
  void fold(Operation *op);
  void foldNumber(Operation *op);
  void foldComplex(Operation *op);
  void replaceWithConstant(Operation *op, StringRef name, Attribute value);

  func::FuncOp func;
  OpBuilder builder;
  llvm::DenseMap<Value, std::shared_ptr<const host::Array>> arrays;
  llvm::DenseMap<Value, std::shared_ptr<const host::RunArray>> runs;
  llvm::DenseSet<Value> made; ///< results of folded operations
  SmallVector<Operation *> folded;
};

struct FoldTorchConstantsPass
    : mlir::spyre::impl::SpyreFoldTorchConstantsBase<FoldTorchConstantsPass> {
  void runOnOperation() override {
    if (!getOperation().isExternal())
      ConstantFolder(getOperation()).run();
  }
};
} // namespace

std::shared_ptr<const host::Array> ConstantFolder::getArray(Value value) {
  if (auto known = arrays.find(value); known != arrays.end())
    return known->second;
  std::optional<host::Array> array;
  if (auto known = runs.find(value); known != runs.end()) {
    RankedTensorType type = torch_lowering::convertTensorType(value.getType());
    if (type.getNumElements() <= kMaxElements)
      array = host::expand(*known->second);
  } else if (ElementsAttr literal = torch_reader::getTensorLiteral(value))
    if (RankedTensorType type = torch_lowering::convertTensorType(value.getType());
        type && type.hasStaticShape())
      array = toArray(literal, torch_reader::getTensorElementType(value.getType()), type);
  return arrays[value] = array ? std::make_shared<const host::Array>(std::move(*array)) : nullptr;
}

host::Argument ConstantFolder::getArgument(Value value) {
  if (torch_reader::isTensor(value.getType())) {
    if (std::shared_ptr<const host::Array> array = getArray(value))
      return array;
    return host::Unknown{};
  }
  if (std::optional<bool> truth = torch_reader::getConstantBool(value))
    return *truth;
  if (std::optional<int64_t> integer = torch_reader::getConstantInt(value))
    return *integer;
  if (std::optional<double> number = torch_reader::getConstantNumber(value))
    return *number;
  if (std::optional<StringRef> text = torch_reader::getConstantString(value))
    return text->str();
  if (std::optional<SmallVector<int64_t>> list = torch_reader::getIntList(value))
    return std::vector<int64_t>(list->begin(), list->end());
  if (std::optional<OperandRange> elements = torch_reader::getListElements(value)) {
    host::Argument::List parts;
    for (Value element : *elements) {
      std::shared_ptr<const host::Array> array =
          torch_reader::isTensor(element.getType()) ? getArray(element) : nullptr;
      if (!array)
        return host::Unknown{};
      parts.emplace_back(std::move(array));
    }
    return parts;
  }
  if (torch_reader::isNone(value) || torch_reader::getConstantDevice(value))
    return std::monostate();
  return host::Unknown{};
}

void ConstantFolder::replaceWithConstant(Operation *op, StringRef name, Attribute value) {
  builder.setInsertionPoint(op);
  OperationState state(op->getLoc(), name);
  state.addAttribute("value", value);
  state.addTypes(op->getResultTypes());
  op->getResult(0).replaceAllUsesWith(builder.create(state)->getResult(0));
  folded.push_back(op);
}

/// A complex number of its parts.
void ConstantFolder::foldComplex(Operation *op) {
  if (op->getNumOperands() != 2 || op->getNumResults() != 1)
    return;
  std::optional<double> real = torch_reader::getConstantNumber(op->getOperand(0)),
                        imaginary = torch_reader::getConstantNumber(op->getOperand(1));
  if (!real || !imaginary)
    return;
  auto type = RankedTensorType::get({}, ComplexType::get(builder.getF64Type()));
  std::complex<APFloat> number{APFloat(*real), APFloat(*imaginary)};
  replaceWithConstant(op, torch_reader::names::constantComplex,
                      DenseElementsAttr::get(type, number));
}

/// `Int.bool`, `Int.Tensor`, ...: a number that is an operand of others.
void ConstantFolder::foldNumber(Operation *op) {
  StringRef name = torch_reader::getOperatorName(op);
  if (name == "aten.Complex.float_float")
    return foldComplex(op);
  StringRef kind =
      llvm::StringSwitch<StringRef>(name)
          .Cases({"aten.Int.bool", "aten.Int.Scalar", "aten.Int.float", "aten.Int.Tensor"},
                 torch_reader::names::constantInt)
          .Cases({"aten.Float.Scalar", "aten.Float.Tensor"}, "torch.constant.float")
          .Cases({"aten.Bool.Tensor", "aten.Bool.int"}, "torch.constant.bool")
          .Default("");
  if (kind.empty() || op->getNumOperands() != 1 || op->getNumResults() != 1)
    return;
  host::Argument argument = getArgument(op->getOperand(0));
  double number;
  if (const host::Array *array = argument.getArray(); array && array->getNumElements() == 1)
    number = array->getNumber(0);
  else if (const bool *truth = argument.getBool())
    number = *truth;
  else if (const int64_t *integer = argument.getInt())
    number = static_cast<double>(*integer);
  else if (const double *value = argument.getFloat())
    number = *value;
  else
    return;
  if (!(std::abs(number) <= 0x1p53) && kind != "torch.constant.float")
    return; // not exact
  Attribute value = builder.getF64FloatAttr(number);
  if (kind == torch_reader::names::constantInt)
    value = builder.getI64IntegerAttr(static_cast<int64_t>(number));
  else if (kind == "torch.constant.bool")
    value = builder.getBoolAttr(number != 0);
  replaceWithConstant(op, kind, value);
}

std::optional<host::RunArray> ConstantFolder::computeRuns(Operation *op) {
  StringRef name = torch_reader::getOperatorName(op);
  RankedTensorType type = torch_lowering::convertTensorType(op->getResult(0).getType());
  std::optional<HostType> dtype =
      getComputedType(torch_reader::getTensorElementType(op->getResult(0).getType()));
  if (torch_reader::hasEffect(op) || !type || !dtype || !type.hasStaticShape() ||
      type.getNumElements() <= RunsAttr::kFewElements || type.getNumElements() > kMaxInRuns)
    return std::nullopt;
  std::vector<host::RunOperand> operands;
  for (Value operand : op->getOperands()) {
    if (auto known = runs.find(operand); known != runs.end())
      operands.push_back({known->second.get(), {}});
    else
      operands.push_back({nullptr, getArgument(operand)});
    if (!operands.back().runs && operands.back().argument.isUnknown() &&
        !(operands.size() == 1 && readsTypeOnly(name)))
      return std::nullopt;
  }
  return host::evaluateRuns({name.data(), name.size()}, operands, *dtype,
                            std::vector<int64_t>(type.getShape().begin(), type.getShape().end()));
}

std::optional<host::Array> ConstantFolder::compute(Operation *op) {
  StringRef name = torch_reader::getOperatorName(op);
  if (torch_reader::hasEffect(op))
    return std::nullopt;
  if (!host::isKnown({name.data(), name.size()}) || op->getNumResults() != 1 ||
      !torch_reader::isTensor(op->getResult(0).getType()))
    return std::nullopt;
  RankedTensorType type = torch_lowering::convertTensorType(op->getResult(0).getType());
  std::optional<HostType> dtype =
      getComputedType(torch_reader::getTensorElementType(op->getResult(0).getType()));
  if (!type || !type.hasStaticShape() || type.getNumElements() > kMaxElements || !dtype)
    return std::nullopt;
  std::vector<host::Argument> arguments;
  for (Value operand : op->getOperands()) {
    arguments.push_back(getArgument(operand));
    if (arguments.back().isUnknown() && !(arguments.size() == 1 && readsTypeOnly(name)))
      return std::nullopt;
  }
  std::variant<host::Array, std::string> result =
      host::evaluate({name.data(), name.size()}, arguments, *dtype,
                     std::vector<int64_t>(type.getShape().begin(), type.getShape().end()));
  auto *array = std::get_if<host::Array>(&result);
  return array ? std::optional(std::move(*array)) : std::nullopt;
}

void ConstantFolder::fold(Operation *op) {
  StringRef name = torch_reader::getOperatorName(op);
  if (!host::isKnown({name.data(), name.size()}) || op->getNumResults() != 1 ||
      !torch_reader::isTensor(op->getResult(0).getType()))
    return foldNumber(op);
  // From numbers, from what was made of them, or from integers: not from the program's
  // floats and bools alone.
  bool hasTensor = false, isDerived = false;
  for (Value operand : op->getOperands()) {
    std::optional<OperandRange> elements = torch_reader::getListElements(operand);
    for (Value value : elements ? SmallVector<Value>(*elements) : SmallVector<Value>{operand})
      if (torch_reader::isTensor(value.getType())) {
        hasTensor = true;
        isDerived |= made.contains(value) || isIntegerLiteral(value);
      }
  }
  // A few of those are computed in case something derived reads them (a copied number).
  bool isAside = hasTensor && !isDerived && !readsTypeOnly(name);
  if (isAside) {
    RankedTensorType type = torch_lowering::convertTensorType(op->getResult(0).getType());
    if (!type || !type.hasStaticShape() || type.getNumElements() > kMaxAsideElements)
      return;
  }
  if (std::optional<host::RunArray> found = computeRuns(op)) {
    runs[op->getResult(0)] = std::make_shared<const host::RunArray>(std::move(*found));
  } else {
    std::optional<host::Array> array = compute(op);
    if (!array)
      return;
    arrays[op->getResult(0)] = std::make_shared<const host::Array>(std::move(*array));
  }
  if (isAside)
    return;
  made.insert(op->getResult(0));
  folded.push_back(op);
}

void ConstantFolder::run() {
  for (Operation &op : func.getBody().front())
    if (op.getName().getDialectNamespace() == "torch")
      fold(&op);
  // From the end: what only folded operations read is not needed any more.
  for (Operation *op : llvm::reverse(folded)) {
    if (op->use_empty()) {
      op->erase();
      continue;
    }
    StringRef name = torch_reader::getOperatorName(op);
    if (isNumberEverywhere(name) || repeatsElements(name))
      continue;
    RankedTensorType type = torch_lowering::convertTensorType(op->getResult(0).getType());
    ElementsAttr elements;
    if (auto known = runs.find(op->getResult(0)); known != runs.end())
      elements = toAttribute(*known->second, type);
    if (!elements) {
      // What is too large is computed where it is used.
      std::shared_ptr<const host::Array> array = getArray(op->getResult(0));
      if (!array)
        continue;
      elements = toAttribute(*array, type);
    }
    builder.setInsertionPoint(op);
    OperationState state(op->getLoc(), "torch.vtensor.literal");
    state.addAttribute("value", elements);
    state.addTypes(op->getResultTypes());
    op->getResult(0).replaceAllUsesWith(builder.create(state)->getResult(0));
    op->erase();
  }
}

ElementsAttr torch_lowering::computeConstant(Operation *op) {
  if (torch_reader::getTensorLiteral(op->getNumResults() ? op->getResult(0) : Value()))
    return {};
  std::optional<host::Array> array =
      ConstantFolder(op->getParentOfType<func::FuncOp>()).compute(op);
  if (!array || array->getNumElements() > kMaxLiteralElements)
    return {};
  return toAttribute(*array, torch_lowering::convertTensorType(op->getResult(0).getType()));
}
