//===- Ring.cpp - Time of what cores send each other ------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header. Links work at their published rate, all at once; nothing is published of
// what a message's start takes.
//
//===----------------------------------------------------------------------===//

#include "spyre/CostModel/Ring.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <map>

using namespace spyre;
using namespace spyre::cost;

double cost::getRingInNs(const Device &device, const std::vector<Message> &messages) {
  int64_t numCores = device.getNumCores(), multicast = device.getMulticastReaders();
  // Link i of a direction leaves core i.
  std::vector<double> up(numCores), down(numCores);
  for (const Message &message : messages) {
    assert(message.from >= 0 && message.from < numCores && "no such core");
    std::vector<int64_t> upwards, downwards;
    for (int64_t to : message.to) {
      assert(to >= 0 && to < numCores && "no such core");
      int64_t hops = (to - message.from + numCores) % numCores;
      if (hops == 0)
        continue;
      if (hops <= numCores - hops)
        upwards.push_back(hops);
      else
        downwards.push_back(numCores - hops);
    }
    auto send = [&](std::vector<int64_t> &hops, std::vector<double> &links, int64_t step) {
      std::sort(hops.begin(), hops.end());
      for (size_t first = 0; first < hops.size(); first += size_t(multicast)) {
        int64_t farthest = hops[std::min(hops.size(), first + size_t(multicast)) - 1];
        for (int64_t i = 0; i < farthest; ++i)
          links[(message.from + step * i + numCores * numCores) % numCores] += message.sizeInBytes;
      }
    };
    send(upwards, up, 1);
    send(downwards, down, -1);
  }
  double busiest = 0;
  for (const std::vector<double> *links : {&up, &down})
    for (double bytes : *links)
      busiest = std::max(busiest, bytes);
  return busiest / (double(device.getRingInBytesPerCycle()) * device.getClockInGHz());
}

double cost::getRelayoutInNs(const Device &device, const std::vector<Box> &held,
                             const std::vector<Box> &wanted, double bytesPerElement) {
  const int64_t numCores = device.getNumCores();
  std::map<Box, std::vector<int64_t>> holders;
  for (size_t core = 0; core < held.size(); ++core)
    holders[held[core]].push_back(int64_t(core));
  std::map<std::pair<int64_t, Box>, std::vector<int64_t>> readers;
  for (size_t to = 0; to < wanted.size(); ++to) {
    auto getHops = [&](int64_t from) {
      const int64_t hops = std::abs(int64_t(to) - from);
      return std::min(hops, numCores - hops);
    };
    for (const auto &[box, cores] : holders) {
      assert(box.size() == wanted[to].size() && "boxes of one tensor");
      Box part;
      for (size_t dim = 0; dim < box.size(); ++dim) {
        const int64_t begin = std::max(wanted[to][dim].first, box[dim].first),
                      end = std::min(wanted[to][dim].second, box[dim].second);
        if (begin >= end)
          break;
        part.emplace_back(begin, end);
      }
      if (part.size() != box.size())
        continue;
      const int64_t from = *std::min_element(cores.begin(), cores.end(), [&](int64_t a, int64_t b) {
        return std::pair(getHops(a), a) < std::pair(getHops(b), b);
      });
      if (from != int64_t(to))
        readers[{from, std::move(part)}].push_back(int64_t(to));
    }
  }
  std::vector<Message> messages;
  for (auto &[what, cores] : readers) {
    double bytes = bytesPerElement;
    for (auto [begin, end] : what.second)
      bytes *= double(end - begin);
    messages.push_back({what.first, cores, bytes});
  }
  return getRingInNs(device, messages);
}
