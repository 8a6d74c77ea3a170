//===- SharedArrays.h - One copy of a weight for all programs ---*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What several sessions of a device hold of the same host array: a copy in device memory
// for each layout that they want, and one on the host for those that need it there. A key
// says which arrays are the same one; whether it has changed is seen by its content, so
// that it is copied in again once, for all that share it, by whoever comes first. Copies
// are counted and go with their last user. Belongs to the thread that has the runtime.
// MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_RUNTIME_SHAREDARRAYS_H
#define SPYRE_RUNTIME_SHAREDARRAYS_H

#include "spyre/Runtime/Runtime.h"

#include <map>
#include <memory>

namespace spyre::runtime {

/// A sum of an array's bytes and their places.
struct ContentHash {
  uint64_t low = 0, high = 0;
  static ContentHash of(const HostTensor &tensor);
  bool operator==(const ContentHash &) const = default;
  auto operator<=>(const ContentHash &) const = default;
};

/// Which array it is: one that the caller has a number for, or any with this content.
class ArrayKey {
public:
  /// The array is nobody else's.
  ArrayKey() = default;
  /// \p number: of one array as long as anybody uses it; 0: of none.
  static ArrayKey ofNumber(uint64_t number) { return {number, {}}; }
  /// For arrays that never change.
  static ArrayKey ofContent(const HostTensor &tensor) {
    return {~uint64_t(0), ContentHash::of(tensor)};
  }
  bool isShared() const { return number != 0; }
  auto operator<=>(const ArrayKey &) const = default;

private:
  ArrayKey(uint64_t number, ContentHash content) : number(number), content(content) {}
  uint64_t number = 0;
  ContentHash content;
};

class SharedArrays {
public:
  /// What is in memory, to be counted.
  struct Description {
    std::string layout;
    int64_t sizeInBytes = 0;
    int users = 0;
    /// Copies of the same array that were there before this one, in other layouts.
    int others = 0;
  };

  /// \p runtime must outlive it.
  explicit SharedArrays(Runtime &runtime) : runtime(runtime) {}
  SharedArrays(const SharedArrays &) = delete;
  SharedArrays &operator=(const SharedArrays &) = delete;
  ~SharedArrays();

  /// Where a buffer with \p layout holds \p array as it is now, for one user more.
  /// \p name: of the buffer, for who runs out of memory. isNoMemory tells the errors apart.
  Result<int64_t> acquire(const ArrayKey &key, const HostTensor &array, const ArgumentSpec &layout,
                          int64_t sizeInBytes, const std::string &name, bool &isNoMemory);
  /// The copy at \p address, which a user has, holds \p array as it is now.
  std::optional<Error> refresh(const ArrayKey &key, int64_t address, const HostTensor &array);
  /// One user less.
  void release(const ArrayKey &key, int64_t address);

  /// A copy on the host that goes with its last owner.
  std::shared_ptr<const HostTensor> keep(const ArrayKey &key, const HostTensor &array);

  std::vector<Description> describe() const;

private:
  struct Copy {
    ArgumentSpec layout;
    int64_t sizeInBytes = 0;
    int64_t address = -1;
    ContentHash content;
    int users = 0;
  };
  struct Kept {
    ContentHash content;
    std::weak_ptr<HostTensor> tensor;
  };

  std::optional<Error> update(Copy &copy, const HostTensor &array, bool isNew);

  Runtime &runtime;
  std::map<ArrayKey, std::vector<Copy>> copies;
  std::map<ArrayKey, Kept> kept;
};

} // namespace spyre::runtime

#endif // SPYRE_RUNTIME_SHAREDARRAYS_H
