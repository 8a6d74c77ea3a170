//===- Artifacts.h - What the runtime reads ---------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans and programs are lib/Artifact's; the runtime, which is made of little else, has
// their names without a prefix.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_RUNTIME_ARTIFACTS_H
#define SPYRE_RUNTIME_ARTIFACTS_H

#include "spyre/Artifact/Plan.h"
#include "spyre/Artifact/Program.h"

namespace spyre::runtime {
using namespace artifact;
} // namespace spyre::runtime

#endif // SPYRE_RUNTIME_ARTIFACTS_H
