//===- HostTable.cpp - Host calls computed by lib/Host --------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arrays to lib/Host's form and back. A list's elements are told from results by the
// outputs that name them.
//
//===----------------------------------------------------------------------===//

#include "spyre/Host/Evaluate.h"
#include "spyre/Runtime/HostFunctions.h"

#include <utility>

namespace spyre::runtime {

namespace {

class HostTable : public HostFunctions {
public:
  bool knows(const std::string &function) const override { return host::isKnown(function); }
  std::optional<std::string> call(const HostInvocation &invocation) override;
};

host::Array toArray(const HostTensor &tensor) {
  return host::fromBytes(tensor.dtype, tensor.shape,
                         reinterpret_cast<const char *>(std::as_const(tensor.data).data()));
}

/// A rank-0 array as the number that it holds.
host::Argument toNumber(const host::Array &array) {
  if (array.isComplex() || array.getNumElements() != 1)
    return array;
  if (array.dtype == HostType::Bool)
    return array.getInteger(0) != 0;
  if (array.isFloat())
    return array.getNumber(0);
  return array.getInteger(0);
}

host::Argument toArgument(const HostArgument &argument,
                          const std::vector<const HostTensor *> &arrays, size_t &next) {
  struct Visitor {
    const std::vector<const HostTensor *> &arrays;
    size_t &next;
    host::Argument operator()(std::monostate) { return {}; }
    host::Argument operator()(bool truth) { return truth; }
    host::Argument operator()(int64_t integer) { return integer; }
    host::Argument operator()(double number) { return number; }
    host::Argument operator()(const std::string &text) { return text; }
    host::Argument operator()(const HostArgument::Array &array) {
      host::Array content = toArray(*arrays[next++]);
      return array.isNumber ? toNumber(content) : host::Argument(std::move(content));
    }
    host::Argument operator()(const std::vector<HostArgument> &list) {
      host::Argument::List elements;
      for (const HostArgument &element : list)
        elements.push_back(toArgument(element, arrays, next));
      return elements;
    }
  };
  return std::visit(Visitor{arrays, next}, argument.value);
}

} // namespace

std::optional<std::string> HostTable::call(const HostInvocation &invocation) {
  std::vector<host::Argument> arguments;
  size_t next = 0;
  for (const HostArgument &argument : invocation.call.arguments)
    arguments.push_back(toArgument(argument, invocation.arrays, next));
  // One a result of the operation up to the last that is read.
  std::vector<host::ResultType> types;
  const std::vector<HostOutput> &outputs = invocation.call.outputs;
  auto getPosition = [](const HostOutput &output) {
    return static_cast<size_t>(output.item >= 0 ? output.item : output.number);
  };
  constexpr size_t kMostResults = 4096;
  for (const HostOutput &output : outputs) {
    if (getPosition(output) >= kMostResults)
      return "a result number beyond all operations";
    types.resize(std::max(types.size(), getPosition(output) + 1), {HostType::Float32, {}, false});
  }
  for (const HostOutput &output : outputs)
    types[getPosition(output)] = {output.array.dtype, output.array.shape};
  auto results = host::evaluate(invocation.call.function, arguments, types);
  if (auto *why = std::get_if<std::string>(&results))
    return *why;
  auto &arrays = std::get<std::vector<host::Array>>(results);
  for (size_t i = 0; i < outputs.size(); ++i) {
    size_t position = getPosition(outputs[i]);
    if (position >= arrays.size() || arrays[position].shape != outputs[i].array.shape ||
        arrays[position].dtype != outputs[i].array.dtype)
      return "it does not give the result that the program wants";
    host::toBytes(arrays[position], reinterpret_cast<char *>(invocation.outputs[i]->data.data()));
  }
  return std::nullopt;
}

HostFunctions &getHostTable() {
  static HostTable table;
  return table;
}

} // namespace spyre::runtime
