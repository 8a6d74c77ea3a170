//===- SplitHost.cpp - Operations of the host between device functions ----===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Takes a function of torch operations, some of which the host computes, apart: first
// it is decided what else goes to the host because it costs nothing there or cannot be
// passed to the device, then the operations are put in an order with few changes between
// device and host, then each run of device operations becomes a function and each
// operation of the host a spyre.host_call. See Passes.td.
//
//===----------------------------------------------------------------------===//

#include "HostCalls.h"
#include "Lowering.h"
#include "Parts.h"
#include "spyre/Conversion/TorchToSpyre/TorchToSpyre.h"
#include "spyre/Dialect/Spyre/IR/SpyreOps.h"
#include "spyre/Dialect/Torch/IR/TorchEffects.h"
#include "spyre/Dialect/Torch/IR/TorchOps.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringMap.h"

#include <set>

namespace mlir::spyre {
#define GEN_PASS_DEF_SPYRESPLITHOST
#include "spyre/Conversion/TorchToSpyre/Passes.h.inc"
} // namespace mlir::spyre

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;

namespace {
/// Operations that stay together, by the first of them.
struct Group {
  SmallVector<size_t> steps;             ///< in order
  llvm::SmallSetVector<size_t, 8> after; ///< groups that come first
  bool isHost = false;
};

/// Steps of one kind that follow each other.
struct Run {
  bool isHost = false;
  SmallVector<size_t> groups;
};

class HostSplitter {
public:
  HostSplitter(func::FuncOp func, SymbolTable &symbols) : func(func), symbols(symbols) {}

  LogicalResult split();

private:
  SmallVector<Operation *> getOperations() {
    return llvm::map_to_vector(func.getBody().front().without_terminator(),
                               [](Operation &op) { return &op; });
  }
  void eraseUnread();
  void copyForReaders();
  void markNumbers();
  void makeGroups();
  void keepNaNs();
  void sinkViews();
  void connect();
  SmallVector<Run> order(bool hostFirst) const;
  bool onlyMoves(const Run &run) const;
  SmallVector<Run> findRuns();
  LogicalResult rebuild(ArrayRef<Run> runs);
  Group &groupOf(size_t step) { return groups[groupIndex[step]]; }
  bool isOnHost(Value value);
  template <typename Fn> void forEachDefinition(size_t step, Fn fn) const;

  func::FuncOp func;
  SymbolTable &symbols;
  std::optional<Steps> steps;
  SmallVector<Group> groups;
  SmallVector<size_t> groupIndex; ///< by step
};

struct SplitHostPass : mlir::spyre::impl::SpyreSplitHostBase<SplitHostPass> {
  using SpyreSplitHostBase::SpyreSplitHostBase;
  void runOnOperation() override;
};
} // namespace

/// Made of numbers only, and always the same.
static bool makesConstant(Operation *op) {
  return op->getNumResults() == 1 && torch_reader::isTensor(op->getResult(0).getType()) &&
         !drawsRandomNumbers(op) && llvm::none_of(op->getOperandTypes(), torch_reader::isTensor);
}

/// A cast to a wider float, or what scales the result of one by a number.
static bool widens(Operation *op) {
  if (!op)
    return false;
  if (isCast(op)) {
    Type from = torch_reader::getTensorElementType(op->getOperand(0).getType()),
         to = torch_reader::getTensorElementType(op->getResult(0).getType());
    return isa_and_present<FloatType>(from) && isa_and_present<FloatType>(to) &&
           from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
  }
  StringRef name = torch_reader::getOperatorName(op);
  bool scalesByTensor = (name == "aten.mul.Tensor" || name == "aten.div.Tensor") &&
                        op->getOperand(1).getDefiningOp() &&
                        makesConstant(op->getOperand(1).getDefiningOp());
  return (scalesByTensor ||
          llvm::is_contained({"aten.mul.Scalar", "aten.div.Scalar", "aten.neg"}, name)) &&
         widens(op->getOperand(0).getDefiningOp());
}

/// A view, a constant, or a widened value: made again where it is read it costs next to
/// nothing, while its result would cross device memory, in a format that not all operations
/// have.
static bool isCheap(Operation *op) {
  if (isView(op) && op->getNumResults() == 1 && torch_reader::isTensor(op->getResult(0).getType()))
    return true;
  return makesConstant(op) || widens(op);
}

static bool isTorchList(Type type) { return isa<torch_reader::ListType>(type); }

static bool isAssertion(Operation *op) {
  return torch_reader::isOp(op, torch_reader::names::assertTensorMetadata);
}

/// What nobody reads is not computed.
void HostSplitter::eraseUnread() {
  SmallVector<Operation *> ops = getOperations();
  for (Operation *op : llvm::reverse(ops))
    if (op->getNumResults() > 0 && op->use_empty() && op->getNumRegions() == 0 &&
        !writesInPlace(op) && !torch_reader::hasEffect(op))
      op->erase();
}

/// Lists of tensors, and what is cheap, belong to what reads them: one each.
void HostSplitter::copyForReaders() {
  SmallVector<Operation *> ops = getOperations();
  for (Operation *op : llvm::reverse(ops)) {
    if (!torch_reader::isPacking(op) && !isCheap(op))
      continue;
    bool isFirst = true;
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      if (!std::exchange(isFirst, false)) {
        OpBuilder builder(use.getOwner());
        use.set(builder.clone(*op)->getResult(cast<OpResult>(use.get()).getResultNumber()));
      }
    }
  }
}

template <typename Fn> void HostSplitter::forEachDefinition(size_t step, Fn fn) const {
  for (Value operand : (*steps)[step]->getOperands())
    if (std::optional<size_t> definition = steps->getIndex(operand))
      fn(*definition, operand);
}

/// Numbers that the program computes never reach a device function.
void HostSplitter::markNumbers() {
  for (size_t i = 0; i < steps->size(); ++i) {
    Operation *op = (*steps)[i];
    if (op->hasAttr(kHostAttr) || torch_reader::isPacking(op) || isAssertion(op))
      continue;
    auto sendToHost = [&](StringRef reason) {
      op->setAttr(kHostAttr, StringAttr::get(op->getContext(), reason));
    };
    for (Value operand : op->getOperands())
      if (!torch_reader::isTensor(operand.getType()) && !isTorchList(operand.getType()) &&
          !steps->isPlain(operand))
        sendToHost("it takes a number that the program computes");
    for (Value result : op->getResults())
      if (!torch_reader::isTensor(result.getType()) && !isTorchList(result.getType()))
        sendToHost("it gives a number to the program");
  }
}

void HostSplitter::makeGroups() {
  llvm::EquivalenceClasses<size_t> together;
  for (size_t i = 0; i < steps->size(); ++i)
    together.insert(i);
  for (size_t i = 0; i < steps->size(); ++i) {
    Operation *op = (*steps)[i];
    forEachDefinition(i, [&](size_t definition, Value operand) {
      Operation *from = (*steps)[definition];
      // A list and what makes it, an assertion and what it is about, what is cheap and its
      // reader.
      bool onDevice = !from->hasAttr(kHostAttr) && !op->hasAttr(kHostAttr);
      if (torch_reader::isPacking(from) ||
          (isTorchList(operand.getType()) && !torch_reader::isPacking(op)) || isAssertion(op) ||
          (onDevice && isCheap(from)))
        together.unionSets(i, definition);
    });
  }
  llvm::DenseMap<size_t, size_t> indices;
  groupIndex.resize(steps->size());
  for (size_t i = 0; i < steps->size(); ++i) {
    auto [it, isNew] = indices.try_emplace(together.getLeaderValue(i), groups.size());
    if (isNew)
      groups.emplace_back();
    groups[it->second].steps.push_back(i);
    groups[it->second].isHost |= (*steps)[i]->hasAttr(kHostAttr);
    groupIndex[i] = it->second;
  }
}

bool HostSplitter::isOnHost(Value value) {
  if (isa<BlockArgument>(value))
    return true;
  std::optional<size_t> definition = steps->getIndex(value);
  return definition ? groupOf(*definition).isHost : true;
}

/// No work where its operands are: it shows, packs or unpacks them, or is made of numbers.
static bool isFree(Operation *op) {
  return isView(op) || torch_reader::isPacking(op) || makesConstant(op) ||
         torch_reader::isOp(op, torch_reader::names::listUnpack);
}

/// Only moves or converts what it reads: a NaN stays one, on the host.
static bool passesOn(Operation *op) {
  StringRef name = torch_reader::getOperatorName(op);
  return isFree(op) || passesOperandOn(op) || name.starts_with("aten.where.") ||
         name.starts_with("aten.masked_fill.") ||
         llvm::is_contained(
             {"aten.cat", "aten.stack", "aten.lift_fresh_copy", "aten.__getitem__.t"}, name);
}

/// What tells NaNs from infinities reads arguments as they are, not as the device has them.
void HostSplitter::keepNaNs() {
  SmallVector<size_t> todo;
  for (size_t i = 0; i < steps->size(); ++i)
    if (groupOf(i).isHost && tellsNaNs((*steps)[i]))
      todo.push_back(i);
  while (!todo.empty()) {
    size_t step = todo.pop_back_val();
    forEachDefinition(step, [&](size_t definition, Value) {
      Group &group = groupOf(definition);
      if (group.isHost ||
          !llvm::all_of(group.steps, [&](size_t other) { return passesOn((*steps)[other]); }))
        return;
      group.isHost = true;
      for (size_t other : group.steps) {
        Operation *op = (*steps)[other];
        if (!op->hasAttr(kHostAttr))
          op->setAttr(kHostAttr, StringAttr::get(op->getContext(),
                                                 "its NaNs are told from infinities later on"));
        todo.push_back(other);
      }
    });
  }
}

/// Views of what is on the host, read on the host only, are made there; so are constants.
void HostSplitter::sinkViews() {
  // Backwards: may it go? Forwards: it goes if what it shows has gone.
  llvm::SmallDenseSet<size_t> mayGo;
  for (size_t g = groups.size(); g-- > 0;) {
    auto goesAlong = [&](size_t step) {
      Operation *op = (*steps)[step];
      return isFree(op) || isAssertion(op) ||
             torch_reader::getOperatorName(op) == "aten.__getitem__.t";
    };
    if (groups[g].isHost || !llvm::all_of(groups[g].steps, goesAlong))
      continue;
    bool readOnHost = true;
    for (size_t step : groups[g].steps)
      for (Operation *user : (*steps)[step]->getUsers()) {
        if (user->hasTrait<OpTrait::IsTerminator>())
          continue;
        std::optional<size_t> index =
            steps->getIndex(user->getNumResults() ? user->getResult(0) : Value());
        if (!index)
          continue; // an assertion
        size_t reader = groupIndex[*index];
        readOnHost &= reader == g || groups[reader].isHost || mayGo.contains(reader);
      }
    if (readOnHost)
      mayGo.insert(g);
  }
  for (size_t g = 0; g < groups.size(); ++g) {
    if (!mayGo.contains(g))
      continue;
    bool shownOnHost = true;
    for (size_t step : groups[g].steps)
      for (Value operand : (*steps)[step]->getOperands())
        if (!steps->isPlain(operand)) {
          std::optional<size_t> definition = steps->getIndex(operand);
          shownOnHost &= (definition && groupIndex[*definition] == g) || isOnHost(operand);
        }
    groups[g].isHost = shownOnHost;
  }
}

void HostSplitter::connect() {
  // What draws random numbers or has another effect.
  std::optional<size_t> lastOrdered;
  for (size_t g = 0; g < groups.size(); ++g) {
    groups[g].after.clear();
    bool isOrdered = false;
    for (size_t step : groups[g].steps) {
      isOrdered |= drawsRandomNumbers((*steps)[step]) || torch_reader::hasEffect((*steps)[step]);
      forEachDefinition(step, [&](size_t definition, Value) {
        if (groupIndex[definition] != g)
          groups[g].after.insert(groupIndex[definition]);
      });
    }
    if (isOrdered) {
      if (lastOrdered)
        groups[g].after.insert(*lastOrdered);
      lastOrdered = g;
    }
  }
}

/// All groups, each behind what it reads: of one kind as long as there are any.
SmallVector<Run> HostSplitter::order(bool hostFirst) const {
  SmallVector<size_t> waitsFor(groups.size());
  SmallVector<SmallVector<size_t, 2>> readers(groups.size());
  std::set<size_t> ready[2];
  for (auto [g, group] : llvm::enumerate(groups)) {
    waitsFor[g] = group.after.size();
    for (size_t first : group.after)
      readers[first].push_back(g);
    if (group.after.empty())
      ready[group.isHost].insert(g);
  }
  SmallVector<Run> runs;
  for (bool isHost = hostFirst; !ready[0].empty() || !ready[1].empty(); isHost = !isHost) {
    Run run{isHost, {}};
    while (!ready[isHost].empty()) {
      size_t g = *ready[isHost].begin();
      ready[isHost].erase(ready[isHost].begin());
      run.groups.push_back(g);
      for (size_t reader : readers[g])
        if (--waitsFor[reader] == 0)
          ready[groups[reader].isHost].insert(reader);
    }
    if (!run.groups.empty())
      runs.push_back(std::move(run));
  }
  return runs;
}

bool HostSplitter::onlyMoves(const Run &run) const {
  return llvm::all_of(run.groups, [&](size_t g) {
    return llvm::all_of(groups[g].steps, [&](size_t step) {
      Operation *op = (*steps)[step];
      return isFree(op) || isAssertion(op);
    });
  });
}

LogicalResult HostSplitter::rebuild(ArrayRef<Run> runs) {
  Operation *end = func.getBody().front().getTerminator();
  for (const Run &run : runs)
    for (size_t g : run.groups)
      for (size_t step : groups[g].steps)
        (*steps)[step]->moveBefore(end);
  OpBuilder builder(func);
  bool ok = true;
  size_t number = llvm::count_if(runs, [](const Run &run) { return !run.isHost; });
  Operation *next = func;
  // From the end: what is replaced is read by nothing that is still to be replaced.
  for (const Run &run : llvm::reverse(runs)) {
    if (!run.isHost) {
      SmallVector<Operation *> ops;
      for (size_t g : run.groups)
        for (size_t step : groups[g].steps)
          ops.push_back((*steps)[step]);
      Part part = makePart(*steps, ops);
      --number;
      // Assertions about constants, and what they are about: nobody would read it.
      if (part.outputs.empty()) {
        for (Operation *op : llvm::reverse(ops))
          op->erase();
        continue;
      }
      builder.setInsertionPoint(next);
      std::string name = (func.getName() + "_part" + Twine(number)).str();
      func::FuncOp callee = makeFunction(*steps, part, name, builder);
      symbols.insert(callee);
      next = callee;
      replaceWithCall(callee, ops, part.inputs.getArrayRef(), part.outputs, builder);
      continue;
    }
    for (size_t g : llvm::reverse(run.groups)) {
      SmallVector<Operation *> ops;
      for (size_t step : groups[g].steps)
        ops.push_back((*steps)[step]);
      ok &= succeeded(replaceWithHostCall(ops, builder));
    }
  }
  if (!ok)
    return failure();
  eraseUnread();
  return success();
}

SmallVector<Run> HostSplitter::findRuns() {
  SmallVector<Run> runs;
  for (bool changed = true; changed;) {
    changed = false;
    runs = order(false);
    SmallVector<Run> other = order(true);
    auto count = [](ArrayRef<Run> all) {
      return llvm::count_if(all, [](const Run &run) { return !run.isHost; });
    };
    if (count(other) < count(runs))
      runs = std::move(other);
    for (const Run &run : runs)
      if (!run.isHost && onlyMoves(run))
        for (size_t g : run.groups)
          changed = groups[g].isHost = true;
  }
  return runs;
}

LogicalResult HostSplitter::split() {
  eraseUnread();
  copyForReaders();
  steps.emplace(func);
  markNumbers();
  makeGroups();
  keepNaNs();
  sinkViews();
  connect();
  return rebuild(findRuns());
}

/// Puts what \p callee does in the place of its calls in \p program.
static void inlineCalls(func::FuncOp program, func::FuncOp callee) {
  for (auto call : llvm::make_early_inc_range(program.getBody().front().getOps<func::CallOp>())) {
    if (call.getCallee() != callee.getName())
      continue;
    OpBuilder builder(call);
    IRMapping mapping;
    mapping.map(callee.getArguments(), call.getOperands());
    Block &body = callee.getBody().front();
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    for (auto [result, value] : llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    call.erase();
  }
}

/// Equal for functions that do the same.
static llvm::hash_code hashFunction(func::FuncOp func) {
  llvm::hash_code code = hash_value(func.getFunctionType());
  for (Operation &op : func.getBody().front())
    code = llvm::hash_combine(code, op.getName(), op.getRawDictionaryAttrs());
  return code;
}

static bool doTheSame(func::FuncOp a, func::FuncOp b) {
  return a.getFunctionType() == b.getFunctionType() && a.getArgAttrsAttr() == b.getArgAttrsAttr() &&
         a.getResAttrsAttr() == b.getResAttrsAttr() &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

/// Layers between whose operations the host computes leave equal parts: one function each.
static void shareEqualParts(ModuleOp module, func::FuncOp program) {
  SmallVector<SmallVector<func::FuncOp, 0>> classes;
  llvm::DenseMap<size_t, SmallVector<size_t, 1>> byHash;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func == program || func.isExternal() || !llvm::hasSingleElement(func.getBody()))
      continue;
    SmallVector<size_t, 1> &known = byHash[size_t(hashFunction(func))];
    auto same = llvm::find_if(known, [&](size_t c) { return doTheSame(classes[c].front(), func); });
    if (same == known.end()) {
      known.push_back(classes.size());
      classes.push_back({func});
    } else {
      classes[*same].push_back(func);
    }
  }
  llvm::StringMap<StringRef> leaders;
  for (ArrayRef<func::FuncOp> functions : classes) {
    if (functions.size() == 1)
      continue;
    func::FuncOp leader = functions.front();
    // What is said of an operation is said of all that it stands for.
    SmallVector<Block::iterator> places;
    for (func::FuncOp func : functions)
      places.push_back(func.getBody().front().begin());
    for (Operation &op : leader.getBody().front()) {
      SmallVector<Location> locations;
      for (Block::iterator &place : places)
        locations.push_back((place++)->getLoc());
      op.setLoc(FusedLoc::get(module.getContext(), locations));
    }
    for (func::FuncOp func : functions.drop_front())
      leaders[func.getName()] = leader.getName();
  }
  module.walk([&](func::CallOp call) {
    if (auto leader = leaders.find(call.getCallee()); leader != leaders.end())
      call.setCallee(leader->second);
  });
  for (ArrayRef<func::FuncOp> functions : classes)
    for (func::FuncOp func : functions.drop_front())
      func.erase();
}

void SplitHostPass::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTable symbols(module);
  func::FuncOp program;
  SmallVector<func::FuncOp> functions;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal() || !llvm::hasSingleElement(func.getBody()))
      continue;
    functions.push_back(func);
    if (func.isPublic())
      program = func;
  }
  for (func::FuncOp func : functions) {
    bool isMarked = false;
    for (Operation &op : func.getBody().front())
      isMarked |= op.hasAttr(kHostAttr);
    bool isSequence = llvm::any_of(func.getBody().front(), llvm::IsaPred<func::CallOp>);
    if (!isMarked && !(force && func == program && !isSequence))
      continue;
    if (failed(HostSplitter(func, symbols).split()))
      return signalPassFailure();
    if (func == program || !program)
      continue;
    inlineCalls(program, func);
    func.erase();
  }
  if (program)
    shareEqualParts(module, program);
}
