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

#include "ObeySchedule.h"
#include "PartCarrier.h"
#include "ScheduleAttr.h"
#include "TileMaps.h"

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L3/BufferResidency.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"
#include "spyre/Layout/TensorLayout.h"
#include "spyre/OpFunc/OpFuncTable.h"
#include "spyre/Planning/DivisionCost.h"
#include "spyre/Planning/Residency.h"
#include "spyre/Planning/TimeTiling.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"

#include <map>

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYRETILETIME
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
namespace planning = ::spyre::planning;
namespace layout = ::spyre::layout;

namespace {
class TimeTiler {
public:
  /// \p cores: as many as may be used; 0: all.
  TimeTiler(func::FuncOp func, PlanningModel &model, int64_t cores, bool prefersCarried,
            uint64_t seed, double seconds)
      : func(func), model(model), cores(cores), builder(func) {
    problem.prefersCarried = prefersCarried;
    problem.seed = seed;
    problem.secondsInAddition = seconds;
  }

  /// \p record: in `spyre.chosen_schedule`.
  LogicalResult run(bool record);

private:
  /// The nests of \p schedule if it says any, else those that are worth it.
  FailureOr<std::vector<planning::Nest>> findNests(const planning::Schedule &schedule);
  /// Says what \p nest takes, and what the second best would.
  void remark(const planning::Nest &nest);
  /// False if somebody has decided already, or something cannot be described.
  bool describe();
  bool describe(DeviceOpInterface op);
  unsigned getValue(Value buffer);
  void build(const planning::Nest &nest);
  /// A tile, which none may be, and its buffer.
  using Tile = std::pair<const planning::NestTile *, Value>;
  /// The type of one \p tile.
  BufferType getTileType(const planning::Nest &nest, const planning::NestTile &tile);
  /// The tile of a value, or the gathered one.
  using GetTile = llvm::function_ref<Tile(Value, Location, bool isGathered)>;
  /// One tile of \p op, placed as \p placed says, with the tiles of its operands that
  /// \p getTile knows.
  void buildTile(DeviceOpInterface op, const planning::NestOp &placed, const planning::Nest &nest,
                 ValueRange loops, GetTile getTile);
  /// An operation of \p nest, whose cores are counted as the nest says.
  void buildOp(Location loc, const planning::Nest &nest, const DeviceOpSpec &spec);
  /// Gathers in \p tile, as \p which says, what cores have in \p source, over the ring.
  void buildGather(Location loc, const planning::Nest &nest, const planning::NestTile &which,
                   Value source, Value tile, ValueRange loops);
  /// Into how many parts \p nest cuts what the reductions of \p group reduce.
  int64_t countParts(const planning::Nest &nest, IntegerAttr group);
  /// Copies a tile between the whole value, at its place, and \p tile.
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
  std::map<::spyre::CostClass, planning::DivisionCost> costs;
  std::vector<unsigned> lost; ///< values that the nests do not count on in LX
};

struct TileTimePass : mlir::spyre::impl::SpyreTileTimeBase<TileTimePass> {
  using SpyreTileTimeBase::SpyreTileTimeBase;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    PlanningModel &model = getAnalysis<PlanningModel>();
    if (failed(model.getDevice()))
      return signalPassFailure();
    TimeTiler tiler(getOperation(), model, cores, preferCarried, static_cast<uint64_t>(seed),
                    seconds);
    if (failed(tiler.run(record)))
      signalPassFailure();
  }
};
} // namespace

unsigned TimeTiler::getValue(Value buffer) {
  Value root = getRootBuffer(buffer);
  auto [known, isNew] = numbers.try_emplace(root, values.size());
  if (!isNew)
    return known->second;
  values.push_back(root);
  auto type = cast<BufferType>(root.getType());
  planning::TilingValue value =
      planning::makeTilingValue(type.getTensorLayout(), root.getDefiningOp<AllocOp>() != nullptr);
  value.mayStay &= llvm::none_of(root.getUsers(), llvm::IsaPred<ReinterpretOp>);
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
    planning::TilingOperand operand{
        getValue(value), planned->accesses[i].map, i == numInputs,
        i < numInputs && canBeInPlace(op, i),
        planning::needsDeviceMemory(*model.getDevice(), planned->problem.kind, i == numInputs)};
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
  ::spyre::CostClass costClass = op.getInfo().costClass;
  auto [cost, isNew] = costs.try_emplace(costClass);
  if (isNew)
    cost->second = planning::makeModelCost(*model.getDevice(), costClass);
  entry.cost = &cost->second;
  entry.splits = planned->splits;
  if (auto place = getAskedPlace(op); place && place->space == planning::ScheduledSpace::Memory)
    problem.values[entry.operands.back().value].mayStay = false;
  entry.isFixed |= op->hasAttr(kPinnedAttr);
  entry.isFixed |= op.getGather().has_value() || op.getExtents().empty();
  if (auto group = op->getAttrOfType<IntegerAttr>(kCarriedAttr))
    entry.carried = static_cast<unsigned>(group.getInt());
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
  int64_t numPositions = 0;
  for (auto &[buffer, life] : computeLives(func, numPositions))
    if (auto alloc = buffer.getDefiningOp<AllocOp>(); alloc && !life.accesses.empty())
      if (DistributionAttr held = findResidency(alloc, life, model).distribution)
        problem.values[numbers.lookup(buffer)].untiledPartInBytes =
            getSizePerCore(alloc.getType(), held.getSlices());
  planning::setDevice(problem, *model.getDevice(), cores);
  return true;
}

/// The shape of one \p tile, or of each of its copies, of a value of \p shape.
static std::vector<int64_t> getTileShape(const planning::Nest &nest, const planning::NestTile &tile,
                                         std::vector<int64_t> shape) {
  for (auto [loop, dim] : llvm::enumerate(tile.dims))
    if (dim)
      shape[*dim] /= nest.numTrips[loop];
  return shape;
}

BufferType TimeTiler::getTileType(const planning::Nest &nest, const planning::NestTile &tile) {
  auto type = cast<BufferType>(values[tile.value].getType());
  layout::TensorLayout memory = type.getTensorLayout();
  memory.shape = getTileShape(nest, tile, memory.shape);
  // Copies lie outside of all that they are copies of.
  for (size_t share = nest.shares.size(); share-- > 0;) {
    if (!(tile.copied >> share & 1))
      continue;
    for (int &dim : memory.dimOrder)
      dim += dim >= 0;
    memory.dimOrder.insert(memory.dimOrder.begin(), 0);
    memory.shape.insert(memory.shape.begin(), nest.shares[share]);
  }
  SmallVector<int64_t> shape(memory.shape.begin(), memory.shape.end());
  return BufferType::get(type.getContext(), shape, type.getElementType(),
                         LayoutAttr::get(type.getContext(), memory), MemorySpace::HBM);
}

/// \p map as one of an operation in \p numLoops loops that it does not depend on.
static AffineMap stay(AffineMap map, unsigned numLoops) {
  return AffineMap::get(map.getNumDims(), numLoops, map.getResults(), map.getContext());
}

/// Gives \p spec a dim of its own for the slices of each share of \p nest along which
/// \p split says so: part of the dim that it shares (\p shareDims), or a dim in addition,
/// counted where the shares are. Returns these dims, null for others.
static SmallVector<AffineExpr> splitShares(DeviceOpSpec &spec, const planning::Nest &nest,
                                           ArrayRef<std::optional<unsigned>> shareDims,
                                           unsigned split) {
  MLIRContext *context = spec.maps.back().getContext();
  const size_t numShares = nest.shares.size();
  SmallVector<AffineExpr> slices(numShares);
  SmallVector<int64_t> extents, splits;
  SmallVector<AffineExpr> dims;
  auto addDim = [&](int64_t extent, int64_t numSlices) {
    extents.push_back(extent);
    splits.push_back(numSlices);
    return getAffineDimExpr(extents.size() - 1, context);
  };
  // A dim in addition comes before the dims of later shares, else at the end.
  auto addNewDims = [&](bool atEnd) {
    for (size_t i = 0; i < numShares; ++i) {
      bool isBefore =
          llvm::any_of(shareDims.drop_front(i), [](auto dim) { return dim.has_value(); });
      if (split >> i & 1 && !shareDims[i] && isBefore != atEnd)
        slices[i] = addDim(nest.shares[i], nest.shares[i]);
    }
  };
  addNewDims(/*atEnd=*/false);
  for (auto [d, extent] : llvm::enumerate(spec.extents)) {
    const int64_t numSlices = spec.splits.empty() ? 1 : spec.splits[d];
    AffineExpr dim;
    for (size_t i = 0; i < numShares; ++i)
      if (split >> i & 1 && shareDims[i] == d) {
        const int64_t part = extent / nest.shares[i];
        slices[i] = addDim(nest.shares[i], nest.shares[i]);
        dim = slices[i] * part + addDim(part, 1);
      }
    dims.push_back(dim ? dim : addDim(extent, numSlices));
  }
  addNewDims(/*atEnd=*/true);
  spec = spec.substitute(dims, extents);
  spec.splits = splits;
  return slices;
}

/// \p map with the copy of the slice before its coordinates, for each share in \p copied.
static AffineMap chooseCopy(AffineMap map, ArrayRef<AffineExpr> slices, unsigned copied) {
  SmallVector<AffineExpr> results;
  for (auto [share, slice] : llvm::enumerate(slices))
    if (copied >> share & 1)
      results.push_back(slice);
  llvm::append_range(results, map.getResults());
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, map.getContext());
}

void TimeTiler::buildOp(Location loc, const planning::Nest &nest, const DeviceOpSpec &spec) {
  if (!nest.isReversed) {
    buildDeviceOp(builder, loc, spec);
    return;
  }
  // Cores are counted in the order of the dims.
  const size_t numDims = spec.extents.size();
  SmallVector<AffineExpr> dims;
  for (size_t d = 0; d < numDims; ++d)
    dims.push_back(getAffineDimExpr(numDims - 1 - d, func.getContext()));
  SmallVector<int64_t> extents(llvm::reverse(spec.extents));
  buildDeviceOp(builder, loc, spec.substitute(dims, extents));
}

void TimeTiler::buildCopy(Location loc, const planning::Nest &nest, const planning::NestTile &which,
                          Value tile, bool isLoad, ValueRange loops) {
  const std::vector<int64_t> shape = getTileShape(nest, which, problem.values[which.value].shape);
  AffineMap here = builder.getMultiDimIdentityMap(shape.size());
  SmallVector<TileStart> starts;
  for (std::optional<unsigned> dim : which.dims)
    starts.push_back(dim ? TileStart({*dim, shape[*dim]}) : std::nullopt);
  AffineMap there = moveWith(here, starts);
  here = stay(here, loops.size());
  Value whole = values[which.value];
  DeviceOpSpec spec = isLoad ? DeviceOpSpec::copy(whole, shape, there, here)
                             : DeviceOpSpec::copy(tile, shape, here, there);
  spec.loopVariables.assign(loops.begin(), loops.end());
  spec.splits.assign(which.splits.begin(), which.splits.end());
  spec = spec.withOutput(isLoad ? tile : whole, Type());
  if (which.copied) {
    SmallVector<AffineExpr> slices = splitShares(spec, nest, which.shareDims, which.copied);
    spec.maps.back() = chooseCopy(spec.maps.back(), slices, which.copied);
  }
  buildOp(loc, nest, spec);
}

void TimeTiler::buildGather(Location loc, const planning::Nest &nest,
                            const planning::NestTile &which, Value source, Value tile,
                            ValueRange loops) {
  const std::vector<int64_t> shape = getTileShape(nest, which, problem.values[which.value].shape);
  const AffineMap here = stay(builder.getMultiDimIdentityMap(shape.size()), loops.size());
  DeviceOpSpec spec = DeviceOpSpec::move(::spyre::OpFunc::Shuffle, source, shape, here, here);
  spec.loopVariables.assign(loops.begin(), loops.end());
  spec.splits.assign(which.splits.begin(), which.splits.end());
  spec = spec.withOutput(tile, Type());
  SmallVector<AffineExpr> slices = splitShares(spec, nest, which.shareDims, which.copied);
  spec.maps.back() = chooseCopy(spec.maps.back(), slices, which.copied);
  buildOp(loc, nest, spec);
}

void TimeTiler::build(const planning::Nest &nest) {
  DeviceOpInterface firstOp = ops[nest.first];
  Location loc = firstOp->getLoc();
  // What the operations use is there before the first of them.
  for (Operation &op : llvm::make_early_inc_range(
           llvm::make_range(firstOp->getIterator(), ops[nest.last]->getIterator())))
    if (isa<AllocOp, arith::ConstantOp>(op))
      op.moveBefore(firstOp);
  builder.setInsertionPoint(firstOp);
  SmallVector<Value> bounds, loops;
  Value zero, one;
  for (int64_t numTrips : nest.numTrips)
    bounds.push_back(arith::ConstantIndexOp::create(builder, loc, numTrips));
  if (!bounds.empty()) {
    zero = arith::ConstantIndexOp::create(builder, loc, 0);
    one = arith::ConstantIndexOp::create(builder, loc, 1);
  }
  DenseMap<Value, Tile> tiles, gathered;
  for (const planning::NestTile &tile : nest.tiles)
    (tile.isGathered ? gathered : tiles)[values[tile.value]] = {&tile, Value()};
  unsigned depth = 0;
  // The tile of \p value, if there is one, made where it is first needed at its depth.
  auto getTile = [&](Value value, Location at, bool isGathered) -> Tile {
    auto &all = isGathered ? gathered : tiles;
    auto known = all.find(value);
    if (known == all.end())
      return {};
    auto &[which, tile] = known->second;
    if (!tile && which->depth == depth) {
      tile = AllocOp::create(builder, at, getTileType(nest, *which), PlacementAttr(),
                             DistributionAttr());
      if (which->isLoaded)
        buildCopy(at, nest, *which, tile, /*isLoad=*/true, loops);
      // What stays as a whole has no tile of its own.
      Value source = isGathered ? tiles.lookup(value).second : Value();
      if (isGathered)
        buildGather(at, nest, *which, source ? source : value, tile, loops);
    }
    assert(tile && "a tile of a deeper loop is used in this one");
    return known->second;
  };
  for (unsigned number = nest.first; number <= nest.last; ++number)
    if (const planning::NestOp &placed = nest.ops[number - nest.first]; placed.isApart)
      buildTile(ops[number], placed, nest, loops, [](Value, Location, bool) { return Tile(); });
  auto buildOps = [&](bool isAfter) {
    for (unsigned number = nest.first; number <= nest.last; ++number) {
      const planning::NestOp &placed = nest.ops[number - nest.first];
      if (!placed.isApart && placed.depth == depth && placed.isAfter == isAfter)
        buildTile(ops[number], placed, nest, loops, getTile);
    }
  };
  // Outer iterations first: what stands before a loop is done before it begins.
  SmallVector<scf::ForOp> around;
  for (;; ++depth) {
    buildOps(/*isAfter=*/false);
    if (depth == bounds.size())
      break;
    // Tiles of this depth that deeper operations use.
    for (unsigned number = nest.first; number <= nest.last; ++number)
      if (const planning::NestOp &placed = nest.ops[number - nest.first]; placed.depth > depth) {
        auto make = [&](unsigned index, Value operand) {
          const bool isGathered = placed.gathered >> index & 1;
          auto &all = isGathered ? gathered : tiles;
          if (auto known = all.find(operand);
              known != all.end() && known->second.first->depth == depth)
            getTile(operand, ops[number]->getLoc(), isGathered);
        };
        for (auto [index, input] : llvm::enumerate(ops[number].getInputs()))
          make(index, input);
        make(ops[number].getInputs().size(), ops[number].getDestination());
      }
    around.push_back(scf::ForOp::create(builder, loc, zero, bounds[depth], one));
    loops.push_back(around.back().getInductionVar());
    builder.setInsertionPointToStart(around.back().getBody());
  }
  while (!around.empty()) {
    builder.setInsertionPointAfter(around.pop_back_val());
    loops.pop_back();
    --depth;
    buildOps(/*isAfter=*/true);
  }
  for (unsigned number = nest.first; number <= nest.last; ++number)
    ops[number]->erase();
}

int64_t TimeTiler::countParts(const planning::Nest &nest, IntegerAttr group) {
  for (unsigned number = nest.first; number <= nest.last; ++number) {
    if (ops[number]->getAttr(kCarriedAttr) != group)
      continue;
    int64_t numParts = 1;
    for (auto [loop, dim] : llvm::enumerate(nest.ops[number - nest.first].dims))
      if (dim && llvm::is_contained(getReducedDims(ops[number]), *dim))
        numParts *= nest.numTrips[loop];
    if (numParts > 1)
      return numParts;
  }
  return 1;
}

void TimeTiler::buildTile(DeviceOpInterface op, const planning::NestOp &placed,
                          const planning::Nest &nest, ValueRange loops, GetTile getTile) {
  DeviceOpSpec spec = DeviceOpSpec::of(op);
  SmallVector<TileStart> starts;
  for (auto [loop, dim] : llvm::enumerate(placed.dims)) {
    if (dim)
      spec.extents[*dim] /= nest.numTrips[loop];
    starts.push_back(dim ? TileStart({*dim, spec.extents[*dim]}) : std::nullopt);
  }
  spec.loopVariables.assign(loops.begin(), loops.end());
  SmallVector<Tile> used;
  for (unsigned i = 0; i < spec.maps.size(); ++i) {
    Value &value = i == spec.inputs.size() ? spec.output : spec.inputs[i];
    used.push_back(getTile(value, op->getLoc(), placed.gathered >> i & 1));
    Value tile = used.back().second;
    spec.maps[i] = tile ? stay(spec.maps[i], loops.size()) : moveWith(spec.maps[i], starts);
    if (tile)
      value = tile;
  }
  if (auto shared = op->getAttrOfType<IntegerAttr>(kSharedOutAttr)) {
    Value &operand = spec.inputs[shared.getInt()];
    auto number =
        func.getArgAttrOfType<FloatAttr>(cast<BlockArgument>(operand).getArgNumber(), kValueAttr);
    const int64_t numParts = countParts(nest, op->getAttrOfType<IntegerAttr>(kCarriedAttr));
    operand = getNumber(func, number.getValueAsDouble() / static_cast<double>(numParts),
                        getElementType(operand), op->getLoc());
  }
  if (!placed.splits.empty() || !loops.empty()) {
    spec.splits.assign(placed.splits.begin(), placed.splits.end());
    spec.kFast = placed.isApart && planning::wantsKFast(model.describe(op).problem, placed.splits);
  }
  // Each slice has its copy of what is no slice of a dim.
  unsigned split = placed.copied;
  for (Tile tile : used)
    split |= tile.first ? tile.first->copied : 0;
  if (split) {
    SmallVector<AffineExpr> slices = splitShares(spec, nest, placed.shareDims, split);
    for (auto [map, tile] : llvm::zip_equal(spec.maps, used))
      if (tile.first)
        map = chooseCopy(map, slices, tile.first->copied);
  }
  if (placed.isApart)
    buildDeviceOp(builder, op->getLoc(), spec);
  else
    buildOp(op->getLoc(), nest, spec);
  for (const planning::NestTile &tile : nest.tiles)
    if (tile.isStored && values[tile.value] == op.getDestination())
      buildCopy(op->getLoc(), nest, tile, spec.output, /*isLoad=*/false, loops);
}

FailureOr<std::vector<planning::Nest>> TimeTiler::findNests(const planning::Schedule &schedule) {
  if (!schedule.nests)
    return planning::findNests(problem, &lost);
  planning::NamedDims names;
  bool ok = true;
  for (const auto &[argument, dims] : schedule.names) {
    std::optional<BlockArgument> found = findArgument(func, argument);
    if (!found) {
      emitScheduleError(func.getLoc(), {"names." + argument, "there is no such argument"});
      ok = false;
      continue;
    }
    const int64_t rank = cast<BufferType>(found->getType()).getRank();
    if (static_cast<int64_t>(dims.size()) != rank) {
      emitScheduleError(func.getLoc(), {"names." + argument,
                                        "the argument has " + std::to_string(rank) + " dims"});
      ok = false;
      continue;
    }
    for (auto [dim, name] : llvm::enumerate(dims))
      if (numbers.contains(*found))
        names.try_emplace(name, numbers.lookup(*found), dim);
  }
  std::optional<std::vector<unsigned>> known;
  if (schedule.lost) {
    known.emplace();
    for (unsigned operation : *schedule.lost) {
      if (operation < ops.size()) {
        known->push_back(problem.ops[operation].operands.back().value);
        continue;
      }
      emitScheduleError(func.getLoc(),
                        {"lost", "there are " + std::to_string(ops.size()) + " operations"});
      ok = false;
    }
  }
  FailureOr<std::vector<planning::ScheduledNest>> asked = resolveScopes(func, *schedule.nests, ops);
  if (failed(asked))
    return failure();
  auto nests = planning::findNests(problem, *asked, names, known, &lost);
  if (auto *errors = std::get_if<std::vector<planning::ScheduleError>>(&nests)) {
    for (const planning::ScheduleError &error : *errors) {
      unsigned place = 0;
      StringRef number = StringRef(error.field).substr(StringRef("nests[").size());
      const bool hasPlace = !number.consumeInteger(10, place) && place < asked->size() &&
                            (*asked)[place].first < ops.size();
      emitScheduleError(hasPlace ? ops[(*asked)[place].first]->getLoc() : func.getLoc(), error);
    }
    return failure();
  }
  if (!ok)
    return failure();
  return std::get<std::vector<planning::Nest>>(std::move(nests));
}

void TimeTiler::remark(const planning::Nest &nest) {
  auto getMicroseconds = [](double ns) { return llvm::formatv("{0:f1} us", ns / 1e3).str(); };
  auto getTiles = [](ArrayRef<int64_t> trips) {
    return trips.empty()
               ? "all at once"
               : "in " +
                     llvm::join(llvm::map_range(trips, [](int64_t n) { return std::to_string(n); }),
                                " x ") +
                     " tiles";
  };
  std::string text = "operations " + std::to_string(nest.first) + " to " +
                     std::to_string(nest.last) + " run " + getTiles(nest.numTrips) + ": " +
                     getMicroseconds(nest.tiledInNs);
  if (nest.numImpossible > 0)
    text += ", not possible otherwise";
  else
    text += ", " + getMicroseconds(nest.untiledInNs) + " by themselves";
  if (nest.secondInNs < std::numeric_limits<double>::infinity())
    text +=
        "; the next best, " + getTiles(nest.secondTrips) + ": " + getMicroseconds(nest.secondInNs);
  remark::passed(ops[nest.first]->getLoc(),
                 remark::RemarkOpts::name("Nest").category("spyre-tile-time"))
      << text;
}

LogicalResult TimeTiler::run(bool record) {
  FailureOr<planning::Schedule> schedule = getSchedule(func);
  if (failed(schedule))
    return failure();
  if (!describe())
    return success();
  FailureOr<std::vector<planning::Nest>> nests = findNests(*schedule);
  if (failed(nests))
    return failure();
  if (record) {
    planning::Schedule chosen = getChosenSchedule(func);
    chosen.nests.emplace();
    for (const planning::Nest &nest : *nests)
      chosen.nests->push_back(planning::describe(nest));
    chosen.lost.emplace();
    for (auto [number, op] : llvm::enumerate(problem.ops))
      if (llvm::is_contained(lost, op.operands.back().value))
        chosen.lost->push_back(number);
    setChosenSchedule(func, chosen);
  }
  for (const planning::Nest &nest : *nests) {
    remark(nest);
    build(nest);
  }
  func.walk([](DeviceOpInterface op) {
    op->removeDiscardableAttr(kCarriedAttr);
    op->removeDiscardableAttr(kSharedOutAttr);
    op->removeDiscardableAttr(kPinnedAttr);
  });
  for (Value value : values)
    if (auto alloc = value.getDefiningOp<AllocOp>(); alloc && alloc.getBuffer().use_empty())
      alloc.erase();
  return success();
}
