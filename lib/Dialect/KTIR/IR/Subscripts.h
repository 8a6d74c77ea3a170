//===- Subscripts.h - Subscripts of access tiles in text -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `[%a#1 * 8 + 2, %b floordiv 64]` and `[ind(%view[%i]), (%j mod 64)]`, read and
// printed. Upstream's affine subscripts do not read `%a#1`: here a value is known by
// its name and result number.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_KTIR_IR_SUBSCRIPTS_H
#define SPYRE_LIB_DIALECT_KTIR_IR_SUBSCRIPTS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::ktdp {

/// Reads lists of subscripts: sums, products with numbers, floordiv, ceildiv and mod by
/// positive numbers over SSA values.
class SubscriptParser {
public:
  using Operand = OpAsmParser::UnresolvedOperand;

  /// \p variables are names that the operation itself makes; they come after all other
  /// values in the maps.
  explicit SubscriptParser(OpAsmParser &parser, ArrayRef<Operand> variables = {})
      : parser(parser), context(parser.getContext()), variables(variables) {}

  /// `[e0, e1, ...]`; one map.
  ParseResult parseDirect();

  /// `[(e0), ind(%view[e1, e2]), ...]`; one map a subscript. `e0` and `%view[e1, e2]` are
  /// read too.
  ParseResult parseMixed();

  /// The maps, from (values, variables).
  SmallVector<AffineMap> getMaps() const;

  /// Values from outside, in the order of their first use.
  SmallVector<Operand> values;
  /// Of parseMixed: which subscripts go through a view, and the views.
  SmallVector<bool> isIndirect;
  SmallVector<Operand> views;

private:
  ParseResult parseList();
  ParseResult parseIndirect();
  ParseResult parseSum(AffineExpr &sum);
  ParseResult parseProduct(AffineExpr &product);
  ParseResult parseFactor(AffineExpr &factor);
  /// What follows a first factor.
  ParseResult parseRestOfProduct(AffineExpr &product);
  ParseResult parseRestOfSum(AffineExpr &sum);
  AffineExpr lookUp(const Operand &value);

  OpAsmParser &parser;
  MLIRContext *context;
  ArrayRef<Operand> variables;
  /// Results of the maps; variables stand in them as symbols.
  SmallVector<SmallVector<AffineExpr>> results;
  unsigned depth = 0;
};

/// Prints what SubscriptParser reads, with operands for the dims of maps.
class SubscriptPrinter {
public:
  SubscriptPrinter(OpAsmPrinter &printer, ArrayRef<Value> values)
      : printer(printer), values(values) {}

  /// `[e0, e1, ...]`
  void printList(AffineMap map);
  /// `e`
  void print(AffineExpr expr) { printSum(expr); }

private:
  void printSum(AffineExpr expr);
  void printProduct(AffineExpr expr);
  void printLeaf(AffineExpr expr);

  OpAsmPrinter &printer;
  ArrayRef<Value> values;
};

} // namespace mlir::ktdp

#endif // SPYRE_LIB_DIALECT_KTIR_IR_SUBSCRIPTS_H
