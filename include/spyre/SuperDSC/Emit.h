//===- Emit.h - One planned operation to one descriptor ---------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Alignment, dims, scales, labels, padding, gaps, core to slice and start addresses
// (docs/formats/superdsc-rules.md, section 5, e.1 to e.4) as one function from a planned
// operation to its descriptor. MLIR-free; the pass
// convert-spyre-to-superdsc only builds its input from L3.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SUPERDSC_EMIT_H
#define SPYRE_SUPERDSC_EMIT_H

#include "spyre/Device/MemorySpace.h"
#include "spyre/Layout/TensorLayout.h"
#include "spyre/SuperDSC/Descriptor.h"

#include <string>
#include <variant>
#include <vector>

namespace spyre::sdsc {

/// One iteration dim, outer to inner, as L3 has it (before alignment).
struct EmitDim {
  int64_t extent = 1; ///< logical
  int64_t split = 1;  ///< work slices
  /// Keep the dim although its extent is 1 (a unit batch of a matmul); dims of
  /// extent 1 vanish otherwise. It belongs to the size-1 logical dims whose access
  /// expression names it.
  bool keepUnit = false;
};

struct EmitOperand {
  layout::TensorLayout layout;
  /// (iteration dims, then loop variables) -> logical coordinates, one result a
  /// logical dim. Extents: those of the dims, then the loops' trip counts.
  layout::IndexMap access;
  PlacementKind space = PlacementKind::HBM;
  /// Absolute address of the operand's buffer (HBM), pool offset, or LX offset.
  int64_t addressInBytes = 0;
  /// LX: the address is that of the slice that each core holds, of which the operation may touch
  /// a box; constant offsets of the access map are added. Else it is written as it is for every
  /// core (docs/formats/superdsc-rules.md, e.4).
  bool isSliceInLX = false;
  /// Gather: the logical dim of this (value) operand that is addressed through
  /// the index tensor at position \c indexOperand; -1: none.
  int indirectDim = -1;
  int indexOperand = -1;
  bool isIndexTensor = false;
  /// A relayout between scratchpads: the operand's own division, work slices an
  /// iteration dim and, per core, its slice of each. Empty: the operation's.
  std::vector<int64_t> slices;
  std::vector<std::vector<int64_t>> coreToSlice;
};

struct EmitOp {
  std::string opFunc; ///< name in the OpFunc table, without "nonstick"
  std::vector<std::pair<std::string, double>> constants; ///< the op's own, in table order
  std::vector<EmitDim> dims;
  unsigned numLoops = 0;
  /// Empty: the loops stay, addresses are those of the first iteration. Else the
  /// iteration (one number a loop) of an unrolled nest: addresses are its own, and
  /// what an operand has beyond its tile along the outermost device dim is no gap.
  std::vector<int64_t> iteration;
  /// Inputs, then the one output.
  std::vector<EmitOperand> operands;
  bool isReduction = false; ///< reductions and the matmul family
  /// Lanes behind the end of the last stick read as the OpFunc's mask, also where the stick
  /// dim is not reduced.
  bool isMasked = false;
  /// Takes effect only where the rule says so (docs/formats/superdsc-rules.md, e.3).
  bool kFastCoreOrder = true;
};

struct EmittedOp {
  Descriptor descriptor; ///< start addresses concrete: addressInBytes + offset
  /// Per tensor and loop (outermost first): bytes that the operand moves when
  /// that loop's variable grows by one. Follows from the device layout.
  std::vector<std::vector<int64_t>> loopStrideInBytes;
};

struct EmitError {
  std::string message; ///< what cannot be emitted and what to do
  int operand = -1;    ///< whose fault it is; -1: the operation
};

/// \p index: position of the operation in its bundle.
/// Rules beyond the fields: a batchmatmul without a contraction becomes mul; a
/// restickify loses the splits of dims that it pads; the sizes of an operand in
/// memory beyond those of the operation become back gaps. A shuffle's operands have
/// divisions of their own; its output's is the operation's.
/// Errors: a view that the device cannot read (an offset or a boundary inside a
/// stick, two dims in one stick), a split that leaves part of a stick to a core,
/// more dims than SuperDSC has names for, an operation the table does not know.
std::variant<EmittedOp, EmitError> emitDescriptor(const EmitOp &op, int64_t index);

} // namespace spyre::sdsc

#endif // SPYRE_SUPERDSC_EMIT_H
