//===- PlanningAdapter.cpp - IR to planning problems -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/L3/PlanningAdapter.h"

#include "spyre/Dialect/Spyre/IR/AffineConversion.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mlir::spyre;
namespace planning = ::spyre::planning;
namespace layout = ::spyre::layout;

FailureOr<layout::IndexMap> mlir::spyre::getAccess(DeviceOpInterface op, unsigned operand) {
  std::optional<SmallVector<int64_t>> trips = getTripCounts(op);
  if (!trips)
    return failure();
  SmallVector<int64_t> ranges(op.getExtents());
  ranges.append(*trips);
  FailureOr<layout::IndexMap> map = toIndexMap(op.getMap(operand), ranges);
  if (failed(map))
    return failure();
  unsigned numDims = op.getNumDims();
  for (layout::IndexExpr &expr : map->results)
    llvm::erase_if(expr.digits, [&](const layout::Digit &digit) { return digit.input >= numDims; });
  map->extents.resize(numDims);
  return map;
}

FailureOr<planning::DivisionProblem>
mlir::spyre::buildDivisionProblem(DeviceOpInterface op, const ::spyre::Device &device,
                                  int64_t cores) {
  planning::DivisionProblem problem;
  const ::spyre::OpFuncInfo &info = op.getInfo();
  if (!info.divisible)
    problem.kind = planning::OperationKind::SingleCore;
  else if (isRestickify(op))
    problem.kind = planning::OperationKind::Restickify;
  else if (isMatmul(op))
    problem.kind = planning::OperationKind::Matmul;
  else if (isReduction(op))
    problem.kind = planning::OperationKind::Reduction;
  problem.maxCores = cores;
  problem.spanLimitInBytes = device.getSpanLimitInBytes();
  llvm::SmallBitVector written = getUsedDims(op.getOutputMap());
  for (auto [d, extent] : llvm::enumerate(op.getExtents())) {
    planning::DivisionDim dim;
    dim.extent = extent;
    dim.isReduced = !written[d] && extent > 1;
    problem.dims.push_back(dim);
  }
  for (unsigned i = 0, e = op.getInputs().size(); i <= e; ++i) {
    Value value = i < e ? op.getInputs()[i] : op.getDestination();
    FailureOr<layout::IndexMap> access = getAccess(op, i);
    if (failed(access))
      return op->emitOpError() << "has an access map that cannot be planned";
    auto operand = planning::makeOperand(*access, getLayout(value).getTensorLayout(getShape(value)),
                                         /*isOutput=*/i == e);
    if (auto *error = std::get_if<planning::DivisionError>(&operand))
      return op->emitOpError() << "operand #" << i << ": " << error->message;
    auto &described = std::get<planning::DivisionOperand>(operand);
    if (auto buffer = dyn_cast<BufferType>(value.getType()))
      described.isInDeviceMemory = buffer.getSpace() == MemorySpace::HBM;
    problem.operands.push_back(std::move(described));
  }
  planning::setElementsPerStick(problem);
  if (problem.kind == planning::OperationKind::Matmul)
    planning::setMatmulRoles(problem);
  return problem;
}

planning::Distribution mlir::spyre::getDistribution(DeviceOpInterface op,
                                                    const planning::DivisionProblem &problem) {
  planning::Distribution distribution;
  distribution.dims = problem.dims;
  distribution.splits.assign(op.getSplits().begin(), op.getSplits().end());
  distribution.splits.resize(problem.dims.size(), 1);
  distribution.kFast = op.getKFast() && planning::wantsKFast(problem, distribution.splits);
  return distribution;
}
