//===- KernelEmitter.h - Writes a KTIR kernel down --------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a described kernel (KernelPlan.h) to operations. KernelEmitter.cpp writes the
// function, views, loops, loads and stores; EmitCompute.cpp what is computed of a tile.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_CONVERSION_SPYRETOKTIR_KERNELEMITTER_H
#define SPYRE_LIB_CONVERSION_SPYRETOKTIR_KERNELEMITTER_H

#include "KernelPlan.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/IntegerSet.h"

#include <map>

namespace mlir::spyre::ktir {

/// Which compute tiles give something to which.
struct TileGroups {
  int64_t count = 1;
  IntegerSet producers, consumers; ///< (tile)[group]
};

/// How results over parts of the reduced dims are put together.
Value combine(OpBuilder &b, Location loc, ::spyre::Combiner combiner, Value x, Value y);

/// What \p value adds to its moment; \p lanes is the generic's dim of the two lanes.
Value makeMoment(OpBuilder &b, Location loc, unsigned lanes, Value value);
/// The moment of \p op that \p sum is the sum of.
Value scaleMoment(OpBuilder &b, Location loc, const KernelOp &op, unsigned lanes, Value sum);
/// From the moments of a row what its deviations are multiplied by.
Value makeMomentsScale(OpBuilder &b, Location loc, const KernelOp &op, Value mean, Value squares);

class KernelEmitter {
public:
  KernelEmitter(func::FuncOp planned, const Kernel &kernel)
      : planned(planned), kernel(kernel), b(planned.getContext()) {}

  /// Puts the kernel in the planned function's place.
  void run();

private:
  void makeFunction();
  void emitSteps(ArrayRef<KernelStep> steps);
  void emitOperation(const KernelOp &op);
  /// Loops over the tiles of the parts of one kind, outermost first; \p body gets
  /// \p carried through them and returns what they carry on.
  Value emitLoops(const KernelOp &op, bool reduced, Value carried, function_ref<Value(Value)> body);

  // Memory.
  Value getView(const KernelOp &op, unsigned i);
  Value getSharedView(const KernelOperand &operand);
  Value makeAccessTile(const KernelOp &op, unsigned i);
  Value makeGatherTile(const KernelOp &op, ArrayRef<unsigned> parts);
  Value loadOperand(const KernelOp &op, unsigned i);
  SmallVector<int64_t> getTileShape(const KernelOp &op, unsigned i);
  /// The place in a part that a compute tile's current tile starts at, as an affine
  /// expression over \p dims.
  AffineExpr getPlace(const KernelOp &op, unsigned part, bool withSlice,
                      SmallVectorImpl<Value> &dims);

  // Computation.
  void emitTile(const KernelOp &op);
  Value emitPointwise(const KernelOp &op);
  Value emitGather(const KernelOp &op);
  Value emitCombination(const KernelOp &op);
  /// The largest numbers, or their places, each stored by itself.
  void emitLargest(const KernelOp &op);
  /// A generic operation over the parts of \p op.
  Value makeGeneric(const KernelOp &op, ValueRange inputs, Value init, ArrayRef<AffineMap> maps,
                    function_ref<Value(OpBuilder &, Location, ValueRange)> body);
  /// From parts to the dims of operand \p i's tile.
  AffineMap getIndexing(const KernelOp &op, unsigned i);
  /// Where the masked dims start in the current tile, for applyMasks.
  SmallVector<Value> getMaskOrigins(const KernelOp &op);
  Value applyMasks(OpBuilder &inner, Location at, const KernelOp &op, ArrayRef<Value> origins,
                   Value value);

  // Between compute tiles.
  /// What the partials of a group fold to, on its consumers.
  Value emitFold(Value partial, const TileGroups &groups, ::spyre::Combiner combiner,
                 double neutral);
  /// Nobody goes on before all have come here.
  void emitBarrier();
  /// The compute tiles that share a slice of the result. All of them consume, also where one
  /// writes: nobody runs ahead and piles up partials.
  TileGroups getSumGroups(const KernelOp &op);
  /// Goes on where only the first of them does.
  void enterFirstOfSum(const KernelOp &op);

  /// A constant, once for the whole kernel.
  Value getIndex(int64_t value);
  /// What \p make builds, once for the whole kernel, among what stands before all operations.
  Value inPrologue(function_ref<Value()> make);
  Value getSlice(const KernelOp &op, const Part &part);
  /// \p expr over \p dims as index arithmetic.
  Value materialize(AffineExpr expr, ArrayRef<Value> dims);

  func::FuncOp planned, function;
  const Kernel &kernel;
  OpBuilder b;
  Location loc = UnknownLoc::get(planned.getContext());
  Block *entry = nullptr;
  Operation *prologue = nullptr; ///< its last operation
  DenseMap<int64_t, Value> constants;
  Value tileId;
  IRMapping loopVariables;
  std::map<std::vector<int64_t>, Value> slices;
  /// By base, element type, place, sizes and strides.
  std::map<std::pair<const void *, std::vector<int64_t>>, Value> views;
  SmallVector<Value> tileOffsets; ///< of the current operation, one a part; null: 0
};

} // namespace mlir::spyre::ktir

#endif // SPYRE_LIB_CONVERSION_SPYRETOKTIR_KERNELEMITTER_H
