//===- MoveScaling.cpp - Factors of products scaled where it is free -------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product reads an argument while it computes; scaled before, the argument is read by an
// operation of its own, for which the product waits. Where the other factor is computed anyway
// (keys less their mean), that can as well be scaled: (c q) k = q (c k), rounded once on either
// side.
//
//===----------------------------------------------------------------------===//

#include "MapUtils.h"
#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"
#include "spyre/OpFunc/OpFuncTable.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREMOVESCALING
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::OpFunc;

static bool isF16(Value value) { return getTensorType(value).getElementType().isF16(); }

/// The coordinate of \p op's result that each of its dims is, if it writes each element once, at
/// the place of its dims: coordinates without a dim have one element.
static std::optional<SmallVector<unsigned>> getCoordinates(DeviceOpInterface op) {
  ArrayRef<int64_t> shape = getTensorType(op.getResultTensor()).getShape(),
                    extents = op.getExtents();
  SmallVector<unsigned> coordinates(extents.size(), shape.size());
  for (auto [r, expr] : llvm::enumerate(op.getOutputMap().getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim && (expr != 0 || shape[r] != 1))
      return std::nullopt;
    if (dim && (extents[dim.getPosition()] != shape[r] ||
                std::exchange(coordinates[dim.getPosition()], r) != shape.size()))
      return std::nullopt;
  }
  return llvm::is_contained(coordinates, shape.size()) ? std::nullopt : std::optional(coordinates);
}

/// The operation that scales all of an argument for \p product alone, which reads the result as
/// its input \p index; null if there is none.
static DeviceOpInterface getScaling(DeviceOpInterface product, unsigned index) {
  Value scaled = product.getInputs()[index];
  DeviceOpInterface scaling = getProducer(scaled);
  if (!scaling || scaling.getOpFunc() != OpFunc::Mul || !scaled.hasOneUse() ||
      scaling.getOutput() || scaling.getInputs().size() != 2 || !isF16(scaled) ||
      !getScalarConstant(scaling.getInputs()[1]))
    return nullptr;
  Value argument = scaling.getInputs()[0];
  return isa<BlockArgument>(argument) && isF16(argument) && getCoordinates(scaling) ? scaling
                                                                                    : nullptr;
}

/// True if \p value is computed by an elementwise operation for \p product alone.
static bool isComputedFor(Value value, DeviceOpInterface product) {
  DeviceOpInterface writer = getProducer(value);
  return writer && value.hasOneUse() && isF16(value) && !writer.getOutput() &&
         writer.getInfo().stickRule == ::spyre::StickRule::Pointwise &&
         (writer.getInfo().category == ::spyre::OpCategory::Unary ||
          writer.getInfo().category == ::spyre::OpCategory::Broadcast);
}

/// Scales the other factor of \p product in place of its input \p index, if it can be.
static bool moveScaling(DeviceOpInterface product, unsigned index) {
  DeviceOpInterface scaling = getScaling(product, index);
  Value other = product.getInputs()[1 - index];
  if (!scaling || !isComputedFor(other, product) ||
      getTensorType(other).getNumElements() >
          getTensorType(scaling.getResultTensor()).getNumElements())
    return false;
  OpBuilder builder(product);
  RankedTensorType type = getTensorType(other);
  DeviceOpSpec scaled = DeviceOpSpec::of(scaling);
  AffineMap here = builder.getMultiDimIdentityMap(type.getRank());
  scaled.inputs[0] = other;
  scaled.extents.assign(type.getShape().begin(), type.getShape().end());
  scaled.maps = {here, AffineMap::get(type.getRank(), 0, builder.getContext()), here};
  scaled.resultType = type;
  // The number is there before what reads it.
  if (Operation *number = scaled.inputs[1].getDefiningOp())
    if (Operation *before = other.getDefiningOp(); before && before->isBeforeInBlock(number))
      number->moveBefore(before);
  builder.setInsertionPointAfterValue(other);
  Value result = buildDeviceOp(builder, scaling->getLoc(), scaled).getResultTensor();

  SmallVector<AffineExpr> dims;
  for (unsigned coordinate : *getCoordinates(scaling))
    dims.push_back(product.getInputMap(index).getResult(coordinate));
  AffineMap argument = scaling.getInputMap(0).replaceDimsAndSymbols(
      dims, {}, product.getInputMap(index).getNumDims(), 0);
  DeviceOpSpec spec = DeviceOpSpec::of(product)
                          .withOperand(index, scaling.getInputs()[0], argument)
                          .withOperand(1 - index, result);
  builder.setInsertionPoint(product);
  DeviceOpInterface made = buildDeviceOp(builder, product->getLoc(), spec);
  product.getResultTensor().replaceAllUsesWith(made.getResultTensor());
  product->erase();
  scaling->erase();
  return true;
}

namespace {
struct MoveScalingPass : mlir::spyre::impl::SpyreMoveScalingBase<MoveScalingPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    SmallVector<DeviceOpInterface> products;
    getOperation().walk([&](DeviceOpInterface op) {
      if (op.getInfo().category == ::spyre::OpCategory::Batchmatmul && !op.getOutput() &&
          op.getInputs().size() == 2)
        products.push_back(op);
    });
    for (DeviceOpInterface product : products)
      if (!moveScaling(product, 0))
        moveScaling(product, 1);
  }
};
} // namespace
