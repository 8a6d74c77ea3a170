//===- StickAccess.h - How an operation meets its operands' sticks -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which iteration dim lies in an operand's stick, and whether an operation can read
// or write an operand as it lies. Layout assignment, its verifier and the plan
// verifier ask the same functions, so that no gate is looser than another.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_TRANSFORMS_L2_STICKACCESS_H
#define SPYRE_DIALECT_SPYRE_TRANSFORMS_L2_STICKACCESS_H

#include "spyre/Dialect/Spyre/IR/SpyreOps.h"

#include "llvm/ADT/SmallBitVector.h"

#include <optional>
#include <string>

namespace mlir::spyre {

/// What lies in an operand's stick, seen from the iteration space.
struct StickAccess {
  enum Kind {
    Lane0, ///< no iteration dim: one element a stick, read from lane 0
    Dim,   ///< iteration dim `dim`, from a stick boundary on
    Unreadable
  };
  Kind kind = Unreadable;
  unsigned dim = 0;
  std::string reason; ///< Unreadable: why
};

/// The stick access of a value of \p shape in \p layout under \p map (over
/// \p extents, no loop variables unless \p extents includes them).
StickAccess getStickAccess(ArrayRef<int64_t> shape, LayoutAttr layout, AffineMap map,
                           ArrayRef<int64_t> extents);

/// True if \p value, laid out as \p layout, can be written under \p map without
/// touching lanes beyond what is written: the region starts on a stick and ends on
/// one or at the logical end.
bool isWritable(Value value, LayoutAttr layout, AffineMap map, ArrayRef<int64_t> ranges);

/// Logical dim that lies in the stick, or -1 (sparse, rank 0).
int64_t getStickDim(LayoutAttr layout);

/// Roles of a matmul's iteration dims (docs/formats/superdsc-rules.md, section 7).
struct MatmulDims {
  SmallVector<unsigned> reduction; ///< in both inputs, not in the output
  SmallVector<unsigned> generated; ///< in input 2 and the output
  SmallVector<unsigned> preserved; ///< in input 1 and the output
  SmallVector<unsigned> noReuse;   ///< in all three
};
MatmulDims getMatmulDims(DeviceOpInterface op);

/// True for batchmatmul and its kin (category of the OpFunc table).
bool isMatmul(DeviceOpInterface op);
/// True if the operation reduces (some dim is not in the output's map), by category.
bool isReduction(DeviceOpInterface op);
bool isRestickify(DeviceOpInterface op);
/// True if the operation moves data from scratchpad to scratchpad, over the ring.
bool isRelayout(DeviceOpInterface op);

/// Iteration dims (positions) that \p map's results use.
llvm::SmallBitVector getUsedDims(AffineMap map);

/// The stick dim of the whole operation: what the operands that have one agree
/// on; \c Unreadable with a reason if they do not fit together.
StickAccess checkSticks(DeviceOpInterface op);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L2_STICKACCESS_H
