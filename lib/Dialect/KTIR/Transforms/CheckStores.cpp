//===- CheckStores.cpp - Rule KTIR-10 -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two compute tiles that store to one place, with nothing between them that orders the
// stores. Only what is certain is reported: whole boxes at known places of views whose
// addresses differ by a known number. Loops are gone through one iteration after another,
// as long as that takes no time worth mentioning.
//
//===----------------------------------------------------------------------===//

#include "KernelWalk.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace mlir::ktdp;

namespace {
/// Operations that all tiles of one kernel may visit, and pairs of stores that may be
/// compared.
constexpr int64_t kMaxVisits = int64_t(1) << 18, kMaxPairs = int64_t(1) << 20;

/// What a store writes: a box of a view.
struct Footprint {
  StoreOp op;
  int64_t tile;
  /// Which deliveries the tile has waited for before it, one after another. Their number
  /// would not do: some are for a part of the tiles.
  size_t phase;
  /// The address in elements, less the value that it begins with.
  int64_t address;
  int64_t elementBytes;
  SmallVector<int64_t> strides;
  SmallVector<Interval> box;
  /// First and last element, and how many.
  int64_t first, last, count;

  bool isDense() const { return last - first + 1 == count; }
};

/// Memory: the LX of a tile or -1 for device memory, and the value that addresses begin
/// with.
using Memory = std::pair<int64_t, void *>;

class StoreWalk : public KernelWalk {
public:
  StoreWalk(const Kernel &kernel, int64_t tile, const llvm::DenseSet<Operation *> &wanted,
            int64_t &visits, std::map<Memory, std::vector<Footprint>> &footprints)
      : KernelWalk(kernel, tile), wanted(wanted), visits(visits), footprints(footprints) {}

private:
  void visit(Operation &op, std::optional<int64_t>) override {
    ++visits;
    if (isa<DeliveryOpInterface>(op))
      phase = llvm::hash_combine(phase, &op);
    else if (auto store = dyn_cast<StoreOp>(op))
      addStore(store);
  }
  bool isWanted(Operation &op) override { return wanted.contains(&op); }
  bool unrolls(int64_t trips) override { return true; }
  bool isDone() override { return visits > kMaxVisits; }

  void addStore(StoreOp store) {
    auto access = store.getTile().getDefiningOp<ConstructAccessTileOp>();
    auto view =
        access ? access.getBase().getDefiningOp<ConstructMemoryViewOp>() : ConstructMemoryViewOp();
    // A set that is no box does not write all of it.
    if (!view || !access.getSymbols().empty() || !view.getStrides().empty() ||
        !isBox(access.getAccessTileSet()))
      return;
    std::optional<BaseAddress> base = getBaseAddress(view.getOffset(), ranges);
    std::optional<int64_t> bytes = getElementBytes(view.getType().getElementType());
    if (!base || !bytes || (kernel.addressesAreBytes && base->number % *bytes))
      return;
    Footprint footprint{store,  tile,
                        phase,  kernel.addressesAreBytes ? base->number / *bytes : base->number,
                        *bytes, SmallVector<int64_t>(view.getStaticStrides()),
                        {},     0,
                        0,      1};
    footprint.first = footprint.last = footprint.address;
    SmallVector<DimBounds> bounds = getBounds(access.getAccessTileSet());
    for (auto [i, subscript] : llvm::enumerate(access.getBaseMap().getResults())) {
      MaybeInterval start = ranges.evaluate(subscript, access.getIndices());
      std::optional<int64_t> extent = bounds[i].getExtent();
      if (!start || !start->isPoint() || !extent || *extent <= 0)
        return;
      MaybeInterval places = add(start, Interval{*bounds[i].lower, *bounds[i].upper});
      int64_t stride = footprint.strides[i], low, high;
      if (!places || llvm::MulOverflow(places->low, stride, low) ||
          llvm::MulOverflow(places->high, stride, high) ||
          llvm::AddOverflow(footprint.first, low, footprint.first) ||
          llvm::AddOverflow(footprint.last, high, footprint.last) ||
          llvm::MulOverflow(footprint.count, *extent, footprint.count))
        return;
      footprint.box.push_back(*places);
    }
    int64_t owner = -1;
    if (view.getMemorySpace().getKind() == MemorySpaceKind::CtLocal)
      owner = view.getMemorySpace().getCtId() >= 0 ? view.getMemorySpace().getCtId() : tile;
    footprints[{owner, base->value.getAsOpaquePointer()}].push_back(std::move(footprint));
  }

  const llvm::DenseSet<Operation *> &wanted;
  int64_t &visits;
  std::map<Memory, std::vector<Footprint>> &footprints;
  size_t phase = 0;
};

/// Values and operations that may differ between tiles: what follows from a tile's number,
/// from what tiles give each other, and from a tile's own LX.
class TileDependence {
public:
  explicit TileDependence(FunctionOpInterface function) {
    // Once more for what loops carry, until nothing is new. Chains of loops are short.
    for (int round = 0; round < 8; ++round) {
      size_t before = values.size();
      visit(function->getRegion(0), false);
      if (values.size() == before)
        return;
    }
    isUnknown = true;
  }

  bool contains(Operation *op) const { return isUnknown || operations.contains(op); }

private:
  void visit(Region &region, bool isInside) {
    for (Operation &op : region.getOps()) {
      bool depends = isInside || isSeed(op) || operations.contains(&op) ||
                     llvm::any_of(op.getOperands(), [&](Value v) { return values.contains(v); });
      for (Region &inner : op.getRegions()) {
        if (depends)
          for (BlockArgument argument : inner.getArguments())
            values.insert(argument);
        visit(inner, depends);
        // What a region yields is the operation's result, or what it begins with next time.
        if (!inner.empty() && inner.front().mightHaveTerminator())
          depends |= llvm::any_of(inner.front().getTerminator()->getOperands(),
                                  [&](Value v) { return values.contains(v); });
      }
      if (!depends)
        continue;
      operations.insert(&op);
      values.insert(op.result_begin(), op.result_end());
    }
  }

  static bool isSeed(Operation &op) {
    auto view = dyn_cast<ConstructMemoryViewOp>(op);
    return isa<GetComputeTileIdOp, InterTileProduceOp, DeliveryOpInterface>(op) ||
           (view && view.getMemorySpace().getKind() == MemorySpaceKind::CtLocal &&
            view.getMemorySpace().getCtId() < 0);
  }

  llvm::DenseSet<Value> values;
  llvm::DenseSet<Operation *> operations;
  bool isUnknown = false;
};

/// True if both write one place for certain.
bool surelyMeet(const Footprint &a, const Footprint &b) {
  if (a.elementBytes != b.elementBytes)
    return false;
  if (a.address == b.address && a.strides == b.strides)
    return llvm::all_of(llvm::zip_equal(a.box, b.box), [](auto pair) {
      auto [x, y] = pair;
      return x.low <= y.high && y.low <= x.high;
    });
  return a.isDense() && b.isDense() && a.first <= b.last && b.first <= a.last;
}
} // namespace

void mlir::ktdp::checkStores(const Kernel &kernel, LegalityReport &report) {
  if (kernel.numTiles == 1)
    return;
  // Regions without stores and deliveries need not be gone through.
  llvm::DenseSet<Operation *> wanted;
  kernel.function->walk([&](Operation *op) {
    if (isa<StoreOp, DeliveryOpInterface>(op))
      for (Operation *parent = op; parent && wanted.insert(parent).second;)
        parent = parent->getParentOp();
  });
  std::map<Memory, std::vector<Footprint>> footprints;
  TileDependence dependence(kernel.function);
  int64_t visits = 0, pairs = 0;
  for (int64_t tile = 0; tile < kernel.numTiles; ++tile)
    StoreWalk(kernel, tile, wanted, visits, footprints).run();
  for (auto &[memory, list] : footprints) {
    llvm::sort(list, [](const Footprint &a, const Footprint &b) {
      return std::tie(a.first, a.tile) < std::tie(b.first, b.tile);
    });
    for (size_t i = 0; i < list.size(); ++i)
      for (size_t k = i + 1; k < list.size() && list[k].first <= list[i].last; ++k) {
        if (++pairs > kMaxPairs)
          return;
        if (list[i].tile == list[k].tile || list[i].phase != list[k].phase ||
            !surelyMeet(list[i], list[k]))
          continue;
        // All tiles store the same numbers: no order is needed.
        if (list[i].op == list[k].op && !dependence.contains(list[i].op))
          continue;
        bool inOrder = list[i].tile < list[k].tile;
        const Footprint &a = list[inOrder ? i : k], &b = list[inOrder ? k : i];
        std::optional<InFlightDiagnostic> diag = report.at(b.op, "KTIR-10");
        if (!diag)
          continue;
        *diag << "compute tiles " << a.tile << " and " << b.tile
              << " store to one place, and nothing orders them";
        if (a.op != b.op)
          diag->attachNote(a.op->getLoc()) << "the other store is here";
      }
  }
}
