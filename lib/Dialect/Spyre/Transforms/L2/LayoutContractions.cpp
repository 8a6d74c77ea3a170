//===- LayoutContractions.cpp - Layouts of matmuls and what they read -----===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction wants its reduced dim in the stick of one operand and the generated
// dim in that of the other, all dims that it reduces in memory, and padding that
// does not show. Reductions share the second of these.
//
//===----------------------------------------------------------------------===//

#include "LayoutAssigner.h"

#include "spyre/Dialect/Spyre/IR/AffineConversion.h"
#include "spyre/Layout/TensorLayout.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::spyre;

LogicalResult LayoutAssigner::repeatAlong(DeviceOpInterface op, unsigned input,
                                          ArrayRef<unsigned> dims) {
  llvm::SmallBitVector used = getUsedDims(op.getInputMap(input));
  for (unsigned d : dims)
    used.set(d);
  Box box = getBox(op, op.getInputMap(input), used);
  Value value = op.getInputs()[input];
  DeviceOpSpec copy = DeviceOpSpec::copy(value, box.extents, box.map,
                                         builder.getMultiDimIdentityMap(box.extents.size()));
  copy.resultType =
      RankedTensorType::get(box.extents, cast<RankedTensorType>(value.getType()).getElementType());
  builder.setInsertionPoint(op);
  DeviceOpInterface repeated = buildDeviceOp(builder, op->getLoc(), copy);
  if (failed(assignPointwise(repeated)))
    return failure();
  replaceInput(op, input, repeated.getResultTensor(), box.projection);
  return success();
}

// A value that is only repeated along a dim (expanded, a constant) is read there without
// it; an operation that reduces the dim counts the elements that are in memory.
LogicalResult LayoutAssigner::repeatReduced(DeviceOpInterface op) {
  bool contracts = isMatmul(op);
  if (!contracts && !isReduction(op))
    return success();
  llvm::SmallBitVector written = getUsedDims(op.getOutputMap());
  for (unsigned input = 0, e = contracts ? 2 : 1; input < e; ++input) {
    llvm::SmallBitVector read = getUsedDims(op.getInputMap(input));
    SmallVector<unsigned> missing;
    for (unsigned d = 0; d < op.getNumDims(); ++d)
      if (op.getExtents()[d] > 1 && !read[d] && !(contracts && written[d]))
        missing.push_back(d);
    if (!missing.empty() && failed(repeatAlong(op, input, missing)))
      return failure();
  }
  return success();
}

/// True if \p op reads its first input and writes its result along the same dim of the stick.
static bool keepsLanes(DeviceOpInterface op) {
  int64_t from = getStickDim(getLayout(op.getInputs()[0])),
          to = getStickDim(getLayout(op.getResultTensor()));
  return from >= 0 && to >= 0 &&
         op.getInputMap(0).getResult(from) == op.getOutputMap().getResult(to);
}

bool LayoutAssigner::maskSource(Value value, function_ref<bool()> isEnough) {
  TailAnalysis &tails = copies.getTails();
  SmallVector<Operation *> chain;
  while (auto op = value.getDefiningOp<DeviceOpInterface>()) {
    const ::spyre::OpFuncInfo &info = op.getInfo();
    // The mask is known of 16-bit lanes only (docs/formats/superdsc-rules.md).
    if (info.stickRule != ::spyre::StickRule::Pointwise || op.getOutput() ||
        getLayout(value).getFormat() != ::spyre::DataFormat::SEN169_FP16 || !keepsLanes(op))
      return false;
    chain.push_back(op);
    // Nobody relies on a tail of which nothing is known.
    if (info.maskTail && tails.get(value).lanes == ::spyre::TailState::Unknown) {
      op->setAttr(kMaskedAttr, builder.getUnitAttr());
      for (Operation *changed : llvm::reverse(chain))
        tails.update(changed);
      if (isEnough())
        return true;
      op->removeAttr(kMaskedAttr);
      for (Operation *changed : llvm::reverse(chain))
        tails.update(changed);
      return false;
    }
    value = op.getInputs()[0];
  }
  return false;
}

/// The contraction dim \p k runs to the end of its last stick in both operands. Makes
/// what is multiplied there zero times finite, and the memory for it.
void LayoutAssigner::makeContractionTailsFit(DeviceOpInterface op, unsigned k) {
  Value y = op.getInputs()[1];
  int64_t elements = ::spyre::getElementsPerStick(getLayout(y).getFormat());
  if (op.getExtents()[k] % elements == 0)
    return;
  auto tail = [&](unsigned input) {
    return copies.getTails().getTail(op.getInputs()[input], op.getInputMap(input), k,
                                     op.getExtents());
  };
  auto isEnough = [&] { return ::spyre::isTailSufficient(tail(0), op.getInfo().requiredTails[0]); };
  if (!isEnough() && !maskSource(op.getInputs()[0], isEnough))
    makePart(op, 0, k, /*zeroTail=*/true);
  // Rows of zeros behind the second operand, unless it has them.
  for (auto [dim, result] : llvm::enumerate(op.getInputMap(1).getResults())) {
    if (!result.isFunctionOfDim(k))
      continue;
    ::spyre::layout::TensorLayout layout = getLayout(y).getTensorLayout(getShape(y));
    int64_t inMemory = layout.paddedShape.empty() ? layout.shape[dim] : layout.paddedShape[dim];
    FailureOr<::spyre::layout::IndexMap> index = toIndexMap(op.getInputMap(1), op.getExtents());
    int64_t start = succeeded(index) ? index->results[dim].constant : 0;
    bool hasRows =
        inMemory - start >= static_cast<int64_t>(llvm::alignTo(op.getExtents()[k], elements));
    if (hasRows && ::spyre::areContractionTailsSufficient(op.getInfo(), tail(0), tail(1)))
      return;
    bool isWhole = result == builder.getAffineDimExpr(k) && op.getExtents()[k] == getShape(y)[dim];
    if (!isWhole) {
      // The rows behind are others' data: a copy that ends where the read ends.
      StickAccess access =
          getStickAccess(getShape(y), getLayout(y), op.getInputMap(1), op.getExtents());
      Stick stick = access.kind == StickAccess::Dim ? Stick(access.dim) : std::nullopt;
      makePart(op, 1, stick, /*zeroTail=*/false);
      y = op.getInputs()[1];
    }
    for (auto [d, expr] : llvm::enumerate(op.getInputMap(1).getResults()))
      if (expr.isFunctionOfDim(k))
        return replaceInput(op, 1, copies.getPadded(y, d), op.getInputMap(1));
  }
}

/// The dim that lies in the result's stick if the operands of \p op are exchanged; nothing if
/// they differ in more than their dims.
static std::optional<Stick> getExchangedStick(DeviceOpInterface op, const MatmulDims &dims) {
  OperandRange inputs = op.getInputs();
  if (inputs.size() != 2 || dims.preserved.size() > 1 || dims.generated.size() != 1 ||
      getElementTypeOrSelf(inputs[0].getType()) != getElementTypeOrSelf(inputs[1].getType()))
    return std::nullopt;
  // Of a matrix and a vector: one element a stick.
  return dims.preserved.empty() ? Stick() : Stick(dims.preserved.front());
}

static void exchangeOperands(DeviceOpInterface op) {
  Value x = op.getInputs()[0], y = op.getInputs()[1];
  AffineMap ofX = op.getInputMap(0), ofY = op.getInputMap(1);
  replaceInput(op, 0, y, ofY);
  replaceInput(op, 1, x, ofX);
}

LogicalResult LayoutAssigner::assignMatmul(DeviceOpInterface op, unsigned place) {
  MatmulDims dims = getMatmulDims(op);
  if (dims.reduction.size() != 1)
    return op->emitOpError() << "contracts over " << dims.reduction.size()
                             << " dims; the device contracts over one";
  unsigned k = dims.reduction.front();
  // Dims along which the product is only repeated become batches, too.
  llvm::SmallBitVector read = getUsedDims(op.getInputMap(0)) | getUsedDims(op.getInputMap(1));
  SmallVector<unsigned> repeated;
  llvm::SmallBitVector written = getUsedDims(op.getOutputMap());
  for (unsigned d : written.set_bits())
    if (!read[d])
      repeated.push_back(d);
  if (!repeated.empty()) {
    if (failed(repeatAlong(op, 0, repeated)))
      return failure();
    dims = getMatmulDims(op);
  }
  if (dims.generated.size() > 1) {
    // All but the innermost become batches: the first operand is repeated along them.
    dims.generated.pop_back();
    if (failed(repeatAlong(op, 0, dims.generated)))
      return failure();
    dims = getMatmulDims(op);
  }
  Stick n;
  if (!dims.generated.empty())
    n = dims.generated.front();
  // A product is that of its transposed factors, transposed: another operand has to have the
  // contracted dim in its stick then.
  std::optional<Stick> other = getExchangedStick(op, dims);
  if (other && !chooseResultLayout(op, *other))
    other = std::nullopt;
  if (auto wish = wishes.find(place); other && wish != wishes.end() && wish->second == *other) {
    exchangeOperands(op);
    std::swap(n, *other);
  }
  StickDecision decision{place, planOperand(op, 0, k).cost > 0 || planOperand(op, 1, n).cost > 0};
  if (other)
    decision.others.push_back(*other);
  decisions.push_back(std::move(decision));
  makeOperandFit(op, 0, k);
  makeOperandFit(op, 1, n);
  makeContractionTailsFit(op, k);
  if (std::optional<LayoutAttr> layout = chooseResultLayout(op, n)) {
    setLayout(op.getResultTensor(), *layout);
    return finish(op);
  }
  // The box of the result always has a place for the generated dim.
  DeviceOpInterface write = splitOffWrite(op);
  auto computed = write.getInputs()[0].getDefiningOp<DeviceOpInterface>();
  setLayout(computed.getResultTensor(), *chooseResultLayout(computed, n));
  if (failed(finish(computed)))
    return failure();
  return assignPointwise(write);
}
