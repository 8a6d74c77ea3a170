//===- Bufferize.cpp - L2 to L3: tensors to buffers -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Our own, because upstream's bufferization drops tensor encodings. Every tensor
// becomes one buffer; an operation that updates a tensor writes into its buffer.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Spyre/Transforms/L2/OverflowSources.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREBUFFERIZE
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;

static BufferType getBufferType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return BufferType::get(type.getContext(), tensor.getShape(), tensor.getElementType(),
                         cast<LayoutAttr>(tensor.getEncoding()), MemorySpace::HBM);
}

namespace {
class FunctionBufferizer {
public:
  explicit FunctionBufferizer(func::FuncOp func)
      : func(func), builder(func.getContext()), body(func.getBody().front()) {}

  LogicalResult run();

private:
  LogicalResult checkInput();
  /// Appends an argument to the function.
  BlockArgument addArgument(Type type, Location loc, ArrayRef<NamedAttribute> attributes);
  NamedAttribute named(StringRef name, Attribute value) {
    return builder.getNamedAttr(name, value);
  }
  void bufferize(DeviceOpInterface op);
  /// The buffer that \p op writes.
  Value getDestination(DeviceOpInterface op);
  void copy(Location loc, Value from, Value to);

  func::FuncOp func;
  OpBuilder builder;
  Block &body;
  DenseMap<Value, Value> buffers;
  /// Result tensors that live in an output argument.
  DenseMap<Value, Value> outputOf;
};

struct BufferizePass : mlir::spyre::impl::SpyreBufferizeBase<BufferizePass> {
  void runOnOperation() override {
    bool ok = true;
    for (auto func : getOperation().getOps<func::FuncOp>())
      ok &= succeeded(FunctionBufferizer(func).run());
    if (!ok)
      signalPassFailure();
  }
};
} // namespace

LogicalResult FunctionBufferizer::checkInput() {
  bool ok = true;
  for (Operation &op : body) {
    for (Value result : op.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || !isa_and_present<LayoutAttr>(type.getEncoding())) {
        op.emitOpError() << "has a result without a layout; run 'spyre-assign-layouts' first";
        ok = false;
      }
    }
    if (!isa<DeviceOpInterface, ConstantOp, ReinterpretOp, func::ReturnOp>(op)) {
      op.emitOpError() << "is no device operation; lower it before bufferizing";
      ok = false;
    }
    // An operation that updates a tensor overwrites it.
    if (auto device = dyn_cast<DeviceOpInterface>(op))
      if (Value init = device.getOutput()) {
        if (!init.hasOneUse()) {
          InFlightDiagnostic diag = op.emitOpError()
                                    << "updates a tensor that others read; copy it first";
          for (Operation *user : init.getUsers())
            if (user != &op)
              diag.attachNote(user->getLoc()) << "also read here";
          ok = false;
        } else if (isa<BlockArgument>(init)) {
          op.emitOpError() << "updates an argument of the function; copy it first";
          ok = false;
        }
      }
  }
  for (BlockArgument argument : body.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !isa_and_present<LayoutAttr>(type.getEncoding())) {
      emitError(func.getLoc()) << "argument #" << argument.getArgNumber()
                               << " has no layout; run 'spyre-assign-layouts' first";
      ok = false;
    }
  }
  return success(ok);
}

BlockArgument FunctionBufferizer::addArgument(Type type, Location loc,
                                              ArrayRef<NamedAttribute> attributes) {
  unsigned index = body.getNumArguments();
  (void)func.insertArgument(index, type, builder.getDictionaryAttr(attributes), loc);
  return body.getArgument(index);
}

Value FunctionBufferizer::getDestination(DeviceOpInterface op) {
  if (Value init = op.getOutput())
    return buffers.lookup(init);
  // The last of a chain of updates decides: all of them share one buffer.
  for (DeviceOpInterface writer : getWriters(op))
    if (Value output = outputOf.lookup(writer.getResultTensor()))
      return output;
  builder.setInsertionPoint(op);
  return AllocOp::create(builder, op->getLoc(), getBufferType(op.getResultTensor().getType()),
                         PlacementAttr(), DistributionAttr());
}

void FunctionBufferizer::bufferize(DeviceOpInterface op) {
  Value destination = getDestination(op);
  buffers[op.getResultTensor()] = destination;
  builder.setInsertionPoint(op);
  DeviceOpSpec spec = DeviceOpSpec::of(op).withOutput(destination, Type());
  for (Value &input : spec.inputs)
    input = buffers.lookup(input);
  buildDeviceOp(builder, op->getLoc(), spec);
}

void FunctionBufferizer::copy(Location loc, Value from, Value to) {
  ArrayRef<int64_t> shape = getShape(to);
  AffineMap identity = builder.getMultiDimIdentityMap(shape.size());
  buildDeviceOp(builder, loc,
                DeviceOpSpec::copy(from, shape, identity, identity).withOutput(to, Type()));
}

LogicalResult FunctionBufferizer::run() {
  if (func.isExternal())
    return success();
  if (!llvm::hasSingleElement(func.getBody()))
    return emitError(func.getLoc()) << "a program is one block";
  if (failed(checkInput()))
    return failure();

  auto ret = cast<func::ReturnOp>(body.getTerminator());
  unsigned numInputs = body.getNumArguments();
  for (unsigned i = 0; i < numInputs; ++i) {
    auto set = [&](StringRef name, Attribute value) {
      if (!func.getArgAttr(i, name))
        func.setArgAttr(i, name, value);
    };
    set(kRoleAttr, builder.getStringAttr("input"));
    set(kArrayAttr, builder.getStringAttr("in" + Twine(i)));
    set(kTailAttr, builder.getStringAttr(getName(::spyre::TailState::Zero)));
  }
  // One output argument a result; the first return of an operation's result is
  // where the operation writes, all others are copies.
  SmallVector<std::pair<Value, Value>> copies;
  const OverflowSources overflows(func);
  for (auto [i, value] : llvm::enumerate(ret.getOperands())) {
    BlockArgument output =
        addArgument(getBufferType(value.getType()), ret.getLoc(),
                    {named(kRoleAttr, builder.getStringAttr("output")),
                     named(kArrayAttr, builder.getStringAttr("out" + Twine(i)))});
    if (Attribute type = func.getResultAttr(i, kHostTypeAttr))
      func.setArgAttr(output.getArgNumber(), kHostTypeAttr, type);
    if (getElementType(value).isF16() && !overflows.mayBeLargest(value))
      func.setArgAttr(output.getArgNumber(), kOverflowAttr, builder.getStringAttr("infinite"));
    if (llvm::is_contained(getShape(value), 0))
      continue; // nothing to write
    bool computed = value.getDefiningOp<DeviceOpInterface>() != nullptr;
    if (computed && !outputOf.count(value))
      outputOf[value] = output;
    else
      copies.emplace_back(value, output);
  }
  unsigned numArrays = 0;
  for (Operation &op : body)
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      if (llvm::is_contained(getShape(constant.getResult()), 0))
        continue;
      // A number fills its stick at launch; an array is copied in like an input.
      auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
      if (!splat || cast<RankedTensorType>(constant.getType()).getRank() != 0) {
        buffers[constant.getResult()] = addArgument(
            getBufferType(constant.getType()), constant.getLoc(),
            {named(kRoleAttr, builder.getStringAttr("input")),
             named(kArrayAttr, builder.getStringAttr("const" + Twine(numArrays++))),
             named(kDataAttr, constant.getValue()),
             named(kTailAttr, builder.getStringAttr(getName(::spyre::TailState::Zero)))});
        continue;
      }
      Attribute value = splat.getSplatValue<Attribute>();
      // The number as the program wrote it, where its type cannot hold it exactly.
      if (auto exact = constant->getAttrOfType<FloatAttr>(kValueAttr))
        value = exact;
      if (auto number = dyn_cast<FloatAttr>(value))
        value = builder.getF64FloatAttr(number.getValueAsDouble());
      else if (auto integer = dyn_cast<IntegerAttr>(value))
        value = builder.getI64IntegerAttr(integer.getType().isInteger(1)
                                              ? integer.getValue().getZExtValue()
                                              : integer.getValue().getSExtValue());
      buffers[constant.getResult()] = addArgument(
          getBufferType(constant.getType()), constant.getLoc(),
          {named(kRoleAttr, builder.getStringAttr("constant")), named(kValueAttr, value)});
    }
  for (unsigned i = 0; i < numInputs; ++i) {
    BlockArgument argument = body.getArgument(i);
    buffers[argument] = argument;
  }
  SmallVector<Operation *> old;
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (auto device = dyn_cast<DeviceOpInterface>(op)) {
      if (device.getResultTensor()) {
        bufferize(device);
        old.push_back(&op);
      }
    } else if (auto alias = dyn_cast<ReinterpretOp>(op)) {
      builder.setInsertionPoint(alias);
      buffers[alias.getResult()] =
          ReinterpretOp::create(builder, alias.getLoc(), getBufferType(alias.getResult().getType()),
                                buffers.lookup(alias.getSource()));
      old.push_back(&op);
    } else if (isa<ConstantOp>(op)) {
      old.push_back(&op);
    }
  }
  builder.setInsertionPoint(ret);
  for (auto [from, to] : copies)
    copy(ret.getLoc(), buffers.lookup(from), to);
  func::ReturnOp::create(builder, ret.getLoc());
  ret.erase();
  for (Operation *op : llvm::reverse(old))
    op->erase();
  SmallVector<Type> inputs;
  for (BlockArgument argument : body.getArguments()) {
    if (isa<RankedTensorType>(argument.getType()))
      argument.setType(getBufferType(argument.getType()));
    inputs.push_back(argument.getType());
  }
  // Results carry no attributes any more.
  func.setResAttrsAttr({});
  func.setFunctionType(builder.getFunctionType(inputs, {}));
  return success();
}
