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
#include "spyre/SuperDSC/Standard.h"
#include "spyre/Support/ReadFile.h"

#include <algorithm>
#include <atomic>
#include <thread>

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

Result<sdsc::Descriptor> readDescriptorFile(const std::string &directory, const std::string &name) {
  if (name.empty() || name.find('/') != std::string::npos || name == "." || name == "..")
    return Error{directory + ": descriptor file '" + name + "' is not in the directory"};
  std::string file = directory + "/" + name;
  auto text = readTextFile(file);
  if (auto *error = std::get_if<Error>(&text))
    return *error;
  auto read = sdsc::readDescriptor(std::get<std::string>(text), "");
  if (auto *error = std::get_if<sdsc::ReadError>(&read))
    return Error{locate(file, error->where) + ": " + error->message};
  auto &descriptor = std::get<sdsc::Descriptor>(read);
  sdsc::padPartialSticks(descriptor);
  return std::move(descriptor);
}

/// Reads \p files, on several threads if they are many: it is most of the time that a
/// program takes to load. The error of the first file that has one.
std::optional<Error> readDescriptors(const std::string &directory,
                                     const std::vector<std::string> &files,
                                     std::map<std::string, sdsc::Descriptor> &descriptors) {
  constexpr size_t kFilesPerThread = 8, kMaxThreads = 8;
  std::vector<std::optional<Result<sdsc::Descriptor>>> read(files.size());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < files.size();)
      read[i].emplace(readDescriptorFile(directory, files[i]));
  };
  size_t numThreads = std::min({files.size() / kFilesPerThread, kMaxThreads,
                                size_t(std::max(1u, std::thread::hardware_concurrency()))});
  std::vector<std::thread> threads;
  while (threads.size() + 1 < numThreads)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  for (size_t i = 0; i < files.size(); ++i) {
    if (auto *error = std::get_if<Error>(&*read[i]))
      return *error;
    descriptors.emplace(files[i], std::move(std::get<sdsc::Descriptor>(*read[i])));
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
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  if (auto error = readDescriptors(directory, files, bundle.descriptors))
    return *error;
  return bundle;
}
