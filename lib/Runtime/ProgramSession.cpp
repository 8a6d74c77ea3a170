//===- ProgramSession.cpp - A program that runs many times ------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names are looked up once; a run walks numbered buffers and arrays. A buffer that
// only ever receives one array, and that no launch writes, holds what it holds: its
// copy and its release are left out while the array is a constant or bound.
//
//===----------------------------------------------------------------------===//

#include "spyre/Runtime/ProgramSession.h"

#include <algorithm>

namespace spyre::runtime {

namespace {
bool isWritten(Role role) { return role == Role::Output || role == Role::InputOutput; }

/// "host call 'aten.max.dim' (model.py:12:3)".
std::string describeCall(const HostCall &call) {
  return "host call '" + call.function + "'" +
         (call.location.empty() ? "" : " (" + call.location + ")");
}

RunError executionError(Error error) { return {Failure::Execution, std::move(error.message)}; }
} // namespace

const char *getWhereName(NumberFinding::Where where) {
  switch (where) {
  case NumberFinding::Argument:
    return "argument";
  case NumberFinding::Constant:
    return "constant";
  case NumberFinding::HostCall:
    return "host call";
  case NumberFinding::Crossing:
    return "crossing";
  case NumberFinding::Result:
    return "result";
  }
  return "";
}

std::variant<std::unique_ptr<ProgramSession>, RunError>
ProgramSession::create(Runtime &runtime, const LoadedProgram &loaded, SessionOptions options) {
  std::unique_ptr<ProgramSession> session(new ProgramSession(runtime, loaded, options));
  if (auto error = session->prepare())
    return *error;
  return session;
}

ProgramSession::~ProgramSession() {
  release(/*everything=*/true);
  if (options.kept)
    options.kept->forget(this);
}

std::optional<RunError> ProgramSession::prepare() {
  if (!options.host)
    options.host = &getHostTable();
  const Program &program = loaded.program;
  Emulator &emulator = runtime.getEmulator();
  const EmulatorOptions &emulated = emulator.getOptions();
  if (auto error = checkCapacity(loaded, emulator.getDevice(), emulated.countOnly))
    return RunError{Failure::Memory, error->message};
  if (!program.rates.empty()) {
    auto replaced = replaceRates(emulator.getDevice(), program.rates);
    if (auto *mistakes = std::get_if<RateMistakes>(&replaced))
      return executionError({mistakes->toString(loaded.directory + "/program.json: rates")});
    rates = std::get<Device>(replaced).getRates();
  }
  RatesInUse inUse(emulator, rates);
  auto layouts = getBufferLayouts(loaded);
  if (auto *error = std::get_if<Error>(&layouts))
    return executionError(*error);

  std::map<std::string, int> bufferIndex, arrayIndex;
  int64_t total = 0;
  for (const DeviceBuffer &buffer : program.buffers) {
    auto &known = std::get<BufferLayouts>(layouts);
    auto layout = known.find(buffer.name);
    bufferIndex.emplace(buffer.name, int(buffers.size()));
    buffers.push_back(
        {buffer.sizeInBytes, layout == known.end() ? nullptr : layout->second, &buffer.name});
    total += buffer.sizeInBytes;
  }
  auto addArray = [&](const std::string &name) {
    auto [it, isNew] = arrayIndex.try_emplace(name, int(arguments.size()));
    if (isNew)
      arguments.emplace_back();
    return it->second;
  };
  for (const HostArray &array : program.arguments)
    arguments[addArray(array.name)].host = &array;
  numInputs = arguments.size();
  for (const ConstantArray &constant : program.constants) {
    Array &array = arguments[addArray(constant.array.name)];
    array.host = &constant.array;
    array.constant = &loaded.constants.at(constant.array.name);
  }
  for (const ProgramStep &step : program.steps) {
    Action action;
    auto useArray = [&](const std::string &buffer, const std::string &array) {
      action.buffer = bufferIndex.at(buffer);
      action.array = addArray(array);
    };
    if (const auto *copyIn = std::get_if<CopyIn>(&step.content)) {
      action.kind = Action::CopyIn;
      useArray(copyIn->buffer, copyIn->array);
      Buffer &buffer = buffers[action.buffer];
      buffer.isWritten |= buffer.array >= 0 && buffer.array != action.array;
      buffer.array = action.array;
    } else if (const auto *copyOut = std::get_if<CopyOut>(&step.content)) {
      action.kind = Action::CopyOut;
      useArray(copyOut->buffer, copyOut->array);
    } else if (const auto *freed = std::get_if<runtime::Free>(&step.content)) {
      action.kind = Action::Free;
      action.buffer = bufferIndex.at(freed->buffer);
    } else if (const auto *launch = std::get_if<LaunchBundle>(&step.content)) {
      action.kind = Action::Launch;
      action.bundle = &loaded.bundles.at(launch->bundle);
      for (size_t k = 0; k < launch->buffers.size(); ++k) {
        const std::string &name = launch->buffers[k];
        action.buffers.push_back(name.empty() ? -1 : bufferIndex.at(name));
        if (!name.empty() && isWritten(action.bundle->spec.arguments[k].role))
          buffers[action.buffers.back()].isWritten = true;
      }
    } else {
      const auto &call = std::get<runtime::HostCall>(step.content);
      if (!options.host->knows(call.function))
        return RunError{Failure::Execution,
                        describeCall(call) + " is not supported by the runtime's host functions; "
                                             "run the program from Python, where PyTorch has it"};
      action.kind = Action::HostCall;
      action.call = &call;
      forEachArray(call.arguments, [&](const HostArgument::Array &array) {
        action.inputs.push_back(addArray(array.name));
      });
      for (const HostOutput &output : call.outputs) {
        action.outputs.push_back(addArray(output.array.name));
        arguments[action.outputs.back()].host = &output.array;
        arguments[action.outputs.back()].maker = &call;
      }
    }
    actions.push_back(std::move(action));
  }
  for (const HostArray &array : program.results) {
    results.push_back(addArray(array.name));
    arguments[results.back()].isResult = true;
    if (!arguments[results.back()].host)
      arguments[results.back()].host = &array;
  }
  noteLastUses();
  // In checked mode a run must find memory that nobody has written.
  keepTransients =
      options.keepBuffers && !emulated.checked && total <= SessionOptions::kKeptInBytes;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const HostTensor *constant = arguments[i].constant;
    if (!constant)
      continue;
    noteNumbers(int(i), *constant);
    if (options.keepBuffers)
      if (auto error = upload(int(i), *constant,
                              options.shared ? ArrayKey::ofContent(*constant) : ArrayKey()))
        return error;
  }
  return std::nullopt;
}

/// What the host computes goes with the last action that reads it, results apart.
void ProgramSession::noteLastUses() {
  std::vector<bool> isSeen(arguments.size());
  for (int result : results)
    isSeen[result] = true;
  for (auto action = actions.rbegin(); action != actions.rend(); ++action) {
    auto use = [&](int array) {
      if (array >= 0 && !isSeen[array])
        action->lastUses.push_back(array);
      if (array >= 0)
        isSeen[array] = true;
    };
    use(action->array);
    for (int array : action->inputs)
      use(array);
    for (int array : action->outputs) // nobody reads it
      use(array);
  }
}

std::optional<RunError> ProgramSession::allocate(Buffer &buffer) {
  if (buffer.address >= 0)
    return std::nullopt;
  auto address = runtime.allocate(buffer.sizeInBytes, *buffer.name);
  if (auto *error = std::get_if<Error>(&address))
    return RunError{Failure::Memory, loaded.directory + ": " + error->message};
  buffer.address = std::get<int64_t>(address);
  return std::nullopt;
}

std::optional<RunError> ProgramSession::checkArray(const Array &array,
                                                   const HostTensor &tensor) const {
  const HostArray &wanted = *array.host;
  auto fail = [&](const std::string &is) {
    return RunError{Failure::Arguments, "input " + wanted.name + " is " + is +
                                            ", the program takes " +
                                            describeArray(wanted.dtype, wanted.shape)};
  };
  if (tensor.dtype != wanted.dtype || tensor.shape != wanted.shape)
    return fail(describeArray(tensor.dtype, tensor.shape));
  int64_t bytes = tensor.getNumElements() * spyre::getWidthInBytes(tensor.dtype);
  if (!runtime.getEmulator().getOptions().countOnly && int64_t(tensor.data.size()) != bytes)
    return fail("an array of " + std::to_string(tensor.data.size()) + " bytes");
  return std::nullopt;
}

std::optional<RunError> ProgramSession::uploadShared(Buffer &buffer, const HostTensor &tensor,
                                                     const ArrayKey &key) {
  if (buffer.isUploaded && buffer.key == key) {
    if (auto error = options.shared->refresh(key, buffer.address, tensor))
      return RunError{Failure::Arguments, error->message};
    return std::nullopt;
  }
  release(buffer);
  bool isNoMemory = false;
  Result<int64_t> address = options.shared->acquire(key, tensor, *buffer.layout, buffer.sizeInBytes,
                                                    *buffer.name, isNoMemory);
  if (auto *error = std::get_if<Error>(&address))
    return isNoMemory ? RunError{Failure::Memory, loaded.directory + ": " + error->message}
                      : RunError{Failure::Arguments, error->message};
  buffer.address = std::get<int64_t>(address);
  buffer.key = key;
  buffer.isUploaded = true;
  return std::nullopt;
}

std::optional<RunError> ProgramSession::upload(int index, const HostTensor &tensor,
                                               const ArrayKey &key) {
  for (Buffer &buffer : buffers) {
    if (buffer.array != index || buffer.isWritten || !buffer.layout)
      continue;
    if (options.shared && key.isShared()) {
      if (auto error = uploadShared(buffer, tensor, key))
        return error;
      continue;
    }
    if (buffer.key.isShared())
      release(buffer);
    if (auto error = allocate(buffer))
      return error;
    if (auto error = runtime.copyIn(*buffer.layout, tensor, buffer.address))
      return RunError{Failure::Arguments, error->message};
    buffer.isUploaded = true;
  }
  return std::nullopt;
}

void ProgramSession::noteNumbers(int index, const HostTensor &tensor) {
  NumberCounts &numbers = arguments[index].numbers;
  numbers = {};
  if (runtime.getEmulator().getOptions().countOnly)
    return;
  std::vector<DataFormat> seen;
  for (const Action &action : actions) {
    const ArgumentSpec *layout = action.kind == Action::CopyIn && action.array == index
                                     ? buffers[action.buffer].layout
                                     : nullptr;
    if (!layout || std::find(seen.begin(), seen.end(), layout->deviceFormat) != seen.end())
      continue;
    seen.push_back(layout->deviceFormat);
    NumberCounts counts;
    countNumbers(tensor.dtype, layout->deviceFormat, tensor.data.data(), 0, tensor.getNumElements(),
                 counts);
    // In several formats: the one that loses most.
    if (counts.getOutOfRange() >= numbers.getOutOfRange())
      numbers = counts;
  }
}

NumberFinding ProgramSession::makeFinding(int index, NumberFinding::Where where,
                                          const NumberCounts &counts) const {
  const Array &array = arguments[index];
  NumberFinding finding{where, {}, {}, counts};
  if (where == NumberFinding::HostCall && array.maker)
    finding.name = describeCall(*array.maker);
  else if (array.host)
    finding.name = array.host->name;
  if (array.host)
    finding.shape = array.host->shape;
  return finding;
}

bool ProgramSession::usesDL16() const {
  for (const auto &[name, bundle] : loaded.bundles)
    for (const auto &[file, descriptor] : bundle.descriptors)
      for (const sdsc::Tensor &tensor : descriptor.tensors)
        if (tensor.format == DataFormat::SEN169_FP16)
          return true;
  return false;
}

std::optional<NumberFinding> ProgramSession::getBoundNumbers(size_t index) const {
  const Array &array = arguments[index];
  if (!array.bound || !array.numbers.any())
    return std::nullopt;
  return makeFinding(int(index), NumberFinding::Argument, array.numbers);
}

std::vector<NumberFinding> ProgramSession::getConstantNumbers() const {
  std::vector<NumberFinding> found;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].constant && arguments[i].numbers.any())
      found.push_back(makeFinding(int(i), NumberFinding::Constant, arguments[i].numbers));
  return found;
}

std::optional<RunError> ProgramSession::bind(size_t index, const HostTensor &tensor, ArrayKey key) {
  Array &array = arguments[index];
  if (auto error = checkArray(array, tensor))
    return error;
  if (!options.keepBuffers)
    return RunError{Failure::Arguments, "a session without kept buffers binds nothing"};
  RatesInUse inUse(runtime.getEmulator(), rates);
  if (auto error = upload(int(index), tensor, key))
    return error;
  noteNumbers(int(index), tensor);
  // Copied in on each run where a launch changes it; a result where it is one.
  bool isNeeded = std::find(results.begin(), results.end(), int(index)) != results.end();
  for (const Action &action : actions) {
    isNeeded |= action.kind == Action::CopyIn && action.array == int(index) &&
                !buffers[action.buffer].isUploaded;
    isNeeded |=
        std::find(action.inputs.begin(), action.inputs.end(), int(index)) != action.inputs.end();
  }
  if (!isNeeded) {
    array.kept.reset();
  } else if (options.shared) {
    array.kept = options.shared->keep(key, tensor);
  } else {
    HostTensor copy = tensor;
    copy.data.own();
    array.kept = std::make_shared<HostTensor>(std::move(copy));
  }
  array.bound = true;
  return std::nullopt;
}

std::optional<RunError> ProgramSession::run(const std::vector<const HostTensor *> &inputs,
                                            std::vector<HostTensor> &outputs, NumberPolicy policy,
                                            RunNumbers *numbers) {
  if (inputs.size() != numInputs)
    return RunError{Failure::Arguments, std::to_string(inputs.size()) +
                                            " arguments given, the program takes " +
                                            std::to_string(numInputs)};
  for (size_t i = 0; i < numInputs; ++i) {
    if (!inputs[i] && !arguments[i].bound)
      return RunError{Failure::Arguments, "input " + arguments[i].host->name + " is missing"};
    if (inputs[i])
      if (auto error = checkArray(arguments[i], *inputs[i]))
        return error;
  }
  RatesInUse inUse(runtime.getEmulator(), rates);
  std::vector<HostTensor> made(arguments.size());
  RunNumbers found;
  bool mayStop = true;
  for (const Action &action : actions) {
    const size_t before = found.found.size();
    if (auto error = runAction(action, inputs, made, found)) {
      release(/*everything=*/false);
      return error;
    }
    if (action.kind == Action::HostCall)
      mayStop &= policy.stopsAfterHostCalls;
    if (action.kind == Action::CopyIn && found.found.size() > before && mayStop) {
      const NumberCounts &counts = found.found.back().counts;
      if ((policy.stopsAtNaN && counts.nans) ||
          (policy.stopsOutOfRange && counts.getOutOfRange())) {
        found.isStopped = true;
        break;
      }
    }
    for (int array : action.lastUses)
      made[array] = HostTensor();
  }
  const bool isStopped = found.isStopped;
  if (numbers)
    *numbers = std::move(found);
  outputs.clear();
  for (int index : results) {
    if (isStopped)
      break;
    const Array &array = arguments[index];
    HostTensor &out = made[index];
    if (const HostTensor &now = getTensor(index, inputs, made); &now != &out)
      out = now;
    out.dtype = array.host->dtype;
    out.shape = array.host->shape;
    // A result may be an argument: it must not be the caller's memory.
    out.data.own();
    outputs.push_back(std::count(results.begin(), results.end(), index) > 1 ? out : std::move(out));
  }
  if (!keepTransients) {
    release(/*everything=*/false);
  } else if (options.kept) {
    transientInBytes = 0;
    for (const Buffer &buffer : buffers)
      transientInBytes += buffer.address >= 0 && !buffer.isUploaded ? buffer.sizeInBytes : 0;
    options.kept->keep(this, transientInBytes, [this] { release(/*everything=*/false); });
  }
  return std::nullopt;
}

std::optional<RunError> ProgramSession::runAction(const Action &action,
                                                  const std::vector<const HostTensor *> &inputs,
                                                  std::vector<HostTensor> &made,
                                                  RunNumbers &numbers) {
  Emulator &emulator = runtime.getEmulator();
  if (action.kind == Action::Launch) {
    addresses.clear();
    for (int index : action.buffers) {
      if (index >= 0)
        if (auto error = allocate(buffers[index]))
          return error;
      addresses.push_back(index < 0 ? -1 : buffers[index].address);
    }
    int64_t pool = std::max(action.bundle->plan.poolInBytes, action.bundle->spec.poolInBytes);
    int64_t left = emulator.getDevice().getMemoryInBytes() - emulator.getMemory().getUsedInBytes();
    if (action.bundle->plan.hasPool && pool > left)
      return RunError{Failure::Memory, action.bundle->directory + ": the pool of " +
                                           std::to_string(pool) +
                                           " bytes does not fit in device memory, " +
                                           std::to_string(left) + " bytes are free"};
    if (auto error = runtime.launch(*action.bundle, addresses))
      return executionError(*error);
    return std::nullopt;
  }
  if (action.kind == Action::HostCall)
    return callHost(action, inputs, made);
  Buffer &buffer = buffers[action.buffer];
  if (action.kind == Action::Free) {
    if (buffer.address >= 0 && !isKept(buffer)) {
      runtime.free(buffer.address);
      buffer.address = -1;
    }
    return std::nullopt;
  }
  if (!buffer.layout || buffer.isUploaded)
    return std::nullopt;
  if (auto error = allocate(buffer))
    return error;
  const Array &array = arguments[action.array];
  NumberCounts counts;
  if (action.kind == Action::CopyOut) {
    if (auto error = runtime.copyOut(*buffer.layout, buffer.address, made[action.array], &counts))
      return executionError(*error);
    if (counts.any())
      numbers.found.push_back(makeFinding(
          action.array, array.isResult ? NumberFinding::Result : NumberFinding::Crossing, counts));
    return std::nullopt;
  }
  // What is bound, or constant, has been counted.
  bool isGiven = size_t(action.array) < numInputs && inputs[action.array];
  bool isCounted = !isGiven && (array.bound || array.constant);
  if (auto error = runtime.copyIn(*buffer.layout, getTensor(action.array, inputs, made),
                                  buffer.address, isCounted ? nullptr : &counts))
    return RunError{Failure::Arguments, error->message};
  if (counts.any())
    numbers.found.push_back(makeFinding(
        action.array, isGiven ? NumberFinding::Argument : NumberFinding::HostCall, counts));
  return std::nullopt;
}

const HostTensor &ProgramSession::getTensor(int index,
                                            const std::vector<const HostTensor *> &inputs,
                                            const std::vector<HostTensor> &made) const {
  const Array &array = arguments[index];
  if (size_t(index) < numInputs && inputs[index])
    return *inputs[index];
  if (array.bound && array.kept)
    return *array.kept;
  return array.constant ? *array.constant : made[index];
}

std::optional<RunError> ProgramSession::callHost(const Action &action,
                                                 const std::vector<const HostTensor *> &inputs,
                                                 std::vector<HostTensor> &made) {
  std::vector<const HostTensor *> arrays;
  for (int index : action.inputs)
    arrays.push_back(&getTensor(index, inputs, made));
  std::vector<HostTensor *> outputs;
  bool countOnly = runtime.getEmulator().getOptions().countOnly;
  for (int index : action.outputs) {
    const HostArray &array = *arguments[index].host;
    made[index] = countOnly ? HostTensor{array.dtype, array.shape, {}}
                            : HostTensor::create(array.dtype, array.shape);
    outputs.push_back(&made[index]);
  }
  if (countOnly)
    return std::nullopt;
  if (auto why = options.host->call({*action.call, arrays, outputs}))
    return RunError{Failure::Execution, describeCall(*action.call) + ": " + *why};
  return std::nullopt;
}

void ProgramSession::release(bool everything) {
  for (Buffer &buffer : buffers)
    if (!buffer.isUploaded || everything)
      release(buffer);
}

void ProgramSession::release(Buffer &buffer) {
  if (buffer.address < 0)
    return;
  if (buffer.key.isShared())
    options.shared->release(buffer.key, buffer.address);
  else
    runtime.free(buffer.address);
  buffer.address = -1;
  buffer.key = ArrayKey();
  buffer.isUploaded = false;
}

} // namespace spyre::runtime
