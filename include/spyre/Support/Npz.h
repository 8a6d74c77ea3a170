//===- Npz.h - Reading and writing NumPy's .npy and .npz --------*- C++ -*-===//
//
// Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Host arrays in files: one array as .npy, several by name as .npz (a zip whose
// members may be deflated). Elements stay bytes in little-endian order; what
// NumPy has no name for (bfloat16, float8) is stored as unsigned bit patterns.
// Every size in a file is checked before it is believed. MLIR-free.
// Source: NumPy's format description (numpy.lib.format), PKWARE's zip note.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SUPPORT_NPZ_H
#define SPYRE_SUPPORT_NPZ_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace spyre::npz {

/// A dense row-major array.
struct Array {
  /// NumPy's type without its byte order: "f2", "f4", "i8", "u2", "b1", "c8", ...
  std::string type;
  std::vector<int64_t> shape;
  std::vector<uint8_t> data;
};

struct Error {
  std::string message;
  bool isUnsupportedType = false; ///< well formed, but text, objects, foreign byte order, ...
};

/// Arrays by name, in file order.
using Archive = std::vector<std::pair<std::string, Array>>;

/// Bytes of one element of \p type ("f2" -> 2), 0 if it is no type we keep.
int64_t getWidthInBytes(std::string_view type);

std::variant<Array, Error> parseNpy(std::string_view bytes);
std::string serializeNpy(const Array &array);
/// Members of an unsupported element type are in the archive with type "?" and no
/// data.
std::variant<Archive, Error> parseNpz(std::string_view bytes);
/// An uncompressed archive; the same arrays give the same bytes.
std::string serializeNpz(const Archive &archive);

/// The same on files; messages begin with the file's name.
std::variant<Archive, Error> readNpz(const std::string &file);
std::variant<Array, Error> readNpy(const std::string &file);
std::optional<Error> writeNpz(const std::string &file, const Archive &archive);
std::optional<Error> writeNpy(const std::string &file, const Array &array);

/// The array called \p name, or null.
const Array *lookup(const Archive &archive, std::string_view name);

} // namespace spyre::npz

#endif // SPYRE_SUPPORT_NPZ_H
