//===- MapUtils.h - Access maps of device operations, with ranges -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes the maps of a device operation at tensor level as
// spyre::layout::IndexMap, which view folding and dim splitting compute with.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_MAPUTILS_H
#define SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_MAPUTILS_H

#include "spyre/Dialect/Spyre/IR/AffineConversion.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"

#include "mlir/IR/Builders.h"

namespace mlir::spyre {

inline bool hasNoPoint(ArrayRef<int64_t> extents) { return llvm::is_contained(extents, 0); }

/// Map \p i (inputs, then the output) of \p op over its extents.
inline FailureOr<::spyre::layout::IndexMap> getIndexMap(DeviceOpInterface op, unsigned i) {
  return toIndexMap(op.getMap(i), op.getExtents());
}

inline void setMap(DeviceOpInterface op, unsigned i, AffineMap map) {
  SmallVector<Attribute> maps(op.getMaps().getValue());
  maps[i] = AffineMapAttr::get(map);
  op->setAttr("maps", ArrayAttr::get(op->getContext(), maps));
}

inline void setMap(DeviceOpInterface op, unsigned i, const ::spyre::layout::IndexMap &map) {
  setMap(op, i, toAffineMap(map, map.extents.size(), op->getContext()));
}

/// The device operation at tensor level that computes \p value, or null.
inline DeviceOpInterface getProducer(Value value) {
  auto op = dyn_cast_or_null<DeviceOpInterface>(value.getDefiningOp());
  return op && op.getResultTensor() == value ? op : DeviceOpInterface();
}

/// True if the dims of \p op can be split until none of its maps takes one apart, with
/// \p newMap in place of map \p changed.
inline bool canSplitTogether(DeviceOpInterface op, unsigned changed,
                             const ::spyre::layout::IndexMap &newMap) {
  ::spyre::layout::IndexMap all{newMap.extents, newMap.results};
  for (unsigned i = 0; i <= op.getInputs().size(); ++i) {
    if (i == changed)
      continue;
    FailureOr<::spyre::layout::IndexMap> map = getIndexMap(op, i);
    if (failed(map))
      return false;
    ::spyre::layout::IndexMap simple = ::spyre::layout::simplify(*map);
    all.results.insert(all.results.end(), simple.results.begin(), simple.results.end());
  }
  return ::spyre::layout::canSplitInputs(all);
}

} // namespace mlir::spyre

#endif // SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L1_MAPUTILS_H
