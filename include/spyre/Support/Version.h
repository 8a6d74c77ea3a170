//===- Version.h - The version that everything carries ----------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// That of the CMake project: tools print it, spyre_version() and find_package(Spyre) have it.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SUPPORT_VERSION_H
#define SPYRE_SUPPORT_VERSION_H

namespace spyre {

/// "0.1.0"
const char *getVersion();

/// Prints "spyre-run 0.1.0" if the only argument is --version; main is done then.
bool printVersionIfAsked(int argc, char **argv);

} // namespace spyre

#endif // SPYRE_SUPPORT_VERSION_H
