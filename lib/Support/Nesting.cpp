//===- Nesting.cpp - Texts that a parser does not survive -------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/Nesting.h"

#include <algorithm>
#include <cctype>

namespace spyre {

std::optional<TextPlace> findTooDeepNesting(std::string_view text) {
  if (text.substr(0, 4) == "ML\xEFR")
    return std::nullopt;
  int depth = 0;
  int64_t line = 1;
  size_t lineStart = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
    case '\n':
      ++line;
      lineStart = i + 1;
      break;
    case '"':
      // Strings end with their line.
      while (++i < text.size() && text[i] != '"' && text[i] != '\n')
        if (text[i] == '\\')
          ++i;
      if (i < text.size() && text[i] == '\n')
        --i;
      break;
    case '/':
      if (i + 1 < text.size() && text[i + 1] == '/') {
        i = std::min(text.find('\n', i), text.size()) - 1;
      }
      break;
    case '-':
      // An arrow closes nothing.
      if (i + 1 < text.size() && text[i + 1] == '>')
        ++i;
      break;
    case '(':
    case '[':
    case '{':
    case '<':
      if (++depth > kMaxTextNesting)
        return TextPlace{line, static_cast<int64_t>(i - lineStart) + 1};
      break;
    case ')':
    case ']':
    case '}':
    case '>':
      // Comparisons have a lone '>'.
      depth = std::max(depth - 1, 0);
      break;
    default:
      break;
    }
  }
  return std::nullopt;
}

/// Skips spaces, zeros, which upstream's lexer takes for spaces, and comments.
static size_t skipBlanks(std::string_view text, size_t at) {
  while (at < text.size()) {
    if (text[at] == '\0' || std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
    else if (text.substr(at, 2) == "//")
      at = std::min(text.find('\n', at), text.size());
    else
      break;
  }
  return at;
}

/// True if \p text has `[`, numbers with commas between them, and `]` at \p at.
static bool isListOfNumbers(std::string_view text, size_t at) {
  if (text.substr(at, 1) != "[")
    return false;
  at = skipBlanks(text, at + 1);
  if (text.substr(at, 1) == "]")
    return true;
  while (true) {
    size_t first = at + (text.substr(at, 1) == "-");
    size_t end = first;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])))
      ++end;
    // Eighteen digits always fit.
    if (end == first || end - first > 18)
      return false;
    at = skipBlanks(text, end);
    if (text.substr(at, 1) == "]")
      return true;
    if (text.substr(at, 1) != ",")
      return false;
    at = skipBlanks(text, at + 1);
  }
}

std::optional<TextPlace> findBrokenDims(std::string_view text) {
  if (text.substr(0, 4) == "ML\xEFR" || text.find("linalg.") == std::string_view::npos)
    return std::nullopt;
  for (std::string_view name : {"dimensions", "permutation"})
    for (size_t i = text.find(name); i != std::string_view::npos; i = text.find(name, i + 1)) {
      // The end of a longer name is another name.
      if (i > 0 && (std::isalnum(static_cast<unsigned char>(text[i - 1])) || text[i - 1] == '_'))
        continue;
      size_t at = skipBlanks(text, i + name.size());
      if (text.substr(at, 1) != "=")
        continue;
      at = skipBlanks(text, at + 1);
      if (isListOfNumbers(text, at) || text.substr(at, 6) == "array<")
        continue;
      std::string_view before = text.substr(0, at);
      size_t lineStart = before.rfind('\n') + 1;
      return TextPlace{std::count(before.begin(), before.end(), '\n') + 1,
                       static_cast<int64_t>(at - lineStart) + 1};
    }
  return std::nullopt;
}

std::optional<TextProblem> findTextProblem(std::string_view text) {
  if (std::optional<TextPlace> place = findTooDeepNesting(text))
    return TextProblem{*place, "nested deeper than " + std::to_string(kMaxTextNesting) + " levels"};
  if (std::optional<TextPlace> place = findBrokenDims(text))
    return TextProblem{*place, "expected a list of numbers in brackets"};
  return std::nullopt;
}

} // namespace spyre
