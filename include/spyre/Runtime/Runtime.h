//===- Runtime.h - Loading and launching bundles ----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime core: device buffers, copies with layout and number conversion,
// launches of a bundle by its plan, in-order streams. A program's steps map to it
// one to one: CopyIn -> copyIn, LaunchBundle -> launch, CopyOut -> copyOut, Free ->
// free. It knows artefacts only as data (Plan.h, Descriptor.h). MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_RUNTIME_RUNTIME_H
#define SPYRE_RUNTIME_RUNTIME_H

#include "spyre/Runtime/Artifacts.h"
#include "spyre/Runtime/Emulator.h"
#include "spyre/Runtime/Kernel.h"
#include "spyre/Runtime/Transfer.h"

#include <atomic>
#include <map>
#include <mutex>

namespace spyre::runtime {

/// What launches of a bundle leave for the next one; not for the bundle's copies, which may
/// be changed. Threads may launch one bundle at the same time.
class LaunchMemory {
public:
  /// A launch that can be repeated: by the same emulator at the same rates, with the same
  /// addresses, as long as they mean the same memory.
  struct Prepared {
    uint64_t emulator = 0;
    DeviceRates rates;              ///< that the times of its operations were computed with
    std::vector<int64_t> addresses; ///< of the arguments, and of the pool
    std::vector<std::pair<const uint8_t *, int64_t>> blocks; ///< where, and how large
    std::shared_ptr<Schedule> schedule;
  };

  LaunchMemory() = default;
  LaunchMemory(const LaunchMemory & /*other*/) {}
  LaunchMemory &operator=(const LaunchMemory & /*other*/) {
    isVerified = false;
    put(nullptr);
    return *this;
  }

  /// The descriptors break no rule.
  std::atomic<bool> isVerified = false;
  /// The last launch; nobody else gets it until it is put back.
  std::unique_ptr<Prepared> take() {
    std::lock_guard lock(mutex);
    return std::move(prepared);
  }
  void put(std::unique_ptr<Prepared> launch) {
    std::lock_guard lock(mutex);
    prepared = std::move(launch);
  }

private:
  std::mutex mutex;
  std::unique_ptr<Prepared> prepared;
};

/// A bundle directory in memory.
struct Bundle {
  std::string directory;
  Plan plan;
  LaunchSpec spec;
  std::map<std::string, sdsc::Descriptor> descriptors; ///< by file name
  std::vector<int64_t> sizes;                          ///< of the plan's size parameters
  /// Launched in place of the plan's steps.
  std::shared_ptr<const Kernel> kernel;
  /// The descriptors do not change after the first launch.
  mutable LaunchMemory memory;
};

/// Reads \p directory: plan.json unless \p plan is given, launch_spec.json unless
/// \p spec is given, and every descriptor that the plan launches. Errors name the
/// file: missing, truncated, malformed, of a newer version, outside the directory,
/// a plan and a spec that disagree.
Result<Bundle> loadBundle(const std::string &directory, std::optional<Plan> plan = std::nullopt,
                          std::optional<LaunchSpec> spec = std::nullopt);

/// Reads launch_spec.json and kernel.ktir.mlir of \p directory.
Result<Bundle> loadKernelBundle(const std::string &directory, const KernelReader &reader);

/// Gives the symbolic dims of \p bundle sizes, one a size parameter (the largest ones,
/// unless this is called): before its first launch.
std::optional<Error> setSizes(Bundle &bundle, const std::vector<int64_t> &values);

/// Where the launch specification of a bundle directory is or would be.
std::string findLaunchSpec(const std::string &directory);

/// A whole file, or an error that names it.
Result<std::string> readTextFile(const std::string &file);

class Runtime {
public:
  Runtime(Device device, EmulatorOptions options);
  ~Runtime();

  Emulator &getEmulator() { return emulator; }

  /// Called before each copy and launch with one line that says what happens.
  void setProgress(std::function<void(const std::string &)> callback) {
    progress = std::move(callback);
  }

  Result<int64_t> allocate(int64_t sizeInBytes, const std::string &name);
  void free(int64_t address);

  /// Host array to the buffer at \p address, in the layout of \p spec. \p counts, if given,
  /// gets the numbers that the device cannot tell or hold added.
  std::optional<Error> copyIn(const ArgumentSpec &spec, const HostTensor &host, int64_t address,
                              NumberCounts *counts = nullptr);
  /// The way back; \p host is replaced. In checked mode elements that nobody wrote,
  /// or lanes that no operation defined, are reported.
  std::optional<Error> copyOut(const ArgumentSpec &spec, int64_t address, HostTensor &host,
                               NumberCounts *counts = nullptr);

  /// Runs \p bundle with a buffer an argument. Address -1 for a constant argument:
  /// the runtime makes its stick. The pool is allocated and freed here. Refused: a
  /// wrong number of arguments, a buffer that is too small, and one that holds an
  /// array of another shape, type or layout than the argument; both are named.
  std::optional<Error> launch(const Bundle &bundle, const std::vector<int64_t> &arguments);

private:
  std::optional<Error> runSteps(const Bundle &bundle, const std::vector<Step> &steps,
                                const std::vector<int64_t> &arguments, int64_t pool,
                                std::vector<int64_t> &loopVariables,
                                std::shared_ptr<Schedule> *kept);
  /// What the buffers that \p bundle writes hold from now on.
  void noteResults(const Bundle &bundle, const std::vector<int64_t> &arguments);
  std::optional<Error> runKernel(const Bundle &bundle, const std::vector<int64_t> &arguments,
                                 int64_t poolInBytes);
  std::optional<LaunchMemory::Prepared> describeLaunch(std::vector<int64_t> addresses,
                                                       int64_t pool);
  std::optional<Error> checkSymbols(const sdsc::Descriptor &descriptor,
                                    const std::vector<std::pair<int64_t, int64_t>> &bound,
                                    const std::string &name);
  void setInputs(const Bundle &bundle, const std::vector<int64_t> &arguments, BlockUse use);
  /// Tells about a step and puts it on the timeline.
  void note(cost::TimelineEvent::Kind kind, const std::string &name, const std::string &where,
            int64_t readInBytes, int64_t writtenInBytes);
  std::optional<Error> checkArguments(const Bundle &bundle, const std::vector<int64_t> &arguments);
  Emulator emulator;
  /// By address of a buffer: how its content is laid out.
  std::map<int64_t, ArgumentSpec> layouts;
  std::function<void(const std::string &)> progress;
};

/// Whether the arguments and the pool of \p bundle fit in device memory; an error
/// if not. To be asked before host arrays of these sizes are made. \p countOnly:
/// nothing will be allocated on the host.
std::optional<Error> checkCapacity(const Bundle &bundle, const Device &device,
                                   bool countOnly = false);

/// Allocates, copies in, launches and copies out: a program of one bundle.
/// \p inputs: arrays by name as the spec calls them. The result holds outN.
Result<std::map<std::string, HostTensor>>
runBundle(Runtime &runtime, const Bundle &bundle, const std::map<std::string, HostTensor> &inputs);

/// Work in order on a thread of its own. The first error ends the stream's work;
/// synchronize() returns it.
class Stream {
public:
  Stream();
  ~Stream();
  void enqueue(std::function<std::optional<Error>()> work);
  std::optional<Error> synchronize();

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace spyre::runtime

#endif // SPYRE_RUNTIME_RUNTIME_H
