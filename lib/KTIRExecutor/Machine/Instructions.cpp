//===- Instructions.cpp - Control and arithmetic ----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dispatch of instructions, and those that compute.
//
//===----------------------------------------------------------------------===//

#include "Execution.h"

#include <algorithm>

using namespace spyre::ktir;

std::shared_ptr<Tensor> Executor::take(size_t operand) {
  Datum &value = slot(operand);
  if (isLast(operand) && value.object.use_count() == 1)
    return std::static_pointer_cast<Tensor>(std::move(value.object));
  return std::make_shared<Tensor>(value.as<Tensor>());
}

void Executor::set(size_t result, std::shared_ptr<Tensor> value) {
  value->charge(tile.account);
  tile.slots[in.results[result]] = Datum::of(std::move(value));
}

Shape Executor::resolve(const Shape &values, size_t &position) {
  Shape resolved = values;
  for (int64_t &value : resolved)
    if (value == kDynamic)
      value = number(position++);
  return resolved;
}

bool Executor::getShape(size_t first, Shape &shape) {
  shape = resolve(in.shape, first);
  if (countElements(shape) >= 0)
    return true;
  fail("a tensor cannot have the sizes " + toString(shape));
  return false;
}

std::vector<const Datum *> Executor::getOperands(size_t first, size_t count) {
  std::vector<const Datum *> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(&slot(first + i));
  return values;
}

Flow Executor::execute() {
  ++tile.stats.instructions;
  next = tile.pc + 1;
  Flow flow = Flow::Next;
  switch (in.opcode) {
  case Opcode::Free:
    break;
  case Opcode::Move:
    if (in.operands.size() == 1) {
      tile.slots[in.results[0]] = slot(0);
    } else {
      std::vector<Datum> values;
      for (size_t i = 0; i < in.operands.size(); ++i)
        values.push_back(slot(i));
      for (size_t i = 0; i < values.size(); ++i)
        tile.slots[in.results[i]] = std::move(values[i]);
    }
    break;
  case Opcode::Jump:
    next = in.target;
    break;
  case Opcode::JumpUnless:
    if (!number(0))
      next = in.target;
    break;
  case Opcode::LoopTest: {
    if (number(2) <= 0)
      return fail("the step is " + std::to_string(number(2)) + "; it must be positive");
    bool goesOn = in.numbers[0]
                      ? static_cast<uint64_t>(number(0)) < static_cast<uint64_t>(number(1))
                      : number(0) < number(1);
    if (!goesOn)
      next = in.target;
    break;
  }
  case Opcode::Step:
    tile.slots[in.results[0]] = Datum::of(
        static_cast<int64_t>(static_cast<uint64_t>(number(0)) + static_cast<uint64_t>(number(1))));
    break;
  case Opcode::Return:
    return Flow::Finished;
  case Opcode::Constant:
    tile.slots[in.results[0]] = in.constant;
    break;
  case Opcode::Elements:
    flow = elements();
    break;
  case Opcode::Loops:
    flow = loops();
    break;
  case Opcode::Generate:
    flow = generateTensor();
    break;
  case Opcode::TileId:
    for (size_t d = 0; d < in.results.size(); ++d)
      tile.slots[in.results[d]] =
          Datum::of(in.results.size() == 1 && in.flags[0] ? tile.number : tile.coordinates[d]);
    break;
  case Opcode::ProduceTest:
  case Opcode::Produce:
  case Opcode::Receive:
    flow = executeExchange();
    break;
  case Opcode::MemoryView:
  case Opcode::DistributedView:
  case Opcode::SubView:
  case Opcode::CastView:
  case Opcode::DirectTile:
  case Opcode::IndirectTile:
  case Opcode::Load:
  case Opcode::Store:
    flow = executeMemory();
    break;
  default:
    flow = executeTensor();
    break;
  }
  if (flow != Flow::Next)
    return flow;
  for (size_t i = 0; i < in.dies.size(); ++i)
    if (in.dies[i] &&
        std::find(in.results.begin(), in.results.end(), in.operands[i]) == in.results.end())
      slot(i).object.reset();
  tile.pc = next;
  return Flow::Next;
}

Flow Executor::elements() {
  const LaneProgram &body = *in.body;
  size_t count = body.arguments.size();
  std::vector<const Datum *> arguments = getOperands(0, count);
  std::vector<const Datum *> captured = getOperands(count, in.operands.size() - count);
  const Shape *shape = nullptr;
  for (size_t i = 0; i < count; ++i) {
    if (!in.flags[i])
      continue;
    if (shape && *shape != tensor(i).shape)
      return fail("operands have the shapes " + toString(*shape) + " and " +
                  toString(tensor(i).shape));
    shape = &tensor(i).shape;
  }
  if (!shape) {
    // Numbers: one lane.
    LaneMachine machine(body, captured, run.options.roundsEach);
    for (size_t i = 0; i < count; ++i)
      if (body.argumentTypes[i].isFloat())
        machine.block(body.arguments[i]).f[0] = arguments[i]->f;
      else
        machine.block(body.arguments[i]).i[0] = arguments[i]->i;
    if (!machine.run(1))
      return fail(machine.error);
    for (size_t y = 0; y < in.results.size(); ++y)
      tile.slots[in.results[y]] = body.yieldedTypes[y].isFloat()
                                      ? Datum::of(machine.floats(body.yielded[y])[0])
                                      : Datum::of(machine.ints(body.yielded[y])[0]);
    return Flow::Next;
  }
  std::vector<std::shared_ptr<Tensor>> results;
  std::vector<Tensor *> outputs;
  for (Element type : body.yieldedTypes) {
    results.push_back(std::make_shared<Tensor>(type, *shape));
    outputs.push_back(results.back().get());
  }
  std::string error =
      runElements(body, arguments, in.flags, outputs, captured, run.options.roundsEach);
  if (!error.empty())
    return fail(error);
  for (size_t y = 0; y < results.size(); ++y)
    set(y, std::move(results[y]));
  return Flow::Next;
}

Flow Executor::loops() {
  size_t numInputs = in.numbers[0], numOutputs = in.numbers[1];
  std::vector<std::shared_ptr<Tensor>> results;
  std::vector<Tensor *> outputs;
  for (size_t i = 0; i < numOutputs; ++i) {
    results.push_back(take(numInputs + i));
    outputs.push_back(results.back().get());
  }
  size_t rest = numInputs + numOutputs;
  std::string error =
      runLoops(*in.nest, getOperands(0, numInputs), outputs,
               getOperands(rest, in.operands.size() - rest), run.options.roundsEach);
  if (!error.empty())
    return fail(error);
  for (size_t i = 0; i < in.results.size(); ++i)
    set(i, std::move(results[i]));
  return Flow::Next;
}

Flow Executor::generateTensor() {
  Shape shape;
  if (!getShape(0, shape))
    return Flow::Failed;
  size_t numDynamic = in.numbers[0];
  auto result = std::make_shared<Tensor>(in.element, shape);
  std::string error =
      generate(*in.body, *result, getOperands(numDynamic, in.operands.size() - numDynamic),
               run.options.roundsEach);
  if (!error.empty())
    return fail(error);
  set(0, std::move(result));
  return Flow::Next;
}
