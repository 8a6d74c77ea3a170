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

#include "spyre/Runtime/Program.h"

#include "FileJson.h"
#include "spyre/Support/JsonWriter.h"

#include <set>

namespace spyre::runtime {

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

  HostArray readNewArray(const Cursor &entry) {
    HostArray array;
    Cursor name = entry.at("name");
    array.name = name.getString();
    if (array.name.empty() || !arrays.insert(array.name).second)
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
      program.steps.push_back(
          {CopyOut{readBuffer(step.at("buffer")), readArray(step.at("array"))}});
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
      HostCall call;
      call.function = step.at("function").getString();
      for (const Cursor &array : step.at("inputs").elements())
        call.inputs.push_back(array.getString());
      for (const Cursor &array : step.at("outputs").elements()) {
        call.outputs.push_back(array.getString());
        arrays.insert(call.outputs.back());
      }
      program.steps.push_back({std::move(call)});
    } else {
      kind.fail("unknown step \"" + name + "\"");
    }
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
    w.field("function", call->function);
    w.listField("inputs", call->inputs);
    w.listField("outputs", call->outputs);
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

} // namespace spyre::runtime
