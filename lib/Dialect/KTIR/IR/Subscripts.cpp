//===- Subscripts.cpp - Subscripts of access tiles in text -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "Subscripts.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::ktdp;

/// Signs and parentheses around a factor. Nobody writes more, and the stack has an end.
static constexpr unsigned kMaxDepth = 128;

ParseResult SubscriptParser::parseDirect() {
  results.emplace_back();
  return parseList();
}

ParseResult SubscriptParser::parseList() {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    AffineExpr expr;
    if (parseSum(expr))
      return failure();
    results.back().push_back(expr);
    return success();
  });
}

ParseResult SubscriptParser::parseIndirect() {
  isIndirect.back() = true;
  results.emplace_back();
  return parseList();
}

ParseResult SubscriptParser::parseMixed() {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    isIndirect.push_back(false);
    Operand first;
    if (succeeded(parser.parseOptionalKeyword("ind")))
      return failure(parser.parseLParen() || parser.parseOperand(views.emplace_back()) ||
                     parseIndirect() || parser.parseRParen());
    AffineExpr expr;
    OptionalParseResult operand = parser.parseOptionalOperand(first);
    if (!operand.has_value()) {
      if (parseSum(expr))
        return failure();
    } else {
      if (*operand)
        return failure();
      // A bracket behind a value makes it a view; the list's parser takes the bracket.
      if (*parser.getCurrentLocation().getPointer() == '[') {
        views.push_back(first);
        return parseIndirect();
      }
      expr = lookUp(first);
      if (parseRestOfProduct(expr) || parseRestOfSum(expr))
        return failure();
    }
    results.push_back({expr});
    return success();
  });
}

SmallVector<AffineMap> SubscriptParser::getMaps() const {
  unsigned numDims = values.size() + variables.size();
  SmallVector<AffineExpr> moved;
  for (unsigned i = values.size(); i < numDims; ++i)
    moved.push_back(getAffineDimExpr(i, context));
  SmallVector<AffineMap> maps;
  for (ArrayRef<AffineExpr> exprs : results) {
    SmallVector<AffineExpr> replaced;
    for (AffineExpr expr : exprs)
      replaced.push_back(expr.replaceSymbols(moved));
    maps.push_back(AffineMap::get(numDims, 0, replaced, context));
  }
  return maps;
}

AffineExpr SubscriptParser::lookUp(const Operand &value) {
  auto find = [&](ArrayRef<Operand> list) {
    return llvm::find_if(list,
                         [&](const Operand &known) {
                           return known.name == value.name && known.number == value.number;
                         }) -
           list.begin();
  };
  unsigned position = find(variables);
  if (position < variables.size())
    return getAffineSymbolExpr(position, context);
  position = find(values);
  if (position == values.size())
    values.push_back(value);
  return getAffineDimExpr(position, context);
}

ParseResult SubscriptParser::parseSum(AffineExpr &sum) {
  return failure(parseProduct(sum) || parseRestOfSum(sum));
}

ParseResult SubscriptParser::parseRestOfSum(AffineExpr &sum) {
  while (true) {
    AffineExpr term;
    if (succeeded(parser.parseOptionalPlus())) {
      if (parseProduct(term))
        return failure();
      sum = sum + term;
    } else if (succeeded(parser.parseOptionalMinus())) {
      if (parseProduct(term))
        return failure();
      sum = sum - term;
    } else {
      return success();
    }
  }
}

ParseResult SubscriptParser::parseProduct(AffineExpr &product) {
  return failure(parseFactor(product) || parseRestOfProduct(product));
}

ParseResult SubscriptParser::parseRestOfProduct(AffineExpr &product) {
  while (true) {
    SMLoc loc = parser.getCurrentLocation();
    AffineExpr factor;
    if (succeeded(parser.parseOptionalStar())) {
      if (parseFactor(factor))
        return failure();
      if (!isa<AffineConstantExpr>(product) && !isa<AffineConstantExpr>(factor))
        return parser.emitError(loc) << "a subscript multiplies by numbers only";
      product = product * factor;
      continue;
    }
    StringRef keyword;
    if (failed(parser.parseOptionalKeyword(&keyword, {"floordiv", "ceildiv", "mod"})))
      return success();
    int64_t divisor;
    if (parser.parseInteger(divisor))
      return failure();
    if (divisor <= 0)
      return parser.emitError(loc) << "a subscript divides by positive numbers only";
    product = keyword == "mod"       ? product % divisor
              : keyword == "ceildiv" ? product.ceilDiv(divisor)
                                     : product.floorDiv(divisor);
  }
}

ParseResult SubscriptParser::parseFactor(AffineExpr &factor) {
  SMLoc loc = parser.getCurrentLocation();
  ++depth;
  llvm::scope_exit leave([&] { --depth; });
  if (depth > kMaxDepth)
    return parser.emitError(loc) << "a subscript is nested too deeply";
  if (succeeded(parser.parseOptionalLParen()))
    return failure(parseSum(factor) || parser.parseRParen());
  // The sign first: an integer's parser takes one too, and then insists on a number.
  bool isNegative = succeeded(parser.parseOptionalMinus());
  APInt number;
  OptionalParseResult integer = parser.parseOptionalInteger(number);
  if (integer.has_value()) {
    if (*integer)
      return failure();
    // Maps do not read the least number either.
    if (number.getSignificantBits() > 64)
      return parser.emitError(loc) << "a number of a subscript has more than 63 bits";
    int64_t value = number.getSExtValue();
    factor = getAffineConstantExpr(isNegative ? -value : value, context);
    return success();
  }
  if (isNegative) {
    if (parseFactor(factor))
      return failure();
    factor = -factor;
    return success();
  }
  Operand value;
  if (parser.parseOperand(value))
    return failure();
  factor = lookUp(value);
  return success();
}

//===----------------------------------------------------------------------===//
// SubscriptPrinter
//===----------------------------------------------------------------------===//

void SubscriptPrinter::printList(AffineMap map) {
  printer << '[';
  llvm::interleaveComma(map.getResults(), printer, [&](AffineExpr expr) { printSum(expr); });
  printer << ']';
}

void SubscriptPrinter::printSum(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || binary.getKind() != AffineExprKind::Add)
    return printProduct(expr);
  printSum(binary.getLHS());
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (constant && constant.getValue() < 0 &&
      constant.getValue() != std::numeric_limits<int64_t>::min()) {
    printer << " - " << -constant.getValue();
    return;
  }
  printer << " + ";
  printSum(binary.getRHS());
}

void SubscriptPrinter::printProduct(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return printLeaf(expr);
  if (binary.getKind() == AffineExprKind::Add) {
    printer << '(';
    printSum(expr);
    printer << ')';
    return;
  }
  printProduct(binary.getLHS());
  switch (binary.getKind()) {
  case AffineExprKind::Mul:
    printer << " * ";
    break;
  case AffineExprKind::Mod:
    printer << " mod ";
    break;
  case AffineExprKind::FloorDiv:
    printer << " floordiv ";
    break;
  default:
    printer << " ceildiv ";
    break;
  }
  printLeaf(binary.getRHS());
}

void SubscriptPrinter::printLeaf(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    printer << constant.getValue();
  } else if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    printer.printOperand(values[dim.getPosition()]);
  } else if (isa<AffineBinaryOpExpr>(expr)) {
    printer << '(';
    printSum(expr);
    printer << ')';
  }
}
