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

#include "spyre/Dialect/Spyre/IR/AffineConversion.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningAdapter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <set>
#include <tuple>

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREVERIFYPLAN
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
namespace planning = ::spyre::planning;
namespace layout = ::spyre::layout;

namespace {
/// A box of logical coordinates, begin <= x < end a dim.
struct Box {
  SmallVector<int64_t> begin, end;
  bool isEmpty() const {
    for (auto [b, e] : llvm::zip_equal(begin, end))
      if (b >= e)
        return true;
    return false;
  }
};

/// \p box without \p hole, as boxes.
void subtract(const Box &box, const Box &hole, SmallVectorImpl<Box> &rest) {
  Box core = box;
  for (unsigned d = 0; d < box.begin.size(); ++d) {
    int64_t low = std::max(box.begin[d], hole.begin[d]), high = std::min(box.end[d], hole.end[d]);
    if (low >= high) {
      rest.push_back(box);
      return;
    }
  }
  SmallVector<Box> pieces;
  for (unsigned d = 0; d < box.begin.size(); ++d) {
    if (core.begin[d] < hole.begin[d]) {
      Box piece = core;
      piece.end[d] = hole.begin[d];
      pieces.push_back(piece);
      core.begin[d] = hole.begin[d];
    }
    if (core.end[d] > hole.end[d]) {
      Box piece = core;
      piece.begin[d] = hole.end[d];
      pieces.push_back(piece);
      core.end[d] = hole.end[d];
    }
  }
  rest.append(pieces);
}

class PlanVerifier {
public:
  PlanVerifier(func::FuncOp func, const ::spyre::Device &device) : func(func), device(device) {}

  bool run() {
    int64_t numPositions = 0;
    lives = computeLives(func, numPositions);
    func.walk([&](AllocOp alloc) { checkPlacement(alloc); });
    checkOverlaps();
    func.walk([&](DeviceOpInterface op) { checkOp(op); });
    if (ok) {
      checkLX();
      checkInitialised();
    }
    return ok;
  }

private:
  InFlightDiagnostic report(Operation *op, StringRef rule) {
    ok = false;
    return op->emitError() << rule << ": ";
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
      if (input == earlier.getBuffer() && !canBeInPlace(op, i))
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
    FailureOr<planning::DivisionProblem> problem =
        buildDivisionProblem(op, device, device.getNumCores());
    if (failed(problem)) {
      ok = false;
      return;
    }
    spreads[op] = getDistribution(op, *problem);
    planning::Splits splits(op.getSplits().begin(), op.getSplits().end());
    splits.resize(problem->dims.size(), 1);
    int64_t cores = planning::getNumCores(splits);
    if (cores > device.getNumCores())
      report(op, "L3-3") << "takes " << cores << " cores; the device has " << device.getNumCores();
    int64_t reduced = 0;
    for (auto [d, dim] : llvm::enumerate(problem->dims)) {
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
    for (auto [i, operand] : llvm::enumerate(problem->operands)) {
      int64_t span =
          operand.isInDeviceMemory ? planning::getSpanInBytes(*problem, operand, splits) : 0;
      if (span > device.getSpanLimitInBytes())
        report(op, "L3-7") << "operand #" << i << " spans " << span
                           << " bytes on one core; a core reaches " << device.getSpanLimitInBytes();
    }
  }

  void checkLX() {
    Builder b(func.getContext());
    for (auto &[buffer, life] : lives) {
      auto alloc = buffer.getDefiningOp<AllocOp>();
      if (!alloc || !alloc.getDistributionAttr())
        continue;
      DistributionAttr held = alloc.getDistributionAttr();
      ArrayRef<int64_t> shape = alloc.getType().getShape();
      int64_t stickDim = getStickDim(alloc.getType().getLayout());
      int64_t elements = ::spyre::getElementsPerStick(alloc.getType().getLayout().getFormat());
      for (const BufferAccess &access : life.accesses) {
        DeviceOpInterface op = access.op;
        AffineMap accessed = op.getMap(access.operand);
        bool moves = false;
        for (unsigned symbol = 0; symbol < accessed.getNumSymbols(); ++symbol)
          moves |= accessed.isFunctionOfSymbol(symbol);
        if (moves) {
          InFlightDiagnostic diag =
              report(op, "L3-6")
              << "a loop moves over an LX buffer, whose addresses are the same in "
                 "every iteration; allocate a tile inside the loop";
          diag.attachNote(alloc.getLoc()) << "allocated here";
          continue;
        }
        const planning::Distribution &spread = spreads.find(op)->second;
        // Most operations of a program touch their buffers alike.
        std::vector<int64_t> sizes(spread.splits);
        for (const planning::DivisionDim &dim : spread.dims)
          sizes.insert(sizes.end(), {dim.extent, dim.elementsPerStick});
        auto key =
            std::make_tuple(held.getAsOpaquePointer(), alloc.getType().getAsOpaquePointer(),
                            AffineMapAttr::get(op.getMap(access.operand)).getAsOpaquePointer(),
                            std::move(sizes), spread.kFast);
        if (fitting.count(key))
          continue;
        FailureOr<layout::IndexMap> map = getAccess(op, access.operand);
        if (failed(map)) {
          ok = false;
          continue;
        }
        bool allFit = true;
        for (int64_t core = 0; core < device.getNumCores(); ++core) {
          std::optional<planning::Region> region = planning::regionOfCore(spread, *map, core);
          if (!region)
            continue;
          if (core >= held.getCores()) {
            InFlightDiagnostic diag = report(access.op, "L3-6")
                                      << "core " << core << " touches an LX buffer that only "
                                      << held.getCores() << " cores hold";
            diag.attachNote(alloc.getLoc()) << "allocated here";
            allFit = false;
            break;
          }
          SmallVector<Attribute> slices;
          (void)held.getMap().constantFold({b.getIndexAttr(core)}, slices);
          bool fits = true;
          for (auto [dim, slice] : llvm::enumerate(slices)) {
            bool inStick = static_cast<int64_t>(dim) == stickDim;
            int64_t units = inStick ? llvm::divideCeil(shape[dim], elements) : shape[dim];
            int64_t size =
                llvm::divideCeil(units, held.getSlices()[dim]) * (inStick ? elements : 1);
            int64_t begin = cast<IntegerAttr>(slice).getInt() * size;
            fits &= region->begin[dim] == begin &&
                    region->end[dim] == std::min(begin + size, shape[dim]);
          }
          if (!fits) {
            InFlightDiagnostic diag = report(access.op, "L3-6")
                                      << "core " << core << (access.isWrite ? " writes" : " reads")
                                      << " another part of the LX buffer than it holds";
            diag.attachNote(alloc.getLoc()) << "allocated here";
            allFit = false;
            break;
          }
        }
        if (allFit && op.getLoopVariables().empty())
          fitting.insert(std::move(key));
      }
    }
  }

  /// What all cores and iterations of \p access touch.
  std::optional<Box> getTouched(BufferAccess access) {
    std::optional<SmallVector<int64_t>> trips = getTripCounts(access.op);
    if (!trips)
      return std::nullopt;
    SmallVector<int64_t> ranges(access.op.getExtents());
    ranges.append(*trips);
    FailureOr<layout::IndexMap> map = toIndexMap(access.op.getMap(access.operand), ranges);
    if (failed(map) || llvm::is_contained(ranges, 0))
      return std::nullopt;
    Box box;
    for (const layout::Interval &interval : layout::getRegion(*map)) {
      box.begin.push_back(interval.min);
      box.end.push_back(interval.max + 1);
    }
    // The device writes whole sticks.
    Value buffer = access.op.getDestination();
    if (int64_t stick = access.isWrite ? getStickDim(getLayout(buffer)) : -1; stick >= 0) {
      int64_t whole = llvm::alignTo(box.end[stick],
                                    ::spyre::getElementsPerStick(getLayout(buffer).getFormat()));
      box.end[stick] = std::max(box.end[stick], std::min(whole, getShape(buffer)[stick]));
    }
    return box;
  }

  void checkInitialised() {
    for (auto &[buffer, life] : lives) {
      // Coordinates of elements of two widths cannot be compared.
      if (llvm::any_of(buffer.getUsers(), llvm::IsaPred<ReinterpretOp>))
        continue;
      if (isa<BlockArgument>(buffer)) {
        auto role = func.getArgAttrOfType<StringAttr>(cast<BlockArgument>(buffer).getArgNumber(),
                                                      kRoleAttr);
        if (!role || role.getValue() != "output")
          continue;
      }
      SmallVector<Box> written;
      for (const BufferAccess &access : life.accesses) {
        std::optional<Box> box = getTouched(access);
        if (!box)
          continue;
        if (access.isWrite) {
          written.push_back(*box);
          continue;
        }
        SmallVector<Box> missing{*box};
        for (const Box &part : written) {
          SmallVector<Box> rest;
          for (const Box &piece : missing)
            subtract(piece, part, rest);
          missing = std::move(rest);
        }
        llvm::erase_if(missing, [](const Box &piece) { return piece.isEmpty(); });
        if (missing.empty())
          continue;
        InFlightDiagnostic diag = report(access.op, "L3-8")
                                  << "input #" << access.operand << " is read before it is written";
        if (Operation *def = buffer.getDefiningOp())
          diag.attachNote(def->getLoc()) << "allocated here";
        break;
      }
    }
  }

  func::FuncOp func;
  const ::spyre::Device &device;
  llvm::MapVector<Value, BufferLife> lives;
  DenseMap<Operation *, planning::Distribution> spreads; ///< of every device operation
  /// What has been found to fit: how a buffer is held, its type, the access map, extents
  /// and splits.
  std::set<std::tuple<const void *, const void *, const void *, std::vector<int64_t>, bool>>
      fitting;
  bool ok = true;
};

struct VerifyPlanPass : mlir::spyre::impl::SpyreVerifyPlanBase<VerifyPlanPass> {
  void runOnOperation() override {
    FailureOr<::spyre::Device> device = getDevice(getOperation());
    if (failed(device) || !PlanVerifier(getOperation(), *device).run())
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
