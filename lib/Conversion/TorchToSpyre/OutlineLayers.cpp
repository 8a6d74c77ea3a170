//===- OutlineLayers.cpp - Structurally equal layers become one function --===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the longest repetition in the program's one function, and those of loops with many
// trips, proves that the instances of each differ in nothing but the tensors that come from
// outside, and makes one function of them. What stands before, between and behind becomes
// functions too: a program with layers is a sequence of calls. See Passes.td.
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

namespace {
/// Looks for repetitions by the hashes of steps.
class Finder {
public:
  explicit Finder(const Steps &steps);

  /// The repetition among steps [first, last) that saves most. \p onlyTrips: of those of
  /// nothing but trips of loops.
  Repetition find(size_t first, size_t last, size_t minLength, bool onlyTrips) const;

private:
  bool isOnlyTrips(size_t begin, size_t end) const {
    return trips[end] - trips[begin] == end - begin;
  }
  /// Whether \p length steps from \p begin on, which go on to be the same for \p run more,
  /// are worth a function. Trips of a loop: only in pieces, and only of many. Anything else
  /// needs a product.
  bool isWorth(size_t begin, size_t length, size_t run) const;
  size_t chooseBegin(size_t first, size_t run, size_t length) const;

  const Steps &steps;
  SmallVector<llvm::hash_code> hashes;
  /// How many of the steps before are of a kind.
  SmallVector<size_t> products, trips, work;
};
} // namespace

Finder::Finder(const Steps &steps) : steps(steps), products(1, 0), trips(1, 0), work(1, 0) {
  for (size_t i = 0; i < steps.size(); ++i) {
    hashes.push_back(steps.getHash(i));
    products.push_back(products.back() + isMatrixProduct(steps[i]));
    trips.push_back(trips.back() + steps[i]->hasAttr(kTripAttr));
    work.push_back(work.back() + isWork(steps[i]));
  }
}

bool Finder::isWorth(size_t begin, size_t length, size_t run) const {
  size_t end = begin + length + run;
  if (!isOnlyTrips(begin, end))
    return products[begin + length] > products[begin];
  auto getWork = [&](size_t until) { return static_cast<int64_t>(work[until] - work[begin]); };
  return getWork(end) > kMostInPlace / 2 && getWork(begin + length) >= kMostInPiece / 4;
}

/// Where the fewest tensors cross from one instance to the next.
size_t Finder::chooseBegin(size_t first, size_t run, size_t length) const {
  size_t best = first, bestCut = ~size_t(0);
  for (size_t begin = first; begin <= first + run % length; ++begin) {
    llvm::SmallPtrSet<Value, 8> crossing;
    size_t cut = begin + length;
    for (size_t j = cut; j < cut + length && j < steps.size(); ++j)
      for (Value operand : steps[j]->getOperands())
        if (std::optional<size_t> def = steps.getIndex(operand); def && *def >= begin && *def < cut)
          crossing.insert(operand);
    if (crossing.size() < bestCut) {
      bestCut = crossing.size();
      best = begin;
    }
  }
  return best;
}

Repetition Finder::find(size_t first, size_t last, size_t minLength, bool onlyTrips) const {
  // A layer of a model in use has a few dozen operations.
  constexpr size_t kMaxLength = 4096;
  Repetition best;
  size_t bestSaved = 0, n = last - first;
  if (trips[last] == trips[first] && (onlyTrips || products[last] == products[first]))
    return best;
  // No more than what is behind the first instance can be saved.
  for (size_t length = minLength; length <= std::min(n / 2, kMaxLength) && n - length > bestSaved;
       ++length)
    for (size_t i = first; i + length < last;) {
      size_t run = 0;
      while (i + length + run < last && hashes[i + run] == hashes[i + length + run])
        ++run;
      size_t saved = run / length * length;
      if (saved > bestSaved && isWorth(i, length, run) &&
          (!onlyTrips || isOnlyTrips(i, i + length + run))) {
        bestSaved = saved;
        best = {chooseBegin(i, run, length), length, run / length + 1};
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

/// The repetitions of \p steps, in order: that which saves most, and of what stands before and
/// behind it those of many trips of loops.
static SmallVector<Repetition> findAll(const Steps &steps, size_t minLength) {
  Finder finder(steps);
  SmallVector<Repetition> found;
  std::function<void(size_t, size_t, bool)> find = [&](size_t first, size_t last, bool onlyTrips) {
    Repetition repetition = finder.find(first, last, minLength, onlyTrips);
    for (size_t k = 1; k < repetition.count; ++k)
      if (!isInstance(steps, repetition, k))
        repetition.count = k;
    if (repetition.count < 2)
      return;
    find(first, repetition.begin, /*onlyTrips=*/true);
    found.push_back(repetition);
    find(repetition.begin + repetition.count * repetition.length, last, /*onlyTrips=*/true);
  };
  find(0, steps.size(), /*onlyTrips=*/false);
  return found;
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
  SmallVector<Repetition> repetitions = findAll(steps, minOperations);
  if (repetitions.empty())
    return;
  SmallVector<Operation *> all;
  for (size_t i = 0; i < steps.size(); ++i)
    all.push_back(steps[i]);
  auto getOps = [&](size_t begin, size_t end) { return ArrayRef(all).slice(begin, end - begin); };
  // Constants may be results: they stand between the calls.
  if (llvm::any_of(terminator->getOperands(),
                   [&](Value v) { return steps.isPlain(v) && !torch_reader::getTensorLiteral(v); }))
    return;

  OpBuilder builder(func);
  /// A function and the parts that become calls of it.
  struct Call {
    std::string name;
    SmallVector<Part> parts;
  };
  SmallVector<Call> calls;
  auto addPlain = [&](size_t begin, size_t end, const Twine &name) {
    if (begin < end)
      calls.push_back({(func.getName() + name).str(), {makePart(steps, getOps(begin, end))}});
  };
  size_t done = 0;
  for (auto [number, repetition] : llvm::enumerate(repetitions)) {
    addPlain(done, repetition.begin,
             number == 0 ? Twine("_begin") : Twine("_between") + Twine(number));
    Call layer{(func.getName() + "_layer" + (number == 0 ? "" : std::to_string(number))).str(), {}};
    // All instances give what any of them has to give.
    llvm::SetVector<std::pair<size_t, unsigned>> outputs;
    done = repetition.begin;
    for (size_t k = 0; k < repetition.count; ++k, done += repetition.length) {
      layer.parts.push_back(makePart(steps, getOps(done, done + repetition.length)));
      outputs.insert(layer.parts.back().outputs.begin(), layer.parts.back().outputs.end());
    }
    SmallVector<std::pair<size_t, unsigned>> common = outputs.takeVector();
    llvm::sort(common);
    for (Part &instance : layer.parts)
      instance.outputs = common;
    calls.push_back(std::move(layer));
  }
  addPlain(done, steps.size(), "_end");
  SmallVector<func::FuncOp> functions(calls.size());
  // Layers first, as they are what a program is about.
  for (bool isLayer : {true, false})
    for (auto [call, function] : llvm::zip(calls, functions))
      if ((call.parts.size() > 1) == isLayer)
        function = makeFunction(steps, call.parts.front(), call.name, builder);
  // From the end: what is replaced is read by nothing that is still to be replaced.
  // Inputs are looked up again, since calls have taken the place of their makers.
  for (auto [call, function] : llvm::reverse(llvm::zip(calls, functions)))
    for (const Part &part : llvm::reverse(call.parts))
      replaceWithCall(function, part.ops, part.inputs.getArrayRef(), part.outputs, builder);
  SmallVector<Operation *> dead;
  for (Operation &op : func.getBody().front().without_terminator())
    if (!isa<func::CallOp>(op))
      dead.push_back(&op);
  for (Operation *op : llvm::reverse(dead))
    if (op->use_empty())
      op->erase();
}
