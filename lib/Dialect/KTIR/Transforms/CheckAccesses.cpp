//===- CheckAccesses.cpp - Rule KTIR-5 -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every tile of coordinates lies within its view, on every compute tile and in every
// iteration, as far as subscripts are known.
//
//===----------------------------------------------------------------------===//

#include "KernelWalk.h"

using namespace mlir;
using namespace mlir::ktdp;

namespace {
/// Bounds of sets, which all tiles ask for.
using BoundsCache = DenseMap<IntegerSet, SmallVector<DimBounds>>;

class AccessWalk : public KernelWalk {
public:
  AccessWalk(const Kernel &kernel, int64_t tile, LegalityReport &report, RunCounts &counts,
             BoundsCache &bounds)
      : KernelWalk(kernel, tile), report(report), counts(counts), bounds(bounds) {}

private:
  void visit(Operation &op, std::optional<int64_t> runs) override {
    if (isa<InterTileProduceOp, DeliveryOpInterface>(op)) {
      auto &mine = counts[&op];
      mine.resize(kernel.numTiles, 0);
      mine[tile] = runs;
    } else if (auto access = dyn_cast<ConstructAccessTileOp>(op)) {
      checkDirect(access);
    } else if (auto access = dyn_cast<ConstructIndirectAccessTileOp>(op)) {
      checkIndirect(access);
    }
  }

  /// The set with the symbols that are known.
  SmallVector<DimBounds> getSetBounds(IntegerSet set, ValueRange symbols) {
    SmallVector<int64_t> numbers;
    for (Value symbol : symbols) {
      std::optional<int64_t> number = ranges.getPoint(symbol);
      if (!number)
        return findBounds(set);
      numbers.push_back(*number);
    }
    return findBounds(numbers.empty() ? set : bindSymbols(set, numbers));
  }

  SmallVector<DimBounds> findBounds(IntegerSet set) {
    auto [it, isNew] = bounds.try_emplace(set);
    if (isNew)
      it->second = getBounds(set);
    return it->second;
  }

  void checkDirect(ConstructAccessTileOp op) {
    SmallVector<DimBounds> inTile = getSetBounds(op.getAccessTileSet(), op.getSymbols());
    if (llvm::any_of(inTile, [](DimBounds dim) { return dim.getExtent() == 0; }))
      return;
    for (auto [i, subscript] : llvm::enumerate(op.getBaseMap().getResults())) {
      const DimBounds &dim = inTile[i];
      if (dim.getExtent())
        checkDim(
            op, op.getBase(), i,
            add(ranges.evaluate(subscript, op.getIndices()), Interval{*dim.lower, *dim.upper}));
    }
  }

  void checkIndirect(ConstructIndirectAccessTileOp op) {
    SmallVector<MaybeInterval> inputs;
    for (Value value : op.getCaptured())
      inputs.push_back(ranges.get(value));
    for (DimBounds dim : getSetBounds(op.getVariablesSpaceSet(), op.getSymbols())) {
      std::optional<int64_t> extent = dim.getExtent();
      if (extent == 0)
        return;
      inputs.push_back(extent ? MaybeInterval(Interval{*dim.lower, *dim.upper}) : std::nullopt);
    }
    unsigned view = 0;
    for (unsigned i = 0, e = op.getPerDimSubscriptMaps().size(); i < e; ++i) {
      AffineMap map = op.getSubscript(i);
      if (!op.isIndirect(i)) {
        checkDim(op, op.getBase(), i, ranges.evaluate(map.getResult(0), inputs));
        continue;
      }
      Value indices = op.getIndexViews()[view++];
      for (auto [k, expr] : llvm::enumerate(map.getResults()))
        checkDim(op, indices, k, ranges.evaluate(expr, inputs));
    }
  }

  bool reachesBeyondSizes(ConstructMemoryViewOp view) {
    for (auto [size, dim] : llvm::zip_equal(view.getStaticSizes(), findBounds(view.getOwnedSet())))
      if (!ShapedType::isDynamic(size) && dim.upper.value_or(0) >= size)
        return true;
    return false;
  }

  /// Places along a dim of a view or tensor.
  void checkDim(Operation *op, Value base, unsigned i, MaybeInterval places) {
    if (!places)
      return;
    auto type = cast<ShapedType>(base.getType());
    DimBounds owned;
    auto view = base.getDefiningOp<ConstructMemoryViewOp>();
    // A set beyond the sizes is in the coordinates of a distributed view.
    if (view && !reachesBeyondSizes(view))
      owned = getSetBounds(view.getOwnedSet(), view.getSizes())[i];
    int64_t first = std::max<int64_t>(0, owned.lower.value_or(0));
    int64_t last = owned.upper.value_or(std::numeric_limits<int64_t>::max());
    if (!type.isDynamicDim(i))
      last = std::min(last, type.getDimSize(i) - 1);
    if (places->low >= first && places->high <= last)
      return;
    std::optional<InFlightDiagnostic> diag = report.at(op, "KTIR-5");
    if (!diag)
      return;
    *diag << "compute tile " << tile << " accesses places " << places->low << ".." << places->high
          << " of dim " << i << ", the view has " << first << ".." << last;
    if (Operation *maker = base.getDefiningOp())
      diag->attachNote(maker->getLoc()) << "the view is made here";
  }

  LegalityReport &report;
  RunCounts &counts;
  BoundsCache &bounds;
};
} // namespace

void mlir::ktdp::checkAccesses(const Kernel &kernel, LegalityReport &report, RunCounts &counts) {
  BoundsCache bounds;
  for (int64_t tile = 0; tile < kernel.numTiles; ++tile)
    AccessWalk(kernel, tile, report, counts, bounds).run();
}
