//===- TailAnalysis.h - What the padding of tensors holds -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tail state of every L2 value along each of its padded dims, from the OpFunc
// table's rules (docs/developer/architecture.md, "Layouts, padding, tails").
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_TRANSFORMS_L2_TAILANALYSIS_H
#define SPYRE_DIALECT_SPYRE_TRANSFORMS_L2_TAILANALYSIS_H

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>

namespace mlir::spyre {

/// One state for the lanes of a value's last sticks and one for its padded rows
/// (a dim outside the stick that is larger in memory than its logical extent).
struct PaddingState {
  ::spyre::TailState lanes = ::spyre::TailState::Unknown;
  ::spyre::TailState rows = ::spyre::TailState::Unknown;
  bool operator==(const PaddingState &) const = default;
};

/// What follows for a value from the states of those before it, wherever these are kept.
class TailStates {
public:
  explicit TailStates(std::function<PaddingState(Value)> lookup) : lookup(std::move(lookup)) {}

  PaddingState get(Value value) const { return lookup(value); }

  /// The state of the results of \p op.
  PaddingState transfer(Operation *op) const;

  /// State of what an operation over \p extents (loops last) reads beyond the end of
  /// iteration dim \p dim in \p value under \p map: data, if the tensor goes on there.
  ::spyre::TailState getTail(Value value, AffineMap map, unsigned dim,
                             ArrayRef<int64_t> extents) const;

private:
  PaddingState compute(DeviceOpInterface op) const;
  /// Content of a tensor's elements from \p begin on along \p dim, as far as its
  /// writers tell.
  ::spyre::TailState getContent(Value value, int64_t dim, int64_t begin) const;

  std::function<PaddingState(Value)> lookup;
};

/// The states of all tensors of a function: a sparse dataflow analysis, whose answers a pass
/// keeps up to date while it builds operations.
class TailAnalysis : public TailStates {
public:
  explicit TailAnalysis(func::FuncOp func);
  TailAnalysis(const TailAnalysis &) = delete; // lookup reads this object's states

  /// Takes in an operation that was built or changed after the ones it reads.
  void update(Operation *op);

private:
  DenseMap<Value, PaddingState> states;
};

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L2_TAILANALYSIS_H
