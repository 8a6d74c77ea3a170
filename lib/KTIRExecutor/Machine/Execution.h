//===- Execution.h - Compute tiles while they run ---------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a run and of its tiles, and the functions that execute instructions.
// Private to the machine.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_KTIREXECUTOR_MACHINE_EXECUTION_H
#define SPYRE_LIB_KTIREXECUTOR_MACHINE_EXECUTION_H

#include "spyre/KTIRExecutor/Machine/Machine.h"
#include "spyre/KTIRExecutor/Machine/Program.h"

#include <map>
#include <set>

namespace spyre::ktir {

/// How a tile goes on after an instruction.
enum class Flow : uint8_t { Next, Waits, Failed, Finished };

/// The result of inter_tile_produce on one tile: the how-manieth it was.
struct Future : Object {
  int64_t exchange = 0, occurrence = 0;
};

/// What tiles have produced and nobody needs any more, by exchange and occurrence.
struct Board {
  struct Partials {
    std::vector<std::shared_ptr<Object>> values; ///< one a role
    RaceDetector::Clocks clocks;
  };
  struct Entry {
    std::map<int64_t, Partials> ofTile;
    int64_t numReceived = 0;
  };
  std::map<std::pair<int64_t, int64_t>, Entry> entries;
};

struct TileState;

/// What all tiles of a run share.
struct Execution {
  const Program &program;
  Memory &memory;
  const MachineOptions &options;
  std::vector<TileState> tiles;
  Board board;
  bool detectsRaces = false;
  RaceDetector races;                ///< of device memory
  std::vector<RaceDetector> lxRaces; ///< of each tile's LX
};

struct TileState {
  int64_t number = 0;
  Shape coordinates;
  size_t pc = 0;
  bool isFinished = false;
  bool keepsLX = false; ///< for the caller
  std::vector<Datum> slots;
  Memory lx;
  Account account;
  int64_t lxTopInBytes = 0; ///< end of what views have touched
  RaceDetector::Clocks clocks;
  std::vector<int64_t> occurrences; ///< of each exchange
  MachineStats stats;
  std::string error, waitsFor;
};

/// One instruction on one tile.
class Executor {
public:
  Executor(Execution &execution, TileState &tile, const Instruction &instruction)
      : run(execution), tile(tile), in(instruction), next(tile.pc) {}

  Flow execute();

private:
  Flow executeTensor();
  Flow executeMemory();
  Flow executeExchange();

  // Instructions.cpp
  Flow elements();
  Flow loops();
  Flow generateTensor();

  // TensorInstructions.cpp
  Flow extract();
  Flow insert();
  Flow slice(bool isInsert);
  Flow reshape(Shape shape);
  Flow pad();
  Flow concat();

  // MemoryInstructions.cpp
  Flow memoryView();
  Flow distributedView();
  Flow subView();
  Flow directTile();
  Flow indirectTile();
  Flow load();
  Flow store();
  bool readIndices(const View &view, const std::vector<Shape> &points,
                   std::vector<int64_t> &values);
  bool checkAccess(const Run &part, int64_t width, bool writes);
  bool transfer(const AccessTile &access, Tensor &tensor, bool writes);
  /// The bytes that \p space names.
  Memory *getMemory(int32_t space);

  // Exchanges.cpp
  Flow produceTest();
  Flow produce();
  Flow receive();
  bool fold(const std::vector<std::vector<std::shared_ptr<Object>>> &partials,
            std::vector<std::shared_ptr<Object>> &result);

  Flow fail(const std::string &message) {
    tile.error = message;
    return Flow::Failed;
  }
  Datum &slot(size_t operand) { return tile.slots[in.operands[operand]]; }
  Tensor &tensor(size_t operand) { return slot(operand).as<Tensor>(); }
  int64_t number(size_t operand) { return slot(operand).i; }
  bool isLast(size_t operand) const { return operand < in.dies.size() && in.dies[operand]; }
  /// The tensor of \p operand to write to: its own where nobody else needs it, else a copy.
  std::shared_ptr<Tensor> take(size_t operand);
  void set(size_t result, std::shared_ptr<Tensor> tensor);
  /// `in.shape` with operands from \p first on in the place of dynamic sizes.
  bool getShape(size_t first, Shape &shape);
  /// \p values with operands from \p next on in the place of kDynamic.
  Shape resolve(const Shape &values, size_t &next);
  std::vector<const Datum *> getOperands(size_t first, size_t count);

  Execution &run;
  TileState &tile;
  const Instruction &in;
  size_t next;
};

/// Runs \p tile until it waits, fails or ends.
Flow runTile(Execution &execution, TileState &tile);
/// Runs the combiner \p program on \p arguments in \p tile's name.
bool runCombiner(Execution &execution, TileState &tile, const Program &program,
                 const std::vector<Datum> &arguments, std::vector<Datum> &results);

} // namespace spyre::ktir

#endif // SPYRE_LIB_KTIREXECUTOR_MACHINE_EXECUTION_H
