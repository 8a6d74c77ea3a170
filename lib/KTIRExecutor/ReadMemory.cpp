//===- ReadMemory.cpp - Memory operations of kernels ------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Views, access tiles, loads and stores, and the affine maps and sets that they carry.
//
//===----------------------------------------------------------------------===//

#include "Reader.h"

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AffineExprVisitor.h"

using namespace mlir;
using namespace spyre::ktir;

//===----------------------------------------------------------------------===//
// Affine maps and sets
//===----------------------------------------------------------------------===//

static std::optional<Linear> readLinear(AffineExpr expr, int64_t numDims, int64_t numInputs) {
  Linear result;
  result.coefficients.assign(numInputs, 0);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    result.constant = constant.getValue();
    return result;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    result.coefficients[dim.getPosition()] = 1;
    return result;
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    result.coefficients[numDims + symbol.getPosition()] = 1;
    return result;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<Linear> a = readLinear(binary.getLHS(), numDims, numInputs),
                        b = readLinear(binary.getRHS(), numDims, numInputs);
  if (!a || !b)
    return std::nullopt;
  auto isConstant = [](const Linear &linear) {
    return llvm::all_of(linear.coefficients, [](int64_t c) { return c == 0; });
  };
  if (binary.getKind() == AffineExprKind::Add) {
    for (int64_t i = 0; i < numInputs; ++i)
      a->coefficients[i] += b->coefficients[i];
    a->constant += b->constant;
    return a;
  }
  if (binary.getKind() != AffineExprKind::Mul)
    return std::nullopt;
  if (!isConstant(*b))
    std::swap(a, b);
  if (!isConstant(*b))
    return std::nullopt;
  for (int64_t &coefficient : a->coefficients)
    coefficient *= b->constant;
  a->constant *= b->constant;
  return a;
}

static void readSteps(AffineExpr expr, int64_t numDims, std::vector<Expression::Step> &steps) {
  using Code = Expression::Code;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    steps.push_back({Code::Constant, constant.getValue()});
    return;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    steps.push_back({Code::Input, static_cast<int64_t>(dim.getPosition())});
    return;
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    steps.push_back({Code::Input, numDims + symbol.getPosition()});
    return;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  readSteps(binary.getLHS(), numDims, steps);
  readSteps(binary.getRHS(), numDims, steps);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    steps.push_back({Code::Add});
    break;
  case AffineExprKind::Mul:
    steps.push_back({Code::Multiply});
    break;
  case AffineExprKind::Mod:
    steps.push_back({Code::Mod});
    break;
  case AffineExprKind::FloorDiv:
    steps.push_back({Code::FloorDiv});
    break;
  default:
    steps.push_back({Code::CeilDiv});
    break;
  }
}

Expression spyre::ktir::readExpression(AffineExpr expr, int64_t numDims, int64_t numInputs) {
  Expression result;
  result.linear = readLinear(expr, numDims, numInputs);
  readSteps(expr, numDims, result.steps);
  return result;
}

Map spyre::ktir::readMap(AffineMap map) {
  Map result;
  result.numInputs = map.getNumInputs();
  for (AffineExpr expr : map.getResults())
    result.results.push_back(readExpression(expr, map.getNumDims(), map.getNumInputs()));
  return result;
}

Set spyre::ktir::readSet(IntegerSet set) {
  Set result;
  result.numDims = set.getNumDims();
  result.numSymbols = set.getNumSymbols();
  result.isBox = true;
  for (auto [i, constraint] : llvm::enumerate(set.getConstraints())) {
    Expression expression = readExpression(constraint, result.numDims, set.getNumInputs());
    int64_t used = 0;
    for (int64_t d = 0; expression.linear && d < result.numDims; ++d)
      used += expression.linear->coefficients[d] != 0;
    result.isBox &= expression.linear && used == 1;
    result.constraints.push_back({std::move(expression), set.isEq(i)});
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

bool Reader::readMemory(Operation &op) {
  if (auto id = dyn_cast<ktdp::GetComputeTileIdOp>(op)) {
    emitAll(Opcode::TileId, &op).flags = {op.getNumResults() == 1 && program.grid.size() > 1};
    if (op.getNumResults() > program.grid.size())
      context.reject(&op, "has more results than the grid has dims");
    return true;
  }
  if (isa<ktdp::ConstructMemoryViewOp>(op)) {
    readMemoryView(op);
    return true;
  }
  if (isa<ktdp::ConstructAccessTileOp>(op)) {
    readAccess(op);
    return true;
  }
  if (isa<ktdp::ConstructIndirectAccessTileOp>(op)) {
    readIndirectAccess(op);
    return true;
  }
  if (auto view = dyn_cast<ktdp::ConstructDistributedMemoryViewOp>(op)) {
    Instruction &instruction = emitAll(Opcode::DistributedView, &op);
    auto type = mlir::cast<MemRefType>(view.getResult().getType());
    if (auto element = getElement(&op, type))
      instruction.element = *element;
    instruction.shape = Shape(type.getShape());
    return true;
  }
  if (auto extract = dyn_cast<ktdp::RuntimeArgExtractOp>(op)) {
    ktdp::RuntimeArgType type = extract.getArgument().getType();
    std::optional<int64_t> number = extract.getKind() == ktdp::ExtractKind::Granularity
                                        ? type.getGranularity()
                                        : type.getUpperbound();
    if (extract.getKind() == ktdp::ExtractKind::Value)
      emitAll(Opcode::Move, &op);
    else
      emitMove(&op, emitNumber(&op, number.value_or(0)), slotOf(extract.getResult()));
    return true;
  }
  if (auto load = dyn_cast<ktdp::LoadOp>(op)) {
    Instruction &instruction = emitAll(Opcode::Load, &op);
    if (auto element = getElement(&op, load.getResult().getType()))
      instruction.element = *element;
    return true;
  }
  if (isa<ktdp::StoreOp>(op)) {
    emitAll(Opcode::Store, &op);
    return true;
  }
  if (auto subview = dyn_cast<memref::SubViewOp>(op)) {
    Instruction &instruction = emitAll(Opcode::SubView, &op);
    instruction.shapes = {Shape(subview.getStaticOffsets()), Shape(subview.getStaticSizes()),
                          Shape(subview.getStaticStrides())};
    llvm::SmallBitVector dropped = subview.getDroppedDims();
    for (unsigned d = 0; d < dropped.size(); ++d)
      instruction.flags.push_back(dropped[d]);
    return true;
  }
  if (auto cast = dyn_cast<memref::CastOp>(op)) {
    auto type = dyn_cast<MemRefType>(op.getResult(0).getType());
    if (!type || !isa<MemRefType>(op.getOperand(0).getType()))
      context.reject(&op, "views without a rank are not supported");
    else
      emitAll(Opcode::CastView, &op).shape = Shape(type.getShape());
    return true;
  }
  return false;
}

void Reader::readMemoryView(Operation &op) {
  auto view = mlir::cast<ktdp::ConstructMemoryViewOp>(op);
  std::optional<Element> element = getElement(&op, view.getType());
  if (!element)
    return;
  Instruction &instruction = emitAll(Opcode::MemoryView, &op);
  instruction.element = *element;
  instruction.shapes = {Shape(view.getStaticSizes()), Shape(view.getStaticStrides())};
  instruction.set = readSet(view.getOwnedSet());
  ktdp::MemorySpaceAttr space = view.getMemorySpace();
  int64_t owner = kGlobalSpace;
  if (space.getKind() == ktdp::MemorySpaceKind::CtLocal) {
    owner = space.getCtId() < 0 ? kOwnSpace : space.getCtId();
    // A tile sees what others write: they cannot run at the same time.
    program.communicates |= owner >= 0;
  }
  instruction.numbers = {context.addressesInBytes ? 1 : element->getBytes(), owner};
}

void Reader::readAccess(Operation &op) {
  auto access = mlir::cast<ktdp::ConstructAccessTileOp>(op);
  Instruction &instruction = emitAll(Opcode::DirectTile, &op);
  instruction.maps = {readMap(access.getBaseMap()), readMap(access.getAccessTileOrder())};
  instruction.set = readSet(access.getAccessTileSet());
  instruction.shape = Shape(access.getResult().getType().getShape());
  instruction.numbers = {static_cast<int64_t>(access.getIndices().size())};
  instruction.flags = {isa<RankedTensorType>(access.getBase().getType())};
}

void Reader::readIndirectAccess(Operation &op) {
  auto access = mlir::cast<ktdp::ConstructIndirectAccessTileOp>(op);
  Instruction &instruction = emitAll(Opcode::IndirectTile, &op);
  for (unsigned d = 0, e = access.getPerDimSubscriptKinds().size(); d < e; ++d) {
    instruction.maps.push_back(readMap(access.getSubscript(d)));
    instruction.flags.push_back(access.isIndirect(d));
  }
  instruction.maps.push_back(readMap(access.getVariablesSpaceOrder()));
  instruction.set = readSet(access.getVariablesSpaceSet());
  instruction.shape = Shape(access.getResult().getType().getShape());
  instruction.numbers = {static_cast<int64_t>(access.getIndexViews().size()),
                         static_cast<int64_t>(access.getCaptured().size()),
                         isa<RankedTensorType>(access.getBase().getType())};
}
