//===- Arrays.h - Host arrays of spyre-run ----------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NumPy arrays to and from host tensors of a program's types, random inputs, the
// comparison of results, and the short form of an argument's description.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_TOOLS_SPYRE_RUN_ARRAYS_H
#define SPYRE_TOOLS_SPYRE_RUN_ARRAYS_H

#include "spyre/Runtime/Runtime.h"
#include "spyre/Support/Npz.h"

namespace spyre::tools {

/// NumPy's type that holds \p type in files (bfloat16 as "u2", float8 as "u1").
std::string getNumpyType(HostType type);

runtime::Result<runtime::HostTensor> toHostTensor(const npz::Array &array, HostType type);
npz::Array toNumpy(const runtime::HostTensor &tensor);

runtime::HostTensor makeRandom(HostType type, const std::vector<int64_t> &shape, uint64_t seed);

/// Element \p i as a double.
double getElement(const runtime::HostTensor &tensor, int64_t i);
double getElement(const npz::Array &array, int64_t i);

struct Comparison {
  bool equal = true;
  double maxAbsError = 0, maxRelError = 0;
  std::string message; ///< the first difference
};
/// \p expected may be in higher precision than the result's type.
Comparison compare(const runtime::HostTensor &got, const npz::Array &expected,
                   std::optional<double> rtol, std::optional<double> atol);

/// "512x1024@fp16" in the default layout.
runtime::Result<artifact::ArgumentSpec> parseShortArgument(const std::string &text, bool isOutput,
                                                           unsigned number);

} // namespace spyre::tools

#endif // SPYRE_TOOLS_SPYRE_RUN_ARRAYS_H
