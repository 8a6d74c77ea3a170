//===- Bundle.h - A bundle as data -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a bundle's directory holds, as the emission makes it: descriptors, the plan that
// launches them and the launch spec. Checked and written without a way over MLIR; the
// dialects sdsc and sdscbundle are another view of the same.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TARGET_SUPERDSC_BUNDLE_H
#define SPYRE_TARGET_SUPERDSC_BUNDLE_H

#include "spyre/Artifact/Plan.h"
#include "spyre/SuperDSC/Descriptor.h"
#include "spyre/SuperDSC/DescriptorJson.h"
#include "spyre/SuperDSC/Verify.h"
#include "spyre/Support/AtomicDirectory.h"

#include "mlir/IR/Location.h"

#include <string>
#include <vector>

namespace mlir::sdsc {

struct BundleDescriptor {
  std::string file; ///< name in the directory
  ::spyre::sdsc::Descriptor content;
  Location location; ///< of the operation that it executes
};

struct Bundle {
  ::spyre::artifact::Plan plan;
  std::optional<::spyre::artifact::LaunchSpec> spec;
  std::vector<BundleDescriptor> descriptors; ///< in the order of their numbers
  /// Places of the parameters in the kernel's list of arguments; empty: in order.
  std::vector<int64_t> numbers;
  /// Launches bind symbols to addresses; else descriptors have concrete ones.
  bool isSymbolic = true;
  Location location;
};

/// Reports what is wrong with the descriptors (rules SDSC-1 and so on; not what the
/// format's text only frowns upon), at the operations they execute.
LogicalResult verifyBundle(const Bundle &bundle, const ::spyre::sdsc::Limits &limits);

/// Writes the files of \p bundle under \p prefix ("bundles/0/"), as writeBundleFiles does for
/// the same bundle in MLIR.
LogicalResult writeBundleFiles(const Bundle &bundle, ::spyre::AtomicDirectory &directory,
                               const std::string &prefix,
                               const ::spyre::sdsc::WriteOptions &options);

} // namespace mlir::sdsc

#endif // SPYRE_TARGET_SUPERDSC_BUNDLE_H
