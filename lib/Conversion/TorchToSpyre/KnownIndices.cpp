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
    for (auto [i, element] :
         llvm::enumerate(list ? SmallVector<Value>(*list) : SmallVector<Value>())) {
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

namespace {
/// Operands of an operation on dim (number `first`) of operand 0, as PyTorch reads them.
class DimOperands {
public:
  DimOperands(Operation *op, unsigned first, unsigned count) : op(op), first(first) {
    std::optional<Shape> shape =
        op->getNumOperands() >= first + count ? getSizes(op->getOperand(0)) : std::nullopt;
    dim = shape ? torch_reader::getConstantInt(op->getOperand(first)) : std::nullopt;
    auto rank = shape ? static_cast<int64_t>(shape->size()) : 0;
    if (dim && *dim < 0)
      *dim += rank;
    if (dim && (*dim < 0 || *dim >= rank))
      dim.reset();
    if (dim)
      extent = (*shape)[*dim];
  }

  /// Operand \p i behind the dim, counted from the end if negative; \p otherwise if none.
  std::optional<int64_t> getIndex(unsigned i, int64_t otherwise = 0) const {
    Value value = op->getOperand(first + i);
    if (torch_reader::isNone(value))
      return otherwise;
    std::optional<int64_t> index = torch_reader::getConstantInt(value);
    return index && *index < 0 ? *index + extent : index;
  }
  /// `select`: index of one element.
  std::optional<Slice> getElement() const {
    std::optional<int64_t> index = dim ? getIndex(1) : std::nullopt;
    if (!index || *index < 0 || *index >= extent)
      return std::nullopt;
    return Slice{*dim, *index, 1, 1};
  }
  /// `slice`: start, end and step, clamped.
  std::optional<Slice> getRange() const {
    std::optional<int64_t> start = dim ? getIndex(1) : std::nullopt,
                           end = dim ? getIndex(2, extent) : std::nullopt;
    std::optional<int64_t> step = torch_reader::getConstantInt(op->getOperand(first + 3));
    if (!start || !end || !step || *step < 1)
      return std::nullopt;
    *start = std::clamp<int64_t>(*start, 0, extent);
    *end = std::clamp<int64_t>(*end, 0, extent);
    if (*end <= *start)
      return std::nullopt;
    return Slice{*dim, *start, (*end - *start + *step - 1) / *step, *step};
  }
  /// `narrow`: start and length.
  std::optional<Slice> getWindow() const {
    std::optional<int64_t> start = dim ? getIndex(1) : std::nullopt,
                           count = torch_reader::getConstantInt(op->getOperand(first + 2));
    if (!start || !count || *start < 0 || *count < 1 || *count > extent - *start)
      return std::nullopt;
    return Slice{*dim, *start, *count, 1};
  }

private:
  Operation *op;
  unsigned first;
  std::optional<int64_t> dim;
  int64_t extent = 0;
};
} // namespace

std::optional<KnownIndices> torch_lowering::getKnownRead(Operation *op) {
  StringRef name = torch_reader::getOperatorName(op);
  bool isSelect = name == "aten.select.int", isSlice = name == "aten.slice.Tensor",
       isNarrow = name == "aten.narrow";
  if (!isSelect && !isSlice && !isNarrow) {
    std::optional<KnownIndices> known = getKnownIndices(op);
    return known && !known->writes ? known : std::nullopt;
  }
  unsigned count = isSelect ? 2 : isSlice ? 4 : 3;
  if (op->getNumOperands() != count + 1)
    return std::nullopt;
  DimOperands operands(op, 1, count);
  std::optional<Slice> slice = isSelect  ? operands.getElement()
                               : isSlice ? operands.getRange()
                                         : operands.getWindow();
  return slice ? std::optional(KnownIndices{*slice, isSelect}) : std::nullopt;
}

std::optional<KnownIndices> torch_lowering::getKnownWrite(Operation *op) {
  StringRef name = torch_reader::getOperatorName(op);
  bool isSelect = name == "aten.select_scatter", isSlice = name == "aten.slice_scatter";
  if (!isSelect && !isSlice) {
    std::optional<KnownIndices> known = getKnownIndices(op);
    return known && known->writes ? known : std::nullopt;
  }
  unsigned count = isSelect ? 2 : 4;
  if (op->getNumOperands() != count + 2)
    return std::nullopt;
  DimOperands operands(op, 2, count);
  std::optional<Slice> slice = isSelect ? operands.getElement() : operands.getRange();
  return slice ? std::optional(KnownIndices{*slice, isSelect, /*writes=*/true, 1}) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Operations of torch
//===----------------------------------------------------------------------===//

static Value build(OpBuilder &builder, Location loc, StringRef name, Value source, Shape shape,
                   ArrayRef<int64_t> numbers) {
  auto type = cast<torch_reader::ValueTensorType>(source.getType());
  OperationState state(loc, name);
  state.addOperands(source);
  for (int64_t number : numbers)
    state.addOperands(buildConstantInt(builder, loc, number));
  state.addTypes(torch_reader::ValueTensorType::get(type.getContext(), /*hasSizes=*/true, shape,
                                                    type.getDtype(), type.getSparsity()));
  return builder.create(state)->getResult(0);
}

Value torch_lowering::buildTorchSlice(OpBuilder &builder, Location loc, Value source, int64_t dim,
                                      int64_t start, int64_t count) {
  Shape shape = *getSizes(source);
  if (shape[dim] == count)
    return source;
  shape[dim] = count;
  return build(builder, loc, "torch.aten.slice.Tensor", source, shape,
               {dim, start, start + count, 1});
}

Value torch_lowering::buildTorchSelect(OpBuilder &builder, Location loc, Value source, int64_t dim,
                                       int64_t index) {
  Shape shape = *getSizes(source);
  shape.erase(shape.begin() + dim);
  return build(builder, loc, "torch.aten.select.int", source, shape, {dim, index});
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
    return l.replaceWith(known->dropsDim ? buildSelect(l, l.getTensor(0), dim, start)
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
  for (const char *name :
       {"torch.aten.index_select", "torch.aten.index.Tensor", "torch.aten.index_put"})
    table[name] = onTensor(lowerKnownIndices);
}
