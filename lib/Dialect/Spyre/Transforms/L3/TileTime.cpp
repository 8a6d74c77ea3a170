//===- TileTime.cpp - Loops over tiles of neighbouring operations ----------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An adapter: which operations, which dims and how many tiles is spyre::planning::findNests.
// Here the function is described to it, and its nests become scf.for.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"
#include "spyre/Layout/TensorLayout.h"
#include "spyre/OpFunc/OpFuncTable.h"
#include "spyre/Planning/TimeTiling.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYRETILETIME
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
namespace planning = ::spyre::planning;
namespace layout = ::spyre::layout;

/// Of the scratchpad, what tiles may take: copies of other operations need some, too.
static constexpr double kShareOfScratchpad = 0.9;

namespace {
class TimeTiler {
public:
  /// \p cores: as many as may be used; 0: all.
  TimeTiler(func::FuncOp func, PlanningModel &model, int64_t cores)
      : func(func), model(model), cores(cores), builder(func) {}

  void run();

private:
  /// False if somebody has decided already, or something cannot be described.
  bool describe();
  bool describe(DeviceOpInterface op);
  unsigned getValue(Value buffer);
  void build(const planning::Nest &nest);
  /// The type of one \p tile.
  BufferType getTileType(const planning::Nest &nest, const planning::NestTile &tile);
  /// Copies a tile between \p whole, at its place, and \p tile.
  void buildCopy(Location loc, const planning::Nest &nest, const planning::NestTile &which,
                 Value tile, bool isLoad, ValueRange loops);

  func::FuncOp func;
  PlanningModel &model;
  int64_t cores;
  OpBuilder builder;
  SmallVector<DeviceOpInterface> ops;
  SmallVector<Value> values;
  DenseMap<Value, unsigned> numbers;
  planning::TilingProblem problem;
};

struct TileTimePass : mlir::spyre::impl::SpyreTileTimeBase<TileTimePass> {
  using SpyreTileTimeBase::SpyreTileTimeBase;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    PlanningModel &model = getAnalysis<PlanningModel>();
    if (failed(model.getDevice()))
      return signalPassFailure();
    TimeTiler(getOperation(), model, cores).run();
  }
};
} // namespace

/// True if the device copies elements of \p format.
static bool canCopy(::spyre::DataFormat format) {
  return ::spyre::lookupForm(::spyre::getOpFuncInfo(::spyre::OpFunc::Identity),
                             std::span(&format, 1)) != nullptr;
}

unsigned TimeTiler::getValue(Value buffer) {
  Value root = getRootBuffer(buffer);
  auto [known, isNew] = numbers.try_emplace(root, values.size());
  if (!isNew)
    return known->second;
  values.push_back(root);
  auto type = cast<BufferType>(root.getType());
  layout::TensorLayout memory = type.getTensorLayout();
  planning::TilingValue value;
  value.shape.assign(type.getShape().begin(), type.getShape().end());
  value.sizeInBytes = type.getLayout().getSizeInBytes();
  value.isInternal = root.getDefiningOp<AllocOp>() != nullptr;
  value.mayStay = memory.paddedShape.empty() && memory.stick.empty() &&
                  (value.isInternal || canCopy(memory.format)) &&
                  llvm::none_of(root.getUsers(), llvm::IsaPred<ReinterpretOp>);
  value.units.resize(value.shape.size(), 1);
  for (size_t dim = 0; dim < value.shape.size(); ++dim)
    value.units[dim] = layout::getElementsInStick(memory, static_cast<int>(dim));
  problem.values.push_back(std::move(value));
  return known->second;
}

bool TimeTiler::describe(DeviceOpInterface op) {
  const PlannedOp *planned = &model.describe(op);
  if (!planned->error.empty())
    return false;
  planning::TilingOp entry;
  unsigned numInputs = op.getInputs().size();
  for (unsigned i = 0; i <= numInputs; ++i) {
    Value value = i < numInputs ? op.getInputs()[i] : op.getDestination();
    planning::TilingOperand operand{getValue(value), planned->accesses[i].map, i == numInputs,
                                    i < numInputs && canBeInPlace(op, i)};
    // Behind a view of other bits the dims are others.
    if (value != getRootBuffer(value)) {
      entry.isFixed = true;
      operand.map.results.assign(problem.values[operand.value].shape.size(), {});
    }
    entry.operands.push_back(std::move(operand));
  }
  for (const planning::DivisionDim &dim : planned->problem.dims)
    entry.units.push_back(dim.elementsPerStick);
  entry.division = &planned->problem;
  entry.numCores = planning::getNumCores(planned->splits);
  entry.needsDeviceMemory = isRestickify(op);
  entry.isFixed |= op.getGather().has_value() || op.getExtents().empty();
  if (isMatmul(op)) {
    entry.macs = 1;
    for (int64_t extent : op.getExtents())
      entry.macs *= extent;
  }
  problem.ops.push_back(std::move(entry));
  ops.push_back(op);
  return true;
}

bool TimeTiler::describe() {
  for (Operation &op : func.getBody().front()) {
    if (auto alloc = dyn_cast<AllocOp>(op)) {
      if (alloc.getPlacementAttr() || alloc.getType().getSpace() != MemorySpace::HBM)
        return false;
    } else if (auto device = dyn_cast<DeviceOpInterface>(op)) {
      if (!describe(device))
        return false;
    } else if (!isa<ReinterpretOp, func::ReturnOp, arith::ConstantOp>(op)) {
      return false;
    }
  }
  const ::spyre::Device &device = *model.getDevice();
  problem.numCores =
      cores == 0 ? device.getNumCores() : std::min<int64_t>(cores, device.getNumCores());
  problem.scratchpadInBytes =
      static_cast<int64_t>(kShareOfScratchpad * static_cast<double>(device.getUsableLXInBytes()));
  problem.memoryInBytesPerNs = device.getRates().memoryInBytesPerNs;
  problem.macsPerNs = device.getRates().sustainedMacsPerNs;
  return true;
}

BufferType TimeTiler::getTileType(const planning::Nest &nest, const planning::NestTile &tile) {
  auto type = cast<BufferType>(values[tile.value].getType());
  layout::TensorLayout memory = type.getTensorLayout();
  for (auto [loop, dim] : llvm::zip_equal(nest.loops, tile.dims))
    memory.shape[dim] /= loop.numTrips;
  SmallVector<int64_t> shape(memory.shape.begin(), memory.shape.end());
  return BufferType::get(type.getContext(), shape, type.getElementType(),
                         LayoutAttr::get(type.getContext(), memory), MemorySpace::HBM);
}

/// \p map of a tile: each of \p tiled, a dim and the extent of its tiles, begins at the tile of
/// its loop's iteration.
static AffineMap moveWith(AffineMap map, ArrayRef<std::pair<unsigned, int64_t>> tiled) {
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < map.getNumDims(); ++d)
    dims.push_back(getAffineDimExpr(d, context));
  for (auto [loop, entry] : llvm::enumerate(tiled))
    dims[entry.first] = dims[entry.first] + getAffineSymbolExpr(loop, context) * entry.second;
  return map.replaceDimsAndSymbols(dims, {}, map.getNumDims(), tiled.size());
}

/// \p map as one of an operation in \p numLoops loops that it does not depend on.
static AffineMap stay(AffineMap map, unsigned numLoops) {
  return AffineMap::get(map.getNumDims(), numLoops, map.getResults(), map.getContext());
}

void TimeTiler::buildCopy(Location loc, const planning::Nest &nest, const planning::NestTile &which,
                          Value tile, bool isLoad, ValueRange loops) {
  ArrayRef<int64_t> shape = cast<BufferType>(tile.getType()).getShape();
  AffineMap here = builder.getMultiDimIdentityMap(shape.size());
  SmallVector<std::pair<unsigned, int64_t>> tiled;
  for (unsigned dim : which.dims)
    tiled.emplace_back(dim, shape[dim]);
  AffineMap there = moveWith(here, tiled);
  here = stay(here, loops.size());
  Value whole = values[which.value];
  DeviceOpSpec spec = isLoad ? DeviceOpSpec::copy(whole, shape, there, here)
                             : DeviceOpSpec::copy(tile, shape, here, there);
  spec.loopVariables.assign(loops.begin(), loops.end());
  spec.splits.assign(shape.size(), 1);
  spec.splits[which.coreDim] = nest.numCores;
  buildDeviceOp(builder, loc, spec.withOutput(isLoad ? tile : whole, Type()));
}

void TimeTiler::build(const planning::Nest &nest) {
  DeviceOpInterface firstOp = ops[nest.first];
  // What the operations use is there before the first of them.
  for (Operation &op : llvm::make_early_inc_range(
           llvm::make_range(firstOp->getIterator(), ops[nest.last]->getIterator())))
    if (isa<AllocOp, arith::ConstantOp>(op))
      op.moveBefore(firstOp);
  builder.setInsertionPoint(firstOp);
  SmallVector<Value> loops, bounds;
  for (const planning::NestLoop &loop : nest.loops)
    bounds.push_back(
        arith::ConstantIndexOp::create(builder, firstOp->getLoc(), loop.numTrips).getResult());
  if (!bounds.empty()) {
    Location loc = firstOp->getLoc();
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0),
          one = arith::ConstantIndexOp::create(builder, loc, 1);
    for (Value bound : bounds) {
      auto loop = scf::ForOp::create(builder, loc, zero, bound, one);
      loops.push_back(loop.getInductionVar());
      builder.setInsertionPointToStart(loop.getBody());
    }
  }
  DenseMap<Value, std::pair<const planning::NestTile *, Value>> tiles;
  auto getTile = [&](Value value, Location loc) -> Value {
    auto known = tiles.find(value);
    if (known == tiles.end())
      return {};
    auto &[which, tile] = known->second;
    if (!tile) {
      tile = AllocOp::create(builder, loc, getTileType(nest, *which), PlacementAttr(),
                             DistributionAttr());
      if (which->isLoaded)
        buildCopy(loc, nest, *which, tile, /*isLoad=*/true, loops);
    }
    return tile;
  };
  for (const planning::NestTile &tile : nest.tiles)
    tiles[values[tile.value]] = {&tile, Value()};
  for (unsigned number = nest.first; number <= nest.last; ++number) {
    DeviceOpInterface op = ops[number];
    DeviceOpSpec spec = DeviceOpSpec::of(op);
    SmallVector<std::pair<unsigned, int64_t>> tiled;
    for (const planning::NestLoop &loop : nest.loops) {
      unsigned dim = loop.dims[number - nest.first];
      spec.extents[dim] /= loop.numTrips;
      tiled.emplace_back(dim, spec.extents[dim]);
    }
    spec.loopVariables.assign(loops.begin(), loops.end());
    for (unsigned i = 0; i < spec.maps.size(); ++i) {
      bool isOutput = i == spec.inputs.size();
      Value &value = isOutput ? spec.output : spec.inputs[i];
      Value tile = getTile(value, op->getLoc());
      spec.maps[i] = tile ? stay(spec.maps[i], loops.size()) : moveWith(spec.maps[i], tiled);
      if (tile)
        value = tile;
    }
    if (std::optional<unsigned> shared = nest.coreDims[number - nest.first]) {
      spec.splits.assign(spec.extents.size(), 1);
      spec.splits[*shared] = nest.numCores;
      spec.kFast = false;
    } else if (!loops.empty()) {
      spec.splits.clear();
      spec.kFast = false;
    }
    buildDeviceOp(builder, op->getLoc(), spec);
    auto written = tiles.find(op.getDestination());
    if (written != tiles.end() && written->second.first->isStored)
      buildCopy(op->getLoc(), nest, *written->second.first, written->second.second,
                /*isLoad=*/false, loops);
  }
  for (unsigned number = nest.first; number <= nest.last; ++number)
    ops[number]->erase();
}

void TimeTiler::run() {
  if (!describe())
    return;
  for (const planning::Nest &nest : planning::findNests(problem))
    build(nest);
  for (Value value : values)
    if (auto alloc = value.getDefiningOp<AllocOp>(); alloc && alloc.getBuffer().use_empty())
      alloc.erase();
}
