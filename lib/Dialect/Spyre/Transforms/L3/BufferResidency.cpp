//===- BufferResidency.cpp - What may stay in LX -----------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/L3/BufferResidency.h"

#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"

using namespace mlir;
using namespace mlir::spyre;
namespace planning = ::spyre::planning;
namespace layout = ::spyre::layout;

/// The map from core number to a slice of each logical dim of the buffer that \p writer writes.
static DistributionAttr makeDistribution(MLIRContext *context, const PlannedOp &writer) {
  const planning::Splits &splits = writer.splits;
  SmallVector<AffineExpr> sliceOfDim(splits.size());
  int64_t inner = 1;
  for (unsigned d : layout::getCoreOrder(splits.size(), writer.kFast)) {
    sliceOfDim[d] = getAffineDimExpr(0, context).floorDiv(inner) % splits[d];
    inner *= splits[d];
  }
  SmallVector<int64_t> slices;
  SmallVector<AffineExpr> results;
  for (const layout::IndexExpr &expr : writer.accesses.back().map.results) {
    if (expr.digits.empty()) {
      slices.push_back(1);
      results.push_back(getAffineConstantExpr(0, context));
      continue;
    }
    // The outermost of the dims that run through it: no other is divided.
    unsigned dim = layout::getDigitsByStep(expr).back().input;
    slices.push_back(splits[dim]);
    results.push_back(sliceOfDim[dim]);
  }
  return DistributionAttr::get(context, planning::getNumCores(splits), slices,
                               AffineMap::get(1, 0, results, context));
}

BufferResidency mlir::spyre::findResidency(AllocOp alloc, const BufferLife &life,
                                           PlanningModel &model) {
  BufferType type = alloc.getType();
  planning::ResidencyValue value;
  value.shape = type.getShape();
  layout::TensorLayout memory = type.getTensorLayout();
  value.hasPaddedLayout = !memory.paddedShape.empty() || !memory.stick.empty();
  value.isReinterpreted = llvm::any_of(alloc.getBuffer().getUsers(), llvm::IsaPred<ReinterpretOp>);
  std::vector<const layout::Spread *> spreads;
  const PlannedOp *writer = nullptr;
  for (const BufferAccess &access : life.accesses) {
    const PlannedOp *planned = model.get(access.op);
    if (!planned || !planned->spread)
      return {};
    if (!writer)
      writer = planned;
    value.uses.push_back(
        {planned->accesses[access.operand], access.isWrite,
         planning::needsDeviceMemory(*model.getDevice(), planned->problem.kind, access.isWrite),
         !access.isWrite && isRelayout(access.op)});
    spreads.push_back(&*planned->spread);
  }
  std::optional<planning::ResidencyObstacle> obstacle = planning::findObstacle(value);
  if (!obstacle)
    obstacle = planning::findObstacleInSpreads(value, spreads, model.getDevice()->getNumCores());
  if (obstacle)
    return {{}, obstacle};
  return {makeDistribution(type.getContext(), *writer), std::nullopt};
}
