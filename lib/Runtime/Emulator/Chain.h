//===- Chain.h - Operations that run block by block -------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chain is a sequence of operations whose cores need nothing of one another's. It
// runs core by core, and where the operations also go along the same rows, block of
// rows by block of rows. What is only used inside the chain then never reaches the
// memory that it was meant for: it lies in a block-sized place of the thread's own,
// which stays in the cache. Private to the emulator.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_RUNTIME_EMULATOR_CHAIN_H
#define SPYRE_LIB_RUNTIME_EMULATOR_CHAIN_H

#include "Execution.h"

#include <memory>
#include <span>

namespace spyre::runtime {

class Chain {
public:
  bool empty() const { return links.empty(); }
  size_t size() const { return links.size(); }
  /// Whether \p next may run on a core as soon as the chain has run there.
  bool mayAppend(const Execution &next) const;
  /// Whether \p next has nothing to do with the chain, and may run before it.
  bool mayPrecede(const Execution &next) const;
  void append(Execution &next) { links.push_back(&next); }

  /// What it runs like. \p later: what runs after it; \p isEnd: after those nobody reads
  /// scratchpads or the pool.
  void plan(std::span<const std::unique_ptr<Execution>> later, bool isEnd);
  void run(ThreadPool &pool) const;

private:
  /// What a set of sticks holds from one operation that writes it on, or from before the
  /// chain, until the next one writes it.
  struct Value {
    const Operand *operand = nullptr; ///< one that has it
    /// Bytes and count of the steps between its sticks, large ones first.
    std::vector<std::pair<int64_t, int64_t>> steps;
    int64_t rowUnit = -1;       ///< bytes between its rows; 0: it has none
    bool isWritten = false;     ///< in the chain
    bool isLocal = false;       ///< nobody needs it in memory
    size_t first = 0, last = 0; ///< links that write and read it
    int64_t offset = 0;         ///< of a local one, in the thread's memory
    int64_t sizeInBytes = 0;

    bool liesAt(const Operand &other) const;
    bool liesWith(const Value &other) const;
    bool mayOverlap(const Value &other) const;
  };

  bool findValues();
  bool findRows(size_t firstDim);
  bool findLocalValues(std::span<const std::unique_ptr<Execution>> later, bool isEnd);
  bool isDead(const Value &value, std::span<const std::unique_ptr<Execution>> later,
              bool isEnd) const;
  bool mayInterleave() const;
  int64_t layOut(int64_t pieces);
  bool block(std::span<const std::unique_ptr<Execution>> later, bool isEnd);

  std::vector<Execution *> links;
  std::vector<Value> values;
  /// Of each link, its inputs and, last, its result.
  std::vector<std::vector<size_t>> valuesOf;
  std::vector<int> rowDims; ///< of each link
  int64_t numRows = 1;      ///< of a core
  int64_t pieces = 1;
  int64_t localInBytes = 0;
  bool isBlocked = false;
};

} // namespace spyre::runtime

#endif // SPYRE_LIB_RUNTIME_EMULATOR_CHAIN_H
