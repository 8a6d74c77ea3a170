//===- Residency.h - What may stay in the cores' scratchpads ----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one rule by which a value may be kept in LX: every core finds in its own scratchpad,
// whenever it reads, just what it wrote there; a relayout alone takes what other cores hold.
// The search of work divisions
// asks it to know what a division is worth, the placement to decide; the plan's verifier
// has a rule of its own, so that a mistake here is found. Source of the rule: the hardware's
// description (a core reaches its own LX only, at addresses that no loop moves) and
// the known failures of others. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_PLANNING_RESIDENCY_H
#define SPYRE_PLANNING_RESIDENCY_H

#include "spyre/Device/Device.h"
#include "spyre/Layout/Access.h"
#include "spyre/Planning/WorkDivision.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spyre::planning {

/// One access of a value by an operand of an operation.
struct ResidencyUse {
  layout::Access access;
  bool isWrite = false;
  /// The operation finds it in device memory only.
  bool needsDeviceMemory = false;
  /// A relayout reads it over the ring, from whichever core holds it.
  bool isFromAnyCore = false;
};

/// A value as the rule sees it.
struct ResidencyValue {
  std::vector<int64_t> shape;
  bool hasPaddedLayout = false;
  bool isReinterpreted = false;  ///< also read as elements of another width
  bool isShared = false;         ///< also used by something that is no device operation
  bool isWrittenInParts = false; ///< by writes that are not among `uses`
  /// In the order of execution.
  std::vector<ResidencyUse> uses;
};

enum class Obstacle : uint8_t {
  Shared,
  WrittenInParts,
  PaddedLayout,
  Reinterpreted,
  DeviceMemoryOnly,
  Moves,
  PartlyWritten,
  SummedByCores,
  OtherPart,
};

/// Why a value is not kept in LX.
struct ResidencyObstacle {
  Obstacle kind = Obstacle::Shared;
  unsigned use = 0; ///< the access that is in the way
  int64_t core = 0; ///< OtherPart: the first core that would not find what it reads
};

/// Whether an operation of \p kind finds (\p isWrite: leaves) a value in device memory only:
/// what a restickify reads, on devices on which it reads wrong data from LX.
bool needsDeviceMemory(const Device &device, OperationKind kind, bool isWrite);

/// What is in the way of \p value whatever the divisions; nothing: it depends on them.
std::optional<ResidencyObstacle> findObstacle(const ResidencyValue &value);

/// What is in the way of \p value, which findObstacle has no objection to, if its uses
/// are spread as \p spreads say (one a use) over \p numCores cores; nothing: it may stay.
std::optional<ResidencyObstacle>
findObstacleInSpreads(const ResidencyValue &value,
                      const std::vector<const layout::Spread *> &spreads, int64_t numCores);

/// In words, as the end of "not kept in LX: ".
std::string describe(const ResidencyObstacle &obstacle);

} // namespace spyre::planning

#endif // SPYRE_PLANNING_RESIDENCY_H
