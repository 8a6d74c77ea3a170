//===- SharedArrays.cpp - One copy of a weight for all programs -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header. Reading an array to see whether it has changed costs a fraction of
// what copying it in does.
//
//===----------------------------------------------------------------------===//

#include "spyre/Runtime/SharedArrays.h"

#include <algorithm>
#include <cstring>

namespace spyre::runtime {

ContentHash ContentHash::of(const HostTensor &tensor) {
  constexpr int kLanes = 4;
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15u;
  const uint8_t *data = tensor.data.data();
  size_t size = tensor.data.size(), at = 0;
  uint64_t lanes[kLanes] = {0x243f6a8885a308d3u, 0x13198a2e03707344u, 0xa4093822299f31d0u, size};
  auto mix = [](uint64_t &lane, uint64_t word) {
    lane = (lane ^ word) * kFactor;
    lane ^= lane >> 29;
  };
  for (; at + kLanes * sizeof(uint64_t) <= size; at += kLanes * sizeof(uint64_t))
    for (int lane = 0; lane < kLanes; ++lane) {
      uint64_t word;
      std::memcpy(&word, data + at + lane * sizeof(word), sizeof(word));
      mix(lanes[lane], word);
    }
  for (; at < size; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, data + at, std::min(size - at, sizeof(word)));
    mix(lanes[0], word);
  }
  ContentHash hash;
  for (uint64_t lane : lanes) {
    mix(hash.low, lane);
    mix(hash.high, lane ^ (lane << 31));
  }
  mix(hash.low, uint64_t(tensor.dtype));
  for (int64_t dim : tensor.shape)
    mix(hash.high, uint64_t(dim));
  return hash;
}

SharedArrays::~SharedArrays() {
  for (auto &[key, list] : copies)
    for (Copy &copy : list)
      runtime.free(copy.address);
}

std::optional<Error> SharedArrays::update(Copy &copy, const HostTensor &array, bool isNew) {
  ContentHash content = ContentHash::of(array);
  if (!isNew && content == copy.content)
    return std::nullopt;
  if (auto error = runtime.copyIn(copy.layout, array, copy.address))
    return error;
  copy.content = content;
  return std::nullopt;
}

Result<int64_t> SharedArrays::acquire(const ArrayKey &key, const HostTensor &array,
                                      const ArgumentSpec &layout, int64_t sizeInBytes,
                                      const std::string &name, bool &isNoMemory) {
  isNoMemory = false;
  std::vector<Copy> &list = copies[key];
  auto known = std::find_if(list.begin(), list.end(), [&](const Copy &copy) {
    return copy.sizeInBytes == sizeInBytes && haveSameLayout(copy.layout, layout) &&
           copy.layout.overflowIsInfinite == layout.overflowIsInfinite;
  });
  bool isNew = known == list.end();
  if (isNew) {
    Result<int64_t> address = runtime.allocate(sizeInBytes, name);
    if (auto *error = std::get_if<Error>(&address)) {
      isNoMemory = true;
      if (list.empty())
        copies.erase(key);
      return *error;
    }
    known = list.insert(list.end(), {layout, sizeInBytes, std::get<int64_t>(address), {}, 0});
  }
  int64_t address = known->address;
  ++known->users;
  if (auto error = update(*known, array, isNew)) {
    release(key, address);
    return *error;
  }
  return address;
}

std::optional<Error> SharedArrays::refresh(const ArrayKey &key, int64_t address,
                                           const HostTensor &array) {
  for (Copy &copy : copies[key])
    if (copy.address == address)
      return update(copy, array, /*isNew=*/false);
  return Error{"no copy of the array is at address " + std::to_string(address)};
}

void SharedArrays::release(const ArrayKey &key, int64_t address) {
  auto found = copies.find(key);
  if (found == copies.end())
    return;
  std::vector<Copy> &list = found->second;
  for (auto copy = list.begin(); copy != list.end(); ++copy) {
    if (copy->address != address)
      continue;
    if (--copy->users == 0) {
      runtime.free(address);
      list.erase(copy);
    }
    break;
  }
  if (list.empty())
    copies.erase(found);
}

std::shared_ptr<const HostTensor> SharedArrays::keep(const ArrayKey &key, const HostTensor &array) {
  auto copy = [&] {
    auto tensor = std::make_shared<HostTensor>(array);
    tensor->data.own();
    return tensor;
  };
  if (!key.isShared())
    return copy();
  for (auto it = kept.begin(); it != kept.end();)
    it = it->second.tensor.expired() ? kept.erase(it) : std::next(it);
  ContentHash content = ContentHash::of(array);
  Kept &entry = kept[key];
  std::shared_ptr<HostTensor> tensor = entry.tensor.lock();
  if (!tensor || tensor->dtype != array.dtype || tensor->shape != array.shape) {
    tensor = copy();
    entry.tensor = tensor;
  } else if (content != entry.content) {
    std::copy(array.data.begin(), array.data.end(), tensor->data.data());
  }
  entry.content = content;
  return tensor;
}

std::vector<SharedArrays::Description> SharedArrays::describe() const {
  std::vector<Description> all;
  for (const auto &[key, list] : copies)
    for (size_t i = 0; i < list.size(); ++i)
      all.push_back({describeLayout(list[i].layout, /*strides=*/list.size() > 1),
                     list[i].sizeInBytes, list[i].users, int(i)});
  return all;
}

} // namespace spyre::runtime
