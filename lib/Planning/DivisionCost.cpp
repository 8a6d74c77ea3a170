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

#include <algorithm>

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

cost::OpProblem getCostProblem(const DivisionProblem &problem, const Splits &splits,
                               std::optional<CostClass> costClass) {
  cost::OpProblem result;
  result.costClass =
      isMatmul(problem) ? CostClass::Matmul : costClass.value_or(getCostClass(problem));
  // A matmul without two inputs and a result has no shape to give.
  if (result.costClass == CostClass::Matmul && !isMatmul(problem))
    result.costClass = CostClass::Pointwise;
  result.numCores = getNumCores(splits);
  Splits whole(problem.dims.size(), 1);
  for (const DivisionOperand &operand : problem.operands) {
    cost::Operand o;
    o.sizeInBytes = getFootprintInBytes(problem, operand, whole);
    o.memory = operand.isInDeviceMemory ? cost::Memory::HBM : cost::Memory::LX;
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

DivisionCost makePublishedCost(const Device &device) {
  return [device](const DivisionProblem &problem, const Splits &splits) {
    if (isMatmul(problem))
      return cost::getIncumbentMatmulCost(device, getMatmulShape(problem, splits));
    return static_cast<double>(getPointsPerCore(problem, splits));
  };
}

} // namespace spyre::planning
