//===- LayoutSearch.cpp - Stick dims of several operations together -------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass. The assigner chooses for one operation at a time and does not see who reads
// the result. Where that takes copies, other choices near the copies are tried one after
// the other: the whole function is assigned again with each, and the one that moves the
// least is kept. What the assigner does by itself is the first candidate, so that nothing
// moves more for it.
//
//===----------------------------------------------------------------------===//

#include "LayoutAssigner.h"
#include "spyre/Dialect/Spyre/Transforms/L2/ArrangementAnalysis.h"
#include "spyre/Dialect/Spyre/Transforms/L2/Passes.h"
#include "spyre/OpFunc/OpFuncTable.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/Threading.h"

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYREASSIGNLAYOUTS
#include "spyre/Dialect/Spyre/Transforms/L2/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;

/// Other choices that are tried, and operations that are assigned for them: compile time.
static constexpr unsigned kMostTrials = 24;
static constexpr unsigned kMostVisits = 1000;
/// Functions of so few that all choices are tried.
static constexpr unsigned kFewOperations = 8;
/// How far from a copy, in operations, a choice may be that avoids it.
static constexpr unsigned kMostDistance = 4;

/// Sticks that \p op reads and writes, in memory.
static int64_t getMovedSticks(DeviceOpInterface op) {
  StickAccess access = checkSticks(op);
  int64_t sticks = 0;
  auto add = [&](Value value) {
    ArrayRef<int64_t> shape = getShape(value);
    if (shape.empty())
      return;
    int64_t elements = ::spyre::getElementsPerStick(getLayout(value).getFormat());
    int64_t points = access.kind == StickAccess::Dim ? 1 : elements;
    for (auto [d, extent] : llvm::enumerate(op.getExtents()))
      points *= access.kind == StickAccess::Dim && access.dim == d
                    ? static_cast<int64_t>(llvm::alignTo(extent, elements))
                    : extent;
    // A value that is repeated is read once.
    sticks +=
        std::min(points, getNumElementsInMemory(value, getStickDim(getLayout(value)))) / elements;
  };
  for (Value input : op.getInputs())
    add(input);
  add(op.getResultTensor());
  return sticks;
}

/// What the operations of \p func, which has layouts, move. Copies count twice: what computes
/// can often be done where its operands are.
static int64_t getMovedSticks(func::FuncOp func) {
  constexpr int64_t kCopyWeight = 2;
  constexpr int64_t kSticksPerOperation = kCopyOverhead / 64;
  int64_t sticks = 0;
  func.walk([&](DeviceOpInterface op) {
    bool moves = op.getInfo().category == ::spyre::OpCategory::DataMovement;
    sticks += (moves ? kCopyWeight : 1) * getMovedSticks(op) + kSticksPerOperation;
  });
  return sticks;
}

namespace {
class LayoutSearch {
public:
  explicit LayoutSearch(func::FuncOp func) : func(func) {}

  LogicalResult run();

private:
  /// A function with layouts.
  struct Trial {
    OwningOpRef<func::FuncOp> assigned;
    StickWishes wishes;
    SmallVector<StickDecision> decisions;
    int64_t sticks = 0;
  };
  std::optional<Trial> attempt(StickWishes wishes);
  /// Operations that read what the one at \p place writes, or write what it reads.
  void findNeighbours();
  /// The product at \p place and those that what it makes goes into; none if it is no product.
  SmallVector<unsigned> getChain(unsigned place) const;
  /// Choices near what is copied by \p decisions, the nearest first: of one operation, or of all
  /// products of a value, which is turned for all of them or for none, or of a chain of products.
  using Candidate = SmallVector<std::pair<unsigned, Stick>>;
  std::vector<Candidate> getCandidates(ArrayRef<StickDecision> decisions);

  func::FuncOp func;
  OwningOpRef<func::FuncOp> original;
  std::vector<SmallVector<unsigned>> neighbours;
  std::vector<SmallVector<unsigned>> readers;  ///< by place: of the result
  std::vector<SmallVector<unsigned>> products; ///< by place: those that share an operand with it
};
} // namespace

void LayoutSearch::findNeighbours() {
  llvm::DenseMap<Operation *, unsigned> places;
  for (Operation &op : original->getBody().front())
    if (isa<DeviceOpInterface, func::ReturnOp>(op))
      places.try_emplace(&op, places.size());
  neighbours.resize(places.size());
  readers.resize(places.size());
  for (auto [op, place] : places)
    for (Value operand : op->getOperands())
      if (auto writer = places.find(operand.getDefiningOp()); writer != places.end()) {
        neighbours[place].push_back(writer->second);
        neighbours[writer->second].push_back(place);
        readers[writer->second].push_back(place);
      }
  for (SmallVector<unsigned> &list : neighbours)
    llvm::sort(list);
  products.resize(places.size());
  for (auto [op, place] : places) {
    auto product = dyn_cast<DeviceOpInterface>(op);
    if (!product || !isMatmul(product))
      continue;
    for (Value input : product.getInputs())
      for (Operation *user : input.getUsers())
        if (auto other = dyn_cast<DeviceOpInterface>(user); other && isMatmul(other))
          products[place].push_back(places.lookup(user));
    llvm::sort(products[place]);
    products[place].erase(llvm::unique(products[place]), products[place].end());
  }
}

SmallVector<unsigned> LayoutSearch::getChain(unsigned place) const {
  if (products[place].empty())
    return {};
  SmallVector<unsigned> chain{place};
  std::vector<bool> isSeen(readers.size());
  SmallVector<unsigned> work{place};
  while (!work.empty())
    for (unsigned next : readers[work.pop_back_val()]) {
      if (isSeen[next])
        continue;
      isSeen[next] = true;
      work.push_back(next);
      if (!products[next].empty())
        chain.push_back(next);
    }
  llvm::sort(chain);
  return chain;
}

std::vector<LayoutSearch::Candidate>
LayoutSearch::getCandidates(ArrayRef<StickDecision> decisions) {
  std::vector<unsigned> distances(neighbours.size(), kMostDistance + 1);
  SmallVector<unsigned> order;
  for (const StickDecision &decision : decisions)
    if (decision.copiesOperands && decision.place < distances.size()) {
      distances[decision.place] = 0;
      order.push_back(decision.place);
    }
  for (size_t i = 0; i < order.size(); ++i)
    for (unsigned next : neighbours[order[i]])
      if (distances[next] > distances[order[i]] + 1 && distances[order[i]] < kMostDistance) {
        distances[next] = distances[order[i]] + 1;
        order.push_back(next);
      }
  llvm::DenseMap<unsigned, const StickDecision *> byPlace;
  for (const StickDecision &decision : decisions)
    byPlace[decision.place] = &decision;
  std::vector<Candidate> candidates, others;
  for (unsigned place : order) {
    const StickDecision *decision = byPlace.lookup(place);
    if (!decision || decision->others.empty())
      continue;
    Candidate together;
    for (unsigned other : products[place])
      if (const StickDecision *alike = byPlace.lookup(other); alike && !alike->others.empty())
        together.emplace_back(other, alike->others.front());
    if (together.size() > 1 && !llvm::is_contained(candidates, together))
      candidates.push_back(std::move(together));
    // What one product leaves the other way around, the next takes so.
    Candidate chain;
    for (unsigned other : getChain(place))
      if (const StickDecision *alike = byPlace.lookup(other); alike && !alike->others.empty())
        chain.emplace_back(other, alike->others.front());
    if (chain.size() > 1 && !llvm::is_contained(candidates, chain))
      candidates.push_back(std::move(chain));
    candidates.push_back({{place, decision->others.front()}});
    for (Stick stick : ArrayRef(decision->others).drop_front())
      others.push_back({{place, stick}});
  }
  // What costs more by itself is seldom better for the others.
  if (neighbours.size() <= kFewOperations)
    llvm::append_range(candidates, others);
  return candidates;
}

std::optional<LayoutSearch::Trial> LayoutSearch::attempt(StickWishes wishes) {
  // What is wrong with a trial is nobody's concern; other threads' mistakes are.
  ScopedDiagnosticHandler silence(func.getContext(), [thread = llvm::get_threadid()](Diagnostic &) {
    return success(llvm::get_threadid() == thread);
  });
  Trial trial;
  trial.assigned = original->clone();
  trial.wishes = wishes;
  LayoutAssigner assigner(*trial.assigned);
  assigner.beThorough();
  assigner.setWishes(std::move(wishes));
  if (failed(assigner.run()))
    return std::nullopt;
  trial.decisions.assign(assigner.getDecisions().begin(), assigner.getDecisions().end());
  trial.sticks = getMovedSticks(*trial.assigned);
  return trial;
}

LogicalResult LayoutSearch::run() {
  LayoutAssigner assigner(func);
  assigner.beThorough();
  assigner.splitOffsets();
  original = func.clone();
  if (failed(assigner.run()))
    return failure();
  SmallVector<StickDecision> decisions(assigner.getDecisions());
  if (llvm::none_of(decisions, [](const StickDecision &d) { return d.copiesOperands; }))
    return success();
  findNeighbours();
  const unsigned numTrials =
      std::min<unsigned>(kMostTrials, kMostVisits / std::max<size_t>(neighbours.size(), 1));
  Trial best;
  best.decisions = std::move(decisions);
  best.sticks = getMovedSticks(func);
  unsigned trials = 0;
  for (bool isBetter = true; std::exchange(isBetter, false);) {
    llvm::SmallDenseSet<unsigned> chosen;
    for (const Candidate &candidate : getCandidates(best.decisions)) {
      StickWishes wishes = best.wishes;
      // What has just been chosen stays for this round.
      if (llvm::any_of(candidate, [&](const auto &wish) { return chosen.contains(wish.first); }))
        continue;
      if (trials++ >= numTrials)
        break;
      for (auto [place, stick] : candidate)
        wishes[place] = stick;
      std::optional<Trial> trial = attempt(std::move(wishes));
      if (!trial || trial->sticks >= best.sticks)
        continue;
      best = std::move(*trial);
      isBetter = true;
      for (auto [place, stick] : candidate)
        chosen.insert(place);
    }
  }
  if (best.assigned) {
    func.getBody().takeBody(best.assigned->getBody());
    func.setFunctionType(best.assigned->getFunctionType());
  }
  return success();
}

/// Says where the order of elements would matter on a device whose casts change it.
static void remarkArrangements(func::FuncOp func) {
  if (!func.getContext()->getRemarkEngine())
    return;
  auto remark = [&](Location loc) {
    return remark::missed(
        loc,
        remark::RemarkOpts::name("Reordered").category("arrangement").function(func.getName()));
  };
  ArrangementAnalysis arrangements(func);
  func.walk([&](DeviceOpInterface op) {
    if (std::string why = arrangements.check(op); !why.empty())
      remark(op.getLoc()) << why;
  });
  func.walk([&](func::ReturnOp op) {
    for (auto [i, value] : llvm::enumerate(op.getOperands()))
      if (!arrangements.mayBe(value, Arrangement::Standard))
        remark(op.getLoc()) << "result #" + std::to_string(i) + " is in the order " +
                                   arrangements.describe(value);
  });
}

namespace {
struct AssignLayoutsPass : mlir::spyre::impl::SpyreAssignLayoutsBase<AssignLayoutsPass> {
  using SpyreAssignLayoutsBase::SpyreAssignLayoutsBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (failed(search ? LayoutSearch(func).run() : LayoutAssigner(func).run()))
      return signalPassFailure();
    remarkArrangements(func);
  }
};
} // namespace
