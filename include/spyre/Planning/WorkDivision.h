//===- WorkDivision.h - Which core computes what ----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Divides the iteration space of one operation over the cores: a number of
// equal slices for every dim. problem -> check -> divide -> verify. MLIR-free; a
// pass turns an operation into a DivisionProblem and writes the splits back.
// Source of the rules: docs/developer/architecture.md, "Planning";
// docs/formats/superdsc-rules.md, e.3 (core order);
// docs/formats/superdsc-rules.md, e.6 (span reduction, default distribution).
//
// A dim that is in any operand's stick is counted in whole sticks, of the
// operand with most elements of the dim in a stick: 130 elements are 3 sticks
// of 64 and can be split by 3; the last slice then ends at element 130, the rest
// of its stick is padding.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_PLANNING_WORKDIVISION_H
#define SPYRE_PLANNING_WORKDIVISION_H

#include "spyre/Layout/Access.h"
#include "spyre/Layout/TensorLayout.h"
#include "spyre/OpFunc/MatmulRole.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spyre::planning {

enum class OperationKind : uint8_t {
  Pointwise,
  Reduction,
  Matmul,
  SingleCore, ///< e.g. top-k: never split
  Restickify, ///< a dim that gets padded is not split
};

struct DivisionDim {
  int64_t extent = 1; ///< logical elements
  bool isReduced = false;
  /// Largest over the operands in whose stick the dim is; 1: in none.
  int64_t elementsPerStick = 1;
  MatmulRole role = MatmulRole::None;
  bool maySplit = true;
  /// A split that is asked for (a hint); 0: free.
  int64_t requiredSplit = 0;
};

struct DivisionOperand {
  /// Iteration space, then iterations of the loops around it, to device coordinates, outer
  /// to inner; the last stickRank ones are within the stick.
  layout::IndexMap deviceCoordinates;
  std::vector<int64_t> deviceSizes;
  unsigned stickRank = 1;
  int64_t bytesPerElement = 2; ///< on the device
  bool isOutput = false;
  /// The span limit is for device memory; an operand in LX has none.
  bool isInDeviceMemory = true;
};

/// Operands: inputs, then outputs.
struct DivisionProblem {
  OperationKind kind = OperationKind::Pointwise;
  std::vector<DivisionDim> dims;
  std::vector<DivisionOperand> operands;
  int64_t maxCores = 1;
  int64_t spanLimitInBytes = 0; ///< per operand, core and iteration; 0: none
};

/// Slices per dim, in iteration order.
using Splits = std::vector<int64_t>;

/// Modelled time of \p splits; only compared, so any unit will do. Must be
/// deterministic. Not called with illegal splits.
using DivisionCost = std::function<double(const DivisionProblem &, const Splits &)>;

struct DivisionOptions {
  /// Evaluate every legal split (-O2, -O3) instead of the fast heuristic (-O1).
  bool exhaustive = false;
  /// Needed by the exhaustive search. The heuristic uses it for matmuls, if there
  /// is one; without, they get the default distribution.
  DivisionCost cost;
  /// Restrictions that the problem cannot express (alignment of the emission, an
  /// agreement with a neighbour). Plans that are not accepted are passed over.
  std::function<bool(const Splits &)> accept;
};

struct DivisionPlan {
  Splits splits;
  double cost = 0; ///< by DivisionOptions::cost; 0 without
  int64_t numCores = 1;
  /// The core order k-fast is to be used (docs/formats/superdsc-rules.md, e.3).
  bool kFast = false;
};

struct DivisionError {
  std::string message;
};

//===----------------------------------------------------------------------===//
// Building a problem
//===----------------------------------------------------------------------===//

/// The operand that reads or writes the coordinates \p access of a tensor with \p layout.
std::variant<DivisionOperand, DivisionError>
makeOperand(const layout::Access &access, const layout::TensorLayout &layout, bool isOutput);

/// Sets every dim's elementsPerStick from the operands.
void setElementsPerStick(DivisionProblem &problem);

/// Sets the matmul roles of a problem of kind Matmul with two inputs and one
/// output, from which operands a dim occurs in and whether it is reduced.
void setMatmulRoles(DivisionProblem &problem);

/// A part of \p problem, or a tile: \p extents of its dims, at any place of whole sticks.
DivisionProblem withExtents(DivisionProblem problem, const std::vector<int64_t> &extents);

//===----------------------------------------------------------------------===//
// Check, solve, verify
//===----------------------------------------------------------------------===//

/// Everything that is wrong with \p problem itself.
std::vector<std::string> check(const DivisionProblem &problem);

std::variant<DivisionPlan, DivisionError> divide(const DivisionProblem &problem,
                                                 const DivisionOptions &options);

/// Everything that is wrong with \p splits; empty: legal.
std::vector<std::string> verify(const DivisionProblem &problem, const Splits &splits);

/// All legal splits, in lexicographic order.
std::vector<Splits> enumerateSplits(const DivisionProblem &problem);

/// A place to cut an iteration dim in two: elements before and from `place` on.
struct Cut {
  unsigned dim = 0;
  int64_t place = 0;
  bool operator==(const Cut &) const = default;
};

/// Where a problem without a legal division may be cut into two that have one: 769 sticks
/// have no divisor but 768 have many. Whole sticks, never a dim that is reduced; first the
/// cuts that let most cores work.
std::vector<Cut> proposeCuts(const DivisionProblem &problem);

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

/// What a split of \p dim divides: sticks, or elements if it is in no stick.
int64_t getNumUnits(const DivisionDim &dim);
/// Elements of one slice; the last ones may be padding.
int64_t getSliceSize(const DivisionDim &dim, int64_t split);
/// Product of \p splits.
int64_t getNumCores(const Splits &splits);
/// Elements of the iteration space that the busiest core computes.
int64_t getPointsPerCore(const DivisionProblem &problem, const Splits &splits);
/// The device memory that one core needs to reach in \p operand: extent of the
/// outermost device dim of which it touches more than one place, times the
/// memory of one step there. Never less than last address - first address.
int64_t getSpanInBytes(const DivisionProblem &problem, const DivisionOperand &operand,
                       const Splits &splits);
/// Bytes of \p operand that one core touches, counted in whole sticks.
int64_t getFootprintInBytes(const DivisionProblem &problem, const DivisionOperand &operand,
                            const Splits &splits);

//===----------------------------------------------------------------------===//
// Cores
//===----------------------------------------------------------------------===//

/// True if the k-fast order is wanted (docs/formats/superdsc-rules.md, e.3): a matmul of
/// at least 3 dims whose last dim is split.
bool wantsKFast(const DivisionProblem &problem, const Splits &splits);

/// How \p splits spread the iteration space over cores. The splits must be at most as many
/// as a device has cores.
layout::Spread makeSpread(const std::vector<DivisionDim> &dims, const Splits &splits, bool kFast);

} // namespace spyre::planning

#endif // SPYRE_PLANNING_WORKDIVISION_H
