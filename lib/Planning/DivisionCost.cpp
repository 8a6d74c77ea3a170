//===- DivisionCost.cpp - What a work division costs ----------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The adapter between work division and the cost model.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/DivisionCost.h"

#include "spyre/CostModel/Ring.h"

#include <algorithm>
#include <cstdlib>

namespace spyre::planning {

namespace {

bool isMatmul(const DivisionProblem &problem) {
  return problem.kind == OperationKind::Matmul && problem.operands.size() == 3;
}

bool dependsOn(const DivisionOperand &operand, unsigned dim) {
  const auto &results = operand.deviceCoordinates.results;
  return std::any_of(results.begin(), results.end(),
                     [&](const layout::IndexExpr &expr) { return layout::dependsOn(expr, dim); });
}

CostClass getCostClass(const DivisionProblem &problem) {
  switch (problem.kind) {
  case OperationKind::Pointwise:
    return CostClass::Pointwise;
  case OperationKind::SingleCore:
    return CostClass::TopK;
  case OperationKind::Restickify:
    return CostClass::Restickify;
  case OperationKind::Matmul:
    return isMatmul(problem) ? CostClass::Matmul : CostClass::Pointwise;
  case OperationKind::Reduction:
    // Along the stick if the first input has a reduced dim there.
    if (!problem.operands.empty()) {
      const DivisionOperand &input = problem.operands.front();
      for (size_t i = input.deviceSizes.size() - input.stickRank; i < input.deviceSizes.size(); ++i)
        for (unsigned dim = 0; dim < problem.dims.size(); ++dim)
          if (problem.dims[dim].isReduced &&
              layout::dependsOn(input.deviceCoordinates.results[i], dim))
            return CostClass::StickReduction;
    }
    return CostClass::RowReduction;
  }
  return CostClass::Unspecified;
}

} // namespace

cost::MatmulShape getMatmulShape(const DivisionProblem &problem, const Splits &splits,
                                 bool wholeSticks) {
  cost::MatmulShape shape;
  for (size_t i = 0; i < problem.dims.size(); ++i) {
    const DivisionDim &dim = problem.dims[i];
    int64_t extent = wholeSticks ? getNumUnits(dim) * dim.elementsPerStick : dim.extent;
    int64_t split = splits[i];
    switch (dim.role) {
    case MatmulRole::Batch:
      shape.batch *= extent;
      shape.batchSplit *= split;
      break;
    case MatmulRole::M:
      shape.m *= extent;
      shape.mSplit *= split;
      break;
    case MatmulRole::N:
      shape.n *= extent;
      shape.nSplit *= split;
      break;
    case MatmulRole::K:
      shape.k *= extent;
      shape.kSplit *= split;
      break;
    case MatmulRole::None:
      break;
    }
  }
  return shape;
}

/// \p problem as the device walks it: dims that are in a stick go on to its end, in
/// every operand whose memory goes on that far.
static DivisionProblem padToSticks(DivisionProblem problem) {
  for (size_t dim = 0; dim < problem.dims.size(); ++dim) {
    int64_t &extent = problem.dims[dim].extent;
    extent = getNumUnits(problem.dims[dim]) * problem.dims[dim].elementsPerStick;
    for (DivisionOperand &operand : problem.operands)
      operand.deviceCoordinates.extents[dim] = extent;
  }
  return problem;
}

/// How many values \p expr takes over the iteration space of \p numDims dims, in one iteration
/// of the loops, which are the inputs from \p numDims on.
static int64_t countPlaces(const layout::IndexExpr &expr, const std::vector<int64_t> &extents,
                           size_t numDims) {
  std::vector<std::pair<int64_t, int64_t>> steps; // step, number of values
  for (const layout::Digit &digit : expr.digits) {
    if (digit.input >= numDims)
      continue;
    int64_t values = (extents[digit.input] + digit.divisor - 1) / digit.divisor;
    if (digit.modulus > 0)
      values = std::min(values, digit.modulus);
    if (values > 1 && digit.coefficient != 0)
      steps.emplace_back(std::abs(digit.coefficient), values);
  }
  std::sort(steps.begin(), steps.end());
  int64_t places = 1, reach = 0;
  bool isExact = true;
  for (auto [step, values] : steps) {
    isExact &= step > reach;
    places *= values;
    reach += step * (values - 1);
  }
  // Values that coincide are at most as many as lie between first and last.
  return isExact ? places : std::min(places, reach + 1);
}

/// Bytes of \p operand that all cores together touch, each stick once.
static int64_t getTouchedInBytes(const DivisionProblem &problem, const DivisionOperand &operand,
                                 CostClass costClass) {
  size_t rank = operand.deviceSizes.size(), outer = rank - operand.stickRank;
  const auto &coordinates = operand.deviceCoordinates.results;
  int64_t bytes = operand.bytesPerElement;
  for (size_t i = 0; i < rank; ++i)
    bytes *= i < outer ? std::min(countPlaces(coordinates[i], operand.deviceCoordinates.extents,
                                              problem.dims.size()),
                                  operand.deviceSizes[i])
                       : operand.deviceSizes[i];
  // A stick dim of extent 1 is no dim of the iteration space, but is walked to the
  // end of its stick, too: a restickify and a cast find it in memory as a padded
  // dim of the other operand.
  if (costClass != CostClass::Restickify && costClass != CostClass::Cast)
    return bytes;
  for (const DivisionOperand &other : problem.operands) {
    if (&other == &operand || !other.deviceCoordinates.results.back().digits.empty())
      continue;
    int64_t padded = other.deviceSizes.back();
    if (costClass == CostClass::Cast)
      padded /= std::max<int64_t>(1, operand.deviceSizes.back());
    for (size_t i = 0; i < outer && padded > 1; ++i)
      if (coordinates[i].digits.empty() && coordinates[i].constant == 0 &&
          operand.deviceSizes[i] == padded)
        return bytes * padded;
  }
  return bytes;
}

static bool endsInsideOfSticks(const DivisionProblem &problem) {
  return std::any_of(problem.dims.begin(), problem.dims.end(),
                     [](const DivisionDim &dim) { return dim.extent % dim.elementsPerStick != 0; });
}

cost::OpProblem getCostProblem(const DivisionProblem &problem, const Splits &splits,
                               std::optional<CostClass> costClass) {
  cost::OpProblem result;
  // One OpFunc reduces along the stick or across; the descriptor's name tells them
  // apart, here the operands do.
  bool isKnown = isMatmul(problem) || problem.kind == OperationKind::Reduction;
  result.costClass = isKnown ? getCostClass(problem) : costClass.value_or(getCostClass(problem));
  // A matmul without two inputs and a result has no shape to give.
  if (result.costClass == CostClass::Matmul && !isMatmul(problem))
    result.costClass = CostClass::Pointwise;
  result.numCores = getNumCores(splits);
  std::optional<DivisionProblem> padded;
  if (endsInsideOfSticks(problem))
    padded = padToSticks(problem);
  const DivisionProblem &walked = padded ? *padded : problem;
  for (const DivisionOperand &operand : walked.operands) {
    cost::Operand o;
    o.sizeInBytes = getTouchedInBytes(walked, operand, result.costClass);
    o.memory = operand.isInDeviceMemory ? MemorySpace::HBM : MemorySpace::LX;
    o.isOutput = operand.isOutput;
    for (unsigned dim = 0; dim < problem.dims.size() && !operand.isOutput; ++dim)
      o.isBroadcast |= problem.dims[dim].extent > 1 && !dependsOn(operand, dim);
    result.operands.push_back(o);
  }
  if (isMatmul(problem))
    result.matmul = getMatmulShape(problem, splits, /*wholeSticks=*/true);
  if (result.costClass == CostClass::StickReduction)
    for (const DivisionDim &dim : problem.dims)
      result.rows *= dim.isReduced ? 1 : dim.extent;
  return result;
}

DivisionCost makeModelCost(const Device &device, std::optional<CostClass> costClass) {
  return [device, costClass](const DivisionProblem &problem, const Splits &splits) {
    return cost::estimate(device, getCostProblem(problem, splits, costClass)).totalInNs;
  };
}

GatherCost makeGatherCost(const Device &device) {
  return [device](const std::vector<int64_t> &slices, unsigned gathered, double bytes) {
    int64_t numCores = 1;
    for (int64_t count : slices)
      numCores *= count;
    std::vector<cost::Box> held, wanted;
    for (int64_t core = 0; core < numCores; ++core) {
      cost::Box mine, all;
      int64_t rest = core;
      for (size_t i = 0; i < slices.size(); rest /= slices[i++]) {
        mine.emplace_back(rest % slices[i], rest % slices[i] + 1);
        all.push_back(gathered >> i & 1 ? std::pair<int64_t, int64_t>(0, slices[i]) : mine.back());
      }
      held.push_back(std::move(mine));
      wanted.push_back(std::move(all));
    }
    return cost::getRelayoutInNs(device, held, wanted, bytes);
  };
}

DivisionCost makePublishedCost(const Device &device) {
  return [device](const DivisionProblem &problem, const Splits &splits) {
    if (isMatmul(problem))
      return cost::getIncumbentMatmulCost(device, getMatmulShape(problem, splits));
    return static_cast<double>(getPointsPerCore(problem, splits));
  };
}

} // namespace spyre::planning
