//===- HostCalls.cpp - torch operations as calls of the host --------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands become attributes as far as they are known; what the program computes is an
// input. Constants that only the host reads are computed here, by lib/Host.
//
//===----------------------------------------------------------------------===//

#include "HostCalls.h"

#include "Lowering.h"
#include "spyre/Conversion/TorchToSpyre/TorchToSpyre.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Torch/IR/ComplexConstants.h"
#include "spyre/Dialect/Torch/IR/TorchOps.h"
#include "spyre/Host/Evaluate.h"

#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

bool torch_lowering::isView(Operation *op) {
  StringRef name = torch_reader::getOperatorName(op);
  return ::spyre::host::isView({name.data(), name.size()});
}

bool torch_lowering::isCast(Operation *op) {
  return llvm::is_contained({"prims.convert_element_type", "aten._to_copy", "aten.to.dtype"},
                            torch_reader::getOperatorName(op));
}

bool torch_lowering::passesOperandOn(Operation *op) {
  return isView(op) || isCast(op) ||
         llvm::is_contained({"aten.clone", "aten.contiguous"}, torch_reader::getOperatorName(op));
}

bool torch_lowering::drawsRandomNumbers(Operation *op) {
  StringRef name = torch_reader::getOperatorName(op);
  if (!name.consume_front("aten."))
    return false;
  name = name.split('.').first;
  name.consume_front("_");
  name.consume_back("_like");
  return llvm::is_contained({"rand",
                             "randn",
                             "randint",
                             "randperm",
                             "bernoulli",
                             "normal",
                             "normal_functional",
                             "uniform",
                             "multinomial",
                             "dropout",
                             "native_dropout",
                             "feature_dropout",
                             "alpha_dropout",
                             "rrelu",
                             "rrelu_with_noise",
                             "rrelu_with_noise_functional",
                             "exponential",
                             "cauchy",
                             "geometric",
                             "log_normal",
                             "poisson",
                             "binomial",
                             "random",
                             "fused_dropout",
                             "standard_gamma",
                             "sample_dirichlet"},
                            name);
}

bool torch_lowering::tellsNaNs(Operation *op) {
  StringRef name = torch_reader::getOperatorName(op);
  if (llvm::is_contained({"aten.isnan", "aten.isinf", "aten.isposinf", "aten.isneginf"}, name) ||
      name.starts_with("aten.nan")) // nan_to_num, nansum, nanmedian, ...
    return true;
  StringRef base = name.split('.').second.split('.').first;
  if (!llvm::is_contained({"eq", "ne", "ge", "le"}, base) || op->getNumOperands() < 2)
    return false;
  std::optional<double> bound = torch_reader::getConstantNumber(op->getOperand(1));
  return op->getOperand(0) == op->getOperand(1) || (bound && !std::isfinite(*bound));
}

bool torch_lowering::writesInPlace(Operation *op) {
  StringRef name = torch_reader::getOperatorName(op);
  StringRef base = name.split('.').second.split('.').first; // aten.[add_].Tensor
  return base.ends_with("_") && !base.ends_with("__");
}

namespace {
/// The operands of one call.
class Arguments {
public:
  explicit Arguments(OpBuilder &builder) : builder(builder) {}

  Attribute encode(Value value);
  ValueRange getInputs() const { return inputs.getArrayRef(); }

private:
  OpBuilder &builder;
  llvm::SetVector<Value> inputs;
};
} // namespace

Attribute Arguments::encode(Value value) {
  if (std::optional<int64_t> integer = torch_reader::getConstantInt(value))
    return builder.getI64IntegerAttr(*integer);
  if (std::optional<bool> truth = torch_reader::getConstantBool(value))
    return builder.getBoolAttr(*truth);
  if (std::optional<double> number = torch_reader::getConstantNumber(value))
    return builder.getF64FloatAttr(*number);
  if (DenseElementsAttr complex = torch_reader::getConstantComplex(value))
    return complex;
  if (std::optional<StringRef> text = torch_reader::getConstantString(value))
    return builder.getStringAttr(*text);
  if (std::optional<StringRef> device = torch_reader::getConstantDevice(value))
    return builder.getStringAttr(*device);
  if (torch_reader::isNone(value))
    return builder.getUnitAttr();
  if (Operation *option = torch_reader::getDefiningOp(value, torch_reader::names::derefine))
    return encode(option->getOperand(0));
  if (std::optional<OperandRange> elements = torch_reader::getListElements(value)) {
    SmallVector<Attribute> list;
    for (Value element : *elements)
      list.push_back(encode(element));
    return builder.getArrayAttr(list);
  }
  inputs.insert(value);
  auto position = llvm::find(inputs.getArrayRef(), value) - inputs.begin();
  return builder.getIndexAttr(position);
}

/// Why a value of \p type cannot come from the host; nothing: it can.
static std::optional<std::string> checkResult(Type type) {
  if (isa<torch_reader::IntType, torch_reader::FloatType, torch_reader::BoolType>(type))
    return std::nullopt;
  std::string why;
  if (convertTensorType(type, &why))
    return std::nullopt;
  return why;
}

namespace {
/// What a call gives: result `number` of the operation, or an item of that.
struct Output {
  Value value;
  int64_t number = 0, item = -1;
};
} // namespace

/// The results of \p op that are read, lists of them by what takes them apart.
static LogicalResult collectOutputs(Operation *op, SmallVectorImpl<Output> &outputs) {
  for (OpResult result : op->getResults()) {
    int64_t number = result.getResultNumber();
    if (!isa<torch_reader::ListType>(result.getType())) {
      if (!result.use_empty())
        outputs.push_back({result, number, -1});
      continue;
    }
    for (Operation *user : result.getUsers()) {
      if (torch_reader::isOp(user, torch_reader::names::listUnpack)) {
        for (OpResult item : user->getResults())
          if (!item.use_empty())
            outputs.push_back({item, number, static_cast<int64_t>(item.getResultNumber())});
        continue;
      }
      std::optional<int64_t> index =
          torch_reader::getOperatorName(user) == "aten.__getitem__.t" && user->getNumOperands() == 2
              ? torch_reader::getConstantInt(user->getOperand(1))
              : std::nullopt;
      if (!index || *index < 0)
        return emitError(user->getLoc()) << torch_reader::getOperatorName(user)
                                         << ": the list that the host makes is read in a way that "
                                            "is not supported";
      outputs.push_back({user->getResult(0), number, *index});
    }
  }
  return success();
}

/// Operations that are written otherwise as calls: the name, and the operands.
static StringRef getFunction(Operation *op) {
  StringRef name = torch_reader::getOperatorName(op);
  // Values have no strides here: what PyTorch calls a view may have to copy.
  if (name == "aten.view" || name == "aten._unsafe_view")
    return "aten.reshape";
  return name;
}

static LogicalResult callHost(Operation *op, OpBuilder &builder) {
  builder.setInsertionPoint(op);
  if (ElementsAttr constant = computeConstant(op)) {
    OperationState literal(op->getLoc(), torch_reader::names::valueTensorLiteral);
    literal.addAttribute("value", constant);
    literal.addTypes(op->getResultTypes());
    op->getResult(0).replaceAllUsesWith(builder.create(literal)->getResult(0));
    return success();
  }
  // Without an index it shows its operand.
  if (torch_reader::getOperatorName(op) == "aten.index.Tensor" &&
      op->getOperand(0).getType() == op->getResult(0).getType())
    if (std::optional<OperandRange> indices = torch_reader::getListElements(op->getOperand(1));
        indices && llvm::all_of(*indices, torch_reader::isNone)) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      return success();
    }
  if (torch_reader::isOp(op, torch_reader::names::primLoop))
    return emitError(op->getLoc())
           << "a loop cannot be compiled: its trips depend on sizes that are "
              "not known; compile the program for the shapes of its arguments";
  if (op->getNumRegions() > 0 || writesInPlace(op))
    return emitError(op->getLoc()) << torch_reader::getOperatorName(op)
                                   << " is not supported: neither device nor host can compute it";
  Arguments arguments(builder);
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    operands.push_back(arguments.encode(operand));
  SmallVector<Output> outputs;
  if (failed(collectOutputs(op, outputs)))
    return failure();
  SmallVector<Type> types;
  SmallVector<int64_t> numbers, items;
  for (const Output &output : outputs) {
    if (std::optional<std::string> why = checkResult(output.value.getType()))
      return emitError(op->getLoc())
             << torch_reader::getOperatorName(op) << " is not supported on the host: " << *why;
    types.push_back(output.value.getType());
    numbers.push_back(output.number);
    items.push_back(output.item);
  }
  auto reason = op->getAttrOfType<StringAttr>(kHostAttr);
  auto call = HostCallOp::create(builder, op->getLoc(), types, getFunction(op),
                                 builder.getArrayAttr(operands), numbers, items,
                                 reason ? reason.getValue() : StringRef(), arguments.getInputs());
  for (auto [output, result] : llvm::zip(outputs, call.getResults()))
    output.value.replaceAllUsesWith(result);
  return success();
}

/// \p op only packs operands or unpacks a result of one of \p ops.
static bool isWrapping(Operation *op, ArrayRef<Operation *> ops) {
  using namespace torch_reader;
  if (isPacking(op) || isOp(op, names::assertTensorMetadata))
    return true;
  bool takesApart =
      isOp(op, names::listUnpack) || torch_reader::getOperatorName(op) == "aten.__getitem__.t";
  Operation *list = takesApart ? op->getOperand(0).getDefiningOp() : nullptr;
  return list && !isOp(list, names::listConstruct) && llvm::is_contained(ops, list);
}

LogicalResult torch_lowering::replaceWithHostCall(ArrayRef<Operation *> ops, OpBuilder &builder) {
  for (Operation *op : llvm::reverse(ops))
    if (!isWrapping(op, ops) && failed(callHost(op, builder)))
      return failure();
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
  return success();
}
