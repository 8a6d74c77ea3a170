//===- Memory.cpp - Device memory and scratchpads ---------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Allocation is first fit over the gaps between blocks. calloc leaves the pages
// of a large block unbacked until they are touched, so a tensor costs what is
// used of it; only checked mode touches all of it. The last large block freed is
// kept for the next one of its size, with what it held: the pool of the next launch.
//
//===----------------------------------------------------------------------===//

#include "spyre/Runtime/Memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

using namespace spyre;
using namespace spyre::runtime;

/// Blocks from here on get large pages. Of smaller ones that are freed, so much is kept.
static constexpr int64_t kLargeInBytes = int64_t(8) << 20;

void Block::Free::operator()(uint8_t *pointer) const { std::free(pointer); }

Block::Block(int64_t size, bool shadowed, std::string name)
    : sizeInBytes(size), shadowed(shadowed),
      data(static_cast<uint8_t *>(std::calloc(std::max<int64_t>(size, 1), 1))),
      name(std::move(name)) {
#ifdef MADV_HUGEPAGE
  // Sticks of one row lie far apart; with large pages they are found all the same.
  constexpr uintptr_t kPage = 4096;
  if (data && size >= kLargeInBytes) {
    uintptr_t begin = (reinterpret_cast<uintptr_t>(data.get()) + kPage - 1) / kPage * kPage;
    madvise(reinterpret_cast<void *>(begin), size - kPage, MADV_HUGEPAGE);
  }
#endif
}

Block Block::createUnbacked(int64_t size, std::string name) {
  Block block;
  block.sizeInBytes = size;
  block.name = std::move(name);
  return block;
}

void Block::prepareMore(int64_t endInBytes) {
  int64_t end = std::min(roundUp(endInBytes, kStickInBytes), sizeInBytes);
  if (end <= prepared)
    return;
  std::memset(data.get() + prepared, 0xff, end - prepared);
  shadow.resize((end + kStickInBytes - 1) / kStickInBytes);
  prepared = end;
}

void Block::clear() {
  prepared = 0;
  shadow.clear();
}

Result<int64_t> DeviceMemory::insert(int64_t address, int64_t size, const std::string &name) {
  if (size > capacity - used)
    return Error{name + ": " + std::to_string(size) + " bytes do not fit in device memory, " +
                 std::to_string(capacity - used) + " of " + std::to_string(capacity) +
                 " bytes are free"};
  Block block;
  auto known = spares.find(address);
  if (spare && spare->getSizeInBytes() == size) {
    block = std::move(*spare);
  } else if (known != spares.end() && known->second.getSizeInBytes() == size) {
    block = std::move(known->second);
    sparesInBytes -= size;
    spares.erase(known);
  } else {
    block = backed ? Block(size, checked, name) : Block::createUnbacked(size, name);
  }
  block.setName(name);
  block.setUse(BlockUse::Any);
  if (size >= kLargeInBytes)
    spare.reset();
  if (backed && !block.getData())
    return Error{name + ": the host has no memory for " + std::to_string(size) + " bytes"};
  block.prepare(size);
  blocks.emplace(address, std::move(block));
  used += size;
  peak = std::max(peak, used);
  return address;
}

Result<int64_t> DeviceMemory::allocate(int64_t sizeInBytes, const std::string &name) {
  if (sizeInBytes < 0 || sizeInBytes > capacity)
    return Error{name + ": " + std::to_string(sizeInBytes) +
                 " bytes are more than the device memory of " + std::to_string(capacity) +
                 " bytes"};
  int64_t size = roundUp(std::max<int64_t>(sizeInBytes, 1), alignment);
  int64_t address = alignment;
  for (const auto &[start, block] : blocks) {
    if (start - address >= size + alignment)
      break;
    address = std::max(address, start + block.getSizeInBytes() + alignment);
  }
  return insert(address, size, name);
}

Result<int64_t> DeviceMemory::allocateAt(int64_t address, int64_t sizeInBytes,
                                         const std::string &name) {
  if (address < 0 || address % alignment != 0)
    return Error{name + ": address " + std::to_string(address) + " is not a multiple of " +
                 std::to_string(alignment)};
  if (sizeInBytes < 0 || sizeInBytes > capacity)
    return Error{name + ": " + std::to_string(sizeInBytes) +
                 " bytes are more than the device memory of " + std::to_string(capacity) +
                 " bytes"};
  int64_t size = roundUp(std::max<int64_t>(sizeInBytes, 1), alignment);
  auto next = blocks.lower_bound(address);
  if (next != blocks.end() && next->first < address + size)
    return Error{name + ": addresses from " + std::to_string(address) + " are taken by " +
                 next->second.getName()};
  if (next != blocks.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second.getSizeInBytes() > address)
      return Error{name + ": address " + std::to_string(address) + " is taken by " +
                   previous->second.getName()};
  }
  return insert(address, size, name);
}

bool DeviceMemory::free(int64_t address) {
  auto it = blocks.find(address);
  if (it == blocks.end())
    return false;
  used -= it->second.getSizeInBytes();
  int64_t size = it->second.getSizeInBytes();
  if (!checked && size >= kLargeInBytes) {
    spare = std::move(it->second);
  } else if (!checked) {
    if (sparesInBytes + size > kLargeInBytes) {
      spares.clear();
      sparesInBytes = 0;
    }
    auto [place, isNew] = spares.try_emplace(address);
    sparesInBytes += size - place->second.getSizeInBytes();
    place->second = std::move(it->second);
  }
  blocks.erase(it);
  return true;
}

Block *DeviceMemory::find(int64_t address, int64_t &start) {
  auto it = blocks.upper_bound(address);
  if (it == blocks.begin())
    return nullptr;
  --it;
  if (address >= it->first + it->second.getSizeInBytes())
    return nullptr;
  start = it->first;
  return &it->second;
}
