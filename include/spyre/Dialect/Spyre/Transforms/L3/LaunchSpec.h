//===- LaunchSpec.h - What the caller of a planned function passes -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The launch spec says the same for a SuperDSC bundle and a KTIR kernel: it
// follows from the arguments of L3.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_LAUNCHSPEC_H
#define SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_LAUNCHSPEC_H

#include "spyre/Artifact/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace mlir::spyre {

/// The launch spec of \p planned; nothing if one of its arguments is no buffer or has
/// no role. The pool's size and whether addresses are passed at launch are
/// the caller's to fill in.
std::optional<::spyre::artifact::LaunchSpec> makeLaunchSpec(func::FuncOp planned);

} // namespace mlir::spyre

#endif // SPYRE_DIALECT_SPYRE_TRANSFORMS_L3_LAUNCHSPEC_H
