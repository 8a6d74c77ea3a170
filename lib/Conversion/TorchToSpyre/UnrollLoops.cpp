//===- UnrollLoops.cpp - prim.Loop, trip by trip --------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header. `prim.Loop %most, %condition, init(carries)` makes a trip while it has
// made fewer than `most` and the condition holds; a trip gives the next condition and
// the next carries (TorchScript's language reference, "loops").
//
//===----------------------------------------------------------------------===//

#include "UnrollLoops.h"

#include "FoldScalars.h"
#include "Lowering.h"
#include "TripPieces.h"
#include "spyre/Dialect/Spyre/IR/Refusal.h"
#include "spyre/Dialect/Torch/IR/TorchOps.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::spyre;
using namespace mlir::spyre::torch_lowering;
namespace names = mlir::torch_reader::names;

/// Trips of a loop, and operations of all trips together, beyond which a loop is refused:
/// nobody waits for the plan of such a program. A condition that never gets false ends
/// here, too.
static constexpr int64_t kMostTrips = 65536;
static constexpr int64_t kMostCopied = 1 << 18;
/// Integers and bools up to here are computed while loops are taken apart, so that indices
/// made of a counter are known; other numbers only where they are one.
static constexpr int64_t kMostElements = 4096;

static bool isLoop(Operation *op) { return torch_reader::isOp(op, names::primLoop); }

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static func::FuncOp getCallee(func::CallOp call, SymbolTable &symbols) {
  return symbols.lookup<func::FuncOp>(call.getCallee());
}

LoopUnroller::LoopUnroller(ModuleOp module) : module(module), symbols(module) {
  // A loop, or a branch that calls a function.
  hasAny = module
               .walk([](Operation *op) {
                 bool isCall = isa<func::CallOp>(op) && !isa<func::FuncOp>(op->getParentOp());
                 return isCall || isLoop(op) ? WalkResult::interrupt() : WalkResult::advance();
               })
               .wasInterrupted();
  if (!hasAny)
    return;
  // A function is recursive if it is reached from its own calls.
  llvm::DenseMap<Operation *, SmallVector<Operation *>> callees;
  for (auto func : module.getOps<func::FuncOp>())
    func.walk([&](func::CallOp call) {
      if (func::FuncOp callee = getCallee(call, symbols))
        callees[func].push_back(callee);
    });
  for (auto func : module.getOps<func::FuncOp>()) {
    llvm::SmallSetVector<Operation *, 8> reached;
    reached.insert(callees[func].begin(), callees[func].end());
    for (size_t i = 0; i < reached.size(); ++i) {
      SmallVector<Operation *> next = callees.lookup(reached[i]);
      reached.insert(next.begin(), next.end());
    }
    if (reached.contains(func))
      recursive.insert(func);
  }
}

LoopUnroller::Outcome LoopUnroller::inlineCall(func::CallOp call) {
  func::FuncOp callee = getCallee(call, symbols);
  if (!callee || !callee.isPrivate() || callee.isExternal() || recursive.contains(callee) ||
      !llvm::hasSingleElement(callee.getBody()))
    return Outcome::Unchanged;
  Block &body = callee.getBody().front();
  numCopied += static_cast<int64_t>(body.getOperations().size());
  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getOperands());
  for (Operation &op : body.without_terminator())
    if (Operation *made = builder.clone(op, mapping); call->hasAttr(kTripAttr))
      made->setAttr(kTripAttr, builder.getUnitAttr());
  for (auto [result, value] : llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  call.erase();
  return Outcome::Replaced;
}

void LoopUnroller::eraseUncalled() {
  if (!hasAny)
    return;
  // What a function called is unused only when that one is gone.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (func.isPrivate() && !func.isExternal() &&
          SymbolTable::symbolKnownUseEmpty(func, module)) {
        symbols.erase(func);
        changed = true;
      }
  }
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

LoopUnroller::Outcome LoopUnroller::foldTensor(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return Outcome::Unchanged;
  std::optional<ArrayRef<int64_t>> shape = torch_reader::getTensorShape(op->getResult(0).getType());
  if (!shape || llvm::is_contained(*shape, ShapedType::kDynamic))
    return Outcome::Unchanged;
  Type element = torch_reader::getTensorElementType(op->getResult(0).getType());
  int64_t count = 1, most = isa_and_present<IntegerType>(element) ? kMostElements : 1;
  for (int64_t size : *shape)
    if ((count *= size) > most)
      return Outcome::Unchanged;
  ElementsAttr value = computeConstant(op);
  if (!value)
    return Outcome::Unchanged;
  OpBuilder builder(op);
  OperationState state(op->getLoc(), names::valueTensorLiteral);
  state.addAttribute("value", value);
  state.addTypes(op->getResultTypes());
  op->replaceAllUsesWith(builder.create(state));
  op->erase();
  return Outcome::Gone;
}

/// What keeps \p value from being known, in words.
static std::string explainUnknown(Value value) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  for (;;) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return isa<func::FuncOp>(argument.getOwner()->getParentOp())
                 ? ("argument #" + Twine(argument.getArgNumber())).str()
                 : "what a loop around it carries";
    Operation *op = value.getDefiningOp();
    // The first operand that nothing is known of, up to what has only known ones.
    auto isKnown = [](Value operand) {
      Operation *maker = operand.getDefiningOp();
      return maker && (maker->getNumOperands() == 0 || torch_reader::getTensorLiteral(operand));
    };
    auto unknown = llvm::find_if_not(op->getOperands(), isKnown);
    if (unknown == op->getOperands().end() || !seen.insert(op).second)
      return ("the result of '" + op->getName().getStringRef() + "'").str();
    value = *unknown;
  }
}

//===----------------------------------------------------------------------===//
// The form of a loop
//===----------------------------------------------------------------------===//

static std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// A value of type \p from can be where one of type \p to is: sizes may be open in either.
static bool fits(Type from, Type to) {
  if (from == to)
    return true;
  auto a = dyn_cast<torch_reader::ValueTensorType>(from),
       b = dyn_cast<torch_reader::ValueTensorType>(to);
  if (!a || !b || (a.getDtype() && b.getDtype() && a.getDtype() != b.getDtype()))
    return false;
  std::optional<ArrayRef<int64_t>> x = torch_reader::getTensorShape(a),
                                   y = torch_reader::getTensorShape(b);
  if (!x || !y)
    return true;
  return x->size() == y->size() && llvm::all_of(llvm::zip(*x, *y), [](auto sizes) {
           auto [p, q] = sizes;
           return p == q || p == ShapedType::kDynamic || q == ShapedType::kDynamic;
         });
}

/// What is wrong with the form of \p loop; empty if nothing is.
static std::string checkForm(Operation *loop) {
  if (loop->getNumOperands() < 2 || loop->getNumRegions() != 1 ||
      !llvm::hasSingleElement(loop->getRegion(0)) || loop->getRegion(0).front().empty())
    return "it should have a number of trips, a condition and one block";
  Block &body = loop->getRegion(0).front();
  Operation *end = &body.back();
  if (!torch_reader::isOp(end, names::loopCondition) || end->getNumOperands() == 0)
    return ("its block should end with '" + names::loopCondition + "'").str();
  unsigned count = loop->getNumOperands() - 2;
  if (body.getNumArguments() != count + 1 || end->getNumOperands() != count + 1 ||
      loop->getNumResults() != count)
    return ("it begins with " + Twine(count) + " carried values, its block has " +
            Twine(static_cast<int64_t>(body.getNumArguments()) - 1) + " and ends with " +
            Twine(end->getNumOperands() - 1) + ", and it gives " + Twine(loop->getNumResults()))
        .str();
  if (!isa<torch_reader::IntType>(body.getArgument(0).getType()))
    return "its block's first argument should be an int, which counts the trips";
  for (unsigned i = 0; i < count; ++i) {
    Type carried = body.getArgument(i + 1).getType();
    for (Type other : {loop->getOperand(i + 2).getType(), end->getOperand(i + 1).getType(),
                       loop->getResult(i).getType()})
      if (!fits(other, carried))
        return ("carried value #" + Twine(i) + " is of type " + toString(carried) +
                " in one place and " + toString(other) + " in another")
            .str();
  }
  return {};
}

LoopUnroller::Outcome LoopUnroller::refuse(Operation *loop, const Twine &why, const Twine &advice) {
  InFlightDiagnostic error = emitError(loop->getLoc())
                             << "a loop cannot be compiled: " << why << "; " << advice;
  noteRefusal(error, loop, RefusalRule::Lowering, why);
  return Outcome::Refused;
}

//===----------------------------------------------------------------------===//
// Trips
//===----------------------------------------------------------------------===//

LoopUnroller::Outcome LoopUnroller::takeTrip(Operation *loop, bool mayRefuse) {
  auto [entry, isNew] = running.try_emplace(loop);
  Progress &progress = entry->second;
  if (isNew) {
    if (std::string wrong = checkForm(loop); !wrong.empty())
      return refuse(loop, wrong, "what a loop carries keeps its type from trip to trip");
    progress.before = loop->getPrevNode();
  }
  Block &body = loop->getRegion(0).front();
  std::optional<int64_t> most = torch_reader::getConstantInt(loop->getOperand(0));
  std::optional<bool> condition = torch_reader::getConstantBool(loop->getOperand(1));
  if ((most && progress.trips >= *most) || (condition && !*condition)) {
    finish(loop);
    return Outcome::Gone;
  }
  if (!most || !condition) {
    if (!mayRefuse)
      return Outcome::Unchanged;
    Value unknown = loop->getOperand(most ? 1 : 0);
    return refuse(loop,
                  "how many trips it makes depends on " + explainUnknown(unknown) +
                      (progress.trips == 0 ? ""
                       : progress.trips == 1
                           ? " after 1 trip"
                           : " after " + std::to_string(progress.trips) + " trips"),
                  "trips are counted while the program is compiled, so end it by a counter that "
                  "starts, steps and stops at constants or sizes, or leave it to PyTorch "
                  "(torch.compile does)");
  }
  if (progress.trips >= kMostTrips || numCopied > kMostCopied)
    return refuse(loop,
                  progress.trips >= kMostTrips
                      ? "it makes more than " + Twine(kMostTrips) + " trips"
                      : "its trips have more than " + Twine(kMostCopied) + " operations together",
                  "let each trip do more, or check that its condition gets false");
  numCopied += static_cast<int64_t>(body.getOperations().size());
  if (progress.trips > 0)
    progress.ends.push_back(loop->getPrevNode());
  OpBuilder builder(loop);
  IRMapping mapping;
  mapping.map(body.getArgument(0), buildConstantInt(builder, loop->getLoc(), progress.trips));
  for (auto [argument, value] :
       llvm::zip(body.getArguments().drop_front(), loop->getOperands().drop_front(2)))
    mapping.map(argument, value);
  // MLIR does not know the last one for a terminator.
  for (Operation &op : llvm::drop_end(body))
    builder.clone(op, mapping)->setAttr(kTripAttr, builder.getUnitAttr());
  for (auto [i, value] : llvm::enumerate(body.back().getOperands()))
    loop->setOperand(i + 1, mapping.lookupOrDefault(value));
  ++progress.trips;
  return Outcome::Replaced;
}

void LoopUnroller::finish(Operation *loop) {
  Progress progress = std::move(running.find(loop)->second);
  running.erase(loop);
  Trips trips(loop, progress.before, progress.ends);
  SmallVector<Value> results;
  for (Value carried : loop->getOperands().drop_front(2))
    results.push_back(trips.joinWrites(carried));
  loop->replaceAllUsesWith(results);
  // The loop stands until its trips are in order: it is where they end.
  loop->setOperands({});
  trips.cutReads();
  trips.eraseDead();
  loop->erase();
}

LoopUnroller::Outcome LoopUnroller::visit(Operation *op, bool mayRefuse) {
  if (!hasAny)
    return Outcome::Unchanged;
  if (auto call = dyn_cast<func::CallOp>(op))
    return inlineCall(call);
  if (isLoop(op))
    return takeTrip(op, mayRefuse);
  return foldTensor(op);
}
