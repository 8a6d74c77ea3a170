//===- CApiProgram.cpp - The C interface of whole programs ----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs with calls of the host, which may be the caller's own functions.
//
//===----------------------------------------------------------------------===//

#include "CApiInternal.h"
#include "spyre/Runtime/ProgramSession.h"

#include <cstring>
#include <deque>
#include <utility>

using namespace spyre;
using namespace spyre::runtime;
using capi::guarded;

struct spyre_program {
  LoadedProgram loaded;
  std::vector<NumberFinding> numbers = {}; ///< of the last run
};

struct spyre_host_value {
  const HostArgument *argument = nullptr;
  const HostTensor *tensor = nullptr; ///< of an array or number
  std::vector<const spyre_host_value *> items;
};

static spyre_array toArray(const HostTensor &tensor, void *data) {
  return {getHostTypeName(tensor.dtype).data(), tensor.shape.data(), tensor.shape.size(), data,
          tensor.data.size()};
}

namespace {
/// The caller's functions.
class CallerFunctions : public HostFunctions {
public:
  explicit CallerFunctions(const spyre_host_functions &functions) : functions(functions) {}

  bool knows(const std::string &function) const override {
    return functions.knows(functions.user, function.c_str()) != 0;
  }

  std::optional<std::string> call(const HostInvocation &invocation) override {
    std::deque<spyre_host_value> values;
    size_t next = 0;
    std::vector<const spyre_host_value *> arguments;
    for (const HostArgument &argument : invocation.call.arguments)
      arguments.push_back(wrap(argument, invocation.arrays, next, values));
    std::vector<spyre_host_output> outputs;
    for (size_t i = 0; i < invocation.outputs.size(); ++i) {
      HostTensor &tensor = *invocation.outputs[i];
      const HostOutput &output = invocation.call.outputs[i];
      outputs.push_back({toArray(tensor, tensor.data.data()), output.number, output.item});
    }
    spyre_host_call call = {invocation.call.function.c_str(), arguments.data(), arguments.size(),
                            outputs.data(), outputs.size()};
    char message[1024] = "";
    if (functions.call(functions.user, &call, message, sizeof(message)) == SPYRE_OK)
      return std::nullopt;
    message[sizeof(message) - 1] = 0;
    return message[0] ? message : "it failed without a message";
  }

private:
  static const spyre_host_value *wrap(const HostArgument &argument,
                                      const std::vector<const HostTensor *> &arrays, size_t &next,
                                      std::deque<spyre_host_value> &values) {
    spyre_host_value &value = values.emplace_back();
    value.argument = &argument;
    if (std::holds_alternative<HostArgument::Array>(argument.value))
      value.tensor = arrays[next++];
    if (const auto *list = std::get_if<std::vector<HostArgument>>(&argument.value))
      for (const HostArgument &element : *list)
        value.items.push_back(wrap(element, arrays, next, values));
    return &value;
  }

  spyre_host_functions functions;
};
} // namespace

static const HostArray *getArray(const std::vector<HostArray> &arrays, size_t i) {
  return i < arrays.size() ? &arrays[i] : nullptr;
}

static spyre_status describe(const HostArray *array, const char *role, spyre_argument *result) {
  return guarded([&]() -> std::optional<Error> {
    if (!array || !result)
      return Error{"there is no such argument or result, or a handle is null"};
    *result = {role, array->name.c_str(), getHostTypeName(array->dtype).data(), array->shape.data(),
               array->shape.size()};
    return std::nullopt;
  });
}

/// \p array as the program's \p wanted; an error if it is something else.
static Result<HostTensor> borrow(const HostArray &wanted, const spyre_array &array) {
  if (!array.dtype || (array.rank && !array.shape))
    return Error{wanted.name + ": a handle is null"};
  std::vector<int64_t> shape(array.shape, array.shape + array.rank);
  HostTensor tensor{wanted.dtype, wanted.shape, {}};
  auto bytes = static_cast<size_t>(tensor.getNumElements() * getWidthInBytes(wanted.dtype));
  if (parseHostType(array.dtype) != wanted.dtype || shape != wanted.shape ||
      array.size_in_bytes != bytes || (bytes && !array.data))
    return Error{wanted.name + ": the array is " + array.dtype + " of " +
                 std::to_string(array.size_in_bytes) + " bytes, the program has " +
                 describeArray(wanted.dtype, wanted.shape)};
  tensor.data = HostBytes::borrow(array.data, bytes);
  return tensor;
}

extern "C" {

spyre_status spyre_program_load(const char *directory, spyre_program **program) {
  return guarded([&]() -> std::optional<Error> {
    if (!directory || !program)
      return Error{"a handle is null"};
    *program = nullptr;
    auto loaded = loadProgram(directory);
    if (auto *error = std::get_if<Error>(&loaded))
      return *error;
    *program = new spyre_program{std::move(std::get<LoadedProgram>(loaded))};
    return std::nullopt;
  });
}

void spyre_program_destroy(spyre_program *program) { delete program; }

size_t spyre_program_num_arguments(const spyre_program *program) {
  return program ? program->loaded.program.arguments.size() : 0;
}
size_t spyre_program_num_results(const spyre_program *program) {
  return program ? program->loaded.program.results.size() : 0;
}

spyre_status spyre_program_argument(const spyre_program *program, size_t i,
                                    spyre_argument *argument) {
  return describe(program ? getArray(program->loaded.program.arguments, i) : nullptr, "input",
                  argument);
}
spyre_status spyre_program_result(const spyre_program *program, size_t i, spyre_argument *result) {
  return describe(program ? getArray(program->loaded.program.results, i) : nullptr, "output",
                  result);
}

spyre_host_kind spyre_host_value_kind(const spyre_host_value *value) {
  if (!value)
    return SPYRE_HOST_NONE;
  if (const auto *array = std::get_if<HostArgument::Array>(&value->argument->value))
    return array->isNumber ? SPYRE_HOST_NUMBER : SPYRE_HOST_ARRAY;
  // The alternatives' order up to texts is that of the kinds.
  size_t index = value->argument->value.index();
  return index <= SPYRE_HOST_TEXT ? static_cast<spyre_host_kind>(index) : SPYRE_HOST_LIST;
}

int spyre_host_value_bool(const spyre_host_value *value) {
  const bool *truth = value ? std::get_if<bool>(&value->argument->value) : nullptr;
  return truth && *truth;
}
int64_t spyre_host_value_int(const spyre_host_value *value) {
  const int64_t *integer = value ? std::get_if<int64_t>(&value->argument->value) : nullptr;
  return integer ? *integer : 0;
}
double spyre_host_value_float(const spyre_host_value *value) {
  const double *number = value ? std::get_if<double>(&value->argument->value) : nullptr;
  return number ? *number : 0;
}
const char *spyre_host_value_text(const spyre_host_value *value) {
  const std::string *text = value ? std::get_if<std::string>(&value->argument->value) : nullptr;
  return text ? text->c_str() : "";
}
size_t spyre_host_value_size(const spyre_host_value *value) {
  return value ? value->items.size() : 0;
}
const spyre_host_value *spyre_host_value_item(const spyre_host_value *value, size_t i) {
  return value && i < value->items.size() ? value->items[i] : nullptr;
}

spyre_status spyre_host_value_array(const spyre_host_value *value, spyre_array *array) {
  return guarded([&]() -> std::optional<Error> {
    if (!value || !array || !value->tensor)
      return Error{"the operand is no array"};
    *array =
        toArray(*value->tensor, const_cast<uint8_t *>(std::as_const(value->tensor->data).data()));
    return std::nullopt;
  });
}

spyre_status spyre_program_run(spyre_device *device, spyre_program *program,
                               const spyre_host_functions *functions, const spyre_array *arguments,
                               size_t numArguments, const spyre_array *results, size_t numResults) {
  return guarded([&]() -> std::optional<Error> {
    if (!device || !program || (numArguments && !arguments) || (numResults && !results) ||
        (functions && (!functions->knows || !functions->call)))
      return Error{"a handle is null"};
    const Program &described = program->loaded.program;
    if (numArguments != described.arguments.size() || numResults != described.results.size())
      return Error{std::to_string(numArguments) + " arguments and " + std::to_string(numResults) +
                   " results given, the program has " + std::to_string(described.arguments.size()) +
                   " and " + std::to_string(described.results.size())};
    std::vector<HostTensor> inputs;
    for (size_t i = 0; i < numArguments; ++i) {
      auto tensor = borrow(described.arguments[i], arguments[i]);
      if (auto *error = std::get_if<Error>(&tensor))
        return *error;
      inputs.push_back(std::move(std::get<HostTensor>(tensor)));
    }
    for (size_t i = 0; i < numResults; ++i)
      if (auto tensor = borrow(described.results[i], results[i]); std::get_if<Error>(&tensor))
        return std::get<Error>(tensor);
    std::vector<const HostTensor *> given;
    for (const HostTensor &input : inputs)
      given.push_back(&input);
    std::optional<CallerFunctions> callers;
    if (functions)
      callers.emplace(*functions);
    std::lock_guard lock(device->mutex);
    auto session =
        ProgramSession::create(device->runtime, program->loaded,
                               {.keepBuffers = false, .host = callers ? &*callers : nullptr});
    if (auto *error = std::get_if<RunError>(&session))
      return Error{error->message};
    std::vector<HostTensor> made;
    RunNumbers numbers;
    auto &running = *std::get<std::unique_ptr<ProgramSession>>(session);
    if (auto error = running.run(given, made, {}, &numbers))
      return Error{error->message};
    program->numbers = running.getConstantNumbers();
    program->numbers.insert(program->numbers.end(), numbers.found.begin(), numbers.found.end());
    for (size_t i = 0; i < numResults; ++i)
      if (!made[i].data.empty())
        std::memcpy(results[i].data, std::as_const(made[i].data).data(), made[i].data.size());
    return std::nullopt;
  });
}

spyre_status spyre_program_numbers(const spyre_program *program, size_t i, spyre_numbers *numbers) {
  return guarded([&]() -> std::optional<Error> {
    if (!program || !numbers)
      return Error{"a handle is null"};
    if (i >= program->numbers.size())
      return Error{"the last run found " + std::to_string(program->numbers.size()) + " arrays"};
    const NumberFinding &finding = program->numbers[i];
    const spyre::NumberCounts &counts = finding.counts;
    *numbers = {getWhereName(finding.where),
                finding.name.c_str(),
                counts.nans,
                counts.infinities,
                counts.tooSmall,
                counts.tooLarge,
                counts.largest,
                counts.firstNaN,
                counts.firstOutOfRange};
    return std::nullopt;
  });
}

} // extern "C"
