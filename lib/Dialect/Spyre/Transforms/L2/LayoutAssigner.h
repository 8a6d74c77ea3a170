//===- LayoutAssigner.h - Layouts of a function, operation by operation -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks a function in order. Each operation takes the stick dim with which it and the
// copies it needs move the fewest elements, or the one that it is told to; operands that
// do not fit are copied (once per value), and the result gets the layout that the
// operation writes. What cannot be written in place (a result that starts inside a
// stick) is computed as a value of its own and copied. See Passes.td for the contract.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_LAYOUTASSIGNER_H
#define SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_LAYOUTASSIGNER_H

#include "LayoutCopies.h"

namespace mlir::spyre {

/// The iteration dim in an operation's stick; none: one element a stick.
using Stick = std::optional<unsigned>;

/// How an operand is made readable.
struct OperandPlan {
  enum Kind { Fits, Restickify, Sparse, Spread, Part } kind = Fits;
  int64_t logical = -1; ///< Restickify: the dim that enters the stick
  int64_t cost = 0;     ///< elements moved
};

/// The part of an operand that an operation reads or writes, without the dims that it
/// does not depend on.
struct Box {
  AffineMap map;        ///< box to the value's coordinates
  AffineMap projection; ///< iteration dims to box
  SmallVector<int64_t> extents;
  int64_t stick = -1;
};

/// The box of iteration dims \p used of \p op, seen by \p map.
Box getBox(DeviceOpInterface op, AffineMap map, const llvm::SmallBitVector &used,
           Stick stick = std::nullopt);

/// True if \p op changes the format of its operand, and so the elements a stick.
bool isCast(DeviceOpInterface op);
/// True if one side of the cast \p op, with d\p stick in the stick, has fewer sticks than
/// those of the other side hold.
bool isPartialCast(DeviceOpInterface op, unsigned stick);

/// Puts \p value with map \p map in place of input \p input.
void replaceInput(DeviceOpInterface op, unsigned input, Value value, AffineMap map);

/// An operation that had a choice, by its place among the operations of the function.
struct StickDecision {
  unsigned place = 0;
  bool copiesOperands = false;
  SmallVector<Stick> others = {}; ///< what it might have taken instead, the cheapest first
};
/// By place: the stick dims that operations are to take, where they can.
using StickWishes = llvm::SmallDenseMap<unsigned, Stick>;

class LayoutAssigner {
public:
  explicit LayoutAssigner(func::FuncOp func)
      : func(func), copies(func), builder(copies.getBuilder()) {}

  /// What changes plans for more than the one operation: results that the host alone takes may
  /// have any dim in their stick, and what LayoutCopies says.
  void beThorough() {
    resultsAreFree = true;
    copies.beThorough();
  }
  void setWishes(StickWishes theWishes) { wishes = std::move(theWishes); }

  /// Splits off writes at offsets that no layout can take: run() does it, too.
  void splitOffsets();
  LogicalResult run();
  /// What run() decided.
  ArrayRef<StickDecision> getDecisions() const { return decisions; }

private:
  LogicalResult assign(DeviceOpInterface op, unsigned place);
  LogicalResult assignMatmul(DeviceOpInterface op, unsigned place);
  /// \p place: of an operation of the program, which may have a wish.
  LogicalResult assignPointwise(DeviceOpInterface op, std::optional<unsigned> place = std::nullopt);
  /// True if the host alone takes what \p returned returns: copying follows the layout.
  bool isFreeResult(OpOperand &returned);
  /// An operation with \p stick in its stick.
  struct Choice {
    Stick stick;
    bool inPlace = true;
    int64_t copies = 0; ///< what copies of operands cost
    int64_t cost = 0;   ///< elements moved
  };
  Choice makeChoice(DeviceOpInterface op, Stick stick);
  LogicalResult assignReturn(func::ReturnOp op, unsigned place);

  OperandPlan planOperand(DeviceOpInterface op, unsigned input, Stick stick);
  void makeOperandFit(DeviceOpInterface op, unsigned input, Stick stick);
  void makePart(DeviceOpInterface op, unsigned input, Stick stick, bool zeroTail);
  /// Makes input \p input of \p op depend on \p dims.
  LogicalResult repeatAlong(DeviceOpInterface op, unsigned input, ArrayRef<unsigned> dims);
  /// Makes every input of a reduction or contraction depend on the dims that it reduces,
  /// and the input of a reduction on those that it writes.
  LogicalResult repeatReduced(DeviceOpInterface op);
  void makeContractionTailsFit(DeviceOpInterface op, unsigned k);
  /// Masks an operation that \p value is computed from element by element, so that
  /// \p isEnough of its tail holds. False, with nothing changed, if there is none.
  bool maskSource(Value value, function_ref<bool()> isEnough);

  /// The layout of the result of \p op with \p stick in the stick that it and all
  /// operations that update the result can write; nothing if there is none.
  std::optional<LayoutAttr> chooseResultLayout(DeviceOpInterface op, Stick stick);
  /// Computes \p op into a tensor of \p partType at \p inPart and copies that to where
  /// \p op would have written it, by \p inWhole. Returns the copy.
  DeviceOpInterface splitWrite(DeviceOpInterface op, RankedTensorType partType, AffineMap inPart,
                               AffineMap inWhole);
  /// Computes \p op's result as a value of its own and copies it to where \p op
  /// would have written it. Returns the copy, which is still to be assigned.
  DeviceOpInterface splitOffWrite(DeviceOpInterface op);
  /// The same where what \p op writes is a part of a tensor with several iteration dims
  /// in one coordinate: the part by itself, then at its offset. Null if it is not, or if
  /// (unless \p always) there are layouts in which it can be written in place.
  DeviceOpInterface splitOffOffset(DeviceOpInterface op, bool always);
  void setDefaultLayout(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    setLayout(value, makeLayout(type, type.getRank() - 1));
  }
  LogicalResult finish(DeviceOpInterface op);
  LogicalResult assignPartialCast(DeviceOpInterface op, Stick stick);

  func::FuncOp func;
  bool resultsAreFree = false;
  StickWishes wishes;
  SmallVector<StickDecision> decisions;
  LayoutCopies copies;
  OpBuilder &builder;
};

} // namespace mlir::spyre

#endif // SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_LAYOUTASSIGNER_H
