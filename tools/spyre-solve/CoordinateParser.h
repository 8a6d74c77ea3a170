//===- CoordinateParser.h - Coordinates as text ---------------------*- C++ -* -===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums, products with numbers, floor(a/b) and Mod(a, b) of symbols: what problems say of accesses.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TOOLS_SPYRE_SOLVE_COORDINATEPARSER_H
#define SPYRE_TOOLS_SPYRE_SOLVE_COORDINATEPARSER_H

#include "spyre/Layout/IndexMap.h"

#include <optional>
#include <string>
#include <vector>

namespace spyre::solve {

/// The coordinate \p text (`floor(c2/64)`, `Mod(c2, 64)`, `c0 + 2*c1 + 3`) of \p symbols, which
/// count to
/// \p extents; nothing if it is none.
std::optional<layout::IndexExpr> parseCoordinate(const std::string &text,
                                                 const std::vector<std::string> &symbols,
                                                 const std::vector<int64_t> &extents);

} // namespace spyre::solve

#endif // SPYRE_TOOLS_SPYRE_SOLVE_COORDINATEPARSER_H
