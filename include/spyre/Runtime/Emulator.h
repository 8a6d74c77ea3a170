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
// Source of the rules: docs/formats/superdsc-rules.md, section 9;
// docs/developer/architecture.md, "The emulator".
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_RUNTIME_EMULATOR_H
#define SPYRE_RUNTIME_EMULATOR_H

#include "spyre/CostModel/Clock.h"
#include "spyre/CostModel/Timeline.h"
#include "spyre/Device/Device.h"
#include "spyre/Runtime/Memory.h"
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
  /// Checked mode also reports results that are covered before anybody read them. A sound
  /// program may have such: a part of a value that it does not need.
  bool reportLost = false;
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
  Padding,
  WrongSlice,
  WrongLayout,
  WrongFormat,
  Overlap,
  Lost,
  ReadOnly,
  StaleSymbol,
};
const char *getReportKindName(ReportKind kind);

struct Report {
  ReportKind kind = ReportKind::OutOfBounds;
  std::string op; ///< "sdsc_3.json (exp)"; "copy-out of out0"
  int core = -1;  ///< -1: the host
  int64_t address = 0;
  std::string message;
  std::string tensor; ///< the operand, or the array of a copy
  /// "sdsc_3.json (exp), core 5, address 4096: reads memory that nobody wrote".
  std::string toString() const;
};

/// One result, or one array copied in, as checked mode remembers it: what the
/// shadow of a stick refers to.
struct WriteRecord {
  /// A dim that the tensor has, in memory order, the outermost first.
  struct Place {
    int64_t size = 1;   ///< of the whole tensor
    int64_t extent = 1; ///< of a core's slice
    int64_t unit = 0;   ///< bytes per step
    int64_t perStick = 0;
    std::vector<int64_t> origin; ///< first element of each core's slice
  };
  std::string op, tensor;
  std::optional<DataFormat> format; ///< nothing: bits that pass under several names
  bool isLX = false;
  bool isDense = false;       ///< the sticks of a core (LX) or of all cores have no holes
  int64_t endOffset = 0;      ///< bytes of a core's slice, from its start
  int64_t begin = 0, end = 0; ///< of all cores (device memory)
  std::vector<int64_t> start; ///< per core
  std::vector<Place> places;
  bool isRead = false;
  int64_t numSticks = 0; ///< stored
  /// The last one that wrote over it, how much of it, and where it began to.
  int32_t overwriter = -1;
  int64_t numOverwritten = 0;
  int overwritingCore = -1;
  int64_t overwrittenAddress = 0;

  /// Whether a core's slice has a stick \p offset bytes behind its start.
  bool touches(int64_t offset) const;
};

struct Counters {
  int64_t launches = 0;    ///< descriptors executed
  int64_t readInBytes = 0; ///< device memory: distinct sticks an operand, broadcast once
  int64_t writtenInBytes = 0;
  int64_t peakLXInBytes = 0; ///< of one core
  double modelledInNs = 0;   ///< kernel times of the descriptors, one after the other
  double transferInNs = 0;   ///< copies to and from the host
  double elapsedInNs = 0;    ///< the clock: with transfers, relayouts and what overlaps
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

/// A descriptor to execute; see Emulator::execute.
struct LaunchRequest {
  const sdsc::Descriptor *descriptor = nullptr;
  std::string name;
  std::function<std::optional<int64_t>(int64_t)> symbols;
  bool isVerified = false; ///< it is known that the descriptor breaks no rule
};

class Schedule;

class Emulator {
public:
  Emulator(Device device, EmulatorOptions options);
  ~Emulator();

  const Device &getDevice() const { return device; }
  /// Kernel times and the clock have \p rates from here on.
  void setRates(const DeviceRates &rates) { device = device.withRates(rates); }
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

  /// The same for a sequence of them, to the same bits; faster, as operations may
  /// run one after the other on a core before the next core begins. \p isEnd: nobody
  /// reads scratchpads or blocks for scratch afterwards; they then hold anything.
  /// \p kept: gets what repeat takes, if there is such.
  std::optional<Error> execute(std::vector<LaunchRequest> launches, bool isEnd = false,
                               std::shared_ptr<Schedule> *kept = nullptr);
  /// Executes the same sequence again. All its addresses must mean the same memory.
  std::optional<Error> repeat(Schedule &schedule);

  /// Which of all emulators of the process.
  uint64_t getNumber() const { return number; }

  void report(Report report);
  /// Remembers who writes (checked mode); the number goes to the sticks' shadows.
  int32_t addWrite(WriteRecord record);
  WriteRecord &getWrite(int32_t number) { return writes[number]; }
  const std::vector<Report> &getReports() const { return reports; }
  /// Reports beyond this number are only counted.
  void setMaxReports(size_t count) { options.maxReports = count; }
  int64_t getNumReports() const { return numReports; }
  const Counters &getCounters() const { return counters; }

  /// What ran when; empty unless asked for.
  const std::vector<cost::TimelineEvent> &getTimeline() const { return timeline; }
  /// \p event, which is no operation, happens now. A transfer takes its time.
  void addEvent(cost::TimelineEvent event);

private:
  friend class Execution;
  uint64_t number;
  Device device; ///< the clock refers to it
  EmulatorOptions options;
  DeviceMemory memory;
  std::vector<Block> scratchpads; ///< one a core
  ThreadPool pool;
  std::vector<Report> reports;
  std::vector<WriteRecord> writes; ///< of checked mode
  size_t numPlacesForgotten = 0;
  int64_t numReports = 0;
  Counters counters;
  cost::Clock clock;
  std::vector<cost::TimelineEvent> timeline;
  uint32_t epoch = 0;
};

} // namespace spyre::runtime

#endif // SPYRE_RUNTIME_EMULATOR_H
