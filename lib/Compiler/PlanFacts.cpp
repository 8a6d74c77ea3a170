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

#include "spyre/Device/Device.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L3/BufferLiveness.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"
#include "spyre/OpFunc/OpFuncTable.h"
#include "spyre/Planning/DivisionCost.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AsmState.h"
#include "llvm/Support/Path.h"

#include <map>

using namespace mlir;
using namespace mlir::spyre;
namespace planning = ::spyre::planning;
namespace report = ::spyre::report;

/// "model.mlir:12:8", without the folder: reports do not depend on where a file lies.
static std::string getLocationText(Location loc) {
  std::string text;
  loc->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file)
      return WalkResult::advance();
    text = (llvm::sys::path::filename(file.getFilename().getValue()) + ":" + Twine(file.getLine()) +
            ":" + Twine(file.getColumn()))
               .str();
    return WalkResult::interrupt();
  });
  return text;
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
  std::string getName(Value value) {
    std::string name;
    llvm::raw_string_ostream os(name);
    value.printAsOperand(os, names);
    return name;
  }

  func::FuncOp func;
  PlanningModel &model;
  AsmState names;
};
} // namespace

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
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto array = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kArrayAttr);
    operand.name = array ? array.str() : getName(value);
    place << "HBM, argument " << argument.getArgNumber();
    return operand;
  }
  operand.name = getName(value);
  if (auto alloc = value.getDefiningOp<AllocOp>())
    if (PlacementAttr placement = alloc.getPlacementAttr())
      place << (placement.getKind() == PlacementKind::LX     ? "LX "
                : placement.getKind() == PlacementKind::Pool ? "pool "
                                                             : "HBM ")
            << placement.getAddressInBytes();
  return operand;
}

/// The cost model's view of \p op.
static ::spyre::cost::OpProblem getCostProblem(DeviceOpInterface op, const PlannedOp &planned) {
  return planning::getCostProblem(planned.problem, planned.splits, op.getInfo().costClass);
}

void FactsCollector::collectOperation(DeviceOpInterface op, report::Function &facts) {
  report::Operation &entry = facts.operations.emplace_back();
  entry.opFunc = op.getOpFuncName().str();
  entry.location = getLocationText(op->getLoc());
  entry.numRuns = getNumRuns(op);
  const PlannedOp *planned = model.get(op);
  if (!planned)
    return;
  entry.kFast = planned->kFast;
  entry.numCores = planning::getNumCores(planned->splits);
  for (auto [dim, slices] : llvm::zip_equal(planned->problem.dims, planned->splits))
    entry.dims.push_back({dim.extent, slices});
  ::spyre::cost::OpProblem cost = getCostProblem(op, *planned);
  entry.estimate = ::spyre::cost::estimate(*model.getDevice(), cost);
  for (unsigned i = 0, e = op.getInputs().size(); i <= e; ++i) {
    report::Operand operand = describe(i < e ? op.getInputs()[i] : op.getDestination());
    operand.isOutput = i == e;
    operand.sizeInBytes = cost.operands[i].sizeInBytes;
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
    facts.scratchpad.push_back({getName(value), placement.getAddressInBytes(),
                                getSizeInMemory(alloc), life.first, life.last});
  }
}

report::Function FactsCollector::collect() {
  report::Function facts;
  facts.name = func.getName().str();
  func.walk([&](DeviceOpInterface op) { collectOperation(op, facts); });
  collectScratchpad(facts);
  return facts;
}

namespace spyre::compiler {

/// What no plan of one launch of \p func falls below: what its operations touch of each array of
/// the host, in the host's type, is read or written once.
static double computeBoundInNs(func::FuncOp func, PlanningModel &model) {
  struct Touched {
    double inDevice = 0; ///< bytes, each use by itself
    double whole = 0;    ///< of the host's array
  };
  std::map<StringRef, Touched> read, written;
  double macs = 0;
  auto touch = [&](Value value, double bytes, std::map<StringRef, Touched> &arrays) {
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
    arrays[array.getValue()].inDevice += bytes;
    arrays[array.getValue()].whole = size;
  };
  func.walk([&](DeviceOpInterface op) {
    const PlannedOp *planned = model.get(op);
    if (!planned)
      return;
    const double runs = static_cast<double>(getNumRuns(op));
    ::spyre::cost::OpProblem cost = getCostProblem(op, *planned);
    for (auto [i, input] : llvm::enumerate(op.getInputs()))
      touch(input, double(cost.operands[i].sizeInBytes) * runs, read);
    touch(op.getDestination(), double(cost.operands.back().sizeInBytes) * runs, written);
    if (isMatmul(op)) {
      double points = runs;
      for (int64_t extent : op.getExtents())
        points *= double(extent);
      macs += points;
    }
  });
  auto sum = [](const std::map<StringRef, Touched> &arrays) {
    double bytes = 0;
    for (const auto &[name, touched] : arrays)
      bytes += std::min(touched.inDevice, touched.whole);
    return bytes;
  };
  return ::spyre::cost::getBoundInNs(*model.getDevice(), sum(read), sum(written), macs);
}

double getModelledTimeInNs(func::FuncOp func) {
  PlanningModel model(func);
  double ns = 0;
  if (succeeded(model.getDevice()))
    func.walk([&](DeviceOpInterface op) {
      if (const PlannedOp *planned = model.get(op))
        ns += ::spyre::cost::estimate(*model.getDevice(), getCostProblem(op, *planned)).totalInNs *
              static_cast<double>(getNumRuns(op));
    });
  return ns;
}

double getBoundInNs(func::FuncOp func) {
  PlanningModel model(func);
  return succeeded(model.getDevice()) ? computeBoundInNs(func, model) : 0;
}

void collectPlanFacts(func::FuncOp func, int64_t numLaunches, CompileStats &stats) {
  PlanningModel model(func);
  if (failed(model.getDevice()))
    return;
  report::Function facts = FactsCollector(func, model).collect();
  for (report::Operation &op : facts.operations) {
    op.numRuns *= numLaunches;
    stats.numDeviceOps += numLaunches;
    stats.hbmReadInBytes += op.readInBytes * op.numRuns;
    stats.hbmWriteInBytes += op.writtenInBytes * op.numRuns;
    const double runs = double(op.numRuns);
    stats.modelledInNs += op.estimate.totalInNs * runs;
    stats.computeInNs += op.estimate.computeInNs * runs;
    stats.memoryInNs += op.estimate.memoryInNs * runs;
    stats.ringInNs += op.estimate.ringInNs * runs;
  }
  stats.boundInNs += computeBoundInNs(func, model) * double(numLaunches);
  stats.functions.push_back(std::move(facts));
  MemoryUse use = getMemoryUse(func);
  stats.lxPeakInBytes = std::max(stats.lxPeakInBytes, use.lxInBytes);
  stats.poolInBytes = std::max(stats.poolInBytes, use.poolInBytes);
}

} // namespace spyre::compiler
