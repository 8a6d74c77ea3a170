//===- Call.cpp - One operation while it is computed ----------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arguments, indices and lanes; see the header.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include <algorithm>

namespace spyre::host {

/// Elements of one array at most: as doubles 32 GiB.
static constexpr int64_t kMaxElements = int64_t(1) << 32;

/// The same of a result that nobody reads.
static constexpr int64_t kMaxUnwanted = int64_t(1) << 26;

static std::string describe(size_t i, const char *what) {
  return "argument #" + std::to_string(i) + " is no " + what;
}

std::string toString(const Ints &shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

//===----------------------------------------------------------------------===//
// Call
//===----------------------------------------------------------------------===//

const Argument &Call::at(size_t i) const {
  static const Argument none;
  return i < arguments.size() ? arguments[i] : none;
}

/// What is read after an error.
static const Array &getEmptyArray() {
  static const Array empty = makeArray(HostType::Float32, {0});
  return empty;
}

const Array &Call::getArray(size_t i) {
  const Array *array = at(i).getArray();
  if (!array)
    refuse(describe(i, "known array"));
  return array ? *array : getEmptyArray();
}

std::vector<const Array *> Call::getArrays(size_t i) {
  const Argument::List *list = at(i).getList();
  std::vector<const Array *> arrays;
  for (const Argument &element : list ? *list : Argument::List())
    arrays.push_back(element.getArray());
  if (list && !std::count(arrays.begin(), arrays.end(), nullptr))
    return arrays;
  refuse(describe(i, "list of known arrays"));
  return {};
}

static std::optional<int64_t> toInt(const Argument &argument) {
  if (const int64_t *integer = argument.getInt())
    return *integer;
  if (const bool *truth = argument.getBool())
    return *truth;
  if (const Array *array = argument.getArray();
      array && array->isInteger() && array->integers.size() == 1)
    return array->integers.front();
  return std::nullopt;
}

static std::optional<double> toNumber(const Argument &argument) {
  if (const double *number = argument.getFloat())
    return *number;
  if (const Array *array = argument.getArray();
      array && array->isFloat() && array->numbers.size() == 1)
    return array->numbers.front();
  std::optional<int64_t> integer = toInt(argument);
  return integer ? std::optional(static_cast<double>(*integer)) : std::nullopt;
}

int64_t Call::getInt(size_t i) {
  std::optional<int64_t> integer = toInt(at(i));
  if (!integer)
    refuse(describe(i, "integer"));
  return integer.value_or(0);
}

double Call::getNumber(size_t i) {
  std::optional<double> number = toNumber(at(i));
  if (!number)
    refuse(describe(i, "number"));
  return number.value_or(0);
}

Ints Call::getInts(size_t i) {
  const Argument::List *list = at(i).getList();
  if (!list)
    return {getInt(i)};
  Ints integers;
  for (const Argument &element : *list) {
    std::optional<int64_t> integer = toInt(element);
    if (!integer)
      refuse(describe(i, "list of integers"));
    integers.push_back(integer.value_or(0));
  }
  return integers;
}

Ints Call::getInts(size_t i, size_t size, int64_t otherwise) {
  Ints integers = isGiven(i) ? getInts(i) : Ints();
  if (integers.empty())
    return Ints(size, otherwise);
  if (integers.size() == 1)
    return Ints(size, integers.front());
  if (integers.size() != size)
    refuse(describe(i, "list of ") + std::to_string(size) + " integers");
  integers.resize(size, otherwise);
  return integers;
}

std::vector<double> Call::getNumbers(size_t i) {
  std::vector<double> numbers;
  const Argument::List *list = at(i).getList();
  if (!list)
    refuse(describe(i, "list of numbers"));
  for (const Argument &element : list ? *list : Argument::List()) {
    std::optional<double> number = toNumber(element);
    if (!number)
      refuse(describe(i, "list of numbers"));
    numbers.push_back(number.value_or(0));
  }
  return numbers;
}

Array Call::getValue(size_t i) {
  const Argument &argument = at(i);
  if (const Array *array = argument.getArray())
    return *array;
  Array value = makeArray(argument.getBool()    ? HostType::Bool
                          : argument.getFloat() ? HostType::Float64
                                                : HostType::Int64,
                          {});
  if (std::optional<int64_t> integer = toInt(argument))
    value.set(0, *integer);
  else if (const double *number = argument.getFloat())
    value.set(0, *number);
  else
    refuse(describe(i, "number or known array"));
  return value;
}

std::string Call::getText(size_t i) const {
  const std::string *text = at(i).getText();
  return text ? *text : std::string();
}

size_t Call::checkDim(int64_t dim, size_t rank) {
  std::optional<int64_t> normal = normalizeDim(dim, rank);
  if (!normal)
    refuse("dim " + std::to_string(dim) + " does not exist in a tensor of rank " +
           std::to_string(rank));
  return static_cast<size_t>(normal.value_or(0));
}

Ints Call::getDims(size_t i, size_t rank) {
  Ints dims;
  for (int64_t dim : isGiven(i) ? getInts(i) : Ints())
    dims.push_back(static_cast<int64_t>(checkDim(dim, rank)));
  std::sort(dims.begin(), dims.end());
  if (std::adjacent_find(dims.begin(), dims.end()) != dims.end())
    refuse("a dim is named twice");
  if (!isOk())
    return {};
  if (dims.empty())
    for (size_t d = 0; d < std::max<size_t>(rank, 1); ++d)
      dims.push_back(static_cast<int64_t>(d));
  return dims;
}

bool Call::expectResults(size_t count) {
  return results.size() <= count ||
         refuse("has " + std::to_string(count) + " results, not " + std::to_string(results.size()));
}

bool Call::expectShape(const Ints &shape, size_t i) {
  if (!isOk())
    return false;
  if (!types[i].isWanted) {
    // No program says that it is to be made: an argument alone does not make it large.
    std::optional<int64_t> count = countElements(shape);
    if (!count || *count > kMaxUnwanted)
      return refuse("a result that is not read has too many elements");
    results[i] = makeArray(types[i].dtype, shape);
    return true;
  }
  return results[i].shape == shape || refuse("the result has the shape " + toString(shape) +
                                             ", not " + toString(results[i].shape));
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

std::optional<int64_t> countElements(const Ints &shape) {
  // An empty array has extents, too, that others multiply.
  int64_t count = 1, capacity = 1;
  for (int64_t extent : shape) {
    if (extent < 0 || (extent > 1 && capacity > kMaxElements / extent))
      return std::nullopt;
    capacity *= std::max<int64_t>(extent, 1);
    count *= extent;
  }
  return count;
}

Ints getStrides(const Ints &shape) {
  Ints strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
    strides[d] = stride;
  return strides;
}

Ints getBroadcastStrides(const Ints &shape, size_t rank) {
  Ints strides(rank), dense = getStrides(shape);
  for (size_t d = 0; d < shape.size(); ++d)
    strides[rank - shape.size() + d] = shape[d] == 1 ? 0 : dense[d];
  return strides;
}

std::optional<Ints> broadcast(const Ints &a, const Ints &b) {
  const Ints &longer = a.size() >= b.size() ? a : b, &shorter = a.size() >= b.size() ? b : a;
  Ints shape = longer;
  for (size_t d = 0; d < shorter.size(); ++d) {
    int64_t &extent = shape[longer.size() - shorter.size() + d];
    if (extent != shorter[d] && extent != 1 && shorter[d] != 1)
      return std::nullopt;
    if (extent == 1)
      extent = shorter[d];
  }
  return shape;
}

std::optional<int64_t> normalizeDim(int64_t dim, size_t rank) {
  auto size = static_cast<int64_t>(std::max<size_t>(rank, 1));
  if (dim < -size || dim >= size)
    return std::nullopt;
  return dim < 0 ? dim + size : dim;
}

int64_t getProduct(const Ints &shape, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t d = begin; d < end; ++d)
    product *= shape[d];
  return product;
}

std::optional<Slice> getSlice(Call &call, size_t i, int64_t extent) {
  auto clamp = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent);
  };
  Slice slice;
  slice.begin = clamp(call.getInt(i, 0));
  int64_t end = clamp(call.getInt(i + 1, extent));
  slice.step = call.getInt(i + 2, 1);
  if (call.isOk() && slice.step < 1)
    call.refuse("needs a step of at least 1");
  if (!call.isOk())
    return std::nullopt;
  if (end > slice.begin)
    slice.count = (end - slice.begin - 1) / slice.step + 1;
  return slice;
}

Ints Diagonal::locate(const Ints &at) const {
  Ints place(at.begin(), at.end() - 1);
  int64_t row = at.back() + std::max<int64_t>(-offset, 0),
          column = at.back() + std::max<int64_t>(offset, 0);
  bool isInOrder = first < second;
  place.insert(place.begin() + static_cast<int64_t>(isInOrder ? first : second),
               isInOrder ? row : column);
  place.insert(place.begin() + static_cast<int64_t>(isInOrder ? second : first),
               isInOrder ? column : row);
  return place;
}

std::optional<Diagonal> getDiagonal(Call &call, size_t i, const Ints &shape) {
  Diagonal line;
  line.offset = call.getInt(i, 0);
  line.first = call.getDim(i + 1, shape.size(), 0);
  line.second = call.getDim(i + 2, shape.size(), 1);
  if (!call.isOk() || line.first == line.second || shape.size() < 2) {
    call.refuse("needs two different dims");
    return std::nullopt;
  }
  int64_t rows = shape[line.first], columns = shape[line.second];
  int64_t length = line.offset <= -rows || line.offset >= columns ? 0
                   : line.offset >= 0 ? std::min(rows, columns - line.offset)
                                      : std::min(rows + line.offset, columns);
  for (size_t d = 0; d < shape.size(); ++d)
    if (d != line.first && d != line.second)
      line.shape.push_back(shape[d]);
  line.shape.push_back(length);
  return line;
}

/// Where the elements of an array of \p shape are, with \p strides.
static Ints listOffsets(const Ints &shape, const Ints &strides) {
  Ints offsets(getProduct(shape, 0, shape.size()));
  Odometer at(shape);
  for (int64_t &offset : offsets) {
    offset = getIndex(strides, at.get());
    at.advance();
  }
  return offsets;
}

Lanes::Lanes(const Ints &shape, const Ints &dims) {
  Ints strides = getStrides(shape), extents[2], steps[2];
  for (size_t d = 0; d < shape.size(); ++d) {
    bool isAlong = std::count(dims.begin(), dims.end(), static_cast<int64_t>(d));
    extents[isAlong].push_back(shape[d]);
    steps[isAlong].push_back(strides[d]);
  }
  bases = listOffsets(extents[0], steps[0]);
  offsets = listOffsets(extents[1], steps[1]);
}

} // namespace spyre::host
