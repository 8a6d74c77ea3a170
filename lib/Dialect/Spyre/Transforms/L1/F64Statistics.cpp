//===- F64Statistics.cpp - Means and variances without f64 -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exporters write the variance of an f32 value in f64, between two casts. The device has
// no f64. The rule "f64-statistics" runs such a computation in f32:
//
//   x (f32 or 16 bits, widened), m = sum x / n, c = x - m, v = sum c^2 / n', and of v:
//   factors, positive summands, square root, 1 / square root; m and v are narrowed.
//
// Error: m has a relative one of a few 2^-24 (sums accumulate in f32 or wider); it moves
// every c by the same d = |m| 2^-24. Since the c sum to 0 without it, v changes by d^2
// only: relative to v, (|m| / deviation)^2 2^-48, which is below 2^-24 as long as the mean
// is not 2^12 times the deviation, and for 16-bit x, whose neighbours differ by 2^-10 |x|,
// below 2^-28 n. Squares are not negative: their sum adds a few 2^-24. What is done with v
// afterwards is well conditioned. The result is narrowed to f32 in any case.
//
//===----------------------------------------------------------------------===//

#include "Precision.h"

#include "spyre/Dialect/Spyre/IR/Refusal.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::spyre;

namespace {
/// What an f64 value is.
enum class Role { Other, Widened, Sum, Mean, Centred, Square, Statistic };

class Statistics {
public:
  explicit Statistics(func::FuncOp func) : func(func) {}

  LogicalResult run();

private:
  Role classify(Operation *op);
  Role getRole(Value value) const { return roles.lookup(value); }
  bool isDivisor(Value value) const;
  void narrow(Operation *op, RewriterBase &rewriter);

  func::FuncOp func;
  llvm::DenseMap<Value, Role> roles;
};
} // namespace

static bool isF64(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF64();
}

/// A positive number.
bool Statistics::isDivisor(Value value) const {
  std::optional<double> number = getScalarConstant(skipViews(value));
  return number && *number > 0;
}

Role Statistics::classify(Operation *op) {
  if (auto convert = dyn_cast<ConvertOp>(op)) {
    Type from = getTensorType(convert.getSource()).getElementType();
    if (isHalf(from) || from.isF32())
      return Role::Widened;
    // Narrowed: what the rule keeps.
    Role role = getRole(convert.getSource());
    return llvm::is_contained({Role::Widened, Role::Mean, Role::Statistic}, role) ? role
                                                                                  : Role::Other;
  }
  if (auto view = dyn_cast<ViewOp>(op))
    return getRole(view.getSource());
  auto device = dyn_cast<DeviceOpInterface>(op);
  if (!device || !device.getResultTensor() || !isF64(device.getResultTensor()))
    return Role::Other;
  Value x = device.getInputs()[0];
  Role role = getRole(x);
  // Of one element a result, the sum is the mean (and a division by 1 has vanished).
  int64_t points = ShapedType::getNumElements(device.getExtents());
  bool isMean = points == getTensorType(device.getResultTensor()).getNumElements();
  if (isa<SumOp>(op))
    return role == Role::Widened  ? (isMean ? Role::Mean : Role::Sum)
           : role == Role::Square ? Role::Statistic
                                  : Role::Other;
  if (isa<MeanOp>(op))
    return role == Role::Widened  ? Role::Mean
           : role == Role::Square ? Role::Statistic
                                  : Role::Other;
  if (isa<SqrtOp, RsqrtOp>(op))
    return role == Role::Statistic ? role : Role::Other;
  if (device.getInputs().size() != 2)
    return Role::Other;
  Value y = device.getInputs()[1];
  if (isa<RealdivOp>(op) && isDivisor(y))
    return role == Role::Sum ? Role::Mean : role == Role::Statistic ? Role::Statistic : Role::Other;
  if (isa<MulOp, AddOp>(op) && isDivisor(y))
    return role == Role::Statistic ? role : Role::Other;
  if (isa<MulOp>(op))
    return role == Role::Centred && readsSame(device, 0, device, 1) ? Role::Square : Role::Other;
  if (isa<SubOp>(op) && role == Role::Widened && getRole(y) == Role::Mean) {
    // The mean of what is centred.
    Value mean = skipViews(y);
    DeviceOpInterface sum = mean.getDefiningOp<DeviceOpInterface>();
    if (sum && isa<RealdivOp>(sum))
      sum = skipViews(sum.getInputs()[0]).getDefiningOp<DeviceOpInterface>();
    if (sum && readsSame(device, 0, sum, 0) && readsReduction(device, 1, mean, sum))
      return Role::Centred;
  }
  return Role::Other;
}

void Statistics::narrow(Operation *op, RewriterBase &rewriter) {
  Type f32 = rewriter.getF32Type();
  if (auto convert = dyn_cast<ConvertOp>(op)) {
    Value source = convert.getSource(), result = convert.getResult();
    if (isF64(result))
      result.setType(RankedTensorType::get(getTensorType(result).getShape(), f32));
    if (source.getType() == result.getType())
      rewriter.replaceOp(op, source);
    return;
  }
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<double> number = getScalarConstant(operand.get());
    if (!number || !isF64(operand.get()))
      continue;
    rewriter.setInsertionPoint(op);
    Value scalar = buildScalar(rewriter, op->getLoc(), *number, f32);
    RankedTensorType type = getTensorType(operand.get());
    AffineMap none = AffineMap::get(type.getRank(), 0, {}, rewriter.getContext());
    operand.set(type.getRank() == 0
                    ? scalar
                    : buildView(rewriter, op->getLoc(), scalar, none, type.getShape()));
  }
  for (Value result : op->getResults())
    if (isF64(result))
      result.setType(RankedTensorType::get(getTensorType(result).getShape(), f32));
  if (isa<DeviceOpInterface>(op))
    remark::passed(op->getLoc(),
                   remark::RemarkOpts::name("f32").category("precision").function(func.getName()))
        << (op->getName().getStringRef() + " of f64 is computed in f32, by rule f64-statistics")
               .str();
}

LogicalResult Statistics::run() {
  SmallVector<Operation *> ops, refused;
  func.walk([&](Operation *op) {
    if (isa<ConstantOp, func::FuncOp>(op) ||
        (llvm::none_of(op->getOperands(), isF64) && llvm::none_of(op->getResults(), isF64)))
      return;
    ops.push_back(op);
    // A view of a number is read as the number.
    bool isNumber = isa<ViewOp>(op) && getScalarConstant(skipViews(op->getResult(0)));
    Role role = isNumber ? Role::Widened : classify(op);
    for (Value result : op->getResults())
      roles[result] = role;
    if (role == Role::Other)
      refused.push_back(op);
  });
  if (!refused.empty()) {
    InFlightDiagnostic error = emitError(func.getLoc())
                               << "'" << func.getName() << "' has " << refused.size()
                               << (refused.size() == 1 ? " operation" : " operations")
                               << " on f64 that are no means or variances; not supported";
    for (Operation *op : refused)
      noteRefusal(error, op, RefusalRule::Precision, "the device computes nothing in f64");
    return failure();
  }
  IRRewriter rewriter(func.getContext());
  for (Operation *op : ops)
    narrow(op, rewriter);
  return success();
}

LogicalResult mlir::spyre::narrowStatistics(func::FuncOp func) { return Statistics(func).run(); }
