//===- ReadFile.h - A file's bytes, or why not ------------------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Streams of the standard library open a directory without complaint and throw
// while reading it, and read /dev/zero for ever; this does neither. Pipes are
// read to their end. MLIR-free.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SUPPORT_READFILE_H
#define SPYRE_SUPPORT_READFILE_H

#include <string>
#include <variant>

namespace spyre {

/// A message that begins with the file's name.
struct ReadFailure {
  std::string message;
};

/// The bytes of \p file.
std::variant<std::string, ReadFailure> readFile(const std::string &file);

} // namespace spyre

#endif // SPYRE_SUPPORT_READFILE_H
