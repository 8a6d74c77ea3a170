//===- PackCommand.cpp - spyre-solve pack and pool ------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lifetimes in three forms: packing cases (uses of named buffers), traces of alloc
// and free, and MiniMalloc's CSV.
//
//===----------------------------------------------------------------------===//

#include "Solve.h"

#include "spyre/Device/Device.h"
#include "spyre/Planning/Packing.h"
#include "spyre/Support/JsonReader.h"
#include "spyre/Support/JsonWriter.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace spyre::solve {

using namespace planning;

namespace {

constexpr int64_t kMaxBytes = int64_t(1) << 48;

PackingOptions getOptions(const Arguments &arguments) {
  PackingOptions options;
  options.strategy = PackingStrategy::Search;
  options.timeLimitInSeconds = arguments.timeLimitInSeconds;
  if (options.timeLimitInSeconds) // then the clock ends it
    options.nodeLimit = int64_t(1) << 60;
  return options;
}

//===----------------------------------------------------------------------===//
// CSV
//===----------------------------------------------------------------------===//

std::vector<std::string> splitFields(const std::string &line) {
  std::vector<std::string> fields(1);
  for (char c : line) {
    if (c == ',')
      fields.emplace_back();
    else if (c != '\r' && c != ' ')
      fields.back() += c;
  }
  return fields;
}

struct CsvProblem {
  std::vector<std::string> lines; ///< as read, without the header
  std::string header;
  PackingProblem problem;
};

/// Returns a message, or an empty string.
std::string readCsv(const std::string &text, CsvProblem &result) {
  std::istringstream stream(text);
  std::string line;
  std::map<std::string, size_t> columns;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    if (line.empty())
      continue;
    std::vector<std::string> fields = splitFields(line);
    if (columns.empty()) {
      result.header = line;
      for (size_t i = 0; i < fields.size(); ++i)
        columns.emplace(fields[i], i);
      for (const char *name : {"id", "lower", "upper", "size"})
        if (!columns.count(name))
          return "line 1: there is no column '" + std::string(name) + "'";
      continue;
    }
    auto number64 = [&](const char *name) -> std::optional<int64_t> {
      size_t column = columns[name];
      return column < fields.size() ? json::parseDecimal(fields[column]) : std::nullopt;
    };
    auto lower = number64("lower"), upper = number64("upper"), size = number64("size");
    if (!lower || !upper || !size || *size < 0 || *size > kMaxBytes || *lower >= *upper)
      return "line " + std::to_string(number) + ": bad lifetime or size";
    PackingBuffer buffer;
    buffer.begin = *lower;
    buffer.end = *upper;
    buffer.sizeInBytes = *size;
    result.problem.buffers.push_back(buffer);
    result.lines.push_back(line);
  }
  if (columns.empty())
    return "the file is empty";
  return {};
}

template <typename GetOffset> std::string writeCsv(const CsvProblem &csv, GetOffset &&getOffset) {
  std::string text = csv.header + ",offset\n";
  for (size_t i = 0; i < csv.lines.size(); ++i)
    text += csv.lines[i] + "," + std::to_string(getOffset(i)) + "\n";
  return text;
}

Answer packCsv(const Arguments &arguments) {
  Answer answer;
  CsvProblem csv;
  answer.error = readCsv(arguments.input, csv);
  if (answer.error.empty() && !arguments.capacityInBytes)
    answer.error = "a CSV does not name the capacity: give --capacity";
  if (!answer.error.empty())
    return answer;
  csv.problem.capacityInBytes = *arguments.capacityInBytes;
  if (auto errors = check(csv.problem); !errors.empty()) {
    answer.error = errors.front();
    return answer;
  }
  PackingOptions options = getOptions(arguments);
  options.mustKeepAll = true;
  PackingPlan plan = planning::pack(csv.problem, options);
  if (!plan.keepsAll()) {
    answer.isUnsolved = true;
    answer.error = "no packing within " + std::to_string(csv.problem.capacityInBytes) +
                   " bytes found" +
                   (plan.isOptimal  ? " (there is none)"
                    : plan.hitLimit ? " (the search ended at its limit)"
                                    : "");
    return answer;
  }
  answer.output = writeCsv(csv, [&](size_t i) { return *plan.addresses[i]; });
  return answer;
}

//===----------------------------------------------------------------------===//
// Packing cases
//===----------------------------------------------------------------------===//

struct PackCase {
  std::string name;
  std::vector<std::string> names;
  PackingProblem problem;
};

PackCase readPackCase(const json::Cursor &root, const Arguments &arguments) {
  PackCase result;
  if (auto name = root.find("name"))
    result.name = name->getString();
  if (arguments.capacityInBytes)
    result.problem.capacityInBytes = *arguments.capacityInBytes;
  else
    result.problem.capacityInBytes = root.at("limit").getInt(0, kMaxBytes);
  if (auto alignment = root.find("alignment"))
    result.problem.alignmentInBytes = alignment->getInt(1, kMaxBytes);
  std::map<std::string, size_t> index;
  std::vector<json::Cursor> buffers = root.at("buffers").elements();
  for (const json::Cursor &cursor : buffers) {
    PackingBuffer buffer;
    std::string name = cursor.at("name").getString();
    if (!index.emplace(name, result.names.size()).second)
      cursor.fail("there are two buffers '" + name + "'");
    result.names.push_back(name);
    buffer.sizeInBytes = cursor.at("size").getInt(0, kMaxBytes);
    if (auto address = cursor.find("address"); address && !address->isNull())
      buffer.address = address->getInt(0, kMaxBytes);
    std::vector<int64_t> uses = cursor.at("uses").getInts();
    if (cursor.isValid() && uses.empty())
      cursor.at("uses").fail("a buffer that is never used has no lifetime");
    if (!cursor.isValid())
      break;
    auto [first, last] = std::minmax_element(uses.begin(), uses.end());
    buffer.begin = *first;
    buffer.end = *last + 1;
    buffer.numUses = uses.size();
    result.problem.buffers.push_back(std::move(buffer));
  }
  for (size_t i = 0; i < buffers.size() && root.isValid(); ++i) {
    auto parents = buffers[i].find("in_place_parents");
    if (!parents || parents->isNull())
      continue;
    // A parent that is not here is not in LX: nothing to take over.
    for (const std::string &parent : parents->getStrings())
      if (auto it = index.find(parent); it != index.end())
        result.problem.buffers[i].inPlaceParents.push_back(it->second);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Pool traces
//===----------------------------------------------------------------------===//

struct Event {
  bool isAlloc = false;
  size_t buffer = 0;
};

struct Trace {
  std::vector<Event> events;
  PoolProblem problem;
};

Trace readTrace(const json::Cursor &root, int64_t alignment) {
  Trace result;
  result.problem.alignmentInBytes = alignment;
  // A buffer is known by its id, or by the offset that the trace gives it.
  std::map<std::string, size_t> live;
  int64_t time = 0;
  for (const json::Cursor &event : root.at("trace").elements()) {
    std::string op = event.at("op").getString();
    auto id = event.find("id");
    std::string key = id ? "id" + std::to_string(id->getIntOrDecimalString())
                         : std::to_string(event.at("offset").getInt(0, kMaxBytes));
    if (op == "alloc") {
      PackingBuffer buffer;
      buffer.begin = time;
      buffer.sizeInBytes = event.at("size").getInt(0, kMaxBytes);
      if (!live.emplace(key, result.problem.buffers.size()).second)
        event.fail("this memory is allocated already");
      result.events.push_back({true, result.problem.buffers.size()});
      result.problem.buffers.push_back(buffer);
    } else if (op == "free") {
      auto it = live.find(key);
      if (it == live.end()) {
        event.fail("this memory is not allocated");
        break;
      }
      result.problem.buffers[it->second].end = time;
      result.events.push_back({false, it->second});
      live.erase(it);
    } else {
      event.fail("'" + op + "' is neither alloc nor free");
    }
    if (!event.isValid())
      break;
    ++time;
  }
  for (auto [key, buffer] : live)
    result.problem.buffers[buffer].end = time;
  return result;
}

std::string toText(const json::Error &error) { return error.where + ": " + error.message; }

} // namespace

Answer pack(const Arguments &arguments) {
  if (arguments.isCsv)
    return packCsv(arguments);
  Answer answer;
  auto parsed = json::parse(arguments.input);
  if (auto *error = std::get_if<json::Error>(&parsed)) {
    answer.error = toText(*error);
    return answer;
  }
  std::optional<json::Error> problemError;
  json::Cursor root(std::get<json::Document>(parsed), problemError);
  std::optional<json::Cursor> list;
  if (root.isObject())
    list = root.find("cases");
  std::vector<json::Cursor> cases = list ? list->elements() : std::vector<json::Cursor>{root};
  std::ostringstream os;
  {
    json::Writer writer(os, /*pretty=*/true);
    if (list) {
      writer.beginObject();
      writer.key("cases");
      writer.beginArray();
    }
    for (const json::Cursor &cursor : cases) {
      PackCase packCase = readPackCase(cursor, arguments);
      if (!problemError)
        if (auto errors = check(packCase.problem); !errors.empty())
          cursor.fail(errors.front());
      if (problemError)
        break;
      PackingPlan plan = planning::pack(packCase.problem, getOptions(arguments));
      writer.beginObject();
      writer.field("name", packCase.name);
      writer.key("addresses");
      writer.beginObject();
      for (size_t i = 0; i < packCase.names.size(); ++i) {
        writer.key(packCase.names[i]);
        if (plan.addresses[i])
          writer.value(*plan.addresses[i]);
        else
          writer.null();
      }
      writer.endObject();
      writer.field("kept_byte_uses", plan.keptByteUses);
      writer.field("peak", plan.peakInBytes);
      writer.field("optimal", plan.isOptimal);
      writer.endObject();
    }
    if (list) {
      writer.endArray();
      writer.endObject();
    }
  }
  if (problemError)
    answer.error = toText(*problemError);
  answer.output = os.str() + "\n";
  return answer;
}

Answer pool(const Arguments &arguments) {
  Answer answer;
  std::optional<Device> device = Device::lookup("spyre");
  int64_t alignment = device ? device->getAlignmentInBytes() : 1;
  PackingOptions options = getOptions(arguments);
  if (arguments.isCsv) {
    CsvProblem csv;
    answer.error = readCsv(arguments.input, csv);
    if (!answer.error.empty())
      return answer;
    csv.problem.capacityInBytes = arguments.capacityInBytes.value_or(0);
    auto plan = solvePool(csv.problem, options);
    if (auto *error = std::get_if<PackingError>(&plan)) {
      answer.isUnsolved = true;
      answer.error = error->message;
      return answer;
    }
    answer.output = writeCsv(csv, [&](size_t i) { return std::get<PoolPlan>(plan).offsets[i]; });
    return answer;
  }
  auto parsed = json::parse(arguments.input);
  if (auto *error = std::get_if<json::Error>(&parsed)) {
    answer.error = toText(*error);
    return answer;
  }
  std::optional<json::Error> problemError;
  json::Cursor root(std::get<json::Document>(parsed), problemError);
  bool isList = root.isArray();
  std::vector<json::Cursor> traces = isList ? root.elements() : std::vector<json::Cursor>{root};
  std::ostringstream os;
  {
    json::Writer writer(os, /*pretty=*/true);
    if (isList)
      writer.beginArray();
    for (const json::Cursor &cursor : traces) {
      Trace trace = readTrace(cursor, alignment);
      if (problemError)
        break;
      trace.problem.capacityInBytes = arguments.capacityInBytes.value_or(0);
      auto solved = solvePool(trace.problem, options);
      if (auto *error = std::get_if<PackingError>(&solved)) {
        answer.isUnsolved = true;
        answer.error = error->message;
        break;
      }
      const auto &plan = std::get<PoolPlan>(solved);
      writer.beginObject();
      writer.key("trace");
      writer.beginArray();
      for (const Event &event : trace.events) {
        writer.beginObject();
        writer.field("op", event.isAlloc ? "alloc" : "free");
        writer.field("size", trace.problem.buffers[event.buffer].sizeInBytes);
        writer.field("offset", plan.offsets[event.buffer]);
        writer.endObject();
      }
      writer.endArray();
      writer.field("peak", getPeakLoad(trace.problem));
      writer.field("pool_end", plan.sizeInBytes);
      writer.endObject();
    }
    if (isList)
      writer.endArray();
  }
  if (problemError)
    answer.error = toText(*problemError);
  answer.output = os.str() + "\n";
  return answer;
}

} // namespace spyre::solve
