//===- CentreKeys.cpp - Scores that keep their fraction -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See L1/Passes.td. The keys are found behind views, conversions and scalings of the
// second factor; the mean is taken there, of the 16-bit values, where x - mean x is
// rounded relative to itself and not to x.
//
//===----------------------------------------------------------------------===//

#include "Precision.h"
#include "spyre/Dialect/Spyre/IR/AffineConversion.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYRECENTREKEYS
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;

/// True if \p op multiplies or divides its first input by a number, element by element.
static bool isScaling(Operation *op) {
  auto device = dyn_cast_or_null<DeviceOpInterface>(op);
  if (!device || !device.getResultTensor() || device.getInputs().size() != 2)
    return false;
  ArrayRef<int64_t> shape = getShape(device.getResultTensor());
  return isa<MulOp, RealdivOp>(op) && getScalarConstant(device.getInputs()[1]) &&
         isElementwise(device.getInputMap(0), shape) && isElementwise(device.getOutputMap(), shape);
}

/// True if the last result of \p map is the last of its dims, and no other result has it.
static bool keepsLastDim(AffineMap map) {
  if (map.getNumResults() == 0 || map.getNumDims() == 0)
    return false;
  unsigned last = map.getNumDims() - 1;
  if (map.getResults().back() != getAffineDimExpr(last, map.getContext()))
    return false;
  return llvm::none_of(map.getResults().drop_back(),
                       [&](AffineExpr expr) { return expr.isFunctionOfDim(last); });
}

static int64_t getLastExtent(Value value) { return getTensorType(value).getShape().back(); }

/// True if adding the same number to every score of a row (its last dim) changes nothing
/// that \p scores' readers compute.
static bool isInvariant(Value scores) {
  int64_t keys = getLastExtent(scores);
  bool any = false;
  for (OpOperand &use : scores.getUses()) {
    Operation *user = use.getOwner();
    int64_t last = getTensorType(scores).getRank() - 1;
    if (auto softmax = dyn_cast<SoftmaxOp>(user)) {
      if (static_cast<int64_t>(softmax.getDim()) != last)
        return false;
    } else if (auto softmax = dyn_cast<LogSoftmaxOp>(user)) {
      if (static_cast<int64_t>(softmax.getDim()) != last)
        return false;
    } else if (auto view = dyn_cast<ViewOp>(user)) {
      if (!keepsLastDim(view.getMap()) || getLastExtent(view.getResult()) != keys ||
          !isInvariant(view.getResult()))
        return false;
    } else if (auto convert = dyn_cast<ConvertOp>(user)) {
      if (!isInvariant(convert.getResult()))
        return false;
    } else if (auto device = dyn_cast<DeviceOpInterface>(user)) {
      unsigned operand = use.getOperandNumber();
      bool whole = device.getResultTensor() &&
                   isElementwise(device.getInputMap(operand), getShape(scores)) &&
                   isElementwise(device.getOutputMap(), getShape(scores));
      // Infinite scores stay infinite.
      if (isa<EqualOp>(user) && whole) {
        std::optional<double> number = getScalarConstant(device.getInputs()[1 - operand]);
        if (!number || !std::isinf(*number))
          return false;
      } else {
        bool masks = isa<AddOp>(user) || (isa<Where3Op>(user) && operand > 0);
        if (!whole || !(masks || (operand == 0 && isScaling(user))) ||
            !isInvariant(device.getResultTensor()))
          return false;
      }
    } else {
      return false;
    }
    any = true;
  }
  return any;
}

namespace {
/// The 16-bit keys behind a factor, and what lies between.
struct Keys {
  Value root;
  int64_t dim = -1;              ///< of the root: the factor's last dim
  SmallVector<Operation *> path; ///< from the root's first reader to the factor
};
} // namespace

static std::optional<Keys> findKeys(Value factor) {
  Keys keys;
  RankedTensorType type = getTensorType(factor);
  AffineMap map = AffineMap::getMultiDimIdentityMap(type.getRank(), factor.getContext());
  unsigned last = type.getRank() - 1;
  Value value = factor;
  while (isF32(value)) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return std::nullopt;
    if (auto view = dyn_cast<ViewOp>(op))
      map = view.getMap().compose(map);
    else if (!isa<ConvertOp>(op) && !isScaling(op))
      return std::nullopt;
    keys.path.push_back(op);
    value = op->getOperand(0);
  }
  keys.root = value;
  if (!isHalf(getTensorType(value).getElementType()))
    return std::nullopt;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(last))
      continue;
    bool isWhole = keys.dim < 0 && expr == getAffineDimExpr(last, factor.getContext()) &&
                   getTensorType(value).getDimSize(dim) == type.getDimSize(last);
    if (!isWhole)
      return std::nullopt;
    keys.dim = dim;
  }
  std::reverse(keys.path.begin(), keys.path.end());
  return keys.dim < 0 || type.getDimSize(last) < 2 ? std::nullopt : std::optional(keys);
}

namespace {
struct CentreKeysPass : mlir::spyre::impl::SpyreCentreKeysBase<CentreKeysPass> {
  void runOnOperation() override {
    getOperation().walk([](MatmulOp product) {
      if (!isF32(product.getResult()) || getTensorType(product.getResult()).getRank() == 0 ||
          !isInvariant(product.getResult()))
        return;
      std::optional<Keys> keys = findKeys(product.getRhs());
      if (!keys)
        return;
      OpBuilder b(product);
      Location loc = product.getLoc();
      // The middle before all that is done with queries: what runs tile by tile begins behind it.
      b.setInsertionPointAfterValue(keys->root);
      Value centred = buildCentred(b, loc, keys->root, keys->dim);
      b.setInsertionPoint(product);
      IRMapping mapping;
      mapping.map(keys->root, centred);
      for (Operation *op : keys->path)
        b.clone(*op, mapping);
      product.getRhsMutable().assign(mapping.lookup(product.getRhs()));
    });
  }
};
} // namespace
