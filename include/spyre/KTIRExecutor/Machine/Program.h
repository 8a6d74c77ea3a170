//===- Program.h - A kernel as instructions ---------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the reader makes of a kernel: one list of instructions over numbered slots, with
// jumps for control flow, so that a compute tile can stop anywhere and go on later.
// MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_KTIREXECUTOR_MACHINE_PROGRAM_H
#define SPYRE_KTIREXECUTOR_MACHINE_PROGRAM_H

#include "spyre/KTIRExecutor/Machine/Loops.h"
#include "spyre/KTIRExecutor/Machine/Memory.h"

namespace spyre::ktir {

enum class Opcode : uint8_t {
  // Control. Operands and results are slots.
  Move,       ///< results[i] = operands[i], all at once
  Free,       ///< nothing but that operands die
  Jump,       ///< to target
  JumpUnless, ///< to target if operand 0 is 0
  LoopTest, ///< to target unless operand 0 < operand 1 (unsigned if numbers[0]); step operand 2 > 0
  Step,     ///< result 0 = operand 0 + operand 1
  Return,
  // Values.
  Constant,
  Elements, ///< body on operands, elementwise; flags: operand i is a tensor
  Loops,    ///< nest; inputs, outputs, then captured; numbers: their counts
  Generate, ///< body over the result's coordinates; operands: dynamic sizes, then captured
  Empty,    ///< shape; operands: dynamic sizes
  Splat,    ///< shape; operand 0, then dynamic sizes
  FromElements,
  Extract,      ///< tensor, coordinates
  Insert,       ///< number, tensor, coordinates
  ExtractSlice, ///< tensor, dynamic offsets, sizes, strides; numbers: static ones
  InsertSlice,  ///< source, tensor, dynamic ...
  Reshape,      ///< tensor, dynamic sizes
  ReshapeTo,    ///< tensor, tensor of sizes
  Collapse,     ///< tensor; shapes: the dims that become one
  Cast,         ///< checks the shape
  Pad,          ///< tensor, dynamic low and high, captured; body makes the value
  Concat,       ///< numbers[0]: dim
  Dim,          ///< of tensor or view: operand 1
  // Memory.
  TileId,
  MemoryView, ///< address, dynamic sizes, strides
  DistributedView,
  SubView,
  CastView,
  DirectTile,   ///< base, indices, symbols
  IndirectTile, ///< base, index views, captured, symbols
  Load,
  Store,
  // Between tiles.
  ProduceTest, ///< results: group, future; to target where the tile produces nothing
  Produce,     ///< operands: future, partials
  Receive,     ///< operands: future, identities, what the combiner takes from outside
};

/// Who produces, who consumes, and what becomes of the partials.
struct Exchange {
  /// The number that each group has in the kernel.
  std::vector<int64_t> groups;
  /// Tiles of each group, ascending.
  std::vector<std::vector<int64_t>> producers, consumers;
  /// Producers that consumer k of group g takes from; empty: all of the group.
  std::vector<std::vector<std::vector<int64_t>>> dependencies;
  /// Folded first; then a share of each along the one dims, side by side along the others.
  bool isFold = false;
  std::vector<int64_t> scatterDims, gatherDims;
};

struct Program;

struct Instruction {
  Opcode opcode = Opcode::Return;
  std::vector<int32_t> operands, results;
  /// Operand i is not used after this instruction.
  std::vector<bool> dies;
  std::vector<int64_t> numbers;
  std::vector<bool> flags;
  int64_t target = 0;
  Element element;
  Shape shape; ///< static shape with kDynamic
  std::vector<Element> elements;
  std::vector<Shape> shapes; ///< of results
  std::shared_ptr<const LaneProgram> body;
  std::shared_ptr<const LoopNest> nest;
  std::shared_ptr<const Program> combiner; ///< of a fold
  std::vector<Map> maps;
  Set set;
  Datum constant;
  Exchange exchange;
  /// For messages: "file.mlir:3:4" and the operation's name.
  std::string where, name;
};

inline constexpr int64_t kDynamic = INT64_MIN;

struct Program {
  std::string name, where;
  std::vector<Instruction> instructions;
  int32_t numSlots = 0;
  std::vector<int32_t> arguments; ///< slots
  std::vector<int32_t> results;   ///< of a combiner
  Shape grid;
  int64_t numExchanges = 0;
  /// Tiles wait for each other or see each other's LX: they run in one thread.
  bool communicates = false;

  int64_t getNumTiles() const {
    int64_t count = 1;
    for (int64_t size : grid)
      count *= size;
    return count;
  }
};

} // namespace spyre::ktir

#endif // SPYRE_KTIREXECUTOR_MACHINE_PROGRAM_H
