//===- spyre-run.cpp - Runs artefacts on the device emulator ----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Load, copy in, launch, copy out, compare. A bundle directory of ours brings its
// plan and launch spec; for a foreign one the Loader makes the plan from
// bundle.mlir and --bind (or -i and -o) says what the arguments are. A kernel (KTIR) is
// run as it stands.
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include "Kernels.h"
#include "Options.h"
#include "ShortArguments.h"

#include "spyre/Compiler/Compile.h"
#include "spyre/Device/Rates.h"
#include "spyre/KTIRExecutor/KernelFile.h"
#include "spyre/Loader/Loader.h"
#include "spyre/Report/Trace.h"
#include "spyre/Runtime/ProgramRun.h"
#include "spyre/Support/AtomicDirectory.h"
#include "spyre/Support/JsonReader.h"
#include "spyre/Support/Version.h"
#include "spyre/Tools/Register.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"

#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>

using namespace spyre;
using namespace spyre::tools;
using runtime::Error;
using runtime::HostTensor;

namespace {

int fail(const std::string &message) {
  std::fprintf(stderr, "spyre-run: error: %s\n", message.c_str());
  return 1;
}

/// The description of the arguments that the command line gives, if any.
runtime::Result<std::optional<artifact::LaunchSpec>> readBinding(const RunOptions &options) {
  if (!options.bind.empty()) {
    auto text = runtime::readTextFile(options.bind);
    if (auto *error = std::get_if<Error>(&text))
      return *error;
    auto read = artifact::readLaunchSpec(std::get<std::string>(text));
    if (auto *error = std::get_if<artifact::FileError>(&read))
      return Error{options.bind + (error->where.empty() ? "" : ":" + error->where) + ": " +
                   error->message};
    return std::optional(std::move(std::get<artifact::LaunchSpec>(read)));
  }
  if (options.shortArguments.empty())
    return std::optional<artifact::LaunchSpec>();
  artifact::LaunchSpec spec;
  unsigned numInputs = 0, numOutputs = 0;
  for (const auto &[isOutput, text] : options.shortArguments) {
    auto argument = parseShortArgument(text, isOutput, isOutput ? numOutputs++ : numInputs++);
    if (auto *error = std::get_if<Error>(&argument))
      return *error;
    spec.arguments.push_back(std::move(std::get<artifact::ArgumentSpec>(argument)));
  }
  return std::optional(std::move(spec));
}

/// What there is to run, whatever it came from.
struct Executable {
  /// A bundle directory stands alone; everything else is a program.
  std::optional<runtime::Bundle> bundle;
  std::optional<runtime::LoadedProgram> program;
  std::optional<compiler::CompileStats> compileStats;

  std::vector<artifact::HostArray> getInputs() const {
    if (program)
      return program->program.arguments;
    std::vector<artifact::HostArray> inputs;
    std::set<std::string> seen;
    for (const artifact::ArgumentSpec &spec : bundle->spec.arguments)
      if ((spec.role == artifact::Role::Input || spec.role == artifact::Role::InputOutput) &&
          seen.insert(spec.array).second)
        inputs.push_back({spec.array, spec.dtype, spec.shape});
    return inputs;
  }
  std::optional<Error> checkCapacity(const Device &device, bool countOnly) const {
    return program ? runtime::checkCapacity(*program, device, countOnly)
                   : runtime::checkCapacity(*bundle, device, countOnly);
  }
  const std::string &getName() const { return program ? program->program.name : bundle->plan.name; }
  runtime::Result<std::map<std::string, HostTensor>>
  run(runtime::Runtime &runtime, const std::map<std::string, HostTensor> &inputs) const {
    return program ? runtime::runProgram(runtime, *program, inputs)
                   : runtime::runBundle(runtime, *bundle, inputs);
  }
  int64_t getNumBundles() const { return program ? int64_t(program->bundles.size()) : 1; }
  int64_t getPoolInBytes() const {
    if (bundle)
      return std::max(bundle->plan.poolInBytes, bundle->spec.poolInBytes);
    int64_t bytes = 0;
    for (const auto &[name, part] : program->bundles)
      bytes = std::max({bytes, part.plan.poolInBytes, part.spec.poolInBytes});
    return bytes;
  }
};

runtime::Result<runtime::Bundle> loadBundleDirectory(const RunOptions &options) {
  namespace fs = std::filesystem;
  std::error_code code;
  auto binding = readBinding(options);
  if (auto *error = std::get_if<Error>(&binding))
    return *error;
  auto &spec = std::get<std::optional<artifact::LaunchSpec>>(binding);
  if (!spec && !fs::exists(runtime::findLaunchSpec(options.input), code))
    return Error{options.input + ": it has neither program.json nor launch_spec.json; say what a "
                                 "bundle's arguments are with --bind, or with -i and -o"};
  if (!spec && fs::exists(options.input + "/" + runtime::kKernelFile, code))
    return runtime::loadKernelBundle(options.input, ktir::readKernelFile);
  std::optional<artifact::Plan> plan;
  if (!fs::exists(options.input + "/plan.json", code)) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    llvm::SourceMgr sources;
    mlir::SourceMgrDiagnosticHandler handler(sources, &context);
    auto loaded = loadBundlePlan(options.input, context, /*readsSpec=*/!spec);
    if (mlir::failed(loaded))
      return Error{options.input + ": no plan can be made from its bundle.mlir"};
    plan = std::move(*loaded);
  }
  return runtime::loadBundle(options.input, std::move(plan), std::move(spec));
}

/// Compiles options.input for arrays as in \p given. Diagnostics have been shown if it
/// fails; \p status is then what the program returns.
runtime::Result<Executable> compileInput(const RunOptions &options, const npz::Archive &given,
                                         int &status) {
  auto flags = compiler::makeOptions(options.compile);
  if (auto *message = std::get_if<std::string>(&flags))
    return Error{*message};
  auto &compileOptions = std::get<compiler::CompileOptions>(flags);
  while (const npz::Array *array =
             npz::lookup(given, "in" + std::to_string(compileOptions.inputShapes.size())))
    compileOptions.inputShapes.push_back(array->shape);
  ScratchDirectory scratch("spyre-run");
  if (scratch.getPath().empty())
    return Error{"no temporary folder can be made for the compiled program"};
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  Executable executable;
  executable.compileStats.emplace();
  std::string directory = (scratch.getPath() / "program").string();
  if (mlir::failed(compiler::compileFile(options.input, directory, compileOptions,
                                         *executable.compileStats, context))) {
    if (!executable.compileStats->usageError.empty()) {
      status = 2;
      return Error{executable.compileStats->usageError};
    }
    return Error{options.input + ": it was not compiled" +
                 (executable.compileStats->needsShapes
                      ? "; its arguments have open sizes (?), which --inputs has to give"
                      : "")};
  }
  auto program = runtime::loadProgram(directory, ktir::readKernelFile);
  if (auto *error = std::get_if<Error>(&program))
    return *error;
  executable.program = std::move(std::get<runtime::LoadedProgram>(program));
  return executable;
}

runtime::Result<Executable> load(const RunOptions &options, const npz::Archive &given,
                                 int &status) {
  namespace fs = std::filesystem;
  std::error_code code;
  if (!fs::exists(options.input, code))
    return Error{options.input + ": no such file or directory"};
  if (!fs::is_directory(options.input, code))
    return compileInput(options, given, status);
  Executable executable;
  if (fs::exists(options.input + "/program.json", code)) {
    if (!options.bind.empty() || !options.shortArguments.empty() || !options.sizes.empty())
      return Error{options.input + ": a program directory says itself what its arguments are; "
                                   "--bind, -i, -o and --sizes are for bundle directories"};
    auto program = runtime::loadProgram(options.input, ktir::readKernelFile);
    if (auto *error = std::get_if<Error>(&program))
      return *error;
    executable.program = std::move(std::get<runtime::LoadedProgram>(program));
    return executable;
  }
  auto bundle = loadBundleDirectory(options);
  if (auto *error = std::get_if<Error>(&bundle))
    return *error;
  executable.bundle = std::move(std::get<runtime::Bundle>(bundle));
  if (!options.sizes.empty())
    if (auto error = runtime::setSizes(*executable.bundle, options.sizes))
      return *error;
  return executable;
}

struct Outcome {
  double maxAbsError = 0, maxRelError = 0;
  bool compared = false;
};

/// Compares every result with the expected arrays. False: they differ.
bool compareAll(const std::map<std::string, HostTensor> &outputs, const npz::Archive &expected,
                const RunOptions &options, Outcome &outcome) {
  bool good = true;
  outcome.compared = true;
  for (const auto &[name, tensor] : outputs) {
    const npz::Array *array = npz::lookup(expected, "ref" + name.substr(3));
    if (!array)
      array = npz::lookup(expected, name);
    if (!array) {
      good = false;
      fail(options.expect + ": it has neither ref" + name.substr(3) + " nor " + name);
      continue;
    }
    Comparison comparison = compare(tensor, *array, options.rtol, options.atol);
    outcome.maxAbsError = std::max(outcome.maxAbsError, comparison.maxAbsError);
    outcome.maxRelError = std::max(outcome.maxRelError, comparison.maxRelError);
    if (!comparison.equal) {
      good = false;
      fail(name + " differs from " + options.expect + ": " + comparison.message);
    }
  }
  // "out0", "out1", ...; an archive may hold notes beside the arrays.
  auto isResult = [](const std::string &name) {
    return name.size() > 3 && name.compare(0, 3, "out") == 0 &&
           name.find_first_not_of("0123456789", 3) == std::string::npos;
  };
  for (const auto &[name, array] : expected)
    if (isResult(name) && !outputs.count(name)) {
      good = false;
      fail(options.expect + ": it has " + name + ", the program has no such result");
    }
  return good;
}

/// The most memory that this process has had; nothing if the system does not say. Not
/// getrusage's figure, which starts with the parent's.
std::optional<int64_t> getPeakMemoryInBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (int64_t kib = 0; std::sscanf(line.c_str(), "VmHWM: %" SCNd64, &kib) == 1)
      return kib * 1024;
  return std::nullopt;
}

std::string statsJson(runtime::Runtime &runtime, const Executable &executable,
                      const Outcome &outcome, double seconds) {
  const runtime::Counters &counters = runtime.getEmulator().getCounters();
  json::Document stats;
  if (executable.compileStats)
    stats = json::Document::parse(compiler::toJson(*executable.compileStats));
  stats["bundles"] = executable.getNumBundles();
  stats["device_ops"] = counters.launches;
  if (executable.program) {
    stats["host_calls"] = json::Document::object();
    for (const auto &[function, count] : artifact::countHostCalls(executable.program->program))
      stats["host_calls"][function] = count;
  }
  stats["hbm_read_bytes_counted"] = counters.readInBytes;
  stats["hbm_write_bytes_counted"] = counters.writtenInBytes;
  stats["lx_bytes_peak"] = counters.peakLXInBytes;
  stats["pool_bytes"] = executable.getPoolInBytes();
  stats["modelled_us"] = counters.modelledInNs / 1000;
  stats["transfer_us"] = counters.transferInNs / 1000;
  stats["elapsed_us"] = counters.elapsedInNs / 1000;
  stats["run_s"] = seconds;
  if (outcome.compared) {
    stats["max_abs_error"] = outcome.maxAbsError;
    stats["max_rel_error"] = outcome.maxRelError;
  }
  if (std::optional<int64_t> peak = getPeakMemoryInBytes())
    stats["peak_rss_bytes"] = *peak;
  return stats.dump(2) + "\n";
}

/// Runs a kernel, writes and compares its results.
int runKernel(const RunOptions &options) {
  npz::Archive given, expected;
  for (auto [file, archive] : {std::pair(&options.inputs, &given), {&options.expect, &expected}}) {
    if (file->empty())
      continue;
    auto read = npz::readNpz(*file);
    if (auto *error = std::get_if<npz::Error>(&read))
      return fail(error->message);
    *archive = std::move(std::get<npz::Archive>(read));
  }
  for (auto [flag, isGiven] : {std::pair("--cost-only", options.costOnly),
                               {"--trace", !options.trace.empty()},
                               {"--sizes", !options.sizes.empty()}})
    if (isGiven)
      return fail(options.input + ": " + flag + " is not for kernels");
  auto result = runKernelFile(options, given);
  if (auto *error = std::get_if<Error>(&result))
    return fail(error->message);
  const auto &kernel = std::get<KernelOutcome>(result);
  if (!options.outputs.empty()) {
    npz::Archive archive;
    for (const auto &[name, tensor] : kernel.outputs)
      archive.emplace_back(name, toNumpy(tensor));
    if (auto error = npz::writeNpz(options.outputs, archive))
      return fail(error->message);
  }
  Outcome outcome;
  bool good = options.expect.empty() || compareAll(kernel.outputs, expected, options, outcome);
  if (!options.stats.empty()) {
    std::string text = toJson(kernel);
    if (auto message = writeFileAtomically(options.stats, [&](std::ostream &os) { os << text; }))
      return fail(*message);
  }
  return good ? 0 : 1;
}

bool isDirectory(const std::string &path) {
  std::error_code code;
  return std::filesystem::is_directory(path, code);
}

/// Puts the rates of options.compile.ratesFile in the place of those of \p executable, a
/// directory's that has been loaded, and of \p device. A message if they are wrong.
std::optional<std::string> replaceRatesOf(Executable &executable, Device &device,
                                          const RunOptions &options) {
  if (options.compile.ratesFile.empty())
    return std::nullopt;
  auto rates = readRatesFile(options.compile.ratesFile, device);
  if (auto *message = std::get_if<std::string>(&rates))
    return *message;
  if (executable.program)
    for (const auto &[name, value] : std::get<RateValues>(rates))
      executable.program->program.rates[name] = value;
  auto replaced = replaceRates(device, std::get<RateValues>(rates));
  device = std::get<Device>(std::move(replaced));
  return std::nullopt;
}

int run(const RunOptions &options) {
  if (looksLikeKernel(options.input))
    return runKernel(options);
  auto device = Device::resolve(options.device);
  if (auto *message = std::get_if<std::string>(&device))
    return fail(*message);
  npz::Archive given, expected;
  if (!options.inputs.empty()) {
    auto archive = npz::readNpz(options.inputs);
    if (auto *error = std::get_if<npz::Error>(&archive))
      return fail(error->message);
    given = std::move(std::get<npz::Archive>(archive));
  }
  int status = 1;
  auto loaded = load(options, given, status);
  if (auto *error = std::get_if<Error>(&loaded)) {
    fail(error->message);
    return status;
  }
  if (isDirectory(options.input))
    if (auto message =
            replaceRatesOf(std::get<Executable>(loaded), std::get<Device>(device), options)) {
      fail(*message);
      return 2;
    }
  const Executable &executable = std::get<Executable>(loaded);

  if (auto error = executable.checkCapacity(std::get<Device>(device), options.costOnly))
    return fail(error->message);
  if (executable.bundle)
    if (auto error = checkShortArguments(*executable.bundle, options.shortArguments))
      return fail(error->message);
  if (!options.expect.empty()) {
    auto archive = npz::readNpz(options.expect);
    if (auto *error = std::get_if<npz::Error>(&archive))
      return fail(error->message);
    expected = std::move(std::get<npz::Archive>(archive));
  }
  std::map<std::string, HostTensor> inputs;
  for (const artifact::HostArray &spec : executable.getInputs()) {
    if (options.costOnly) {
      inputs[spec.name] = HostTensor{spec.dtype, spec.shape, {}};
      continue;
    }
    if (options.inputs.empty()) {
      inputs[spec.name] = makeRandom(spec.dtype, spec.shape, options.seed * 1000 + inputs.size());
      continue;
    }
    const npz::Array *array = npz::lookup(given, spec.name);
    if (!array)
      return fail(options.inputs + ": input " + spec.name + " is missing");
    auto tensor = toHostTensor(*array, spec.dtype);
    if (auto *error = std::get_if<Error>(&tensor))
      return fail(options.inputs + ": " + spec.name + ": " + error->message);
    inputs[spec.name] = std::move(std::get<HostTensor>(tensor));
  }

  runtime::EmulatorOptions emulatorOptions;
  emulatorOptions.checked = options.check;
  emulatorOptions.countOnly = options.costOnly;
  emulatorOptions.timeline = !options.trace.empty();
  emulatorOptions.numThreads = options.threads;
  emulatorOptions.seed = options.seed;
  auto begin = std::chrono::steady_clock::now();
  runtime::Runtime runtime(std::get<Device>(device), emulatorOptions);
  if (options.progress)
    runtime.setProgress([step = 0](const std::string &text) mutable {
      std::fprintf(stderr, "spyre-run: step %d: %s\n", ++step, text.c_str());
    });
  auto result = executable.run(runtime, inputs);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const runtime::Emulator &emulator = runtime.getEmulator();
  for (const runtime::Report &report : emulator.getReports())
    std::fprintf(stderr, "spyre-run: check: %s\n", report.toString().c_str());
  int64_t silent = emulator.getNumReports() - int64_t(emulator.getReports().size());
  if (silent > 0)
    std::fprintf(stderr, "spyre-run: check: and %lld more\n", static_cast<long long>(silent));
  if (auto *error = std::get_if<Error>(&result))
    return fail(error->message);
  const auto &outputs = std::get<std::map<std::string, HostTensor>>(result);

  if (!options.outputs.empty()) {
    npz::Archive archive;
    for (const auto &[name, tensor] : outputs)
      archive.emplace_back(name, toNumpy(tensor));
    if (auto error = npz::writeNpz(options.outputs, archive))
      return fail(error->message);
  }
  Outcome outcome;
  bool good = options.expect.empty() || compareAll(outputs, expected, options, outcome);
  if (!options.trace.empty()) {
    const Device &emulated = emulator.getDevice();
    if (auto message = writeFileAtomically(options.trace, [&](std::ostream &os) {
          report::writeTrace(emulator.getTimeline(), emulated.getNumCores(), executable.getName(),
                             emulated.getName(), os);
        }))
      return fail(*message);
  }
  if (!options.stats.empty()) {
    std::string text = statsJson(runtime, executable, outcome, seconds);
    if (auto message = writeFileAtomically(options.stats, [&](std::ostream &os) { os << text; }))
      return fail(*message);
  }
  if (emulator.getNumReports() > 0)
    return fail(std::to_string(emulator.getNumReports()) +
                (emulator.getNumReports() == 1 ? " access was" : " accesses were") +
                " reported by checked mode");
  return good ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  if (spyre::printVersionIfAsked(argc, argv))
    return 0;
  cleanUpOnInterrupt();
  auto parsed = parseOptions(argc, argv);
  if (std::holds_alternative<HelpRequest>(parsed)) {
    std::fputs(kHelpText, stdout);
    return 0;
  }
  if (auto *error = std::get_if<UsageError>(&parsed)) {
    std::fprintf(stderr, "spyre-run: %s (--help shows the usage)\n", error->message.c_str());
    return 2;
  }
  // A wrong value of a flag is wrong usage whatever the input is. A directory is compiled already:
  // its device may be a file, which its rates have to fit to.
  compiler::CompileFlagValues values = std::get<RunOptions>(parsed).compile;
  if (isDirectory(std::get<RunOptions>(parsed).input)) {
    values.device = "spyre";
    values.ratesFile.clear();
  }
  auto flags = compiler::makeOptions(values);
  if (auto *message = std::get_if<std::string>(&flags)) {
    std::fprintf(stderr, "spyre-run: error: %s\n", message->c_str());
    return 2;
  }
  // Arrays come in the sizes that files ask for.
  try {
    return run(std::get<RunOptions>(parsed));
  } catch (const std::bad_alloc &) {
    return fail("the host does not have the memory that this run needs");
  } catch (const std::length_error &) {
    return fail("an array is larger than the host can address");
  }
}
