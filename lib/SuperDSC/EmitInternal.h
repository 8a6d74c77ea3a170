//===- EmitInternal.h - Data of the emission's steps ------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the steps of emitDescriptor hand to each other: facts about the
// operation, its named dims and its operands in terms of them. Private to
// lib/SuperDSC. Source of the rules: docs/formats/superdsc-rules.md, section 5, e.1 to e.4.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_SUPERDSC_EMITINTERNAL_H
#define SPYRE_LIB_SUPERDSC_EMITINTERNAL_H

#include "spyre/Layout/Alignment.h"
#include "spyre/SuperDSC/Emit.h"

namespace spyre::sdsc {

/// The rules of dims and padding differ by these (docs/formats/superdsc-rules.md, e.2).
enum class EmitCategory : uint8_t {
  Pointwise, ///< unary and broadcast
  Reduction,
  Scan, ///< top-k
  Matmul,
  Cast,
  Restickify,
};

struct EmitFacts {
  EmitCategory category = EmitCategory::Pointwise;
  std::string executionUnit = "sfp";
  int64_t numInputs = 1;        ///< without the output
  bool outputIsInput = false;   ///< the output is listed among the inputs
  bool hasNonStickForm = false; ///< "<name>nonstick" is in the table
  bool needsPairs = false;      ///< second operand with a two-dimensional stick
  std::vector<std::string> constants;
  double maskValue = 0; ///< samv-maskvalue
};

/// The facts, or why the operation cannot be emitted.
std::variant<EmitFacts, std::string> getEmitFacts(const std::string &opFunc);

/// A loop that moves an operand along a device dim.
struct LoopStep {
  unsigned deviceDim = 0;
  unsigned loop = 0;
  int64_t step = 0; ///< per iteration
};

/// An operand in terms of the named dims.
struct EmitTensor {
  const EmitOperand *operand = nullptr;
  layout::AlignedAccess access;
  int64_t elementsPerStick = 64;
  /// Dims innermost first; the first numOwn are the operand's own, the rest are
  /// dims that it lacks (reduced or broadcast) or the injected stick dim.
  std::vector<unsigned> order;
  int stick = -1; ///< (innermost) dim in the stick; -1: none
  /// Per dim of the operation: scale_ (0: not in order).
  std::vector<int64_t> scale;
  /// Per dim of the operation: position in the access, -1: none.
  std::vector<int> place;
  std::vector<bool> indirect; ///< per dim: addressed through the index tensor
  std::vector<int64_t> gap;   ///< per dim: back gap in elements
  unsigned label = 0;         ///< position in Descriptor::layouts
  /// Per dim of the operation: slices of the operand's own division; empty: the operation's.
  std::vector<int64_t> ownSlices;

  /// Per dim of the operation: elements of it in one stick, 1 if it is not there.
  std::vector<int64_t> inStick;

  int64_t getElementBytes() const { return kStickInBytes / elementsPerStick; }
};

/// The emission of one operation, step by step.
class Emitter {
public:
  Emitter(const EmitOp &op, int64_t index) : op(op) { result.descriptor.index = index; }
  std::variant<EmittedOp, EmitError> run();

private:
  bool fail(std::string message, int operand = -1);

  // Emit.cpp
  bool checkInput();
  bool checkConstants();
  bool computeCoordinates();
  bool alignDims();
  int64_t getMostDims() const;
  void cutTiles();
  void moveConstantDimsToFront();
  bool nameDims();
  bool orderTensors();
  bool computeScales();
  bool computePadding();
  bool padsCast(const EmitTensor &tensor, unsigned dim) const;
  bool checkSplits();
  bool computeOwnDivisions();
  void computeLoopStrides();
  /// The operand whose dims are the operation's: input 0 or the output.
  unsigned getReference() const;
  int getLabelStick(const EmitTensor &tensor) const;

  // EmitTensors.cpp
  void writeDescriptor();
  void writeCores();
  void writeLabels();
  void writeConstants();
  void writeTensor(unsigned position);
  void writeOwnDivision(const EmitTensor &in, Tensor &out) const;
  /// Elements between neighbours along each coordinate of what a core has of \p tensor in LX.
  std::vector<int64_t> getStridesInLX(const EmitTensor &tensor) const;
  void writeAddresses(unsigned position, Tensor &out);
  DimCoordinate makeCoordinate(const EmitTensor &in, unsigned dim, unsigned labelStick) const;
  DataFormat getWrittenFormat(const EmitOperand &operand) const;

  const EmitOp &op;
  std::string opFunc; ///< after a trivial contraction became a product
  EmitFacts facts;
  std::vector<layout::AlignAccess> accesses;
  std::vector<std::vector<LoopStep>> loopSteps; ///< per operand
  layout::Alignment alignment;
  bool hasVirtualRow = false;
  int injectedStick = -1; ///< dim that stands for a stick without a dim
  std::vector<unsigned> indexTensors;
  std::vector<EmitTensor> tensors;
  std::vector<int64_t> padding; ///< per dim: elements added to its size
  EmittedOp result;
  EmitError error;
};

} // namespace spyre::sdsc

#endif // SPYRE_LIB_SUPERDSC_EMITINTERNAL_H
