//===- Memory.h - Device memory and scratchpads with shadow state -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memories of the emulated device. A block is a run of whole sticks; in
// checked mode each stick has a shadow: which of its bytes were written, which of
// those hold nothing that means anything or lie after the end of a tensor, and who
// wrote last. Device memory is a
// set of blocks at addresses of their own, each backed only when it is allocated;
// a scratchpad (LX) is one block a core. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_RUNTIME_MEMORY_H
#define SPYRE_RUNTIME_MEMORY_H

#include "spyre/Numerics/Formats.h"

#include <bitset>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spyre::runtime {

struct Error {
  std::string message;
};
template <typename T> using Result = std::variant<T, Error>;

/// What is known of one stick in checked mode.
struct StickShadow {
  std::bitset<kStickInBytes> written;
  /// Written, but with what the unit leaves in lanes that nobody defined.
  std::bitset<kStickInBytes> undefined;
  /// Written, but after the end of a tensor: padding of known content.
  std::bitset<kStickInBytes> padding;
  int32_t owner = -1;  ///< core that wrote last; -1: the host or nobody
  uint32_t epoch = 0;  ///< execution in which it did
  int32_t writer = -1; ///< what it wrote: number of the emulator's write record
};

/// What a block is for.
enum class BlockUse : uint8_t {
  Any,
  Scratch, ///< the pool: what nobody reads should not have been written
  Input,   ///< a launch may not write it
};

/// A run of whole sticks.
class Block {
public:
  Block() = default;
  /// \p shadowed: checked mode; the bytes are then poisoned with a pattern that
  /// no format reads as a number (all ones).
  Block(int64_t sizeInBytes, bool shadowed, std::string name);
  /// A block of addresses without content: getData() is null.
  static Block createUnbacked(int64_t sizeInBytes, std::string name);

  /// Says that bytes before \p endInBytes are about to be used. Poison and shadow
  /// reach only as far as somebody asked: a scratchpad costs what is used of it.
  void prepare(int64_t endInBytes) {
    if (shadowed && endInBytes > prepared)
      prepareMore(endInBytes);
  }

  int64_t getSizeInBytes() const { return sizeInBytes; }
  const std::string &getName() const { return name; }
  void setName(std::string newName) { name = std::move(newName); }
  uint8_t *getData() { return data.get(); }
  const uint8_t *getData() const { return data.get(); }
  bool isShadowed() const { return shadowed; }
  BlockUse getUse() const { return use; }
  void setUse(BlockUse newUse) { use = newUse; }
  /// Whether byte \p at is known to be written (checked mode).
  bool isWritten(int64_t at) const {
    return at < prepared && shadow[at / kStickInBytes].written[at % kStickInBytes];
  }
  /// Of a prepared stick.
  StickShadow &getShadow(int64_t stick) { return shadow[stick]; }
  const StickShadow &getShadow(int64_t stick) const { return shadow[stick]; }
  /// Forgets the contents (checked mode: everything is unwritten again).
  void clear();

private:
  struct Free {
    void operator()(uint8_t *pointer) const;
  };
  void prepareMore(int64_t endInBytes);
  int64_t sizeInBytes = 0;
  bool shadowed = false;
  BlockUse use = BlockUse::Any;
  int64_t prepared = 0; ///< bytes, whole sticks
  std::unique_ptr<uint8_t[], Free> data;
  std::vector<StickShadow> shadow;
  std::string name;
};

/// Blocks by address. Between any two lies at least one stick that belongs to
/// nobody, so that running over an end is seen.
class DeviceMemory {
public:
  /// \p backed: blocks have content; without, only addresses are handed out.
  DeviceMemory(int64_t capacityInBytes, int64_t alignmentInBytes, bool checked, bool backed = true)
      : capacity(capacityInBytes), alignment(alignmentInBytes), checked(checked), backed(backed) {}

  /// An address for \p sizeInBytes bytes (rounded up to the granularity).
  Result<int64_t> allocate(int64_t sizeInBytes, const std::string &name);
  /// The same at a given address, which must be free and aligned.
  Result<int64_t> allocateAt(int64_t address, int64_t sizeInBytes, const std::string &name);
  /// False if there is no allocation at \p address.
  bool free(int64_t address);

  /// The block that contains \p address and its first address; null if none.
  Block *find(int64_t address, int64_t &start);
  int64_t getUsedInBytes() const { return used; }
  int64_t getPeakInBytes() const { return peak; }

private:
  Result<int64_t> insert(int64_t address, int64_t size, const std::string &name);
  int64_t capacity, alignment, used = 0, peak = 0;
  bool checked, backed;
  std::map<int64_t, Block> blocks;
  // Freed without checked mode: the last large block, for the next of its size; small ones,
  // for the next of their place and size.
  std::optional<Block> spare;
  std::map<int64_t, Block> spares;
  int64_t sparesInBytes = 0;
};

/// Rounds \p size up to a multiple of \p to.
inline int64_t roundUp(int64_t size, int64_t to) { return (size + to - 1) / to * to; }

} // namespace spyre::runtime

#endif // SPYRE_RUNTIME_MEMORY_H
