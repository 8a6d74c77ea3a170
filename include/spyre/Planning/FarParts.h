//===- FarParts.h - Operations beyond the cores' reach ----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A core reaches so many bytes of a tensor at once (DivisionProblem::spanLimitInBytes). An
// operation that has no legal division because all cores together do not reach its operands is done
// in parts, one after the other: boxes of its iteration space, each in equal tiles that have a
// legal division. problem -> divideInParts -> a pass builds a loop for each dim that has tiles.
// MLIR-free.
//
// Parts are boxes as sizes have poor divisors, or end inside a stick: all but the last stick may be
// tiled then, the last one is a part of its own. A dim that is reduced is neither cut nor tiled:
// whoever cuts it has to put the results together (isWithinReach says whether that helps). Where
// even one stick of each dim is beyond reach (getLeastSpanInBytes), only another layout of the
// operand helps.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_PLANNING_FARPARTS_H
#define SPYRE_PLANNING_FARPARTS_H

#include "spyre/Planning/WorkDivision.h"

namespace spyre::planning {

/// A box of an iteration space, in equal tiles.
struct FarPart {
  std::vector<int64_t> offsets, extents; ///< of the box, for each dim
  std::vector<int64_t> numTiles;         ///< along each dim
  Splits splits;                         ///< of one tile, which is legal

  int64_t getNumTiles() const;
};

/// Boxes that \p problem consists of, so that their tiles take least by \p cost, one after the
/// other; nothing if there are none: some operand is beyond reach whatever is cut, or the
/// operation cannot be cut.
std::optional<std::vector<FarPart>> divideInParts(const DivisionProblem &problem,
                                                  const DivisionCost &cost);

/// True if a core reaches all operands of \p problem where it has \p extent of dim \p dim and
/// as little of the others as can be.
bool isWithinReach(const DivisionProblem &problem, unsigned dim, int64_t extent);

/// What a core reaches of \p operand of \p problem where it has as little of all dims as can be.
int64_t getLeastSpanInBytes(const DivisionProblem &problem, const DivisionOperand &operand);

} // namespace spyre::planning

#endif // SPYRE_PLANNING_FARPARTS_H
