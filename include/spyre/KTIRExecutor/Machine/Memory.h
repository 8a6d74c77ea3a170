//===- Memory.h - Memories, views and access tiles --------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device memory and the LX of each compute tile as bytes, what checked mode knows of
// them, views, and access tiles as the runs of elements that they name. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_KTIREXECUTOR_MACHINE_MEMORY_H
#define SPYRE_KTIREXECUTOR_MACHINE_MEMORY_H

#include "spyre/KTIRExecutor/Machine/Affine.h"
#include "spyre/KTIRExecutor/Machine/Value.h"

#include <functional>
#include <map>
#include <memory>
#include <unordered_map>

namespace spyre::ktir {

/// Bytes at addresses from 0 on.
class Memory {
public:
  Memory() = default;
  explicit Memory(int64_t sizeInBytes, uint8_t fill = 0xff) : bytes(sizeInBytes, fill) {}

  std::vector<uint8_t> bytes;

  int64_t size() const { return static_cast<int64_t>(bytes.size()); }
  /// Checked mode calls a load of what nobody has written an error. The caller says what
  /// it has written itself; without a call, everything counts as written.
  void markWritten(int64_t address, int64_t count);
  void markNothingWritten() { written.assign(bytes.size(), 0); }
  bool tracksWrites() const { return !written.empty(); }
  /// The first address of the range that nobody has written, or -1.
  int64_t findUnwritten(int64_t address, int64_t count) const;

private:
  std::vector<uint8_t> written; ///< a byte a byte; empty: all
};

/// What compute tiles do to one memory, to find places that two of them touch without an
/// order. An order comes from inter-tile operations: a consumer comes after what its producers
/// did before they produced. Clocks count what a tile has produced.
class RaceDetector {
public:
  using Clocks = std::vector<uint32_t>; ///< of all tiles, as far as one tile knows them

  /// Tile \p tile, which knows \p clocks, touches the range. The other tile of a race, or -1.
  int64_t access(int64_t tile, const Clocks &clocks, int64_t address, int64_t count, bool writes);

private:
  struct Place {
    int32_t writer = -1;
    uint32_t writerClock = 0;
    std::vector<std::pair<int32_t, uint32_t>> readers; ///< since the last write, with clocks
  };
  /// Bytes that have been touched together have one place, others one each.
  static constexpr int64_t kBytesInBlock = 64;
  struct Block {
    Place whole;
    std::vector<Place> bytes;
  };
  static int64_t touch(Place &place, int64_t tile, const Clocks &clocks, bool writes);
  std::unordered_map<int64_t, Block> blocks;
};

/// Memory that a view's elements lie in: device memory or some tile's LX.
inline constexpr int32_t kGlobalSpace = -1;
/// Elements of a tensor value.
inline constexpr int32_t kTensorSpace = -2;
/// Nowhere: reads as zero, writes are dropped.
inline constexpr int32_t kNoSpace = -3;
/// In a program: the LX of the tile that runs it.
inline constexpr int32_t kOwnSpace = -4;

struct View : Object {
  struct Part {
    int32_t space = kGlobalSpace; ///< or the number of the tile whose LX it is
    int64_t address = 0;          ///< of coordinate `origin`, in bytes
    Shape strides;                ///< in elements
    Shape origin;                 ///< what is subtracted from a coordinate first
    Shape sizes;
    Set set; ///< of coordinates that it owns
    std::vector<int64_t> symbols;
    /// Added to a coordinate before the set is asked.
    Shape setOffset;
    std::vector<Bounds> box; ///< around the set, before setOffset is undone

    bool owns(const Shape &coordinates) const;
  };
  Element element;
  Shape sizes;
  std::vector<Part> parts;
  std::shared_ptr<Object> tensor; ///< kTensorSpace: the value
};

/// Elements in a row: `count` of them, `stride` bytes apart (elements, of a tensor).
struct Run {
  int32_t space = kGlobalSpace;
  int64_t address = 0, stride = 0, count = 0;
};

struct AccessTile : Object {
  std::shared_ptr<Object> view; ///< a View
  Shape shape;
  std::vector<Run> runs;
  /// What is wrong with it if it is used: a place that the view does not own.
  std::string outOfBounds;
};

/// Builds the runs of a tile point by point or run by run; joins those that continue.
class RunBuilder {
public:
  RunBuilder(const View &view, AccessTile &tile) : view(view), tile(tile) {}
  /// \p count points from \p coordinates on, each \p step (one number a dim) further.
  void add(const Shape &coordinates, const Shape &step, int64_t count);
  int64_t getCount() const { return total; }

private:
  void addRun(int32_t space, int64_t address, int64_t stride, int64_t count);
  void addPoint(const Shape &coordinates);

  const View &view;
  AccessTile &tile;
  int64_t total = 0;
};

/// The points of \p set in the order of \p order (a map of its dims), each given to \p visit as
/// the first of `count` points that differ by one in dim `dim` only (-1: a single point).
/// A message if the set has no bounds.
std::string
forEachRun(const Set &set, const std::vector<int64_t> &symbols, const Map &order,
           const std::function<void(const Shape &point, int64_t dim, int64_t count)> &visit);

} // namespace spyre::ktir

#endif // SPYRE_KTIREXECUTOR_MACHINE_MEMORY_H
