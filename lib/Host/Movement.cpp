//===- Movement.cpp - Elements in other places ----------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies, casts, reshapes, and everything that says for each element of the result where it
// comes from.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

#include <algorithm>

namespace spyre::host {

/// The same elements in the same order, in the result's shape and type.
static bool copyAll(Call &call) {
  const Array &source = call.getArray(0);
  int64_t n = call.result.getNumElements();
  if (call.isOk() && source.getNumElements() != n)
    return call.refuse("the result has another number of elements");
  for (int64_t i = 0; call.isOk() && i < n; ++i)
    call.result.copy(i, source, i);
  return call.isOk();
}

//===----------------------------------------------------------------------===//
// Dims in another order
//===----------------------------------------------------------------------===//

static bool permuteBy(Call &call, const Array &source, const Ints &order) {
  Ints shape(order.size()), from(order.size());
  for (size_t d = 0; d < order.size(); ++d)
    shape[d] = source.shape[order[d]];
  return call.expectShape(shape) && gather(call, source, [&](Ints &at) {
           for (size_t d = 0; d < at.size(); ++d)
             from[order[d]] = at[d];
           at = from;
           return true;
         });
}

static Ints getIdentity(size_t rank) {
  Ints order(rank);
  for (size_t d = 0; d < rank; ++d)
    order[d] = static_cast<int64_t>(d);
  return order;
}

static bool permute(Call &call) {
  const Array &source = call.getArray(0);
  Ints order = call.getInts(1);
  for (int64_t &dim : order)
    dim = static_cast<int64_t>(call.checkDim(dim, source.shape.size()));
  Ints sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (call.isOk() && sorted != getIdentity(source.shape.size()))
    return call.refuse("does not name every dim once");
  return call.isOk() && permuteBy(call, source, order);
}

/// Dims \p a and \p b change places; without arguments the last two.
static Function transpose(bool isMatrix) {
  return [isMatrix](Call &call) {
    const Array &source = call.getArray(0);
    size_t rank = source.shape.size();
    if (call.isOk() && rank < (isMatrix ? 2 : 1))
      return copyAll(call);
    size_t a = isMatrix ? rank - 2 : call.getDim(1, rank),
           b = isMatrix ? rank - 1 : call.getDim(2, rank);
    if (!call.isOk())
      return false;
    Ints order = getIdentity(rank);
    std::swap(order[a], order[b]);
    return permuteBy(call, source, order);
  };
}

static bool reverseDims(Call &call) {
  const Array &source = call.getArray(0);
  Ints order = getIdentity(source.shape.size());
  std::reverse(order.begin(), order.end());
  return call.isOk() && permuteBy(call, source, order);
}

static bool moveDims(Call &call) {
  const Array &source = call.getArray(0);
  size_t rank = source.shape.size();
  Ints from = call.getInts(1), to = call.getInts(2), order(rank, -1);
  if (call.isOk() && (from.size() != to.size() || rank == 0))
    return call.refuse("needs as many destinations as sources");
  std::vector<bool> isMoved(rank);
  for (size_t i = 0; call.isOk() && i < from.size(); ++i) {
    size_t source = call.checkDim(from[i], rank), target = call.checkDim(to[i], rank);
    if (isMoved[source] || order[target] >= 0)
      return call.refuse("a dim is named twice");
    isMoved[source] = true;
    order[target] = static_cast<int64_t>(source);
  }
  size_t next = 0;
  for (int64_t &dim : order) {
    if (dim >= 0)
      continue;
    while (isMoved[next])
      ++next;
    dim = static_cast<int64_t>(next++);
  }
  return call.isOk() && permuteBy(call, source, order);
}

static Function shuffle(bool isInverse) {
  return [isInverse](Call &call) {
    const Array &source = call.getArray(0);
    int64_t factor = call.getInt(1);
    size_t rank = source.shape.size();
    if (!call.isOk() || rank < 3 || factor < 1)
      return call.refuse("needs an image and a factor of at least 1");
    Ints shape = source.shape;
    int64_t &c = shape[rank - 3], &h = shape[rank - 2], &w = shape[rank - 1];
    if (factor > 65536 || (isInverse ? h % factor || w % factor : c % (factor * factor)))
      return call.refuse("needs extents that the factor divides");
    c = isInverse ? c * factor * factor : c / (factor * factor);
    h = isInverse ? h / factor : h * factor;
    w = isInverse ? w / factor : w * factor;
    return call.expectShape(shape) && gather(call, source, [&](Ints &at) {
             int64_t &channel = at[rank - 3], &row = at[rank - 2], &column = at[rank - 1];
             if (isInverse) {
               row = row * factor + channel / factor % factor;
               column = column * factor + channel % factor;
               channel /= factor * factor;
             } else {
               channel = (channel * factor + row % factor) * factor + column % factor;
               row /= factor;
               column /= factor;
             }
             return true;
           });
  };
}

//===----------------------------------------------------------------------===//
// Elements more than once, or some of them
//===----------------------------------------------------------------------===//

/// The last dims of the result are those of the source; \p modulo: they repeat.
static bool spreadFrom(Call &call, const Array &source, bool modulo) {
  size_t rank = source.shape.size();
  if (!call.isOk() || rank > call.result.shape.size())
    return call.refuse("has fewer dims than its operand");
  for (size_t d = 0; d < rank; ++d) {
    int64_t extent = source.shape[d],
            wanted = call.result.shape[call.result.shape.size() - rank + d];
    if (modulo ? (extent == 0 ? wanted != 0 : wanted % extent != 0)
               : extent != 1 && extent != wanted)
      return call.refuse("the operand of shape " + toString(source.shape) + " does not become " +
                         toString(call.result.shape));
  }
  return gather(call, source, [&](Ints &at) {
    at.erase(at.begin(), at.end() - static_cast<int64_t>(rank));
    for (size_t d = 0; d < rank; ++d)
      at[d] = source.shape[d] == 1 ? 0 : at[d] % source.shape[d];
    return true;
  });
}

static Function spread(bool modulo) {
  return [modulo](Call &call) { return spreadFrom(call, call.getArray(0), modulo); };
}

static bool repeatEach(Call &call) {
  const Array &source = call.getArray(0);
  int64_t times = call.getInt(1);
  bool isFlat = !call.isGiven(2);
  size_t dim = isFlat ? 0 : call.getDim(2, source.shape.size());
  Ints shape = isFlat || source.shape.empty() ? Ints{source.getNumElements()} : source.shape;
  if (!call.isOk() || times < 0 || (times > 0 && shape[dim] > INT64_MAX / times))
    return call.refuse("repeats a number of times that is negative or too large");
  Array flat = source;
  flat.shape = shape;
  shape[dim] *= times;
  return call.expectShape(shape) && gather(call, flat, [&](Ints &at) {
           at[dim] /= times;
           return true;
         });
}

/// Each position as often as the argument says at it.
static bool listRepeats(Call &call) {
  const Array &repeats = call.getArray(0);
  if (!call.isOk() || repeats.shape.size() != 1 || !repeats.isInteger() ||
      call.result.shape.size() != 1)
    return call.refuse("needs one dim of integers");
  int64_t next = 0, end = call.result.shape[0];
  for (size_t i = 0; i < repeats.integers.size(); ++i) {
    int64_t times = repeats.integers[i];
    if (times < 0 || times > end - next)
      return call.refuse("the repeats do not add up to the result's " + std::to_string(end) +
                         " elements");
    for (int64_t k = 0; k < times; ++k)
      call.result.set(next++, static_cast<int64_t>(i));
  }
  return next == end || call.refuse("the repeats do not add up to the result's " +
                                    std::to_string(end) + " elements");
}

static bool slice(Call &call) {
  const Array &source = call.getArray(0);
  size_t dim = call.getDim(1, source.shape.size(), 0);
  if (!call.isOk() || source.shape.empty())
    return call.refuse("needs a dim to slice");
  std::optional<Slice> range = getSlice(call, 2, source.shape[dim]);
  Ints shape = source.shape;
  shape[dim] = range ? range->count : 0;
  return call.expectShape(shape) && gather(call, source, [&](Ints &at) {
           at[dim] = range->begin + at[dim] * range->step;
           return true;
         });
}

static bool narrow(Call &call) {
  const Array &source = call.getArray(0);
  size_t dim = call.getDim(1, source.shape.size());
  int64_t start = call.getInt(2), length = call.getInt(3);
  if (!call.isOk() || source.shape.empty())
    return call.refuse("needs a dim to narrow");
  start += start < 0 ? source.shape[dim] : 0;
  if (start < 0 || length < 0 || start > source.shape[dim] || length > source.shape[dim] - start)
    return call.refuse("an index is out of bounds");
  Ints shape = source.shape;
  shape[dim] = length;
  return call.expectShape(shape) && gather(call, source, [&](Ints &at) {
           at[dim] += start;
           return true;
         });
}

static bool selectOne(Call &call) {
  const Array &source = call.getArray(0);
  size_t dim = call.getDim(1, source.shape.size());
  int64_t index = call.getInt(2);
  if (!call.isOk() || source.shape.empty())
    return call.refuse("needs a dim to select from");
  Ints shape = source.shape;
  index += index < 0 ? shape[dim] : 0;
  if (index < 0 || index >= shape[dim])
    return call.refuse("an index is out of bounds");
  shape.erase(shape.begin() + static_cast<int64_t>(dim));
  return call.expectShape(shape) && gather(call, source, [&](Ints &at) {
           at.insert(at.begin() + static_cast<int64_t>(dim), index);
           return true;
         });
}

static bool diagonal(Call &call) {
  const Array &source = call.getArray(0);
  std::optional<Diagonal> line = getDiagonal(call, 1, source.shape);
  return line && call.expectShape(line->shape) && gather(call, source, [&](Ints &at) {
           at = line->locate(at);
           return true;
         });
}

/// A new pair of dims, whose diagonal is the last dim.
static bool embedDiagonal(Call &call) {
  const Array &source = call.getArray(0);
  size_t rank = source.shape.size() + 1;
  int64_t offset = call.getInt(1, 0);
  size_t first = call.getDim(2, rank, -2), second = call.getDim(3, rank, -1);
  if (!call.isOk() || source.shape.empty() || first == second || offset < -kMaxStep ||
      offset > kMaxStep)
    return call.refuse("needs two dims and an offset in range");
  int64_t extent = source.shape.back() + std::abs(offset);
  Ints shape(source.shape.begin(), source.shape.end() - 1);
  for (size_t dim : {std::min(first, second), std::max(first, second)})
    shape.insert(shape.begin() + static_cast<int64_t>(dim), extent);
  return call.expectShape(shape) && gather(call, source, [&](Ints &at) {
           int64_t row = at[first], column = at[second];
           if (column - row != offset)
             return false;
           at.erase(at.begin() + static_cast<int64_t>(std::max(first, second)));
           at.erase(at.begin() + static_cast<int64_t>(std::min(first, second)));
           at.push_back(std::min(row, column));
           return true;
         });
}

static bool stride(Call &call) {
  const Array &source = call.getArray(0);
  Ints size = call.getInts(1), strides = call.getInts(2);
  int64_t offset = call.getInt(3, 0);
  if (!call.expectShape(size))
    return false;
  int64_t last = offset, first = offset;
  for (size_t d = 0; d < size.size(); ++d) {
    if (strides.size() != size.size() || strides[d] < 0 || strides[d] > kMaxStep)
      return call.refuse("needs a stride of at least 0 for every dim");
    last += std::max<int64_t>(size[d] - 1, 0) * strides[d];
    if (last > kMaxStep)
      break;
  }
  int64_t n = call.result.getNumElements();
  if (n > 0 && (first < 0 || last >= source.getNumElements()))
    return call.refuse("an index is out of bounds");
  Odometer at(size);
  for (int64_t i = 0; i < n; ++i, at.advance())
    call.result.copy(i, source, offset + getIndex(strides, at.get()));
  return true;
}

static bool flip(Call &call) {
  const Array &source = call.getArray(0);
  Ints dims = call.getInts(1);
  for (int64_t &dim : dims)
    dim = static_cast<int64_t>(call.checkDim(dim, source.shape.size()));
  return call.expectShape(source.shape) && gather(call, source, [&](Ints &at) {
           for (int64_t dim : dims)
             if (!at.empty())
               at[dim] = source.shape[dim] - 1 - at[dim];
           return true;
         });
}

static bool roll(Call &call) {
  const Array &source = call.getArray(0);
  Ints shifts = call.getInts(1), dims = call.isGiven(2) ? call.getInts(2) : Ints();
  if (!call.expectShape(source.shape))
    return false;
  int64_t n = source.getNumElements();
  auto turn = [](int64_t at, int64_t shift, int64_t extent) {
    return ((at - shift % extent) % extent + extent) % extent;
  };
  if (dims.empty()) {
    for (int64_t i = 0; i < n && shifts.size() == 1; ++i)
      call.result.copy(i, source, turn(i, shifts[0], n));
    return shifts.size() == 1 || call.refuse("needs one shift if no dims are given");
  }
  for (int64_t &dim : dims)
    dim = static_cast<int64_t>(call.checkDim(dim, source.shape.size()));
  if (!call.isOk() || shifts.size() != dims.size() || source.shape.empty())
    return call.refuse("needs a shift for every dim");
  return gather(call, source, [&](Ints &at) {
    for (size_t k = 0; k < dims.size(); ++k)
      at[dims[k]] = turn(at[dims[k]], shifts[k], source.shape[dims[k]]);
    return true;
  });
}

static bool unfold(Call &call) {
  const Array &source = call.getArray(0);
  size_t dim = call.getDim(1, source.shape.size());
  int64_t size = call.getInt(2), step = call.getInt(3);
  int64_t extent = source.shape.empty() ? 1 : source.shape[dim];
  if (!call.isOk() || size < 0 || size > extent || step < 1)
    return call.refuse("needs a size within the dim and a step of at least 1");
  Ints shape = source.shape;
  if (!shape.empty())
    shape[dim] = (extent - size) / step + 1;
  shape.push_back(size);
  return call.expectShape(shape) && gather(call, source, [&](Ints &at) {
           if (at.size() > 1)
             at[dim] = at[dim] * step + at.back();
           at.pop_back();
           return true;
         });
}

static Function triangle(bool isUpper) {
  return [isUpper](Call &call) {
    const Array &source = call.getArray(0);
    int64_t line = call.getInt(1, 0);
    size_t rank = source.shape.size();
    if (!call.isOk() || rank < 2)
      return call.refuse("is no matrix");
    return call.expectShape(source.shape) && gather(call, source, [&](Ints &at) {
             int64_t distance = at[rank - 1] - at[rank - 2];
             return isUpper ? distance >= line : distance <= line;
           });
  };
}

void addMovement(Table &table) {
  addAll(table,
         {"aten.clone",
          "aten.detach",
          "aten.alias",
          "aten.contiguous",
          "aten.lift_fresh_copy",
          "aten._to_copy",
          "aten.to.dtype",
          "aten.to.dtype_layout",
          "aten.to.device",
          "aten.to.prim_Device",
          "aten.type_as",
          "aten.to.other",
          "prims.convert_element_type",
          "prims.view_of",
          "aten.view",
          "aten.view_copy",
          "aten.reshape",
          "aten._unsafe_view",
          "aten._reshape_alias",
          "aten._reshape_copy",
          "aten.unsqueeze",
          "aten.squeeze",
          "aten.squeeze.dim",
          "aten.squeeze.dims",
          "prims.squeeze",
          "aten.flatten.using_ints",
          "aten.unflatten.int",
          "aten.ravel",
          "prims.collapse",
          "prims.split_dim",
          "aten.view_as",
          "aten.reshape_as",
          "aten.atleast_1d",
          "aten.atleast_2d",
          "aten.atleast_3d"},
         copyAll);
  table["aten.permute"] = permute;
  addAll(table, {"aten.transpose.int", "aten.swapaxes", "aten.swapdims"}, transpose(false));
  addAll(table, {"aten.t", "aten.mT"}, transpose(true));
  table["aten.numpy_T"] = reverseDims;
  addAll(table, {"aten.movedim.int", "aten.movedim.intlist"}, moveDims);
  table["aten.pixel_shuffle"] = shuffle(false);
  table["aten.pixel_unshuffle"] = shuffle(true);
  addAll(table, {"aten.expand", "aten.broadcast_to", "aten.expand_as"}, spread(false));
  addAll(table, {"aten.repeat", "aten.tile"}, spread(true));
  table["aten.repeat_interleave.self_int"] = repeatEach;
  table["aten.repeat_interleave.Tensor"] = listRepeats;
  table["aten.slice.Tensor"] = slice;
  table["aten.narrow"] = narrow;
  table["aten.select.int"] = selectOne;
  table["aten.diagonal"] = diagonal;
  table["aten.diag_embed"] = embedDiagonal;
  table["aten.as_strided"] = stride;
  table["aten.flip"] = flip;
  table["aten.roll"] = roll;
  table["aten.unfold"] = unfold;
  table["aten.tril"] = triangle(false);
  table["aten.triu"] = triangle(true);
  // Of the source, in the type and shape of the target.
  table["aten.copy"] = [](Call &call) {
    const Array &target = call.getArray(0), &source = call.getArray(1);
    if (!call.expectShape(target.shape))
      return false;
    return spreadFrom(call, source, false);
  };
  addJoining(table);
}

} // namespace spyre::host
