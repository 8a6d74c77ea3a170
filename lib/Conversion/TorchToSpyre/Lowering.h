//===- Lowering.h - One torch operation on its way to L1 -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a lowering sees of the operation that it lowers, the tables of lowerings, and
// the way to say no: `refuse` gives the reason that the report prints.
//
// To add an operation, add a line to the table of its kind:
//   Pointwise.cpp     one device operation an element, with broadcasting
//   Reductions.cpp    one device reduction
//   Views.cpp         the same elements, indexed differently; copies; casts
//   Contractions.cpp  matrix products and composites
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_CONVERSION_TORCHTOSPYRE_LOWERING_H
#define SPYRE_LIB_CONVERSION_TORCHTOSPYRE_LOWERING_H

#include "spyre/Dialect/Spyre/Transforms/L1Builders.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <optional>
#include <string>

namespace mlir::spyre::torch_lowering {

/// The tensor type of a torch type; null where L1 has none, with the reason in
/// \p why.
RankedTensorType convertTensorType(Type type, std::string *why = nullptr);

/// One operation while it is lowered.
class Lowering {
public:
  Lowering(Operation *op, ArrayRef<Value> operands, ArrayRef<Type> resultTypes,
           ConversionPatternRewriter &b)
      : op(op), b(b), loc(op->getLoc()), operands(operands), resultTypes(resultTypes) {}

  Operation *const op;
  ConversionPatternRewriter &b;
  const Location loc;

  unsigned getNumOperands() const { return operands.size(); }
  /// Operand \p i is a tensor (not a number, list or none).
  bool isTensor(unsigned i) const;
  bool isNone(unsigned i) const;
  Value getTensor(unsigned i) const { return operands[i]; }
  RankedTensorType getTensorType(unsigned i) const {
    return cast<RankedTensorType>(operands[i].getType());
  }
  /// Constants; nothing (and the reason set) where the program computes them.
  std::optional<int64_t> getInt(unsigned i);
  std::optional<bool> getBool(unsigned i);
  std::optional<SmallVector<int64_t>> getInts(unsigned i);
  /// An int, float or bool constant, or a 0-d tensor made of one.
  std::optional<double> getNumber(unsigned i);
  /// A string constant, or an empty string.
  StringRef getString(unsigned i) const;

  RankedTensorType getResultType(unsigned i = 0) const {
    return cast<RankedTensorType>(resultTypes[i]);
  }
  /// Dim \p dim of a tensor of \p rank, counted from the end if negative; nothing
  /// (and the reason set) if it does not exist.
  std::optional<int64_t> normalizeDim(int64_t dim, int64_t rank);

  /// Tensor operand \p i, or number \p i as a 0-d constant, in \p elementType.
  Value getAs(unsigned i, Type elementType);

  /// Why this operation cannot be lowered; returns failure.
  LogicalResult refuse(const Twine &reason) {
    if (why.empty())
      why = reason.str();
    return failure();
  }
  const std::string &getReason() const { return why; }

  /// The values that replace the results; further results must be unused.
  LogicalResult replaceWith(Value value);

private:
  ArrayRef<Value> operands;
  ArrayRef<Type> resultTypes;
  std::string why;
};

using Handler = std::function<LogicalResult(Lowering &)>;
using HandlerTable = llvm::StringMap<Handler>;

/// \p handler, called only if operand 0 is a tensor.
Handler onTensor(Handler handler);

void addPointwise(HandlerTable &table);
void addReductions(HandlerTable &table);
void addViews(HandlerTable &table);
void addMovement(HandlerTable &table);

/// True if \p op returns a list of views of its operand, which are made where the list
/// is unpacked.
bool isListOfViews(Operation *op);

void addContractions(HandlerTable &table);

} // namespace mlir::spyre::torch_lowering

#endif // SPYRE_LIB_CONVERSION_TORCHTOSPYRE_LOWERING_H
