//===- VerifyPlan.cpp - The contract of L3 -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reports every violation of the rules that Passes.td numbers, with notes at the
// other side.
//
//===----------------------------------------------------------------------===//

#include "InitialisationCheck.h"

#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Relayout.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <set>

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREVERIFYPLAN
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
namespace planning = ::spyre::planning;
namespace layout = ::spyre::layout;

namespace {
class PlanVerifier {
public:
  PlanVerifier(func::FuncOp func, PlanningModel &model)
      : func(func), model(model), device(*model.getDevice()) {}

  bool run() {
    int64_t numPositions = 0;
    lives = computeLives(func, numPositions);
    func.walk([&](AllocOp alloc) { checkPlacement(alloc); });
    checkOverlaps();
    func.walk([&](DeviceOpInterface op) { checkOp(op); });
    if (ok) {
      checkLX();
      func.walk([&](DeviceOpInterface op) { checkRace(op); });
      for (const UninitialisedRead &read : findUninitialisedReads(func, lives, plannedOps)) {
        InFlightDiagnostic diag = report(read.access.op, "L3-8") << "input #" << read.access.operand
                                                                 << " is read before it is written";
        if (Operation *def = read.buffer.getDefiningOp())
          diag.attachNote(def->getLoc()) << "allocated here";
      }
    }
    return ok;
  }

private:
  InFlightDiagnostic report(Operation *op, StringRef rule) {
    ok = false;
    // Not Operation::emitError(), which may print all of a function.
    return emitError(op->getLoc()) << rule << ": ";
  }

  void checkPlacement(AllocOp alloc) {
    if (lives.lookup(alloc.getBuffer()).accesses.empty())
      return;
    PlacementAttr placement = alloc.getPlacementAttr();
    if (!placement) {
      report(alloc, "L3-1") << "the buffer has no place";
      return;
    }
    if (placement.getKind() != PlacementKind::LX)
      return;
    int64_t end = placement.getAddressInBytes() + getSizeInMemory(alloc);
    if (end > device.getUsableLXInBytes())
      report(alloc, "L3-1") << "the buffer ends at byte " << end << " of LX, which has "
                            << device.getUsableLXInBytes() << " usable bytes a core";
    if (!alloc.getDistributionAttr())
      report(alloc, "L3-6") << "an LX buffer must say which core holds what ('holding<...>')";
  }

  /// True if \p later takes over the memory of \p earlier in one in-place operation.
  bool isInPlace(AllocOp earlier, const BufferLife &dead, AllocOp later, const BufferLife &born) {
    if (dead.last != born.first || earlier.getPlacementAttr() != later.getPlacementAttr() ||
        getSizeInMemory(later) > getSizeInMemory(earlier))
      return false;
    DeviceOpInterface op = born.accesses.front().op;
    // In the next iteration of a loop that both outlive, the earlier one is read again.
    for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
         loop = loop->getParentOfType<scf::ForOp>())
      if (!loop->isProperAncestor(earlier) || !loop->isProperAncestor(later))
        return false;
    for (auto [i, input] : llvm::enumerate(op.getInputs()))
      if (getRootBuffer(input) == earlier.getBuffer() && !canBeInPlace(op, i))
        return false;
    return true;
  }

  void checkOverlaps() {
    SmallVector<AllocOp> placed;
    for (auto &[buffer, life] : lives)
      if (auto alloc = buffer.getDefiningOp<AllocOp>())
        if (alloc.getPlacementAttr() && !life.accesses.empty())
          placed.push_back(alloc);
    for (auto [i, a] : llvm::enumerate(placed)) {
      const BufferLife &lifeA = lives[a.getBuffer()];
      int64_t beginA = a.getPlacementAttr().getAddressInBytes(), endA = beginA + getSizeInMemory(a);
      for (AllocOp b : llvm::drop_begin(placed, i + 1)) {
        if (a.getPlacementAttr().getKind() != b.getPlacementAttr().getKind())
          continue;
        const BufferLife &lifeB = lives[b.getBuffer()];
        if (lifeA.last < lifeB.first || lifeB.last < lifeA.first)
          continue;
        int64_t beginB = b.getPlacementAttr().getAddressInBytes(),
                endB = beginB + getSizeInMemory(b);
        if (endA <= beginB || endB <= beginA)
          continue;
        if (isInPlace(a, lifeA, b, lifeB) || isInPlace(b, lifeB, a, lifeA))
          continue;
        InFlightDiagnostic diag = report(b, "L3-2")
                                  << "bytes " << beginB << ".." << endB
                                  << " overlap a buffer that lives at the same time";
        diag.attachNote(a.getLoc()) << "bytes " << beginA << ".." << endA << " are taken here";
      }
    }
  }

  void checkOp(DeviceOpInterface op) {
    StickAccess sticks = checkSticks(op);
    if (sticks.kind == StickAccess::Unreadable)
      report(op, "L2-1") << sticks.reason;
    const PlannedOp *planned = plannedOps[op] = model.get(op);
    if (!planned) {
      ok = false;
      return;
    }
    const planning::DivisionProblem &problem = planned->problem;
    const planning::Splits &splits = planned->splits;
    int64_t cores = planning::getNumCores(splits);
    if (cores > device.getNumCores())
      report(op, "L3-3") << "takes " << cores << " cores; the device has " << device.getNumCores();
    if (isRelayout(op))
      for (unsigned i = 0; i <= op.getInputs().size(); ++i) {
        Value value = i < op.getInputs().size() ? op.getInputs()[i] : op.getDestination();
        if (auto type = dyn_cast<BufferType>(value.getType());
            type && type.getSpace() != MemorySpace::LX)
          report(op, "L3-10") << "operand #" << i
                              << " is not in LX; a relayout goes from scratchpad to scratchpad";
      }
    int64_t reduced = 0;
    for (auto [d, dim] : llvm::enumerate(problem.dims)) {
      if (splits[d] == 1)
        continue;
      if (planning::getNumUnits(dim) % splits[d])
        report(op, "L3-4") << "d" << d << " has " << planning::getNumUnits(dim)
                           << (dim.elementsPerStick > 1 ? " sticks" : " elements") << ", which "
                           << splits[d] << " work slices do not divide";
      reduced += dim.isReduced;
    }
    if (reduced > 1)
      report(op, "L3-5") << "cuts " << reduced << " reduced dims; cores can combine one";
    for (auto [i, operand] : llvm::enumerate(problem.operands)) {
      int64_t span =
          operand.isInDeviceMemory ? planning::getSpanInBytes(problem, operand, splits) : 0;
      if (span > device.getSpanLimitInBytes())
        report(op, "L3-7") << "operand #" << i << " spans " << span
                           << " bytes on one core; a core reaches " << device.getSpanLimitInBytes();
    }
  }

  /// Cores run at their own pace: what one writes no other may read in the same operation, and
  /// no core what it has overwritten.
  void checkRace(DeviceOpInterface op) {
    const PlannedOp *planned = plannedOps.lookup(op);
    Value written = getRootBuffer(op.getDestination());
    if (!planned || !planned->spread || llvm::is_contained(op.getExtents(), 0))
      return;
    const layout::Access &write = planned->accesses.back();
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      const layout::Access &read = planned->accesses[i];
      // Elements of two widths (reinterpret) have no coordinates in common.
      if (getRootBuffer(input) != written || input != op.getDestination() || read == write)
        continue;
      // Where loops move both alike, they are as far from each other at the first iteration as
      // ever; else all that they meet counts.
      auto getSteps = [](const layout::Access &access) {
        std::vector<std::vector<layout::Digit>> steps;
        for (const layout::IndexExpr &expr : access.map.results) {
          steps.emplace_back(expr.digits);
          llvm::erase_if(steps.back(), [&](const layout::Digit &digit) {
            return access.getAxis(digit.input) == layout::Axis::Point;
          });
        }
        return steps;
      };
      bool moveTogether = getSteps(read) == getSteps(write);
      auto getRegion = [&](const layout::Access &access, int64_t core) {
        std::vector<int64_t> start(access.getNumTimes(), 0);
        return moveTogether ? access.getRegion(*planned->spread, core, start)
                            : access.getRegion(*planned->spread, core);
      };
      std::vector<layout::Region> reads, writes;
      for (int64_t core = 0; core < planned->spread->numCores; ++core) {
        reads.push_back(*getRegion(read, core));
        writes.push_back(*getRegion(write, core));
      }
      for (auto [core, region] : llvm::enumerate(reads))
        for (auto [other, target] : llvm::enumerate(writes))
          if (!region.isEmpty() && !target.isEmpty() && region.intersects(target)) {
            report(op, "L3-9") << "core " << core << " reads in input #" << i << " what core "
                               << other << " overwrites, in no order";
            return;
          }
    }
  }

  /// True if \p region is what a core holds, \p own, or some of the dims that are not sliced by
  /// \p held, the same in every core, as in the \p first one.
  static bool isOwn(const layout::Region &region, const layout::Region &own,
                    const layout::Spread &held, const layout::Region &first) {
    if (region == own || (region.isEmpty() && own.isEmpty()))
      return true;
    for (size_t dim = 0; dim < held.dims.size(); ++dim) {
      if (region.begin[dim] == own.begin[dim] && region.end[dim] == own.end[dim])
        continue;
      if (held.dims[dim].numSlices > 1 || region.begin[dim] < own.begin[dim] ||
          region.end[dim] > own.end[dim] || region.begin[dim] != first.begin[dim] ||
          region.end[dim] != first.end[dim])
        return false;
    }
    return true;
  }

  /// The first mistake of \p access of a buffer that cores hold as \p held says; empty: none.
  std::string findMistake(const BufferAccess &access, const layout::Spread &held) {
    if (isRestickify(access.op) && !access.isWrite && !device.getRestickifyReadsLX())
      return "a restickify reads device memory on this device";
    const PlannedOp *planned = plannedOps.lookup(access.op);
    const layout::Access &touched = planned->accesses[access.operand];
    if (touched.isMoving())
      return "a loop moves over an LX buffer, whose addresses are the same in every iteration; "
             "allocate a tile inside the loop";
    if (!touched.areSlicesDense(*planned->spread))
      return "cores touch every so many elements of an LX buffer, of which each holds a box";
    // A core's part of a sliced dim lies where that of so many slices of the whole does.
    const layout::Region all = touched.getRegion();
    for (auto [dim, sliced] : llvm::enumerate(held.dims))
      if (sliced.numSlices > 1 && (all.begin[dim] != 0 || all.end[dim] != sliced.extent))
        return "the cores share dim " + std::to_string(dim) +
               " of an LX buffer, of which a part is touched";
    if (!access.isWrite && isRelayout(access.op))
      return findMissing(touched, *planned->spread, held);
    const layout::Region first = *touched.getRegion(*planned->spread, 0);
    for (int64_t core = 0; core < planned->spread->numCores; ++core) {
      std::optional<layout::Region> region = touched.getRegion(*planned->spread, core);
      if (core >= held.numCores)
        return "core " + std::to_string(core) + " touches an LX buffer that only " +
               std::to_string(held.numCores) + " cores hold";
      std::optional<layout::Region> own = held.getPoints(core);
      if (!isOwn(*region, *own, held, first))
        return "core " + std::to_string(core) + (access.isWrite ? " writes" : " reads") +
               " another part of the LX buffer than it holds";
    }
    return "";
  }

  /// What no core holds of what cores take by a relayout; empty: nothing.
  static std::string findMissing(const layout::Access &touched, const layout::Spread &spread,
                                 const layout::Spread &held) {
    layout::RegionSet there;
    for (int64_t core = 0; core < held.numCores; ++core)
      there.add(*held.getPoints(core));
    for (int64_t core = 0; core < spread.numCores; ++core)
      if (!there.contains(*touched.getRegion(spread, core)))
        return "core " + std::to_string(core) + " takes a part of the LX buffer that no core holds";
    return "";
  }

  void checkLX() {
    for (auto &[buffer, life] : lives) {
      auto alloc = buffer.getDefiningOp<AllocOp>();
      if (!alloc || !alloc.getDistributionAttr())
        continue;
      layout::Spread held = getHeld(alloc);
      // Most operations of a program touch their buffers alike.
      std::set<std::pair<const PlannedOp *, unsigned>> fitting;
      for (const BufferAccess &access : life.accesses) {
        std::pair<const PlannedOp *, unsigned> key{plannedOps.lookup(access.op), access.operand};
        if (fitting.count(key))
          continue;
        std::string mistake = findMistake(access, held);
        if (mistake.empty()) {
          fitting.insert(key);
          continue;
        }
        InFlightDiagnostic diag = report(access.op, "L3-6") << mistake;
        diag.attachNote(alloc.getLoc()) << "allocated here";
      }
    }
  }

  func::FuncOp func;
  PlanningModel &model;
  PlannedOps plannedOps; ///< all operations, once checkOp has seen them
  const ::spyre::Device &device;
  llvm::MapVector<Value, BufferLife> lives;
  bool ok = true;
};

struct VerifyPlanPass : mlir::spyre::impl::SpyreVerifyPlanBase<VerifyPlanPass> {
  void runOnOperation() override {
    PlanningModel &model = getAnalysis<PlanningModel>();
    if (failed(model.getDevice()) || !PlanVerifier(getOperation(), model).run())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
