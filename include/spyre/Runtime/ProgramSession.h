//===- ProgramSession.h - A program that runs many times --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loaded program on a device: its steps with all names looked up, and what stays in
// device memory between runs. Constants, and arguments that the caller binds (weights),
// are copied in once. A session and its runtime belong to one thread at a time.
// MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_RUNTIME_PROGRAMSESSION_H
#define SPYRE_RUNTIME_PROGRAMSESSION_H

#include "spyre/Runtime/HostFunctions.h"
#include "spyre/Runtime/KeptBuffers.h"
#include "spyre/Runtime/ProgramRun.h"
#include "spyre/Runtime/SharedArrays.h"

namespace spyre::runtime {

/// What a caller may want to tell apart.
enum class Failure {
  Arguments, ///< number, type, shape or content of the arrays
  Memory,    ///< device or host memory does not suffice
  Execution,
};

struct RunError {
  Failure kind = Failure::Execution;
  std::string message;
};

struct SessionOptions {
  /// Constants and bound arguments stay on the device, and so do small buffers. Without,
  /// memory is used exactly as the program's steps say.
  bool keepBuffers = true;
  /// Who computes host calls; null: lib/Host. Must outlive the session.
  HostFunctions *host = nullptr;
  /// Where constants and bound arguments are that other sessions have, too; null: each has
  /// its own. Must outlive the session.
  SharedArrays *shared = nullptr;
  /// How much all sessions together keep between runs; null: each as much as it may alone.
  /// Must outlive the session.
  KeptBuffers *kept = nullptr;
  /// Buffers of a program up to this size together are not given back between runs.
  static constexpr int64_t kKeptInBytes = int64_t(256) << 20;
};

/// An array with numbers that the device cannot tell or hold (NumberCounts.h).
struct NumberFinding {
  enum Where {
    Argument,
    Constant, ///< of the program
    HostCall, ///< what a host call made, on its way to the device
    Crossing, ///< what the device made, on its way to a host call
    Result,   ///< what the device made, on its way out
  } where = Argument;
  std::string name; ///< "in0"; of what host calls make: the call; of what crosses: empty
  std::vector<int64_t> shape;
  NumberCounts counts;
};

/// "argument", "host call", ...
const char *getWhereName(NumberFinding::Where where);

/// When a run ends early because of such numbers.
struct NumberPolicy {
  bool stopsAtNaN = false, stopsOutOfRange = false;
  /// Also after a host call has run. Where calls must not be repeated, a caller who means to
  /// compute all of it elsewhere has to know before.
  bool stopsAfterHostCalls = true;
};

/// What a run has found. Bound arguments and constants are not in it.
struct RunNumbers {
  std::vector<NumberFinding> found;
  bool isStopped = false; ///< because of the last one found; there are no results
};

/// A program's rates are the emulator's as long as this lives.
class RatesInUse {
public:
  RatesInUse(Emulator &emulator, const std::optional<DeviceRates> &rates)
      : emulator(emulator), before(emulator.getDevice().getRates()), hasOwn(rates) {
    if (hasOwn)
      emulator.setRates(*rates);
  }
  ~RatesInUse() {
    if (hasOwn)
      emulator.setRates(before);
  }
  RatesInUse(const RatesInUse &) = delete;
  RatesInUse &operator=(const RatesInUse &) = delete;

private:
  Emulator &emulator;
  DeviceRates before;
  bool hasOwn;
};

class ProgramSession {
public:
  /// \p runtime and \p loaded must outlive the session. An error if the device's memory does not
  /// suffice, or if the program's rates do not fit to the device.
  static std::variant<std::unique_ptr<ProgramSession>, RunError>
  create(Runtime &runtime, const LoadedProgram &loaded, SessionOptions options = {});
  /// Frees its device memory.
  ~ProgramSession();
  ProgramSession(const ProgramSession &) = delete;
  ProgramSession &operator=(const ProgramSession &) = delete;

  /// Argument \p index is \p array from now on; runs take it from the device. Binding
  /// it again replaces it. \p array is needed no longer afterwards. Sessions that bind an
  /// array by the same \p key see it as the one that came last has passed it.
  std::optional<RunError> bind(size_t index, const HostTensor &array, ArrayKey key = {});
  /// What is to be said of the numbers of an argument that is bound, or of the program's
  /// constants.
  std::optional<NumberFinding> getBoundNumbers(size_t index) const;
  std::vector<NumberFinding> getConstantNumbers() const;
  bool isBound(size_t index) const { return arguments[index].bound; }

  /// Whether anything on the device has DL16, with its one code for infinity and NaN.
  bool usesDL16() const;

  /// One run. \p inputs: a tensor an argument of the program; null where it is bound.
  /// \p results: one a result. On an emulator that only counts they have no data.
  /// \p numbers, if given, gets what the run has found as far as it went.
  std::optional<RunError> run(const std::vector<const HostTensor *> &inputs,
                              std::vector<HostTensor> &results, NumberPolicy policy = {},
                              RunNumbers *numbers = nullptr);

private:
  struct Buffer {
    int64_t sizeInBytes = 0;
    const ArgumentSpec *layout = nullptr; ///< null: no bundle uses it
    const std::string *name = nullptr;
    int64_t address = -1;
    /// The array that it always holds, if it is only ever copied in; else -1.
    int array = -1;
    bool isWritten = false; ///< by a launch, or with several arrays
    bool isUploaded = false;
    ArrayKey key{}; ///< of whom the memory is shared with
  };
  struct Array {
    const HostArray *host = nullptr;
    bool bound = false;
    /// Of one that is copied in on each run all the same, or that the host reads.
    std::shared_ptr<const HostTensor> kept;
    const HostTensor *constant = nullptr; ///< of the program
    NumberCounts numbers;                 ///< of what is bound, or of the constant
    const runtime::HostCall *maker = nullptr;
    bool isResult = false;
  };
  struct Action {
    enum Kind { CopyIn, CopyOut, Launch, HostCall, Free } kind = Free;
    int buffer = -1, array = -1;
    const Bundle *bundle = nullptr;
    std::vector<int> buffers; ///< of a launch; -1: a constant
    const runtime::HostCall *call = nullptr;
    std::vector<int> inputs, outputs; ///< arrays of a host call
    std::vector<int> lastUses;        ///< arrays that nothing needs after this
  };

  ProgramSession(Runtime &runtime, const LoadedProgram &loaded, SessionOptions options)
      : runtime(runtime), loaded(loaded), options(options) {}
  std::optional<RunError> prepare();
  void noteLastUses();
  std::optional<RunError> allocate(Buffer &buffer);
  /// Copies argument or constant \p array into the buffers that always hold it.
  std::optional<RunError> upload(int array, const HostTensor &tensor, const ArrayKey &key);
  std::optional<RunError> uploadShared(Buffer &buffer, const HostTensor &tensor,
                                       const ArrayKey &key);
  /// Gives back the memory of \p buffer.
  void release(Buffer &buffer);
  std::optional<RunError> checkArray(const Array &array, const HostTensor &tensor) const;
  std::optional<RunError> runAction(const Action &action,
                                    const std::vector<const HostTensor *> &inputs,
                                    std::vector<HostTensor> &made, RunNumbers &numbers);
  /// Counts \p tensor in the formats in which the steps copy \p array to the device.
  void noteNumbers(int array, const HostTensor &tensor);
  NumberFinding makeFinding(int array, NumberFinding::Where where,
                            const NumberCounts &counts) const;
  std::optional<RunError> callHost(const Action &action,
                                   const std::vector<const HostTensor *> &inputs,
                                   std::vector<HostTensor> &made);
  /// Array \p index as it is now.
  const HostTensor &getTensor(int index, const std::vector<const HostTensor *> &inputs,
                              const std::vector<HostTensor> &made) const;
  bool isKept(const Buffer &buffer) const { return buffer.isUploaded || keepTransients; }
  void release(bool everything);

  Runtime &runtime;
  const LoadedProgram &loaded;
  SessionOptions options;
  std::optional<DeviceRates> rates; ///< where the program has its own
  bool keepTransients = false;
  int64_t transientInBytes = 0;
  std::vector<Buffer> buffers;
  std::vector<Array> arguments; ///< arguments, constants, then what the steps make
  size_t numInputs = 0;
  std::vector<int> results; ///< positions of the results in \c arguments
  std::vector<Action> actions;
  std::vector<int64_t> addresses; ///< of the launch under way
};

} // namespace spyre::runtime

#endif // SPYRE_RUNTIME_PROGRAMSESSION_H
