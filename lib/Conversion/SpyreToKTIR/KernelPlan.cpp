//===- KernelPlan.cpp - What a KTIR kernel reads, computes and writes -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header. Source of the core order: docs/formats/superdsc-rules.md, e.3, through
// lib/Planning, which both emissions and the plan verifier share.
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"

#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"
#include "spyre/Layout/TensorLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::ktir;
namespace layout = ::spyre::layout;

int64_t KernelOp::getNumSlices() const {
  int64_t slices = 1;
  for (int64_t split : splits)
    slices *= split;
  return slices;
}

SmallVector<int64_t> KernelOp::getSlices(int64_t core) const {
  SmallVector<int64_t> slices(splits.size(), 0);
  for (unsigned d : getCoreOrder()) {
    slices[d] = core % splits[d];
    core /= splits[d];
  }
  return slices;
}

SmallVector<int64_t> KernelOp::getExtents() const {
  return llvm::map_to_vector(parts, [](const Part &part) { return part.extent; });
}

namespace {
/// "d1".
std::string nameDim(unsigned dim) { return "d" + std::to_string(dim); }

class OperationPlanner {
public:
  OperationPlanner(DeviceOpInterface op, PlanningModel &model, int64_t capacityInBytes,
                   Kernel &kernel)
      : model(model), capacityInBytes(capacityInBytes), kernel(kernel) {
    result.op = op;
    result.info = &op.getInfo();
  }

  /// Nothing if it worked, else why not. Fails where the plan is broken.
  FailureOr<std::optional<std::string>> run();

  KernelOp result;

private:
  /// True, with a reason, if the KTIR form of the operation is not there.
  bool isUnsupported();
  bool checkBuffers();
  bool readMaps();
  bool makeParts();
  bool describeOperand(unsigned i);
  bool checkBounds(unsigned i);
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
  layout::TensorLayout getLayout(unsigned i) {
    return cast<BufferType>(getBuffer(i).getType()).getTensorLayout();
  }

  PlanningModel &model;
  int64_t capacityInBytes; ///< LX for tiles
  Kernel &kernel;
  const PlannedOp *planned = nullptr;
  std::string reason;
  int64_t elements = 0; ///< in a stick, the same for all operands
  SmallVector<layout::IndexMap> maps;
  /// First part of each iteration dim; the lane follows the stick count.
  SmallVector<unsigned> firstPart;
  SmallVector<bool> isInStick;
  /// Lanes of an operation that has no dim in its output's stick.
  std::optional<unsigned> freeLane;
};
} // namespace

bool OperationPlanner::isUnsupported() {
  const ::spyre::OpFuncInfo &info = *result.info;
  bool isKnown = true;
  if (info.opFunc != ::spyre::OpFunc::Batchmatmul && info.opFunc != ::spyre::OpFunc::Identity) {
    if (info.category == ::spyre::OpCategory::Reduction)
      isKnown = refuse("reductions are not emitted yet");
    else if (info.ktirKind != ::spyre::KTIRKind::Elementwise ||
             (info.category != ::spyre::OpCategory::Unary &&
              info.category != ::spyre::OpCategory::Broadcast))
      isKnown = refuse("operations of this kind are not emitted yet");
  }
  for (const ::spyre::ScalarNode &node : info.body) {
    StringRef name(node.name.data(), node.name.size());
    if (isKnown && node.kind == ::spyre::ScalarNode::Kind::Operation &&
        !RegisteredOperationName::lookup(name, result.op->getContext()))
      isKnown = refuse("its body '" + name.str() + "' needs a dialect that is not there");
  }
  if (isKnown && !result.op.getLoopVariables().empty())
    isKnown = refuse("operations that move with a loop are not emitted yet");
  return !isKnown;
}

bool OperationPlanner::checkBuffers() {
  for (unsigned i = 0; i < getNumOperands(); ++i) {
    auto type = dyn_cast<BufferType>(getBuffer(i).getType());
    LayoutAttr layout = type.getLayout();
    if (!layout.getStick().empty())
      return refuse(nameOperand(i) + " has two dims in its stick");
    if (layout.getArrangement() != Arrangement::Standard)
      return refuse(nameOperand(i) + " has its elements in another order than the standard one");
    Builder b(type.getContext());
    Type element;
    if (layout.getFormat() == ::spyre::DataFormat::SEN169_FP16)
      element = b.getF16Type();
    else if (layout.getFormat() == ::spyre::DataFormat::IEEE_FP32)
      element = b.getF32Type();
    else
      return refuse(nameOperand(i) + " is " +
                    std::string(::spyre::getFormatName(layout.getFormat())) +
                    "; only SEN169_FP16 and IEEE_FP32 are emitted yet");
    if (result.elementType && result.elementType != element)
      return refuse("its operands differ in format");
    result.elementType = element;
    elements = ::spyre::getElementsPerStick(layout.getFormat());
  }
  return true;
}

/// Maps that add a constant to one iteration dim.
bool OperationPlanner::readMaps() {
  for (unsigned i = 0; i < getNumOperands(); ++i) {
    bool isSimple = i < planned->accesses.size();
    if (isSimple)
      for (const layout::IndexExpr &expr : planned->accesses[i].map.results)
        isSimple &=
            expr.digits.size() <= 1 && llvm::all_of(expr.digits, [](const layout::Digit &digit) {
              return digit.divisor == 1 && digit.modulus == 0 && digit.coefficient == 1;
            });
    if (!isSimple)
      return refuse(nameOperand(i) + " has a coordinate that is no iteration dim plus a constant");
    maps.push_back(planned->accesses[i].map);
  }
  // A buffer that is read one way and written another would be read again after
  // part of it is written.
  for (unsigned i = 0; i + 1 < getNumOperands(); ++i)
    if (getBuffer(i) == result.op.getOutput() && !(maps[i] == maps.back()))
      return refuse("it overwrites " + nameOperand(i) + " at other places than it reads");
  return true;
}

bool OperationPlanner::makeParts() {
  ArrayRef<int64_t> extents = result.op.getExtents();
  result.splits.assign(result.op.getSplits().begin(), result.op.getSplits().end());
  result.splits.resize(extents.size(), 1);
  isInStick.assign(extents.size(), false);
  for (unsigned i = 0; i < getNumOperands(); ++i)
    for (const layout::StickDim &stick : layout::getStickDims(getLayout(i)))
      for (const layout::Digit &digit : maps[i].results[stick.dim].digits)
        isInStick[digit.input] = true;
  for (auto [d, extent] : llvm::enumerate(extents)) {
    bool isReduced = extent > 1 && llvm::none_of(maps.back().results, [&](const auto &expr) {
                       return layout::dependsOn(expr, d);
                     });
    int64_t split = result.splits[d];
    if (isReduced && split > 1)
      return refuse("the reduced dim " + nameDim(d) +
                    " is split among cores; their partial sums are not combined yet");
    int64_t units = isInStick[d] ? llvm::divideCeil(extent, elements) : extent;
    if (split < 1 || units % split)
      return refuse(std::to_string(split) + " work slices cut the " + std::to_string(units) +
                    (isInStick[d] ? " sticks of " : " places of ") + nameDim(d));
    firstPart.push_back(result.parts.size());
    result.parts.push_back({units / split, /*isLane=*/false, isReduced, static_cast<int>(d)});
    if (isInStick[d])
      result.parts.push_back({elements, /*isLane=*/true, isReduced, /*dim=*/-1});
  }
  if (result.getNumSlices() > model.getDevice()->getNumCores())
    return refuse("it takes " + std::to_string(result.getNumSlices()) + " cores; the device has " +
                  std::to_string(model.getDevice()->getNumCores()));
  // Without a dim in the output's stick the device works on all lanes alike.
  std::vector<layout::StickDim> stick = layout::getStickDims(getLayout(getNumOperands() - 1));
  if (stick.empty() || maps.back().results[stick[0].dim].digits.empty()) {
    freeLane = result.parts.size();
    result.parts.push_back({elements, /*isLane=*/true, /*isReduced=*/false, /*dim=*/-1});
  }
  return true;
}

bool OperationPlanner::describeOperand(unsigned i) {
  KernelOperand operand;
  operand.buffer = getBuffer(i);
  bool isMatmul = result.info->category == ::spyre::OpCategory::Batchmatmul;
  for (const layout::DeviceDim &device : layout::getDeviceDims(getLayout(i))) {
    Coordinate coordinate;
    bool isLast = operand.coordinates.size() + 1 == layout::getDeviceDims(getLayout(i)).size();
    if (device.dim >= 0) {
      const layout::IndexExpr &expr = maps[i].results[device.dim];
      bool isCount = device.divisor == elements && !isLast;
      if (!expr.digits.empty()) {
        unsigned d = expr.digits[0].input;
        if (isLast)
          coordinate.parts = {firstPart[d] + 1};
        else if (isCount || !isInStick[d])
          coordinate.parts = {firstPart[d]};
        else
          coordinate.parts = {firstPart[d], firstPart[d] + 1};
      }
      bool isConstantLane = isLast && expr.digits.empty();
      if (!isConstantLane && (isLast || isCount) && expr.constant % elements)
        return refuse(nameOperand(i) + " starts inside a stick, at element " +
                      std::to_string(expr.constant));
      coordinate.constant = isLast    ? expr.constant % elements
                            : isCount ? expr.constant / elements
                                      : expr.constant;
    }
    // A matmul's first input is read from lane 0, whatever the output does.
    if (isLast && coordinate.parts.empty() && coordinate.constant == 0 && freeLane &&
        !(isMatmul && i == 0))
      coordinate.parts = {*freeLane};
    operand.coordinates.push_back(std::move(coordinate));
  }
  if (i + 1 == getNumOperands() && operand.coordinates.back().parts.empty())
    return refuse("the output starts inside a stick");
  result.operands.push_back(std::move(operand));
  return true;
}

/// Every core stays inside of its view; in LX it touches all of its slice of what cores share, and
/// may touch a box of the rest.
bool OperationPlanner::checkBounds(unsigned i) {
  KernelOperand &operand = result.operands[i];
  const BufferView &view = kernel.views[operand.buffer];
  operand.isLX = view.base.kind == BufferBase::LX;
  SmallVector<int64_t> extents = result.getExtents();
  for (auto [k, coordinate] : llvm::enumerate(operand.coordinates)) {
    int64_t extent = coordinate.getExtent(extents), end = extent + coordinate.constant;
    int64_t rest = 0; // of the other cores
    for (unsigned part : coordinate.parts)
      if (result.parts[part].dim >= 0)
        rest += (result.splits[result.parts[part].dim] - 1) * extent;
    if (operand.isLX && (end > view.sizes[k] || (rest > 0 && extent != view.sizes[k])))
      return refuse(nameOperand(i) + " is another part of an LX buffer than the core holds");
    end += operand.isLX ? 0 : rest;
    if (end > view.sizes[k])
      return refuse(nameOperand(i) + " is read or written in whole sticks up to place " +
                    std::to_string(end) + " of device dim " + std::to_string(k) + ", which has " +
                    std::to_string(view.sizes[k]));
  }
  return true;
}

/// Bytes that one step of the computation holds on a core as tensors.
int64_t OperationPlanner::getBytes() const {
  int64_t width = result.elementType.getIntOrFloatBitWidth() / 8, bytes = 0;
  for (auto [i, operand] : llvm::enumerate(result.operands)) {
    int64_t size = 1;
    for (const Coordinate &coordinate : operand.coordinates)
      size *= coordinate.getExtent(result.tileSizes);
    bytes += size * width;
    // The f32 accumulator lies beside a matmul's result.
    if (i + 1 == result.operands.size() &&
        result.info->category == ::spyre::OpCategory::Batchmatmul)
      bytes += size * 4;
  }
  return bytes;
}

/// Tiles that fit in the LX that resident buffers leave: while they do not, the
/// part whose next smaller divisor saves most is cut.
bool OperationPlanner::chooseTiles() {
  result.tileSizes = result.getExtents();
  while (getBytes() > capacityInBytes) {
    std::optional<unsigned> best;
    int64_t bestBytes = getBytes(), bestSize = 0;
    for (auto [p, part] : llvm::enumerate(result.parts)) {
      int64_t size = result.tileSizes[p], factor = 2;
      if (part.isLane || size == 1)
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
    if (!best)
      return refuse("its smallest tiles take " + std::to_string(getBytes()) +
                    " bytes of LX; a core has " + std::to_string(capacityInBytes) + " left");
    result.tileSizes[*best] = bestSize;
  }
  return true;
}

/// Device sizes of what one core holds of an LX buffer.
static std::optional<SmallVector<int64_t>> getSizesPerCore(AllocOp alloc) {
  DistributionAttr held = alloc.getDistributionAttr();
  layout::TensorLayout whole = alloc.getType().getTensorLayout();
  if (!held || !whole.paddedShape.empty())
    return std::nullopt;
  SmallVector<int64_t> sizes;
  std::vector<layout::DeviceDim> dims = layout::getDeviceDims(whole);
  for (auto [i, dim] : llvm::enumerate(dims)) {
    bool isStick = i + 1 == dims.size();
    sizes.push_back(dim.dim < 0 || isStick ? dim.size
                                           : llvm::divideCeil(dim.size, held.getSlices()[dim.dim]));
  }
  return sizes;
}

FailureOr<std::optional<std::string>> OperationPlanner::run() {
  // A plan without places is broken, whatever else the operation is.
  for (unsigned i = 0; i < getNumOperands(); ++i) {
    auto type = dyn_cast_or_null<BufferType>(getBuffer(i) ? getBuffer(i).getType() : Type());
    if (!type) {
      result.op->emitOpError() << "works on tensors; bufferize before emitting KTIR";
      return failure();
    }
    if (kernel.views.contains(getBuffer(i)))
      continue;
    FailureOr<BufferBase> base = getBufferBase(getBuffer(i), result.op);
    if (failed(base))
      return failure();
    kernel.views[getBuffer(i)].base = *base;
  }
  if (isUnsupported())
    return std::optional<std::string>(reason);
  planned = &model.describe(result.op);
  if (!checkBuffers() || !readMaps() || !makeParts())
    return std::optional<std::string>(reason);
  for (unsigned i = 0; i < getNumOperands(); ++i) {
    BufferView &view = kernel.views[getBuffer(i)];
    view.elementType = result.elementType;
    std::vector<int64_t> whole = layout::getDeviceSizes(getLayout(i));
    view.sizes.assign(whole.begin(), whole.end());
    if (view.base.kind == BufferBase::LX) {
      auto sizes = getSizesPerCore(getBuffer(i).getDefiningOp<AllocOp>());
      if (!sizes)
        return std::optional<std::string>(
            nameOperand(i) +
            " is an LX buffer that is padded or does not say which core holds what");
      view.sizes = *sizes;
    }
    if (!describeOperand(i) || !checkBounds(i))
      return std::optional<std::string>(reason);
  }
  if (!model.get(result.op))
    return failure();
  result.kFast = planned->kFast;
  if (!chooseTiles())
    return std::optional<std::string>(reason);
  return std::optional<std::string>();
}

FailureOr<Kernel> ktir::planKernel(func::FuncOp func, PlanningModel &model, int64_t capacityInBytes,
                                   SmallVectorImpl<Unsupported> &unsupported) {
  Kernel kernel;
  const MemoryUse use = getMemoryUse(func);
  kernel.hasPool = use.hasPool;
  kernel.poolInBytes = use.poolInBytes;
  if (capacityInBytes == 0)
    capacityInBytes = model.getDevice()->getUsableLXInBytes() - use.lxInBytes;
  bool isBroken = false;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == func || isa<AllocOp, arith::ConstantOp, func::ReturnOp, scf::YieldOp>(op))
      return;
    if (isa<scf::ForOp>(op)) {
      unsupported.push_back({op, "loops are not emitted yet", nullptr, {}});
      return;
    }
    auto deviceOp = dyn_cast<DeviceOpInterface>(op);
    if (!deviceOp) {
      unsupported.push_back({op, "has no place in a kernel", nullptr, {}});
      return;
    }
    OperationPlanner planner(deviceOp, model, capacityInBytes, kernel);
    FailureOr<std::optional<std::string>> reason = planner.run();
    if (failed(reason)) {
      isBroken = true;
    } else if (*reason) {
      unsupported.push_back({op, **reason, nullptr, {}});
    } else {
      kernel.numTiles = std::max(kernel.numTiles, planner.result.getNumSlices());
      kernel.operations.push_back(std::move(planner.result));
    }
  });
  if (isBroken)
    return failure();
  return kernel;
}
