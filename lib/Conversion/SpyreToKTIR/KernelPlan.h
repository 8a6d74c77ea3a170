//===- KernelPlan.h - What a KTIR kernel reads, computes and writes -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emission in two steps: the plan describes every operation of a planned
// function in terms of places in memory, or says why it has no KTIR form; the
// emitter then only writes the description down. So the gate cannot be looser than
// the emission behind it.
//
// A *part* is one dim of a tile's computation: a digit of an iteration dim, as the
// sticks of some operand (or a coordinate that has the dim divided) cut it. With
// iteration dims in parts every device coordinate is a sum of parts times numbers,
// so that an operand is a strided view with one dim, an *axis*, a part.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_CONVERSION_SPYRETOKTIR_KERNELPLAN_H
#define SPYRE_LIB_CONVERSION_SPYRETOKTIR_KERNELPLAN_H

#include "spyre/Dialect/Spyre/IR/BufferBase.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::spyre::ktir {

/// One dim of the computation of an operation.
struct Part {
  int64_t extent = 1; ///< on one compute tile
  int64_t split = 1;  ///< slices of it among compute tiles
  /// A tile's slice is (its number floordiv coreStride) mod split.
  int64_t coreStride = 1;
  bool isLane = false; ///< within a stick: never cut
  bool isReduced = false;
  int dim = -1;     ///< the iteration dim that it is a part of; -1: none
  int64_t unit = 1; ///< points of that dim per step

  int64_t getSlice(int64_t core) const { return core / coreStride % split; }
};

/// One dim of an operand's view: a part, one place (-1), or all places, of which an index
/// tensor names one (-1 and isIndirect).
struct Axis {
  int part = -1;
  int64_t stride = 1; ///< elements
  int64_t size = 1;   ///< places of the view
  bool isIndirect = false;
};

/// What a core's LX holds of an operand that others read, too: a box of the view.
struct Share {
  int64_t core = 0;
  SmallVector<int64_t> begin, sizes, strides; ///< one an axis
};

/// What a loop adds to an operand's place: (variable floordiv divisor) mod modulus, times
/// stride.
struct LoopTerm {
  Value variable;
  int64_t divisor = 1;
  int64_t modulus = 0; ///< 0: no mod
  int64_t stride = 0;  ///< elements
};

struct KernelOperand {
  Value buffer;
  unsigned number = 0; ///< of the operation's operand that it is
  BufferBase base;
  Type elementType;
  int64_t constant = 0;   ///< elements from the base
  SmallVector<Axis> axes; ///< by falling stride; the last has stride 1
  SmallVector<LoopTerm> loops;
  /// Of a relayout's source: together they are the view.
  std::vector<Share> shares;

  /// In LX a tile sees what it holds itself, so that slices do not move it.
  bool isLX() const { return base.kind == BufferBase::LX; }
  bool isRemote() const { return !shares.empty(); }
  /// True if slices do not move the tile in the view.
  bool isOwn() const { return isLX() && !isRemote(); }
};

/// Lanes of the first input that read as a number: places of dim from extent on.
struct Mask {
  int dim = -1;
  int64_t extent = 0;
};

struct KernelOp {
  DeviceOpInterface op;
  const ::spyre::OpFuncInfo *info = nullptr;
  SmallVector<Part> parts;
  SmallVector<KernelOperand> operands; ///< inputs, then the output
  int64_t numSlices = 1;               ///< compute tiles that have work
  /// Places of every part that are loaded and computed at once; each divides the
  /// part's extent.
  SmallVector<int64_t> tileSizes;
  SmallVector<Mask> masks;
  double maskValue = 0;
  /// What other compute tiles did before has to be done before it.
  bool needsBarrier = false;

  /// True if results over parts of the reduced dims are put together.
  bool combines() const { return info->combiner != ::spyre::Combiner::None; }
  /// True if lanes 0 and 1 of a stick are two results.
  bool hasMoments() const {
    return info->arrangementRule == ::spyre::ArrangementRule::ProducesExx2;
  }
  /// True if it reads such a stick: both lanes of the first input.
  bool takesMoments() const { return info->arrangementRule == ::spyre::ArrangementRule::FromExx2; }
  /// True if the result has the largest numbers one after another, along its first dim.
  bool isLargest() const { return info->stickRule == ::spyre::StickRule::TopK; }
  /// True if the body comes before the combination: a contraction's factors.
  bool isContraction() const { return info->category == ::spyre::OpCategory::Batchmatmul; }
  /// True if compute tiles share reduced dims: their sums are put together.
  bool isSumShared() const {
    return llvm::any_of(parts, [](const Part &part) { return part.isReduced && part.split > 1; });
  }
  /// Extents of all parts on one compute tile.
  SmallVector<int64_t> getExtents() const {
    return llvm::map_to_vector(parts, [](const Part &part) { return part.extent; });
  }
};

/// An operation, or a loop around steps.
struct KernelStep {
  std::optional<unsigned> operation; ///< of Kernel::operations
  scf::ForOp loop;
  std::vector<KernelStep> body;
};

struct Kernel {
  std::vector<KernelOp> operations; ///< in order
  std::vector<KernelStep> steps;
  int64_t numTiles = 1; ///< compute tiles: the most that an operation uses
  int64_t poolInBytes = 0;
  bool hasPool = false;
};

/// Why an operation has no KTIR form, with a note at the other side if there is one.
struct Unsupported {
  Operation *op = nullptr;
  std::string reason;
  Operation *other = nullptr;
  std::string note;
};

/// Describes \p func; what cannot be emitted is added to \p unsupported. Tiles take at
/// most \p capacityInBytes of LX (0: what resident buffers leave of the device's).
/// Fails with a diagnostic where the plan itself is broken (a buffer without a place).
FailureOr<Kernel> planKernel(func::FuncOp func, PlanningModel &model, int64_t capacityInBytes,
                             SmallVectorImpl<Unsupported> &unsupported);

/// Describes \p op. The reason is why it has no KTIR form; empty: it has. Fails with a
/// diagnostic where the plan is broken.
FailureOr<std::string> planOperation(DeviceOpInterface op, PlanningModel &model,
                                     int64_t capacityInBytes, KernelOp &result);

/// Finds the operations that depend on what another core did through device memory, and marks
/// them: KTIR orders nothing between compute tiles.
void findBarriers(Kernel &kernel, PlanningModel &model);

} // namespace mlir::spyre::ktir

#endif // SPYRE_LIB_CONVERSION_SPYRETOKTIR_KERNELPLAN_H
