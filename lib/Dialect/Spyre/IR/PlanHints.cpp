//===- PlanHints.cpp - What an operation says of its plan ------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header. Of hints only what passes have to know is read here: their numbers, and the
// dims that they count. The rest is read as schedules are, by who plans.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/PlanHints.h"

#include "spyre/Dialect/Spyre/IR/Provenance.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"

using namespace mlir;
using namespace mlir::spyre;

/// Fields of a hint: its number in the function, and work slices by dim.
static constexpr StringLiteral kNumberField = "hint", kSplitsField = "splits";
/// In front of the number of a dim that is none any more.
static constexpr StringLiteral kLostDim = "was ";

/// \p hint with \p value as \p field.
static DictionaryAttr with(DictionaryAttr hint, StringRef field, Attribute value) {
  NamedAttrList fields(hint);
  fields.set(field, value);
  return fields.getDictionary(hint.getContext());
}

/// Slices in the order of dims, by the numbers of these.
static DictionaryAttr byNumber(ArrayAttr splits) {
  NamedAttrList fields;
  for (auto [dim, split] : llvm::enumerate(splits))
    fields.set(std::to_string(dim), split);
  return fields.getDictionary(splits.getContext());
}

void mlir::spyre::collectPlanHints(func::FuncOp func) {
  SmallVector<Attribute> places;
  if (auto known = func->getAttrOfType<ArrayAttr>(kHintsAttr))
    llvm::append_range(places, known);
  const size_t numKnown = places.size();
  Builder b(func.getContext());
  func.walk([&](Operation *op) {
    if (auto scope = op->getAttrOfType<StringAttr>(kScopeAttr)) {
      op->setLoc(withScope(op->getLoc(), scope));
      op->removeAttr(kScopeAttr);
    }
    auto hint = op->getAttrOfType<DictionaryAttr>(kPlanAttr);
    if (!hint || hint.contains(kNumberField))
      return;
    // Dims may get other numbers, one by one.
    if (auto splits = hint.getAs<ArrayAttr>(kSplitsField))
      hint = with(hint, kSplitsField, byNumber(splits));
    op->setAttr(kPlanAttr, with(hint, kNumberField, b.getI64IntegerAttr(places.size())));
    places.push_back(op->getLoc());
  });
  if (places.size() > numKnown)
    func->setAttr(kHintsAttr, b.getArrayAttr(places));
}

bool mlir::spyre::hasPlanHints(func::FuncOp func) {
  return func
      .walk([](Operation *op) {
        return op->hasAttr(kPlanAttr) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void mlir::spyre::removePlanHints(func::FuncOp func) {
  func->removeAttr(kHintsAttr);
  func.walk([](Operation *op) { op->removeDiscardableAttr(kPlanAttr); });
}

SmallVector<Location> mlir::spyre::getLostPlanHints(func::FuncOp func) {
  SmallVector<Location> lost;
  auto places = func->getAttrOfType<ArrayAttr>(kHintsAttr);
  if (!places)
    return lost;
  llvm::SmallDenseSet<int64_t> carried;
  func.walk([&](Operation *op) {
    if (auto hint = op->getAttrOfType<DictionaryAttr>(kPlanAttr))
      if (auto number = hint.getAs<IntegerAttr>(kNumberField))
        carried.insert(number.getInt());
  });
  for (auto [number, place] : llvm::enumerate(places))
    if (auto loc = dyn_cast<LocationAttr>(place); loc && !carried.contains(number))
      lost.push_back(loc);
  return lost;
}

std::string mlir::spyre::findPlanHintMistake(Operation *op, Attribute hint) {
  auto device = dyn_cast<DeviceOpInterface>(op);
  if (!device)
    return "is for device operations";
  auto fields = dyn_cast<DictionaryAttr>(hint);
  if (!fields)
    return "must be a dictionary";
  for (NamedAttribute field : fields) {
    const StringRef name = field.getName();
    if (!llvm::is_contained({"splits", "space", "address", "hint"}, name))
      return "has an unknown field '" + name.str() + "'; known are splits, space and address";
    auto isNumber = [](Attribute value, int64_t least) {
      auto number = dyn_cast<IntegerAttr>(value);
      return number && number.getType().isSignlessInteger(64) && number.getInt() >= least;
    };
    auto isCount = [&](Attribute value) { return isNumber(value, 1); };
    if (name == kNumberField && !isNumber(field.getValue(), 0))
      return "must have a number of the compiler's as hint";
    if (name != kSplitsField)
      continue;
    auto list = dyn_cast<ArrayAttr>(field.getValue());
    auto byDim = dyn_cast<DictionaryAttr>(field.getValue());
    if (!list && !byDim)
      return "must have slices by dim, {rows = 4, \"1\" = 8}, or for all dims, [4, 8], as splits";
    if (list ? !llvm::all_of(list, isCount)
             : !llvm::all_of(byDim, [&](auto each) { return isCount(each.getValue()); }))
      return "must have whole numbers from 1 on as splits";
    if (list && list.size() != device.getExtents().size())
      return "has splits for " + std::to_string(list.size()) + " dims; the operation has " +
             std::to_string(device.getExtents().size());
  }
  return "";
}

DictionaryAttr mlir::spyre::renumberPlanHint(DictionaryAttr hint,
                                             ArrayRef<std::optional<unsigned>> dims) {
  auto splits = hint.getAs<DictionaryAttr>(kSplitsField);
  if (auto list = hint.getAs<ArrayAttr>(kSplitsField))
    splits = byNumber(list);
  if (!splits)
    return hint;
  NamedAttrList renumbered;
  for (NamedAttribute split : splits) {
    unsigned dim = 0;
    const StringRef key = split.getName();
    if (key.getAsInteger(10, dim) || dim >= dims.size()) {
      renumbered.set(key, split.getValue()); // a name, or nothing
      continue;
    }
    // What one slice is of need not be a dim.
    const bool isUndivided = cast<IntegerAttr>(split.getValue()).getInt() == 1;
    if (dims[dim])
      renumbered.set(std::to_string(*dims[dim]), split.getValue());
    else if (!isUndivided)
      renumbered.set((kLostDim + key).str(), split.getValue());
  }
  return with(hint, kSplitsField, renumbered.getDictionary(hint.getContext()));
}

std::optional<StringRef> mlir::spyre::getLostDim(StringRef key) {
  return key.consume_front(kLostDim) ? std::optional(key) : std::nullopt;
}
