//===- KernelPlan.h - What a KTIR kernel reads, computes and writes -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emission in two steps: this file describes every operation of a planned
// function in terms of device coordinates, or says why it has no KTIR form; the
// pass then only writes the description down. So the gate cannot be looser than
// the emission behind it.
//
// A *part* is one dim of a tile's computation. An iteration dim that is in some
// operand's stick has two, the count of sticks and the lane; any other has one.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_CONVERSION_SPYRETOKTIR_KERNELPLAN_H
#define SPYRE_LIB_CONVERSION_SPYRETOKTIR_KERNELPLAN_H

#include "spyre/Dialect/Spyre/IR/BufferBase.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::spyre::ktir {

/// One dim of the computation of an operation on one compute tile.
struct Part {
  int64_t extent = 1; ///< on one compute tile
  bool isLane = false;
  bool isReduced = false;
  /// The iteration dim whose slice moves it; -1: none (lanes).
  int dim = -1;
};

/// One device coordinate of an operand: part (or parts, stick count and lane, of a
/// stick dim that is not in this operand's stick) plus a constant.
struct Coordinate {
  SmallVector<unsigned, 2> parts;
  int64_t constant = 0;
  int64_t getExtent(ArrayRef<int64_t> partSizes) const {
    int64_t extent = 1;
    for (unsigned part : parts)
      extent *= partSizes[part];
    return extent;
  }
};

struct KernelOperand {
  Value buffer;
  bool isLX = false; ///< the view is the core's own part; slices do not move in it
  SmallVector<Coordinate> coordinates; ///< one a device dim
};

struct KernelOp {
  DeviceOpInterface op;
  const ::spyre::OpFuncInfo *info = nullptr;
  Type elementType; ///< of all operands
  SmallVector<Part> parts;
  SmallVector<KernelOperand> operands; ///< inputs, then the output
  SmallVector<int64_t> splits;         ///< one an iteration dim
  bool kFast = false;                  ///< the order in which compute tiles count slices
  /// Places of every part that are loaded and computed at once; each divides the
  /// part's extent.
  SmallVector<int64_t> tileSizes;

  int64_t getNumSlices() const;
  /// Iteration dims in the order in which consecutive compute tiles count them.
  std::vector<unsigned> getCoreOrder() const {
    return ::spyre::layout::getCoreOrder(splits.size(), kFast);
  }
  /// Slice of each iteration dim that \p core takes.
  SmallVector<int64_t> getSlices(int64_t core) const;
  /// First place of part \p part on a core with \p slices.
  int64_t getOrigin(unsigned part, ArrayRef<int64_t> slices) const {
    return parts[part].dim < 0 ? 0 : slices[parts[part].dim] * parts[part].extent;
  }
  /// Extents of all parts.
  SmallVector<int64_t> getExtents() const;
};

/// A buffer that the kernel uses, as its view shows it.
struct BufferView {
  BufferBase base;
  Type elementType;
  SmallVector<int64_t> sizes; ///< device sizes; of one core's part in LX
};

struct Kernel {
  std::vector<KernelOp> operations; ///< in order
  llvm::MapVector<Value, BufferView> views;
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

/// Adds the operations that depend on another core's operation through device
/// memory: KTIR orders nothing between compute tiles.
void checkOrder(const Kernel &kernel, SmallVectorImpl<Unsupported> &unsupported);

} // namespace mlir::spyre::ktir

#endif // SPYRE_LIB_CONVERSION_SPYRETOKTIR_KERNELPLAN_H
