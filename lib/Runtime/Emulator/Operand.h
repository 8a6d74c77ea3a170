//===- Operand.h - Where the elements of an operand lie ---------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The addresses of one operand of a descriptor, for all cores: computed once from
// the allocation's dim order, gaps and scales, then used row by row. Private to
// the emulator. Source of the rules: docs/formats/superdsc-rules.md, section 9.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_RUNTIME_EMULATOR_OPERAND_H
#define SPYRE_LIB_RUNTIME_EMULATOR_OPERAND_H

#include "spyre/Runtime/Emulator.h"

#include <limits>

namespace spyre::runtime {

/// How one dim of the operation moves in an operand.
struct OperandDim {
  int64_t extent = 1; ///< elements of one core's slice; 1 if the operand lacks it
  int64_t unit = 0;   ///< bytes per step (per stick of it if \c inStick); 0: absent
  bool inStick = false;
  int64_t perStick = 1;   ///< elements of this dim in one stick
  int64_t laneStride = 0; ///< bytes per step inside the stick
  /// Elements from here on are not in memory (padded restickify): reading gives
  /// anything, writing does nothing.
  int64_t limit = std::numeric_limits<int64_t>::max();

  int64_t getOffset(int64_t i) const {
    return inStick ? (i / perStick) * unit + (i % perStick) * laneStride : i * unit;
  }
};

struct Operand {
  const sdsc::Tensor *tensor = nullptr;
  unsigned position = 0; ///< in the descriptor's tensors
  DataFormat format = DataFormat::SEN169_FP16;
  int64_t width = 2;                ///< bytes of an element
  std::vector<OperandDim> dims;     ///< as the operation's dims
  int stickDim = -1;                ///< the (innermost) dim in its stick; -1: lane 0 only
  std::vector<int64_t> start;       ///< address per core
  int64_t endOffset = 0;            ///< bytes from a start to the end of its last stick
  int64_t numSticks = 1;            ///< of one core's slice
  std::vector<uint8_t *> data;      ///< per core, the host address of \c start
  std::vector<Block *> block;       ///< per core
  std::vector<int64_t> blockOffset; ///< per core, \c start inside the block
  /// Gather: this is the value tensor, addressed along \c indirectDim by numbers.
  int indirectDim = -1;
  const Operand *index = nullptr;
  int64_t numRows = std::numeric_limits<int64_t>::max(); ///< of the table
  bool isPartial = false;                                ///< a dim has a limit
  bool isLocal = false; ///< in the memory of the thread that runs a chain

  /// Whether the row at \p index is in memory, but for dim \p inner.
  bool hasRow(const int64_t *index, int inner) const {
    for (int dim = 0; isPartial && dim < int(dims.size()); ++dim)
      if (dim != inner && index[dim] >= dims[dim].limit)
        return false;
    return true;
  }
  bool isLX() const { return tensor->component == MemorySpace::LX; }
  bool has(unsigned dim) const { return dims[dim].unit != 0 || dims[dim].laneStride != 0; }
};

/// The addresses of tensor \p position. \p coreSizes: the slice of each dim that
/// this tensor has on a core.
Result<Operand> makeOperand(const sdsc::Descriptor &descriptor, unsigned position,
                            const std::vector<int64_t> &coreSizes);

/// The slices of the operation's dims that \p core has of an operand of a relayout;
/// the output's may be the operation's own. Nothing if the descriptor does not say.
std::optional<std::vector<int64_t>> getRelayoutSlices(const sdsc::Descriptor &descriptor,
                                                      const Operand &operand, bool isOutput,
                                                      int core);

/// Converts between stored elements and float. Formats without a float form give
/// false from isFloatFormat.
bool isFloatFormat(DataFormat format);
void decodeElements(DataFormat format, const uint8_t *from, float *to, int64_t count);
void encodeElements(DataFormat format, const float *from, uint8_t *to, int64_t count,
                    bool saturate);

} // namespace spyre::runtime

#endif // SPYRE_LIB_RUNTIME_EMULATOR_OPERAND_H
