//===- Call.h - One operation while it is computed --------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arguments by position, with a reason where one is not what is needed, and the result
// to fill. The functions of one kind of operation are added to the table by its file.
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

class Call {
public:
  Call(std::span<const Argument> arguments, std::vector<Array> &results)
      : results(results), result(results.front()), arguments(arguments) {}

  std::vector<Array> &results;
  Array &result; ///< the first

  size_t getNumArguments() const { return arguments.size(); }
  bool isGiven(size_t i) const { return i < arguments.size() && !arguments[i].isNone(); }
  /// Argument \p i, or null (and the reason set).
  const Array *getArray(size_t i);
  std::optional<int64_t> getInt(size_t i);
  std::optional<std::vector<int64_t>> getInts(size_t i);
  /// A number, or an array of one element.
  std::optional<double> getNumber(size_t i);
  std::optional<int64_t> getIntOr(size_t i, int64_t otherwise) {
    return isGiven(i) ? getInt(i) : std::optional(otherwise);
  }
  std::optional<double> getNumberOr(size_t i, double otherwise) {
    return isGiven(i) ? getNumber(i) : std::optional(otherwise);
  }
  /// Argument \p i is an array of floats or a float.
  bool isFloat(size_t i) const;
  std::string getText(size_t i) const;
  std::optional<std::vector<const Array *>> getArrays(size_t i);

  /// Sets the reason; returns false.
  bool refuse(std::string reason) {
    if (why.empty())
      why = std::move(reason);
    return false;
  }
  const std::string &getReason() const { return why; }

  /// Element \p i of the result becomes \p value, rounded.
  void set(int64_t i, double value);
  void set(int64_t i, int64_t value);
  void set(int64_t i, std::complex<double> value);
  /// The same from element \p from of \p source.
  void copy(int64_t i, const Array &source, int64_t from);

private:
  std::span<const Argument> arguments;
  std::string why;
};

/// True if it has filled the result.
using Function = std::function<bool(Call &)>;
using Table = std::unordered_map<std::string_view, Function>;

void addCreation(Table &table);
void addElementwise(Table &table);
void addMovement(Table &table);

/// The coordinates of one element after another of an array, row-major.
class Odometer {
public:
  explicit Odometer(const std::vector<int64_t> &shape) : shape(shape), at(shape.size()) {}
  const std::vector<int64_t> &get() const { return at; }
  void advance() {
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < shape[d])
        return;
      at[d] = 0;
    }
  }

private:
  const std::vector<int64_t> &shape;
  std::vector<int64_t> at;
};

/// Elements between neighbours of an array of \p shape along each dim of an array of
/// \p rank (at least its own) that it broadcasts to.
std::vector<int64_t> getBroadcastStrides(const std::vector<int64_t> &shape, size_t rank);
inline int64_t getIndex(const std::vector<int64_t> &strides,
                        const std::vector<int64_t> &coordinates) {
  int64_t index = 0;
  for (size_t d = 0; d < coordinates.size(); ++d)
    index += coordinates[d] * strides[d];
  return index;
}
/// Dim \p dim of \p rank, counted from the end if negative; nothing if there is none.
std::optional<int64_t> normalizeDim(int64_t dim, size_t rank);

} // namespace spyre::host

#endif // SPYRE_LIB_HOST_CALL_H
