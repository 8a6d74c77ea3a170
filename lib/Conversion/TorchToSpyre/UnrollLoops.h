//===- UnrollLoops.h - prim.Loop, trip by trip ------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Takes loops apart by running them as far as they are known. `spyre-specialize-shapes`
// folds numbers from the front of a function to its end; where it meets a
// `torch.prim.Loop` whose condition is a constant by then, one trip is copied in front of
// the loop, with the counter as a constant and the carries as they are, and the folding
// goes on in the copy. So the loop is met again with the next condition, and ends
// where that is false: what the condition computes, from numbers, sizes or tensors that
// nothing but constants has a part in, is evaluated by the folding that is there anyway
// (FoldScalars, lib/Host), and so are the bounds of loops within the copy.
//
// Calls of private functions (torch-mlir exports the body of a `while_loop` as one) are
// inlined on the way. What becomes of the trips, once all are there, is in TripPieces.h.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_CONVERSION_TORCHTOSPYRE_UNROLLLOOPS_H
#define SPYRE_LIB_CONVERSION_TORCHTOSPYRE_UNROLLLOOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::spyre::torch_lowering {

class LoopUnroller {
public:
  /// What happened to an operation.
  enum class Outcome {
    Unchanged,
    Replaced, ///< others stand in its place or before it, to be visited from the first one on
    Gone,     ///< what stands in its place, if anything, has not to be visited
    Refused,  ///< it is an error, which has been reported
  };

  explicit LoopUnroller(ModuleOp module);

  /// What stands before \p op in its block has been visited and folded. \p mayRefuse:
  /// loops with an unknown number of trips are errors, not left for a later time.
  Outcome visit(Operation *op, bool mayRefuse);
  /// Erases private functions that nobody calls any more: they were inlined, or stood in a
  /// loop without trips or a branch that is not taken.
  void eraseUncalled();

private:
  /// A loop that is being taken apart.
  struct Progress {
    int64_t trips = 0;
    Operation *before = nullptr;   ///< what stood before the loop; null: it was the first
    SmallVector<Operation *> ends; ///< the last operation of each trip that is done
  };

  Outcome inlineCall(func::CallOp call);
  Outcome takeTrip(Operation *loop, bool mayRefuse);
  Outcome refuse(Operation *loop, const Twine &why, const Twine &advice);
  /// Puts a literal in the place of a small tensor that only constants have a part in.
  Outcome foldTensor(Operation *op);
  /// The loop ends with the values that it carries.
  void finish(Operation *loop);

  ModuleOp module;
  SymbolTable symbols;
  bool hasAny = false;                   ///< loops or branches: else visit changes nothing
  llvm::DenseSet<Operation *> recursive; ///< functions that call themselves, by others too
  llvm::DenseMap<Operation *, Progress> running;
  int64_t numCopied = 0;
};

} // namespace mlir::spyre::torch_lowering

#endif // SPYRE_LIB_CONVERSION_TORCHTOSPYRE_UNROLLLOOPS_H
