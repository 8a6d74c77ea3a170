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

class ProgramSession {
public:
  /// \p runtime and \p loaded must outlive the session.
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
  bool isBound(size_t index) const { return arguments[index].bound; }

  /// One run. \p inputs: a tensor an argument of the program; null where it is bound.
  /// \p results: one a result. On an emulator that only counts they have no data.
  std::optional<RunError> run(const std::vector<const HostTensor *> &inputs,
                              std::vector<HostTensor> &results);

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
                                    std::vector<HostTensor> &made);
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
