//===- IndexMap.h - Index expressions with known ranges ---------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maps from iteration points to coordinates as sums of digits
// `coefficient * ((input floordiv divisor) mod modulus) + constant`, with the
// range of every input known, so that they simplify, compose, invert and split
// exactly. Everything about index arithmetic stands on this file. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LAYOUT_INDEXMAP_H
#define SPYRE_LAYOUT_INDEXMAP_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spyre::layout {

/// coefficient * ((input floordiv divisor) mod modulus); modulus 0: no mod.
struct Digit {
  unsigned input = 0;
  int64_t divisor = 1;
  int64_t modulus = 0;
  int64_t coefficient = 1;
  bool operator==(const Digit &) const = default;
};

/// A sum of digits and a constant. Canonical form (see simplify): digits sorted
/// by (input, divisor), none without effect on the inputs' ranges.
struct IndexExpr {
  std::vector<Digit> digits;
  int64_t constant = 0;
  bool operator==(const IndexExpr &) const = default;
};

/// Inputs 0 <= x_i < extents[i] to one expression a result.
struct IndexMap {
  std::vector<int64_t> extents;
  std::vector<IndexExpr> results;
  bool operator==(const IndexMap &) const = default;
};

/// Values that an expression takes: all are `min + k * step` with min <= value
/// <= max. step 0: one value. min > max: the domain is empty.
struct Interval {
  int64_t min = 0;
  int64_t max = 0;
  int64_t step = 0;
  bool operator==(const Interval &) const = default;
};

/// A quotient and a remainder: dividend = divisor * quotient + remainder.
struct DivMod {
  IndexExpr quotient;
  IndexExpr remainder;
};

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// The constant \p value.
IndexExpr makeConstant(int64_t value);
/// coefficient * input + constant.
IndexExpr makeInput(unsigned input, int64_t coefficient = 1, int64_t constant = 0);
/// Result i is input i.
IndexMap makeIdentity(std::vector<int64_t> extents);

IndexExpr add(const IndexExpr &a, const IndexExpr &b);
IndexExpr multiply(const IndexExpr &expr, int64_t factor);

//===----------------------------------------------------------------------===//
// Facts. Inputs range over 0 <= x_i < extents[i].
//===----------------------------------------------------------------------===//

/// Number of values of \p digit (0 if its input has none).
int64_t getNumValues(const Digit &digit, const std::vector<int64_t> &extents);

/// The canonical form: the same values everywhere on the box, digits sorted by
/// (input, divisor), no digit without effect, no mod without effect, neighbours
/// merged. Two expressions whose divisors and moduli of one input form a
/// divisibility chain are equal on the box if and only if their canonical forms
/// are equal.
IndexExpr simplify(const IndexExpr &expr, const std::vector<int64_t> &extents);
IndexMap simplify(const IndexMap &map);

int64_t evaluate(const IndexExpr &expr, const std::vector<int64_t> &point);
std::vector<int64_t> evaluate(const IndexMap &map, const std::vector<int64_t> &point);

/// Smallest and largest value; min > max on an empty box. Exact if the
/// expression's digits of every input form a divisibility chain, a safe bound
/// otherwise.
std::pair<int64_t, int64_t> getRange(const IndexExpr &expr, const std::vector<int64_t> &extents);

/// True if every value on the box is a multiple of \p divisor.
bool isDivisible(const IndexExpr &expr, const std::vector<int64_t> &extents, int64_t divisor);

/// True if \p expr depends on \p input.
bool dependsOn(const IndexExpr &expr, unsigned input);
/// The digits of \p expr, smallest step first: the last is the outermost.
std::vector<Digit> getDigitsByStep(const IndexExpr &expr);

/// The part of the result space that \p map touches when input i ranges over
/// offsets[i] <= x_i < offsets[i] + sizes[i] (within the extents): one interval
/// a result.
std::vector<Interval> getRegion(const IndexMap &map, const std::vector<int64_t> &offsets,
                                const std::vector<int64_t> &sizes);
/// The same over all inputs.
std::vector<Interval> getRegion(const IndexMap &map);

//===----------------------------------------------------------------------===//
// Transforming. Nothing: the answer is no sum of digits.
//===----------------------------------------------------------------------===//

/// \p expr divided by \p divisor > 0, 0 <= remainder < divisor everywhere on
/// the box. Nothing if a carry would be needed, e.g. (x + 32) / 64 for x < 64.
std::optional<DivMod> divide(const IndexExpr &expr, const std::vector<int64_t> &extents,
                             int64_t divisor);

/// outer(inner(x)). Values of inner must be within outer's extents.
std::optional<IndexMap> compose(const IndexMap &outer, const IndexMap &inner);

/// \p map as a bijection from its inputs' box to the box of \p resultExtents,
/// turned around. Nothing if it is none, or no mixed radix system.
std::optional<IndexMap> invert(const IndexMap &map, const std::vector<int64_t> &resultExtents);

/// Replaces input \p input by inputs of extents \p factors (outermost first,
/// product equal to its extent): x = (x_0 * factors[1] + x_1) * factors[2] + ...
/// They take its place. Nothing if a digit of the input straddles a boundary.
std::optional<IndexMap> splitInput(const IndexMap &map, unsigned input,
                                   const std::vector<int64_t> &factors);

/// True if every input can be split (splitInput) until no digit divides: the divisors
/// and moduli of its digits form a chain that divides its extent.
bool canSplitInputs(const IndexMap &map);

/// New input i is old input order[i].
IndexMap permuteInputs(const IndexMap &map, const std::vector<unsigned> &order);
/// New result i is old result order[i].
IndexMap permuteResults(const IndexMap &map, const std::vector<unsigned> &order);

/// The flat index of the coordinates \p map: sum of result * stride.
IndexExpr linearize(const IndexMap &map, const std::vector<int64_t> &strides);

/// The coordinates in a tensor of \p shape and \p strides that the flat index
/// \p flat names, e.g. 4096*x0 + x1 + 8192 in [256,4096]: (x0 + 2, x1). Nothing
/// if strides overlap, the index leaves the shape or a carry is needed.
std::optional<IndexMap> delinearize(const IndexExpr &flat, const std::vector<int64_t> &extents,
                                    const std::vector<int64_t> &shape,
                                    const std::vector<int64_t> &strides);

/// Row-major strides of \p shape.
std::vector<int64_t> getRowMajorStrides(const std::vector<int64_t> &shape);

/// For messages: "4*((d0 floordiv 8) mod 2) + 3"; inputs are d0, d1, ...
std::string toString(const IndexExpr &expr);
std::string toString(const IndexMap &map);

} // namespace spyre::layout

#endif // SPYRE_LAYOUT_INDEXMAP_H
