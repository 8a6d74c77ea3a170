//===- Runtime.cpp - Native module of running programs ----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `spyre_mlir._runtime`: devices and programs. It holds no MLIR, so that a process that
// finds its programs compiled starts without loading it. Arrays come as NumPy arrays,
// as anything with DLPack, or as addresses whose shape and type the Python side has
// checked; results are NumPy arrays that own the memory the copy out wrote.
// Formats that NumPy lacks are passed as their bits.
//
//===----------------------------------------------------------------------===//

#include "spyre/Device/Rates.h"
#include "spyre/Runtime/Checksum.h"
#include "spyre/Runtime/ProgramSession.h"
#include "spyre/Support/AtomicDirectory.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;
using namespace spyre::runtime;
using spyre::HostType;

namespace {

/// Raises the class \p name of spyre_mlir.errors.
[[noreturn]] void raise(const char *name, const nb::object &argument) {
  nb::object type = nb::module_::import_("spyre_mlir.errors").attr(name);
  PyErr_SetObject(type.ptr(), argument.ptr());
  throw nb::python_error();
}
[[noreturn]] void raise(const char *name, const std::string &message) {
  raise(name, nb::str(message.c_str(), message.size()));
}
[[noreturn]] void raise(const RunError &error) {
  raise(error.kind == Failure::Arguments ? "ArgumentError"
        : error.kind == Failure::Memory  ? "DeviceMemoryError"
                                         : "ExecutionError",
        error.message);
}

/// How NumPy sees elements of \p type: as themselves or as their bits.
nb::dlpack::dtype getNumpyType(HostType type) {
  using Code = nb::dlpack::dtype_code;
  auto make = [](Code code, uint8_t bits) { return nb::dlpack::dtype{uint8_t(code), bits, 1}; };
  uint8_t bits = uint8_t(spyre::getWidthInBytes(type) * 8);
  switch (type) {
  case HostType::Float16:
  case HostType::Float32:
  case HostType::Float64:
    return make(Code::Float, bits);
  case HostType::Int8:
  case HostType::Int16:
  case HostType::Int32:
  case HostType::Int64:
    return make(Code::Int, bits);
  case HostType::Bool:
    return make(Code::Bool, bits);
  case HostType::Complex64:
  case HostType::Complex128:
    return make(Code::Complex, bits);
  default: // bfloat16, 8-bit floats, uint8
    return make(Code::UInt, bits);
  }
}

/// A NumPy array that owns \p tensor's memory.
nb::object toNumpy(HostTensor tensor) {
  int64_t bytes = tensor.getNumElements() * spyre::getWidthInBytes(tensor.dtype);
  auto *owner = new std::vector<uint8_t>(std::move(tensor.data.own()));
  owner->resize(size_t(bytes)); // a device that only counts has left it empty
  nb::capsule capsule(
      owner, [](void *data) noexcept { delete static_cast<std::vector<uint8_t> *>(data); });
  std::vector<size_t> shape(tensor.shape.begin(), tensor.shape.end());
  return nb::cast(nb::ndarray<nb::numpy>(owner->data(), shape.size(), shape.data(), capsule,
                                         nullptr, getNumpyType(tensor.dtype)),
                  nb::rv_policy::reference);
}

/// An argument of a call, borrowed for its time.
class Input {
public:
  /// \p given: an address as an int, or an array.
  Input(const HostArray &wanted, nb::handle given) : tensor{wanted.dtype, wanted.shape, {}} {
    size_t bytes = size_t(tensor.getNumElements() * spyre::getWidthInBytes(wanted.dtype));
    if (PyLong_Check(given.ptr())) {
      tensor.data = HostBytes::borrow(PyLong_AsVoidPtr(given.ptr()), bytes);
      return;
    }
    if (!nb::try_cast(given, array) || !array.is_valid())
      raise("ArgumentError", "input " + wanted.name +
                                 " is no dense row-major array on the host; the program takes " +
                                 describeArray(wanted.dtype, wanted.shape));
    bool sameShape = array.ndim() == wanted.shape.size();
    for (size_t d = 0; sameShape && d < array.ndim(); ++d)
      sameShape = int64_t(array.shape(d)) == wanted.shape[d];
    nb::dlpack::dtype type = array.dtype(), bits = getNumpyType(wanted.dtype);
    bool isBfloat = wanted.dtype == HostType::BFloat16 &&
                    type.code == uint8_t(nb::dlpack::dtype_code::Bfloat) && type.bits == 16;
    if (!sameShape || (type != bits && !isBfloat)) {
      nb::object is = nb::borrow(given);
      raise("ArgumentError",
            "input " + wanted.name + " is " +
                nb::cast<std::string>(nb::str(nb::getattr(is, "dtype", nb::str("an array")))) +
                " " + nb::cast<std::string>(nb::str(nb::getattr(is, "shape", nb::str("")))) +
                ", the program takes " + describeArray(wanted.dtype, wanted.shape));
    }
    tensor.data = HostBytes::borrow(array.data(), bytes);
  }
  const HostTensor &get() const { return tensor; }

private:
  nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu> array;
  HostTensor tensor;
};

/// A device with the lock that all use of it takes.
struct NativeDevice {
  /// What is left of a program.
  struct Remains {
    std::unique_ptr<LoadedProgram> loaded;
    std::unique_ptr<ProgramSession> session; // dies first
  };

  spyre::Device description;
  Runtime runtime;
  SharedArrays shared{runtime};                   ///< weights and constants of all programs
  KeptBuffers kept{SessionOptions::kKeptInBytes}; ///< of all programs, between their runs
  std::mutex mutex;
  std::atomic<std::thread::id> user; ///< the thread that has the lock
  std::vector<Remains> discarded;    ///< programs that died in a host call of `user`

  NativeDevice(spyre::Device device, EmulatorOptions options)
      : description(device), runtime(std::move(device), options) {}

  /// True in a host call: this thread has the device already.
  bool isInUseHere() const { return user.load() == std::this_thread::get_id(); }
};

/// The use of a device by this thread. Taken without the GIL, which a host call of the
/// thread that has the device may wait for.
class DeviceUse {
public:
  explicit DeviceUse(NativeDevice &device) : device(device), lock(device.mutex) {
    device.user = std::this_thread::get_id();
  }
  ~DeviceUse() {
    device.discarded.clear();
    device.user = std::thread::id();
  }

private:
  NativeDevice &device;
  std::lock_guard<std::mutex> lock;
};

/// What a host call may not do, since it would wait for itself.
void refuseInHostCall(const NativeDevice &device) {
  if (device.isInUseHere())
    raise("ExecutionError",
          "an operation that runs on the host for a program uses the program's device");
}

std::shared_ptr<NativeDevice> makeDevice(const std::string &name, bool checked, bool countOnly,
                                         unsigned threads, uint64_t seed) {
  auto device = spyre::Device::resolve(name);
  if (auto *message = std::get_if<std::string>(&device))
    raise("OptionError", *message);
  EmulatorOptions options;
  options.checked = checked;
  options.countOnly = countOnly;
  options.numThreads = threads;
  options.seed = seed;
  return std::make_shared<NativeDevice>(std::get<spyre::Device>(std::move(device)), options);
}

/// The rates of a rates file's text, for the device \p name.
spyre::RateValues parseRates(const std::string &text, const std::string &source,
                             const std::string &name) {
  auto device = spyre::Device::resolve(name);
  if (auto *message = std::get_if<std::string>(&device))
    raise("OptionError", *message);
  auto rates = spyre::parseRates(text, std::get<spyre::Device>(device));
  if (auto *mistakes = std::get_if<spyre::RateMistakes>(&rates))
    raise("OptionError", mistakes->toString(source));
  return std::get<spyre::RateValues>(std::move(rates));
}

nb::dict describe(const HostArray &array) {
  nb::dict result;
  result["name"] = array.name;
  result["dtype"] = std::string(spyre::getHostTypeName(array.dtype));
  result["shape"] = nb::tuple(nb::cast(array.shape));
  return result;
}

/// What a run has found of an array's numbers.
nb::dict describe(const NumberFinding &finding) {
  nb::dict result;
  result["where"] = getWhereName(finding.where);
  result["name"] = nb::str(finding.name.c_str(), finding.name.size());
  result["shape"] = nb::tuple(nb::cast(finding.shape));
  result["nan"] = finding.counts.nans;
  result["infinite"] = finding.counts.infinities;
  result["too_small"] = finding.counts.tooSmall;
  result["too_large"] = finding.counts.tooLarge;
  result["largest"] = finding.counts.largest;
  result["first_nan"] = finding.counts.firstNaN;
  result["first_out_of_range"] = finding.counts.firstOutOfRange;
  return result;
}

/// A NumPy array that shows \p tensor's memory, as long as that lives.
nb::object showAsNumpy(const HostTensor &tensor) {
  std::vector<size_t> shape(tensor.shape.begin(), tensor.shape.end());
  // NumPy wants an address even where there are no elements.
  static char nothing;
  const void *data = tensor.data.empty() ? &nothing : static_cast<const void *>(tensor.data.data());
  return nb::cast(nb::ndarray<nb::numpy>(const_cast<void *>(data), shape.size(), shape.data(),
                                         nb::none(), nullptr, getNumpyType(tensor.dtype)),
                  nb::rv_policy::reference);
}

/// Host calls as calls of a Python function: (operation, arguments, outputs). An array
/// is (NumPy array, dtype), a number that the program computes (array, dtype, True), an
/// output (array, dtype, number, item) and to be filled.
class PythonHost : public HostFunctions {
public:
  explicit PythonHost(nb::object function) : function(std::move(function)) {}

  bool knows(const std::string &) const override { return true; }

  std::optional<std::string> call(const HostInvocation &invocation) override {
    nb::gil_scoped_acquire acquire;
    try {
      size_t next = 0;
      nb::list arguments, outputs;
      for (const HostArgument &argument : invocation.call.arguments)
        arguments.append(toPython(argument, invocation.arrays, next));
      for (size_t i = 0; i < invocation.outputs.size(); ++i) {
        HostTensor &tensor = *invocation.outputs[i];
        tensor.data.own();
        const HostOutput &output = invocation.call.outputs[i];
        outputs.append(
            nb::make_tuple(showAsNumpy(tensor), getName(tensor.dtype), output.number, output.item));
      }
      function(nb::str(invocation.call.function.c_str()), arguments, outputs);
      return std::nullopt;
    } catch (const nb::python_error &error) {
      raised = nb::borrow(error.value());
      return nb::cast<std::string>(nb::str(error.type().attr("__name__"))) + ": " +
             nb::cast<std::string>(nb::str(error.value()));
    } catch (const std::exception &error) {
      return error.what();
    }
  }

  /// What the last failed call raised; it is the caller's then. Needs the GIL.
  nb::object takeRaised() { return std::exchange(raised, nb::object()); }

private:
  static nb::str getName(HostType type) {
    std::string_view name = spyre::getHostTypeName(type);
    return nb::str(name.data(), name.size());
  }

  static nb::object toPython(const HostArgument &argument,
                             const std::vector<const HostTensor *> &arrays, size_t &next) {
    struct Visitor {
      const std::vector<const HostTensor *> &arrays;
      size_t &next;
      nb::object operator()(std::monostate) { return nb::none(); }
      nb::object operator()(bool truth) { return nb::bool_(truth); }
      nb::object operator()(int64_t integer) { return nb::int_(integer); }
      nb::object operator()(double number) { return nb::float_(number); }
      nb::object operator()(const std::string &text) { return nb::str(text.c_str(), text.size()); }
      nb::object operator()(const HostArgument::Array &array) {
        const HostTensor &tensor = *arrays[next++];
        nb::object shown = showAsNumpy(tensor);
        return array.isNumber ? nb::make_tuple(shown, getName(tensor.dtype), true)
                              : nb::make_tuple(shown, getName(tensor.dtype));
      }
      nb::object operator()(const std::vector<HostArgument> &list) {
        nb::list elements;
        for (const HostArgument &element : list)
          elements.append(toPython(element, arrays, next));
        return elements;
      }
    };
    return std::visit(Visitor{arrays, next}, argument.value);
  }

  nb::object function;
  nb::object raised;
};

class NativeProgram {
public:
  NativeProgram(const std::string &directory, std::shared_ptr<NativeDevice> on, nb::object onHost,
                const spyre::RateValues &rates)
      : device(std::move(on)) {
    if (!onHost.is_none())
      host = std::make_unique<PythonHost>(std::move(onHost));
    refuseInHostCall(*device);
    std::optional<RunError> failure;
    {
      nb::gil_scoped_release release;
      auto program = loadProgram(directory);
      if (auto *error = std::get_if<Error>(&program)) {
        failure = RunError{Failure::Execution, error->message};
      } else {
        loaded = std::make_unique<LoadedProgram>(std::get<LoadedProgram>(std::move(program)));
        for (const auto &[name, value] : rates)
          loaded->program.rates[name] = value;
        DeviceUse use(*device);
        auto made = ProgramSession::create(device->runtime, *loaded,
                                           {.keepBuffers = true,
                                            .host = host.get(),
                                            .shared = &device->shared,
                                            .kept = &device->kept});
        if (auto *error = std::get_if<RunError>(&made))
          failure = *error;
        else
          session = std::get<std::unique_ptr<ProgramSession>>(std::move(made));
      }
    }
    if (failure && !session && failure->kind == Failure::Execution)
      raise("LoadError", failure->message);
    if (failure)
      raise(*failure);
  }
  ~NativeProgram() {
    // Python's garbage collector may come by in a host call.
    if (device->isInUseHere()) {
      device->discarded.push_back({std::move(loaded), std::move(session)});
      return;
    }
    nb::gil_scoped_release release;
    DeviceUse use(*device);
    session.reset();
  }

  nb::list getArguments() const {
    nb::list result;
    for (const HostArray &array : loaded->program.arguments)
      result.append(describe(array));
    return result;
  }
  nb::list getResults() const {
    nb::list result;
    for (const HostArray &array : loaded->program.results)
      result.append(describe(array));
    return result;
  }

  /// Calls of the host a run, by operation.
  std::map<std::string, int64_t> getHostCalls() const { return countHostCalls(loaded->program); }
  /// (operation, reason, place) of each.
  nb::list getHostReasons() const {
    nb::list result;
    for (const ProgramStep &step : loaded->program.steps)
      if (const auto *call = std::get_if<HostCall>(&step.content); call && !call->reason.empty())
        result.append(nb::make_tuple(call->function, call->reason, call->location));
    return result;
  }

  void setNumberPolicy(bool stopsAtNaN, bool stopsOutOfRange, bool stopsAfterHostCalls) {
    policy = {stopsAtNaN, stopsOutOfRange, stopsAfterHostCalls};
  }
  nb::list getConstantNumbers() const {
    nb::list result;
    for (const NumberFinding &finding : session->getConstantNumbers())
      result.append(describe(finding));
    return result;
  }
  bool usesDL16() const { return session->usesDL16(); }

  nb::object bind(size_t index, nb::handle given, uint64_t key) {
    if (index >= loaded->program.arguments.size())
      raise("ArgumentError", "there is no argument " + std::to_string(index));
    refuseInHostCall(*device);
    Input input(loaded->program.arguments[index], given);
    std::optional<RunError> failure;
    std::optional<NumberFinding> numbers;
    {
      nb::gil_scoped_release release;
      DeviceUse use(*device);
      failure = session->bind(index, input.get(), ArrayKey::ofNumber(key));
      numbers = session->getBoundNumbers(index);
    }
    if (failure)
      raise(*failure);
    return numbers ? nb::object(describe(*numbers)) : nb::none();
  }

  /// The results; with what was found of their numbers and the arguments', if anything was:
  /// (results, or None if the run has stopped, a list).
  nb::object run(const nb::list &given) {
    const std::vector<HostArray> &wanted = loaded->program.arguments;
    if (given.size() != wanted.size())
      raise("ArgumentError", std::to_string(given.size()) + " arguments given, the program takes " +
                                 std::to_string(wanted.size()));
    refuseInHostCall(*device);
    std::vector<Input> held;
    held.reserve(wanted.size());
    std::vector<const HostTensor *> inputs;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (given[i].is_none()) {
        inputs.push_back(nullptr);
        continue;
      }
      held.emplace_back(wanted[i], given[i]);
      inputs.push_back(&held.back().get());
    }
    std::optional<RunError> failure;
    nb::object raised; // by an operation on the host
    std::vector<HostTensor> outputs;
    RunNumbers numbers;
    std::vector<Report> reports;
    int64_t numReports = 0;
    {
      nb::gil_scoped_release release;
      DeviceUse use(*device);
      Emulator &emulator = device->runtime.getEmulator();
      size_t kept = emulator.getReports().size();
      int64_t before = emulator.getNumReports();
      bool checked = emulator.getOptions().checked;
      if (checked)
        emulator.setMaxReports(kept + kMaxReports);
      failure = session->run(inputs, outputs, policy, &numbers);
      if (failure && host) {
        nb::gil_scoped_acquire acquire;
        raised = host->takeRaised();
      }
      if (checked) {
        reports.assign(emulator.getReports().begin() + kept, emulator.getReports().end());
        numReports = emulator.getNumReports() - before;
      }
    }
    if (failure && raised)
      raiseFromHost(raised, failure->message);
    if (failure)
      raise(*failure);
    if (numReports > 0)
      raiseReports(reports, numReports);
    nb::list results;
    for (HostTensor &tensor : outputs)
      results.append(toNumpy(std::move(tensor)));
    if (numbers.found.empty())
      return results;
    nb::list found;
    for (const NumberFinding &finding : numbers.found)
      found.append(describe(finding));
    return nb::make_tuple(numbers.isStopped ? nb::object(nb::none()) : nb::object(results), found);
  }

private:
  static constexpr size_t kMaxReports = 100;

  /// What an operation on the host has raised, as it would in PyTorch; which one and where
  /// is its cause. The package's own exceptions say themselves what is wrong.
  [[noreturn]] static void raiseFromHost(const nb::object &raised, const std::string &message) {
    nb::module_ errors = nb::module_::import_("spyre_mlir.errors");
    if (nb::isinstance(raised, errors.attr("SpyreError")))
      raise("ExecutionError", message);
    nb::object cause = errors.attr("ExecutionError")(nb::str(message.c_str(), message.size()));
    cause.attr("__cause__") = raised.attr("__cause__");
    raised.attr("__cause__") = cause;
    PyErr_SetObject(raised.type().ptr(), raised.ptr());
    throw nb::python_error();
  }

  [[noreturn]] static void raiseReports(const std::vector<Report> &reports, int64_t numReports) {
    nb::list list;
    for (const Report &report : reports) {
      nb::dict entry;
      entry["kind"] = getReportKindName(report.kind);
      entry["op"] = report.op;
      entry["tensor"] = report.tensor;
      entry["core"] = report.core;
      entry["address"] = report.address;
      entry["message"] = report.message;
      list.append(entry);
    }
    raise("CheckError", nb::make_tuple(list, numReports));
  }

  std::shared_ptr<NativeDevice> device;
  std::unique_ptr<PythonHost> host;
  NumberPolicy policy;
  std::unique_ptr<LoadedProgram> loaded;
  std::unique_ptr<ProgramSession> session;
};

nb::dict getCounters(NativeDevice &device) {
  Counters counters;
  int64_t used = 0, peak = 0;
  refuseInHostCall(device);
  {
    nb::gil_scoped_release release;
    DeviceUse use(device);
    Emulator &emulator = device.runtime.getEmulator();
    counters = emulator.getCounters();
    used = emulator.getMemory().getUsedInBytes();
    peak = emulator.getMemory().getPeakInBytes();
  }
  nb::dict result;
  result["device_ops"] = counters.launches;
  result["hbm_read_bytes_counted"] = counters.readInBytes;
  result["hbm_write_bytes_counted"] = counters.writtenInBytes;
  result["lx_bytes_peak"] = counters.peakLXInBytes;
  result["modelled_us"] = counters.modelledInNs / 1000;
  result["transfer_us"] = counters.transferInNs / 1000;
  result["elapsed_us"] = counters.elapsedInNs / 1000;
  result["memory_used_bytes"] = used;
  result["memory_peak_bytes"] = peak;
  return result;
}

nb::list getSharedArrays(NativeDevice &device) {
  std::vector<SharedArrays::Description> all;
  refuseInHostCall(device);
  {
    nb::gil_scoped_release release;
    DeviceUse use(device);
    all = device.shared.describe();
  }
  nb::list result;
  for (const SharedArrays::Description &array : all)
    result.append(nb::make_tuple(array.layout, array.sizeInBytes, array.users, array.others));
  return result;
}

} // namespace

NB_MODULE(_runtime, m) {
  m.doc() = "Devices and compiled programs.";
  m.def(
      "replace_directory",
      [](const std::string &made, const std::string &target) {
        auto old = spyre::replaceDirectory(made, target);
        if (auto *problem = std::get_if<std::string>(&old))
          raise("SpyreError", *problem);
        return std::get<std::filesystem::path>(old).string();
      },
      "made"_a, "target"_a,
      "Puts a folder in the place of one beside it, in one step; returns where that is now.");
  m.def("parse_rates", &parseRates, "text"_a, "source"_a, "device"_a = "spyre",
        "The rates of a rates file's text, by name; `source` is what messages call it.");
  // Devices are shared by programs and live until the process ends.
  nb::set_leak_warnings(false);
  nb::class_<NativeDevice>(m, "Device", "An emulated device.")
      .def(nb::new_(&makeDevice), "name"_a = "spyre", nb::kw_only(), "checked"_a = false,
           "count_only"_a = false, "threads"_a = 0, "seed"_a = 0)
      .def_prop_ro("name", [](NativeDevice &d) { return std::string(d.description.getName()); })
      .def_prop_ro(
          "description", [](NativeDevice &d) { return d.description.toJson(); },
          "The content of its device file.")
      .def_prop_ro("num_cores", [](NativeDevice &d) { return d.description.getNumCores(); })
      .def_prop_ro("memory_bytes", [](NativeDevice &d) { return d.description.getMemoryInBytes(); })
      .def_prop_ro("checked",
                   [](NativeDevice &d) { return d.runtime.getEmulator().getOptions().checked; })
      .def_prop_ro("count_only",
                   [](NativeDevice &d) { return d.runtime.getEmulator().getOptions().countOnly; })
      .def("shared_arrays", &getSharedArrays,
           "(layout, bytes, programs, other layouts of the same array) of what programs share.")
      .def("counters", &getCounters, "What the device has counted since it was made.");
  nb::class_<ChecksumTable>(m, "Checksums", "Blocks of memory with the sums that they had.")
      .def(nb::init<size_t>(), "samples"_a = 0)
      .def(
          "set",
          [](ChecksumTable &table, size_t index, uintptr_t address, size_t size) {
            table.set(index, reinterpret_cast<const void *>(address), size);
          },
          "index"_a, "address"_a, "size"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Block `index` is this memory from now on, as it is now; size 0: none.")
      .def("changed", &ChecksumTable::findChanged, nb::call_guard<nb::gil_scoped_release>(),
           "Numbers of the blocks that hold something else than when they were set.");
  nb::class_<NativeProgram>(m, "Program", "A program directory on a device.")
      .def(nb::init<const std::string &, std::shared_ptr<NativeDevice>, nb::object,
                    const spyre::RateValues &>(),
           "directory"_a, "device"_a, "host"_a = nb::none(), "rates"_a = spyre::RateValues(),
           "rates: in the place of those that the program was compiled with.")
      .def_prop_ro("host_calls", &NativeProgram::getHostCalls)
      .def_prop_ro("host_reasons", &NativeProgram::getHostReasons)
      .def_prop_ro("arguments", &NativeProgram::getArguments)
      .def_prop_ro("results", &NativeProgram::getResults)
      .def("bind", &NativeProgram::bind, "index"_a, "array"_a, "key"_a = 0,
           "The argument is this array from now on; it is copied to the device now. key: a number "
           "that this array alone has; programs that bind it by the same number share one copy. "
           "Returns what there is to say of its numbers, or None.")
      .def_prop_ro("constant_numbers", &NativeProgram::getConstantNumbers)
      .def_prop_ro("uses_dl16", &NativeProgram::usesDL16)
      .def("set_number_policy", &NativeProgram::setNumberPolicy, nb::kw_only(), "stops_at_nan"_a,
           "stops_out_of_range"_a, "stops_after_host_calls"_a,
           "When a run ends early because of numbers that the device cannot tell or hold.")
      .def("run", &NativeProgram::run, "inputs"_a,
           "One run. inputs: an array, or an address, an argument; None where it is bound. "
           "Returns the results or, if there is something to say of numbers, (results or None, "
           "that).");
}
