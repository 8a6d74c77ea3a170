//===- Parts.h - Parts of a function become functions -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function of torch operations as steps, and how some of them become a private
// function that is called in their place. Numbers and literals belong to what reads
// them: they are copied, never passed.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_CONVERSION_TORCHTOSPYRE_PARTS_H
#define SPYRE_LIB_CONVERSION_TORCHTOSPYRE_PARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::spyre::torch_lowering {

/// A function's operations as steps. Numbers, lists of them and literals belong to the
/// steps that read them.
class Steps {
public:
  explicit Steps(func::FuncOp func);

  size_t size() const { return ops.size(); }
  Operation *operator[](size_t i) const { return ops[i]; }
  /// The step that computes \p value, or nothing (an argument).
  std::optional<size_t> getIndex(Value value) const {
    auto it = indices.find(value.getDefiningOp());
    return value.getDefiningOp() && it != indices.end() ? std::optional(it->second) : std::nullopt;
  }
  /// True if \p value is made of numbers only: copied, never passed.
  bool isPlain(Value value) const {
    return value.getDefiningOp() && plain.contains(value.getDefiningOp());
  }
  /// Equal for steps that do the same to other tensors.
  llvm::hash_code getHash(size_t i) const { return hashes[i]; }
  bool isSamePlain(Value a, Value b) const;

private:
  llvm::hash_code hash(Operation *op) const;

  SmallVector<Operation *> ops;
  DenseMap<Operation *, size_t> indices;
  DenseMap<Operation *, llvm::hash_code> plain;
  SmallVector<llvm::hash_code> hashes;
};

/// A part of a function on its way to a function of its own: what it reads from
/// outside, in order of first use, and what others read of it.
struct Part {
  ArrayRef<Operation *> ops;
  llvm::SetVector<Value> inputs;
  SmallVector<std::pair<size_t, unsigned>> outputs; ///< (operation, result)
};

/// The part that \p ops, in their order, are.
Part makePart(const Steps &steps, ArrayRef<Operation *> ops);

/// A private function of \p region's operations.
func::FuncOp makeFunction(const Steps &steps, const Part &region, StringRef name,
                          OpBuilder &builder);

/// Puts a call of \p callee in the place of \p ops, which read \p inputs.
void replaceWithCall(func::FuncOp callee, ArrayRef<Operation *> ops, ValueRange inputs,
                     ArrayRef<std::pair<size_t, unsigned>> outputs, OpBuilder &builder);

} // namespace mlir::spyre::torch_lowering

#endif // SPYRE_LIB_CONVERSION_TORCHTOSPYRE_PARTS_H
