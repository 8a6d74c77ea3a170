//===- PlanJson.cpp - Reading and writing plans and launch specs ----------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// plan.json and launch_spec.json, and the binding files of foreign bundles,
// which hold the same keys. Formats: docs/formats/plan.md, launch_spec.md.
//
//===----------------------------------------------------------------------===//

#include "spyre/Artifact/Plan.h"

#include "FileJson.h"

#include "spyre/Support/JsonReader.h"
#include "spyre/Support/JsonWriter.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cmath>
#include <set>

namespace spyre::artifact {

using json::Cursor;

namespace {

constexpr int64_t kMaxArguments = 1 << 20;

//===----------------------------------------------------------------------===//
// plan.json
//===----------------------------------------------------------------------===//

class PlanReader {
public:
  explicit PlanReader(Plan &plan) : plan(plan) {}

  void read(const Cursor &root) {
    checkVersion(root, Plan::kVersion);
    plan.name = root.at("name").getString();
    plan.numArguments = root.at("arguments").getInt(0, kMaxArguments);
    plan.hasPool = root.at("pool").getBool();
    plan.poolInBytes = root.at("pool_bytes").getInt(0, kMaxSize);
    if (std::optional<Cursor> sizes = root.find("sizes"))
      for (const Cursor &entry : sizes->elements()) {
        SizeParameter size;
        size.name = entry.at("name").getString();
        size.position = entry.at("position").getInt(0, plan.numArguments);
        size.granularity = entry.at("granularity").getInt(1, kMaxSize);
        size.maxValue = entry.at("max").getInt(1, kMaxSize);
        if (std::optional<Cursor> least = entry.find("min"))
          size.minValue = least->getInt(1, size.maxValue);
        if (size.granularity >= 1 && size.maxValue % size.granularity != 0)
          entry.fail("the granularity does not divide the largest value");
        plan.sizes.push_back(std::move(size));
      }
    readSteps(root.at("steps"), 0, plan.steps);
  }

private:
  void readSteps(const Cursor &list, size_t numLoops, std::vector<Step> &steps) {
    for (const Cursor &entry : list.elements()) {
      std::optional<Cursor> count = entry.find("loop");
      if (!count) {
        steps.push_back({readLaunch(entry, numLoops)});
        continue;
      }
      Loop loop;
      loop.count = readCount(*count);
      // The parser limits the nesting, so the recursion ends.
      readSteps(entry.at("body"), numLoops + 1, loop.body);
      steps.push_back({std::move(loop)});
    }
  }

  /// A number, or {"plus": 63, "sizes": [{"size": 0, "times": 1}], "per": 64}.
  TripCount readCount(const Cursor &entry) {
    if (!entry.isObject())
      return entry.getInt(0, kMaxSize);
    TripCount count;
    if (std::optional<Cursor> constant = entry.find("plus"))
      count.constant = constant->getInt(-kMaxSize, kMaxSize);
    if (std::optional<Cursor> divisor = entry.find("per"))
      count.divisor = divisor->getInt(1, kMaxSize);
    // Bounded so that no sum overflows.
    constexpr int64_t kMaxFactor = int64_t(1) << 12, kMaxTerms = 4;
    for (const Cursor &term : entry.at("sizes").elements()) {
      int64_t size = term.at("size").getInt(0, static_cast<int64_t>(plan.sizes.size()) - 1);
      int64_t factor = 1;
      if (std::optional<Cursor> times = term.find("times"))
        factor = times->getInt(-kMaxFactor, kMaxFactor);
      count.terms.emplace_back(size, factor);
      if (count.terms.size() > kMaxTerms) {
        term.fail("more than " + std::to_string(kMaxTerms) + " sizes");
        break;
      }
    }
    // Without sizes it is a number.
    return count.isConstant() ? TripCount(count.evaluate({})) : count;
  }

  Launch readLaunch(const Cursor &entry, size_t numLoops) {
    Launch launch;
    Cursor file = entry.at("launch");
    launch.descriptor = file.getString();
    const std::string &name = launch.descriptor;
    if (name.empty() || name == "." || name == ".." ||
        name.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos)
      file.fail("\"" + name + "\" is no file name inside the bundle directory");
    std::set<int64_t> ids;
    for (const Cursor &symbol : entry.at("symbols").elements()) {
      Cursor id = symbol.at("id");
      int64_t value = id.getInt(std::numeric_limits<int64_t>::min(), -1);
      if (!ids.insert(value).second)
        id.fail("symbol " + std::to_string(value) + " is bound twice");
      launch.symbols.emplace_back(value, readAddress(symbol, numLoops));
    }
    return launch;
  }

  AddressExpr readAddress(const Cursor &symbol, size_t numLoops) {
    AddressExpr address;
    Cursor base = symbol.at("base");
    if (base.isString()) {
      std::string name = base.getString();
      if (name == "pool" && plan.hasPool)
        address.base = AddressExpr::kPool;
      else if (name == "pool")
        base.fail("the plan has no pool");
      else if (name == "absolute")
        address.base = AddressExpr::kAbsolute;
      else if (name == "size" && !plan.sizes.empty())
        address.base = AddressExpr::kSize;
      else
        base.fail("unknown base \"" + name + "\": an argument's number, \"pool\" or \"absolute\"");
    } else {
      address.base = base.getInt(0, std::max<int64_t>(plan.numArguments - 1, 0));
      if (base.isValid() && plan.numArguments == 0)
        base.fail("the plan has no arguments");
    }
    if (std::optional<Cursor> offset = symbol.find("offset"))
      address.offsetInBytes = offset->getInt(-kMaxSize, kMaxSize);
    if (address.base == AddressExpr::kSize &&
        (address.offsetInBytes < 0 || address.offsetInBytes >= int64_t(plan.sizes.size())))
      symbol.fail("there is no size " + std::to_string(address.offsetInBytes));
    if (std::optional<Cursor> strides = symbol.find("stride")) {
      for (const Cursor &stride : strides->elements())
        address.strideInBytes.push_back(stride.getInt(-kMaxSize, kMaxSize));
      if (address.strideInBytes.size() > numLoops)
        strides->fail("more strides than the " + std::to_string(numLoops) + " enclosing loops");
      while (!address.strideInBytes.empty() && address.strideInBytes.back() == 0)
        address.strideInBytes.pop_back();
    }
    return address;
  }

  Plan &plan;
};

void writeSteps(const std::vector<Step> &steps, json::Writer &w);

void writeLaunch(const Launch &launch, json::Writer &w) {
  w.field("launch", launch.descriptor);
  w.key("symbols");
  w.beginArray();
  for (const auto &[id, address] : launch.symbols) {
    w.beginObject();
    w.field("id", id);
    w.key("base");
    if (address.base == AddressExpr::kPool)
      w.value("pool");
    else if (address.base == AddressExpr::kAbsolute)
      w.value("absolute");
    else if (address.base == AddressExpr::kSize)
      w.value("size");
    else
      w.value(address.base);
    if (address.offsetInBytes != 0)
      w.field("offset", address.offsetInBytes);
    size_t size = address.strideInBytes.size();
    while (size > 0 && address.strideInBytes[size - 1] == 0)
      --size;
    if (size > 0)
      w.listField("stride", std::vector<int64_t>(address.strideInBytes.begin(),
                                                 address.strideInBytes.begin() +
                                                     static_cast<ptrdiff_t>(size)));
    w.endObject();
  }
  w.endArray();
}

void writeCount(const TripCount &count, json::Writer &w) {
  if (count.isConstant()) {
    w.field("loop", count.constant);
    return;
  }
  w.key("loop");
  w.beginObject();
  if (count.constant != 0)
    w.field("plus", count.constant);
  w.key("sizes");
  w.beginArray();
  for (auto [size, factor] : count.terms) {
    w.beginObject();
    w.field("size", size);
    if (factor != 1)
      w.field("times", factor);
    w.endObject();
  }
  w.endArray();
  if (count.divisor != 1)
    w.field("per", count.divisor);
  w.endObject();
}

/// Whether version 1 can say it.
bool isOfVersion1(const std::vector<Step> &steps) {
  return std::all_of(steps.begin(), steps.end(), [](const Step &step) {
    const auto *loop = std::get_if<Loop>(&step.content);
    return !loop || (loop->count.isConstant() && isOfVersion1(loop->body));
  });
}
bool isOfVersion1(const Plan &plan) {
  return isOfVersion1(plan.steps) &&
         std::all_of(plan.sizes.begin(), plan.sizes.end(),
                     [](const SizeParameter &size) { return size.minValue == 1; });
}

void writeSteps(const std::vector<Step> &steps, json::Writer &w) {
  w.beginArray();
  for (const Step &step : steps) {
    w.beginObject();
    if (const auto *loop = std::get_if<Loop>(&step.content)) {
      writeCount(loop->count, w);
      w.key("body");
      writeSteps(loop->body, w);
    } else {
      writeLaunch(std::get<Launch>(step.content), w);
    }
    w.endObject();
  }
  w.endArray();
}

//===----------------------------------------------------------------------===//
// launch_spec.json and binding files
//===----------------------------------------------------------------------===//

constexpr std::pair<Role, const char *> kRoles[] = {{Role::Input, "input"},
                                                    {Role::Output, "output"},
                                                    {Role::InputOutput, "input_output"},
                                                    {Role::Constant, "constant"}};

/// "in3" or "out0": \p prefix and a number without leading zeros.
bool isArrayName(const std::string &name, std::string_view prefix) {
  if (name.size() <= prefix.size() || name.compare(0, prefix.size(), prefix) != 0)
    return false;
  std::optional<int64_t> number = json::parseDecimal(name.substr(prefix.size()));
  return number && *number >= 0 && name == std::string(prefix) + std::to_string(*number);
}

std::string readArrayName(const Cursor &field, std::string_view prefix) {
  std::string name = field.getString();
  if (!isArrayName(name, prefix))
    field.fail("\"" + name + "\" is no array name: expected \"" + std::string(prefix) +
               "<number>\"");
  return name;
}

double readValue(const Cursor &field) {
  if (!field.isString())
    return field.getDouble();
  std::string text = field.getString();
  if (text == "inf" || text == "+inf")
    return INFINITY;
  if (text == "-inf")
    return -INFINITY;
  if (text == "nan")
    return NAN;
  field.fail("expected a number, \"inf\", \"-inf\" or \"nan\", found \"" + text + "\"");
  return 0;
}

ArgumentSpec readArgument(const Cursor &entry) {
  ArgumentSpec spec;
  Cursor role = entry.at("role");
  std::string roleName = role.getString();
  bool found = false;
  for (auto [candidate, name] : kRoles)
    if (roleName == name) {
      spec.role = candidate;
      found = true;
    }
  if (!found)
    role.fail("unknown role \"" + roleName + "\"");

  switch (spec.role) {
  case Role::Input:
    // The program's argument, or a constant that is an array (program.json has its file).
    spec.array = isArrayName(entry.at("array").getString(), "const")
                     ? entry.at("array").getString()
                     : readArrayName(entry.at("array"), "in");
    break;
  case Role::Output:
    spec.array = readArrayName(entry.at("array"), "out");
    break;
  case Role::InputOutput:
    spec.array = readArrayName(entry.at("array"), "in");
    spec.result = readArrayName(entry.at("result"), "out");
    break;
  case Role::Constant:
    spec.value = readValue(entry.at("value"));
    break;
  }

  spec.shape = readSizes(entry.at("shape"), 0);
  Cursor dtype = entry.at("dtype");
  std::optional<HostType> hostType = parseHostType(dtype.getString());
  if (!hostType)
    dtype.fail("unknown dtype \"" + dtype.getString() + "\"");
  else
    spec.dtype = *hostType;
  if (std::optional<Cursor> strides = entry.find("stride")) {
    spec.strideInElements.emplace();
    for (const Cursor &stride : strides->elements())
      spec.strideInElements->push_back(stride.getInt(-kMaxSize, kMaxSize));
    if (spec.strideInElements->size() != spec.shape.size())
      strides->fail("expected a stride for each of " + std::to_string(spec.shape.size()) + " dims");
  }
  spec.deviceSize = readSizes(entry.at("device_size"), 1);
  Cursor strideMap = entry.at("stride_map");
  for (const Cursor &stride : strideMap.elements())
    spec.strideMap.push_back(stride.getInt(-1, kMaxSize));
  if (strideMap.isValid() && spec.strideMap.size() != spec.deviceSize.size())
    strideMap.fail("expected a stride for each of " + std::to_string(spec.deviceSize.size()) +
                   " device dims");
  Cursor format = entry.at("device_dtype");
  std::optional<DataFormat> deviceFormat = parseFormat(format.getString());
  if (!deviceFormat)
    format.fail("unknown data format \"" + format.getString() + "\"");
  else
    spec.deviceFormat = *deviceFormat;
  if (std::optional<Cursor> arrangement = entry.find("element_arrangement"))
    spec.elementArrangement = arrangement->getString();
  if (std::optional<Cursor> overflow = entry.find("overflow")) {
    spec.overflowIsInfinite = overflow->getString() == "infinite";
    if (!spec.overflowIsInfinite)
      overflow->fail("expected \"infinite\"");
  }
  if (std::optional<Cursor> tail = entry.find("tail"))
    spec.tail = tail->getString();
  if (std::optional<Cursor> view = entry.find("view"))
    spec.view = readSizes(*view, 0);
  return spec;
}

/// The last part of a dotted name: "torch.float16" and "DataFormats.SEN169_FP16".
std::string getLastPart(const std::string &name) {
  size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

/// An entry of `args` of the neutral form; its layout is an object of its own.
ArgumentSpec readNeutralArgument(const Cursor &entry) {
  ArgumentSpec spec;
  Cursor role = entry.at("role");
  std::string roleName = role.getString();
  if (roleName == "input")
    spec.role = Role::Input;
  else if (roleName == "output")
    spec.role = Role::Output;
  else if (roleName == "input_output")
    spec.role = Role::InputOutput;
  else
    role.fail("unknown role \"" + roleName + "\"");
  spec.shape = readSizes(entry.at("shape"), 0);
  Cursor dtype = entry.at("dtype");
  if (std::optional<HostType> type = parseHostType(getLastPart(dtype.getString())))
    spec.dtype = *type;
  else
    dtype.fail("unknown dtype \"" + dtype.getString() + "\"");
  Cursor layout = entry.at("layout");
  spec.deviceSize = readSizes(layout.at("device_size"), 1);
  Cursor strideMap = layout.at("stride_map");
  for (const Cursor &stride : strideMap.elements())
    spec.strideMap.push_back(stride.getInt(-1, kMaxSize));
  if (strideMap.isValid() && spec.strideMap.size() != spec.deviceSize.size())
    strideMap.fail("expected a stride for each of " + std::to_string(spec.deviceSize.size()) +
                   " device dims");
  Cursor format = layout.at("device_dtype");
  if (std::optional<DataFormat> found = parseFormat(getLastPart(format.getString())))
    spec.deviceFormat = *found;
  else
    format.fail("unknown data format \"" + format.getString() + "\"");
  if (std::optional<Cursor> arrangement = layout.find("element_arrangement");
      arrangement && arrangement->isString()) {
    std::string name = getLastPart(arrangement->getString());
    for (char &c : name)
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (name != "standard")
      spec.elementArrangement = name;
  }
  return spec;
}

/// The form without a runtime of ours in mind: `args` in any order, names counted.
void readNeutralSpec(const Cursor &root, LaunchSpec &spec) {
  if (std::optional<Cursor> symbolic = root.find("bundle_symbolic_args"))
    spec.symbolicArguments = symbolic->getBool();
  if (std::optional<Cursor> name = root.find("kernel_name"))
    spec.kernelName = name->getString();
  if (std::optional<Cursor> pool = root.find("pool_size"))
    spec.poolInBytes = pool->getInt(0, kMaxSize);
  std::vector<std::pair<int64_t, ArgumentSpec>> arguments;
  for (const Cursor &entry : root.at("args").elements()) {
    Cursor index = entry.at("arg_index");
    int64_t number = index.getInt(0, kMaxArguments);
    for (const auto &[other, argument] : arguments)
      if (other == number)
        index.fail("argument " + std::to_string(number) + " is there twice");
    arguments.emplace_back(number, readNeutralArgument(entry));
  }
  std::sort(arguments.begin(), arguments.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
  int64_t numInputs = 0, numOutputs = 0;
  for (auto &[number, argument] : arguments) {
    bool isRead = argument.role != Role::Output;
    std::string out = argument.role == Role::Input ? "" : "out" + std::to_string(numOutputs++);
    argument.array = isRead ? "in" + std::to_string(numInputs++) : out;
    if (argument.role == Role::InputOutput)
      argument.result = out;
    spec.arguments.push_back(std::move(argument));
  }
}

} // namespace

int64_t TripCount::evaluate(const std::vector<int64_t> &sizes) const {
  int64_t sum = constant;
  for (auto [size, factor] : terms)
    sum += factor * sizes[static_cast<size_t>(size)];
  return sum <= 0 ? 0 : (sum - 1) / divisor + 1;
}

std::variant<Plan, FileError> readPlan(std::string_view json) {
  return readDocument<Plan>(json,
                            [](const Cursor &root, Plan &plan) { PlanReader(plan).read(root); });
}

void writePlan(const Plan &plan, std::ostream &os, bool pretty) {
  json::Writer w(os, pretty);
  w.beginObject();
  w.field("version", isOfVersion1(plan) ? int64_t(1) : Plan::kVersion);
  w.field("name", plan.name);
  w.field("arguments", plan.numArguments);
  w.field("pool", plan.hasPool);
  w.field("pool_bytes", plan.poolInBytes);
  if (!plan.sizes.empty()) {
    w.key("sizes");
    w.beginArray();
    for (const SizeParameter &size : plan.sizes) {
      w.beginObject();
      w.field("name", size.name);
      w.field("position", size.position);
      w.field("granularity", size.granularity);
      if (size.minValue != 1)
        w.field("min", size.minValue);
      w.field("max", size.maxValue);
      w.endObject();
    }
    w.endArray();
  }
  w.key("steps");
  writeSteps(plan.steps, w);
  w.endObject();
}

std::variant<LaunchSpec, FileError> readLaunchSpec(std::string_view json) {
  return readDocument<LaunchSpec>(json, [](const Cursor &root, LaunchSpec &spec) {
    if (root.find("args") && !root.find("arguments"))
      return readNeutralSpec(root, spec);
    checkVersion(root, LaunchSpec::kVersion);
    // Binding files of foreign bundles have neither of these two.
    if (std::optional<Cursor> name = root.find("kernel_name"))
      spec.kernelName = name->getString();
    if (std::optional<Cursor> symbolic = root.find("bundle_symbolic_args"))
      spec.symbolicArguments = symbolic->getBool();
    if (std::optional<Cursor> pool = root.find("pool_bytes"))
      spec.poolInBytes = pool->getInt(0, kMaxSize);
    for (const Cursor &entry : root.at("arguments").elements())
      spec.arguments.push_back(readArgument(entry));
  });
}

void writeLaunchSpec(const LaunchSpec &spec, std::ostream &os, bool pretty) {
  json::Writer w(os, pretty);
  w.beginObject();
  w.field("version", LaunchSpec::kVersion);
  w.field("kernel_name", spec.kernelName);
  w.field("pool_bytes", spec.poolInBytes);
  w.field("bundle_symbolic_args", spec.symbolicArguments);
  w.key("arguments");
  w.beginArray();
  for (const ArgumentSpec &argument : spec.arguments) {
    w.beginObject();
    for (auto [role, name] : kRoles)
      if (role == argument.role)
        w.field("role", name);
    if (!argument.array.empty())
      w.field("array", argument.array);
    if (!argument.result.empty())
      w.field("result", argument.result);
    w.listField("shape", argument.shape);
    w.field("dtype", getHostTypeName(argument.dtype));
    if (argument.strideInElements)
      w.listField("stride", *argument.strideInElements);
    w.listField("device_size", argument.deviceSize);
    w.listField("stride_map", argument.strideMap);
    w.field("device_dtype", getFormatName(argument.deviceFormat));
    if (argument.value)
      w.field("value", *argument.value);
    if (!argument.elementArrangement.empty())
      w.field("element_arrangement", argument.elementArrangement);
    if (!argument.tail.empty())
      w.field("tail", argument.tail);
    if (argument.overflowIsInfinite)
      w.field("overflow", "infinite");
    if (!argument.view.empty())
      w.listField("view", argument.view);
    w.endObject();
  }
  w.endArray();
  w.endObject();
}

} // namespace spyre::artifact
