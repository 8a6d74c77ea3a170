//===- Indexing.cpp - Elements at places that are computed ----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every operation here names places of its operand, one for each element of a view: by
// arrays of indices, by masks, by a slice or a diagonal. The view is read, or written to
// with a way to combine what is there with what comes.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include <algorithm>
#include <numeric>

namespace spyre::host {

namespace {
/// Places of an array, in the shape of what is read from them.
struct View {
  Ints shape;
  Ints places;
};

enum class Combine { Assign, Add, Multiply, Least, Greatest, Mean };
} // namespace

/// An index as an offset from the start; nothing, and a reason, if there is no such place.
static std::optional<int64_t> checkIndex(Call &call, int64_t index, size_t dim, int64_t extent,
                                         bool allowsNegative) {
  int64_t place = index < 0 && allowsNegative ? index + extent : index;
  if (place >= 0 && place < extent)
    return place;
  call.refuse("index " + std::to_string(index) + " is out of bounds for dim " +
              std::to_string(dim) + " of size " + std::to_string(extent));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// \p locate makes of coordinates in \p shape the place.
template <typename F> static View makeView(Ints shape, F locate) {
  View view{std::move(shape), {}};
  view.places.resize(getProduct(view.shape, 0, view.shape.size()));
  Odometer at(view.shape);
  for (int64_t &place : view.places) {
    place = locate(at.get());
    at.advance();
  }
  return view;
}

/// Index arrays, and masks as the index arrays of what they let through.
static std::vector<std::optional<Array>> getIndexArrays(Call &call, size_t i, const Ints &shape) {
  std::vector<std::optional<Array>> indices;
  const Argument::List *list = call.at(i).getList();
  if (!list)
    call.refuse("argument #" + std::to_string(i) + " is no list of index arrays");
  for (const Argument &element : list ? *list : Argument::List()) {
    const Array *index = element.getArray();
    if (element.isNone()) {
      indices.emplace_back();
    } else if (!index || !index->isInteger()) {
      call.refuse("argument #" + std::to_string(i) + " is no list of known index arrays");
    } else if (index->dtype == HostType::Bool) {
      size_t first = indices.size(), rank = index->shape.size();
      bool fits = rank > 0 && first + rank <= shape.size() &&
                  std::equal(index->shape.begin(), index->shape.end(),
                             shape.begin() + static_cast<int64_t>(first));
      if (!fits) {
        call.refuse("a mask of shape " + toString(index->shape) + " does not fit " +
                    toString(shape));
        return {};
      }
      int64_t count = std::count_if(index->integers.begin(), index->integers.end(),
                                    [](int64_t value) { return value != 0; });
      for (size_t d = 0; d < rank; ++d)
        indices.push_back(makeArray(HostType::Int64, {count}));
      Odometer at(index->shape);
      for (int64_t i = 0, k = 0, n = index->getNumElements(); i < n; ++i, at.advance())
        if (index->integers[i]) {
          for (size_t d = 0; d < rank; ++d)
            indices[first + d]->integers[k] = at.get()[d];
          ++k;
        }
    } else {
      indices.push_back(*index);
    }
  }
  if (indices.size() > shape.size())
    call.refuse("there are more indices than dims");
  indices.resize(shape.size());
  return indices;
}

/// As `x[i, :, j]` reads: the indices' common shape replaces their dims where these are
/// neighbours, else it comes first.
static std::optional<View> viewByArrays(Call &call, const Ints &shape, size_t argument) {
  std::vector<std::optional<Array>> indices = getIndexArrays(call, argument, shape);
  if (!call.isOk())
    return std::nullopt;
  Ints common;
  std::vector<size_t> dims;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (!indices[d])
      continue;
    dims.push_back(d);
    std::optional<Ints> both = broadcast(common, indices[d]->shape);
    if (!both) {
      call.refuse("index arrays of shapes " + toString(common) + " and " +
                  toString(indices[d]->shape) + " do not broadcast");
      return std::nullopt;
    }
    common = *both;
  }
  bool areNeighbours = !dims.empty() && dims.back() - dims.front() + 1 == dims.size();
  size_t front = areNeighbours ? dims.front() : 0;
  // Dims of the view that are no indices, in order.
  Ints viewShape;
  std::vector<size_t> kept;
  for (size_t d = 0; d < shape.size(); ++d)
    if (!indices[d]) {
      kept.push_back(d);
      viewShape.push_back(shape[d]);
    }
  viewShape.insert(viewShape.begin() + static_cast<int64_t>(front), common.begin(), common.end());
  if (!countElements(viewShape)) {
    call.refuse("names too many elements");
    return std::nullopt;
  }
  // Where the index arrays lead, once for each of their elements.
  Ints strides = getStrides(shape), places(getProduct(common, 0, common.size()));
  for (size_t d : dims) {
    Ints steps = getBroadcastStrides(indices[d]->shape, common.size());
    Odometer at(common);
    for (int64_t &place : places) {
      std::optional<int64_t> index =
          checkIndex(call, indices[d]->integers[getIndex(steps, at.get())], d, shape[d], true);
      if (!index)
        return std::nullopt;
      place += *index * strides[d];
      at.advance();
    }
  }
  Ints commonStrides = getStrides(common);
  return makeView(viewShape, [&](const Ints &at) {
    int64_t index = 0, place = 0;
    for (size_t d = 0; d < common.size(); ++d)
      index += at[front + d] * commonStrides[d];
    for (size_t k = 0; k < kept.size(); ++k)
      place += at[k < front ? k : k + common.size()] * strides[kept[k]];
    return place + places[index];
  });
}

/// As gather reads: the index array says where along \p dim, for each of its elements.
static std::optional<View> viewAlongDim(Call &call, const Ints &shape, size_t dim,
                                        const Array &index) {
  size_t rank = std::max<size_t>(shape.size(), 1);
  Ints full = shape.empty() ? Ints{1} : shape,
       indexShape = index.shape.empty() ? Ints{1} : index.shape;
  if (call.isOk() && (indexShape.size() != rank || !index.isInteger()))
    call.refuse("needs indices of its operand's rank");
  for (size_t d = 0; call.isOk() && d < rank; ++d)
    if (d != dim && indexShape[d] > full[d] && index.getNumElements() > 0)
      call.refuse("indices of shape " + toString(index.shape) + " are larger than " +
                  toString(shape));
  for (int64_t value : call.isOk() ? index.integers : Ints())
    if (!checkIndex(call, value, dim, full[dim], false))
      break;
  if (!call.isOk())
    return std::nullopt;
  Ints strides = getStrides(full);
  int64_t i = 0;
  View view = makeView(indexShape, [&](const Ints &at) {
    return getIndex(strides, at) + (index.integers[i++] - at[dim]) * strides[dim];
  });
  view.shape = index.shape;
  return view;
}

/// Whole slices along \p dim: the indices' shape replaces the dim.
static std::optional<View> viewSlices(Call &call, const Ints &shape, size_t dim,
                                      const Array &index) {
  Ints full = shape.empty() ? Ints{1} : shape;
  if (call.isOk() && !index.isInteger())
    call.refuse("needs indices that are integers");
  for (int64_t value : call.isOk() ? index.integers : Ints())
    if (!checkIndex(call, value, dim, full[dim], false))
      break;
  Ints strides = getStrides(full), viewShape = full;
  if (!call.isOk())
    return std::nullopt;
  viewShape.erase(viewShape.begin() + static_cast<int64_t>(dim));
  viewShape.insert(viewShape.begin() + static_cast<int64_t>(dim), index.shape.begin(),
                   index.shape.end());
  if (!countElements(viewShape)) {
    call.refuse("names too many elements");
    return std::nullopt;
  }
  int64_t inner = strides[dim], count = index.getNumElements(), extent = full[dim], i = 0;
  View view = makeView(viewShape, [&](const Ints &) {
    int64_t place =
        (i / (inner * count) * extent + index.integers[i / inner % count]) * inner + i % inner;
    ++i;
    return place;
  });
  return view;
}

static std::optional<View> viewSlice(Call &call, const Ints &shape, size_t argument) {
  size_t dim = call.getDim(argument, shape.size(), 0);
  if (shape.empty())
    call.refuse("needs a dim to slice");
  std::optional<Slice> range =
      call.isOk() ? getSlice(call, argument + 1, shape[dim]) : std::nullopt;
  if (!range)
    return std::nullopt;
  Ints strides = getStrides(shape), viewShape = shape;
  viewShape[dim] = range->count;
  return makeView(viewShape, [&](const Ints &at) {
    return getIndex(strides, at) + (range->begin + at[dim] * (range->step - 1)) * strides[dim];
  });
}

static std::optional<View> viewOne(Call &call, const Ints &shape, size_t argument) {
  size_t dim = call.getDim(argument, shape.size());
  if (shape.empty())
    call.refuse("needs a dim to select from");
  int64_t wanted = call.getInt(argument + 1);
  std::optional<int64_t> index =
      call.isOk() ? checkIndex(call, wanted, dim, shape[dim], true) : std::nullopt;
  if (!index)
    return std::nullopt;
  Array one = makeArray(HostType::Int64, {});
  one.integers[0] = *index;
  return viewSlices(call, shape, dim, one);
}

static std::optional<View> viewDiagonal(Call &call, const Ints &shape, size_t argument) {
  std::optional<Diagonal> line = getDiagonal(call, argument, shape);
  if (!line)
    return std::nullopt;
  Ints strides = getStrides(shape);
  return makeView(line->shape, [&](const Ints &at) { return getIndex(strides, line->locate(at)); });
}

//===----------------------------------------------------------------------===//
// Reading and writing
//===----------------------------------------------------------------------===//

static bool read(Call &call, const Array &source, const std::optional<View> &view) {
  if (!view || !call.expectShape(view->shape))
    return false;
  for (size_t i = 0; i < view->places.size(); ++i)
    call.result.copy(static_cast<int64_t>(i), source, view->places[i]);
  return true;
}

template <typename T> static T combineTwo(Combine how, T old, T value) {
  switch (how) {
  case Combine::Assign:
    return value;
  case Combine::Add:
  case Combine::Mean:
    return add(old, value);
  case Combine::Multiply:
    return multiply(old, value);
  default:
    if constexpr (isComplexNumber<T>)
      return value;
    else if (isNaN(old) || isNaN(value))
      return isNaN(old) ? old : value;
    else
      return how == Combine::Least ? std::min(old, value) : std::max(old, value);
  }
}

/// The result is \p self, but at the view's places combined with \p source, whose element
/// for element i of the view is \p getSource(i). \p startsFresh: what was there before is
/// no part.
template <typename F>
static bool write(Call &call, const Array &self, const View &view, const Array &source, F getSource,
                  Combine how, bool startsFresh = false) {
  if (!call.expectShape(self.shape))
    return false;
  Array values = castTo(source, self.dtype), sums = self;
  std::vector<int64_t> counts(self.getNumElements(), startsFresh ? 0 : 1);
  visit(sums, [&](auto &into) {
    using T = typename std::remove_reference_t<decltype(into)>::value_type;
    const std::vector<T> &from = getElements<T>(values);
    for (size_t i = 0; i < view.places.size(); ++i) {
      int64_t place = view.places[i];
      T value = from[getSource(static_cast<int64_t>(i))];
      into[place] = counts[place]++ ? combineTwo(how, into[place], value) : value;
      // One after another in the array's type, as PyTorch adds.
      if constexpr (std::is_same_v<T, double>)
        into[place] = roundTo(self.dtype, into[place]);
    }
    if (how != Combine::Mean)
      return;
    for (size_t i = 0; i < into.size(); ++i) {
      if (counts[i] < 2)
        continue;
      if constexpr (isInteger<T>) // floors
        into[i] = into[i] / counts[i] - (into[i] % counts[i] < 0);
      else
        into[i] /= static_cast<double>(counts[i]);
    }
  });
  for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i)
    call.result.copy(i, sums, i);
  return true;
}

/// With \p source broadcast to the view.
static bool writeBroadcast(Call &call, const Array &self, const std::optional<View> &view,
                           const Array &source, Combine how) {
  if (!view || !call.isOk())
    return false;
  std::optional<Ints> both = broadcast(source.shape, view->shape);
  // Leading dims of one element do not count.
  Ints shape = source.shape;
  while (shape.size() > view->shape.size() && shape.front() == 1)
    shape.erase(shape.begin());
  both = broadcast(shape, view->shape);
  if (!both || *both != view->shape)
    return call.refuse("values of shape " + toString(source.shape) + " do not broadcast to " +
                       toString(view->shape));
  Ints strides = getBroadcastStrides(shape, view->shape.size());
  View sources = makeView(view->shape, [&](const Ints &at) { return getIndex(strides, at); });
  return write(call, self, *view, source, [&](int64_t i) { return sources.places[i]; }, how);
}

/// With the element of \p source that has the coordinates of the index.
static bool writeAlongDim(Call &call, Combine how, bool startsFresh, const Array &source) {
  const Array &self = call.getArray(0), &index = call.getArray(2);
  size_t dim = call.getDim(1, self.shape.size());
  std::optional<View> view = viewAlongDim(call, self.shape, dim, index);
  if (!view)
    return false;
  if (source.getNumElements() == 1 && source.shape.empty())
    return write(call, self, *view, source, [](int64_t) { return 0; }, how, startsFresh);
  bool fits = source.shape.size() == index.shape.size();
  for (size_t d = 0; fits && d < index.shape.size(); ++d)
    fits = index.shape[d] <= source.shape[d];
  if (!fits && index.getNumElements() > 0)
    return call.refuse("indices of shape " + toString(index.shape) +
                       " are larger than the source of " + toString(source.shape));
  Ints strides = getStrides(source.shape);
  View sources =
      fits ? makeView(index.shape, [&](const Ints &at) { return getIndex(strides, at); }) : View{};
  return write(
      call, self, *view, source, [&](int64_t i) { return sources.places[i]; }, how, startsFresh);
}

static std::optional<Combine> parseReduction(Call &call, const std::string &name) {
  static const std::unordered_map<std::string_view, Combine> names = {
      {"sum", Combine::Add},      {"add", Combine::Add},           {"prod", Combine::Multiply},
      {"mean", Combine::Mean},    {"multiply", Combine::Multiply}, {"amin", Combine::Least},
      {"amax", Combine::Greatest}};
  auto found = names.find(name);
  if (found == names.end()) {
    call.refuse("'" + name + "' is no way to combine");
    return std::nullopt;
  }
  return found->second;
}

static Function scatter(Combine how) {
  return [how](Call &call) { return writeAlongDim(call, how, false, call.getValue(3)); };
}

static bool scatterByName(Call &call) {
  std::optional<Combine> how = parseReduction(call, call.getText(4));
  bool startsFresh = !call.getBool(5, true);
  if (how && (*how == Combine::Least || *how == Combine::Greatest) && call.result.isComplex())
    return call.refuse("is not defined for complex numbers");
  return how && writeAlongDim(call, *how, startsFresh, call.getValue(3));
}

/// index_add, index_copy, index_fill: whole slices of dim 1's argument.
static Function writeSlices(Combine how, bool isFill) {
  return [=](Call &call) {
    const Array &self = call.getArray(0), &index = call.getArray(2);
    size_t dim = call.getDim(1, self.shape.size());
    Array source = call.getValue(3), flat = index;
    flat.shape = {index.getNumElements()};
    if (!call.isOk() || index.shape.size() > 1)
      return call.refuse("needs indices of one dim");
    if (how == Combine::Add && call.isGiven(4)) {
      double factor = call.getNumber(4);
      for (int64_t i = 0, n = source.getNumElements(); factor != 1 && i < n; ++i)
        if (source.isInteger())
          source.set(i, multiply(source.integers[i], call.getInt(4)));
        else
          source.set(i, source.getComplex(i) * factor);
    }
    std::optional<View> view = viewSlices(call, self.shape, dim, flat);
    if (view && source.shape.empty() && self.shape.empty())
      source.shape = {1};
    if (view && !isFill && source.shape != view->shape)
      return call.refuse("the source has the shape " + toString(view->shape) + ", not " +
                         toString(source.shape));
    return writeBroadcast(call, self, view, source, how);
  };
}

static bool indexPut(Call &call) {
  const Array &self = call.getArray(0), &values = call.getArray(2);
  Combine how = call.getBool(3, false) ? Combine::Add : Combine::Assign;
  return writeBroadcast(call, self, viewByArrays(call, self.shape, 1), values, how);
}

static bool embed(Call &call) {
  const Array &weight = call.getArray(0), &index = call.getArray(1);
  if (call.isOk() && weight.shape.size() != 2)
    return call.refuse("needs a table of rank 2");
  return read(call, weight, viewSlices(call, weight.shape, 0, index));
}

static bool indexSelect(Call &call) {
  const Array &self = call.getArray(0), &index = call.getArray(2);
  size_t dim = call.getDim(1, self.shape.size());
  Array flat = index;
  flat.shape = {index.getNumElements()};
  if (call.isOk() && index.shape.size() > 1)
    return call.refuse("needs indices of one dim");
  std::optional<View> view = viewSlices(call, self.shape, dim, flat);
  if (view && self.shape.empty())
    view->shape.clear();
  return read(call, self, view);
}

static bool take(Call &call) {
  const Array &self = call.getArray(0), &index = call.getArray(1);
  View view{index.shape, {}};
  if (call.isOk() && !index.isInteger())
    return call.refuse("needs indices that are integers");
  for (int64_t value : index.integers) {
    std::optional<int64_t> place = checkIndex(call, value, 0, self.getNumElements(), true);
    if (!place)
      return false;
    view.places.push_back(*place);
  }
  return read(call, self, view);
}

/// The source's elements one after another where the mask holds.
static bool maskedScatter(Call &call) {
  const Array &self = call.getArray(0), &mask = call.getArray(1), &source = call.getArray(2);
  std::optional<Ints> both = call.isOk() ? broadcast(self.shape, mask.shape) : std::nullopt;
  if (!both || *both != self.shape)
    return call.refuse("the mask does not broadcast to its operand");
  Ints strides = getBroadcastStrides(mask.shape, self.shape.size());
  View view;
  Odometer at(self.shape);
  for (int64_t i = 0, n = self.getNumElements(); i < n; ++i, at.advance())
    if (mask.getInteger(getIndex(strides, at.get())) != 0)
      view.places.push_back(i);
  if (view.places.size() > static_cast<size_t>(source.getNumElements()))
    return call.refuse("the source has fewer elements than the mask lets through");
  return write(call, self, view, source, [](int64_t i) { return i; }, Combine::Assign);
}

/// The source where a view of the operand is.
template <typename F> static Function scatterView(F makeViewOf) {
  return [makeViewOf](Call &call) {
    const Array &self = call.getArray(0), &source = call.getArray(1);
    std::optional<View> view = call.isOk() ? makeViewOf(call, self.shape, 2) : std::nullopt;
    if (view && view->shape != source.shape)
      return call.refuse("the source has the shape " + toString(view->shape) + ", not " +
                         toString(source.shape));
    return writeBroadcast(call, self, view, source, Combine::Assign);
  };
}

void addIndexing(Table &table) {
  addAll(table,
         {"aten.index.Tensor", "aten.index.Tensor_hacked_twin", "aten._unsafe_index.Tensor",
          "aten._unsafe_index.Tensor_hacked_twin"},
         [](Call &call) {
           const Array &self = call.getArray(0);
           return read(call, self, viewByArrays(call, self.shape, 1));
         });
  addAll(table,
         {"aten.index_put", "aten.index_put.hacked_twin", "aten._index_put_impl",
          "aten._unsafe_index_put", "aten._unsafe_index_put.hacked_twin"},
         indexPut);
  addAll(table, {"aten.gather"}, [](Call &call) {
    const Array &self = call.getArray(0), &index = call.getArray(2);
    size_t dim = call.getDim(1, self.shape.size());
    return read(call, self, viewAlongDim(call, self.shape, dim, index));
  });
  addAll(table, {"aten.scatter.src", "aten.scatter.value"}, scatter(Combine::Assign));
  table["aten.scatter_add"] = scatter(Combine::Add);
  addAll(table, {"aten.scatter_reduce.two", "aten.scatter.reduce", "aten.scatter.value_reduce"},
         scatterByName);
  table["aten.index_select"] = indexSelect;
  table["aten.index_add"] = writeSlices(Combine::Add, false);
  table["aten.index_copy"] = writeSlices(Combine::Assign, false);
  addAll(table, {"aten.index_fill.int_Scalar", "aten.index_fill.int_Tensor"},
         writeSlices(Combine::Assign, true));
  table["aten.embedding"] = embed;
  table["aten.take"] = take;
  table["aten.masked_scatter"] = maskedScatter;
  table["aten.slice_scatter"] = scatterView(viewSlice);
  table["aten.select_scatter"] = scatterView(viewOne);
  table["aten.diagonal_scatter"] = scatterView(viewDiagonal);
}

} // namespace spyre::host
