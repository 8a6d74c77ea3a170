//===- CoordinateParser.cpp - Coordinates as text ---------------------------- -===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "CoordinateParser.h"

#include "spyre/Support/JsonReader.h"

#include <algorithm>
#include <cctype>

namespace spyre::solve {

using layout::IndexExpr;

namespace {

/// Coordinates such as `floor(c2/64)`, `Mod(c2, 64)`, `c0 + 2*c1 + 3`.
class ExprParser {
public:
  ExprParser(const std::string &text, const std::vector<std::string> &symbols,
             const std::vector<int64_t> &extents)
      : text(text), symbols(symbols), extents(extents) {}

  std::optional<IndexExpr> run() {
    std::optional<IndexExpr> expr = parseSum();
    skipSpace();
    if (!expr || position != text.size())
      return std::nullopt;
    return layout::simplify(*expr, extents);
  }

private:
  void skipSpace() {
    while (position < text.size() && std::isspace(static_cast<unsigned char>(text[position])))
      ++position;
  }
  bool take(const std::string &token) {
    skipSpace();
    if (text.compare(position, token.size(), token) != 0)
      return false;
    position += token.size();
    return true;
  }
  std::optional<int64_t> takeNumber() {
    skipSpace();
    size_t start = position;
    while (position < text.size() && std::isdigit(static_cast<unsigned char>(text[position])))
      ++position;
    if (position == start || position - start > 15)
      return std::nullopt;
    return json::parseDecimal(text.substr(start, position - start));
  }

  std::optional<IndexExpr> parseSum() {
    std::optional<IndexExpr> sum = parseProduct();
    while (sum) {
      bool isMinus = false;
      if (!take("+")) {
        if (!take("-"))
          return sum;
        isMinus = true;
      }
      std::optional<IndexExpr> next = parseProduct();
      if (!next)
        return std::nullopt;
      sum = layout::add(*sum, isMinus ? layout::multiply(*next, -1) : *next);
    }
    return sum;
  }

  std::optional<IndexExpr> parseProduct() {
    std::optional<IndexExpr> product = parseAtom();
    while (product && take("*")) {
      std::optional<IndexExpr> next = parseAtom();
      if (!next)
        return std::nullopt;
      if (product->digits.empty())
        product = layout::multiply(*next, product->constant);
      else if (next->digits.empty())
        product = layout::multiply(*product, next->constant);
      else
        return std::nullopt;
    }
    return product;
  }

  std::optional<IndexExpr> parseAtom() {
    if (++depth > 100)
      return std::nullopt;
    if (take("floor(")) {
      auto inner = parseSum();
      if (!inner || !take("/"))
        return std::nullopt;
      auto divisor = takeNumber();
      if (!divisor || *divisor < 1 || !take(")"))
        return std::nullopt;
      auto parts = layout::divide(*inner, extents, *divisor);
      return parts ? std::optional(parts->quotient) : std::nullopt;
    }
    if (take("Mod(")) {
      auto inner = parseSum();
      if (!inner || !take(","))
        return std::nullopt;
      auto modulus = takeNumber();
      if (!modulus || *modulus < 1 || !take(")"))
        return std::nullopt;
      auto parts = layout::divide(*inner, extents, *modulus);
      return parts ? std::optional(parts->remainder) : std::nullopt;
    }
    if (take("(")) {
      auto inner = parseSum();
      return inner && take(")") ? inner : std::nullopt;
    }
    skipSpace();
    size_t start = position;
    while (position < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[position])) || text[position] == '_'))
      ++position;
    std::string word = text.substr(start, position - start);
    if (auto number = json::parseDecimal(word))
      return layout::makeConstant(*number);
    auto it = std::find(symbols.begin(), symbols.end(), word);
    if (it == symbols.end())
      return std::nullopt;
    return layout::makeInput(it - symbols.begin());
  }

  const std::string &text;
  const std::vector<std::string> &symbols;
  const std::vector<int64_t> &extents;
  size_t position = 0;
  int depth = 0;
};

} // namespace

std::optional<IndexExpr> parseCoordinate(const std::string &text,
                                         const std::vector<std::string> &symbols,
                                         const std::vector<int64_t> &extents) {
  return ExprParser(text, symbols, extents).run();
}

} // namespace spyre::solve
