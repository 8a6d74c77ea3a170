//===- BufferLiveness.cpp - When buffers live and how large they are -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"

#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::spyre;

llvm::MapVector<Value, BufferLife> mlir::spyre::computeLives(func::FuncOp func,
                                                             int64_t &numPositions) {
  llvm::MapVector<Value, BufferLife> lives;
  for (BlockArgument argument : func.getArguments())
    if (isa<BufferType>(argument.getType()))
      lives[argument];
  func.walk<WalkOrder::PreOrder>([&](AllocOp alloc) { lives[alloc.getBuffer()]; });

  int64_t position = 0;
  // Range of positions inside each loop, to widen what outlives an iteration.
  SmallVector<std::tuple<scf::ForOp, int64_t, int64_t>> loops;
  std::function<void(Block &)> visit = [&](Block &block) {
    for (Operation &op : block) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        int64_t begin = position;
        visit(*loop.getBody());
        loops.emplace_back(loop, begin, position - 1);
      } else if (auto device = dyn_cast<DeviceOpInterface>(op)) {
        for (auto [i, input] : llvm::enumerate(device.getInputs()))
          lives[getRootBuffer(input)].accesses.push_back(
              {device, static_cast<unsigned>(i), false, position});
        if (Value output = device.getOutput())
          lives[getRootBuffer(output)].accesses.push_back(
              {device, static_cast<unsigned>(device.getInputs().size()), true, position});
        ++position;
      }
    }
  };
  visit(func.getBody().front());
  for (auto &[buffer, life] : lives) {
    if (life.accesses.empty())
      continue;
    life.first = life.accesses.front().position;
    life.last = life.accesses.back().position;
    for (auto [loop, begin, end] : loops) {
      bool inside = buffer.getDefiningOp() && loop->isProperAncestor(buffer.getDefiningOp());
      bool touched = llvm::any_of(life.accesses, [&, begin = begin, end = end](auto &access) {
        return access.position >= begin && access.position <= end;
      });
      if (touched && !inside) {
        life.first = std::min(life.first, begin);
        life.last = std::max(life.last, end);
      }
    }
  }
  numPositions = position;
  return lives;
}

int64_t mlir::spyre::getSizePerCore(BufferType type, ArrayRef<int64_t> slices) {
  LayoutAttr layout = type.getLayout();
  int64_t elements = ::spyre::getElementsPerStick(layout.getFormat());
  int64_t stickDim = getStickDim(layout);
  int64_t sticks = 1;
  ::spyre::layout::TensorLayout described = layout.getTensorLayout(type.getShape());
  for (auto [dim, shape] : llvm::enumerate(type.getShape())) {
    int64_t extent = described.paddedShape.empty() ? shape : described.paddedShape[dim];
    int64_t units =
        static_cast<int64_t>(dim) == stickDim ? llvm::divideCeil(extent, elements) : extent;
    sticks *= llvm::divideCeil(units, slices.empty() ? 1 : slices[dim]);
  }
  return sticks * ::spyre::kStickInBytes;
}

int64_t mlir::spyre::getSizeInMemory(AllocOp alloc) {
  if (alloc.getType().getSpace() == MemorySpace::HBM)
    return alloc.getType().getLayout().getSizeInBytes();
  if (DistributionAttr distribution = alloc.getDistributionAttr())
    return getSizePerCore(alloc.getType(), distribution.getSlices());
  return alloc.getType().getLayout().getSizeInBytes();
}

MemoryUse mlir::spyre::getMemoryUse(func::FuncOp func) {
  MemoryUse use;
  func.walk([&](AllocOp alloc) {
    PlacementAttr placement = alloc.getPlacementAttr();
    if (!placement)
      return;
    int64_t end = placement.getAddressInBytes() + getSizeInMemory(alloc);
    if (placement.getKind() == PlacementKind::LX)
      use.lxInBytes = std::max(use.lxInBytes, end);
    if (placement.getKind() != PlacementKind::Pool)
      return;
    use.hasPool = true;
    use.poolInBytes = std::max(use.poolInBytes, end);
  });
  return use;
}

int64_t mlir::spyre::getNumRuns(Operation *op) {
  int64_t runs = 1;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound()))
      runs *= *upper;
  return runs;
}

bool mlir::spyre::canBeInPlace(DeviceOpInterface reader, unsigned input) {
  if (isMatmul(reader) || isReduction(reader) || isRestickify(reader))
    return false;
  return reader.getInputMap(input) == reader.getOutputMap() &&
         getLayout(reader.getInputs()[input]) == getLayout(reader.getDestination()) &&
         getShape(reader.getInputs()[input]) == getShape(reader.getDestination());
}
