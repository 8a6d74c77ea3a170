//===- Evaluate.h - PyTorch operations on host arrays -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes operations of PyTorch on the host, by their torch-mlir names. Programs run with
// it what has no device form, and the compiler folds with it what does not depend on a
// program's arguments. MLIR-free. Numbers are computed in float where PyTorch's kernels
// do so element by element, else in double or in 64-bit integers, and rounded once to the
// result's type. Facts: PyTorch's documentation of each operation.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_HOST_EVALUATE_H
#define SPYRE_HOST_EVALUATE_H

#include "spyre/Numerics/Formats.h"

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spyre::host {

/// A dense row-major array. Floats are in `numbers`, integers and bools in `integers`,
/// complex numbers in `complexes`; the others are empty.
struct Array {
  HostType dtype = HostType::Float32;
  std::vector<int64_t> shape;
  std::vector<double> numbers;
  std::vector<int64_t> integers;
  std::vector<std::complex<double>> complexes;

  bool isFloat() const;
  bool isComplex() const;
  bool isInteger() const { return !isFloat() && !isComplex(); }
  int64_t getNumElements() const;
  /// Of a complex number the real part, as PyTorch casts.
  double getNumber(int64_t i) const;
  int64_t getInteger(int64_t i) const;
  std::complex<double> getComplex(int64_t i) const;

  /// Element \p i becomes \p value, rounded or wrapped to the dtype.
  void set(int64_t i, double value);
  void set(int64_t i, int64_t value);
  void set(int64_t i, std::complex<double> value);
  /// The same from element \p from of \p source.
  void copy(int64_t i, const Array &source, int64_t from);
};

/// Zeros.
Array makeArray(HostType dtype, std::vector<int64_t> shape);
/// The array whose elements lie one behind the other at \p bytes.
Array fromBytes(HostType dtype, std::vector<int64_t> shape, const char *bytes);
/// The way back: \p out takes as many bytes as the elements have.
void toBytes(const Array &array, char *out);

/// \p array in \p dtype: as PyTorch casts, integers wrap and floats lose their fraction.
Array castTo(const Array &array, HostType dtype);

/// An argument whose elements are not at hand: only its type can be asked for.
struct Unknown {};

/// An argument of an operation: none, a number, a text, an array, a list of arguments.
/// Copies share an array's elements.
class Argument {
public:
  using List = std::vector<Argument>;

  Argument() = default;
  Argument(std::monostate) {}
  Argument(bool value) : value(value) {}
  Argument(int64_t value) : value(value) {}
  Argument(int value) : value(int64_t(value)) {}
  Argument(double value) : value(value) {}
  Argument(std::string value) : value(std::move(value)) {}
  Argument(const char *value) : value(std::string(value)) {}
  Argument(Array value) : value(std::make_shared<const Array>(std::move(value))) {}
  Argument(std::shared_ptr<const Array> value) : value(std::move(value)) {}
  Argument(List value) : value(std::move(value)) {}
  Argument(const std::vector<int64_t> &values) : value(List(values.begin(), values.end())) {}
  Argument(const std::vector<Array> &values) : value(List(values.begin(), values.end())) {}
  Argument(Unknown value) : value(value) {}

  bool isNone() const { return std::holds_alternative<std::monostate>(value); }
  bool isUnknown() const { return std::holds_alternative<Unknown>(value); }
  /// What it holds if it holds such a value, else null.
  const bool *getBool() const { return std::get_if<bool>(&value); }
  const int64_t *getInt() const { return std::get_if<int64_t>(&value); }
  const double *getFloat() const { return std::get_if<double>(&value); }
  const std::string *getText() const { return std::get_if<std::string>(&value); }
  const List *getList() const { return std::get_if<List>(&value); }
  const Array *getArray() const {
    auto *array = std::get_if<std::shared_ptr<const Array>>(&value);
    return array ? array->get() : nullptr;
  }

private:
  std::variant<std::monostate, bool, int64_t, double, std::string, std::shared_ptr<const Array>,
               List, Unknown>
      value;
};

/// Type of one result. Numbers (`!torch.int`, `float`, `bool`) are arrays of rank 0 of
/// int64, float64 and bool.
struct ResultType {
  HostType dtype = HostType::Float32;
  std::vector<int64_t> shape;
  /// False for a result that nobody reads: its type need not be known, and what is given for
  /// it has no meaning. Such results at the end may be left out.
  bool isWanted = true;
};

/// True if the operation \p name ("aten.tril") can be computed here.
bool isKnown(std::string_view name);
/// All names that are known, sorted.
std::vector<std::string_view> getKnownNames();
/// True if \p name only shows its operand's elements in another shape or order, or some of
/// them: no computation.
bool isView(std::string_view name);

/// The results of operation \p name, which have the types \p results, or why they cannot be
/// computed. Arguments that an operation does not read (dtypes, devices) may be anything.
/// Nothing in the arguments or types is taken on trust: what does not fit is refused.
std::variant<std::vector<Array>, std::string> evaluate(std::string_view name,
                                                       std::span<const Argument> arguments,
                                                       std::span<const ResultType> results);
/// The same for an operation of one result.
std::variant<Array, std::string> evaluate(std::string_view name,
                                          std::span<const Argument> arguments, HostType dtype,
                                          const std::vector<int64_t> &shape);

/// \p value rounded to \p dtype (a float type).
double roundTo(HostType dtype, double value);

} // namespace spyre::host

#endif // SPYRE_HOST_EVALUATE_H
