//===- Emulator.h - Executes descriptors ------------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emulated device: device memory, a scratchpad a core, and the execution of
// one SuperDSC descriptor at a time. Every core computes its work slice from what
// memory held before the descriptor; results are stored afterwards in the order of
// the cores, so nothing depends on the number of threads. What the descriptor does
// not determine is an error by name. Checked mode adds reports. MLIR-free.
// Source of the rules: SuperDSC reference, section 9; architecture, rule 8.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_RUNTIME_EMULATOR_H
#define SPYRE_RUNTIME_EMULATOR_H

#include "spyre/Device/Device.h"
#include "spyre/Runtime/Memory.h"
#include "spyre/Runtime/Timeline.h"
#include "spyre/SuperDSC/Descriptor.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spyre::runtime {

struct EmulatorOptions {
  bool checked = false;
  /// Count and advance the clock without computing: memory has addresses and sizes
  /// but no content, copies move nothing.
  bool countOnly = false;
  /// Row by row, never the faster ways to the same bits (checked mode never takes
  /// them either).
  bool generalPathOnly = false;
  /// Record what ran when (getTimeline).
  bool timeline = false;
  /// Threads that execute work slices; 0: one a processor.
  unsigned numThreads = 0;
  /// Decides what undefined lanes hold.
  uint64_t seed = 0;
  /// Reports beyond this number are only counted.
  size_t maxReports = 100;
};

/// What checked mode found.
enum class ReportKind {
  OutOfBounds,
  Unaligned,
  NeverWritten,
  OtherCoresLX,
  Conflict,
  LXOverflow,
  SpanOverflow,
  Undefined,
};
const char *getReportKindName(ReportKind kind);

struct Report {
  ReportKind kind = ReportKind::OutOfBounds;
  std::string op; ///< "sdsc_3.json (exp)"; "copy-out of out0"
  int core = -1;  ///< -1: the host
  int64_t address = 0;
  std::string message;
  /// "sdsc_3.json (exp), core 5, address 4096: reads memory that nobody wrote".
  std::string toString() const;
};

struct Counters {
  int64_t launches = 0;    ///< descriptors executed
  int64_t readInBytes = 0; ///< device memory: distinct sticks an operand, broadcast once
  int64_t writtenInBytes = 0;
  int64_t peakLXInBytes = 0; ///< of one core
  double modelledInNs = 0;   ///< the clock
};

/// Runs jobs 0..n-1 on some threads.
class ThreadPool {
public:
  explicit ThreadPool(unsigned numThreads);
  ~ThreadPool();
  void run(int64_t n, const std::function<void(int64_t)> &job);

private:
  struct State;
  std::unique_ptr<State> state;
};

class Emulator {
public:
  Emulator(Device device, EmulatorOptions options);
  ~Emulator();

  const Device &getDevice() const { return device; }
  const EmulatorOptions &getOptions() const { return options; }
  DeviceMemory &getMemory() { return memory; }

  /// A launch begins: in checked mode the scratchpads hold nothing.
  void beginLaunch();

  /// Executes \p descriptor. \p symbols: address of a symbol id. \p name: what
  /// messages call it. Errors: an operation or form that is not specified, a
  /// descriptor that the device cannot execute, and outside checked mode whatever
  /// checked mode would report as out of bounds or unaligned.
  std::optional<Error> execute(const sdsc::Descriptor &descriptor, const std::string &name,
                               const std::function<std::optional<int64_t>(int64_t)> &symbols);

  void report(Report report);
  const std::vector<Report> &getReports() const { return reports; }
  int64_t getNumReports() const { return numReports; }
  const Counters &getCounters() const { return counters; }

  /// What ran when; empty unless asked for. An event added from outside happens now.
  const std::vector<TimelineEvent> &getTimeline() const { return timeline; }
  void addEvent(TimelineEvent event);

private:
  friend class Execution;
  Device device;
  EmulatorOptions options;
  DeviceMemory memory;
  std::vector<Block> scratchpads; ///< one a core
  ThreadPool pool;
  std::vector<Report> reports;
  int64_t numReports = 0;
  Counters counters;
  std::vector<TimelineEvent> timeline;
  uint32_t epoch = 0;
};

} // namespace spyre::runtime

#endif // SPYRE_RUNTIME_EMULATOR_H
