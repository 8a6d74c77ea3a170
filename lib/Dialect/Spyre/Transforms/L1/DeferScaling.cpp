//===- DeferScaling.cpp - Rows are scaled after a contraction --------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sum_j (e_ij / l_i) v_jk is (sum_j e_ij v_jk) / l_i: what scales a row by a number that the
// contracted dim has no part in is done to the product, which is smaller: the quotients of a
// softmax are not computed, nor kept, before they are multiplied with the values. It is the
// form in which the contraction can go on while the sum of the row is not known yet.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "Softmax.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREDEFERSCALING
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::OpFunc;

/// What is deferred has to become smaller by this factor.
static constexpr int64_t kWorthwhile = 2;
/// Longer sums of numbers up to 1 times 16-bit numbers may leave the device's range.
static constexpr int64_t kLongestSum = 1 << 16;

/// From the coordinates of the result of \p op to its dims; nothing if a dim is no coordinate
/// by itself, or one mixes dims.
static std::optional<AffineMap> getDimsOfResult(DeviceOpInterface op) {
  AffineMap map = op.getOutputMap();
  if (!llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr, AffineConstantExpr>))
    return std::nullopt;
  AffineMap dims = inversePermutation(map);
  return dims ? std::optional(dims) : std::nullopt;
}

/// \p outer after \p inner.
static AffineMap compose(AffineMap outer, AffineMap inner) {
  return simplifyAffineMap(outer.compose(inner));
}

namespace {
/// An operation between the base of a chain and the contraction.
struct Link {
  DeviceOpInterface op;
  unsigned input = 0;      ///< that the chain goes through
  AffineMap dims;          ///< getDimsOfResult
  AffineMap result;        ///< contraction's dims to the result's coordinates
  bool isDeferred = false; ///< else a cast

  /// Input \p i at the coordinates of the result.
  AffineMap getInput(unsigned i) { return compose(op.getInputMap(i), dims); }
};

class ScalingDeferrer {
public:
  ScalingDeferrer(DeviceOpInterface contraction) : contraction(contraction), builder(contraction) {}

  bool run();

private:
  bool findChain();
  /// Whether \p link scales what the chain goes through by numbers that the contracted dims have
  /// no part in.
  bool isScaling(Link link);
  bool dependsOnContracted(AffineMap map) {
    return llvm::any_of(map.getResults(), [&](AffineExpr expr) {
      return llvm::any_of(contracted.set_bits(),
                          [&](unsigned dim) { return expr.isFunctionOfDim(dim); });
    });
  }
  /// The operand of the contraction without what is deferred; \p map: how it is read.
  Value buildOperand(AffineMap &map);
  Value buildScaled(Value product);

  DeviceOpInterface contraction;
  OpBuilder builder;
  llvm::SmallBitVector contracted;
  SmallVector<Link> chain; ///< from the contraction up
  Value base;
};

struct DeferScalingPass : mlir::spyre::impl::SpyreDeferScalingBase<DeferScalingPass> {
  void runOnOperation() override {
    SmallVector<DeviceOpInterface> contractions;
    getOperation().walk([&](DeviceOpInterface op) {
      if (op.getInfo().category == ::spyre::OpCategory::Batchmatmul)
        contractions.push_back(op);
    });
    for (DeviceOpInterface op : contractions)
      ScalingDeferrer(op).run();
  }
};
} // namespace

bool ScalingDeferrer::isScaling(Link link) {
  auto isInvariant = [&](unsigned other) {
    return !dependsOnContracted(compose(link.getInput(other), link.result));
  };
  switch (link.op.getOpFunc()) {
  case OpFunc::Realdiv:
    return link.input == 0 && isInvariant(1);
  case OpFunc::Mul:
    return isInvariant(1 - link.input);
  case OpFunc::Where3: // rows of zeros
    return link.input == 2 && isInvariant(0) && getScalarConstant(link.op.getInputs()[1]) == 0.0;
  default:
    return false;
  }
}

bool ScalingDeferrer::findChain() {
  Value value = contraction.getInputs()[0];
  AffineMap result = contraction.getInputMap(0);
  while (DeviceOpInterface op = getProducer(value)) {
    std::optional<AffineMap> dims = getDimsOfResult(op);
    if (!value.hasOneUse() || op.getOutput() || !dims)
      break;
    bool isCast = op.getInfo().stickRule == ::spyre::StickRule::Cast;
    Link link{op, 0, *dims, result, !isCast};
    const unsigned numInputs = op.getInputs().size();
    while (link.input < numInputs && !isCast && !isScaling(link))
      ++link.input;
    if (link.input == numInputs)
      break;
    chain.push_back(link);
    value = op.getInputs()[link.input];
    result = compose(link.getInput(link.input), result);
  }
  // A cast that nothing is deferred above of stays where it is.
  while (!chain.empty() && !chain.back().isDeferred)
    chain.pop_back();
  if (chain.empty())
    return false;
  base = chain.back().op.getInputs()[chain.back().input];
  return true;
}

Value ScalingDeferrer::buildOperand(AffineMap &map) {
  Value current = base;
  // From the coordinates of what the chain has computed to those of `current`.
  AffineMap via = builder.getMultiDimIdentityMap(getShape(base).size());
  for (Link &link : llvm::reverse(chain)) {
    if (link.isDeferred) {
      via = compose(via, link.getInput(link.input));
      continue;
    }
    DeviceOpSpec spec = DeviceOpSpec::of(link.op).withOperand(
        link.input, current, compose(via, link.op.getInputMap(link.input)));
    current = buildDeviceOp(builder, link.op->getLoc(), spec).getResultTensor();
    via = builder.getMultiDimIdentityMap(getShape(current).size());
  }
  map = compose(via, contraction.getInputMap(0));
  return current;
}

Value ScalingDeferrer::buildScaled(Value product) {
  // The dims of the product's elements.
  MLIRContext *context = builder.getContext();
  SmallVector<AffineExpr> dims(contraction.getNumDims(), builder.getAffineConstantExpr(0));
  SmallVector<int64_t> extents;
  for (unsigned d = 0; d < contraction.getNumDims(); ++d)
    if (!contracted[d]) {
      dims[d] = builder.getAffineDimExpr(extents.size());
      extents.push_back(contraction.getExtents()[d]);
    }
  auto onProduct = [&](AffineMap map) {
    return AffineMap::get(extents.size(), 0,
                          map.replaceDimsAndSymbols(dims, {}, extents.size(), 0).getResults(),
                          context);
  };
  AffineMap place = onProduct(contraction.getOutputMap());
  RankedTensorType type = getTensorType(product);
  auto build = [&](Location loc, OpFunc opFunc, ArrayRef<Value> inputs, ArrayRef<AffineMap> maps,
                   Type element) {
    DeviceOpSpec spec;
    spec.opFunc = opFunc;
    spec.inputs.assign(inputs.begin(), inputs.end());
    spec.resultType = RankedTensorType::get(type.getShape(), element);
    spec.extents = extents;
    spec.maps.assign(maps.begin(), maps.end());
    spec.maps.push_back(place);
    return buildDeviceOp(builder, loc, spec).getResultTensor();
  };
  Value value = product;
  for (Link &link : llvm::reverse(chain)) {
    if (!link.isDeferred)
      continue;
    // In the type in which it was computed.
    Location loc = link.op->getLoc();
    Type element = getTensorType(link.op.getResultTensor()).getElementType();
    Type now = getTensorType(value).getElementType();
    if (now != element)
      value = build(loc, element.isF32() ? OpFunc::Dl16tofp32 : OpFunc::Fp32todl16, {value},
                    {place}, element);
    SmallVector<Value> inputs(link.op.getInputs());
    SmallVector<AffineMap> maps;
    for (unsigned i = 0; i < inputs.size(); ++i)
      maps.push_back(onProduct(compose(link.getInput(i), link.result)));
    inputs[link.input] = value;
    maps[link.input] = place;
    value = build(loc, link.op.getOpFunc(), inputs, maps, element);
  }
  if (getTensorType(value).getElementType() != type.getElementType())
    value =
        build(contraction->getLoc(), OpFunc::Fp32todl16, {value}, {place}, type.getElementType());
  return value;
}

bool ScalingDeferrer::run() {
  // The sum is rounded to 16 bits before it is scaled; bf16 numbers may be too large for that.
  RankedTensorType type = getTensorType(contraction.getResultTensor());
  if (contraction.getOutput() || !type.getElementType().isF16())
    return false;
  contracted = llvm::SmallBitVector(contraction.getNumDims());
  llvm::SmallBitVector written(contraction.getNumDims());
  for (AffineExpr result : contraction.getOutputMap().getResults())
    for (unsigned d = 0; d < contraction.getNumDims(); ++d)
      if (result.isFunctionOfDim(d))
        written.set(d);
  int64_t sum = 1, points = 1;
  for (unsigned d = 0; d < contraction.getNumDims(); ++d) {
    (written[d] ? points : sum) *= contraction.getExtents()[d];
    if (!written[d])
      contracted.set(d);
  }
  if (sum > kLongestSum || points == 0 || !findChain() || !matchSoftmax(base))
    return false;
  if (getTensorType(base).getNumElements() < kWorthwhile * points)
    return false;
  AffineMap map;
  Value operand = buildOperand(map);
  DeviceOpInterface product = buildDeviceOp(
      builder, contraction->getLoc(), DeviceOpSpec::of(contraction).withOperand(0, operand, map));
  contraction.getResultTensor().replaceAllUsesWith(buildScaled(product.getResultTensor()));
  contraction->erase();
  for (Link &link : chain)
    link.op->erase();
  return true;
}
