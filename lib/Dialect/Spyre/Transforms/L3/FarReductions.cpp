//===- FarReductions.cpp - Reductions of dims beyond reach -----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is put together has a dim for each dim of the operation that it does not reduce, whatever
// the result's are, and lies in memory in the order of these. Sums of 16-bit numbers are put
// together in f32, each part rounded once; as casts are of whole sticks, what ends inside of one
// has whole sticks here.
//
//===----------------------------------------------------------------------===//

#include "FarReductions.h"

#include "PartCarrier.h"
#include "TileMaps.h"

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/IR/LongRows.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Layout/TensorLayout.h"
#include "spyre/OpFunc/OpFuncTable.h"
#include "spyre/Planning/FarParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::Combiner;
using ::spyre::DataFormat;
using ::spyre::OpFunc;
namespace planning = ::spyre::planning;
namespace layout = ::spyre::layout;

/// How a reduced dim is cut: equal tiles, and what is left.
namespace {
struct Cuts {
  unsigned dim = 0;
  int64_t numTiles = 0, extent = 0; ///< of a tile
};

class FarReduction {
public:
  FarReduction(func::FuncOp func, DeviceOpInterface op, Cuts cuts)
      : carrier(func, std::nullopt), op(op), cuts(cuts), loops(op.getLoopVariables()) {}

  /// False, with nothing changed, if the result's layout has no sums.
  bool prepare();
  SmallVector<DeviceOpInterface> build();

private:
  /// A buffer of all points that the result has, with \p last elements of the dim in the stick.
  Value alloc(DataFormat format, int64_t last);
  /// \p opFunc on \p extents, as many as \p output has if there are none.
  void build(OpFunc opFunc, ArrayRef<Value> inputs, ArrayRef<AffineMap> maps, Value output,
             ArrayRef<int64_t> extents = {});
  /// Reduces what \p part says and adds it to `whole`.
  void addPart(DeviceOpSpec part);
  AffineMap getIdentity() const {
    return AffineMap::getMultiDimIdentityMap(shape.size(), op->getContext());
  }
  /// \p map as one of an operation in the loops that does not depend on them.
  AffineMap stay(AffineMap map) const {
    return AffineMap::get(map.getNumDims(), loops.size(), map.getResults(), map.getContext());
  }

  PartCarrier carrier;
  DeviceOpInterface op;
  Cuts cuts;
  SmallVector<Value> loops; ///< around what is built
  SmallVector<DeviceOpInterface> built;
  DataFormat format = DataFormat::SEN169_FP16; ///< of the result
  bool isWidened = false;
  SmallVector<int64_t> shape; ///< of `whole`, with the result's elements of the stick dim
  unsigned stick = 0;         ///< its dim that lies in the stick
  bool isStickNew = false;    ///< the result has one element a stick
  int64_t wideExtent = 0;     ///< of the stick dim in f32
  AffineMap place;            ///< of the operation in a buffer of `shape`
  Value whole;
};
} // namespace

bool FarReduction::prepare() {
  auto type = cast<BufferType>(op.getDestination().getType());
  format = type.getLayout().getFormat();
  SmallVector<int64_t> ranges(op.getExtents());
  if (std::optional<SmallVector<int64_t>> trips = getTripCounts(op))
    ranges.append(*trips);
  StickAccess access = getStickAccess(type.getShape(), type.getLayout(), op.getOutputMap(), ranges);
  if (access.kind == StickAccess::Unreadable || !type.getTensorLayout().paddedShape.empty())
    return false;
  MLIRContext *context = op->getContext();
  llvm::SmallBitVector written = getUsedDims(op.getOutputMap());
  // With a dim of one element outside, sticks of a row lie side by side.
  SmallVector<AffineExpr> results{getAffineConstantExpr(0, context)};
  shape.push_back(1);
  isStickNew = access.kind == StickAccess::Lane0;
  for (auto [d, extent] : llvm::enumerate(op.getExtents())) {
    if (!written[d])
      continue;
    if (!isStickNew && d == access.dim)
      stick = shape.size();
    results.push_back(getAffineDimExpr(d, context));
    shape.push_back(extent);
  }
  if (isStickNew) {
    stick = shape.size();
    results.push_back(getAffineConstantExpr(0, context));
    shape.push_back(1);
  }
  place = AffineMap::get(op.getNumDims(), loops.size(), results, context);
  const bool isSum = op.getInfo().combiner == Combiner::Add;
  isWidened = isSum && format != DataFormat::IEEE_FP32;
  // Only those are cast to f32 and back.
  if (isWidened && format != DataFormat::SEN169_FP16)
    return false;
  wideExtent =
      isWidened ? llvm::alignTo(shape[stick], ::spyre::getElementsPerStick(format)) : shape[stick];
  return true;
}

Value FarReduction::alloc(DataFormat format, int64_t last) {
  SmallVector<int64_t> sizes(shape);
  sizes[stick] = last;
  layout::TensorLayout memory =
      layout::getDefaultLayout(std::vector<int64_t>(sizes.begin(), sizes.end()), format);
  llvm::erase(memory.dimOrder, static_cast<int>(stick));
  memory.dimOrder.push_back(static_cast<int>(stick));
  MLIRContext *context = op->getContext();
  Type element = format == DataFormat::IEEE_FP32 ? Float32Type::get(context)
                                                 : getElementType(op.getDestination());
  return carrier.alloc(
      BufferType::get(context, sizes, element, LayoutAttr::get(context, memory), MemorySpace::HBM),
      op->getLoc());
}

void FarReduction::build(OpFunc opFunc, ArrayRef<Value> inputs, ArrayRef<AffineMap> maps,
                         Value output, ArrayRef<int64_t> extents) {
  DeviceOpSpec spec;
  spec.opFunc = opFunc;
  spec.inputs.assign(inputs.begin(), inputs.end());
  spec.output = output;
  llvm::append_range(spec.extents,
                     extents.empty() ? cast<BufferType>(output.getType()).getShape() : extents);
  for (AffineMap map : maps)
    spec.maps.push_back(stay(map));
  spec.maps.push_back(stay(getIdentity()));
  spec.loopVariables = loops;
  built.push_back(buildDeviceOp(carrier.builder, op->getLoc(), spec));
}

void FarReduction::addPart(DeviceOpSpec part) {
  Value sum = alloc(format, shape[stick]);
  part.maps.back() =
      AffineMap::get(part.extents.size(), loops.size(), place.getResults(), op->getContext());
  part.output = sum;
  part.loopVariables = loops;
  built.push_back(buildDeviceOp(carrier.builder, op->getLoc(), part));
  const AffineMap same = getIdentity();
  if (isWidened) {
    if (wideExtent != shape[stick]) {
      // One element a stick is copied to all of it.
      Value padded = alloc(format, wideExtent);
      if (isStickNew) {
        SmallVector<AffineExpr> results(same.getResults());
        results[stick] = getAffineConstantExpr(0, op->getContext());
        build(OpFunc::Identity, {sum}, {AffineMap::get(shape.size(), 0, results, op->getContext())},
              padded);
      } else {
        build(OpFunc::Identity, {sum}, {same}, padded, shape);
      }
      sum = padded;
    }
    Value wide = alloc(DataFormat::IEEE_FP32, wideExtent);
    build(OpFunc::Dl16tofp32, {sum}, {same}, wide);
    sum = wide;
  }
  build(getCombiningFunc(op.getInfo().combiner), {whole, sum}, {same, same}, whole);
}

SmallVector<DeviceOpInterface> FarReduction::build() {
  const Location loc = op->getLoc();
  OpBuilder &builder = carrier.builder;
  builder.setInsertionPoint(op);
  whole = alloc(isWidened ? DataFormat::IEEE_FP32 : format, wideExtent);
  Value neutral = carrier.getNumber(*op.getInfo().neutral, getElementType(whole), loc);
  build(OpFunc::Identity, {neutral}, {AffineMap::get(shape.size(), 0, op->getContext())}, whole);
  const DeviceOpSpec spec = DeviceOpSpec::of(op);
  if (cuts.numTiles > 1) {
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0),
          one = arith::ConstantIndexOp::create(builder, loc, 1),
          bound = arith::ConstantIndexOp::create(builder, loc, cuts.numTiles);
    auto loop = scf::ForOp::create(builder, loc, zero, bound, one);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    DeviceOpSpec tile = spec;
    tile.extents[cuts.dim] = cuts.extent;
    for (AffineMap &map : tile.maps)
      map = moveWith(map, TileStart({cuts.dim, cuts.extent}));
    loops.push_back(loop.getInductionVar());
    addPart(tile);
    loops.pop_back();
  } else {
    addPart(spec.restrict(cuts.dim, 0, cuts.extent));
  }
  const int64_t done = cuts.numTiles * cuts.extent;
  if (const int64_t left = spec.extents[cuts.dim] - done; left > 0)
    addPart(spec.restrict(cuts.dim, done, left));
  // Where the operation would have written it.
  Value result = whole;
  const AffineMap same = getIdentity();
  DeviceOpSpec out;
  out.opFunc = OpFunc::Identity;
  if (isWidened && wideExtent == shape[stick]) {
    out.opFunc = OpFunc::Fp32todl16;
  } else if (isWidened) {
    result = alloc(format, wideExtent);
    build(OpFunc::Fp32todl16, {whole}, {same}, result);
  }
  SmallVector<AffineExpr> dims(spec.extents.size(), getAffineConstantExpr(0, op->getContext()));
  for (auto [i, expr] : llvm::enumerate(place.getResults()))
    if (auto dim = getPlainDim(expr)) {
      dims[*dim] = getAffineDimExpr(out.extents.size(), op->getContext());
      out.extents.push_back(shape[i]);
    }
  out.inputs = {result};
  for (AffineMap map : {place, spec.maps.back()})
    out.maps.push_back(map.replaceDimsAndSymbols(dims, {}, out.extents.size(), loops.size()));
  out.output = spec.output;
  out.loopVariables = loops;
  built.push_back(buildDeviceOp(builder, loc, out));
  op->erase();
  return built;
}

std::optional<SmallVector<DeviceOpInterface>>
mlir::spyre::reduceInParts(func::FuncOp func, DeviceOpInterface op,
                           const planning::DivisionProblem &problem) {
  if (!op.getInfo().neutral || !(isMatmul(op) || combinesParts(op)))
    return std::nullopt;
  for (unsigned d = 0; d < problem.dims.size(); ++d) {
    const planning::DivisionDim &dim = problem.dims[d];
    if (!dim.isReduced || planning::isWithinReach(problem, d, dim.extent))
      continue;
    // As many whole sticks as a core reaches; fewer, if that leaves none at the end.
    const int64_t units = dim.extent / dim.elementsPerStick;
    int64_t most = 0;
    for (int64_t low = 1, high = units; low <= high;) {
      const int64_t middle = low + (high - low) / 2;
      if (planning::isWithinReach(problem, d, middle * dim.elementsPerStick)) {
        most = middle;
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    if (most == 0)
      return std::nullopt;
    int64_t tile = most;
    for (int64_t fewer = most; 2 * fewer > most && tile == most && units % most; --fewer)
      if (units % fewer == 0)
        tile = fewer;
    FarReduction reduction(func, op, {d, units / tile, tile * dim.elementsPerStick});
    return reduction.prepare() ? std::optional(reduction.build()) : std::nullopt;
  }
  return std::nullopt;
}
