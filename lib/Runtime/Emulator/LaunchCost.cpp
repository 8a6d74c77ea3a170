//===- LaunchCost.cpp - What one descriptor moves and takes -----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The descriptor in the cost model's terms. Extents are those of the descriptor:
// stick dims in whole sticks, as planning counts them.
//
//===----------------------------------------------------------------------===//

#include "LaunchCost.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>

using namespace spyre;
using namespace spyre::runtime;

/// Bytes of the whole operand that all cores together touch.
static int64_t getSizeInBytes(const sdsc::Descriptor &descriptor, const Operand &operand) {
  int64_t slices = 1;
  if (operand.isLX()) {
    // Every core has addresses of its own; the division tells copies from parts.
    for (unsigned dim = 0; dim < descriptor.dims.size(); ++dim)
      if (operand.has(dim))
        slices *= descriptor.dims[dim].numSlices;
  } else {
    std::vector<int64_t> starts = operand.start;
    std::sort(starts.begin(), starts.end());
    slices = std::unique(starts.begin(), starts.end()) - starts.begin();
  }
  return slices * operand.numSticks * kStickInBytes;
}

/// Extents and slices of a matmul, dims of one role multiplied.
static cost::MatmulShape getMatmulShape(const sdsc::Descriptor &descriptor, const Operand &x,
                                        const Operand &y, const Operand &out) {
  cost::MatmulShape shape;
  for (unsigned d = 0; d < descriptor.dims.size(); ++d) {
    const sdsc::Dim &dim = descriptor.dims[d];
    auto multiply = [&](int64_t &extent, int64_t &split) {
      extent *= dim.size;
      split *= dim.numSlices;
    };
    if (!out.has(d)) {
      if (x.has(d) || y.has(d))
        multiply(shape.k, shape.kSplit);
    } else if (x.has(d) && y.has(d)) {
      multiply(shape.batch, shape.batchSplit);
    } else if (y.has(d)) {
      multiply(shape.n, shape.nSplit);
    } else {
      multiply(shape.m, shape.mSplit);
    }
  }
  return shape;
}

LaunchCost spyre::runtime::getLaunchCost(const OpFuncInfo &info, const sdsc::Descriptor &descriptor,
                                         const std::vector<Operand> &operands,
                                         const std::vector<unsigned> &inputs, unsigned output) {
  LaunchCost result;
  cost::OpProblem &problem = result.problem;
  problem.costClass = info.costClass;
  problem.numCores = descriptor.numCores;
  auto add = [&](unsigned position) {
    const Operand &operand = operands[position];
    cost::Operand entry;
    entry.sizeInBytes = getSizeInBytes(descriptor, operand);
    entry.memory = operand.isLX() ? MemorySpace::LX : MemorySpace::HBM;
    entry.isOutput = position == output;
    for (unsigned dim = 0; dim < descriptor.dims.size() && !entry.isOutput; ++dim)
      entry.isBroadcast |= descriptor.dims[dim].size > 1 && !operand.has(dim);
    if (!operand.isLX())
      (entry.isOutput ? result.writtenInBytes : result.readInBytes) += entry.sizeInBytes;
    problem.operands.push_back(entry);
  };
  for (unsigned input : inputs)
    add(input);
  for (unsigned index : descriptor.indexTensors)
    add(index);
  add(output);
  if (problem.costClass == CostClass::Matmul) {
    if (inputs.size() == 2)
      problem.matmul =
          getMatmulShape(descriptor, operands[inputs[0]], operands[inputs[1]], operands[output]);
    else
      problem.costClass = CostClass::Pointwise;
  }
  if (problem.costClass == CostClass::StickReduction)
    for (unsigned dim = 0; dim < descriptor.dims.size(); ++dim)
      if (operands[output].has(dim))
        problem.rows *= descriptor.dims[dim].size;
  return result;
}

//===----------------------------------------------------------------------===//
// On the clock
//===----------------------------------------------------------------------===//

/// Part of the whole tensor that one core holds: per dim of the operation, the
/// elements from begin to end.
using Region = std::vector<std::pair<int64_t, int64_t>>;

static Region getRegion(const Operand &operand, const std::vector<int64_t> &slices) {
  Region region;
  for (size_t dim = 0; dim < slices.size(); ++dim) {
    int64_t extent = operand.has(dim) ? operand.dims[dim].extent : 1;
    int64_t begin = operand.has(dim) ? slices[dim] * extent : 0;
    region.emplace_back(begin, begin + extent);
  }
  return region;
}

/// Who sends what to whom. A part that several cores hold comes from the nearest;
/// what a core has itself it does not send. Nothing if the descriptor does not say
/// where the parts are: executing it says so.
static std::vector<cost::Message> getMessages(const Device &device,
                                              const sdsc::Descriptor &descriptor, const Operand &x,
                                              const Operand &out) {
  int numCores = int(descriptor.numCores);
  std::map<Region, std::vector<int64_t>> holders;
  for (int core = 0; core < numCores; ++core) {
    auto slices = getRelayoutSlices(descriptor, x, /*isOutput=*/false, core);
    if (!slices)
      return {};
    holders[getRegion(x, *slices)].push_back(core);
  }
  std::map<std::pair<int64_t, Region>, std::vector<int64_t>> readers;
  for (int core = 0; core < numCores; ++core) {
    auto slices = getRelayoutSlices(descriptor, out, /*isOutput=*/true, core);
    if (!slices)
      return {};
    Region wanted = getRegion(out, *slices);
    for (const auto &[held, cores] : holders) {
      Region part;
      for (size_t dim = 0; dim < wanted.size(); ++dim) {
        auto [begin, end] = wanted[dim];
        if (x.has(dim)) {
          begin = std::max(begin, held[dim].first);
          end = std::min(end, held[dim].second);
        } else {
          end = begin + 1; // the same for all of the dim
        }
        if (begin >= end)
          break;
        part.emplace_back(begin, end);
      }
      if (part.size() != wanted.size())
        continue;
      auto getHops = [&](int64_t from) {
        int64_t hops = std::abs(core - from);
        return std::min(hops, device.getNumCores() - hops);
      };
      int64_t from = *std::min_element(cores.begin(), cores.end(), [&](int64_t a, int64_t b) {
        return std::pair(getHops(a), a) < std::pair(getHops(b), b);
      });
      if (from != core)
        readers[{from, part}].push_back(core);
    }
  }
  std::vector<cost::Message> messages;
  for (auto &[what, cores] : readers) {
    double bytes = double(x.width);
    for (auto [begin, end] : what.second)
      bytes *= double(end - begin);
    messages.push_back({what.first, cores, bytes});
  }
  return messages;
}

cost::Activity spyre::runtime::getActivity(const Device &device, const sdsc::Descriptor &descriptor,
                                           const cost::OpProblem &problem,
                                           const std::vector<Operand> &operands,
                                           const std::vector<unsigned> &inputs, unsigned output) {
  cost::Activity activity;
  activity.estimate = cost::estimate(device, problem);
  activity.numCores = descriptor.numCores;
  for (unsigned position = 0; position < operands.size(); ++position) {
    const Operand &operand = operands[position];
    if (operand.start.empty())
      continue;
    auto [first, last] = std::minmax_element(operand.start.begin(), operand.start.end());
    cost::Range range{*first, *last + operand.endOffset};
    if (operand.isLX())
      activity.scratchpadInBytes = std::max(activity.scratchpadInBytes, range.end);
    else
      (position == output ? activity.writes : activity.reads).push_back(range);
  }
  if (!descriptor.indexTensors.empty())
    activity.reads = {{0, std::numeric_limits<int64_t>::max()}};
  if (problem.costClass == CostClass::Shuffle && inputs.size() == 1) {
    const Operand &x = operands[inputs[0]], &out = operands[output];
    if (x.isLX() && out.isLX())
      activity.dataRingInNs = cost::getRingInNs(device, getMessages(device, descriptor, x, out));
  }
  return activity;
}

std::string spyre::runtime::getOrigin(const sdsc::Descriptor &descriptor) {
  if (!descriptor.provenance)
    return "";
  const sdsc::Provenance &from = *descriptor.provenance;
  std::string text;
  if (!from.file.empty())
    text = from.file + ":" + std::to_string(from.startLine) + ":" + std::to_string(from.startCol);
  if (!from.atenOp.empty())
    text += text.empty() ? from.atenOp : " (" + from.atenOp + ")";
  return text;
}
