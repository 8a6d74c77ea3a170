//===- DivideWork.cpp - Work slices for every operation -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An adapter: the decisions are spyre::planning::divide, one operation at a time, and
// proposeCuts where it finds nothing, and spyre::planning::DivisionGraph, which improves on
// them.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningAdapter.h"
#include "spyre/OpFunc/OpFuncTable.h"
#include "spyre/Planning/DivisionGraph.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREDIVIDEWORK
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
namespace planning = ::spyre::planning;

namespace {
struct DivideWorkPass : mlir::spyre::impl::SpyreDivideWorkBase<DivideWorkPass> {
  using SpyreDivideWorkBase::SpyreDivideWorkBase;
  void runOnOperation() override {
    FailureOr<::spyre::Device> device = getDevice(getOperation());
    if (failed(device))
      return signalPassFailure();
    int64_t available = device->getNumCores();
    if (cores < 0 || cores > available) {
      // Not emitError() of the function, which would print all of it.
      emitError(getOperation().getLoc()) << "spyre-divide-work: cores=" << cores.getValue()
                                         << ": the device has " << available << " cores";
      return signalPassFailure();
    }
    int64_t limit = cores == 0 ? available : static_cast<int64_t>(cores);
    SmallVector<DeviceOpInterface> ops;
    getOperation().walk([&](DeviceOpInterface op) {
      if (!llvm::is_contained(op.getExtents(), 0))
        ops.push_back(op);
    });
    SmallVector<DividedOp> divided;
    bool ok = true;
    for (DeviceOpInterface op : ops)
      ok &= succeeded(divide(op, *device, limit, divided));
    if (!ok)
      return signalPassFailure();
    if ((search || exhaustive) && failed(improve(divided, *device)))
      return signalPassFailure();
    for (DividedOp &entry : divided)
      write(entry);
  }

private:
  struct DividedOp {
    DeviceOpInterface op;
    planning::DivisionProblem problem;
    planning::Splits splits;
    bool byHand = false;
  };

  /// The heuristic's division, or what is written already.
  LogicalResult divide(DeviceOpInterface op, const ::spyre::Device &device, int64_t limit,
                       SmallVectorImpl<DividedOp> &divided) {
    FailureOr<planning::DivisionProblem> problem = buildDivisionProblem(op, device, limit);
    if (failed(problem))
      return failure();
    if (!op.getSplits().empty()) {
      planning::Splits splits = getDistribution(op, *problem).splits;
      divided.push_back({op, std::move(*problem), std::move(splits), /*byHand=*/true});
      return success();
    }
    std::variant<planning::Splits, planning::DivisionError> splits =
        solve(*problem, device.getNumCores());
    if (auto *found = std::get_if<planning::Splits>(&splits)) {
      divided.push_back({op, std::move(*problem), std::move(*found)});
      return success();
    }
    if (divideInTwo(op, *problem, device, divided))
      return success();
    return op->emitOpError() << "is not supported at this size: "
                             << std::get<planning::DivisionError>(splits).message;
  }

  /// One core may not reach all of a tensor: then more of them are used than was asked for.
  static std::variant<planning::Splits, planning::DivisionError>
  solve(planning::DivisionProblem &problem, int64_t numCores) {
    planning::DivisionOptions options;
    auto plan = planning::divide(problem, options);
    if (std::holds_alternative<planning::DivisionError>(plan) && problem.maxCores < numCores) {
      problem.maxCores = numCores;
      plan = planning::divide(problem, options);
    }
    if (auto *error = std::get_if<planning::DivisionError>(&plan))
      return *error;
    return std::move(std::get<planning::DivisionPlan>(plan).splits);
  }

  /// Puts two operations in the place of \p op, which has no legal division; false if none of
  /// the cuts that may help does.
  static bool divideInTwo(DeviceOpInterface op, const planning::DivisionProblem &problem,
                          const ::spyre::Device &device, SmallVectorImpl<DividedOp> &divided) {
    if (!op.getResultTensor() || !op.getLoopVariables().empty())
      return false;
    for (planning::Cut cut : planning::proposeCuts(problem)) {
      SmallVector<DividedOp, 2> parts;
      DeviceOpInterface first = buildPart(op, cut, /*isSecond=*/false, op.getOutput());
      DeviceOpInterface second = buildPart(op, cut, /*isSecond=*/true, first.getResultTensor());
      for (DeviceOpInterface part : {first, second}) {
        if (checkSticks(part).kind == StickAccess::Unreadable)
          break;
        FailureOr<planning::DivisionProblem> own =
            buildDivisionProblem(part, device, problem.maxCores);
        if (failed(own))
          break;
        auto splits = solve(*own, device.getNumCores());
        if (auto *found = std::get_if<planning::Splits>(&splits))
          parts.push_back({part, std::move(*own), std::move(*found)});
        else
          break;
      }
      if (parts.size() == 2) {
        op.getResultTensor().replaceAllUsesWith(second.getResultTensor());
        op->erase();
        divided.append(std::make_move_iterator(parts.begin()),
                       std::make_move_iterator(parts.end()));
        return true;
      }
      second->erase();
      first->erase();
    }
    return false;
  }

  /// What \p op does on one side of \p cut, into \p output.
  static DeviceOpInterface buildPart(DeviceOpInterface op, planning::Cut cut, bool isSecond,
                                     Value output) {
    int64_t extent = op.getExtents()[cut.dim];
    DeviceOpSpec spec = isSecond
                            ? DeviceOpSpec::of(op).restrict(cut.dim, cut.place, extent - cut.place)
                            : DeviceOpSpec::of(op).restrict(cut.dim, 0, cut.place);
    OpBuilder builder(op);
    return buildDeviceOp(builder, op->getLoc(),
                         spec.withOutput(output, op.getResultTensor().getType()));
  }

  LogicalResult improve(MutableArrayRef<DividedOp> divided, const ::spyre::Device &device) {
    // Nothing to choose on one core, nor where no time depends on the splits.
    bool hasChoice = llvm::any_of(divided, [&](const DividedOp &entry) {
      return entry.problem.maxCores > 1 && (exhaustive || isMatmul(entry.op));
    });
    if (!hasChoice)
      return success();
    planning::DivisionGraph graph(device);
    for (DividedOp &entry : divided) {
      std::vector<::spyre::layout::IndexMap> access;
      for (unsigned i = 0, e = entry.op.getInputs().size(); i <= e; ++i) {
        FailureOr<::spyre::layout::IndexMap> map = getAccess(entry.op, i);
        if (failed(map))
          return entry.op->emitOpError() << "has an access map that cannot be planned";
        access.push_back(std::move(*map));
      }
      graph.addOperation(entry.problem, entry.op.getInfo().costClass, std::move(access),
                         entry.splits, entry.byHand);
    }
    connect(divided, graph);
    graph.improve(exhaustive ? planning::SearchEffort::Everything
                             : planning::SearchEffort::Matmuls);
    for (auto [i, entry] : llvm::enumerate(divided))
      entry.splits = graph.getSplits(i);
    return success();
  }

  /// Tells \p graph which values flow between operations only.
  static void connect(ArrayRef<DividedOp> divided, planning::DivisionGraph &graph) {
    llvm::MapVector<Value, unsigned> producers;
    DenseMap<Operation *, unsigned> numbers;
    for (auto [i, entry] : llvm::enumerate(divided)) {
      DeviceOpInterface op = entry.op;
      numbers[op] = i;
      if (Value result = op.getResultTensor())
        producers[result] = i;
    }
    for (auto &[result, producer] : producers) {
      DeviceOpInterface op = divided[producer].op;
      ::spyre::layout::TensorLayout memory = getLayout(result).getTensorLayout(getShape(result));
      bool flows = !op.getOutput() && memory.paddedShape.empty() && memory.stick.empty();
      for (OpOperand &use : result.getUses()) {
        auto user = dyn_cast<DeviceOpInterface>(use.getOwner());
        flows &= user && numbers.count(user) && user->getBlock() == op->getBlock() &&
                 use.getOperandNumber() < user.getInputs().size() &&
                 user.getLoopVariables().empty();
      }
      if (!flows)
        continue;
      for (OpOperand &use : result.getUses())
        graph.addUse(producer, numbers[use.getOwner()], use.getOperandNumber());
    }
  }

  static void write(DividedOp &entry) {
    if (entry.byHand)
      return;
    if (llvm::any_of(entry.splits, [](int64_t s) { return s != 1; }))
      entry.op.setSplits(entry.splits);
    if (planning::wantsKFast(entry.problem, entry.splits))
      entry.op->setAttr("kFast", UnitAttr::get(entry.op.getContext()));
  }
};
} // namespace
