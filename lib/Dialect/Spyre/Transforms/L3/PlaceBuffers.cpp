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
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningAdapter.h"
#include "spyre/Planning/Packing.h"

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
  BufferPlacer(func::FuncOp func, const ::spyre::Device &device, bool useLX, int64_t capacity)
      : func(func), device(device), useLX(useLX),
        capacity(capacity ? capacity : device.getUsableLXInBytes()) {}

  LogicalResult run();

private:
  /// What each core would hold of \p alloc in LX; nothing, and a remark, if some
  /// core would not find there what it reads.
  DistributionAttr findDistribution(AllocOp alloc, const BufferLife &life);
  /// How \p op is spread over the cores; null if that cannot be described.
  const planning::Distribution *getSpread(DeviceOpInterface op);
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
  const ::spyre::Device &device;
  bool useLX;
  int64_t capacity;
  llvm::MapVector<Value, BufferLife> lives;
  llvm::DenseMap<Operation *, std::optional<planning::Distribution>> spreads;
};

struct PlaceBuffersPass : mlir::spyre::impl::SpyrePlaceBuffersBase<PlaceBuffersPass> {
  using SpyrePlaceBuffersBase::SpyrePlaceBuffersBase;
  void runOnOperation() override {
    FailureOr<::spyre::Device> device = getDevice(getOperation());
    if (failed(device) || failed(BufferPlacer(getOperation(), *device, useLX, capacity).run()))
      signalPassFailure();
  }
};
} // namespace

/// The map from core number to a slice of each logical dim of the written buffer.
static DistributionAttr makeDistribution(DeviceOpInterface writer,
                                         const planning::Distribution &spread,
                                         const layout::IndexMap &access) {
  MLIRContext *context = writer.getContext();
  unsigned numDims = spread.dims.size();
  // Order in which dims vary over the cores, fastest first (reference, e.3).
  SmallVector<unsigned> order;
  if (spread.kFast)
    order.push_back(numDims - 1);
  for (unsigned d = 0; d < numDims; ++d)
    if (!spread.kFast || d + 1 != numDims)
      order.push_back(d);
  SmallVector<AffineExpr> sliceOfDim(numDims);
  int64_t inner = 1;
  for (unsigned d : order) {
    sliceOfDim[d] = getAffineDimExpr(0, context).floorDiv(inner) % spread.splits[d];
    inner *= spread.splits[d];
  }
  SmallVector<int64_t> slices;
  SmallVector<AffineExpr> results;
  for (const layout::IndexExpr &expr : access.results) {
    if (expr.digits.empty()) {
      slices.push_back(1);
      results.push_back(getAffineConstantExpr(0, context));
      continue;
    }
    unsigned dim = expr.digits.front().input;
    slices.push_back(spread.splits[dim]);
    results.push_back(sliceOfDim[dim]);
  }
  return DistributionAttr::get(context, planning::getNumCores(spread.splits), slices,
                               AffineMap::get(1, 0, results, context));
}

static bool haveEqualDims(const planning::Distribution &a, const planning::Distribution &b) {
  return std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(),
                    [](const planning::DivisionDim &x, const planning::DivisionDim &y) {
                      return x.extent == y.extent && x.elementsPerStick == y.elementsPerStick;
                    });
}

const planning::Distribution *BufferPlacer::getSpread(DeviceOpInterface op) {
  auto [known, isNew] = spreads.try_emplace(op);
  if (isNew) {
    FailureOr<planning::DivisionProblem> problem =
        buildDivisionProblem(op, device, device.getNumCores());
    if (succeeded(problem))
      known->second = getDistribution(op, *problem);
  }
  return known->second ? &*known->second : nullptr;
}

DistributionAttr BufferPlacer::findDistribution(AllocOp alloc, const BufferLife &life) {
  BufferType type = alloc.getType();
  if (llvm::count_if(life.accesses, [](const BufferAccess &a) { return a.isWrite; }) != 1 ||
      !life.accesses.front().isWrite) {
    remark(alloc, "it is written in parts");
    return {};
  }
  layout::TensorLayout memory = type.getTensorLayout();
  if (!memory.paddedShape.empty() || !memory.stick.empty()) {
    remark(alloc, "its layout is padded");
    return {};
  }
  BufferAccess writer = life.accesses.front();
  struct Use {
    planning::Distribution spread;
    layout::IndexMap access;
  };
  if (llvm::any_of(alloc.getBuffer().getUsers(), llvm::IsaPred<ReinterpretOp>)) {
    remark(alloc, "it is read as elements of another width");
    return {};
  }
  SmallVector<Use> uses;
  for (BufferAccess access : life.accesses) {
    if (isRestickify(access.op)) {
      remark(alloc, "a restickify works in device memory");
      return {};
    }
    if (!access.op.getLoopVariables().empty()) {
      remark(alloc, "a loop moves over it");
      return {};
    }
    const planning::Distribution *spread = getSpread(access.op);
    FailureOr<layout::IndexMap> map = getAccess(access.op, access.operand);
    if (!spread || failed(map))
      return {};
    uses.push_back({*spread, *map});
  }
  const Use &written = uses.front();
  for (auto [d, dim] : llvm::enumerate(written.spread.dims))
    if (dim.isReduced && written.spread.splits[d] > 1) {
      remark(alloc, "several cores sum it up");
      return {};
    }
  // LX holds exactly what the core wrote: every reader must want just that.
  for (auto [i, use] : llvm::enumerate(uses)) {
    if (use.access == written.access && use.spread.splits == written.spread.splits &&
        use.spread.kFast == written.spread.kFast && haveEqualDims(use.spread, written.spread))
      continue; // the very same
    for (int64_t core = 0; core < device.getNumCores(); ++core) {
      std::optional<planning::Region> wanted = planning::regionOfCore(use.spread, use.access, core);
      if (!wanted)
        continue;
      std::optional<planning::Region> held =
          planning::regionOfCore(written.spread, written.access, core);
      if (!held || !(*held == *wanted)) {
        remark(alloc, "core " + Twine(core) + " reads another part than it writes, in " +
                          life.accesses[i].op->getName().getStringRef());
        return {};
      }
    }
  }
  // The whole buffer is written, and every dim by one iteration dim from 0 on.
  for (auto [dim, expr] : llvm::enumerate(written.access.results)) {
    bool whole = expr.digits.size() <= 1 && expr.constant == 0;
    if (whole && !expr.digits.empty()) {
      const layout::Digit &digit = expr.digits.front();
      whole = digit.divisor == 1 && digit.modulus == 0 && digit.coefficient == 1 &&
              written.spread.dims[digit.input].extent == type.getShape()[dim];
    } else if (whole) {
      whole = type.getShape()[dim] == 1;
    }
    if (!whole) {
      remark(alloc, "only a part of it is written");
      return {};
    }
  }
  return makeDistribution(writer.op, written.spread, written.access);
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
