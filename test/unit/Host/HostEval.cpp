//===- HostEval.cpp - Host operations for other programs ------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads calls of operations from stdin, a JSON object a line, and writes their results, so
// that a test can compare them with PyTorch's. A call: {"function": name, "arguments": [...],
// "results": [{"dtype": ..., "shape": [...]}]}. Arguments are null, booleans, integers,
// floats ("nan", "inf" and "-inf" as {"float": text}), texts, lists, and arrays as {"dtype":
// ..., "shape": [...], "bytes": hexadecimal}. An answer: {"results": [hexadecimal, ...]} or
// {"refused": reason}. A result that is null is not wanted. With --list it writes the names that
// are known.
//
//===----------------------------------------------------------------------===//

#include "spyre/Host/Evaluate.h"
#include "spyre/Support/JsonReader.h"

#include <cmath>
#include <iostream>

using namespace spyre;
using json::Document;

static std::vector<char> fromHex(const std::string &text) {
  std::vector<char> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

static std::string toHex(const std::vector<char> &bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (char byte : bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

static host::Argument toArgument(const Document &node) {
  if (node.is_null())
    return std::monostate();
  if (node.is_boolean())
    return node.get<bool>();
  if (node.is_number_integer())
    return node.get<int64_t>();
  if (node.is_number())
    return node.get<double>();
  if (node.is_string())
    return node.get<std::string>();
  if (node.is_array()) {
    host::Argument::List list;
    for (const Document &element : node)
      list.push_back(toArgument(element));
    return list;
  }
  if (node.contains("float")) {
    std::string text = node["float"].get<std::string>();
    return text == "nan" ? NAN : text == "inf" ? INFINITY : -INFINITY;
  }
  std::vector<char> bytes = fromHex(node["bytes"].get<std::string>());
  auto shape = node["shape"].get<std::vector<int64_t>>();
  HostType dtype = parseHostType(node["dtype"].get<std::string>()).value();
  return host::fromBytes(dtype, shape, bytes.data());
}

static Document answer(const Document &call) {
  std::vector<host::Argument> arguments;
  for (const Document &argument : call["arguments"])
    arguments.push_back(toArgument(argument));
  std::vector<host::ResultType> types;
  for (const Document &result : call["results"])
    if (result.is_null())
      types.push_back({HostType::Float32, {}, false});
    else
      types.push_back({parseHostType(result["dtype"].get<std::string>()).value(),
                       result["shape"].get<std::vector<int64_t>>(), true});
  auto results = host::evaluate(call["function"].get<std::string>(), arguments, types);
  if (auto *why = std::get_if<std::string>(&results))
    return {{"refused", *why}};
  Document texts = Document::array();
  for (const host::Array &array : std::get<std::vector<host::Array>>(results)) {
    std::vector<char> bytes(array.getNumElements() * getWidthInBytes(array.dtype));
    toBytes(array, bytes.data());
    texts.push_back(toHex(bytes));
  }
  return {{"results", texts}};
}

int main(int argc, char **argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--list") {
    for (std::string_view name : host::getKnownNames())
      std::cout << name << "\n";
    return 0;
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    auto document = json::parse(line);
    if (auto *error = std::get_if<json::Error>(&document)) {
      std::cerr << error->where << ": " << error->message << "\n";
      return 1;
    }
    try {
      std::cout << answer(std::get<Document>(document)).dump() << std::endl;
    } catch (const std::exception &error) {
      std::cerr << "not a call: " << error.what() << "\n";
      return 1;
    }
  }
  return 0;
}
