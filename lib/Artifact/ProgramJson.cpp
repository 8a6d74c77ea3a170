//===- ProgramJson.cpp - Reading and writing program.json -----------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Format: docs/formats/program.md.
//
//===----------------------------------------------------------------------===//

#include "spyre/Artifact/Program.h"

#include "FileJson.h"
#include "spyre/Host/Evaluate.h"
#include "spyre/Support/JsonWriter.h"

#include <limits>
#include <set>

namespace spyre::artifact {

using json::Cursor;

namespace {

class ProgramReader {
public:
  explicit ProgramReader(Program &program) : program(program) {}

  void read(const Cursor &root) {
    checkVersion(root, Program::kVersion);
    program.name = root.at("name").getString();
    Cursor target = root.at("target");
    program.target = target.getString();
    if (program.target != "superdsc" && program.target != "ktir")
      target.fail("unknown target \"" + program.target + "\"");
    program.device = root.at("device").getString();
    if (std::optional<Cursor> rates = root.find("rates"))
      for (const auto &[name, value] : rates->fields()) {
        double number = value.getDouble();
        if (std::string mistake = findMistake(name, number); !mistake.empty())
          value.fail(mistake);
        program.rates[name] = number;
      }
    readArrays(root.at("arguments"), program.arguments);
    readArrays(root.at("results"), program.results);
    if (std::optional<Cursor> list = root.find("constants"))
      for (const Cursor &entry : list->elements()) {
        ConstantArray constant{readNewArray(entry), {}};
        Cursor file = entry.at("file");
        constant.file = file.getString();
        if (!isInside(constant.file))
          file.fail("\"" + constant.file + "\" is no file inside the program directory");
        program.constants.push_back(std::move(constant));
      }
    for (const Cursor &entry : root.at("buffers").elements()) {
      DeviceBuffer buffer;
      Cursor name = entry.at("name");
      buffer.name = name.getString();
      if (buffer.name.empty() || !buffers.insert(buffer.name).second)
        name.fail("buffer names are not empty and distinct");
      buffer.sizeInBytes = entry.at("bytes").getInt(0, kMaxSize);
      program.buffers.push_back(std::move(buffer));
    }
    for (const Cursor &step : root.at("steps").elements())
      readStep(step);
  }

private:
  void readArrays(const Cursor &list, std::vector<HostArray> &result) {
    for (const Cursor &entry : list.elements())
      result.push_back(readNewArray(entry));
  }

  HostArray readNewArray(const Cursor &entry) { return readArray(entry, /*isNew=*/true); }

  HostArray readArray(const Cursor &entry, bool isNew) {
    HostArray array;
    Cursor name = entry.at("name");
    array.name = name.getString();
    if (array.name.empty() || (isNew && !arrays.insert(array.name).second))
      name.fail("array names are not empty and distinct");
    Cursor dtype = entry.at("dtype");
    if (std::optional<HostType> type = parseHostType(dtype.getString()))
      array.dtype = *type;
    else
      dtype.fail("unknown dtype \"" + dtype.getString() + "\"");
    array.shape = readSizes(entry.at("shape"), 0);
    return array;
  }

  std::string readBuffer(const Cursor &field) {
    std::string name = field.getString();
    if (field.isValid() && !buffers.count(name))
      field.fail("unknown buffer \"" + name + "\"");
    return name;
  }

  std::string readArray(const Cursor &field) {
    std::string name = field.getString();
    if (field.isValid() && !arrays.count(name))
      field.fail("unknown array \"" + name + "\"");
    return name;
  }

  void readStep(const Cursor &step) {
    Cursor kind = step.at("step");
    std::string name = kind.getString();
    if (name == "copy_in") {
      program.steps.push_back({CopyIn{readArray(step.at("array")), readBuffer(step.at("buffer"))}});
    } else if (name == "copy_out") {
      Cursor array = step.at("array");
      // Of a result, or one that host calls read: made here.
      arrays.insert(array.getString());
      program.steps.push_back({CopyOut{readBuffer(step.at("buffer")), readArray(array)}});
    } else if (name == "free") {
      program.steps.push_back({Free{readBuffer(step.at("buffer"))}});
    } else if (name == "launch") {
      LaunchBundle launch;
      Cursor bundle = step.at("bundle");
      launch.bundle = bundle.getString();
      if (!isInside(launch.bundle))
        bundle.fail("\"" + launch.bundle + "\" is no folder inside the program directory");
      for (const Cursor &buffer : step.at("buffers").elements())
        launch.buffers.push_back(buffer.isNull() ? std::string() : readBuffer(buffer));
      program.steps.push_back({std::move(launch)});
    } else if (name == "host_call") {
      program.steps.push_back({readHostCall(step)});
    } else {
      kind.fail("unknown step \"" + name + "\"");
    }
  }

  HostCall readHostCall(const Cursor &step) {
    HostCall call;
    call.function = step.at("function").getString();
    for (const Cursor &entry : step.at("arguments").elements())
      call.arguments.push_back(readHostArgument(entry));
    for (const Cursor &entry : step.at("outputs").elements()) {
      HostOutput output{readArray(entry, /*isNew=*/false), 0, -1};
      if (!made.insert(output.array.name).second)
        entry.at("name").fail("array \"" + output.array.name + "\" is made twice");
      arrays.insert(output.array.name);
      output.number = entry.at("result").getInt(0, kMaxSize);
      if (std::optional<Cursor> item = entry.find("item"))
        output.item = item->getInt(0, kMaxSize);
      call.outputs.push_back(std::move(output));
    }
    if (std::optional<Cursor> reason = step.find("reason"))
      call.reason = reason->getString();
    if (std::optional<Cursor> location = step.find("location"))
      call.location = location->getString();
    return call;
  }

  HostArgument readHostArgument(const Cursor &entry) {
    if (entry.isNull())
      return {};
    if (entry.isArray()) {
      std::vector<HostArgument> list;
      for (const Cursor &element : entry.elements())
        list.push_back(readHostArgument(element));
      return {std::move(list)};
    }
    if (entry.isValid() && entry.getNode()->is_boolean())
      return {entry.getBool()};
    if (entry.isString())
      return {entry.getString()};
    if (!entry.isObject())
      return {
          entry.getInt(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max())};
    if (std::optional<Cursor> number = entry.find("float"))
      return {readFloat(*number)};
    std::optional<Cursor> scalar = entry.find("scalar");
    return {
        HostArgument::Array{readArray(scalar ? *scalar : entry.at("array")), scalar.has_value()}};
  }

  static double readFloat(const Cursor &number) {
    if (!number.isString())
      return number.getDouble();
    std::string text = number.getString(); // as the writer writes what JSON lacks
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (text == "inf" || text == "-inf")
      return text[0] == '-' ? -infinity : infinity;
    if (text != "nan")
      number.fail("\"" + text + "\" is no number");
    return std::numeric_limits<double>::quiet_NaN();
  }

  /// A relative path without "." or ".." parts.
  static bool isInside(const std::string &path) {
    if (path.empty() || path.front() == '/' || path.find('\\') != std::string::npos ||
        path.find('\0') != std::string::npos)
      return false;
    size_t begin = 0;
    while (begin <= path.size()) {
      size_t end = std::min(path.find('/', begin), path.size());
      std::string part = path.substr(begin, end - begin);
      if (part.empty() || part == "." || part == "..")
        return false;
      begin = end + 1;
    }
    return true;
  }

  Program &program;
  std::set<std::string> arrays, buffers;
  std::set<std::string> made; ///< by host calls
};

void writeArrayFields(const HostArray &array, json::Writer &w) {
  w.field("name", array.name);
  w.field("dtype", getHostTypeName(array.dtype));
  w.listField("shape", array.shape);
}

void writeArrays(const char *key, const std::vector<HostArray> &arrays, json::Writer &w) {
  w.key(key);
  w.beginArray();
  for (const HostArray &array : arrays) {
    w.beginObject();
    writeArrayFields(array, w);
    w.endObject();
  }
  w.endArray();
}

void writeHostArgument(const HostArgument &argument, json::Writer &w) {
  struct Visitor {
    json::Writer &w;
    void operator()(std::monostate) const { w.null(); }
    void operator()(bool truth) const { w.value(truth); }
    void operator()(int64_t integer) const { w.value(integer); }
    void operator()(double number) const {
      w.beginObject();
      w.field("float", number);
      w.endObject();
    }
    void operator()(const std::string &text) const { w.value(text); }
    void operator()(const HostArgument::Array &array) const {
      w.beginObject();
      w.field(array.isNumber ? "scalar" : "array", array.name);
      w.endObject();
    }
    void operator()(const std::vector<HostArgument> &list) const {
      w.beginArray();
      for (const HostArgument &element : list)
        writeHostArgument(element, w);
      w.endArray();
    }
  };
  std::visit(Visitor{w}, argument.value);
}

void writeHostCall(const HostCall &call, json::Writer &w) {
  w.field("function", call.function);
  w.key("arguments");
  w.beginArray();
  for (const HostArgument &argument : call.arguments)
    writeHostArgument(argument, w);
  w.endArray();
  w.key("outputs");
  w.beginArray();
  for (const HostOutput &output : call.outputs) {
    w.beginObject();
    writeArrayFields(output.array, w);
    w.field("result", output.number);
    if (output.item >= 0)
      w.field("item", output.item);
    w.endObject();
  }
  w.endArray();
  if (!call.reason.empty())
    w.field("reason", call.reason);
  if (!call.location.empty())
    w.field("location", call.location);
}

void writeStep(const ProgramStep &step, json::Writer &w) {
  w.beginObject();
  if (const auto *copyIn = std::get_if<CopyIn>(&step.content)) {
    w.field("step", "copy_in");
    w.field("array", copyIn->array);
    w.field("buffer", copyIn->buffer);
  } else if (const auto *launch = std::get_if<LaunchBundle>(&step.content)) {
    w.field("step", "launch");
    w.field("bundle", launch->bundle);
    w.key("buffers");
    w.beginArray();
    for (const std::string &buffer : launch->buffers) {
      if (buffer.empty())
        w.null();
      else
        w.value(buffer);
    }
    w.endArray();
  } else if (const auto *call = std::get_if<HostCall>(&step.content)) {
    w.field("step", "host_call");
    writeHostCall(*call, w);
  } else if (const auto *copyOut = std::get_if<CopyOut>(&step.content)) {
    w.field("step", "copy_out");
    w.field("buffer", copyOut->buffer);
    w.field("array", copyOut->array);
  } else {
    w.field("step", "free");
    w.field("buffer", std::get<Free>(step.content).buffer);
  }
  w.endObject();
}

} // namespace

std::map<std::string, int64_t> countHostCalls(const Program &program) {
  std::map<std::string, int64_t> counts;
  for (const ProgramStep &step : program.steps)
    if (const auto *call = std::get_if<HostCall>(&step.content);
        call && !host::isView(call->function))
      ++counts[call->function];
  return counts;
}

std::variant<Program, FileError> readProgram(std::string_view json) {
  return readDocument<Program>(
      json, [](const Cursor &root, Program &program) { ProgramReader(program).read(root); });
}

void writeProgram(const Program &program, std::ostream &os, bool pretty) {
  json::Writer w(os, pretty);
  w.beginObject();
  w.field("version", Program::kVersion);
  w.field("name", program.name);
  w.field("target", program.target);
  w.field("device", program.device);
  if (!program.rates.empty()) {
    w.key("rates");
    w.beginObject();
    for (const auto &[name, value] : program.rates)
      w.field(name, value);
    w.endObject();
  }
  writeArrays("arguments", program.arguments, w);
  writeArrays("results", program.results, w);
  if (!program.constants.empty()) {
    w.key("constants");
    w.beginArray();
    for (const ConstantArray &constant : program.constants) {
      w.beginObject();
      writeArrayFields(constant.array, w);
      w.field("file", constant.file);
      w.endObject();
    }
    w.endArray();
  }
  w.key("buffers");
  w.beginArray();
  for (const DeviceBuffer &buffer : program.buffers) {
    w.beginObject();
    w.field("name", buffer.name);
    w.field("bytes", buffer.sizeInBytes);
    w.endObject();
  }
  w.endArray();
  w.key("steps");
  w.beginArray();
  for (const ProgramStep &step : program.steps)
    writeStep(step, w);
  w.endArray();
  w.endObject();
}

} // namespace spyre::artifact
