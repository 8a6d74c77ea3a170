//===- SpyreToKTIR.cpp - L3 to KTIR -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes down what KernelPlan describes: views, slices of the compute tile, loops
// over tiles where a slice does not fit in LX, loads, linalg and stores.
// Source of the dialect's rules: docs/developer/ktir.md.
//
//===----------------------------------------------------------------------===//

#include "spyre/Conversion/SpyreToKTIR/SpyreToKTIR.h"

#include "KernelPlan.h"
#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"
#include "spyre/Dialect/Spyre/IR/Refusal.h"
#include "spyre/Layout/IndexMap.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_CONVERTSPYRETOKTIR
#include "spyre/Conversion/SpyreToKTIR/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::ktir;

namespace {
class KernelEmitter {
public:
  KernelEmitter(func::FuncOp planned, const Kernel &kernel)
      : planned(planned), kernel(kernel), b(planned.getContext()) {}

  void run();

private:
  func::FuncOp makeFunction();
  void emitViews(func::FuncOp function);
  void emitOperation(const KernelOp &op);
  /// Loops over the tiles of the parts of one kind, outermost first; \p body gets
  /// \p carried through them and returns what they carry on.
  Value emitLoops(const KernelOp &op, bool reduced, Value carried, function_ref<Value(Value)> body);
  void emitTile(const KernelOp &op);
  Value emitContraction(const KernelOp &op);
  /// What linalg reads of operand \p i, with one dim a part.
  Value loadOperand(const KernelOp &op, unsigned i);
  Value makeAccessTile(const KernelOp &op, unsigned i);
  /// From parts to the dims of what loadOperand gives (or of the stored tile).
  AffineMap getIndexing(const KernelOp &op, unsigned i);
  SmallVector<int64_t> getTileShape(const KernelOp &op, unsigned i) {
    return llvm::map_to_vector(op.operands[i].coordinates, [&](const Coordinate &coordinate) {
      return coordinate.getExtent(op.tileSizes);
    });
  }
  /// A constant, once for the whole kernel.
  Value getIndex(int64_t value) {
    Value &constant = constants[value];
    if (!constant) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(entry);
      constant = arith::ConstantIndexOp::create(b, planned.getLoc(), value);
    }
    return constant;
  }

  func::FuncOp planned;
  const Kernel &kernel;
  OpBuilder b;
  Location loc = UnknownLoc::get(planned.getContext());
  Block *entry = nullptr;
  DenseMap<int64_t, Value> constants;
  Value tileId;
  llvm::MapVector<Value, Value> views; ///< buffer to view
  // Of the operation that is being emitted:
  SmallVector<Value> slices;      ///< one an iteration dim, null where it has one slice
  SmallVector<Value> tileOffsets; ///< one a part, null where the tile is all of it
};

struct ConvertSpyreToKTIRPass : mlir::spyre::impl::ConvertSpyreToKTIRBase<ConvertSpyreToKTIRPass> {
  using ConvertSpyreToKTIRBase::ConvertSpyreToKTIRBase;
  void runOnOperation() override;
};
} // namespace

func::FuncOp KernelEmitter::makeFunction() {
  Type index = b.getIndexType();
  SmallVector<Type> types(planned.getNumArguments() + kernel.hasPool, index);
  b.setInsertionPoint(planned);
  auto function =
      func::FuncOp::create(b, planned.getLoc(), planned.getName(), b.getFunctionType(types, {}));
  function.setSymVisibilityAttr(planned.getSymVisibilityAttr());
  function->setAttr(ktdp::kGridAttr, b.getI64ArrayAttr({kernel.numTiles}));
  if (kernel.hasPool)
    function->setAttr(ktdp::kPoolBytesAttr, b.getI64IntegerAttr(kernel.poolInBytes));
  // What the caller must pass is said as in L3; only the device address of an
  // argument is the launcher's.
  for (unsigned i = 0; i < planned.getNumArguments(); ++i)
    for (NamedAttribute attribute : function_interface_impl::getArgAttrs(planned, i))
      if (attribute.getName() != kAddressAttr)
        function.setArgAttr(i + kernel.hasPool, attribute.getName(), attribute.getValue());
  entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  return function;
}

void KernelEmitter::emitViews(func::FuncOp function) {
  for (const auto &[buffer, view] : kernel.views) {
    if (!view.elementType)
      continue;
    Location at = buffer.getLoc();
    Value address;
    switch (view.base.kind) {
    case BufferBase::Argument:
      address = function.getArgument(view.base.argument + kernel.hasPool);
      break;
    case BufferBase::Pool:
      address = function.getArgument(0);
      if (view.base.offsetInBytes)
        address = arith::AddIOp::create(b, at, address, getIndex(view.base.offsetInBytes));
      break;
    case BufferBase::LX:
    case BufferBase::Absolute:
      address = getIndex(view.base.offsetInBytes);
      break;
    }
    bool isLX = view.base.kind == BufferBase::LX;
    std::vector<int64_t> strides = ::spyre::layout::getRowMajorStrides(
        std::vector<int64_t>(view.sizes.begin(), view.sizes.end()));
    views[buffer] = ktdp::ConstructMemoryViewOp::create(
        b, at, MemRefType::get(view.sizes, view.elementType), address, strides,
        isLX ? ktdp::MemorySpaceKind::CtLocal : ktdp::MemorySpaceKind::Global);
  }
}

Value KernelEmitter::makeAccessTile(const KernelOp &op, unsigned i) {
  const KernelOperand &operand = op.operands[i];
  MLIRContext *context = b.getContext();
  SmallVector<Value> indices;
  auto getDim = [&](Value value) {
    auto *it = llvm::find(indices, value);
    AffineExpr dim = getAffineDimExpr(it - indices.begin(), context);
    if (it == indices.end())
      indices.push_back(value);
    return dim;
  };
  SmallVector<AffineExpr> subscripts;
  for (const Coordinate &coordinate : operand.coordinates) {
    AffineExpr subscript = getAffineConstantExpr(0, context);
    for (unsigned p : coordinate.parts) {
      const Part &part = op.parts[p];
      // Places of the slice before this tile, then of this tile within it.
      AffineExpr place = getAffineConstantExpr(0, context);
      if (!operand.isLX && part.dim >= 0 && slices[part.dim])
        place = getDim(slices[part.dim]) * part.extent;
      if (tileOffsets[p])
        place = place + getDim(tileOffsets[p]);
      // Of a cut dim the count comes first; a lane's extent is the stick's.
      subscript = subscript * part.extent + place;
    }
    subscripts.push_back(subscript + coordinate.constant);
  }
  return ktdp::ConstructAccessTileOp::create(b, loc, views[operand.buffer],
                                             AffineMap::get(indices.size(), 0, subscripts, context),
                                             indices, getTileShape(op, i));
}

Value KernelEmitter::loadOperand(const KernelOp &op, unsigned i) {
  Value tile = makeAccessTile(op, i);
  SmallVector<int64_t> shape = getTileShape(op, i);
  Value loaded = ktdp::LoadOp::create(b, loc, RankedTensorType::get(shape, op.elementType), tile);
  // A dim that is in another operand's stick is cut the same way here.
  SmallVector<int64_t> parts;
  SmallVector<ReassociationIndices> groups;
  bool isCut = false;
  for (const Coordinate &coordinate : op.operands[i].coordinates) {
    ReassociationIndices group;
    for (unsigned part : coordinate.parts) {
      group.push_back(parts.size());
      parts.push_back(op.tileSizes[part]);
    }
    if (coordinate.parts.empty()) {
      group.push_back(parts.size());
      parts.push_back(1);
    }
    isCut |= group.size() > 1;
    groups.push_back(std::move(group));
  }
  if (!isCut)
    return loaded;
  return tensor::ExpandShapeOp::create(b, loc, RankedTensorType::get(parts, op.elementType), loaded,
                                       groups);
}

AffineMap KernelEmitter::getIndexing(const KernelOp &op, unsigned i) {
  SmallVector<AffineExpr> results;
  for (const Coordinate &coordinate : op.operands[i].coordinates) {
    for (unsigned part : coordinate.parts)
      results.push_back(b.getAffineDimExpr(part));
    if (coordinate.parts.empty())
      results.push_back(b.getAffineConstantExpr(0));
  }
  return AffineMap::get(op.parts.size(), 0, results, b.getContext());
}

Value KernelEmitter::emitLoops(const KernelOp &op, bool reduced, Value carried,
                               function_ref<Value(Value)> body) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<scf::ForOp> loops;
  for (auto [p, part] : llvm::enumerate(op.parts)) {
    if (part.isReduced != reduced || op.tileSizes[p] == part.extent)
      continue;
    Value zero = getIndex(0), end = getIndex(part.extent), step = getIndex(op.tileSizes[p]);
    auto loop =
        scf::ForOp::create(b, loc, zero, end, step, carried ? ValueRange(carried) : ValueRange());
    if (carried)
      carried = loop.getRegionIterArg(0);
    tileOffsets[p] = loop.getInductionVar();
    loops.push_back(loop);
    b.setInsertionPointToStart(loop.getBody());
  }
  Value result = body(carried);
  for (scf::ForOp loop : llvm::reverse(loops)) {
    // A loop without values has its terminator already.
    if (result) {
      b.setInsertionPointToEnd(loop.getBody());
      scf::YieldOp::create(b, loc, result);
      result = loop.getResult(0);
    }
  }
  return result;
}

/// The sum over the reduced parts of the product of the two inputs, accumulated in
/// f32 and rounded once.
Value KernelEmitter::emitContraction(const KernelOp &op) {
  SmallVector<int64_t> shape = getTileShape(op, 2);
  Type f32 = b.getF32Type();
  Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  Value empty = tensor::EmptyOp::create(b, loc, shape, f32);
  Value start = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  SmallVector<utils::IteratorType> iterators;
  for (const Part &part : op.parts)
    iterators.push_back(part.isReduced ? utils::IteratorType::reduction
                                       : utils::IteratorType::parallel);
  Value sum = emitLoops(op, /*reduced=*/true, start, [&](Value accumulator) -> Value {
    Value x = loadOperand(op, 0), y = loadOperand(op, 1);
    auto generic = linalg::GenericOp::create(
        b, loc, accumulator.getType(), ValueRange{x, y}, accumulator,
        ArrayRef<AffineMap>{getIndexing(op, 0), getIndexing(op, 1), getIndexing(op, 2)}, iterators,
        [&](OpBuilder &inner, Location at, ValueRange args) {
          Value factors[2];
          for (unsigned i : {0, 1})
            factors[i] = args[i].getType() == f32
                             ? args[i]
                             : arith::ExtFOp::create(inner, at, f32, args[i]).getResult();
          Value product = arith::MulFOp::create(inner, at, factors[0], factors[1]);
          Value next = arith::AddFOp::create(inner, at, args[2], product);
          linalg::YieldOp::create(inner, at, next);
        });
    return generic.getResult(0);
  });
  if (op.elementType == f32)
    return sum;
  Value narrow = tensor::EmptyOp::create(b, loc, shape, op.elementType);
  SmallVector<AffineMap> same(2, b.getMultiDimIdentityMap(shape.size()));
  SmallVector<utils::IteratorType> parallel(shape.size(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, narrow.getType(), sum, narrow, same, parallel,
                                   [&](OpBuilder &inner, Location at, ValueRange args) {
                                     Value rounded = arith::TruncFOp::create(
                                         inner, at, op.elementType, args[0]);
                                     linalg::YieldOp::create(inner, at, rounded);
                                   })
      .getResult(0);
}

/// The scalar body of \p op on \p inputs, as the OpFunc table has it.
static Value emitBody(OpBuilder &b, Location loc, const KernelOp &op, ValueRange inputs) {
  DeviceOpInterface device = op.op;
  DictionaryAttr constants = device.getConstantsAttr();
  auto makeNumber = [&](double number) -> Value {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(op.elementType, number));
  };
  SmallVector<Value> values;
  for (const ::spyre::ScalarNode &node : op.info->body) {
    StringRef name(node.name.data(), node.name.size());
    switch (node.kind) {
    case ::spyre::ScalarNode::Kind::Input:
      values.push_back(inputs[node.input]);
      break;
    case ::spyre::ScalarNode::Kind::Number:
      values.push_back(makeNumber(node.number));
      break;
    case ::spyre::ScalarNode::Kind::Parameter:
      // The operation's verifier has seen that it is there.
      values.push_back(makeNumber(constants.getAs<FloatAttr>(name).getValueAsDouble()));
      break;
    case ::spyre::ScalarNode::Kind::Operation: {
      OperationState state(loc, name);
      for (uint8_t operand : node.operands)
        state.addOperands(values[operand]);
      state.addTypes(op.elementType);
      if (!node.predicate.empty()) {
        auto predicate =
            arith::symbolizeCmpFPredicate(StringRef(node.predicate.data(), node.predicate.size()));
        state.addAttribute("predicate", arith::CmpFPredicateAttr::get(b.getContext(), *predicate));
        state.types = {b.getI1Type()};
      }
      values.push_back(b.create(state)->getResult(0));
      break;
    }
    }
  }
  return values.back();
}

void KernelEmitter::emitTile(const KernelOp &op) {
  unsigned output = op.operands.size() - 1;
  Value result;
  if (op.info->category == ::spyre::OpCategory::Batchmatmul) {
    result = emitContraction(op);
  } else {
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (unsigned i = 0; i < output; ++i) {
      inputs.push_back(loadOperand(op, i));
      maps.push_back(getIndexing(op, i));
    }
    maps.push_back(getIndexing(op, output));
    // An input by itself: a copy, or a broadcast.
    bool isSame = op.info->body.size() == 1;
    if (isSame && maps[0] == maps[1]) {
      result = inputs[0];
    } else {
      Value empty = tensor::EmptyOp::create(b, loc, getTileShape(op, output), op.elementType);
      SmallVector<utils::IteratorType> iterators(op.parts.size(), utils::IteratorType::parallel);
      result = linalg::GenericOp::create(b, loc, empty.getType(), inputs, empty, maps, iterators,
                                         [&](OpBuilder &inner, Location at, ValueRange args) {
                                           linalg::YieldOp::create(inner, at,
                                                                   emitBody(inner, at, op, args));
                                         })
                   .getResult(0);
    }
  }
  ktdp::StoreOp::create(b, loc, result, makeAccessTile(op, output));
}

void KernelEmitter::emitOperation(const KernelOp &op) {
  loc = op.op->getLoc();
  OpBuilder::InsertionGuard guard(b);
  int64_t numSlices = op.getNumSlices();
  if (numSlices < kernel.numTiles) {
    // The other compute tiles have nothing to do here.
    Value isActive =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, tileId, getIndex(numSlices));
    auto active = scf::IfOp::create(b, loc, isActive, /*withElseRegion=*/false);
    b.setInsertionPointToStart(active.thenBlock());
  }
  slices.assign(op.splits.size(), Value());
  int64_t inner = 1;
  for (unsigned d : op.getCoreOrder()) {
    int64_t split = op.splits[d];
    if (split == 1)
      continue;
    Value slice = tileId;
    if (inner > 1)
      slice = arith::DivUIOp::create(b, loc, slice, getIndex(inner));
    // The slowest dim needs no remainder: the tile's number is below the product.
    if (inner * split < numSlices)
      slice = arith::RemUIOp::create(b, loc, slice, getIndex(split));
    slices[d] = slice;
    inner *= split;
  }
  tileOffsets.assign(op.parts.size(), Value());
  emitLoops(op, /*reduced=*/false, Value(), [&](Value) {
    emitTile(op);
    return Value();
  });
}

void KernelEmitter::run() {
  func::FuncOp function = makeFunction();
  loc = planned.getLoc();
  if (kernel.numTiles > 1)
    tileId = ktdp::GetComputeTileIdOp::create(b, loc, TypeRange(b.getIndexType())).getResult(0);
  emitViews(function);
  for (const KernelOp &op : kernel.operations)
    emitOperation(op);
  func::ReturnOp::create(b, planned.getLoc());
  planned.erase();
}

void ConvertSpyreToKTIRPass::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<func::FuncOp> planned;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal() &&
        func.walk([](DeviceOpInterface) { return WalkResult::interrupt(); }).wasInterrupted())
      planned.push_back(func);
  if (planned.empty())
    return;
  if (planned.size() > 1) {
    InFlightDiagnostic diag = emitError(planned[1].getLoc())
                              << "a kernel is one function; this is the second in the module";
    diag.attachNote(planned[0].getLoc()) << "the first is here";
    return signalPassFailure();
  }
  func::FuncOp func = planned.front();
  PlanningModel model(module);
  if (failed(model.getDevice()))
    return signalPassFailure();
  for (auto [i, type] : llvm::enumerate(func.getArgumentTypes()))
    if (!isa<BufferType>(type)) {
      emitError(func.getLoc()) << "argument #" << i << " is no buffer; bufferize first";
      return signalPassFailure();
    }
  SmallVector<Unsupported> unsupported;
  FailureOr<Kernel> kernel = planKernel(func, model, capacity, unsupported);
  if (failed(kernel))
    return signalPassFailure();
  // What is refused anyway has no place in the order.
  if (unsupported.empty())
    checkOrder(*kernel, unsupported);
  if (!unsupported.empty()) {
    // Not emitError() of the function, which would print all of it.
    InFlightDiagnostic error = emitError(func.getLoc())
                               << "'" << func.getName()
                               << "' cannot be emitted as KTIR: " << unsupported.size()
                               << (unsupported.size() == 1 ? " operation is" : " operations are")
                               << " not supported";
    for (const Unsupported &what : unsupported) {
      noteRefusal(error, what.op, RefusalRule::Planning, what.reason);
      if (what.other)
        error.attachNote(what.other->getLoc()) << what.other->getName() << ": " << what.note;
    }
    return signalPassFailure();
  }
  Builder b(&getContext());
  module->setAttr(ktdp::kAddressUnitAttr, b.getStringAttr("bytes"));
  module->setAttr(ktdp::kF16Attr, b.getStringAttr("dl16"));
  KernelEmitter(func, *kernel).run();
}
