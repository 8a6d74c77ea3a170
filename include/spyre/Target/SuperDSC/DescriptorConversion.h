//===- DescriptorConversion.h - sdsc operations and descriptors -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The header for passes that make or read `sdsc.descriptor`: to the MLIR-free
// spyre::sdsc::Descriptor and back without loss. Link SpyreSdscTarget.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TARGET_SUPERDSC_DESCRIPTORCONVERSION_H
#define SPYRE_TARGET_SUPERDSC_DESCRIPTORCONVERSION_H

#include "spyre/Artifact/Plan.h"
#include "spyre/Dialect/SuperDSC/IR/SdscBundleDialect.h"
#include "spyre/Dialect/SuperDSC/IR/SdscDialect.h"
#include "spyre/SuperDSC/Descriptor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::sdsc {

/// Builds `sdsc.descriptor @sdsc_<index>` at \p builder's insertion point.
/// Precondition: the descriptor is consistent in its counts, as the reader of the
/// files and the emission make it.
DescriptorOp buildDescriptorOp(OpBuilder &builder, Location loc,
                               const ::spyre::sdsc::Descriptor &descriptor);

/// The descriptor that \p op holds. Fails, with a diagnostic, only where the
/// verifier cannot look: a provenance of another form.
FailureOr<::spyre::sdsc::Descriptor> toDescriptor(DescriptorOp op);

/// The symbol of the descriptor number \p index: "sdsc_<index>". Its file is that
/// name plus ".json".
std::string getDescriptorSymbol(int64_t index);

} // namespace mlir::sdsc

namespace mlir::sdscbundle {

/// Hangs \p spec on the bundle function (attributes of the dialect's description).
void setLaunchSpec(func::FuncOp function, const ::spyre::artifact::LaunchSpec &spec);

/// The launch spec that \p function carries; nothing if it carries none.
std::optional<::spyre::artifact::LaunchSpec> getLaunchSpec(func::FuncOp function);

} // namespace mlir::sdscbundle

#endif // SPYRE_TARGET_SUPERDSC_DESCRIPTORCONVERSION_H
