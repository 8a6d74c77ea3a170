//===- Explain.h - Artefacts in words ---------------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `spyre-translate --explain` prints. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TOOLS_SPYRE_TRANSLATE_EXPLAIN_H
#define SPYRE_TOOLS_SPYRE_TRANSLATE_EXPLAIN_H

#include "spyre/Artifact/Plan.h"
#include "spyre/SuperDSC/Descriptor.h"

#include <iosfwd>
#include <map>
#include <optional>
#include <string>

namespace spyre::explain {

/// A descriptor by itself; \p launch says what its symbols are bound to.
void explainDescriptor(const sdsc::Descriptor &descriptor, const artifact::Launch *launch,
                       std::ostream &os, const std::string &indent);

/// Arguments, pool, and the steps with their descriptors (by file name; a missing
/// one is only named).
void explainPlan(const artifact::Plan &plan, const std::optional<artifact::LaunchSpec> &spec,
                 const std::map<std::string, sdsc::Descriptor> &descriptors, std::ostream &os);

} // namespace spyre::explain

#endif // SPYRE_TOOLS_SPYRE_TRANSLATE_EXPLAIN_H
