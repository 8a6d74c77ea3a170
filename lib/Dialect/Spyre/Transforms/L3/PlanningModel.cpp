//===- PlanningModel.cpp - Device operations as planning sees them -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"

#include "spyre/Dialect/Spyre/IR/AffineConversion.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mlir::spyre;
namespace planning = ::spyre::planning;
namespace layout = ::spyre::layout;

FailureOr<layout::Access> mlir::spyre::getAccess(DeviceOpInterface op, unsigned operand) {
  std::optional<SmallVector<int64_t>> trips = getTripCounts(op);
  if (!trips)
    return failure();
  SmallVector<int64_t> ranges(op.getExtents());
  ranges.append(*trips);
  FailureOr<layout::IndexMap> map = toIndexMap(op.getMap(operand), ranges);
  if (failed(map))
    return failure();
  return layout::Access{std::move(*map), op.getNumDims()};
}

static planning::OperationKind getKind(DeviceOpInterface op) {
  if (!op.getInfo().divisible)
    return planning::OperationKind::SingleCore;
  if (isRestickify(op))
    return planning::OperationKind::Restickify;
  if (isMatmul(op))
    return planning::OperationKind::Matmul;
  if (isReduction(op))
    return planning::OperationKind::Reduction;
  return planning::OperationKind::Pointwise;
}

/// All that describe() looks at.
static std::vector<uintptr_t> makeKey(DeviceOpInterface op) {
  std::vector<uintptr_t> key;
  auto add = [&](const void *pointer) { key.push_back(reinterpret_cast<uintptr_t>(pointer)); };
  add(&op.getInfo());
  for (unsigned i = 0, e = op.getInputs().size(); i <= e; ++i)
    add(op.getMap(i).getAsOpaquePointer());
  key.insert(key.end(), op.getExtents().begin(), op.getExtents().end());
  for (Value input : op.getInputs())
    add(input.getType().getAsOpaquePointer());
  add(op.getDestination().getType().getAsOpaquePointer());
  std::optional<SmallVector<int64_t>> trips = getTripCounts(op);
  if (trips)
    key.insert(key.end(), trips->begin(), trips->end());
  key.push_back(trips.has_value());
  key.insert(key.end(), op.getSplits().begin(), op.getSplits().end());
  key.push_back(op.getKFast());
  return key;
}

static PlannedOp plan(DeviceOpInterface op, const ::spyre::Device &device) {
  PlannedOp planned;
  unsigned numOperands = op.getInputs().size() + 1;
  for (unsigned i = 0; i < numOperands; ++i) {
    FailureOr<layout::Access> access = getAccess(op, i);
    if (failed(access)) {
      planned.error = "has an access map that cannot be planned";
      return planned;
    }
    planned.accesses.push_back(std::move(*access));
  }
  planning::DivisionProblem &problem = planned.problem;
  problem.kind = getKind(op);
  problem.maxCores = device.getNumCores();
  problem.spanLimitInBytes = device.getSpanLimitInBytes();
  llvm::SmallBitVector written = getUsedDims(op.getOutputMap());
  for (auto [d, extent] : llvm::enumerate(op.getExtents())) {
    planning::DivisionDim dim;
    dim.extent = extent;
    dim.isReduced = !written[d] && extent > 1;
    problem.dims.push_back(dim);
  }
  for (unsigned i = 0; i < numOperands; ++i) {
    bool isOutput = i + 1 == numOperands;
    Value value = isOutput ? op.getDestination() : op.getInputs()[i];
    auto operand = planning::makeOperand(
        planned.accesses[i], getLayout(value).getTensorLayout(getShape(value)), isOutput);
    if (auto *error = std::get_if<planning::DivisionError>(&operand)) {
      planned.error = "operand #" + std::to_string(i) + ": " + error->message;
      return planned;
    }
    auto &described = std::get<planning::DivisionOperand>(operand);
    if (auto buffer = dyn_cast<BufferType>(value.getType()))
      described.isInDeviceMemory = buffer.getSpace() == MemorySpace::HBM;
    problem.operands.push_back(std::move(described));
  }
  planning::setElementsPerStick(problem);
  if (problem.kind == planning::OperationKind::Matmul)
    planning::setMatmulRoles(problem);
  planning::Splits &splits = planned.splits;
  splits.assign(op.getSplits().begin(), op.getSplits().end());
  splits.resize(problem.dims.size(), 1);
  planned.kFast = op.getKFast() && planning::wantsKFast(problem, splits);
  if (planning::getNumCores(splits) <= device.getNumCores())
    planned.spread = planning::makeSpread(problem.dims, splits, planned.kFast);
  return planned;
}

const PlannedOp &PlanningModel::describe(DeviceOpInterface op) {
  assert(succeeded(device) && "a model without a device describes nothing");
  std::unique_ptr<PlannedOp> &entry = entries[makeKey(op)];
  if (!entry)
    entry = std::make_unique<PlannedOp>(plan(op, *device));
  return *entry;
}

const PlannedOp *PlanningModel::get(DeviceOpInterface op) {
  const PlannedOp &planned = describe(op);
  if (planned.error.empty())
    return &planned;
  op->emitOpError() << planned.error;
  return nullptr;
}
