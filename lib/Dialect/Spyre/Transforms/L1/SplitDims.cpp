//===- SplitDims.cpp - Iteration dims until maps are simple -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two steps until nothing changes: split an operation's dims where its maps take them
// apart; give an intermediate tensor the dims that its readers and its writer use. Both
// only ever split, so they end.
//
//===----------------------------------------------------------------------===//

#include "MapUtils.h"
#include "spyre/Dialect/Spyre/IR/PlanHints.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include <set>

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYRESPLITDIMS
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
namespace layout = ::spyre::layout;

/// All maps of \p op, inputs first; nothing if one is no sum of digits.
static std::optional<std::vector<layout::IndexMap>> getIndexMaps(DeviceOpInterface op) {
  std::vector<layout::IndexMap> maps;
  for (unsigned i = 0; i <= op.getInputs().size(); ++i) {
    FailureOr<layout::IndexMap> map = getIndexMap(op, i);
    if (failed(map))
      return std::nullopt;
    maps.push_back(layout::simplify(*map));
  }
  return maps;
}

/// \p places: what each dim of \p op becomes, nothing if it is none any more.
static void setIteration(DeviceOpInterface op, const std::vector<layout::IndexMap> &maps,
                         ArrayRef<std::optional<unsigned>> places) {
  if (auto hint = op->getAttrOfType<DictionaryAttr>(kPlanAttr))
    op->setAttr(kPlanAttr, renumberPlanHint(hint, places));
  Builder b(op->getContext());
  op->setAttr("extents", b.getDenseI64ArrayAttr(maps.front().extents));
  SmallVector<Attribute> attributes;
  for (const layout::IndexMap &map : maps)
    attributes.push_back(
        AffineMapAttr::get(toAffineMap(map, map.extents.size(), op->getContext())));
  op->setAttr("maps", b.getArrayAttr(attributes));
}

/// Extents, outermost first, of the parts of a dim of \p extent cut at \p cuts;
/// nothing if they are no divisibility chain.
static std::optional<std::vector<int64_t>> getFactors(int64_t extent,
                                                      const std::set<int64_t> &cuts) {
  std::vector<int64_t> factors;
  int64_t outer = extent;
  for (int64_t cut : llvm::reverse(cuts)) {
    if (outer % cut)
      return std::nullopt;
    factors.push_back(outer / cut);
    outer = cut;
  }
  factors.push_back(outer);
  return factors;
}

/// Each dim of \p op where it is.
static SmallVector<std::optional<unsigned>> getPlaces(DeviceOpInterface op) {
  SmallVector<std::optional<unsigned>> places;
  for (unsigned dim = 0; dim < op.getExtents().size(); ++dim)
    places.push_back(dim);
  return places;
}

/// Splits iteration dims of \p op where digits take them apart; true if one was.
static bool splitIterationDims(DeviceOpInterface op) {
  std::optional<std::vector<layout::IndexMap>> maps = getIndexMaps(op);
  if (!maps)
    return false;
  bool changed = false;
  SmallVector<std::optional<unsigned>> places = getPlaces(op);
  for (unsigned dim = maps->front().extents.size(); dim-- > 0;) {
    int64_t extent = maps->front().extents[dim];
    std::set<int64_t> cuts;
    for (const layout::IndexMap &map : *maps)
      for (const layout::IndexExpr &expr : map.results)
        for (const layout::Digit &digit : expr.digits)
          if (digit.input == dim)
            for (int64_t cut : {digit.divisor, digit.divisor * digit.modulus})
              if (cut > 1 && cut < extent)
                cuts.insert(cut);
    if (cuts.empty())
      continue;
    std::optional<std::vector<int64_t>> factors = getFactors(extent, cuts);
    if (!factors)
      continue;
    std::vector<layout::IndexMap> split;
    for (const layout::IndexMap &map : *maps) {
      std::optional<layout::IndexMap> one = layout::splitInput(map, dim, *factors);
      if (!one)
        break;
      split.push_back(layout::simplify(*one));
    }
    if (split.size() != maps->size())
      continue;
    maps = std::move(split);
    changed = true;
    places[dim].reset();
    for (std::optional<unsigned> &place : llvm::drop_begin(places, dim + 1))
      if (place)
        *place += static_cast<unsigned>(factors->size()) - 1;
  }
  if (changed)
    setIteration(op, *maps, places);
  return changed;
}

/// Drops dims of extent 1: no coordinate depends on them.
static void dropUnitDims(DeviceOpInterface op) {
  if (!llvm::is_contained(op.getExtents(), 1))
    return;
  std::optional<std::vector<layout::IndexMap>> maps = getIndexMaps(op);
  if (!maps)
    return;
  SmallVector<unsigned> newPosition;
  SmallVector<std::optional<unsigned>> places;
  std::vector<int64_t> extents;
  for (int64_t extent : op.getExtents()) {
    newPosition.push_back(extents.size());
    places.push_back(extent != 1 ? std::optional<unsigned>(extents.size()) : std::nullopt);
    if (extent != 1)
      extents.push_back(extent);
  }
  for (layout::IndexMap &map : *maps) {
    map.extents = extents;
    for (layout::IndexExpr &expr : map.results)
      for (layout::Digit &digit : expr.digits)
        digit.input = newPosition[digit.input];
  }
  setIteration(op, *maps, places);
}

/// Writes the simplified form of every map, so that a second run changes nothing.
static void simplifyMaps(DeviceOpInterface op) {
  if (std::optional<std::vector<layout::IndexMap>> maps = getIndexMaps(op))
    setIteration(op, *maps, getPlaces(op));
}

/// True if \p dim of \p op is the generated dim of a contraction.
static bool isGeneratedDim(DeviceOpInterface op, unsigned dim) {
  return op.getInfo().category == ::spyre::OpCategory::Batchmatmul &&
         op.getInputMap(1).isFunctionOfDim(dim) && !op.getInputMap(0).isFunctionOfDim(dim);
}

/// True if \p dim of \p op is contracted or reduced; a contraction has one such dim.
static bool isContractedDim(DeviceOpInterface op, unsigned dim) {
  return op.getInfo().category == ::spyre::OpCategory::Batchmatmul &&
         !op.getOutputMap().isFunctionOfDim(dim);
}

namespace {
/// One access to a tensor: map \p map of \p op.
struct Access {
  DeviceOpInterface op;
  unsigned map;
};
} // namespace

/// The accesses of \p value if it is an intermediate tensor that only device
/// operations touch, its writer first; else none.
static SmallVector<Access> getAccesses(Value value) {
  DeviceOpInterface writer = getProducer(value);
  if (!writer || writer.getOutput())
    return {};
  SmallVector<Access> accesses{{writer, static_cast<unsigned>(writer.getInputs().size())}};
  for (OpOperand &use : value.getUses()) {
    auto reader = dyn_cast<DeviceOpInterface>(use.getOwner());
    if (!reader || use.getOperandNumber() >= reader.getInputs().size())
      return {};
    accesses.push_back({reader, use.getOperandNumber()});
  }
  return accesses;
}

/// \p map with the coordinates of each dim of the tensor taken apart into \p factors, or
/// nothing if one cannot be.
static std::optional<layout::IndexMap> splitCoordinates(const layout::IndexMap &map,
                                                        ArrayRef<std::vector<int64_t>> factors) {
  layout::IndexMap split{map.extents, {}};
  for (auto [dim, parts] : llvm::enumerate(factors)) {
    // Innermost part first, then reversed.
    std::vector<layout::IndexExpr> coordinates;
    layout::IndexExpr rest = map.results[dim];
    for (size_t i = parts.size(); i-- > 1;) {
      std::optional<layout::DivMod> divided = layout::divide(rest, map.extents, parts[i]);
      if (!divided)
        return std::nullopt;
      coordinates.push_back(divided->remainder);
      rest = divided->quotient;
    }
    coordinates.push_back(rest);
    split.results.insert(split.results.end(), coordinates.rbegin(), coordinates.rend());
  }
  return layout::simplify(split);
}

/// The maps of \p accesses to a tensor whose dims are taken apart into \p factors; nothing
/// if an operation cannot step through its part then: one that reads three of joined pairs.
static std::optional<std::vector<layout::IndexMap>>
splitAccesses(ArrayRef<Access> accesses, ArrayRef<layout::IndexMap> maps,
              ArrayRef<std::vector<int64_t>> factors) {
  std::vector<layout::IndexMap> split;
  for (auto [access, map] : llvm::zip(accesses, maps)) {
    std::optional<layout::IndexMap> one = splitCoordinates(map, factors);
    if (!one || !canSplitTogether(access.op, access.map, *one))
      return std::nullopt;
    split.push_back(std::move(*one));
  }
  return split;
}

/// Gives \p value the dims that its accesses mix in one coordinate; true if it did.
static bool splitTensorDims(Value value) {
  SmallVector<Access> accesses = getAccesses(value);
  if (accesses.empty())
    return false;
  std::vector<layout::IndexMap> maps;
  for (Access &access : accesses) {
    FailureOr<layout::IndexMap> map = getIndexMap(access.op, access.map);
    if (failed(map))
      return false;
    maps.push_back(layout::simplify(*map));
  }
  RankedTensorType type = getTensorType(value);
  // Where the coordinates of dim `dim` are cut: at the weights of mixed digits.
  SmallVector<std::vector<int64_t>> factors, whole;
  for (int64_t size : type.getShape())
    whole.push_back({size});
  factors = whole;
  bool any = false;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    std::set<int64_t> cuts;
    bool keep = false;
    for (auto [access, map] : llvm::zip(accesses, maps)) {
      const layout::IndexExpr &expr = map.results[dim];
      for (const layout::Digit &digit : expr.digits) {
        // The device generates and contracts one dim.
        keep |= isGeneratedDim(access.op, digit.input) || isContractedDim(access.op, digit.input);
        if (expr.digits.size() > 1 && digit.coefficient > 1 &&
            digit.coefficient < type.getDimSize(dim))
          cuts.insert(digit.coefficient);
      }
    }
    std::optional<std::vector<int64_t>> parts;
    if (!keep && !cuts.empty())
      parts = getFactors(type.getDimSize(dim), cuts);
    if (!parts || parts->size() == 1)
      continue;
    SmallVector<std::vector<int64_t>> alone = whole;
    alone[dim] = *parts;
    if (!splitAccesses(accesses, maps, alone))
      continue;
    factors[dim] = std::move(*parts);
    any = true;
  }
  if (!any)
    return false;
  std::optional<std::vector<layout::IndexMap>> newMaps = splitAccesses(accesses, maps, factors);
  if (!newMaps)
    return false;

  SmallVector<int64_t> shape;
  for (const std::vector<int64_t> &parts : factors)
    llvm::append_range(shape, parts);
  for (auto [access, map] : llvm::zip(accesses, *newMaps))
    setMap(access.op, access.map, map);
  value.setType(RankedTensorType::get(shape, type.getElementType()));
  return true;
}

namespace {
struct SplitDimsPass : mlir::spyre::impl::SpyreSplitDimsBase<SplitDimsPass> {
  void runOnOperation() override {
    SmallVector<DeviceOpInterface> ops;
    getOperation().walk([&](DeviceOpInterface op) {
      if (op.getResultTensor() && op.getLoopVariables().empty() && op.getSplits().empty() &&
          !hasNoPoint(op.getExtents()))
        ops.push_back(op);
    });
    for (bool changed = true; changed;) {
      changed = false;
      // Readers before writers: cuts travel from readers to writers mostly.
      for (DeviceOpInterface op : llvm::reverse(ops)) {
        changed |= splitIterationDims(op);
        changed |= splitTensorDims(op.getResultTensor());
      }
    }
    for (DeviceOpInterface op : ops) {
      simplifyMaps(op);
      dropUnitDims(op);
    }
  }
};
} // namespace
