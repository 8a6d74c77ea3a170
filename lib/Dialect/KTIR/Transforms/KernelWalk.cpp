//===- KernelWalk.cpp - What one compute tile runs of a kernel -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "KernelWalk.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ktdp;

static std::optional<int64_t> times(std::optional<int64_t> runs, std::optional<int64_t> trips) {
  int64_t product;
  if (!runs || !trips || llvm::MulOverflow(*runs, *trips, product))
    return std::nullopt;
  return product;
}

void KernelWalk::walk(Region &region, std::optional<int64_t> runs) {
  for (Block &block : region)
    for (Operation &op : block) {
      if (isDone())
        return;
      walk(op, runs);
    }
}

void KernelWalk::walkLoop(scf::ForOp loop, std::optional<int64_t> runs) {
  std::optional<int64_t> lower = ranges.getPoint(loop.getLowerBound());
  std::optional<int64_t> upper = ranges.getPoint(loop.getUpperBound());
  std::optional<int64_t> step = ranges.getPoint(loop.getStep());
  int64_t length = 0, last = 0;
  Value variable = loop.getInductionVar();
  for (BlockArgument argument : loop.getRegionIterArgs())
    ranges.set(argument, std::nullopt);
  if (!lower || !upper || !step || *step <= 0 || llvm::SubOverflow(*upper, *lower, length)) {
    // Loops whose ends are ranges: from the least lower bound to below the greatest upper one.
    MaybeInterval from = ranges.get(loop.getLowerBound()), to = ranges.get(loop.getUpperBound());
    bool isKnown = from && to && step && *step > 0;
    if (isKnown && to->high <= from->low)
      return;
    ranges.set(variable, isKnown ? MaybeInterval(Interval{from->low, to->high - 1}) : std::nullopt);
    return walk(loop.getRegion(), std::nullopt);
  }
  if (length <= 0)
    return;
  int64_t trips = llvm::divideCeilSigned(length, *step);
  last = *lower + (trips - 1) * *step;
  if (!unrolls(trips)) {
    ranges.set(variable, Interval{*lower, last});
    return walk(loop.getRegion(), times(runs, trips));
  }
  for (auto [argument, init] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs()))
    ranges.set(argument, ranges.get(init));
  for (int64_t value = *lower, trip = 0; trip < trips && !isDone(); ++trip, value += *step) {
    ranges.set(variable, Interval{value, value});
    walk(loop.getRegion(), runs);
    SmallVector<MaybeInterval> yielded;
    for (Value operand : loop.getBody()->getTerminator()->getOperands())
      yielded.push_back(ranges.get(operand));
    for (auto [argument, range] : llvm::zip_equal(loop.getRegionIterArgs(), yielded))
      ranges.set(argument, range);
    if (trip + 1 == trips)
      break;
  }
}

void KernelWalk::walkBranch(scf::IfOp branch, std::optional<int64_t> runs) {
  std::optional<int64_t> condition = ranges.getPoint(branch.getCondition());
  for (Value result : branch.getResults())
    ranges.set(result, std::nullopt);
  if (!condition) {
    walk(branch.getThenRegion(), std::nullopt);
    return walk(branch.getElseRegion(), std::nullopt);
  }
  Region &taken = *condition ? branch.getThenRegion() : branch.getElseRegion();
  walk(taken, runs);
  if (!taken.empty())
    for (auto [result, yielded] :
         llvm::zip(branch.getResults(), taken.front().getTerminator()->getOperands()))
      ranges.set(result, ranges.get(yielded));
}

void KernelWalk::walkProduce(InterTileProduceOp op, std::optional<int64_t> runs) {
  int64_t group = kernel.groups.find(op)->second[tile];
  Value number = op.getBody().getArgument(0);
  if (group == Kernel::kNoGroup)
    return;
  if (group == Kernel::kUnknownGroup) {
    ranges.set(number, std::nullopt);
    return walk(op.getBody(), std::nullopt);
  }
  ranges.set(number, Interval{group, group});
  walk(op.getBody(), runs);
}

void KernelWalk::walk(Operation &op, std::optional<int64_t> runs) {
  visit(op, runs);
  if (auto id = dyn_cast<GetComputeTileIdOp>(op)) {
    for (auto [result, coordinate] : llvm::zip(id.getCoordinates(), kernel.getCoordinates(tile)))
      ranges.set(result, Interval{coordinate, coordinate});
    return;
  }
  if (isa<arith::ArithDialect>(op.getDialect()))
    return ranges.compute(op);
  if (op.getNumRegions() == 0 || !isWanted(op))
    return;
  // What is computed on tensors accesses no memory.
  if (isa<linalg::LinalgDialect>(op.getDialect()) || isa<DeliveryOpInterface>(op))
    return;
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return walkBranch(branch, runs);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return walkLoop(loop, runs);
  if (auto produce = dyn_cast<InterTileProduceOp>(op))
    return walkProduce(produce, runs);
  for (Region &region : op.getRegions()) {
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        ranges.set(argument, std::nullopt);
    walk(region, std::nullopt);
  }
}
