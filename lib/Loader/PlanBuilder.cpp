//===- PlanBuilder.cpp - A bundle function to a plan ----------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates the index arithmetic of a bundle symbolically. Every value is a base
// (an argument, the pool, none) plus an affine function of the loop counters;
// what is not of that form is refused at its operation.
//
//===----------------------------------------------------------------------===//

#include "spyre/Loader/Loader.h"

#include "spyre/Dialect/SuperDSC/IR/SdscBundleDialect.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace artifact = ::spyre::artifact;

namespace {

/// A value of type index: like an address, but with counters of loops 0, 1, ...
using Linear = artifact::AddressExpr;

bool isConstant(const Linear &value) {
  return value.base == Linear::kAbsolute &&
         llvm::all_of(value.strideInBytes, [](int64_t stride) { return stride == 0; });
}

class PlanBuilder {
public:
  PlanBuilder(func::FuncOp function, bool hasPool) : function(function), hasPool(hasPool) {}

  LogicalResult build(artifact::Plan &plan);

private:
  LogicalResult visitBlock(Block &block, unsigned depth, std::vector<artifact::Step> &steps);
  LogicalResult visitFor(scf::ForOp loop, unsigned depth, std::vector<artifact::Step> &steps);
  LogicalResult visitExecute(sdscbundle::SdscExecuteOp op, std::vector<artifact::Step> &steps);
  LogicalResult visitArithmetic(Operation *op);
  FailureOr<Linear> getValue(Operation *user, Value value);
  FailureOr<int64_t> getConstant(Operation *user, Value value, StringRef what);

  FailureOr<Linear> add(Operation *op, const Linear &a, const Linear &b);
  FailureOr<Linear> multiply(Operation *op, const Linear &a, const Linear &b);
  FailureOr<Linear> evaluate(affine::AffineApplyOp op, AffineExpr expr, ArrayRef<Linear> operands,
                             unsigned numDims);

  func::FuncOp function;
  bool hasPool;
  int64_t allocatedInBytes = 0; ///< pools that the body makes, one behind the other
  llvm::DenseMap<Value, Linear> values;
};

} // namespace

static InFlightDiagnostic overflow(Operation *op) {
  return op->emitError() << "the address does not fit 64 bits";
}

FailureOr<Linear> PlanBuilder::add(Operation *op, const Linear &a, const Linear &b) {
  if (a.base == Linear::kSize || b.base == Linear::kSize)
    return op->emitError() << "computes with a size, which only stands for the size of a dim";
  if (a.base != Linear::kAbsolute && b.base != Linear::kAbsolute)
    return op->emitError() << "adds two base addresses";
  Linear sum;
  sum.base = a.base != Linear::kAbsolute ? a.base : b.base;
  if (llvm::AddOverflow(a.offsetInBytes, b.offsetInBytes, sum.offsetInBytes))
    return overflow(op);
  sum.strideInBytes.resize(std::max(a.strideInBytes.size(), b.strideInBytes.size()), 0);
  for (size_t i = 0; i < sum.strideInBytes.size(); ++i) {
    int64_t left = i < a.strideInBytes.size() ? a.strideInBytes[i] : 0;
    int64_t right = i < b.strideInBytes.size() ? b.strideInBytes[i] : 0;
    if (llvm::AddOverflow(left, right, sum.strideInBytes[i]))
      return overflow(op);
  }
  return sum;
}

FailureOr<Linear> PlanBuilder::multiply(Operation *op, const Linear &a, const Linear &b) {
  if (!isConstant(a) && !isConstant(b))
    return op->emitError() << "is not affine: it multiplies two values that are not constant";
  int64_t factor = isConstant(b) ? b.offsetInBytes : a.offsetInBytes;
  Linear product = isConstant(b) ? a : b;
  if (product.base != Linear::kAbsolute && factor != 1)
    return op->emitError() << "multiplies a base address";
  if (llvm::MulOverflow(product.offsetInBytes, factor, product.offsetInBytes))
    return overflow(op);
  for (int64_t &stride : product.strideInBytes)
    if (llvm::MulOverflow(stride, factor, stride))
      return overflow(op);
  return product;
}

FailureOr<Linear> PlanBuilder::evaluate(affine::AffineApplyOp op, AffineExpr expr,
                                        ArrayRef<Linear> operands, unsigned numDims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    Linear value;
    value.offsetInBytes = constant.getValue();
    return value;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[numDims + symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  FailureOr<Linear> left = evaluate(op, binary.getLHS(), operands, numDims);
  FailureOr<Linear> right = evaluate(op, binary.getRHS(), operands, numDims);
  if (failed(left) || failed(right))
    return failure();
  if (expr.getKind() == AffineExprKind::Add)
    return add(op, *left, *right);
  if (expr.getKind() == AffineExprKind::Mul)
    return multiply(op, *left, *right);
  // Divisions: only of constants, by a positive one.
  if (!isConstant(*left) || !isConstant(*right) || right->offsetInBytes <= 0)
    return op.emitError() << "is not affine in the loop variables: it divides";
  int64_t dividend = left->offsetInBytes, divisor = right->offsetInBytes;
  int64_t quotient = llvm::divideFloorSigned(dividend, divisor);
  Linear value;
  value.offsetInBytes = expr.getKind() == AffineExprKind::Mod ? dividend - quotient * divisor
                        : expr.getKind() == AffineExprKind::FloorDiv
                            ? quotient
                            : llvm::divideCeilSigned(dividend, divisor);
  return value;
}

FailureOr<Linear> PlanBuilder::getValue(Operation *user, Value value) {
  auto it = values.find(value);
  if (it != values.end())
    return it->second;
  InFlightDiagnostic diagnostic = user->emitError()
                                  << "uses a value that is no address of the launch";
  if (Operation *definition = value.getDefiningOp())
    diagnostic.attachNote(definition->getLoc()) << "the value is defined here";
  return diagnostic;
}

FailureOr<int64_t> PlanBuilder::getConstant(Operation *user, Value value, StringRef what) {
  FailureOr<Linear> linear = getValue(user, value);
  if (failed(linear))
    return failure();
  if (!isConstant(*linear))
    return user->emitError() << "the loop's " << what << " is not constant";
  return linear->offsetInBytes;
}

LogicalResult PlanBuilder::visitArithmetic(Operation *op) {
  FailureOr<Linear> result = failure();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto integer = dyn_cast<IntegerAttr>(constant.getValue());
    if (!integer || !constant.getType().isIndex())
      return op->emitError() << "is no constant of type index";
    Linear value;
    value.offsetInBytes = integer.getInt();
    result = value;
  } else if (auto extract = dyn_cast<sdscbundle::InputArgExtractOp>(op)) {
    auto argument = dyn_cast<BlockArgument>(extract.getInput());
    if (!argument || argument.getOwner() != &function.getBody().front())
      return op->emitError() << "extracts something that is no parameter of the bundle";
    result = getValue(op, argument);
  } else if (auto allocate = dyn_cast<sdscbundle::DeviceMemAllocateOp>(op)) {
    if (hasPool)
      return op->emitError() << "makes a pool, and the first parameter is one";
    Linear value;
    value.base = Linear::kPool;
    value.offsetInBytes = allocatedInBytes;
    constexpr uint64_t kAlignment = 128; // a stick
    allocatedInBytes += static_cast<int64_t>(llvm::alignTo(allocate.getBytes(), kAlignment));
    result = value;
  } else if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    SmallVector<Linear> operands;
    for (Value operand : apply.getMapOperands()) {
      FailureOr<Linear> value = getValue(op, operand);
      if (failed(value))
        return failure();
      operands.push_back(*value);
    }
    AffineMap map = apply.getAffineMap();
    result = evaluate(apply, map.getResult(0), operands, map.getNumDims());
  } else if (isa<arith::AddIOp, arith::MulIOp, arith::SubIOp>(op)) {
    FailureOr<Linear> left = getValue(op, op->getOperand(0));
    FailureOr<Linear> right = getValue(op, op->getOperand(1));
    if (failed(left) || failed(right))
      return failure();
    if (isa<arith::MulIOp>(op)) {
      result = multiply(op, *left, *right);
    } else {
      if (isa<arith::SubIOp>(op)) {
        Linear minusOne;
        minusOne.offsetInBytes = -1;
        right = multiply(op, *right, minusOne);
        if (failed(right))
          return failure();
      }
      result = add(op, *left, *right);
    }
  } else {
    return op->emitError() << "'" << op->getName() << "' cannot stand in a bundle";
  }
  if (failed(result))
    return failure();
  values[op->getResult(0)] = *result;
  return success();
}

LogicalResult PlanBuilder::visitExecute(sdscbundle::SdscExecuteOp op,
                                        std::vector<artifact::Step> &steps) {
  artifact::Launch launch;
  launch.descriptor = op.getSdscFilename().str();
  for (auto [id, address] : llvm::zip_equal(op.getSymbolIdValues(), op.getAddresses())) {
    FailureOr<Linear> value = getValue(op, address);
    if (failed(value))
      return failure();
    while (!value->strideInBytes.empty() && value->strideInBytes.back() == 0)
      value->strideInBytes.pop_back();
    auto isTooFar = [](int64_t bytes) {
      return bytes > artifact::kMaxSize || bytes < -artifact::kMaxSize;
    };
    if (isTooFar(value->offsetInBytes) || llvm::any_of(value->strideInBytes, isTooFar))
      return op->emitError() << "an address of symbol " << id << " is beyond " << artifact::kMaxSize
                             << " bytes";
    launch.symbols.emplace_back(id, *value);
  }
  steps.push_back({std::move(launch)});
  return success();
}

LogicalResult PlanBuilder::visitFor(scf::ForOp loop, unsigned depth,
                                    std::vector<artifact::Step> &steps) {
  if (!loop.getInitArgs().empty())
    return loop.emitError() << "carries values between iterations, which a bundle cannot";
  if (!loop.getInductionVar().getType().isIndex())
    return loop.emitError() << "has a variable that is no index";
  FailureOr<int64_t> lower = getConstant(loop, loop.getLowerBound(), "lower bound");
  FailureOr<int64_t> upper = getConstant(loop, loop.getUpperBound(), "upper bound");
  FailureOr<int64_t> step = getConstant(loop, loop.getStep(), "step");
  if (failed(lower) || failed(upper) || failed(step))
    return failure();
  if (*step <= 0)
    return loop.emitError() << "has the step " << *step << ", which is not positive";
  artifact::Loop result;
  int64_t distance = 0;
  if (*upper > *lower) {
    if (llvm::SubOverflow(*upper, *lower, distance))
      return overflow(loop);
    result.count = llvm::divideCeilSigned(distance, *step);
  }
  Linear variable;
  variable.offsetInBytes = *lower;
  variable.strideInBytes.assign(depth + 1, 0);
  variable.strideInBytes[depth] = *step;
  values[loop.getInductionVar()] = variable;
  if (failed(visitBlock(*loop.getBody(), depth + 1, result.body)))
    return failure();
  steps.push_back({std::move(result)});
  return success();
}

LogicalResult PlanBuilder::visitBlock(Block &block, unsigned depth,
                                      std::vector<artifact::Step> &steps) {
  LogicalResult result = success();
  for (Operation &op : block) {
    // All executions are looked at; arithmetic that fails would only cause
    // further errors at its users.
    if (isa<func::ReturnOp, scf::YieldOp>(op))
      continue;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (failed(visitFor(loop, depth, steps)))
        result = failure();
    } else if (auto execute = dyn_cast<sdscbundle::SdscExecuteOp>(op)) {
      if (failed(visitExecute(execute, steps)))
        result = failure();
    } else if (failed(visitArithmetic(&op))) {
      return failure();
    }
  }
  return result;
}

LogicalResult PlanBuilder::build(artifact::Plan &plan) {
  if (!function.getBody().hasOneBlock())
    return function.emitError() << "a bundle's function has one block";
  if (function.getNumResults() != 0)
    return function.emitError() << "a bundle's function has no results";
  if (hasPool && function.getNumArguments() == 0)
    return function.emitError() << "has no parameter for the pool";
  plan.name = function.getName().str();
  plan.hasPool = hasPool;
  plan.numArguments = hasPool ? -1 : 0;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<sdscbundle::InputArgType>(argument.getType());
    if (!argument.getType().isIndex() && !(type && type.getElementType().isIndex()))
      return emitError(argument.getLoc())
             << "a bundle's parameter is a base address (!sdscbundle.input_arg<index>), not "
             << argument.getType();
    Linear base;
    if (type && type.isSize()) {
      if (plan.numArguments < 0)
        return emitError(argument.getLoc()) << "a size stands in the place of the pool";
      base.base = Linear::kSize;
      base.offsetInBytes = static_cast<int64_t>(plan.sizes.size());
      plan.sizes.push_back({"size" + std::to_string(plan.sizes.size()), plan.numArguments,
                            type.getGranularity(), type.getMaxValue()});
    } else {
      base.base = plan.numArguments++;
      static_assert(Linear::kPool == -1, "the pool is the parameter before the first argument");
    }
    values[argument] = base;
  }
  if (failed(visitBlock(function.getBody().front(), 0, plan.steps)))
    return failure();
  if (allocatedInBytes > 0) {
    plan.hasPool = true;
    plan.poolInBytes = std::max(plan.poolInBytes, allocatedInBytes);
  }
  return success();
}

FailureOr<artifact::Plan> spyre::buildPlan(func::FuncOp function, bool hasPool,
                                           int64_t poolInBytes) {
  artifact::Plan plan;
  plan.poolInBytes = poolInBytes;
  if (failed(PlanBuilder(function, hasPool).build(plan)))
    return failure();
  return plan;
}
