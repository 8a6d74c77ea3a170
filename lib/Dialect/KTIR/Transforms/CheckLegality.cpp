//===- CheckLegality.cpp - The pass ktir-check-legality -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules are numbered in Passes.td. Accesses are followed for each compute tile with
// the ranges of all index values that are known.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/KTIR/Transforms/Passes.h"

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::ktdp {
#define GEN_PASS_DEF_KTIRCHECKLEGALITY
#include "spyre/Dialect/KTIR/Transforms/Passes.h.inc"
} // namespace mlir::ktdp

using namespace mlir;
using namespace mlir::ktdp;

namespace {
/// What a value may be, inclusive; nothing: anything.
struct Range {
  int64_t low, high;
  bool isPoint() const { return low == high; }
};
using MaybeRange = std::optional<Range>;

/// \p a op \p b by \p apply, which is monotone in both.
template <typename Apply> MaybeRange combine(MaybeRange a, MaybeRange b, Apply apply) {
  if (!a || !b)
    return std::nullopt;
  int64_t corners[] = {apply(a->low, b->low), apply(a->low, b->high), apply(a->high, b->low),
                       apply(a->high, b->high)};
  return Range{*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

MaybeRange divide(MaybeRange a, MaybeRange b, int64_t (*apply)(int64_t, int64_t)) {
  if (!a || !b || !b->isPoint() || b->low <= 0)
    return std::nullopt;
  return Range{apply(a->low, b->low), apply(a->high, b->low)};
}

MaybeRange remainder(MaybeRange a, MaybeRange b) {
  if (!a || !b || !b->isPoint() || b->low <= 0)
    return std::nullopt;
  int64_t divisor = b->low;
  if (llvm::divideFloorSigned(a->low, divisor) == llvm::divideFloorSigned(a->high, divisor))
    return Range{llvm::mod(a->low, divisor), llvm::mod(a->high, divisor)};
  return Range{0, divisor - 1};
}

/// Runs a kernel's index arithmetic on one compute tile.
class TileWalk {
public:
  TileWalk(ArrayRef<int64_t> coordinates, int64_t tile, llvm::DenseSet<Operation *> &reported)
      : coordinates(coordinates), tile(tile), reported(reported) {}

  bool visit(Region &region) {
    bool ok = true;
    for (Block &block : region)
      for (Operation &op : block)
        ok &= visit(op);
    return ok;
  }

private:
  MaybeRange get(Value value) {
    auto it = ranges.find(value);
    if (it != ranges.end())
      return it->second;
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)) && constant.getSignificantBits() <= 64)
      return Range{constant.getSExtValue(), constant.getSExtValue()};
    return std::nullopt;
  }

  MaybeRange evaluate(AffineExpr expr, ValueRange dims) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return Range{constant.getValue(), constant.getValue()};
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return get(dims[dim.getPosition()]);
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return std::nullopt;
    MaybeRange a = evaluate(binary.getLHS(), dims), b = evaluate(binary.getRHS(), dims);
    switch (binary.getKind()) {
    case AffineExprKind::Add:
      return combine(a, b, std::plus<int64_t>());
    case AffineExprKind::Mul:
      return combine(a, b, std::multiplies<int64_t>());
    case AffineExprKind::Mod:
      return remainder(a, b);
    case AffineExprKind::FloorDiv:
      return divide(a, b, llvm::divideFloorSigned);
    case AffineExprKind::CeilDiv:
      return divide(a, b, llvm::divideCeilSigned);
    default:
      return std::nullopt;
    }
  }

  /// The range of an arith operation's result.
  MaybeRange compute(Operation &op) {
    if (op.getNumOperands() != 2)
      return std::nullopt;
    MaybeRange a = get(op.getOperand(0)), b = get(op.getOperand(1));
    if (isa<arith::AddIOp>(op))
      return combine(a, b, std::plus<int64_t>());
    if (isa<arith::SubIOp>(op))
      return combine(a, b, std::minus<int64_t>());
    if (isa<arith::MulIOp>(op))
      return combine(a, b, std::multiplies<int64_t>());
    // Signed and unsigned agree on what is not negative.
    if (a && a->low < 0)
      return std::nullopt;
    if (isa<arith::DivUIOp, arith::DivSIOp>(op))
      return divide(a, b, llvm::divideFloorSigned);
    if (isa<arith::RemUIOp, arith::RemSIOp>(op))
      return remainder(a, b);
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      if (a && b && a->isPoint() && b->isPoint()) {
        int64_t truth = arith::applyCmpPredicate(compare.getPredicate(), APInt(64, a->low, true),
                                                 APInt(64, b->low, true));
        return Range{truth, truth};
      }
    return std::nullopt;
  }

  bool visit(Operation &op) {
    if (auto id = dyn_cast<GetComputeTileIdOp>(op)) {
      for (auto [result, coordinate] : llvm::zip(id.getCoordinates(), coordinates))
        ranges[result] = Range{coordinate, coordinate};
      return true;
    }
    if (auto access = dyn_cast<ConstructAccessTileOp>(op))
      return check(access);
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      MaybeRange condition = get(branch.getCondition());
      bool ok = true;
      if (!condition || condition->low)
        ok &= visit(branch.getThenRegion());
      if (!condition || !condition->low)
        ok &= visit(branch.getElseRegion());
      return ok;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      MaybeRange lower = get(loop.getLowerBound()), upper = get(loop.getUpperBound()),
                 step = get(loop.getStep());
      if (lower && upper && step && lower->isPoint() && upper->isPoint() && step->isPoint() &&
          step->low > 0) {
        if (upper->low <= lower->low)
          return true;
        int64_t trips = llvm::divideCeilSigned(upper->low - lower->low, step->low);
        ranges[loop.getInductionVar()] = Range{lower->low, lower->low + (trips - 1) * step->low};
      }
      return visit(loop.getRegion());
    }
    if (isa<arith::ArithDialect>(op.getDialect())) {
      if (op.getNumResults() == 1)
        if (MaybeRange range = compute(op))
          ranges[op.getResult(0)] = range;
      return true;
    }
    // Bodies of linalg hold no accesses; whatever else has a region may.
    bool ok = true;
    for (Region &region : op.getRegions())
      ok &= visit(region);
    return ok;
  }

  bool check(ConstructAccessTileOp op) {
    auto base = cast<ShapedType>(op.getBase().getType());
    SmallVector<DimBounds> inTile = getBounds(op.getAccessTileSet());
    SmallVector<DimBounds> owned(base.getRank());
    auto view = op.getBase().getDefiningOp<ConstructMemoryViewOp>();
    if (view)
      owned = getBounds(view.getOwnedSet());
    for (auto [i, subscript] : llvm::enumerate(op.getBaseMap().getResults())) {
      MaybeRange start = evaluate(subscript, op.getIndices());
      if (!start || !inTile[i].lower || !inTile[i].upper || *inTile[i].upper < *inTile[i].lower)
        continue;
      int64_t low = start->low + *inTile[i].lower, high = start->high + *inTile[i].upper;
      int64_t first = std::max<int64_t>(0, owned[i].lower.value_or(0));
      int64_t last = owned[i].upper.value_or(std::numeric_limits<int64_t>::max());
      if (!base.isDynamicDim(i))
        last = std::min(last, base.getDimSize(i) - 1);
      if (low >= first && high <= last)
        continue;
      // One report an operation is enough.
      if (reported.insert(op).second) {
        InFlightDiagnostic diag = op->emitError()
                                  << "KTIR-5: compute tile " << tile << " accesses places " << low
                                  << ".." << high << " of dim " << i << ", the view has " << first
                                  << ".." << last;
        if (view)
          diag.attachNote(view.getLoc()) << "the view is made here";
      }
      return false;
    }
    return true;
  }

  ArrayRef<int64_t> coordinates;
  int64_t tile;
  llvm::DenseSet<Operation *> &reported;
  DenseMap<Value, MaybeRange> ranges;
};

class LegalityCheck {
public:
  explicit LegalityCheck(ModuleOp module) : module(module) {}

  bool run() {
    Attribute f16 = module->getAttr(kF16Attr);
    auto name = dyn_cast_or_null<StringAttr>(f16);
    if (f16 && (!name || (name.getValue() != "dl16" && name.getValue() != "ieee")))
      report(module, "KTIR-4") << "'" << kF16Attr << "' must be \"dl16\" or \"ieee\"";
    module.walk([&](FunctionOpInterface function) {
      bool isKernel = function
                          ->walk([](Operation *op) {
                            return isa<KtdpDialect>(op->getDialect()) ? WalkResult::interrupt()
                                                                      : WalkResult::advance();
                          })
                          .wasInterrupted();
      if (isKernel)
        checkKernel(function);
    });
    return ok;
  }

private:
  InFlightDiagnostic report(Operation *op, StringRef rule) {
    ok = false;
    // Not the operation's emitError, which prints a function or module whole.
    return (op->getNumRegions() ? emitError(op->getLoc()) : op->emitError()) << rule << ": ";
  }

  void checkKernel(FunctionOpInterface function) {
    static constexpr StringLiteral kDialects[] = {"arith",  "func", "ktdp",    "linalg", "math",
                                                  "memref", "scf",  "spyreop", "tensor"};
    std::optional<SmallVector<int64_t>> grid = getGrid(function);
    int64_t numTiles = grid ? getNumTiles(*grid) : 1;
    if (!grid)
      report(function, "KTIR-2") << "'" << kGridAttr
                                 << "' must be an array of one to three positive numbers";
    else if (numTiles > kMaxTiles)
      report(function, "KTIR-2") << "the grid has more than " << kMaxTiles << " compute tiles";
    bool hasGrid = grid && numTiles <= kMaxTiles;
    function->walk([&](Operation *op) {
      if (op == function)
        return;
      StringRef dialect = op->getName().getDialectNamespace();
      if (!llvm::is_contained(kDialects, dialect))
        report(op, "KTIR-1") << "'" << op->getName() << "' has no place in a kernel";
      if (auto view = dyn_cast<ConstructMemoryViewOp>(op))
        if (hasGrid && view.getMemorySpace().getCtId() >= numTiles)
          report(op, "KTIR-6") << "there is no compute tile " << view.getMemorySpace().getCtId()
                               << "; the grid has " << numTiles;
      if (auto load = dyn_cast<LoadOp>(op))
        checkType(op, load.getTile(), load.getResult().getType());
      if (auto store = dyn_cast<StoreOp>(op))
        checkType(op, store.getTile(), store.getValue().getType());
    });
    if (!hasGrid)
      return;
    llvm::DenseSet<Operation *> reported;
    for (int64_t tile = 0; tile < numTiles; ++tile) {
      SmallVector<int64_t> coordinates;
      int64_t rest = tile;
      for (int64_t size : *grid) {
        coordinates.push_back(rest % size);
        rest /= size;
      }
      ok &= TileWalk(coordinates, tile, reported).visit(function->getRegion(0));
    }
  }

  void checkType(Operation *op, Value tile, Type type) {
    auto access = tile.getDefiningOp<ConstructAccessTileOp>();
    if (!access)
      return;
    Type base = cast<ShapedType>(access.getBase().getType()).getElementType();
    Type element = cast<ShapedType>(type).getElementType();
    if (base != element)
      report(op, "KTIR-3") << "moves " << element << ", the tile's base holds " << base;
  }

  ModuleOp module;
  bool ok = true;
};

struct CheckLegalityPass : mlir::ktdp::impl::KtirCheckLegalityBase<CheckLegalityPass> {
  void runOnOperation() override {
    if (!LegalityCheck(getOperation()).run())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
