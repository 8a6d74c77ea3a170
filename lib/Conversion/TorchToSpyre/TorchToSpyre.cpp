//===- TorchToSpyre.cpp - torch to L1 -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass. It converts a copy of each function: what stays `torch` in the copy is
// what the report lists, and only a copy without any takes the function's place. So
// one table decides both what is supported and how, and a refused module is unchanged.
//
//===----------------------------------------------------------------------===//

#include "spyre/Conversion/TorchToSpyre/TorchToSpyre.h"

#include "Lowering.h"
#include "spyre/Dialect/Spyre/IR/Provenance.h"
#include "spyre/Dialect/Spyre/IR/Refusal.h"
#include "spyre/Dialect/Torch/IR/TorchEffects.h"
#include "spyre/Dialect/Torch/IR/TorchOps.h"

#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_CONVERTTORCHTOSPYRE
#include "spyre/Conversion/TorchToSpyre/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static std::string toString(TypeRange types) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(types, stream);
  return text;
}

static bool isValueTensor(Type type) { return isa<torch_reader::ValueTensorType>(type); }

RankedTensorType torch_lowering::convertTensorType(Type type, std::string *why) {
  auto fail = [&](const Twine &reason) {
    if (why)
      *why = toString(type) + ": " + reason.str();
    return RankedTensorType();
  };
  if (!isValueTensor(type))
    return fail("no value tensor");
  std::optional<ArrayRef<int64_t>> sizes = torch_reader::getTensorShape(type);
  if (!sizes)
    return fail("has no known rank");
  Type element = torch_reader::getTensorElementType(type);
  if (!element)
    return fail("has no known element type");
  for (auto [i, size] : llvm::enumerate(*sizes))
    if (ShapedType::isDynamic(size))
      return fail("dim " + Twine(i) + " is dynamic; shapes must be static");
  if (auto integer = dyn_cast<IntegerType>(element))
    element = IntegerType::get(type.getContext(), integer.getWidth());
  if (!RankedTensorType::isValidElementType(element))
    return fail("its element type has no tensors");
  return RankedTensorType::get(*sizes, element);
}

//===----------------------------------------------------------------------===//
// The conversion
//===----------------------------------------------------------------------===//

/// Operations that only make numbers, lists and options for others; they die when
/// what reads them is converted.
static bool isBookkeeping(Operation *op) {
  return op->getName().getStringRef().starts_with("torch.constant.") ||
         torch_reader::isPacking(op) || isListOfViews(op);
}

static bool isTorch(Operation *op) { return op->getName().getDialectNamespace() == "torch"; }

/// The element type of PyTorch's dtype number, or null where L1 has none.
static Type getElementTypeOf(MLIRContext *context, int64_t dtype) {
  switch (dtype) {
  case 0: // uint8
  case 1: // int8
    return IntegerType::get(context, 8);
  case 2:
    return IntegerType::get(context, 16);
  case 3:
    return IntegerType::get(context, 32);
  case 4:
    return IntegerType::get(context, 64);
  case 5:
    return Float16Type::get(context);
  case 6:
    return Float32Type::get(context);
  case 7:
    return Float64Type::get(context);
  case 11: // bool
    return IntegerType::get(context, 1);
  case 15:
    return BFloat16Type::get(context);
  case 24:
    return Float8E4M3FNType::get(context);
  default:
    return {};
  }
}

/// Checks what the exporter asserts about a tensor and drops the assertion.
static LogicalResult lowerAssertMetadata(Lowering &l) {
  RankedTensorType type = l.getTensorType(0);
  if (l.getNumOperands() > 1 && !l.isNone(1)) {
    std::optional<SmallVector<int64_t>> sizes = l.getInts(1);
    if (!sizes)
      return failure();
    if (type.getShape() != ArrayRef<int64_t>(*sizes))
      return l.refuse("asserts another shape than the operand has");
  }
  if (l.getNumOperands() > 3 && !l.isNone(3)) {
    std::optional<int64_t> dtype = l.getInt(3);
    if (!dtype)
      return failure();
    Type expected = getElementTypeOf(l.b.getContext(), *dtype);
    if (expected && expected != type.getElementType())
      return l.refuse("asserts another element type (" + Twine(*dtype) + ") than the operand has");
  }
  l.b.eraseOp(l.op);
  return success();
}

static HandlerTable makeTable() {
  HandlerTable table;
  addPointwise(table);
  addComposites(table);
  addFunctions(table);
  addWindows(table);
  addIntegers(table);
  addReductions(table);
  addNorms(table);
  addViews(table);
  addMovement(table);
  addComparisons(table);
  addContractions(table);
  addAttention(table);
  addReorder(table);
  addEinsum(table);
  addKnownIndices(table);
  table["torch.aten._assert_tensor_metadata"] = onTensor(lowerAssertMetadata);
  return table;
}

namespace {
/// Why an operation was not converted.
using Reasons = llvm::DenseMap<Operation *, std::string>;

/// Looks any torch operation up in the table.
class TorchPattern : public ConversionPattern {
public:
  TorchPattern(const TypeConverter &converter, MLIRContext *context, const HandlerTable &table,
               Reasons &reasons)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1, context), table(table),
        reasons(reasons) {}

  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isTorch(op))
      return failure();
    auto refuse = [&](const std::string &reason) {
      reasons[op] = reason;
      return rewriter.notifyMatchFailure(op, reason);
    };
    if (torch_reader::hasEffect(op))
      return refuse("it does more than give a result");
    // Operations without a class of their own are known by their names, too.
    StringRef name = op->getName().getStringRef();
    if (torch_reader::isOp(op, torch_reader::names::customOperator))
      name = torch_reader::getShortName(op);
    auto handler = table.find(name);
    if (handler == table.end())
      return refuse("no device operation and no lowering is known for it");
    std::string why;
    // Types of L1 have no signs.
    auto isUnsigned = [](Type type) {
      Type element = torch_reader::getTensorElementType(type);
      return element && element.isUnsignedInteger();
    };
    bool computes = !torch_reader::isOp(op, torch_reader::names::valueTensorLiteral) &&
                    !torch_reader::isOp(op, torch_reader::names::assertTensorMetadata);
    if (computes && (llvm::any_of(op->getOperandTypes(), isUnsigned) ||
                     llvm::any_of(op->getResultTypes(), isUnsigned)))
      return refuse("the device has no unsigned integers");
    for (Value operand : op->getOperands())
      if (isValueTensor(operand.getType()) && !convertTensorType(operand.getType(), &why))
        return refuse(why);
    SmallVector<Type> resultTypes;
    for (Value result : op->getResults()) {
      Type type = result.getType();
      if (isValueTensor(type)) {
        type = convertTensorType(type, &why);
        if (!type)
          return refuse(why);
      } else {
        return refuse("its result is no tensor");
      }
      resultTypes.push_back(type);
    }
    // All but assertions compute something.
    if (resultTypes.empty() && !torch_reader::isOp(op, torch_reader::names::assertTensorMetadata))
      return refuse("it has no result");
    Lowering lowering(op, operands, resultTypes, rewriter);
    if (succeeded(handler->second(lowering)))
      return success();
    return refuse(lowering.getReason());
  }

private:
  const HandlerTable &table;
  Reasons &reasons;
};

struct ConvertTorchToSpyrePass
    : mlir::spyre::impl::ConvertTorchToSpyreBase<ConvertTorchToSpyrePass> {
  void runOnOperation() override;

private:
  LogicalResult convert(func::FuncOp func, const HandlerTable &table);
};
} // namespace

/// The name by which people know \p op.
static std::string getName(Operation *op) {
  if (torch_reader::isOp(op, torch_reader::names::customOperator))
    return ("torch.operator \"" + torch_reader::getShortName(op) + "\"").str();
  return op->getName().getStringRef().str();
}

/// One error for all that is unsupported in \p func, a note each.
static void report(func::FuncOp func, ArrayRef<std::pair<Operation *, std::string>> unsupported,
                   ArrayRef<std::string> signature) {
  size_t count = unsupported.size();
  // Not emitError() of the function, which would print all of it.
  InFlightDiagnostic error = emitError(func.getLoc())
                             << "'" << func.getName() << "' cannot be compiled: ";
  if (!signature.empty())
    error << "its signature has " << signature.size()
          << (signature.size() == 1 ? " unsupported type" : " unsupported types")
          << (count ? " and " : "");
  if (count)
    error << count << (count == 1 ? " operation is" : " operations are") << " not supported";
  for (const std::string &reason : signature)
    error.attachNote(func.getLoc()) << reason;
  for (auto [op, reason] : unsupported)
    noteRefusal(error, op->getLoc(), getName(op), RefusalRule::Lowering, reason,
                "(" + toString(op->getOperandTypes()) + ") -> (" + toString(op->getResultTypes()) +
                    ")");
}

LogicalResult ConvertTorchToSpyrePass::convert(func::FuncOp func, const HandlerTable &table) {
  MLIRContext *context = &getContext();
  TypeConverter converter;
  converter.addConversion([](Type type) -> std::optional<Type> {
    if (!isValueTensor(type))
      return type;
    // A type that L1 has not got stays; the report names it.
    RankedTensorType tensor = convertTensorType(type);
    return tensor ? Type(tensor) : type;
  });
  // Between a converted operation and one that is to be reported.
  auto cast = [](OpBuilder &b, Type type, ValueRange inputs, Location loc) -> Value {
    return UnrealizedConversionCastOp::create(b, loc, type, inputs).getResult(0);
  };
  converter.addSourceMaterialization(cast);
  converter.addTargetMaterialization(cast);

  std::vector<std::string> signature;
  auto checkTypes = [&](TypeRange types, StringRef what) {
    for (auto [i, type] : llvm::enumerate(types)) {
      std::string why;
      if (isa<RankedTensorType>(type)) // L1 already
        continue;
      if (!isValueTensor(type))
        why = toString(type) + ": only value tensors are passed to the device";
      else if (convertTensorType(type, &why))
        continue;
      signature.push_back((what + " #" + Twine(i) + ": " + why).str());
    }
  };
  checkTypes(func.getArgumentTypes(), "argument");
  checkTypes(func.getResultTypes(), "result");

  OwningOpRef<func::FuncOp> copy = func.clone();
  // The copy's operations and the originals, in the same order.
  llvm::DenseMap<Operation *, Operation *> originals;
  SmallVector<Operation *> ours, theirs;
  func.walk([&](Operation *op) { theirs.push_back(op); });
  copy->walk([&](Operation *op) { ours.push_back(op); });
  for (auto [mine, original] : llvm::zip_equal(ours, theirs))
    originals[mine] = original;
  // What becomes of an operation carries its name.
  for (Operation *op : ours)
    if (isTorch(op) || isa<func::ReturnOp>(op))
      op->setLoc(withOrigin(op->getLoc(), isTorch(op)
                                              ? ("torch." + torch_reader::getShortName(op)).str()
                                              : "return"));
  for (BlockArgument argument : copy->getArguments())
    argument.setLoc(withOrigin(argument.getLoc(), ("in" + Twine(argument.getArgNumber())).str()));
  // What nobody reads need not be computed (statistics of a norm in evaluation).
  for (Operation *op : llvm::reverse(ours))
    if (isTorch(op) && op->getNumResults() > 0 && op->use_empty() && !writesInPlace(op) &&
        !torch_reader::hasEffect(op))
      op->erase();

  Reasons reasons;
  RewritePatternSet patterns(context);
  patterns.add<TorchPattern>(converter, context, table, reasons);
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, converter);
  populateReturnOpTypeConversionPattern(patterns, converter);
  ConversionTarget target(*context);
  target.addLegalDialect<SpyreDialect>();
  target.addLegalOp<UnrealizedConversionCastOp>();
  target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp f) {
    return converter.isSignatureLegal(f.getFunctionType()) && converter.isLegal(&f.getBody());
  });
  target.addDynamicallyLegalOp<func::ReturnOp>(
      [&](func::ReturnOp op) { return converter.isLegal(op.getOperandTypes()); });
  target.markUnknownOpDynamicallyLegal([](Operation *op) -> std::optional<bool> {
    if (isTorch(op) && !isBookkeeping(op))
      return std::nullopt; // converted if it can be
    return true;
  });
  if (failed(applyPartialConversion(copy->getOperation(), target, std::move(patterns))))
    return emitError(func.getLoc()) << "the conversion from torch failed";

  // What is left: bookkeeping that nobody reads, and what could not be converted.
  SmallVector<Operation *> left;
  copy->walk([&](Operation *op) {
    if (op->getName().getDialectNamespace() != "spyre" && op != copy->getOperation() &&
        !isa<func::ReturnOp>(op))
      left.push_back(op);
  });
  SmallVector<std::pair<Operation *, std::string>> unsupported;
  for (Operation *op : left) {
    if (isBookkeeping(op) || isa<UnrealizedConversionCastOp>(op))
      continue;
    auto reason = reasons.find(op);
    unsupported.emplace_back(originals.lookup(op), reason != reasons.end()
                                                       ? reason->second
                                                       : "is not an operation of torch");
  }
  if (!unsupported.empty() || !signature.empty()) {
    report(func, unsupported, signature);
    return failure();
  }
  for (Operation *op : llvm::reverse(left))
    if (op->use_empty())
      op->erase();
  func->getParentOfType<ModuleOp>().insert(func, copy.release());
  func.erase();
  return success();
}

void ConvertTorchToSpyrePass::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  auto isPublic = [](func::FuncOp func) { return func.isPublic() && !func.isExternal(); };
  int64_t numPublic = llvm::count_if(functions, isPublic);
  if (numPublic != 1) {
    emitError(module.getLoc()) << "a program has one public function, this module has "
                               << numPublic;
    return signalPassFailure();
  }
  for (func::FuncOp func : functions)
    if (!isPublic(func)) {
      emitError(func.getLoc()) << "'" << func.getName()
                               << "' is a second function; calls are not supported";
      return signalPassFailure();
    }
  HandlerTable table = makeTable();
  if (failed(convert(functions.front(), table)))
    signalPassFailure();
}
