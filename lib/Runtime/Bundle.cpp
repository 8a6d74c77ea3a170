//===- Bundle.cpp - Reading a bundle directory ------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// plan.json, launch_spec.json and the descriptors that the plan launches.
//
//===----------------------------------------------------------------------===//

#include "spyre/Runtime/Runtime.h"
#include "spyre/SuperDSC/DescriptorJson.h"
#include "spyre/Support/ReadFile.h"

using namespace spyre;
using namespace spyre::runtime;

Result<std::string> spyre::runtime::readTextFile(const std::string &file) {
  auto bytes = readFile(file);
  if (auto *failure = std::get_if<ReadFailure>(&bytes))
    return Error{failure->message};
  return std::move(std::get<std::string>(bytes));
}

namespace {

std::string locate(const std::string &file, const std::string &where) {
  return where.empty() ? file : file + ":" + where;
}

/// Collects the descriptors that \p steps launch; checks loops and addresses.
std::optional<Error> collect(const std::vector<Step> &steps, const Plan &plan,
                             std::vector<std::string> &files) {
  for (const Step &step : steps) {
    if (const auto *loop = std::get_if<Loop>(&step.content)) {
      if (auto error = collect(loop->body, plan, files))
        return error;
      continue;
    }
    const Launch &launch = std::get<Launch>(step.content);
    files.push_back(launch.descriptor);
    for (const auto &[id, address] : launch.symbols) {
      if (address.base >= plan.numArguments)
        return Error{launch.descriptor + ": symbol " + std::to_string(id) + " refers to argument " +
                     std::to_string(address.base) + " of " + std::to_string(plan.numArguments)};
      if (address.base == AddressExpr::kPool && !plan.hasPool)
        return Error{launch.descriptor + ": symbol " + std::to_string(id) +
                     " refers to a pool that the plan does not have"};
    }
  }
  return std::nullopt;
}

} // namespace

Result<Bundle> spyre::runtime::loadBundle(const std::string &directory, std::optional<Plan> plan,
                                          std::optional<LaunchSpec> spec) {
  Bundle bundle;
  bundle.directory = directory;
  if (!plan) {
    std::string file = directory + "/plan.json";
    auto text = readTextFile(file);
    if (auto *error = std::get_if<Error>(&text))
      return *error;
    auto read = readPlan(std::get<std::string>(text));
    if (auto *error = std::get_if<FileError>(&read))
      return Error{locate(file, error->where) + ": " + error->message};
    plan = std::move(std::get<Plan>(read));
  }
  if (!spec) {
    std::string file = directory + "/launch_spec.json";
    auto text = readTextFile(file);
    if (auto *error = std::get_if<Error>(&text))
      return *error;
    auto read = readLaunchSpec(std::get<std::string>(text));
    if (auto *error = std::get_if<FileError>(&read))
      return Error{locate(file, error->where) + ": " + error->message};
    spec = std::move(std::get<LaunchSpec>(read));
  }
  bundle.plan = std::move(*plan);
  bundle.spec = std::move(*spec);
  if (bundle.spec.symbolicArguments &&
      int64_t(bundle.spec.arguments.size()) != bundle.plan.numArguments)
    return Error{directory + ": the function takes " + std::to_string(bundle.plan.numArguments) +
                 " arguments, but " + std::to_string(bundle.spec.arguments.size()) +
                 " are described"};
  std::vector<std::string> files;
  if (auto error = collect(bundle.plan.steps, bundle.plan, files))
    return Error{directory + "/plan.json: " + error->message};
  for (const std::string &name : files) {
    if (bundle.descriptors.count(name))
      continue;
    if (name.empty() || name.find('/') != std::string::npos || name == "." || name == "..")
      return Error{directory + ": descriptor file '" + name + "' is not in the directory"};
    std::string file = directory + "/" + name;
    auto text = readTextFile(file);
    if (auto *error = std::get_if<Error>(&text))
      return *error;
    auto read = sdsc::readDescriptor(std::get<std::string>(text), "");
    if (auto *error = std::get_if<sdsc::ReadError>(&read))
      return Error{locate(file, error->where) + ": " + error->message};
    bundle.descriptors.emplace(name, std::move(std::get<sdsc::Descriptor>(read)));
  }
  return bundle;
}
