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

#include "ObeySchedule.h"
#include "ScheduleAttr.h"

#include "spyre/Dialect/Spyre/IR/PlanHints.h"
#include "spyre/Dialect/Spyre/Transforms/L2/StickAccess.h"
#include "spyre/Dialect/Spyre/Transforms/L3/Passes.h"
#include "spyre/Dialect/Spyre/Transforms/L3/PlanningModel.h"
#include "spyre/OpFunc/OpFuncTable.h"
#include "spyre/Planning/DivisionGraph.h"

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
    PlanningModel &model = getAnalysis<PlanningModel>();
    const FailureOr<::spyre::Device> &device = model.getDevice();
    if (failed(device))
      return signalPassFailure();
    int64_t available = device->getNumCores();
    if (cores < 0 || cores > available) {
      // Not emitError() of the function, which would print all of it.
      emitError(getOperation().getLoc()) << "spyre-divide-work: cores=" << cores.getValue()
                                         << ": the device has " << available << " cores";
      return signalPassFailure();
    }
    FailureOr<planning::Schedule> schedule = getSchedule(getOperation());
    if (failed(schedule))
      return signalPassFailure();
    int64_t limit = cores == 0 ? available : static_cast<int64_t>(cores);
    SmallVector<DeviceOpInterface> ops;
    getOperation().walk([&](DeviceOpInterface op) {
      if (!llvm::is_contained(op.getExtents(), 0))
        ops.push_back(op);
    });
    if (!resume) {
      collectPlanHints(getOperation()); // of programs that begin here
      if (failed(obeyDivisions(getOperation(), *schedule, ops, model, limit)))
        return signalPassFailure();
      for (auto [number, op] : llvm::enumerate(ops))
        if (recordAddresses)
          op->setAttr(kOperationAttr, Builder(&getContext()).getI64IntegerAttr(number));
    }
    SmallVector<DividedOp> divided;
    bool ok = true;
    for (auto [number, op] : llvm::enumerate(ops)) {
      const size_t before = divided.size();
      ok &= succeeded(divide(op, model, limit, divided));
      if (divided.size() == before + 1)
        divided.back().number = number;
    }
    if (!ok)
      return signalPassFailure();
    if ((search || exhaustive) && failed(improve(divided, *device)))
      return signalPassFailure();
    for (DividedOp &entry : divided)
      write(entry);
    if (record && !resume)
      recordDivisions(divided, *schedule);
  }

private:
  struct DividedOp {
    DeviceOpInterface op;
    const PlannedOp *planned;
    int64_t maxCores = 1; ///< that it may use
    planning::Splits splits = {};
    bool byHand = false;
    std::optional<unsigned> number = {}; ///< in the function; parts of an operation have none
  };

  void recordDivisions(MutableArrayRef<DividedOp> divided, const planning::Schedule &schedule) {
    planning::Schedule chosen;
    chosen.names = schedule.names;
    chosen.values = schedule.values;
    for (DividedOp &entry : divided)
      if (entry.number)
        chosen.divisions.push_back(
            {*entry.number, std::string(entry.op.getInfo().name), entry.splits});
    setChosenSchedule(getOperation(), chosen);
  }

  /// The heuristic's division, or what is written already.
  LogicalResult divide(DeviceOpInterface op, PlanningModel &model, int64_t limit,
                       SmallVectorImpl<DividedOp> &divided) {
    const PlannedOp *planned = model.get(op);
    if (!planned)
      return failure();
    if (!op.getSplits().empty()) {
      divided.push_back({op, planned, limit, planned->splits, /*byHand=*/true});
      return success();
    }
    DividedOp entry{op, planned, limit};
    std::optional<planning::DivisionError> error = solve(entry);
    if (!error) {
      divided.push_back(std::move(entry));
      return success();
    }
    if (divideInTwo(entry, model, divided) || leaveUndivided)
      return success();
    return op->emitOpError() << "is not supported at this size: " << error->message;
  }

  /// One core may not reach all of a tensor: then more of them are used than was asked for.
  static std::optional<planning::DivisionError> solve(DividedOp &entry) {
    planning::DivisionProblem problem = entry.planned->problem;
    std::swap(problem.maxCores, entry.maxCores);
    auto plan = planning::divide(problem, {});
    if (std::holds_alternative<planning::DivisionError>(plan) &&
        problem.maxCores < entry.planned->problem.maxCores) {
      problem.maxCores = entry.planned->problem.maxCores;
      plan = planning::divide(problem, {});
    }
    entry.maxCores = problem.maxCores;
    if (auto *error = std::get_if<planning::DivisionError>(&plan))
      return *error;
    entry.splits = std::move(std::get<planning::DivisionPlan>(plan).splits);
    return std::nullopt;
  }

  /// Puts two operations in the place of \p op, which has no legal division; false if none of
  /// the cuts that may help does.
  static bool divideInTwo(const DividedOp &entry, PlanningModel &model,
                          SmallVectorImpl<DividedOp> &divided) {
    DeviceOpInterface op = entry.op;
    if (!op.getResultTensor() || !op.getLoopVariables().empty())
      return false;
    for (planning::Cut cut : planning::proposeCuts(getProblem(entry))) {
      SmallVector<DividedOp, 2> parts;
      DeviceOpInterface first = buildPart(op, cut, /*isSecond=*/false, op.getOutput());
      DeviceOpInterface second = buildPart(op, cut, /*isSecond=*/true, first.getResultTensor());
      for (DeviceOpInterface part : {first, second}) {
        if (checkSticks(part).kind == StickAccess::Unreadable)
          break;
        const PlannedOp *planned = model.get(part);
        if (!planned)
          break;
        DividedOp own{part, planned, entry.maxCores};
        if (solve(own))
          break;
        parts.push_back(std::move(own));
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

  /// With the cores that it may use.
  static planning::DivisionProblem getProblem(const DividedOp &entry) {
    planning::DivisionProblem problem = entry.planned->problem;
    problem.maxCores = entry.maxCores;
    return problem;
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
      return entry.maxCores > 1 && (exhaustive || isMatmul(entry.op));
    });
    if (!hasChoice)
      return success();
    planning::DivisionGraph graph(device);
    for (DividedOp &entry : divided)
      graph.addOperation(getProblem(entry), entry.op.getInfo().costClass, entry.planned->accesses,
                         entry.splits, entry.byHand);
    connect(divided, graph);
    graph.improve(exhaustive ? planning::SearchEffort::Everything
                             : planning::SearchEffort::Matmuls);
    for (auto [i, entry] : llvm::enumerate(divided))
      entry.splits = graph.getSplits(i);
    return success();
  }

  /// Tells \p graph which values flow between operations.
  static void connect(ArrayRef<DividedOp> divided, planning::DivisionGraph &graph) {
    DenseMap<Operation *, unsigned> numbers;
    for (auto [i, entry] : llvm::enumerate(divided))
      numbers[entry.op] = i;
    for (auto [producer, entry] : llvm::enumerate(divided)) {
      DeviceOpInterface op = entry.op;
      Value result = op.getResultTensor();
      if (!result)
        continue;
      planning::DivisionGraph::Value value;
      value.shape = getShape(result);
      ::spyre::layout::TensorLayout memory = getLayout(result).getTensorLayout(value.shape);
      value.hasPaddedLayout = !memory.paddedShape.empty() || !memory.stick.empty();
      value.isWrittenInParts = op.getOutput() != nullptr;
      for (OpOperand &use : result.getUses()) {
        auto user = dyn_cast<DeviceOpInterface>(use.getOwner());
        auto number = numbers.find(use.getOwner());
        if (user && number != numbers.end() && user->getBlock() == op->getBlock() &&
            use.getOperandNumber() < user.getInputs().size())
          value.uses.push_back({number->second, use.getOperandNumber()});
        else
          value.isShared = true;
      }
      graph.setValue(producer, value);
    }
  }

  static void write(DividedOp &entry) {
    if (entry.byHand)
      return;
    if (llvm::any_of(entry.splits, [](int64_t s) { return s != 1; }))
      entry.op.setSplits(entry.splits);
    if (planning::wantsKFast(entry.planned->problem, entry.splits))
      entry.op->setAttr("kFast", UnitAttr::get(entry.op.getContext()));
  }
};
} // namespace
