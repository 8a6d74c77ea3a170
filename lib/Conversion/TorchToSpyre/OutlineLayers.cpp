//===- OutlineLayers.cpp - Structurally equal layers become one function --===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the longest repetition in the program's one function, proves that its
// instances differ in nothing but the tensors that come from outside, and makes one
// function of them. What stands before, between and behind becomes functions too: a
// program with layers is a sequence of calls. See Passes.td.
//
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "TripPieces.h"
#include "spyre/Conversion/TorchToSpyre/TorchToSpyre.h"
#include "spyre/Dialect/Torch/IR/TorchEffects.h"
#include "spyre/Dialect/Torch/IR/TorchOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREOUTLINELAYERS
#include "spyre/Conversion/TorchToSpyre/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

/// A matrix product: what makes a repetition a layer that is worth a launch of its own.
static bool isMatrixProduct(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return llvm::is_contained({"torch.aten.mm", "torch.aten.bmm", "torch.aten.matmul",
                             "torch.aten.linear", "torch.aten.addmm", "torch.aten.baddbmm"},
                            name);
}

namespace {
/// Steps [begin, begin + length), count times one behind the other.
struct Repetition {
  size_t begin = 0, length = 0, count = 0;
};
} // namespace

/// The repetition that saves most, by hashes.
static Repetition findRepetition(const Steps &steps, size_t minLength) {
  // A layer of a model in use has a few dozen operations.
  constexpr size_t kMaxLength = 4096;
  Repetition best;
  size_t bestSaved = 0, n = steps.size();
  SmallVector<llvm::hash_code> hashes;
  // How many of the steps before are of a kind.
  SmallVector<size_t> products(1, 0), trips(1, 0), work(1, 0);
  for (size_t i = 0; i < n; ++i) {
    hashes.push_back(steps.getHash(i));
    products.push_back(products.back() + isMatrixProduct(steps[i]));
    trips.push_back(trips.back() + steps[i]->hasAttr(kTripAttr));
    work.push_back(work.back() + isWork(steps[i]));
  }
  if (products.back() == 0 && trips.back() == 0)
    return best;
  // Trips of a loop: only in pieces, and only of many. What is more than that needs a product.
  auto isWorth = [&](size_t begin, size_t length, size_t run) {
    size_t end = begin + length + run;
    if (trips[end] - trips[begin] < length + run)
      return products[begin + length] > products[begin];
    auto getWork = [&](size_t until) { return static_cast<int64_t>(work[until] - work[begin]); };
    return getWork(end) > kMostInPlace / 2 && getWork(begin + length) >= kMostInPiece / 4;
  };
  // No more than what is behind the first instance can be saved.
  for (size_t length = minLength; length <= std::min(n / 2, kMaxLength) && n - length > bestSaved;
       ++length)
    for (size_t i = 0; i + length < n;) {
      size_t run = 0;
      while (i + length + run < n && hashes[i + run] == hashes[i + length + run])
        ++run;
      size_t saved = run / length * length;
      if (saved > bestSaved && isWorth(i, length, run)) {
        // Begin where the fewest tensors cross from one instance to the next.
        bestSaved = saved;
        best = {i, length, run / length + 1};
        size_t bestCut = ~size_t(0);
        for (size_t begin = i; begin <= i + run % length; ++begin) {
          llvm::SmallPtrSet<Value, 8> crossing;
          size_t cut = begin + length;
          for (size_t j = cut; j < cut + length && j < n; ++j)
            for (Value operand : steps[j]->getOperands())
              if (std::optional<size_t> def = steps.getIndex(operand);
                  def && *def >= begin && *def < cut)
                crossing.insert(operand);
          if (crossing.size() < bestCut) {
            bestCut = crossing.size();
            best.begin = begin;
          }
        }
      }
      i += run + 1;
    }
  return best;
}

/// True if instance \p k of \p repetition is instance 0 with other tensors from
/// outside.
static bool isInstance(const Steps &steps, const Repetition &repetition, size_t k) {
  size_t first = repetition.begin, begin = first + k * repetition.length;
  DenseMap<Value, Value> outside;
  for (size_t i = 0; i < repetition.length; ++i) {
    Operation *a = steps[first + i], *b = steps[begin + i];
    if (a->getName() != b->getName() || a->getAttrDictionary() != b->getAttrDictionary() ||
        a->getResultTypes() != b->getResultTypes() || a->getNumOperands() != b->getNumOperands() ||
        a->getNumRegions() != 0)
      return false;
    for (auto [x, y] : llvm::zip(a->getOperands(), b->getOperands())) {
      if (steps.isPlain(x) || steps.isPlain(y)) {
        if (!steps.isPlain(x) || !steps.isPlain(y) || !steps.isSamePlain(x, y))
          return false;
        continue;
      }
      if (x.getType() != y.getType())
        return false;
      std::optional<size_t> dx = steps.getIndex(x), dy = steps.getIndex(y);
      bool insideX = dx && *dx >= first, insideY = dy && *dy >= begin;
      if (insideX != insideY)
        return false;
      if (insideX) {
        if (*dx - first != *dy - begin ||
            cast<OpResult>(x).getResultNumber() != cast<OpResult>(y).getResultNumber())
          return false;
      } else if (outside.try_emplace(x, y).first->second != y) {
        return false;
      }
    }
  }
  return true;
}

namespace {
struct OutlineLayersPass : mlir::spyre::impl::SpyreOutlineLayersBase<OutlineLayersPass> {
  using SpyreOutlineLayersBase::SpyreOutlineLayersBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (auto func : getOperation().getOps<func::FuncOp>())
      functions.push_back(func);
    // A program that is taken apart already, or none.
    if (functions.size() != 1 || functions.front().isExternal() ||
        !llvm::hasSingleElement(functions.front().getBody()))
      return;
    // What has effects keeps its order, which is known within one function.
    if (llvm::any_of(functions.front().getBody().front(),
                     [](Operation &op) { return torch_reader::hasEffect(&op); }))
      return;
    outline(functions.front());
  }

private:
  void outline(func::FuncOp func);
};
} // namespace

void OutlineLayersPass::outline(func::FuncOp func) {
  Operation *terminator = func.getBody().front().getTerminator();
  // What the program returns is computed; an argument has no place in a call.
  if (llvm::any_of(terminator->getOperands(), llvm::IsaPred<BlockArgument>))
    return;
  Steps steps(func);
  Repetition repetition = findRepetition(steps, minOperations);
  for (size_t k = 1; k < repetition.count; ++k)
    if (!isInstance(steps, repetition, k))
      repetition.count = k;
  if (repetition.count < 2)
    return;
  SmallVector<Operation *> all;
  for (size_t i = 0; i < steps.size(); ++i)
    all.push_back(steps[i]);
  auto getOps = [&](size_t begin, size_t length) { return ArrayRef(all).slice(begin, length); };
  // Constants may be results: they stand between the calls.
  if (llvm::any_of(terminator->getOperands(),
                   [&](Value v) { return steps.isPlain(v) && !torch_reader::getTensorLiteral(v); }))
    return;

  // All instances give what any of them has to give.
  SmallVector<Part> instances;
  llvm::SetVector<std::pair<size_t, unsigned>> outputs;
  for (size_t k = 0; k < repetition.count; ++k) {
    instances.push_back(
        makePart(steps, getOps(repetition.begin + k * repetition.length, repetition.length)));
    outputs.insert(instances.back().outputs.begin(), instances.back().outputs.end());
  }
  size_t end = repetition.begin + repetition.count * repetition.length;
  std::optional<Part> before, behind;
  if (repetition.begin > 0)
    before = makePart(steps, getOps(0, repetition.begin));
  if (end < steps.size())
    behind = makePart(steps, getOps(end, steps.size() - end));
  // Assertions and the like stand alone; they read but give nothing.
  SmallVector<std::pair<size_t, unsigned>> common = outputs.takeVector();
  llvm::sort(common);
  for (Part &instance : instances)
    instance.outputs = common;

  OpBuilder builder(func);
  StringRef name = func.getName();
  func::FuncOp layer = makeFunction(steps, instances.front(), (name + "_layer").str(), builder);
  func::FuncOp first, last;
  if (before)
    first = makeFunction(steps, *before, (name + "_begin").str(), builder);
  if (behind)
    last = makeFunction(steps, *behind, (name + "_end").str(), builder);
  // From the end: what is replaced is read by nothing that is still to be replaced.
  // Inputs are looked up again, since calls have taken the place of their makers.
  auto replace = [&](func::FuncOp callee, const Part &region) {
    replaceWithCall(callee, region.ops, region.inputs.getArrayRef(), region.outputs, builder);
  };
  if (last)
    replace(last, *behind);
  for (const Part &instance : llvm::reverse(instances))
    replace(layer, instance);
  if (first)
    replace(first, *before);
  SmallVector<Operation *> dead;
  for (Operation &op : func.getBody().front().without_terminator())
    if (!isa<func::CallOp>(op))
      dead.push_back(&op);
  for (Operation *op : llvm::reverse(dead))
    if (op->use_empty())
      op->erase();
}
