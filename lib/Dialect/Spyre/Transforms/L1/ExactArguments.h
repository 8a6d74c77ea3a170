//===- ExactArguments.h - Arguments as the host has them --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An f16 argument loses its last bit on the way into the device's 16-bit format, which
// has one bit of fraction less. Where that bit decides, the argument is copied in as f32,
// which holds it: in place of the 16-bit form, or beside it where both are read.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_EXACTARGUMENTS_H
#define SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_EXACTARGUMENTS_H

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::spyre {

/// f32 forms of a function's 16-bit values that are known exactly.
class ExactArguments {
public:
  /// How far a value may be from an argument.
  enum class Reach {
    Moves,   ///< the same elements elsewhere: views, joined tensors, copies
    Numbers, ///< also what chooses among elements, changes signs, rounds to integers, or
             ///< multiplies by a power of two
  };

  /// \p widensConditions: the formats of operations are decided, so that a choice among f32
  /// numbers gets its condition as f32, as the device has it.
  ExactArguments(func::FuncOp func, RewriterBase &rewriter, bool widensConditions)
      : func(func), rewriter(rewriter), widensConditions(widensConditions) {}

  /// True if \p value (f16; bf16 where a program rounds f16 numbers to it) is made in
  /// reach of f16 arguments that the host passes (kOnHostAttr), f16 constants and values
  /// that were narrowed without loss.
  bool isKnown(Value value, Reach reach);
  /// True if \p value, which is known, has numbers of an argument or of a constant array:
  /// single constants are what they are in any format.
  static bool readsHost(Value value);
  /// \p value, which is known in \p reach, in f32; built anew up to the arguments.
  Value getExact(Value value);
  /// Drops the 16-bit form of arguments whose f32 form alone is read. Call once, at the end.
  void finish();

private:
  BlockArgument getTwin(BlockArgument argument);
  Value getCondition(Value value);

  func::FuncOp func;
  RewriterBase &rewriter;
  bool widensConditions;
  llvm::DenseMap<BlockArgument, BlockArgument> twins;
  llvm::DenseMap<Value, Value> exact;
  llvm::DenseMap<std::pair<Value, int>, bool> known;
};

/// The elements of a constant of 16-bit floats, in f32.
ElementsAttr widenElements(ElementsAttr elements);

} // namespace mlir::spyre

#endif // SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_EXACTARGUMENTS_H
