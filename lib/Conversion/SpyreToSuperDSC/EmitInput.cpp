//===- EmitInput.cpp - From an L3 operation to the emission's input -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "EmitInput.h"

#include "spyre/Dialect/Spyre/IR/AffineConversion.h"
#include "spyre/OpFunc/OpFuncTable.h"

using namespace mlir;
using namespace mlir::spyre;
namespace layout = ::spyre::layout;
namespace sdsc = ::spyre::sdsc;

/// \p map over (dims, the op's loops) as one over (dims, all loops around the op).
static layout::IndexMap widenLoops(layout::IndexMap map, unsigned numDims,
                                   ArrayRef<unsigned> position, ArrayRef<int64_t> tripCounts) {
  map.extents.resize(numDims);
  map.extents.insert(map.extents.end(), tripCounts.begin(), tripCounts.end());
  for (layout::IndexExpr &expr : map.results) {
    for (layout::Digit &digit : expr.digits)
      if (digit.input >= numDims)
        digit.input = numDims + position[digit.input - numDims];
    expr = layout::simplify(expr, map.extents);
  }
  return map;
}

/// Adds unit dim \p dim to the coordinate of logical dim \p logical: the emission
/// keeps a unit dim that a coordinate names (a matmul's N of 1, the unit dim that
/// a restickify moves).
static void nameUnitDim(sdsc::EmitOperand &operand, unsigned dim, int64_t logical) {
  layout::IndexExpr &expr = operand.access.results[logical];
  assert(expr.digits.empty() && operand.layout.shape[logical] == 1);
  expr.digits.push_back({dim, 1, 0, 1});
}

/// Logical dim of extent 1 in the stick of \p operand, or -1.
static int64_t getUnitStickDim(const sdsc::EmitOperand &operand) {
  if (operand.layout.dimOrder.empty() || operand.layout.dimOrder.back() < 0)
    return -1;
  int64_t dim = operand.layout.dimOrder.back();
  return operand.layout.shape[dim] == 1 ? dim : -1;
}

/// One element a stick, read or written at lane 0, is a unit dim in the stick: the same
/// places in memory.
static void exposeUnitStick(sdsc::EmitOperand &operand) {
  layout::TensorLayout &tensor = operand.layout;
  if (tensor.dimOrder.empty() || !tensor.stick.empty())
    return;
  if (tensor.dimOrder.back() < 0) {
    tensor.dimOrder.back() = static_cast<int>(tensor.shape.size());
    tensor.shape.push_back(1);
    if (!tensor.paddedShape.empty())
      tensor.paddedShape.push_back(1);
    operand.access.results.push_back(layout::makeConstant(0));
    return;
  }
  int dim = tensor.dimOrder.back();
  const layout::IndexExpr &expr = operand.access.results[dim];
  if (!expr.digits.empty() || expr.constant != 0 ||
      tensor.shape[dim] > ::spyre::getElementsPerStick(tensor.format))
    return;
  tensor.shape[dim] = 1;
  if (!tensor.paddedShape.empty())
    tensor.paddedShape[dim] = 1;
}

/// The device generates a dim in every contraction and moves one dim out of the
/// stick and one into it in every restickify. Where that dim has extent 1 it is
/// still there, padded to a stick.
static void keepUnitDims(DeviceOpInterface op, sdsc::EmitOp &emit) {
  bool restickify = op.getOpFunc() == ::spyre::OpFunc::Restickify;
  bool matmul = !restickify && emit.isReduction && emit.operands.size() == 3;
  if (!restickify && !matmul)
    return;
  // Unit dims that the maps of a matmul name stay, e.g. a batch of one; of a
  // restickify only the one that is in a stick.
  auto isMoved = [&](int64_t logical) {
    return llvm::any_of(emit.operands, [&](const sdsc::EmitOperand &operand) {
      return getUnitStickDim(operand) == logical;
    });
  };
  // It is the only element of every operand that has it, or it vanishes from all: one of a
  // tensor of more (a tile of one head) has no name there.
  auto isOnly = [&](unsigned i, unsigned logical) {
    return emit.operands[i].access.results[logical].digits.empty() &&
           emit.operands[i].layout.shape[logical] == 1;
  };
  llvm::SmallBitVector isElsewhere(emit.dims.size());
  for (unsigned i = 0; matmul && i < emit.operands.size(); ++i)
    for (auto [logical, result] : llvm::enumerate(op.getMap(i).getResults()))
      for (unsigned d = 0; d < emit.dims.size(); ++d)
        if (result.isFunctionOfDim(d) && !(isa<AffineDimExpr>(result) && isOnly(i, logical)))
          isElsewhere.set(d);
  for (unsigned i = 0; i < emit.operands.size(); ++i)
    for (auto [logical, result] : llvm::enumerate(op.getMap(i).getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(result);
      if (!dim || (restickify && !isMoved(logical)) || !isOnly(i, logical) ||
          emit.dims[dim.getPosition()].extent != 1 || isElsewhere[dim.getPosition()])
        continue;
      emit.dims[dim.getPosition()].keepUnit = true;
      nameUnitDim(emit.operands[i], dim.getPosition(), logical);
    }
  // A new dim of extent 1 before dim \p position.
  auto addUnitDim = [&](unsigned position) {
    emit.dims.insert(emit.dims.begin() + position, sdsc::EmitDim{1, 1, /*keepUnit=*/true});
    for (sdsc::EmitOperand &operand : emit.operands) {
      operand.access.extents.insert(operand.access.extents.begin() + position, 1);
      for (layout::IndexExpr &expr : operand.access.results)
        for (layout::Digit &digit : expr.digits)
          digit.input += digit.input >= position;
    }
    return position;
  };
  if (matmul) {
    exposeUnitStick(emit.operands[1]);
    exposeUnitStick(emit.operands[2]);
    int64_t y = getUnitStickDim(emit.operands[1]), out = getUnitStickDim(emit.operands[2]);
    if (y < 0 || out < 0 || !emit.operands[1].access.results[y].digits.empty() ||
        !emit.operands[2].access.results[out].digits.empty())
      return;
    // N stands before K.
    unsigned position = 0;
    auto uses = [&](unsigned operand, unsigned d) {
      return llvm::any_of(
          emit.operands[operand].access.results,
          [&](const layout::IndexExpr &expr) { return layout::dependsOn(expr, d); });
    };
    while (position < emit.dims.size() &&
           !(uses(0, position) && uses(1, position) && !uses(2, position)))
      ++position;
    if (position == emit.dims.size())
      return; // no contraction: emitted as a product
    unsigned dim = addUnitDim(position);
    nameUnitDim(emit.operands[1], dim, y);
    nameUnitDim(emit.operands[2], dim, out);
    return;
  }
  // Restickify: the same logical dim in both operands, in the stick of one.
  for (unsigned i : {0u, 1u}) {
    int64_t logical = getUnitStickDim(emit.operands[i]);
    if (logical < 0 || !emit.operands[i].access.results[logical].digits.empty())
      continue;
    unsigned dim = addUnitDim(emit.dims.size());
    for (sdsc::EmitOperand &operand : emit.operands)
      nameUnitDim(operand, dim, logical);
  }
}

static double getNumber(Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto truth = dyn_cast<BoolAttr>(attribute))
    return truth.getValue();
  return static_cast<double>(cast<IntegerAttr>(attribute).getInt());
}

/// A relayout's operand has the division of its buffer: which part each core holds.
static LogicalResult addOwnDivision(DeviceOpInterface op, unsigned i, Value value,
                                    sdsc::EmitOperand &operand) {
  auto alloc = getRootBuffer(value).getDefiningOp<AllocOp>();
  DistributionAttr distribution = alloc ? alloc.getDistributionAttr() : DistributionAttr();
  if (!distribution || value != alloc.getResult())
    return op->emitOpError() << "operand #" << i
                             << ": a relayout goes between buffers of scratchpads that say which "
                                "core holds which part (#spyre.distribution)";
  operand.slices.assign(op.getNumDims(), 1);
  operand.coreToSlice.assign(distribution.getCores(), std::vector<int64_t>(op.getNumDims(), 0));
  Builder b(op->getContext());
  for (auto [logical, result] : llvm::enumerate(op.getMap(i).getResults())) {
    int64_t slices = distribution.getSlices()[logical];
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (slices == 1)
      continue;
    if (!dim)
      return op->emitOpError() << "operand #" << i << ": dim " << logical
                               << " is divided, so it must be accessed by one dim of the operation";
    operand.slices[dim.getPosition()] = slices;
    for (int64_t core = 0; core < distribution.getCores(); ++core) {
      SmallVector<Attribute> held;
      // The attribute's verifier has evaluated the map for each core.
      (void)distribution.getMap().constantFold({b.getIndexAttr(core)}, held);
      operand.coreToSlice[core][dim.getPosition()] = cast<IntegerAttr>(held[logical]).getInt();
    }
  }
  return success();
}

FailureOr<sdsc::EmitOp> mlir::spyre::buildEmitOp(DeviceOpInterface op, ArrayRef<LoopState> loops,
                                                 SmallVectorImpl<BufferBase> &bases) {
  sdsc::EmitOp emit;
  const ::spyre::OpFuncInfo &info = op.getInfo();
  emit.opFunc = op.getOpFuncName().str();
  DictionaryAttr constants = op.getConstantsAttr();
  auto addConstants = [&](const ::spyre::OpFuncInfo &from) {
    for (const auto &constant : from.constants)
      if (Attribute value = constants ? constants.get(StringRef(constant)) : Attribute();
          value &&
          llvm::none_of(emit.constants, [&](const auto &known) { return known.first == constant; }))
        emit.constants.emplace_back(std::string(constant), getNumber(value));
  };
  // The operation's own first, then those that it only carries, in the table's order.
  addConstants(info);
  for (const ::spyre::OpFuncInfo &other : ::spyre::getOpFuncTable())
    addConstants(other);
  for (auto [i, extent] : llvm::enumerate(op.getExtents()))
    emit.dims.push_back({extent, i < op.getSplits().size() ? op.getSplits()[i] : 1});
  emit.isReduction = info.category == ::spyre::OpCategory::Reduction ||
                     info.category == ::spyre::OpCategory::Batchmatmul;
  emit.kFastCoreOrder = op.getKFast();
  emit.isMasked = op->hasAttr(kMaskedAttr);

  // The maps' symbols are some of the loops around the op, in their order.
  unsigned numDims = op.getNumDims();
  SmallVector<int64_t> ranges(op.getExtents());
  SmallVector<unsigned> position;
  for (Value variable : op.getLoopVariables()) {
    const LoopState *state =
        llvm::find_if(loops, [&](const LoopState &loop) { return loop.variable == variable; });
    if (state == loops.end())
      return op->emitOpError() << "uses a loop variable of no loop around it";
    ranges.push_back(state->tripCount);
    position.push_back(state - loops.begin());
  }
  SmallVector<int64_t> tripCounts;
  for (const LoopState &loop : loops) {
    tripCounts.push_back(loop.tripCount);
    if (loop.value)
      emit.iteration.push_back(*loop.value);
  }
  emit.numLoops = loops.size();
  assert((emit.iteration.empty() || emit.iteration.size() == loops.size()) &&
         "all loops are unrolled, or none");

  unsigned numInputs = op.getInputs().size();
  for (unsigned i = 0; i <= numInputs; ++i) {
    Value value = i < numInputs ? op.getInputs()[i] : op.getDestination();
    auto type = dyn_cast<BufferType>(value.getType());
    if (!type)
      return op->emitOpError() << "works on tensors; bufferize before emitting descriptors";
    FailureOr<BufferBase> base = getBufferBase(value, op);
    if (failed(base))
      return failure();
    bases.push_back(*base);
    FailureOr<layout::IndexMap> map = toIndexMap(op.getMap(i), ranges);
    if (failed(map))
      return op->emitOpError() << "has an access map that is no sum of digits";
    sdsc::EmitOperand operand;
    operand.layout = type.getTensorLayout();
    operand.access = widenLoops(std::move(*map), numDims, position, tripCounts);
    switch (base->kind) {
    case BufferBase::LX:
      operand.space = PlacementKind::LX;
      if (auto alloc = value.getDefiningOp<AllocOp>())
        operand.isSliceInLX = alloc.getDistributionAttr() != nullptr;
      break;
    case BufferBase::Pool:
      operand.space = PlacementKind::Pool;
      break;
    default:
      operand.space = PlacementKind::HBM;
    }
    operand.addressInBytes = base->offsetInBytes;
    if (op.getOpFunc() == ::spyre::OpFunc::Shuffle && failed(addOwnDivision(op, i, value, operand)))
      return failure();
    emit.operands.push_back(std::move(operand));
  }
  if (std::optional<ArrayRef<int64_t>> gather = op.getGather()) {
    sdsc::EmitOperand &table = emit.operands[(*gather)[0]];
    table.indirectDim = static_cast<int>((*gather)[1]);
    table.indexOperand = static_cast<int>((*gather)[2]);
    emit.operands[(*gather)[2]].isIndexTensor = true;
  }
  keepUnitDims(op, emit);
  return emit;
}
