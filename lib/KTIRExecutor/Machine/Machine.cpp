//===- Machine.cpp - Runs the compute tiles of a program --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "spyre/KTIRExecutor/Machine/Machine.h"

#include "Execution.h"

#include <algorithm>
#include <atomic>
#include <thread>

using namespace spyre::ktir;

static std::string describe(const TileState &tile, const Instruction &instruction,
                            const std::string &message) {
  return instruction.where + ": " + instruction.name + ": compute tile " +
         std::to_string(tile.number) + ": " + message;
}

Flow spyre::ktir::runTile(Execution &execution, TileState &tile) {
  while (true) {
    const Instruction &instruction = execution.program.instructions[tile.pc];
    Flow flow = Executor(execution, tile, instruction).execute();
    if (flow == Flow::Next)
      continue;
    if (flow == Flow::Failed)
      tile.error = describe(tile, instruction, tile.error);
    tile.isFinished = flow == Flow::Finished;
    return flow;
  }
}

bool spyre::ktir::runCombiner(Execution &execution, TileState &tile, const Program &program,
                              const std::vector<Datum> &arguments, std::vector<Datum> &results) {
  std::vector<Datum> slots(program.numSlots);
  for (size_t i = 0; i < arguments.size(); ++i)
    slots[program.arguments[i]] = arguments[i];
  std::swap(slots, tile.slots);
  size_t pc = tile.pc;
  tile.pc = 0;
  Flow flow = Flow::Next;
  while (flow == Flow::Next)
    flow = Executor(execution, tile, program.instructions[tile.pc]).execute();
  tile.pc = pc;
  if (flow == Flow::Finished)
    for (int32_t result : program.results)
      results.push_back(tile.slots[result]);
  std::swap(slots, tile.slots);
  return flow == Flow::Finished;
}

namespace {
/// The tiles run in turn, in one thread.
std::string runInTurn(Execution &execution, bool isReversed) {
  std::vector<TileState *> order;
  for (TileState &tile : execution.tiles)
    order.push_back(&tile);
  if (isReversed)
    std::reverse(order.begin(), order.end());
  while (true) {
    bool isDone = true, hasMoved = false;
    for (TileState *tile : order) {
      if (tile->isFinished)
        continue;
      int64_t before = tile->stats.instructions;
      size_t pc = tile->pc;
      if (runTile(execution, *tile) == Flow::Failed)
        return tile->error;
      isDone &= tile->isFinished;
      // An instruction that waits has been tried, but nothing has happened.
      hasMoved |= tile->isFinished || tile->pc != pc || tile->stats.instructions > before + 1;
      if (tile->isFinished && !execution.program.communicates) {
        tile->slots.clear();
        if (!tile->keepsLX)
          tile->lx = Memory();
      }
    }
    if (isDone)
      return "";
    if (hasMoved)
      continue;
    // Nobody can go on. All who wait are named, the first ones with their operation.
    std::string text = "deadlock: ";
    constexpr int kNamed = 4;
    int named = 0, waiting = 0;
    const Instruction *first = nullptr;
    for (const TileState &tile : execution.tiles) {
      if (tile.isFinished)
        continue;
      const Instruction &at = execution.program.instructions[tile.pc];
      if (!first)
        first = &at;
      ++waiting;
      if (named++ < kNamed)
        text += (named > 1 ? "; compute tile " : "compute tile ") + std::to_string(tile.number) +
                " waits in " + at.name + " at " + at.where + " for " + tile.waitsFor;
    }
    if (waiting > kNamed)
      text += "; and " + std::to_string(waiting - kNamed) + " more wait";
    return first->where + ": " + first->name + ": " + text;
  }
}

/// Tiles that do not see each other, in threads; the error of the first tile that has one.
std::string runInThreads(Execution &execution, unsigned threads) {
  std::atomic<size_t> next = 0;
  std::atomic<bool> hasFailed = false;
  auto work = [&] {
    for (size_t i; !hasFailed && (i = next++) < execution.tiles.size();) {
      TileState &tile = execution.tiles[i];
      if (runTile(execution, tile) == Flow::Failed)
        hasFailed = true;
      tile.slots.clear();
      if (!tile.keepsLX)
        tile.lx = Memory();
    }
  };
  std::vector<std::thread> pool;
  for (unsigned i = 1; i < threads; ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
  for (const TileState &tile : execution.tiles)
    if (!tile.error.empty())
      return tile.error;
  return "";
}
} // namespace

std::string spyre::ktir::runProgram(const Program &program, Memory &memory,
                                    const std::vector<Datum> &arguments,
                                    const MachineOptions &options, MachineStats *stats,
                                    std::map<int64_t, Memory> *lx) {
  int64_t numTiles = program.getNumTiles();
  if (lx && !lx->empty() && (lx->begin()->first < 0 || lx->rbegin()->first >= numTiles))
    return program.where + ": " + program.name + ": there is no compute tile " +
           std::to_string(lx->rbegin()->first) + ", whose LX is given";
  Execution execution{program, memory, options, {}, {}, false, {}, {}};
  execution.detectsRaces = options.isChecked && numTiles > 1;
  execution.tiles.resize(numTiles);
  execution.lxRaces.resize(execution.detectsRaces ? numTiles : 0);
  for (int64_t i = 0; i < numTiles; ++i) {
    TileState &tile = execution.tiles[i];
    tile.number = i;
    int64_t rest = i;
    for (int64_t size : program.grid) {
      tile.coordinates.push_back(rest % size);
      rest /= size;
    }
    tile.slots.resize(program.numSlots);
    for (size_t a = 0; a < arguments.size(); ++a)
      tile.slots[program.arguments[a]] = arguments[a];
    if (lx && lx->count(i)) {
      tile.lx = std::move((*lx)[i]);
      tile.keepsLX = true;
    }
    tile.clocks.assign(numTiles, 0);
    tile.occurrences.assign(program.numExchanges, 0);
  }
  unsigned threads = options.threads ? options.threads : std::thread::hardware_concurrency();
  threads = static_cast<unsigned>(std::min<int64_t>(std::max(threads, 1u), numTiles));
  bool isParallel = threads > 1 && !program.communicates && !options.isChecked;
  std::string error =
      isParallel ? runInThreads(execution, threads) : runInTurn(execution, options.isReversed);
  for (TileState &tile : execution.tiles)
    if (tile.keepsLX)
      (*lx)[tile.number] = std::move(tile.lx);
  for (const TileState &tile : execution.tiles) {
    int64_t usedLX = tile.lxTopInBytes + tile.account.peak;
    if (error.empty() && options.isChecked && usedLX > options.lxInBytes)
      error = program.where + ": " + program.name + ": compute tile " +
              std::to_string(tile.number) + " needs " + std::to_string(usedLX) +
              " bytes of LX for its views and values, and has " + std::to_string(options.lxInBytes);
    if (!stats)
      continue;
    stats->instructions += tile.stats.instructions;
    stats->readInBytes += tile.stats.readInBytes;
    stats->writtenInBytes += tile.stats.writtenInBytes;
    stats->readInSticks += tile.stats.readInSticks;
    stats->writtenInSticks += tile.stats.writtenInSticks;
    stats->exchangedInBytes += tile.stats.exchangedInBytes;
    stats->peakLXInBytes = std::max(stats->peakLXInBytes, usedLX);
  }
  return error;
}
