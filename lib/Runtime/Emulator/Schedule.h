//===- Schedule.h - In which order a launch's operations run ----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations of a launch, prepared and put into chains (Chain.h). What it leaves is
// what they leave one by one; it may run again as long as all addresses mean the same
// memory. Private to the emulator.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_RUNTIME_EMULATOR_SCHEDULE_H
#define SPYRE_LIB_RUNTIME_EMULATOR_SCHEDULE_H

#include "Chain.h"

#include <variant>

namespace spyre::runtime {

class Schedule {
public:
  /// Prepares \p requests: counters and clock advance, reports are made. If one of them
  /// cannot be executed, that is the error of run, after those before it have run.
  /// \p isEnd: nobody reads scratchpads or the pool afterwards.
  Schedule(Emulator &emulator, std::vector<LaunchRequest> requests, bool isEnd);

  std::optional<Error> run(ThreadPool &pool);
  /// Counters and clock of running once more.
  void countAgain();
  bool hasError() const { return error.has_value(); }

private:
  void renameScratch(bool isEnd);
  void makeChains(bool isEnd);

  std::vector<LaunchRequest> requests; ///< the executions refer to them
  std::vector<std::unique_ptr<Execution>> executions;
  std::optional<Error> error;
  std::vector<std::variant<Chain, Execution *>> steps;
  std::vector<std::unique_ptr<uint8_t[]>> renamed;
};

} // namespace spyre::runtime

#endif // SPYRE_LIB_RUNTIME_EMULATOR_SCHEDULE_H
