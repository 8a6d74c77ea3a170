//===- BoundFacts.cpp - What no plan of a function falls below --*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/BoundFacts.h"

#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Relayout.h"
#include "spyre/Planning/DivisionCost.h"

using namespace mlir;
using namespace mlir::spyre;

namespace spyre::compiler {

cost::OpProblem getCostProblem(DeviceOpInterface op, const PlannedOp &planned,
                               const Device &device) {
  cost::OpProblem problem =
      planning::getCostProblem(planned.problem, planned.splits, op.getInfo().costClass);
  if (isRelayout(op))
    problem.relayoutInNs = getRelayoutInNs(op, planned, device);
  return problem;
}

BoundFacts::BoundFacts(func::FuncOp func, PlanningModel &model) : func(func) {
  func.walk([&](DeviceOpInterface op) {
    Use &use = uses.emplace_back();
    const PlannedOp *planned = model.get(op);
    if (!planned)
      return;
    const double runs = static_cast<double>(getNumRuns(op));
    cost::OpProblem cost = getCostProblem(op, *planned, *model.getDevice());
    for (auto [i, input] : llvm::enumerate(op.getInputs()))
      touch(input, double(cost.operands[i].sizeInBytes) * runs, read, use);
    touch(op.getDestination(), double(cost.operands.back().sizeInBytes) * runs, written, use);
    if (isMatmul(op)) {
      use.macs = runs;
      for (int64_t extent : op.getExtents())
        use.macs *= double(extent);
      macs += use.macs;
    }
  });
  auto sum = [](const Arrays &arrays) {
    double bytes = 0;
    for (const auto &[name, touched] : arrays)
      bytes += touched.getOnce();
    return bytes;
  };
  const Device &device = *model.getDevice();
  boundInNs = cost::getBoundInNs(device, sum(read), sum(written), macs);
  boundInBytes = sum(read) + sum(written);
  isOfProducts = cost::getBoundInNs(device, 0, 0, macs) >= boundInNs;
}

void BoundFacts::touch(Value value, double bytes, Arrays &arrays, Use &use) {
  auto argument = dyn_cast<BlockArgument>(getRootBuffer(value));
  auto array = argument ? func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kArrayAttr)
                        : StringAttr();
  if (!array)
    return; // between operations, or a number
  auto host = func.getArgAttrOfType<TypeAttr>(argument.getArgNumber(), kHostTypeAttr);
  Type element = host ? host.getValue() : getElementType(argument);
  constexpr unsigned kBitsOfByte = 8;
  double size = llvm::divideCeil(element.getIntOrFloatBitWidth(), kBitsOfByte);
  for (int64_t extent : getShape(argument))
    size *= double(extent);
  Touched &touched = arrays[array.str()];
  touched.inDevice += bytes;
  touched.whole = size;
  use.touched.emplace_back(&touched, bytes);
}

std::vector<double> BoundFacts::getParts() const {
  std::vector<double> parts;
  double sum = 0;
  for (const Use &use : uses) {
    double part = isOfProducts ? use.macs : 0;
    for (const auto &[array, bytes] : use.touched)
      if (!isOfProducts && array->inDevice > 0)
        part += bytes * array->getOnce() / array->inDevice;
    parts.push_back(part);
    sum += part;
  }
  for (double &part : parts)
    part = sum > 0 ? part * boundInNs / sum : 0;
  return parts;
}

} // namespace spyre::compiler
