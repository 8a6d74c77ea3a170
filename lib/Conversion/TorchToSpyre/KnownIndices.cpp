//===- KnownIndices.cpp - Indices that are known are slices ---------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header. `index` and `index_put` count negative indices from the end,
// `index_select` has none (PyTorch's documentation).
//
//===----------------------------------------------------------------------===//

#include "KnownIndices.h"

#include "FoldScalars.h"
#include "spyre/Dialect/Torch/IR/TorchOps.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

using Shape = SmallVector<int64_t>;

static std::optional<Shape> getSizes(Value value) {
  std::optional<ArrayRef<int64_t>> shape = torch_reader::getTensorShape(value.getType());
  if (!shape || llvm::is_contained(*shape, ShapedType::kDynamic))
    return std::nullopt;
  return Shape(*shape);
}

/// Elements \p indices of dim \p dim, of \p extent elements, as a slice; nothing if they are none.
static std::optional<Slice> toSlice(Value indices, int64_t dim, int64_t extent, bool mayWrap) {
  auto literal = dyn_cast_if_present<DenseIntElementsAttr>(torch_reader::getTensorLiteral(indices));
  if (!literal || literal.getNumElements() == 0 || literal.getElementType().isInteger(1))
    return std::nullopt;
  Slice slice{dim, 0, literal.getNumElements(), 1};
  int64_t last = 0;
  for (auto [i, number] : llvm::enumerate(literal.getValues<APInt>())) {
    if (number.getSignificantBits() > 63)
      return std::nullopt;
    int64_t index = number.getSExtValue();
    if (index < 0 && mayWrap)
      index += extent;
    if (index < 0 || index >= extent)
      return std::nullopt; // the host says what PyTorch says
    if (i == 0)
      slice.start = index;
    else if (i == 1)
      slice.step = index - last;
    else if (index - last != slice.step)
      return std::nullopt;
    last = index;
  }
  return slice.step > 0 ? std::optional(slice) : std::nullopt;
}

std::optional<KnownIndices> torch_lowering::getKnownIndices(Operation *op) {
  StringRef name = torch_reader::getOperatorName(op);
  bool isSelect = name == "aten.index_select", isIndex = name == "aten.index.Tensor",
       isPut = name == "aten.index_put";
  unsigned count = isSelect ? 3 : isIndex ? 2 : isPut ? 4 : 0;
  if (count == 0 || op->getNumOperands() != count || op->getNumResults() != 1)
    return std::nullopt;
  std::optional<Shape> shape = getSizes(op->getOperand(0));
  if (!shape)
    return std::nullopt;
  auto rank = static_cast<int64_t>(shape->size());
  std::optional<int64_t> dim;
  Value indices;
  if (isSelect) {
    dim = torch_reader::getConstantInt(op->getOperand(1));
    if (dim && *dim < 0)
      *dim += rank;
    indices = op->getOperand(2);
  } else {
    if (isPut && torch_reader::getConstantBool(op->getOperand(3)) != false)
      return std::nullopt;
    std::optional<OperandRange> list = torch_reader::getListElements(op->getOperand(1));
    for (auto [i, element] : llvm::enumerate(list ? SmallVector<Value>(*list) : SmallVector<Value>())) {
      if (torch_reader::isNone(element))
        continue;
      if (dim)
        return std::nullopt; // at points, not in one dim
      dim = static_cast<int64_t>(i);
      indices = element;
    }
  }
  std::optional<Shape> size = indices ? getSizes(indices) : std::nullopt;
  if (!dim || *dim < 0 || *dim >= rank || !size || size->size() > 1)
    return std::nullopt;
  std::optional<Slice> slice = toSlice(indices, *dim, (*shape)[*dim], /*mayWrap=*/!isSelect);
  if (!slice)
    return std::nullopt;
  // A single index of index_select leaves a dim of one.
  return KnownIndices{*slice, size->empty() && !isSelect, isPut, 2};
}

std::optional<KnownIndices> torch_lowering::getKnownWrite(Operation *op) {
  StringRef name = torch_reader::getOperatorName(op);
  bool isSelect = name == "aten.select_scatter", isSlice = name == "aten.slice_scatter";
  if (!isSelect && !isSlice) {
    std::optional<KnownIndices> known = getKnownIndices(op);
    return known && known->writes ? known : std::nullopt;
  }
  std::optional<Shape> shape = op->getNumOperands() == (isSelect ? 4 : 6)
                                   ? getSizes(op->getOperand(0))
                                   : std::nullopt;
  std::optional<int64_t> dim =
      shape ? torch_reader::getConstantInt(op->getOperand(2)) : std::nullopt;
  if (!dim)
    return std::nullopt;
  auto rank = static_cast<int64_t>(shape->size());
  if (*dim < 0)
    *dim += rank;
  if (*dim < 0 || *dim >= rank)
    return std::nullopt;
  int64_t extent = (*shape)[*dim];
  // Counted from the end if negative; as slices read them, clamped.
  auto get = [&](unsigned i, int64_t otherwise, bool clamps) -> std::optional<int64_t> {
    if (torch_reader::isNone(op->getOperand(i)))
      return otherwise;
    std::optional<int64_t> value = torch_reader::getConstantInt(op->getOperand(i));
    if (value && *value < 0)
      *value += extent;
    if (value && clamps)
      return std::clamp<int64_t>(*value, 0, extent);
    return value;
  };
  if (isSelect) {
    std::optional<int64_t> index = get(3, 0, /*clamps=*/false);
    if (!index || *index < 0 || *index >= extent)
      return std::nullopt;
    return KnownIndices{{*dim, *index, 1, 1}, /*dropsDim=*/true, /*writes=*/true, 1};
  }
  std::optional<int64_t> start = get(3, 0, true), end = get(4, extent, true);
  std::optional<int64_t> step = torch_reader::getConstantInt(op->getOperand(5));
  if (!start || !end || !step || *step < 1 || *end <= *start)
    return std::nullopt;
  return KnownIndices{
      {*dim, *start, (*end - *start + *step - 1) / *step, *step}, false, /*writes=*/true, 1};
}

//===----------------------------------------------------------------------===//
// Written piece by piece
//===----------------------------------------------------------------------===//

namespace {
/// A run of elements of the dim that is written: from which writing, where it begins there.
struct Piece {
  int source = -1; ///< number of the writing; -1: what was there before
  int64_t start = 0, count = 0;
};
} // namespace

/// The tensor that an operation named \p name gives of \p operands, which has \p shape.
static Value build(OpBuilder &builder, Location loc, StringRef name, ValueRange operands,
                   Value like, ArrayRef<int64_t> shape) {
  auto type = cast<torch_reader::ValueTensorType>(like.getType());
  OperationState state(loc, name);
  state.addOperands(operands);
  state.addTypes(torch_reader::ValueTensorType::get(type.getContext(), /*hasSizes=*/true, shape,
                                                    type.getDtype(), type.getSparsity()));
  return builder.create(state)->getResult(0);
}

static Value buildPiece(OpBuilder &builder, Location loc, Value source, int64_t dim, int64_t start,
                        int64_t count) {
  Shape shape = *getSizes(source);
  if (shape[dim] == count)
    return source;
  shape[dim] = count;
  auto number = [&](int64_t value) { return buildConstantInt(builder, loc, value); };
  return build(builder, loc, "torch.aten.slice.Tensor",
               {source, number(dim), number(start), number(start + count), number(1)}, source,
               shape);
}

Value torch_lowering::joinWrites(Value value, Operation *before, OpBuilder &builder) {
  // The writings from the last one back to what was there before.
  constexpr int64_t kMostElements = 1 << 20;
  SmallVector<std::pair<Operation *, KnownIndices>> writings;
  std::optional<Shape> shape = getSizes(value);
  Value base = value;
  for (;;) {
    Operation *op = base.getDefiningOp();
    if (!shape || !op || op->getBlock() != builder.getBlock() ||
        (before && !before->isBeforeInBlock(op)))
      break;
    std::optional<KnownIndices> known = getKnownWrite(op);
    if (!known || known->slice.step != 1 ||
        (!writings.empty() && (known->slice.dim != writings.front().second.slice.dim ||
                               !base.hasOneUse())) ||
        getSizes(op->getOperand(0)) != shape)
      break;
    // Of the very sizes: what index_put repeats stays.
    Value written = op->getOperand(known->written);
    Shape wanted = *shape;
    if (known->dropsDim)
      wanted.erase(wanted.begin() + known->slice.dim);
    else
      wanted[known->slice.dim] = known->slice.count;
    if (getSizes(written) != wanted || torch_reader::getTensorElementType(written.getType()) !=
                                           torch_reader::getTensorElementType(value.getType()))
      break;
    writings.emplace_back(op, *known);
    base = op->getOperand(0);
  }
  if (writings.size() < 2)
    return value;
  int64_t dim = writings.front().second.slice.dim, extent = (*shape)[dim];
  if (extent > kMostElements)
    return value;
  // The last writing of an element counts.
  SmallVector<std::pair<int, int64_t>> owners;
  for (int64_t i = 0; i < extent; ++i)
    owners.emplace_back(-1, i);
  for (int i = static_cast<int>(writings.size()); i-- > 0;) {
    const Slice &slice = writings[i].second.slice;
    for (int64_t k = 0; k < slice.count; ++k)
      owners[slice.start + k] = {i, k};
  }
  SmallVector<Piece> pieces;
  for (auto [source, at] : owners) {
    if (!pieces.empty() && pieces.back().source == source &&
        pieces.back().start + pieces.back().count == at)
      ++pieces.back().count;
    else
      pieces.push_back({source, at, 1});
  }
  Location loc = value.getLoc();
  SmallVector<Value> parts;
  for (const Piece &piece : pieces) {
    Value source = base;
    if (piece.source >= 0) {
      const auto &[op, known] = writings[piece.source];
      source = op->getOperand(known.written);
      if (known.dropsDim) {
        Shape whole = *shape;
        whole[dim] = 1;
        source = build(builder, loc, "torch.aten.unsqueeze",
                       {source, buildConstantInt(builder, loc, dim)}, source, whole);
      }
    }
    parts.push_back(buildPiece(builder, loc, source, dim, piece.start, piece.count));
  }
  if (parts.size() == 1)
    return parts.front();
  OperationState list(loc, torch_reader::names::listConstruct);
  list.addOperands(parts);
  MLIRContext *context = builder.getContext();
  list.addTypes(torch_reader::ListType::get(
      context, torch_reader::ValueTensorType::get(context, /*hasSizes=*/false, {}, Type(), {})));
  Value all = builder.create(list)->getResult(0);
  return build(builder, loc, "torch.aten.cat", {all, buildConstantInt(builder, loc, dim)}, value,
               *shape);
}

//===----------------------------------------------------------------------===//
// Lowerings
//===----------------------------------------------------------------------===//

/// Without an index it shows all there is.
static LogicalResult lowerWithoutIndices(Lowering &l) {
  RankedTensorType from = l.getTensorType(0), to = l.getResultType();
  if (from.getElementType() != to.getElementType() || from.getNumElements() != to.getNumElements())
    return l.refuse("changes the type");
  return l.replaceWith(buildReshape(l.b, l.loc, l.getTensor(0), to.getShape()));
}

/// The device addresses by numbers that are known.
static LogicalResult lowerKnownIndices(Lowering &l) {
  std::optional<KnownIndices> known = getKnownIndices(l.op);
  if (!known && torch_reader::getOperatorName(l.op) == "aten.index.Tensor")
    if (std::optional<OperandRange> list = torch_reader::getListElements(l.op->getOperand(1));
        list && llvm::all_of(*list, torch_reader::isNone))
      return lowerWithoutIndices(l);
  if (!known)
    return l.refuse("its indices are tensors");
  auto [dim, start, count, step] = known->slice;
  if (!known->writes)
    return l.replaceWith(known->dropsDim
                             ? buildSelect(l, l.getTensor(0), dim, start)
                             : buildSlice(l, l.getTensor(0), dim, start, count, step));
  if (step != 1)
    return l.refuse("it writes every other element of a dim");
  RankedTensorType type = l.getTensorType(0);
  // What is written is repeated to the sizes of the slice.
  Shape wanted(type.getShape());
  wanted[dim] = count;
  Shape named = wanted;
  if (known->dropsDim)
    named.erase(named.begin() + dim);
  Value part = l.getTensor(known->written);
  RankedTensorType from = cast<RankedTensorType>(part.getType());
  if (from.getElementType() != type.getElementType())
    return l.refuse("what it writes has another element type");
  if (from.getShape() != ArrayRef<int64_t>(named)) {
    Shape given(from.getShape());
    if (given.size() > named.size())
      return l.refuse("what it writes has more dims than its slice");
    size_t missing = named.size() - given.size();
    for (auto [i, extent] : llvm::enumerate(given))
      if (extent != 1 && extent != named[missing + i])
        return l.refuse("what it writes does not have the sizes of its slice");
    part = buildView(l.b, l.loc, part, getBroadcastMap(l.b.getContext(), given, named), named);
  }
  if (known->dropsDim)
    part = buildReshape(l.b, l.loc, part, wanted);
  return replaceSlice(l, part, dim, start);
}

void torch_lowering::addKnownIndices(HandlerTable &table) {
  for (const char *name : {"torch.aten.index_select", "torch.aten.index.Tensor", "torch.aten.index_put"})
    table[name] = onTensor(lowerKnownIndices);
}
