//===- Movement.cpp - Elements in other places ----------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies, casts, reshapes, and everything that says for each element of the result
// where it comes from.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include <algorithm>

namespace spyre::host {

using Coordinates = std::vector<int64_t>;

/// The same elements in the same order, in the result's shape and type.
static bool copyAll(Call &call) {
  const Array *source = call.getArray(0);
  if (!source)
    return false;
  int64_t n = call.result.getNumElements();
  if (source->getNumElements() != n)
    return call.refuse("the result has another number of elements");
  for (int64_t i = 0; i < n; ++i)
    call.copy(i, *source, i);
  return true;
}

/// \p getSource maps coordinates of the result to coordinates of \p source, in place.
template <typename Map> static bool gather(Call &call, const Array &source, Map getSource) {
  Odometer walk(call.result.shape);
  Coordinates at;
  for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i, walk.advance()) {
    at = walk.get();
    getSource(at);
    int64_t index = 0;
    if (at.size() != source.shape.size())
      return call.refuse("ranks do not fit");
    for (size_t d = 0; d < at.size(); ++d) {
      if (at[d] < 0 || at[d] >= source.shape[d])
        return call.refuse("an index is out of bounds");
      index = index * source.shape[d] + at[d];
    }
    call.copy(i, source, index);
  }
  return true;
}

static bool permuteBy(Call &call, const Array &source, const std::vector<int64_t> &order) {
  Coordinates from;
  return gather(call, source, [&](Coordinates &at) {
    from.resize(at.size());
    for (size_t d = 0; d < at.size(); ++d)
      from[order[d]] = at[d];
    at.swap(from);
  });
}

static bool permute(Call &call) {
  const Array *source = call.getArray(0);
  std::optional<std::vector<int64_t>> order = source ? call.getInts(1) : std::nullopt;
  if (!order)
    return false;
  if (order->size() != source->shape.size())
    return call.refuse("does not name every dim");
  for (int64_t &dim : *order) {
    std::optional<int64_t> normal = normalizeDim(dim, order->size());
    if (!normal)
      return call.refuse("a dim does not exist");
    dim = *normal;
  }
  return permuteBy(call, *source, *order);
}

static Function transpose(bool isMatrix) {
  return [isMatrix](Call &call) {
    const Array *source = call.getArray(0);
    if (!source)
      return false;
    size_t rank = source->shape.size();
    if (isMatrix && rank < 2)
      return copyAll(call);
    std::optional<int64_t> a = isMatrix ? std::optional<int64_t>(-2) : call.getInt(1),
                           b = isMatrix ? std::optional<int64_t>(-1) : call.getInt(2);
    a = a ? normalizeDim(*a, rank) : a;
    b = b ? normalizeDim(*b, rank) : b;
    if (!a || !b)
      return call.refuse("a dim does not exist");
    std::vector<int64_t> order(rank);
    for (size_t d = 0; d < rank; ++d)
      order[d] = static_cast<int64_t>(d);
    std::swap(order[*a], order[*b]);
    return permuteBy(call, *source, order);
  };
}

static bool expand(Call &call) {
  const Array *source = call.getArray(0);
  if (!source || source->shape.size() > call.result.shape.size())
    return call.refuse("does not broadcast");
  return gather(call, *source, [&](Coordinates &at) {
    at.erase(at.begin(), at.end() - static_cast<int64_t>(source->shape.size()));
    for (size_t d = 0; d < at.size(); ++d)
      if (source->shape[d] == 1)
        at[d] = 0;
  });
}

static bool repeat(Call &call) {
  const Array *source = call.getArray(0);
  if (!source || source->shape.size() > call.result.shape.size())
    return call.refuse("does not repeat");
  return gather(call, *source, [&](Coordinates &at) {
    at.erase(at.begin(), at.end() - static_cast<int64_t>(source->shape.size()));
    for (size_t d = 0; d < at.size(); ++d)
      at[d] = source->shape[d] ? at[d] % source->shape[d] : 0;
  });
}

static bool slice(Call &call) {
  const Array *source = call.getArray(0);
  std::optional<int64_t> dim = source ? call.getIntOr(1, 0) : std::nullopt,
                         start = dim ? call.getIntOr(2, 0) : dim,
                         step = start ? call.getIntOr(4, 1) : start;
  if (!step)
    return false;
  dim = normalizeDim(*dim, source->shape.size());
  if (!dim)
    return call.refuse("a dim does not exist");
  int64_t extent = source->shape[*dim],
          first = std::clamp<int64_t>(*start < 0 ? *start + extent : *start, 0, extent);
  return gather(call, *source, [&](Coordinates &at) { at[*dim] = first + at[*dim] * *step; });
}

static bool selectOne(Call &call) {
  const Array *source = call.getArray(0);
  std::optional<int64_t> dim = source ? call.getInt(1) : std::nullopt,
                         index = dim ? call.getInt(2) : dim;
  if (!index)
    return false;
  dim = normalizeDim(*dim, source->shape.size());
  if (!dim)
    return call.refuse("a dim does not exist");
  int64_t at0 = *index < 0 ? *index + source->shape[*dim] : *index;
  return gather(call, *source, [&](Coordinates &at) { at.insert(at.begin() + *dim, at0); });
}

static bool flip(Call &call) {
  const Array *source = call.getArray(0);
  std::optional<std::vector<int64_t>> dims = source ? call.getInts(1) : std::nullopt;
  if (!dims)
    return false;
  for (int64_t &dim : *dims) {
    std::optional<int64_t> normal = normalizeDim(dim, source->shape.size());
    if (!normal)
      return call.refuse("a dim does not exist");
    dim = *normal;
  }
  return gather(call, *source, [&](Coordinates &at) {
    for (int64_t dim : *dims)
      at[dim] = source->shape[dim] - 1 - at[dim];
  });
}

/// Arrays one behind the other; \p isNewDim: each is one place of a new dim.
static Function join(bool isNewDim) {
  return [isNewDim](Call &call) {
    std::optional<std::vector<const Array *>> parts = call.getArrays(0);
    std::optional<int64_t> dim = parts ? call.getIntOr(1, 0) : std::nullopt;
    dim = dim ? normalizeDim(*dim, call.result.shape.size()) : dim;
    if (!dim)
      return call.refuse("a dim does not exist");
    int64_t inner = 1, outer = 1, rows = call.result.shape[*dim], begin = 0;
    for (size_t d = *dim + 1; d < call.result.shape.size(); ++d)
      inner *= call.result.shape[d];
    for (int64_t d = 0; d < *dim; ++d)
      outer *= call.result.shape[d];
    for (const Array *part : *parts) {
      int64_t count = part->getNumElements();
      // Joining skips empty tensors of any shape.
      if (count == 0)
        continue;
      int64_t size = isNewDim ? 1 : part->shape.empty() ? 0 : part->shape[*dim];
      if (size * inner * outer != count || begin + size > rows)
        return call.refuse("a part does not fit");
      for (int64_t i = 0; i < count; ++i)
        call.copy((i / (size * inner) * rows + begin) * inner + i % (size * inner), *part, i);
      begin += size;
    }
    return begin == rows || call.refuse("the parts do not fill the result");
  };
}

static Function triangle(bool isUpper) {
  return [isUpper](Call &call) {
    const Array *source = call.getArray(0);
    std::optional<int64_t> diagonal = source ? call.getIntOr(1, 0) : std::nullopt;
    if (!diagonal)
      return false;
    if (source->shape.size() < 2 || source->shape != call.result.shape)
      return call.refuse("is no matrix");
    int64_t columns = source->shape.back(), rows = source->shape[source->shape.size() - 2];
    for (int64_t i = 0, n = source->getNumElements(); i < n; ++i) {
      int64_t distance = i % columns - i / columns % rows;
      if (isUpper ? distance >= *diagonal : distance <= *diagonal)
        call.copy(i, *source, i);
    }
    return true;
  };
}

static bool cumulate(Call &call) {
  const Array *source = call.getArray(0);
  std::optional<int64_t> dim = source ? call.getInt(1) : std::nullopt;
  dim = dim ? normalizeDim(*dim, source->shape.size()) : dim;
  if (!dim)
    return call.refuse("a dim does not exist");
  int64_t inner = 1, extent = source->shape[*dim];
  for (size_t d = *dim + 1; d < source->shape.size(); ++d)
    inner *= source->shape[d];
  std::vector<double> sums(inner);
  std::vector<uint64_t> integerSums(inner); // which wrap
  for (int64_t i = 0, n = source->getNumElements(); i < n; ++i) {
    int64_t lane = i % inner;
    if (i / inner % extent == 0)
      sums[lane] = 0, integerSums[lane] = 0;
    // Each element in the result's type, then the sum.
    call.copy(i, *source, i);
    if (call.result.isFloat())
      call.set(i, sums[lane] += call.result.numbers[i]);
    else
      call.set(i, static_cast<int64_t>(integerSums[lane] +=
                                       static_cast<uint64_t>(call.result.integers[i])));
  }
  return true;
}

void addMovement(Table &table) {
  for (const char *name : {"aten.clone",
                           "aten.detach",
                           "aten.alias",
                           "aten.contiguous",
                           "aten.lift_fresh_copy",
                           "aten._to_copy",
                           "aten.to.dtype",
                           "aten.to.dtype_layout",
                           "aten.type_as",
                           "aten.to.other",
                           "prims.convert_element_type",
                           "aten.view",
                           "aten.reshape",
                           "aten._unsafe_view",
                           "aten._reshape_alias",
                           "aten.unsqueeze",
                           "aten.squeeze",
                           "aten.squeeze.dim",
                           "prims.squeeze",
                           "aten.flatten.using_ints",
                           "aten.unflatten.int",
                           "prims.collapse",
                           "prims.split_dim",
                           "aten.view_as"})
    table[name] = copyAll;
  table["aten.permute"] = permute;
  table["aten.transpose.int"] = transpose(false);
  table["aten.t"] = transpose(true);
  table["aten.mT"] = transpose(true);
  for (const char *name : {"aten.expand", "aten.broadcast_to", "aten.expand_as"})
    table[name] = expand;
  table["aten.repeat"] = repeat;
  table["aten.slice.Tensor"] = slice;
  table["aten.select.int"] = selectOne;
  table["aten.flip"] = flip;
  table["aten.cat"] = join(false);
  table["aten.stack"] = join(true);
  table["aten.tril"] = triangle(false);
  table["aten.triu"] = triangle(true);
  table["aten.cumsum"] = cumulate;
}

} // namespace spyre::host
