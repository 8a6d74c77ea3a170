//===- Call.h - One operation while it is computed --------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arguments by position and the results to fill. The first thing that is not as it should
// be is kept as the reason for refusing; after it every access yields something harmless,
// so that a function reads its arguments in straight lines and asks isOk() once.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_HOST_CALL_H
#define SPYRE_LIB_HOST_CALL_H

#include "spyre/Host/Evaluate.h"

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

namespace spyre::host {

using Ints = std::vector<int64_t>;

class Call {
public:
  Call(std::span<const Argument> arguments, std::vector<Array> &results,
       std::span<const ResultType> types)
      : results(results), result(results.front()), arguments(arguments), types(types) {}

  std::vector<Array> &results;
  Array &result; ///< the first

  size_t getNumArguments() const { return arguments.size(); }
  bool isGiven(size_t i) const { return !at(i).isNone(); }
  bool isArray(size_t i) const { return at(i).getArray(); }
  bool isList(size_t i) const { return at(i).getList(); }
  const Argument &at(size_t i) const;

  const Array &getArray(size_t i);
  /// Null if it is not given.
  const Array *getArrayOrNone(size_t i) { return isGiven(i) ? &getArray(i) : nullptr; }
  std::vector<const Array *> getArrays(size_t i);
  /// An integer, a bool, or an array of one of them.
  int64_t getInt(size_t i);
  int64_t getInt(size_t i, int64_t otherwise) { return isGiven(i) ? getInt(i) : otherwise; }
  bool getBool(size_t i, bool otherwise) { return getInt(i, otherwise) != 0; }
  /// A list, or one integer.
  Ints getInts(size_t i);
  /// The same with \p size elements: one is for all of them, none are \p otherwise.
  Ints getInts(size_t i, size_t size, int64_t otherwise);
  /// A number, or an array of one element.
  double getNumber(size_t i);
  double getNumber(size_t i, double otherwise) { return isGiven(i) ? getNumber(i) : otherwise; }
  std::vector<double> getNumbers(size_t i);
  /// A number as an array of rank 0, of int64, float64 or bool; an array as it is.
  Array getValue(size_t i);
  std::string getText(size_t i) const;
  /// A dim of an array of \p rank, from the end if negative.
  size_t getDim(size_t i, size_t rank) { return checkDim(getInt(i), rank); }
  size_t getDim(size_t i, size_t rank, int64_t otherwise) {
    return checkDim(getInt(i, otherwise), rank);
  }
  /// Each once, in ascending order; all of them if none are given.
  Ints getDims(size_t i, size_t rank);
  size_t checkDim(int64_t dim, size_t rank);

  bool isOk() const { return why.empty(); }
  /// Sets the reason if there is none; returns false.
  bool refuse(std::string reason) {
    if (why.empty())
      why = std::move(reason);
    return false;
  }
  const std::string &getReason() const { return why; }
  /// False, with a reason, if there are more than \p count results. There may be less, and
  /// some that nobody wants.
  bool expectResults(size_t count);
  /// False, with a reason, unless result \p i has this shape; one that nobody wants gets it.
  bool expectShape(const Ints &shape, size_t i = 0);

private:
  std::span<const Argument> arguments;
  std::span<const ResultType> types;
  std::string why;
};

/// True if it has filled the results.
using Function = std::function<bool(Call &)>;
using Table = std::unordered_map<std::string_view, Function>;

void addActivations(Table &table);
void addBinary(Table &table);
void addContractions(Table &table);
void addConvolutions(Table &table);
void addCreation(Table &table);
void addIndexing(Table &table);
void addMovement(Table &table);
void addNorms(Table &table);
void addNumbers(Table &table);
void addOrdering(Table &table);
void addPooling(Table &table);
void addQuantization(Table &table);
void addReductions(Table &table);
void addResampling(Table &table);
void addScans(Table &table);
void addUnary(Table &table);

template <typename F>
void addAll(Table &table, std::initializer_list<std::string_view> names, const F &function) {
  for (std::string_view name : names)
    table[name] = function;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// The largest finite number of a float type.
double getLargest(HostType dtype);
/// Calls \p function with the vector that holds \p array's elements.
template <typename A, typename F> decltype(auto) visit(A &array, F function) {
  if (array.isFloat())
    return function(array.numbers);
  if (array.isComplex())
    return function(array.complexes);
  return function(array.integers);
}

/// The elements of an array that holds elements of type T.
template <typename T> const std::vector<T> &getElements(const Array &array);
template <> inline const std::vector<double> &getElements<double>(const Array &array) {
  return array.numbers;
}
template <> inline const std::vector<int64_t> &getElements<int64_t>(const Array &array) {
  return array.integers;
}
template <>
inline const std::vector<std::complex<double>> &
getElements<std::complex<double>>(const Array &array) {
  return array.complexes;
}

/// Elements of an array of \p shape; nothing if an extent is negative or there are too many.
std::optional<int64_t> countElements(const Ints &shape);
/// "[2, 3]".
std::string toString(const Ints &shape);

// Integers wrap.
inline uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }
inline int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }

/// Arithmetic that wraps for integers and is the usual one else.
template <typename T> T add(T x, T y) {
  if constexpr (std::is_same_v<T, int64_t>)
    return wrap(bits(x) + bits(y));
  else
    return x + y;
}
template <typename T> T multiply(T x, T y) {
  if constexpr (std::is_same_v<T, int64_t>)
    return wrap(bits(x) * bits(y));
  else
    return x * y;
}

template <typename T> constexpr bool isComplexNumber = !std::is_arithmetic_v<T>;
template <typename T> constexpr bool isInteger = std::is_integral_v<T>;
/// NaN is above all.
template <typename T> bool isNaN(T value) { return value != value; }
template <typename T> bool isBelow(T x, T y) { return isNaN(y) ? !isNaN(x) : x < y; }

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// The coordinates of one element after another of an array, row-major.
class Odometer {
public:
  explicit Odometer(const Ints &shape) : shape(shape), at(shape.size()) {}
  const Ints &get() const { return at; }
  void advance() {
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < shape[d])
        return;
      at[d] = 0;
    }
  }

private:
  const Ints &shape;
  Ints at;
};

/// Elements between neighbours along each dim of a dense array.
Ints getStrides(const Ints &shape);
/// The same along the dims of an array of \p rank (at least its own) that it broadcasts to.
Ints getBroadcastStrides(const Ints &shape, size_t rank);
/// The shape that both broadcast to, or nothing.
std::optional<Ints> broadcast(const Ints &a, const Ints &b);
inline int64_t getIndex(const Ints &strides, const Ints &coordinates) {
  int64_t index = 0;
  for (size_t d = 0; d < coordinates.size(); ++d)
    index += coordinates[d] * strides[d];
  return index;
}
/// Dim \p dim of \p rank, counted from the end if negative; nothing if there is none.
/// An array of rank 0 counts as one of one element.
std::optional<int64_t> normalizeDim(int64_t dim, size_t rank);
/// Product of the extents from dim \p begin to before \p end.
int64_t getProduct(const Ints &shape, size_t begin, size_t end);

/// Offsets, strides and the like up to here do not overflow when they are added up.
inline constexpr int64_t kMaxStep = int64_t(1) << 40;

/// A range of a dim as Python slices it.
struct Slice {
  int64_t begin = 0, step = 1, count = 0;
};
/// Arguments \p i (start), \p i + 1 (end) and \p i + 2 (step) in a dim of \p extent.
std::optional<Slice> getSlice(Call &call, size_t i, int64_t extent);

/// A diagonal of two dims, which are behind all others as one.
struct Diagonal {
  size_t first = 0, second = 0;
  int64_t offset = 0;
  Ints shape;
  /// Where an element of the diagonal is.
  Ints locate(const Ints &at) const;
};
/// Arguments \p i (offset), \p i + 1 and \p i + 2 (dims) in an array of \p shape.
std::optional<Diagonal> getDiagonal(Call &call, size_t i, const Ints &shape);

/// An array's elements in lanes along some of its dims: element i of lane l is at
/// bases[l] + offsets[i]. Lanes and elements are in row-major order.
struct Lanes {
  Lanes(const Ints &shape, const Ints &dims);
  Ints bases, offsets;
  int64_t getSize() const { return static_cast<int64_t>(offsets.size()); }
  int64_t getCount() const { return static_cast<int64_t>(bases.size()); }
};

/// The elements of one lane.
template <typename T> class Lane {
public:
  Lane(const std::vector<T> &values, const Lanes &lanes, int64_t lane)
      : first(lanes.getSize() ? values.data() + lanes.bases[lane] : nullptr),
        offsets(lanes.offsets.data()), count(lanes.getSize()) {}
  int64_t size() const { return count; }
  T operator[](int64_t i) const { return first[offsets[i]]; }

private:
  const T *first;
  const int64_t *offsets;
  int64_t count;
};

} // namespace spyre::host

#endif // SPYRE_LIB_HOST_CALL_H
