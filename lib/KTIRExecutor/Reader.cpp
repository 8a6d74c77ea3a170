//===- Reader.cpp - Control flow of kernels ---------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slots, and structured control flow as jumps. Calls are read in their callers' place.
//
//===----------------------------------------------------------------------===//

#include "Reader.h"

#include "spyre/Dialect/KTIR/IR/KtdpDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace spyre::ktir;

int32_t Reader::slotOf(Value value) {
  auto [it, isNew] = slots.try_emplace(value, program.numSlots);
  if (isNew)
    ++program.numSlots;
  return it->second;
}

SmallVector<int32_t> Reader::slotsOf(ValueRange values) {
  SmallVector<int32_t> result;
  for (Value value : values)
    result.push_back(slotOf(value));
  return result;
}

Instruction &Reader::emit(Opcode opcode, Operation *op) {
  Instruction &instruction = program.instructions.emplace_back();
  instruction.opcode = opcode;
  instruction.where = describe(op->getLoc());
  instruction.name = op->getName().getStringRef().str();
  return instruction;
}

/// Whether nothing uses \p value after \p op, which stands in the block that makes it.
static bool diesAt(Value value, Operation *op) {
  Block *block = op->getBlock();
  if (value.getParentBlock() != block)
    return false;
  int64_t uses = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *user = block->findAncestorOpInBlock(*use.getOwner());
    if (!user || (user != op && op->isBeforeInBlock(user)))
      return false;
    uses += user == op;
    // A use within a region of the operation is none that ends with an instruction.
    if (user == op && use.getOwner() != op)
      return false;
  }
  return uses == 1;
}

void Reader::addOperand(Instruction &instruction, Operation *op, Value value) {
  instruction.operands.push_back(slotOf(value));
  instruction.dies.push_back(diesAt(value, op));
}

Instruction &Reader::emitAll(Opcode opcode, Operation *op) {
  Instruction &instruction = emit(opcode, op);
  addOperands(instruction, op, op->getOperands());
  addResults(instruction, op);
  return instruction;
}

void Reader::emitMove(Operation *op, ArrayRef<int32_t> from, ArrayRef<int32_t> to) {
  if (from.empty())
    return;
  Instruction &move = emit(Opcode::Move, op);
  move.operands.assign(from.begin(), from.end());
  move.results.assign(to.begin(), to.end());
}

void Reader::emitMove(Operation *op, Operation *user, ValueRange from, ArrayRef<int32_t> to) {
  if (from.empty())
    return;
  emitMove(op, slotsOf(from), to);
  for (Value value : from)
    program.instructions.back().dies.push_back(diesAt(value, user));
}

int32_t Reader::emitNumber(Operation *op, int64_t number) {
  Instruction &constant = emit(Opcode::Constant, op);
  constant.constant = Datum::of(number);
  int32_t slot = newSlot();
  constant.results = {slot};
  return slot;
}

SmallVector<int32_t> Reader::emitNumbers(Operation *op, ArrayRef<OpFoldResult> numbers) {
  SmallVector<int32_t> result;
  for (OpFoldResult number : numbers) {
    if (auto value = dyn_cast<Value>(number))
      result.push_back(slotOf(value));
    else
      result.push_back(emitNumber(op, cast<IntegerAttr>(cast<Attribute>(number)).getInt()));
  }
  return result;
}

std::optional<Element> Reader::getElement(Operation *op, Type type) {
  std::optional<Element> element = context.getElement(type);
  if (!element)
    context.reject(op, "numbers of type " + Twine(toText(type)) + " are not supported");
  return element;
}

void Reader::readFunction(func::FuncOp function) {
  program.name = function.getSymName().str();
  program.where = describe(function.getLoc());
  std::optional<SmallVector<int64_t>> grid = ktdp::getGrid(function);
  if (!grid)
    context.reject(function, "'grid' must be an array of one to three positive numbers");
  else
    program.grid.assign(grid->begin(), grid->end());
  constexpr int64_t kMostTiles = 4096;
  if (program.getNumTiles() > kMostTiles)
    context.reject(function, "the grid has more than 4096 compute tiles");
  if (!function.getBody().hasOneBlock())
    return context.reject(function, "a kernel has one block");
  if (function.getNumResults())
    context.reject(function, "a kernel has no results");
  for (BlockArgument argument : function.getArguments())
    program.arguments.push_back(slotOf(argument));
  read(function.getBody().front());
  emit(Opcode::Return, function);
}

void Reader::read(Block &block) {
  for (Operation &op : block.without_terminator()) {
    read(op);
    emitFree(op);
  }
}

/// What lives no longer than \p op and dies with none of its instructions: results that nobody
/// uses, what only its regions use, and what these take and yield.
void Reader::emitFree(Operation &op) {
  llvm::SetVector<Value> dead;
  auto isOver = [&](Value value) {
    return llvm::none_of(value.getUsers(), [&](Operation *user) {
      Operation *ancestor = op.getBlock()->findAncestorOpInBlock(*user);
      return !ancestor || op.isBeforeInBlock(ancestor);
    });
  };
  auto add = [&](Value value) {
    if (slots.contains(value) && isa<ShapedType>(value.getType()))
      dead.insert(value);
  };
  for (Value result : op.getResults())
    if (result.use_empty())
      add(result);
  if (!isa<scf::SCFDialect>(op.getDialect()))
    return emitFree(op, dead.getArrayRef());
  for (Value operand : op.getOperands())
    if (operand.getParentBlock() == op.getBlock() && isOver(operand))
      add(operand);
  visitUsedValuesDefinedAbove(op.getRegions(), [&](OpOperand *use) {
    if (use->get().getParentBlock() == op.getBlock() && isOver(use->get()))
      add(use->get());
  });
  for (Region &region : op.getRegions())
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        add(argument);
      for (Value yielded : block.getTerminator()->getOperands())
        if (yielded.getParentBlock() == &block)
          add(yielded);
    }
  emitFree(op, dead.getArrayRef());
}

void Reader::emitFree(Operation &op, ArrayRef<Value> dead) {
  if (dead.empty())
    return;
  Instruction &free = emit(Opcode::Free, &op);
  for (Value value : dead) {
    free.operands.push_back(slotOf(value));
    free.dies.push_back(true);
  }
}

void Reader::read(Operation &op) {
  if (!readControl(op) && !readTensor(op) && !readMemory(op) && !readInterTile(op))
    context.reject(&op, "is not supported");
}

/// Nested loops over the boxes of slots; \p body emits what one iteration does.
void Reader::emitLoops(Operation *op, ArrayRef<int32_t> lower, ArrayRef<int32_t> upper,
                       ArrayRef<int32_t> steps, ArrayRef<int32_t> variables,
                       const std::function<void()> &body) {
  if (variables.empty())
    return body();
  emitMove(op, lower.front(), variables.front());
  size_t start = program.instructions.size();
  Instruction &test = emit(Opcode::LoopTest, op);
  test.operands = {variables.front(), upper.front(), steps.front()};
  auto loop = dyn_cast<scf::ForOp>(op);
  test.numbers = {loop && loop.getUnsignedCmp()};
  emitLoops(op, lower.drop_front(), upper.drop_front(), steps.drop_front(), variables.drop_front(),
            body);
  Instruction &step = emit(Opcode::Step, op);
  step.operands = {variables.front(), steps.front()};
  step.results = {variables.front()};
  emit(Opcode::Jump, op).target = start;
  land(start);
}

bool Reader::readControl(Operation &op) {
  auto emitYield = [&](Block &block, ArrayRef<int32_t> to) {
    Operation *terminator = block.getTerminator();
    emitMove(&op, terminator, terminator->getOperands(), to);
  };
  // What a loop carries leaves it; the next time it begins anew.
  auto moveOut = [&](ArrayRef<int32_t> from) {
    if (from.empty())
      return;
    emitMove(&op, from, slotsOf(op.getResults()));
    program.instructions.back().dies.assign(from.size(), true);
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    emitMove(&op, &op, loop.getInitArgs(), slotsOf(loop.getRegionIterArgs()));
    emitLoops(&op, slotOf(loop.getLowerBound()), slotOf(loop.getUpperBound()),
              slotOf(loop.getStep()), slotOf(loop.getInductionVar()), [&] {
                read(*loop.getBody());
                emitYield(*loop.getBody(), slotsOf(loop.getRegionIterArgs()));
              });
    moveOut(slotsOf(loop.getRegionIterArgs()));
    return true;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    size_t test = program.instructions.size();
    emit(Opcode::JumpUnless, &op).operands = {slotOf(branch.getCondition())};
    read(*branch.thenBlock());
    emitYield(*branch.thenBlock(), slotsOf(op.getResults()));
    if (!branch.elseBlock()) {
      land(test);
      return true;
    }
    size_t jump = program.instructions.size();
    emit(Opcode::Jump, &op);
    land(test);
    read(*branch.elseBlock());
    emitYield(*branch.elseBlock(), slotsOf(op.getResults()));
    land(jump);
    return true;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    emitMove(&op, &op, loop.getInits(), slotsOf(loop.getBeforeArguments()));
    size_t start = program.instructions.size();
    read(*loop.getBeforeBody());
    auto condition = loop.getConditionOp();
    emitMove(&op, slotsOf(condition.getArgs()), slotsOf(loop.getAfterArguments()));
    size_t test = program.instructions.size();
    emit(Opcode::JumpUnless, &op).operands = {slotOf(condition.getCondition())};
    read(*loop.getAfterBody());
    emitYield(*loop.getAfterBody(), slotsOf(loop.getBeforeArguments()));
    emit(Opcode::Jump, &op).target = start;
    land(test);
    moveOut(slotsOf(loop.getAfterArguments()));
    return true;
  }
  if (auto loop = dyn_cast<scf::ParallelOp>(op)) {
    emitMove(&op, &op, loop.getInitVals(), slotsOf(op.getResults()));
    emitLoops(&op, slotsOf(loop.getLowerBound()), slotsOf(loop.getUpperBound()),
              slotsOf(loop.getStep()), slotsOf(loop.getInductionVars()), [&] {
                read(*loop.getBody());
                auto reduce = cast<scf::ReduceOp>(loop.getBody()->getTerminator());
                for (auto [i, region] : llvm::enumerate(reduce.getReductions())) {
                  Block &block = region.front();
                  emitMove(reduce, {slotOf(op.getResult(i)), slotOf(reduce.getOperands()[i])},
                           slotsOf(block.getArguments()));
                  read(block);
                  emitYield(block, slotOf(op.getResult(i)));
                }
              });
    return true;
  }
  if (auto loop = dyn_cast<scf::ForallOp>(op)) {
    SmallVector<int32_t> lower = emitNumbers(&op, loop.getMixedLowerBound()),
                         upper = emitNumbers(&op, loop.getMixedUpperBound()),
                         steps = emitNumbers(&op, loop.getMixedStep());
    emitMove(&op, &op, loop.getOutputs(), slotsOf(loop.getRegionIterArgs()));
    emitLoops(&op, lower, upper, steps, slotsOf(loop.getInductionVars()), [&] {
      read(*loop.getBody());
      for (Operation &inner : loop.getTerminator().getYieldingOps()) {
        auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(inner);
        if (!insert) {
          context.reject(&inner, "is not supported");
          continue;
        }
        Instruction &instruction = emit(Opcode::InsertSlice, &inner);
        addOperands(instruction, &inner, inner.getOperands());
        // The loop's value goes on with what has been put into it.
        instruction.dies.assign(inner.getNumOperands(), false);
        instruction.dies[1] = true;
        instruction.results = {slotOf(insert.getDest())};
        instruction.shapes = {Shape(insert.getStaticOffsets()), Shape(insert.getStaticSizes()),
                              Shape(insert.getStaticStrides())};
      }
    });
    moveOut(slotsOf(loop.getRegionIterArgs()));
    return true;
  }
  if (auto region = dyn_cast<scf::ExecuteRegionOp>(op)) {
    if (!region.getRegion().hasOneBlock()) {
      context.reject(&op, "has several blocks");
      return true;
    }
    read(region.getRegion().front());
    emitYield(region.getRegion().front(), slotsOf(op.getResults()));
    return true;
  }
  if (isa<func::CallOp>(op)) {
    readCall(op);
    return true;
  }
  return false;
}

void Reader::readCall(Operation &op) {
  auto call = cast<func::CallOp>(op);
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(&op, call.getCalleeAttr());
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
    return context.reject(&op, "calls what is no function of one block");
  if (llvm::is_contained(calls, callee.getOperation()))
    return context.reject(&op, "calls itself");
  calls.push_back(callee);
  // A second call has slots of its own.
  DenseMap<Value, int32_t> outer = slots;
  callee.getBody().walk([&](Operation *inner) {
    for (Value value : inner->getResults())
      slots.erase(value);
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        for (Value value : block.getArguments())
          slots.erase(value);
  });
  Block &body = callee.getBody().front();
  for (Value value : body.getArguments())
    slots.erase(value);
  emitMove(&op, slotsOf(op.getOperands()), slotsOf(body.getArguments()));
  read(body);
  SmallVector<int32_t> results = slotsOf(body.getTerminator()->getOperands());
  slots = std::move(outer);
  emitMove(&op, results, slotsOf(op.getResults()));
  calls.pop_back();
}
