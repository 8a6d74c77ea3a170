//===- Loops.cpp - Perfect nests over tensors -------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A nest runs in one of three ways. With a parallel dim worth it, the lanes are that dim's
// points. Otherwise the lanes run along the last dim, a reduction: what does not depend on
// the accumulators is computed for all lanes, the rest lane by lane. Sums of products go
// through Contraction.cpp. All three take the terms of a sum in the same order.
//
//===----------------------------------------------------------------------===//

#include "spyre/KTIRExecutor/Machine/Loops.h"

#include "Contraction.h"

#include <algorithm>
#include <cstring>

using namespace spyre::ktir;

std::string loops::prepare(const LoopNest &nest, const std::vector<const Datum *> &inputs,
                           const std::vector<Tensor *> &outputs, Nest &result) {
  size_t numDims = nest.isReduction.size();
  result.dims.resize(numDims);
  std::vector<int64_t> sizes(numDims, -1);
  for (size_t o = 0; o < nest.maps.size(); ++o) {
    Operand operand;
    Tensor *tensor = nullptr;
    if (o >= nest.numInputs)
      tensor = outputs[o - nest.numInputs];
    else if (inputs[o]->object)
      tensor = &inputs[o]->as<Tensor>();
    operand.isFloat = nest.body.argumentTypes[o].isFloat();
    if (tensor) {
      operand.shape = tensor->shape;
      operand.f = tensor->floats.data();
      operand.i = tensor->ints.data();
    } else {
      operand.f = const_cast<float *>(&inputs[o]->f);
      operand.i = const_cast<int64_t *>(&inputs[o]->i);
    }
    operand.map = &nest.maps[o];
    if (operand.map->results.size() != operand.shape.size())
      return "operand " + std::to_string(o) + " has another rank than its map";
    for (size_t r = 0; r < operand.shape.size(); ++r) {
      const Expression &expression = operand.map->results[r];
      if (expression.steps.size() != 1 || expression.steps[0].code != Expression::Code::Input)
        continue;
      int64_t &size = sizes[expression.steps[0].number];
      if (size >= 0 && size != operand.shape[r])
        return "dim " + std::to_string(expression.steps[0].number) + " of the loops has " +
               std::to_string(size) + " and " + std::to_string(operand.shape[r]) + " places";
      size = operand.shape[r];
    }
    result.operands.push_back(std::move(operand));
  }
  for (size_t d = 0; d < numDims; ++d) {
    if (sizes[d] < 0)
      return "no operand says how many places dim " + std::to_string(d) + " of the loops has";
    result.dims[d] = {sizes[d], nest.isReduction[d]};
    result.isEmpty |= sizes[d] == 0;
  }
  for (size_t o = 0; o < result.operands.size() && !result.isEmpty; ++o) {
    Operand &operand = result.operands[o];
    Shape rowMajor = getRowMajorStrides(operand.shape);
    operand.strides.assign(numDims, 0);
    for (size_t r = 0; r < operand.shape.size(); ++r) {
      const std::optional<Linear> &linear = operand.map->results[r].linear;
      if (!linear) {
        operand.isLinear = false;
        result.isLinear = false;
        continue;
      }
      int64_t low = linear->constant, high = linear->constant;
      for (size_t d = 0; d < numDims; ++d) {
        int64_t reach = linear->coefficients[d] * (sizes[d] - 1);
        (reach < 0 ? low : high) += reach;
        operand.strides[d] += linear->coefficients[d] * rowMajor[r];
      }
      operand.offset += linear->constant * rowMajor[r];
      if (low < 0 || high >= operand.shape[r])
        return "operand " + std::to_string(o) + " of shape " + toString(operand.shape) +
               " is accessed at " + std::to_string(low) + ".." + std::to_string(high) + " of dim " +
               std::to_string(r);
    }
  }
  return "";
}

void loops::coalesce(Nest &nest) {
  for (size_t d = nest.dims.size(); d-- > 0;) {
    // A dim of one place is no loop.
    bool drop = nest.dims[d].size == 1;
    // A dim continues in the next one if every operand goes on where that ends.
    bool join = !drop && d + 1 < nest.dims.size() &&
                nest.dims[d].isReduction == nest.dims[d + 1].isReduction;
    for (const Operand &operand : nest.operands)
      join = join && operand.strides[d] == operand.strides[d + 1] * nest.dims[d + 1].size;
    if (!drop && !join)
      continue;
    if (join)
      nest.dims[d + 1].size *= nest.dims[d].size;
    nest.dims.erase(nest.dims.begin() + d);
    for (Operand &operand : nest.operands)
      operand.strides.erase(operand.strides.begin() + d);
  }
  if (!nest.dims.empty())
    return;
  nest.dims.push_back({1, false});
  for (Operand &operand : nest.operands)
    operand.strides.push_back(0);
}

namespace {
using loops::Nest;
using loops::Operand;

/// Runs the body of a nest block by block.
class NestRun {
public:
  NestRun(const LoopNest &source, const LaneProgram &body, Nest &nest, LaneMachine &machine)
      : source(source), body(body), nest(nest), machine(machine), point(nest.dims.size(), 0),
        offsets(nest.operands.size(), 0) {}

  std::string run() {
    chooseLanes();
    std::vector<size_t> outer;
    for (size_t d = 0; d < nest.dims.size(); ++d)
      if (d != lane)
        outer.push_back(d);
    for (size_t o = 0; o < offsets.size(); ++o)
      offsets[o] = nest.operands[o].offset;
    while (true) {
      int64_t size = nest.dims[lane].size;
      for (int64_t first = 0; first < size; first += kLanes) {
        int64_t count = std::min(kLanes, size - first);
        if (!(isSerial ? runSerial(first, count) : runBlock(first, count)))
          return machine.error.empty() ? error : machine.error;
      }
      size_t k = outer.size();
      while (k > 0) {
        size_t d = outer[k - 1];
        for (size_t o = 0; o < offsets.size(); ++o)
          offsets[o] += nest.operands[o].strides[d];
        if (++point[d] < nest.dims[d].size)
          break;
        for (size_t o = 0; o < offsets.size(); ++o)
          offsets[o] -= nest.operands[o].strides[d] * nest.dims[d].size;
        point[d] = 0;
        --k;
      }
      if (k == 0)
        return "";
    }
  }

  /// Steps before this one do not depend on accumulators.
  size_t numIndependent = 0;

private:
  void chooseLanes() {
    constexpr int64_t kWorthIt = 16;
    lane = nest.dims.size() - 1;
    if (!nest.dims[lane].isReduction)
      return;
    size_t best = nest.dims.size();
    for (size_t d = 0; d < nest.dims.size(); ++d)
      if (!nest.dims[d].isReduction &&
          (best == nest.dims.size() || nest.dims[d].size > nest.dims[best].size))
        best = d;
    if (best < nest.dims.size() && nest.dims[best].size >= kWorthIt)
      lane = best;
    else
      isSerial = true;
  }

  /// The place of operand \p o at lane \p l, by evaluating its map; -1: outside.
  int64_t locate(size_t o, int64_t l) {
    const Operand &operand = nest.operands[o];
    std::vector<int64_t> inputs = point;
    inputs[lane] = l;
    int64_t place = 0;
    for (size_t r = 0; r < operand.shape.size(); ++r) {
      int64_t coordinate = operand.map->results[r].evaluate(inputs);
      if (coordinate < 0 || coordinate >= operand.shape[r]) {
        error = "operand " + std::to_string(o) + " of shape " + toString(operand.shape) +
                " is accessed at " + std::to_string(coordinate) + " of dim " + std::to_string(r);
        return -1;
      }
      place = place * operand.shape[r] + coordinate;
    }
    return place;
  }

  bool loadOperand(size_t o, int64_t first, int64_t count) {
    const Operand &operand = nest.operands[o];
    uint16_t reg = body.arguments[o];
    if (!operand.isLinear) {
      machine.reset(reg);
      for (int64_t l = 0; l < count; ++l) {
        int64_t place = locate(o, first + l);
        if (place < 0)
          return false;
        if (operand.isFloat)
          machine.block(reg).f[l] = operand.f[place];
        else
          machine.block(reg).i[l] = operand.i[place];
      }
      return true;
    }
    int64_t stride = operand.strides[lane], place = offsets[o] + first * stride;
    if (stride == 1) {
      if (operand.isFloat)
        machine.floats(reg) = operand.f + place;
      else
        machine.ints(reg) = operand.i + place;
      return true;
    }
    machine.reset(reg);
    LaneBlock &block = machine.block(reg);
    if (operand.isFloat)
      for (int64_t l = 0; l < count; ++l)
        block.f[l] = operand.f[place + l * stride];
    else
      for (int64_t l = 0; l < count; ++l)
        block.i[l] = operand.i[place + l * stride];
    return true;
  }

  void loadCoordinates(int64_t first, int64_t count) {
    for (const LaneProgram::Coordinate &coordinate : body.coordinates) {
      int64_t *values = machine.ints(coordinate.reg);
      for (int64_t l = 0; l < count; ++l)
        values[l] = coordinate.dim == lane ? first + l : point[coordinate.dim];
    }
  }

  bool runBlock(int64_t first, int64_t count) {
    for (size_t o = 0; o < nest.operands.size(); ++o)
      if (!loadOperand(o, first, count))
        return false;
    loadCoordinates(first, count);
    if (!machine.run(count))
      return false;
    for (size_t y = 0; y < body.yielded.size(); ++y) {
      size_t o = source.numInputs + y;
      Operand &operand = nest.operands[o];
      uint16_t reg = body.yielded[y];
      int64_t stride = operand.strides[lane], place = offsets[o] + first * stride;
      if (operand.isFloat) {
        const float *values = machine.floats(reg);
        for (int64_t l = 0; l < count; ++l)
          operand.f[place + l * stride] = values[l];
      } else {
        const int64_t *values = machine.ints(reg);
        for (int64_t l = 0; l < count; ++l)
          operand.i[place + l * stride] = values[l];
      }
    }
    return true;
  }

  /// The lanes are terms of the same accumulators.
  bool runSerial(int64_t first, int64_t count) {
    for (size_t o = 0; o < source.numInputs; ++o)
      if (!loadOperand(o, first, count))
        return false;
    loadCoordinates(first, count);
    if (!machine.run(count, 0, numIndependent))
      return false;
    if (foldOneStep(count))
      return true;
    // What a serial step reads, lane by lane.
    size_t numRegisters = body.numRegisters;
    std::vector<float *> f(numRegisters);
    std::vector<int64_t *> i(numRegisters);
    std::vector<bool> isOwn(numRegisters, false);
    for (size_t o = source.numInputs; o < nest.operands.size(); ++o)
      isOwn[body.arguments[o]] = true;
    for (size_t s = numIndependent; s < body.steps.size(); ++s)
      isOwn[body.steps[s].result] = true;
    for (size_t r = 0; r < numRegisters; ++r) {
      f[r] = machine.floats(r);
      i[r] = machine.ints(r);
    }
    auto isFloatRegister = [&](uint16_t r) { return floatRegisters()[r]; };
    for (int64_t l = 0; l < count; ++l) {
      for (size_t o = source.numInputs; o < nest.operands.size(); ++o) {
        Operand &operand = nest.operands[o];
        if (operand.isFloat)
          machine.floats(body.arguments[o]) = operand.f + offsets[o];
        else
          machine.ints(body.arguments[o]) = operand.i + offsets[o];
      }
      for (size_t r = 0; r < numRegisters; ++r)
        if (!isOwn[r]) {
          if (isFloatRegister(r))
            machine.floats(r) = f[r] + l;
          else
            machine.ints(r) = i[r] + l;
        }
      if (!machine.run(1, numIndependent, body.steps.size()))
        return false;
      // All yields are read before an accumulator changes.
      std::vector<Datum> values(body.yielded.size());
      for (size_t y = 0; y < values.size(); ++y)
        if (nest.operands[source.numInputs + y].isFloat)
          values[y].f = machine.floats(body.yielded[y])[0];
        else
          values[y].i = machine.ints(body.yielded[y])[0];
      for (size_t y = 0; y < values.size(); ++y) {
        size_t o = source.numInputs + y;
        if (nest.operands[o].isFloat)
          nest.operands[o].f[offsets[o]] = values[y].f;
        else
          nest.operands[o].i[offsets[o]] = values[y].i;
      }
    }
    for (size_t r = 0; r < numRegisters; ++r)
      machine.reset(r);
    return true;
  }

  const std::vector<bool> &floatRegisters() {
    if (!isFloat.empty())
      return isFloat;
    isFloat.assign(body.numRegisters, false);
    for (size_t a = 0; a < body.arguments.size(); ++a)
      isFloat[body.arguments[a]] = body.argumentTypes[a].isFloat();
    for (const LaneProgram::Shared &shared : body.shared)
      isFloat[shared.reg] = shared.type.isFloat();
    for (const LaneProgram::Constant &constant : body.constants)
      isFloat[constant.reg] = constant.type.isFloat();
    for (const LaneStep &step : body.steps)
      isFloat[step.result] = step.type.isFloat();
    return isFloat;
  }

  /// acc = acc op term, the commonest body.
  bool foldOneStep(int64_t count) {
    if (body.steps.size() != numIndependent + 1 || body.yielded.size() != 1)
      return false;
    const LaneStep &step = body.steps.back();
    size_t o = source.numInputs;
    uint16_t accumulator = body.arguments[o];
    if (step.result != body.yielded[0] || !nest.operands[o].isFloat || !step.isUnrounded ||
        (step.a == accumulator) == (step.b == accumulator))
      return false;
    const float *terms = machine.floats(step.a == accumulator ? step.b : step.a);
    float sum = nest.operands[o].f[offsets[o]];
    switch (step.op) {
    case LaneOp::AddF:
      for (int64_t l = 0; l < count; ++l)
        sum += terms[l];
      break;
    case LaneOp::MulF:
      for (int64_t l = 0; l < count; ++l)
        sum *= terms[l];
      break;
    default:
      return false;
    }
    nest.operands[o].f[offsets[o]] = sum;
    return true;
  }

  const LoopNest &source;
  const LaneProgram &body;
  Nest &nest;
  LaneMachine &machine;
  std::vector<int64_t> point;
  std::vector<int64_t> offsets;
  size_t lane = 0;
  bool isSerial = false;
  std::vector<bool> isFloat;
  std::string error;
};

/// Puts the steps that do not depend on accumulators first; how many they are.
size_t separate(LaneProgram &body, size_t numInputs) {
  std::vector<bool> depends(body.numRegisters, false);
  for (size_t a = numInputs; a < body.arguments.size(); ++a)
    depends[body.arguments[a]] = true;
  std::vector<LaneStep> first, rest;
  for (LaneStep &step : body.steps) {
    bool is = depends[step.a] || depends[step.b] || depends[step.c];
    for (uint16_t reg : step.more)
      is |= depends[reg];
    if (is)
      depends[step.result] = true;
    (is ? rest : first).push_back(std::move(step));
  }
  size_t count = first.size();
  body.steps = std::move(first);
  body.steps.insert(body.steps.end(), rest.begin(), rest.end());
  return count;
}
} // namespace

std::string spyre::ktir::runLoops(const LoopNest &source, const std::vector<const Datum *> &inputs,
                                  const std::vector<Tensor *> &outputs,
                                  const std::vector<const Datum *> &captured, bool roundsEach) {
  Nest nest;
  if (std::string error = loops::prepare(source, inputs, outputs, nest); !error.empty())
    return error;
  if (nest.isEmpty)
    return "";
  for (size_t o = source.numInputs; o < nest.operands.size(); ++o)
    if (!nest.operands[o].isLinear)
      return "an output's map divides or takes remainders";
  bool hasReduction = std::find(source.isReduction.begin(), source.isReduction.end(), true) !=
                      source.isReduction.end();
  if (nest.isLinear && source.body.coordinates.empty())
    loops::coalesce(nest);
  if (!source.isContraction || !nest.isLinear || !loops::runContraction(source, nest)) {
    const LaneProgram *body = &source.body;
    LaneProgram separated;
    size_t numIndependent = 0;
    if (hasReduction) {
      separated = source.body;
      numIndependent = separate(separated, source.numInputs);
      body = &separated;
    }
    LaneMachine machine(*body, captured, roundsEach);
    NestRun run(source, *body, nest, machine);
    run.numIndependent = numIndependent;
    if (std::string error = run.run(); !error.empty())
      return error;
  }
  if (hasReduction && roundsEach)
    for (Tensor *output : outputs)
      if (output->element.isFloat())
        roundTo(output->element, output->floats.data(), output->size());
  return "";
}

std::string spyre::ktir::runElements(const LaneProgram &body,
                                     const std::vector<const Datum *> &arguments,
                                     const std::vector<bool> &isTensor,
                                     const std::vector<Tensor *> &outputs,
                                     const std::vector<const Datum *> &captured, bool roundsEach) {
  LaneMachine machine(body, captured, roundsEach);
  int64_t size = outputs.front()->size();
  for (size_t a = 0; a < arguments.size(); ++a) {
    if (isTensor[a])
      continue;
    LaneBlock &block = machine.block(body.arguments[a]);
    for (int64_t l = 0; l < kLanes; ++l)
      if (body.argumentTypes[a].isFloat())
        block.f[l] = arguments[a]->f;
      else
        block.i[l] = arguments[a]->i;
  }
  for (int64_t first = 0; first < size; first += kLanes) {
    int64_t count = std::min(kLanes, size - first);
    for (size_t a = 0; a < arguments.size(); ++a) {
      if (!isTensor[a])
        continue;
      Tensor &tensor = arguments[a]->as<Tensor>();
      if (body.argumentTypes[a].isFloat())
        machine.floats(body.arguments[a]) = tensor.floats.data() + first;
      else
        machine.ints(body.arguments[a]) = tensor.ints.data() + first;
    }
    if (!machine.run(count))
      return machine.error;
    for (size_t y = 0; y < outputs.size(); ++y)
      if (body.yieldedTypes[y].isFloat())
        std::memmove(outputs[y]->floats.data() + first, machine.floats(body.yielded[y]),
                     count * sizeof(float));
      else
        std::memmove(outputs[y]->ints.data() + first, machine.ints(body.yielded[y]),
                     count * sizeof(int64_t));
  }
  return "";
}

std::string spyre::ktir::generate(const LaneProgram &body, Tensor &output,
                                  const std::vector<const Datum *> &captured, bool roundsEach) {
  LaneMachine machine(body, captured, roundsEach);
  int64_t size = output.size();
  Shape strides = getRowMajorStrides(output.shape);
  for (int64_t first = 0; first < size; first += kLanes) {
    int64_t count = std::min(kLanes, size - first);
    for (const LaneProgram::Coordinate &coordinate : body.coordinates) {
      int64_t *values = machine.ints(coordinate.reg);
      int64_t stride = strides[coordinate.dim], extent = output.shape[coordinate.dim];
      for (int64_t l = 0; l < count; ++l)
        values[l] = (first + l) / stride % extent;
    }
    if (!machine.run(count))
      return machine.error;
    if (output.element.isFloat())
      std::memcpy(output.floats.data() + first, machine.floats(body.yielded[0]),
                  count * sizeof(float));
    else
      std::memcpy(output.ints.data() + first, machine.ints(body.yielded[0]),
                  count * sizeof(int64_t));
  }
  return "";
}
