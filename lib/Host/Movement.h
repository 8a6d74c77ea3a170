//===- Movement.h - Elements in other places --------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What copies, reorderings and paddings share.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_HOST_MOVEMENT_H
#define SPYRE_LIB_HOST_MOVEMENT_H

#include "Call.h"

namespace spyre::host {

void addJoining(Table &table);

/// Fills the result from \p source: \p getSource makes of coordinates of the result those of
/// the source, or returns false for an element that stays as it is.
template <typename F> bool gather(Call &call, const Array &source, F getSource) {
  Odometer walk(call.result.shape);
  Ints at;
  for (int64_t i = 0, n = call.result.getNumElements(); i < n; ++i, walk.advance()) {
    at = walk.get();
    if (!getSource(at))
      continue;
    if (at.size() != source.shape.size())
      return call.refuse("ranks do not fit");
    int64_t index = 0;
    for (size_t d = 0; d < at.size(); ++d) {
      if (at[d] < 0 || at[d] >= source.shape[d])
        return call.refuse("an index is out of bounds");
      index = index * source.shape[d] + at[d];
    }
    call.result.copy(i, source, index);
  }
  return true;
}

} // namespace spyre::host

#endif // SPYRE_LIB_HOST_MOVEMENT_H
