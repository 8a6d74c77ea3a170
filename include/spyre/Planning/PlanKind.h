//===- PlanKind.h - Kinds of plans of a program ------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kinds of plans that a program has, of which the one that takes least in the cost model is
// taken (PlanChoice.h).
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_PLANNING_PLANKIND_H
#define SPYRE_PLANNING_PLANKIND_H

#include "spyre/Support/EnumNames.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace spyre {
namespace planning {

enum class PlanKind : uint8_t {
  Best,          ///< the choice is free
  Untiled,       ///< every operation at once
  Tiled,         ///< operations tile by tile
  Banded,        ///< in addition, what a known mask hides is not computed
  Carried,       ///< tiled; in addition, loops over rows of softmaxes carry their sums on, in f32
  BandedCarried, ///< both
  /// Tiled; in addition, loops over the dim between two products carry the sums of the second on.
  CarriedProducts,
};

/// The plans of a part of a program that were compared, and which was taken.
struct PlanTimes {
  PlanKind kind = PlanKind::Untiled;
  /// What each takes by the cost model, a launch.
  std::vector<std::pair<PlanKind, double>> ns;
};

} // namespace planning

template <> struct EnumNames<planning::PlanKind> {
  static constexpr std::string_view kNames[] = {
      "best", "untiled", "tiled", "banded", "carried", "banded-carried", "carried-products"};
};

} // namespace spyre

#endif // SPYRE_PLANNING_PLANKIND_H
