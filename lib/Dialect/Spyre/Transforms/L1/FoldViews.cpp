//===- FoldViews.cpp - Views into access maps -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First into the writers, then into the readers; what is left is copied. See
// L1/Passes.td for the contract. All index arithmetic is lib/Layout's.
//
//===----------------------------------------------------------------------===//

#include "MapUtils.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Numbers.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREFOLDVIEWS
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::OpFunc;
namespace layout = ::spyre::layout;

/// Views of views are one view, where that is a sum of digits.
static void composeViews(func::FuncOp func, RewriterBase &rewriter) {
  func.walk([&](ViewOp view) {
    while (auto inner = view.getSource().getDefiningOp<ViewOp>()) {
      ArrayRef<int64_t> shape = getTensorType(view.getResult()).getShape();
      AffineMap composed = inner.getMap().compose(view.getMap());
      if (!hasNoPoint(shape)) {
        FailureOr<layout::IndexMap> index = toIndexMap(composed, shape);
        if (failed(index) || !layout::canSplitInputs(layout::simplify(*index)))
          break;
        composed = toAffineMap(*index, shape.size(), view.getContext());
      }
      view.setMap(composed);
      view.getSourceMutable().assign(inner.getSource());
    }
    if (getTensorType(view.getSource()) == getTensorType(view.getResult()) &&
        view.getMap().isIdentity())
      rewriter.replaceOp(view, view.getSource());
  });
  // Inner views that nobody reads any more; users come after their operands.
  SmallVector<ViewOp> views;
  func.walk([&](ViewOp view) { views.push_back(view); });
  for (ViewOp view : llvm::reverse(views))
    if (view.use_empty())
      rewriter.eraseOp(view);
}

/// True if writing through \p newMap instead of \p oldMap takes apart the generated
/// dim of a contraction. The device generates one dim only.
static bool splitsGeneratedDim(DeviceOpInterface op, const layout::IndexMap &newMap) {
  if (op.getInfo().category != ::spyre::OpCategory::Batchmatmul)
    return false;
  AffineMap lhs = op.getInputMap(0), rhs = op.getInputMap(1);
  for (const layout::IndexExpr &expr : newMap.results)
    for (const layout::Digit &digit : expr.digits)
      if ((digit.divisor != 1 || digit.modulus != 0) && rhs.isFunctionOfDim(digit.input) &&
          !lhs.isFunctionOfDim(digit.input))
        return true;
  return false;
}

/// True if reading input \p input of a contraction by \p newMap takes its generated or
/// contracted dim apart. The device generates and contracts one dim each.
static bool splitsContraction(DeviceOpInterface op, const layout::IndexMap &newMap) {
  if (op.getInfo().category != ::spyre::OpCategory::Batchmatmul)
    return false;
  AffineMap lhs = op.getInputMap(0), output = op.getOutputMap();
  for (const layout::IndexExpr &expr : newMap.results)
    for (const layout::Digit &digit : expr.digits)
      if ((digit.divisor != 1 || digit.modulus != 0) &&
          (!output.isFunctionOfDim(digit.input) || !lhs.isFunctionOfDim(digit.input)))
        return true;
  return false;
}

/// Lets the operation that computes \p view's source write in the view's shape.
static bool foldIntoWriter(ViewOp view, RewriterBase &rewriter) {
  Value source = view.getSource();
  DeviceOpInterface op = getProducer(source);
  if (!op || !source.hasOneUse() || op.getOutput())
    return false;
  ArrayRef<int64_t> from = getTensorType(source).getShape(),
                    to = getTensorType(view.getResult()).getShape();
  if (getTensorType(source).getNumElements() != getTensorType(view.getResult()).getNumElements() ||
      hasNoPoint(op.getExtents()) || hasNoPoint(to))
    return false;
  FailureOr<layout::IndexMap> map = toIndexMap(view.getMap(), to);
  FailureOr<layout::IndexMap> written = getIndexMap(op, op.getInputs().size());
  if (failed(map) || failed(written))
    return false;
  std::optional<layout::IndexMap> inverse =
      layout::invert(*map, std::vector<int64_t>(from.begin(), from.end()));
  if (!inverse)
    return false;
  std::optional<layout::IndexMap> composed = layout::compose(*inverse, *written);
  if (!composed || splitsGeneratedDim(op, *composed) ||
      !canSplitTogether(op, op.getInputs().size(), layout::simplify(*composed)))
    return false;
  setMap(op, op.getInputs().size(), *composed);
  source.setType(view.getType());
  rewriter.replaceOp(view, source);
  return true;
}

/// Folds \p view into the map of its reader \p use; false if that is no sum of
/// digits.
static bool foldIntoReader(ViewOp view, OpOperand &use) {
  auto op = dyn_cast<DeviceOpInterface>(use.getOwner());
  if (!op || use.getOperandNumber() >= op.getInputs().size())
    return false;
  AffineMap composed = view.getMap().compose(op.getInputMap(use.getOperandNumber()));
  if (!hasNoPoint(op.getExtents())) {
    FailureOr<layout::IndexMap> index = toIndexMap(composed, op.getExtents());
    if (failed(index) || splitsContraction(op, layout::simplify(*index)) ||
        !canSplitTogether(op, use.getOperandNumber(), layout::simplify(*index)))
      return false;
    composed = toAffineMap(*index, op.getNumDims(), op->getContext());
  }
  setMap(op, use.getOperandNumber(), composed);
  use.set(view.getSource());
  return true;
}

/// A copy of what \p view shows.
static void materialize(ViewOp view, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(view);
  RankedTensorType type = getTensorType(view.getResult());
  DeviceOpSpec spec = DeviceOpSpec::copy(view.getSource(), type.getShape(), view.getMap(),
                                         rewriter.getMultiDimIdentityMap(type.getRank()))
                          .withOutput(Value(), type);
  rewriter.replaceOp(view, buildDeviceOp(rewriter, view.getLoc(), spec).getResultTensor());
}

/// A constant of one number becomes a 0-d constant, read by a map without results.
static void shrinkSplats(func::FuncOp func, RewriterBase &rewriter) {
  func.walk([&](ConstantOp constant) {
    RankedTensorType type = getTensorType(constant.getResult());
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (type.getRank() == 0 || !elements || !elements.isSplat() ||
        !isNumberType(type.getElementType()))
      return;
    rewriter.setInsertionPoint(constant);
    auto scalarType = RankedTensorType::get({}, type.getElementType());
    auto scalar =
        ConstantOp::create(rewriter, constant.getLoc(), scalarType,
                           DenseElementsAttr::get(scalarType, elements.getSplatValue<Attribute>()));
    if (Attribute exact = constant->getAttr(kValueAttr))
      scalar->setAttr(kValueAttr, exact);
    AffineMap none = AffineMap::get(type.getRank(), 0, {}, constant.getContext());
    rewriter.replaceOpWithNewOp<ViewOp>(constant, type, scalar.getResult(), none);
  });
}

/// A reduction over one element is a view of its input.
static void foldUnitReductions(func::FuncOp func, RewriterBase &rewriter) {
  func.walk([&](DeviceOpInterface op) {
    // Reductions to one number; what makes two (exx2) has an arrangement of its own.
    const ::spyre::OpFuncInfo &info = op.getInfo();
    if (info.category != ::spyre::OpCategory::Reduction ||
        info.arrangementRule == ::spyre::ArrangementRule::ProducesExx2 || !op.getResultTensor() ||
        !isElementwise(op.getInputMap(0), getShape(op.getInputs()[0])))
      return;
    AffineMap output = op.getOutputMap();
    SmallVector<AffineExpr> coordinates;
    for (unsigned d = 0; d < op.getNumDims(); ++d) {
      unsigned position = 0;
      while (position < output.getNumResults() &&
             output.getResult(position) != rewriter.getAffineDimExpr(d))
        ++position;
      if (position < output.getNumResults())
        coordinates.push_back(rewriter.getAffineDimExpr(position));
      else if (op.getExtents()[d] == 1)
        coordinates.push_back(rewriter.getAffineConstantExpr(0));
      else
        return;
    }
    rewriter.setInsertionPoint(op);
    auto type = cast<RankedTensorType>(op.getResultTensor().getType());
    rewriter.replaceOpWithNewOp<ViewOp>(
        op, type, op.getInputs()[0],
        AffineMap::get(type.getRank(), 0, coordinates, rewriter.getContext()));
  });
}

/// The parts of \p concat, written one after another into one tensor.
static void lowerConcat(ConcatOp concat, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(concat);
  RankedTensorType type = getTensorType(concat.getResult());
  auto dim = static_cast<unsigned>(concat.getDim());
  AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
  Value written;
  int64_t offset = 0;
  for (Value source : concat.getSources()) {
    RankedTensorType part = getTensorType(source);
    if (part.getNumElements() == 0)
      continue;
    SmallVector<AffineExpr> coordinates(identity.getResults());
    coordinates[dim] = coordinates[dim] + offset;
    offset += part.getDimSize(dim);
    DeviceOpSpec spec =
        DeviceOpSpec::copy(source, part.getShape(), identity,
                           AffineMap::get(type.getRank(), 0, coordinates, rewriter.getContext()))
            .withOutput(written, type);
    written = buildDeviceOp(rewriter, concat.getLoc(), spec).getResultTensor();
  }
  if (written)
    rewriter.replaceOp(concat, written);
  else // no element at all
    rewriter.replaceOpWithNewOp<ConstantOp>(concat, type,
                                            DenseElementsAttr::get(type, ArrayRef<Attribute>()));
}

/// A copy whose source has no other reader: the operation that computes the source
/// writes where the copy would.
static void foldCopyIntoWriter(DeviceOpInterface copy, RewriterBase &rewriter) {
  if (!isa<IdentityOp>(copy) || !copy.getInputMap(0).isIdentity() || hasNoPoint(copy.getExtents()))
    return;
  Value source = copy.getInputs()[0];
  DeviceOpInterface op = getProducer(source);
  if (!op || !source.hasOneUse() || op.getOutput() ||
      getTensorType(source).getShape() != copy.getExtents() ||
      getTensorType(source).getElementType() !=
          getTensorType(copy.getResultTensor()).getElementType())
    return;
  // Reductions and contractions write what their units produce; their results are
  // moved by copies that can choose another stick.
  const ::spyre::OpFuncInfo &info = op.getInfo();
  if (info.category != ::spyre::OpCategory::Unary &&
      info.category != ::spyre::OpCategory::Broadcast)
    return;
  FailureOr<layout::IndexMap> outer = getIndexMap(copy, 1),
                              inner = getIndexMap(op, op.getInputs().size());
  if (failed(outer) || failed(inner))
    return;
  std::optional<layout::IndexMap> composed = layout::compose(*outer, *inner);
  if (!composed)
    return;
  rewriter.setInsertionPoint(copy);
  AffineMap written = toAffineMap(*composed, op.getNumDims(), op->getContext());
  DeviceOpInterface moved = buildDeviceOp(
      rewriter, op->getLoc(),
      DeviceOpSpec::of(op).withOutput(copy.getOutput(), copy.getResultTensor().getType(), written));
  rewriter.replaceOp(copy, moved.getResultTensor());
  rewriter.eraseOp(op);
}

/// A reduction of a repeated value, which would write dims that its input has not got,
/// becomes the reduction of the value, repeated. \p op is erased if so.
static void reduceBeforeRepeating(DeviceOpInterface op, RewriterBase &rewriter) {
  auto view = op.getInputs()[0].getDefiningOp<ViewOp>();
  if (op.getInfo().category != ::spyre::OpCategory::Reduction || !view || op.getOutput() ||
      op.getInputs().size() != 1)
    return;
  AffineMap read = view.getMap().compose(op.getInputMap(0)), written = op.getOutputMap();
  llvm::SmallBitVector repeated(op.getNumDims());
  for (unsigned d = 0; d < op.getNumDims(); ++d)
    repeated[d] = op.getExtents()[d] > 1 && !read.isFunctionOfDim(d) && written.isFunctionOfDim(d);
  if (repeated.none())
    return;
  // Each in a coordinate of its own.
  MLIRContext *context = op->getContext();
  RankedTensorType type = getTensorType(op.getResultTensor());
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> kept, toKept;
  for (auto [dim, expr] : llvm::enumerate(written.getResults())) {
    bool isRepeated = llvm::any_of(repeated.set_bits(),
                                   [&, e = expr](unsigned d) { return e.isFunctionOfDim(d); });
    if (isRepeated && !isa<AffineDimExpr>(expr))
      return;
    if (isRepeated)
      continue;
    shape.push_back(type.getDimSize(dim));
    kept.push_back(expr);
    toKept.push_back(getAffineDimExpr(dim, context));
  }
  SmallVector<AffineExpr> renumbered(op.getNumDims(), getAffineConstantExpr(0, context));
  SmallVector<int64_t> extents;
  for (unsigned d = 0; d < op.getNumDims(); ++d)
    if (!repeated[d]) {
      renumbered[d] = getAffineDimExpr(extents.size(), context);
      extents.push_back(op.getExtents()[d]);
    }
  DeviceOpSpec spec = DeviceOpSpec::of(op)
                          .withOperand(0, view.getSource(), read)
                          .withOutput(Value(), RankedTensorType::get(shape, type.getElementType()),
                                      AffineMap::get(op.getNumDims(), 0, kept, context))
                          .substitute(renumbered, extents);
  rewriter.setInsertionPoint(op);
  Value once = buildDeviceOp(rewriter, op->getLoc(), spec).getResultTensor();
  rewriter.replaceOp(op, buildView(rewriter, op->getLoc(), once,
                                   AffineMap::get(type.getRank(), 0, toKept, context),
                                   type.getShape()));
}

/// The number that \p op leaves where it reduces no element; nothing if there is none.
static std::optional<double> getEmptyReduction(DeviceOpInterface op) {
  // PyTorch has no maximum of nothing; a mean's scale, 1 / 0, makes its sum no number.
  const ::spyre::OpFuncInfo &info = op.getInfo();
  if (info.combiner != ::spyre::Combiner::Add ||
      info.arrangementRule == ::spyre::ArrangementRule::ProducesExx2)
    return std::nullopt;
  return info.constants.empty() ? *info.neutral : std::numeric_limits<double>::quiet_NaN();
}

/// Removes operations over no points: what they compute has no elements, or is what a
/// reduction of nothing leaves.
static void dropEmpty(func::FuncOp func, RewriterBase &rewriter) {
  SmallVector<DeviceOpInterface> ops;
  func.walk([&](DeviceOpInterface op) {
    if (op.getResultTensor() &&
        (hasNoPoint(op.getExtents()) || hasNoPoint(getShape(op.getResultTensor()))))
      ops.push_back(op);
  });
  for (DeviceOpInterface op : ops) {
    RankedTensorType type = getTensorType(op.getResultTensor());
    rewriter.setInsertionPoint(op);
    if (Value before = op.getOutput()) {
      rewriter.replaceOp(op, before); // nothing is written
    } else if (type.getNumElements() == 0) {
      auto none = DenseElementsAttr::get(type, ArrayRef<Attribute>());
      rewriter.replaceOpWithNewOp<ConstantOp>(op, type, none);
    } else if (std::optional<double> number = getEmptyReduction(op);
               number && isNumberType(type.getElementType())) {
      Value scalar = buildScalar(rewriter, op->getLoc(), *number, type.getElementType());
      rewriter.replaceOp(op,
                         buildPointwise(rewriter, op->getLoc(), OpFunc::Identity, {scalar}, type));
    }
  }
}

namespace {
struct FoldViewsPass : mlir::spyre::impl::SpyreFoldViewsBase<FoldViewsPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    IRRewriter rewriter(&getContext());
    func.walk([&](ConcatOp concat) { lowerConcat(concat, rewriter); });
    shrinkSplats(func, rewriter);
    foldUnitReductions(func, rewriter);
    composeViews(func, rewriter);
    func.walk([&](DeviceOpInterface op) {
      if (op.getResultTensor())
        reduceBeforeRepeating(op, rewriter);
    });
    composeViews(func, rewriter);
    // From the end: a view that moves into its writer may let the view before it move.
    SmallVector<ViewOp> views;
    func.walk([&](ViewOp view) { views.push_back(view); });
    for (ViewOp &view : llvm::reverse(views))
      if (foldIntoWriter(view, rewriter))
        view = {};
    for (ViewOp view : views) {
      if (!view)
        continue;
      for (OpOperand &use : llvm::make_early_inc_range(view->getUses()))
        foldIntoReader(view, use);
      if (view.use_empty())
        rewriter.eraseOp(view);
      else
        materialize(view, rewriter);
    }
    func.walk([&](DeviceOpInterface op) {
      if (op.getResultTensor() && op.getInputs().size() == 1)
        foldCopyIntoWriter(op, rewriter);
    });
    dropEmpty(func, rewriter);
    // A returned constant has no operation that writes the result.
    auto ret = cast<func::ReturnOp>(func.getBody().back().getTerminator());
    for (OpOperand &operand : ret->getOpOperands())
      if (operand.get().getDefiningOp<ConstantOp>() && !hasNoPoint(getShape(operand.get()))) {
        rewriter.setInsertionPoint(ret);
        operand.set(buildPointwise(rewriter, ret.getLoc(), OpFunc::Identity, {operand.get()},
                                   getTensorType(operand.get())));
      }
  }
};
} // namespace
