//===- Movement.cpp - torch operations that join and take apart -----------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Concatenation and its kin (stack, padding with a constant, writing a slice) become
// `spyre.concat`; what returns a list of tensors (unbind, split, chunk) is bookkeeping
// whose elements are views, made where the list is unpacked.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Numbers.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

/// The value of \p list's converted form, or null after refusing.
static Value getConverted(Lowering &l, Value original) {
  Value value = l.b.getRemappedValue(original);
  if (value && isa<RankedTensorType>(value.getType()))
    return value;
  (void)l.refuse("it reads a list of something that is no tensor");
  return {};
}

std::optional<SmallVector<Value>> torch_lowering::getTensorList(Lowering &l, unsigned i) {
  Operation *list = l.op->getOperand(i).getDefiningOp();
  if (!list || list->getName().getStringRef() != "torch.prim.ListConstruct") {
    (void)l.refuse("its list is not made by prim.ListConstruct");
    return std::nullopt;
  }
  SmallVector<Value> values;
  for (Value element : list->getOperands()) {
    Value value = getConverted(l, element);
    if (!value)
      return std::nullopt;
    values.push_back(value);
  }
  if (values.empty()) {
    (void)l.refuse("its list is empty");
    return std::nullopt;
  }
  return values;
}

static LogicalResult replaceWithConcat(Lowering &l, ArrayRef<Value> parts, int64_t dim) {
  if (RankedTensorType type = l.getResultType(); type.getNumElements() == 0)
    return l.replaceWith(
        ConstantOp::create(l.b, l.loc, type, DenseElementsAttr::get(type, ArrayRef<Attribute>())));
  if (parts.size() == 1)
    return l.replaceWith(parts.front());
  RankedTensorType type = l.getResultType();
  int64_t extent = 0;
  for (Value part : parts) {
    RankedTensorType partType = getTensorType(part);
    if (partType.getRank() != type.getRank() || partType.getElementType() != type.getElementType())
      return l.refuse("it joins tensors of different ranks or element types");
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (d != dim && partType.getDimSize(d) != type.getDimSize(d))
        return l.refuse("it joins tensors that differ in dim " + Twine(d));
    extent += partType.getDimSize(dim);
  }
  if (extent != type.getDimSize(dim))
    return l.refuse("its parts have " + Twine(extent) + " elements along dim " + Twine(dim) +
                    ", its result has " + Twine(type.getDimSize(dim)));
  return l.replaceWith(
      ConcatOp::create(l.b, l.loc, type, parts, static_cast<uint64_t>(dim)).getResult());
}

static LogicalResult lowerCat(Lowering &l) {
  std::optional<SmallVector<Value>> values = getTensorList(l, 0);
  RankedTensorType type = l.getResultType();
  std::optional<int64_t> dim = values ? l.getInt(1) : std::nullopt;
  if (dim)
    dim = l.normalizeDim(*dim, std::max<int64_t>(type.getRank(), 1));
  if (!dim)
    return failure();
  // PyTorch skips empty tensors of rank 1, whatever the others' rank.
  SmallVector<Value> parts;
  for (Value value : *values) {
    RankedTensorType part = getTensorType(value);
    bool isEmpty = part.getRank() == type.getRank() && part.getDimSize(*dim) == 0;
    if ((isEmpty || (part.getRank() == 1 && part.getDimSize(0) == 0)) && values->size() > 1)
      continue;
    if (part.getElementType() != type.getElementType()) {
      bool floats = isa<FloatType>(part.getElementType()) && isa<FloatType>(type.getElementType());
      if (!floats)
        return l.refuse("it joins tensors of different element types");
      value = buildConvert(l.b, l.loc, value, type.getElementType());
    }
    parts.push_back(value);
  }
  if (parts.empty())
    parts.push_back(values->front());
  return replaceWithConcat(l, parts, *dim);
}

static LogicalResult lowerStack(Lowering &l) {
  std::optional<SmallVector<Value>> values = getTensorList(l, 0);
  std::optional<int64_t> dim = values ? l.getInt(1) : std::nullopt;
  if (dim)
    dim = l.normalizeDim(*dim, l.getResultType().getRank());
  if (!dim)
    return failure();
  SmallVector<Value> parts;
  for (Value value : *values) {
    SmallVector<int64_t> shape(getTensorType(value).getShape());
    if (*dim > static_cast<int64_t>(shape.size()))
      return l.refuse("it stacks tensors of different ranks");
    shape.insert(shape.begin() + *dim, 1);
    parts.push_back(buildReshape(l.b, l.loc, value, shape));
  }
  return replaceWithConcat(l, parts, *dim);
}

Value torch_lowering::buildSplat(Lowering &l, ArrayRef<int64_t> shape, double number,
                                 Type elementType) {
  Value scalar = buildScalar(l.b, l.loc, number, elementType);
  return buildView(l.b, l.loc, scalar, AffineMap::get(shape.size(), 0, {}, l.b.getContext()),
                   shape);
}

/// Constant padding, and cropping where it is negative; pairs from the last dim on.
static LogicalResult padWithConstant(Lowering &l, std::optional<double> number) {
  std::optional<SmallVector<int64_t>> pads = number ? l.getInts(1) : std::nullopt;
  if (!pads)
    return failure();
  Value value = l.getTensor(0);
  int64_t rank = l.getTensorType(0).getRank();
  if (pads->size() % 2 || static_cast<int64_t>(pads->size()) > 2 * rank)
    return l.refuse("its padding does not fit the operand's rank");
  if (!isa<FloatType>(l.getResultType().getElementType()))
    return l.refuse("the device pads floats");
  for (size_t i = 0; i < pads->size(); i += 2) {
    auto dim = rank - 1 - static_cast<int64_t>(i / 2);
    int64_t before = (*pads)[i], after = (*pads)[i + 1];
    int64_t extent = getTensorType(value).getDimSize(dim);
    int64_t start = std::max<int64_t>(0, -before), end = extent - std::max<int64_t>(0, -after);
    if (start > end)
      return l.refuse("it crops more than dim " + Twine(dim) + " has");
    if (start > 0 || end < extent)
      value = buildSlice(l, value, dim, start, end - start);
    SmallVector<int64_t> shape(getTensorType(value).getShape());
    SmallVector<Value> parts{value};
    auto fill = [&](int64_t size) {
      SmallVector<int64_t> padShape(shape);
      padShape[dim] = size;
      return buildSplat(l, padShape, *number, l.getResultType().getElementType());
    };
    if ((before > 0 || after > 0) && !isNumberType(l.getResultType().getElementType()))
      return l.refuse("the device keeps no number of the operand's type to pad with");
    if (before > 0)
      parts.insert(parts.begin(), fill(before));
    if (after > 0)
      parts.push_back(fill(after));
    if (parts.size() == 1)
      continue;
    shape[dim] += std::max<int64_t>(0, before) + std::max<int64_t>(0, after);
    auto type = RankedTensorType::get(shape, l.getResultType().getElementType());
    value = ConcatOp::create(l.b, l.loc, type, parts, static_cast<uint64_t>(dim)).getResult();
  }
  return l.replaceWith(value);
}

/// aten.pad: constant mode only.
static LogicalResult lowerPadMode(Lowering &l) {
  StringRef mode = l.getString(2);
  if (mode != "constant")
    return l.refuse("pads in mode '" + mode + "'; the device pads with a constant");
  return padWithConstant(l, l.isNone(3) ? std::optional(0.0) : l.getNumber(3));
}

static LogicalResult lowerNarrow(Lowering &l) {
  RankedTensorType type = l.getTensorType(0);
  std::optional<int64_t> dim = l.getInt(1), start = dim ? l.getInt(2) : std::nullopt;
  std::optional<int64_t> size = start ? l.getInt(3) : std::nullopt;
  if (size)
    dim = l.normalizeDim(*dim, type.getRank());
  if (!size || !dim)
    return failure();
  int64_t extent = type.getDimSize(*dim);
  if (*start < 0)
    *start += extent;
  if (*start < 0 || *size < 0 || *start + *size > extent)
    return l.refuse("it reads beyond dim " + Twine(*dim));
  return l.replaceWith(buildSlice(l, l.getTensor(0), *dim, *start, *size));
}

/// The last elements of a dim in front of the others.
static LogicalResult lowerRoll(Lowering &l) {
  std::optional<SmallVector<int64_t>> shifts = l.getInts(1);
  std::optional<SmallVector<int64_t>> dims = shifts ? l.getInts(2) : std::nullopt;
  if (!dims)
    return failure();
  Value value = l.getTensor(0);
  RankedTensorType type = l.getTensorType(0);
  bool isFlat = dims->empty();
  if (isFlat) {
    value = buildReshape(l.b, l.loc, value, {type.getNumElements()});
    dims->push_back(0);
  }
  if (shifts->size() != dims->size())
    return l.refuse("it has another number of shifts than of dims");
  for (auto [shift, given] : llvm::zip(*shifts, *dims)) {
    RankedTensorType now = getTensorType(value);
    std::optional<int64_t> dim = l.normalizeDim(given, now.getRank());
    if (!dim)
      return failure();
    int64_t extent = now.getDimSize(*dim);
    int64_t first = extent == 0 ? 0 : ((extent - shift) % extent + extent) % extent;
    if (first == 0)
      continue;
    Value parts[] = {buildSlice(l, value, *dim, first, extent - first),
                     buildSlice(l, value, *dim, 0, first)};
    value = ConcatOp::create(l.b, l.loc, now, parts, static_cast<uint64_t>(*dim)).getResult();
  }
  return l.replaceWith(isFlat ? buildReshape(l.b, l.loc, value, type.getShape()) : value);
}

LogicalResult torch_lowering::replaceSlice(Lowering &l, Value part, int64_t dim, int64_t start) {
  Value base = l.getTensor(0);
  int64_t extent = getTensorType(base).getDimSize(dim);
  int64_t end = start + getTensorType(part).getDimSize(dim);
  SmallVector<Value> parts;
  if (start > 0)
    parts.push_back(buildSlice(l, base, dim, 0, start));
  if (end > start)
    parts.push_back(part);
  if (end < extent)
    parts.push_back(buildSlice(l, base, dim, end, extent - end));
  if (parts.empty())
    parts.push_back(base);
  return replaceWithConcat(l, parts, dim);
}

static LogicalResult lowerSliceScatter(Lowering &l) {
  std::optional<Slice> slice = l.getSlice(2);
  if (!slice)
    return failure();
  auto [dim, start, count, step] = *slice;
  if (getTensorType(l.getTensor(1)).getRank() != l.getTensorType(0).getRank() ||
      getTensorType(l.getTensor(1)).getDimSize(dim) != count)
    return l.refuse("its source should have " + Twine(count) + " elements in dim " + Twine(dim));
  if (step != 1 && count > 1)
    return lowerSteppedScatter(l, dim, start, step);
  return replaceSlice(l, l.getTensor(1), dim, start);
}

static LogicalResult lowerSelectScatter(Lowering &l) {
  RankedTensorType type = l.getTensorType(0);
  std::optional<int64_t> dim = l.getInt(2), index = dim ? l.getInt(3) : std::nullopt;
  if (index)
    dim = l.normalizeDim(*dim, type.getRank());
  if (index && dim)
    index = l.normalizeIndex(*index, type, *dim);
  if (!index || !dim)
    return failure();
  SmallVector<int64_t> shape(type.getShape());
  shape[*dim] = 1;
  return replaceSlice(l, buildReshape(l.b, l.loc, l.getTensor(1), shape), *dim, *index);
}

//===----------------------------------------------------------------------===//
// Lists of views
//===----------------------------------------------------------------------===//

bool torch_lowering::isListOfViews(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return llvm::is_contained({"torch.aten.unbind.int", "torch.aten.split.Tensor",
                             "torch.aten.split_with_sizes", "torch.aten.split.sizes",
                             "torch.aten.chunk", "torch.aten.tensor_split.sections"},
                            name);
}

static std::optional<int64_t> getConstantInt(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getName().getStringRef() != "torch.constant.int")
    return std::nullopt;
  if (auto number = op->getAttrOfType<IntegerAttr>("value"))
    return number.getInt();
  return std::nullopt;
}

/// Start and size along the dim of every element that \p list, one of
/// isListOfViews, has; nothing if they are not known.
static std::optional<SmallVector<std::pair<int64_t, int64_t>>> getPieces(Operation *list,
                                                                         int64_t extent) {
  StringRef name = list->getName().getStringRef();
  SmallVector<std::pair<int64_t, int64_t>> pieces;
  int64_t start = 0;
  auto add = [&](int64_t size) {
    pieces.emplace_back(start, size);
    start += size;
  };
  if (name == "torch.aten.unbind.int") {
    while (start < extent)
      add(1);
    return pieces;
  }
  if (name == "torch.aten.split_with_sizes" || name == "torch.aten.split.sizes") {
    Operation *sizes = list->getOperand(1).getDefiningOp();
    if (!sizes || sizes->getName().getStringRef() != "torch.prim.ListConstruct")
      return std::nullopt;
    for (Value size : sizes->getOperands()) {
      std::optional<int64_t> number = getConstantInt(size);
      if (!number || *number < 0 || start + *number > extent)
        return std::nullopt;
      add(*number);
    }
    return pieces;
  }
  std::optional<int64_t> number = getConstantInt(list->getOperand(1));
  if (!number || *number < 1)
    return std::nullopt;
  if (name == "torch.aten.tensor_split.sections") {
    for (int64_t i = 0; i < *number; ++i)
      add(extent / *number + (i < extent % *number));
    return pieces;
  }
  int64_t size = name == "torch.aten.chunk" ? (extent + *number - 1) / *number : *number;
  do
    add(std::min(std::max<int64_t>(size, 1), extent - start));
  while (start < extent);
  return pieces;
}

/// Element \p index of the list of views that operand 0 is; null after refusing.
static Value buildListElement(Lowering &l, int64_t index, Type wanted) {
  Operation *list = l.op->getOperand(0).getDefiningOp();
  if (!list || !isListOfViews(list)) {
    (void)l.refuse("its list has unknown elements");
    return {};
  }
  Value source = getConverted(l, list->getOperand(0));
  if (!source)
    return {};
  std::optional<int64_t> dim = getConstantInt(list->getOperand(list->getNumOperands() - 1));
  if (dim)
    dim = l.normalizeDim(*dim, getTensorType(source).getRank());
  auto pieces = dim ? getPieces(list, getTensorType(source).getDimSize(*dim)) : std::nullopt;
  if (!pieces) {
    (void)l.refuse("the program computes where its list is cut");
    return {};
  }
  auto size = static_cast<int64_t>(pieces->size());
  if (index < 0)
    index += size;
  if (index < 0 || index >= size) {
    (void)l.refuse("its list has " + Twine(size) + " elements");
    return {};
  }
  auto [start, extent] = (*pieces)[index];
  Value value = list->getName().getStringRef() == "torch.aten.unbind.int"
                    ? buildSelect(l, source, *dim, start)
                    : buildSlice(l, source, *dim, start, extent);
  if (value.getType() == wanted)
    return value;
  (void)l.refuse("element " + Twine(index) + " of its list has another type");
  return {};
}

static LogicalResult lowerListUnpack(Lowering &l) {
  SmallVector<SmallVector<Value>> values;
  for (unsigned i = 0; i < l.op->getNumResults(); ++i) {
    Value value = buildListElement(l, i, l.getResultType(i));
    if (!value)
      return failure();
    values.push_back({value});
  }
  l.b.replaceOpWithMultiple(l.op, std::move(values));
  return success();
}

static LogicalResult lowerGetItem(Lowering &l) {
  std::optional<int64_t> index = l.getInt(1);
  Value value = index ? buildListElement(l, *index, l.getResultType()) : Value();
  return value ? l.replaceWith(value) : failure();
}

void torch_lowering::addMovement(HandlerTable &table) {
  for (const char *name : {"torch.aten.cat", "torch.aten.concat", "torch.aten.concatenate"})
    table[name] = lowerCat;
  table["torch.aten.stack"] = lowerStack;
  table["torch.aten.constant_pad_nd"] =
      onTensor([](Lowering &l) { return padWithConstant(l, l.getNumber(2)); });
  table["torch.aten.pad"] = onTensor(lowerPadMode);
  table["torch.aten.narrow"] = onTensor(lowerNarrow);
  table["torch.aten.roll"] = onTensor(lowerRoll);
  table["torch.aten.slice_scatter"] = onTensor(lowerSliceScatter);
  table["torch.aten.select_scatter"] = onTensor(lowerSelectScatter);
  table["torch.prim.ListUnpack"] = lowerListUnpack;
  table["torch.aten.__getitem__.t"] = lowerGetItem;
}
