//===- SafeRows.cpp - Softmaxes of rows that are masked altogether ----------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PyTorch writes attention's softmax with zeros in place of the rows whose scores are all -inf:
// it compares every score with -inf, asks each row whether all are, and chooses. The same rows
// come out as zeros if the row's largest score is kept finite and its sum at least 1, which that
// of every other row is: two operations on rows instead of four on scores.
//
//===----------------------------------------------------------------------===//

#include "Softmax.h"

#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYRESAFEROWS
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::OpFunc;

/// True if \p a and \p b name the same places but for dims of one element.
static bool areAlike(AffineMap a, AffineMap b) {
  auto dropUnits = [](AffineMap map) {
    return llvm::filter_to_vector(map.getResults(), [](AffineExpr expr) {
      auto constant = dyn_cast<AffineConstantExpr>(expr);
      return !constant || constant.getValue() != 0;
    });
  };
  return a.getNumDims() == b.getNumDims() && dropUnits(a) == dropUnits(b);
}

/// What \p value is a cast of, or itself. Infinities, and only those, stay infinities.
static Value skipCasts(Value value) {
  while (DeviceOpInterface op = getProducer(value)) {
    if (op.getInfo().stickRule != ::spyre::StickRule::Cast ||
        !areAlike(op.getInputMap(0), op.getOutputMap()))
      break;
    value = op.getInputs()[0];
  }
  return value;
}

/// True if \p condition says of each row of \p softmax whether all its scores are -inf.
static bool isMaskedAltogether(Value condition, Softmax softmax) {
  DeviceOpInterface all = getProducer(skipCasts(condition));
  if (!all || all.getInfo().combiner != ::spyre::Combiner::Minimum ||
      all.getExtents() != softmax.largest.getExtents() ||
      all.getInputMap(0) != softmax.largest.getInputMap(0) ||
      all.getOutputMap() != softmax.largest.getOutputMap())
    return false;
  DeviceOpInterface equal = getProducer(skipCasts(all.getInputs()[0]));
  if (!equal || equal.getOpFunc() != OpFunc::Equal ||
      !areAlike(equal.getInputMap(0), equal.getOutputMap()) ||
      skipCasts(equal.getInputs()[0]) != skipCasts(softmax.scores))
    return false;
  std::optional<double> number = getScalarConstant(equal.getInputs()[1]);
  return number && std::isinf(*number) && *number < 0;
}

/// \p value of rows, at least \p least, for all that read it.
static void keepAtLeast(Value value, double least) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  RankedTensorType type = getTensorType(value);
  Value number = buildScalar(builder, value.getLoc(), least, type.getElementType());
  Value kept = buildOnElements(builder, value.getLoc(), OpFunc::Maximum, {value, number}, type);
  value.replaceAllUsesExcept(kept, kept.getDefiningOp());
}

/// Makes \p choice, a where3, the quotients that it chooses, if it is such a choice.
static void rewrite(DeviceOpInterface choice) {
  DeviceOpInterface quotients = getProducer(choice.getInputs()[2]);
  if (choice.getOutput() || getScalarConstant(choice.getInputs()[1]) != 0.0 || !quotients ||
      quotients.getOpFunc() != OpFunc::Realdiv || !quotients.getResultTensor().hasOneUse() ||
      choice.getInputMap(2) != choice.getOutputMap() ||
      choice.getResultTensor().getType() != quotients.getResultTensor().getType())
    return;
  std::optional<Softmax> softmax = matchSoftmax(quotients.getInputs()[0]);
  DeviceOpInterface sum = getProducer(quotients.getInputs()[1]);
  // Nobody else sees the row's own maximum, the exponentials or their sum.
  if (!softmax || !sum || sum.getInfo().combiner != ::spyre::Combiner::Add ||
      sum.getOpFunc() != OpFunc::Sum || sum.getInputs()[0] != quotients.getInputs()[0] ||
      sum.getOutputMap() != softmax->largest.getOutputMap() ||
      sum.getInputMap(0) != softmax->largest.getInputMap(0) ||
      quotients.getInputMap(0) != softmax->largest.getInputMap(0) ||
      quotients.getInputMap(1) != sum.getOutputMap() ||
      !softmax->largest.getResultTensor().hasOneUse() ||
      !softmax->shifted.getResultTensor().hasOneUse() || !sum.getResultTensor().hasOneUse() ||
      !llvm::hasNItems(softmax->exponentials.getResultTensor().getUses(), 2) ||
      !isMaskedAltogether(choice.getInputs()[0], *softmax))
    return;
  auto element = dyn_cast<FloatType>(getTensorType(softmax->scores).getElementType());
  if (!element)
    return;
  // The program's own lowest number.
  keepAtLeast(softmax->largest.getResultTensor(),
              -APFloat::getLargest(element.getFloatSemantics()).convertToDouble());
  keepAtLeast(sum.getResultTensor(), 1.0);
  choice.getResultTensor().replaceAllUsesWith(quotients.getResultTensor());
}

namespace {
struct SafeRowsPass : mlir::spyre::impl::SpyreSafeRowsBase<SafeRowsPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    SmallVector<DeviceOpInterface> choices;
    getOperation().walk([&](DeviceOpInterface op) {
      if (op.getOpFunc() == OpFunc::Where3)
        choices.push_back(op);
    });
    for (DeviceOpInterface op : choices)
      rewrite(op);
    if (choices.empty())
      return;
    // And what asked.
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(getOperation().getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
};
} // namespace
