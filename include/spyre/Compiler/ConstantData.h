//===- ConstantData.h - Elements of a constant as a NumPy array -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constants that are arrays leave the compiler as .npy files of the program
// directory.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COMPILER_CONSTANTDATA_H
#define SPYRE_COMPILER_CONSTANTDATA_H

#include "spyre/Support/Npz.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace spyre::compiler {

/// The elements of \p data (dense or a resource) in row-major order; bfloat16 and
/// 8-bit floats as their bits. Nothing if the element type has no NumPy form or a
/// resource has no data or not as much as its type says.
std::optional<npz::Array> toArray(mlir::ElementsAttr data);

} // namespace spyre::compiler

#endif // SPYRE_COMPILER_CONSTANTDATA_H
