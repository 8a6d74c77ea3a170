//===- Views.cpp - torch operations that move nothing -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Views become `spyre.view`, copies are values, casts become `spyre.convert`,
// literals and filled tensors become constants. Result shapes come from the types,
// which the exporter has already computed.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Numbers.h"
#include "spyre/Dialect/Torch/IR/TorchOps.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

/// A view whose result coordinates give source coordinates by \p results.
static LogicalResult replaceWithView(Lowering &l, ArrayRef<AffineExpr> results) {
  RankedTensorType type = l.getResultType();
  if (static_cast<int64_t>(results.size()) != l.getTensorType(0).getRank())
    return l.refuse("the dims do not fit the operand's rank");
  AffineMap map = AffineMap::get(type.getRank(), 0, results, l.b.getContext());
  return l.replaceWith(buildView(l.b, l.loc, l.getTensor(0), map, type.getShape()));
}

static LogicalResult lowerPermutation(Lowering &l, ArrayRef<int64_t> permutation) {
  int64_t rank = l.getTensorType(0).getRank();
  if (static_cast<int64_t>(permutation.size()) != rank || l.getResultType().getRank() != rank)
    return l.refuse("the permutation does not fit the operand's rank");
  SmallVector<AffineExpr> results(rank);
  for (auto [i, source] : llvm::enumerate(permutation)) {
    if (results[source])
      return l.refuse("a dim is named twice");
    results[source] = l.b.getAffineDimExpr(i);
  }
  return replaceWithView(l, results);
}

static LogicalResult lowerPermute(Lowering &l) {
  std::optional<SmallVector<int64_t>> dims = l.getInts(1);
  if (!dims)
    return failure();
  for (int64_t &dim : *dims) {
    std::optional<int64_t> normal = l.normalizeDim(dim, l.getTensorType(0).getRank());
    if (!normal)
      return failure();
    dim = *normal;
  }
  return lowerPermutation(l, *dims);
}

static LogicalResult lowerTranspose(Lowering &l) {
  int64_t rank = l.getTensorType(0).getRank();
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::optional<int64_t> first, second;
  if (l.getNumOperands() > 2) {
    std::optional<int64_t> a = l.getInt(1), b = a ? l.getInt(2) : std::nullopt;
    if (!b)
      return failure();
    first = l.normalizeDim(*a, std::max<int64_t>(rank, 1));
    second = first ? l.normalizeDim(*b, std::max<int64_t>(rank, 1)) : std::nullopt;
    if (!second)
      return failure();
  } else if (rank == 2) { // aten.t
    first = 0;
    second = 1;
  }
  if (rank > 0 && first)
    std::swap(order[*first], order[*second]);
  return lowerPermutation(l, order);
}

/// movedim: one dim taken out and put in elsewhere.
static LogicalResult lowerMoveDim(Lowering &l) {
  int64_t rank = l.getTensorType(0).getRank();
  std::optional<int64_t> a = l.getInt(1), b = a ? l.getInt(2) : std::nullopt;
  if (!b)
    return failure();
  std::optional<int64_t> from = l.normalizeDim(*a, std::max<int64_t>(rank, 1)),
                         to = from ? l.normalizeDim(*b, std::max<int64_t>(rank, 1)) : std::nullopt;
  if (!to)
    return failure();
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (rank > 0) {
    order.erase(order.begin() + *from);
    order.insert(order.begin() + *to, *from);
  }
  return lowerPermutation(l, order);
}

/// numpy_T: all dims in the other order.
static LogicalResult lowerReverse(Lowering &l) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, l.getTensorType(0).getRank()));
  std::reverse(order.begin(), order.end());
  return lowerPermutation(l, order);
}

static LogicalResult lowerReshape(Lowering &l) {
  if (l.getTensorType(0).getNumElements() != l.getResultType().getNumElements())
    return l.refuse("changes the number of elements");
  return l.replaceWith(buildReshape(l.b, l.loc, l.getTensor(0), l.getResultType().getShape()));
}

static LogicalResult lowerExpand(Lowering &l) {
  ArrayRef<int64_t> from = l.getTensorType(0).getShape(), to = l.getResultType().getShape();
  if (from.size() > to.size())
    return l.refuse("expands to fewer dims");
  size_t missing = to.size() - from.size();
  for (auto [i, extent] : llvm::enumerate(from))
    if (extent != 1 && extent != to[missing + i])
      return l.refuse("dim " + Twine(i) + " does not expand");
  AffineMap map = getBroadcastMap(l.b.getContext(), from, to);
  return replaceWithView(l, map.getResults());
}

/// A dim read at `d * step + start`.
static LogicalResult lowerSlice(Lowering &l) {
  std::optional<Slice> slice = l.getSlice(1);
  if (!slice)
    return failure();
  auto [dim, start, count, step] = *slice;
  if (l.getResultType().getRank() != l.getTensorType(0).getRank() ||
      l.getResultType().getDimSize(dim) != count)
    return l.refuse("its result should have " + Twine(count) + " elements in dim " + Twine(dim));
  return l.replaceWith(buildSlice(l, l.getTensor(0), dim, start, count, step));
}

static LogicalResult lowerSelect(Lowering &l) {
  RankedTensorType type = l.getTensorType(0);
  std::optional<int64_t> dim = l.getInt(1), index = dim ? l.getInt(2) : std::nullopt;
  if (index)
    dim = l.normalizeDim(*dim, type.getRank());
  if (index && dim)
    index = l.normalizeIndex(*index, type, *dim);
  if (!index || !dim)
    return failure();
  return l.replaceWith(buildSelect(l, l.getTensor(0), *dim, *index));
}

/// x repeated: coordinate d mod extent.
static LogicalResult lowerRepeat(Lowering &l) {
  RankedTensorType type = l.getTensorType(0);
  int64_t missing = l.getResultType().getRank() - type.getRank();
  if (missing < 0)
    return l.refuse("repeats to fewer dims");
  SmallVector<AffineExpr> results;
  for (auto [i, extent] : llvm::enumerate(type.getShape())) {
    AffineExpr d = l.b.getAffineDimExpr(missing + i);
    results.push_back(extent == 1 ? l.b.getAffineConstantExpr(0)
                      : extent == l.getResultType().getDimSize(missing + i) ? d
                                                                            : d % extent);
  }
  return replaceWithView(l, results);
}

static LogicalResult lowerCopy(Lowering &l) {
  if (l.getTensorType(0) != l.getResultType())
    return l.refuse("changes the type");
  return l.replaceWith(l.getTensor(0));
}

static LogicalResult lowerCast(Lowering &l) {
  Type to = l.getResultType().getElementType(), from = l.getTensorType(0).getElementType();
  if (l.getTensorType(0).getShape() != l.getResultType().getShape())
    return l.refuse("changes the shape");
  auto computes = [](Type type) { return isHalf(type) || type.isF32(); };
  if (from == to)
    return l.replaceWith(l.getTensor(0));
  if (std::optional<double> number = getScalarConstant(l.getTensor(0));
      number && computes(to) && l.getTensorType(0).getRank() == 0)
    return l.replaceWith(buildScalar(l.b, l.loc, *number, to));
  if (!computes(from) || !computes(to))
    return lowerIntegerCast(l);
  return l.replaceWith(buildConvert(l.b, l.loc, l.getTensor(0), to));
}

/// A tensor of one number: a 0-d constant, seen through a broadcasting view.
static LogicalResult replaceWithSplat(Lowering &l, double number) {
  RankedTensorType type = l.getResultType();
  Type element = type.getElementType();
  if (!isNumberType(element))
    return l.refuse("the device keeps no number of its result's type");
  // What the type cannot hold is rounded first: the tensor has no other number.
  Value scalar = buildScalar(l.b, l.loc, roundToType(number, element), element);
  AffineMap map = AffineMap::get(type.getRank(), 0, {}, l.b.getContext());
  return l.replaceWith(buildView(l.b, l.loc, scalar, map, type.getShape()));
}

static LogicalResult lowerFull(Lowering &l, int numberOperand) {
  std::optional<double> number = l.getNumber(numberOperand);
  return number ? replaceWithSplat(l, *number) : failure();
}

static LogicalResult lowerLiteral(Lowering &l) {
  ElementsAttr value = torch_reader::getTensorLiteral(l.op->getResult(0));
  if (!value)
    return l.refuse("has no value of the type of its result");
  RankedTensorType type = l.getResultType();
  if (type.getRank() == 0 && !isNumberType(type.getElementType()))
    return l.refuse("the device keeps no number of the type of its result");
  ElementsAttr typed;
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    // PyTorch's integers are signed, L1's signless: the same bits.
    if (dense.getElementType() != type.getElementType())
      dense = dense.bitcast(type.getElementType());
    typed = dense.reshape(type);
  } else if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    typed = DenseResourceElementsAttr::get(type, resource.getRawHandle());
  } else if (isa<RunsAttr>(value)) {
    typed = value;
  } else {
    return l.refuse("its value is neither dense nor a resource");
  }
  return l.replaceWith(ConstantOp::create(l.b, l.loc, type, typed));
}

void torch_lowering::addViews(HandlerTable &table) {
  table["torch.aten.permute"] = onTensor(lowerPermute);
  for (const char *name :
       {"torch.aten.transpose.int", "torch.aten.swapaxes", "torch.aten.swapdims", "torch.aten.t"})
    table[name] = onTensor(lowerTranspose);
  table["torch.aten.movedim.int"] = onTensor(lowerMoveDim);
  table["torch.aten.numpy_T"] = onTensor(lowerReverse);
  for (const char *name :
       {"torch.aten.view", "torch.aten.reshape", "torch.aten._unsafe_view", "torch.aten.unsqueeze",
        "torch.aten.squeeze", "torch.aten.squeeze.dim", "torch.prims.squeeze",
        "torch.aten.flatten.using_ints", "torch.aten.unflatten.int", "torch.aten._reshape_alias",
        "torch.prims.collapse", "torch.prims.split_dim", "torch.aten.view_as"})
    table[name] = onTensor(lowerReshape);
  for (const char *name : {"torch.aten.expand", "torch.aten.broadcast_to", "torch.aten.expand_as"})
    table[name] = onTensor(lowerExpand);
  table["torch.aten.slice.Tensor"] = onTensor(lowerSlice);
  table["torch.aten.select.int"] = onTensor(lowerSelect);
  table["torch.aten.repeat"] = onTensor(lowerRepeat);
  for (const char *name : {"torch.aten.clone", "torch.aten.contiguous", "torch.aten.detach",
                           "torch.aten.alias", "torch.aten.lift_fresh_copy"})
    table[name] = onTensor(lowerCopy);
  for (const char *name :
       {"torch.prims.convert_element_type", "torch.aten.to.dtype", "torch.aten.to.dtype_layout",
        "torch.aten._to_copy", "torch.aten.type_as", "torch.aten.to.other"})
    table[name] = onTensor(lowerCast);
  table["torch.vtensor.literal"] = lowerLiteral;
  table["torch.prim.NumToTensor.Scalar"] = [](Lowering &l) { return lowerFull(l, 0); };
  table["torch.aten.scalar_tensor"] = [](Lowering &l) { return lowerFull(l, 0); };
  for (const char *name : {"torch.aten.full", "torch.aten.full_like"})
    table[name] = [](Lowering &l) { return lowerFull(l, 1); };
  for (const char *name : {"torch.aten.zeros", "torch.aten.zeros_like"})
    table[name] = [](Lowering &l) { return replaceWithSplat(l, 0.0); };
  for (const char *name : {"torch.aten.ones", "torch.aten.ones_like"})
    table[name] = [](Lowering &l) { return replaceWithSplat(l, 1.0); };
}
