//===- BundleDirectory.h - sdsc modules and bundle directories --*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes a module with `sdsc.descriptor` operations and one bundle function as
// bundle.mlir, sdsc_<i>.json, launch_spec.json and plan.json, and reads any
// bundle directory back. Link SpyreSdscTarget.
//
// bundle.mlir is printed from the plan, in the reference's spelling: how the
// function computes its addresses does not show. File names and symbols belong
// together as SdscExecuteOp says: "sdsc_0.json" is @sdsc_0.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TARGET_SUPERDSC_BUNDLEDIRECTORY_H
#define SPYRE_TARGET_SUPERDSC_BUNDLEDIRECTORY_H

#include "spyre/Artifact/Plan.h"
#include "spyre/SuperDSC/Descriptor.h"
#include "spyre/SuperDSC/DescriptorJson.h"
#include "spyre/Support/AtomicDirectory.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>

namespace mlir::sdsc {

/// What a bundle of the plan \p plan looks like as text. \p descriptors by file
/// name: which symbols belong to core 0 decides names. \p writeSymbolIds: whether
/// executions carry symbol_ids (bundles with concrete addresses have none).
/// \p numbers: in the arguments' names, one an argument; empty: 0, 1, ...
/// \p poolInBody: the body makes the pool; no parameter passes it.
std::string printBundle(const ::spyre::artifact::Plan &plan,
                        const std::map<std::string, const ::spyre::sdsc::Descriptor *> &descriptors,
                        bool writeSymbolIds, ArrayRef<int64_t> numbers = {},
                        bool poolInBody = false);

/// Writes the files of the one bundle function of \p module under \p prefix
/// ("" or "bundles/0/") of \p directory. Emits diagnostics.
LogicalResult writeBundleFiles(ModuleOp module, ::spyre::AtomicDirectory &directory,
                               const std::string &prefix,
                               const ::spyre::sdsc::WriteOptions &options);

/// Writes a directory of its own, which appears whole or not at all.
LogicalResult writeBundleDirectory(ModuleOp module, StringRef dir,
                                   const ::spyre::sdsc::WriteOptions &options);

/// Reads a bundle directory: descriptors, the bundle function, and its launch
/// spec (launch_spec.json, else bind.json) as attributes. Emits diagnostics.
FailureOr<OwningOpRef<ModuleOp>> readBundleDirectory(StringRef dir, MLIRContext &context);

} // namespace mlir::sdsc

#endif // SPYRE_TARGET_SUPERDSC_BUNDLEDIRECTORY_H
