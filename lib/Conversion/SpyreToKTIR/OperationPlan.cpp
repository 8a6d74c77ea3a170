//===- OperationPlan.cpp - One operation of a KTIR kernel -----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How an operation's points are cut into parts, where its operands' elements lie,
// what a compute tile has of them, and what is loaded at once. Source of the core
// order: docs/formats/superdsc-rules.md, e.3, through lib/Planning, which both
// emissions and the plan verifier share.
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"

#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Relayout.h"
#include "spyre/Layout/TensorLayout.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::ktir;
namespace layout = ::spyre::layout;
using ::spyre::DataFormat;

namespace {
/// "d1".
std::string nameDim(unsigned dim) { return "d" + std::to_string(dim); }

class OperationPlanner {
public:
  OperationPlanner(DeviceOpInterface op, PlanningModel &model, int64_t capacityInBytes,
                   KernelOp &result)
      : model(model), capacityInBytes(capacityInBytes), result(result) {
    result.op = op;
    result.info = &op.getInfo();
  }

  FailureOr<std::string> run();

private:
  /// Where the elements of an operand are, before iteration dims are cut.
  struct Place {
    layout::TensorLayout layout;
    std::vector<layout::DeviceDim> dims;
    std::vector<int64_t> sizes; ///< device sizes; of one core's part in LX
    /// Of a relayout's source, what each core holds of it.
    std::optional<layout::Spread> held;
    layout::IndexMap coordinates;
    unsigned stickRank = 1;
  };

  bool isKnown();
  bool locate(unsigned i);
  bool isHeldByReaders(const layout::Spread &held, unsigned i);
  bool describeShares(unsigned i);
  void addStickCuts(const Place &place);
  bool makeParts();
  bool divideParts();
  bool describeOperand(unsigned i);
  bool isApart(unsigned i);
  bool addMasks();
  bool chooseTiles();
  int64_t getBytes() const;
  bool refuse(std::string why) {
    reason = std::move(why);
    return false;
  }
  unsigned getNumOperands() { return result.op.getInputs().size() + 1; }
  Value getBuffer(unsigned i) {
    return i + 1 < getNumOperands() ? result.op.getInputs()[i] : result.op.getOutput();
  }
  std::string nameOperand(unsigned i) {
    return i + 1 < getNumOperands() ? "input #" + std::to_string(i) : "the output";
  }
  unsigned getNumPoints() { return result.op.getNumDims(); }

  PlanningModel &model;
  int64_t capacityInBytes; ///< LX for tiles
  KernelOp &result;
  const PlannedOp *planned = nullptr;
  std::string reason;
  std::vector<Place> places;
  std::vector<std::set<int64_t>> cuts; ///< of each iteration dim
  /// Lanes of an operation that has no dim in its output's stick.
  std::optional<unsigned> freeLane;
};
} // namespace

/// The MLIR type of the elements. Formats that nothing computes with are moved as bits.
static Type getElementType(DataFormat format, MLIRContext *context) {
  Builder b(context);
  switch (format) {
  case DataFormat::SEN169_FP16:
    return b.getF16Type();
  case DataFormat::IEEE_FP32:
    return b.getF32Type();
  case DataFormat::BFLOAT16:
    return b.getBF16Type();
  case DataFormat::SEN143_FP8:
    return Float8E4M3FNType::get(context);
  case DataFormat::SEN152_FP8:
    return Float8E5M2Type::get(context);
  default:
    return b.getIntegerType(8 * ::spyre::kStickInBytes / ::spyre::getElementsPerStick(format));
  }
}

bool OperationPlanner::isKnown() {
  const ::spyre::OpFuncInfo &info = *result.info;
  if (!info.specified || info.ktirKind == ::spyre::KTIRKind::Unsupported)
    return refuse("operations of this kind are not emitted yet");
  if (result.op.getGather() && info.ktirKind != ::spyre::KTIRKind::Copy)
    return refuse("it gathers by an index and computes");
  for (const ::spyre::ScalarNode &node : info.body) {
    StringRef name(node.name.data(), node.name.size());
    if (node.kind == ::spyre::ScalarNode::Kind::Operation &&
        !RegisteredOperationName::lookup(name, result.op->getContext()))
      return refuse("its body '" + name.str() + "' needs a dialect that is not there");
  }
  return true;
}

/// Device coordinates of operand \p i over points and loops.
bool OperationPlanner::locate(unsigned i) {
  Place place;
  place.layout = cast<BufferType>(getBuffer(i).getType()).getTensorLayout();
  place.dims = layout::getDeviceDims(place.layout);
  place.sizes = layout::getDeviceSizes(place.layout);
  place.stickRank = std::max<size_t>(1, layout::getStickDims(place.layout).size());
  KernelOperand &operand = result.operands[i];
  if (operand.isLX()) {
    auto alloc = getBuffer(i).getDefiningOp<AllocOp>();
    DistributionAttr held = alloc ? alloc.getDistributionAttr() : DistributionAttr();
    if (!held)
      return refuse(nameOperand(i) + " is an LX buffer that does not say which core holds what");
    layout::Spread spread = getHeld(alloc);
    if (!isHeldByReaders(spread, i)) {
      if (i + 1 == getNumOperands())
        return refuse("the output is another part of an LX buffer than the core holds");
      place.held = std::move(spread);
    } else {
      for (unsigned k = 0; k + place.stickRank < place.dims.size(); ++k)
        if (int dim = place.dims[k].dim; dim >= 0)
          place.sizes[k] = llvm::divideCeil(place.sizes[k], held.getSlices()[dim]);
    }
  }
  auto coordinates = layout::getDeviceCoordinates(place.layout, planned->accesses[i].map);
  if (auto *error = std::get_if<layout::LayoutError>(&coordinates))
    return refuse(nameOperand(i) + ": " + error->message);
  place.coordinates = layout::simplify(std::get<layout::IndexMap>(coordinates));
  for (const layout::IndexExpr &expr : place.coordinates.results)
    for (const layout::Digit &digit : expr.digits) {
      if (digit.coefficient < 0)
        return refuse(nameOperand(i) + " is accessed backwards");
      if (digit.input >= getNumPoints())
        continue;
      cuts[digit.input].insert(digit.divisor);
      if (digit.modulus)
        cuts[digit.input].insert(digit.divisor * digit.modulus);
    }
  addStickCuts(place);
  places.push_back(std::move(place));
  return true;
}

/// True if each core touches of operand \p i what \p held says that it holds.
bool OperationPlanner::isHeldByReaders(const layout::Spread &held, unsigned i) {
  const layout::Access &access = planned->accesses[i];
  for (int64_t core = 0; planned->spread && core < planned->spread->numCores; ++core) {
    std::optional<layout::Region> touched = access.getRegion(*planned->spread, core);
    std::optional<layout::Region> own = held.getPoints(core);
    if (!touched || touched->isEmpty())
      continue;
    // Padding belongs to the slice before it.
    for (size_t d = 0; own && d < own->end.size(); ++d)
      if (own->end[d] == held.dims[d].extent)
        own->end[d] = std::max(own->end[d], touched->end[d]);
    if (!own || !own->contains(*touched))
      return false;
  }
  return true;
}

/// Whole sticks are computed, so that what padding holds follows from the operands' padding: the
/// outermost digit in a stick gets the rest of it.
void OperationPlanner::addStickCuts(const Place &place) {
  for (size_t k = place.dims.size() - place.stickRank; k < place.dims.size(); ++k) {
    const layout::IndexExpr &expr = place.coordinates.results[k];
    if (expr.digits.empty() || expr.constant != 0)
      continue;
    layout::Digit top = layout::getDigitsByStep(expr).back();
    if (top.input < getNumPoints() && top.modulus == 0 && place.sizes[k] % top.coefficient == 0)
      cuts[top.input].insert(top.divisor * (place.sizes[k] / top.coefficient));
  }
}

bool OperationPlanner::makeParts() {
  std::vector<bool> isWritten(getNumPoints(), false);
  for (const layout::IndexExpr &expr : planned->accesses.back().map.results)
    for (const layout::Digit &digit : expr.digits)
      if (digit.input < getNumPoints())
        isWritten[digit.input] = true;
  for (auto [d, extent] : llvm::enumerate(result.op.getExtents())) {
    cuts[d].insert(1);
    std::vector<int64_t> units(cuts[d].begin(), cuts[d].end());
    for (size_t k = units.size(); k-- > 0;) {
      bool isTop = k + 1 == units.size();
      if (!isTop && units[k + 1] % units[k])
        return refuse("its operands cut " + nameDim(d) + " at places that do not fit each other");
      Part part;
      part.extent = isTop ? llvm::divideCeil(extent, units[k]) : units[k + 1] / units[k];
      part.dim = static_cast<int>(d);
      part.unit = units[k];
      part.isReduced = !isWritten[d] && extent > 1;
      result.parts.push_back(part);
    }
  }
  return true;
}

/// Slices of a dim are handed to its parts, outermost first, and what is left of a part is a
/// compute tile's extent.
bool OperationPlanner::divideParts() {
  SmallVector<int64_t> splits(result.op.getSplits());
  splits.resize(getNumPoints(), 1);
  int64_t inner = 1;
  for (unsigned d : layout::getCoreOrder(splits.size(), planned->kFast)) {
    int64_t left = splits[d];
    if (left < 1)
      return refuse(nameDim(d) + " has no work slices");
    for (Part &part : result.parts) {
      if (part.dim != static_cast<int>(d) || left == 1)
        continue;
      if (part.extent % left && left % part.extent)
        return refuse(std::to_string(splits[d]) + " work slices cut the " +
                      std::to_string(part.extent) + " places of " + nameDim(d));
      part.split = std::min(part.extent, left);
      part.extent /= part.split;
      left /= part.split;
    }
    if (left > 1)
      return refuse("there are more work slices than places of " + nameDim(d));
    // The finest slices vary fastest.
    int64_t stride = inner;
    for (Part &part : llvm::reverse(result.parts))
      if (part.dim == static_cast<int>(d)) {
        part.coreStride = stride;
        stride *= part.split;
      }
    inner = stride;
  }
  result.numSlices = inner;
  if (inner > model.getDevice()->getNumCores())
    return refuse("it takes " + std::to_string(inner) + " cores; the device has " +
                  std::to_string(model.getDevice()->getNumCores()));
  // Without a dim in the output's stick the device works on all lanes alike.
  const Place &output = places.back();
  const layout::IndexExpr &lane = output.coordinates.results.back();
  if (lane.digits.empty()) {
    if (lane.constant != 0)
      return refuse("the output starts inside a stick");
    freeLane = result.parts.size();
    Part part;
    part.extent = result.hasMoments() ? 2 : output.sizes.back();
    result.parts.push_back(part);
  }
  for (const Place &place : places)
    for (size_t k = place.dims.size() - place.stickRank; k < place.dims.size(); ++k)
      for (const layout::Digit &digit : place.coordinates.results[k].digits)
        for (Part &part : result.parts)
          part.isLane |=
              part.dim == static_cast<int>(digit.input) && part.unit >= digit.divisor &&
              part.unit < digit.divisor *
                              (digit.modulus ? digit.modulus : place.sizes[k] / digit.coefficient);
  for (const Part &part : result.parts)
    if (part.isLane && part.split > 1)
      return refuse("work slices of " + nameDim(part.dim) + " cut a stick");
  if (freeLane)
    result.parts[*freeLane].isLane = true;
  return true;
}

bool OperationPlanner::describeOperand(unsigned i) {
  KernelOperand &operand = result.operands[i];
  const Place &place = places[i];
  std::vector<int64_t> strides = layout::getRowMajorStrides(place.sizes);
  std::map<unsigned, int64_t> strideOfPart;
  const bool isOwn = operand.isLX() && !place.held;
  for (auto [k, expr] : llvm::enumerate(place.coordinates.results)) {
    operand.constant += expr.constant * strides[k];
    int64_t last = expr.constant; // of this device dim, over all compute tiles
    bool isMoved = false;
    for (const layout::Digit &digit : expr.digits) {
      if (digit.input >= getNumPoints()) {
        operand.loops.push_back({result.op.getLoopVariables()[digit.input - getNumPoints()],
                                 digit.divisor, digit.modulus, digit.coefficient * strides[k]});
        last += digit.coefficient * (layout::getNumValues(digit, place.coordinates.extents) - 1);
        continue;
      }
      for (auto [p, part] : llvm::enumerate(result.parts)) {
        int64_t extent = part.extent * (isOwn ? 1 : part.split);
        if (part.dim != static_cast<int>(digit.input) || part.unit < digit.divisor ||
            (digit.modulus && part.unit >= digit.divisor * digit.modulus))
          continue;
        int64_t steps = digit.coefficient * (part.unit / digit.divisor);
        isMoved |= part.split > 1;
        last += steps * (extent - 1);
        if (part.extent * part.split > 1)
          strideOfPart[p] += steps * strides[k];
      }
    }
    if (isOwn &&
        (last >= place.sizes[k] || (isMoved && (last + 1 != place.sizes[k] || expr.constant != 0))))
      return refuse(nameOperand(i) + " is another part of an LX buffer than the core holds");
    if (last >= place.sizes[k])
      return refuse(nameOperand(i) + " is read or written in whole sticks up to place " +
                    std::to_string(last + 1) + " of device dim " + std::to_string(k) +
                    ", which has " + std::to_string(place.sizes[k]));
  }
  if (freeLane && i + 1 == getNumOperands())
    strideOfPart[*freeLane] = 1;
  for (auto [p, stride] : strideOfPart)
    operand.axes.push_back({static_cast<int>(p), stride,
                            result.parts[p].extent * (isOwn ? 1 : result.parts[p].split)});
  std::optional<ArrayRef<int64_t>> gather = result.op.getGather();
  if (gather && (*gather)[0] == i) {
    // The dim that the index addresses is there as a whole.
    auto isAddressed = [&](const layout::DeviceDim &dim) { return dim.dim == (*gather)[1]; };
    auto dim = llvm::find_if(place.dims, isAddressed);
    size_t k = dim - place.dims.begin();
    if (llvm::count_if(place.dims, isAddressed) != 1 || k + 1 == place.dims.size() ||
        !place.coordinates.results[k].digits.empty())
      return refuse("the index addresses a dim in the stick, or one that has other coordinates");
    operand.axes.push_back({-1, strides[k], place.sizes[k], /*isIndirect=*/true});
  }
  llvm::stable_sort(operand.axes, [](const Axis &a, const Axis &b) { return a.stride > b.stride; });
  // Views end with neighbouring elements.
  if (operand.axes.empty() || operand.axes.back().stride != 1)
    operand.axes.push_back({-1, 1});
  return !place.held || describeShares(i);
}

/// Which box of the view lies where in which core's LX. Slices are of single axes.
bool OperationPlanner::describeShares(unsigned i) {
  KernelOperand &operand = result.operands[i];
  const Place &place = places[i];
  std::vector<int64_t> sizes = place.sizes, strides = layout::getRowMajorStrides(place.sizes);
  for (unsigned k = 0; k + place.stickRank < place.dims.size(); ++k)
    if (int dim = place.dims[k].dim; dim >= 0)
      sizes[k] = llvm::divideCeil(sizes[k], place.held->dims[dim].numSlices);
  std::vector<int64_t> own = layout::getRowMajorStrides(sizes);
  if (!operand.loops.empty() || operand.constant != 0)
    return refuse(nameOperand(i) + " is a part of what other cores hold");
  for (int64_t core = 0; core < place.held->numCores; ++core) {
    Share share;
    share.core = core;
    for (const Axis &axis : operand.axes) {
      // The device dim that the axis steps in.
      size_t k = 0;
      while (k + 1 < strides.size() && (strides[k] > axis.stride || place.sizes[k] == 1))
        ++k;
      int dim = place.dims[k].dim;
      int64_t slices =
          dim < 0 || k + place.stickRank >= place.dims.size() ? 1 : place.held->dims[dim].numSlices;
      if (slices > 1 &&
          (axis.stride != strides[k] || axis.size != place.sizes[k] || axis.size % slices))
        return refuse(nameOperand(i) + " is held by cores in slices that are no boxes of it");
      share.sizes.push_back(axis.size / slices);
      share.begin.push_back(slices == 1 ? 0
                                        : place.held->getSlice(core, dim) * (axis.size / slices));
      share.strides.push_back(axis.stride / strides[k] * own[k]);
    }
    // What several cores hold is read from the first.
    if (llvm::none_of(operand.shares,
                      [&](const Share &other) { return other.begin == share.begin; }))
      operand.shares.push_back(std::move(share));
  }
  return true;
}

/// What the device masks (reductions in the stick, and operations that the layouts mark), and
/// what whole sticks have beyond the reduced dims: nobody has to know what it holds.
bool OperationPlanner::addMasks() {
  const ::spyre::OpFuncInfo &info = *result.info;
  bool isReduction = info.category == ::spyre::OpCategory::Reduction;
  if (!isReduction && !result.op->hasAttr(kMaskedAttr))
    return true;
  for (auto [d, extent] : llvm::enumerate(result.op.getExtents())) {
    int64_t padded = 1;
    bool isLane = false, isReduced = false;
    for (const Part &part : result.parts)
      if (part.dim == static_cast<int>(d)) {
        padded *= part.extent * part.split;
        isLane |= part.isLane;
        isReduced |= part.isReduced;
      }
    if (padded > extent && (isReduction ? isReduced : isLane))
      result.masks.push_back({static_cast<int>(d), extent});
  }
  if (result.masks.empty())
    return true;
  if (isReduction) {
    result.maskValue = info.neutral.value_or(0);
    return true;
  }
  if (!info.maskTail)
    return refuse("it is masked, and the table does not say by what");
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  result.maskValue = *info.maskTail == ::spyre::TailState::NegInf   ? -kInfinity
                     : *info.maskTail == ::spyre::TailState::PosInf ? kInfinity
                                                                    : 0;
  return true;
}

/// Bytes that a core holds as tensors at once: what it has loaded beside what it makes of it, then
/// the result before and after it is rounded. A value that a loop carries is there three times, as
/// it came, as it is and as it goes on; partial sums of others once more.
int64_t OperationPlanner::getBytes() const {
  int64_t inputs = 0, output = 0, sum = 1;
  for (auto [i, operand] : llvm::enumerate(result.operands)) {
    bool isOutput = i + 1 == result.operands.size();
    int64_t size = 1;
    for (const Axis &axis : operand.axes)
      if (axis.part >= 0) {
        size *= result.tileSizes[axis.part];
        if (isOutput && freeLane != static_cast<unsigned>(axis.part))
          sum *= result.tileSizes[axis.part];
      }
    (isOutput ? output : inputs) +=
        size * llvm::divideCeil(operand.elementType.getIntOrFloatBitWidth(), 8);
  }
  if (!result.combines())
    return inputs + 2 * output;
  int64_t accumulator = 4 * sum;
  int64_t copies = result.isSumShared() ? 4 : 3;
  return std::max(inputs + copies * accumulator, accumulator + 2 * output);
}

/// Tiles that fit in the LX that resident buffers leave: while they do not, the
/// part whose next smaller divisor saves most is cut. Lanes of what is read are where nothing
/// else is left; what is written are whole sticks.
bool OperationPlanner::chooseTiles() {
  result.tileSizes = result.getExtents();
  for (auto [p, part] : llvm::enumerate(result.parts))
    if (result.isLargest() && part.dim == 0)
      result.tileSizes[p] = 1; // one after another
  bool cutsLanes = false;
  std::vector<bool> isWrittenLane(result.parts.size(), false);
  for (const Axis &axis : result.operands.back().axes)
    if (axis.part >= 0 && axis.stride < places.back().sizes.back())
      isWrittenLane[axis.part] = true;
  while (getBytes() > capacityInBytes) {
    std::optional<unsigned> best;
    int64_t bestBytes = getBytes(), bestSize = 0;
    for (auto [p, part] : llvm::enumerate(result.parts)) {
      int64_t size = result.tileSizes[p], factor = 2;
      // The largest numbers are looked for along the whole of a dim.
      if (size == 1 || isWrittenLane[p] || (part.isLane && !cutsLanes) ||
          (result.isLargest() && part.isReduced))
        continue;
      while (size % factor)
        ++factor;
      result.tileSizes[p] = size / factor;
      if (getBytes() < bestBytes) {
        best = p;
        bestBytes = getBytes();
        bestSize = size / factor;
      }
      result.tileSizes[p] = size;
    }
    if (!best && !std::exchange(cutsLanes, true))
      continue;
    if (!best)
      return refuse("its smallest tiles take " + std::to_string(getBytes()) +
                    " bytes of LX; a core has " + std::to_string(capacityInBytes) + " left");
    result.tileSizes[*best] = bestSize;
  }
  return true;
}

/// True if what operand \p i reads and what is written are other boxes in every iteration.
bool OperationPlanner::isApart(unsigned i) {
  constexpr int64_t kMaxIterations = 4096;
  const layout::Access &read = planned->accesses[i], &written = planned->accesses.back();
  std::vector<int64_t> trips = read.getTripCounts(), time(trips.size(), 0);
  int64_t iterations = 1;
  for (int64_t trip : trips)
    iterations = std::min(iterations * trip, kMaxIterations + 1);
  if (iterations > kMaxIterations)
    return false;
  size_t k = 0;
  do {
    if (read.getRegion(time).intersects(written.getRegion(time)))
      return false;
    for (k = time.size(); k > 0 && ++time[k - 1] == trips[k - 1]; --k)
      time[k - 1] = 0;
  } while (k > 0);
  return true;
}

FailureOr<std::string> OperationPlanner::run() {
  // A plan without places is broken, whatever else the operation is.
  for (unsigned i = 0; i < getNumOperands(); ++i) {
    auto type = dyn_cast_or_null<BufferType>(getBuffer(i) ? getBuffer(i).getType() : Type());
    if (!type) {
      result.op->emitOpError() << "works on tensors; bufferize before emitting KTIR";
      return failure();
    }
    FailureOr<BufferBase> base = getBufferBase(getBuffer(i), result.op);
    if (failed(base))
      return failure();
    KernelOperand operand;
    operand.buffer = getBuffer(i);
    operand.number = i;
    operand.base = *base;
    operand.elementType = getElementType(type.getLayout().getFormat(), type.getContext());
    result.operands.push_back(std::move(operand));
  }
  if (!isKnown())
    return reason;
  planned = &model.describe(result.op);
  if (planned->accesses.size() < getNumOperands())
    return nameOperand(planned->accesses.size()) +
           " has a coordinate that is no sum of digits of iteration dims";
  // A buffer that is read one way and written another would be read again after
  // part of it is written.
  for (unsigned i = 0; i + 1 < getNumOperands(); ++i)
    if (getBuffer(i) == result.op.getOutput() &&
        !(planned->accesses[i] == planned->accesses.back()) && !isApart(i))
      return "it overwrites " + nameOperand(i) + " at other places than it reads";
  cuts.resize(getNumPoints());
  for (unsigned i = 0; i < getNumOperands(); ++i)
    if (!locate(i))
      return reason;
  if (!makeParts() || !divideParts())
    return reason;
  for (unsigned i = 0; i < getNumOperands(); ++i)
    if (!describeOperand(i))
      return reason;
  if (!model.get(result.op))
    return failure();
  if (!result.combines() && !result.isLargest() &&
      llvm::any_of(result.parts, [](const Part &p) { return p.isReduced; }))
    return std::string("its result has fewer dims than its iteration space");
  if (result.takesMoments()) {
    // Lane 1 is read beside lane 0.
    KernelOperand squares = result.operands[0];
    squares.constant += 1;
    result.operands.insert(result.operands.begin() + 1, std::move(squares));
  }
  if (!addMasks() || !chooseTiles())
    return reason;
  return std::string();
}

FailureOr<std::string> ktir::planOperation(DeviceOpInterface op, PlanningModel &model,
                                           int64_t capacityInBytes, KernelOp &result) {
  return OperationPlanner(op, model, capacityInBytes, result).run();
}
