//===- ShapeRulesOfMovement.cpp - Shapes of views and copies --------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See InferShapes.cpp.
//
//===----------------------------------------------------------------------===//

#include "ShapeRules.h"

#include "llvm/Support/CheckedArithmetic.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// view(x, sizes), where one of them may be -1.
std::optional<Shapes> torch_lowering::inferView(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0), sizes = o.getInts(1);
  std::optional<int64_t> count = shape ? getProduct(*shape) : std::nullopt;
  if (!count || !sizes)
    return std::nullopt;
  int64_t *open = nullptr;
  for (int64_t &size : *sizes)
    if (size == -1) {
      if (open)
        return std::nullopt;
      open = &size;
    } else if (size < 0) {
      return std::nullopt;
    }
  if (open) {
    *open = 1;
    std::optional<int64_t> others = getProduct(*sizes);
    if (!others || *others == 0 || *count % *others != 0)
      return std::nullopt;
    *open = *count / *others;
  }
  return getProduct(*sizes) == count ? one(sizes) : std::nullopt;
}

/// expand(x, sizes, …): -1 keeps a size.
std::optional<Shapes> torch_lowering::inferExpand(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0), sizes = o.getInts(1);
  if (!shape || !sizes || sizes->size() < shape->size())
    return std::nullopt;
  size_t lead = sizes->size() - shape->size();
  for (auto [i, size] : llvm::enumerate(*sizes)) {
    int64_t own = i < lead ? 1 : (*shape)[i - lead];
    if (size == -1 && i >= lead)
      size = own;
    if (size < 0 || (own != 1 && own != size))
      return std::nullopt;
  }
  return one(sizes);
}

std::optional<Shapes> torch_lowering::inferPermute(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0), dims = o.getInts(1);
  if (!shape || !dims || dims->size() != shape->size())
    return std::nullopt;
  Shape result;
  for (int64_t dim : *dims) {
    std::optional<int64_t> at = Operands::normalize(dim, shape->size());
    if (!at)
      return std::nullopt;
    result.push_back((*shape)[*at]);
  }
  return one(result);
}

std::optional<Shapes> torch_lowering::inferTranspose(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0);
  if (!shape)
    return std::nullopt;
  if (shape->empty())
    return one(shape);
  std::optional<int64_t> a = o.getDim(1, shape->size()), b = o.getDim(2, shape->size());
  if (!a || !b)
    return std::nullopt;
  std::swap((*shape)[*a], (*shape)[*b]);
  return one(shape);
}

std::optional<Shapes> torch_lowering::inferMoveDim(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0);
  if (!shape || shape->empty())
    return shape ? one(shape) : std::nullopt;
  std::optional<int64_t> from = o.getDim(1, shape->size()), to = o.getDim(2, shape->size());
  if (!from || !to)
    return std::nullopt;
  int64_t size = (*shape)[*from];
  shape->erase(shape->begin() + *from);
  shape->insert(shape->begin() + *to, size);
  return one(shape);
}

/// t, numpy_T, mT: the last two dims (all of at most two).
std::optional<Shapes> torch_lowering::inferT(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0);
  if (!shape || (shape->size() > 2 && torch_reader::getShortName(o.op) != "aten.mT"))
    return std::nullopt;
  if (shape->size() >= 2)
    std::swap((*shape)[shape->size() - 1], (*shape)[shape->size() - 2]);
  return one(shape);
}

std::optional<Shapes> torch_lowering::inferUnsqueeze(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0);
  std::optional<int64_t> dim = shape ? o.getDim(1, shape->size() + 1) : std::nullopt;
  if (!dim)
    return std::nullopt;
  shape->insert(shape->begin() + *dim, 1);
  return one(shape);
}

/// squeeze(x), squeeze.dim(x, dim), squeeze.dims and prims.squeeze(x, dims).
std::optional<Shapes> torch_lowering::inferSqueeze(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0);
  if (!shape)
    return std::nullopt;
  Shape dims;
  if (o.size() == 1)
    dims = llvm::to_vector(llvm::seq<int64_t>(0, shape->size()));
  else if (std::optional<Shape> list = o.getInts(1))
    dims = std::move(*list);
  else if (std::optional<int64_t> dim = o.getInt(1))
    dims = {*dim};
  else
    return std::nullopt;
  SmallVector<bool> drop(shape->size(), false);
  for (int64_t dim : dims) {
    std::optional<int64_t> at = Operands::normalize(dim, shape->size());
    if (!at)
      return std::nullopt;
    drop[*at] = (*shape)[*at] == 1;
  }
  Shape result;
  for (auto [size, dropped] : llvm::zip(*shape, drop))
    if (!dropped)
      result.push_back(size);
  return one(result);
}

/// slice.Tensor(x, dim, start, end, step): bounds from the end if negative.
std::optional<Shapes> torch_lowering::inferSlice(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0);
  std::optional<int64_t> dim = shape ? o.getDim(1, shape->size()) : std::nullopt,
                         step = o.getInt(4);
  if (!dim || !step || *step < 1)
    return std::nullopt;
  int64_t extent = (*shape)[*dim];
  auto getBound = [&](unsigned i, int64_t otherwise) -> std::optional<int64_t> {
    std::optional<int64_t> given = o.isNone(i) ? otherwise : o.getInt(i);
    if (!given)
      return std::nullopt;
    return std::clamp<int64_t>(*given < 0 ? *given + extent : *given, 0, extent);
  };
  std::optional<int64_t> start = getBound(2, 0), end = getBound(3, extent);
  if (!start || !end)
    return std::nullopt;
  (*shape)[*dim] = *end > *start ? (*end - *start - 1) / *step + 1 : 0;
  return one(shape);
}

std::optional<Shapes> torch_lowering::inferSelect(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0);
  std::optional<int64_t> dim = shape ? o.getDim(1, shape->size()) : std::nullopt;
  if (!dim)
    return std::nullopt;
  shape->erase(shape->begin() + *dim);
  return one(shape);
}

/// flatten.using_ints(x, first, last).
std::optional<Shapes> torch_lowering::inferFlatten(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0);
  if (shape && shape->empty())
    return one(Shape{1});
  std::optional<int64_t> first = shape ? o.getDim(1, shape->size()) : std::nullopt,
                         last = shape ? o.getDim(2, shape->size()) : std::nullopt;
  if (!first || !last || *first > *last)
    return std::nullopt;
  std::optional<int64_t> count = getProduct(ArrayRef(*shape).slice(*first, *last - *first + 1));
  if (!count)
    return std::nullopt;
  shape->erase(shape->begin() + *first, shape->begin() + *last);
  (*shape)[*first] = *count;
  return one(shape);
}

/// unflatten.int(x, dim, sizes), one of which may be -1.
std::optional<Shapes> torch_lowering::inferUnflatten(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0), sizes = o.getInts(2);
  std::optional<int64_t> dim = shape ? o.getDim(1, shape->size()) : std::nullopt;
  if (!dim || !sizes)
    return std::nullopt;
  int64_t others = 1, *open = nullptr;
  for (int64_t &size : *sizes) {
    std::optional<int64_t> product = llvm::checkedMul(others, size == -1 ? 1 : size);
    if (size < -1 || (size == -1 && open) || !product)
      return std::nullopt;
    others = *product;
    open = size == -1 ? &size : open;
  }
  int64_t extent = (*shape)[*dim];
  if (open && (others == 0 || extent % others != 0))
    return std::nullopt;
  if (open)
    *open = extent / others;
  shape->erase(shape->begin() + *dim);
  shape->insert(shape->begin() + *dim, sizes->begin(), sizes->end());
  return one(shape);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

std::optional<Shapes> torch_lowering::inferCat(const Operands &o) {
  std::optional<SmallVector<Shape>> parts = o.getShapes(0);
  if (!parts || parts->empty())
    return std::nullopt;
  // Empty tensors of one dim count for nothing, whatever the others' rank is.
  std::optional<Shape> result;
  for (const Shape &part : *parts) {
    if (part == Shape{0} && parts->size() > 1)
      continue;
    if (!result) {
      result = part;
      continue;
    }
    std::optional<int64_t> dim = o.getDim(1, result->size());
    if (!dim || part.size() != result->size())
      return std::nullopt;
    (*result)[*dim] += part[*dim];
  }
  return one(result ? result : Shape{0});
}

std::optional<Shapes> torch_lowering::inferStack(const Operands &o) {
  std::optional<SmallVector<Shape>> parts = o.getShapes(0);
  if (!parts || parts->empty() || !llvm::all_equal(*parts))
    return std::nullopt;
  Shape result = parts->front();
  std::optional<int64_t> dim = o.getDim(1, result.size() + 1);
  if (!dim)
    return std::nullopt;
  result.insert(result.begin() + *dim, parts->size());
  return one(result);
}

/// repeat(x, counts), tile(x, counts).
std::optional<Shapes> torch_lowering::inferRepeat(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0), counts = o.getInts(1);
  if (!shape || !counts)
    return std::nullopt;
  if (torch_reader::getShortName(o.op) == "aten.tile")
    while (counts->size() < shape->size())
      counts->insert(counts->begin(), 1);
  if (counts->size() < shape->size())
    return std::nullopt;
  for (size_t i = 0, lead = counts->size() - shape->size(); i < shape->size(); ++i) {
    std::optional<int64_t> size = llvm::checkedMul((*counts)[lead + i], (*shape)[i]);
    if (!size)
      return std::nullopt;
    (*counts)[lead + i] = *size;
  }
  return llvm::any_of(*counts, [](int64_t size) { return size < 0; }) ? std::nullopt : one(counts);
}

/// constant_pad_nd(x, [before, after, …] from the last dim on).
std::optional<Shapes> torch_lowering::inferPad(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0), pads = o.getInts(1);
  if (!shape || !pads || pads->size() % 2 != 0 || pads->size() / 2 > shape->size())
    return std::nullopt;
  for (size_t i = 0; i < pads->size() / 2; ++i) {
    int64_t &size = (*shape)[shape->size() - 1 - i];
    std::optional<int64_t> sum = llvm::checkedAdd((*pads)[2 * i], (*pads)[2 * i + 1]);
    sum = sum ? llvm::checkedAdd(*sum, size) : std::nullopt;
    if (!sum || *sum < 0)
      return std::nullopt;
    size = *sum;
  }
  return one(shape);
}

/// index_select(x, dim, index).
std::optional<Shapes> torch_lowering::inferIndexSelect(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0), index = o.getShape(2);
  if (!shape || !index || index->size() > 1)
    return std::nullopt;
  if (shape->empty())
    return one(shape);
  std::optional<int64_t> dim = o.getDim(1, shape->size());
  if (!dim)
    return std::nullopt;
  (*shape)[*dim] = index->empty() ? 1 : index->front();
  return one(shape);
}

/// embedding(table, index, …).
std::optional<Shapes> torch_lowering::inferEmbedding(const Operands &o) {
  std::optional<Shape> table = o.getShape(0), index = o.getShape(1);
  if (!table || !index || table->size() != 2)
    return std::nullopt;
  index->push_back(table->back());
  return one(index);
}

/// index.Tensor(x, [index or none, …]): the indices' common shape stands where the first
/// of them does, or in front if others lie between them. Bools are not counted here.
std::optional<Shapes> torch_lowering::inferIndex(const Operands &o) {
  std::optional<Shape> shape = o.getShape(0);
  std::optional<OperandRange> indices =
      o.size() > 1 ? torch_reader::getListElements(o.op->getOperand(1)) : std::nullopt;
  if (!shape || !indices || indices->size() > shape->size())
    return std::nullopt;
  SmallVector<Shape> shapes;
  Shape kept;
  std::optional<size_t> first, last;
  for (auto [i, index] : llvm::enumerate(*indices)) {
    if (torch_reader::isNone(index)) {
      kept.push_back((*shape)[i]);
      continue;
    }
    std::optional<Shape> one = Operands::getShape(index);
    Type element = torch_reader::getTensorElementType(index.getType());
    if (!one || !element || element.isInteger(1) || element.isInteger(8))
      return std::nullopt;
    shapes.push_back(std::move(*one));
    first = first.value_or(i);
    last = i;
  }
  std::optional<Shape> common = broadcastAll(shapes);
  if (!common || !first)
    return std::nullopt;
  bool isAdjacent = *last - *first + 1 == shapes.size();
  kept.append(shape->begin() + indices->size(), shape->end());
  kept.insert(kept.begin() + (isAdjacent ? *first : 0), common->begin(), common->end());
  return one(kept);
}
