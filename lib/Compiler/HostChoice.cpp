//===- HostChoice.cpp - What the host computes ----------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/Compiler/HostChoice.h"

#include "spyre/Dialect/Spyre/IR/Provenance.h"
#include "spyre/Dialect/Spyre/IR/SpyreDialect.h"
#include "spyre/Dialect/Torch/IR/TorchEffects.h"
#include "spyre/Dialect/Torch/IR/TorchOps.h"
#include "spyre/Host/Evaluate.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace spyre::compiler {

static bool isOfTorch(Operation *op) { return op->getName().getDialectNamespace() == "torch"; }

static bool isLiteral(Operation *op) {
  return torch_reader::isOp(op, torch_reader::names::valueTensorLiteral) ||
         torch_reader::isOp(op, torch_reader::names::tensorLiteral);
}

/// Numbers, lists, literals and options: they go where they are read.
static bool isBookkeeping(Operation *op) {
  return op->getName().getStringRef().starts_with("torch.constant.") ||
         torch_reader::isPacking(op) || isLiteral(op);
}

/// A tensor of a type and sizes that the device could hold.
static bool isDeviceTensor(Type type) {
  std::optional<ArrayRef<int64_t>> shape = torch_reader::getTensorShape(type);
  Type element = torch_reader::getTensorElementType(type);
  if (!isa<torch_reader::ValueTensorType>(type) || !shape || !element ||
      element.isUnsignedInteger() || llvm::any_of(*shape, ShapedType::isDynamic))
    return false;
  return mlir::spyre::getDeviceFormat(element).has_value();
}

HostChoice::HostChoice(OwningOpRef<ModuleOp> source, HostPolicy policy)
    : module(std::move(source)), policy(policy) {
  module->walk([&](Operation *op) {
    if (!isOfTorch(op))
      return;
    op->setLoc(mlir::spyre::withNumber(op->getLoc(), static_cast<int64_t>(operations.size())));
    operations.push_back(op);
  });
  for (auto func : module->getOps<func::FuncOp>()) {
    if (!func.isPublic() || func.isExternal())
      continue;
    hasOtherSignature |= !llvm::all_of(func.getArgumentTypes(), isDeviceTensor) ||
                         !llvm::all_of(func.getResultTypes(), isDeviceTensor);
    // Inside a program f64 may be narrowed where it changes nothing; what is seen may not.
    for (Value result : func.getBody().front().getTerminator()->getOperands()) {
      Type element = torch_reader::getTensorElementType(result.getType());
      Operation *op = result.getDefiningOp();
      // A literal that is a result itself is the host's in any type that the device computes
      // nothing with.
      bool computes =
          element && (element.isF16() || element.isBF16() || element.isF32() ||
                      element.isInteger(1) || element.isInteger(32) || element.isInteger(64));
      if (element && op && isBookkeeping(op) && !computes)
        hasOtherSignature = true;
      if (!element || !(element.isF64() || isa<ComplexType>(element)))
        continue;
      hasOtherSignature |= !op || isBookkeeping(op);
      if (op && isOfTorch(op))
        for (int64_t number : mlir::spyre::getNumbers(op->getLoc()))
          mark(number, "the device has no format for its result");
    }
  }
}

bool HostChoice::mayRunOnHost(Operation *op) const {
  if ((op->getNumResults() == 0 && !torch_reader::hasEffect(op)) || op->getNumRegions() > 0 ||
      isBookkeeping(op))
    return false;
  if (policy == HostPolicy::Any)
    return true;
  StringRef name = torch_reader::getOperatorName(op);
  return policy == HostPolicy::Table && host::isKnown({name.data(), name.size()});
}

bool HostChoice::mark(int64_t number, StringRef reason) {
  if (number < 0 || number >= static_cast<int64_t>(operations.size()))
    return false;
  Operation *op = operations[number];
  if (op->hasAttr(mlir::spyre::kHostAttr) || !mayRunOnHost(op))
    return false;
  op->setAttr(mlir::spyre::kHostAttr, StringAttr::get(op->getContext(), reason));
  ++numMarked;
  return true;
}

void HostChoice::markAll(StringRef reason) {
  for (size_t number = 0; number < operations.size(); ++number)
    mark(static_cast<int64_t>(number), reason);
}

/// Calls \p fn with what reads \p op, in lists as well.
static void forEachReader(Operation *op, function_ref<void(Operation *)> fn) {
  for (Operation *user : op->getUsers())
    if (torch_reader::isPacking(user))
      forEachReader(user, fn);
    else
      fn(user);
}

bool HostChoice::learn(ArrayRef<mlir::spyre::Refusal> refusals, ArrayRef<ModuleOp> failedParts) {
  if (policy == HostPolicy::None)
    return false;
  // Whether the host may have each operation that is refused.
  SmallVector<std::pair<int64_t, StringRef>> refused;
  for (const mlir::spyre::Refusal &refusal : refusals)
    for (int64_t number : mlir::spyre::getNumbers(refusal.location))
      refused.emplace_back(number, refusal.reason);
  bool isNew = false;
  for (const auto &[number, reason] : refused) {
    Operation *op = number < static_cast<int64_t>(operations.size()) ? operations[number] : nullptr;
    // One that nobody can compute: the report stands.
    if (op && !op->hasAttr(mlir::spyre::kHostAttr) && !isBookkeeping(op) && !mayRunOnHost(op))
      return false;
    isNew |= mark(number, reason);
    if (!op || !isLiteral(op))
      continue;
    if (op->getNumResults() != 1 || !torch_reader::getTensorLiteral(op->getResult(0)))
      return false;
    // The host has all literals: what reads one that the device cannot keep goes there.
    forEachReader(op, [&](Operation *reader) {
      for (int64_t its : mlir::spyre::getNumbers(reader->getLoc()))
        isNew |= mark(its, reason);
    });
  }
  if (isNew)
    return true;
  // The error names no operation that is not the host's already: the whole part goes.
  llvm::SetVector<int64_t> numbers;
  for (ModuleOp part : failedParts)
    part->walk([&](Operation *op) {
      for (int64_t number : mlir::spyre::getNumbers(op->getLoc()))
        numbers.insert(number);
    });
  for (int64_t number : numbers)
    isNew |= mark(number, refusals.empty() ? StringRef("it could not be compiled")
                                           : StringRef(refusals.front().reason));
  return isNew;
}

} // namespace spyre::compiler
