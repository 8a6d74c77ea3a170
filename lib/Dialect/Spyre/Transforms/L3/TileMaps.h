//===- TileMaps.h - Access maps in loops over tiles -------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the passes that build loops have in common: an operation in a loop over tiles of its dims
// begins at another place in each iteration.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_TILEMAPS_H
#define SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_TILEMAPS_H

#include "mlir/IR/AffineMap.h"

#include <optional>
#include <utility>

namespace mlir::spyre {

/// Of a loop the dim that it moves along, and the extent of its tiles.
using TileStart = std::optional<std::pair<unsigned, int64_t>>;

/// \p map of a tile in the loops around it and \p starts.size() more: each dim of \p starts begins
/// at the tile of the loop's iteration.
inline AffineMap moveWith(AffineMap map, ArrayRef<TileStart> starts) {
  MLIRContext *context = map.getContext();
  const unsigned numLoops = map.getNumSymbols();
  SmallVector<AffineExpr> dims, symbols;
  for (unsigned d = 0; d < map.getNumDims(); ++d)
    dims.push_back(getAffineDimExpr(d, context));
  for (unsigned s = 0; s < numLoops; ++s)
    symbols.push_back(getAffineSymbolExpr(s, context));
  for (auto [loop, start] : llvm::enumerate(starts))
    if (start)
      dims[start->first] =
          dims[start->first] + getAffineSymbolExpr(numLoops + loop, context) * start->second;
  return map.replaceDimsAndSymbols(dims, symbols, map.getNumDims(), numLoops + starts.size());
}

} // namespace mlir::spyre

#endif // SPYRE_LIB_DIALECT_SPYRE_TRANSFORMS_L3_TILEMAPS_H
