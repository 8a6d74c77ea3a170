//===- PlanFacts.cpp - What a plan moves and takes -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/PlanFacts.h"

#include "spyre/Compiler/BoundFacts.h"
#include "spyre/Compiler/LoopFacts.h"
#include "spyre/Device/Device.h"
#include "spyre/Dialect/Spyre/IR/Provenance.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"
#include "spyre/OpFunc/OpFuncTable.h"
#include "spyre/Planning/DivisionCost.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AsmState.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::compiler::getCostProblem;
namespace planning = ::spyre::planning;
namespace report = ::spyre::report;

/// "model.mlir:12:8", without the folder: reports do not depend on where a file lies.
static std::string getPositionText(FileLineColLoc position) {
  if (!position)
    return "";
  return (llvm::sys::path::filename(position.getFilename().getValue()) + ":" +
          Twine(position.getLine()) + ":" + Twine(position.getColumn()))
      .str();
}

/// What \p op is for: by its category and its unit, whatever its name.
static report::Job getJob(DeviceOpInterface op) {
  if (op.getInfo().category == ::spyre::OpCategory::DataMovement)
    return report::Job::Transfer;
  return op.getInfo().unit == ::spyre::ExecutionUnit::PT ? report::Job::Product
                                                         : report::Job::Elementwise;
}

namespace {
/// Reads operations and buffers of one function.
class FactsCollector {
public:
  FactsCollector(func::FuncOp func, PlanningModel &model)
      : func(func), model(model), names(func, OpPrintingFlags()) {}

  report::Function collect();

private:
  void collectOperation(DeviceOpInterface op, report::Function &facts);
  report::Operand describe(Value value);
  void collectScratchpad(report::Function &facts);
  /// The host's array that \p root is an argument for; empty: none.
  std::string getArrayName(Value root);
  /// That, else the value as the module prints it.
  std::string getTensorName(Value root) {
    std::string array = getArrayName(root);
    return array.empty() ? getName(root) : array;
  }
  std::string getName(Value value) {
    std::string name;
    llvm::raw_string_ostream os(name);
    value.printAsOperand(os, names);
    return name;
  }

  func::FuncOp func;
  PlanningModel &model;
  AsmState names;
  /// Positions of buffers in the facts' scratchpad.
  llvm::DenseMap<Value, int64_t> scratchpad;
};
} // namespace

std::string FactsCollector::getArrayName(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  auto array = argument ? func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kArrayAttr)
                        : StringAttr();
  return array ? array.str() : "";
}

report::Operand FactsCollector::describe(Value value) {
  report::Operand operand;
  llvm::raw_string_ostream type(operand.type), layout(operand.layout), place(operand.place);
  for (int64_t size : getShape(value))
    type << size << "x";
  LayoutAttr attribute = getLayout(value);
  if (auto buffer = dyn_cast<BufferType>(value.getType()))
    type << buffer.getElementType();
  layout << "[";
  llvm::interleaveComma(attribute.getDeviceSizes(), layout);
  layout << "] " << std::string(::spyre::getFormatName(attribute.getFormat()));
  if (attribute.getArrangement() != Arrangement::Standard)
    layout << " " << ::spyre::getName(attribute.getArrangement());
  value = getRootBuffer(value);
  operand.name = getTensorName(value);
  if (auto found = scratchpad.find(value); found != scratchpad.end())
    operand.buffer = found->second;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    place << "HBM, argument " << argument.getArgNumber();
    return operand;
  }
  if (auto alloc = value.getDefiningOp<AllocOp>())
    if (PlacementAttr placement = alloc.getPlacementAttr())
      place << (placement.getKind() == PlacementKind::LX     ? "LX "
                : placement.getKind() == PlacementKind::Pool ? "pool "
                                                             : "HBM ")
            << placement.getAddressInBytes();
  return operand;
}

void FactsCollector::collectOperation(DeviceOpInterface op, report::Function &facts) {
  report::Operation &entry = facts.operations.emplace_back();
  entry.opFunc = op.getOpFuncName().str();
  const Origin origin = getOrigin(op->getLoc());
  entry.location = getPositionText(origin.position);
  entry.origin = origin.operation ? origin.operation.str() : "";
  entry.job = getJob(op);
  entry.numRuns = getNumRuns(op);
  const PlannedOp *planned = model.get(op);
  if (!planned)
    return;
  entry.kFast = planned->kFast;
  entry.numCores = planning::getNumCores(planned->splits);
  for (auto [dim, slices] : llvm::zip_equal(planned->problem.dims, planned->splits))
    entry.dims.push_back({dim.extent, slices});
  ::spyre::cost::OpProblem cost = getCostProblem(op, *planned, *model.getDevice());
  entry.estimate = ::spyre::cost::estimate(*model.getDevice(), cost);
  entry.work = 1;
  for (int64_t extent : op.getExtents())
    entry.work *= double(extent);
  entry.leastInNs =
      ::spyre::cost::getLeastInNs(*model.getDevice(), cost, isMatmul(op) ? entry.work : 0);
  for (unsigned i = 0, e = op.getInputs().size(); i <= e; ++i) {
    report::Operand operand = describe(i < e ? op.getInputs()[i] : op.getDestination());
    operand.isOutput = i == e;
    operand.sizeInBytes = cost.operands[i].sizeInBytes;
    operand.memory = cost.operands[i].memory;
    if (planned->problem.operands[i].isInDeviceMemory)
      (operand.isOutput ? entry.writtenInBytes : entry.readInBytes) += operand.sizeInBytes;
    entry.operands.push_back(std::move(operand));
  }
}

void FactsCollector::collectScratchpad(report::Function &facts) {
  int64_t numPositions = 0;
  for (auto &[value, life] : computeLives(func, numPositions)) {
    auto alloc = value.getDefiningOp<AllocOp>();
    PlacementAttr placement = alloc ? alloc.getPlacementAttr() : PlacementAttr();
    if (!placement || placement.getKind() != PlacementKind::LX || life.last < life.first)
      continue;
    report::ScratchpadBuffer &buffer = facts.scratchpad.emplace_back();
    buffer.name = getName(value);
    buffer.addressInBytes = placement.getAddressInBytes();
    buffer.sizeInBytes = getSizeInMemory(alloc);
    buffer.first = life.first;
    buffer.last = life.last;
    scratchpad[value] = int64_t(facts.scratchpad.size()) - 1;
    const auto *write = llvm::find_if(life.accesses, [](const auto &a) { return a.isWrite; });
    if (write == life.accesses.end())
      continue;
    DeviceOpInterface writer = write->op;
    buffer.writer = write->position;
    buffer.value = writer.getOpFuncName().str();
    if (getJob(writer) != report::Job::Transfer || writer.getInputs().empty())
      continue;
    Value source = getRootBuffer(writer.getInputs().front());
    if (std::string array = getArrayName(source); !array.empty())
      buffer.value = array;
  }
}

report::Function FactsCollector::collect() {
  report::Function facts;
  facts.name = func.getName().str();
  collectScratchpad(facts);
  func.walk([&](DeviceOpInterface op) { collectOperation(op, facts); });
  ::spyre::compiler::collectLoops(
      func, model, [&](Value root) { return getTensorName(root); }, facts);
  return facts;
}

namespace spyre::compiler {

PlanCost getPlanCost(func::FuncOp func) {
  PlanningModel model(func);
  PlanCost cost;
  if (succeeded(model.getDevice()))
    func.walk([&](DeviceOpInterface op) {
      const PlannedOp *planned = model.get(op);
      if (!planned)
        return;
      const ::spyre::cost::Estimate estimate = ::spyre::cost::estimate(
          *model.getDevice(), getCostProblem(op, *planned, *model.getDevice()));
      const double runs = static_cast<double>(getNumRuns(op));
      cost += {estimate.totalInNs * runs,
               double(estimate.readInBytes + estimate.writtenInBytes) * runs};
    });
  return cost;
}

PlanCost getLeastCost(func::FuncOp func) {
  PlanningModel model(func);
  if (failed(model.getDevice()))
    return {};
  const BoundFacts bound(func, model);
  return {bound.getInNs(), bound.getInBytes()};
}

void collectPlanFacts(func::FuncOp func, int64_t numLaunches, CompileStats &stats) {
  PlanningModel model(func);
  if (failed(model.getDevice()))
    return;
  report::Function facts = FactsCollector(func, model).collect();
  const BoundFacts bound(func, model);
  for (auto [op, part] : llvm::zip_equal(facts.operations, bound.getParts())) {
    op.numRuns *= numLaunches;
    op.partOfBoundInNs = part * double(numLaunches);
    stats.numDeviceOps += numLaunches;
    stats.hbmReadInBytes += op.readInBytes * op.numRuns;
    stats.hbmWriteInBytes += op.writtenInBytes * op.numRuns;
    const double runs = double(op.numRuns);
    stats.modelledInNs += op.estimate.totalInNs * runs;
    stats.computeInNs += op.estimate.computeInNs * runs;
    stats.memoryInNs += op.estimate.memoryInNs * runs;
    stats.ringInNs += (op.estimate.ringInNs + op.estimate.relayoutInNs) * runs;
    stats.vectorInNs += op.estimate.vectorInNs * runs;
    stats.startInNs += op.estimate.startInNs * runs;
  }
  for (report::Loop &loop : facts.loops)
    loop.numRuns *= numLaunches;
  facts.numLaunches = numLaunches;
  facts.isBoundByProducts = bound.isByProducts();
  stats.boundInNs += bound.getInNs() * double(numLaunches);
  stats.functions.push_back(std::move(facts));
  MemoryUse use = getMemoryUse(func);
  stats.lxPeakInBytes = std::max(stats.lxPeakInBytes, use.lxInBytes);
  stats.poolInBytes = std::max(stats.poolInBytes, use.poolInBytes);
}

} // namespace spyre::compiler
