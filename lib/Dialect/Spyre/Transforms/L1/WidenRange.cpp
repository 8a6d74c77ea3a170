//===- WidenRange.cpp - bf16 numbers beyond the device's range ------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the pass's description. Three kinds of such values are followed. What was *bounded*
// by a constant (x + 1e-12, max(x, 1e-12)) is small where x is, and serves as a divisor;
// what is multiplied by it is of common size again. What was *scaled* by one (x * 1e12)
// stays beyond the range until it is scaled back. A *mask* holds a number that stands for
// the largest there is (finfo.min): its readers take the device's largest number, as the
// precision contract says; only who gets to see it as a result gets its value.
//
//===----------------------------------------------------------------------===//

#include "ExactArguments.h"
#include "Precision.h"
#include "spyre/Dialect/Spyre/IR/Refusal.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"
#include "spyre/Numerics/DL16.h"

#include <cmath>

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREWIDENRANGE
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;

namespace {
enum class Kind { Bounded, Mask, Scaled }; // the later one wins

class RangeRewriter {
public:
  RangeRewriter(func::FuncOp func, RewriterBase &rewriter) : func(func), rewriter(rewriter) {}

  LogicalResult run();

private:
  struct Wide {
    Value value; ///< f32
    Kind kind;
  };

  bool isWide(Value value) const { return wide.count(value) != 0; }
  Value getWide(Value value);
  /// \p made (f32) computes what \p op does; its result replaces that of \p op.
  void replace(Operation *op, Operation *made, std::optional<Kind> kind);
  LogicalResult rewrite(DeviceOpInterface op);
  std::optional<Kind> getResultKind(DeviceOpInterface op) const;
  /// \p value is seen by the host, itself or in what is chosen, moved or added.
  bool reachesHost(Value value) const;
  void refuse(Operation *op);
  void returnWide(func::ReturnOp op);

  func::FuncOp func;
  RewriterBase &rewriter;
  llvm::DenseMap<Value, Wide> wide; ///< by 16-bit value
  SmallVector<Operation *> refused;
};

struct WidenRangePass : mlir::spyre::impl::SpyreWidenRangeBase<WidenRangePass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    IRRewriter rewriter(&getContext());
    if (failed(RangeRewriter(getOperation(), rewriter).run()))
      signalPassFailure();
  }
};
} // namespace

static bool isBFloat16(Value value) { return getTensorType(value).getElementType().isBF16(); }

/// From where on a number only means "larger than all others".
constexpr double kMaskNumber = 0x1p100;

/// The constant of a bf16 program that \p value is, if DL16 cannot hold it.
static bool isBeyondRange(Value value) {
  std::optional<double> number = isBFloat16(value) ? getScalarConstant(value) : std::nullopt;
  return number && !::spyre::isInDL16Range(*number);
}

Value RangeRewriter::getWide(Value value) {
  if (auto it = wide.find(value); it != wide.end())
    return it->second.value;
  Type f32 = rewriter.getF32Type();
  if (std::optional<double> number = getScalarConstant(value))
    if (getTensorType(value).getRank() == 0)
      return buildScalar(rewriter, value.getLoc(), *number, f32);
  if (getTensorType(value).getElementType().isInteger(1))
    return value;
  return buildConvert(rewriter, value.getLoc(), value, f32);
}

void RangeRewriter::replace(Operation *op, Operation *made, std::optional<Kind> kind) {
  made->setAttr(kWideAttr, rewriter.getUnitAttr());
  Value result = made->getResult(0);
  rewriter.setInsertionPointAfter(made);
  Value narrow = buildConvert(rewriter, op->getLoc(), result,
                              getTensorType(op->getResult(0)).getElementType());
  if (kind)
    wide[narrow] = {result, *kind};
  rewriter.replaceOp(op, narrow);
}

bool RangeRewriter::reachesHost(Value value) const {
  func::FuncOp function = func;
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (auto ret = dyn_cast<func::ReturnOp>(user)) {
      for (OpOperand &operand : ret->getOpOperands())
        if (operand.get() == value &&
            function.getResultAttr(operand.getOperandNumber(), kOnHostAttr))
          return true;
      return false;
    }
    auto device = dyn_cast<DeviceOpInterface>(user);
    return (isa<ViewOp, ConcatOp>(user) || (device && device.getInfo().passesInfinity)) &&
           isBFloat16(user->getResult(0)) && reachesHost(user->getResult(0));
  });
}

std::optional<Kind> RangeRewriter::getResultKind(DeviceOpInterface op) const {
  const ::spyre::OpFuncInfo &info = op.getInfo();
  bool multiplies = isa<MulOp>(op), divides = isa<RealdivOp>(op);
  std::optional<Kind> kind;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    if (isBeyondRange(input)) {
      bool isMask = std::fabs(*getScalarConstant(input)) >= kMaskNumber && !divides;
      kind = std::max(kind.value_or(Kind::Bounded), isMask                  ? Kind::Mask
                                                    : multiplies || divides ? Kind::Scaled
                                                                            : Kind::Bounded);
      continue;
    }
    auto it = wide.find(input);
    if (it == wide.end())
      continue;
    bool scaled = it->second.kind == Kind::Scaled;
    bool isSpread = info.passesInfinity || info.category == ::spyre::OpCategory::Reduction ||
                    isa<ReciprocalOp>(op) || (scaled && multiplies) ||
                    (scaled && divides && i == 0);
    if (isSpread)
      kind = std::max(kind.value_or(Kind::Bounded), it->second.kind);
  }
  return kind;
}

void RangeRewriter::refuse(Operation *op) { refused.push_back(op); }

LogicalResult RangeRewriter::rewrite(DeviceOpInterface op) {
  bool hasConstant = llvm::any_of(op.getInputs(), isBeyondRange);
  bool reads = llvm::any_of(op.getInputs(), [&](Value input) { return isWide(input); });
  if (!op.getResultTensor() || !(hasConstant || reads))
    return success();
  std::optional<Kind> kind = getResultKind(op);
  if (kind == Kind::Mask && !reachesHost(op.getResultTensor()))
    return success();
  bool onlyMasks = llvm::all_of(op.getInputs(), [&](Value input) {
    return !isBeyondRange(input) && (!isWide(input) || wide.lookup(input).kind == Kind::Mask);
  });
  if (onlyMasks && !op.getInfo().passesInfinity)
    return success();
  rewriter.setInsertionPoint(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(getWide(operand));
  rewriter.setInsertionPoint(op);
  Operation *made = rewriter.clone(*op);
  made->setOperands(operands);
  if (isHalf(getElementType(op.getResultTensor())))
    made->getResult(0).setType(RankedTensorType::get(getTensorType(op.getResultTensor()).getShape(),
                                                     rewriter.getF32Type()));
  if (!F32Region::canBeF32(made)) {
    rewriter.eraseOp(made);
    // A comparison's bound was rounded so that it separates the same numbers.
    if (reads)
      refuse(op);
    return success();
  }
  replace(op, made, kind);
  return success();
}

void RangeRewriter::returnWide(func::ReturnOp op) {
  SmallVector<Type> types(func.getFunctionType().getResults());
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    auto it = wide.find(value);
    if (it == wide.end() || !func.getResultAttr(i, kOnHostAttr))
      continue;
    func.setResultAttr(i, kHostTypeAttr, TypeAttr::get(getElementType(value)));
    op->setOperand(i, it->second.value);
    types[i] = it->second.value.getType();
  }
  func.setFunctionType(
      FunctionType::get(func.getContext(), func.getFunctionType().getInputs(), types));
}

LogicalResult RangeRewriter::run() {
  SmallVector<Operation *> ops;
  for (Operation &op : func.getBody().front())
    ops.push_back(&op);
  for (Operation *op : ops) {
    bool reads = llvm::any_of(op->getOperands(), [&](Value operand) { return isWide(operand); });
    rewriter.setInsertionPoint(op);
    if (auto device = dyn_cast<DeviceOpInterface>(op)) {
      if (failed(rewrite(device)))
        return failure();
    } else if (!reads) {
      continue;
    } else if (auto ret = dyn_cast<func::ReturnOp>(op)) {
      returnWide(ret);
    } else if (auto view = dyn_cast<ViewOp>(op)) {
      Wide source = wide.lookup(view.getSource());
      Value shown = buildView(rewriter, op->getLoc(), source.value, view.getMap(),
                              getTensorType(view.getResult()).getShape());
      wide[view.getResult()] = {shown, source.kind};
    } else if (auto convert = dyn_cast<ConvertOp>(op)) {
      if (getElementType(convert.getResult()).isF32())
        rewriter.replaceOp(convert, wide.lookup(convert.getSource()).value);
    } else if (auto join = dyn_cast<ConcatOp>(op)) {
      SmallVector<Value> operands;
      Kind kind = Kind::Bounded;
      for (Value operand : join.getSources()) {
        if (isWide(operand))
          kind = std::max(kind, wide.lookup(operand).kind);
        operands.push_back(getWide(operand));
      }
      if (kind == Kind::Mask && !reachesHost(join.getResult()))
        continue;
      rewriter.setInsertionPoint(op);
      Operation *made = rewriter.clone(*op);
      made->setOperands(operands);
      made->getResult(0).setType(
          RankedTensorType::get(getTensorType(join.getResult()).getShape(), rewriter.getF32Type()));
      replace(op, made, kind);
    } else if (llvm::any_of(op->getOperands(), [&](Value operand) {
                 return isWide(operand) && wide.lookup(operand).kind != Kind::Mask;
               })) {
      refuse(op);
    }
  }
  if (refused.empty())
    return success();
  InFlightDiagnostic error = emitError(func.getLoc())
                             << "'" << func.getName() << "' has " << refused.size()
                             << (refused.size() == 1 ? " operation" : " operations")
                             << " that may read numbers beyond the range of the device's 16-bit "
                                "format; not supported";
  for (Operation *op : refused)
    noteRefusal(error, op, RefusalRule::Range,
                "a constant makes its operand smaller or larger than the device's 16-bit numbers, "
                "and it has no f32 form");
  return failure();
}
