//===- Legality.h - The rules of ktir-check-legality, by subject -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the files of the pass share, and the explanation of kernels with them. Rules are
// numbered in Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_DIALECT_KTIR_TRANSFORMS_LEGALITY_H
#define SPYRE_LIB_DIALECT_KTIR_TRANSFORMS_LEGALITY_H

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace spyre {
class Device;
} // namespace spyre

namespace mlir::ktdp {

/// Collects violations. A rule is reported once for an operation.
class LegalityReport {
public:
  /// The report of \p rule at \p op, or nothing if it was made already.
  std::optional<InFlightDiagnostic> at(Operation *op, StringRef rule);
  bool isClean() const { return reported.empty(); }

private:
  llvm::DenseSet<std::pair<Operation *, StringRef>> reported;
};

/// One kernel, and what its rules are checked against.
struct Kernel {
  FunctionOpInterface function;
  /// Compute tiles; without a grid as many as the sets of inter-tile operations name.
  SmallVector<int64_t> grid;
  int64_t numTiles = 1;
  const ::spyre::Device &device;
  bool addressesAreBytes = false;
  /// The group in which each tile produces, for each production: kNoGroup, or
  /// kUnknownGroup where the sets are too large to be looked through.
  DenseMap<Operation *, SmallVector<int64_t>> groups;

  static constexpr int64_t kNoGroup = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kUnknownGroup = kNoGroup + 1;

  /// Coordinates of a tile, dimension 0 fastest.
  SmallVector<int64_t> getCoordinates(int64_t tile) const;
};

/// Questions whether a set holds a tile that the rules ask of one kernel.
inline constexpr int64_t kMaxQuestions = int64_t(1) << 22;

/// True if the function has an operation of ktdp.
bool isKernel(FunctionOpInterface function);

/// A kernel with a grid of kMaxTiles at most; nothing for other functions.
std::optional<Kernel> makeKernel(FunctionOpInterface function, const ::spyre::Device &device);

/// How often a compute tile runs an operation; nothing: unknown.
using RunCounts = DenseMap<Operation *, SmallVector<std::optional<int64_t>>>;

/// KTIR-5 on every tile. Fills \p counts for the operations between tiles.
void checkAccesses(const Kernel &kernel, LegalityReport &report, RunCounts &counts);

/// R1 to R14, and KTIR-11 with how often each tile runs an operation.
void checkInterTile(const Kernel &kernel, const RunCounts &counts, LegalityReport &report);

/// KTIR-7: parts of views. KTIR-8: addresses. KTIR-9: what a tile holds in LX.
void checkMemory(const Kernel &kernel, LegalityReport &report);

/// KTIR-10: what different tiles store.
void checkStores(const Kernel &kernel, LegalityReport &report);

/// The first address of a view in its unit, as a number plus a value that is the same on
/// all tiles; no value: the number alone. Nothing if it is not of that form.
class Ranges;
struct BaseAddress {
  Value value;
  int64_t number = 0;
};
std::optional<BaseAddress> getBaseAddress(Value offset, const Ranges &ranges);

/// Bytes of an element in memory; nothing for types without a size.
std::optional<int64_t> getElementBytes(Type type);

} // namespace mlir::ktdp

#endif // SPYRE_LIB_DIALECT_KTIR_TRANSFORMS_LEGALITY_H
