//===- Reader.h - Kernels to programs of the machine ------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reader walks a kernel once and appends instructions. What it does not know it
// collects; nothing runs then. Private to the executor.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_KTIREXECUTOR_READER_H
#define SPYRE_LIB_KTIREXECUTOR_READER_H

#include "spyre/KTIRExecutor/Interpreter.h"
#include "spyre/KTIRExecutor/Machine/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

#include <functional>
#include <string>

namespace spyre::ktir {

/// What all parts of the reader know of the kernel's module.
struct ReaderContext {
  ElementKind f16 = ElementKind::IEEE16;
  bool addressesInBytes = false;
  std::string errors; ///< one a line

  void reject(mlir::Operation *op, const llvm::Twine &message);
  /// The element that \p type is or holds; nothing where the machine has no such numbers.
  std::optional<Element> getElement(mlir::Type type) const;
};

/// "file:line:column" of \p loc.
std::string describe(mlir::Location loc);

/// \p type as it is printed.
std::string toText(mlir::Type type);

Expression readExpression(mlir::AffineExpr expr, int64_t numDims, int64_t numInputs);
Map readMap(mlir::AffineMap map);
Set readSet(mlir::IntegerSet set);

/// Compiles scalar code to lanes.
class LaneReader {
public:
  LaneReader(ReaderContext &context) : context(context) {}

  LaneProgram program;
  /// What the code takes from outside: the instruction's further operands.
  llvm::SmallVector<mlir::Value> captured;

  /// Adds an argument that stands for \p value. False: its type is not known.
  bool addArgument(mlir::Operation *op, mlir::Value value);
  /// Lets \p value be the coordinate along loop dim \p dim.
  void addCoordinate(mlir::Value value, unsigned dim);
  /// Appends the steps of \p op; false if it is refused.
  bool read(mlir::Operation *op);
  /// Reads all operations of \p block but the terminator, whose operands are yielded.
  bool readBody(mlir::Block &block);
  bool yield(mlir::Operation *op, mlir::Value value);
  /// Whether \p op is one that read() knows.
  static bool knows(mlir::Operation *op);

private:
  /// The register of \p value, which may come from outside.
  std::optional<uint16_t> getRegister(mlir::Operation *op, mlir::Value value);
  uint16_t define(mlir::Value value);
  bool readConstant(mlir::Operation *op, mlir::Value value, mlir::Attribute attribute);

  ReaderContext &context;
  llvm::DenseMap<mlir::Value, uint16_t> registers;
};

class Reader {
public:
  Reader(ReaderContext &context, Program &program) : context(context), program(program) {}

  void readFunction(mlir::func::FuncOp function);

private:
  int32_t slotOf(mlir::Value value);
  int32_t newSlot() { return program.numSlots++; }
  Instruction &emit(Opcode opcode, mlir::Operation *op);
  /// Appends an instruction with the operands and results of \p op, whose dying operands are
  /// marked.
  Instruction &emitAll(Opcode opcode, mlir::Operation *op);
  void addOperand(Instruction &instruction, mlir::Operation *op, mlir::Value value);
  void addOperands(Instruction &instruction, mlir::Operation *op, mlir::ValueRange values) {
    for (mlir::Value value : values)
      addOperand(instruction, op, value);
  }
  void addResults(Instruction &instruction, mlir::Operation *op) {
    for (mlir::Value value : op->getResults())
      instruction.results.push_back(slotOf(value));
  }
  void emitMove(mlir::Operation *op, llvm::ArrayRef<int32_t> from, llvm::ArrayRef<int32_t> to);
  /// The same for values that \p user uses, which end there where nothing else needs them.
  void emitMove(mlir::Operation *op, mlir::Operation *user, mlir::ValueRange from,
                llvm::ArrayRef<int32_t> to);
  llvm::SmallVector<int32_t> slotsOf(mlir::ValueRange values);
  int32_t emitNumber(mlir::Operation *op, int64_t number);
  /// Sets the target of the jump at \p at to the next instruction.
  void land(size_t at) { program.instructions[at].target = program.instructions.size(); }
  std::optional<Element> getElement(mlir::Operation *op, mlir::Type type);

  void read(mlir::Block &block);
  void read(mlir::Operation &op);
  void emitFree(mlir::Operation &op);
  void emitFree(mlir::Operation &op, llvm::ArrayRef<mlir::Value> dead);

  // Reader.cpp: control flow
  bool readControl(mlir::Operation &op);
  void readCall(mlir::Operation &op);
  void emitLoops(mlir::Operation *op, llvm::ArrayRef<int32_t> lower, llvm::ArrayRef<int32_t> upper,
                 llvm::ArrayRef<int32_t> steps, llvm::ArrayRef<int32_t> variables,
                 const std::function<void()> &body);
  llvm::SmallVector<int32_t> emitNumbers(mlir::Operation *op,
                                         llvm::ArrayRef<mlir::OpFoldResult> numbers);

  // ReadTensor.cpp: values
  bool readTensor(mlir::Operation &op);
  void readElements(mlir::Operation &op);
  void readConstant(mlir::Operation &op);
  void readGeneric(mlir::Operation &op);
  bool setBody(Instruction &instruction, mlir::Operation &op, mlir::Block &block);

  // ReadMemory.cpp: ktdp and memref
  bool readMemory(mlir::Operation &op);
  void readMemoryView(mlir::Operation &op);
  void readAccess(mlir::Operation &op);
  void readIndirectAccess(mlir::Operation &op);

  // ReadInterTile.cpp
  bool readInterTile(mlir::Operation &op);
  void readProduce(mlir::Operation &op);
  void readDelivery(mlir::Operation &op);

  ReaderContext &context;
  Program &program;
  llvm::DenseMap<mlir::Value, int32_t> slots;
  llvm::SmallVector<mlir::Operation *> calls; ///< that are being read
};

} // namespace spyre::ktir

#endif // SPYRE_LIB_KTIREXECUTOR_READER_H
