//===- BundleBuilder.h - A plan as a bundle function -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the sdscbundle function that does what a runtime plan says: the inverse of
// the Loader.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LIB_CONVERSION_SPYRETOSUPERDSC_BUNDLEBUILDER_H
#define SPYRE_LIB_CONVERSION_SPYRETOSUPERDSC_BUNDLEBUILDER_H

#include "spyre/Artifact/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::spyre {

/// Builds a function called \p plan.name at \p builder's insertion point. With
/// \p symbolic it takes the pool (if any) and one base address an argument;
/// otherwise it takes nothing and launches bind no symbols.
func::FuncOp buildBundleFunction(OpBuilder &builder, Location loc,
                                 const ::spyre::artifact::Plan &plan, bool symbolic);

} // namespace mlir::spyre

#endif // SPYRE_LIB_CONVERSION_SPYRETOSUPERDSC_BUNDLEBUILDER_H
