//===- ProgramGraph.h - A program as calls of bundles -----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is one function, or a sequence of calls of private ones
// (spyre-outline-layers, spyre-split-host) and of the host. Each called function is
// compiled once, in a module of its own, and launched as often as it is called, with
// other buffers. What device and host pass each other is copied out or in between.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_COMPILER_PROGRAMGRAPH_H
#define SPYRE_COMPILER_PROGRAMGRAPH_H

#include "spyre/Artifact/Plan.h"
#include "spyre/Artifact/Program.h"

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace spyre::compiler {

/// One launch. Values are named as the buffers they live in: "in0", "out0", "tmp0".
struct BundleCall {
  size_t bundle = 0;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

/// A constant that the host reads.
struct HostConstant {
  artifact::HostArray array;
  mlir::ElementsAttr elements;
};

struct ProgramGraph {
  std::string name;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> bundles;
  std::vector<std::variant<BundleCall, artifact::HostCall>> calls;
  /// The value that each result shows.
  std::vector<std::string> results;
  /// The program's arguments and results, where the bundles do not tell: with host calls.
  std::optional<std::vector<artifact::HostArray>> arguments, resultArrays;
  std::vector<HostConstant> constants;

  int64_t getNumLaunches(size_t bundle) const;
};

/// What becomes of the last bit of f16 numbers that the host passes and takes.
enum class HostNumbers {
  Rounded,      ///< the device's 16-bit format decides
  Exact,        ///< passes may choose the format that the device keeps them in
  ExactResults, ///< and who takes results may decide by them: all known numbers are exact
};

/// Takes \p module, whose one public function is the program, apart. Arguments of a
/// bundle that other bundles compute promise nothing about their padding. An error where
/// an argument or result of the program is nothing that can be passed. \p isSplit: the
/// module went through spyre-split-host. What the host alone passes and takes is marked for
/// the passes, unless \p numbers says that they are rounded.
mlir::FailureOr<ProgramGraph> splitProgram(mlir::OwningOpRef<mlir::ModuleOp> module,
                                           bool isSplit = false,
                                           HostNumbers numbers = HostNumbers::Rounded);

/// The steps: \p specs has each bundle's launch spec; bundle i is launched from
/// "bundles/<i>", its constants are "constants/<i>.<array>.npy".
artifact::Program makeProgram(const ProgramGraph &graph,
                              const std::vector<artifact::LaunchSpec> &specs,
                              const std::string &device);

/// The file of constant \p array ("const0") of bundle \p bundle.
std::string getConstantFile(const ProgramGraph &graph, size_t bundle, const std::string &array);

} // namespace spyre::compiler

#endif // SPYRE_COMPILER_PROGRAMGRAPH_H
