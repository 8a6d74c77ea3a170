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

#include "spyre/CostModel/Ring.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace spyre;
using namespace spyre::runtime;

/// Bytes of the whole operand that all cores together touch.
static int64_t getSizeInBytes(const sdsc::Descriptor &descriptor, const Operand &operand) {
  int64_t slices = 1;
  if (const auto &own = operand.tensor->coreToSlice; operand.isLX() && !own.empty()) {
    // A relayout's operand has a division of its own.
    std::set<std::vector<std::pair<std::string, int64_t>>> parts;
    for (std::vector<std::pair<std::string, int64_t>> part : own) {
      std::erase_if(part, [&](const auto &entry) {
        const std::optional<unsigned> dim = descriptor.findDim(entry.first);
        return !dim || !operand.has(*dim);
      });
      parts.insert(std::move(part));
    }
    slices = static_cast<int64_t>(parts.size());
  } else if (operand.isLX()) {
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

/// The part of the tensor \p x that a core with \p slices of \p operand has, dims that x
/// does not have left out.
static cost::Box getBox(const Operand &x, const Operand &operand,
                        const std::vector<int64_t> &slices) {
  cost::Box box;
  for (size_t dim = 0; dim < slices.size(); ++dim)
    if (x.has(dim)) {
      const int64_t extent = operand.has(dim) ? operand.dims[dim].extent : 1;
      const int64_t begin = operand.has(dim) ? slices[dim] * extent : 0;
      box.emplace_back(begin, begin + extent);
    }
  return box;
}

/// What moving \p x to where \p out says takes on the ring. Nothing if the descriptor does not
/// say where the parts are: executing it says so.
static double getRelayoutInNs(const Device &device, const sdsc::Descriptor &descriptor,
                              const Operand &x, const Operand &out) {
  std::vector<cost::Box> held, wanted;
  for (int core = 0; core < int(descriptor.numCores); ++core) {
    auto from = getRelayoutSlices(descriptor, x, /*isOutput=*/false, core),
         to = getRelayoutSlices(descriptor, out, /*isOutput=*/true, core);
    if (!from || !to)
      return 0;
    held.push_back(getBox(x, x, *from));
    wanted.push_back(getBox(x, out, *to));
  }
  return cost::getRelayoutInNs(device, held, wanted, double(x.width));
}

cost::Activity spyre::runtime::getActivity(const Device &device, const sdsc::Descriptor &descriptor,
                                           const cost::OpProblem &problem,
                                           const std::vector<Operand> &operands,
                                           const std::vector<unsigned> &inputs, unsigned output) {
  cost::Activity activity;
  cost::OpProblem whole = problem;
  if (problem.costClass == CostClass::Shuffle && inputs.size() == 1) {
    const Operand &x = operands[inputs[0]], &out = operands[output];
    if (x.isLX() && out.isLX())
      whole.relayoutInNs = getRelayoutInNs(device, descriptor, x, out);
  }
  activity.estimate = cost::estimate(device, whole);
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
