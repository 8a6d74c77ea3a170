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
#include <filesystem>
#include <thread>

using namespace spyre;
using namespace spyre::runtime;

std::string spyre::runtime::findLaunchSpec(const std::string &directory) {
  // The vendor's compiler has a folder of its own beside the descriptors.
  std::error_code ignored;
  std::string inside = directory + "/spyreCodeDir/launch_spec.json";
  return std::filesystem::exists(inside, ignored) ? inside : directory + "/launch_spec.json";
}

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
      if (address.base == AddressExpr::kSize && address.offsetInBytes >= int64_t(plan.sizes.size()))
        return Error{launch.descriptor + ": symbol " + std::to_string(id) + " refers to size " +
                     std::to_string(address.offsetInBytes) + " of " +
                     std::to_string(plan.sizes.size())};
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
    std::string file = findLaunchSpec(directory);
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
  for (const SizeParameter &size : bundle.plan.sizes)
    bundle.sizes.push_back(size.maxValue);
  return bundle;
}

Result<Bundle> spyre::runtime::loadKernelBundle(const std::string &directory,
                                                const KernelReader &reader) {
  Bundle bundle;
  bundle.directory = directory;
  std::string file = findLaunchSpec(directory);
  auto text = readTextFile(file);
  if (auto *error = std::get_if<Error>(&text))
    return *error;
  auto spec = readLaunchSpec(std::get<std::string>(text));
  if (auto *error = std::get_if<FileError>(&spec))
    return Error{locate(file, error->where) + ": " + error->message};
  bundle.spec = std::move(std::get<LaunchSpec>(spec));
  bundle.spec.symbolicArguments = true; // they lie wherever there is room
  bundle.plan.numArguments = int64_t(bundle.spec.arguments.size());
  bundle.plan.name = std::filesystem::path(directory).filename().string();
  auto kernel = reader(directory + "/" + kKernelFile);
  if (auto *error = std::get_if<Error>(&kernel))
    return *error;
  bundle.kernel = std::move(std::get<std::shared_ptr<const Kernel>>(kernel));
  return bundle;
}

/// Gives the symbolic dims of what \p steps launch the sizes of \p bundle.
static std::optional<Error> resize(Bundle &bundle, const std::vector<Step> &steps,
                                   std::map<std::pair<std::string, std::string>, int64_t> &seen) {
  for (const Step &step : steps) {
    if (const auto *loop = std::get_if<Loop>(&step.content)) {
      if (auto error = resize(bundle, loop->body, seen))
        return error;
      continue;
    }
    const Launch &launch = std::get<Launch>(step.content);
    sdsc::Descriptor &descriptor = bundle.descriptors.at(launch.descriptor);
    for (const sdsc::DimSymbols &entry : descriptor.dimSymbols)
      for (const auto &[id, expr] : launch.symbols) {
        std::optional<unsigned> position = descriptor.findDim(entry.dim);
        if (expr.base != AddressExpr::kSize || !position ||
            std::find(entry.symbols.begin(), entry.symbols.end(), id) == entry.symbols.end())
          continue;
        int64_t value = bundle.sizes[expr.offsetInBytes];
        sdsc::Dim &dim = descriptor.dims[*position];
        auto [known, isNew] = seen.try_emplace({launch.descriptor, entry.dim}, value);
        if (!isNew && known->second != value)
          return Error{launch.descriptor + ": dim " + entry.dim + " has the size " +
                       std::to_string(known->second) + " in one launch and " +
                       std::to_string(value) + " in another, which is not supported"};
        if (value % dim.numSlices != 0)
          return Error{launch.descriptor + ": dim " + entry.dim + " of size " +
                       std::to_string(value) + " has no " + std::to_string(dim.numSlices) +
                       " equal slices"};
        dim.size = value;
        dim.coreSize = value / dim.numSlices;
        dim.epilogueSize.reset();
      }
  }
  return std::nullopt;
}

std::optional<Error> spyre::runtime::setSizes(Bundle &bundle, const std::vector<int64_t> &values) {
  const std::vector<SizeParameter> &sizes = bundle.plan.sizes;
  if (values.size() != sizes.size())
    return Error{bundle.directory + ": " + std::to_string(values.size()) +
                 " sizes given, it takes " + std::to_string(sizes.size())};
  for (size_t i = 0; i < sizes.size(); ++i)
    if (values[i] < sizes[i].minValue || values[i] > sizes[i].maxValue ||
        values[i] % sizes[i].granularity != 0)
      return Error{bundle.directory + ": " + sizes[i].name + " is " + std::to_string(values[i]) +
                   "; it is a multiple of " + std::to_string(sizes[i].granularity) +
                   (sizes[i].minValue > 1 ? " from " + std::to_string(sizes[i].minValue) : "") +
                   " up to " + std::to_string(sizes[i].maxValue)};
  bundle.sizes = values;
  std::map<std::pair<std::string, std::string>, int64_t> seen;
  return resize(bundle, bundle.plan.steps, seen);
}
