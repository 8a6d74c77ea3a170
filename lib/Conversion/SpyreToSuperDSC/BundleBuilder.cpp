//===- BundleBuilder.cpp - A plan as a bundle function -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of values is the reference front end's (docs/formats/superdsc-rules.md, section 2):
// base addresses, loop constants, one address per (argument, offset) in the order of
// symbol ids, then the loops and executions.
//
//===----------------------------------------------------------------------===//

#include "BundleBuilder.h"

#include "spyre/Dialect/SuperDSC/IR/SdscBundleDialect.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::spyre;
namespace artifact = ::spyre::artifact;

namespace {
class BundleBuilder {
public:
  BundleBuilder(OpBuilder &builder, Location loc, const artifact::Plan &plan, bool symbolic)
      : builder(builder), loc(loc), plan(plan), symbolic(symbolic) {}

  func::FuncOp build();

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  /// Constants of all loops, depth first.
  void makeLoopBounds(const std::vector<artifact::Step> &steps);
  /// The address without its loops, made at the function's start.
  void makeAddresses(const std::vector<artifact::Step> &steps);
  void makeSteps(const std::vector<artifact::Step> &steps);

  using Key = std::pair<int64_t, int64_t>; ///< base, offset
  OpBuilder &builder;
  Location loc;
  const artifact::Plan &plan;
  bool symbolic;
  Value pool, zero, one;
  SmallVector<Value> arguments;
  SmallVector<Value> bounds;
  unsigned nextBound = 0;
  std::map<Key, Value> addresses;
  SmallVector<Value> loopVariables;
};
} // namespace

void BundleBuilder::makeLoopBounds(const std::vector<artifact::Step> &steps) {
  for (const artifact::Step &step : steps)
    if (const auto *loop = std::get_if<artifact::Loop>(&step.content)) {
      if (!zero) {
        zero = constant(0);
        one = constant(1);
      }
      assert(loop->count.isConstant() && "the emission makes no other loops");
      bounds.push_back(constant(loop->count.constant));
      makeLoopBounds(loop->body);
    }
}

void BundleBuilder::makeAddresses(const std::vector<artifact::Step> &steps) {
  for (const artifact::Step &step : steps) {
    if (const auto *loop = std::get_if<artifact::Loop>(&step.content)) {
      makeAddresses(loop->body);
      continue;
    }
    for (const auto &[id, address] : std::get<artifact::Launch>(step.content).symbols) {
      auto [it, isNew] = addresses.try_emplace({address.base, address.offsetInBytes});
      if (!isNew)
        continue;
      if (address.base == artifact::AddressExpr::kAbsolute) {
        it->second = constant(address.offsetInBytes);
      } else if (address.base == artifact::AddressExpr::kPool) {
        Value offset = constant(address.offsetInBytes);
        it->second = arith::AddIOp::create(builder, loc, pool, offset);
      } else if (address.offsetInBytes == 0) {
        it->second = arguments[address.base];
      } else {
        Value offset = constant(address.offsetInBytes);
        it->second = arith::AddIOp::create(builder, loc, arguments[address.base], offset);
      }
    }
  }
}

void BundleBuilder::makeSteps(const std::vector<artifact::Step> &steps) {
  for (const artifact::Step &step : steps) {
    if (const auto *loop = std::get_if<artifact::Loop>(&step.content)) {
      Value bound = bounds[nextBound++];
      auto forOp = scf::ForOp::create(builder, loc, zero, bound, one);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(forOp.getBody());
      loopVariables.push_back(forOp.getInductionVar());
      makeSteps(loop->body);
      loopVariables.pop_back();
      continue;
    }
    const auto &launch = std::get<artifact::Launch>(step.content);
    SmallVector<Value> operands;
    SmallVector<int64_t> ids;
    if (symbolic)
      for (const auto &[id, address] : launch.symbols) {
        Value base = addresses.at({address.base, address.offsetInBytes});
        if (llvm::any_of(address.strideInBytes, [](int64_t s) { return s != 0; })) {
          unsigned numLoops = loopVariables.size();
          AffineExpr sum = builder.getAffineSymbolExpr(0);
          for (auto [l, stride] : llvm::enumerate(address.strideInBytes))
            sum = sum + builder.getAffineDimExpr(l) * stride;
          SmallVector<Value> inputs(loopVariables);
          inputs.push_back(base);
          base =
              affine::AffineApplyOp::create(builder, loc, AffineMap::get(numLoops, 1, sum), inputs);
        }
        operands.push_back(base);
        ids.push_back(id);
      }
    sdscbundle::SdscExecuteOp::create(builder, loc, operands,
                                      builder.getStringAttr(launch.descriptor),
                                      symbolic ? builder.getI64ArrayAttr(ids) : ArrayAttr());
  }
}

func::FuncOp BundleBuilder::build() {
  SmallVector<Type> types;
  if (symbolic)
    types.assign(plan.numArguments + plan.hasPool,
                 sdscbundle::InputArgType::get(builder.getContext(), builder.getIndexType(),
                                               /*granularity=*/0, /*maxValue=*/0));
  auto func = func::FuncOp::create(builder, loc, plan.name, builder.getFunctionType(types, {}));
  Block *entry = func.addEntryBlock();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);
  for (BlockArgument argument : entry->getArguments()) {
    Value address =
        sdscbundle::InputArgExtractOp::create(builder, loc, builder.getIndexType(), argument);
    if (plan.hasPool && argument.getArgNumber() == 0)
      pool = address;
    else
      arguments.push_back(address);
  }
  makeLoopBounds(plan.steps);
  if (symbolic)
    makeAddresses(plan.steps);
  makeSteps(plan.steps);
  func::ReturnOp::create(builder, loc);
  return func;
}

func::FuncOp mlir::spyre::buildBundleFunction(OpBuilder &builder, Location loc,
                                              const artifact::Plan &plan, bool symbolic) {
  return BundleBuilder(builder, loc, plan, symbolic).build();
}
