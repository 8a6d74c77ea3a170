//===- SplitFar.cpp - Operations beyond the cores' reach, in parts ---------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An adapter: which boxes, and how many tiles of each, is spyre::planning::divideInParts. Here a
// box becomes an operation, in a loop for each dim that has tiles. Reductions whose reduced dim
// is beyond reach are put together from parts of it first (FarReductions.cpp), and operands whose
// sticks lie too far apart are copied (FarOperands.cpp); what that takes may be beyond reach in
// turn.
//
//===----------------------------------------------------------------------===//

#include "FarOperands.h"
#include "FarReductions.h"
#include "TileMaps.h"

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"
#include "spyre/OpFunc/OpFuncTable.h"
#include "spyre/Planning/DivisionCost.h"
#include "spyre/Planning/FarParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYRESPLITFAR
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
namespace planning = ::spyre::planning;

namespace {
struct SplitFarPass : mlir::spyre::impl::SpyreSplitFarBase<SplitFarPass> {
  using SpyreSplitFarBase::SpyreSplitFarBase;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    PlanningModel &model = getAnalysis<PlanningModel>();
    if (failed(model.getDevice()))
      return signalPassFailure();
    SmallVector<DeviceOpInterface> ops;
    getOperation().walk([&](DeviceOpInterface op) {
      if (op.getSplits().empty() && !llvm::is_contained(op.getExtents(), 0))
        ops.push_back(op);
    });
    bool ok = true;
    for (DeviceOpInterface op : ops)
      ok &= succeeded(split(op, model, /*isNew=*/false));
    if (!ok)
      signalPassFailure();
  }

private:
  /// Does \p op in parts if it has no legal division. \p isNew: divides it if it has one.
  LogicalResult split(DeviceOpInterface op, PlanningModel &model, bool isNew);
};
} // namespace

/// True if parts of \p op may be done one after the other.
static bool mayBeInParts(DeviceOpInterface op) {
  // What it reads may be what another part has overwritten.
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    if (getRootBuffer(input) == getRootBuffer(op.getDestination()) &&
        (input != op.getDestination() || op.getInputMap(i) != op.getOutputMap()))
      return false;
  return !op.getGather();
}

/// Gives \p op, which \p problem describes, \p splits.
static void divide(DeviceOpInterface op, const planning::DivisionProblem &problem,
                   const planning::Splits &splits) {
  op.setSplits(planning::getNumCores(splits) > 1 ? ArrayRef<int64_t>(splits) : ArrayRef<int64_t>());
  if (planning::wantsKFast(problem, splits))
    op->setAttr("kFast", UnitAttr::get(op.getContext()));
}

/// One box of \p op in loops over its tiles, before \p op.
static DeviceOpInterface buildPart(DeviceOpInterface op, const planning::FarPart &part) {
  OpBuilder builder(op);
  const Location loc = op->getLoc();
  DeviceOpSpec spec = DeviceOpSpec::of(op);
  for (unsigned d = 0; d < part.extents.size(); ++d)
    if (part.extents[d] != spec.extents[d])
      spec = spec.restrict(d, part.offsets[d], part.extents[d]);
  SmallVector<TileStart> starts;
  Value zero, one;
  for (auto [d, count] : llvm::enumerate(part.numTiles)) {
    if (count == 1)
      continue;
    if (!zero) {
      zero = arith::ConstantIndexOp::create(builder, loc, 0);
      one = arith::ConstantIndexOp::create(builder, loc, 1);
    }
    Value bound = arith::ConstantIndexOp::create(builder, loc, count);
    auto loop = scf::ForOp::create(builder, loc, zero, bound, one);
    spec.loopVariables.push_back(loop.getInductionVar());
    spec.extents[d] /= count;
    starts.push_back({{static_cast<unsigned>(d), spec.extents[d]}});
    builder.setInsertionPointToStart(loop.getBody());
  }
  for (AffineMap &map : spec.maps)
    map = moveWith(map, starts);
  spec.splits.assign(part.splits.begin(), part.splits.end());
  return buildDeviceOp(builder, loc, spec);
}

LogicalResult SplitFarPass::split(DeviceOpInterface op, PlanningModel &model, bool isNew) {
  const PlannedOp *planned = model.get(op);
  if (!planned)
    return failure();
  const planning::DivisionProblem &problem = planned->problem;
  if (!isNew && planning::verify(problem, planned->splits).empty())
    return success();
  auto plan = planning::divide(problem, {});
  auto *error = std::get_if<planning::DivisionError>(&plan);
  if (!error) {
    if (isNew)
      divide(op, problem, std::get<planning::DivisionPlan>(plan).splits);
    return success();
  }
  std::string message = "is not supported at this size: " + error->message;
  if (!mayBeInParts(op))
    return op->emitOpError() << message;
  auto steps = copyFarOperand(op, *planned);
  if (!steps)
    steps = reduceInParts(getOperation(), op, problem);
  if (steps) {
    for (DeviceOpInterface step : *steps)
      if (failed(split(step, model, /*isNew=*/true)))
        return failure();
    return success();
  }
  auto cost = planning::makeModelCost(*model.getDevice(), op.getInfo().costClass);
  std::optional<std::vector<planning::FarPart>> parts = planning::divideInParts(problem, cost);
  if (!parts)
    return op->emitOpError() << message;
  SmallVector<DeviceOpInterface> built;
  for (const planning::FarPart &part : *parts)
    built.push_back(buildPart(op, part));
  op->erase();
  for (DeviceOpInterface part : built) {
    const PlannedOp &now = model.describe(part);
    if (!now.error.empty() || checkSticks(part).kind == StickAccess::Unreadable ||
        !planning::verify(now.problem, now.splits).empty())
      return part->emitOpError() << message;
    divide(part, now.problem, now.splits);
  }
  return success();
}
