//===- ExactJumps.cpp - What decides sees exact numbers -------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the pass's description. A comparison of f16 numbers in f32: the difference of two
// is never smaller than 2^-24 unless it is zero, so that its sign survives the 16-bit
// format, in which the device compares. Zero needs no f32: rounding keeps it and signs.
//
//===----------------------------------------------------------------------===//

#include "ExactArguments.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"

#include <cmath>

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREEXACTJUMPS
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::OpFunc;

namespace {
class JumpRewriter {
public:
  JumpRewriter(func::FuncOp func, RewriterBase &rewriter)
      : func(func), rewriter(rewriter), arguments(func, rewriter, /*widensConditions=*/false) {}

  void run();

private:
  bool readsExactNumbers(DeviceOpInterface op);
  void compare(DeviceOpInterface op);
  void computeInF32(DeviceOpInterface op, bool isLossless);
  void returnExact(func::ReturnOp op);
  /// Operand \p i of \p op in f32; a bound as the program wrote it.
  Value getOperand(DeviceOpInterface op, unsigned i);
  DeviceOpInterface build(DeviceOpInterface like, OpFunc opFunc, ArrayRef<Value> inputs,
                          Type element);

  func::FuncOp func;
  RewriterBase &rewriter;
  ExactArguments arguments;
  llvm::SmallPtrSet<Operation *, 4> computed; ///< conversions of what was computed in f32
};

struct ExactJumpsPass : mlir::spyre::impl::SpyreExactJumpsBase<ExactJumpsPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    IRRewriter rewriter(&getContext());
    JumpRewriter(getOperation(), rewriter).run();
  }
};
} // namespace

static bool isHalfTensor(Value value) { return isHalf(getTensorType(value).getElementType()); }

/// All that \p op reads are numbers of 16 bits that the host has, or single constants.
bool JumpRewriter::readsExactNumbers(DeviceOpInterface op) {
  bool reads = false;
  for (Value input : op.getInputs()) {
    if (!isHalfTensor(input) && !getElementType(input).isF32())
      return false;
    if (!getScalarConstant(input) && !arguments.isKnown(input, ExactArguments::Reach::Numbers))
      return false;
    reads |= !getScalarConstant(input) && ExactArguments::readsHost(input);
  }
  return reads;
}

Value JumpRewriter::getOperand(DeviceOpInterface op, unsigned i) {
  Value input = op.getInputs()[i];
  std::optional<double> number = getScalarConstant(input);
  if (!number)
    return arguments.getExact(input);
  auto bound = input.getDefiningOp()->getAttrOfType<FloatAttr>(kBoundAttr);
  return buildScalar(rewriter, op->getLoc(), bound ? bound.getValueAsDouble() : *number,
                     rewriter.getF32Type());
}

DeviceOpInterface JumpRewriter::build(DeviceOpInterface like, OpFunc opFunc, ArrayRef<Value> inputs,
                                      Type element) {
  DeviceOpSpec spec = DeviceOpSpec::of(like);
  spec.opFunc = opFunc;
  spec.inputs.assign(inputs.begin(), inputs.end());
  spec.resultType =
      RankedTensorType::get(getTensorType(like.getResultTensor()).getShape(), element);
  return buildDeviceOp(rewriter, like->getLoc(), spec);
}

void JumpRewriter::compare(DeviceOpInterface op) {
  rewriter.setInsertionPoint(op);
  Location loc = op->getLoc();
  Type f32 = rewriter.getF32Type();
  Value x = getOperand(op, 0), y = getOperand(op, 1);
  auto isNumber = [](Value value) { return getScalarConstant(value).has_value(); };
  // Infinities would cancel to no number: beyond all f16 numbers there is room for them.
  auto bound = [&](Value value) {
    if (isNumber(value))
      return value;
    constexpr double kBeyond = 0x1p17;
    RankedTensorType type = getTensorType(value);
    Value beyond = buildScalar(rewriter, loc, kBeyond, f32);
    value = buildPointwise(rewriter, loc, OpFunc::Maximum,
                           {value, buildScalar(rewriter, loc, -kBeyond, f32)}, type);
    value = buildPointwise(rewriter, loc, OpFunc::Minimum, {value, beyond}, type);
    // NaN is what infinity is, as everywhere in 16 bits: less itself it is not zero.
    Value rest = buildPointwise(rewriter, loc, OpFunc::Sub, {value, value}, type);
    return buildPointwise(rewriter, loc, OpFunc::Where3, {rest, beyond, value}, type);
  };
  if (!isNumber(x) && !isNumber(y)) {
    x = bound(x);
    y = bound(y);
  }
  rewriter.setInsertionPoint(op);
  Value difference = build(op, OpFunc::Sub, {x, y}, f32).getResultTensor();
  Value narrow = buildConvert(rewriter, loc, difference, rewriter.getF16Type());
  Value zero = buildScalar(rewriter, loc, 0.0, rewriter.getF16Type());
  rewriter.replaceOp(op, buildPointwise(rewriter, loc, op.getOpFunc(), {narrow, zero},
                                        getTensorType(op.getResultTensor())));
}

void JumpRewriter::computeInF32(DeviceOpInterface op, bool isLossless) {
  rewriter.setInsertionPoint(op);
  SmallVector<Value> inputs;
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    inputs.push_back(getOperand(op, i));
  rewriter.setInsertionPoint(op);
  Value wide = build(op, op.getOpFunc(), inputs, rewriter.getF32Type()).getResultTensor();
  Value narrow = buildConvert(rewriter, op->getLoc(), wide, getElementType(op.getResultTensor()));
  computed.insert(narrow.getDefiningOp());
  if (isLossless)
    narrow.getDefiningOp()->setAttr(kLosslessAttr, rewriter.getUnitAttr());
  rewriter.replaceOp(op, narrow);
}

/// True if a rounding to integers has a part in \p value, which is known.
static bool isRounded(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<ConstantOp>(op))
    return false;
  return op->hasAttr(kLosslessAttr) || llvm::any_of(op->getOperands(), isRounded);
}

/// Results that the host takes: what was only moved or rounded to integers, and what was
/// computed in f32 of known numbers, leave as f32, and the copy rounds as PyTorch does. So do
/// all known numbers that an operation of the host reads, which may decide by them.
void JumpRewriter::returnExact(func::ReturnOp op) {
  SmallVector<Type> types(func.getFunctionType().getResults());
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    Attribute onHost = func.getResultAttr(i, kOnHostAttr);
    if (!onHost || !isHalfTensor(value))
      continue;
    Value exact;
    rewriter.setInsertionPoint(op);
    if (auto convert = value.getDefiningOp<ConvertOp>(); convert && computed.contains(convert))
      exact = convert.getSource();
    else if (arguments.isKnown(value, ExactArguments::Reach::Moves) ||
             (arguments.isKnown(value, ExactArguments::Reach::Numbers) &&
              (isa<StringAttr>(onHost) || isRounded(value))))
      exact = arguments.getExact(value);
    else
      continue;
    func.setResultAttr(i, kHostTypeAttr, TypeAttr::get(getElementType(value)));
    op->setOperand(i, exact);
    types[i] = exact.getType();
  }
  func.setFunctionType(
      FunctionType::get(func.getContext(), func.getFunctionType().getInputs(), types));
}

void JumpRewriter::run() {
  SmallVector<DeviceOpInterface> ops;
  func.walk([&](DeviceOpInterface op) { ops.push_back(op); });
  for (DeviceOpInterface op : ops) {
    const ::spyre::OpFuncInfo &info = op.getInfo();
    if (!op.getResultTensor() || !(info.jumps || info.cancels) || !readsExactNumbers(op))
      continue;
    // Rounding keeps zero and infinities.
    bool isKept = llvm::any_of(op.getInputs(), [](Value input) {
      std::optional<double> number = getScalarConstant(input);
      return number && (*number == 0.0 || !std::isfinite(*number));
    });
    bool hasNumber = llvm::any_of(op.getInputs(),
                                  [](Value input) { return getScalarConstant(input).has_value(); });
    if (info.jumps && getTensorType(op.getResultTensor()).getElementType().isInteger(1)) {
      if (!isKept)
        compare(op);
    } else if (isHalfTensor(op.getResultTensor()) && (info.jumps || !hasNumber)) {
      // What the program computes in f32 is spyre-resolve-precision's to decide.
      // The difference of integers is one, as in what rounds towards zero.
      computeInF32(op, info.keepsNumbers || llvm::all_of(op.getInputs(), isRounded));
    }
  }
  returnExact(cast<func::ReturnOp>(func.getBody().front().getTerminator()));
  arguments.finish();
}
