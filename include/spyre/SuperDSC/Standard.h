//===- Standard.h - What a descriptor's other fields determine --*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fields of a descriptor that nearly always follow from others: the folds of an
// operand and the slice of each core. Verifiers compare with them, and the sdsc
// dialect shows such a field only where it deviates. MLIR-free.
// Source of the rules: docs/formats/superdsc-rules.md, section 1 (folds);
// docs/formats/superdsc-rules.md, e.3 (cores).
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SUPERDSC_STANDARD_H
#define SPYRE_SUPERDSC_STANDARD_H

#include "spyre/SuperDSC/Descriptor.h"

#include <vector>

namespace spyre::sdsc {

/// Slices of each core: dims in \p coreOrder, the first varies fastest
/// (docs/formats/superdsc-rules.md, e.3).
std::vector<std::vector<int64_t>> getStandardCoreToSlice(const std::vector<Dim> &dims,
                                                         const std::vector<unsigned> &coreOrder,
                                                         int64_t numCores);

/// The folds of \p tensor, in its layout class's dim order; empty if the
/// descriptor has no such class.
std::vector<DimCoordinate> getStandardCoordinates(const Descriptor &descriptor,
                                                  const Tensor &tensor);

/// True if a back gap of \p gap elements along \p dim is what memory lacks of the
/// padded size, not what it has beyond it. So it is in a restickify, which pads the
/// dims of both sticks, where \p dim is not in the operand's own stick. The
/// specification does not say so; bundles run to the right numbers only under this
/// reading (docs/formats/superdsc-rules.md, e.2; docs/formats/superdsc-rules.md,
/// section 9).
bool isGapPadding(const Descriptor &descriptor, const Tensor &tensor, const std::string &dim,
                  int64_t gap);

/// A cast's dim that is no whole sticks (docs/formats/superdsc-rules.md, e.2) as the other
/// casts have it: padded to whole sticks of all operands, negative gaps where memory ends
/// before that.
void padPartialSticks(Descriptor &descriptor);

/// Whether \p tensor may end with a part of a stick along \p dim: an index tensor of less
/// than a stick a core, or an undivided dim of a cast.
bool mayEndInsideStick(const Descriptor &descriptor, const Tensor &tensor, const Dim &dim);

/// Which memories memOrg_ marks: (hbm, lx).
std::pair<bool, bool> getStandardMemories(const Tensor &tensor);

bool operator==(const Fold &a, const Fold &b);
bool operator==(const DimCoordinate &a, const DimCoordinate &b);

} // namespace spyre::sdsc

#endif // SPYRE_SUPERDSC_STANDARD_H
