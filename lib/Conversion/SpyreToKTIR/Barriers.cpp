//===- Barriers.cpp - Dependences between compute tiles -------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bundle's descriptors run one after another on all cores. A KTIR kernel is one
// function that every compute tile runs on its own; nothing but an inter-tile
// operation makes one wait for another. So a core may only touch what no other core
// touched since the last barrier, reads of the same data apart. What cannot be proved
// to be apart gets a barrier: it costs little, and a kernel without it may be wrong.
//
// Two accesses to one buffer are apart if the boxes of logical coordinates are that
// different cores touch, in whole sticks and in any iterations of loops; accesses to
// different buffers if the buffers are. Scratchpads are apart, but for what a core reads
// of another one's.
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"

#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"
#include "spyre/Layout/TensorLayout.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::ktir;
namespace layout = ::spyre::layout;

/// More boxes are not compared one by one: iterations of loops are taken together.
static constexpr int64_t kMaxBoxes = 512;

namespace {
struct Touch {
  unsigned operation, operand;
};

class BarrierFinder {
public:
  BarrierFinder(Kernel &kernel, PlanningModel &model) : kernel(kernel), model(model) {}

  /// Goes through \p steps with what has been touched since the last barrier.
  void visit(ArrayRef<KernelStep> steps, std::vector<Touch> &recent);

private:
  const KernelOp &getOp(const Touch &touch) { return kernel.operations[touch.operation]; }
  const KernelOperand &getOperand(const Touch &touch) {
    return getOp(touch).operands[touch.operand];
  }
  bool isWrite(const Touch &touch) { return touch.operand + 1 == getOp(touch).operands.size(); }
  /// What each core touches in some iteration, in logical coordinates.
  struct Box {
    int64_t core;
    layout::Region region;
  };
  const std::vector<Box> &getBoxes(const Touch &touch);
  bool mayOverlap(const Touch &a, const Touch &b);

  Kernel &kernel;
  PlanningModel &model;
  std::map<std::pair<unsigned, unsigned>, std::vector<Box>> boxes;
};
} // namespace

const std::vector<BarrierFinder::Box> &BarrierFinder::getBoxes(const Touch &touch) {
  std::vector<Box> &found = boxes[{touch.operation, touch.operand}];
  if (!found.empty())
    return found;
  const KernelOp &op = getOp(touch);
  const PlannedOp &planned = model.describe(op.op);
  const layout::Access &access = planned.accesses[getOperand(touch).number];
  layout::TensorLayout tensor =
      cast<BufferType>(getOperand(touch).buffer.getType()).getTensorLayout();
  auto add = [&](int64_t core, std::optional<layout::Region> region) {
    if (!region)
      return;
    for (size_t d = 0; d < region->begin.size(); ++d) {
      int64_t inside = layout::getElementsInStick(tensor, static_cast<int>(d));
      region->begin[d] = region->begin[d] / inside * inside;
      region->end[d] = llvm::divideCeil(region->end[d], inside) * inside;
    }
    found.push_back({core, std::move(*region)});
  };
  std::vector<int64_t> trips = access.getTripCounts(), time(trips.size(), 0);
  int64_t iterations = access.isMoving() ? 1 : 0;
  for (int64_t trip : trips)
    iterations = iterations * trip > kMaxBoxes ? kMaxBoxes + 1 : iterations * trip;
  bool isApart = iterations > 0 && iterations * op.numSlices <= kMaxBoxes;
  for (int64_t core = 0; core < op.numSlices; ++core) {
    if (!isApart) {
      add(core, access.getRegion(*planned.spread, core));
      continue;
    }
    size_t k = 0;
    do {
      add(core, access.getRegion(*planned.spread, core, time));
      for (k = time.size(); k > 0 && ++time[k - 1] == trips[k - 1]; --k)
        time[k - 1] = 0;
    } while (k > 0);
  }
  return found;
}

/// True if a core may touch at \p b what another one touches at \p a.
bool BarrierFinder::mayOverlap(const Touch &a, const Touch &b) {
  const KernelOperand &x = getOperand(a), &y = getOperand(b);
  if (x.base.kind != y.base.kind || x.base.argument != y.base.argument ||
      (x.isLX() && !x.isRemote() && !y.isRemote()) ||
      (getOp(a).numSlices == 1 && getOp(b).numSlices == 1))
    return false;
  if (x.buffer != y.buffer || x.isLX()) {
    auto getEnd = [](const KernelOperand &operand) {
      auto alloc = operand.buffer.getDefiningOp<AllocOp>();
      return operand.base.offsetInBytes +
             (alloc ? getSizeInMemory(alloc)
                    : layout::getSizeInBytes(
                          cast<BufferType>(operand.buffer.getType()).getTensorLayout()));
    };
    return x.base.offsetInBytes < getEnd(y) && y.base.offsetInBytes < getEnd(x);
  }
  const std::vector<Box> &first = getBoxes(a), &second = getBoxes(b);
  for (const Box &one : first)
    for (const Box &other : second)
      if (one.core != other.core && one.region.intersects(other.region))
        return true;
  return false;
}

void BarrierFinder::visit(ArrayRef<KernelStep> steps, std::vector<Touch> &recent) {
  for (const KernelStep &step : steps) {
    if (!step.operation) {
      // Twice: an iteration comes after another one.
      visit(step.body, recent);
      visit(step.body, recent);
      continue;
    }
    KernelOp &op = kernel.operations[*step.operation];
    std::vector<Touch> touches;
    for (unsigned i = 0; i < op.operands.size(); ++i)
      touches.push_back({*step.operation, i});
    for (const Touch &now : touches)
      for (const Touch &before : recent)
        op.needsBarrier =
            op.needsBarrier || ((isWrite(before) || isWrite(now)) && mayOverlap(before, now));
    if (op.needsBarrier)
      recent.clear();
    recent.insert(recent.end(), touches.begin(), touches.end());
  }
}

void ktir::findBarriers(Kernel &kernel, PlanningModel &model) {
  if (kernel.numTiles < 2)
    return;
  std::vector<Touch> recent;
  BarrierFinder(kernel, model).visit(kernel.steps, recent);
}
