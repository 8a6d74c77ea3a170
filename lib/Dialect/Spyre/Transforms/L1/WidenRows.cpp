//===- WidenRows.cpp - Softmaxes of 16-bit numbers in f32 -------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop over parts of rows carries their largest number and their sums from one part to the
// next, which 16 bits would round each time. So all that depends on the largest number of a row,
// from the row itself up to the next contraction, is computed in f32: the scores of attention are
// widened once, the exponentials narrowed once. So are sums of long rows by themselves.
//
//===----------------------------------------------------------------------===//

#include "spyre/Dialect/Spyre/IR/DeviceOpSpec.h"
#include "spyre/Dialect/Spyre/IR/LongRows.h"
#include "spyre/Dialect/Spyre/IR/ModuleDevice.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Builders.h"
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREWIDENROWS
#include "spyre/Dialect/Spyre/Transforms/L1/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using ::spyre::OpFunc;

static Type getElement(Value value) { return getTensorType(value).getElementType(); }

namespace {
class RowWidener {
public:
  RowWidener(func::FuncOp func, const ::spyre::Device &device)
      : func(func), device(device), builder(func.getContext()) {}

  void run();

private:
  enum class Role : uint8_t {
    None,
    Widens,  ///< can as well be computed in f32
    IsWide,  ///< is computed in f32
    Narrows, ///< rounds what is f32
  };
  static Role getRole(DeviceOpInterface op);
  /// All that depends on \p largest by operations that can be widened; true if that is worth it:
  /// exponentials are summed up.
  bool collect(DeviceOpInterface largest);
  Value getWide(Value value);
  void widen(DeviceOpInterface op);

  func::FuncOp func;
  const ::spyre::Device &device;
  OpBuilder builder;
  llvm::SetVector<Operation *> members;
  DenseMap<Value, Value> wide;
};

struct WidenRowsPass : mlir::spyre::impl::SpyreWidenRowsBase<WidenRowsPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    FailureOr<::spyre::Device> device = getDevice(getOperation());
    if (failed(device))
      return signalPassFailure();
    RowWidener(getOperation(), *device).run();
  }
};
} // namespace

RowWidener::Role RowWidener::getRole(DeviceOpInterface op) {
  const ::spyre::OpFuncInfo &info = op.getInfo();
  if (op.getOutput() || !op.getResultTensor() || op.getGather())
    return Role::None;
  if (op.getOpFunc() == OpFunc::Fp32todl16)
    return op.getInputMap(0) == op.getOutputMap() ? Role::Narrows : Role::None;
  bool isElementwise = info.category == ::spyre::OpCategory::Unary ||
                       info.category == ::spyre::OpCategory::Broadcast ||
                       info.category == ::spyre::OpCategory::Reduction;
  auto areAll = [&](auto is) {
    return is(getElement(op.getResultTensor())) &&
           llvm::all_of(op.getInputs(), [&](Value input) { return is(getElement(input)); });
  };
  if (!isElementwise)
    return Role::None;
  if (areAll([](Type type) { return type.isF32(); }))
    return Role::IsWide;
  SmallVector<::spyre::DataFormat> formats(op.getInputs().size(), ::spyre::DataFormat::IEEE_FP32);
  return areAll(isHalf) && ::spyre::lookupForm(info, formats) ? Role::Widens : Role::None;
}

bool RowWidener::collect(DeviceOpInterface largest) {
  members.clear();
  members.insert(largest);
  bool hasExponentials = false, hasSums = false;
  for (size_t i = 0; i < members.size(); ++i) {
    auto op = cast<DeviceOpInterface>(members[i]);
    hasExponentials |= op.getInfo().shiftLaw == ::spyre::ShiftLaw::ScaleByExp;
    for (Operation *user : op.getResultTensor().getUsers()) {
      auto device = dyn_cast<DeviceOpInterface>(user);
      if (!device || user->getBlock() != largest->getBlock() || getRole(device) == Role::None)
        continue;
      hasSums |= device.getInfo().combiner == ::spyre::Combiner::Add &&
                 op.getInfo().shiftLaw == ::spyre::ShiftLaw::ScaleByExp;
      members.insert(device);
    }
  }
  return hasExponentials && hasSums;
}

Value RowWidener::getWide(Value value) {
  Value &known = wide[value];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  Type f32 = builder.getF32Type();
  if (std::optional<double> number = getScalarConstant(value))
    return known = buildScalar(builder, value.getLoc(), *number, f32);
  return known = buildPointwise(builder, value.getLoc(), OpFunc::Dl16tofp32, {value},
                                RankedTensorType::get(getTensorType(value).getShape(), f32));
}

void RowWidener::widen(DeviceOpInterface op) {
  builder.setInsertionPoint(op);
  Value result = op.getResultTensor();
  if (getRole(op) != Role::Widens) {
    Value source = getRole(op) == Role::IsWide ? result : op.getInputs()[0];
    auto known = wide.find(source);
    wide[result] = known == wide.end() ? source : known->second;
    return;
  }
  DeviceOpSpec spec = DeviceOpSpec::of(op);
  for (Value &input : spec.inputs)
    input = getWide(input);
  spec.resultType = RankedTensorType::get(getTensorType(result).getShape(), builder.getF32Type());
  wide[result] = buildDeviceOp(builder, op->getLoc(), spec).getResultTensor();
}

void RowWidener::run() {
  SmallVector<DeviceOpInterface> starts;
  func.walk([&](DeviceOpInterface op) {
    if (op.getInfo().combiner == ::spyre::Combiner::Maximum && getRole(op) != Role::None)
      starts.push_back(op);
  });
  llvm::SetVector<Operation *> all;
  for (DeviceOpInterface largest : starts)
    if (collect(largest))
      all.insert(members.begin(), members.end());
  // Sums of long rows are added up part by part.
  func.walk([&](DeviceOpInterface op) {
    if (op.getInfo().combiner == ::spyre::Combiner::Add && getRole(op) == Role::Widens &&
        isLongReduction(op, device))
      all.insert(op);
  });
  SmallVector<Operation *> ops(all.begin(), all.end());
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ops)
    widen(cast<DeviceOpInterface>(op));
  llvm::erase_if(
      ops, [](Operation *op) { return getRole(cast<DeviceOpInterface>(op)) != Role::Widens; });
  llvm::SmallPtrSet<Operation *, 8> gone(ops.begin(), ops.end());
  // What others read is narrowed.
  for (Operation *op : ops) {
    Value result = cast<DeviceOpInterface>(op).getResultTensor();
    if (llvm::all_of(result.getUsers(), [&](Operation *user) { return gone.contains(user); }))
      continue;
    builder.setInsertionPoint(op);
    Value narrow = buildPointwise(builder, op->getLoc(), OpFunc::Fp32todl16, {wide.at(result)},
                                  getTensorType(result));
    result.replaceUsesWithIf(narrow,
                             [&](OpOperand &use) { return !gone.contains(use.getOwner()); });
  }
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  for (Operation *op : llvm::reverse(all))
    if (!gone.contains(op) && isOpTriviallyDead(op))
      op->erase();
}
