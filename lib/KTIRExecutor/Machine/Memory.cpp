//===- Memory.cpp - Memories, views and access tiles ------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/KTIRExecutor/Machine/Memory.h"

#include <algorithm>

using namespace spyre::ktir;

//===----------------------------------------------------------------------===//
// What checked mode knows
//===----------------------------------------------------------------------===//

void Memory::markWritten(int64_t address, int64_t count) {
  if (!written.empty())
    std::fill_n(written.begin() + address, count, 1);
}

int64_t Memory::findUnwritten(int64_t address, int64_t count) const {
  if (written.empty())
    return -1;
  auto begin = written.begin() + address, it = std::find(begin, begin + count, 0);
  return it == begin + count ? -1 : it - written.begin();
}

int64_t RaceDetector::touch(Place &place, int64_t tile, const Clocks &clocks, bool writes) {
  auto isAfter = [&](int32_t other, uint32_t clock) {
    return other < 0 || other == tile || clocks[other] > clock;
  };
  if (!isAfter(place.writer, place.writerClock))
    return place.writer;
  if (writes) {
    for (auto [reader, clock] : place.readers)
      if (!isAfter(reader, clock))
        return reader;
    place.writer = static_cast<int32_t>(tile);
    place.writerClock = clocks[tile];
    place.readers.clear();
    return -1;
  }
  for (auto &[reader, clock] : place.readers)
    if (reader == tile) {
      clock = clocks[tile];
      return -1;
    }
  place.readers.emplace_back(static_cast<int32_t>(tile), clocks[tile]);
  return -1;
}

int64_t RaceDetector::access(int64_t tile, const Clocks &clocks, int64_t address, int64_t count,
                             bool writes) {
  int64_t end = address + count;
  for (int64_t at = address; at < end;) {
    int64_t number = at / kBytesInBlock, next = std::min((number + 1) * kBytesInBlock, end);
    Block &block = blocks[number];
    if (block.bytes.empty()) {
      if (next - at == kBytesInBlock) {
        if (int64_t other = touch(block.whole, tile, clocks, writes); other >= 0)
          return other;
        at = next;
        continue;
      }
      block.bytes.assign(kBytesInBlock, block.whole);
    }
    for (; at < next; ++at)
      if (int64_t other = touch(block.bytes[at % kBytesInBlock], tile, clocks, writes); other >= 0)
        return other;
  }
  return -1;
}

//===----------------------------------------------------------------------===//
// Views and runs
//===----------------------------------------------------------------------===//

/// a + b * c; what does not fit wraps around and is found outside of every memory.
static int64_t addProduct(int64_t a, int64_t b, int64_t c) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b) * static_cast<uint64_t>(c));
}

bool View::Part::owns(const Shape &coordinates) const {
  for (size_t d = 0; d < coordinates.size(); ++d) {
    int64_t local = addProduct(coordinates[d], origin[d], -1);
    if (local < 0 || local >= sizes[d])
      return false;
  }
  if (set.isBox) {
    for (size_t d = 0; d < coordinates.size(); ++d) {
      int64_t c = addProduct(coordinates[d], setOffset[d], 1);
      if (c < box[d].lower || c > box[d].upper)
        return false;
    }
    return true;
  }
  Shape inputs(coordinates.size() + symbols.size());
  for (size_t d = 0; d < coordinates.size(); ++d)
    inputs[d] = addProduct(coordinates[d], setOffset[d], 1);
  std::copy(symbols.begin(), symbols.end(), inputs.begin() + coordinates.size());
  return set.contains(inputs);
}

void RunBuilder::addRun(int32_t space, int64_t address, int64_t stride, int64_t count) {
  if (!tile.runs.empty() && space != kNoSpace) {
    Run &last = tile.runs.back();
    int64_t step = last.count == 1 ? addProduct(address, last.address, -1) : last.stride;
    if (last.space == space && address == addProduct(last.address, step, last.count) &&
        (count == 1 || stride == step)) {
      last.stride = step;
      last.count += count;
      return;
    }
  }
  tile.runs.push_back({space, address, count == 1 ? 0 : stride, count});
}

void RunBuilder::addPoint(const Shape &coordinates) {
  int64_t width = view.tensor ? 1 : view.element.getBytes();
  bool isInside = true;
  for (size_t d = 0; d < coordinates.size(); ++d)
    isInside &= coordinates[d] >= 0 && coordinates[d] < view.sizes[d];
  if (isInside)
    for (const View::Part &part : view.parts)
      if (part.owns(coordinates)) {
        int64_t offset = 0;
        for (size_t d = 0; d < coordinates.size(); ++d)
          offset = addProduct(offset, coordinates[d] - part.origin[d], part.strides[d]);
        return addRun(part.space, addProduct(part.address, offset, width), 0, 1);
      }
  if (tile.outOfBounds.empty())
    tile.outOfBounds =
        "coordinates " + toString(coordinates) +
        (isInside ? " are not owned by the view of sizes " : " are outside of the view of sizes ") +
        toString(view.sizes);
  addRun(kNoSpace, 0, 0, 1);
}

void RunBuilder::add(const Shape &coordinates, const Shape &step, int64_t count) {
  total += count;
  if (count <= 0)
    return;
  // Where one box owns both ends, it owns what lies between.
  Shape last = coordinates;
  bool isInside = true;
  for (size_t d = 0; d < last.size(); ++d) {
    last[d] = addProduct(last[d], step[d], count - 1);
    for (int64_t c : {coordinates[d], last[d]})
      isInside &= c >= 0 && c < view.sizes[d];
  }
  if (isInside)
    for (const View::Part &part : view.parts) {
      if (!part.set.isBox || !part.owns(coordinates) || !part.owns(last))
        continue;
      int64_t width = view.tensor ? 1 : view.element.getBytes(), offset = 0, stride = 0;
      for (size_t d = 0; d < last.size(); ++d) {
        offset = addProduct(offset, coordinates[d] - part.origin[d], part.strides[d]);
        stride = addProduct(stride, step[d], part.strides[d]);
      }
      return addRun(part.space, addProduct(part.address, offset, width),
                    addProduct(0, stride, width), count);
    }
  Shape point = coordinates;
  for (int64_t i = 0; i < count; ++i) {
    addPoint(point);
    for (size_t d = 0; d < point.size(); ++d)
      point[d] = addProduct(point[d], step[d], 1);
  }
}

std::string spyre::ktir::forEachRun(
    const Set &set, const std::vector<int64_t> &symbols, const Map &order,
    const std::function<void(const Shape &point, int64_t dim, int64_t count)> &visit) {
  std::optional<std::vector<Bounds>> bounds = set.getBounds(symbols);
  if (!bounds)
    return "a set has no bounds";
  size_t rank = set.numDims;
  Shape extents;
  for (const Bounds &bound : *bounds)
    extents.push_back(bound.getExtent());
  int64_t count = countElements(extents);
  if (count < 0)
    return "a set has too many points";
  if (count == 0)
    return "";
  Shape inputs(rank + symbols.size());
  std::copy(symbols.begin(), symbols.end(), inputs.begin() + rank);
  auto contains = [&](const Shape &point) {
    std::copy(point.begin(), point.end(), inputs.begin());
    return set.contains(inputs);
  };
  // The order is a permutation in nearly all kernels: loops over the dims in that order.
  std::vector<size_t> dims;
  for (const Expression &result : order.results) {
    if (result.steps.size() != 1 || result.steps[0].code != Expression::Code::Input ||
        std::count(dims.begin(), dims.end(), size_t(result.steps[0].number)))
      break;
    dims.push_back(result.steps[0].number);
  }
  Shape point(rank);
  for (size_t d = 0; d < rank; ++d)
    point[d] = (*bounds)[d].lower;
  if (dims.size() != rank) {
    std::vector<std::pair<Shape, Shape>> points; // key and point
    while (true) {
      if (contains(point)) {
        Shape key;
        for (const Expression &result : order.results)
          key.push_back(result.evaluate(point));
        points.emplace_back(std::move(key), point);
      }
      size_t d = rank;
      while (d > 0 && ++point[d - 1] > (*bounds)[d - 1].upper) {
        point[d - 1] = (*bounds)[d - 1].lower;
        --d;
      }
      if (d == 0)
        break;
    }
    std::sort(points.begin(), points.end());
    for (const auto &[key, at] : points)
      visit(at, -1, 1);
    return "";
  }
  if (rank == 0) {
    visit(point, -1, 1);
    return "";
  }
  size_t inner = dims.back();
  while (true) {
    if (set.isBox) {
      visit(point, inner, extents[inner]);
    } else {
      Shape at = point;
      for (; at[inner] <= (*bounds)[inner].upper; ++at[inner])
        if (contains(at))
          visit(at, -1, 1);
    }
    size_t k = rank - 1;
    while (k > 0 && ++point[dims[k - 1]] > (*bounds)[dims[k - 1]].upper) {
      point[dims[k - 1]] = (*bounds)[dims[k - 1]].lower;
      --k;
    }
    if (k == 0)
      return "";
  }
}
