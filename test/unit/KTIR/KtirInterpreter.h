//===- KtirInterpreter.h - A plain reading of KTIR for tests -*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a kernel point by point, straight from what its operations mean, so that
// the emission is checked by something that shares nothing with it. Values are f32;
// results of type f16 are rounded to DL16 one by one. Not the executor: slow, and
// it knows what the emission writes, no more.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TEST_UNIT_KTIR_KTIRINTERPRETER_H
#define SPYRE_TEST_UNIT_KTIR_KTIRINTERPRETER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ktirtest {

/// Runs all compute tiles of \p kernel one after another (\p reversed: the last
/// first) on \p memory (addresses are positions in it) with the base addresses
/// \p arguments. Every tile has an LX of its own, full of NaN. Empty: it worked;
/// else what is wrong.
std::string run(mlir::func::FuncOp kernel, std::vector<uint8_t> &memory,
                const std::vector<int64_t> &arguments, bool reversed);

} // namespace ktirtest

#endif // SPYRE_TEST_UNIT_KTIR_KTIRINTERPRETER_H
