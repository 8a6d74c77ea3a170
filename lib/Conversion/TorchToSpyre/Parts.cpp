//===- Parts.cpp - Parts of a function become functions -------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "Parts.h"

#include "spyre/Dialect/Torch/IR/TorchOps.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

static bool isTensor(Type type) { return isa<ShapedType, torch_reader::ValueTensorType>(type); }

Steps::Steps(func::FuncOp func) {
  for (Operation &op : func.getBody().front().without_terminator()) {
    bool isPlainOp = op.getNumRegions() == 0 && op.getNumResults() > 0 &&
                     llvm::all_of(op.getOperands(), [&](Value v) { return isPlain(v); }) &&
                     (op.getNumOperands() == 0 || llvm::none_of(op.getResultTypes(), isTensor));
    llvm::hash_code code = hash(&op);
    if (isPlainOp) {
      plain.try_emplace(&op, code);
      continue;
    }
    indices[&op] = ops.size();
    ops.push_back(&op);
    hashes.push_back(code);
  }
}

llvm::hash_code Steps::hash(Operation *op) const {
  llvm::hash_code code =
      llvm::hash_combine(op->getName(), op->getAttrDictionary(), op->getNumOperands());
  for (Type type : op->getResultTypes())
    code = llvm::hash_combine(code, type);
  for (Value operand : op->getOperands())
    code = isPlain(operand) ? llvm::hash_combine(code, plain.lookup(operand.getDefiningOp()),
                                                 cast<OpResult>(operand).getResultNumber())
                            : llvm::hash_combine(code, operand.getType());
  return code;
}

bool Steps::isSamePlain(Value a, Value b) const {
  if (a == b)
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return x->getName() == y->getName() && x->getAttrDictionary() == y->getAttrDictionary() &&
         x->getResultTypes() == y->getResultTypes() &&
         cast<OpResult>(a).getResultNumber() == cast<OpResult>(b).getResultNumber() &&
         x->getNumOperands() == y->getNumOperands() &&
         llvm::all_of(llvm::zip(x->getOperands(), y->getOperands()),
                      [&](auto pair) { return isSamePlain(std::get<0>(pair), std::get<1>(pair)); });
}

Part torch_lowering::makePart(const Steps &steps, ArrayRef<Operation *> ops) {
  Part region;
  region.ops = ops;
  llvm::SmallPtrSet<Operation *, 32> inside(ops.begin(), ops.end());
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (!steps.isPlain(operand) &&
          !(operand.getDefiningOp() && inside.contains(operand.getDefiningOp())))
        region.inputs.insert(operand);
  for (auto [i, op] : llvm::enumerate(ops))
    for (OpResult result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        region.outputs.emplace_back(i, result.getResultNumber());
  return region;
}

func::FuncOp torch_lowering::makeFunction(const Steps &steps, const Part &region, StringRef name,
                                          OpBuilder &builder) {
  SmallVector<Type> inputs, outputs;
  for (Value input : region.inputs)
    inputs.push_back(input.getType());
  for (auto [op, result] : region.outputs)
    outputs.push_back(region.ops[op]->getResult(result).getType());
  auto func = func::FuncOp::create(builder, region.ops.front()->getLoc(), name,
                                   builder.getFunctionType(inputs, outputs));
  func.setPrivate();
  Block *block = func.addEntryBlock();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(block);
  IRMapping mapping;
  for (auto [input, argument] : llvm::zip(region.inputs, block->getArguments())) {
    argument.setLoc(input.getLoc());
    mapping.map(input, argument);
  }
  std::function<void(Value)> copyPlain = [&](Value value) {
    if (!steps.isPlain(value) || mapping.contains(value))
      return;
    for (Value operand : value.getDefiningOp()->getOperands())
      copyPlain(operand);
    builder.clone(*value.getDefiningOp(), mapping);
  };
  for (Operation *op : region.ops) {
    for (Value operand : op->getOperands())
      copyPlain(operand);
    builder.clone(*op, mapping);
  }
  SmallVector<Value> results;
  for (auto [op, result] : region.outputs)
    results.push_back(mapping.lookup(region.ops[op]->getResult(result)));
  func::ReturnOp::create(builder, func.getLoc(), results);
  return func;
}

void torch_lowering::replaceWithCall(func::FuncOp callee, ArrayRef<Operation *> ops,
                                     ValueRange inputs,
                                     ArrayRef<std::pair<size_t, unsigned>> outputs,
                                     OpBuilder &builder) {
  builder.setInsertionPoint(ops.front());
  auto call = func::CallOp::create(builder, ops.front()->getLoc(), callee, inputs);
  for (auto [result, output] : llvm::zip(call.getResults(), outputs))
    ops[output.first]->getResult(output.second).replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}
