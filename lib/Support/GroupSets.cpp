//===- GroupSets.cpp - Futures in the spelling of earlier kernels -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Support/GroupSets.h"

#include <map>

namespace spyre {

namespace {
constexpr std::string_view kFuture = "!ktdp.tile_future<", kGroups = "groups", kSet = "affine_set<",
                           kSplit = "// -----", kBlanks = " \t\r\n";

struct Extent {
  size_t begin, end;
};
} // namespace

/// The set of the future that begins at \p at, if it is written there and has a sign that
/// MLIR would take for a bracket.
static std::optional<Extent> findSet(std::string_view text, size_t at) {
  size_t begin = at + kFuture.size();
  // Another type, a string or a comment ends the search.
  size_t end = text.find_first_of("!\"/{", begin);
  std::string_view inside = text.substr(begin, end == text.npos ? end : end - begin);
  size_t groups = inside.find(kGroups);
  if (groups == inside.npos)
    return std::nullopt;
  size_t equals = inside.find_first_not_of(kBlanks, groups + kGroups.size());
  if (equals == inside.npos || inside[equals] != '=')
    return std::nullopt;
  size_t set = inside.find_first_not_of(kBlanks, equals + 1);
  if (set == inside.npos || inside.substr(set, kSet.size()) != kSet)
    return std::nullopt;
  // `(dims)[symbols] : (constraints)>`
  size_t colon = inside.find(':', set);
  size_t open = colon == inside.npos ? colon : inside.find('(', colon);
  if (open == inside.npos)
    return std::nullopt;
  int depth = 0;
  for (size_t i = open; i < inside.size(); ++i) {
    depth += (inside[i] == '(') - (inside[i] == ')');
    if (depth > 0)
      continue;
    size_t last = inside.find_first_not_of(kBlanks, i + 1);
    bool isWhole = last != inside.npos && inside[last] == '>';
    bool hasSign = inside.substr(set, i - set).find(">=") != inside.npos;
    return isWhole && hasSign ? std::optional(Extent{begin + set, begin + last + 1}) : std::nullopt;
  }
  return std::nullopt;
}

/// True if a comment begins ahead of \p at in its line.
static bool isInComment(std::string_view text, size_t at) {
  size_t line = text.rfind('\n', at);
  line = line == text.npos ? 0 : line + 1;
  return text.substr(line, at - line).find("//") != text.npos;
}

std::optional<std::string> nameGroupSets(std::string_view text) {
  if (text.substr(0, 4) == "ML\xEFR")
    return std::nullopt;
  std::string prefix = "#groups_";
  while (text.find(prefix) != text.npos)
    prefix += '_';
  std::string result;
  size_t part = 0;   // of result, where definitions go
  size_t copied = 0; // of text
  std::map<std::string_view, std::string> names;
  bool isChanged = false;
  for (size_t at = text.find(kFuture); at != text.npos; at = text.find(kFuture, at + 1)) {
    std::optional<Extent> set = isInComment(text, at) ? std::nullopt : findSet(text, at);
    if (!set)
      continue;
    isChanged = true;
    // Aliases of an earlier part of the text are not known in this one.
    size_t split = text.substr(0, at).rfind(kSplit);
    if (split != text.npos && split >= copied) {
      result += text.substr(copied, split + kSplit.size() - copied);
      copied = split + kSplit.size();
      size_t line = text.find('\n', copied);
      result += text.substr(copied, line + 1 - copied);
      copied = line + 1;
      part = result.size();
      names.clear();
    }
    std::string_view body = text.substr(set->begin, set->end - set->begin);
    auto [name, isNew] = names.try_emplace(body, prefix + std::to_string(names.size()));
    if (isNew) {
      std::string definition = name->second + " = ";
      // The definition is one line, so that the others keep their numbers.
      for (char c : body)
        definition += c == '\n' || c == '\r' ? ' ' : c;
      definition += ' ';
      result.insert(part, definition);
      part += definition.size();
    }
    result += text.substr(copied, set->begin - copied);
    result += name->second;
    // Lines that the set took go on behind its name.
    for (char c : body)
      if (c == '\n')
        result += c;
    copied = set->end;
  }
  if (!isChanged)
    return std::nullopt;
  result += text.substr(copied);
  return result;
}

} // namespace spyre
