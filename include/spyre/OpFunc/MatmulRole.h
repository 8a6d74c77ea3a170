//===- MatmulRole.h - The dims of a matrix product ---------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an iteration dim of a contraction is for its operands
// (docs/formats/superdsc-rules.md, section 7).
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_OPFUNC_MATMULROLE_H
#define SPYRE_OPFUNC_MATMULROLE_H

#include <cstdint>

namespace spyre {

enum class MatmulRole : uint8_t {
  None,  ///< in one operand only, or in none: not of a product
  Batch, ///< in both factors and the result
  M,     ///< in the first factor and the result
  N,     ///< in the second factor and the result
  K,     ///< in both factors, reduced
};

/// The role of a dim that is in the first factor, the second, the result, or not.
constexpr MatmulRole getMatmulRole(bool isInX, bool isInY, bool isInResult) {
  if (isInX && isInY)
    return isInResult ? MatmulRole::Batch : MatmulRole::K;
  if (!isInResult || isInX == isInY)
    return MatmulRole::None;
  return isInX ? MatmulRole::M : MatmulRole::N;
}

} // namespace spyre

#endif // SPYRE_OPFUNC_MATMULROLE_H
