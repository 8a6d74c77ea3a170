//===- ProgramRun.cpp - Running a program directory -----------------------===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loading and checking; the run itself is a session's (ProgramSession.cpp).
//
//===----------------------------------------------------------------------===//

#include "spyre/Runtime/ProgramRun.h"

#include "spyre/Runtime/ProgramSession.h"
#include "spyre/Support/Npz.h"

#include <set>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace spyre::runtime {

namespace {

const DeviceBuffer *findBuffer(const Program &program, const std::string &name) {
  for (const DeviceBuffer &buffer : program.buffers)
    if (buffer.name == name)
      return &buffer;
  return nullptr;
}

Result<HostTensor> readConstant(const std::string &directory, const ConstantArray &constant) {
  std::string file = directory + "/" + constant.file;
  auto read = npz::readNpy(file);
  if (auto *error = std::get_if<npz::Error>(&read))
    return Error{error->message};
  auto &array = std::get<npz::Array>(read);
  HostTensor tensor{constant.array.dtype, constant.array.shape, std::move(array.data)};
  if (array.shape != tensor.shape ||
      npz::getWidthInBytes(array.type) != getWidthInBytes(tensor.dtype))
    return Error{file + ": holds another shape or type than program.json says, " +
                 describeArray(tensor.dtype, tensor.shape)};
  return tensor;
}

} // namespace

Result<BufferLayouts> getBufferLayouts(const LoadedProgram &program) {
  BufferLayouts layouts;
  auto fail = [&](const std::string &message) {
    return Error{program.directory + "/program.json: " + message};
  };
  for (const ProgramStep &step : program.program.steps) {
    const auto *launch = std::get_if<LaunchBundle>(&step.content);
    if (!launch)
      continue;
    const Bundle &bundle = program.bundles.at(launch->bundle);
    const std::vector<ArgumentSpec> &arguments = bundle.spec.arguments;
    if (launch->buffers.size() != arguments.size())
      return fail(launch->bundle + " takes " + std::to_string(arguments.size()) +
                  " arguments, the launch passes " + std::to_string(launch->buffers.size()));
    for (size_t i = 0; i < arguments.size(); ++i) {
      const std::string &name = launch->buffers[i];
      bool isConstant = arguments[i].role == Role::Constant;
      if (name.empty() != isConstant)
        return fail("argument #" + std::to_string(i) + " of " + launch->bundle +
                    (isConstant ? " is a constant and takes no buffer" : " needs a buffer"));
      if (isConstant)
        continue;
      const DeviceBuffer *buffer = findBuffer(program.program, name);
      auto needed = getDeviceSizeInBytes(arguments[i]);
      if (auto *error = std::get_if<Error>(&needed))
        return *error;
      if (buffer->sizeInBytes < std::get<int64_t>(needed))
        return fail("buffer \"" + name + "\" has " + std::to_string(buffer->sizeInBytes) +
                    " bytes, argument #" + std::to_string(i) + " of " + launch->bundle + " needs " +
                    std::to_string(std::get<int64_t>(needed)));
      auto [it, isNew] = layouts.try_emplace(name, &arguments[i]);
      if (!isNew && !haveSameLayout(*it->second, arguments[i]))
        return fail("buffer \"" + name + "\" is passed in two layouts, " +
                    describeDifference(*it->second, arguments[i]));
    }
  }
  return layouts;
}

namespace {

Result<LoadedProgram> readProgramDirectory(const std::string &directory,
                                           const KernelReader &kernels) {
  LoadedProgram loaded;
  loaded.directory = directory;
  std::string file = directory + "/program.json";
  auto text = readTextFile(file);
  if (auto *error = std::get_if<Error>(&text))
    return *error;
  auto read = readProgram(std::get<std::string>(text));
  if (auto *error = std::get_if<FileError>(&read))
    return Error{file + (error->where.empty() ? "" : ":" + error->where) + ": " + error->message};
  loaded.program = std::move(std::get<Program>(read));
  bool hasKernels = loaded.program.target == "ktir";
  if (loaded.program.target != "superdsc" && (!hasKernels || !kernels))
    return Error{file + ": target \"" + loaded.program.target + "\" cannot be run here" +
                 (hasKernels ? "; spyre-run runs it" : "")};

  std::set<std::string> made;
  for (const HostArray &array : loaded.program.arguments)
    made.insert(array.name);
  for (const ConstantArray &constant : loaded.program.constants) {
    auto tensor = readConstant(directory, constant);
    if (auto *error = std::get_if<Error>(&tensor))
      return *error;
    made.insert(constant.array.name);
    loaded.constants[constant.array.name] = std::move(std::get<HostTensor>(tensor));
  }
  for (const ProgramStep &step : loaded.program.steps) {
    if (const auto *call = std::get_if<HostCall>(&step.content)) {
      std::string unknown;
      forEachArray(call->arguments, [&](const HostArgument::Array &array) {
        if (!made.count(array.name))
          unknown = array.name;
      });
      if (!unknown.empty())
        return Error{file + ": host call \"" + call->function + "\" reads array \"" + unknown +
                     "\", which no step has made"};
      for (const HostOutput &output : call->outputs)
        made.insert(output.array.name);
    }
    if (const auto *copyIn = std::get_if<CopyIn>(&step.content))
      if (!made.count(copyIn->array))
        return Error{file + ": a step copies array \"" + copyIn->array +
                     "\" to the device, which no step has made"};
    if (const auto *copyOut = std::get_if<CopyOut>(&step.content))
      made.insert(copyOut->array);
    const auto *launch = std::get_if<LaunchBundle>(&step.content);
    if (!launch || loaded.bundles.count(launch->bundle))
      continue;
    std::string folder = directory + "/" + launch->bundle;
    auto bundle = hasKernels ? loadKernelBundle(folder, kernels) : loadBundle(folder);
    if (auto *error = std::get_if<Error>(&bundle))
      return *error;
    loaded.bundles.emplace(launch->bundle, std::move(std::get<Bundle>(bundle)));
  }
  for (const HostArray &array : loaded.program.results)
    if (!made.count(array.name))
      return Error{file + ": no step makes the result \"" + array.name + "\""};
  auto layouts = getBufferLayouts(loaded);
  if (auto *error = std::get_if<Error>(&layouts))
    return *error;
  return loaded;
}

/// A directory held open, so that no other gets its number, and whether its path leads
/// to another one now.
class HeldDirectory {
public:
  explicit HeldDirectory(const std::string &path)
      : path(path), file(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}
  ~HeldDirectory() {
    if (file >= 0)
      ::close(file);
  }
  HeldDirectory(const HeldDirectory &) = delete;
  HeldDirectory &operator=(const HeldDirectory &) = delete;

  bool wasReplaced() const {
    struct stat held{}, named{};
    if (::stat(path.c_str(), &named) != 0)
      return false;
    return file < 0 || (::fstat(file, &held) == 0 &&
                        (held.st_ino != named.st_ino || held.st_dev != named.st_dev));
  }

private:
  std::string path;
  int file;
};

} // namespace

Result<LoadedProgram> loadProgram(const std::string &directory, const KernelReader &kernels) {
  // Whoever compiles into the directory meanwhile replaces it as a whole: files read
  // before and after that are of two programs, or missing.
  constexpr int kMostAttempts = 20;
  for (int attempt = 1;; ++attempt) {
    HeldDirectory held(directory);
    Result<LoadedProgram> loaded = readProgramDirectory(directory, kernels);
    if (!held.wasReplaced() || attempt == kMostAttempts)
      return loaded;
  }
}

std::optional<Error> checkCapacity(const LoadedProgram &program, const Device &device,
                                   bool countOnly) {
  for (const DeviceBuffer &buffer : program.program.buffers)
    if (buffer.sizeInBytes > device.getMemoryInBytes())
      return Error{program.directory + ": buffer \"" + buffer.name + "\" has " +
                   std::to_string(buffer.sizeInBytes) + " bytes, the device has " +
                   std::to_string(device.getMemoryInBytes())};
  for (const auto &[name, bundle] : program.bundles)
    if (auto error = checkCapacity(bundle, device, countOnly))
      return error;
  return std::nullopt;
}

Result<std::map<std::string, HostTensor>>
runProgram(Runtime &runtime, const LoadedProgram &loaded,
           const std::map<std::string, HostTensor> &inputs) {
  std::vector<const HostTensor *> arguments;
  for (const HostArray &array : loaded.program.arguments) {
    auto given = inputs.find(array.name);
    arguments.push_back(given == inputs.end() ? nullptr : &given->second);
  }
  auto session = ProgramSession::create(runtime, loaded, {.keepBuffers = false});
  if (auto *error = std::get_if<RunError>(&session))
    return Error{error->message};
  std::vector<HostTensor> results;
  if (auto error = std::get<std::unique_ptr<ProgramSession>>(session)->run(arguments, results))
    return Error{error->message};
  std::map<std::string, HostTensor> byName;
  for (size_t i = 0; i < results.size(); ++i)
    byName[loaded.program.results[i].name] = std::move(results[i]);
  return byName;
}

} // namespace spyre::runtime
