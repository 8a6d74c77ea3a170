//===- Emulator.cpp - Executes descriptors ----------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device around the execution of a descriptor: memories, threads, reports.
//
//===----------------------------------------------------------------------===//

#include "spyre/Runtime/Emulator.h"

#include "Schedule.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace spyre;
using namespace spyre::runtime;

const char *spyre::runtime::getReportKindName(ReportKind kind) {
  switch (kind) {
  case ReportKind::OutOfBounds:
    return "out-of-bounds";
  case ReportKind::Unaligned:
    return "unaligned";
  case ReportKind::NeverWritten:
    return "never-written";
  case ReportKind::OtherCoresLX:
    return "other-cores-lx";
  case ReportKind::Conflict:
    return "conflict";
  case ReportKind::LXOverflow:
    return "lx-overflow";
  case ReportKind::SpanOverflow:
    return "span-overflow";
  case ReportKind::Undefined:
    return "undefined";
  case ReportKind::Padding:
    return "padding";
  case ReportKind::WrongSlice:
    return "wrong-slice";
  case ReportKind::WrongLayout:
    return "wrong-layout";
  case ReportKind::WrongFormat:
    return "wrong-format";
  case ReportKind::Overlap:
    return "overlap";
  case ReportKind::Lost:
    return "lost";
  case ReportKind::ReadOnly:
    return "read-only";
  case ReportKind::StaleSymbol:
    return "stale-symbol";
  }
  return "";
}

std::string Report::toString() const {
  std::string text = op;
  if (core >= 0)
    text += ", core " + std::to_string(core);
  return text + ", address " + std::to_string(address) + ": " + message + " [" +
         getReportKindName(kind) + "]";
}

//===----------------------------------------------------------------------===//
// ThreadPool
//===----------------------------------------------------------------------===//

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable wake, done;
  const std::function<void(int64_t)> *job = nullptr;
  int64_t count = 0;
  std::atomic<int64_t> next{0};
  std::atomic<size_t> active{0}; ///< threads that take jobs, the caller apart
  std::atomic<uint64_t> round{0};
  bool isOpen = false; ///< there may be jobs left of this round
  bool stop = false;
  std::vector<std::thread> threads;

  void work() {
    for (int64_t i = next++; i < count; i = next++)
      (*job)(i);
  }
  /// Waits busily for a moment: what runs next, or what others still do, is often there
  /// sooner than a thread wakes up.
  template <typename Condition> static void spin(const Condition &condition) {
    constexpr auto kMoment = std::chrono::microseconds(50);
    auto end = std::chrono::steady_clock::now() + kMoment;
    while (!condition() && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
  }
  void loop() {
    uint64_t seen = 0;
    std::unique_lock lock(mutex);
    while (true) {
      lock.unlock();
      spin([&] { return round != seen; });
      lock.lock();
      if (!isOpen)
        seen = round; // came too late for it
      wake.wait(lock, [&] { return stop || (isOpen && round != seen); });
      if (stop)
        return;
      seen = round;
      ++active;
      lock.unlock();
      work();
      lock.lock();
      if (--active == 0)
        done.notify_one();
    }
  }
};

ThreadPool::ThreadPool(unsigned numThreads) : state(std::make_unique<State>()) {
  if (numThreads == 0)
    numThreads = std::max(1u, std::thread::hardware_concurrency());
  // The caller works, too.
  for (unsigned i = 1; i < std::min(numThreads, 256u); ++i)
    state->threads.emplace_back([s = state.get()] { s->loop(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(state->mutex);
    state->stop = true;
  }
  state->wake.notify_all();
  for (std::thread &thread : state->threads)
    thread.join();
}

void ThreadPool::run(int64_t n, const std::function<void(int64_t)> &job) {
  if (state->threads.empty() || n <= 1) {
    for (int64_t i = 0; i < n; ++i)
      job(i);
    return;
  }
  {
    std::lock_guard lock(state->mutex);
    state->job = &job;
    state->count = n;
    state->next = 0;
    state->isOpen = true;
    ++state->round;
  }
  state->wake.notify_all();
  state->work();
  // All jobs are taken. Threads that have not woken up until now are not waited for: on a busy
  // machine that takes longer than most operations.
  {
    std::lock_guard lock(state->mutex);
    state->isOpen = false;
  }
  State::spin([&] { return state->active == 0; });
  std::unique_lock lock(state->mutex);
  state->done.wait(lock, [&] { return state->active == 0; });
}

//===----------------------------------------------------------------------===//
// Emulator
//===----------------------------------------------------------------------===//

static std::atomic<uint64_t> numEmulators{0};

Emulator::Emulator(Device deviceToEmulate, EmulatorOptions emulatorOptions)
    : number(++numEmulators), device(std::move(deviceToEmulate)), options(emulatorOptions),
      memory(device.getMemoryInBytes(), device.getAlignmentInBytes(), options.checked,
             !options.countOnly),
      pool(options.countOnly ? 1 : options.numThreads), clock(device) {
  for (int64_t core = 0; core < device.getNumCores(); ++core) {
    std::string name = "LX of core " + std::to_string(core);
    scratchpads.push_back(options.countOnly
                              ? Block::createUnbacked(device.getLXInBytes(), std::move(name))
                              : Block(device.getLXInBytes(), options.checked, std::move(name)));
  }
}

Emulator::~Emulator() = default;

void Emulator::beginLaunch() {
  clock.beginLaunch();
  for (Block &scratchpad : scratchpads)
    scratchpad.clear();
  // Of earlier launches only names and formats matter.
  for (; numPlacesForgotten < writes.size(); ++numPlacesForgotten) {
    WriteRecord &record = writes[numPlacesForgotten];
    record.start = {};
    record.places = {};
    record.isRead = true;
  }
}

void Emulator::report(Report report) {
  ++numReports;
  if (reports.size() < options.maxReports)
    reports.push_back(std::move(report));
}

int32_t Emulator::addWrite(WriteRecord record) {
  writes.push_back(std::move(record));
  return static_cast<int32_t>(writes.size() - 1);
}

void Emulator::addEvent(cost::TimelineEvent event) {
  event.startInNs = clock.getNowInNs();
  if (event.kind == cost::TimelineEvent::Transfer) {
    cost::Scheduled scheduled = clock.transfer(event.readInBytes + event.writtenInBytes);
    event.durationInNs = scheduled.durationInNs;
    event.busy = std::move(scheduled.busy);
    counters.transferInNs += event.durationInNs;
    counters.elapsedInNs = clock.getNowInNs();
  }
  if (options.timeline)
    timeline.push_back(std::move(event));
}

std::optional<Error>
Emulator::execute(const sdsc::Descriptor &descriptor, const std::string &name,
                  const std::function<std::optional<int64_t>(int64_t)> &symbols) {
  LaunchRequest request{&descriptor, name, symbols};
  return Execution(*this, request).run();
}

std::optional<Error> Emulator::execute(std::vector<LaunchRequest> launches, bool isEnd,
                                       std::shared_ptr<Schedule> *kept) {
  return executeAll(*this, pool, std::move(launches), isEnd, kept);
}

std::optional<Error> Emulator::repeat(Schedule &schedule) {
  schedule.countAgain();
  return schedule.run(pool);
}
