//===- KeptBuffers.h - Memory that idle programs keep -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sessions keep the buffers between their steps for the next run. All sessions of a device
// together keep a limited amount: who ran longest ago gives its buffers back. Belongs to
// the thread that has the runtime. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_RUNTIME_KEPTBUFFERS_H
#define SPYRE_RUNTIME_KEPTBUFFERS_H

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace spyre::runtime {

class KeptBuffers {
public:
  explicit KeptBuffers(int64_t limitInBytes) : limit(limitInBytes) {}

  /// \p owner has run, and keeps \p sizeInBytes until \p giveBack is called.
  void keep(const void *owner, int64_t sizeInBytes, std::function<void()> giveBack) {
    if (!entries.empty() && entries.back().owner == owner)
      return;
    forget(owner);
    entries.push_back({owner, sizeInBytes, std::move(giveBack)});
    total += sizeInBytes;
    while (total > limit && entries.size() > 1) {
      Entry oldest = std::move(entries.front());
      forget(oldest.owner);
      oldest.giveBack();
    }
  }
  /// \p owner keeps nothing any more.
  void forget(const void *owner) {
    auto entry = std::find_if(entries.begin(), entries.end(),
                              [&](const Entry &entry) { return entry.owner == owner; });
    if (entry == entries.end())
      return;
    total -= entry->sizeInBytes;
    entries.erase(entry);
  }

private:
  struct Entry {
    const void *owner = nullptr;
    int64_t sizeInBytes = 0;
    std::function<void()> giveBack;
  };

  int64_t limit;
  int64_t total = 0;
  std::vector<Entry> entries; ///< who ran last is last
};

} // namespace spyre::runtime

#endif // SPYRE_RUNTIME_KEPTBUFFERS_H
