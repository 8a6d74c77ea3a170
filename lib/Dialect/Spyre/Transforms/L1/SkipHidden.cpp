//===- SkipHidden.cpp - What a mask hides is not computed -------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A causal mask hides half of the scores. Rows are taken in bands, and each band computes the
// columns from the first to the last that its rows see; those that all of them see need no mask.
// The parts that are masked are arrays of their own, the same one for all bands of a causal mask.
//
//===----------------------------------------------------------------------===//

#include "RowGroup.h"

#include "spyre/Dialect/Spyre/IR/ModuleDevice.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"
#include "spyre/Numerics/DL16.h"
#include "spyre/Numerics/Formats.h"

#include "mlir/Analysis/TopologicalSortUtils.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYRESKIPHIDDEN
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;

/// Twice as many bands as these hide little more, and are so many more operations to plan.
static constexpr int64_t kManyBands = 8, kMostBands = 16;
/// Twice as many bands have to leave out so much of what is left.
static constexpr double kWorthTwice = 0.08;
/// Leaving out less is not worth the operations: of all scores.
static constexpr double kWorthwhile = 0.1;

/// Keys and values of a head take at most one part of so many of a scratchpad, if they stay there.
static constexpr double kShareOfLX = 1.5;

namespace {
struct Band {
  ColumnRange rows;
  SmallVector<ColumnPart> parts;
  SmallVector<ColumnRange> shown; ///< RowGroup::BandForm

  int64_t countColumns() const { return parts.back().columns.end - parts.front().columns.begin; }
};

struct GroupCost {
  bool hasProducts = false; ///< over or of columns
  double headBytes = 0;     ///< of their factors that rows have no part in (keys), for one head
};

struct Masking {
  DeviceOpInterface op;
  unsigned input = 0, row = 0, column = 0;
  unsigned rowAxis = 0, columnAxis = 0; ///< of the mask
  HiddenBy hiddenBy = HiddenBy::NegInf;
  VisibleColumns visible;
};

struct SkipHiddenPass : mlir::spyre::impl::SpyreSkipHiddenBase<SkipHiddenPass> {
  using SpyreSkipHiddenBase::SpyreSkipHiddenBase;
  void runOnOperation() override;
};
} // namespace

static GroupCost getCost(const RowGroup &group) {
  GroupCost cost;
  for (const auto &[operation, dims] : group.getMembers()) {
    auto op = cast<DeviceOpInterface>(operation);
    if (!dims.column || op.getInfo().category != ::spyre::OpCategory::Batchmatmul)
      continue;
    auto depends = [&](unsigned map, unsigned dim) { return op.getMap(map).isFunctionOfDim(dim); };
    // What both factors and the product have: each place of it is a head.
    double numHeads = 1;
    for (auto [dim, extent] : llvm::enumerate(op.getExtents()))
      if (depends(0, dim) && depends(1, dim) && depends(2, dim))
        numHeads *= double(extent);
    cost.hasProducts = true;
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      RankedTensorType type = getTensorType(input);
      if (depends(i, *dims.column) && !depends(i, dims.row))
        cost.headBytes +=
            double(type.getNumElements()) * type.getElementTypeBitWidth() / 8 / numHeads;
    }
  }
  return cost;
}

/// \p numBands of about as many rows, in whole multiples of \p granularity, as far as they go.
static SmallVector<Band> makeBands(const VisibleColumns &visible, int64_t numBands,
                                   int64_t granularity) {
  SmallVector<Band> bands;
  const int64_t numRows = visible.getNumRows();
  int64_t size = llvm::divideCeil(numRows, numBands);
  if (numRows % numBands != 0)
    size = llvm::alignTo(size, granularity);
  for (int64_t first = 0; first < numRows; first += size) {
    ColumnRange rows{first, std::min(numRows, first + size)};
    bands.push_back({rows,
                     visible.getParts(rows.begin, rows.end, granularity, ::spyre::kDL16MostCounted),
                     visible.getShown(rows.begin, rows.end)});
  }
  return bands;
}

/// Which part of all scores \p bands leave out.
static double getHiddenShare(const VisibleColumns &visible, ArrayRef<Band> bands) {
  double shown = 0;
  for (const Band &band : bands)
    shown += double(band.rows.size()) * double(band.countColumns());
  return 1 - shown / (double(visible.getNumRows()) * double(visible.getNumColumns()));
}

/// The bands that leave most out; none if that is not worthwhile. \p wanted: so many, if they leave
/// out anything. \p inParts: also of heads whose keys do not stay in a scratchpad.
static SmallVector<Band> chooseBands(const RowGroup &group, const VisibleColumns &visible,
                                     const ::spyre::Device &device, int64_t wanted, bool inParts) {
  const ::spyre::DeviceRates &rates = device.getRates();
  const int64_t granularity = ::spyre::getElementsPerStick(::spyre::DataFormat::SEN169_FP16);
  if (wanted > 0) {
    SmallVector<Band> bands = makeBands(visible, wanted, granularity);
    return getHiddenShare(visible, bands) > 0 ? bands : SmallVector<Band>();
  }
  // What stays in the scratchpad for all bands of a head is read once. What does not is read by
  // loops over its parts, each time again for each band.
  const GroupCost cost = getCost(group);
  if (!cost.hasProducts ||
      (!inParts && cost.headBytes * kShareOfLX > double(device.getUsableLXInBytes())))
    return {};
  // So many cores as one transfer serves share a band, each with rows that fill its array.
  const auto leastRows = int64_t(double(device.getArrayRows()) * rates.passesToFillArray *
                                 double(device.getMulticastReaders()));
  SmallVector<Band> best;
  double shown = (1 - kWorthwhile) / (1 - kWorthTwice);
  for (int64_t numBands = 1; numBands <= kMostBands; numBands *= 2) {
    if (numBands > 1 && visible.getNumRows() / numBands < leastRows)
      break;
    // More of long ones: what is masked of a band stays in the scratchpads while a loop runs.
    if (numBands > kManyBands && visible.getNumRows() / kManyBands <= 2 * ::spyre::kDL16MostCounted)
      break;
    SmallVector<Band> bands = makeBands(visible, numBands, granularity);
    const double shownNow = 1 - getHiddenShare(visible, bands);
    if (shownNow > shown * (1 - kWorthTwice) && (numBands <= kManyBands || best.empty()))
      continue;
    shown = shownNow;
    best = std::move(bands);
  }
  return best;
}

/// Calls \p visit for each way to see input \p i of \p op as a mask, until it returns true.
static bool visitMaskings(DeviceOpInterface op, unsigned i,
                          llvm::function_ref<bool(Masking)> visit) {
  auto constant = op.getInputs()[i].getDefiningOp<ConstantOp>();
  if (!constant || op.getOutput())
    return false;
  ArrayRef<int64_t> shape = getTensorType(constant.getResult()).getShape();
  AffineMap map = op.getInputMap(i);
  for (int64_t columnAxis = std::ssize(shape) - 1; columnAxis >= 0; --columnAxis)
    for (int64_t rowAxis = std::ssize(shape) - 1; rowAxis >= 0; --rowAxis) {
      if (rowAxis == columnAxis || shape[rowAxis] == 1 || shape[columnAxis] == 1)
        continue;
      std::optional<unsigned> row = RowGroup::getDim(op, map, rowAxis, shape[rowAxis]);
      std::optional<unsigned> column = RowGroup::getDim(op, map, columnAxis, shape[columnAxis]);
      if (!row || !column)
        continue;
      for (HiddenBy hiddenBy : {HiddenBy::NegInf, HiddenBy::Zero, HiddenBy::True})
        if (std::optional<VisibleColumns> visible =
                VisibleColumns::of(constant.getValue(), rowAxis, columnAxis, hiddenBy))
          if (visit({op, i, *row, *column, unsigned(rowAxis), unsigned(columnAxis), hiddenBy,
                     std::move(*visible)}))
            return true;
    }
  return false;
}

/// Replaces \p group by its parts for \p bands.
static void makeBands(const RowGroup &group, const Masking &masking, ArrayRef<Band> bands,
                      bool isAlone, DenseMap<Attribute, Value> &cuts) {
  Operation *last = group.getMembers().back().first;
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  llvm::MapVector<Value, Value> outputs;
  for (Value output : group.getOutputs())
    outputs[output] = Value();
  auto constant =
      DeviceOpInterface(masking.op).getInputs()[masking.input].getDefiningOp<ConstantOp>();
  ShownValues known;
  for (const Band &band : bands) {
    // Diagonal parts are all alike: one array.
    auto cut = [&](ColumnRange columns) -> Value {
      ElementsAttr elements =
          cutMask(constant.getValue(), masking.rowAxis, band.rows, masking.columnAxis, columns);
      Value &known = cuts[elements];
      if (!known) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPoint(constant);
        known = ConstantOp::create(builder, constant.getLoc(), elements.getType(), elements);
      }
      return known;
    };
    group.build(builder, band.rows, band.parts, {isAlone, band.shown, cut, known}, outputs);
  }
  for (auto [old, made] : outputs)
    old.replaceUsesWithIf(made, [&](OpOperand &use) { return !group.contains(use.getOwner()); });
  Block *block = builder.getInsertionBlock();
  for (const auto &[op, dims] : llvm::reverse(group.getMembers()))
    op->erase();
  if (constant->use_empty())
    constant->erase();
  // Readers of an early output stood between the members.
  sortTopologically(block);
}

void SkipHiddenPass::runOnOperation() {
  if (getOperation().isExternal())
    return;
  FailureOr<::spyre::Device> device = getDevice(getOperation());
  if (failed(device))
    return signalPassFailure();
  SmallVector<DeviceOpInterface> ops;
  getOperation().walk([&](DeviceOpInterface op) {
    if (llvm::any_of(op.getInputs(), [](Value input) {
          return input.getDefiningOp<ConstantOp>() && getTensorType(input).getRank() > 1;
        }))
      ops.push_back(op);
  });
  llvm::SmallPtrSet<Operation *, 8> gone;
  DenseMap<Attribute, Value> cuts;
  auto skip = [&](Masking masking) {
    std::optional<RowGroup> group =
        RowGroup::of(masking.op, masking.input, masking.row, masking.column, masking.hiddenBy);
    if (!group)
      return false;
    SmallVector<Band> found = chooseBands(*group, masking.visible, *device, bands, inParts);
    if (found.empty())
      return false;
    for (const auto &[member, dims] : group->getMembers())
      gone.insert(member);
    makeBands(*group, masking, found, inParts, cuts);
    return true;
  };
  for (DeviceOpInterface op : ops)
    for (unsigned i = 0; !gone.contains(op) && i < op.getInputs().size(); ++i)
      visitMaskings(op, i, skip);
}
