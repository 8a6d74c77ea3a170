//===- PlaceBuffers.cpp - Buffers in LX or in the pool -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An adapter: which buffers may live in LX follows from the work divisions, where
// they go is decided by spyre::planning (packing). Remarks say why a buffer is not
// kept in LX.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"
#include "spyre/Planning/Packing.h"
#include "spyre/Planning/Residency.h"

#include "mlir/IR/Remarks.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREPLACEBUFFERS
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
namespace planning = ::spyre::planning;
namespace layout = ::spyre::layout;

namespace {
class BufferPlacer {
public:
  BufferPlacer(func::FuncOp func, PlanningModel &model, bool useLX, int64_t capacity)
      : func(func), model(model), useLX(useLX),
        capacity(capacity ? capacity : model.getDevice()->getUsableLXInBytes()) {}

  LogicalResult run();

private:
  /// What each core would hold of \p alloc in LX; nothing, and a remark, if some
  /// core would not find there what it reads.
  DistributionAttr findDistribution(AllocOp alloc, const BufferLife &life);
  void remark(AllocOp alloc, const Twine &reason) {
    remark::missed(alloc.getLoc(),
                   remark::RemarkOpts::name("NotInLX").category("spyre-place-buffers"))
        << reason.str();
  }
  planning::PackingProblem makeProblem(ArrayRef<AllocOp> allocs, bool inLX);
  void setPlacement(AllocOp alloc, PlacementKind kind, int64_t address) {
    alloc.setPlacementAttr(PlacementAttr::get(func.getContext(), kind, address));
  }
  LogicalResult placeLX(SmallVectorImpl<AllocOp> &candidates, SmallVectorImpl<AllocOp> &rest);
  LogicalResult placePool(ArrayRef<AllocOp> allocs);

  func::FuncOp func;
  PlanningModel &model;
  bool useLX;
  int64_t capacity;
  llvm::MapVector<Value, BufferLife> lives;
};

struct PlaceBuffersPass : mlir::spyre::impl::SpyrePlaceBuffersBase<PlaceBuffersPass> {
  using SpyrePlaceBuffersBase::SpyrePlaceBuffersBase;
  void runOnOperation() override {
    PlanningModel &model = getAnalysis<PlanningModel>();
    if (failed(model.getDevice()) ||
        failed(BufferPlacer(getOperation(), model, useLX, capacity).run()))
      signalPassFailure();
  }
};
} // namespace

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
    unsigned dim = expr.digits.front().input;
    slices.push_back(splits[dim]);
    results.push_back(sliceOfDim[dim]);
  }
  return DistributionAttr::get(context, planning::getNumCores(splits), slices,
                               AffineMap::get(1, 0, results, context));
}

DistributionAttr BufferPlacer::findDistribution(AllocOp alloc, const BufferLife &life) {
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
        {planned->accesses[access.operand], access.isWrite, isRestickify(access.op)});
    spreads.push_back(&*planned->spread);
  }
  std::optional<planning::ResidencyObstacle> obstacle = planning::findObstacle(value);
  if (!obstacle)
    obstacle = planning::findObstacleInSpreads(value, spreads, model.getDevice()->getNumCores());
  if (!obstacle)
    return makeDistribution(type.getContext(), *writer);
  std::string reason = planning::describe(*obstacle);
  if (obstacle->kind == planning::Obstacle::OtherPart)
    reason += ", in " + life.accesses[obstacle->use].op->getName().getStringRef().str();
  remark(alloc, reason);
  return {};
}

planning::PackingProblem BufferPlacer::makeProblem(ArrayRef<AllocOp> buffers, bool inLX) {
  SmallVector<AllocOp> allocs(buffers);
  planning::PackingProblem problem;
  problem.alignmentInBytes = ::spyre::kStickInBytes;
  problem.capacityInBytes = inLX ? capacity : 0;
  DenseMap<Value, size_t> index;
  for (auto [i, alloc] : llvm::enumerate(allocs))
    index[alloc.getBuffer()] = i;
  for (AllocOp alloc : allocs) {
    const BufferLife &life = lives[alloc.getBuffer()];
    planning::PackingBuffer buffer;
    buffer.sizeInBytes = getSizeInMemory(alloc);
    buffer.begin = life.first;
    buffer.end = life.last + 1;
    buffer.numUses = life.accesses.size();
    // An elementwise operation may write where it reads.
    DeviceOpInterface writer = life.accesses.front().op;
    for (auto [i, input] : llvm::enumerate(writer.getInputs())) {
      auto parent = index.find(input);
      if (parent != index.end() && input != alloc.getBuffer() && canBeInPlace(writer, i) &&
          llvm::count(writer.getInputs(), input) == 1)
        buffer.inPlaceParents.push_back(parent->second);
    }
    problem.buffers.push_back(std::move(buffer));
  }
  return problem;
}

LogicalResult BufferPlacer::placeLX(SmallVectorImpl<AllocOp> &candidates,
                                    SmallVectorImpl<AllocOp> &rest) {
  planning::PackingProblem problem = makeProblem(candidates, /*inLX=*/true);
  planning::PackingPlan plan = planning::pack(problem);
  assert(planning::verify(problem, plan.addresses).empty() && "the packing must be valid");
  for (auto [alloc, address] : llvm::zip_equal(candidates, plan.addresses)) {
    if (address) {
      setPlacement(alloc, PlacementKind::LX, *address);
      continue;
    }
    // Back to device memory.
    remark(alloc, "LX is full");
    alloc.removeDistributionAttr();
    BufferType type = alloc.getType();
    alloc.getResult().setType(BufferType::get(type.getContext(), type.getShape(),
                                              type.getElementType(), type.getLayout(),
                                              MemorySpace::HBM));
    rest.push_back(alloc);
  }
  return success();
}

LogicalResult BufferPlacer::placePool(ArrayRef<AllocOp> allocs) {
  if (allocs.empty())
    return success();
  planning::PoolProblem problem = makeProblem(allocs, /*inLX=*/false);
  // In device memory an operation's input and output are kept apart: its cores
  // run at their own pace.
  for (planning::PackingBuffer &buffer : problem.buffers)
    buffer.inPlaceParents.clear();
  auto plan = planning::solvePool(problem);
  if (auto *error = std::get_if<planning::PackingError>(&plan))
    return emitError(func.getLoc()) << "the pool cannot be planned: " << error->message;
  for (auto [alloc, offset] : llvm::zip_equal(allocs, std::get<planning::PoolPlan>(plan).offsets))
    setPlacement(alloc, PlacementKind::Pool, offset);
  return success();
}

LogicalResult BufferPlacer::run() {
  int64_t numPositions = 0;
  lives = computeLives(func, numPositions);
  SmallVector<AllocOp> inLX, inPool, dead;
  for (auto &[buffer, life] : lives) {
    auto alloc = buffer.getDefiningOp<AllocOp>();
    if (!alloc || alloc.getPlacementAttr())
      continue; // placed by hand
    if (life.accesses.empty()) {
      dead.push_back(alloc);
      continue;
    }
    if (DistributionAttr held = useLX ? findDistribution(alloc, life) : DistributionAttr()) {
      alloc.setDistributionAttr(held);
      BufferType type = alloc.getType();
      alloc.getResult().setType(BufferType::get(type.getContext(), type.getShape(),
                                                type.getElementType(), type.getLayout(),
                                                MemorySpace::LX));
      inLX.push_back(alloc);
    } else {
      inPool.push_back(alloc);
    }
  }
  if (failed(placeLX(inLX, inPool)))
    return failure();
  for (AllocOp alloc : dead)
    alloc.erase();
  return placePool(inPool);
}
