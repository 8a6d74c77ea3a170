//===- CheckMemory.cpp - Rules KTIR-7 to KTIR-9 -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts of distributed views, addresses of views, and what a compute tile holds in its
// LX at once: views of it while they are used, and the tensors that are read, received
// or made anew, each until its last use.
//
//===----------------------------------------------------------------------===//

#include "Legality.h"
#include "Ranges.h"

#include "spyre/Device/Device.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ktdp;

std::optional<int64_t> mlir::ktdp::getElementBytes(Type type) {
  if (type.isIndex())
    return 8;
  if (!type.isIntOrFloat())
    return std::nullopt;
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

std::optional<BaseAddress> mlir::ktdp::getBaseAddress(Value offset, const Ranges &ranges) {
  BaseAddress base{nullptr, 0};
  // A few steps are enough for what kernels write, and keep long chains from being walked
  // again for every view.
  for (int step = 0; step < 16; ++step) {
    if (std::optional<int64_t> number = ranges.getPoint(offset)) {
      if (llvm::AddOverflow(base.number, *number, base.number))
        return std::nullopt;
      return base;
    }
    if (auto argument = dyn_cast<BlockArgument>(offset)) {
      if (!isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
        return std::nullopt;
      base.value = offset;
      return base;
    }
    if (auto extract = offset.getDefiningOp<RuntimeArgExtractOp>()) {
      base.value = extract.getArgument();
      return isa<BlockArgument>(base.value) ? std::optional(base) : std::nullopt;
    }
    auto sum = offset.getDefiningOp<arith::AddIOp>();
    if (!sum)
      return std::nullopt;
    bool isLeft = ranges.getPoint(sum.getLhs()).has_value();
    std::optional<int64_t> number = ranges.getPoint(isLeft ? sum.getLhs() : sum.getRhs());
    if (!number || llvm::AddOverflow(base.number, *number, base.number))
      return std::nullopt;
    offset = isLeft ? sum.getRhs() : sum.getLhs();
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// KTIR-7, KTIR-8
//===----------------------------------------------------------------------===//

/// The box that a part has in global coordinates, if it is known.
static std::optional<SmallVector<Interval>> getPartBox(Value part) {
  auto view = part.getDefiningOp<ConstructMemoryViewOp>();
  if (!view)
    return std::nullopt;
  SmallVector<Interval> box;
  for (DimBounds dim : getBounds(view.getOwnedSet())) {
    std::optional<int64_t> extent = dim.getExtent();
    if (!extent || *extent <= 0)
      return std::nullopt;
    box.push_back({*dim.lower, *dim.upper});
  }
  return box;
}

static bool ownsBox(Value part) {
  return isBox(part.getDefiningOp<ConstructMemoryViewOp>().getOwnedSet());
}

static bool meet(ArrayRef<Interval> a, ArrayRef<Interval> b) {
  for (auto [x, y] : llvm::zip_equal(a, b))
    if (x.high < y.low || y.high < x.low)
      return false;
  return true;
}

static void checkParts(ConstructDistributedMemoryViewOp op, LegalityReport &report) {
  // Pairs are compared; nobody has more parts than tiles.
  if (op.getParts().size() > static_cast<size_t>(kMaxTiles)) {
    if (auto diag = report.at(op, "KTIR-7"))
      *diag << "has more than " << kMaxTiles << " parts";
    return;
  }
  auto type = cast<MemRefType>(op.getResult().getType());
  SmallVector<SmallVector<Interval>> boxes;
  bool allKnown = true;
  for (auto [i, part] : llvm::enumerate(op.getParts())) {
    std::optional<SmallVector<Interval>> box = getPartBox(part);
    if (!box) {
      allKnown = false;
      continue;
    }
    for (auto [k, other] : llvm::enumerate(boxes))
      if (allKnown && meet(*box, other) && ownsBox(part) && ownsBox(op.getParts()[k])) {
        if (auto diag = report.at(op, "KTIR-7")) {
          *diag << "parts " << k << " and " << i << " own coordinates in common";
          diag->attachNote(op.getParts()[k].getLoc()) << "one is made here";
          diag->attachNote(part.getLoc()) << "the other is made here";
        }
        return;
      }
    auto sizes = cast<MemRefType>(part.getType());
    for (auto [dim, range] : llvm::enumerate(*box)) {
      if (range.low < 0)
        if (auto diag = report.at(op, "KTIR-7"))
          *diag << "part " << i << " owns place " << range.low << " of dim " << dim;
      if (!sizes.isDynamicDim(dim) && range.high - range.low >= sizes.getDimSize(dim))
        if (auto diag = report.at(op, "KTIR-7"))
          *diag << "part " << i << " owns " << range.high - range.low + 1 << " places of dim "
                << dim << ", its view has " << sizes.getDimSize(dim);
    }
    boxes.push_back(std::move(*box));
  }
  if (!allKnown)
    return;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t extent = 0;
    for (ArrayRef<Interval> box : boxes)
      extent = std::max(extent, box[dim].high + 1);
    if (!type.isDynamicDim(dim) && type.getDimSize(dim) != extent)
      if (auto diag = report.at(op, "KTIR-7"))
        *diag << "the parts span " << extent << " places along dim " << dim << ", the view has "
              << type.getDimSize(dim);
  }
}

/// The elements from a view's first to its last place; nothing where it is unknown.
static std::optional<int64_t> getSpan(ConstructMemoryViewOp view) {
  int64_t span = 1;
  for (auto [size, stride] : llvm::zip_equal(view.getStaticSizes(), view.getStaticStrides())) {
    int64_t distance;
    if (size == 0)
      return 0;
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(stride) ||
        llvm::MulOverflow(size - 1, stride, distance) || llvm::AddOverflow(span, distance, span))
      return std::nullopt;
  }
  return span;
}

/// The bytes of a view, if its address is a number.
static std::optional<Interval> getBytes(const Kernel &kernel, ConstructMemoryViewOp view,
                                        const Ranges &ranges) {
  std::optional<int64_t> address = ranges.getPoint(view.getOffset());
  std::optional<int64_t> bytes = getElementBytes(view.getType().getElementType());
  std::optional<int64_t> span = getSpan(view);
  int64_t first, length, last;
  if (!address || !bytes || !span || *span == 0 ||
      llvm::MulOverflow(*address, kernel.addressesAreBytes ? 1 : *bytes, first) ||
      llvm::MulOverflow(*span, *bytes, length) || llvm::AddOverflow(first, length - 1, last))
    return std::nullopt;
  return Interval{first, last};
}

static void checkAddress(const Kernel &kernel, ConstructMemoryViewOp view, const Ranges &ranges,
                         LegalityReport &report) {
  std::optional<int64_t> address = ranges.getPoint(view.getOffset());
  if (!address)
    return;
  if (*address < 0)
    if (auto diag = report.at(view, "KTIR-8"))
      *diag << "the address is " << *address;
  std::optional<int64_t> bytes = getElementBytes(view.getType().getElementType());
  if (kernel.addressesAreBytes && bytes && *address % *bytes)
    if (auto diag = report.at(view, "KTIR-8"))
      *diag << "the address " << *address << " is no multiple of the " << *bytes
            << " bytes of an element";
  if (view.getMemorySpace().getKind() != MemorySpaceKind::CtLocal)
    return;
  std::optional<Interval> range = getBytes(kernel, view, ranges);
  if (range && range->high >= kernel.device.getLXInBytes())
    if (auto diag = report.at(view, "KTIR-8"))
      *diag << "the view ends at byte " << range->high + 1 << " of an LX of "
            << kernel.device.getLXInBytes();
}

//===----------------------------------------------------------------------===//
// KTIR-9
//===----------------------------------------------------------------------===//

namespace {
/// Finds the most bytes that a tile holds, on a line of all operations: each has a place
/// where it begins and, behind all that is in it, one where it ends.
class Occupancy {
public:
  Occupancy(const Kernel &kernel, const Ranges &ranges) : kernel(kernel), ranges(ranges) {
    number(kernel.function->getRegion(0));
    for (Operation *op : order)
      for (Value result : op->getResults())
        addTensor(result);
    for (Operation *op : order)
      if (auto view = dyn_cast<ConstructMemoryViewOp>(op))
        addView(view);
  }

  /// The largest sum, and the operation at which it is reached.
  std::pair<int64_t, Operation *> getPeak() {
    llvm::sort(events, [](const Event &a, const Event &b) {
      return std::tie(a.place, a.bytes) < std::tie(b.place, b.bytes);
    });
    int64_t now = 0;
    std::pair<int64_t, Operation *> peak = {0, nullptr};
    for (const Event &event : events)
      if (llvm::AddOverflow(now, event.bytes, now))
        return {std::numeric_limits<int64_t>::max(), event.op};
      else if (now > peak.first)
        peak = {now, event.op};
    return peak;
  }

private:
  struct Event {
    int64_t place, bytes;
    Operation *op;
  };
  struct Life {
    int64_t begin, end;
  };

  void number(Region &region) {
    for (Operation &op : region.getOps()) {
      order.push_back(&op);
      places[&op].begin = next++;
      for (Region &inner : op.getRegions())
        number(inner);
      places[&op].end = next++;
    }
  }

  /// The place behind the last use of \p values, as seen from the block of \p op: a use in
  /// a loop counts until the loop ends.
  int64_t getEnd(Operation *op, ArrayRef<Value> values) {
    int64_t end = places[op].end;
    for (Value value : values)
      for (Operation *user : value.getUsers())
        if (Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user))
          end = std::max(end, places[ancestor].end);
    return end;
  }

  /// Values that are the same memory: results of operations that write into what they were
  /// given, or only see it in another shape.
  SmallVector<Value> getAliases(Value root) {
    SmallVector<Value> aliases = {root};
    llvm::SmallDenseSet<Value> seen = {root};
    for (size_t i = 0; i < aliases.size() && i < 64; ++i)
      for (OpOperand &use : aliases[i].getUses()) {
        Operation *user = use.getOwner();
        Value alias;
        if (auto destination = dyn_cast<DestinationStyleOpInterface>(user)) {
          if (destination.isDpsInit(&use))
            alias = destination.getTiedOpResult(&use);
        } else if (auto loop = dyn_cast<LoopLikeOpInterface>(user)) {
          alias = loop.getTiedLoopResult(&use);
        } else if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(user)) {
          alias = user->getResult(0);
        }
        if (alias && seen.insert(alias).second)
          aliases.push_back(alias);
      }
    return aliases;
  }

  void add(int64_t begin, int64_t end, int64_t bytes, Operation *op) {
    events.push_back({begin, bytes, op});
    events.push_back({end, -bytes, op});
  }

  void addTensor(Value value) {
    Operation *op = value.getDefiningOp();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() || !isa<LoadOp, DeliveryOpInterface, tensor::EmptyOp>(op))
      return;
    std::optional<int64_t> bytes = getElementBytes(type.getElementType());
    int64_t total = bytes.value_or(0);
    for (int64_t size : type.getShape())
      if (llvm::MulOverflow(total, size, total))
        return;
    add(places[op].begin, getEnd(op, getAliases(value)), total, op);
  }

  /// What a view shares with an earlier one is counted once, so long as the earlier lasts.
  void addView(ConstructMemoryViewOp view) {
    if (view.getMemorySpace().getKind() != MemorySpaceKind::CtLocal ||
        view.getMemorySpace().getCtId() >= 0)
      return;
    std::optional<Interval> bytes = getBytes(kernel, view, ranges);
    if (!bytes || views.size() > 256)
      return;
    SmallVector<Value> values = {view.getResult()};
    for (size_t i = 0; i < values.size() && i < 64; ++i)
      for (Operation *user : values[i].getUsers())
        if (isa<ConstructAccessTileOp, ConstructIndirectAccessTileOp,
                ConstructDistributedMemoryViewOp>(user))
          values.push_back(user->getResult(0));
    int64_t begin = places[view].begin, end = getEnd(view, values);
    int64_t covered = 0;
    for (auto &[other, life] : views)
      if (life.begin <= begin && life.end >= end)
        covered = std::max(covered,
                           std::min(other.high, bytes->high) - std::max(other.low, bytes->low) + 1);
    views.push_back({*bytes, {begin, end}});
    add(begin, end, bytes->high - bytes->low + 1 - std::max<int64_t>(covered, 0), view);
  }

  const Kernel &kernel;
  const Ranges &ranges;
  SmallVector<Operation *> order;
  DenseMap<Operation *, Life> places;
  SmallVector<std::pair<Interval, Life>> views;
  SmallVector<Event> events;
  int64_t next = 0;
};
} // namespace

void mlir::ktdp::checkMemory(const Kernel &kernel, LegalityReport &report) {
  // What is the same on all tiles: constants and sums of them.
  Ranges ranges;
  kernel.function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<arith::ArithDialect>(op->getDialect()))
      ranges.compute(*op);
    else if (auto view = dyn_cast<ConstructMemoryViewOp>(op))
      checkAddress(kernel, view, ranges, report);
    else if (auto parts = dyn_cast<ConstructDistributedMemoryViewOp>(op))
      checkParts(parts, report);
  });
  auto [bytes, op] = Occupancy(kernel, ranges).getPeak();
  if (bytes > kernel.device.getLXInBytes())
    if (auto diag = report.at(op, "KTIR-9"))
      *diag << "here a compute tile holds " << bytes << " bytes of tensors and views; its LX has "
            << kernel.device.getLXInBytes();
}
