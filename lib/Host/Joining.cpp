//===- Joining.cpp - Arrays made of others --------------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Joining, padding, and other readings of the same bytes.
//
//===----------------------------------------------------------------------===//

#include "Movement.h"

#include <algorithm>

namespace spyre::host {

//===----------------------------------------------------------------------===//
// Joining and padding
//===----------------------------------------------------------------------===//

/// Arrays one behind the other; \p isNewDim: each is one place of a new dim.
static Function join(bool isNewDim) {
  return [isNewDim](Call &call) {
    std::vector<const Array *> parts = call.getArrays(0);
    const Ints &shape = call.result.shape;
    size_t dim = call.getDim(1, shape.size(), 0);
    if (!call.isOk() || shape.empty())
      return call.refuse("needs a dim to join along");
    int64_t inner = getProduct(shape, dim + 1, shape.size()), rows = shape[dim], begin = 0;
    for (const Array *part : parts) {
      // Joining skips empty tensors of one dim.
      if (!isNewDim && part->shape == Ints{0})
        continue;
      Ints fitting = shape;
      int64_t size = isNewDim ? 1 : part->shape.size() == shape.size() ? part->shape[dim] : -1;
      if (isNewDim)
        fitting.erase(fitting.begin() + static_cast<int64_t>(dim));
      else
        fitting[dim] = size;
      if (part->shape != fitting || size > rows - begin)
        return call.refuse("a part of shape " + toString(part->shape) + " does not fit into " +
                           toString(shape));
      for (int64_t i = 0, n = part->getNumElements(); i < n; ++i)
        call.result.copy((i / (size * inner) * rows + begin) * inner + i % (size * inner), *part,
                         i);
      begin += size;
    }
    return begin == rows || call.refuse("the parts do not fill the result");
  };
}

/// Parts that are counted: there cannot be as many results.
static constexpr int64_t kMaxParts = int64_t(1) << 20;

namespace {
/// How an operation says where to split.
enum class Parts { Size, Sizes, Count, EvenCount, Each };
} // namespace

/// Extents of the parts of a dim of \p rows.
static Ints getPartSizes(Call &call, Parts kind, int64_t rows) {
  if (kind == Parts::Sizes)
    return call.getInts(1);
  if (kind == Parts::Each)
    return Ints(rows, 1);
  int64_t number = call.getInt(1);
  if (number < (rows == 0 && kind == Parts::Size ? 0 : 1)) {
    call.refuse("needs parts of at least one element");
    return {};
  }
  int64_t size = kind == Parts::Size ? std::max<int64_t>(number, 1) : (rows - 1) / number + 1;
  Ints sizes;
  if (kind == Parts::EvenCount) {
    for (int64_t i = 0; i < std::min(number, kMaxParts); ++i)
      sizes.push_back(rows / number + (i < rows % number));
    return sizes;
  }
  for (int64_t begin = 0; begin < rows; begin += size)
    sizes.push_back(std::min(size, rows - begin));
  // Of nothing, as many empty parts as were asked for.
  if (rows == 0)
    sizes.assign(kind == Parts::Count ? std::min(number, kMaxParts) : 1, 0);
  return sizes;
}

/// The operand's parts along a dim, one a result; Each are without the dim.
static Function split(Parts kind, size_t dimArgument) {
  return [=](Call &call) {
    const Array &source = call.getArray(0);
    size_t dim = call.getDim(dimArgument, source.shape.size(), 0);
    if (!call.isOk() || source.shape.empty())
      return call.refuse("needs a dim to split");
    int64_t inner = getProduct(source.shape, dim + 1, source.shape.size()),
            outer = getProduct(source.shape, 0, dim), rows = source.shape[dim], begin = 0;
    Ints sizes = getPartSizes(call, kind, rows);
    if (call.isOk() && !call.expectResults(sizes.size()))
      return false;
    for (size_t k = 0; k < call.results.size() && call.isOk(); ++k) {
      int64_t size = sizes[k];
      if (size < 0 || size > rows - begin)
        return call.refuse("the parts are not those of a dim of " + std::to_string(rows));
      Ints shape = source.shape;
      shape[dim] = size;
      if (kind == Parts::Each)
        shape.erase(shape.begin() + static_cast<int64_t>(dim));
      if (!call.expectShape(shape, k))
        return false;
      for (int64_t i = 0, n = outer * size * inner; i < n; ++i)
        call.results[k].copy(i, source,
                             (i / (size * inner) * rows + begin) * inner + i % (size * inner));
      begin += size;
    }
    return call.isOk();
  };
}

namespace {
enum class Padding { Constant, Reflect, Replicate, Circular };
} // namespace

/// Pairs of argument 1, from the last dim on.
static bool padBy(Call &call, Padding kind, size_t valueArgument) {
  const Array &source = call.getArray(0);
  Ints pads = call.getInts(1), shape = source.shape;
  size_t rank = shape.size();
  if (!call.isOk() || pads.size() % 2 || pads.size() / 2 > rank)
    return call.refuse("needs two numbers a dim");
  Ints before(rank);
  for (size_t k = 0; k < pads.size() / 2; ++k) {
    int64_t low = pads[2 * k], high = pads[2 * k + 1], &extent = shape[rank - 1 - k];
    int64_t most = kind == Padding::Reflect                    ? extent - 1
                   : kind == Padding::Circular                 ? extent
                   : kind == Padding::Replicate && extent == 0 ? 0
                                                               : kMaxStep;
    if (low > most || high > most || low < -extent || high < -extent)
      return call.refuse("pads by a number that is out of range");
    before[rank - 1 - k] = low;
    extent += low + high;
  }
  if (!call.expectShape(shape))
    return false;
  if (kind == Padding::Constant) {
    Array value =
        call.isGiven(valueArgument) ? call.getValue(valueArgument) : makeArray(HostType::Int64, {});
    if (!call.isOk() || value.getNumElements() != 1)
      return call.refuse("pads with one number");
    for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i)
      call.result.copy(i, value, 0);
  }
  return gather(call, source, [&](Ints &at) {
    for (size_t d = 0; d < rank; ++d) {
      int64_t extent = source.shape[d], i = at[d] - before[d];
      bool isInside = i >= 0 && i < extent;
      if (!isInside && kind == Padding::Constant)
        return false;
      if (!isInside)
        i = kind == Padding::Reflect     ? (i < 0 ? -i : 2 * (extent - 1) - i)
            : kind == Padding::Replicate ? std::clamp<int64_t>(i, 0, extent - 1)
                                         : (i + extent) % extent;
      at[d] = i;
    }
    return true;
  });
}

static bool padByMode(Call &call) {
  std::string mode = call.getText(2);
  Padding kind = mode == "reflect"     ? Padding::Reflect
                 : mode == "replicate" ? Padding::Replicate
                 : mode == "circular"  ? Padding::Circular
                                       : Padding::Constant;
  if (kind == Padding::Constant && call.isGiven(2) && mode != "constant")
    return call.refuse("'" + mode + "' is no way to pad");
  return padBy(call, kind, 3);
}

//===----------------------------------------------------------------------===//
// Other readings of the same bytes
//===----------------------------------------------------------------------===//

static bool viewAsReal(Call &call) {
  const Array &source = call.getArray(0);
  Ints shape = source.shape;
  shape.push_back(2);
  if (!call.expectShape(shape) || !source.isComplex())
    return call.refuse("is defined for complex numbers");
  for (int64_t i = 0, n = source.getNumElements(); i < n; ++i) {
    call.result.set(2 * i, source.complexes[i].real());
    call.result.set(2 * i + 1, source.complexes[i].imag());
  }
  return true;
}

static bool viewAsComplex(Call &call) {
  const Array &source = call.getArray(0);
  Ints shape = call.result.shape;
  shape.push_back(2);
  if (!call.isOk() || source.shape != shape || !source.isFloat())
    return call.refuse("needs a last dim of two floats");
  for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i)
    call.result.set(i, std::complex<double>(source.numbers[2 * i], source.numbers[2 * i + 1]));
  return true;
}

static bool viewAsType(Call &call) {
  const Array &source = call.getArray(0);
  int64_t from = getWidthInBytes(source.dtype), to = getWidthInBytes(call.result.dtype);
  Ints shape = source.shape;
  if (call.isOk() && from != to) {
    if (shape.empty() || shape.back() * from % to != 0)
      return call.refuse("needs a last dim that the other type divides");
    shape.back() = shape.back() * from / to;
  }
  if (!call.expectShape(shape))
    return false;
  std::vector<char> bytes(source.getNumElements() * from);
  toBytes(source, bytes.data());
  call.result = fromBytes(call.result.dtype, shape, bytes.data());
  return true;
}

void addJoining(Table &table) {
  addAll(table, {"aten.split.Tensor", "aten.unsafe_split.Tensor"}, split(Parts::Size, 2));
  addAll(table, {"aten.split_with_sizes", "aten.split.sizes"}, split(Parts::Sizes, 2));
  table["aten.chunk"] = split(Parts::Count, 2);
  table["aten.tensor_split.sections"] = split(Parts::EvenCount, 2);
  table["aten.unbind.int"] = split(Parts::Each, 1);
  addAll(table, {"aten.cat", "aten.concat"}, join(false));
  table["aten.stack"] = join(true);
  table["aten.constant_pad_nd"] = [](Call &call) { return padBy(call, Padding::Constant, 2); };
  addAll(table, {"aten.reflection_pad1d", "aten.reflection_pad2d", "aten.reflection_pad3d"},
         [](Call &call) { return padBy(call, Padding::Reflect, 2); });
  addAll(table, {"aten.replication_pad1d", "aten.replication_pad2d", "aten.replication_pad3d"},
         [](Call &call) { return padBy(call, Padding::Replicate, 2); });
  table["aten.pad"] = padByMode;
  table["aten.view_as_real"] = viewAsReal;
  table["aten.view_as_complex"] = viewAsComplex;
  table["aten.view.dtype"] = viewAsType;
}

} // namespace spyre::host
