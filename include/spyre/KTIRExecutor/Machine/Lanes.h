//===- Lanes.h - Scalar code on blocks of lanes -----------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The body of an elementwise operation, a linalg operation or a generator, compiled to
// steps over registers of kLanes numbers: one step is one loop that the compiler
// vectorises. A scalar operation is the same code on one lane. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_KTIREXECUTOR_MACHINE_LANES_H
#define SPYRE_KTIREXECUTOR_MACHINE_LANES_H

#include "spyre/KTIRExecutor/Machine/Value.h"

namespace spyre::ktir {

inline constexpr int64_t kLanes = 256;

/// What a step computes. F: of floats, I: of integers.
enum class LaneOp : uint8_t {
  // Floats. Max and Min give NaN if one is NaN, MaxNum and MinNum the other.
  AddF,
  SubF,
  MulF,
  DivF,
  RemF,
  MaxF,
  MinF,
  MaxNumF,
  MinNumF,
  PowF,
  Atan2F,
  CopySignF,
  FmaF,
  MoveF,
  NegF,
  AbsF,
  CeilF,
  FloorF,
  RoundF,
  RoundEvenF,
  TruncF,
  ExpF,
  Exp2F,
  ExpM1F,
  LogF,
  Log2F,
  Log10F,
  Log1pF,
  SqrtF,
  RsqrtF,
  CbrtF,
  TanhF,
  SinF,
  CosF,
  TanF,
  AsinF,
  AcosF,
  AtanF,
  SinhF,
  CoshF,
  AsinhF,
  AcoshF,
  AtanhF,
  ErfF,
  ErfcF,
  ReciprocalF,
  SigmoidF,
  SiluF,
  GeluF,
  SoftplusF,
  IPowI,
  FPowI,
  // Floats to bools and back. CmpF has its predicate in `number` (arith's numbers).
  CmpF,
  IsNaN,
  IsInf,
  IsFinite,
  IsNormal,
  SelectF,
  SelectI,
  // Between types. The operand's type is `from`.
  SIToF,
  UIToF,
  FToSI,
  FToUI,
  BitcastFI,
  BitcastIF,
  BitcastFF,
  Wrap,
  ZeroExtend,
  SignExtend,
  // Integers.
  AddI,
  SubI,
  MulI,
  MulHighS,
  MulHighU,
  AddCarryU,
  DivS,
  DivU,
  RemS,
  RemU,
  CeilDivS,
  CeilDivU,
  FloorDivS,
  MaxS,
  MinS,
  MaxU,
  MinU,
  And,
  Or,
  Xor,
  ShiftL,
  ShiftRS,
  ShiftRU,
  CmpI,
  AbsI,
  CountOnes,
  CountLeadingZeros,
  CountTrailingZeros,
  /// An element of table `number` at the coordinates in registers `more`.
  ExtractF,
  ExtractI,
};

struct LaneStep {
  LaneOp op;
  uint16_t a = 0, b = 0, c = 0, result = 0;
  Element type, from;
  int64_t number = 0;
  /// Of softplus: beta and threshold.
  float parameters[2] = {0, 0};
  std::vector<uint16_t> more;
  /// The result is kept in f32: an accumulator that is rounded when its operation ends.
  bool isUnrounded = false;
};

struct LaneProgram {
  uint16_t numRegisters = 0;
  /// Registers of what the user of the program fills: one for each argument, in order.
  std::vector<uint16_t> arguments;
  std::vector<Element> argumentTypes;
  /// Numbers that all lanes share: of an operand of the instruction.
  struct Shared {
    uint16_t reg;
    uint16_t operand;
    Element type;
  };
  std::vector<Shared> shared;
  struct Constant {
    uint16_t reg;
    Element type;
    float f;
    int64_t i;
  };
  std::vector<Constant> constants;
  /// Registers that hold the coordinate of a loop dim.
  struct Coordinate {
    uint16_t reg;
    uint16_t dim;
  };
  std::vector<Coordinate> coordinates;
  /// Operands of the instruction that Extract steps read.
  std::vector<uint16_t> tables;
  std::vector<LaneStep> steps;
  std::vector<uint16_t> yielded;
  std::vector<Element> yieldedTypes;
};

/// A block of lanes of one register.
union LaneBlock {
  float f[kLanes];
  int64_t i[kLanes];
};

/// The registers of a running program. A register is its own block, or the caller's numbers.
class LaneMachine {
public:
  /// \p operands are what `shared` and `tables` refer to. \p roundsEach: results are
  /// rounded to their types.
  LaneMachine(const LaneProgram &program, const std::vector<const Datum *> &operands,
              bool roundsEach);

  /// Where register \p reg is; a caller may let it point to its own numbers, which are
  /// not written unless it is a step's result.
  float *&floats(uint16_t reg) { return pointers[reg].f; }
  int64_t *&ints(uint16_t reg) { return pointers[reg].i; }
  LaneBlock &block(uint16_t reg) { return blocks[reg]; }
  /// Lets \p reg be its own block again.
  void reset(uint16_t reg) { pointers[reg].f = blocks[reg].f; }

  /// Runs the steps [begin, end) on \p count lanes. False: `error` says why.
  bool run(int64_t count) { return run(count, 0, program.steps.size()); }
  bool run(int64_t count, size_t begin, size_t end);

  std::string error;

private:
  bool runStep(const LaneStep &step, int64_t count);
  bool extract(const LaneStep &step, int64_t count);

  const LaneProgram &program;
  bool roundsEach;
  union Pointer {
    float *f;
    int64_t *i;
  };
  std::unique_ptr<LaneBlock[]> blocks; ///< not initialized
  std::vector<Pointer> pointers;
  std::vector<const Tensor *> tables;
};

} // namespace spyre::ktir

#endif // SPYRE_KTIREXECUTOR_MACHINE_LANES_H
