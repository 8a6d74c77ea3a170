//===- Loader.h - A bundle directory to a plan ------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes the runtime's plan from bundle.mlir: loops with constant bounds, and each
// operand of an execution as base + offset + strides of the loops. For bundles
// that came without a plan.json, and for writing ours.
// Source: docs/formats/superdsc-rules.md, section 2.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_LOADER_LOADER_H
#define SPYRE_LOADER_LOADER_H

#include "spyre/Artifact/Plan.h"
#include "spyre/Dialect/SuperDSC/IR/SdscBundleDialect.h"
#include "spyre/SuperDSC/Descriptor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>

namespace spyre {

/// bundle.mlir as parsed, and what only its text tells.
struct ParsedBundle {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function; ///< the one function
  bool hasPool = false;        ///< its first parameter is the HBM pool
  /// launch_spec.json, else bind.json, if the directory has one.
  std::optional<artifact::LaunchSpec> spec;
};

/// Dialects that bundle.mlir is written in.
void registerBundleDialects(mlir::DialectRegistry &registry);

/// Parses DIR/bundle.mlir and finds out whether it has a pool parameter. The
/// dialects are loaded into \p context. \p readsSpec: false if the caller knows what the
/// arguments are, whatever the directory says. Emits diagnostics.
mlir::FailureOr<ParsedBundle> parseBundle(llvm::StringRef dir, mlir::MLIRContext &context,
                                          bool readsSpec = true);

/// The plan of a bundle function. \p poolInBytes as far as known. Emits
/// diagnostics at what cannot be evaluated.
mlir::FailureOr<artifact::Plan> buildPlan(mlir::func::FuncOp function, bool hasPool,
                                          int64_t poolInBytes);

/// Reads the descriptor that \p op executes from the bundle directory \p dir.
/// Emits diagnostics: at the operation if there is no such file, else at the file.
mlir::FailureOr<sdsc::Descriptor> readBundleDescriptor(llvm::StringRef dir,
                                                       mlir::sdscbundle::SdscExecuteOp op);

/// parseBundle, buildPlan, and a check that each descriptor can be read and finds
/// its symbols bound. Emits diagnostics; file errors at the file's name.
mlir::FailureOr<artifact::Plan> loadBundlePlan(llvm::StringRef dir, mlir::MLIRContext &context,
                                               bool readsSpec = true);

} // namespace spyre

#endif // SPYRE_LOADER_LOADER_H
