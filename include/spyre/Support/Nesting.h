//===- Nesting.h - Texts that nest too deep for a parser --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's parser calls itself for every bracket, so a text of a hundred thousand
// opening brackets ends the process. Programs nest a dozen levels; readers of
// MLIR text ask this first and refuse what goes far beyond. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SUPPORT_NESTING_H
#define SPYRE_SUPPORT_NESTING_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spyre {

/// Levels of brackets that a text may have.
inline constexpr int kMaxTextNesting = 256;

/// A place in a text, both from 1.
struct TextPlace {
  int64_t line = 1, column = 1;
};

/// The first bracket of \p text beyond kMaxTextNesting open ones, strings and
/// comments not counted. Bytecode has no brackets.
std::optional<TextPlace> findTooDeepNesting(std::string_view text);

/// The first list behind `dimensions =` or `permutation =` that is not numbers in
/// brackets. Upstream's parsers of linalg.reduce, linalg.broadcast and linalg.transpose
/// report such a list and then use what they did not get. Texts without linalg have none.
std::optional<TextPlace> findBrokenDims(std::string_view text);

/// What a text has that upstream's parsers do not survive, in words.
struct TextProblem {
  TextPlace place;
  std::string message;
};
std::optional<TextProblem> findTextProblem(std::string_view text);

} // namespace spyre

#endif // SPYRE_SUPPORT_NESTING_H
