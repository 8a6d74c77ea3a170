//===- Packing.h - Lifetimes into a scratchpad or a pool --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives buffers with known lifetimes their addresses: in LX, where what does not
// fit stays in device memory (pack), or in a pool that is as large as needed
// (solvePool). problem -> check -> solve -> verify. MLIR-free.
// Source of the rules: docs/formats/superdsc-rules.md, e.7;
// docs/formats/superdsc-rules.md, section 6, fault 1 (an in-place child must not
// lie partly over its live parent).
//
// Answers depend on the problem and the options only, unless a time limit is hit.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_PLANNING_PACKING_H
#define SPYRE_PLANNING_PACKING_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spyre::planning {

/// One buffer of a packing problem. In LX, sizes and addresses are per core.
struct PackingBuffer {
  int64_t sizeInBytes = 0;
  /// Alive at the steps begin <= step < end: from the first use to the last.
  int64_t begin = 0;
  int64_t end = 1;
  /// Accesses that an address saves; the worth of a buffer is its size times that.
  int64_t numUses = 1;
  /// Buffers whose place this one may take over while they are read for the last
  /// time: their end is this one's begin + 1, and they are not smaller. It then has
  /// the parent's very address; else it must not touch the parent's memory.
  std::vector<size_t> inPlaceParents;
  /// Where it has to lie; nothing: anywhere, or not at all. pack keeps it there, solvePool does
  /// not know it.
  std::optional<int64_t> address = std::nullopt;
};

struct PackingProblem {
  int64_t capacityInBytes = 0;
  int64_t alignmentInBytes = 1;
  std::vector<PackingBuffer> buffers;
};

enum class PackingStrategy : uint8_t {
  FirstFit, ///< first fit in the best of a few orders
  Search,   ///< then improved by search within the limits below
};

struct PackingOptions {
  PackingStrategy strategy = PackingStrategy::FirstFit;
  /// Only a plan that keeps every buffer is of use: spend the search on that, not
  /// on what to leave out or on the peak. (The plan may still not keep all.)
  bool mustKeepAll = false;
  /// Search steps; the search is deterministic as long as this is what ends it.
  int64_t nodeLimit = 200000;
  /// Seconds for the search; nothing: no limit, 0: no search, as FirstFit.
  std::optional<double> timeLimitInSeconds;
};

struct PackingPlan {
  /// One a buffer; nothing: not kept, it goes to device memory.
  std::vector<std::optional<int64_t>> addresses;
  int64_t peakInBytes = 0; ///< highest end of a kept buffer
  /// Sum of size times uses of the kept buffers.
  int64_t keptByteUses = 0;
  /// No plan keeps more; with mustKeepAll: all are kept, or no plan keeps all (proven).
  bool isOptimal = false;
  bool hitLimit = false;

  bool keepsAll() const;
};

/// What is wrong with an address that a buffer has to have: it is misaligned, beyond the capacity,
/// or another one, which is alive at the same time, has to lie there too.
struct AddressMistake {
  size_t buffer = 0;
  std::optional<size_t> other; ///< the one that lies there, a buffer before this one
  std::string message;         ///< without names of buffers: "is not a multiple of 128"
};

/// All mistakes in the addresses that buffers of \p problem have to have.
std::vector<AddressMistake> checkAddresses(const PackingProblem &problem);

/// Everything that is wrong with \p problem itself. An in-place parent that does
/// not fit the rules is no mistake: the permission is void.
std::vector<std::string> check(const PackingProblem &problem);

/// A valid plan (always: it may keep nothing but buffers that have to have an address). \p problem
/// must pass check. Addresses that the plan would have anyway change nothing of it.
PackingPlan pack(const PackingProblem &problem, const PackingOptions &options = {});

/// Everything that is wrong with \p addresses: overlaps, alignment, capacity, and others than
/// buffers have to have.
std::vector<std::string> verify(const PackingProblem &problem,
                                const std::vector<std::optional<int64_t>> &addresses);

/// True if buffer \p child may be placed at the address of \p parent.
bool canTakeOver(const PackingProblem &problem, size_t child, size_t parent);

/// Largest sum of sizes alive at one step: no pool is smaller. In-place pairs
/// count once.
int64_t getPeakLoad(const PackingProblem &problem);

//===----------------------------------------------------------------------===//
// The device-memory pool
//===----------------------------------------------------------------------===//

/// Buffers of a pool: all get an offset, the pool is to be small. The capacity
/// is what the pool must not exceed (0: no limit).
using PoolProblem = PackingProblem;

struct PoolPlan {
  std::vector<int64_t> offsets;
  int64_t sizeInBytes = 0;
  bool isOptimal = false; ///< as small as the peak load
};

struct PackingError {
  std::string message;
};

std::variant<PoolPlan, PackingError> solvePool(const PoolProblem &problem,
                                               const PackingOptions &options = {});

} // namespace spyre::planning

#endif // SPYRE_PLANNING_PACKING_H
