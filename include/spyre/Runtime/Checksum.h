//===- Checksum.h - Whether memory still holds what it held -----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of blocks of memory at the speed of memory, to tell whether a weight has been
// written by somebody who tells nobody. They mean nothing outside of this process.
// MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_RUNTIME_CHECKSUM_H
#define SPYRE_RUNTIME_CHECKSUM_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spyre::runtime {

/// Depends on each of the \p size bytes at \p data and on where it stands.
uint64_t getChecksum(const void *data, size_t size);

/// Of \p count words of eight bytes that are spread over the block, its ends among them.
uint64_t getSampledChecksum(const void *data, size_t size, size_t count);

/// Blocks of memory with the sums that they had.
class ChecksumTable {
public:
  /// \p samples: words of a block to look at; 0: all of it.
  explicit ChecksumTable(size_t samples = 0) : samples(samples) {}

  /// Block \p index is this one from now on, as it is now.
  void set(size_t index, const void *data, size_t size);
  /// Blocks that hold something else than when they were set, in order.
  std::vector<size_t> findChanged() const;

private:
  struct Block {
    const uint8_t *data = nullptr;
    size_t size = 0;
    std::vector<uint64_t> sums; ///< one a piece
  };
  uint64_t getSum(const Block &block, size_t piece) const;
  size_t getNumPieces(size_t size) const;

  size_t samples;
  std::vector<Block> blocks;
};

} // namespace spyre::runtime

#endif // SPYRE_RUNTIME_CHECKSUM_H
