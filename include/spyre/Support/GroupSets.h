//===- GroupSets.h - Futures in the spelling of earlier kernels -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that were only ever read by interpreters write the set of groups within the
// type, `!ktdp.tile_future<T, groups = affine_set<(g) : (g >= 0)>>`. MLIR cannot read
// that: it looks for the end of a type's text by its brackets, and takes the `>` of `>=`
// for one. Those who read kernels give such sets a name first. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SUPPORT_GROUPSETS_H
#define SPYRE_SUPPORT_GROUPSETS_H

#include <optional>
#include <string>
#include <string_view>

namespace spyre {

/// \p text with an alias for each set that stands within the type of a future, or nothing
/// if there is none. Aliases are defined ahead of the first line of the text, or of its
/// part behind a line `// -----`, so that lines keep their numbers.
std::optional<std::string> nameGroupSets(std::string_view text);

} // namespace spyre

#endif // SPYRE_SUPPORT_GROUPSETS_H
