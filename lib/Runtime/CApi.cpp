//===- CApi.cpp - The runtime's C interface ---------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Handles around the C++ core. A lock a device keeps streams and direct calls of
// several threads apart; errors become the calling thread's last error.
//
//===----------------------------------------------------------------------===//

#include "CApiInternal.h"

#include "spyre/Support/Version.h"

#include <cstring>
#include <new>

using namespace spyre;
using namespace spyre::runtime;
using capi::guarded;

struct spyre_buffer {
  spyre_device *device;
  int64_t address;
};
struct spyre_bundle {
  Bundle bundle;
};
struct spyre_stream {
  spyre_device *device;
  Stream stream;
};

std::string &capi::getLastError() {
  static thread_local std::string error;
  return error;
}

extern "C" {

uint32_t spyre_api_version(void) { return SPYRE_API_VERSION; }

const char *spyre_version(void) { return spyre::getVersion(); }
const char *spyre_last_error(void) { return capi::getLastError().c_str(); }

spyre_status spyre_device_create(const spyre_device_options *options, spyre_device **device) {
  return guarded([&]() -> std::optional<Error> {
    if (!device)
      return Error{"device is null"};
    *device = nullptr;
    auto found = Device::resolve(options && options->name ? options->name : "spyre");
    if (auto *message = std::get_if<std::string>(&found))
      return Error{*message};
    EmulatorOptions emulator;
    if (options) {
      emulator.checked = options->checked != 0;
      emulator.numThreads = options->num_threads;
      emulator.seed = options->seed;
    }
    *device = new spyre_device(std::get<Device>(std::move(found)), emulator);
    return std::nullopt;
  });
}

void spyre_device_destroy(spyre_device *device) { delete device; }

spyre_status spyre_device_counters(spyre_device *device, spyre_counters *counters) {
  return guarded([&]() -> std::optional<Error> {
    if (!device || !counters)
      return Error{"a handle is null"};
    std::lock_guard lock(device->mutex);
    Emulator &emulator = device->runtime.getEmulator();
    const Counters &from = emulator.getCounters();
    *counters = {uint64_t(from.launches),
                 uint64_t(from.readInBytes),
                 uint64_t(from.writtenInBytes),
                 uint64_t(from.peakLXInBytes),
                 uint64_t(emulator.getMemory().getUsedInBytes()),
                 uint64_t(emulator.getNumReports())};
    return std::nullopt;
  });
}

const char *spyre_device_report(spyre_device *device, uint64_t i) {
  if (!device)
    return nullptr;
  std::lock_guard lock(device->mutex);
  const auto &reports = device->runtime.getEmulator().getReports();
  if (i >= reports.size())
    return nullptr;
  device->report = reports[i].toString();
  return device->report.c_str();
}

double spyre_device_modelled_ns(spyre_device *device) {
  if (!device)
    return 0;
  std::lock_guard lock(device->mutex);
  return device->runtime.getEmulator().getCounters().modelledInNs;
}

spyre_status spyre_device_get_report(spyre_device *device, uint64_t i, spyre_report *report) {
  return guarded([&]() -> std::optional<Error> {
    if (!device || !report)
      return Error{"a handle is null"};
    std::lock_guard lock(device->mutex);
    const auto &reports = device->runtime.getEmulator().getReports();
    if (i >= reports.size())
      return Error{"there is no report " + std::to_string(i) + ", " +
                   std::to_string(reports.size()) + " are kept"};
    const Report &from = reports[i];
    *report = {
        getReportKindName(from.kind), from.op.c_str(), from.tensor.c_str(), from.core, from.address,
        from.message.c_str()};
    return std::nullopt;
  });
}

spyre_status spyre_device_keep_reports(spyre_device *device, uint64_t count) {
  return guarded([&]() -> std::optional<Error> {
    if (!device)
      return Error{"a handle is null"};
    std::lock_guard lock(device->mutex);
    device->runtime.getEmulator().setMaxReports(count);
    return std::nullopt;
  });
}

spyre_status spyre_buffer_create(spyre_device *device, uint64_t size, const char *name,
                                 spyre_buffer **buffer) {
  return guarded([&]() -> std::optional<Error> {
    if (!device || !buffer)
      return Error{"a handle is null"};
    *buffer = nullptr;
    if (size > uint64_t(INT64_MAX))
      return Error{"the size of a buffer is beyond any memory"};
    std::lock_guard lock(device->mutex);
    auto address = device->runtime.allocate(static_cast<int64_t>(size), name ? name : "buffer");
    if (auto *error = std::get_if<Error>(&address))
      return *error;
    *buffer = new spyre_buffer{device, std::get<int64_t>(address)};
    return std::nullopt;
  });
}

void spyre_buffer_destroy(spyre_buffer *buffer) {
  if (!buffer)
    return;
  {
    std::lock_guard lock(buffer->device->mutex);
    buffer->device->runtime.free(buffer->address);
  }
  delete buffer;
}

spyre_status spyre_bundle_load(const char *directory, const char *specFile, spyre_bundle **bundle) {
  return guarded([&]() -> std::optional<Error> {
    if (!directory || !bundle)
      return Error{"a handle is null"};
    *bundle = nullptr;
    std::optional<LaunchSpec> spec;
    if (specFile) {
      auto text = readTextFile(specFile);
      if (auto *error = std::get_if<Error>(&text))
        return *error;
      auto read = readLaunchSpec(std::get<std::string>(text));
      if (auto *error = std::get_if<FileError>(&read))
        return Error{std::string(specFile) + ":" + error->where + ": " + error->message};
      spec = std::move(std::get<LaunchSpec>(read));
    }
    auto loaded = loadBundle(directory, std::nullopt, std::move(spec));
    if (auto *error = std::get_if<Error>(&loaded))
      return *error;
    *bundle = new spyre_bundle{std::move(std::get<Bundle>(loaded))};
    return std::nullopt;
  });
}

void spyre_bundle_destroy(spyre_bundle *bundle) { delete bundle; }

size_t spyre_bundle_num_arguments(const spyre_bundle *bundle) {
  return bundle ? bundle->bundle.spec.arguments.size() : 0;
}

uint64_t spyre_bundle_argument_size(const spyre_bundle *bundle, size_t k) {
  if (!bundle || k >= bundle->bundle.spec.arguments.size())
    return 0;
  auto size = getDeviceSizeInBytes(bundle->bundle.spec.arguments[k]);
  return std::holds_alternative<Error>(size) ? 0 : uint64_t(std::get<int64_t>(size));
}

spyre_status spyre_bundle_argument(const spyre_bundle *bundle, size_t k, spyre_argument *argument) {
  return guarded([&]() -> std::optional<Error> {
    if (!bundle || !argument)
      return Error{"a handle is null"};
    if (k >= bundle->bundle.spec.arguments.size())
      return Error{"the bundle has no argument " + std::to_string(k)};
    const ArgumentSpec &spec = bundle->bundle.spec.arguments[k];
    const char *role = spec.role == Role::Input         ? "input"
                       : spec.role == Role::Output      ? "output"
                       : spec.role == Role::InputOutput ? "input_output"
                                                        : "constant";
    // The names of types are literals.
    *argument = {role, spec.array.c_str(), getHostTypeName(spec.dtype).data(), spec.shape.data(),
                 spec.shape.size()};
    return std::nullopt;
  });
}

} // extern "C"

/// Checks that \p array is what argument \p k wants; null: it is.
static std::optional<Error> checkArray(const spyre_bundle *bundle, size_t k,
                                       const spyre_array *array) {
  if (!bundle || !array || !array->dtype || (array->rank && !array->shape))
    return Error{"a handle is null"};
  if (k >= bundle->bundle.spec.arguments.size())
    return Error{"the bundle has no argument " + std::to_string(k)};
  const ArgumentSpec &spec = bundle->bundle.spec.arguments[k];
  std::optional<HostType> type = parseHostType(array->dtype);
  std::vector<int64_t> shape(array->shape, array->shape + array->rank);
  if (type != spec.dtype)
    return Error{spec.array + ": the array has type " + array->dtype + ", the program takes " +
                 std::string(getHostTypeName(spec.dtype))};
  if (shape != spec.shape && (spec.view.empty() || shape != spec.view))
    return Error{spec.array + ": the array is " + describeArray(spec.dtype, shape) +
                 ", the program takes " +
                 describeArray(spec.dtype, spec.view.empty() ? spec.shape : spec.view)};
  size_t needed = spyre::getWidthInBytes(spec.dtype);
  for (int64_t size : spec.shape)
    needed *= static_cast<size_t>(size);
  if (needed != array->size_in_bytes)
    return Error{spec.array + ": the array has " + std::to_string(array->size_in_bytes) +
                 " bytes, its shape needs " + std::to_string(needed)};
  if (array->size_in_bytes && !array->data)
    return Error{spec.array + ": the array has no data"};
  return std::nullopt;
}

static std::optional<Error> collectAddresses(spyre_device *device, spyre_buffer *const *buffers,
                                             size_t count, std::vector<int64_t> &addresses) {
  if (count && !buffers)
    return Error{"a handle is null"};
  for (size_t i = 0; i < count; ++i) {
    if (buffers[i] && buffers[i]->device != device)
      return Error{"buffer " + std::to_string(i) + " belongs to another device"};
    addresses.push_back(buffers[i] ? buffers[i]->address : -1);
  }
  return std::nullopt;
}

extern "C" {

spyre_status spyre_copy_in(spyre_bundle *bundle, size_t k, const spyre_array *array,
                           spyre_buffer *buffer) {
  return guarded([&]() -> std::optional<Error> {
    if (!buffer)
      return Error{"a handle is null"};
    if (auto error = checkArray(bundle, k, array))
      return error;
    const ArgumentSpec &spec = bundle->bundle.spec.arguments[k];
    HostTensor host = HostTensor::create(spec.dtype, spec.shape);
    std::memcpy(host.data.data(), array->data, host.data.size());
    std::lock_guard lock(buffer->device->mutex);
    return buffer->device->runtime.copyIn(spec, host, buffer->address);
  });
}

spyre_status spyre_copy_out(spyre_bundle *bundle, size_t k, spyre_buffer *buffer,
                            const spyre_array *array) {
  return guarded([&]() -> std::optional<Error> {
    if (!buffer)
      return Error{"a handle is null"};
    if (auto error = checkArray(bundle, k, array))
      return error;
    HostTensor host;
    {
      std::lock_guard lock(buffer->device->mutex);
      if (auto error = buffer->device->runtime.copyOut(bundle->bundle.spec.arguments[k],
                                                       buffer->address, host))
        return error;
    }
    std::memcpy(array->data, host.data.data(), host.data.size());
    return std::nullopt;
  });
}

spyre_status spyre_launch(spyre_device *device, spyre_bundle *bundle, spyre_buffer *const *buffers,
                          size_t count) {
  return guarded([&]() -> std::optional<Error> {
    if (!device || !bundle)
      return Error{"a handle is null"};
    std::vector<int64_t> addresses;
    if (auto error = collectAddresses(device, buffers, count, addresses))
      return error;
    std::lock_guard lock(device->mutex);
    return device->runtime.launch(bundle->bundle, addresses);
  });
}

spyre_status spyre_run(spyre_device *device, spyre_bundle *bundle, const spyre_array *arrays,
                       size_t count) {
  return guarded([&]() -> std::optional<Error> {
    if (!device || !bundle || (count && !arrays))
      return Error{"a handle is null"};
    const std::vector<ArgumentSpec> &specs = bundle->bundle.spec.arguments;
    if (count != specs.size())
      return Error{std::to_string(count) + " arrays given, the bundle takes " +
                   std::to_string(specs.size())};
    std::map<std::string, HostTensor> inputs;
    for (size_t k = 0; k < count; ++k) {
      if (specs[k].role == Role::Constant)
        continue;
      if (auto error = checkArray(bundle, k, &arrays[k]))
        return error;
      HostTensor host = HostTensor::create(specs[k].dtype, specs[k].shape);
      if (specs[k].role != Role::Output && !host.data.empty())
        std::memcpy(host.data.data(), arrays[k].data, host.data.size());
      inputs[specs[k].array] = std::move(host);
    }
    std::lock_guard lock(device->mutex);
    auto results = runBundle(device->runtime, bundle->bundle, inputs);
    if (auto *error = std::get_if<Error>(&results))
      return *error;
    auto &outputs = std::get<std::map<std::string, HostTensor>>(results);
    for (size_t k = 0; k < count; ++k) {
      auto found =
          outputs.find(specs[k].role == Role::InputOutput ? specs[k].result : specs[k].array);
      if (specs[k].role != Role::Input && found != outputs.end() && !found->second.data.empty())
        std::memcpy(arrays[k].data, found->second.data.data(), found->second.data.size());
    }
    return std::nullopt;
  });
}

spyre_status spyre_stream_create(spyre_device *device, spyre_stream **stream) {
  return guarded([&]() -> std::optional<Error> {
    if (!device || !stream)
      return Error{"a handle is null"};
    *stream = new spyre_stream{device, {}};
    return std::nullopt;
  });
}

void spyre_stream_destroy(spyre_stream *stream) { delete stream; }

spyre_status spyre_stream_launch(spyre_stream *stream, spyre_bundle *bundle,
                                 spyre_buffer *const *buffers, size_t count) {
  return guarded([&]() -> std::optional<Error> {
    if (!stream || !bundle)
      return Error{"a handle is null"};
    std::vector<int64_t> addresses;
    if (auto error = collectAddresses(stream->device, buffers, count, addresses))
      return error;
    stream->stream.enqueue([stream, bundle, addresses]() -> std::optional<Error> {
      std::lock_guard lock(stream->device->mutex);
      return stream->device->runtime.launch(bundle->bundle, addresses);
    });
    return std::nullopt;
  });
}

spyre_status spyre_stream_synchronize(spyre_stream *stream) {
  return guarded([&]() -> std::optional<Error> {
    if (!stream)
      return Error{"a handle is null"};
    return stream->stream.synchronize();
  });
}

} // extern "C"
