//===- Evaluate.h - PyTorch operations on host arrays -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes operations of PyTorch on the host, by their torch-mlir names. The compiler
// folds with it what does not depend on a program's arguments (positions, masks).
// MLIR-free. Numbers are computed in double or in 64-bit integers and rounded once to
// the result's type. Facts: PyTorch's documentation of each operation.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_HOST_EVALUATE_H
#define SPYRE_HOST_EVALUATE_H

#include "spyre/Numerics/Formats.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spyre::host {

/// A dense row-major array. Floats are in `numbers`, integers and bools in `integers`;
/// the other one is empty.
struct Array {
  HostType dtype = HostType::Float32;
  std::vector<int64_t> shape;
  std::vector<double> numbers;
  std::vector<int64_t> integers;

  bool isFloat() const;
  int64_t getNumElements() const;
  double getNumber(int64_t i) const;
  int64_t getInteger(int64_t i) const;
};

/// An argument whose elements are not at hand: only its type can be asked for.
struct Unknown {};

/// An argument of an operation; std::monostate is `none`. `Array` lists are `cat`'s.
using Argument = std::variant<std::monostate, bool, int64_t, double, std::string,
                              std::vector<int64_t>, std::vector<Array>, Array, Unknown>;

/// True if the operation \p name ("aten.tril") can be computed here.
bool isKnown(std::string_view name);

/// The result of operation \p name, which has type \p dtype and shape \p shape, or why it
/// cannot be computed. Arguments that an operation does not read (dtypes, devices) may be
/// anything.
std::variant<Array, std::string> evaluate(std::string_view name,
                                          std::span<const Argument> arguments, HostType dtype,
                                          const std::vector<int64_t> &shape);

/// \p value rounded to \p dtype (a float type).
double roundTo(HostType dtype, double value);

} // namespace spyre::host

#endif // SPYRE_HOST_EVALUATE_H
