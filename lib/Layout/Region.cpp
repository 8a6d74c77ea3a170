//===- Region.cpp - Boxes of coordinates ----------------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Layout/Region.h"

#include <algorithm>
#include <optional>

namespace spyre::layout {

bool Region::isEmpty() const {
  for (size_t i = 0; i < begin.size(); ++i)
    if (begin[i] >= end[i])
      return true;
  return false;
}

bool Region::contains(const Region &other) const {
  if (other.isEmpty())
    return true;
  for (size_t i = 0; i < begin.size(); ++i)
    if (other.begin[i] < begin[i] || other.end[i] > end[i])
      return false;
  return true;
}

bool Region::intersects(const Region &other) const {
  for (size_t i = 0; i < begin.size(); ++i)
    if (std::max(begin[i], other.begin[i]) >= std::min(end[i], other.end[i]))
      return false;
  return true;
}

int64_t Region::getSize() const {
  int64_t size = 1;
  for (size_t i = 0; i < begin.size(); ++i)
    size *= std::max<int64_t>(0, end[i] - begin[i]);
  return size;
}

std::vector<Region> subtract(const Region &region, const Region &hole) {
  if (region.isEmpty())
    return {};
  if (!region.intersects(hole))
    return {region};
  // Slabs before and after the hole in each dim, the rest shrinking to the hole.
  std::vector<Region> pieces;
  Region rest = region;
  for (size_t i = 0; i < region.begin.size(); ++i) {
    if (rest.begin[i] < hole.begin[i]) {
      pieces.push_back(rest);
      pieces.back().end[i] = rest.begin[i] = hole.begin[i];
    }
    if (rest.end[i] > hole.end[i]) {
      pieces.push_back(rest);
      pieces.back().begin[i] = rest.end[i] = hole.end[i];
    }
  }
  return pieces;
}

/// The dim in which \p a and \p b differ; nothing if it is more than one.
static std::optional<size_t> getOnlyDifference(const Region &a, const Region &b) {
  std::optional<size_t> found;
  for (size_t i = 0; i < a.begin.size(); ++i) {
    if (a.begin[i] == b.begin[i] && a.end[i] == b.end[i])
      continue;
    if (found)
      return std::nullopt;
    found = i;
  }
  return found;
}

void RegionSet::add(Region region) {
  if (region.isEmpty())
    return;
  for (size_t k = 0; k < boxes.size();) {
    if (boxes[k].contains(region))
      return;
    bool isPart = region.contains(boxes[k]);
    if (!isPart) {
      std::optional<size_t> dim = getOnlyDifference(boxes[k], region);
      if (!dim || boxes[k].begin[*dim] > region.end[*dim] ||
          region.begin[*dim] > boxes[k].end[*dim]) {
        ++k;
        continue;
      }
      region.begin[*dim] = std::min(region.begin[*dim], boxes[k].begin[*dim]);
      region.end[*dim] = std::max(region.end[*dim], boxes[k].end[*dim]);
    }
    // What has grown may continue a box that it did not continue before.
    boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(k));
    k = isPart ? k : 0;
  }
  boxes.push_back(std::move(region));
}

bool RegionSet::contains(const Region &region) const {
  std::vector<Region> missing;
  if (!region.isEmpty())
    missing.push_back(region);
  for (const Region &box : boxes) {
    std::vector<Region> rest;
    for (const Region &piece : missing)
      for (Region &part : subtract(piece, box))
        rest.push_back(std::move(part));
    missing = std::move(rest);
    if (missing.empty())
      break;
  }
  return missing.empty();
}

} // namespace spyre::layout
