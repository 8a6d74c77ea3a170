//===- ReadTensor.cpp - Arithmetic and tensors of kernels -------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elementwise operations, linalg after generalization, and movement within tensors.
//
//===----------------------------------------------------------------------===//

#include "Reader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace spyre::ktir;

bool Reader::readTensor(Operation &op) {
  if (isa<arith::ConstantOp>(op)) {
    readConstant(op);
    return true;
  }
  if (LaneReader::knows(&op)) {
    readElements(op);
    return true;
  }
  if (isa<linalg::GenericOp>(op)) {
    readGeneric(op);
    return true;
  }
  if (auto named = dyn_cast<linalg::LinalgOp>(op)) {
    context.reject(&op, named.hasPureTensorSemantics()
                            ? "has no generic form"
                            : "operands in memory are not supported; load them first");
    return true;
  }
  auto resultShape = [&] { return Shape(cast<ShapedType>(op.getResult(0).getType()).getShape()); };
  auto emitWithElement = [&](Opcode opcode) -> Instruction & {
    Instruction &instruction = emitAll(opcode, &op);
    if (auto element = getElement(&op, op.getResult(0).getType()))
      instruction.element = *element;
    return instruction;
  };
  if (isa<tensor::EmptyOp>(op)) {
    emitWithElement(Opcode::Empty).shape = resultShape();
    return true;
  }
  if (isa<tensor::SplatOp>(op)) {
    emitWithElement(Opcode::Splat).shape = resultShape();
    return true;
  }
  if (isa<tensor::FromElementsOp>(op)) {
    emitWithElement(Opcode::FromElements).shape = resultShape();
    return true;
  }
  if (isa<tensor::ExtractOp>(op)) {
    emitAll(Opcode::Extract, &op);
    return true;
  }
  if (isa<tensor::InsertOp>(op)) {
    emitAll(Opcode::Insert, &op);
    return true;
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    Instruction &instruction = emitAll(Opcode::ExtractSlice, &op);
    instruction.shapes = {Shape(slice.getStaticOffsets()), Shape(slice.getStaticSizes()),
                          Shape(slice.getStaticStrides())};
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (unsigned d = 0; d < dropped.size(); ++d)
      instruction.flags.push_back(dropped[d]);
    return true;
  }
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
    Instruction &instruction = emitAll(Opcode::InsertSlice, &op);
    instruction.shapes = {Shape(slice.getStaticOffsets()), Shape(slice.getStaticSizes()),
                          Shape(slice.getStaticStrides())};
    return true;
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    emitAll(Opcode::Reshape, &op).shape = Shape(expand.getStaticOutputShape());
    return true;
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    // Sizes that the type leaves open are products of the source's.
    SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
    Instruction &instruction = emitAll(Opcode::Collapse, &op);
    for (const ReassociationIndices &group : groups)
      instruction.shapes.emplace_back(group.begin(), group.end());
    return true;
  }
  if (isa<tensor::ReshapeOp>(op)) {
    emitAll(Opcode::ReshapeTo, &op);
    return true;
  }
  if (isa<tensor::CastOp>(op)) {
    if (!isa<RankedTensorType>(op.getOperand(0).getType()) ||
        !isa<RankedTensorType>(op.getResult(0).getType()))
      context.reject(&op, "tensors without a rank are not supported");
    else
      emitAll(Opcode::Cast, &op).shape = resultShape();
    return true;
  }
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    emitWithElement(Opcode::Concat).numbers = {static_cast<int64_t>(concat.getDim())};
    return true;
  }
  if (isa<tensor::DimOp, memref::DimOp>(op)) {
    emitAll(Opcode::Dim, &op).flags = {isa<memref::DimOp>(op)};
    return true;
  }
  if (auto generate = dyn_cast<tensor::GenerateOp>(op)) {
    Instruction &instruction = emitWithElement(Opcode::Generate);
    instruction.shape = resultShape();
    instruction.numbers = {static_cast<int64_t>(op.getNumOperands())};
    setBody(instruction, op, generate.getBody().front());
    return true;
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Instruction &instruction = emitWithElement(Opcode::Pad);
    instruction.shapes = {Shape(pad.getStaticLow()), Shape(pad.getStaticHigh())};
    setBody(instruction, op, pad.getRegion().front());
    return true;
  }
  return false;
}

/// Compiles \p block, whose arguments are coordinates, as the body of \p instruction.
bool Reader::setBody(Instruction &instruction, Operation &op, Block &block) {
  LaneReader lanes(context);
  for (BlockArgument argument : block.getArguments())
    lanes.addCoordinate(argument, argument.getArgNumber());
  if (!lanes.readBody(block))
    return false;
  instruction.body = std::make_shared<LaneProgram>(std::move(lanes.program));
  addOperands(instruction, &op, lanes.captured);
  return true;
}

void Reader::readConstant(Operation &op) {
  mlir::Attribute attribute = cast<arith::ConstantOp>(op).getValue();
  std::optional<Element> element = getElement(&op, op.getResult(0).getType());
  if (!element)
    return;

  Instruction &instruction = emit(Opcode::Constant, &op);
  addResults(instruction, &op);
  if (auto number = dyn_cast<FloatAttr>(attribute)) {
    float value = static_cast<float>(number.getValueAsDouble());
    roundTo(*element, &value, 1);
    instruction.constant = Datum::of(value);
    return;
  }
  if (auto number = dyn_cast<IntegerAttr>(attribute)) {
    instruction.constant = Datum::of(wrapTo(*element, number.getValue().getSExtValue()));
    return;
  }
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  if (!dense)
    return context.reject(&op, "constants of this kind are not supported");
  auto tensor = std::make_shared<Tensor>(*element, Shape(dense.getType().getShape()));
  if (countElements(tensor->shape) < 0)
    return context.reject(&op, "has too many elements");
  int64_t i = 0;
  if (element->isFloat()) {
    for (const APFloat &value : dense.getValues<APFloat>()) {
      APFloat copy = value;
      bool losesInfo;
      copy.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
      tensor->floats[i++] = copy.convertToFloat();
    }
    roundTo(*element, tensor->floats.data(), i);
  } else {
    for (const APInt &value : dense.getValues<APInt>())
      tensor->ints[i++] = wrapTo(*element, value.getSExtValue());
  }
  instruction.constant = Datum::of(std::move(tensor));
}

void Reader::readElements(Operation &op) {
  LaneReader lanes(context);
  for (Value operand : op.getOperands())
    if (!lanes.addArgument(&op, operand))
      return;
  // An operand that is used twice has one register a use; any of them will do.
  if (!lanes.read(&op))
    return;
  for (Value result : op.getResults())
    lanes.yield(&op, result);
  Instruction &instruction = emitAll(Opcode::Elements, &op);
  for (Type type : op.getOperandTypes())
    instruction.flags.push_back(isa<RankedTensorType>(type));
  instruction.body = std::make_shared<LaneProgram>(std::move(lanes.program));
}

/// The value that \p value is before it is widened.
static Value skipWidening(Value value) {
  while (auto widen = value.getDefiningOp<arith::ExtFOp>())
    value = widen.getIn();
  return value;
}

/// out + a * b of two inputs: the numbers of the factors.
static std::optional<std::pair<unsigned, unsigned>> matchContraction(linalg::GenericOp op) {
  Block &body = *op.getBody();
  if (op.getNumDpsInits() != 1)
    return std::nullopt;
  auto sum = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum || !sum->hasOneUse())
    return std::nullopt;
  Value accumulator = body.getArguments().back();
  Value other = sum.getLhs() == accumulator   ? sum.getRhs()
                : sum.getRhs() == accumulator ? sum.getLhs()
                                              : Value();
  if (!other || !accumulator.hasOneUse())
    return std::nullopt;
  auto product = skipWidening(other).getDefiningOp<arith::MulFOp>();
  if (!product || !product->hasOneUse())
    return std::nullopt;
  auto a = dyn_cast<BlockArgument>(skipWidening(product.getLhs()));
  auto b = dyn_cast<BlockArgument>(skipWidening(product.getRhs()));
  if (!a || !b || a.getOwner() != &body || b.getOwner() != &body || a == accumulator ||
      b == accumulator)
    return std::nullopt;
  return std::pair(a.getArgNumber(), b.getArgNumber());
}

void Reader::readGeneric(Operation &op) {
  auto generic = cast<linalg::GenericOp>(op);
  if (!generic.hasPureTensorSemantics())
    return context.reject(&op, "operands in memory are not supported; load them first");
  auto nest = std::make_shared<LoopNest>();
  for (utils::IteratorType type : generic.getIteratorTypesArray())
    nest->isReduction.push_back(type == utils::IteratorType::reduction);
  nest->numInputs = generic.getNumDpsInputs();
  for (AffineMap map : generic.getIndexingMapsArray())
    nest->maps.push_back(readMap(map));
  LaneReader lanes(context);
  for (BlockArgument argument : generic.getBody()->getArguments())
    if (!lanes.addArgument(&op, argument))
      return;
  if (!lanes.readBody(*generic.getBody()))
    return;
  // The accumulator of a sum stays f32 until the nest ends, and so does what a sum of
  // products multiplies.
  bool hasReduction = generic.getNumReductionLoops() > 0;
  for (LaneStep &step : lanes.program.steps)
    for (uint16_t yielded : lanes.program.yielded)
      step.isUnrounded |= hasReduction && step.result == yielded;
  if (auto factors = matchContraction(generic); factors && hasReduction) {
    nest->isContraction = true;
    nest->factors[0] = factors->first;
    nest->factors[1] = factors->second;
    for (LaneStep &step : lanes.program.steps)
      step.isUnrounded = true;
  }
  Instruction &instruction = emit(Opcode::Loops, &op);
  addOperands(instruction, &op, op.getOperands());
  addOperands(instruction, &op, lanes.captured);
  addResults(instruction, &op);
  instruction.numbers = {static_cast<int64_t>(nest->numInputs),
                         static_cast<int64_t>(generic.getNumDpsInits())};
  nest->body = std::move(lanes.program);
  instruction.nest = std::move(nest);
}
