//===- ShortArguments.h - Whether -i and -o fit to a bundle -----*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bundle from elsewhere does not say what its arguments are, but its descriptors
// say how they read them: sizes in memory, and the number format. What was given by
// hand is held against that, since 1024x512 has the bytes of 512x1024.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TOOLS_SPYRE_RUN_SHORTARGUMENTS_H
#define SPYRE_TOOLS_SPYRE_RUN_SHORTARGUMENTS_H

#include "spyre/Runtime/Runtime.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spyre::tools {

/// The first argument of \p bundle that its descriptors read as another shape or type
/// than \p texts say ((is output, "512x1024@fp16"), one an argument), in words.
std::optional<runtime::Error>
checkShortArguments(const runtime::Bundle &bundle,
                    const std::vector<std::pair<bool, std::string>> &texts);

} // namespace spyre::tools

#endif // SPYRE_TOOLS_SPYRE_RUN_SHORTARGUMENTS_H
