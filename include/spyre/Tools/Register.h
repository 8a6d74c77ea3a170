//===- Register.h - One registration for every tool -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that a tool of this project knows: dialects, passes, pipelines.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TOOLS_REGISTER_H
#define SPYRE_TOOLS_REGISTER_H

namespace mlir {
class DialectRegistry;
}

namespace spyre {

/// The project's dialects and those of upstream that occur beside them.
void registerAllDialects(mlir::DialectRegistry &registry);
/// The project's passes and pipelines, and upstream's generic transforms.
void registerAllPasses();

} // namespace spyre

#endif // SPYRE_TOOLS_REGISTER_H
