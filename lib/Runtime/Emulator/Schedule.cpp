//===- Schedule.cpp - In which order a launch's operations run --*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chains that have nothing to do with one another are open at the same time, so that a
// small operation on other cores (the cast of a weight) does not end a long one.
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"

#include "FastPath.h"

#include <array>

using namespace spyre;
using namespace spyre::runtime;

namespace {

/// Chains that are open at a time.
constexpr size_t kOpenChains = 4;
/// Operations that are looked at together.
constexpr size_t kWindow = 256;

} // namespace

Schedule::Schedule(Emulator &emulator, std::vector<LaunchRequest> givenRequests, bool isEnd)
    : requests(std::move(givenRequests)) {
  for (const LaunchRequest &request : requests) {
    auto execution = std::make_unique<Execution>(emulator, request);
    error = execution->begin();
    if (error)
      break;
    executions.push_back(std::move(execution));
  }
  makeChains(isEnd && !error);
}

void Schedule::makeChains(bool isEnd) {
  std::array<Chain, kOpenChains> open;
  auto close = [&](Chain &chain, size_t next) {
    if (chain.empty())
      return;
    chain.plan(std::span(executions).subspan(next), isEnd);
    steps.emplace_back(std::move(chain));
    chain = Chain();
  };
  for (size_t i = 0; i < executions.size(); ++i) {
    Execution &next = *executions[i];
    bool isFast = static_cast<bool>(next.work.run);
    // Of the chains that it needs it goes on with the longest; the others are over.
    Chain *best = nullptr;
    std::vector<Chain *> needed;
    for (Chain &chain : open) {
      if (chain.empty() || chain.mayPrecede(next))
        continue;
      needed.push_back(&chain);
      if (isFast && chain.mayAppend(next) && (!best || chain.size() > best->size()))
        best = &chain;
    }
    for (Chain *chain : needed)
      if (chain != best)
        close(*chain, i);
    if (!isFast) {
      steps.emplace_back(&next);
      continue;
    }
    if (!best) {
      best = &*std::min_element(open.begin(), open.end(),
                                [](const Chain &a, const Chain &b) { return a.size() < b.size(); });
      close(*best, i);
    }
    best->append(next);
  }
  for (Chain &chain : open)
    close(chain, executions.size());
}

std::optional<Error> Schedule::run(ThreadPool &pool) {
  for (auto &step : steps) {
    if (auto *chain = std::get_if<Chain>(&step))
      chain->run(pool);
    else if (auto failed = std::get<Execution *>(step)->finish())
      return failed;
  }
  return error;
}

void Schedule::countAgain() {
  for (const auto &execution : executions)
    execution->count();
}

std::optional<Error> spyre::runtime::executeAll(Emulator &emulator, ThreadPool &pool,
                                                std::vector<LaunchRequest> launches, bool isEnd,
                                                std::shared_ptr<Schedule> *kept) {
  for (size_t first = 0; first < launches.size(); first += kWindow) {
    size_t last = std::min(launches.size(), first + kWindow);
    std::vector<LaunchRequest> some(
        std::make_move_iterator(launches.begin() + static_cast<int64_t>(first)),
        std::make_move_iterator(launches.begin() + static_cast<int64_t>(last)));
    auto schedule =
        std::make_shared<Schedule>(emulator, std::move(some), isEnd && last == launches.size());
    if (auto error = schedule->run(pool))
      return error;
    if (kept && first == 0 && last == launches.size())
      *kept = std::move(schedule);
  }
  return std::nullopt;
}
