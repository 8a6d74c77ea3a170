//===- Runtime.cpp - Launching bundles --------------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies, launches by plan, whole runs of one bundle, streams.
//
//===----------------------------------------------------------------------===//

#include "spyre/Runtime/Runtime.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <unistd.h>

using namespace spyre;
using namespace spyre::runtime;

Runtime::Runtime(Device device, EmulatorOptions options) : emulator(std::move(device), options) {}

Runtime::~Runtime() = default;

Result<int64_t> Runtime::allocate(int64_t sizeInBytes, const std::string &name) {
  return emulator.getMemory().allocate(sizeInBytes, name);
}

void Runtime::free(int64_t address) {
  emulator.getMemory().free(address);
  layouts.erase(address);
}

namespace {

struct Target {
  Block *block = nullptr;
  int64_t offset = 0;
};

/// The memory of a buffer that must hold \p spec.
Result<Target> findBuffer(Emulator &emulator, const ArgumentSpec &spec, int64_t address) {
  auto size = getDeviceSizeInBytes(spec);
  if (auto *error = std::get_if<Error>(&size))
    return *error;
  int64_t start = 0;
  Block *block = emulator.getMemory().find(address, start);
  std::string name = spec.array.empty() ? "constant" : spec.array;
  if (!block)
    return Error{name + ": no buffer at address " + std::to_string(address)};
  if (address - start + std::get<int64_t>(size) > block->getSizeInBytes())
    return Error{name + ": the buffer at address " + std::to_string(address) + " has " +
                 std::to_string(block->getSizeInBytes() - (address - start)) +
                 " bytes, its layout needs " + std::to_string(std::get<int64_t>(size))};
  return Target{block, address - start};
}

/// The host has written \p size bytes, all of them elements or all of them padding.
void markWritten(Emulator &emulator, const Target &target, int64_t size, const ArgumentSpec &spec,
                 bool isPadding) {
  if (!target.block->isShadowed())
    return;
  WriteRecord record;
  record.op = spec.role == Role::Constant ? "the launch" : "copy-in of " + spec.array;
  record.tensor = spec.role == Role::Constant ? "a constant" : spec.array;
  record.format = spec.deviceFormat;
  record.isRead = true;
  int32_t writer = emulator.addWrite(std::move(record));
  for (int64_t at = target.offset; at < target.offset + size; at += kStickInBytes) {
    StickShadow &shadow = target.block->getShadow(at / kStickInBytes);
    shadow.written.set();
    shadow.undefined.reset();
    isPadding ? shadow.padding.set() : shadow.padding.reset();
    shadow.owner = -1;
    shadow.writer = writer;
  }
}

/// Bytes of padding in which an element lies.
void unmarkPadding(const Target &target, int64_t offset, int64_t size) {
  for (int64_t at = target.offset + offset; at < target.offset + offset + size; ++at)
    target.block->getShadow(at / kStickInBytes).padding.reset(at % kStickInBytes);
}

} // namespace

void Runtime::note(cost::TimelineEvent::Kind kind, const std::string &name,
                   const std::string &where, int64_t readInBytes, int64_t writtenInBytes) {
  if (progress) {
    int64_t bytes = readInBytes + writtenInBytes;
    progress(name + " " + where + (bytes ? ", " + std::to_string(bytes) + " bytes" : ""));
  }
  cost::TimelineEvent event;
  event.kind = kind;
  event.name = name;
  event.where = where;
  event.readInBytes = readInBytes;
  event.writtenInBytes = writtenInBytes;
  emulator.addEvent(std::move(event));
}

std::optional<Error> Runtime::copyIn(const ArgumentSpec &spec, const HostTensor &host,
                                     int64_t address, NumberCounts *counts) {
  auto target = findBuffer(emulator, spec, address);
  if (auto *error = std::get_if<Error>(&target))
    return *error;
  Target to = std::get<Target>(target);
  layouts[address] = spec;
  note(cost::TimelineEvent::Transfer, "copy in", spec.array, 0,
       std::get<int64_t>(getDeviceSizeInBytes(spec)));
  if (emulator.getOptions().countOnly)
    return std::nullopt;
  markWritten(emulator, to, std::get<int64_t>(getDeviceSizeInBytes(spec)), spec,
              /*isPadding=*/true);
  RunCallback wrote;
  if (to.block->isShadowed())
    wrote = [&](int64_t offset, int64_t size) { unmarkPadding(to, offset, size); };
  return copyToDevice(spec, host, to.block->getData() + to.offset, wrote, counts);
}

std::optional<Error> Runtime::copyOut(const ArgumentSpec &spec, int64_t address, HostTensor &host,
                                      NumberCounts *counts) {
  auto target = findBuffer(emulator, spec, address);
  if (auto *error = std::get_if<Error>(&target))
    return *error;
  Target from = std::get<Target>(target);
  auto held = layouts.find(address);
  if (held != layouts.end() && !haveSameLayout(held->second, spec))
    return Error{spec.array + ": the buffer holds " + describeDifference(held->second, spec)};
  note(cost::TimelineEvent::Transfer, "copy out", spec.array,
       std::get<int64_t>(getDeviceSizeInBytes(spec)), 0);
  if (emulator.getOptions().countOnly)
    return std::nullopt;
  host = HostTensor::create(spec.dtype, spec.shape);
  std::function<void(int64_t, int64_t)> check;
  bool reportedUnwritten = false, reportedUndefined = false;
  if (from.block->isShadowed())
    check = [&](int64_t offset, int64_t bytes) {
      for (int64_t at = offset; at < offset + bytes; ++at) {
        int64_t where = from.offset + at;
        const StickShadow &shadow = from.block->getShadow(where / kStickInBytes);
        if (shadow.writer >= 0)
          emulator.getWrite(shadow.writer).isRead = true;
        if (shadow.written.all() && shadow.undefined.none()) {
          at += kStickInBytes - 1 - where % kStickInBytes;
          continue;
        }
        if (!shadow.written[where % kStickInBytes] && !reportedUnwritten) {
          reportedUnwritten = true;
          emulator.report({ReportKind::NeverWritten, "copy-out of " + spec.array, -1, address + at,
                           spec.array + " reads memory that nobody wrote", spec.array});
        } else if (shadow.undefined[where % kStickInBytes] && !reportedUndefined) {
          reportedUndefined = true;
          emulator.report({ReportKind::Undefined, "copy-out of " + spec.array, -1, address + at,
                           spec.array + " reads a lane that no operation defined", spec.array});
        }
      }
    };
  return copyToHost(spec, from.block->getData() + from.offset, host, check, counts);
}

/// Symbols that are bound twice, or that the descriptor does not have.
std::optional<Error> Runtime::checkSymbols(const sdsc::Descriptor &descriptor,
                                           const std::vector<std::pair<int64_t, int64_t>> &bound,
                                           const std::string &name) {
  auto findOwner = [&](int64_t id) -> std::pair<std::string, int> {
    for (const sdsc::Tensor &tensor : descriptor.tensors)
      for (size_t core = 0; core < tensor.startAddress.size() && tensor.symbolicAddress; ++core)
        if (tensor.startAddress[core] == id)
          return {tensor.name, static_cast<int>(core)};
    return {"", -1};
  };
  for (size_t i = 1; i < bound.size(); ++i)
    if (bound[i].first == bound[i - 1].first) {
      auto [tensor, core] = findOwner(bound[i].first);
      return Error{name + ": " + (tensor.empty() ? "" : tensor + ": ") + "symbol " +
                   std::to_string(bound[i].first) + " is bound twice, to address " +
                   std::to_string(bound[i - 1].second) + " and to " +
                   std::to_string(bound[i].second) +
                   (core < 0 ? "" : ", for core " + std::to_string(core))};
    }
  if (!emulator.getOptions().checked)
    return std::nullopt;
  std::set<int64_t> used;
  for (const sdsc::Tensor &tensor : descriptor.tensors)
    used.insert(tensor.startAddress.begin(), tensor.startAddress.end());
  for (const sdsc::DimSymbols &entry : descriptor.dimSymbols)
    used.insert(entry.symbols.begin(), entry.symbols.end());
  for (const auto &[id, address] : bound)
    if (!used.count(id)) {
      emulator.report({ReportKind::StaleSymbol, name, -1, address,
                       "symbol " + std::to_string(id) +
                           " is bound, but no operand of the descriptor starts there",
                       "symbol " + std::to_string(id)});
      break;
    }
  return std::nullopt;
}

std::optional<Error> Runtime::runSteps(const Bundle &bundle, const std::vector<Step> &steps,
                                       const std::vector<int64_t> &arguments, int64_t pool,
                                       std::vector<int64_t> &loopVariables,
                                       std::shared_ptr<Schedule> *kept) {
  std::vector<LaunchRequest> launches;
  auto flush = [&](bool isEnd = false) -> std::optional<Error> {
    auto error = emulator.execute(std::move(launches), isEnd, isEnd ? kept : nullptr);
    launches.clear();
    return error ? std::optional(Error{bundle.directory + "/" + error->message}) : std::nullopt;
  };
  for (const Step &step : steps) {
    if (const auto *loop = std::get_if<Loop>(&step.content)) {
      if (auto error = flush())
        return error;
      loopVariables.push_back(0);
      for (int64_t i = 0, e = loop->count.evaluate(bundle.sizes); i < e; ++i) {
        loopVariables.back() = i;
        if (auto error = runSteps(bundle, loop->body, arguments, pool, loopVariables, kept))
          return error;
      }
      loopVariables.pop_back();
      continue;
    }
    const Launch &launch = std::get<Launch>(step.content);
    auto descriptor = bundle.descriptors.find(launch.descriptor);
    if (descriptor == bundle.descriptors.end())
      return Error{bundle.directory + "/" + launch.descriptor + ": not loaded"};
    std::vector<std::pair<int64_t, int64_t>> bound;
    for (const auto &[id, expr] : launch.symbols) {
      int64_t address = expr.offsetInBytes;
      if (expr.base == AddressExpr::kSize)
        address = bundle.sizes[expr.offsetInBytes];
      else if (expr.base == AddressExpr::kPool)
        address += pool;
      else if (expr.base >= 0)
        address += arguments[expr.base];
      for (size_t l = 0; l < expr.strideInBytes.size() && l < loopVariables.size(); ++l)
        address += expr.strideInBytes[l] * loopVariables[l];
      bound.emplace_back(id, address);
    }
    std::sort(bound.begin(), bound.end());
    std::string name = launch.descriptor + " (" + descriptor->second.opFunc + ")";
    for (size_t l = 0; l < loopVariables.size(); ++l)
      name += (l ? ", " : ", iteration ") + std::to_string(loopVariables[l]);
    if (auto error = checkSymbols(descriptor->second, bound, name))
      return Error{bundle.directory + "/" + error->message};
    LaunchRequest request{
        &descriptor->second, std::move(name), {}, bundle.memory.isVerified.load()};
    request.symbols = [bound = std::move(bound)](int64_t id) -> std::optional<int64_t> {
      auto it = std::lower_bound(bound.begin(), bound.end(), std::pair(id, INT64_MIN));
      if (it == bound.end() || it->first != id)
        return std::nullopt;
      return it->second;
    };
    launches.push_back(std::move(request));
    // Reports come in the order of the operations.
    if (emulator.getOptions().checked)
      if (auto error = flush())
        return error;
  }
  return flush(/*isEnd=*/loopVariables.empty());
}

/// Whether a buffer an argument is there, large enough, and laid out as the bundle
/// takes it.
std::optional<Error> Runtime::checkArguments(const Bundle &bundle,
                                             const std::vector<int64_t> &arguments) {
  const std::vector<ArgumentSpec> &specs = bundle.spec.arguments;
  if (arguments.size() != specs.size()) {
    std::string names;
    for (const ArgumentSpec &spec : specs)
      names += (names.empty() ? " (" : ", ") + (spec.array.empty() ? "a constant" : spec.array);
    return Error{std::to_string(arguments.size()) + " arguments given, it takes " +
                 std::to_string(specs.size()) + (names.empty() ? "" : names + ")")};
  }
  for (size_t k = 0; k < specs.size(); ++k) {
    std::string who = "argument " + std::to_string(k) +
                      (specs[k].array.empty() ? "" : " (" + specs[k].array + ")");
    if (arguments[k] < 0) {
      if (specs[k].role != Role::Constant)
        return Error{who + " has no buffer; it takes " + describeLayout(specs[k])};
      continue;
    }
    auto target = findBuffer(emulator, specs[k], arguments[k]);
    if (auto *error = std::get_if<Error>(&target))
      return Error{"argument " + std::to_string(k) + ": " + error->message};
    auto held = layouts.find(arguments[k]);
    if (specs[k].role != Role::Output && held != layouts.end() &&
        !haveSameLayout(held->second, specs[k]))
      return Error{who + ": the buffer holds " + describeDifference(held->second, specs[k])};
  }
  return std::nullopt;
}

/// Says of the buffers that \p bundle only reads what they are for.
void Runtime::setInputs(const Bundle &bundle, const std::vector<int64_t> &arguments, BlockUse use) {
  for (bool isWritten : {false, true})
    for (size_t k = 0; k < arguments.size(); ++k) {
      Role role = bundle.spec.arguments[k].role;
      if ((role == Role::Output || role == Role::InputOutput) != isWritten)
        continue;
      int64_t start = 0;
      if (Block *block = emulator.getMemory().find(arguments[k], start))
        block->setUse(isWritten ? BlockUse::Any : use);
    }
}

/// What a launch depends on; nothing if each one must be prepared anew.
std::optional<LaunchMemory::Prepared> Runtime::describeLaunch(std::vector<int64_t> addresses,
                                                              int64_t pool) {
  const EmulatorOptions &options = emulator.getOptions();
  if (options.checked || options.timeline)
    return std::nullopt;
  LaunchMemory::Prepared launch;
  launch.emulator = emulator.getNumber();
  launch.rates = emulator.getDevice().getRates();
  launch.addresses = std::move(addresses);
  launch.addresses.push_back(pool);
  for (int64_t address : launch.addresses) {
    int64_t start = 0;
    const Block *block = emulator.getMemory().find(address, start);
    launch.blocks.emplace_back(block ? block->getData() : nullptr,
                               block ? block->getSizeInBytes() : 0);
  }
  return launch;
}

void Runtime::noteResults(const Bundle &bundle, const std::vector<int64_t> &arguments) {
  for (size_t k = 0; k < arguments.size(); ++k)
    if (Role role = bundle.spec.arguments[k].role;
        role == Role::Output || role == Role::InputOutput)
      layouts[arguments[k]] = bundle.spec.arguments[k];
}

/// The kernel sees the memory of its arguments; what it does between is not counted.
std::optional<Error> Runtime::runKernel(const Bundle &bundle, const std::vector<int64_t> &arguments,
                                        int64_t poolInBytes) {
  if (emulator.getOptions().countOnly)
    return Error{bundle.directory + ": what a kernel takes is not modelled"};
  std::vector<KernelBuffer> buffers;
  std::vector<Target> targets;
  for (size_t k = 0; k < arguments.size(); ++k) {
    const ArgumentSpec &spec = bundle.spec.arguments[k];
    int64_t start = 0;
    Block *block = emulator.getMemory().find(arguments[k], start);
    targets.push_back({block, arguments[k] - start});
    buffers.push_back({block->getData() + targets.back().offset,
                       std::get<int64_t>(getDeviceSizeInBytes(spec)), spec.role != Role::Output,
                       spec.role == Role::Output || spec.role == Role::InputOutput});
    block->prepare(targets.back().offset + buffers.back().sizeInBytes);
  }
  if (auto error = bundle.kernel->run(buffers, poolInBytes, emulator.getDevice(),
                                      emulator.getOptions().checked))
    return error;
  for (size_t k = 0; k < arguments.size(); ++k)
    if (buffers[k].isWritten)
      markWritten(emulator, targets[k], buffers[k].sizeInBytes, bundle.spec.arguments[k],
                  /*isPadding=*/false);
  return std::nullopt;
}

std::optional<Error> Runtime::launch(const Bundle &bundle, const std::vector<int64_t> &arguments) {
  if (auto error = checkArguments(bundle, arguments))
    return Error{bundle.directory + ": " + error->message};
  note(cost::TimelineEvent::Launch, "launch", bundle.plan.name, 0, 0);
  emulator.beginLaunch();
  std::vector<int64_t> addresses = arguments, owned;
  auto release = [&](std::optional<Error> error) {
    for (int64_t address : owned)
      free(address);
    return error;
  };
  for (size_t k = 0; k < addresses.size(); ++k) {
    const ArgumentSpec &spec = bundle.spec.arguments[k];
    if (spec.role != Role::Constant)
      continue;
    auto size = getDeviceSizeInBytes(spec);
    if (auto *error = std::get_if<Error>(&size))
      return release(*error);
    if (addresses[k] < 0) {
      auto address = allocate(std::get<int64_t>(size), "constant argument " + std::to_string(k));
      if (auto *error = std::get_if<Error>(&address))
        return release(*error);
      addresses[k] = std::get<int64_t>(address);
      owned.push_back(addresses[k]);
    }
    if (emulator.getOptions().countOnly)
      continue;
    int64_t start = 0;
    Block *block = emulator.getMemory().find(addresses[k], start);
    int64_t offset = addresses[k] - start;
    if (auto error = fillConstant(spec, block->getData() + offset, std::get<int64_t>(size)))
      return release(error);
    markWritten(emulator, {block, offset}, std::get<int64_t>(size), spec, /*isPadding=*/false);
  }
  int64_t pool = 0;
  if (bundle.plan.hasPool) {
    auto address = allocate(std::max(bundle.plan.poolInBytes, bundle.spec.poolInBytes), "the pool");
    if (auto *error = std::get_if<Error>(&address))
      return release(*error);
    pool = std::get<int64_t>(address);
    owned.push_back(pool);
    int64_t start = 0;
    emulator.getMemory().find(pool, start)->setUse(BlockUse::Scratch);
  }
  if (bundle.kernel) {
    auto error = runKernel(bundle, addresses, bundle.spec.poolInBytes);
    noteResults(bundle, arguments);
    return release(std::move(error));
  }
  setInputs(bundle, addresses, BlockUse::Input);
  std::vector<int64_t> loopVariables;
  // With the same memory as last time, everything is prepared.
  std::optional<LaunchMemory::Prepared> now = describeLaunch(addresses, pool);
  std::unique_ptr<LaunchMemory::Prepared> before = bundle.memory.take();
  std::optional<Error> error;
  if (now && before && before->emulator == now->emulator && before->rates == now->rates &&
      before->addresses == now->addresses && before->blocks == now->blocks) {
    error = emulator.repeat(*before->schedule);
    if (!error)
      bundle.memory.put(std::move(before));
  } else {
    std::shared_ptr<Schedule> kept;
    bool isWhole =
        std::all_of(bundle.plan.steps.begin(), bundle.plan.steps.end(),
                    [](const Step &step) { return std::holds_alternative<Launch>(step.content); });
    error = runSteps(bundle, bundle.plan.steps, addresses, pool, loopVariables,
                     now && isWhole ? &kept : nullptr);
    if (!error) {
      bundle.memory.isVerified = true;
      if (kept) {
        now->schedule = std::move(kept);
        bundle.memory.put(std::make_unique<LaunchMemory::Prepared>(std::move(*now)));
      }
    }
  }
  setInputs(bundle, addresses, BlockUse::Any);
  noteResults(bundle, arguments);
  return release(std::move(error));
}

//===----------------------------------------------------------------------===//
// Whole runs of one bundle
//===----------------------------------------------------------------------===//

namespace {

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text.empty() ? "scalar" : text;
}

/// Allocations of one run, freed with it.
struct Allocations {
  Runtime &runtime;
  std::vector<int64_t> addresses;
  int64_t pool = -1;
  ~Allocations() {
    if (pool >= 0)
      runtime.free(pool);
    for (int64_t address : addresses)
      if (address >= 0)
        runtime.free(address);
  }
};

} // namespace

std::optional<Error> spyre::runtime::checkCapacity(const Bundle &bundle, const Device &device,
                                                   bool countOnly) {
  int64_t total = std::max(bundle.plan.poolInBytes, bundle.spec.poolInBytes);
  for (const ArgumentSpec &spec : bundle.spec.arguments) {
    auto size = getDeviceSizeInBytes(spec);
    if (auto *error = std::get_if<Error>(&size))
      return *error;
    std::string name = spec.array.empty() ? "a constant" : spec.array;
    if (std::get<int64_t>(size) > device.getMemoryInBytes())
      return Error{name + ": " + std::to_string(std::get<int64_t>(size)) +
                   " bytes are more than the device memory of " +
                   std::to_string(device.getMemoryInBytes()) + " bytes"};
    total += std::get<int64_t>(size);
    if (total > device.getMemoryInBytes())
      return Error{bundle.directory + ": arguments and pool need more than the device memory of " +
                   std::to_string(device.getMemoryInBytes()) + " bytes"};
  }
  // Arguments are copied, so all of them is touched: better to say so than to be
  // killed for it.
  int64_t host = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (!countOnly && host > 0 && total > host)
    return Error{bundle.directory + ": is not supported on this host: arguments and pool need " +
                 std::to_string(total) + " bytes, it has " + std::to_string(host)};
  return std::nullopt;
}

Result<std::map<std::string, HostTensor>>
spyre::runtime::runBundle(Runtime &runtime, const Bundle &bundle,
                          const std::map<std::string, HostTensor> &inputs) {
  const Device &device = runtime.getEmulator().getDevice();
  DeviceMemory &memory = runtime.getEmulator().getMemory();
  bool countOnly = runtime.getEmulator().getOptions().countOnly;
  if (auto error = checkCapacity(bundle, device, countOnly))
    return *error;
  Allocations allocations{runtime, {}, -1};
  // Descriptors with concrete addresses expect argument k at the start of a segment.
  bool concrete = !bundle.spec.symbolicArguments;
  int64_t segment = 0;
  if (concrete && bundle.spec.poolInBytes > 0) {
    auto pool = memory.allocateAt(0, bundle.spec.poolInBytes, "the pool");
    if (auto *error = std::get_if<Error>(&pool))
      return *error;
    allocations.pool = 0;
    segment = 1;
    int64_t start = 0;
    memory.find(0, start)->setUse(BlockUse::Scratch);
  }
  for (const ArgumentSpec &spec : bundle.spec.arguments) {
    allocations.addresses.push_back(-1);
    bool read = spec.role == Role::Input || spec.role == Role::InputOutput;
    if (spec.role == Role::Constant && !concrete)
      continue;
    auto size = getDeviceSizeInBytes(spec);
    if (auto *error = std::get_if<Error>(&size))
      return *error;
    if (concrete && segment >= device.getNumArgumentSegments())
      return Error{bundle.directory + ": more arguments than segments of device memory"};
    auto address = concrete ? memory.allocateAt(segment++ * device.getSegmentInBytes(),
                                                std::get<int64_t>(size), spec.array)
                            : memory.allocate(std::get<int64_t>(size), spec.array);
    if (auto *error = std::get_if<Error>(&address))
      return *error;
    allocations.addresses.back() = std::get<int64_t>(address);
    if (!read)
      continue;
    auto input = inputs.find(spec.array);
    if (input == inputs.end())
      return Error{"input " + spec.array + " is missing"};
    HostTensor host = input->second;
    if (host.dtype != spec.dtype)
      return Error{"input " + spec.array + " has type " + std::string(getHostTypeName(host.dtype)) +
                   ", the program takes " + std::string(getHostTypeName(spec.dtype))};
    if (host.shape == spec.view && !spec.view.empty())
      host.shape = spec.shape;
    if (host.shape != spec.shape ||
        (!countOnly &&
         int64_t(host.data.size()) != host.getNumElements() * spyre::getWidthInBytes(spec.dtype)))
      return Error{"input " + spec.array + " has shape " + shapeText(host.shape) +
                   ", the program takes " + shapeText(spec.shape)};
    if (auto error = runtime.copyIn(spec, host, allocations.addresses.back()))
      return *error;
  }
  if (auto error = runtime.launch(bundle, allocations.addresses))
    return *error;
  std::map<std::string, HostTensor> outputs;
  for (size_t k = 0; k < bundle.spec.arguments.size(); ++k) {
    const ArgumentSpec &spec = bundle.spec.arguments[k];
    if (spec.role != Role::Output && spec.role != Role::InputOutput)
      continue;
    HostTensor host;
    if (auto error = runtime.copyOut(spec, allocations.addresses[k], host))
      return *error;
    if (!spec.view.empty()) {
      HostTensor view{spec.dtype, spec.view, {}};
      if (view.getNumElements() == host.getNumElements())
        host.shape = spec.view;
    }
    outputs[spec.role == Role::Output ? spec.array : spec.result] = std::move(host);
  }
  return outputs;
}

//===----------------------------------------------------------------------===//
// Stream
//===----------------------------------------------------------------------===//

struct Stream::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<std::optional<Error>()>> queue;
  std::optional<Error> error;
  bool busy = false, stop = false;
  std::thread thread;

  void loop() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return stop || !queue.empty(); });
      if (queue.empty())
        return;
      auto work = std::move(queue.front());
      queue.pop_front();
      if (error)
        continue;
      busy = true;
      lock.unlock();
      std::optional<Error> result = work();
      lock.lock();
      busy = false;
      if (result)
        error = std::move(result);
      changed.notify_all();
    }
  }
};

Stream::Stream() : state(std::make_unique<State>()) {
  state->thread = std::thread([s = state.get()] { s->loop(); });
}

Stream::~Stream() {
  {
    std::lock_guard lock(state->mutex);
    state->stop = true;
  }
  state->changed.notify_all();
  state->thread.join();
}

void Stream::enqueue(std::function<std::optional<Error>()> work) {
  {
    std::lock_guard lock(state->mutex);
    state->queue.push_back(std::move(work));
  }
  state->changed.notify_all();
}

std::optional<Error> Stream::synchronize() {
  std::unique_lock lock(state->mutex);
  // After an error the rest of the queue is dropped without running.
  state->changed.wait(lock, [&] { return !state->busy && (state->queue.empty() || state->error); });
  state->queue.clear();
  std::optional<Error> error = std::move(state->error);
  state->error.reset();
  return error;
}
