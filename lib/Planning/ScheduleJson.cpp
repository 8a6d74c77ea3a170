//===- ScheduleJson.cpp - Schedules as JSON --------------------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Format: docs/formats/schedule.md. All mistakes of a text are found in one reading; a field
// that nobody knows is one, as it would be obeyed by nobody.
//
//===----------------------------------------------------------------------===//

#include "spyre/Planning/PlanKind.h"
#include "spyre/Planning/Schedule.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace spyre::planning {

using nlohmann::json;
using nlohmann::ordered_json;

static constexpr int64_t kVersion = 1;
/// No count is larger: what is beyond is a mistake, and sums of counts stay numbers.
static constexpr int64_t kMost = int64_t(1) << 31;

namespace {

class Reader {
public:
  Schedules read(const std::string &text);

  std::vector<ScheduleError> errors;

private:
  void fail(const std::string &field, std::string message) {
    errors.push_back({field, std::move(message)});
  }
  /// False, with an error, if \p value is no object, or has other fields than \p known.
  bool isObject(const json &value, const std::string &field, const std::set<std::string> &known);
  std::optional<int64_t> readNumber(const json &object, const std::string &key,
                                    const std::string &field, int64_t least,
                                    bool isRequired = true);
  std::optional<std::string> readString(const json &object, const std::string &key,
                                        const std::string &field);
  std::optional<bool> readBool(const json &object, const std::string &key,
                               const std::string &field);
  /// Calls \p readOne with each element of the array \p key and its field.
  template <typename ReadOne>
  bool readArray(const json &object, const std::string &key, const std::string &field,
                 ReadOne readOne);
  Schedule readSchedule(const json &value, const std::string &field);
  ScheduledNest readNest(const json &value, const std::string &field);
  ScheduledCut readCut(const json &value, const std::string &parts, const std::string &field);

  std::set<std::string> names; ///< of the schedule at hand
};

} // namespace

bool Reader::isObject(const json &value, const std::string &field,
                      const std::set<std::string> &known) {
  if (!value.is_object()) {
    fail(field, "an object is wanted");
    return false;
  }
  for (const auto &[key, ignored] : value.items()) {
    if (known.empty() || known.contains(key))
      continue;
    std::string message = "unknown field; known are";
    for (const std::string &name : known)
      message += " " + name;
    fail(field + "." + key, message);
  }
  return true;
}

/// What is said for whoever reads the file: not a mistake, whatever it is.
static void readTime(const json &object, const char *key, double &ns) {
  if (object.contains(key) && object[key].is_number())
    ns = object[key].get<double>() * 1e3;
}

static bool isNumber(const json &value, int64_t least) {
  return value.is_number_integer() && value >= least && value <= kMost;
}

std::optional<int64_t> Reader::readNumber(const json &object, const std::string &key,
                                          const std::string &field, int64_t least,
                                          bool isRequired) {
  const std::string where = field + "." + key;
  if (!object.contains(key)) {
    if (isRequired)
      fail(where, "is missing");
    return std::nullopt;
  }
  const json &value = object[key];
  if (!isNumber(value, least)) {
    fail(where, "a whole number from " + std::to_string(least) + " on is wanted");
    return std::nullopt;
  }
  return value.get<int64_t>();
}

std::optional<std::string> Reader::readString(const json &object, const std::string &key,
                                              const std::string &field) {
  if (!object.contains(key))
    return std::nullopt;
  if (!object[key].is_string()) {
    fail(field + "." + key, "a string is wanted");
    return std::nullopt;
  }
  return object[key].get<std::string>();
}

std::optional<bool> Reader::readBool(const json &object, const std::string &key,
                                     const std::string &field) {
  if (!object.contains(key))
    return std::nullopt;
  if (!object[key].is_boolean()) {
    fail(field + "." + key, "true or false is wanted");
    return std::nullopt;
  }
  return object[key].get<bool>();
}

template <typename ReadOne>
bool Reader::readArray(const json &object, const std::string &key, const std::string &field,
                       ReadOne readOne) {
  if (!object.contains(key))
    return false;
  const json &array = object[key];
  if (!array.is_array()) {
    fail(field + "." + key, "an array is wanted");
    return false;
  }
  for (size_t i = 0; i < array.size(); ++i)
    readOne(array[i], field + "." + key + "[" + std::to_string(i) + "]");
  return true;
}

ScheduledCut Reader::readCut(const json &value, const std::string &parts,
                             const std::string &field) {
  ScheduledCut cut;
  if (!isObject(value, field, {"operation", "dim", parts}))
    return cut;
  cut.parts = readNumber(value, parts, field, 1).value_or(1);
  if (value.contains("dim") && value["dim"].is_string()) {
    cut.dim.name = value["dim"].get<std::string>();
    if (!names.contains(cut.dim.name))
      fail(field + ".dim", "no argument has a dim '" + cut.dim.name + "' in names");
    return cut;
  }
  cut.dim.dim = static_cast<unsigned>(readNumber(value, "dim", field, 0).value_or(0));
  cut.dim.operation = static_cast<unsigned>(readNumber(value, "operation", field, 0).value_or(0));
  return cut;
}

ScheduledNest Reader::readNest(const json &value, const std::string &field) {
  ScheduledNest nest;
  if (!isObject(value, field,
                {"scope", "first", "last", "loops", "cores", "loads_factors", "copies", "alone",
                 "us", "untiled_us"}))
    return nest;
  nest.scope = readString(value, "scope", field).value_or("");
  if (!value.contains("scope")) {
    nest.first = static_cast<unsigned>(readNumber(value, "first", field, 0).value_or(0));
    nest.last = static_cast<unsigned>(readNumber(value, "last", field, 0).value_or(nest.first));
  } else {
    if (value["scope"].is_string() && nest.scope.empty())
      fail(field + ".scope", "a name is wanted");
    for (const char *key : {"first", "last"})
      if (value.contains(key))
        fail(field + "." + key, "the scope says which operations");
  }
  if (nest.last < nest.first)
    fail(field + ".last", "comes before first");
  auto readCuts = [&](const std::string &key, const std::string &parts,
                      std::optional<std::vector<ScheduledCut>> &cuts) {
    std::vector<ScheduledCut> found;
    if (readArray(value, key, field, [&](const json &cut, const std::string &where) {
          found.push_back(readCut(cut, parts, where));
        }))
      cuts = std::move(found);
  };
  readCuts("loops", "tiles", nest.loops);
  readCuts("cores", "slices", nest.cores);
  if (nest.loops && nest.loops->size() > 2)
    fail(field + ".loops", "there are at most two loops");
  if (nest.cores && nest.cores->size() > 2)
    fail(field + ".cores", "cores share at most two dims");
  nest.loadsFactors = readBool(value, "loads_factors", field);
  nest.copies = readBool(value, "copies", field);
  nest.isAlone = readBool(value, "alone", field).value_or(false);
  readTime(value, "us", nest.tiledInNs);
  readTime(value, "untiled_us", nest.untiledInNs);
  if (nest.isAlone &&
      (nest.first != nest.last || nest.cores || (nest.loops && !nest.loops->empty())))
    fail(field + ".alone", "is for one operation without loops and cores");
  return nest;
}

Schedule Reader::readSchedule(const json &value, const std::string &field) {
  Schedule schedule;
  if (!isObject(value, field,
                {"kind", "layouts", "deviations", "names", "divisions", "nests", "lost", "values",
                 "us", "bound_us"}))
    return schedule;
  schedule.kind = readString(value, "kind", field).value_or("");
  if (const auto kind = parseName<PlanKind>(schedule.kind);
      !schedule.kind.empty() && (!kind || *kind == PlanKind::Best))
    fail(field + ".kind", "known kinds are " + listNames(PlanKind::Untiled));
  const std::string layouts = readString(value, "layouts", field).value_or("usual");
  if (layouts != "usual" && layouts != "searched")
    fail(field + ".layouts", "known layouts are usual and searched");
  schedule.searchesLayouts = layouts == "searched";
  const std::string deviations = readString(value, "deviations", field).value_or("together");
  if (deviations != "together" && deviations != "apart")
    fail(field + ".deviations", "they are carried together or apart");
  schedule.keepsDeviationsApart = deviations == "apart";
  names.clear();
  if (value.contains("names") && isObject(value["names"], field + ".names", {}))
    for (const auto &[argument, ignored] : value["names"].items())
      readArray(value["names"], argument, field + ".names",
                [&](const json &name, const std::string &where) {
                  if (!name.is_string())
                    return fail(where, "a string is wanted");
                  schedule.names[argument].push_back(name.get<std::string>());
                  names.insert(name.get<std::string>());
                });
  readArray(value, "divisions", field, [&](const json &each, const std::string &where) {
    if (!isObject(each, where, {"operation", "opfunc", "splits", "at"}))
      return;
    ScheduledDivision division;
    division.operation = static_cast<unsigned>(readNumber(each, "operation", where, 0).value_or(0));
    division.opFunc = readString(each, "opfunc", where).value_or("");
    if (!each.contains("splits"))
      fail(where + ".splits", "is missing");
    else if (each["splits"].is_object() && each["splits"].empty())
      fail(where + ".splits", "says nothing of any dim");
    else if (each["splits"].is_object())
      for (const auto &[dim, split] : each["splits"].items()) {
        if (!isNumber(split, 1))
          fail(where + ".splits." + dim, "a whole number from 1 on is wanted");
        else
          division.byDim[dim] = split.get<int64_t>();
      }
    else
      readArray(each, "splits", where, [&](const json &split, const std::string &at) {
        if (!isNumber(split, 1))
          return fail(at, "a whole number from 1 on is wanted");
        division.splits.push_back(split.get<int64_t>());
      });
    schedule.divisions.push_back(std::move(division));
  });
  std::vector<ScheduledNest> nests;
  if (readArray(value, "nests", field, [&](const json &each, const std::string &where) {
        nests.push_back(readNest(each, where));
        if (nests.size() > 1 && nests.back().scope.empty() &&
            nests[nests.size() - 2].scope.empty() &&
            nests.back().first <= nests[nests.size() - 2].last)
          fail(where + ".first", "comes before the end of the nest before it");
      }))
    schedule.nests = std::move(nests);
  std::vector<unsigned> lost;
  if (readArray(value, "lost", field, [&](const json &each, const std::string &where) {
        if (!isNumber(each, 0))
          return fail(where, "the number of an operation is wanted");
        lost.push_back(each.get<unsigned>());
      }))
    schedule.lost = std::move(lost);
  if (schedule.lost && !schedule.nests)
    fail(field + ".lost", "is said of nests, and there are none");
  readArray(value, "values", field, [&](const json &each, const std::string &where) {
    if (!isObject(each, where, {"result_of", "space", "address"}))
      return;
    ScheduledValue made;
    made.operation = static_cast<unsigned>(readNumber(each, "result_of", where, 0).value_or(0));
    std::string space = readString(each, "space", where).value_or("");
    if (space != "lx" && space != "memory")
      fail(where + ".space", "known spaces are lx and memory");
    for (const ScheduledValue &other : schedule.values)
      if (other.operation == made.operation)
        fail(where + ".result_of", "something is said of this result already");
    made.space = space == "lx" ? ScheduledSpace::LX : ScheduledSpace::Memory;
    made.address = readNumber(each, "address", where, 0, /*isRequired=*/false);
    if (made.address && space == "memory")
      fail(where + ".address", "is for results in LX; the compiler places those in memory");
    schedule.values.push_back(made);
  });
  readTime(value, "us", schedule.timeInNs);
  readTime(value, "bound_us", schedule.boundInNs);
  if (schedule.kind == "untiled" && schedule.nests && !schedule.nests->empty())
    fail(field + ".nests", "a plan of kind untiled has none");
  return schedule;
}

Schedules Reader::read(const std::string &text) {
  Schedules schedules;
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    fail("", "is not JSON");
    return schedules;
  }
  if (!isObject(value, "schedule", {"version", "functions"}))
    return schedules;
  std::optional<int64_t> version = readNumber(value, "version", "schedule", 1);
  if (version && *version != kVersion)
    fail("schedule.version", "this compiler reads version " + std::to_string(kVersion));
  if (!value.contains("functions")) {
    fail("schedule.functions", "is missing");
    return schedules;
  }
  if (isObject(value["functions"], "schedule.functions", {}))
    for (const auto &[name, each] : value["functions"].items())
      schedules[name] = readSchedule(each, name);
  return schedules;
}

std::variant<Schedules, std::vector<ScheduleError>> readSchedules(const std::string &text) {
  Reader reader;
  Schedules schedules = reader.read(text);
  if (!reader.errors.empty())
    return std::move(reader.errors);
  return schedules;
}

static ordered_json writeCuts(const std::vector<ScheduledCut> &cuts, const char *parts) {
  ordered_json array = ordered_json::array();
  for (const ScheduledCut &cut : cuts) {
    ordered_json each;
    if (cut.dim.name.empty()) {
      each["operation"] = cut.dim.operation;
      each["dim"] = cut.dim.dim;
    } else {
      each["dim"] = cut.dim.name;
    }
    each[parts] = cut.parts;
    array.push_back(std::move(each));
  }
  return array;
}

static ordered_json write(const ScheduledNest &nest) {
  ordered_json object;
  if (nest.scope.empty())
    object = {{"first", nest.first}, {"last", nest.last}};
  else
    object = {{"scope", nest.scope}};
  if (nest.isAlone)
    object["alone"] = true;
  if (nest.loops)
    object["loops"] = writeCuts(*nest.loops, "tiles");
  if (nest.cores)
    object["cores"] = writeCuts(*nest.cores, "slices");
  if (nest.loadsFactors)
    object["loads_factors"] = *nest.loadsFactors;
  if (nest.copies)
    object["copies"] = *nest.copies;
  if (nest.tiledInNs > 0 && std::isfinite(nest.untiledInNs)) {
    object["us"] = nest.tiledInNs / 1e3;
    object["untiled_us"] = nest.untiledInNs / 1e3;
  }
  return object;
}

/// \p value with objects and arrays of at most \p depth levels spread over lines.
static void print(const ordered_json &value, int depth, int indent, std::string &text) {
  if (depth == 0 || !value.is_structured() || value.empty()) {
    text += value.dump(-1, ' ', false, json::error_handler_t::replace);
    return;
  }
  const std::string margin(static_cast<size_t>(indent) + 2, ' ');
  text += value.is_object() ? "{" : "[";
  bool isFirst = true;
  for (const auto &[key, each] : value.items()) {
    text += (isFirst ? "\n" : ",\n") + margin;
    isFirst = false;
    if (value.is_object())
      text += ordered_json(key).dump(-1, ' ', false, json::error_handler_t::replace) + ": ";
    print(each, depth - 1, indent + 2, text);
  }
  text += "\n" + std::string(static_cast<size_t>(indent), ' ') + (value.is_object() ? "}" : "]");
}

std::string writeSchedules(const Schedules &schedules) {
  ordered_json functions = ordered_json::object();
  for (const auto &[name, schedule] : schedules) {
    ordered_json &object = functions[name] = ordered_json::object();
    if (!schedule.kind.empty())
      object["kind"] = schedule.kind;
    if (schedule.timeInNs > 0) {
      object["us"] = schedule.timeInNs / 1e3;
      object["bound_us"] = schedule.boundInNs / 1e3;
    }
    if (schedule.searchesLayouts)
      object["layouts"] = "searched";
    if (schedule.keepsDeviationsApart)
      object["deviations"] = "apart";
    if (!schedule.names.empty())
      object["names"] = schedule.names;
    if (!schedule.divisions.empty()) {
      ordered_json &divisions = object["divisions"] = ordered_json::array();
      for (const ScheduledDivision &division : schedule.divisions) {
        ordered_json each{{"operation", division.operation}};
        if (!division.opFunc.empty())
          each["opfunc"] = division.opFunc;
        if (division.byDim.empty())
          each["splits"] = division.splits;
        else
          each["splits"] = division.byDim;
        divisions.push_back(std::move(each));
      }
    }
    if (schedule.nests) {
      ordered_json &nests = object["nests"] = ordered_json::array();
      for (const ScheduledNest &nest : *schedule.nests)
        nests.push_back(write(nest));
    }
    if (schedule.lost)
      object["lost"] = *schedule.lost;
    if (!schedule.values.empty()) {
      ordered_json &values = object["values"] = ordered_json::array();
      for (const ScheduledValue &value : schedule.values) {
        ordered_json each{{"result_of", value.operation},
                          {"space", value.space == ScheduledSpace::LX ? "lx" : "memory"}};
        if (value.address)
          each["address"] = *value.address;
        values.push_back(std::move(each));
      }
    }
  }
  ordered_json root;
  root["version"] = kVersion;
  root["functions"] = std::move(functions);
  std::string text;
  print(root, 4, 0, text); // an operation or a nest a line
  return text + "\n";
}

} // namespace spyre::planning
