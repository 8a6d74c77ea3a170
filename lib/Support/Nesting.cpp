//===- Nesting.cpp - Texts that nest too deep for a parser ------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/Nesting.h"

#include <algorithm>

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

} // namespace spyre
