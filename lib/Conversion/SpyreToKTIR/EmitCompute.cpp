//===- EmitCompute.cpp - What a KTIR kernel computes of a tile ------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every operation is a linalg.generic whose scalar body is the OpFunc table's. What
// combines (reductions, contractions) does so in f32, from the table's neutral number
// on, and is rounded once.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CastInterfaces.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::ktir;

static StringRef toRef(std::string_view text) { return {text.data(), text.size()}; }

namespace {
/// Builds the scalar body of an operation as the OpFunc table has it.
class BodyBuilder {
public:
  BodyBuilder(OpBuilder &b, Location loc, DeviceOpInterface device, ValueRange inputs,
              Type resultType)
      : b(b), loc(loc), device(device), nodes(device.getInfo().body), inputs(inputs),
        resultType(resultType) {}

  Value build() { return get(nodes.size() - 1, resultType); }

private:
  /// Node \p n; a number gets the type \p wanted.
  Value get(size_t n, Type wanted);
  Value makeNumber(double number, Type type) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, number));
  }
  double getConstant(StringRef name) {
    // The operation's verifier has seen that it is there.
    return device.getConstantsAttr().getAs<FloatAttr>(name).getValueAsDouble();
  }
  Value makeOperation(const ::spyre::ScalarNode &node);

  OpBuilder &b;
  Location loc;
  DeviceOpInterface device;
  std::span<const ::spyre::ScalarNode> nodes;
  ValueRange inputs;
  Type resultType;
  DenseMap<std::pair<size_t, Type>, Value> known;
};
} // namespace

Value BodyBuilder::get(size_t n, Type wanted) {
  const ::spyre::ScalarNode &node = nodes[n];
  bool isNumber = node.kind == ::spyre::ScalarNode::Kind::Number ||
                  node.kind == ::spyre::ScalarNode::Kind::Parameter;
  Value &value = known[{n, isNumber ? wanted : Type()}];
  if (value)
    return value;
  Value made;
  switch (node.kind) {
  case ::spyre::ScalarNode::Kind::Input:
    made = inputs[node.input];
    break;
  case ::spyre::ScalarNode::Kind::Number:
    made = makeNumber(node.number, wanted);
    break;
  case ::spyre::ScalarNode::Kind::Parameter:
    made = makeNumber(getConstant(toRef(node.name)), wanted);
    break;
  case ::spyre::ScalarNode::Kind::Operation:
    made = makeOperation(node);
    break;
  }
  return known[{n, isNumber ? wanted : Type()}] = made;
}

Value BodyBuilder::makeOperation(const ::spyre::ScalarNode &node) {
  OperationState state(loc, toRef(node.name));
  // Operands that are computed give numbers beside them their type.
  Type type;
  for (uint8_t operand : node.operands) {
    auto kind = nodes[operand].kind;
    if (kind != ::spyre::ScalarNode::Kind::Input && kind != ::spyre::ScalarNode::Kind::Operation)
      continue;
    Type found = get(operand, resultType).getType();
    if (isa<FloatType>(found))
      type = found;
  }
  if (!type)
    type = resultType;
  for (uint8_t operand : node.operands)
    state.addOperands(get(operand, type));
  state.addTypes(type);
  if (!node.predicate.empty()) {
    auto predicate = arith::symbolizeCmpFPredicate(toRef(node.predicate));
    state.addAttribute("predicate", arith::CmpFPredicateAttr::get(b.getContext(), *predicate));
    state.types = {b.getI1Type()};
  }
  // What changes the type gives that of the result.
  if (state.name.hasInterface<CastOpInterface>())
    state.types = {resultType};
  // Constants that the body does not name are the attributes of its operation, in their order.
  bool namesConstants = llvm::any_of(nodes, [](const ::spyre::ScalarNode &other) {
    return other.kind == ::spyre::ScalarNode::Kind::Parameter;
  });
  if (!namesConstants && !device.getInfo().constants.empty())
    for (auto [name, constant] :
         llvm::zip(state.name.getRegisteredInfo()->getAttributeNames(), device.getInfo().constants))
      state.addAttribute(name, b.getF32FloatAttr(getConstant(toRef(constant))));
  return b.create(state)->getResult(0);
}

//===----------------------------------------------------------------------===//
// Generic operations
//===----------------------------------------------------------------------===//

AffineMap KernelEmitter::getIndexing(const KernelOp &op, unsigned i) {
  SmallVector<AffineExpr> results;
  for (const Axis &axis : op.operands[i].axes)
    results.push_back(axis.part < 0 ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(axis.part));
  return AffineMap::get(op.parts.size(), 0, results, b.getContext());
}

/// Parts that no operand has an axis for have one place: linalg does not know them.
static SmallVector<int> numberDims(const KernelOp &op) {
  SmallVector<int> number(op.parts.size(), -1);
  for (const KernelOperand &operand : op.operands)
    for (const Axis &axis : operand.axes)
      if (axis.part >= 0)
        number[axis.part] = 0;
  int next = 0;
  for (int &n : number)
    if (n == 0)
      n = next++;
  return number;
}

Value KernelEmitter::makeGeneric(const KernelOp &op, ValueRange inputs, Value init,
                                 ArrayRef<AffineMap> maps,
                                 function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  llvm::SmallBitVector used(op.parts.size()), written(op.parts.size());
  for (AffineMap map : maps)
    for (AffineExpr expr : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        used.set(dim.getPosition());
  for (AffineExpr expr : maps.back().getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      written.set(dim.getPosition());
  SmallVector<AffineExpr> numbers(op.parts.size(), b.getAffineConstantExpr(0));
  SmallVector<utils::IteratorType> iterators;
  for (unsigned part : used.set_bits()) {
    numbers[part] = b.getAffineDimExpr(iterators.size());
    iterators.push_back(written[part] ? utils::IteratorType::parallel
                                      : utils::IteratorType::reduction);
  }
  SmallVector<AffineMap> compact;
  for (AffineMap map : maps)
    compact.push_back(map.replaceDimsAndSymbols(numbers, {}, iterators.size(), 0));
  return linalg::GenericOp::create(b, loc, init.getType(), inputs, init, compact, iterators,
                                   [&](OpBuilder &inner, Location at, ValueRange args) {
                                     linalg::YieldOp::create(inner, at, body(inner, at, args));
                                   })
      .getResult(0);
}

SmallVector<Value> KernelEmitter::getMaskOrigins(const KernelOp &op) {
  SmallVector<Value> origins;
  for (const Mask &mask : op.masks) {
    SmallVector<Value> dims;
    AffineExpr origin = b.getAffineConstantExpr(0);
    for (auto [p, part] : llvm::enumerate(op.parts))
      if (part.dim == mask.dim)
        origin = origin + getPlace(op, p, /*withSlice=*/true, dims) * part.unit;
    bool isZero = origin == b.getAffineConstantExpr(0);
    origins.push_back(isZero ? Value() : materialize(origin, dims));
  }
  return origins;
}

Value KernelEmitter::applyMasks(OpBuilder &inner, Location at, const KernelOp &op,
                                ArrayRef<Value> origins, Value value) {
  SmallVector<int> number = numberDims(op);
  for (auto [mask, origin] : llvm::zip_equal(op.masks, origins)) {
    Value place = origin;
    for (auto [p, part] : llvm::enumerate(op.parts)) {
      if (part.dim != mask.dim || number[p] < 0)
        continue;
      Value index = linalg::IndexOp::create(inner, at, number[p]);
      if (part.unit != 1)
        index = arith::MulIOp::create(
            inner, at, index, arith::ConstantIndexOp::create(inner, at, part.unit).getResult());
      place = place ? arith::AddIOp::create(inner, at, place, index).getResult() : index;
    }
    Value end = arith::ConstantIndexOp::create(inner, at, mask.extent);
    Value isInside = arith::CmpIOp::create(inner, at, arith::CmpIPredicate::ult, place, end);
    Value number =
        arith::ConstantOp::create(inner, at, inner.getFloatAttr(value.getType(), op.maskValue));
    value = arith::SelectOp::create(inner, at, isInside, value, number);
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Value KernelEmitter::emitPointwise(const KernelOp &op) {
  unsigned output = op.operands.size() - 1;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (unsigned i = 0; i < output; ++i) {
    inputs.push_back(loadOperand(op, i));
    maps.push_back(getIndexing(op, i));
  }
  maps.push_back(getIndexing(op, output));
  Type type = op.operands[output].elementType;
  // An input by itself: a copy, or a broadcast.
  bool isSame = op.info->body.size() == 1 && op.masks.empty() && inputs.size() == 1;
  if (isSame && maps[0] == maps[1])
    return inputs[0];
  SmallVector<Value> origins = getMaskOrigins(op);
  Value empty = tensor::EmptyOp::create(b, loc, getTileShape(op, output), type);
  // The device computes wider than 16 bits and rounds once. Most bodies do so by themselves.
  bool isWide = op.info->category == ::spyre::OpCategory::Normalisation;
  Type f32 = b.getF32Type(), computed = isWide ? f32 : type;
  return makeGeneric(
      op, inputs, empty, maps, [&](OpBuilder &inner, Location at, ValueRange args) -> Value {
        SmallVector<Value> values(args.drop_back());
        values[0] = applyMasks(inner, at, op, origins, values[0]);
        for (Value &value : values)
          if (isWide && value.getType() != f32)
            value = arith::ExtFOp::create(inner, at, f32, value);
        Value result = op.takesMoments() ? makeMomentsScale(inner, at, op, values[0], values[1])
                                         : BodyBuilder(inner, at, op.op, values, computed).build();
        if (computed == type)
          return result;
        return arith::TruncFOp::create(inner, at, type, result);
      });
}

/// A copy of the rows of a table that an index names.
Value KernelEmitter::emitGather(const KernelOp &op) {
  unsigned output = op.operands.size() - 1;
  ArrayRef<int64_t> gather = *DeviceOpInterface(op.op).getGather();
  llvm::SmallBitVector isRead(op.parts.size());
  for (int64_t i : {gather[0], gather[2]})
    for (const Axis &axis : op.operands[i].axes)
      if (axis.part >= 0)
        isRead.set(axis.part);
  SmallVector<unsigned> parts(isRead.set_bits());
  SmallVector<int64_t> shape =
      llvm::map_to_vector(parts, [&](unsigned part) { return op.tileSizes[part]; });
  SmallVector<AffineExpr> dims =
      llvm::map_to_vector(parts, [&](unsigned part) { return b.getAffineDimExpr(part); });
  Type type = op.operands[output].elementType;
  Value tile = makeGatherTile(op, parts);
  Value rows = ktdp::LoadOp::create(b, loc, RankedTensorType::get(shape, type), tile);
  AffineMap map = AffineMap::get(op.parts.size(), 0, dims, b.getContext());
  if (map == getIndexing(op, output))
    return rows;
  Value empty = tensor::EmptyOp::create(b, loc, getTileShape(op, output), type);
  return makeGeneric(op, rows, empty, {map, getIndexing(op, output)},
                     [](OpBuilder &, Location, ValueRange args) { return args[0]; });
}

Value KernelEmitter::emitCombination(const KernelOp &op) {
  unsigned output = op.operands.size() - 1;
  // The accumulator has the result's parts; lanes that are all alike are filled at the end.
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> results;
  bool isBroadcast = false;
  for (const Axis &axis : op.operands[output].axes) {
    bool isAlike = axis.part < 0 || (op.parts[axis.part].dim < 0 && !op.hasMoments());
    isBroadcast |= isAlike;
    if (isAlike)
      continue;
    shape.push_back(op.tileSizes[axis.part]);
    results.push_back(b.getAffineDimExpr(axis.part));
  }
  AffineMap map = AffineMap::get(op.parts.size(), 0, results, b.getContext());
  Type f32 = b.getF32Type(), type = op.operands[output].elementType;
  Value neutral =
      arith::ConstantOp::create(b, loc, b.getF32FloatAttr(op.info->neutral.value_or(0)));
  Value empty = tensor::EmptyOp::create(b, loc, shape, f32);
  Value start = linalg::FillOp::create(b, loc, neutral, empty).getResult(0);
  auto widen = [&](OpBuilder &inner, Location at, Value value) -> Value {
    return value.getType() == f32 ? value
                                  : arith::ExtFOp::create(inner, at, f32, value).getResult();
  };
  Value sum = emitLoops(op, /*reduced=*/true, start, [&](Value accumulator) -> Value {
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps;
    for (unsigned i = 0; i < output; ++i) {
      inputs.push_back(loadOperand(op, i));
      maps.push_back(getIndexing(op, i));
    }
    maps.push_back(map);
    SmallVector<Value> origins = getMaskOrigins(op);
    return makeGeneric(op, inputs, accumulator, maps,
                       [&](OpBuilder &inner, Location at, ValueRange args) {
                         SmallVector<Value> values;
                         for (Value arg : args.drop_back())
                           values.push_back(widen(inner, at, arg));
                         values[0] = applyMasks(inner, at, op, origins, values[0]);
                         Value next = values[0];
                         if (op.isContraction())
                           next = BodyBuilder(inner, at, op.op, values, f32).build();
                         else if (op.hasMoments()) // their lanes are the last part
                           next = makeMoment(inner, at, numberDims(op).back(), next);
                         return combine(inner, at, op.info->combiner, args.back(), next);
                       });
  });
  bool isLX = op.operands[output].isLX();
  if (op.isSumShared()) {
    // A result in LX is each core's own, another one is written once.
    sum = emitFold(sum, getSumGroups(op), op.info->combiner, op.info->neutral.value_or(0));
    if (!isLX)
      enterFirstOfSum(op);
  }
  bool isDone = op.isContraction() || (op.info->body.size() == 1 && !op.hasMoments());
  if (isDone && type == f32 && !isBroadcast)
    return sum;
  Value narrow = tensor::EmptyOp::create(b, loc, getTileShape(op, output), type);
  return makeGeneric(op, sum, narrow, {map, getIndexing(op, output)},
                     [&](OpBuilder &inner, Location at, ValueRange args) {
                       Value value = args[0];
                       if (op.hasMoments())
                         value = scaleMoment(inner, at, op, shape.size() - 1, value);
                       else if (!op.isContraction())
                         value = BodyBuilder(inner, at, op.op, value, f32).build();
                       return type == f32
                                  ? value
                                  : arith::TruncFOp::create(inner, at, type, value).getResult();
                     });
}

void KernelEmitter::emitTile(const KernelOp &op) {
  OpBuilder::InsertionGuard guard(b);
  if (op.isLargest())
    return emitLargest(op);
  Value result = op.combines()                          ? emitCombination(op)
                 : DeviceOpInterface(op.op).getGather() ? emitGather(op)
                                                        : emitPointwise(op);
  ktdp::StoreOp::create(b, loc, result, makeAccessTile(op, op.operands.size() - 1));
}
