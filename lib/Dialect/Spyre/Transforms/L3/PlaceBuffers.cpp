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

#include "ScheduleAttr.h"

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"
#include "spyre/Dialect/Spyre/Transforms/L3/BufferResidency.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"
#include "spyre/Planning/Packing.h"

#include "mlir/IR/Remarks.h"

#include <map>

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREPLACEBUFFERS
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
namespace planning = ::spyre::planning;

/// Steps of the search for places in LX where first fit leaves something out: some milliseconds.
static constexpr int64_t kPackingSteps = 5000;

namespace {
class BufferPlacer {
public:
  BufferPlacer(func::FuncOp func, PlanningModel &model, bool useLX, int64_t capacity)
      : func(func), model(model), useLX(useLX),
        capacity(capacity ? capacity : model.getDevice()->getUsableLXInBytes()) {}

  /// \p record: addresses in LX, in `spyre.chosen_schedule`.
  LogicalResult run(bool record);

private:
  /// What each core would hold of \p alloc in LX; nothing, and a remark, if some
  /// core would not find there what it reads.
  DistributionAttr findDistribution(AllocOp alloc, const BufferLife &life);
  void remark(AllocOp alloc, const Twine &reason) {
    remark::missed(alloc.getLoc(),
                   remark::RemarkOpts::name("NotInLX").category("spyre-place-buffers"))
        << reason.str();
  }
  /// Says that \p alloc is not in LX for \p reason: an error if it has to be.
  void refuse(AllocOp alloc, const Twine &reason) {
    if (!mustBe(alloc, planning::ScheduledSpace::LX))
      return remark(alloc, reason);
    fail(alloc.getLoc(), getPlace(alloc)->field, "the result has to be in LX: " + reason);
  }
  void fail(Location loc, const std::string &field, const Twine &reason) {
    emitScheduleError(loc, {field, reason.str()});
    hasFailed = true;
  }
  /// Where the schedule wants what is written to \p alloc.
  std::optional<AskedPlace> getPlace(AllocOp alloc) {
    if (auto life = lives.find(alloc.getBuffer()); life != lives.end())
      for (const BufferAccess &access : life->second.accesses)
        if (access.isWrite)
          if (std::optional<AskedPlace> place = getAskedPlace(access.op))
            return place;
    return std::nullopt;
  }
  bool mustBe(AllocOp alloc, planning::ScheduledSpace space) {
    std::optional<AskedPlace> place = getPlace(alloc);
    return place && place->space == space;
  }
  /// Refuses addresses that the schedule asks for and \p problem, of \p candidates, cannot have.
  LogicalResult checkAddresses(const planning::PackingProblem &problem,
                               ArrayRef<AllocOp> candidates);
  /// Refuses places in LX for what lies in arguments: results of the program.
  void checkResults();
  void recordAddresses();
  planning::PackingProblem makeProblem(ArrayRef<AllocOp> allocs, bool inLX);
  void setPlacement(AllocOp alloc, PlacementKind kind, int64_t address) {
    alloc.setPlacementAttr(PlacementAttr::get(func.getContext(), kind, address));
  }
  LogicalResult placeLX(SmallVectorImpl<AllocOp> &candidates, SmallVectorImpl<AllocOp> &rest);
  LogicalResult placePool(ArrayRef<AllocOp> allocs);
  /// Puts \p alloc back into device memory.
  void leaveLX(AllocOp alloc, SmallVectorImpl<AllocOp> &rest);
  /// Relayouts whose source or result found no place in LX; the source then is in device memory,
  /// one of \p rest.
  SmallVector<DeviceOpInterface> findLostRelayouts(SmallVectorImpl<AllocOp> &rest);

  func::FuncOp func;
  PlanningModel &model;
  bool useLX;
  int64_t capacity;
  bool hasFailed = false;
  llvm::MapVector<Value, BufferLife> lives;
};

struct PlaceBuffersPass : mlir::spyre::impl::SpyrePlaceBuffersBase<PlaceBuffersPass> {
  using SpyrePlaceBuffersBase::SpyrePlaceBuffersBase;
  void runOnOperation() override {
    PlanningModel &model = getAnalysis<PlanningModel>();
    if (failed(model.getDevice()) ||
        failed(BufferPlacer(getOperation(), model, useLX, capacity).run(record)))
      signalPassFailure();
  }
};
} // namespace

DistributionAttr BufferPlacer::findDistribution(AllocOp alloc, const BufferLife &life) {
  BufferResidency residency = mlir::spyre::findResidency(alloc, life, model);
  if (!residency.obstacle)
    return residency.distribution;
  const planning::ResidencyObstacle &obstacle = *residency.obstacle;
  std::string reason = planning::describe(obstacle);
  if (obstacle.kind == planning::Obstacle::OtherPart)
    reason += ", in " + life.accesses[obstacle.use].op->getName().getStringRef().str();
  refuse(alloc, reason);
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
    if (std::optional<AskedPlace> place = getPlace(alloc); place && inLX)
      buffer.address = place->address;
    buffer.sizeInBytes = getSizeInMemory(alloc);
    buffer.begin = life.first;
    buffer.end = life.last + 1;
    // What moves if it is not kept; a loop of more trips is one of many.
    constexpr int64_t kMany = 1 << 16;
    buffer.numUses = 0;
    for (const BufferAccess &access : life.accesses)
      buffer.numUses = std::min(kMany, buffer.numUses + getNumRuns(access.op));
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

LogicalResult BufferPlacer::checkAddresses(const planning::PackingProblem &problem,
                                           ArrayRef<AllocOp> candidates) {
  const std::vector<planning::AddressMistake> mistakes = planning::checkAddresses(problem);
  for (const planning::AddressMistake &mistake : mistakes) {
    AllocOp alloc = candidates[mistake.buffer];
    const AskedPlace place = *getPlace(alloc);
    std::string reason = std::to_string(*place.address) + " " + mistake.message;
    if (mistake.other)
      reason += ", by " + getPlace(candidates[*mistake.other])->field;
    fail(alloc.getLoc(), place.field + ".address", reason);
  }
  return success(mistakes.empty());
}

void BufferPlacer::checkResults() {
  func.walk([&](DeviceOpInterface op) {
    std::optional<AskedPlace> place = getAskedPlace(op);
    if (place && place->space == planning::ScheduledSpace::LX && op.getOutput() &&
        !getRootBuffer(op.getOutput()).getDefiningOp<AllocOp>())
      fail(op.getLoc(), place->field,
           "the result has to be in LX, and is one of the program, which lie in device memory");
  });
}

void BufferPlacer::recordAddresses() {
  // A result in several buffers (of a softmax whose sums are carried on) has no one address.
  std::map<unsigned, SmallVector<AllocOp, 2>> buffers;
  for (auto &[buffer, life] : lives)
    if (auto alloc = buffer.getDefiningOp<AllocOp>())
      for (const BufferAccess &access : life.accesses)
        if (auto number = access.op->getAttrOfType<IntegerAttr>(kOperationAttr);
            number && number.getType().isSignlessInteger(64) && access.isWrite) {
          auto &mine = buffers[static_cast<unsigned>(number.getInt())];
          if (!llvm::is_contained(mine, alloc))
            mine.push_back(alloc);
        }
  planning::Schedule chosen = getChosenSchedule(func);
  for (auto &[number, mine] : buffers) {
    PlacementAttr placement = mine.front().getPlacementAttr();
    if (mine.size() > 1 || !placement || placement.getKind() != PlacementKind::LX)
      continue;
    auto known = llvm::find_if(
        chosen.values, [number = number](const auto &value) { return value.operation == number; });
    if (known == chosen.values.end())
      known = chosen.values.insert(known, {number, planning::ScheduledSpace::LX});
    known->address = placement.getAddressInBytes();
  }
  setChosenSchedule(func, chosen);
}

LogicalResult BufferPlacer::placeLX(SmallVectorImpl<AllocOp> &candidates,
                                    SmallVectorImpl<AllocOp> &rest) {
  planning::PackingProblem problem = makeProblem(candidates, /*inLX=*/true);
  if (failed(checkAddresses(problem, candidates)))
    return failure();
  planning::PackingPlan plan = planning::pack(problem);
  // What first fit leaves out an order of its own may have room for.
  if (!plan.keepsAll()) {
    planning::PackingOptions options;
    options.strategy = planning::PackingStrategy::Search;
    options.nodeLimit = kPackingSteps;
    plan = planning::pack(problem, options);
  }
  assert(planning::verify(problem, plan.addresses).empty() && "the packing must be valid");
  for (auto [alloc, address] : llvm::zip_equal(candidates, plan.addresses)) {
    if (address) {
      setPlacement(alloc, PlacementKind::LX, *address);
      continue;
    }
    // Back to device memory.
    refuse(alloc, "LX is full");
    leaveLX(alloc, rest);
  }
  return success();
}

void BufferPlacer::leaveLX(AllocOp alloc, SmallVectorImpl<AllocOp> &rest) {
  alloc.removeDistributionAttr();
  alloc.removePlacementAttr();
  BufferType type = alloc.getType();
  alloc.getResult().setType(BufferType::get(type.getContext(), type.getShape(),
                                            type.getElementType(), type.getLayout(),
                                            MemorySpace::HBM));
  rest.push_back(alloc);
}

SmallVector<DeviceOpInterface> BufferPlacer::findLostRelayouts(SmallVectorImpl<AllocOp> &rest) {
  auto isInLX = [](Value buffer) {
    return cast<BufferType>(buffer.getType()).getSpace() == MemorySpace::LX;
  };
  SmallVector<DeviceOpInterface> lost;
  // Each source that leaves is in the way of all relayouts from it.
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    lost.clear();
    func.walk([&](DeviceOpInterface op) {
      if (!isRelayout(op) || (isInLX(op.getInputs().front()) && isInLX(op.getDestination())))
        return;
      lost.push_back(op);
      // No copy reads another core's LX.
      auto source = getRootBuffer(op.getInputs().front()).getDefiningOp<AllocOp>();
      if (!source || !isInLX(source.getBuffer()))
        return;
      refuse(source, "what is gathered of it found no room there");
      leaveLX(source, rest);
      hasChanged = true;
    });
  }
  return lost;
}

/// Makes a copy of \p op, a relayout, which reads device memory.
static void makeCopy(DeviceOpInterface op) {
  OpBuilder builder(op);
  DeviceOpSpec spec = DeviceOpSpec::of(op);
  spec.opFunc = ::spyre::OpFunc::Identity;
  buildDeviceOp(builder, op->getLoc(), spec);
  op->erase();
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

LogicalResult BufferPlacer::run(bool record) {
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
    const bool mayStay = useLX && !mustBe(alloc, planning::ScheduledSpace::Memory);
    if (!useLX && mustBe(alloc, planning::ScheduledSpace::LX))
      refuse(alloc, "nothing is kept there at this level");
    if (DistributionAttr held = mayStay ? findDistribution(alloc, life) : DistributionAttr()) {
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
  checkResults();
  if (failed(placeLX(inLX, inPool)) || hasFailed)
    return failure();
  SmallVector<DeviceOpInterface> lost = findLostRelayouts(inPool);
  if (hasFailed)
    return failure();
  if (record)
    recordAddresses();
  func.walk([](DeviceOpInterface op) {
    op->removeDiscardableAttr(kPlaceAttr);
    op->removeDiscardableAttr(kOperationAttr);
    op->removeDiscardableAttr(kPinnedAttr);
  });
  for (AllocOp alloc : dead)
    alloc.erase();
  if (failed(placePool(inPool)))
    return failure();
  llvm::for_each(lost, makeCopy);
  return success();
}
